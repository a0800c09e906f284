# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a check over many steps in one module, and sorts its messages by step."""

import re
import subprocess


def check(path, steps, pass_option):
    """Writes `steps` to `path` and runs amp-opt with `pass_option`. Returns the list of messages of
    each step and the completed process. `@NAME` in a step is replaced by its own symbol, and
    `_NAME` by a suffix."""
    text, owner = "", []
    for number, step in enumerate(steps):
        step = step.replace("@NAME", f"@step{number}").replace("_NAME", f"_{number}")
        text += step
        owner += [number] * step.count("\n")
    path.write_text(text)
    result = subprocess.run(
        ["amp-opt", path, "--allow-unregistered-dialect", pass_option, "-o", "/dev/null"],
        capture_output=True, text=True)  # fmt: skip
    said = [[] for _ in steps]
    for match in re.finditer(r"\.mlir:(\d+):\d+: (error|warning): (.*)", result.stderr):
        said[owner[int(match.group(1)) - 1]].append(f"{match.group(2)}: {match.group(3)}")
    return said, result


def unexpected(right, wrong, run, least_wrong, least_right):
    """Checks the steps of `right`, which have no message, and of `wrong`, which have an error with
    the text of their entry. `run` is called with a name and steps. Fails if too few are given.
    Returns the two completed processes."""
    failures = []
    said, accepted = run("right", right.values())
    failures += [(name, "nothing", errors) for name, errors in zip(right, said) if errors]
    assert failures or accepted.returncode == 0, accepted.stderr[:2000]
    said, rejected = run("wrong", [step for _, step in wrong.values()])
    for (name, (message, _)), errors in zip(wrong.items(), said):
        if not any(error.startswith("error: ") and message in error for error in errors):
            failures.append((name, message, errors))
    assert len(wrong) >= least_wrong and len(right) >= least_right, (len(wrong), len(right))
    assert not failures, "\n".join(f"{name}: expected {message!r}, got {errors}" for name, message, errors in failures)
    return accepted, rejected
