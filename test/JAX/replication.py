# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Four spellings of the gradient of a mean loss under `shard_map`, on four
# devices. The check rejects a spelling if its gradient differs from one device's, for
# two losses, and with the update of a parameter.
#
# REQUIRES: jax
# RUN: %jax_python %s amp-opt
"""Usage: replication.py <amp-opt>"""

import os
import subprocess
import sys

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + (
    " --xla_force_host_platform_device_count=4"
)

import amp_jax  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402
from jax.sharding import Mesh  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402


def squares(w, x, y):
    return jnp.mean((jnp.tanh(x @ w) - y) ** 2)


def classes(w, x, y):
    return -jnp.mean(jnp.sum(jax.nn.log_softmax(x @ w) * y, axis=-1))


def average_gradient(loss):
    return lambda *args: lax.pmean(jax.grad(loss)(*args), "data")


def differentiate_average(loss):
    return lambda *args: jax.grad(lambda *inner: lax.pmean(loss(*inner), "data"))(*args)


def update(gradient):
    return lambda w, x, y: w - 0.1 * gradient(w, x, y)


def check(amp_opt, text):
    command = [amp_opt, "-", "--allow-unregistered-dialect", "--amp-check-replication", "-o", os.devnull]
    return subprocess.run(command, input=text, capture_output=True, text=True)


def main(amp_opt):
    mesh = Mesh(np.array(jax.devices()), ("data",))
    random = np.random.default_rng(0)
    w, x, y = (random.normal(size=shape).astype(np.float32) for shape in ((8, 3), (16, 8), (16, 3)))
    rejected = 0
    for loss in squares, classes:
        for spelling in average_gradient, differentiate_average:
            for tracked in True, False:
                for finish in lambda gradient: gradient, update:
                    mapped = jax.shard_map(
                        finish(spelling(loss)), mesh=mesh, in_specs=(P(), P("data"), P("data")), out_specs=P(), check_vma=tracked,
                    )
                    step = jax.jit(mapped)
                    result = step(w, x, y)
                    # The truth: each device has the result of one device with the whole batch.
                    wanted = np.asarray(finish(jax.grad(loss))(w, x, y))
                    equal = all(np.allclose(shard.data, wanted, rtol=1e-4, atol=1e-6) for shard in result.addressable_shards)
                    answer = check(amp_opt, amp_jax.generic(step.lower(w, x, y)))
                    case = loss.__name__, spelling.__name__, tracked, finish is update
                    assert (answer.returncode == 0) == equal, (case, equal, answer.stderr[:1000])
                    rejected += not equal
    assert rejected == 8, rejected


if __name__ == "__main__":
    main(*sys.argv[1:])
