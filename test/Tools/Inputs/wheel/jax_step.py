# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a JAX program in two precisions with amp_jax from the wheel."""

import amp_jax
import jax
import jax.numpy as jnp


def loss(params, x, y):
    return jnp.mean((jnp.tanh(x @ params["in"]) @ params["out"] - y) ** 2)


def update(params, state, gradients):
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), state + 1


keys = jax.random.split(jax.random.key(0), 4)
params = {"in": jax.random.normal(keys[0], (8, 32)) * 0.3, "out": jax.random.normal(keys[1], (32, 1)) * 0.2}
x = jax.random.normal(keys[2], (64, 8))
batch = x, jnp.sin(x[:, :1])
step = amp_jax.lower(loss, update, params, jnp.float32(0), batch)
final = {}
for precision in "f32", "bf16":
    run = amp_jax.compile(amp_jax.rewrite(step.text, precision))
    values, losses = step.flatten(params, jnp.float32(0)), []
    for _ in range(30):
        *values, value = run(*values, *batch)[: len(values) + 1]
        losses.append(float(value))
    final[precision] = losses[-1]
    assert losses[-1] < 0.3 * losses[0], losses
    print(f"{precision}: loss {losses[0]:.4f} to {losses[-1]:.4f}")
assert abs(final["bf16"] - final["f32"]) < 0.05 * final["f32"] + 1e-3, final
