# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# add_subdirectory from another project: libraries only, one of them used, and
# nothing installed with the project. Unless the long tests are asked for, only
# the first of them is built.
#
# REQUIRES: full
# UNSUPPORTED: sanitizer
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %S/subdirectory %amp_src_root %amp_obj_root %t
"""Usage: subdirectory.py <host project> <source tree> <build tree> <scratch folder>"""

import os
import pathlib
import sys

from consumer import cache, run

WANTED = """\
my.dot: allow
my.conv1d: allow
my.exp: deny
my.conv_"2\\d: deny
x: unlisted
"""


def main(host, source, build, scratch):
    tree = scratch / "build"
    run(
        "cmake", "-G", "Ninja", "-S", host, "-B", tree, f"-DAMP_SOURCE={source}",
        f"-DMLIR_DIR={cache(build, 'MLIR_DIR')}",
        f"-DCMAKE_CXX_COMPILER={cache(build, 'CMAKE_CXX_COMPILER')}",
        f"-DCMAKE_C_COMPILER={cache(build, 'CMAKE_C_COMPILER')}",
        f"-DCMAKE_EXE_LINKER_FLAGS={cache(build, 'CMAKE_EXE_LINKER_FLAGS')}",
        "-DCMAKE_BUILD_TYPE=None",
    )  # fmt: skip
    if not os.environ.get("AMP_LONG_TESTS"):
        run("ninja", "-C", tree, "-j", "2", "AMPInterfaces")
        assert list(tree.rglob("libAMPInterfaces.a")), "the library was not built"
        return
    run("ninja", "-C", tree, "-j", "2", "host")
    output = run(tree / "host")
    if output != WANTED:
        sys.exit(f"expected {WANTED}, got {output}")
    run("cmake", "--install", tree, "--prefix", scratch / "prefix")
    installed = [path.name for path in (scratch / "prefix").rglob("*") if path.is_file()]
    if installed != ["host"]:
        sys.exit(f"expected to install the host alone, got {installed}")


if __name__ == "__main__":
    main(*(pathlib.Path(argument).resolve() for argument in sys.argv[1:]))
