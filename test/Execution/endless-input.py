# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Files without an end, huge files and deeply nested text: each tool reports an error and ends. It
# neither reads nor allocates the claimed size of a file.
#
# REQUIRES: full
# The address sanitizer reserves more than the limit of memory here.
# UNSUPPORTED: sanitizer
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %digits %models/digits-mlp.mlir
"""Usage: endless-input.py <folder> <data> <model>"""

import io
import os
import resource
import struct
import subprocess
import sys
import zipfile

import numpy as np

folder, digits, model = sys.argv[1:]
os.chdir(folder)
os.mkfifo("fifo")
os.mkfifo("fifo.npy")
os.mkdir("dir")
TRAIN = ("amp-run", model, "--data", digits, "--steps", "1", "--quiet")
SECONDS = 60
# Far less than the claimed sizes of the files.
BYTES = 6 << 30


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))


def fails(message, *command, input=None, limited=True):
    result = subprocess.run(
        command, capture_output=True, text=True, errors="replace", timeout=SECONDS,
        stdin=input or subprocess.DEVNULL, preexec_fn=limit if limited else None,
    )  # fmt: skip
    output = result.stderr or result.stdout
    assert result.returncode == 1, (command, result.returncode, output[:500])
    assert message in output, (command, message, output[:500])
    assert len(output) < 4000, (command, len(output))


def readers(path):
    """Every option that names a file that a tool reads."""
    yield *TRAIN, "--load", path
    yield *TRAIN, "--init", path
    yield "amp-run", model, "--data", path, "--steps", "1", "--quiet"
    yield "amp-run", path, "--data", digits, "--steps", "1", "--quiet"
    yield "amp-opt", path
    yield "amp-opt", model, f"--auto-mixed-precision=policy={path}"
    yield "amp-opt", model, f"--amp-training-pipeline=policy={path}"
    yield "amp-opt", f"--amp-print-policy={path}"
    yield "amp-translate", "--mlir-to-cuda", path


for path in ("/dev/zero", "fifo", "fifo.npy"):
    for command in readers(path):
        fails("it is a device, a pipe or a socket, expected a file", *command)
for command in readers("dir"):
    fails("irectory", *command)

# A policy that extends one, and standard input without an end.
open("extends.yaml", "w").write("version: 1\nextends: /dev/zero\n")
fails("it is a device", "amp-opt", "--amp-print-policy=extends.yaml")
with open("/dev/zero") as zero:
    fails("it has more than", "amp-opt", "-", input=zero, limited=False)

# A file with a hole is as large as one without.
for name, size in (("hole.npz", 1 << 43), ("hole.npy", 1 << 43), ("hole.mlir", 1 << 43)):
    with open(name, "wb") as file:
        file.truncate(size)
for option in ("--load", "--init"):
    fails("not an .npz archive", *TRAIN, option, "hole.npz")
    fails("bad magic", *TRAIN, option, "hole.npy")
fails("bytes, expected at most", "amp-opt", "hole.mlir")
fails("bytes, expected at most", "amp-opt", "--amp-print-policy=hole.mlir")


def end(count, size, offset):
    """The end of an archive with a directory of any size."""
    record = struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, count, count, size, offset)
    locator = struct.pack("<IIQI", 0x07064B50, 0, offset + size, 1)
    return record + locator + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 65535, 65535, 2**32 - 1, 2**32 - 1, 0)


# A directory that is a hole.
with open("directory.npz", "wb") as file:
    file.truncate(1 << 43)
    file.seek(1 << 43)
    file.write(end(1 << 60, 1 << 43, 0))
fails("its directory is damaged", *TRAIN, "--load", "directory.npz")


def npy(descr, shape, data=b"", version=1):
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + data


def archive(name, **members):
    with zipfile.ZipFile(name, "w") as file:
        for member, content in members.items():
            file.writestr(member + ".npy", content, zipfile.ZIP_DEFLATED)


