# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A stand-in for nvcc that compiles steps for the CPU implementation of CUDA."""

import os


def write_compiler(path, compiler, library, root, version="1", before="", flags=""):
    """Writes a script to `path` that accepts the arguments of nvcc. The script adds a line to
    `path`.calls for each step and to `path`.runtimes for each runtime. It runs the shell commands
    `before` before each step, and links with `flags` of `compiler`."""
    with open(path, "w") as file:
        file.write(f"""#!/bin/sh
if [ "$1" = --version ]; then echo "emulated, version {version}"; exit 0; fi
while [ $# -gt 0 ]; do
  case "$1" in
  -o) out=$2; shift ;;
  *.cu) in=$1 ;;
  *.o) objects="$objects $1" ;;
  esac
  shift
done
case "$in" in
"") exec {compiler} -Wno-unused-command-line-argument -shared -x none $objects {library} {flags} \\
      -Wl,--version-script={root}/test/CudaHost/library.exports -o "$out" ;;
*/runtime-*) echo "$in" >> {path}.runtimes ;;
*) echo "$in" >> {path}.calls
{before}
;;
esac
exec {compiler} -c "$in" -o "$out"
""")
    os.chmod(path, 0o755)


def count_lines(path):
    if not os.path.exists(path):
        return 0
    with open(path) as file:
        return len(file.readlines())


def count_calls(path):
    """Returns the number of steps that the script at `path` compiled."""
    return count_lines(path + ".calls")


def count_runtimes(path):
    """Returns the number of runtimes that the script at `path` compiled."""
    return count_lines(path + ".runtimes")
