# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# JAX programs of many kinds train in bf16 and fp16 as in f32, with every product
# low. The largest difference of the losses over 30 steps is at most 1 % of the
# first loss in bf16, and 5 % in fp16. A few of them as a rule, all with
# AMP_LONG_TESTS=1.
#
# REQUIRES: jax
# RUN: %jax_python %s amp-opt
"""Usage: program-kinds.py <amp-opt>"""

import os
import re
import sys

import amp_jax
import jax
import jax.numpy as jnp
import kinds
import numpy as np
import programs

STEPS = 30
QUICK = ("vae", "gumbel", "gpt", "deep")
PRODUCT = re.compile(r'"stablehlo\.(?:dot_general|convolution)"\(.*? : \(([^)]*)\) ->')


def train(step, text, leaves, batches, extra=()):
    run = amp_jax.compile(text)
    values, extra, losses = list(leaves), list(extra), []
    count = len(leaves)
    for batch in batches:
        new = run(*values, *jax.tree.leaves(batch), *extra)
        values, extra = new[:count], new[count + 1 : count + 1 + len(extra)]
        losses.append(float(new[count]))
    return np.array(losses)


def check(name, amp_opt):
    loss, init, data = kinds.PROGRAMS[name]
    params = init(np.random.default_rng(0))
    state = programs.adam_state(params)
    batches = list(data(STEPS))
    step = amp_jax.lower(loss, programs.adam, params, state, batches[0])
    leaves = [jnp.asarray(leaf) for leaf in step.flatten(params, state)]

    def rewrite(precision, **options):
        return amp_jax.rewrite(step.text, precision, command=(amp_opt,), **options)

    wide = train(step, rewrite("f32"), leaves, batches)
    assert wide[-1] < 0.8 * wide[0], f"{name} does not train"
    for precision, low, most, options, extra in (
        ("bf16", "bf16", 0.01, {}, ()),
        ("fp16", "f16", 0.05, {"scaling": "dynamic"}, amp_jax.scaler_state()),
    ):
        text = rewrite(precision, **options)
        products = PRODUCT.findall(text)
        assert products, f"{name} has no products"
        for types in products:
            assert types.count(f"x{low}>") == 2, f"{name} has a product of ({types})"
        losses = train(step, text, leaves, batches, extra)
        gap = np.abs(losses - wide).max() / wide[0]
        print(
            f"{name}: loss {wide[0]:.3f} to {wide[-1]:.3f} in f32, {losses[-1]:.3f} in {precision}; "
            f"largest difference {gap:.3%} of the first; {len(products)} products low",
            flush=True,
        )
        assert gap <= most, f"{name} in {precision} does not follow f32"


def main(amp_opt):
    for name in kinds.PROGRAMS if os.environ.get("AMP_LONG_TESTS") else QUICK:
        check(name, amp_opt)


if __name__ == "__main__":
    main(*sys.argv[1:])
