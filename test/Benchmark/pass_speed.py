# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: pass_speed.py <folder of the tools> [--limit RATIO] [--operations N]

Times auto-mixed-precision against upstream's CSE on one generated module:
transformer blocks, forward, of 100,000 operations. Each pass gets the module as
it was parsed, in a process of its own, in turns; the medians of five count.
Fails if the ratio is above the limit (1.0), or if so few operations become low
that the comparison says nothing.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile

X = "tensor<?x64xf32>"
ROUNDS = 5


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
        # What is computed for a metric, in f32.
        f"{v(15)} = train.square {v(9)} : {X}",
        f"{v(16)} = train.reduce_sum {v(15)} {{dims = array<i64: 1>}} : ({X}) -> tensor<?xf32>",
        f"{v(17)} = train.log1p {v(16)} : tensor<?xf32>",
        f"{v(18)} = train.sqrt {v(17)} : tensor<?xf32>",
        f"{v(19)} = train.neg {v(18)} : tensor<?xf32>",
        f"%m{i + 1} = train.add {v(19)}, %m{i} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>",
    ]


def generate(operations):
    blocks = operations // 22
    arguments = ", ".join([f"%x0: {X}", "%m0: tensor<?xf32>", "%v: tensor<64xf32>"] +
                          [f"%w{k}: tensor<64x64xf32>" for k in range(64)])
    lines = [line for i in range(blocks) for line in block(i)]
    return "\n".join([
        f"func.func @graph({arguments}) -> ({X}, tensor<?xf32>) {{",
        "  %scale = train.constant dense<0.125> : tensor<f32>",
        *(f"  {line}" for line in lines),
        f"  return %x{blocks}, %m{blocks} : {X}, tensor<?xf32>",
        "}", ""])


def seconds(tool, module, pass_name, timer):
    done = subprocess.run(
        [tool, module, f"--pass-pipeline=builtin.module({pass_name})", "--mlir-timing",
         "--mlir-disable-threading", "--emit-bytecode", "-o", os.devnull],
        capture_output=True, text=True, check=True)
    found = re.search(rf"([\d.]+) \([^)]*\)\s+{timer}\b", done.stderr)
    if not found:
        sys.exit(f"no timer {timer} in:\n{done.stderr}")
    return float(found[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tools")
    parser.add_argument("--limit", type=float, default=1.0)
    parser.add_argument("--operations", type=int, default=100_000)
    options = parser.parse_args()
    tool = os.path.join(options.tools, "amp-opt")
    with tempfile.TemporaryDirectory() as folder:
        module = os.path.join(folder, "graph.mlirbc")
        subprocess.run([tool, "-", "--emit-bytecode", "-o", module],
                       input=generate(options.operations), text=True, check=True)
        after = subprocess.run([tool, module, "--auto-mixed-precision"],
                               capture_output=True, text=True, check=True).stdout
        lines = [line for line in after.splitlines() if " = train." in line]
        low = sum("f16" in line for line in lines)
        times = {"auto-mixed-precision": [], "cse": []}
        for _ in range(ROUNDS):
            times["cse"].append(seconds(tool, module, "cse", "CSE(?:Pass)?"))
            times["auto-mixed-precision"].append(
                seconds(tool, module, "auto-mixed-precision", "AutoMixedPrecisionPass"))
    median = {name: statistics.median(values) for name, values in times.items()}
    ratio = median["auto-mixed-precision"] / median["cse"]
    print(f"pass_speed: {len(lines)} operations, {low} ({100 * low / len(lines):.0f} %) in low "
          f"precision; auto-mixed-precision {1e3 * median['auto-mixed-precision']:.1f} ms, "
          f"cse {1e3 * median['cse']:.1f} ms, ratio {ratio:.2f} (limit {options.limit})")
    if len(lines) < 0.99 * options.operations or 5 * low < len(lines):
        sys.exit("pass_speed: the graph is too small, or too little of it becomes low")
    if ratio > options.limit:
        sys.exit("pass_speed: the ratio is above the limit")


if __name__ == "__main__":
    main()
