# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps of JAX that store the values that the backward pass reads in bf16 train as in f32."""

import amp_jax
import figures
import numpy as np

SHARES = {"mlp": (0.9, 0.98), "convnet": (0.25, 0.98), "transformer": (0.6, 0.95)}


def share(amp_opt, text, *passes):
    before = amp_jax.pipeline("bf16", compress_activations=bool(passes)).split("amp-optimize-casts")[0]
    mixed = amp_jax.run_passes(text, before.rstrip(",") + ")", (amp_opt,))
    return figures.activation_share(figures.parse(mixed))


def check(name, amp_opt, text, train, wide, low):
    """`train` gives the losses of a compiled step; `wide` and `low` are those in f32
    and in bf16."""
    rewritten = amp_jax.rewrite(text, "bf16", command=(amp_opt,), compress_activations=True)
    assert "amp." not in rewritten, "something of the amp dialect is left"
    stored = train(amp_jax.compile(rewritten))
    (plain, _), (narrow, sizes) = share(amp_opt, text), share(amp_opt, text, "narrow")
    gap = np.abs(stored - wide).max() / wide[0]
    mean = abs(stored.mean() - wide.mean()) / wide.mean()
    print(
        f"{name}: {plain:.1%} of saved bytes low, {narrow:.1%} with the pass ({sizes}); "
        f"loss {wide[-1]:.6f} in f32, {low[-1]:.6f} in bf16, {stored[-1]:.6f} with low activations; "
        f"largest difference {gap:.2%} of the first, of the means {mean:.2%}"
    )
    assert plain >= SHARES[name][0] and narrow >= SHARES[name][1]
    assert gap < 0.02 and mean < 0.02, "the losses differ"
    # Stored values are rounded, unless none was f32.
    assert (stored != low).any() or plain == narrow
