# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules for ATen operations, one file per family. Importing this fills the table."""

from . import elementwise, losses, normalization, pooling, products, reductions, sequence, shapes, volumes, writes  # noqa: F401
