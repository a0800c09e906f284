# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes MLIR of the train dialect as text."""

import contextlib
import dataclasses
import math

import torch

DTYPES = {
    torch.float32: "f32",
    torch.float64: "f64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.bool: "i1",
}
#: How a user may name a precision, in addition to its own name.
PRECISIONS = {torch.float32: "f32", torch.float16: "fp16", torch.bfloat16: "bf16", "half": "fp16", "f16": "fp16"}
TORCH_DTYPES = {name: dtype for dtype, name in DTYPES.items()}
FLOATS = ("f32", "f64", "f16", "bf16")
INTEGERS = ("i64", "i32")


def precision_name(precision):
    """The name of a precision, or the argument if it is none."""
    return PRECISIONS.get(precision, precision) if isinstance(precision, (str, torch.dtype)) else precision


#: Operations that print one type, that of their result.
ONE_TYPE = frozenset(
    "abs advance_rng clip cos erf exp expm1 gelu log log1p log_softmax neg reciprocal relu rsqrt"
    " sigmoid sign silu sin softmax sqrt square tanh".split()
)


class Unsupported(Exception):
    """A rule cannot express an operation; says why and what to do."""


@dataclasses.dataclass(frozen=True)
class Value:
    """An MLIR value. An extent of -1 is the one that the batch decides. `grad` says
    whether a parameter that is trained reaches it."""

    name: str
    shape: tuple
    dtype: str
    grad: bool = False

    @property
    def type(self):
        return type_of(self.shape, self.dtype)

    @property
    def rank(self):
        return len(self.shape)

    @property
    def is_float(self):
        return self.dtype in FLOATS


def type_of(shape, dtype):
    extents = "".join("?x" if extent < 0 else f"{extent}x" for extent in shape)
    return f"tensor<{extents}{dtype}>"


def quote(text):
    """A string literal of MLIR."""
    escaped = "".join(
        char if 32 <= ord(char) < 127 and char not in '"\\' else "".join(f"\\{b:02X}" for b in char.encode())
        for char in text
    )
    return f'"{escaped}"'


def float_text(number):
    """A literal of type f64."""
    number = float(number)
    if math.isinf(number):
        return ("0x7FF0000000000000" if number > 0 else "0xFFF0000000000000") + " : f64"
    if math.isnan(number):
        return "0x7FF8000000000000 : f64"
    text = repr(number)
    mantissa, exponent, power = text.partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    return f"{mantissa}{exponent}{power} : f64"


def attribute_text(value):
    """Booleans are unit attributes, integers i64, floats f64, lists arrays of i64."""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value} : i64"
    if isinstance(value, float):
        return float_text(value)
    return "array<i64: " + ", ".join(map(str, value)) + ">" if len(value) else "array<i64>"


def attributes_text(attributes):
    parts = []
    for key, value in attributes.items():
        if value is True:
            parts.append(key)
        elif value is not None and value is not False:
            parts.append(f"{key} = {attribute_text(value)}")
    return " {" + ", ".join(parts) + "}" if parts else ""


def elements_text(tensor):
    """A tensor as the text of dense elements."""
    tensor = tensor.detach().cpu().contiguous()
    dtype = DTYPES[tensor.dtype]
    if tensor.numel() and bool((tensor.flatten()[0] == tensor).all()):
        item = tensor.flatten()[0].item()
        if dtype == "i1":
            return "dense<true>" if item else "dense<false>"
        if dtype not in FLOATS:
            return f"dense<{item}>"
        if math.isfinite(item):
            return f"dense<{float_text(item).split()[0]}>"
    if dtype == "i1":

        def nested(part):
            if part.dim() == 0:
                return "true" if part else "false"
            return "[" + ", ".join(map(nested, part)) + "]"

        return f"dense<{nested(tensor)}>"
    data = tensor.reshape(-1).view(torch.uint8).numpy().tobytes()
    return f'dense<"0x{data.hex().upper()}">'


def broadcast_shapes(*shapes):
    """The shape of an elementwise result, as in NumPy."""
    rank = max(map(len, shapes))
    result = []
    for position in range(rank):
        extents = {shape[position - rank + len(shape)] for shape in shapes if position >= rank - len(shape)} - {1}
        if len(extents) > 1:
            raise Unsupported(f"shapes {shapes} do not broadcast; export with dynamic_batch=False")
        result.append(extents.pop() if extents else 1)
    return tuple(result)


#: Operations that move elements. A mean over broadcast extents is not one.
MOVES = ("broadcast", "concat", "gather", "one_hot", "pad", "reshape", "slice", "transpose")


def located(line, location):
    return line + (f" loc({quote(location)})" if location else "")


