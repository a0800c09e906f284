# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs the wheel of `tools/dev wheel` in a Debian system that has Python but no LLVM. Checks
# the dependencies, exported symbols, licences and tools of the wheel. Runs the demo, and a step
# next to torch.compile.
#
# The feature `debootstrap` needs root and the tool debootstrap. The test also needs a package
# archive.
#
# REQUIRES: torch-export, jax, debootstrap, long
# RUN: rm -rf %t && mkdir %t
# RUN: %amp_src_root/tools/dev wheel %t/wheels
# RUN: %torch_python %s %amp_src_root %jax_python %t/wheels %t/root
"""Usage: wheel-root.py <root of the source tree> <Python with JAX> <folder of the wheel> <folder for Debian>

If the last folder already contains a Debian system, the test uses it unchanged."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import zipfile

SOURCE, JAX, WHEELS, ROOT = (pathlib.Path(argument).absolute() for argument in sys.argv[1:])
HERE = pathlib.Path(__file__).resolve().parent
#: The libraries that the manylinux tag guarantees (PEP 600).
SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1", "libstdc++.so.6",
          "libz.so.1", "ld-linux-x86-64.so.2"}
#: The maximum size of the wheel in bytes.
MOST_BYTES = 160 << 20


def run(command, **options):
    result = subprocess.run(command, capture_output=True, text=True, **options)
    assert result.returncode == 0, f"{command}: {result.stdout[-3000:]}{result.stderr[-3000:]}"
    return result.stdout


def check_wheel(wheel):
    """Checks the contents of the wheel."""
    assert re.fullmatch(r"amp_mlir-[\d.]+-py3-none-manylinux_2_\d+_x86_64", wheel.stem), wheel.name
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.0f} MB")
    assert wheel.stat().st_size < MOST_BYTES
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
        info = next(pathlib.Path(folder).glob("*.dist-info"))
        metadata = (info / "METADATA").read_text()
        assert "Requires-Python: >=3.10" in metadata and "Operating System :: POSIX :: Linux" in metadata
        licenses = {path.name for path in (info / "licenses").iterdir()}
        assert licenses == {"LICENSE", "LICENSE.LLVM", "LICENSE.zstd"}, licenses
        package = pathlib.Path(folder, "amp_torch")
        binaries = [*(package / "bin").iterdir(), *(package / "lib").iterdir()]
        assert len(binaries) == 7, binaries
        for binary in binaries:
            check_binary(binary)
        exported = run(["nm", "-D", "--defined-only", package / "lib" / "libAMPStep.so"]).splitlines()
        assert [line.split()[-1] for line in exported] == ["amp_step_compile"], exported


def check_binary(path):
    """Checks that a program or library needs only system libraries and contains no path of the source tree."""
    dynamic = run(["readelf", "-d", path])
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", dynamic))
    assert needed <= SYSTEM and "RUNPATH" not in dynamic and "RPATH" not in dynamic, (path, dynamic)
    assert ".symtab" not in run(["readelf", "-SW", path]), path
    assert str(SOURCE).encode() not in path.read_bytes(), path
    print(f"  {path.name}: {path.stat().st_size / 1e6:.0f} MB")


def in_root(script, environment=()):
    """Runs a shell script in the Debian system, with the torch and JAX of the tests."""
    folders = {"torch": sysconfig.get_path("purelib"),
               "jax": run([JAX, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).strip()}
    mounts = []
    for name, folder in folders.items():
        (ROOT / "opt" / name).mkdir(exist_ok=True)
        mounts.append(f"mount --bind '{folder}' '{ROOT}/opt/{name}'")
    mounts += [f"mount -t proc proc '{ROOT}/proc'", f"mount -t tmpfs tmpfs '{ROOT}/dev/shm'"]
    clean = ["env", "-i", "PATH=/venv/bin:/usr/bin:/bin", "HOME=/root", "LANG=C.UTF-8", *environment]
    command = " && ".join(mounts) + f" && exec chroot '{ROOT}' {' '.join(clean)} bash -e -c \"$0\""
    return run(["unshare", "--mount", "sh", "-c", command, script])


def main():
    (wheel,) = WHEELS.glob("*.whl")
    check_wheel(wheel)
    if not (ROOT / "usr" / "bin" / "python3").exists():
        version = ".".join(map(str, sys.version_info[:2]))
        run(["debootstrap", "--variant=minbase", "--include=python3,python3-venv", "bookworm", ROOT])
        assert version in in_root("python3 --version"), f"the packages of the tests are for Python {version}"
    (ROOT / "amp").mkdir(exist_ok=True)
    shutil.copy2(wheel, ROOT / "amp")
    torch_tests = SOURCE / "test" / "Torch"
    for script in (
        HERE / "Inputs" / "wheel" / "jax_step.py",
        torch_tests / "one-process.py",
        torch_tests / "Inputs" / "eager_training.py",
    ):
        shutil.copy2(script, ROOT / "amp")
    found = in_root("find / -xdev -name 'libLLVM*' -o -xdev -name 'libMLIR*'")
    assert not found, found
    in_root("rm -rf /venv && python3 -m venv /venv && cd /venv/lib/python3*/site-packages && echo /opt/torch > torch.pth && "
            f"pip install --quiet --no-index --no-deps /amp/{wheel.name} && mkdir -p /dev/shm")
    version = in_root("amp-opt --version")
    assert re.fullmatch(r"AMP [\d.]+, with MLIR 22[\d.]+\n", version), version
    start = time.monotonic()
    print(in_root("python -m amp_torch.demo /tmp/reports"))
    print(f"the demo took {time.monotonic() - start:.0f} s")
    # The tools train a model and generate CUDA.
    printed = in_root("cd /tmp && amp-model mlp --batch 8 -o mlp.mlir && amp-run mlp.mlir --synthetic --steps 4 --compare f32,bf16 "
                      "--num-threads 2")
    print(printed)
    assert "bf16" in printed
    in_root("cd /tmp && amp-translate --mlir-to-cuda mlp.mlir --precision bf16 --standalone -o mlp.cu && grep -q __global__ mlp.cu")
    for order in ("before", "after"):
        print(in_root(f"cd /tmp && python /amp/one-process.py {order}"))
    # JAX runs without the commands of the virtual environment on the PATH.
    print(in_root("cd /tmp && PATH=/usr/bin:/bin PYTHONPATH=/opt/jax JAX_PLATFORMS=cpu /venv/bin/python /amp/jax_step.py"))


if __name__ == "__main__":
    main()
