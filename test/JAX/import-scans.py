# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Losses of JAX with loops, scans, orders, layouts and random numbers, imported,
# have the losses of JAX over steps of SGD. Recurrent networks have them in bf16
# and fp16 too, and with recomputation.
#
# REQUIRES: jax, full
# RUN: %jax_python %s amp-opt amp-run %t
"""Usage: import-scans.py <amp-opt> <amp-run> <scratch> [program]..."""

import pathlib
import sys

import kinds
import numpy as np
import scanned
from imported import Program, check

# The largest difference of a loss over the steps, relative to JAX in f32.
LOW = {"bf16": 1e-2, "fp16": 5e-3}


def main(amp_opt, amp_run, scratch, *wanted):
    def imported(name, loss, params, batch):
        return Program(loss, params, batch, amp_opt, amp_run, pathlib.Path(f"{scratch}-{name}"))

    for loss, (params, batch, tolerance) in scanned.PROGRAMS.items():
        if not wanted or loss.__name__ in wanted:
            program = imported(loss.__name__, loss, params, batch)
            check(loss.__name__, program.ours(), program.theirs(), tolerance)
    for name in ("rnn", "lstm", "moe"):
        if wanted and name not in wanted:
            continue
        loss, make, batches = kinds.PROGRAMS[name]
        program = imported(name, loss, make(np.random.default_rng(0)), next(batches(1)))
        theirs = program.theirs()
        check(name, program.ours(), theirs, 1e-5)
        for precision, tolerance in LOW.items():
            scale = ["--loss-scale", "1024"] if precision == "fp16" else []
            check(f"{name} {precision}", program.ours("--precision", precision, *scale), theirs, tolerance)
        again = program.ours("--precision", "f32", "--pipeline=loop-values=recompute")
        check(f"{name} again", again, theirs, 1e-5)


if __name__ == "__main__":
    main(*sys.argv[1:])
