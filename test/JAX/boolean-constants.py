# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Boolean constants cross from JAX to amp-opt and back: JAX prints a byte for each
# element of a large one, LLVM 22 reads a bit.
#
# REQUIRES: jax
# RUN: %jax_python %s amp-opt
"""Usage: boolean-constants.py <amp-opt>"""

import sys

import amp_jax
import jax
import jax.numpy as jnp
import numpy as np


def main(amp_opt):
    for size in 1, 7, 8, 11, 16, 33:
        for shape in (size, size), (size * size + 3,), (3, size, 5):
            mask = np.random.default_rng(size).integers(0, 2, shape).astype(bool)
            ones = jnp.ones(shape)
            text = amp_jax.generic(jax.jit(lambda x: jnp.where(mask, x, -1.0)).lower(ones))
            back = amp_jax.run_passes(text, "builtin.module(canonicalize)", (amp_opt,))
            for program in text, back:
                (result,) = amp_jax.compile(program)(ones)
                np.testing.assert_array_equal(result, np.where(mask, 1, -1))
    # A program that JAX may have printed either way does not change.
    assert amp_jax.with_booleans(text, bits=True) == text
    assert amp_jax.with_booleans(back, bits=False) == back
    assert text.count('dense<"0x') == 1 and amp_jax.with_booleans(text, bits=False) != text


if __name__ == "__main__":
    main(*sys.argv[1:])
