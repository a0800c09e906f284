# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses in JAX for the importer: loops, scans, orders, layouts, random numbers.

Each program is a loss, its parameters, a batch, and the largest relative error
of its losses over the steps in f32.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

RNG = np.random.default_rng(5)


def normal(*shape):
    return (RNG.standard_normal(shape) * (0.5 if len(shape) < 2 else shape[-2] ** -0.5)).astype(np.float32)


def data(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def integers(below, *shape):
    return RNG.integers(0, below, shape).astype(np.int32)


def xent(logits, labels):
    logs = jax.nn.log_softmax(logits)
    return -jnp.mean(jnp.take_along_axis(logs, labels[..., None], axis=-1))


def gru(p, x, y):
    """Reads a sequence from both ends."""

    def cell(h, t):
        z = jax.nn.sigmoid(t @ p["z"] + h @ p["uz"])
        r = jax.nn.sigmoid(t @ p["r"] + h @ p["ur"])
        n = jnp.tanh(t @ p["n"] + (r * h) @ p["un"])
        h = (1 - z) * n + z * h
        return h, h

    start = jnp.zeros((x.shape[0], 16))
    steps = x.swapaxes(0, 1)
    last, _ = lax.scan(cell, start, steps)
    _, back = lax.scan(cell, start, steps, reverse=True)
    return xent(jnp.concatenate([last, back.mean(0)], -1) @ p["o"], y)


def levels(p, x, y):
    """Words of letters: a scan within a scan."""

    def letter(h, t):
        return jnp.tanh(t @ p["a"] + h @ p["b"]), None

    def word(h, t):
        inner, _ = lax.scan(letter, h, t)
        return jnp.tanh(inner @ p["c"]) + h, inner

    h, inner = lax.scan(word, jnp.zeros((x.shape[0], 12)), jnp.moveaxis(x, 0, 2))
    return xent((h + inner.mean(0)) @ p["o"], y)


def ode(p, x, y):
    """A flow by Runge and Kutta's method."""

    def flow(h):
        return jnp.tanh(h @ p["a"] + p["b"]) @ p["c"]

    def step(_, h):
        k1 = flow(h)
        k2 = flow(h + 0.1 * k1)
        k3 = flow(h + 0.1 * k2)
        k4 = flow(h + 0.2 * k3)
        return h + 0.2 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    return xent(lax.fori_loop(0, 6, step, x) @ p["o"], y)


def table(p, x):
    """Fills a table row by row, from the rows before."""

    def fill(i, t):
        row = jnp.tanh(t[i - 1] @ p["w"] + x[:, i].mean(0))
        return t.at[i].set(row)

    t = lax.fori_loop(1, 6, fill, jnp.zeros((6, 8)).at[0].set(p["s"]))
    return jnp.mean(jnp.square(t - 0.3))


def ssm(p, x, y):
    """A diagonal state space model, with the loop over time and running sums."""
    a = jax.nn.sigmoid(p["a"])
    _, hs = lax.scan(lambda h, u: (a * h + u, a * h + u), jnp.zeros((x.shape[0], 16)), (x @ p["u"]).swapaxes(0, 1))
    sums = jnp.cumsum(hs, axis=0) / jnp.arange(1, 11)[:, None, None]
    return xent(sums[-1] @ p["o"], y)


def tabular(p, x, y):
    """A product of probabilities, running products, the least and the reverse."""
    q = jax.nn.sigmoid(x @ p["w"])
    survival = jnp.cumprod(1 - 0.5 * q, axis=1)
    late = lax.cumsum(q, axis=1, reverse=True)
    features = jnp.concatenate(
        [survival, late[:, ::-1], jnp.prod(q, axis=1, keepdims=True), jnp.min(q, axis=1, keepdims=True),
         lax.cummax(q, axis=1)], axis=1)  # fmt: skip
    return xent(features @ p["o"], y)


def ignore(p, x, y):
    """Labels of -1 are left out of the mean."""
    kept = y != -1
    logs = jax.nn.log_softmax(jnp.tanh(x @ p["w"]) @ p["o"])
    picked = jnp.take_along_axis(logs, jnp.where(kept, y, 0)[..., None], axis=-1)[..., 0]
    return -jnp.sum(jnp.where(kept, picked, 0.0)) / jnp.maximum(jnp.sum(kept), 1)


def router(p, x, y):
    """Two experts of five for each example."""
    gates = jax.nn.softmax(x @ p["g"])
    top, chosen = lax.top_k(gates, 2)
    hidden = jax.nn.relu(jnp.einsum("bi,eih->ebh", x, p["a"]))
    out = jnp.einsum("ebh,eho->ebo", hidden, p["b"])
    mask = jax.nn.one_hot(chosen, 5) * (top / top.sum(-1, keepdims=True))[..., None]
    return xent(jnp.einsum("ebo,be->bo", out, mask.sum(1)), y) + 0.01 * jnp.sum(top[:, 0])


def hard(p, x, y):
    """A codebook: half of each vector is its nearest code."""
    h = x @ p["w"]
    distance = jnp.sum(jnp.square(h[:, None] - p["e"]), -1)
    code = p["e"][jnp.argmin(distance, axis=1)]
    z = 0.5 * h + 0.5 * code
    return xent(z @ p["o"], y) + jnp.mean(jnp.square(code - h))


def nchw(p, x, y):
    """Channels first, as PyTorch has them."""
    names = ("NCHW", "OIHW", "NCHW")
    h = jax.nn.relu(lax.conv_general_dilated(x, p["k"], (1, 1), "SAME", dimension_numbers=names))
    h = lax.reduce_window(h, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    h = jax.nn.relu(lax.conv_general_dilated(h, p["l"], (2, 2), ((1, 1), (1, 1)), dimension_numbers=names, feature_group_count=2))
    return xent(h.mean((2, 3)) @ p["o"], y)


def wave(p, x, y):
    """Convolutions and windows along one dimension."""
    h = jax.nn.relu(lax.conv_general_dilated(x, p["k"], (1,), ((4, 0),), rhs_dilation=(2,), dimension_numbers=("NWC", "WIO", "NWC")))
    h = lax.reduce_window(h, 0.0, lax.add, (1, 3, 1), (1, 3, 1), "VALID") / 3
    h = lax.conv_general_dilated(h.swapaxes(1, 2), p["l"], (1,), "SAME")
    low = lax.reduce_window(h, jnp.inf, lax.min, (1, 1, 2), (1, 1, 2), "VALID")
    high = lax.reduce_window(h, -jnp.inf, lax.max, (1, 1, 2), (1, 1, 2), "VALID")
    return xent((high - low).mean(2) @ p["o"], y)


def decoder(p, x):
    """A transposed convolution restores the extents before a strided one."""
    names = ("NHWC", "HWIO", "NHWC")
    h = jnp.tanh(lax.conv_general_dilated(x, p["k"], (2, 2), "SAME", dimension_numbers=names))
    y = lax.conv_transpose(h, p["l"], (2, 2), "SAME", dimension_numbers=names)
    return jnp.mean(jnp.square(y - x))


def dropped(p, x, y, keys):
    """Dropout by random bits, with a key for each example."""
    h = jax.nn.relu(x @ p["a"])
    kept = jax.vmap(lambda key: jax.random.bernoulli(key, 0.8, (32,)))(keys)
    h = jnp.where(kept, h / 0.8, 0)
    return xent(h @ p["b"], y)


def noisy(p, x, keys):
    """A variational autoencoder, with normal and uniform draws."""

    def draw(key):
        one, two = jax.random.split(key)
        return jax.random.normal(one, (4,)), jax.random.uniform(two, (8,))

    noise, dust = jax.vmap(draw)(keys)
    h = jnp.tanh(x @ p["e"])
    mean, spread = h @ p["m"], h @ p["v"]
    z = mean + jnp.exp(0.5 * spread) * noise
    out = jnp.tanh(z @ p["d"]) + 0.01 * dust
    return jnp.mean(jnp.square(out - x)) + 0.1 * jnp.mean(jnp.square(mean) + jnp.exp(spread) - spread)


def by_hand(p, x, y):
    """Rounds to bf16 by itself, and reads labels as numbers."""
    h = jax.nn.relu((x.astype(jnp.bfloat16) @ p["a"].astype(jnp.bfloat16)).astype(jnp.float32))
    return jnp.mean(jnp.square((h @ p["b"])[:, 0] - y.astype(jnp.float32) / 4))


KEYS = RNG.integers(0, 2**32, (8, 2)).astype(np.uint32)
PROGRAMS = {
    gru: ({**{n: normal(6, 16) for n in "zrn"}, **{"u" + n: normal(16, 16) for n in "zrn"}, "o": normal(32, 4)},
          (data(8, 5, 6), integers(4, 8)), 1e-5),
    levels: ({"a": normal(6, 12), "b": normal(12, 12), "c": normal(12, 12), "o": normal(12, 4)},
             (data(8, 3, 4, 6), integers(4, 8)), 1e-5),
    ode: ({"a": normal(8, 16), "b": normal(16), "c": normal(16, 8), "o": normal(8, 4)},
          (data(8, 8), integers(4, 8)), 1e-5),
    table: ({"w": normal(8, 8), "s": normal(8)}, (data(4, 6, 8),), 1e-5),
    ssm: ({"a": normal(16), "u": normal(6, 16), "o": normal(16, 4)}, (data(8, 10, 6), integers(4, 8)), 1e-5),
    tabular: ({"w": normal(8, 7), "o": normal(23, 4)}, (data(8, 8), integers(4, 8)), 1e-5),
    ignore: ({"w": normal(8, 16), "o": normal(16, 4)}, (data(4, 6, 8), integers(5, 4, 6) - 1), 1e-5),
    router: ({"g": normal(8, 5), "a": normal(5, 8, 16), "b": normal(5, 16, 4)}, (data(8, 8), integers(4, 8)), 1e-5),
    hard: ({"w": normal(8, 6), "e": normal(10, 6), "o": normal(6, 4)}, (data(8, 8), integers(4, 8)), 1e-5),
    nchw: ({"k": normal(6, 2, 3, 3), "l": normal(8, 3, 3, 3), "o": normal(8, 4)},
           (data(4, 2, 8, 8), integers(4, 4)), 1e-5),
    wave: ({"k": normal(3, 2, 6), "l": normal(4, 6, 3), "o": normal(4, 4)}, (data(4, 12, 2), integers(4, 4)), 1e-5),
    decoder: ({"k": normal(3, 3, 2, 6), "l": normal(3, 3, 6, 2)}, (data(4, 8, 8, 2),), 1e-5),
    dropped: ({"a": normal(8, 32), "b": normal(32, 4)}, (data(8, 8), integers(4, 8), KEYS), 1e-5),
    noisy: ({"e": normal(8, 16), "m": normal(16, 4), "v": normal(16, 4), "d": normal(4, 8)}, (data(8, 8), KEYS), 1e-5),
    by_hand: ({"a": normal(8, 16), "b": normal(16, 1)}, (data(8, 8), integers(4, 8)), 1e-4),
}  # fmt: skip
