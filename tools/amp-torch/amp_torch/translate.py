# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The walk over an exported graph: constants are folded, rules translate the rest."""

import operator

import torch

from .builder import DTYPES, FLOATS, INTEGERS, TORCH_DTYPES, Builder, Unsupported, Value, broadcast_shapes
from .calls import emit_call, why_not
from .data_shapes import ADVICE, selects
from .functions import application_of
from .regions import Region


class Const:
    """A value that does not depend on parameters or on the data of a batch: one torch value
    for each size of the batch that is tried. A value that is equal for all sizes is a
    constant of the step."""

    def __init__(self, worlds):
        self.worlds = list(worlds)

    def __iter__(self):
        raise TypeError("a constant is not a list")

    def __getattr__(self, name):
        # Rules read the shapes and types of values.
        if name.startswith("__"):
            raise AttributeError(name)
        raise NeedsValue(self)


class NeedsValue(Exception):
    """A rule needs a constant as a value of the program."""

    def __init__(self, constant):
        super().__init__()
        self.constant = constant


def same(first, second):
    if isinstance(first, torch.Tensor):
        return first.shape == second.shape and bool(
            torch.equal(first, second) or torch.equal(torch.nan_to_num(first), torch.nan_to_num(second))
        )
    return first == second


def shrink(tensor):
    """The tensor with extent 1 wherever it repeats."""
    for axis, extent in enumerate(tensor.shape):
        if extent > 1 and bool((tensor == tensor.narrow(axis, 0, 1)).all()):
            tensor = tensor.narrow(axis, 0, 1)
    return tensor


#: ATen operation to the function that translates it, and the folder's file.
RULES = {}


#: Rules that take integers as they are. Any other rule with an integer result gets its
#: integer operands as f32, and its result becomes integers again.
TAKES_INTEGERS = set()

#: Operations of one kernel in torch whose rules write several operations.
COMPOSITES = set()


#: Operations of ATen, without overloads, that move or select elements.
MOVES_BYTES = frozenset(
    "alias amax amin cat chunk clamp clone contiguous detach expand flatten flip gather index index_select lift_fresh"
    " masked_fill maximum minimum narrow permute pixel_shuffle pixel_unshuffle repeat reshape roll select slice split"
    " split_with_sizes squeeze stack t tile to _to_copy transpose unbind unflatten unsafe_split unsqueeze view"
    " _unsafe_view where".split()
)


def is_bytes(node):
    """Whether the result of a node, or its first, is a tensor of torch.uint8."""
    meta = node.meta.get("val")
    first = meta[0] if isinstance(meta, (list, tuple)) and meta else meta
    return isinstance(first, torch.Tensor) and first.dtype == torch.uint8


def rule(*names, integers=False, composite=False):
    """Registers a rule for operations, by name as in `aten.relu.default`. Under autocast, a composite
    computes in f32 and rounds its result, as the kernel of torch does."""

    def register(function):
        for name in names:
            assert name not in RULES, name
            RULES[name] = function
            if integers:
                TAKES_INTEGERS.add(name)
            if composite:
                COMPOSITES.add(name)
        return function

    return register


#: What takes a model that a compiled step does not.
OTHER_DOOR = "torch.compile with amp_torch.backend, which runs it"


def why_without_rule(node):
    """Why an operation cannot be part of a step, and what to do."""
    target = operation_of(node)
    if is_custom(target):
        name = target.name().split('.')[0]
        if target._schema.is_mutable:
            return (f"the custom operation {name} writes an operand, and a compiled step cannot call it; return a new "
                    f"tensor, with mutates_args=() in its definition, or use {OTHER_DOOR}")
        return (f"the custom operation {name}, which exported files cannot contain; use amp_torch.compile, which calls "
                f"it, {OTHER_DOOR}, or write it with operations of torch")
    return f"{target} has no rule; use operations of docs/torch-operations.md, or {OTHER_DOOR}"


