#!/usr/bin/env python3
# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the full-size models and the table of docs/models.md.

Usage: models.py <folder for the graphs> [--bin <folder of the tools>] [--update]

Without --update the table is printed. Times are the median of three runs of the
whole training pipeline, less those of reading and printing the graph."""

import argparse
import pathlib
import statistics
import subprocess
import sys
import time

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "test/Models/Inputs"))
from products import Counts  # noqa: E402

MODELS = ("mlp", "lenet", "resnet18", "resnet50", "bert", "vit", "gpt2")
BEGIN, END = "<!-- begin: tools/docs/models.py -->", "<!-- end -->"


def timed(*command):
    seconds, result = [], None
    for _ in range(3):
        start = time.perf_counter()
        result = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds.append(time.perf_counter() - start)
    return result.stdout, statistics.median(seconds)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, default=root / "build/bin")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    lines = [
        "| model | parameters | operations | GFLOP of products | weights f32 / 16 bit, MB | low, bf16 | casts, bf16 | pipeline, s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in MODELS:
        path = options.folder / f"{name}.mlir"
        model = [options.bin / "amp-model", name, "--batch=1"]
        subprocess.run([*model, "-o", path], check=True)
        count = int(subprocess.run([*model, "--count"], capture_output=True, text=True, check=True).stdout)
        _, parse = timed(options.bin / "amp-opt", path, "-o", "/dev/null")
        text, seconds = timed(options.bin / "amp-opt", path, "--amp-training-pipeline=precision=bf16")
        plain, _ = timed(options.bin / "amp-opt", path, "--train-autodiff", "--canonicalize", "--cse")
        before, after = Counts(plain), Counts(text)
        lines.append(
            f"| {name} | {count:,} | {before.operations:,} | {before.flops / 1e9:.2f} | {4 * count / 1e6:.1f} / {2 * count / 1e6:.1f} "
            f"| {after.low_share:.1%} | {after.casts} | {seconds - parse:.2f} |"
        )
    table = "\n".join(lines)
    if not options.update:
        print(table)
        return
    page = root / "docs/models.md"
    before, rest = page.read_text().split(BEGIN)
    page.write_text(f"{before}{BEGIN}\n{table}\n{END}{rest.split(END, 1)[1]}")


main()
