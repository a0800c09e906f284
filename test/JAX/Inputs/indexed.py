# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses in JAX for the importer: branches, indexing, orders, windows, functions.

Each program is a loss, its parameters, a batch, and the largest relative error
of its losses over the steps in f32.
"""

import jax
import jax.numpy as jnp
from jax import lax
from scanned import data, integers, normal, xent


def branches(p, x, y, n):
    """One of two branches, and one of three, one of which is out of range."""
    h = x @ p["w"]
    h = lax.cond(jnp.mean(h) > 0, lambda t: jnp.tanh(t @ p["u"]), lambda t: t + p["b"], h)
    h = lax.switch(n.sum() - 30, [jnp.sin, lambda t: t * p["b"], lambda t: jnp.cos(t) + x @ p["w"]], h)
    return xent(h @ p["o"], y)


def branch_in_loop(p, x, y):
    """A branch in each iteration of a loop, and a loop within a branch."""

    def deep(h):
        return lax.fori_loop(0, 3, lambda _, t: jnp.tanh(t @ p["u"]) + 0.5 * t, h)

    def layer(h, w):
        return lax.cond(jnp.sum(w) > 0, lambda t: jnp.tanh(t @ w), deep, h), jnp.sum(h)

    h, sums = lax.scan(layer, x, p["w"])
    return xent(h @ p["o"], y) + 1e-3 * jnp.mean(jnp.square(sums))


def halving(p, x, y):
    """A loop whose end the data decides, on a path without gradients."""
    size = lax.while_loop(lambda s: s > 1, lambda s: s / 2, jnp.sum(jnp.abs(x)))
    steps, _ = lax.while_loop(lambda c: c[1] > 1, lambda c: (c[0] + 1, c[1] // 2), (0, y.sum() + 3))
    return xent(size * (x @ p["w"]) @ p["o"] + 0.1 * steps, y)


def points(p, i, j):
    """Elements, slices and windows of a table at several indices."""
    rows = p["t"][i, j]
    slices = p["t"][:, j, 1:3][i]
    windows = jax.vmap(lambda a, b: lax.dynamic_slice(p["t"], (a, b, 0), (2, 2, 4)))(i, j)
    ends = p["t"].at[i, j + 3].get(mode="clip") + p["t"].at[i, j + 3].get(mode="fill", fill_value=0.5)
    return sum(jnp.mean(jnp.square(part - 0.3)) for part in (rows, slices, windows, ends))


def along(p, i):
    """take_along_axis over every axis."""
    # amp-run shuffles samples.
    i = i.sum(0)[None] + jnp.arange(8)[:, None]
    parts = [jnp.take_along_axis(p["t"], part % n, axis=axis) for part, axis, n in ((i, 0, 5), (i[:5], 1, 6))]
    return sum(jnp.mean(jnp.square(jnp.tanh(part) - 0.2)) for part in parts)


def writes(p, x, i, j):
    """Elements set, added, raised and lowered at several indices, some of them out of range."""
    table = jnp.zeros((6, 5, 3)) + p["b"]
    table = table.at[i, j].add(x @ p["w"])
    lines = jnp.array([3, 9, 0, 5])
    table = table.at[lines, :, 1].set(jnp.tanh(x.mean(0) @ p["v"]) * jnp.arange(4.0)[:, None])
    table = table.at[1:3, jnp.array([4, 0])].set(p["b"] * jnp.arange(1, 3)[:, None])
    return jnp.mean(jnp.square(table - 0.5))


def graph(p, source, target):
    """Messages along the edges of a graph, their sums, means and largest, and attention over edges."""
    h = jnp.tanh(p["n"]) @ p["w"]
    sums = jax.ops.segment_sum(h[source], target, 7)
    counts = jnp.zeros(7, jnp.int32).at[target].add(1)
    means = sums / jnp.maximum(counts, 1)[:, None]
    scores = jax.nn.leaky_relu(h[source] @ p["a"] + h[target] @ p["c"])
    most = jax.ops.segment_max(lax.stop_gradient(scores), target, 7)  # cancels out
    weights = jnp.exp(scores - most[target])
    total = jax.ops.segment_sum(weights, target, 7)
    mixed = jax.ops.segment_sum(h[source] * (weights / total[target])[:, None], target, 7)
    return jnp.mean(jnp.square(jnp.tanh(means + mixed) @ p["o"] - 0.5))


def orders(p, x, y):
    """Sorted values, their places, the median, a permutation and the ranks of random keys."""
    h = jnp.tanh(x @ p["w"])
    low = jnp.sort(h, axis=1)[:, :3]
    high = -jnp.sort(-h, axis=0)[:2]
    places = jnp.argsort(h, axis=1)
    moved = jnp.take_along_axis(h * p["g"], places, axis=1)
    keys, values = lax.sort((jnp.round(4 * h), h * p["g"]), dimension=1, num_keys=2)
    return (xent(moved @ p["o"], y) + jnp.mean(jnp.square(low)) + jnp.mean(high) + jnp.mean(jnp.median(h, axis=1))
            + jnp.mean(values[:, ::2]) + 0.01 * jnp.mean(keys * places))  # fmt: skip


def windows(p, x):
    """Averages with the sizes of cut windows, sums, and windows in three dimensions."""
    h = jnp.tanh(x * p["g"])
    ones = jnp.ones((1, *h.shape[1:3], 1))

    def window(z, start, how, size, step, pad):
        return lax.reduce_window(z, start, how, size, step, pad)

    sums = window(h, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
    average = sums / window(ones, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
    plain = window(h, 0.0, lax.add, (1, 3, 1, 1), (1, 1, 1, 1), "VALID")
    dilated = lax.reduce_window(h, 0.0, lax.add, (1, 2, 2, 1), (1, 1, 1, 1), "VALID", window_dilation=(1, 2, 1, 1))
    volume = h.reshape(2, 4, 2, 8, 3)
    most = window(volume, -jnp.inf, lax.max, (1, 2, 2, 2, 1), (1, 2, 2, 2, 1), "VALID")
    least = window(volume, jnp.inf, lax.min, (1, 2, 2, 3, 1), (1, 1, 1, 2, 1), "SAME")
    return sum(jnp.mean(jnp.square(part - 0.4)) for part in (average, plain, dilated, most, least))


def volumes(p, x, y):
    """Convolutions of volumes: strided, dilated, grouped, and cut by negative padding."""
    names = ("NDHWC", "DHWIO", "NDHWC")
    h = jax.nn.relu(lax.conv_general_dilated(x, p["k"], (1, 2, 1), "SAME", dimension_numbers=names))
    h = jax.nn.relu(lax.conv_general_dilated(h, p["l"], (2, 1, 1), ((1, 1), (0, 1), (-1, 1)), rhs_dilation=(2, 1, 1),
                                             dimension_numbers=names, feature_group_count=2))  # fmt: skip
    return xent(h.mean((1, 2, 3)) @ p["o"], y)


def angles(p, x):
    """Inverse and hyperbolic functions."""
    z = 0.4 * (x @ p["w"])
    s = jnp.tanh(z) * 0.9
    parts = (jnp.arctan2(z, x), jnp.arctan(3 * z), jnp.arcsin(s), jnp.arccos(s), jnp.sinh(z), jnp.cosh(z),
             jnp.arcsinh(5 * z), jnp.arccosh(2.0 + s), jnp.arctanh(s), jnp.cbrt(z), jnp.tan(s))  # fmt: skip
    return sum(jnp.mean(jnp.square(part - 0.3)) for part in parts)


def steps(p, x):
    """Functions with steps, and remainders."""
    z = 0.7 * (x @ p["w"])
    parts = (z - jnp.floor(z), z * jnp.ceil(z), z * jnp.round(z), z + jnp.trunc(z), jnp.mod(z, 1.3), jnp.fmod(z, p["g"]),
             z * lax.round(z, lax.RoundingMethod.AWAY_FROM_ZERO), z * (z // 0.4), jnp.hypot(z, p["g"]))  # fmt: skip
    return 0.03 * sum(jnp.mean(jnp.square(part)) for part in parts)


def starts(p, x):
    """Reductions that start from a number of their own, and norms."""
    z = jnp.tanh(x @ p["w"])
    parts = (jnp.max(z, axis=1, initial=0.1), jnp.min(z, axis=0, initial=-0.2), jnp.sum(z, axis=1, initial=0.5),
             jnp.prod(1 + 0.1 * z, axis=1, initial=2.0), jnp.linalg.norm(z, axis=1), jnp.ptp(z, axis=0))  # fmt: skip
    return sum(jnp.mean(jnp.square(part)) for part in parts)


def counting(p, i, y):
    """Integers divided, clipped, summed, padded, reversed and sorted."""
    # amp-run shuffles samples.
    i, y = jnp.sort(i), jnp.sort(y)
    group, rest = i // 3, i % 3
    places = jnp.cumsum(jax.nn.one_hot(i, 9, dtype=jnp.int32), axis=0)[jnp.arange(8), i] - 1
    shuffled = jnp.sort(jnp.flip(jnp.pad(jnp.clip(i, 1, 6), (1, 1))))[1:-1]
    counts = jnp.bincount(i, length=9)
    h = p["e"][group] + p["f"][rest] + p["e"][jnp.minimum(places, 2)] * p["f"][shuffled // 3 % 3]
    return xent(h @ p["o"], y) + 0.01 * jnp.sum(counts[i] * jnp.sum(h, axis=1)) / 8


PROGRAMS = {
    branches: ({"w": normal(8, 8), "u": normal(8, 8), "b": normal(8), "o": normal(8, 4)},
               (data(8, 8), integers(4, 8), integers(9, 8)), 1e-5),
    branch_in_loop: ({"w": normal(4, 8, 8), "u": normal(8, 8), "o": normal(8, 4)}, (data(8, 8), integers(4, 8)), 1e-5),
    halving: ({"w": normal(8, 8), "o": normal(8, 4)}, (data(8, 8), integers(4, 8)), 1e-5),
    points: ({"t": normal(5, 6, 4)}, (integers(5, 8), integers(6, 8)), 1e-5),
    along: ({"t": normal(5, 6)}, (integers(100, 8, 6),), 1e-5),
    writes: ({"w": normal(4, 3), "v": normal(4, 5), "b": normal(3)}, (data(8, 4), integers(8, 8), integers(5, 8)), 1e-5),
    graph: ({"n": normal(7, 4), "w": normal(4, 6), "a": normal(6), "c": normal(6), "o": normal(6, 2)},
            (integers(7, 12), integers(7, 12)), 1e-5),
    orders: ({"w": normal(6, 7), "g": normal(7), "o": normal(7, 4)}, (data(8, 6), integers(4, 8)), 1e-5),
    windows: ({"g": normal(3)}, (data(2, 8, 8, 3),), 1e-5),
    volumes: ({"k": normal(3, 3, 3, 2, 4), "l": normal(2, 2, 2, 2, 6), "o": normal(6, 4)},
              (data(4, 5, 6, 5, 2), integers(4, 4)), 1e-5),
    angles: ({"w": normal(6, 6)}, (data(8, 6),), 1e-5),
    steps: ({"w": normal(6, 6), "g": normal(6) + 1}, (data(8, 6),), 1e-5),
    starts: ({"w": normal(6, 6)}, (data(8, 6),), 1e-5),
    counting: ({"e": normal(3, 6), "f": normal(3, 6), "o": normal(6, 4)}, (integers(9, 8), integers(4, 8)), 1e-5),
}  # fmt: skip
