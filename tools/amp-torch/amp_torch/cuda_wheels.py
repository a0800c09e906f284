# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""nvcc of NVIDIA's Python packages, for machines without a CUDA toolkit.

The packages for CUDA 13 and later share a folder, such as nvidia/cu13, with bin/nvcc, nvvm, include and
lib. Their libraries have no names without a version, which -lcublasLt asks for, and are in no folder that the
loader searches. So nvcc is called by a script, which adds a folder of links and a search path."""

import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import tempfile
from pathlib import Path

import torch

from .runtime import StepError

#: Where the library of compiled steps looks for nvcc after the PATH.
TOOLKIT = "/usr/local/cuda/bin"
#: What a generated program is linked with.
LIBRARIES = ("cublasLt", "cudart", "nccl")
NO_COMPILER = (
    "a step of a GPU needs nvcc, which is neither in PATH nor in {toolkit} nor in NVIDIA's Python packages; install "
    "the CUDA toolkit, or 'pip install \"cuda-toolkit[nvcc,cccl,cublas,nvtx]=={version}.*\"', or pass cuda_compiler"
)


def find_packages():
    """Yields the folders of NVIDIA's packages that have nvcc, the newest version of CUDA first."""
    found = importlib.util.find_spec("nvidia")
    roots = found.submodule_search_locations if found else []
    folders = [folder for root in roots for folder in Path(root).glob("cu*") if re.fullmatch(r"cu\d+", folder.name)]
    for folder in sorted(folders, key=lambda folder: int(folder.name[2:]), reverse=True):
        if os.access(folder / "bin" / "nvcc", os.X_OK):
            yield folder


def libraries_of(folder):
    """The files of LIBRARIES, by the names that the linker looks for. Other packages, such as
    nvidia-nccl, have a folder of their own beside `folder`."""
    found = {}
    for name in LIBRARIES:
        places = [folder / "lib", folder.parent / name / "lib"]
        files = [file for place in places for file in sorted(place.glob(f"lib{name}.so.*"))]
        if files:
            found[f"lib{name}.so"] = files[0]
    return found


def write_script(folder, cache):
    """Writes the script that calls the nvcc of `folder`, and returns its path. Processes that start at the
    same time write the same files."""
    libraries = libraries_of(folder)
    folders = sorted({str(file.parent) for file in libraries.values()})
    paths = " ".join("-Xlinker " + shlex.quote(f"-rpath={place}") for place in folders)
    text = f"{folder}\n{libraries}\n{paths}"
    place = Path(cache) / f"nvcc-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    script = place / "nvcc"
    if script.exists():
        return str(script)
    place.mkdir(parents=True, exist_ok=True)
    for name, file in libraries.items():
        if not (place / name).is_symlink():
            try:
                (place / name).symlink_to(file)
            except FileExistsError:
                pass
    with tempfile.NamedTemporaryFile("w", dir=place, delete=False) as file:
        # nvcc itself looks for libraries in lib64.
        file.write(f'#!/bin/sh\nexec {shlex.quote(str(folder / "bin" / "nvcc"))} "$@" -L{shlex.quote(str(place))} '
                   f'-L{shlex.quote(str(folder / "lib"))} {paths}\n')
    os.chmod(file.name, 0o755)
    os.replace(file.name, script)
    return str(script)


def find_compiler(cache):
    """The compiler for steps of a GPU, where the library of compiled steps does not find nvcc itself, else None."""
    if os.environ.get("AMP_CUDA_COMPILER") or shutil.which("nvcc") or shutil.which("nvcc", path=TOOLKIT):
        return None
    for folder in find_packages():
        return write_script(folder, cache)
    # Packages for earlier versions of CUDA have no nvcc.
    version = torch.version.cuda or ""
    raise StepError(NO_COMPILER.format(toolkit=TOOLKIT, version=version if version[:2] >= "13" else "13"))


__all__ = ["find_compiler"]
