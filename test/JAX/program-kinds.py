# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# JAX programs of many kinds train in bf16 and fp16 as in f32, with every product
# low. The largest difference of the losses over 30 steps is at most 1 % of the
# first loss in bf16, and 5 % in fp16. A few of them as a rule, all with
# AMP_LONG_TESTS=1.
#
# REQUIRES: jax, full
# RUN: %jax_python %s amp-opt
"""Usage: program-kinds.py <amp-opt>"""

import os
import sys

import amp_jax
import jax.numpy as jnp
import kinds
import numpy as np
import programs
import training

QUICK = ("vae", "gumbel", "gpt", "deep", "align", "margin", "mixup", "transport")


def check(name, amp_opt):
    loss, init, data = kinds.PROGRAMS[name]
    params = init(np.random.default_rng(0))
    state = programs.adam_state(params)
    batches = list(data(training.STEPS))
    step = amp_jax.lower(loss, programs.adam, params, state, batches[0])
    leaves = [jnp.asarray(leaf) for leaf in step.flatten(params, state)]
    training.compare(name, amp_opt, step.text, leaves, batches)


def main(amp_opt):
    for name in kinds.PROGRAMS if os.environ.get("AMP_LONG_TESTS") else QUICK:
        check(name, amp_opt)


if __name__ == "__main__":
    main(*sys.argv[1:])
