# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Steps of JAX that store in bf16 what the backward pass reads train as in f32.
#
# REQUIRES: jax
# UNSUPPORTED: static-mlir, sanitizer
# RUN: %jax_python %s mlp amp-opt
# RUN: %jax_python %s convnet amp-opt
# RUN: %jax_python %s transformer amp-opt
"""Usage: saved-activations.py <program> <amp-opt>"""

import sys

import amp_jax
import figures
import numpy as np
import programs

STEPS = 60
# The share of saved bytes that are low, without the pass and with it. What is
# left: statistics of norms and softmax, and the indices and values of a loss.
SHARES = {"mlp": (0.9, 0.98), "convnet": (0.25, 0.98), "transformer": (0.6, 0.95)}


def share(amp_opt, text, *passes):
    before = amp_jax.pipeline("bf16", narrow_saved=bool(passes)).split("amp-optimize-casts")[0]
    mixed = amp_jax.run_passes(text, before.rstrip(",") + ")", (amp_opt,))
    return figures.activation_share(figures.parse(mixed))


def train(run, leaves, batches):
    losses = []
    for batch in batches:
        *leaves, loss = run(*leaves, *batch)
        losses.append(float(loss))
    return np.array(losses)


def main(name, amp_opt):
    loss, shapes, data = programs.PROGRAMS[name]
    params = programs.initial(shapes)
    state = programs.adam_state(params)
    batches = list(data(programs.BATCH, STEPS))
    text = amp_jax.lower(loss, programs.adam, params, state, batches[0])
    leaves = text.flatten(params, state)

    def losses(precision, **settings):
        rewritten = amp_jax.rewrite(text.text, precision, command=(amp_opt,), **settings)
        assert "amp." not in rewritten, "something of the amp dialect is left"
        return train(amp_jax.compile(rewritten), leaves, batches)

    wide, low, stored = losses("f32"), losses("bf16"), losses("bf16", narrow_saved=True)
    (plain, _), (narrow, sizes) = share(amp_opt, text.text), share(amp_opt, text.text, "narrow")
    gap = np.abs(stored - wide).max() / wide[0]
    mean = abs(stored.mean() - wide.mean()) / wide.mean()
    print(
        f"{name}: {plain:.1%} of saved bytes low, {narrow:.1%} with the pass ({sizes}); "
        f"loss {wide[-1]:.6f} in f32, {low[-1]:.6f} in bf16, {stored[-1]:.6f} with low activations; "
        f"largest difference {gap:.2%} of the first, of the means {mean:.2%}"
    )
    assert plain >= SHARES[name][0] and narrow >= SHARES[name][1]
    assert gap < 0.02 and mean < 0.02, "the losses differ"
    # What is stored is rounded, unless nothing was f32.
    assert (stored != low).any() or plain == narrow


main(*sys.argv[1:])
