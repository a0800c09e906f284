# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Emitted programs through the C interface, by ctypes and by a program in C99.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib' '%cc' %amp_src_root

import os
import shlex
import sys

here = os.path.dirname(__file__)
sys.path[:0] = [os.path.join(here, "Inputs"), os.path.join(here, "../Target/CUDA/Inputs")]
import checks
import steps
from program import run

folder, compiler, library, cc, root = sys.argv[1:6]
MODEL = os.path.join(here, "../Execution/Inputs/linear.mlir")


def build(name, *options):
    source, shared = f"{folder}/{name}.cu", f"{folder}/{name}.so"
    run(["amp-translate", "--mlir-to-cuda", MODEL, "--emit-forward", "--batch-size", "8", "-o", source, *options])
    run([*shlex.split(compiler), "-shared", source, *shlex.split(library),
         f"-Wl,--version-script={root}/test/CudaHost/library.exports", "-o", shared])
    return shared


data = folder + "/data.npz"
checks.np.savez(data, train_x=checks.BATCHES[0][0], train_y=checks.BATCHES[0][1])
for precision in ("f32", "fp16"):
    path = build(precision, "--precision", precision, "--emit-header", f"{folder}/{precision}.h")
    code, program, message, loaded = steps.load(path)
    assert code == steps.OK and message is None and program.fixed_batch == 8
    assert (program.name, program.backend, program.precision) == (b"step", b"cuda", precision.encode())
    for wrong in (0, 2):
        code, none, message, _ = steps.load(path, wrong)
        assert code == steps.WRONG_VERSION and none is None, (code, none)
        assert message == f"the caller asks for version {wrong} of the interface, but this program has version 1".encode()
    amp_run = ["amp-run", MODEL, "--precision", precision, "--data", data, "--quiet", "--batch-size", "8"]
    checks.check_program(program, checks.Emulator(loaded), folder, amp_run)

# C99, with the header of the program.
driver = folder + "/driver"
run([*shlex.split(cc), "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{root}/include", f"-I{folder}",
     "-include", "f32.h", os.path.join(here, "Inputs/driver.c"), folder + "/f32.so", f"-Wl,-rpath,{folder}", "-o", driver])
print(run([driver, folder + "/c.npz"]))
