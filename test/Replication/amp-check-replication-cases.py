# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Right and wrong data-parallel steps of many kinds. The check accepts every
# right step without a diagnostic and names the mistake of every wrong one.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs

import pathlib
import re
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
sys.path.insert(0, sys.argv[2])
from replication_cases import RIGHT, WRONG  # noqa: E402

RULES = "host.psum=all-reduce,host.rank=rank,host.step=consumer"


def check(name, steps):
    """The messages that the check gives for each of `steps`."""
    text, owner = "", []
    for number, step in enumerate(steps):
        step = step.replace("@NAME", f"@step{number}").replace("_NAME", f"_{number}")
        text += step
        owner += [number] * step.count("\n")
    path = folder / f"{name}.mlir"
    path.write_text(text)
    result = subprocess.run(
        ["amp-opt", path, "--allow-unregistered-dialect", f"--amp-check-replication=ranks=4 rules={RULES}", "-o", "/dev/null"],
        capture_output=True, text=True)
    said = [[] for _ in steps]
    for match in re.finditer(r"\.mlir:(\d+):\d+: (error|warning): (.*)", result.stderr):
        said[owner[int(match.group(1)) - 1]].append(f"{match.group(2)}: {match.group(3)}")
    return said, result


failures = []
said, result = check("right", RIGHT.values())
failures += [(name, "nothing", errors) for name, errors in zip(RIGHT, said) if errors]
assert failures or result.returncode == 0, result.stderr[:2000]
said, result = check("wrong", [step for _, step in WRONG.values()])
assert result.returncode == 1, result.stderr[:2000]
for (name, (message, _)), errors in zip(WRONG.items(), said):
    if not any(error.startswith("error: ") and message in error for error in errors):
        failures.append((name, message, errors))
assert len(WRONG) >= 60 and len(RIGHT) >= 40, (len(WRONG), len(RIGHT))
assert not failures, "\n".join(f"{name}: expected {message!r}, got {errors}" for name, message, errors in failures)
