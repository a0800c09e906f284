# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The largest safe loss scale of steps of JAX in fp16. With this scale, data that
# make the gradients of the scores as large as they can be do not skip a step,
# and with twice this scale they do. For losses that are sums it is smaller than
# the initial scale, and the remark proposes another one.
#
# REQUIRES: jax
# RUN: %jax_python %s amp-opt
"""Usage: safe-scale.py <amp-opt>"""

import re
import subprocess
import sys

import amp_jax
import jax
import jax.numpy as jnp
import numpy as np
import programs
from jax import lax

BATCH, CLASSES = 32, 10


def scores(params, x):
    return jnp.tanh(x @ params["a"]) @ params["b"] + params["c"]


def cross_entropy(params, x, y):
    rows = jax.nn.one_hot(y, CLASSES) * jax.nn.log_softmax(scores(params, x))
    return -jnp.mean(jnp.sum(rows, -1))


def summed(params, x, y):
    return BATCH * cross_entropy(params, x, y)


def indexed(params, x, y):
    rows = jax.nn.log_softmax(scores(params, x))
    return -jnp.mean(jnp.take_along_axis(rows, y[:, None], 1))


def integer_labels(params, x, y):
    # The scores of the labels as optax picks them, with an index into a row of one.
    z = scores(params, x)
    z = z - lax.stop_gradient(jnp.max(z, 1, keepdims=True))
    labels = jnp.take(jnp.take_along_axis(z, y[:, None], 1), 0, axis=1)
    return jnp.mean(jnp.log(jnp.sum(jnp.exp(z), 1)) - labels)


def indexed_by_pairs(params, x, y):
    z = scores(params, x)
    return jnp.mean(jax.nn.logsumexp(z, 1) - z[jnp.arange(BATCH), y])


def log_sum_exp(params, x, y):
    z = scores(params, x)
    return jnp.sum(jax.nn.logsumexp(z, 1) - jnp.sum(z * jax.nn.one_hot(y, CLASSES), 1))


def hinge(params, x, y):
    sign = 2 * jax.nn.one_hot(y, CLASSES) - 1
    return jnp.sum(jnp.maximum(0.0, 1 - sign * scores(params, x)))


def in_parts(x, y):
    return x.reshape(4, BATCH // 4, -1), y.reshape(4, BATCH // 4)


def carried(params, x, y):
    # The usual form of gradient accumulation.
    def add(loss, part):
        return loss + log_sum_exp(params, *part), None

    return lax.scan(add, 0.0, in_parts(x, y))[0] / BATCH


def stacked(params, x, y):
    return jnp.sum(lax.scan(lambda _, part: (None, log_sum_exp(params, *part)), None, in_parts(x, y))[1])


def mapped(params, x, y):
    return jnp.mean(lax.map(lambda part: log_sum_exp(params, *part), in_parts(x, y)))


def unbounded(params, x, y):
    return jnp.sum((scores(params, x) - jax.nn.one_hot(y, CLASSES)) ** 2)


def find_scale(amp_opt, text):
    """The exponent of the remark, and the initial scale that it proposes."""
    command = [amp_opt, "--allow-unregistered-dialect", "--remarks-filter=amp", "-o", "/dev/null"]
    command.append(f"--pass-pipeline={amp_jax.pipeline('fp16', scaling='dynamic')}")
    text = amp_jax.with_booleans(text, bits=True)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert "warning" not in done.stderr, done.stderr
    exponents = re.findall(r"SafeLossScale .*Exponent=(-?\d+)", done.stderr)
    proposed = re.findall(r"expected 'init-scale=([^']*)'", done.stderr)
    assert len(exponents) <= 1 and len(proposed) <= 1, done.stderr
    return (int(exponents[0]) if exponents else None), (float(proposed[0]) if proposed else None)


def main(amp_opt):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((BATCH, 16)).astype(np.float32)
    y = np.zeros(BATCH, np.int32)
    params = {"a": rng.standard_normal((16, 24)), "b": 1e-3 * rng.standard_normal((24, CLASSES))}
    params["c"] = np.zeros(CLASSES)
    params = {name: jnp.asarray(value, jnp.float32) for name, value in params.items()}
    # All rows choose a wrong class with certainty, so their gradients are as
    # large as they can be. Gradients behind the small weights have no bound.
    worst = dict(params, c=jnp.zeros(CLASSES).at[:2].set((-100, 100)))
    state = programs.adam_state(params)
    # The gradient of a score is at most S / 32 or S.
    expected = {cross_entropy: 20, indexed: 20, integer_labels: 20, summed: 15, hinge: 15, unbounded: None}
    expected.update({indexed_by_pairs: 20, log_sum_exp: 15, carried: 20, stacked: 15, mapped: 17})
    for loss, exponent in expected.items():
        step = amp_jax.lower(loss, programs.adam, params, state, (x, y))
        found, proposed = find_scale(amp_opt, step.text)
        print(f"{loss.__name__}: 2^{found}, proposes {proposed}")
        assert found == exponent, f"{loss.__name__}: expected 2^{exponent}"
        if exponent is None:
            continue
        assert proposed == (2.0**exponent if exponent < 16 else None), loss.__name__
        run = amp_jax.compile(amp_jax.rewrite(step.text, "fp16", command=(amp_opt,), scaling="dynamic"))
        for scale, skips in ((2.0**exponent, False), (2.0 ** (exponent + 1), True)):
            new = run(*step.flatten(worst, state), x, y, *amp_jax.scaler_state(scale))
            assert bool(new[-1]) == skips, f"{loss.__name__}: the scale {scale}"


main(*sys.argv[1:])
