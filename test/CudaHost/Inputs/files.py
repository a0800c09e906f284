# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: files.py <tool> <digits.npz> <scratch folder>

Checks the reader and writer of .npz files of the CUDA runtime, in the tool
built from Files.cu, against NumPy's.
"""

import json
import os
import subprocess
import sys
import zipfile

import numpy as np

tool, digits, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)


def run(*arguments):
    result = subprocess.run([tool, *arguments], capture_output=True)
    return result.returncode, result.stdout.decode(errors="replace")


def expect_arrays(path, arrays, types):
    code, output = run("dump", path)
    assert code == 0, output
    lines = {line.split()[0]: line.split()[1:] for line in output.splitlines()}
    assert set(lines) == set(arrays), (lines, arrays)
    for name, array in arrays.items():
        flat = array.astype(np.float64).ravel()
        total = float(np.sum(flat * (np.arange(flat.size) % 7 + 1)))
        shape = "".join(f"{extent}x" for extent in array.shape)
        assert lines[name][0] == shape + types[name], (name, lines[name])
        assert abs(float(lines[name][1]) - total) <= 1e-9 * max(1, abs(total)), name


random = np.random.default_rng(1)
arrays = {
    "f16": random.normal(size=(3, 5)).astype(np.float16),
    "f32": random.normal(size=(7,)).astype(np.float32),
    "f64": random.normal(size=()).astype(np.float64),
    "i64": random.integers(-(2**40), 2**40, size=(2, 3, 4)),
    "i32": random.integers(-9, 9, size=(4, 1)).astype(np.int32),
    "i8": random.integers(-9, 9, size=(5,)).astype(np.int8),
    "ui8": random.integers(0, 255, size=(600, 40)).astype(np.uint8),
    "i1": random.integers(0, 2, size=(9,)).astype(bool),
    "empty": np.zeros((0, 3), np.float32),
}
types = {name: name for name in arrays} | {"empty": "f32"}

# Stored, deflated with fixed and dynamic codes, and our own copy of each.
stored, deflated = folder + "/stored.npz", folder + "/deflated.npz"
np.savez(stored, **arrays)
np.savez_compressed(deflated, **arrays)
for path in (stored, deflated):
    expect_arrays(path, arrays, types)
    copy = folder + "/copy.npz"
    assert run("copy", path, copy)[0] == 0
    expect_arrays(copy, arrays, types)
    with np.load(copy) as file:
        for name, array in arrays.items():
            assert file[name].dtype == array.dtype and np.array_equal(file[name], array), name
    assert zipfile.ZipFile(copy).testzip() is None
with np.load(digits) as file:
    expect_arrays(
        digits,
        {name: file[name] for name in file.files},
        {name: {"f": "f32", "u": "ui8", "i": "i64"}[file[name].dtype.kind] for name in file.files},
    )

# bf16 as u2 with a member that says so.
bits = np.array([0x3F80, 0xC000, 0x7F80], np.uint16)
marked = folder + "/bf16.npz"
note = np.frombuffer(json.dumps({"w": "bf16"}).encode(), np.uint8)
np.savez(marked, w=bits, __amp_types__=note)
copy = folder + "/bf16-copy.npz"
code, output = run("copy", marked, copy)
assert code == 0 and "w 3xbf16 inf" in output, output
with np.load(copy) as file:
    assert np.array_equal(file["w"], bits)
    assert json.loads(bytes(file["__amp_types__"])) == {"w": "bf16"}
npy = folder + "/single.npy"
np.save(npy, arrays["f32"])
expect_arrays(npy, {"single": arrays["f32"]}, {"single": "f32"})

# Every byte of a file may be wrong: an error or other values, never a crash.
small = folder + "/small.npz"
np.savez_compressed(small, a=arrays["ui8"][:40])
data = open(small, "rb").read()
broken = folder + "/broken.npz"
survived = 0
for position in range(0, len(data), 13):
    changed = bytearray(data)
    changed[position] ^= 0xFF
    open(broken, "wb").write(changed)
    code, output = run("dump", broken)
    assert code in (0, 1), (position, code)
    assert code == 0 or output.startswith("error: "), output
    survived += code == 0
assert survived < len(data) / 13 / 2, survived
for size in (0, 10, 30, len(data) // 2, len(data) - 1):
    open(broken, "wb").write(data[:size])
    code, output = run("dump", broken)
    assert code == 1 and broken in output, (size, output)
code, output = run("dump", folder + "/absent.npz")
assert code == 1 and "cannot read" in output
code, output = run("dump", folder)
assert code == 1 and f"cannot read '{folder}': it is a directory" in output, (code, output)
np.save(npy, np.asfortranarray(np.ones((2, 3))))
assert "Fortran order" in run("dump", npy)[1]
np.save(npy, np.ones(3, np.complex64))
assert "element type '<c8'" in run("dump", npy)[1]

# The order of an epoch: a permutation, another one for each epoch and seed.
orders = {run("order", "97", seed, epoch)[1] for seed in "01" for epoch in "01"}
assert len(orders) == 4
for order in orders:
    assert sorted(map(int, order.split())) == list(range(97))
print("passed")
