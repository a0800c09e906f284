# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A fuzz test: no text crashes amp-opt. Every operation of the round-trip tests, mutated at
# random in its generic form, is accepted or rejected with a diagnostic. Accepted input goes through
# the passes, which may reject it but must not crash.
#
# RUN: %python %s %S
"""Usage: fuzz.py <folder of the dialect tests>"""

import os
import pathlib
import random
import re
import subprocess
import sys

# Mutants of each operation in the round-trip tests.
MUTANTS = 100 if os.environ.get("AMP_LONG_TESTS") else 4
# Of these, how many are lowered.
LOWERED = 1000 if os.environ.get("AMP_LONG_TESTS") else 60
BATCH = 400
HUGE = 9223372036854775807
EXTENTS = ["0", "1", "2", "7", "?", str(2**47), str(HUGE)]
INTEGERS = ["-9223372036854775808", "-1", "0", "1", "2", "9", str(2**31), str(HUGE)]
FLOATS = ["-1.0", "-0.0", "0.0", "1.0", "1.0e+300", "0x7FF0000000000000", "0x7FF8000000000000"]
ELEMENTS = ["f16", "bf16", "f32", "f64", "i1", "i32", "i64", "ui8", "f8E5M2", "index", "complex<f32>"]
TYPES = [
    "tensor<f32>", "tensor<*xf32>", "tensor<?x?x?xf32>", "tensor<1x1x1x1xf16>", "tensor<0xf64>",
    'tensor<4xf32, "encoding">', "memref<4xf32>", "vector<4xf32>", "f32", "i64", "none", "tuple<f32>",
    "tensor<4xvector<2xf32>>",
]
ATTRIBUTES = [
    "unit", '"text"', "[]", "[1, 2]", "true", "1 : i8", "99999999999999999999 : i128", "1.0 : f16",
    "array<i64>", "array<i32: 1, 1>", "array<i64: 1>", "array<i64: 1, 1, 1, 1, 1>", "dense<1.0> : tensor<2xf32>",
    "dense<> : tensor<0xi64>", "sparse<0, 1.0> : tensor<4xf32>", "dense<1> : vector<4xi32>", "f32", "{}",
]
OPERATION = re.compile(r'^\s*(?:%\S+ = )?"((?:train|amp)\.\w+)"\(([^)]*)\)(.*) : \((.*)\) -> (.*)$')


def split(text):
    """The items of a comma-separated list, brackets respected."""
    items, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "<([{") - (c in ">)]}" and text[i - 1] != "-")
        if c == "," and depth == 0:
            items.append(text[start:i].strip())
            start = i + 1
    return items + [text[start:].strip()] if text.strip() else []


class Operation:
    def __init__(self, name, attributes, operands, results):
        self.name, self.attributes = name, attributes
        self.operands, self.results = list(operands), list(results)

    @staticmethod
    def parse(line):
        match = OPERATION.match(line)
        if not match:
            return None
        name, _, attributes, operands, results = match.groups()
        results = results[1:-1] if results.startswith("(") else results
        return Operation(name, attributes, split(operands), split(results))

    def text(self, name, backward=False):
        """A function around the operation; with `backward`, it returns the
        gradients of the sum of the first result as well."""
        arguments = ", ".join(f"%a{i}: {t}" for i, t in enumerate(self.operands))
        values = ", ".join(f"%a{i}" for i in range(len(self.operands)))
        count = f"%r:{len(self.results)} = " if self.results else ""
        types, uses = list(self.results), [f"%r#{i}" for i in range(len(self.results))]
        body = f'  {count}"{self.name}"({values}){self.attributes} : ({", ".join(self.operands)}) -> ({", ".join(types)})\n'
        if backward:
            rank = types[0].count("x")
            dims = "array<i64" + ":" * bool(rank) + ", ".join(f" {i}" for i in range(rank)) + ">"
            scalar = "tensor<f64>" if "f64" in types[0] else "tensor<f32>"
            body += f'  %s = "train.reduce_sum"(%r#0) <{{dims = {dims}}}> : ({types[0]}) -> {scalar}\n'
            floats = [i for i, type in enumerate(self.operands) if is_float_tensor(type)]
            wrt, grads = [f"%a{i}" for i in floats], [self.operands[i] for i in floats]
            body += (
                f'  %g:{len(floats)} = "train.gradients"({", ".join(["%s"] + wrt)}) : '
                f'({", ".join([scalar] + grads)}) -> ({", ".join(grads)})\n'
            )
            types, uses = types + grads, uses + [f"%g#{i}" for i in range(len(floats))]
        return (
            f"func.func @{name}({arguments}) -> ({', '.join(types)}) {{\n{body}"
            f"  return {', '.join(uses)}{' : ' if uses else ''}{', '.join(types)}\n}}\n"
        )

    def has_gradients(self):
        return bool(self.results) and all(map(is_float_tensor, self.results[:1])) and any(
            map(is_float_tensor, self.operands)
        )


def is_float_tensor(type):
    return re.match(r"tensor<(?:[?\d]+x)*(?:f16|bf16|f32|f64)>$", type) is not None


def mutate_type(type, draw):
    choice = draw.randrange(4)
    dims = re.match(r"tensor<((?:[?\d]+x)*)(\w+)>$", type)
    if choice == 0 or not dims:
        return draw.choice(TYPES)
    shape, element = dims.group(1).split("x")[:-1], dims.group(2)
    if choice == 1:
        element = draw.choice(ELEMENTS)
    elif choice == 2 and shape:
        shape[draw.randrange(len(shape))] = draw.choice(EXTENTS)
    elif draw.random() < 0.5 and shape:
        shape.pop(draw.randrange(len(shape)))
    else:
        shape.insert(draw.randrange(len(shape) + 1), draw.choice(EXTENTS))
    return f"tensor<{'x'.join(shape + [element])}>"


