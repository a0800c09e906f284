# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses and gradients of the programs, with the roundings of the rewritten
step written by hand.

Low values are arrays of bf16: arithmetic between them rounds each result.
Products take low operands and give f32. Composite patterns (cross-entropy, max pooling) are f32
inside and are differentiated by JAX; all else is written out.

`r(x, kind)` rounds to bf16. A test that leaves one kind f32 sees whether the
comparison tells these roundings from others.
"""

import jax
import jax.numpy as jnp
import programs

WIDE = jnp.float32


def rounding(omitted=None):
    def r(x, kind):
        return x.astype(WIDE if kind == omitted else jnp.bfloat16)

    return r


def dot(x, y):
    return jnp.matmul(x, y, preferred_element_type=WIDE)


def transposed(x):
    return jnp.swapaxes(x, -1, -2)


def weight_gradient(x, delta):
    """Of `dot(x, w)`, over all dimensions of `x` but the last."""
    return dot(x.reshape(-1, x.shape[-1]).T, delta.reshape(-1, delta.shape[-1]))


def total(delta):
    """The sum over all dimensions but the last: always f32."""
    return delta.astype(WIDE).sum(range(delta.ndim - 1))


def mlp(params, images, labels, r):
    w1, w2, w3 = (r(params[name], "weights") for name in ("w1", "w2", "w3"))
    b1, b2 = (r(params[name], "biases") for name in ("b1", "b2"))
    x1 = r(images, "data")
    s1 = r(dot(x1, w1), "products") + b1
    x2 = jnp.maximum(s1, 0)
    s2 = r(dot(x2, w2), "products") + b2
    x3 = jnp.maximum(s2, 0)
    logits = dot(x3, w3) + params["b3"]
    value, delta = jax.value_and_grad(programs.cross_entropy)(logits, labels)
    g = {"b3": delta.sum(0)}
    delta = r(delta, "loss")
    g["w3"] = weight_gradient(x3, delta)
    delta = jnp.where(s2 > 0, r(dot(delta, w3.T), "gradients"), 0)
    g["b2"] = total(delta)
    g["w2"] = weight_gradient(x2, delta)
    delta = jnp.where(s1 > 0, r(dot(delta, w2.T), "gradients"), 0)
    g["b1"] = total(delta)
    g["w1"] = weight_gradient(x1, delta)
    return value, g


def convolve(x, y, numbers=("NHWC", "HWIO", "NHWC")):
    """Products of low numbers are exact in f32, and so low operands are widened:
    the CPU has no convolution of them that gives f32."""
    return jax.lax.conv_general_dilated(
        x.astype(WIDE), y.astype(WIDE), (1, 1), ((1, 1), (1, 1)), dimension_numbers=numbers
    )


def kernel_gradient(x, delta):
    return convolve(x, delta, ("CHWN", "IHWO", "HWNC"))


def image_gradient(delta, kernel):
    return convolve(delta, jnp.flip(kernel, (0, 1)), ("NHWC", "HWOI", "NHWC"))


def pool(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def convnet(params, images, labels, r):
    k1, k2, w = (r(params[name], "weights") for name in ("k1", "k2", "w"))
    b1, b2 = (r(params[name], "biases") for name in ("b1", "b2"))
    x1 = r(images, "data").reshape(-1, 8, 8, 1)
    s1 = r(convolve(x1, k1), "products") + b1
    x2, unpool = jax.vjp(pool, jnp.maximum(s1, 0).astype(WIDE))
    s2 = r(convolve(x2, k2), "products") + b2
    x3 = jnp.maximum(s2, 0).reshape(s2.shape[0], -1)
    logits = dot(x3, w) + params["b"]
    value, delta = jax.value_and_grad(programs.cross_entropy)(logits, labels)
    g = {"b": delta.sum(0)}
    delta = r(delta, "loss")
    g["w"] = weight_gradient(x3, delta)
    delta = jnp.where(s2 > 0, r(dot(delta, w.T), "gradients").reshape(s2.shape), 0)
    g["b2"] = total(delta)
    g["k2"] = kernel_gradient(x2, delta)
    # Pooling backwards is a sum: f32, and so is what masks it.
    (delta,) = unpool(image_gradient(delta, k2))
    delta = jnp.where(s1 > 0, delta, 0)
    g["b1"] = total(delta)
    g["k1"] = kernel_gradient(x1, r(delta, "masked"))
    return value, g


def gelu(x):
    """Its value, and what multiplies a gradient: the form of JAX, low throughout."""
    scale, cubic, three, half = (
        jnp.asarray(number, x.dtype) for number in ((2 / jnp.pi) ** 0.5, 0.044715, 3, 0.5)
    )
    t = jnp.tanh(scale * (x + cubic * (x * x * x)))
    share = half * (1 + t)

    def pull(delta):
        inner = half * (x * delta) * (1 - t)
        inner = scale * (inner + inner * t)
        return delta * share + inner + (cubic * inner) * (three * (x * x))

    return x * share, pull


def softmax(x):
    """Its value and its gradient: f32, but for the last product of the latter."""
    e = jnp.exp(x - x.max(-1, keepdims=True))
    s = e.sum(-1, keepdims=True)

    def pull(delta, r):
        mean = (delta * (1 / (s * s)) * e).sum(-1, keepdims=True)
        return r(delta / s - mean, "softmax gradient") * r(e, "exponentials")

    return e / s, pull


def transformer(params, tokens, labels, r):
    heads = 4
    names = ("e", "wq", "wk", "wv", "wo", "u", "w", "o")
    e, wq, wk, wv, wo, u, w, o = (r(params[name], "weights") for name in names)

    def split(y):
        return y.reshape(*y.shape[:2], heads, -1).transpose(0, 2, 1, 3)

    def join(y):
        return y.transpose(0, 2, 1, 3).reshape(*x0.shape)

    def normalise(x):
        """Its value, and how its gradient joins that of the residual stream."""
        centred = x - x.mean(-1, keepdims=True)
        variance = (centred * centred).mean(-1, keepdims=True) + 1e-5
        root = jax.lax.rsqrt(variance)

        def pull(stream, delta):
            spread = delta * root
            tilt = -(centred * delta).sum(-1, keepdims=True) * root / variance
            tilt = tilt / x.shape[-1] * centred
            tilt = tilt - tilt.mean(-1, keepdims=True)
            stream = r(stream, "stream") + r(spread, "stream") + r(tilt, "stream")
            return stream.astype(WIDE) - spread.mean(-1, keepdims=True)

        return centred * root, pull

    def affine(x, gain, bias):
        """Its value, which is low, and its gradients, which are f32."""

        def pull(delta):
            return delta * gain, total(delta * x), total(delta)

        return r(x, "norms") * r(gain, "norms") + r(bias, "norms"), pull

    tokens = r(tokens, "data")
    x0 = dot(tokens, e) + params["p"]
    n1, unnorm1 = normalise(x0)
    y1, unaffine1 = affine(n1, params["g1"], params["c1"])
    q, k, v = (split(r(dot(y1, weight), "products")) for weight in (wq, wk, wv))
    scale = jnp.asarray(q.shape[-1] ** -0.5, q.dtype)
    scores = r(dot(q, transposed(k)), "products") * scale
    y2, unsoftmax = softmax(scores.astype(WIDE))
    y2 = r(y2, "softmax")
    y3 = join(r(dot(y2, v), "products"))
    x1 = x0 + dot(y3, wo)
    n2, unnorm2 = normalise(x1)
    y4, unaffine2 = affine(n2, params["g2"], params["c2"])
    hidden = r(dot(y4, u), "products") + r(params["d"], "biases")
    y5, ungelu = gelu(r(hidden, "gelu"))
    x2 = x1 + dot(y5, w)
    y6 = r(x2.mean(1), "mean")
    value, delta = jax.value_and_grad(programs.cross_entropy)(dot(y6, o), labels)

    delta = r(delta, "loss")
    g = {"o": weight_gradient(y6, delta)}
    stream = r(dot(delta, o.T), "gradients") / tokens.shape[1]
    stream = jnp.broadcast_to(stream[:, None], x2.shape)
    g["w"] = weight_gradient(y5, stream)
    delta = ungelu(r(dot(stream, w.T), "gradients"))
    g["d"] = total(delta)
    g["u"] = weight_gradient(y4, delta)
    delta, g["g2"], g["c2"] = unaffine2(dot(delta, u.T))
    stream = unnorm2(stream, delta)
    delta = r(stream, "stream")
    g["wo"] = weight_gradient(y3, delta)
    delta = split(r(dot(delta, wo.T), "gradients"))
    dv = r(dot(transposed(y2), delta), "gradients")
    delta = unsoftmax(dot(delta, transposed(v)), r) * scale
    dq = r(dot(delta, k), "gradients")
    dk = r(dot(transposed(delta), q), "gradients")
    dv, dk, dq = (join(delta) for delta in (dv, dk, dq))
    for name, delta in (("wv", dv), ("wk", dk), ("wq", dq)):
        g[name] = weight_gradient(y1, delta)
    delta = dot(dv, wv.T) + dot(dk, wk.T) + dot(dq, wq.T)
    delta, g["g1"], g["c1"] = unaffine1(delta)
    stream = unnorm1(stream, delta)
    g["p"] = stream.sum(0)
    g["e"] = weight_gradient(tokens, r(stream, "stream"))
    return value, g


# The kinds of roundings of each program.
KINDS = ("weights", "biases", "data", "products", "loss", "gradients")
PROGRAMS = {
    "mlp": (mlp, KINDS),
    "convnet": (convnet, (*KINDS, "masked")),
    "transformer": (
        transformer,
        (
            *KINDS, "norms", "softmax", "softmax gradient", "exponentials", "gelu", "mean", "stream",
        ),
    ),
}  # fmt: skip
