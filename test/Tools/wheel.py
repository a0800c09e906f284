# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The wheel of this build, installed in a folder of its own: its commands run, and the demo
# trains in three precisions with nothing but the wheel and torch. This build may link
# LLVM's shared libraries; `tools/dev wheel` makes one that does not.
#
# REQUIRES: torch-export, full
# Python lacks the runtime that a library with sanitizers needs.
# UNSUPPORTED: sanitizer
# RUN: rm -rf %t && mkdir %t
# RUN: %torch_python %s %amp_src_root %amp_obj_root %t
"""Usage: wheel.py <root of the source tree> <build folder> <folder>"""

import os
import pathlib
import re
import subprocess
import sys
import zipfile

root, build, folder = map(pathlib.Path, sys.argv[1:])


def run(command, environment=None):
    result = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)
    assert result.returncode == 0, f"{command}: {result.stdout[-2000:]}{result.stderr[-2000:]}"
    return result.stdout


printed = run([sys.executable, root / "tools" / "wheel" / "make-wheel.py", build, folder / "wheels"])
(wheel,) = (folder / "wheels").glob("*.whl")
assert str(wheel) in printed and re.fullmatch(r"amp_mlir-[\d.]+-py3-none-linux_x86_64", wheel.stem), printed
names = zipfile.ZipFile(wheel).namelist()
for name in ("amp_torch/bin/amp-opt", "amp_torch/lib/libAMPStep.so", "amp_torch/policies/aten.yaml", "amp_torch/rules/losses.py",
             "amp_torch/demo.py", "amp_jax.py"):
    assert name in names, name
assert not any("__pycache__" in name for name in names)

# The tests' own PATH and PYTHONPATH name the build.
site = folder / "site"
run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", site, wheel])
clean = {key: os.environ[key] for key in ("HOME", "LANG", "TMPDIR") if key in os.environ}
clean.update(PATH="/usr/bin:/bin", PYTHONPATH=str(site), XDG_CACHE_HOME=str(folder / "cache"))
version = run([site / "bin" / "amp-opt", "--version"], clean)
assert "AMP" in version and "MLIR" in version, version
table = run([sys.executable, "-m", "amp_torch.demo", folder / "reports"], clean)
print(table)
rows = {line.split()[0]: line.split() for line in table.splitlines()[1:4]}
assert list(rows) == ["f32", "bf16", "fp16"]
for precision, row in rows.items():
    assert float(row[2]) < 0.2 * float(row[1]) and float(row[3].rstrip("%")) > 90, row
assert int(rows["fp16"][5]) > 10 and (folder / "reports" / "fp16.html").exists()
