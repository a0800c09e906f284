# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Steps whose gradients are one value, or the seed itself, are marked all the
# same, and train as JAX does; marks of positions that do not exist are an error.
# So are former names of arguments.
#
# REQUIRES: jax
# RUN: %jax_python %s amp-opt
"""Usage: marks.py <amp-opt>"""

import sys

import amp_jax
import jax
import jax.numpy as jnp
import numpy as np

A = jnp.full((4, 4), 0.25)
ONE = jnp.float32(1)
# Losses of parameters and a batch.
LOSSES = {
    "two biases of one sum": (
        lambda p, x: jnp.sum(((x @ p["a"] + p["b"]) + (x @ p["d"] + p["e"])) ** 2),
        {"a": A, "d": A, "b": jnp.ones(4), "e": jnp.ones(4)},
    ),
    "a sum of weights": (lambda p, x: jnp.sum((x @ (p["a"] + p["b"])) ** 2), {"a": A, "b": A}),
    "an offset": (lambda p, x: p["c"] + jnp.sum((x @ p["a"]) ** 2), {"a": A, "c": ONE}),
    "two offsets": (lambda p, x: p["c"] + p["d"] + jnp.sum(x @ p["a"]), {"a": A, "c": ONE, "d": ONE}),
}


def descend(params, state, gradients):
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, gradients), state


def check(name, loss, params, amp_opt):
    step = amp_jax.lower(loss, descend, params, {}, (A,))
    (new, _), value = descend(params, {}, jax.grad(loss)(params, A)), loss(params, A)
    for precision, scaling in (("f32", None), ("fp16", "dynamic")):
        text = amp_jax.rewrite(step.text, precision, command=(amp_opt,), scaling=scaling)
        assert "amp." not in text
        extra = amp_jax.scaler_state(128.0) if scaling else []
        results = amp_jax.compile(text)(*step.flatten(params, {}), A, *extra)
        for result, wanted in zip(results, [*jax.tree.leaves(new), value]):
            np.testing.assert_allclose(result, wanted, rtol=2e-3, err_msg=f"{name} {precision}")


def main(amp_opt):
    for name, (loss, params) in LOSSES.items():
        check(name, loss, params, amp_opt)
    lowered = jax.jit(lambda x: x * x).lower(ONE)
    for marks, message in (
        (({1: {"amp.role": "parameter"}}, {}), "argument 1 does not exist: the step has 1"),
        (({}, {-1: {"amp.metric": "loss"}}), "result -1 does not exist: the step has 1"),
    ):
        try:
            amp_jax.annotate(lowered, *marks)
        except ValueError as error:
            assert str(error) == message, error
        else:
            raise AssertionError(f"no error: {message}")
    for name, message in (("narrow_saved", "'narrow_saved' is now called 'compress_activations'"),
                          ("masks", "pipeline() got an unexpected keyword argument 'masks'")):
        try:
            amp_jax.pipeline("bf16", **{name: True})
        except TypeError as error:
            assert str(error) == message, error
        else:
            raise AssertionError(f"no error: {message}")


if __name__ == "__main__":
    main(*sys.argv[1:])
