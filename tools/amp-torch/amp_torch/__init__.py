# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mixed precision for PyTorch: models as training steps (docs/pytorch.md), and the
passes as a guest in torch.compile (docs/pytorch-guest.md)."""

from .compiled import CompiledStep, StaleStep, StepError, compile
from .export import Export, UnsupportedModel, export
from .guest import GuestError, Options, Report, backend, rewrite
from .inference import export_inference
from .state_files import load_state, save_state

__all__ = ["CompiledStep", "Export", "GuestError", "Options", "Report", "StaleStep", "StepError", "UnsupportedModel",
           "backend", "compile", "export", "export_inference", "load_state", "rewrite", "save_state"]
