# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A step of JAX in fp16: its gradients vanish without loss scaling; with it the
# step trains as in f32, an overflow changes nothing but the scale, and nothing of
# the amp dialect is left. Low copies of the weights change nothing.
#
# REQUIRES: jax
# RUN: %jax_python %s amp-opt
"""Usage: scaling.py <amp-opt>"""

import functools
import re
import sys

import amp_jax
import jax
import jax.numpy as jnp
import numpy as np
import programs

STEPS = 60


def check_complex_layers(amp_opt):
    """Gradients pass a Fourier transform and complex weights. Other scales of the layers change nothing."""

    def loss(params, x, y):
        h = x @ params["w"].T
        waves = jnp.fft.rfft(h, axis=1)[:, :8] @ (params["r"] + 1j * params["m"])
        return jnp.mean(((jnp.fft.irfft(waves, n=16, axis=1) + h) @ params["w"] @ params["o"] - y) ** 2)

    def descend(params, state, gradients):
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), state

    params = programs.initial({"w": (16, 8), "r": (8, 16), "m": (8, 16), "o": (8, 8)})
    x = jnp.asarray(np.random.default_rng(0).standard_normal((32, 8)), jnp.float32)
    step = amp_jax.lower(loss, descend, params, jnp.zeros(()), (x, x))
    text = amp_jax.rewrite(step.text, "fp16", command=(amp_opt,), scaling="layerwise")
    assert len(text.added) == 2, text.added
    leaves = step.flatten(params, jnp.zeros(()))
    wide = amp_jax.compile(amp_jax.rewrite(step.text, "f32", command=(amp_opt,)))(*leaves, x, x)
    low = amp_jax.compile(text)
    for scales in ((256, 256), (16, 4096), (4096, 16)):
        new = low(*leaves, x, x, *map(jnp.float32, scales))
        for old, expected, got in zip(leaves[: len(params)], wide, new):
            change = np.abs(expected - old).max()
            assert np.abs(got - expected).max() < 0.01 * change, f"the scales {scales} change the update"


def main(amp_opt):
    check_complex_layers(amp_opt)
    loss, shapes, data = programs.TINY
    update = functools.partial(programs.adam, eps=1e-14)
    params = programs.initial(shapes)
    state = programs.adam_state(params)
    batches = list(data(programs.BATCH, STEPS))
    step = amp_jax.lower(loss, update, params, state, batches[0])
    leaves = step.flatten(params, state)
    count = len(leaves)

    def rewrite(precision, **options):
        text = amp_jax.rewrite(step.text, precision, command=(amp_opt,), **options)
        assert "amp." not in text, "something of the amp dialect is left"
        assert not re.search(r'"(arith|scf|tensor|linalg)\.', text)
        return amp_jax.compile(text)

    def train(run, extra=(), between=lambda new: []):
        values, extra, losses = list(leaves), list(extra), []
        for batch in batches:
            new = run(*values, *batch, *extra)
            values, extra = new[:count], between(new)
            losses.append(float(new[count]))
        return np.array(losses), new

    wide, _ = train(rewrite("f32"))
    lost, _ = train(rewrite("fp16"))
    scaled = rewrite("fp16", scaling="dynamic")
    state_of = lambda new: new[count + 1 : count + 4]  # noqa: E731
    low, last = train(scaled, amp_jax.scaler_state(), state_of)
    gap = np.abs(low - wide).max() / wide[0]
    print(
        f"loss {wide[0]:.3e} to {wide[-1]:.3e} in f32, {lost[-1]:.3e} in fp16 without scaling, "
        f"{low[-1]:.3e} with; largest difference {gap:.2%} of the first; "
        f"scale {float(last[count + 1])}"
    )
    assert wide[-1] < 0.5 * wide[0], "the program does not train"
    assert abs(lost[-1] - wide[-1]) > 0.1 * wide[0], "nothing is lost without scaling"
    assert gap < 0.02 and (low != wide).any(), "the losses differ"
    assert float(last[count + 1]) == 65536.0 and int(last[count + 2]) == STEPS

    # An overflow: nothing moves, and the scale backs off.
    new = scaled(*leaves, *batches[0], *amp_jax.scaler_state(2.0**120))
    for before, after in zip(leaves, new):
        np.testing.assert_array_equal(before, after)
    assert float(new[count + 1]) == 2.0**119 and int(new[count + 2]) == 0
    assert bool(new[-1]), "the step does not say that it was skipped"

    # Low copies in addition to the weights. The step reads the copies.
    copies = rewrite("fp16", scaling="dynamic", masters="copy")
    weights = [leaf.astype(jnp.float16) for leaf in jax.tree.leaves(params)]
    size = len(weights)
    copied, _ = train(
        copies,
        [*weights, *amp_jax.scaler_state()],
        lambda new: new[count + 1 : count + 4 + size],
    )
    np.testing.assert_array_equal(copied, low, "copies are not the casts")

    # Added arguments have names, types and first values, in their order.
    text = amp_jax.rewrite(
        step.text, "fp16", command=(amp_opt,), scaling="dynamic", masters="copy"
    )
    named = dict(zip(amp_jax.names_of("params.", params), jax.tree.leaves(params)))
    for added, value in zip(text.added, [*weights, *amp_jax.scaler_state()], strict=True):
        assert added.role == ("parameter" if added.name.endswith(".low") else "scaler_state")
        assert (added.shape, added.dtype) == (value.shape, value.dtype)
        np.testing.assert_array_equal(added.initial(named), value)

    # A scale for each layer. The scales follow the gradients. After an overflow the
    # scale of the layer where it occurs falls, here to the largest one that is
    # allowed, and nothing else changes.
    text = amp_jax.rewrite(step.text, "fp16", command=(amp_opt,), scaling="layerwise")
    assert len(text.added) > 1 and all(a.role == "scaler_state" for a in text.added), text.added
    assert "amp." not in text, "something of the amp dialect is left"
    start = [added.initial(named) for added in text.added]
    layers = amp_jax.compile(text)
    scales_of = lambda new: new[count + 1 : count + 1 + len(start)]  # noqa: E731
    losses, last = train(layers, start, scales_of)
    gap = np.abs(losses - wide).max() / wide[0]
    scales = [float(scale) for scale in scales_of(last)]
    print(f"with a scale for each layer: largest difference {gap:.2%}, scales {scales}")
    assert gap < 0.02 and (losses != wide).any(), "the losses differ"
    assert all(np.frexp(scale)[0] == 0.5 for scale in scales), "a scale is not a power of two"
    assert any(scale != first for scale, first in zip(scales, start)), "no scale moves"
    new = layers(*leaves, *batches[0], *(jnp.full_like(scale, 2.0**120) for scale in start))
    assert sorted(map(float, scales_of(new))) == [2.0**40, 2.0**120], scales_of(new)
    for before, after in zip(leaves, new):
        np.testing.assert_array_equal(before, after)


if __name__ == "__main__":
    main(*sys.argv[1:])
