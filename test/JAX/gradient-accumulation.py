# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Gradients that `lax.scan` accumulates over microbatches, in fp16 with dynamic
# loss scaling. Beside them the loop carries the loss and the largest norm, and
# stacks both. The losses follow f32 to 1 % of the first one, and the norms are
# unscaled: they follow to 2 %.
#
# REQUIRES: jax
# RUN: %jax_python %s amp-opt
"""Usage: gradient-accumulation.py <amp-opt>"""

import sys

import amp_jax
import jax
import jax.numpy as jnp
import kinds
import numpy as np
import programs
import training
from jax import lax

STEPS = 20


def step(params, state, images, labels, seed):
    def micro(carry, batch):
        total, loss, largest = carry
        value, pull = jax.vjp(lambda p: kinds.custom_loss(p, *batch), params)
        (gradients,) = pull(seed)
        norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(gradients)))
        total = jax.tree.map(jnp.add, total, gradients)
        return (total, loss + value, jnp.maximum(largest, norm)), (value, norm)

    zeros = jax.tree.map(jnp.zeros_like, params)
    (total, loss, largest), (losses, norms) = lax.scan(micro, (zeros, 0.0, 0.0), (images, labels))
    mean = jax.tree.map(lambda g: g / len(images), total)
    params, state = programs.adam(params, state, mean)
    return params, state, loss / len(images), losses, norms, largest, total


def mark(params, state, batch):
    lowered = jax.jit(step, keep_unused=True).lower(params, state, *batch, jnp.float32(1))
    return training.mark(lowered, params, state, ("loss", "losses", "norms", "largest"))


def main(amp_opt):
    params = kinds.two_layers(np.random.default_rng(0))
    state = programs.adam_state(params)
    batches = [(x.reshape(4, 8, -1), y.reshape(4, 8)) for x, y in kinds.classes(STEPS)]
    text = mark(params, state, batches[0])
    leaves = [jnp.asarray(leaf) for leaf in jax.tree.leaves((params, state))]
    count = len(leaves)

    def train(precision, scaling=None):
        run = amp_jax.compile(
            amp_jax.rewrite(text, precision, command=(amp_opt,), scaling=scaling)
        )
        values, extra, losses, norms = leaves, [], [], []
        if scaling:
            extra = amp_jax.scaler_state()
        for batch in batches:
            new = run(*values, *batch, *extra)
            values, extra = new[:count], new[count + 4 : count + 4 + len(extra)]
            loss, each, norm, largest = (np.asarray(value) for value in new[count : count + 4])
            np.testing.assert_allclose(each.mean(), loss, rtol=1e-5)
            np.testing.assert_array_equal(norm.max(), largest)
            losses.append(loss)
            norms.append(norm)
        return np.array(losses), np.array(norms)

    wide, wide_norms = train("f32")
    low, low_norms = train("fp16", "dynamic")
    gap = np.abs(low - wide).max() / wide[0]
    norm_gap = np.abs(low_norms / wide_norms - 1).max()
    print(f"loss {wide[0]:.3f} to {wide[-1]:.3f}, difference {gap:.3%}, of norms {norm_gap:.3%}")
    assert wide[-1] < 0.5 * wide[0] and gap <= 0.01 and norm_gap <= 0.02
    assert (low != wide).any(), "nothing is low"


if __name__ == "__main__":
    main(*sys.argv[1:])
