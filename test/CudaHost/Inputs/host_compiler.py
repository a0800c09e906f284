# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A stand-in for nvcc that compiles steps for the CPU implementation of CUDA."""

import os


def write_compiler(path, compiler, library, root, version="1", before="", flags=""):
    """Writes a script that takes the arguments of nvcc, and adds a line to `path`.calls for
    each source. It runs the shell commands `before` first, and passes `flags` to `compiler`."""
    with open(path, "w") as file:
        file.write(f"""#!/bin/sh
if [ "$1" = --version ]; then echo "emulated, version {version}"; exit 0; fi
while [ $# -gt 0 ]; do
  case "$1" in
  -o) out=$2; shift ;;
  *.cu) in=$1 ;;
  esac
  shift
done
echo "$in" >> {path}.calls
{before}
exec {compiler} -shared "$in" {library} {flags} -Wl,--version-script={root}/test/CudaHost/library.exports -o "$out"
""")
    os.chmod(path, 0o755)


def count_calls(path):
    """The sources that the script at `path` has compiled."""
    if not os.path.exists(path + ".calls"):
        return 0
    with open(path + ".calls") as file:
        return len(file.readlines())
