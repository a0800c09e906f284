#!/usr/bin/env python3
# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the full-size models and the tables of docs/models.md.

Usage: models.py <folder of the tools> <folder for the graphs> [--update | --check [--only <model>]]

Prints the tables, writes them to docs/models.md, or fails if a table there differs in anything but
times. A time is the least of three runs of the whole training pipeline, without reading and
printing the graph. It is in seconds of processor time, which depends little on other work of the
machine."""

import argparse
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
HEAD = """\
| model | parameters | operations | casts | low | GFLOP | f32, MB | mixed, MB | pipeline, CPU s |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
"""


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
    return (f"| {name} | {parameters:,} | {plain.operations:,} | {mixed.casts} | {mixed.low_share:.1%} "
            f"| {plain.flops / 1e9:,.3g} | {memory[0] / 1e6:,.1f} | {memory[1] / 1e6:,.1f} | {max(0.0, seconds - parse):.2f} |")


def without_times(table, only):
    rows = [line.rsplit("|", 2)[0] for line in table.strip().splitlines()]
    return [row for row in rows if only is None or row.startswith(f"| {only} ")]


class Page:
    """A page with tables between marks."""

    def __init__(self, path):
        self.path = path
        self.text = path.read_text()

    def split(self, name):
        begin, end = f"<!-- begin: tools/dev models{name} -->", f"<!-- end: tools/dev models{name} -->"
        before, found, rest = self.text.partition(begin)
        if not found:
            sys.exit(f"{self.path} has no line '{begin}'")
        old, _, after = rest.partition(end)
        return before + begin + "\n", old, end + after

    def update(self, name, table):
        before, _, after = self.split(name)
        self.text = before + table + after


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path, default=root / "docs/models.md")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", help="check the row of one model")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    runs = 1 if options.check else 3
    table = HEAD + "".join(
        row(options.tools, options.folder, name, runs) + "\n" for name in MODELS if options.only in (None, name))
    found = {"": table}
    if options.only is None:
        forward, parts = memory_tables(options.tools, options.folder)
        found |= {", forward": forward, ", memory": parts}
    page = Page(options.page)
    for name, table in found.items():
        if options.update:
            page.update(name, table)
        elif options.check:
            _, old, _ = page.split(name)
            same = (without_times(old, options.only) == without_times(table, options.only) if name == ""
                    else old.strip() == table.strip())
            if not same:
                sys.exit(f"{options.page}: the table of models{name} is out of date, expected\n{table}"
                         "run tools/dev models")
        else:
            print(table)
    if options.update:
        options.page.write_text(page.text)


main()
