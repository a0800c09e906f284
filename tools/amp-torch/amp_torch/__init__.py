# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mixed precision for PyTorch models."""

from .guest import GuestError, Options, Report, backend, rewrite
