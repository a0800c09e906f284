# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# `shard_map` on two devices. A whole step in it has low products and an update in
# f32; a loss in it is scaled in fp16, which the check follows into the region.
#
# REQUIRES: jax
# RUN: %jax_python %s amp-opt
"""Usage: shard-map.py <amp-opt>"""

import os
import re
import sys

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + (
    " --xla_force_host_platform_device_count=2"
)

import amp_jax  # noqa: E402
import jax  # noqa: E402
import kinds  # noqa: E402
import numpy as np  # noqa: E402
import programs  # noqa: E402
from jax import lax  # noqa: E402
from jax.sharding import Mesh  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402

SHAPES = "16x64", "64x4"


def operations(text, name, shape):
    """The element types of what operations `name` on a tensor of `shape` give."""
    return re.findall(rf'"stablehlo\.{name}"\(.*-> tensor<{shape}x(\w+)>', text)


def products(text):
    return re.findall(r'"stablehlo\.dot_general"\(.*? : \(tensor<[\dx]+x(\w+)>', text)


def main(amp_opt):
    assert len(jax.devices()) == 2
    mesh = Mesh(np.array(jax.devices()), ("data",))
    params = kinds.two_layers(np.random.default_rng(0))
    state = programs.adam_state(params)
    batch = next(kinds.classes(1))

    def step(params, state, images, labels):
        loss, gradients = jax.value_and_grad(kinds.custom_loss)(params, images, labels)
        gradients = jax.tree.map(lambda g: lax.pmean(g, "data"), gradients)
        params, state = programs.adam(params, state, gradients)
        return params, state, lax.pmean(loss, "data")

    shards = P("data")
    whole = jax.shard_map(
        step,
        mesh=mesh,
        in_specs=(P(), P(), shards, shards),
        out_specs=(P(), P(), P()),
        check_vma=False,
    )
    lowered = jax.jit(whole, keep_unused=True).lower(params, state, *batch)
    names = amp_jax.names_of("params.", params), amp_jax.names_of("state.", state)
    roles = zip(("parameter", "optimizer_state", "batch"), (*names, ("batch.0", "batch.1")))
    marks = [{"amp.role": role, "amp.name": name} for role, of in roles for name in of]
    results = [{"amp.updates": name} for of in names for name in of] + [{"amp.metric": "loss"}]
    text = amp_jax.annotate(lowered, dict(enumerate(marks)), dict(enumerate(results)))
    assert "sdy.manual_computation" in text and text.count('"func.call"') == 0
    low = amp_jax.rewrite(text, "bf16", command=(amp_opt,))
    assert products(low) and set(products(low)) == {"bf16"}
    for shape in SHAPES:
        for name in "subtract", "sqrt":
            found = operations(low, name, shape)
            assert found and set(found) == {"f32"}, f"the update of {shape} is in {found}"

    inside = jax.shard_map(
        lambda p, x, y: lax.pmean(kinds.custom_loss(p, x, y), "data"),
        mesh=mesh,
        in_specs=(P(), shards, shards),
        out_specs=P(),
    )
    step = amp_jax.lower(inside, programs.adam, params, state, batch)
    low = amp_jax.rewrite(step.text, "fp16", command=(amp_opt,), scaling="dynamic")
    assert "sdy.manual_computation" in low
    assert products(low) and set(products(low)) == {"f16"}


if __name__ == "__main__":
    main(*sys.argv[1:])
