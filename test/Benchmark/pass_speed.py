# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: pass_speed.py <folder of the tools> [--limit RATIO] [--gate]

Times auto-mixed-precision against upstream's CSE on generated modules:
transformer blocks, convolutional blocks, and a chain of elementwise operations
without a product or a denied operation, the worst case for a minimum cut; of
10^4, 10^5 and 10^6 operations each. Each pass gets the parsed module in a separate process, in
turns. Medians count. The verifier, which runs after a pass that changed something and whose time
would count as the pass's, is off: CSE, which changes nothing here, has none. Fails

- if on 10^5 operations of transformer blocks the ratio is above the limit (1.0);
- if ten times the operations, from 10^5 on, take more than 12 times the time;
- if the process needs more than twice the memory of the one with CSE;
- if so few operations become low that the comparison says nothing.

With --gate it runs 10^5 operations of transformer blocks alone, in 11 runs. If
the ratio is above the limit, it measures up to twice more: other programs that
run at the same time disturb a series, but a slower pass fails all three.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile

X = "tensor<?x64xf32>"
# Runs for graphs of at most so many operations. A run on ten thousand takes some
# milliseconds and scatters by more than the passes differ.
ROUNDS = {10**4: 25, 10**5: 5, 10**6: 3}


def block(i):
    """22 operations: attention, two norms, a perceptron and a deny chain."""
    weight = lambda k: f"%w{(7 * i + k) % 64}"
    x = f"%x{i}"
    v = lambda k: f"%b{i}_{k}"
    linear = f"({X}, tensor<64x64xf32>, tensor<64xf32>) -> {X}"
    norm = f"({X}, tensor<64xf32>, tensor<64xf32>) -> ({X}, tensor<?xf32>, tensor<?xf32>)"
    attention = "tensor<?x?xf32>"
    return [
        f"{v(0)}:3 = train.layer_norm {x}, %v, %v : {norm}",
        f"{v(1)} = train.linear {v(0)}#0, {weight(0)}, %v : {linear}",
        f"{v(2)} = train.linear {v(0)}#0, {weight(1)}, %v : {linear}",
        f"{v(3)} = train.linear {v(0)}#0, {weight(2)}, %v : {linear}",
        f"{v(4)} = train.matmul {v(1)}, {v(2)} {{transpose_b}} : ({X}, {X}) -> {attention}",
        f"{v(5)} = train.mul {v(4)}, %scale : ({attention}, tensor<f32>) -> {attention}",
        f"{v(6)} = train.softmax {v(5)} {{axis = 1 : i64}} : {attention}",
        f"{v(7)} = train.matmul {v(6)}, {v(3)} : ({attention}, {X}) -> {X}",
        f"{v(8)} = train.linear {v(7)}, {weight(3)}, %v : {linear}",
        f"{v(9)} = train.add {v(8)}, {x} : ({X}, {X}) -> {X}",
        f"{v(10)}:3 = train.layer_norm {v(9)}, %v, %v : {norm}",
        f"{v(11)} = train.linear {v(10)}#0, {weight(4)}, %v : {linear}",
        f"{v(12)} = train.gelu {v(11)} : {X}",
        f"{v(13)} = train.linear {v(12)}, {weight(5)}, %v : {linear}",
        f"{v(14)} = train.relu {v(13)} : {X}",
        f"%x{i + 1} = train.add {v(14)}, {v(9)} : ({X}, {X}) -> {X}",
        # The computation of a metric, in f32.
        f"{v(15)} = train.square {v(9)} : {X}",
        f"{v(16)} = train.reduce_sum {v(15)} {{dims = array<i64: 1>}} : ({X}) -> tensor<?xf32>",
        f"{v(17)} = train.log1p {v(16)} : tensor<?xf32>",
        f"{v(18)} = train.sqrt {v(17)} : tensor<?xf32>",
        f"{v(19)} = train.neg {v(18)} : tensor<?xf32>",
        f"%m{i + 1} = train.add {v(19)}, %m{i} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>",
    ]


def transformer(operations):
    blocks = operations // 22
    arguments = ", ".join([f"%x0: {X}", "%m0: tensor<?xf32>", "%v: tensor<64xf32>"] +
                          [f"%w{k}: tensor<64x64xf32>" for k in range(64)])
    yield f"func.func @graph({arguments}) -> ({X}, tensor<?xf32>) {{"
    yield "  %scale = train.constant dense<0.125> : tensor<f32>"
    for i in range(blocks):
        yield from block(i)
    yield f"  return %x{blocks}, %m{blocks} : {X}, tensor<?xf32>\n}}"


