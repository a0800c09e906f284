# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Metrics that a loop over microbatches computes from gradients, in fp16 with
# dynamic loss scaling: the sum of squared norms (the square of the scale
# multiplies it), dot products of stacked gradients and their mean, a fourth
# power, and a cosine, which no scale multiplies. All are unscaled: they follow
# f32 to 5 % (the fourth power to 10 %). The loop stands in the step, or in a
# function that the step calls.
#
# REQUIRES: jax
# RUN: %jax_python %s amp-opt
"""Usage: observed-powers.py <amp-opt>"""

import functools
import sys

import amp_jax
import jax
import jax.numpy as jnp
import kinds
import numpy as np
import programs
import training
from jax import lax

STEPS = 8
METRICS = ("loss", "squares", "each", "fourth", "products", "cosine")


def step(call, params, state, images, labels, seed):
    def micro(carry, batch):
        total, squares, fourth, last = carry
        _, pull = jax.vjp(lambda p: kinds.custom_loss(p, *batch), params)
        (gradients,) = pull(seed)
        leaves = jax.tree.leaves(gradients)
        square = sum(jnp.sum(g * g) for g in leaves)
        product = sum(jnp.vdot(g, h) for g, h in zip(leaves, jax.tree.leaves(last)))
        length = sum(jnp.sum(g * g) for g in jax.tree.leaves(last))
        cosine = product / jnp.sqrt(square * length)
        total = jax.tree.map(jnp.add, total, gradients)
        carried = (total, squares + square, fourth + square * square, gradients)
        return carried, (square, product, cosine)

    zeros = jax.tree.map(jnp.zeros_like, params)
    start = (zeros, 0.0, 0.0, zeros)
    loop = call(lambda *carry: lax.scan(micro, carry, (images, labels)))
    carried, (each, products, cosine) = loop(*start)
    total, squares, fourth, _ = carried
    mean = jax.tree.map(lambda g: g / len(images), total)
    params, state = programs.adam(params, state, mean)
    loss = kinds.custom_loss(params, images[0], labels[0])
    return params, state, loss, squares, each, fourth, products[1:], cosine[1:], total


def mark(call, params, state, batch):
    whole = jax.jit(functools.partial(step, call), keep_unused=True)
    lowered = whole.lower(params, state, *batch, jnp.float32(1))
    return training.mark(lowered, params, state, METRICS)


def check(call, amp_opt):
    params = kinds.two_layers(np.random.default_rng(0))
    state = programs.adam_state(params)
    batches = [(x.reshape(4, 8, -1), y.reshape(4, 8)) for x, y in kinds.classes(STEPS)]
    text = mark(call, params, state, batches[0])
    leaves = [jnp.asarray(leaf) for leaf in jax.tree.leaves((params, state))]
    count = len(leaves)

    def train(precision, scaling=None):
        run = amp_jax.compile(
            amp_jax.rewrite(text, precision, command=(amp_opt,), scaling=scaling)
        )
        values, extra, rows = leaves, amp_jax.scaler_state() if scaling else [], []
        for batch in batches:
            new = run(*values, *batch, *extra)
            end = count + len(METRICS)
            values, extra = new[:count], new[end : end + len(extra)]
            rows.append([np.asarray(value) for value in new[count:end]])
        return rows

    wide, low = train("f32"), train("fp16", scaling="dynamic")
    for expected, got in zip(wide, low):
        for name, a, b in zip(METRICS, expected, got):
            bound = 0.1 if name == "fourth" else 0.05
            np.testing.assert_allclose(b, a, rtol=bound, atol=bound * abs(a).max(), err_msg=name)


def main(amp_opt):
    check(lambda loop: loop, amp_opt)
    check(jax.jit, amp_opt)


if __name__ == "__main__":
    main(*sys.argv[1:])
