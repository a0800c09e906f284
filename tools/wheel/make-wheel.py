# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: make-wheel.py <build folder> <output folder>

Packs the tools and the library of a build, amp_torch and amp_jax as the wheel amp-mlir.
It needs pip and setuptools. The wheel holds what the build links: a build with
AMP_LINK_MLIR_DYLIB=OFF needs no LLVM where it is installed."""

import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

TOOLS = ("amp-opt", "amp-run", "amp-translate")
LIBRARIES = ("libAMPStep.so",)

PROJECT = """[build-system]
requires = ["setuptools>=70.1"]
build-backend = "setuptools.build_meta"

[project]
name = "amp-mlir"
version = "{version}"
description = "Automatic mixed precision as an MLIR compiler, for PyTorch and JAX"
readme = "README.md"
license = "Apache-2.0 WITH LLVM-exception"
license-files = ["LICENSE"]
requires-python = ">=3.10"
dependencies = ["numpy"]

[project.optional-dependencies]
torch = ["torch>=2.9"]
jax = ["jax"]

[project.scripts]
{scripts}

[tool.setuptools]
py-modules = ["amp_jax", "amp_mlir_tools"]
packages = ["amp_torch", "amp_torch.rules"]

[tool.setuptools.package-data]
amp_torch = ["bin/*", "lib/*", "policies/*"]
"""

# Python modules of any version, machine code of one platform.
SETTINGS = """[bdist_wheel]
plat-name = linux_x86_64
"""


def version_of(root):
    return re.search(r"project\(amp VERSION ([\d.]+)", (root / "CMakeLists.txt").read_text()).group(1)


def strip(path):
    subprocess.run(["strip", "--strip-unneeded", path], check=True)


def stage(root, build, folder):
    """The project that pip builds."""
    ignored = shutil.ignore_patterns("__pycache__")
    package = folder / "amp_torch"
    shutil.copytree(root / "tools" / "amp-torch" / "amp_torch", package, ignore=ignored)
    for name, names in (("bin", TOOLS), ("lib", LIBRARIES)):
        (package / name).mkdir()
        for item in names:
            source = build / name / item
            if not source.exists():
                sys.exit(f"make-wheel.py: {source} is missing; build the targets {' '.join(TOOLS)} AMPStep")
            shutil.copy2(source, package / name / item)
            strip(package / name / item)
    for source in ("tools/amp-jax/amp_jax.py", "tools/wheel/amp_mlir_tools.py", "LICENSE", "README.md"):
        shutil.copy2(root / source, folder)
    scripts = "\n".join(f'{name} = "amp_mlir_tools:{name.replace("-", "_")}"' for name in TOOLS)
    (folder / "pyproject.toml").write_text(PROJECT.format(version=version_of(root), scripts=scripts))
    (folder / "setup.cfg").write_text(SETTINGS)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        sys.exit(f"make-wheel.py: expected Linux on x86_64, this is {platform.system()} on {platform.machine()}")
    root = pathlib.Path(__file__).resolve().parents[2]
    build, out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        stage(root, build, pathlib.Path(scratch))
        subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation",
                        "--wheel-dir", out, scratch], check=True)
    print(*sorted(out.glob("amp_mlir-*.whl")), sep="\n")


if __name__ == "__main__":
    main()
