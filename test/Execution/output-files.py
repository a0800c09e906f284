# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Output paths keep their kind: links, pipes and devices are written through, files keep their mode,
# and a file that is protected or cannot be written in full does not change. For amp-run and for the
# reports of amp-opt.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import os
import resource
import signal
import stat
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from runner import MODEL, make_data

folder = sys.argv[1] + "/"
np.savez(folder + "data.npz", **make_data())


def csv(path):
    return [
        "amp-run", MODEL, "--data", folder + "data.npz", "--steps", "2", "--batch-size", "10",
        "--quiet", "--metrics-csv", path,
    ]


def report(path):
    return ["amp-opt", MODEL, "--train-autodiff", "--auto-mixed-precision=report=" + path, "-o", folder + "out.mlir"]


def start(command, **options):
    return subprocess.run(command, capture_output="stdout" not in options, text=True, **options)


def read(path):
    with open(path) as f:
        return f.read()


def write(path, text, mode=0o644):
    with open(path, "w") as f:
        f.write(text)
    os.chmod(path, mode)


for command, suffix, first in ((csv, ".csv", "precision,"), (report, ".json", "{")):

    def ok(path):
        result = start(command(path))
        assert result.returncode == 0, (path, result)

    def fails(path, message, **options):
        before = set(os.listdir(folder))
        result = start(command(path), **options)
        assert result.returncode == 1, (path, result)
        assert message in result.stderr and "LLVM ERROR" not in result.stderr, (path, result.stderr)
        assert result.stderr.count("error:") == 1, result.stderr
        assert set(os.listdir(folder)) - before <= {"out.mlir"}, os.listdir(folder)

    # A new file gets the mode that the user's mask gives.
    path = folder + "new" + suffix
    previous = os.umask(0o027)
    ok(path)
    os.umask(previous)
    assert read(path).startswith(first)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o640, oct(os.stat(path).st_mode)

    # A file keeps its mode and a link stays one, also one of a link.
    target = folder + "target" + suffix
    write(target, "old", 0o604)
    os.symlink("target" + suffix, folder + "link" + suffix)
    os.symlink(folder + "link" + suffix, folder + "links" + suffix)
    ok(folder + "links" + suffix)
    assert os.readlink(folder + "links" + suffix) == folder + "link" + suffix
    assert os.readlink(folder + "link" + suffix) == "target" + suffix
    assert not os.path.islink(target) and read(target).startswith(first)
    assert stat.S_IMODE(os.stat(target).st_mode) == 0o604, oct(os.stat(target).st_mode)
    os.symlink("later" + suffix, folder + "dangling" + suffix)
    ok(folder + "dangling" + suffix)
    assert os.path.islink(folder + "dangling" + suffix)
    assert read(folder + "later" + suffix).startswith(first)
    os.symlink("circle" + suffix, folder + "circle" + suffix)
    fails(folder + "circle" + suffix, "oo many")

    # A file without write permission does not change, even for root.
    path = folder + "protected" + suffix
    write(path, "old", 0o444)
    fails(path, "ermission denied")
    assert read(path) == "old" and stat.S_IMODE(os.stat(path).st_mode) == 0o444

    # A pipe.
    path = folder + "pipe" + suffix
    os.mkfifo(path)
    texts = []
    reader = threading.Thread(target=lambda: texts.append(read(path)), daemon=True)
    reader.start()
    ok(path)
    reader.join(20)
    assert texts and texts[0].startswith(first), texts
    assert stat.S_ISFIFO(os.lstat(path).st_mode)

    # A disk that is full: nothing of the old file is lost, nothing is left.
    path = folder + "full" + suffix
    write(path, "old")

    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50, resource.RLIM_INFINITY))

    fails(path, "ile too large", preexec_fn=small_files)
    assert read(path) == "old"

    # Devices, where the test may make some: the null and the full one.
    null, full = folder + "null" + suffix, folder + "nospace" + suffix
    try:
        os.mknod(null, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        os.mknod(full, stat.S_IFCHR | 0o666, os.makedev(1, 7))
        open(full, "w").close()
    except OSError:
        continue
    ok(null)
    assert stat.S_ISCHR(os.lstat(null).st_mode)
    fails(full, "o space left on device")
    assert stat.S_ISCHR(os.lstat(full).st_mode)
    with open(full, "w") as out:
        for line in (csv("-"), ["amp-run", MODEL, "--print-ir"]):
            result = start(line, stdout=out, stderr=subprocess.PIPE)
            assert result.returncode == 1, result
            assert "cannot write '<stdout>'" in result.stderr, result.stderr
            assert "LLVM ERROR" not in result.stderr, result.stderr

# The standard output by name, redirected to a file, loses nothing.
with open(folder + "all.txt", "w") as out:
    assert start(csv("/proc/self/fd/1"), stdout=out).returncode == 0
text = read(folder + "all.txt")
assert "precision,seed" in text and "final loss" in text, text
