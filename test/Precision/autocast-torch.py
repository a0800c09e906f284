# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compares the strategy `autocast` with torch.autocast("cpu") on the same
# programs. Every operation must have the same result type, and the number of
# casts must be equal.
#
# REQUIRES: torch
# RUN: %python %s amp-opt %S/Inputs/torch-1.13-cpu.yaml
#
# The comparison fails with another algorithm.
# RUN: not %python %s amp-opt %S/Inputs/torch-1.13-cpu.yaml grappler 2>&1 | FileCheck %s
# CHECK: residual:
# CHECK: programs differ
"""Usage: autocast-torch.py <amp-opt> <policy> [strategy]

The lists are from PyTorch 1.13, for which the policy was written. Casts of
torch are of two kinds, and both are casts in the IR: those that autocast makes,
and those that kernels make when operands of a fallthrough operation have
different types. torch casts values other than parameters once per use; the IR casts once per value,
so values are counted and not casts. torch 1.13 has no
layer_norm for a bf16 operand and f32 parameters; it is left out."""

import re
import subprocess
import sys
from dataclasses import dataclass
from typing import Callable

import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode

ARGUMENTS = {"x": (4, 4), "y": (4, 4), "w": (4, 4), "v": (4, 4), "b": (4,), "s": (),
             "image": (1, 4, 4, 4), "filter": (3, 3, 4, 4)}


@dataclass
class Op:
    """An operation in both forms: `mlir` has {0}, {1} for operands and {t} for
    their types, `shape` gives the shape of the result."""

    torch: Callable
    mlir: str
    shape: Callable = lambda *shapes: max(shapes, key=len)


def plain(name, function):
    return Op(function, f"train.{name} {{0}} : {{t0}}")


def binary(name, function):
    return Op(function, f"train.{name} {{0}}, {{1}} : ({{t0}}, {{t1}}) -> {{r}}")


def reduction(name, function):
    return Op(function, f"train.{name} {{0}} {{{{dims = array<i64: 1>, keep_dims}}}} : ({{t0}}) -> {{r}}",
              lambda a: (a[0], 1))


def loss(name, function):
    return Op(function, f"train.{name} {{0}}, {{1}} : ({{t0}}, {{t1}}) -> {{r}}", lambda *_: ())


