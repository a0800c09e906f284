# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What JAX makes of a function of its library, imported, has the losses of JAX
# over steps of SGD, and so the gradients.
#
# REQUIRES: jax, full
# RUN: %jax_python %s amp-opt amp-run %t
"""Usage: import-forms.py <amp-opt> <amp-run> <scratch>"""

import csv
import pathlib
import subprocess
import sys

import amp_jax
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

STEPS = 8
RATE = 0.1
TOLERANCE = 1e-5
RNG = np.random.default_rng(3)


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def integers(below, *shape):
    return RNG.integers(0, below, shape).astype(np.int32)


def gelu(p, x):
    return jnp.mean(jnp.square(jax.nn.gelu(x @ p["w"], approximate=False)))


def embedding(p, t, y):
    logs = jax.nn.log_softmax(p["e"][t] @ p["w"])
    return -jnp.mean(jnp.take_along_axis(logs, y[..., None], axis=-1))


def take(p, t):
    return jnp.mean(jnp.square(jnp.take(p["e"], t, axis=0) @ p["w"]))


def positions(p, x):
    return jnp.mean(jnp.square(x + jnp.take(p["e"], jnp.arange(5), axis=0)))


def pad(p, x):
    y = jnp.concatenate([x @ p["w"], jnp.pad(x, ((0, 0), (1, 2)), constant_values=0.5)], axis=1)
    return jnp.mean(jnp.square(y[:, 1:9:2])) + jnp.mean(jnp.square(p["w"][-1]))


def average(p, x):
    y = jnp.tanh(x * p["g"])
    y = lax.reduce_window(y, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") / 9
    y = lax.reduce_window(y, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return jnp.mean(jnp.square(y))


def causal(p, x):
    mask = jnp.tril(jnp.ones((5, 5), bool))
    scores = (x @ p["w"]) @ x.swapaxes(1, 2)
    weights = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf))
    return jnp.mean(jnp.square(weights @ x))


def attention(p, x):
    q, k, v = (jnp.reshape(x @ p[name], (4, 5, 2, 4)) for name in "qkv")
    return jnp.mean(jnp.square(jax.nn.dot_product_attention(q, k, v, is_causal=True)))


def logsumexp(p, x, y):
    z = x @ p["w"]
    picked = jnp.take_along_axis(z, y[:, None], axis=-1)[:, 0]
    return jnp.mean(jax.nn.logsumexp(z, axis=-1) - picked)


def one_hot(p, x, y):
    last = jax.nn.one_hot(y, 8) * jax.nn.log_softmax(x @ p["w"])
    first = jax.nn.one_hot(y, 8, axis=0) * (x @ p["w"]).T
    return jnp.mean(first * first) - jnp.mean(jnp.sum(last, axis=-1))


def positive(p, x):
    y = x @ p["w"]
    return jnp.mean(jnp.square(y) * (y > 0).astype(jnp.float32))


PROGRAMS = {
    gelu: ({"w": normal(8, 8)}, (normal(4, 8),)),
    embedding: ({"e": normal(9, 8), "w": normal(8, 7)}, (integers(9, 4, 5), integers(7, 4, 5))),
    take: ({"e": normal(9, 8), "w": normal(8, 3)}, (integers(9, 4, 5),)),
    positions: ({"e": normal(9, 8)}, (normal(4, 5, 8),)),
    pad: ({"w": normal(8, 8)}, (normal(4, 8),)),
    average: ({"g": normal(3)}, (normal(4, 8, 8, 3),)),
    causal: ({"w": normal(8, 8)}, (normal(4, 5, 8),)),
    attention: ({name: normal(8, 8) for name in "qkv"}, (normal(4, 5, 8),)),
    logsumexp: ({"w": normal(8, 8)}, (normal(4, 8), integers(8, 4))),
    one_hot: ({"w": normal(8, 8)}, (normal(4, 8), integers(8, 4))),
    positive: ({"w": normal(8, 8)}, (normal(4, 8),)),
}


def run(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def check(loss, params, batch, amp_opt, amp_run, scratch):
    scratch.mkdir(parents=True, exist_ok=True)
    dump, step = scratch / "loss.mlir", scratch / "step.mlir"
    dump.write_text(amp_jax.lower_loss(loss, params, batch))
    run(amp_opt, "--allow-unregistered-dialect", dump, "-o", step,
        f"--stablehlo-to-train=optimizer=sgd learning-rate={RATE}")  # fmt: skip
    np.savez(scratch / "batch.npz", **{f"batch.{i}": part for i, part in enumerate(batch)})
    np.savez(scratch / "weights.npz", **{f"params.{key}": value for key, value in params.items()})
    run(amp_run, step, "--data", scratch / "batch.npz", "--init", scratch / "weights.npz",
        "--steps", STEPS, "--quiet", "--metrics-csv", scratch / "metrics.csv")  # fmt: skip
    with open(scratch / "metrics.csv") as file:
        ours = np.array([float(row["loss"]) for row in csv.DictReader(file)])
    theirs = []
    for _ in range(STEPS):
        value, gradients = jax.jit(jax.value_and_grad(loss))(params, *batch)
        params = jax.tree.map(lambda w, g: w - RATE * g, params, gradients)
        theirs.append(float(value))
    theirs = np.array(theirs)
    error = (np.abs(ours - theirs) / np.abs(theirs)).max()
    print(f"{loss.__name__}: loss {theirs[0]:.4f} to {theirs[-1]:.4f} in JAX; {error:.1e}")
    assert abs(theirs[-1] - theirs[0]) > 1e-3 * theirs[0], "the program does not train"
    assert error < TOLERANCE, (ours, theirs)


def main(amp_opt, amp_run, scratch):
    for loss, (params, batch) in PROGRAMS.items():
        name = f"{scratch}-{loss.__name__}"
        check(loss, params, batch, amp_opt, amp_run, pathlib.Path(name))


if __name__ == "__main__":
    main(*sys.argv[1:])
