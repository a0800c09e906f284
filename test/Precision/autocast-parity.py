# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The presets `pytorch-cpu` and `pytorch` in bf16 against PyTorch, in numbers:
# logits, loss and the gradients of all parameters of single operations and of
# networks. Where all sums of f32 are exact, every bit is equal. Elsewhere at
# least 99.9 % of the elements are equal, and the others differ by one ulp of
# bf16.
#
# REQUIRES: torch, full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t pytorch-cpu
# RUN: %python %s %t pytorch
#
# The comparison can fail: a policy that folds roundings computes weight
# gradients and logits without them.
# RUN: echo '{version: 1, extends: pytorch-cpu, roundings: fold}' > %t/fold.yaml
# RUN: not %python %s %t pytorch-cpu %t/fold.yaml 2>&1 | FileCheck %s
# CHECK: perceptron: gradient of w: {{.*}} equal
"""Usage: autocast-parity.py <folder> pytorch-cpu|pytorch [policy]

For `pytorch-cpu` the oracle is torch.autocast("cpu"). A machine without a GPU
cannot run torch.autocast("cuda"), so for `pytorch` the oracle casts the operands
of each operation by PyTorch's CUDA lists, here for the operations used, and
leaves the rest to PyTorch's type promotion and its autograd."""

import re
import subprocess
import sys

import numpy as np
import torch
import torch.nn.functional as F

folder, mode = sys.argv[1:3]
policy = sys.argv[3] if len(sys.argv) > 3 else mode
rng = np.random.default_rng(11)
LOW = torch.bfloat16


class Ops:
    """The operations of a program, as PyTorch has them on the CPU."""

    def __getattr__(self, name):
        return FUNCTIONS[name]


class CudaOps(Ops):
    """The same, with the operands that autocast on CUDA gives them."""

    def __init__(self):
        self.kept = {}

    LOWER = {"matmul", "linear", "conv2d"}
    FP32 = {"exp", "log", "pow2", "reciprocal", "softmax", "log_softmax", "sum", "mse", "l1", "cross_entropy"}

    def __getattr__(self, name):
        type = LOW if name in self.LOWER else torch.float32 if name in self.FP32 else None

        def call(*operands):
            if type is not None:
                operands = [self.cast(o, type) if torch.is_tensor(o) and o.is_floating_point() else o
                            for o in operands]
            return FUNCTIONS[name](*operands)

        return call

    def cast(self, value, type):
        """autocast keeps the casts of parameters to the low type."""
        if type is not LOW or not value.is_leaf or not value.requires_grad:
            return value.to(type)
        if id(value) not in self.kept:
            self.kept[id(value)] = value.to(type)
        return self.kept[id(value)]


class RoundedOps(CudaOps):
    """The operations on the CPU, with products that are rounded once."""

    FP32 = frozenset()


class RoundedOnce(torch.autograd.Function):
    """A product in f32 whose result and gradients are rounded once."""

    @staticmethod
    def forward(ctx, function, *operands):
        with torch.enable_grad(), torch.autocast("cpu", enabled=False):
            ctx.operands = [operand.detach().float().requires_grad_() for operand in operands]
            ctx.result = function(*ctx.operands)
        return ctx.result.detach().to(LOW)

    @staticmethod
    def backward(ctx, gradient):
        gradients = torch.autograd.grad(ctx.result, ctx.operands, gradient.float())
        return (None, *(gradient.to(LOW) for gradient in gradients))


PRODUCTS = {
    "matmul": torch.matmul,
    "linear": lambda x, w, b: torch.addmm(b, x, w),
    "conv2d": lambda x, f: F.conv2d(x.permute(0, 3, 1, 2), f.permute(3, 2, 0, 1), padding=1).permute(0, 2, 3, 1),
}


def kernels_round_once():
    """Whether the kernels of PyTorch add products of the low type in f32, as they do on processors with AVX-512.
    The others add in the low type."""
    for name, *shapes in (("matmul", (64, 64), (64, 64)), ("conv2d", (4, 8, 8, 16), (3, 3, 16, 16))):
        integers = [torch.from_numpy(np.random.default_rng(1).integers(-15, 16, shape)) for shape in shapes]
        found = []
        for function in (PRODUCTS[name], lambda *operands: RoundedOnce.apply(PRODUCTS[name], *operands)):
            operands = [values.to(LOW).requires_grad_() for values in integers]
            result = function(*operands)
            found.append([result, *torch.autograd.grad(result, operands, (result * 0 + 3).detach())])
        if not all(map(torch.equal, *found)):
            return False
    return True


