# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Steps of the CPU through the C interface, by ctypes and by a program in C99.
#
# UNSUPPORTED: sanitizer
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%cc' %amp_src_root %amp_obj_root

import ctypes as c
import os
import shlex
import subprocess
import sys
import threading

here = os.path.dirname(__file__)
sys.path.insert(0, os.path.join(here, "Inputs"))
import checks
import numpy as np
import steps
from steps import Step

folder, cc, root, build = sys.argv[1:5]
MODEL = os.path.join(here, "../Execution/Inputs/linear.mlir")
library = c.CDLL(build + "/lib/libAMPStep.so")
with open(MODEL) as file:
    text = file.read()
data = folder + "/data.npz"
np.savez(data, train_x=checks.BATCHES[0][0], train_y=checks.BATCHES[0][1])


def compiled(*arguments, **options):
    code, program, message = steps.compile_module(library, *arguments, **options)
    assert code == steps.OK and message == "", (code, message)
    return program


for precision in ("f32", "fp16"):
    program = compiled(text, precision=precision, threads=1)
    assert (program.name, program.backend, program.precision) == (b"step", b"cpu", precision.encode())
    assert program.fixed_batch == 0
    amp_run = ["amp-run", MODEL, "--precision", precision, "--data", data, "--quiet", "--batch-size", "8"]
    checks.check_program(program, checks.Host(), folder, amp_run)
    program.release(c.byref(program))

# An open batch takes any number of samples, the same in all arguments.
program = compiled(text)
assert steps.shape_of(Step(program).tensors(steps.BATCHES)["x"][1]) == (-1, 4)
step = Step(program)
x, y = checks.BATCHES[0]
for count in (8, 3, 5, 8):
    step.set_batch("x", x[:count])
    step.set_batch("y", y[:count])
    step.call("run", 0, 1)
    logits = np.zeros((count, 3), np.float32)
    step.call("read", steps.PREDICTIONS, 0, logits.ctypes.data, logits.nbytes)
    assert np.isfinite(logits).all()
step.fails(steps.INVALID, "which has 96", "read", steps.PREDICTIONS, 0, logits.ctypes.data, 12)
step.set_batch("y", y[:2])
step.fails(steps.INVALID, "batch 'y' has 2 samples, but batch 'x' has 8", "run", 0, 1)
step.fails(steps.UNSUPPORTED, "the CPU has no streams", "set_stream", 64)
batch, alive = step.batch("x", x, stream=64)
step.fails(steps.UNSUPPORTED, "the CPU has no streams", "set_batch", c.byref(batch))

# Steps of one program in several threads: each has its own state and messages.
alone = Step(program, seed=1)
checks.train(alone)
expected = alone.states()
wrong = []


def work(number):
    own = Step(program, seed=1)
    name = f"rate{number}".encode()
    for _ in range(3):
        own.call("initialize", 1)
        checks.train(own)
        if not checks.same(own.states(), expected):
            wrong.append("states")
        if program.set_hyperparameter(own.handle, name, 1.0) != steps.INVALID or name not in program.last_error():
            wrong.append(program.last_error())


threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not wrong, wrong

# What cannot be compiled, in words.
UNKNOWN = "func.func @step(%w: tensor<f32> {amp.role = \"parameter\"}) { return %x : tensor<f32> }"
for module, options, code, message in (
    ("func.func", {}, steps.COMPILE, "expected"),
    (UNKNOWN, {}, steps.COMPILE, "undeclared SSA value"),
    ("module {}", {}, steps.COMPILE, "the module has no training step"),
    (b"", {}, steps.COMPILE, "the module has no training step"),
    (b"ML\xefR\x00\x01", {}, steps.COMPILE, "attempting to parse"),
    (text, {"entry": "other"}, steps.COMPILE, "the module has no function 'other'"),
    (text, {"precision": "fp7"}, steps.INVALID, "unknown precision 'fp7'"),
    # Messages name fields of this interface, not options of amp-run.
    (text, {"loss_scale": "2"}, steps.INVALID, "loss_scale needs precision: otherwise the module runs as written"),
    (text, {"precision": "fp16", "loss_scale": "x"}, steps.INVALID, "wrong value of loss_scale: 'x'"),
    (text, {"precision": "fp16", "pipeline": "precision=bf16"}, steps.INVALID,
     "precision is 'fp16', but pipeline has 'precision=bf16'"),
    (text, {"precision": "fp16", "pipeline": "nonsense=1"}, steps.INVALID,
     "amp-training-pipeline: unknown option 'nonsense'"),
    (text, {"precision": "fp16", "pipeline": "fp8-margin=x"}, steps.INVALID, "'x', expected an integer"),
    (text, {"precision": "bf16", "pipeline": "growth-interval=5"}, steps.INVALID, "'growth-interval' has no effect"),
    (text, {"precision": "fp16", "pipeline": "policy=/"}, steps.COMPILE, "cannot read policy '/'"),
    ('"stablehlo.add"() : () -> ()', {}, steps.COMPILE, "this operation is of a dialect that the tool does not have"),
    (text, {"backend": "tpu"}, steps.INVALID, "unknown backend 'tpu'"),
    (text, {"batch_size": 8}, steps.INVALID, "are for the backend cuda"),
    (text, {"flags": 1}, steps.INVALID, "are for the backend cuda"),
    (text, {"flags": 2}, steps.INVALID, "expected num_ranks of at least 2"),
    (text, {"flags": 4}, steps.INVALID, "AMP_STEP_NOTE_NUMBERS are for the backend cuda"),
    (text, {"flags": 8}, steps.UNSUPPORTED, "unknown flags"),
    (text, {"backend": "cuda"}, steps.INVALID, "expected a batch_size"),
    (text, {"backend": "cuda", "batch_size": 8, "threads": 2}, steps.INVALID, "threads are for the backend cpu"),
    (text, {"backend": "cuda", "batch_size": 8, "cuda_compiler": "/nothing"}, steps.COMPILE, "no CUDA compiler"),
    (text, {"size": 8}, steps.INVALID, "the size of amp_step_compile_options is 8"),
    (text, {"version": 2}, steps.WRONG_VERSION, "asks for version 2"),
):
    got, none, said = steps.compile_module(library, module, **options)
    assert got == code and none is None and message in said, (options, got, said)
    assert "--" not in said.replace("--allow-unreg", "").replace("--stablehlo", "") and "loc(" not in said, said
assert library.amp_step_compile(c.c_uint32(1), None, c.c_uint64(0), None, c.byref(steps.P()), None) == steps.INVALID
assert library.amp_step_compile(c.c_uint32(1), b"", c.c_uint64(0), None, None, None) == steps.INVALID
print("compile errors")

driver = folder + "/driver"
command = [*shlex.split(cc), "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-DDRIVER_COMPILES",
           f"-I{root}/include", os.path.join(here, "Inputs/driver.c"), f"-L{build}/lib", "-lAMPStep",
           f"-Wl,-rpath,{build}/lib", "-o", driver]
subprocess.run(command, check=True)
print(subprocess.run([driver, folder + "/c.npz", MODEL], check=True, capture_output=True, text=True).stdout)