def operation_of(node):
    """What a node calls; of an operation that writes its operands, the operation."""
    return node.args[0] if str(node.target).startswith("auto_functionalized") else node.target


def is_callable(target):
    """Whether a compiled step may call an operation that has no rule."""
    return isinstance(target, torch._ops.OpOverload) and "dropout" not in target.name()


def is_custom(target):
    """Whether an operation is not part of PyTorch."""
    return isinstance(target, torch._ops.OpOverload) and target.namespace not in ("aten", "prims")


RANDOM = ("rand", "bernoulli", "dropout", "normal_", "uniform_", "multinomial", "exponential_")


class Translator:
    """Translates one graph into operations of a builder. `sizes` are the values of
    the open batch that constants are tried with, `symbol` its name in the graph."""

    def __init__(self, symbol, sizes):
        self.builder = Builder()
        self.symbol = symbol
        self.sizes = sizes if symbol is not None else sizes[:1]
        self.env = {}
        self.errors = []
        self.dropouts = 0
        self.rng = None
        self.batch_reference = None
        self.padding_rows = {}
        self.embeddings = {}
        self.node = None
        self.force_ignore = False
        # Whether the rule that runs computes integers as f32.
        self.computes_numbers = False
        # Values of the example batch by the name of the argument.
        self.example_values = {}
        # The operations of torch that the step calls, by name; None if it cannot call any.
        self.calls = None
        # The number of classes of labels by the name of the argument.
        self.classes = {}
        # For labels of which one is ignored: pairs of a number of classes and that label, by name.
        self.ignored = {}

    # -- Extents ---------------------------------------------------------------

    def evaluate(self, size):
        """The values of an extent of the graph, one for each size of the batch."""
        if isinstance(size, int):
            return [size] * len(self.sizes)
        expression = size.node.expr
        self.check_symbols(size)
        if not expression.free_symbols:
            return [int(expression)] * len(self.sizes)
        return [int(expression.subs({self.symbol: value})) for value in self.sizes]

    def check_symbols(self, number):
        """Rejects a symbolic number or extent that depends on the data of a batch. If the batch size is fixed, each of
        them depends on data, except extents whose value torch knows."""
        known = isinstance(number, torch.SymInt) and not number.node.expr.free_symbols
        if number.node.expr.free_symbols - {self.symbol} or (self.symbol is None and not known):
            raise Unsupported("a shape or a number depends on the data of a batch; use torch.where with three operands, "
                              "or multiply by a mask")

    def extent(self, size):
        values = self.evaluate(size)
        return values[0] if len(set(values)) == 1 else -1

    def shape(self, meta):
        shape = tuple(self.extent(size) for size in meta.shape)
        if sum(extent < 0 for extent in shape) > 1:
            raise Unsupported("two extents depend on the batch; export with dynamic_batch=False")
        return shape

    @property
    def result(self):
        """What export knows of the result of the operation that is translated."""
        return self.node.meta["val"]

    @property
    def result_shape(self):
        return self.shape(self.result)

    @property
    def result_dtype(self):
        dtype = self.dtype_of(self.result_of_first.dtype)
        return "f32" if self.computes_numbers and dtype in INTEGERS else dtype

    @property
    def result_of_first(self):
        """What export knows of the first result."""
        return self.result[0] if isinstance(self.result, (list, tuple)) else self.result

    def dropout(self, value, rate):
        """Dropout whose mask no other dropout of the step has."""
        rng, key = self.next_dropout()
        attributes = {"rate": float(self.number(rate)), "key": key}
        return self.builder.emit("dropout", [value, rng], [(value.shape, value.dtype)], attributes)

    def next_dropout(self):
        """The state of the random generator, and a key that no other dropout of the step has."""
        if self.rng is None:
            self.rng = Value("%rng", (2,), "i64")
        self.dropouts += 1
        return self.rng, f"{self.dropouts - 1} : i32"

    @staticmethod
    def dtype_of(dtype):
        if dtype == torch.uint8:
            return "f32"
        if dtype not in DTYPES:
            raise Unsupported(f"has the type {dtype}; the dialect has f16, bf16, f32, f64, i32, i64 and bool")
        return DTYPES[dtype]

    # -- Operands ----------------------------------------------------------------

    def number(self, value):
        """A Python number, which must not depend on the size of the batch."""
        if not isinstance(value, Const):
            return value
        first = value.worlds[0]
        if not all(same(first, other) for other in value.worlds[1:]):
            raise Unsupported("computes with the open batch size; export with dynamic_batch=False")
        return first.item() if isinstance(first, torch.Tensor) and first.numel() == 1 else first

    def constant_tensor(self, value):
        """The torch tensor of a constant; extents that the batch decides become 1."""
        if not isinstance(value, Const):
            return torch.as_tensor(value)
        tensors = [torch.as_tensor(world) for world in value.worlds]
        if len(tensors) == 1:
            return tensors[0]
        shapes = list(zip(*(tensor.shape for tensor in tensors)))
        for axis, extents in enumerate(shapes):
            if len(set(extents)) > 1:
                tensors = [
                    tensor.narrow(axis, 0, 1) if same(tensor.narrow(axis, 0, 1).expand_as(tensor), tensor) else None
                    for tensor in tensors
                ]
                if None in tensors:
                    break
        if any(tensor is None for tensor in tensors) or not same(*tensors[:2]):
            raise Unsupported("computes with the open batch size; export with dynamic_batch=False")
        return tensors[0]

    def elementwise(self, value, dtype=None):
        """An operand of an operation that broadcasts."""
        if isinstance(value, Value):
            return self.convert(value, dtype) if dtype else value
        if isinstance(value, (bool, int, float)):
            return self.builder.scalar(value, dtype)
        tensor = shrink(self.constant_tensor(value))
        while tensor.dim() and tensor.shape[0] == 1:
            tensor = tensor[0]
        return self.builder.constant(tensor.to(TORCH_DTYPES[dtype]) if dtype else tensor)

    def value(self, value, dtype=None):
        """An operand in its full shape."""
        if isinstance(value, Value):
            return self.convert(value, dtype) if dtype else value
        if isinstance(value, (bool, int, float)):
            return self.builder.scalar(value, dtype)
        tensor = self.constant_tensor(value)
        result = self.builder.constant(tensor.to(TORCH_DTYPES[dtype]) if dtype else tensor)
        if isinstance(value, Const) and len(value.worlds) > 1:
            sizes = zip(*(world.shape for world in value.worlds))
            extents = [list(extent) for extent in sizes]
            shape = [extent[0] if len(set(extent)) == 1 else -1 for extent in extents]
            factors = [extent[0] // self.sizes[0] for extent in extents]
            result = self.expand(result, shape, factors)
        return result

    def convert(self, value, dtype):
        """A value in another type."""
        if value.dtype == dtype:
            return value
        if value.is_float and dtype in FLOATS:
            return self.builder.cast(value, dtype)
        if value.is_float and dtype in INTEGERS:
            return self.builder.integers(value, dtype)
        if dtype == "i1":
            zero = self.builder.scalar(0, value.dtype)
            return self.builder.compare("ne", value, zero)
        if value.dtype == "i1":
            kind = dtype if dtype in FLOATS else "f32"
            one, zero = self.builder.scalar(1.0, kind), self.builder.scalar(0.0, kind)
            if kind == dtype:
                return self.builder.select(value, one, zero)
            with self.builder.exact():
                numbers = self.builder.select(value, one, zero)
        else:
            numbers = self.builder.numbers(value)
        if dtype in INTEGERS:
            return self.builder.integers_of(numbers, dtype)
        return self.builder.cast(numbers, dtype)

    def dtype_of_operand(self, value):
        """Returns the type of a value or of a constant tensor."""
        return value.dtype if isinstance(value, Value) else DTYPES.get(self.constant_tensor(value).dtype)

    def numbers(self, value):
        """Integers of the batch or of the program as f32."""
        value = self.value(value)
        return value if value.is_float else self.builder.numbers(value)

    # -- Broadcasts ----------------------------------------------------------------

    def batch_like(self, shape, factor):
        """A value of this shape, for its dynamic extent of `factor` samples a sample."""
        reference = self.batch_reference
        if reference is None:
            raise Unsupported("needs an argument whose first extent is the batch's")
        builder = self.builder
        if not reference.is_float:
            reference = self.convert(reference, "f32")
        for axis in range(1, reference.rank):
            reference = builder.slice(reference, axis, 0, 1)
        reference = builder.reshape(reference, (-1,))
        if factor != 1:
            reference = builder.emit("broadcast", [reference], [((-1, factor), reference.dtype)], {"dims": [1]})
            reference = builder.reshape(reference, (-1,))
        axis = shape.index(-1)
        dims = [d for d in range(len(shape)) if d != axis]
        if not dims:
            return reference
        return builder.emit("broadcast", [reference], [(shape, reference.dtype)], {"dims": dims})

    def expand(self, value, shape, factors=None):
        """Repeats extents of 1 to a shape of the same or a higher rank."""
        shape = tuple(shape)
        if value.shape == shape:
            return value
        missing = len(shape) - value.rank
        dims = [
            d for d, extent in enumerate(shape) if d < missing or (value.shape[d - missing] == 1 and extent != 1)
        ]
        kept = [extent for d, extent in enumerate(shape) if d not in dims]
        value = self.builder.reshape(value, kept)
        operands = [value]
        if any(shape[d] < 0 for d in dims):
            axis = shape.index(-1)
            if factors is None:
                sizes = self.evaluate(self.result.shape[axis]) if len(self.result.shape) == len(shape) else [0]
                if sizes[0] % self.sizes[0]:
                    raise Unsupported("repeats to an extent that the batch does not divide")
                factor = sizes[0] // self.sizes[0]
            else:
                factor = factors[axis]
            operands.append(self.batch_like(shape, factor or 1))
        return self.builder.emit("broadcast", operands, [(shape, value.dtype)], {"dims": dims})

    def finish(self, value):
        """The result of an elementwise operation in the shape that export gave it."""
        return self.expand(value, self.result_shape) if value.shape != self.result_shape else value

    def binary(self, name, lhs, rhs):
        dtype = self.result_dtype
        lhs, rhs = self.elementwise(lhs, dtype), self.elementwise(rhs, dtype)
        return self.finish(self.builder.binary(name, lhs, rhs))

    # -- The walk ------------------------------------------------------------------

    def resolve(self, argument):
        if isinstance(argument, torch.fx.Node):
            return self.env[argument]
        if isinstance(argument, (list, tuple)):
            return [self.resolve(item) for item in argument]
        if isinstance(argument, slice):
            return slice(*(self.resolve(item) for item in (argument.start, argument.stop, argument.step)))
        return argument

    def fold(self, target, args, kwargs):
        """Evaluates an operation in torch."""

        def world(argument, index):
            if isinstance(argument, Const):
                return argument.worlds[index]
            if isinstance(argument, (list, tuple)):
                return [world(item, index) for item in argument]
            return argument

        results = []
        with torch.no_grad():
            for index in range(len(self.sizes)):
                keywords = {key: world(item, index) for key, item in kwargs.items()}
                if "device" in keywords:
                    keywords["device"] = "cpu"
                results.append(target(*(world(item, index) for item in args), **keywords))
        if isinstance(results[0], (list, tuple)):
            return [Const(items) for items in zip(*results)]
        return Const(results)

    def translate(self, node):
        """The value of a call."""
        if str(node.target).startswith("aten._local_scalar"):
            raise Unsupported("a Python number from the data of a batch; keep it a tensor, without .item() or float()")
        meta = node.meta.get("val")
        if isinstance(meta, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            self.check_symbols(meta)
        if isinstance(meta, (torch.SymFloat, torch.SymBool)):
            raise Unsupported("computes with the open batch size; export with dynamic_batch=False")
        if isinstance(meta, torch.SymInt):
            return Const(self.evaluate(meta))
        name = str(node.target)
        args, kwargs = self.resolve(node.args), {key: self.resolve(item) for key, item in node.kwargs.items()}
        if node.target is operator.getitem:
            return args[0][args[1]]
        if name.startswith(("aten._assert", "aten.sym_constrain")):
            return None
        if isinstance(meta, int) or name == "aten.sym_size.int":
            return Const([int(meta)] * len(self.sizes))
        is_random = any(word in name for word in RANDOM)
        if not is_random and not contains_value((args, list(kwargs.values()))):
            return self.fold(node.target, args, kwargs)
        self.check_selection(node, args)
        self.check_bytes(node, name)
        function = RULES.get(name)
        if function is None:
            return self.call(node, args, kwargs)
        while True:
            try:
                return self.apply(function, name, args, kwargs)
            except Unsupported:
                # With an open batch, the error of the rule may ask for a fixed batch.
                if self.calls is None or self.symbol is not None or not is_callable(node.target) or why_not(node.target):
                    raise
                return self.call(node, args, kwargs)
            except NeedsValue as error:
                value = self.value(error.constant)
                args = replaced(args, error.constant, value)
                kwargs = {key: replaced(item, error.constant, value) for key, item in kwargs.items()}

    def check_selection(self, node, args):
        """Rejects an operation whose result has an extent that depends on data, unless its indices are constants."""

        def extents(nodes):
            metas = torch.utils._pytree.tree_leaves([operand.meta.get("val") for operand in nodes])
            numbers = [extent for meta in metas for extent in (meta.shape if isinstance(meta, torch.Tensor) else [meta])]
            return set().union(*(number.node.expr.free_symbols for number in numbers if isinstance(number, torch.SymInt)))

        # If the loss has labels for all rows, torch replaces the extent by their number.
        chosen = selects(node.target, torch.fx.map_arg(node.args, lambda operand: operand.meta.get("val")))
        depends = extents([node]) - extents(node.all_input_nodes) - {self.symbol}
        has_known_indices = str(node.target) == "aten.index.Tensor" and not contains_value(args[1:])
        if (chosen or depends) and not has_known_indices:
            raise Unsupported(ADVICE)

    @staticmethod
    def check_bytes(node, name):
        """Bytes of the batch are f32 numbers here. Operations that only move them may give bytes."""
        if is_bytes(node) and not (any(is_bytes(operand) for operand in node.all_input_nodes) and name.split(".")[1] in MOVES_BYTES):
            raise Unsupported("computes bytes (torch.uint8); call .float() or .long() first")

    def call(self, node, args, kwargs):
        """Returns the results of an operation that the step calls."""
        if any(is_bytes(operand) for operand in node.all_input_nodes):
            raise Unsupported("reads bytes (torch.uint8) without a rule; call .float() or .long() first")
        whole = node.target if isinstance(node.target, Region) else application_of(node)
        if self.calls is None or not (whole or is_callable(node.target)):
            raise Unsupported(why_without_rule(node))
        if whole is not None and whole is not node.target:
            args = args[:1]
        return emit_call(self, node, module_path(node), args, kwargs, whole)

    def apply(self, function, name, args, kwargs):
        """The result of a rule."""
        meta = self.node.meta.get("val")
        if name in TAKES_INTEGERS or not self.gives_integers(meta):
            start = len(self.builder.lines)
            out = function(self, *args, **kwargs)
            if name in COMPOSITES:
                self.builder.join(start)
            return out
        self.computes_numbers = True
        try:
            with self.builder.exact():
                out = function(self, *self.as_numbers(args), **self.as_numbers(kwargs))
            return self.as_integers(out, meta)
        finally:
            self.computes_numbers = False

    @staticmethod
    def gives_integers(meta):
        parts = meta if isinstance(meta, (list, tuple)) else [meta]
        return isinstance(parts[0], torch.Tensor) and DTYPES.get(parts[0].dtype) in INTEGERS

    def as_numbers(self, argument):
        """Operands with f32 in the place of integers of the batch."""
        if isinstance(argument, Value):
            return self.builder.numbers(argument) if argument.dtype in INTEGERS else argument
        if isinstance(argument, (list, tuple)):
            return [self.as_numbers(item) for item in argument]
        if isinstance(argument, dict):
            return {key: self.as_numbers(item) for key, item in argument.items()}
        return argument

    def as_integers(self, out, meta):
        """The results of a rule in the integer types that export gave them."""
        if isinstance(out, (list, tuple)):
            return [self.as_integers(part, of) for part, of in zip(out, meta)]
        if isinstance(out, Value) and out.is_float and DTYPES.get(meta.dtype) in INTEGERS:
            return self.builder.integers_of(out, DTYPES[meta.dtype])
        return out

    def run(self, graph):
        """Translates all calls; returns the values that the graph returns."""
        for node in graph.nodes:
            if node.op == "output":
                return self.resolve(node.args[0])
            if node.op != "call_function":
                continue
            if depends_on_error(self, node):
                self.env[node] = None
                # Also after an error, the message names all operations without a rule.
                name = str(node.target)
                if is_custom(operation_of(node)):
                    self.errors.append((module_path(node), written_name(node), why_without_rule(node)))
                elif name.startswith("aten.") and name not in RULES and not name.startswith(("aten._assert", "aten.sym_")):
                    self.errors.append((module_path(node), name, f"{name} has no rule"))
                self.errors_seen.add(node)
                continue
            self.node = node
            self.builder.location = location_of(node)
            self.builder.pin = pin_of(node)
            try:
                self.env[node] = self.translate(node)
            except Unsupported as error:
                self.errors.append((module_path(node), written_name(node), str(error)))
                self.env[node] = None
                self.errors_seen.add(node)
        raise AssertionError("a graph ends in its output")

    @property
    def errors_seen(self):
        return self.__dict__.setdefault("_errors_seen", set())


def depends_on_error(translator, node):
    return any(argument in translator.errors_seen for argument in node.all_input_nodes)


def written_name(node):
    """The operation of the model that a node is a part of."""
    origin = node.meta.get("original_aten")
    return str(operation_of(node) if origin is None else origin)


def replaced(argument, constant, value):
    """Arguments with a value in the place of a constant."""
    if isinstance(argument, (list, tuple)):
        return [replaced(item, constant, value) for item in argument]
    return value if argument is constant else argument


def contains_value(argument):
    if isinstance(argument, Value):
        return True
    if isinstance(argument, (list, tuple)):
        return any(map(contains_value, argument))
    return False


def module_path(node):
    """The path of the module whose forward made a node, as in state_dict."""
    stack = node.meta.get("nn_module_stack") or {}
    for path, _ in reversed(list(stack.values())):
        if isinstance(path, str) and not path.startswith("_empty"):
            if path == "model" or path.startswith("model."):
                return path[6:]
            if path == "loss" or path.startswith("loss."):
                return path
    return ""


def location_of(node):
    path = module_path(node)
    custom = node.meta.get("custom") or {}
    parts = [custom["amp_checkpoint"]] if "amp_checkpoint" in custom else []
    return ".".join([*parts, path] if path else parts) or "forward"


def pin_of(node):
    return (node.meta.get("custom") or {}).get("amp_precision")



