# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training programs in JAX of many kinds: loops over time and layers, random
numbers, experts, derivatives of the user, recomputation.

Each is a loss of parameters and a batch, what makes parameters, and what makes
batches.
"""

import functools
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

rng = np.random.default_rng


def dense(r, *shape):
    return (r.standard_normal(shape) / np.sqrt(np.prod(shape[:-1]))).astype(np.float32)


def xent(logits, labels):
    logs = jax.nn.log_softmax(logits)
    return -jnp.mean(jnp.take_along_axis(logs, labels[..., None], axis=-1))


def classes(steps, batch=32, size=16, kinds=4, key=False, seed=1):
    r = rng(seed)
    centres = r.standard_normal((kinds, size)).astype(np.float32)
    for i in range(steps):
        y = r.integers(0, kinds, batch).astype(np.int32)
        x = (centres[y] + 0.3 * r.standard_normal((batch, size))).astype(np.float32)
        extra = (np.array([7, i], np.uint32),) if key else ()
        yield (x, y, *extra)


def sequences(steps, batch=16, length=12, size=8, kinds=4, seed=2):
    r = rng(seed)
    centres = r.standard_normal((kinds, size)).astype(np.float32)
    for _ in range(steps):
        y = r.integers(0, kinds, batch).astype(np.int32)
        x = centres[y][:, None] + r.standard_normal((batch, length, size))
        yield x.astype(np.float32), y


def tokens(steps, batch=8, length=16, vocab=32, seed=3):
    r = rng(seed)
    for _ in range(steps):
        start = r.integers(0, vocab, (batch, 1))
        yield ((start + 3 * np.arange(length + 1)) % vocab).astype(np.int32),


# --- RNN ---
def rnn_loss(p, x, y):
    def cell(h, t):
        h = jnp.tanh(t @ p["wx"] + h @ p["wh"] + p["b"])
        return h, None
    h, _ = lax.scan(cell, jnp.zeros((x.shape[0], 32)), x.swapaxes(0, 1))
    return xent(h @ p["wo"], y)


def rnn_params(r):
    return {"wx": dense(r, 8, 32), "wh": dense(r, 32, 32), "b": np.zeros(32, np.float32), "wo": dense(r, 32, 4)}


def lstm_loss(p, x, y):
    def cell(c, t):
        h, s = c
        z = t @ p["wx"] + h @ p["wh"] + p["b"]
        i, f, g, o = jnp.split(z, 4, axis=-1)
        s = jax.nn.sigmoid(f + 1) * s + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(s)
        return (h, s), h
    zero = jnp.zeros((x.shape[0], 16))
    (_, _), hs = lax.scan(cell, (zero, zero), x.swapaxes(0, 1))
    return xent(hs.mean(0) @ p["wo"], y)


def lstm_params(r):
    return {"wx": dense(r, 8, 64), "wh": dense(r, 16, 64), "b": np.zeros(64, np.float32), "wo": dense(r, 16, 4)}


# --- VAE ---
def vae_loss(p, x, y, key):
    h = jax.nn.relu(x @ p["e"] + p["eb"])
    mu, lv = h @ p["m"], h @ p["v"]
    eps = jax.random.normal(key, mu.shape)
    z = mu + jnp.exp(0.5 * lv) * eps
    out = jax.nn.relu(z @ p["d1"]) @ p["d2"]
    rec = jnp.mean(jnp.sum((out - x) ** 2, -1))
    kl = -0.5 * jnp.mean(jnp.sum(1 + lv - mu ** 2 - jnp.exp(lv), -1))
    return rec + 0.1 * kl


def vae_params(r):
    return {"e": dense(r, 16, 64), "eb": np.zeros(64, np.float32), "m": dense(r, 64, 8), "v": dense(r, 64, 8) * 0.1,
            "d1": dense(r, 8, 64), "d2": dense(r, 64, 16)}


# --- dropout ---
def dropout_loss(p, x, y, key):
    h = jax.nn.relu(x @ p["a"])
    keep = jax.random.bernoulli(key, 0.9, h.shape)
    h = jnp.where(keep, h / 0.9, 0)
    return xent(h @ p["b"], y)


def two_layers(r):
    return {"a": dense(r, 16, 64), "b": dense(r, 64, 4)}


# --- Gumbel softmax, straight through ---
def gumbel_loss(p, x, y, key):
    h = jax.nn.relu(x @ p["a"])
    logits = h @ p["c"]
    g = jax.random.gumbel(key, logits.shape)
    soft = jax.nn.softmax((logits + g) / 0.7)
    return xent(soft @ p["b"], y)


def gumbel_params(r):
    return {"a": dense(r, 16, 64), "c": dense(r, 64, 32), "b": dense(r, 32, 4) * 3}


# --- MoE ---
def moe_loss(p, x, y):
    gates = jax.nn.softmax(x @ p["g"])
    top, idx = lax.top_k(gates, 2)
    mask = jax.nn.one_hot(idx, 4).sum(1)
    w = gates * mask
    w = w / w.sum(-1, keepdims=True)
    h = jax.nn.gelu(jnp.einsum("bi,eih->ebh", x, p["a"]))
    o = jnp.einsum("ebh,eho->ebo", h, p["b"])
    out = jnp.einsum("ebo,be->bo", o, w)
    load = gates.mean(0)
    return xent(out, y) + 0.01 * 4 * jnp.sum(load * mask.mean(0))


def moe_params(r):
    return {"g": dense(r, 16, 4), "a": np.stack([dense(r, 16, 32) for _ in range(4)]),
            "b": np.stack([dense(r, 32, 4) for _ in range(4)])}


# --- custom_vjp ---
@jax.custom_vjp
def swish(x):
    return x * jax.nn.sigmoid(x)


def swish_fwd(x):
    s = jax.nn.sigmoid(x)
    return x * s, (x, s)


def swish_bwd(res, g):
    x, s = res
    return (g * (s + x * s * (1 - s)),)


swish.defvjp(swish_fwd, swish_bwd)


def custom_loss(p, x, y):
    return xent(swish(x @ p["a"]) @ p["b"], y)


# --- causal transformer ---
def attention(x, p, i):
    h = 4
    def split(t):
        return t.reshape(*t.shape[:2], h, -1).transpose(0, 2, 1, 3)
    q, k, v = (split(x @ p[f"{n}{i}"]) for n in "qkv")
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]).astype(np.float32)
    n = s.shape[-1]
    s = jnp.where(np.tril(np.ones((n, n), bool)), s, -1e30)
    o = jax.nn.softmax(s) @ v
    return o.transpose(0, 2, 1, 3).reshape(x.shape) @ p[f"o{i}"]


def norm(x):
    m = x.mean(-1, keepdims=True)
    return (x - m) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def gpt_loss(p, t):
    x, y = t[:, :-1], t[:, 1:]
    h = p["e"][x] + p["pos"]
    h = h + attention(norm(h), p, 0)
    h = h + jax.nn.gelu(norm(h) @ p["u"]) @ p["w"]
    return xent(norm(h) @ p["out"], y)


def gpt_params(r):
    d = 32
    out = {"e": dense(r, 32, d) * 5, "pos": dense(r, 16, d), "u": dense(r, d, 64), "w": dense(r, 64, d), "out": dense(r, d, 32)}
    for n in "qkvo":
        out[n + "0"] = dense(r, d, d)
    return out


# --- remat ---
def remat_loss(p, x, y):
    @jax.checkpoint
    def blk(h, w):
        return h + jax.nn.gelu(norm(h) @ w)
    h = x
    for w in (p["w0"], p["w1"]):
        h = blk(h, w)
    return xent(h @ p["o"], y)


def remat_params(r):
    return {"w0": dense(r, 16, 16), "w1": dense(r, 16, 16), "o": dense(r, 16, 4)}


# --- layers under scan ---
def deep_loss(p, x, y):
    def layer(h, w):
        return h + jnp.tanh(norm(h) @ w), None
    h, _ = lax.scan(layer, x, p["ws"])
    return xent(h @ p["o"], y)


def deep_params(r):
    return {"ws": np.stack([dense(r, 16, 16) for _ in range(4)]), "o": dense(r, 16, 4)}


# --- diffusion ---
def diffusion_loss(p, x, y, key):
    k1, k2 = jax.random.split(key)
    t = jax.random.uniform(k1, (x.shape[0], 1))
    n = jax.random.normal(k2, x.shape)
    z = jnp.cos(t * np.pi / 2) * x + jnp.sin(t * np.pi / 2) * n
    f = jnp.exp(-jnp.arange(8) / 4.0)
    emb = jnp.concatenate([jnp.sin(t * f * 10), jnp.cos(t * f * 10)], -1)
    h = jax.nn.silu(jnp.concatenate([z, emb], -1) @ p["a"])
    return jnp.mean((h @ p["b"] - n) ** 2)


def diffusion_params(r):
    return {"a": dense(r, 32, 64), "b": dense(r, 64, 16)}


# --- contrastive ---
def contrast_loss(p, x, y, key):
    a = x + 0.1 * jax.random.normal(key, x.shape)
    def enc(v):
        h = jax.nn.relu(v @ p["a"]) @ p["b"]
        return h / jnp.sqrt(jnp.sum(h * h, -1, keepdims=True) + 1e-6)
    s = enc(x) @ enc(a).T / 0.2
    return jnp.mean(jax.nn.logsumexp(s, axis=1) - jnp.diag(s))


def contrast_params(r):
    return {"a": dense(r, 16, 64), "b": dense(r, 64, 16)}


# --- convolution with batch statistics ---
def conv_loss(p, x, y):
    h = x.reshape(-1, 4, 4, 1)
    for k in ("k0", "k1"):
        h = lax.conv_general_dilated(h, p[k], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        m = h.mean((0, 1, 2)); v = h.var((0, 1, 2))
        h = jax.nn.relu((h - m) / jnp.sqrt(v + 1e-5))
    return xent(h.mean((1, 2)) @ p["o"], y)


def conv_params(r):
    return {"k0": dense(r, 3, 3, 1, 8), "k1": dense(r, 3, 3, 8, 16), "o": dense(r, 16, 4)}


# --- accumulate gradients: loss of microbatches scanned ---
def micro_loss(p, x, y):
    def one(total, xy):
        a, b = xy
        return total + xent(jax.nn.relu(a @ p["a"]) @ p["b"], b), None
    total, _ = lax.scan(one, 0.0, (x.reshape(4, -1, x.shape[-1]), y.reshape(4, -1)))
    return total / 4


# --- a product of cond ---
def cond_loss(p, x, y):
    h = jax.nn.relu(x @ p["a"])
    h = lax.cond(jnp.mean(x) > 0, lambda t: t * 1.5, lambda t: jnp.tanh(t), h)
    return xent(h @ p["b"], y)


# --- linear attention by associative scan ---
def linear_loss(p, x, y):
    g = jax.nn.sigmoid(x @ p["g"])
    v = x @ p["v"]
    def op(a, b):
        return a[0] * b[0], b[0] * a[1] + b[1]
    _, h = lax.associative_scan(op, (g, v), axis=1)
    return xent(h[:, -1] @ p["o"], y)


def linear_params(r):
    return {"g": dense(r, 8, 16), "v": dense(r, 8, 16), "o": dense(r, 16, 4)}


# --- alignment by a recurrence over logarithms, from -1e5 for what is impossible ---
def align_loss(p, x, y):
    logs = jax.nn.log_softmax(jnp.tanh(x @ p["a"]) @ p["b"])
    scores = jnp.take_along_axis(logs, jnp.broadcast_to(y[:, None, None], (*logs.shape[:2], 5)), -1)
    start = (1 - jax.nn.one_hot(jnp.zeros(len(x), jnp.int32), 5)) * -1e5
    def step(alpha, score):
        left = jnp.concatenate([jnp.full((len(x), 1), -1e5), alpha[:, :-1]], axis=1)
        top = jnp.maximum(alpha, left)
        return top + jnp.log(jnp.exp(alpha - top) + jnp.exp(left - top)) + score, None
    alpha, _ = lax.scan(step, start, scores.swapaxes(0, 1))
    return -jnp.mean(alpha[:, -1]) / x.shape[1]


def align_params(r):
    return {"a": dense(r, 8, 32), "b": dense(r, 32, 4)}


# --- an angular margin: the arc cosine of a cosine that is clipped near 1 ---
def margin_loss(p, x, y):
    z = jax.nn.relu(x @ p["a"]) @ p["b"]
    cosine = jnp.clip(z / jnp.linalg.norm(z, axis=1, keepdims=True), -1 + 1e-4, 1 - 1e-4)
    return xent(16 * jnp.cos(jnp.arccos(cosine) + 0.3 * jax.nn.one_hot(y, 4)), y)


# --- examples mixed with a weight from a beta distribution, which is sampled by rejection ---
def mixup_loss(p, x, y, key):
    share, order = jax.random.beta(key, 0.4, 0.4), jax.random.permutation(key, len(x))
    z = jax.nn.relu((share * x + (1 - share) * x[order]) @ p["a"]) @ p["b"]
    return share * xent(z, y) + (1 - share) * xent(z, y[order])


# --- entropic optimal transport between two sets of points: a fixed point over logarithms ---
def points(steps, count=32, size=8, seed=5):
    r = rng(seed)
    for _ in range(steps):
        yield (
            r.standard_normal((count, size)).astype(np.float32),
            (0.5 * r.standard_normal((count, 2)) + np.array([1.5, -1.5])).astype(np.float32),
        )


def transport_loss(p, x, y):
    z = jnp.tanh(x @ p["a"]) @ p["b"]
    cost = jnp.sum((z[:, None] - y[None]) ** 2, axis=-1)
    share = -jnp.log(len(x))
    def step(_, potentials):
        _, g = potentials
        f = -0.1 * jax.nn.logsumexp((g - cost) / 0.1 + share, axis=1)
        return f, -0.1 * jax.nn.logsumexp((f[:, None] - cost) / 0.1 + share, axis=0)
    f, g = lax.fori_loop(0, 20, step, (jnp.zeros(len(x)), jnp.zeros(len(y))))
    return jnp.sum(jnp.exp((f[:, None] + g - cost) / 0.1 + 2 * share) * cost)


def transport_params(r):
    return {"a": dense(r, 8, 64), "b": dense(r, 64, 2)}


KEYED = functools.partial(classes, key=True)
PROGRAMS = {
    "rnn": (rnn_loss, rnn_params, sequences),
    "lstm": (lstm_loss, lstm_params, sequences),
    "vae": (vae_loss, vae_params, KEYED),
    "dropout": (dropout_loss, two_layers, KEYED),
    "gumbel": (gumbel_loss, gumbel_params, KEYED),
    "moe": (moe_loss, moe_params, classes),
    "custom": (custom_loss, two_layers, classes),
    "gpt": (gpt_loss, gpt_params, tokens),
    "remat": (remat_loss, remat_params, classes),
    "deep": (deep_loss, deep_params, classes),
    "diffusion": (diffusion_loss, diffusion_params, KEYED),
    "contrast": (contrast_loss, contrast_params, KEYED),
    "conv": (conv_loss, conv_params, classes),
    "micro": (micro_loss, two_layers, classes),
    "cond": (cond_loss, two_layers, classes),
    "linear": (linear_loss, linear_params, sequences),
    "align": (align_loss, align_params, sequences),
    "margin": (margin_loss, two_layers, classes),
    "mixup": (mixup_loss, two_layers, KEYED),
    "transport": (transport_loss, transport_params, points),
}
