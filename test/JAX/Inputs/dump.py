# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the dumps that the tests commit. Usage: dump.py [folder]

    PYTHONPATH=tools/amp-jax:test/JAX/Inputs .venv/bin/python test/JAX/Inputs/dump.py
"""

import pathlib
import sys

import amp_jax
import figures
import programs

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else programs.__file__).parent
for name, (loss, shapes, data) in programs.PROGRAMS.items():
    params = programs.initial(shapes)
    state = programs.adam_state(params)
    step = amp_jax.lower(loss, programs.adam, params, state, next(data(programs.BATCH, 1)))
    (folder / f"{name}.mlir").write_text(figures.without_locations(step.text))
