# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The versions of PyTorch that the package works with."""

import contextlib

import torch
from torch.fx import traceback as fx_traceback

OLDEST, NEWEST = (2, 9), (2, 15)


def check_version():
    """Raises an error unless the version of torch is supported."""
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if not OLDEST <= version <= NEWEST:
        raise RuntimeError(
            f"amp_torch supports torch {OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}, "
            f"this is {torch.__version__}; install a supported version, such as "
            f"'pip install torch=={NEWEST[0]}.{NEWEST[1]}.0'"
        )


@contextlib.contextmanager
def _annotate(annotations):
    # Traces copy the current metadata to each new node.
    meta = fx_traceback.current_meta
    before = meta.get("custom")
    meta["custom"] = {**(before or {}), **annotations}
    try:
        yield
    finally:
        if before is None:
            del meta["custom"]
        else:
            meta["custom"] = before


# torch 2.9 has no such function.
annotate = getattr(fx_traceback, "annotate", _annotate)


__all__ = ["annotate", "check_version"]