# Shapes beyond any memory, ranks beyond any array, headers without an end.
shape = "(4503599627370496, 256)"
for name, content, message in (
    ("petabytes", npy("<f4", shape, bytes(16)), "does not match its header"),
    ("overflow", npy("<f8", "(9223372036854775807, 9223372036854775807)"), "does not match"),
    ("rank", npy("<f4", "(" + "1, " * 100 + ")", bytes(4)), "malformed .npy header"),
    ("ranks", npy("<f4", "(" + "1, " * 10**6 + ")", bytes(4), 2), "inside its .npy header"),
    ("header", b"\x93NUMPY\2\0" + b"\xff" * 4 + b" " * 100, "inside its .npy header"),
):
    archive(name + ".npz", train_x=content)
    open(name + ".npy", "wb").write(content)
    for path in (name + ".npz", name + ".npy"):
        fails(message, *TRAIN, "--load", path)
        fails(message, "amp-run", model, "--data", path, "--steps", "1", "--quiet")

# An array that is empty however large its other extents are.
huge = "(9223372036854775807, 9223372036854775807, 0)"
archive("empty.npz", w=npy("<f8", huge))
assert subprocess.run(["amp-execution-test", "describe", "empty.npz"]).returncode == 0

# A bomb: 8 GB of zeros in 8 MB. No run reads an array that it does not want, and
# the arrays that it reads fit in memory together.
rows = 2**21
zeros = io.BytesIO()
with zipfile.ZipFile(zeros, "w") as file:
    with file.open(zipfile.ZipInfo("train_x.npy"), "w", force_zip64=True) as member:
        member.write(npy("<f8", f"({rows * 64 * 8},)"))
open("bomb.npz", "wb").write(zeros.getvalue())
fails("holds 0 bytes of data", *TRAIN, "--load", "bomb.npz")

# Many arrays, each of which fits: 1.25 GiB of zeros in a megabyte. The sum is
# checked before the array that does not fit is read.
piece = npy("<f4", "(8388608,)", bytes(1 << 25))
archive("sum.npz", **{f"w{i}": piece for i in range(40)})
assert os.path.getsize("sum.npz") < 2 << 20
result = subprocess.run(
    ["amp-execution-test", "describe", "sum.npz"], capture_output=True, text=True, timeout=SECONDS,
    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)),
)  # fmt: skip
assert result.returncode == 1 and "the arrays takes " in result.stdout + result.stderr, result

# Text that nests deeply, and lines of a million operations.
deep = {
    "attribute": "func.func @f() attributes {a = " + "[" * 10**6,
    "type": "func.func @f(" + "tuple<" * 10**6,
    "region": "scf.if %a {" * 10**6,
    "brackets": "(" * 10**6,
    "balanced": '"a.b"() {x = ' + "[" * 10**5 + "]" * 10**5 + "} : () -> ()",
}
for name, text in deep.items():
    open(name + ".mlir", "w").write(text)
    for command in (("amp-opt", name + ".mlir"), (*TRAIN[:1], name + ".mlir", *TRAIN[2:]),
                    ("amp-translate", "--mlir-to-cuda", name + ".mlir")):  # fmt: skip
        fails("line 1 has a bracket within 256 others", *command)
# Strings and comments do not nest, and neither do comparisons and arrows.
open("flat.mlir", "w").write(
    'module attributes {x.a = "' + "[" * 5000 + '"} {} // ' + "{" * 5000 + "\n"
    + "#set = affine_set<(d0) : (d0 >= 0, " + "d0 + 1 >= 0, " * 300 + "d0 == 0)>\n"
)  # fmt: skip
subprocess.run(["amp-opt", "flat.mlir"], check=True, capture_output=True)

open("deep.yaml", "w").write("version: 1\nallow: " + "[" * 10**5 + "]" * 10**5 + "\n")
fails("expected at most 64 mappings and lists", "amp-opt", "--amp-print-policy=deep.yaml")
open("braces.yaml", "w").write("{a: " * 10**5 + "\n")
fails("expected at most 64 mappings and lists", "amp-opt", "--amp-print-policy=braces.yaml")
open("large.yaml", "w").write("version: 1\nallow: [" + "train.add, " * 10**5 + "]\n")
fails("bytes, expected at most 1048576", "amp-opt", "--amp-print-policy=large.yaml")

# The types of arrays are JSON.
types = np.frombuffer(b'{"w":' * 10**5, np.uint8)
np.savez("json.npz", __amp_types__=types)
fails("is not a JSON object", *TRAIN, "--load", "json.npz")
