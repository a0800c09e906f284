#!/usr/bin/env python3
# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the most valuable parts of run.py within the minutes for which a GPU is lent.

Each part is one run of run.py with --resume. The parts come in the order of their value: whether
the programs are right, then GPT-2 next to PyTorch, then what the library accepts, then the others.
A part starts only if enough time is left for it. `lease.json`, next to the results, lists the
parts that are complete. Another lease continues with the others.

Other options go to run.py, such as --prebuilt, --torch-python or --emulator.

Exit status: the greatest of those of run.py, or 0."""

import argparse
import dataclasses
import json
import pathlib
import subprocess
import sys
import time

folder = pathlib.Path(__file__).resolve().parent
NOT_BUILT, NO_GPU, STOPPED = 2, 3, 4


@dataclasses.dataclass
class Part:
    """A part: its arguments for run.py, the minutes that it may take, and the fewest that are worth a start."""

    question: str
    arguments: tuple
    minutes: float
    least: float


def network(cases, stages, *more):
    return ("--cases", f"^({cases})$", "--stages", stages, *more)


PARTS = {
    "right": Part("do the states agree with the CPU?", (
        "--cases=-small-(bf16|fp16)$|^digits-(mlp|cnn)-(bf16|fp16|overflow)$", "--stages", "states", "--no-peers"), 2.5, 1),
    "gpt2": Part("how fast is GPT-2, next to eager PyTorch, and by launch?", network("gpt2-b64-bf16", "networks,profile"), 3, 1),
    "gpt2-compile": Part("and next to torch.compile?", network("gpt2-b64-bf16", "network-compile"), 5, 2),
    "library": Part("what does cuBLASLt accept, and what does the machine reach?", ("--stages", "ceilings,probe"), 2, 0.7),
    "decoder": Part("how fast is a decoder with 300 million parameters?", network("decoder-300m-bf16", "networks,profile"), 3, 1),
    "resnet": Part("how fast is ResNet-50?", network("resnet50-bf16", "networks,profile"), 3, 1),
    "perceptrons": Part("how fast are perceptrons?", (
        "--cases", "^mlp-(4096x2|small)-(bf16|fp16)$", "--stages", "peers,small"), 2, 0.7),
    "compile": Part("and next to torch.compile?", network("(decoder-300m|resnet50)-bf16", "network-compile"), 8, 3),
    "curves": Part("does GPT-2 learn as with PyTorch?", network("gpt2-b8-bf16", "curves"), 4, 1.5),
    "sanitizer": Part("does compute-sanitizer find anything?", (
        "--cases=^digits-|-small-bf16$", "--stages", "sanitizer", "--no-peers"), 4, 1),
    "fp16": Part("how fast is fp16?", network("(gpt2-b64|decoder-300m|resnet50)-fp16", "networks"), 5, 1.5),
    "others": Part("how fast are the other networks?", network("(gpt2-b8|gpt2-long|decoder-1b|bert|vit)-bf16", "networks"), 8, 1.5),
}


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=9, help="when to stop (default: %(default)s)")
    parser.add_argument("--parts", default=",".join(PARTS), help="the parts, in their order (default: all)")
    parser.add_argument("--output", type=pathlib.Path, default=folder / "results.json")
    parser.add_argument("--dry-run", action="store_true", help="print the parts that would run, with their commands")
    options, rest = parser.parse_known_args()
    options.parts = [part for part in options.parts.split(",") if part]
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        parser.error(f"unknown part '{unknown[0]}', expected some of {', '.join(PARTS)}")
    for word in rest:
        if word.split("=")[0] in ("--stages", "--resume"):
            parser.error(f"{word} belongs to run.py: each part has its own stages")
    return options, rest


def main():
    options, rest = parse_options()
    end = time.monotonic() + 60 * options.minutes
    record = options.output.with_name("lease.json")
    complete = json.loads(record.read_text()) if record.exists() else {}
    worst = 0
    for name in options.parts:
        part, left = PARTS[name], (end - time.monotonic()) / 60
        if name in complete:
            print(f"part {name}: complete in {complete[name]['seconds']:.0f} s before", flush=True)
            continue
        if left < part.least:
            print(f"part {name}: needs {part.least} minutes, {max(0, left):.1f} are left", flush=True)
            continue
        minutes = min(part.minutes, left)
        # Later options of a caller count, such as --cases.
        resume = ["--resume"] if options.output.exists() else []
        command = [sys.executable, *(["-I", "-S"] if sys.flags.no_site else []), str(folder / "run.py"), *part.arguments, *resume,
                   "--minutes", f"{minutes:.2f}", "--output", str(options.output), *rest]
        print(f"part {name}: {part.question}", *(["\n ", *command] if options.dry_run else []), flush=True)
        if options.dry_run:
            end -= 60 * minutes
            continue
        began = time.monotonic()
        status = subprocess.run(command).returncode
        seconds = time.monotonic() - began
        if status in (NO_GPU, STOPPED) or status < 0:
            sys.exit(status if status > 0 else STOPPED)
        worst = max(worst, status)
        # A run that used all its time, or did not build something, may have more to do.
        if status != NOT_BUILT and seconds < 60 * minutes - 1:
            complete[name] = {"status": status, "seconds": round(seconds, 1)}
            record.write_text(json.dumps(complete, indent=1) + "\n")
    waiting = [name for name in options.parts if name not in complete]
    print(f"{len(options.parts) - len(waiting)} parts complete" + (f"; not complete: {', '.join(waiting)}" if waiting else ""))
    sys.exit(worst)


main()
