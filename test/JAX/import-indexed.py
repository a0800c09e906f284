# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Losses of JAX with branches, gathers and scatters of any form, sorting, windows
# and functions that the train dialect lacks, imported, have the losses of JAX
# over steps of SGD, and so the gradients. So have ten programs that were written
# after the importer was finished, which train in bf16 and fp16 too.
#
# REQUIRES: jax, full
# RUN: %jax_python %s amp-opt amp-run %t
"""Usage: import-indexed.py <amp-opt> <amp-run> <scratch> [program]..."""

import pathlib
import sys

import imported_kinds
import indexed
import numpy as np
from imported import Program, check

# The largest difference of a loss over the steps, of the first loss in f32.
LOW = {"bf16": 0.01, "fp16": 0.01}


def check_low(name, program, theirs):
    for precision, most in LOW.items():
        scale = ["--loss-scale", "1024"] if precision == "fp16" else []
        gap = np.abs(program.ours("--precision", precision, *scale) - theirs).max() / abs(theirs[0])
        print(f"{name} {precision}: {gap:.2%}", flush=True)
        assert gap <= most, (name, precision, gap)


def main(amp_opt, amp_run, scratch, *wanted):
    for loss, (params, batch, tolerance) in {**indexed.PROGRAMS, **imported_kinds.PROGRAMS}.items():
        name = loss.__name__
        if wanted and name not in wanted:
            continue
        program = Program(loss, params, batch, amp_opt, amp_run, pathlib.Path(f"{scratch}-{name}"))
        theirs = program.theirs()
        check(name, program.ours(), theirs, tolerance)
        if loss in imported_kinds.PROGRAMS:
            check_low(name, program, theirs)


if __name__ == "__main__":
    main(*sys.argv[1:])
