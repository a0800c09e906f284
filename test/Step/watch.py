# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Watched values through the C interface, on the CPU: the sampled steps, the forms of
# the report, and wrong calls.
#
# UNSUPPORTED: sanitizer
# RUN: %python %s %amp_obj_root

import ctypes as c
import json
import os
import sys

here = os.path.dirname(__file__)
sys.path[:0] = [os.path.join(here, "Inputs"), os.path.join(here, "../Execution/Inputs")]
import checks
import steps
from steps import Step

library = c.CDLL(sys.argv[1] + "/lib/libAMPStep.so")
with open(os.path.join(here, "../Execution/Inputs/linear.mlir")) as file:
    text = file.read()
x, y = checks.BATCHES[0]


def start(**options):
    code, program, message = steps.compile_module(library, text, precision="fp16", threads=1, **options)
    assert code == steps.OK, message
    step = Step(program, seed=1)
    step.set_batch("x", x)
    step.set_batch("y", y)
    return step


def report(step, form=steps.WATCH_JSON, title=b"model"):
    printed = c.c_char_p()
    step.call("report_watched", form, title, c.byref(printed))
    return printed.value.decode()


def states(step):
    return {name: value.tobytes() for name, value in step.states().items()}


plain, watched = start(), start(watch=".")
watched.call("watch", 3, -1)
for count in (1, 4, 2):
    for step in (plain, watched):
        step.call("run", 0, count)
assert states(plain) == states(watched) and plain.metrics() == watched.metrics()
found = json.loads(report(watched))
assert found["steps"] == [1, 4, 7] and found["every"] == 3 and found["model"] == "model" and found["low"] == "f16", found
assert {value["part"] for value in found["values"]} == {"forward", "backward", "update"}
assert report(watched, steps.WATCH_TABLE, b"run").startswith(f"watched {len(found['values'])} values in 3 steps, run: ")
assert report(watched, steps.WATCH_PAGE).startswith("<!DOCTYPE html>")

# A period of 0 keeps the counts. Another period resets them and sets the step number.
watched.call("watch", 0, -1)
watched.call("run", 0, 6)
assert json.loads(report(watched))["steps"] == [1, 4, 7]
watched.call("watch", 2, 20)
watched.call("run", 0, 3)
assert json.loads(report(watched))["steps"] == [21, 23]

place = c.byref(c.c_char_p())
plain.fails(steps.INVALID, "compiled without watched values", "watch", 1, -1)
plain.fails(steps.INVALID, "no values were watched", "report_watched", 0, b"", place)
watched.fails(steps.INVALID, "'every' is -1 and 'done' is -1, expected at least 0 and at least -1", "watch", -1, -1)
watched.fails(steps.INVALID, "'every' is 1 and 'done' is -2, expected at least 0 and at least -1", "watch", 1, -2)
watched.fails(steps.INVALID, "expected a format from 0 to 2", "report_watched", 3, b"", place)
watched.fails(steps.INVALID, "no title", "report_watched", 0, None, place)
watched.fails(steps.INVALID, "the place for the result is null", "report_watched", 0, b"", None)
for match, said in (("(", "expected a regular expression"), ("no.such.value", "selects no value")):
    code, none, message = steps.compile_module(library, text, watch=match)
    assert code == steps.COMPILE and said in message, message
