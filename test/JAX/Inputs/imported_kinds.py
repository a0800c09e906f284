# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training programs in JAX, written for the importer after it was finished.

Each program is a loss, its parameters, a batch, and the largest relative error
of its losses over the steps in f32.
"""

import jax
import jax.numpy as jnp
from jax import lax
from scanned import data, integers, normal, xent


def switch(p, x, y):
    """Experts with a capacity: examples are sent to places in buffers, and back."""
    gates = jax.nn.softmax(x @ p["g"])
    value, expert = (part[:, 0] for part in lax.top_k(gates, 1))
    order = jnp.argsort(-value)
    expert, value, x, y = expert[order], value[order], x[order], y[order]
    place = jnp.cumsum(jax.nn.one_hot(expert, 4, dtype=jnp.int32), axis=0)[jnp.arange(16), expert] - 1
    buffers = jnp.zeros((4, 6, 8)).at[expert, place].set(x, mode="drop")
    done = jnp.einsum("ech,eho->eco", jax.nn.relu(jnp.einsum("eci,eih->ech", buffers, p["a"])), p["b"])
    out = done.at[expert, place].get(mode="fill", fill_value=0) * value[:, None]
    return xent(out, y) + 0.01 * jnp.sum(jnp.square(gates.mean(0)))


def field(p, x, y):
    """The likelihood of a chain of labels: all paths by a scan, one path by its indices."""
    emit = x @ p["e"]

    def step(alpha, e):
        return jax.nn.logsumexp(alpha[:, :, None] + p["t"], axis=1) + e, None

    alpha, _ = lax.scan(step, emit[:, 0], emit[:, 1:].swapaxes(0, 1))
    b, s = jnp.arange(8)[:, None], jnp.arange(6)
    path = emit[b, s, y].sum(1) + p["t"][y[:, :-1], y[:, 1:]].sum(1)
    return jnp.mean(jax.nn.logsumexp(alpha, axis=1) - path)


def beam(p, x, y):
    """The best three states of each step go on, with the scores and states of the path."""

    def step(carry, t):
        score, state = carry
        scores = score[:, :, None] + jax.nn.log_softmax(state @ p["o"])
        best, at = lax.top_k(scores.reshape(8, -1), 3)
        state = jnp.take_along_axis(state, (at // 5)[..., None], axis=1)
        state = jnp.tanh(state @ p["w"] + p["e"][at % 5] + t[:, None])
        return (best, state), best[:, 0]

    start = (jnp.log(jnp.array([[1.0, 1e-6, 1e-6]])) + jnp.zeros((8, 1)), jnp.zeros((8, 3, 8)) + p["s"])
    (_, state), best = lax.scan(step, start, (x @ p["x"]).swapaxes(0, 1))
    return xent(state[:, 0] @ p["o"], y) - 0.1 * jnp.mean(best)


def kalman(p, x):
    """A filter of two states, with the gain from a matrix that is inverted by hand."""
    a, q, r = p["a"], jnp.diag(jnp.exp(p["q"])), jnp.diag(jnp.exp(p["r"]))

    def invert(m):
        d = m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]
        return jnp.array([[m[1, 1], -m[0, 1]], [-m[1, 0], m[0, 0]]]) / d, d

    def step(carry, z):
        mean, cov = carry
        mean, cov = mean @ a.T, a @ cov @ a.T + q
        inverse, d = invert(cov + r)
        gain = cov @ inverse
        error = z - mean
        cost = jnp.mean(jnp.sum(error @ inverse * error, -1)) + jnp.log(d)
        return (mean + error @ gain.T, cov - gain @ cov), cost

    _, costs = lax.scan(step, (jnp.zeros((8, 2)), jnp.eye(2)), x.swapaxes(0, 1))
    return jnp.mean(costs) + 10


def penalty(p, x, y):
    """A critic whose gradient by its input has a norm near one."""

    def critic(v):
        return jnp.sum(jnp.tanh(jnp.tanh(v @ p["a"]) @ p["b"]) @ p["c"])

    slopes = jax.vmap(jax.grad(critic))(x)
    return jnp.mean(jnp.square(jnp.linalg.norm(slopes, axis=1) - 1)) + jnp.mean(jnp.square(x @ p["a"][:, :1] - y[:, None] / 4))


def policy(p, x, y, reward):
    """Advantages by a scan from the end, clipped ratios, and the entropy."""
    logits, value = x @ p["w"], (x @ p["v"])[..., 0]
    old = jax.nn.log_softmax(x[..., :4])

    def step(carry, t):
        delta = t[0] + 0.9 * t[2] - t[1]
        carry = delta + 0.8 * carry
        return carry, carry

    after = jnp.concatenate([value[:, 1:], jnp.zeros((8, 1))], 1)
    _, gain = lax.scan(step, jnp.zeros(8), (reward.T, value.T, after.T), reverse=True)
    gain = gain.T
    logs = jax.nn.log_softmax(logits)
    ratio = jnp.exp(jnp.take_along_axis(logs - old, y[..., None], axis=-1)[..., 0])
    gained = jnp.minimum(ratio * gain, jnp.clip(ratio, 0.8, 1.2) * gain)
    entropy = -jnp.sum(jnp.exp(logs) * logs, -1)
    return jnp.mean(jnp.square(gain)) - 0.1 * jnp.mean(gained) - 0.01 * jnp.mean(entropy)


def triplet(p, x, y):
    """The hardest example of the same class and of another, for each example."""
    h = x @ p["w"]
    h = h / jnp.linalg.norm(h, axis=1, keepdims=True)
    apart = jnp.sum(jnp.square(h[:, None] - h[None]), -1)
    same = y[:, None] == y[None]
    far = jnp.max(jnp.where(same, apart, -jnp.inf), axis=1)
    near = apart[jnp.arange(16), jnp.argmin(jnp.where(same, jnp.inf, apart), axis=1)]
    return jnp.mean(jax.nn.softplus(4 * (far - near)))


def volume(p, x, y):
    """Convolutions of volumes with group norms and average pooling to the edge."""

    def norm(h):
        g = h.reshape(*h.shape[:-1], 2, -1)
        axes = (1, 2, 3, 5)
        g = (g - g.mean(axes, keepdims=True)) * lax.rsqrt(g.var(axes, keepdims=True) + 1e-5)
        return g.reshape(h.shape)

    names = ("NDHWC", "DHWIO", "NDHWC")
    h = jax.nn.silu(norm(lax.conv_general_dilated(x, p["k"], (1, 1, 1), "SAME", dimension_numbers=names)))
    sums = lax.reduce_window(h, 0.0, lax.add, (1, 3, 3, 3, 1), (1, 2, 2, 2, 1), "SAME")
    sizes = lax.reduce_window(jnp.ones_like(h), 0.0, lax.add, (1, 3, 3, 3, 1), (1, 2, 2, 2, 1), "SAME")
    h = jax.nn.silu(lax.conv_general_dilated(sums / sizes, p["l"], (1, 1, 1), "SAME", dimension_numbers=names))
    return xent(8 * h.mean((1, 2, 3)) @ p["o"], y)


def quantiles(p, x):
    """The distance of sorted projections of two samples, and a loss of quantiles."""
    y = jnp.tanh(x @ p["a"]) @ p["b"]
    one, two = jnp.sort(y @ p["r"], axis=0), jnp.sort(jnp.cos(x) @ p["r"], axis=0)
    middle = jnp.quantile(y, jnp.array([0.1, 0.5, 0.8]), axis=0)
    return jnp.mean(jnp.square(one - two)) + 0.1 * jnp.mean(jnp.abs(middle - 0.2))


def halting(p, x, y):
    """Each layer is applied if a gate of the batch is open; a case picks the activation."""
    h = x @ p["i"]

    def layer(h, part):
        w, gate = part
        score = jnp.mean(jax.nn.sigmoid(h @ gate))
        kind = jnp.clip(jnp.floor(3 * score), 0, 2).astype(jnp.int32)
        step = lax.switch(kind, [jnp.tanh, jax.nn.relu, lambda t: t / (1 + jnp.abs(t))], h @ w)
        return lax.cond(score > 0.3, lambda: h + score * step, lambda: h), score

    h, scores = lax.scan(layer, h, (p["w"], p["g"]))
    return xent(h @ p["o"], y) + 0.1 * jnp.mean(scores)


PROGRAMS = {
    switch: ({"g": normal(8, 4), "a": normal(4, 8, 8), "b": normal(4, 8, 4)}, (data(16, 8), integers(4, 16)), 1e-5),
    field: ({"e": normal(6, 5), "t": normal(5, 5)}, (data(8, 6, 6), integers(5, 8, 6)), 1e-5),
    beam: ({"o": normal(8, 5), "w": normal(8, 8), "e": normal(5, 8), "x": normal(4, 8), "s": normal(8)},
           (data(8, 4, 4), integers(5, 8)), 1e-5),
    kalman: ({"a": 0.5 * normal(2, 2), "q": normal(2), "r": normal(2)}, (data(8, 6, 2),), 1e-5),
    penalty: ({"a": normal(6, 16), "b": normal(16, 16), "c": normal(16)}, (data(8, 6), data(8)), 1e-5),
    policy: ({"w": normal(6, 4), "v": normal(6, 1)}, (data(8, 5, 6), integers(4, 8, 5), data(8, 5)), 1e-5),
    triplet: ({"w": normal(8, 6)}, (data(16, 8), integers(4, 16)), 1e-5),
    volume: ({"k": normal(3, 3, 3, 2, 4), "l": normal(3, 3, 3, 4, 6), "o": normal(6, 4)},
             (data(4, 4, 5, 6, 2), integers(4, 4)), 1e-5),
    quantiles: ({"a": normal(5, 8), "b": normal(8, 5), "r": normal(5, 3)}, (data(16, 5),), 1e-5),
    halting: ({"i": normal(6, 8), "w": normal(3, 8, 8), "g": normal(3, 8), "o": normal(8, 4)},
              (data(8, 6), integers(4, 8)), 1e-5),
}  # fmt: skip