def mutate_attributes(text, draw):
    """Replaces a number, an element of an array or a whole value."""
    choice = draw.randrange(4)
    integers = [m for m in re.finditer(r"(?<=[ :])-?\d+(?=[,>\s])", text)]
    floats = [m for m in re.finditer(r"-?\d\.\d+e[+-]\d+", text)]
    values = [m for m in re.finditer(r"(?<== )(array<[^>]*>|[^,<>{}]+)", text)]
    for matches, replacements, wanted in (
        (integers, INTEGERS, 0), (floats, FLOATS, 1), (values, ATTRIBUTES, 2)
    ):
        if choice == wanted and matches:
            match = draw.choice(matches)
            return text[: match.start()] + draw.choice(replacements) + text[match.end() :]
    if choice == 3 and values:  # Drops an attribute.
        return re.sub(r"\w+ = (array<[^>]*>|[^,<>{}]+),? ?", "", text, count=1)
    extra = f"{draw.choice(['dims', 'axis', 'value', 'amp.id'])} = {draw.choice(ATTRIBUTES)}"
    return text + " {" + extra + "}"


def mutate(op, draw):
    mutant = Operation(op.name, op.attributes, op.operands, op.results)
    for _ in range(draw.choice([1, 1, 2, 3])):
        choice = draw.randrange(10)
        if choice < 3 and mutant.operands:
            i = draw.randrange(len(mutant.operands))
            mutant.operands[i] = mutate_type(mutant.operands[i], draw)
        elif choice < 5 and mutant.results:
            i = draw.randrange(len(mutant.results))
            mutant.results[i] = mutate_type(mutant.results[i], draw)
        elif choice == 5:
            # The same change everywhere keeps more mutants valid.
            old, new = draw.choice([("?", "4"), ("8", "1"), ("4", "1"), ("f16", "f32"), ("f32", "f64")])
            mutant.operands = [t.replace(old, new) for t in mutant.operands]
            mutant.results = [t.replace(old, new) for t in mutant.results]
        elif choice == 6:
            types = draw.choice([mutant.operands, mutant.results])
            if types and draw.random() < 0.5:
                types.pop(draw.randrange(len(types)))
            else:
                types.append(draw.choice(TYPES[:3] + types))
        else:
            mutant.attributes = mutate_attributes(mutant.attributes, draw)
    return mutant


def run(functions, passes):
    """Runs amp-opt on the functions, some hundred at a time, since the time for
    one file grows with the square of its length; ends the test if it crashes on
    one. Returns what went to the two outputs."""
    command = ["amp-opt", "-", "-split-input-file", "--mlir-disable-threading", *passes]

    def once(functions):
        source = "\n// -----\n".join(functions)
        return subprocess.run(command, input=source, capture_output=True, text=True)

    results = []
    for start in range(0, len(functions), BATCH):
        batch = functions[start : start + BATCH]
        results.append(once(batch))
        if results[-1].returncode in (0, 1):
            continue
        while len(batch) > 1:
            half = batch[: len(batch) // 2]
            batch = half if once(half).returncode not in (0, 1) else batch[len(half) :]
        result = once(batch)
        sys.exit(f"{' '.join(command)}: exit code {result.returncode} for\n{batch[0]}\n{result.stderr}")
    return "".join(r.stdout for r in results), "".join(r.stderr for r in results)


folder = pathlib.Path(sys.argv[1])
operations = []
for path in sorted(folder.glob("*/ops*.mlir")):
    generic = subprocess.run(
        ["amp-opt", path, "--mlir-print-op-generic"], check=True, capture_output=True, text=True
    )
    operations += filter(None, map(Operation.parse, generic.stdout.splitlines()))
assert len({op.name for op in operations}) > 70, "the round-trip tests lack operations"

draw = random.Random(int(os.environ.get("AMP_SEED", "1")))
mutants = [mutate(op, draw) for op in operations for _ in range(MUTANTS)]
printed, diagnostics = run([op.text(f"m{i}") for i, op in enumerate(mutants)], [])
accepted = [mutants[int(i)] for i in re.findall(r"func\.func @m(\d+)\(", printed)]
rejections = set(re.findall(r"error: (.*)", diagnostics))
print(f"{len(mutants)} mutants, {len(accepted)} accepted, {len(rejections)} different diagnostics")
assert len(accepted) >= len(mutants) / 50 and len(rejections) >= 200, "the mutants say little"

accepted += operations
forward = [op.text("f") for op in accepted]
run(forward, ["--canonicalize", "--cse"])
run(forward, ["--auto-mixed-precision", "--amp-optimize-casts"])
run(forward, ["--train-set-batch=batch-size=3"])
backward = [op.text("f", backward=True) for op in accepted if op.has_gradients()]
run(backward, ["--train-autodiff", "--auto-mixed-precision=precision=bf16", "--canonicalize"])
# Lowering takes its time: a sample.
for sample in (forward, backward):
    run(draw.sample(sample, min(len(sample), LOWERED)), ["--train-set-batch=batch-size=3", "--amp-training-pipeline", "--amp-cpu-pipeline=to-llvm=false"])
