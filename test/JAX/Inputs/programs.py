# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps in JAX as people write them: `value_and_grad` and Adam.

Each program is a loss of parameters and a batch, the shapes of parameters, and
batches.
"""

import jax
import jax.numpy as jnp
import numpy as np


def cross_entropy(logits, labels):
    logs = jax.nn.log_softmax(logits)
    return -jnp.mean(jnp.take_along_axis(logs, labels[:, None], axis=1))


def mlp_loss(params, images, labels):
    x = jax.nn.relu(images @ params["w1"] + params["b1"])
    x = jax.nn.relu(x @ params["w2"] + params["b2"])
    return cross_entropy(x @ params["w3"] + params["b3"], labels)


def convolve(x, kernel):
    return jax.lax.conv_general_dilated(
        x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def convnet_loss(params, images, labels):
    x = images.reshape(-1, 8, 8, 1)
    x = jax.nn.relu(convolve(x, params["k1"]) + params["b1"])
    x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    x = jax.nn.relu(convolve(x, params["k2"]) + params["b2"])
    x = x.reshape(x.shape[0], -1)
    return cross_entropy(x @ params["w"] + params["b"], labels)


def layer_norm(x, gain, bias):
    mean = jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.var(x, axis=-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * gain + bias


def block(params, x):
    heads = 4
    size = x.shape[-1] // heads

    def split(y):
        return y.reshape(*y.shape[:2], heads, size).transpose(0, 2, 1, 3)

    y = layer_norm(x, params["g1"], params["c1"])
    q, k, v = (split(y @ params[name]) for name in ("wq", "wk", "wv"))
    scores = q @ k.transpose(0, 1, 3, 2) * (size**-0.5)
    y = jax.nn.softmax(scores, axis=-1) @ v
    x = x + y.transpose(0, 2, 1, 3).reshape(x.shape) @ params["wo"]
    y = layer_norm(x, params["g2"], params["c2"])
    return x + jax.nn.gelu(y @ params["u"] + params["d"]) @ params["w"]


def transformer_loss(params, tokens, labels):
    x = tokens @ params["e"] + params["p"]
    x = block(params, x)
    return cross_entropy(jnp.mean(x, axis=1) @ params["o"], labels)


def tiny_loss(params, images, labels):
    """A share of a mean over 1e9 examples: f16 cannot hold its gradients."""
    x = jax.nn.relu(images @ params["w1"] + params["b1"])
    y = (x @ params["w2"])[:, 0]
    return jnp.sum((y - labels.astype(jnp.float32) / 10) ** 2) / 1e9


def adam(params, state, gradients, rate=3e-3, b1=0.9, b2=0.999, eps=1e-8):
    count = state["t"] + 1
    m = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, state["m"], gradients)
    v = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g * g, state["v"], gradients)
    scale_m, scale_v = 1 / (1 - b1**count), 1 / (1 - b2**count)
    new = jax.tree.map(
        lambda p, m, v: p - rate * (m * scale_m) / (jnp.sqrt(v * scale_v) + eps), params, m, v
    )
    return new, {"m": m, "v": v, "t": count}


def adam_state(params):
    zeros = jax.tree.map(jnp.zeros_like, params)
    return {"m": zeros, "v": zeros, "t": jnp.zeros((), jnp.float32)}


def initial(shapes, seed=0):
    """Normal weights by fan-in, zero vectors, gains of one."""
    rng = np.random.default_rng(seed)
    params = {}
    for name, shape in shapes.items():
        if len(shape) == 1:
            params[name] = np.full(shape, 1.0 if name.startswith("g") else 0.0, np.float32)
        else:
            fan_in = int(np.prod(shape[:-1]))
            params[name] = (rng.standard_normal(shape) * fan_in**-0.5).astype(np.float32)
    return {name: jnp.asarray(value) for name, value in params.items()}


def images(batch, steps, seed=1):
    """Noisy pictures of ten patterns."""
    rng = np.random.default_rng(seed)
    patterns = rng.standard_normal((10, 64))
    for _ in range(steps):
        labels = rng.integers(0, 10, batch)
        data = patterns[labels] + rng.standard_normal((batch, 64)) * 0.8
        yield data.astype(np.float32), labels.astype(np.int32)


def sequences(batch, steps, length=16, width=16, seed=1):
    """Noisy sequences. The order of two patterns determines the class."""
    rng = np.random.default_rng(seed)
    patterns = rng.standard_normal((4, length, width))
    for _ in range(steps):
        labels = rng.integers(0, 4, batch)
        data = patterns[labels] + rng.standard_normal((batch, length, width)) * 0.8
        yield data.astype(np.float32), labels.astype(np.int32)


D = 32
PROGRAMS = {
    "mlp": (
        mlp_loss,
        {"w1": (64, 128), "b1": (128,), "w2": (128, 128), "b2": (128,), "w3": (128, 10), "b3": (10,)},
        images,
    ),
    "convnet": (
        convnet_loss,
        {"k1": (3, 3, 1, 8), "b1": (8,), "k2": (3, 3, 8, 16), "b2": (16,), "w": (256, 10), "b": (10,)},
        images,
    ),
    "transformer": (
        transformer_loss,
        {
            "e": (16, D), "p": (16, D), "g1": (D,), "c1": (D,),
            "wq": (D, D), "wk": (D, D), "wv": (D, D), "wo": (D, D),
            "g2": (D,), "c2": (D,), "u": (D, 4 * D), "d": (4 * D,), "w": (4 * D, D),
            "o": (D, 4),
        },
        sequences,
    ),
}  # fmt: skip
TINY = (tiny_loss, {"w1": (64, 32), "b1": (32,), "w2": (32, 1)}, images)
BATCH = 16
