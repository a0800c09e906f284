# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The versions of PyTorch that the package works with."""

import torch

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


__all__ = ["check_version"]