def pool(name, function):
    return Op(lambda a: function(a, 2), f"train.{name} {{0}} {{{{window = array<i64: 2, 2>, strides = array<i64: 2, 2>}}}} : ({{t0}}) -> {{r}}",
              lambda a: (a[0], a[1] // 2, a[2] // 2, a[3]))


def labels():
    return torch.tensor([0, 1, 2, 3])


OPS = {
    "matmul": Op(torch.matmul, "train.matmul {0}, {1} : ({t0}, {t1}) -> {r}"),
    "linear": Op(lambda x, w, b: torch.addmm(b, x, w),
                 "train.linear {0}, {1}, {2} : ({t0}, {t1}, {t2}) -> {r}"),
    "conv2d": Op(lambda i, f: F.conv2d(i, f, padding=1),
                 "train.conv2d {0}, {1} {{padding = array<i64: 1, 1, 1, 1>}} : ({t0}, {t1}) -> {r}",
                 lambda i, f: i),
    **{n: plain(n, f) for n, f in {
        "neg": torch.neg, "abs": torch.abs, "relu": F.relu, "tanh": torch.tanh,
        "sigmoid": torch.sigmoid, "gelu": F.gelu, "sqrt": torch.sqrt, "log": torch.log}.items()},
    **{n: binary(n, f) for n, f in {
        "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div,
        "maximum": torch.maximum, "minimum": torch.minimum}.items()},
    "softmax": Op(lambda a: F.softmax(a, 1), "train.softmax {0} {{axis = 1 : i64}} : {t0}"),
    "log_softmax": Op(lambda a: F.log_softmax(a, 1), "train.log_softmax {0} {{axis = 1 : i64}} : {t0}"),
    "half": Op(lambda a: a * 0.5, "train.mul {0}, %half : ({t0}, tensor<f32>) -> {r}"),
    "mean": reduction("reduce_mean", lambda a: a.mean(1, keepdim=True)),
    "max": reduction("reduce_max", lambda a: a.amax(1, keepdim=True)),
    "mse": loss("mse", F.mse_loss),
    "l1": loss("l1", F.l1_loss),
    "cross_entropy": Op(lambda a: F.cross_entropy(a, labels()),
                        "train.cross_entropy {0}, %labels : ({t0}, tensor<4xi64>) -> {r}", lambda a: ()),
    "concat": Op(lambda a, b: torch.cat([a, b]),
                 "train.concat {0}, {1} {{axis = 0 : i64}} : ({t0}, {t1}) -> {r}",
                 lambda a, b: (a[0] + b[0], a[1])),
    "transpose": Op(torch.t, "train.transpose {0} {{permutation = array<i64: 1, 0>}} : ({t0}) -> {r}"),
    "reshape": Op(lambda a: a.reshape(2, 8), "train.reshape {0} : ({t0}) -> {r}", lambda a: (2, 8)),
    "select": Op(lambda c, a, b: torch.where(c, a, b),
                 "train.select {0}, {1}, {2} : (tensor<4x4xi1>, {t1}, {t2}) -> {r}", lambda *_: (4, 4)),
    "greater": Op(torch.gt, "train.compare gt, {0}, {1} : ({t0}, {t1}) -> tensor<4x4xi1>"),
    "avg_pool": pool("avg_pool2d", F.avg_pool2d),
    "max_pool": pool("max_pool2d", F.max_pool2d),
    "batch_norm": Op(lambda a, b: F.batch_norm(a, b.detach(), b.detach(), b, b),
                     "train.batch_norm_inference {0}, {1}, {1}, {1}, {1} : ({t0}, {t1}, {t1}, {t1}, {t1}) -> {r}",
                     lambda a, b: a),
}
# Kernels of these operations promote their operands to one type.
PROMOTING = {"add", "sub", "mul", "div", "maximum", "minimum", "where", "gt", "cat"}


def program(*rows):
    """Rows are "name = operation operands"."""
    result = []
    for row in rows:
        name, text = row.split(" = ")
        op, *operands = text.split()
        result.append((name, op, operands))
    return result


PROGRAMS = {
    "product": program("a = matmul x w"),
    "two-products": program("a = matmul x w", "r = relu a", "c = matmul r v"),
    "shared-parameter": program("a = matmul x w", "c = matmul a w", "d = matmul y w"),
    "bias": program("a = linear x w b", "g = gelu a", "c = linear g v b"),
    "clear-follows": program("a = matmul x w", "t = tanh a", "n = neg t", "m = mean n", "e = sqrt m"),
    "clear-in-f32": program("t = tanh x", "n = neg t", "m = max n", "a = matmul t w"),
    "residual": program("a = matmul x w", "r = add a x", "t = tanh r", "c = matmul r v"),
    "low-residual": program("a = matmul x w", "c = matmul y v", "r = add a c", "t = tanh r"),
    "number": program("a = matmul x w", "h = half a", "g = half x", "c = matmul g v"),
    "scalar-yields": program("a = matmul x w", "h = mul a s", "g = mul x s", "k = mul s s"),
    "vector-wins": program("a = matmul x w", "h = mul a b", "t = tanh h"),
    "losses": program("a = matmul x w", "m = mse a y", "n = l1 a a", "e = cross_entropy a"),
    "loss-in-f32": program("m = mse x y", "a = matmul x w", "e = mse a y"),
    "promote-low": program("a = matmul x w", "c = matmul y v", "k = concat a c", "t = tanh k"),
    "promote-mixed": program("a = matmul x w", "k = concat a x", "t = tanh k", "c = matmul k v"),
    "attention": program("q = matmul x w", "k = matmul x v", "t = transpose k", "p = matmul q t",
                         "h = half p", "f = softmax h", "o = matmul f k", "r = add o x"),
    "gate": program("a = matmul x w", "g = sigmoid a", "m = mul a g", "c = greater m y",
                    "z = select c m y", "u = select c m a"),
    "shapes": program("a = matmul x w", "r = reshape a", "h = half r", "l = log_softmax h", "t = transpose a"),
    "extrema": program("a = matmul x w", "m = maximum a x", "n = minimum a a", "d = sub a m", "e = div n d"),
    "convolution": program("a = conv2d image filter", "n = batch_norm a b", "r = relu n",
                           "p = max_pool r", "c = avg_pool p"),
    "deny-then-clear": program("a = matmul x w", "m = mse a y", "l = log m", "h = mul a m", "k = mul m l"),
}


class Recorder(TorchDispatchMode):
    """Values that are cast, by type."""

    def __init__(self):
        super().__init__()
        self.casts, self.kept = set(), []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        # Keeps the tensor alive, so that no other tensor gets its id.
        self.kept += [args, result]
        name = function._schema.name.split("::")[1]
        if name == "_to_copy" and args[0].is_floating_point():
            self.casts.add((id(args[0]), result.dtype))
        elif name in PROMOTING:
            operands = args[0] if name == "cat" else args
            floats = [a for a in operands if isinstance(a, torch.Tensor) and a.is_floating_point()]
            if len(floats) == 2:
                common = torch.result_type(*floats)
                self.casts |= {(id(a), common) for a in floats if a.dtype != common}
        return result


def run_torch(rows):
    """The type of each operation, and the number of values cast."""
    torch.manual_seed(0)
    values = {n: torch.rand(shape) + 0.5 for n, shape in ARGUMENTS.items()}
    values["filter"] = torch.rand(4, 4, 3, 3)
    for name in ("w", "v", "b", "filter"):
        values[name].requires_grad_()
    types = {}
    recorder = Recorder()
    with recorder, torch.autocast("cpu", dtype=torch.bfloat16):
        for name, op, operands in rows:
            values[name] = OPS[op].torch(*(values[o] for o in operands))
            types[name] = {torch.bfloat16: "bf16", torch.float32: "f32", torch.bool: "i1"}[values[name].dtype]
    return types, len(recorder.casts)


def tensor(shape, element="f32"):
    return f"tensor<{''.join(f'{extent}x' for extent in shape)}{element}>"


def write(name, rows):
    shapes = dict(ARGUMENTS)
    arguments = ", ".join(f"%{n}: {tensor(s)}" for n, s in shapes.items())
    lines = [f'func.func @"{name}"({arguments}, %labels: tensor<4xi64>) {{',
             "  %half = train.constant dense<0.5> : tensor<f32>"]
    for value, op, operands in rows:
        inputs = [shapes[o] for o in operands]
        shapes[value] = OPS[op].shape(*inputs)
        text = OPS[op].mlir.format(*(f"%{o}" for o in operands), r=tensor(shapes[value]),
                                   **{f"t{i}": tensor(s) for i, s in enumerate(inputs)})
        body, types = text.rsplit(" : ", 1)
        if body.endswith("}"):
            body = body[:-1] + f', test.tag = "{value}"}}'
        else:
            body += f' {{test.tag = "{value}"}}'
        lines.append(f"  %{value} = {body} : {types}")
    return "\n".join([*lines, "  return", "}"])


def run_mlir(tool, policy, strategy):
    text = "\n".join(write(name, rows) for name, rows in PROGRAMS.items())
    command = [tool, "-", f"--auto-mixed-precision=precision=bf16 policy={policy} strategy={strategy}"]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} fails:\n{done.stderr}")
    parts = re.split(r'^  func\.func @"?([\w-]+)"?\(', done.stdout, flags=re.M)
    result = {}
    for name, body in zip(parts[1::2], parts[2::2]):
        types = {}
        for tag, signature in re.findall(r'tag = "(\w+)".*? : (.*)$', body, flags=re.M):
            types[tag] = re.findall(r"tensor<(?:\d+x)*(\w+)>", signature)[-1]
        # A Python number has no type in torch.
        number = re.search(r"(%\S+) = train\.constant", body)[1]
        result[name] = types, len(re.findall(r"= amp\.cast ", body.replace(f"amp.cast {number} ", ""))), body
    return result


def main():
    tool, policy = sys.argv[1:3]
    ours = run_mlir(tool, policy, sys.argv[3] if len(sys.argv) > 3 else "autocast")
    different = 0
    for name, rows in PROGRAMS.items():
        types, casts = run_torch(rows)
        got, got_casts, body = ours[name]
        wrong = [f"{n} is {got.get(n)} and {t} in torch" for n, t in types.items() if got.get(n) != t]
        if casts != got_casts:
            wrong.append(f"{got_casts} casts and {casts} in torch")
        if wrong:
            different += 1
            print(f"{name}: {', '.join(wrong)}\n{body}")
    print(f"torch {torch.__version__}: {len(PROGRAMS) - different} programs equal, {different} programs differ")
    sys.exit(different != 0)


main()
