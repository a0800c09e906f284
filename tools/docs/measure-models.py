#!/usr/bin/env python3
# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the full-size models and the record of their sizes and times.

Usage: measure-models.py <folder of the tools> <folder for the graphs> [--update | --check [--only <model>]]

Prints the record, writes it to docs/benchmarks/models.json, or fails if the record there differs in
anything but times. models.py makes the tables of docs/models.md from the record. A time is the least
of three runs of the whole training pipeline, without reading and printing the graph. It is in seconds
of processor time, which depends little on other work of the machine."""

import argparse
import json
import pathlib
import re
import resource
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "test/Models/Inputs"))
from memory import tables as memory_tables  # noqa: E402
from products import Counts  # noqa: E402

MODELS = ("mlp", "lenet", "resnet18", "resnet50", "bert", "vit", "gpt2")
# The page is the same whether or not this build has cuDNN.
LIBRARY = ("--attention=cudnn", "--convolutions=cudnn")
HEAD = ["model", "parameters", "operations", "casts", "low", "GFLOP", "f32, MB", "mixed, MB", "pipeline, CPU s"]


def execute(*command):
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stderr}")
    return result.stdout


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def timed(runs, *command):
    """The output of the command and the least time of its runs."""
    seconds = []
    for _ in range(runs):
        start = processor_seconds()
        result = execute(*command)
        seconds.append(processor_seconds() - start)
    return result, min(seconds)


def row(tools, folder, name, runs):
    path = folder / f"{name}.mlir"
    model = [tools / "amp-model", name, "--batch=1"]
    execute(*model, "-o", path)
    parameters = int(execute(*model, "--count"))
    _, parse = timed(runs, tools / "amp-opt", path, "-o", "/dev/null")
    text, seconds = timed(runs, tools / "amp-opt", path, "--amp-training-pipeline=precision=bf16")
    plain = Counts(execute(tools / "amp-opt", path, "--amp-training-pipeline=precision=f32"))
    mixed = Counts(text)
    memory = []
    for precision in ("f32", "bf16"):
        costs = execute(tools / "amp-translate", "--cuda-costs", f"--precision={precision}", *LIBRARY, path)
        memory.append(int(re.search(r"^memory (\d+) bytes", costs, re.M)[1]))
    return [name, f"{parameters:,}", f"{plain.operations:,}", str(mixed.casts), f"{mixed.low_share:.1%}",
            f"{plain.flops / 1e9:,.3g}", f"{memory[0] / 1e6:,.1f}", f"{memory[1] / 1e6:,.1f}",
            f"{max(0.0, seconds - parse):.2f}"]


def without_times(rows):
    return [row[:-1] for row in rows]


def text(record):
    """The record as JSON, with a line for each row."""
    tables = []
    for name, table in record.items():
        rows = ",\n".join(f"  {json.dumps(row)}" for row in table["rows"])
        tables.append(f' {json.dumps(name)}: {{"head": {json.dumps(table["head"])}, "rows": [\n{rows}\n ]}}')
    return "{\n" + ",\n".join(tables) + "\n}\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--record", type=pathlib.Path, default=root / "docs/benchmarks/models.json")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", help="check the row of one model")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    runs = 1 if options.check else 3
    tables = {"models": [HEAD] + [row(options.tools, options.folder, name, runs)
                                  for name in MODELS if options.only in (None, name)]}
    if options.only is None:
        tables |= memory_tables(options.tools, options.folder)
    record = {name: {"head": rows[0], "rows": rows[1:]} for name, rows in tables.items()}
    if options.update:
        options.record.write_text(text(record))
    elif options.check:
        old = json.loads(options.record.read_text())
        for name, table in record.items():
            before, after = old[name]["rows"], table["rows"]
            if name == "models":
                before = [row for row in without_times(before) if options.only in (None, row[0])]
                after = without_times(after)
            if old[name]["head"] != table["head"] or before != after:
                sys.exit(f"{options.record}: the table '{name}' is out of date, expected\n{text({name: table})}"
                         "run tools/dev models")
    else:
        print(text(record), end="")


main()
