# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# NumPy and the runner read each other's files, and bad files are refused with
# one message.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import io
import json
import os
import struct
import subprocess
import sys
import zipfile

import numpy as np

folder = sys.argv[1]


def path(name):
    return os.path.join(folder, name)


def run(*arguments):
    return subprocess.run(
        ["amp-execution-test", *arguments], capture_output=True, text=True
    )


def ok(*arguments):
    result = run(*arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


def fails(message, *arguments):
    result = run(*arguments)
    assert result.returncode == 1, (arguments, result)
    assert message in result.stderr, (message, result.stderr)
    assert result.stderr.count("\n") == 1, result.stderr


# Every type, shape and order, stored and deflated, through a copy.
rng = np.random.default_rng(0)
arrays = {
    "scalar": np.float32(2.5),
    "empty": np.zeros((0, 3), np.float64),
    "vector": rng.standard_normal(7).astype(np.float16),
    "fortran": np.asfortranarray(rng.standard_normal((3, 4, 5))),
    "flag": np.array([[True, False], [False, True]]),
}
for type in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2"):
    arrays[type] = (rng.standard_normal((4, 3)) * 50).astype("<" + type)
arrays["f4"][0] = [np.nan, -np.inf, 1e-45]
for write in (np.savez, np.savez_compressed):
    write(path("a.npz"), **arrays)
    ok("copy", path("a.npz"), path("b.npz"))
    with np.load(path("b.npz")) as back:
        assert list(back) == list(arrays)
        for name, array in arrays.items():
            assert back[name].dtype == array.dtype, name
            assert back[name].shape == array.shape, name
            assert back[name].tobytes() == np.ascontiguousarray(array).tobytes()
assert "fortran: 3x4x5xf64" in ok("describe", path("a.npz"))
assert "scalar: f32" in ok("describe", path("a.npz"))
assert "flag: 2x2xi1" in ok("describe", path("a.npz"))

# The same arrays give the same bytes.
ok("copy", path("b.npz"), path("c.npz"))
assert open(path("b.npz"), "rb").read() == open(path("c.npz"), "rb").read()

# A single .npy file is named after its stem.
np.save(path("one.npy"), np.arange(6, dtype=np.int32).reshape(2, 3))
assert ok("describe", path("one.npy")) == "one: 2x3xi32\n"


def note(types):
    return np.frombuffer(json.dumps(types).encode(), np.uint8)


# bf16: u2 with a note, in both directions.
bits = np.array([0x3F80, 0x0001, 0x7F80], np.uint16)
np.savez(path("bf.npz"), w=bits, __amp_types__=note({"w": "bf16"}))
assert ok("describe", path("bf.npz")) == "w: 3xbf16\n"
ok("copy", path("bf.npz"), path("bf2.npz"))
with np.load(path("bf2.npz")) as back:
    assert back["w"].dtype == np.uint16 and (back["w"] == bits).all()
    assert json.loads(bytes(back["__amp_types__"])) == {"w": "bf16"}
np.savez(path("n1.npz"), w=bits, __amp_types__=note({"v": "bf16"}))
fails("names an array 'v' that is not there", "describe", path("n1.npz"))
np.savez(path("n2.npz"), w=bits, __amp_types__=note({"w": "f16"}))
fails("a type that does not fit", "describe", path("n2.npz"))
np.savez(path("n3.npz"), w=bits, __amp_types__=note([1]))
fails("is not a JSON object", "describe", path("n3.npz"))

# Conversions: all f16 and bf16 values, and f32 around every rounding boundary.
every = np.arange(65536, dtype=np.uint16)
np.savez(path("half.npz"), h=every.view(np.float16))
ok("cast", path("half.npz"), path("half32.npz"), "f32")
with np.load(path("half32.npz")) as back:
    expected = every.view(np.float16).astype(np.float32)
    same = back["h"].view(np.uint32) == expected.view(np.uint32)
    assert (same | np.isnan(expected)).all()
    assert np.isnan(back["h"][np.isnan(expected)]).all()
base = np.concatenate(
    [
        every.view(np.float16).astype(np.float32).view(np.uint32),
        every.astype(np.uint32) << 16,
        rng.integers(0, 1 << 32, 50000, dtype=np.uint32),
    ]
)
# Neighbours of representable values and of the midpoints between them.
offsets = [0, 1, -1, 0xFFF, 0x1000, 0x1001, 0x7FFF, 0x8000, 0x8001, 0x18000]
f32 = np.concatenate([base + np.uint32(o & 0xFFFFFFFF) for o in offsets])
f32 = np.concatenate([f32, np.float32([65519.996, 65520, 2**-25, 3 * 2**-26]).view(np.uint32)])
f32 = f32.view(np.float32)
np.savez(path("f32.npz"), x=f32)
ok("cast", path("f32.npz"), path("low.npz"), "f16")
with np.load(path("low.npz")) as back, np.errstate(over="ignore"):
    expected = f32.astype(np.float16)
    nan = np.isnan(f32)
    assert (back["x"].view(np.uint16) == expected.view(np.uint16))[~nan].all()
    assert np.isnan(back["x"][nan]).all()
ok("cast", path("f32.npz"), path("low.npz"), "bf16")
with np.load(path("low.npz")) as back:
    # Nearest even by exact arithmetic: the two candidates around each value.
    bits32 = f32.view(np.uint32)
    down = bits32 & np.uint32(0xFFFF0000)
    rest = bits32 & np.uint32(0xFFFF)
    odd = (bits32 >> 16) & 1
    up = (rest > 0x8000) | ((rest == 0x8000) & (odd == 1))
    expected = ((down >> 16) + up).astype(np.uint16)
    assert (back["x"] == expected)[~nan].all()
    got = (back["x"].astype(np.uint32) << 16).view(np.float32)
    assert np.isnan(got[nan]).all()
    assert not np.isnan(got[~nan]).any()

# Bad files. First the archive, cut at every kind of place.
good = open(path("a.npz"), "rb").read()
fails("no such file", "describe", path("missing.npz"))
fails("it is a directory", "describe", folder)
for size in (0, 1, 30, len(good) // 2, len(good) - 1):
    open(path("cut.npz"), "wb").write(good[:size])
    fails("not an .npz archive, or truncated", "describe", path("cut.npz"))
open(path("text.npz"), "w").write("hello")
fails("not an .npz archive, or truncated", "describe", path("text.npz"))
fails("; numpy.savez writes one", "describe", path("text.npz"))
np.savez(path("plain.npz"), w=np.arange(1000, dtype=np.float32))
damaged = bytearray(open(path("plain.npz"), "rb").read())
damaged[2000] ^= 0xFF
open(path("damaged.npz"), "wb").write(damaged)
fails("cannot read member 'w'", "describe", path("damaged.npz"))
with zipfile.ZipFile(path("other.npz"), "w") as z:
    z.writestr("notes.txt", "hello")
fails("member 'notes.txt'", "describe", path("other.npz"))


# Then the .npy inside.
def member(bytes):
    with zipfile.ZipFile(path("m.npz"), "w") as z:
        z.writestr("w.npy", bytes)
    return path("m.npz")


buffer = io.BytesIO()
np.save(buffer, np.arange(12, dtype=np.float32).reshape(3, 4))
npy = buffer.getvalue()
fails("bad magic", "describe", member(b"NUMPY" + npy[5:]))
fails("bad magic", "describe", member(b""))
fails("version 9", "describe", member(npy[:6] + b"\x09" + npy[7:]))
fails("truncated inside its .npy header", "describe", member(npy[:40]))
fails("does not match its header: 3x4xf32", "describe", member(npy[:-1]))
fails("does not match its header: 3x4xf32", "describe", member(npy + b"x"))


def header(text, data=b"\0" * 16):
    text = text.ljust(117).encode() + b"\n"
    return member(npy[:8] + struct.pack("<H", len(text)) + text + data)


fails("malformed", "describe", header("{'descr': '<f4'}"))
fails("malformed", "describe", header("{'descr': '<f4', 'fortran_order': 3, 'shape': (4,), }"))
fails("malformed", "describe", header("{'descr': '<f4', 'fortran_order': False, 'shape': (-4,), }"))
fails("malformed", "describe", header("{'descr': '<f4', 'fortran_order': False, 'shape': (4,), } x"))
fails("malformed", "describe", header("[1]"))
fails("element type '>f4'", "describe", header("{'descr': '>f4', 'fortran_order': False, 'shape': (4,), }"))
fails("element type '<c8'", "describe", header("{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }"))
huge = 1 << 62
fails("does not match", "describe", header("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 4), }" % huge))
assert "w: 4xf32" in ok("describe", header("{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }"))
with open(path("text.npy"), "w") as f:
    f.write("hello hello hello")
fails("bad magic", "describe", path("text.npy"))

# Every byte of a file may be wrong: an error or other values, never a crash.
np.savez_compressed(path("small.npz"), a=rng.integers(0, 255, size=(60, 40)).astype(np.uint8))
small = open(path("small.npz"), "rb").read()
survived = 0
positions = range(0, len(small), 31)
for position in positions:
    changed = bytearray(small)
    changed[position] ^= 0xFF
    open(path("broken.npz"), "wb").write(changed)
    result = run("describe", path("broken.npz"))
    assert result.returncode == 0 or (result.returncode == 1 and result.stderr.startswith("error: ")), (position, result)
    survived += result.returncode == 0
assert survived < len(positions) / 2, survived

# Writing: all or nothing.
fails("cannot write", "copy", path("a.npz"), path("nowhere/x.npz"))
fails("Is a directory", "copy", path("a.npz"), folder)
assert not [name for name in os.listdir(folder) if ".tmp" in name]
