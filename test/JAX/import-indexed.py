# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Losses of JAX with branches, gathers and scatters of any form, sorting, windows
# and functions that the train dialect lacks, imported, have the losses of JAX
# over steps of SGD, and so the gradients.
#
# REQUIRES: jax, full
# RUN: %jax_python %s amp-opt amp-run %t
"""Usage: import-indexed.py <amp-opt> <amp-run> <scratch> [program]..."""

import pathlib
import sys

import indexed
from imported import Program, check


def main(amp_opt, amp_run, scratch, *wanted):
    for loss, (params, batch, tolerance) in indexed.PROGRAMS.items():
        name = loss.__name__
        if not wanted or name in wanted:
            program = Program(loss, params, batch, amp_opt, amp_run, pathlib.Path(f"{scratch}-{name}"))
            check(name, program.ours(), program.theirs(), tolerance)


if __name__ == "__main__":
    main(*sys.argv[1:])
