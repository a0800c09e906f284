# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A program that drives compiled steps uses an installation: a program in C finds the package
# AMPStep and no package of MLIR, and Python loads the library. The backend cuda reads the headers
# of the installation. This source tree and its build are hidden.
#
# REQUIRES: full
# UNSUPPORTED: sanitizer
# RUN: %python %s %S/step %amp_src_root %amp_obj_root
"""Usage: step.py <program> <source tree> <build tree>"""

import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
from installation import cache, install, run, sealed  # noqa: E402

# Compiles the step for a GPU through the interface that the package of PyTorch declares in ctypes.
CUDA = """
import ctypes, sys
prefix, model, nvcc, cache = sys.argv[1:]
sys.path.insert(0, prefix + "/share/amp/python/amp_torch")
import step_interface
library = ctypes.CDLL(prefix + "/lib/libAMPStep.so")
with open(model) as file:
    _, _, message = step_interface.compile_module(library, file.read(), backend="cuda", batch_size=8,
                                                  cuda_compiler=nvcc, cuda_cache=cache)
print(message)
"""


def main(program, source, build, scratch):
    prefix = install(build, source, scratch, "lib/libAMPStep.so", "include/amp-c/CompileStep.h",
                     "include/amp/Runtime/Step/Interface.h", "lib/cmake/AMPStep/AMPStepConfig.cmake",
                     "lib/cmake/AMPStep/AMPStepConfigVersion.cmake")  # fmt: skip
    drive = scratch / "drive"
    shutil.copytree(program, drive)
    tests = program.parent.parent
    for name in ("driver.c", "caller.h"):
        shutil.copy(tests / "Step/Inputs" / name, drive)
    shutil.copy(tests / "Execution/Inputs/linear.mlir", drive)
    seal = sealed([folder for folder in (source, build) if folder.is_dir()])
    # A package of MLIR would be an error: CMake does not find one.
    run(*seal, "cmake", "-G", "Ninja", "-S", drive, "-B", drive / "build", f"-DCMAKE_PREFIX_PATH={prefix}",
        "-DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_LLVM=ON",
        f"-DCMAKE_C_COMPILER={cache(build, 'CMAKE_C_COMPILER')}", cwd=drive)  # fmt: skip
    run(*seal, "ninja", "-C", drive / "build", cwd=drive)
    output = run(*seal, drive / "build/drive", "state.npz", "linear.mlir", cwd=drive)
    assert output.startswith("cpu: loss ") and (drive / "state.npz").stat().st_size > 0, output

    # nvcc takes the source, in which the headers are, and fails.
    nvcc = drive / "nvcc"
    nvcc.write_text('#!/bin/sh\n[ "$1" = --version ] || exit 1\necho none\n')
    nvcc.chmod(0o755)
    said = run(*seal, sys.executable, "-c", CUDA, prefix, "linear.mlir", nvcc, drive / "cache", cwd=drive)
    assert f"{nvcc} cannot compile" in said, said
    units = [path.read_text() for path in (drive / "cache").glob("*.cu")]
    assert sorted(unit.splitlines()[0] for unit in units) == ["#define AMP_CUDA_UNIT 1", "#define AMP_CUDA_UNIT 2"], units
    assert any("// amp/Runtime/CUDA/Program.h" in unit for unit in units), units
    said = run(*seal, prefix / "bin/amp-translate", "--mlir-to-cuda", "--standalone", "--batch-size=8", "linear.mlir",
               cwd=drive)  # fmt: skip
    assert "// amp/Runtime/CUDA/Program.h" in said, said[:1000]


if __name__ == "__main__":
    # The hidden folder cannot contain the build.
    with tempfile.TemporaryDirectory() as folder:
        main(*(pathlib.Path(argument).resolve() for argument in (*sys.argv[1:], folder)))