def convolutional(operations):
    """Residual blocks of ten operations, and a statistic in f32."""
    blocks = operations // 10
    image, filter, channel = "tensor<?x8x8x16xf32>", "tensor<3x3x16x16xf32>", "tensor<16xf32>"
    arguments = ", ".join([f"%x0: {image}", f"%v: {channel}"] +
                          [f"%w{k}: {filter}" for k in range(64)])
    norm = (f"({', '.join([image] + 4 * [channel])}) -> "
            f"({', '.join([image] + 4 * [channel])})")
    yield f"func.func @graph({arguments}) -> {image} {{"
    for i in range(blocks):
        x, v = f"%x{i}", lambda k: f"%b{i}_{k}"
        for k, source in ((0, x), (3, v(2))):
            yield (f"{v(k)} = train.conv2d {source}, %w{(3 * i + k) % 64} "
                   f"{{padding = array<i64: 1, 1, 1, 1>}} : ({image}, {filter}) -> {image}")
            yield f"{v(k + 1)}:5 = train.batch_norm_training {v(k)}, %v, %v, %v, %v : {norm}"
            yield f"{v(k + 2)} = train.relu {v(k + 1)}#0 : {image}"
        yield f"%x{i + 1} = train.add {v(5)}, {x} : ({image}, {image}) -> {image}"
        yield f"{v(6)} = train.square {v(2)} : {image}"
        yield f"{v(7)} = train.reduce_sum {v(6)} {{dims = array<i64: 0, 1, 2>}} : ({image}) -> {channel}"
        yield f"{v(8)} = train.log1p {v(7)} : {channel}"
    yield f"  return %x{blocks} : {image}\n}}"


def chain(operations):
    yield f"func.func @graph(%x0: {X}) -> {X} {{"
    for i in range(operations):
        name = ("tanh", "gelu", "relu", "sigmoid", "neg")[i % 5]
        if i % 7 == 6:
            yield f"%x{i + 1} = train.add %x{i}, %x{i - 5} : ({X}, {X}) -> {X}"
        else:
            yield f"%x{i + 1} = train.{name} %x{i} : {X}"
    yield f"  return %x{operations} : {X}\n}}"


GRAPHS = {"transformer": transformer, "convolutional": convolutional, "chain": chain}
PASSES = {"auto-mixed-precision": "AutoMixedPrecisionPass", "cse": "CSE(?:Pass)?"}


def measure(tool, module, pass_name, folder):
    """Seconds of the pass, and peak MiB of the process."""
    errors = os.path.join(folder, "errors")
    with open(errors, "w") as stream:
        process = subprocess.Popen(
            [tool, module, f"--pass-pipeline=builtin.module({pass_name})", "--mlir-timing", "--verify-each=0",
             "--mlir-disable-threading", "--emit-bytecode", "-o", os.devnull], stderr=stream)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
    with open(errors) as stream:
        text = stream.read()
    found = re.search(rf"([\d.]+) \([^)]*\)\s+{PASSES[pass_name]}\b", text)
    if status != 0 or not found:
        sys.exit(f"no time of {pass_name} in:\n{text}")
    return float(found[1]), usage.ru_maxrss / 1024


def compare(tool, name, operations, rounds, folder):
    """Prints one line; returns the time of the pass and the two ratios, by the medians."""
    module = os.path.join(folder, "graph.mlirbc")
    text = os.path.join(folder, "graph.mlir")
    with open(text, "w") as stream:
        stream.writelines(line + "\n" for line in GRAPHS[name](operations))
    subprocess.run([tool, text, "--emit-bytecode", "-o", module], check=True)
    with open(text, "w") as stream:
        subprocess.run([tool, module, "--auto-mixed-precision"], stdout=stream, check=True)
    total = low = 0
    with open(text) as stream:
        for line in stream:
            total += " = train." in line
            low += " = train." in line and "f16" in line
    samples = {pass_name: [] for pass_name in PASSES}
    for _ in range(rounds):
        for pass_name in reversed(PASSES):
            samples[pass_name].append(measure(tool, module, pass_name, folder))
    (time, memory), (cse_time, cse_memory) = (
        map(statistics.median, zip(*samples[pass_name])) for pass_name in PASSES)
    print(f"pass_speed: {name}, {total} operations, {100 * low / total:.0f} % in low precision; "
          f"auto-mixed-precision {1e3 * time:.1f} ms, cse {1e3 * cse_time:.1f} ms, "
          f"ratio {time / cse_time:.2f}; {memory:.0f} MiB, cse {cse_memory:.0f} MiB, "
          f"ratio {memory / cse_memory:.2f}", flush=True)
    if total < 0.99 * operations or 5 * low < total:
        sys.exit("pass_speed: the graph is too small, or too little of it becomes low")
    return time, time / cse_time, memory / cse_memory


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tools")
    parser.add_argument("--limit", type=float, default=1.0)
    parser.add_argument("--gate", action="store_true")
    options = parser.parse_args()
    tool = os.path.join(options.tools, "amp-opt")
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ["transformer"] if options.gate else GRAPHS:
            times = {}
            for operations in [10**5] if options.gate else [10**4, 10**5, 10**6]:
                rounds = 11 if options.gate else next(count for most, count in ROUNDS.items() if operations <= most)
                for _ in range(3 if options.gate else 1):
                    times[operations], ratio, memory = compare(tool, name, operations, rounds, folder)
                    if ratio <= options.limit:
                        break
                if name == "transformer" and operations == 10**5 and ratio > options.limit:
                    failures.append(f"ratio {ratio:.2f} on transformer blocks is above {options.limit}")
                if memory > 2:
                    failures.append(f"{memory:.1f} times the memory of CSE on {operations} operations, {name}")
            if 10**6 in times:
                growth = times[10**6] / times[10**5]
                print(f"pass_speed: {name}, ten times the operations take {growth:.1f} times the time")
                if growth > 12:
                    failures.append(f"the time grows {growth:.1f} times on {name}")
    for failure in failures:
        print(f"pass_speed: {failure}", file=sys.stderr)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
