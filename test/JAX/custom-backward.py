# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Custom backward functions in fp16 with dynamic loss scaling. Functions that
# commute with the scale are accepted, also if a sort or a maximum tests its
# operands for NaN. Functions that depend on the scale, or that hide an overflow
# from the check, are rejected.
#
# REQUIRES: jax
# RUN: %jax_python %s amp-opt
"""Usage: custom-backward.py <amp-opt>"""

import sys

import amp_jax
import jax
import jax.numpy as jnp
import kinds
import numpy as np
import programs
from jax import lax

RIGHT = {
    "minus the median": lambda g: g - jnp.median(g, axis=0),
    "at most a quantile": lambda g: jnp.minimum(g, jnp.quantile(g, 0.9)),
    "largest by sort": lambda g: jnp.where(jnp.abs(g) >= jnp.sort(jnp.abs(g), -1)[..., -3:-2], g, 0.0),
    "largest by top_k": lambda g: jnp.where(jnp.abs(g) >= lax.top_k(jnp.abs(g), 3)[0][..., -1:], g, 0.0),
    "permuted by argsort": lambda g: g[jnp.argsort(g[:, 0])][jnp.argsort(jnp.argsort(g[:, 0]))],
    "switch by argmax": lambda g: lax.switch(
        jnp.argmax(jnp.sum(g, 0)) % 3, [lambda x: x, lambda x: 2 * x, lambda x: -x], g
    ),
    "without its argmax": lambda g: jnp.where(
        jnp.arange(g.shape[-1]) == jnp.argmax(jnp.abs(g), -1)[:, None], 0, g
    ),
    "clipped by its maximum": lambda g: jnp.clip(g, -jnp.max(jnp.abs(g)) / 2, jnp.max(jnp.abs(g)) / 2),
    "sign times mean": lambda g: jnp.sign(g) * jnp.mean(jnp.abs(g)),
}
WRONG = {
    "nan_to_num": jnp.nan_to_num,
    "zero where not finite": lambda g: jnp.where(jnp.isfinite(g), g, 0),
    "zero where NaN": lambda g: jnp.where(jnp.isnan(g), 0.0, g),
    "zero if one is not finite": lambda g: jnp.where(jnp.all(jnp.isfinite(g)), g, jnp.zeros_like(g)),
    "zero if many are not finite": lambda g: jnp.where(jnp.sum(~jnp.isfinite(g)) > 3, jnp.zeros_like(g), g),
    "zero by a condition": lambda g: lax.cond(
        jnp.all(jnp.isfinite(g)), lambda x: x, lambda x: jnp.zeros_like(x), g
    ),
    "clipped at one": lambda g: jnp.clip(g, -1, 1),
    "its square": lambda g: g * jnp.abs(g),
    "constant where largest": lambda g: jnp.where(g > jnp.nanmax(g) * 0.999, 1e-3, g),
}


def with_backward(backward):
    @jax.custom_vjp
    def identity(x):
        return x

    identity.defvjp(lambda x: (x, None), lambda _, g: (backward(g),))
    return lambda p, x, y: kinds.xent(identity(jax.nn.relu(x @ p["a"])) @ p["b"], y)


def main(amp_opt):
    params = {k: jnp.asarray(v) for k, v in kinds.two_layers(np.random.default_rng(0)).items()}
    batch = next(iter(kinds.classes(1)))
    for is_right, functions in ((True, RIGHT), (False, WRONG)):
        for name, backward in functions.items():
            step = amp_jax.lower(with_backward(backward), programs.adam, params, programs.adam_state(params), batch)
            try:
                amp_jax.rewrite(step.text, "fp16", command=(amp_opt,), scaling="dynamic")
                message = None
            except RuntimeError as error:
                message = str(error)
            print(f"{name}: {'accepted' if message is None else 'rejected'}")
            assert (message is None) == is_right, f"{name}: {message}"


main(*sys.argv[1:])