ROUND_ONCE = kernels_round_once()
if not ROUND_ONCE:
    print("products of the oracle: in f32, since the kernels of PyTorch for this processor add in the low type")


def product(name):
    if ROUND_ONCE:
        return PRODUCTS[name]
    return lambda *operands: RoundedOnce.apply(PRODUCTS[name], *operands)


FUNCTIONS = {
    **{name: product(name) for name in PRODUCTS},
    "max_pool": lambda x: F.max_pool2d(x.permute(0, 3, 1, 2), 2).permute(0, 2, 3, 1),
    "flatten": lambda x: x.reshape(x.shape[0], -1),
    "transpose": lambda x: x.t(),
    "relu": torch.relu, "neg": torch.neg, "abs": torch.abs, "exp": torch.exp, "tanh": torch.tanh,
    "sigmoid": torch.sigmoid, "gelu": F.gelu, "silu": F.silu, "sqrt": torch.sqrt, "log": torch.log,
    "reciprocal": torch.reciprocal, "erf": torch.erf, "sin": torch.sin, "cos": torch.cos,
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div,
    "maximum": torch.maximum, "minimum": torch.minimum,
    "softmax": lambda x: torch.softmax(x, 1),
    "sum": lambda x: x.sum(1, keepdim=True),
    "max": lambda x: x.amax(1, keepdim=True),
    "concat": lambda x, y: torch.cat([x, y], 1),
    "mse": F.mse_loss, "l1": F.l1_loss, "cross_entropy": F.cross_entropy,
}


def tensor(shape, element="f32"):
    return f"tensor<{''.join(f'{extent}x' for extent in shape)}{element}>"


def same(*shapes):
    return np.broadcast_shapes(*shapes)


