# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# SIGINT and SIGTERM end a run after its step: state, metrics and results are
# those of the steps that ran, and the exit status names the signal.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import csv
import json
import os
import pty
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from runner import MODEL, fails, load, make_data, ok

folder = sys.argv[1] + "/"
DATA = ("--data", folder + "data.npz", "--batch-size", "10")
np.savez(folder + "data.npz", **make_data())


def interrupt(number, *arguments):
    """Runs until the first progress, then sends the signal. Returns the exit status, stdout and stderr."""
    # A terminal shows progress early.
    here, there = pty.openpty()
    command = ["amp-run", MODEL, *DATA, "--steps", "100000000", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=there, text=True) as process:
        os.close(there)
        shown = b""
        while b"step " not in shown:
            shown += os.read(here, 1 << 16)
        process.send_signal(number)
        while True:
            # A terminal without writers is an error.
            try:
                more = os.read(here, 1 << 16)
            except OSError:
                break
            if not more:
                break
            shown += more
        printed = process.stdout.read()
    os.close(here)
    return process.returncode, printed, shown.decode()


for number, name in ((signal.SIGINT, "SIGINT"), (signal.SIGTERM, "SIGTERM")):
    state, table, file = (folder + name + suffix for suffix in (".npz", ".csv", ".json"))
    status, printed, shown = interrupt(number, "--save", state, "--metrics-csv", table, "--metrics-json", file,
                                       "--eval", "--precision", "fp16")
    assert status == 128 + number, (status, shown)
    assert f"amp-run: {name}: training stops after " in shown, shown
    assert "final loss: " in printed and "eval" not in printed, printed
    with open(table) as f:
        steps = [int(row["step"]) for row in csv.DictReader(f)]
    assert steps == list(range(1, len(steps) + 1)) and f"after {len(steps)} of 100000000 steps" in shown, shown
    with open(file) as f:
        assert len(json.load(f)["runs"][0]["steps"]) == len(steps)
    # The checkpoint resumes, and equals the one of a run of as many steps.
    ok(*DATA, "--steps", len(steps), "--precision", "fp16", "--quiet", "--save", folder + "whole.npz")
    one, other = load(state), load(folder + "whole.npz")
    assert one.keys() == other.keys() and all(one[key].tobytes() == other[key].tobytes() for key in one), name
    ok(*DATA, "--steps", 2, "--precision", "fp16", "--quiet", "--load", state)

# Later runs of the same command do not start, and a comparison has the columns
# that ran.
status, printed, shown = interrupt(signal.SIGINT, "--compare", "f32,bf16")
assert status == 130 and "f32" in printed and "bf16" not in printed, (status, printed)
status, printed, shown = interrupt(signal.SIGTERM, "--seeds", "3")
assert status == 143 and shown.count("training stops") == 1 and "+-" not in printed, (status, printed)
# What needs all of its runs writes nothing.
status, printed, shown = interrupt(signal.SIGINT, "--precision", "bf16", "--search", folder + "policy.yaml")
assert status == 130 and "--search was interrupted" in shown and not os.path.exists(folder + "policy.yaml"), shown

# A shell that runs in the background ignores SIGINT, and so does the run.
ignoring = subprocess.run(["sh", "-c", "trap '' INT; amp-run \"$@\" & p=$!; kill -INT $p; wait $p", "sh", MODEL, *DATA,
                           "--steps", "50", "--quiet"], capture_output=True, text=True)
assert ignoring.returncode == 0 and "final loss" in ignoring.stdout, ignoring
