# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A step that needs more memory than the machine has is refused before it runs, with both sizes. An
# array that does not fit is refused by its header. Running out of memory later is a diagnostic as
# well.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import io
import os
import re
import resource
import struct
import sys
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import subprocess

import numpy as np
from runner import MODEL, fails, make_data, ok

folder = sys.argv[1] + "/"
np.savez(folder + "data.npz", **make_data())
data = ("--data", folder + "data.npz", "--batch-size", 10)
GIB = 1 << 30

STEP = """func.func @step(
    %w: tensor<WxTYPE> {amp.role = "parameter", amp.name = "weight", amp.init = #amp.init<zeros>},
    %x: tensor<?x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<WxTYPE> {amp.updates = "weight"}, tensor<f32> {amp.metric = "loss"}) {
  %one = train.constant dense<1.0> : tensor<f32>
  %big = train.broadcast %one {dims = array<i64: DIMS>} : (tensor<f32>) -> tensor<Txf32>
  %bigger = train.tanh %big : tensor<Txf32>
  %row = train.reduce_sum %bigger {dims = array<i64: DIMS>} : (tensor<Txf32>) -> tensor<f32>
  %all = train.reduce_sum %x {dims = array<i64: 0, 1>} : (tensor<?x4xf32>) -> tensor<f32>
  %loss = train.add %row, %all : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %w, %loss : tensor<WxTYPE>, tensor<f32>
}
"""


def step(weight="4", temporary="4", type="f32"):
    dims = ", ".join(str(i) for i in range(temporary.count("x") + 1))
    text = STEP.replace("W", weight).replace("TYPE", type).replace("DIMS", dims)
    with open(folder + "step.mlir", "w") as f:
        f.write(text.replace("tensor<Tx", f"tensor<{temporary}x"))
    return {"model": folder + "step.mlir"}


def outer(rows, columns):
    """A step with a product that is a buffer of its own."""
    text = STEP[: STEP.index("  %big =")] + f"""
  %a = train.broadcast %one {{dims = array<i64: 0, 1>}} : (tensor<f32>) -> tensor<{rows}x1xf32>
  %b = train.broadcast %one {{dims = array<i64: 0, 1>}} : (tensor<f32>) -> tensor<1x{columns}xf32>
  %p = train.matmul %a, %b : (tensor<{rows}x1xf32>, tensor<1x{columns}xf32>) -> tensor<{rows}x{columns}xf32>
  %row = train.reduce_sum %p {{dims = array<i64: 0, 1>}} : (tensor<{rows}x{columns}xf32>) -> tensor<f32>
""" + STEP[STEP.index("  %all =") :]
    with open(folder + "step.mlir", "w") as f:
        f.write(text.replace("W", "4").replace("TYPE", "f32"))
    return {"model": folder + "step.mlir"}


ok(*data, "--steps", 1, **step())
ok(*data, "--steps", 1, **outer("16", "30"))

# Parameters.
for weight, count in (
    ("100000000000", 10**11), ("1099511627776", 1 << 40), ("1048576x1048576", 1 << 40),
):
    for options in (("--steps", 1), ("--steps", 0, "--save", folder + "s.npz")):
        error = fails(f"takes {4 * count} bytes", *data, *options, **step(weight))
        assert re.search(r"but this machine has \d+$", error.strip()), error
# More bytes than can be counted.
fails("takes 9223372036854775807 bytes", *data, "--steps", 1, **step("4611686018427387904x4"))
# Temporaries: two live at once.
error = fails("of state and up to", *data, "--steps", 1, **step(temporary="100000000000"))
found = re.search(r"takes (\d+) bytes of state and up to (\d+) bytes of other tensors", error)
assert int(found[1]) == 16 and int(found[2]) >= 8 * 10**11, error

# An address space that is too small by a little.


def limited(bytes, *arguments, model):
    return subprocess.run(
        ["amp-run", model, *map(str, arguments)], capture_output=True, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (bytes, bytes)),
    )


def expect(result, message):
    assert result.returncode == 1, result
    assert message in result.stderr and result.stderr.count("error:") == 1, result.stderr
    assert "LLVM ERROR" not in result.stderr and "Stack dump" not in result.stderr, result.stderr


if "ASAN_OPTIONS" not in os.environ:
    # Refused by the known sizes, and by malloc.
    result = limited(4 * GIB, *data, "--steps", 1, **step(str(3 * GIB // 2)))
    expect(result, f"but this machine has {4 * GIB}")
    result = limited(4 * GIB, *data, "--steps", 1, **step(str(GIB * 15 // 16)))
    expect(result, "out of memory for")
    # A buffer of the compiled step, for which there is room but for the program.
    size = 4 * 16384 * 30720
    result = limited(size + (64 << 20), *data, "--steps", 1, **outer("16384", "30720"))
    expect(result, f"out of memory for {size} bytes")

# Arrays whose headers do not fit are not inflated.


def header(shape):
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def bomb(path, name, shape, mib):
    """An archive that is small, with an array of zeros that is not."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for key, array in make_data().items():
            if key != name:
                buffer = io.BytesIO()
                np.save(buffer, array)
                archive.writestr(key + ".npy", buffer.getvalue())
        with archive.open(name + ".npy", "w") as member:
            member.write(header(shape))
            for _ in range(mib):
                member.write(bytes(1 << 20))


SIZE = 600
bomb(folder + "bomb.npz", "train_x", (SIZE, 1 << 18), SIZE)
assert os.path.getsize(folder + "bomb.npz") < 8 << 20
# One that no argument asks for stays closed as well.
bomb(folder + "extra.npz", "notes", (SIZE, 1 << 18), SIZE)
fails(f"is {SIZE}x262144xf32, expected ?x4xf32", "--data", folder + "bomb.npz", "--steps", 1)
ok("--data", folder + "extra.npz", "--batch-size", 10, "--steps", 1)
bomb(folder + "state.npz", "velocity", (SIZE, 1 << 18), SIZE)
fails("is not a saved training state", *data, "--load", folder + "state.npz", "--steps", 1)
bomb(folder + "weights.npz", "weight", (SIZE, 1 << 18), SIZE)
fails(f"is {SIZE}x262144xf32, expected 4x3xf32", *data, "--init", folder + "weights.npz")
used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
if "ASAN_OPTIONS" not in os.environ:
    assert used < SIZE * 1024, f"{used} kB"

# The header does not match the bytes, or exceeds any possible size.
bomb(folder + "short.npz", "train_x", (1 << 30, 4), 1)
fails("does not match its header: 1073741824x4xf32", "--data", folder + "short.npz", "--steps", 1)
# A name twice.
with zipfile.ZipFile(folder + "twice.npz", "w") as archive:
    buffer = io.BytesIO()
    np.save(buffer, np.zeros((20, 4), np.float32))
    for _ in range(2):
        archive.writestr("train_x.npy", buffer.getvalue())
fails("has two members 'train_x'", "--data", folder + "twice.npz", "--steps", 1)