class Builder:
    """Collects the operations of one function."""

    def __init__(self):
        self.lines = []
        self.count = 0
        self.location = None
        self.pin = None
        self.constants = {}
        # The operations of train by the number of their line: the name, the text before the attributes, the
        # attributes, and the text after them.
        self.emitted = {}
        self.composites = 0
        # Views of integers by name: the integers before the view.
        self.views = {}
        # Integers by name: the same numbers as f32.
        self.known_numbers = {}

    def fresh(self):
        self.count += 1
        return f"%{self.count - 1}"

    def emit(self, name, operands, results, attributes=None, keyword=""):
        """Appends an operation of train. `results` lists (shape, dtype). Returns its
        values; a single one not as a list."""
        operands = [self.whole(operand) for operand in operands]
        attributes = dict(attributes or {})
        if self.pin:
            attributes["amp.precision"] = quote(self.pin)
        grad = any(operand.grad for operand in operands)
        values = [Value(self.fresh(), tuple(shape), dtype, grad and dtype in FLOATS) for shape, dtype in results]
        names = ", ".join(value.name for value in values)
        if name == "broadcast" and len(operands) == 2:
            listed = f"{operands[0].name} like {operands[1].name}"
        else:
            listed = ", ".join(operand.name for operand in operands)
        if name in ONE_TYPE:
            types = values[0].type
        else:
            ins = ", ".join(operand.type for operand in operands)
            outs = ", ".join(value.type for value in values)
            types = f"({ins}) -> " + (outs if len(values) == 1 else f"({outs})")
        head, tail = f"{names} = train.{name} {keyword}{listed}", f" : {types}"
        self.emitted[len(self.lines)] = name, head, attributes, tail, self.location
        self.append(head + attributes_text(attributes) + tail)
        return values[0] if len(values) == 1 else values

    def call(self, name, operands, results, **attributes):
        """Appends a call of an operation of torch. Returns its values as a list."""
        grad = any(operand.grad for operand in operands)
        values = [Value(self.fresh(), tuple(shape), dtype, grad and dtype in FLOATS) for shape, dtype in results]
        ins, outs = (", ".join(value.type for value in group) for group in (operands, values))
        attributes = attributes_text(attributes)
        self.append(f"{', '.join(value.name for value in values)} = amp.call {quote(name)}("
                    f"{', '.join(operand.name for operand in operands)}){attributes} : ({ins}) -> ({outs})")
        return values

    def append(self, line):
        self.lines.append(located(line, self.location))

    def join(self, start):
        """Marks the operations from line `start` on as parts of one operation of torch. Those that only move
        elements at either end stay apart, and so does a single one."""
        lines = [line for line in range(start, len(self.lines)) if line in self.emitted]
        computing = [line for line in lines if not self.moves(line)]
        if len(computing) < 2:
            return
        for line in lines:
            if computing[0] <= line <= computing[-1]:
                _, head, attributes, tail, location = self.emitted[line]
                attributes["amp.composite"] = self.composites
                self.lines[line] = located(head + attributes_text(attributes) + tail, location)
        self.composites += 1

    def moves(self, line):
        name, _, attributes, _, _ = self.emitted[line]
        return name in MOVES and not attributes.get("mean")

    def constant(self, tensor):
        """A constant. Equal ones are the same value."""
        tensor = tensor.detach().cpu().contiguous()
        if tensor.dtype not in DTYPES:
            tensor = tensor.to(torch.float32 if tensor.is_floating_point() else torch.int64)
        text = elements_text(tensor)
        shape, dtype = tuple(tensor.shape), DTYPES[tensor.dtype]
        key = (text, shape, dtype)
        if key not in self.constants:
            value = Value(self.fresh(), shape, dtype)
            self.append(f"{value.name} = train.constant {text} : {value.type}")
            self.constants[key] = value
        return self.constants[key]

    def scalar(self, number, dtype):
        return self.constant(torch.tensor(number, dtype=TORCH_DTYPES[dtype]))

    def unary(self, name, value, **attributes):
        return self.emit(name, [value], [(value.shape, value.dtype)], attributes)

    def binary(self, name, lhs, rhs):
        return self.emit(name, [lhs, rhs], [(broadcast_shapes(lhs.shape, rhs.shape), lhs.dtype)])

    def compare(self, predicate, lhs, rhs):
        shape = broadcast_shapes(lhs.shape, rhs.shape)
        return self.emit("compare", [lhs, rhs], [(shape, "i1")], keyword=f"{predicate}, ")

    def select(self, condition, on_true, on_false):
        shape = broadcast_shapes(condition.shape, on_true.shape, on_false.shape)
        return self.emit("select", [condition, on_true, on_false], [(shape, on_true.dtype)])

    # -- Integers ------------------------------------------------------------------
    # The operations that compute and move values take floats. Integers go through f32,
    # which holds them exactly up to 2^24. Pins keep these operations from a low type.

    @contextlib.contextmanager
    def exact(self):
        """Pins appended operations to f32."""
        before, self.pin = self.pin, "f32"
        try:
            yield
        finally:
            self.pin = before

    def numbers(self, value):
        """Integers as f32."""
        if value.name not in self.known_numbers:
            if value.name in self.views:
                with self.exact():
                    number = self.reshape(self.numbers(self.views[value.name]), value.shape)
            else:
                number = Value(self.fresh(), value.shape, "f32")
                self.append(f"{number.name} = arith.sitofp {value.name} : {value.type} to {number.type}")
            self.known_numbers[value.name] = number
        return self.known_numbers[value.name]

    def bytes(self, value):
        """Bytes without a sign, which MLIR has as i8, as f32."""
        number = Value(self.fresh(), value.shape, "f32")
        self.append(f"{number.name} = arith.uitofp {value.name} : {value.type} to {number.type}")
        return number

    def integers(self, value, dtype):
        """Floats without their fractions."""
        result = Value(self.fresh(), value.shape, dtype)
        self.append(f"{result.name} = arith.fptosi {value.name} : {value.type} to {result.type}")
        return result

    def integers_of(self, numbers, dtype):
        """The integers that f32 numbers are."""
        result = self.integers(numbers, dtype)
        self.known_numbers[result.name] = numbers
        return result

    def view(self, integers, shape):
        """Integers in another shape, which a reader may undo."""
        name = f"%view{len(self.views)}"
        self.views[name] = self.before_views(integers)
        return Value(name, tuple(shape), integers.dtype)

    def before_views(self, value):
        return self.views.get(value.name, value)

    def whole(self, value):
        """A value that is not a view."""
        return self.integers_of(self.numbers(value), value.dtype) if value.name in self.views else value

    def stop_gradient(self, value):
        """The same value, which counts as a constant in differentiation."""
        attributes = {"dims": [], "train.stop_gradient": True}
        result = self.emit("broadcast", [value], [(value.shape, value.dtype)], attributes)
        return dataclasses.replace(result, grad=False)

    def cast(self, value, dtype):
        if value.dtype == dtype:
            return value
        result = Value(self.fresh(), value.shape, dtype, value.grad)
        self.append(f"{result.name} = amp.cast {value.name} : {value.type} to {result.type}")
        return result

    def reshape(self, value, shape):
        shape = tuple(shape)
        if value.shape == shape:
            return value
        return self.emit("reshape", [value], [(shape, value.dtype)])

    def transpose(self, value, permutation):
        permutation = [axis % value.rank for axis in permutation]
        if permutation == list(range(value.rank)):
            return value
        shape = [value.shape[axis] for axis in permutation]
        return self.emit("transpose", [value], [(shape, value.dtype)], {"permutation": permutation})

    def slice(self, value, axis, start, size, stride=1):
        """Elements start, start + stride, ... along an axis with a known extent."""
        if value.shape[axis] == size:
            return value
        if value.shape[axis] < 0:
            raise Unsupported("takes a part of the open batch; export with dynamic_batch=False")
        offsets = [start if d == axis else 0 for d in range(value.rank)]
        sizes = [size if d == axis else extent for d, extent in enumerate(value.shape)]
        strides = [stride if d == axis else 1 for d in range(value.rank)]
        attributes = {"offsets": offsets, "sizes": sizes, "strides": strides}
        return self.emit("slice", [value], [(sizes, value.dtype)], attributes)

    def concat(self, values, axis):
        if len(values) == 1:
            return values[0]
        if any(value.shape[axis] < 0 for value in values):
            raise Unsupported("joins along the open batch; export with dynamic_batch=False")
        shape = list(values[0].shape)
        shape[axis] = sum(value.shape[axis] for value in values)
        return self.emit("concat", values, [(shape, values[0].dtype)], {"axis": axis})

    def reduce(self, kind, value, dims, keep_dims=False):
        dims = sorted(d % value.rank for d in dims)
        if not dims:
            return value
        shape = [
            1 if d in dims else extent for d, extent in enumerate(value.shape) if keep_dims or d not in dims
        ]
        attributes = {"dims": dims, "keep_dims": keep_dims}
        return self.emit(f"reduce_{kind}", [value], [(shape, value.dtype)], attributes)

    def gather(self, value, indices, axis):
        shape = value.shape[:axis] + indices.shape + value.shape[axis + 1 :]
        return self.emit("gather", [value, indices], [(shape, value.dtype)], {"axis": axis})

    def one_hot(self, indices, classes, dtype="f32"):
        return self.emit("one_hot", [indices], [((*indices.shape, classes), dtype)])

    def matmul(self, lhs, rhs, transpose_a=False, transpose_b=False, dtype=None):
        rows = lhs.shape[-1] if transpose_a else lhs.shape[-2]
        columns = rhs.shape[-2] if transpose_b else rhs.shape[-1]
        shape = (*lhs.shape[:-2], rows, columns)
        attributes = {"transpose_a": transpose_a, "transpose_b": transpose_b}
        return self.emit("matmul", [lhs, rhs], [(shape, dtype or lhs.dtype)], attributes)

    def linear(self, value, weight, bias=None, transpose_weight=False):
        features = weight.shape[0 if transpose_weight else 1]
        operands = [value, weight] + ([bias] if bias is not None else [])
        attributes = {"transpose_weight": transpose_weight}
        return self.emit("linear", operands, [((*value.shape[:-1], features), value.dtype)], attributes)
