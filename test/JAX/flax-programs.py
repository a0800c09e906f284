# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Networks of Flax with optimizers of Optax train in bf16 and fp16 as in f32, with
# the bounds of program-kinds.py and every product low. Two of them as a rule, all
# with AMP_LONG_TESTS=1.
#
# REQUIRES: flax, full
# RUN: %jax_python %s amp-opt
"""Usage: flax-programs.py <amp-opt> [<program>...]"""

import os
import sys

import amp_jax
import flax_programs
import jax.numpy as jnp
import training

QUICK = ("transformer", "recurrent", "prodigy")


def main(amp_opt, *names):
    everything = flax_programs.PROGRAMS if os.environ.get("AMP_LONG_TESTS") else QUICK
    for name in names or everything:
        loss, update, params, state, data = flax_programs.make(name)
        batches = list(data(training.STEPS))
        step = amp_jax.lower(loss, update, params, state, batches[0])
        leaves = [jnp.asarray(leaf) for leaf in step.flatten(params, state)]
        wide = flax_programs.UPDATE_PRODUCTS.get(name, 0)
        training.compare(name, amp_opt, step.text, leaves, batches, f32_products=wide)


if __name__ == "__main__":
    main(*sys.argv[1:])
