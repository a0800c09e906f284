# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Steps of JAX, rewritten to bf16 by amp-opt and by a stock mlir-opt with the
# plugin, run in JAX again and train as well as in f32, with the losses of a
# program that has the same roundings written by hand. The same holds for steps that store the
# values that the backward pass reads in bf16: saved_activations.py.
#
# REQUIRES: jax, full
# UNSUPPORTED: static-mlir, sanitizer
# RUN: %jax_python %s mlp amp-opt mlir-opt %amp_plugin
# RUN: %jax_python %s convnet amp-opt mlir-opt %amp_plugin
# RUN: %jax_python %s transformer amp-opt mlir-opt %amp_plugin
"""Usage: round-trip.py <program> <amp-opt> <mlir-opt> <plugin>"""

import os
import pathlib
import subprocess
import sys

import amp_jax
import by_hand
import figures
import jax
import numpy as np
import programs
import saved_activations

STEPS = 60


def train(run, leaves, batches):
    losses = []
    for batch in batches:
        *leaves, loss = run(*leaves, *batch)
        losses.append(float(loss))
    return np.array(losses)


def compare(name, run, params, state, batches, wide, low):
    """The rewritten step, its losses and its first gradients against roundings
    written by hand, against these with one kind left out, and against f32."""
    loss_by_hand, kinds = by_hand.PROGRAMS[name]
    tree = jax.tree.structure((params, state, batches[0]))
    leaves = jax.tree.leaves((params, state))

    def gradients(new):
        """Of the first step: its first moments are a tenth of them."""
        return [np.asarray(m) for m in new[len(params) : 2 * len(params)]]

    def reference(omitted=None):
        r = by_hand.rounding(omitted)

        def step(*arguments):
            p, s, batch = jax.tree.unflatten(tree, arguments)
            value, gradients = loss_by_hand(p, *batch, r)
            return (*jax.tree.leaves(programs.adam(p, s, gradients)), value)

        return step

    # One operation at a time: what XLA fuses it may round otherwise.
    with jax.disable_jit():
        hand = gradients(reference()(*leaves, *batches[0]))
    apart = max(
        np.linalg.norm(x - y) / np.linalg.norm(y)
        for x, y in zip(gradients(run(*leaves, *batches[0])), hand)
    )
    near = np.abs(low - train(jax.jit(reference()), leaves, batches)).max()
    far = np.abs(low - wide).max()
    print(
        f"{name}: losses differ by {near:.2e} at most from roundings by hand, by {far:.2e} "
        f"from f32; first gradients by {apart:.2e} from those by hand"
    )
    assert apart < 3e-4, "the first gradients have other roundings"
    assert near < 0.05 * far, "the roundings are others"
    # The comparison tells each kind of roundings.
    for kind in kinds if "AMP_LONG_TESTS" in os.environ else kinds[-1:]:
        other = np.abs(low - train(jax.jit(reference(kind)), leaves, batches)).max()
        print(f"{name}: without rounding {kind}, by {other:.2e}")
        assert other > 0.05 * far, f"the comparison does not tell {kind}"


def before_lowering(amp_opt, text, strategy):
    passes = f"amp-import-step,auto-mixed-precision{{precision=bf16 policy=stablehlo strategy={strategy}}}"
    result = subprocess.run(
        [amp_opt, "--allow-unregistered-dialect", "--mlir-print-op-generic",
         f"--pass-pipeline=builtin.module({passes})"],
        input=text, capture_output=True, text=True,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return figures.parse(result.stdout)


def count_inserted(module):
    return sum(
        "amp.inserted" in op.attributes for op in figures.walk(module.operation)
    )


def main(name, amp_opt, mlir_opt, plugin):
    loss, shapes, data = programs.PROGRAMS[name]
    params = programs.initial(shapes)
    state = programs.adam_state(params)
    batches = list(data(programs.BATCH, STEPS))
    step = amp_jax.lower(loss, programs.adam, params, state, batches[0])
    # The committed dump is what JAX gives.
    dump = pathlib.Path(programs.__file__).with_name(f"{name}.mlir").read_text()
    assert dump == figures.without_locations(step.text), f"{name}.mlir is not what this JAX dumps"
    text = amp_jax.rewrite(step.text, "bf16", command=(amp_opt,))
    command = (mlir_opt, f"--load-dialect-plugin={plugin}", f"--load-pass-plugin={plugin}")
    assert amp_jax.rewrite(step.text, "bf16", command=command) == text, "mlir-opt differs"
    assert "amp." not in text, "something of the amp dialect is left"

    leaves = step.flatten(params, state)
    wide = train(amp_jax.compile(amp_jax.rewrite(step.text, "f32", command=(amp_opt,))), leaves, batches)

    def own(*arguments):
        p, s, batch = jax.tree.unflatten(jax.tree.structure((params, state, batches[0])), arguments)
        value, gradients = jax.value_and_grad(loss)(p, *batch)
        return (*jax.tree.leaves(programs.adam(p, s, gradients)), value)

    original = train(jax.jit(own), leaves, batches)
    np.testing.assert_allclose(wide, original, rtol=1e-4, atol=1e-6, err_msg="f32 is not JAX's")
    run = amp_jax.compile(text)
    low = train(run, leaves, batches)
    compare(name, run, params, state, batches, wide, low)
    gap = np.abs(low - wide).max() / wide[0]
    mean = abs(low.mean() - wide.mean()) / wide.mean()
    module = figures.parse(text)
    products = figures.product_share(module)
    mixed = before_lowering(amp_opt, step.text, "optimal")
    activations, bytes_saved = figures.activation_share(mixed)
    casts = {
        strategy: count_inserted(before_lowering(amp_opt, step.text, strategy))
        for strategy in ("optimal", "grappler", "autocast")
    }
    print(
        f"{name}: loss {wide[0]:.4f} to {wide[-1]:.6f} in f32, to {low[-1]:.6f} in bf16; "
        f"largest difference {gap:.2%} of the first, of the means {mean:.2%}; "
        f"{products:.1%} of product FLOPs and {activations:.1%} of saved bytes low ({bytes_saved}); "
        f"casts {casts}"
    )
    assert wide[-1] < 0.2 * wide[0], "the program does not train"
    assert gap < 0.02 and mean < 0.02, "the losses differ"
    assert (low != wide).mean() > 0.9, "nothing is rounded"
    assert products >= 0.95, "products are f32"
    assert activations >= {"mlp": 0.9, "convnet": 0.25, "transformer": 0.6}[name], "f32 is saved"
    assert casts["optimal"] <= min(casts.values()), "other strategies cast less"
    saved_activations.check(name, amp_opt, step.text, lambda run: train(run, leaves, batches), wide, low)


if __name__ == "__main__":
    main(*sys.argv[1:])