# In MLIR: the mnemonic, attributes and the shape of the result.
MLIR = {
    "matmul": ("matmul", "", lambda a, b: (a[0], b[1])),
    "linear": ("linear", "", lambda x, w, b: (x[0], w[1])),
    "conv2d": ("conv2d", "{padding = array<i64: 1, 1, 1, 1>}", lambda x, f: (*x[:3], f[3])),
    "max_pool": ("max_pool2d", "{window = array<i64: 2, 2>, strides = array<i64: 2, 2>}",
                 lambda x: (x[0], x[1] // 2, x[2] // 2, x[3])),
    "flatten": ("reshape", "", lambda x: (x[0], int(np.prod(x[1:])))),
    "transpose": ("transpose", "{permutation = array<i64: 1, 0>}", lambda x: x[::-1]),
    "softmax": ("softmax", "{axis = 1 : i64}", same),
    "sum": ("reduce_sum", "{dims = array<i64: 1>, keep_dims}", lambda x: (x[0], 1)),
    "max": ("reduce_max", "{dims = array<i64: 1>, keep_dims}", lambda x: (x[0], 1)),
    "concat": ("concat", "{axis = 1 : i64}", lambda x, y: (x[0], x[1] + y[1])),
    "mse": ("mse", "", lambda *_: ()), "l1": ("l1", "", lambda *_: ()),
    "cross_entropy": ("cross_entropy", "", lambda *_: ()),
}
ONE_TYPE = {"relu", "neg", "abs", "exp", "tanh", "sigmoid", "gelu", "silu", "sqrt", "log", "reciprocal", "erf",
            "sin", "cos", "softmax"}


class Program:
    """Rows "name = operation operands"; the last two are logits and loss.
    `unlike` are parameters whose gradients are not compared: PyTorch's kernel on
    the CPU rounds values in between, and is not the rounded result of f32."""

    def __init__(self, values, parameters, rows, exact=True, unlike=()):
        self.values, self.parameters, self.exact, self.unlike = values, parameters, exact, unlike
        self.rows = [(name, *text.split()) for name, text in (row.split(" = ") for row in rows)]

    def shapes(self):
        shapes = {n: v.shape for n, v in self.values.items()}
        for name, op, *operands in self.rows:
            shapes[name] = MLIR.get(op, (op, "", same))[2](*(shapes[o] for o in operands))
        return shapes

    def mlir(self, prefix):
        """The arguments, the lines and the results of a step, and their types.
        What it returns for a parameter is its gradient."""
        type = {n: tensor(s, "i64" if n in self.values and self.values[n].dtype == np.int64 else "f32")
                for n, s in self.shapes().items()}
        value = {n: f"%{prefix}{n}" for n in type}
        lines = []
        for name, op, *operands in self.rows:
            mnemonic, attributes, _ = MLIR.get(op, (op, "", same))
            signature = (type[name] if op in ONE_TYPE
                         else f"({', '.join(type[o] for o in operands)}) -> {type[name]}")
            lines.append(f"  {value[name]} = train.{mnemonic} {', '.join(value[o] for o in operands)} {attributes} : "
                         f"{signature}")
        logits, loss = self.rows[-2][0], self.rows[-1][0]
        wrt = [type[n] for n in self.parameters]
        arguments = [f'{value[n]}: {type[n]} {{amp.role = "{"parameter" if n in self.parameters else "batch"}", '
                     f'amp.name = "{prefix}{n}"}}' for n in self.values]
        gradients = [f"%{prefix}gradient{i}" for i in range(len(wrt))]
        lines.append(f"  {', '.join(gradients)} = train.gradients {value[loss]} "
                     f"wrt({', '.join(value[n] for n in self.parameters)})"
                     f" : ({', '.join([type[loss], *wrt])}) -> ({', '.join(wrt)})")
        updates = [(g, f'{type[n]} {{amp.updates = "{prefix}{n}"}}') for g, n in zip(gradients, self.parameters)]
        outputs = [(value[logits], f'{type[logits]} {{amp.prediction = "{prefix}logits"}}'),
                   (value[loss], f'{type[loss]} {{amp.metric = "{prefix}loss"}}')]
        return arguments, lines, updates, outputs

    def run_torch(self):
        values = {n: torch.from_numpy(v.copy()) for n, v in self.values.items()}
        for name in self.parameters:
            values[name].requires_grad_()
        ops = CudaOps() if mode != "pytorch-cpu" else Ops() if ROUND_ONCE else RoundedOps()
        with torch.autocast("cpu", dtype=LOW, enabled=mode == "pytorch-cpu"):
            for name, op, *operands in self.rows:
                values[name] = getattr(ops, op)(*(values[o] for o in operands))
        logits, loss = values[self.rows[-2][0]], values[self.rows[-1][0]]
        loss.backward()
        result = {n: values[n].grad.float().numpy() for n in self.parameters}
        return {**result, "logits": logits.detach().float().numpy(), "loss": loss.detach().float().numpy()}


def run_mlir(programs):
    """Runs all programs, as one step: a tool takes longer to start than a
    program to run. Returns gradients, logits and loss of each."""
    parts = {name: program.mlir(f"{name.replace('-', '_')}_") for name, program in programs}
    results = [r for _, _, updates, outputs in parts.values() for r in updates + outputs]
    text = "\n".join([
        f"func.func @step({', '.join(a for arguments, *_ in parts.values() for a in arguments)})",
        f"    -> ({', '.join(type for _, type in results)}) {{",
        *(line for _, lines, *_ in parts.values() for line in lines),
        f"  return {', '.join(v for v, _ in results)} : {', '.join(type.split(' {')[0] for _, type in results)}", "}"])
    tool("amp-opt", "-", f"--amp-training-pipeline=policy={policy} precision=bf16", "-o", f"{folder}/mixed.mlir",
         input=text)
    tool("amp-opt", f"{folder}/mixed.mlir", "--amp-cpu-pipeline", "-o", f"{folder}/llvm.mlir")
    # Arguments, which updates overwrite, and then the other results.
    keys = [(name, n) for name, program in programs for n in program.values]
    arrays = [program.values[n] for _, program in programs for n in program.values]
    for name, program in programs:
        shapes = program.shapes()
        keys += [(name, "logits"), (name, "loss")]
        arrays += [np.zeros(shapes[program.rows[-2][0]], np.float32), np.zeros((), np.float32)]
    np.savez(f"{folder}/in.npz", **{f"b{i:05}": array for i, array in enumerate(arrays)})
    tool("amp-execution-test", "jit", f"{folder}/llvm.mlir", "step_cpu", f"{folder}/out.npz", f"{folder}/in.npz")
    found = {name: {} for name, _ in programs}
    with np.load(f"{folder}/out.npz") as file:
        for i, (name, n) in enumerate(keys):
            if n in ("logits", "loss") or n in dict(programs)[name].parameters:
                found[name][n] = file[f"b{i:05}"]
    return found


def tool(*command, input=None):
    done = subprocess.run(command, input=input, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} fails:\n{done.stderr[-3000:]}\n{input or ''}")


def integers(*shape, low=-4, high=5, scale=1.0):
    return (rng.integers(low, high, shape) * scale).astype(np.float32)


def networks():
    """Small integers and few of them: sums are exact, and so is the division of
    the mean by a power of two."""
    n = 64
    yield "perceptron", Program(
        {"w": integers(32, 16, scale=0.125), "b": integers(16), "v": integers(16, 8, scale=0.125), "c": integers(8),
         "x": integers(n, 32), "t": integers(n, 8)}, ["w", "b", "v", "c"],
        ["h = linear x w b", "r = relu h", "y = linear r v c", "l = mse y t"])
    yield "convolution", Program(
        {"f": integers(3, 3, 4, 8, low=-1, high=2, scale=0.5), "w": integers(32, 8, scale=0.125),
         "x": integers(32, 4, 4, 4), "t": integers(32, 8)}, ["f", "w"],
        ["h = conv2d x f", "r = relu h", "p = max_pool r", "d = flatten p", "y = matmul d w", "l = mse y t"])
    yield "gated-residual", Program(
        {"w": integers(16, 16, scale=0.125), "v": integers(16, 16, scale=0.125), "u": integers(16, 16, scale=0.125),
         "s": np.array(0.5, np.float32), "x": integers(n, 16), "t": integers(n, 16),
         "m": integers(n, 16) + np.float32(0.03125)}, ["w", "v", "u"],
        ["q = matmul x w", "k = matmul x v", "z = mul q s", "h = maximum z m", "g = mul h k", "r = add g x", "a = abs r",
         "y = matmul a u", "l = l1 y t"])
    # Three gradients of one value are added in the reverse order of execution. The
    # tanh comes first and is read last. A row of x selects a row of the weight.
    yield "order", Program(
        {"w": integers(n, 64, scale=0.125), "b": integers(64), "v": integers(64, 8, scale=0.125),
         "x": np.eye(n, dtype=np.float32), "t": integers(n, 8)}, ["w", "b", "v"],
        ["h = linear x w b", "a = tanh h", "g = sigmoid h", "k = mul g h", "r = add k a", "y = matmul r v",
         "l = mse y t"], exact=False)
    # Inexact: exponentials, and divisions by numbers other than powers of two.
    yield "classifier", Program(
        {"w": integers(32, 64, scale=0.125), "b": integers(64), "v": integers(64, 10, scale=0.125),
         "x": integers(256, 32), "t": rng.integers(0, 10, 256)}, ["w", "b", "v"],
        ["h = linear x w b", "r = relu h", "y = matmul r v", "l = cross_entropy y t"], exact=False)
    yield "attention", Program(
        {"w": integers(64, 64, scale=1 / 32), "v": integers(64, 64, scale=1 / 32), "u": integers(64, 64, scale=1 / 32),
         "x": integers(16, 64, scale=0.25), "t": integers(16, 64)}, ["w", "v", "u"],
        ["q = matmul x w", "k = matmul x v", "e = transpose k", "p = matmul q e", "a = softmax p", "o = matmul a x",
         "r = add o x", "y = matmul r u", "l = mse y t"], exact=False,
        unlike=("w", "v") if mode == "pytorch-cpu" else ())


def operations():
    """One operation after a product and before another."""
    def program(rows, positive=False, exact=True, unlike=(), more=()):
        w = integers(16, 64, low=1 if positive else -4, scale=0.125)
        values = {"w": w, "v": integers(16, 64, low=1 if positive else -4, scale=0.125),
                  "x": integers(64, 16, low=1 if positive else -4), "t": integers(64, 64),
                  "m": integers(64, 64) + np.float32(0.03125)}
        values |= {name: integers(64, 64, low=-1, high=2) for name in more}
        return Program(values, ["w", *more], ["a = matmul x w", "c = matmul x v", *rows, "l = mse y t"], exact, unlike)

    for op in ("neg", "abs", "relu"):
        yield op, program([f"y = {op} a"])
    for op in ("add", "sub"):
        yield op, program([f"y = {op} a c"])
    # PyTorch divides the gradient where two are equal; these never are.
    for op in ("maximum", "minimum"):
        yield op, program([f"y = {op} a m"])
    for op in ("mul", "div"):
        yield op, program([f"y = {op} a c"], positive=True, exact=op == "mul")
    for op in ("tanh", "sigmoid", "sin", "cos"):
        yield op, program([f"y = {op} a"], exact=False)
    # PyTorch's GELU cancels in its negative tail. Ours does not.
    yield "gelu", program(["y = gelu a"], positive=True, exact=False)
    yield "erf", program(["y = erf a"], exact=False, unlike=["w"])
    yield "softmax", program(["y = softmax a"], exact=False, unlike=["w"] if mode == "pytorch-cpu" else ())
    for op in ("sqrt", "log", "reciprocal"):
        yield op, program([f"y = {op} a"], positive=True, exact=False)
    yield "exp", program(["b = tanh a", "y = exp b"], exact=False)
    for op in ("sum", "max"):
        yield op, program([f"s = {op} a", "y = add s c"], exact=op == "max")
    # Each reader of a value has a separate cast, whose gradients are rounded apart
    # and meet in the type of the value. Those of a parameter share one cast.
    yield "readers-low", program(["d = mul z m", "p = matmul a d", "q = matmul c d", "y = add p q"], more=("z",))
    yield "readers-wide", program(["h = sin a", "e = exp h", "s = sum h", "y = add e s"], exact=False)
    yield "readers-parameter", program(["n = transpose w", "b = relu a", "r = matmul b n", "y = matmul r w"])


def ulps(ours, theirs, bits):
    """The distance in units of the last of `bits` bits of significand."""
    exponent = np.frexp(np.maximum(np.abs(ours), np.abs(theirs)))[1]
    return np.abs(ours.astype(np.float64) - theirs) / np.ldexp(1.0, exponent - bits)


def compare(name, program, ours):
    """Returns what differs more than it may, and the least share of equal
    elements."""
    theirs = program.run_torch()
    wrong, least = [], 1.0
    for key in ours:
        if key in program.unlike:
            continue
        what = key if key in ("logits", "loss") else f"gradient of {key}"
        a, b = ours[key].astype(np.float32), theirs[key].astype(np.float32)
        assert a.shape == b.shape and np.isfinite(b).all(), (name, what, a.shape, b.shape)
        if not program.exact and key != "loss":
            # A value that is f32 on both sides has no rounding that hides the last bits.
            a, b = (torch.from_numpy(v).to(LOW).float().numpy() for v in (a, b))
        equal = float(np.mean(a == b))
        if key != "loss":
            least = min(least, equal)
        if equal == 1.0:
            continue
        if key == "loss":
            # A sum in another order. Sums of squares are not exact.
            if (program.exact and program.rows[-1][1] == "l1") or abs(a - b) > 1e-4 * abs(b):
                wrong.append(f"{name}: loss: {a} and {b}")
            continue
        worst = float(ulps(a, b, 8).max())
        if program.exact or worst > 1.0 or equal < 0.999:
            wrong.append(f"{name}: {what}: {100 * equal:.2f} % equal, the rest within {worst:.2f} ulp")
    return wrong, least


def main():
    wrong, exact = [], 0
    programs = [*networks(), *operations()]
    results = run_mlir(programs)
    for name, program in programs:
        different, least = compare(name, program, results[name])
        wrong += different
        exact += least == 1.0
    print("\n".join(wrong))
    print(f"{mode}: {len(programs)} programs, {exact} with every bit of logits and gradients equal, {len(wrong)} differences")
    sys.exit(bool(wrong))


main()
