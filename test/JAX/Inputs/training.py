# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a step in f32 and in low precision, and compares the losses."""

import re

import amp_jax
import jax
import numpy as np

STEPS = 30
PRODUCT = re.compile(r'"stablehlo\.(?:dot_general|convolution)"\(.*? : \(([^)]*)\) ->')


def mark(lowered, params, state, metrics):
    """Marks a lowered step of (params, state, two batches, seed) that returns new params and state, `metrics` and
    gradients."""
    weights, states = amp_jax.names_of("params.", params), amp_jax.names_of("state.", state)
    marks = [{"amp.role": "parameter", "amp.name": name} for name in weights]
    marks += [{"amp.role": "optimizer_state", "amp.name": name} for name in states]
    marks += [{"amp.role": "batch", "amp.name": f"batch.{i}"} for i in range(2)]
    marks.append({"amp.gradient_seed": "loss"})
    results = [{"amp.updates": name} for name in weights + states]
    results += [{"amp.metric": name} for name in metrics]
    results += [{"amp.gradient_of": name} for name in weights]
    return amp_jax.annotate(lowered, dict(enumerate(marks)), dict(enumerate(results)))


def train(text, leaves, batches, extra=()):
    run = amp_jax.compile(text)
    values, extra, losses = list(leaves), list(extra), []
    count = len(leaves)
    for batch in batches:
        new = run(*values, *jax.tree.leaves(batch), *extra)
        values, extra = new[:count], new[count + 1 : count + 1 + len(extra)]
        losses.append(float(new[count]))
    return np.array(losses)


def compare(name, amp_opt, step, leaves, batches, f32_products=0):
    """Trains `step` from `leaves` in f32, bf16 and fp16. Expects
    `f32_products` products in f32 and all others in the low type. A dictionary
    gives this number for each precision. The f32 loss must fall by more than
    20 %. The low losses must differ from f32 by at most 1 % (fp16: 5 %) of the
    first loss."""

    def rewrite(precision, **options):
        return amp_jax.rewrite(step, precision, command=(amp_opt,), **options)

    wide = train(rewrite("f32"), leaves, batches)
    assert wide[-1] < 0.8 * wide[0], f"{name} does not train: {wide[0]} to {wide[-1]}"
    for precision, low, most, options, extra in (
        ("bf16", "bf16", 0.01, {}, ()),
        ("fp16", "f16", 0.05, {"scaling": "dynamic"}, amp_jax.scaler_state()),
    ):
        text = rewrite(precision, **options)
        products = PRODUCT.findall(text)
        assert products, f"{name} has no products"
        wide_products = [types for types in products if types.count(f"x{low}>") != 2]
        wide_count = f32_products.get(precision, 0) if isinstance(f32_products, dict) else f32_products
        assert len(wide_products) == wide_count, f"{name} has products of {wide_products}"
        losses = train(text, leaves, batches, extra)
        gap = np.abs(losses - wide).max() / wide[0]
        print(
            f"{name}: loss {wide[0]:.3f} to {wide[-1]:.3f} in f32, {losses[-1]:.3f} in {precision}; "
            f"largest difference {gap:.3%} of the first; {len(products) - wide_count} products low",
            flush=True,
        )
        assert gap <= most, f"{name} in {precision} does not follow f32"
