# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: make-wheel.py <build folder> <output folder>

Packs the tools and the library of a build, amp_torch and amp_jax into the wheel amp-mlir.
This needs pip and setuptools. The wheel of a build with the preset `wheel` runs without
LLVM. auditwheel checks that wheel and sets its manylinux tag. The wheel of any other build
runs only on this machine."""

import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

TOOLS = ("amp-model", "amp-opt", "amp-report", "amp-run", "amp-translate")
LIBRARIES = ("libAMPStep.so",)
#: LLVM's OpenMP runtime, which multi-threaded steps call.
OPENMP = "libomp.so.5"
#: Headers that generated CUDA programs include, and those of the C interface.
HEADERS = ("amp/Runtime", "amp-c/CompileStep.h")
#: The projects of which a portable build contains parts, and the Debian packages with their
#: licences.
LICENSES = {"LLVM": "llvm-22-dev", "zstd": "libzstd-dev"}

PROJECT = """[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "amp-mlir"
version = "{version}"
description = "Automatic mixed precision as an MLIR compiler, for PyTorch and JAX"
readme = "README.md"
license = "Apache-2.0 WITH LLVM-exception"
license-files = ["LICENSE*"]
requires-python = ">=3.10"
dependencies = ["numpy"]
classifiers = [
    "Intended Audience :: Developers",
    "Intended Audience :: Science/Research",
    "Operating System :: POSIX :: Linux",
    "Programming Language :: Python :: 3",
    "Topic :: Scientific/Engineering :: Artificial Intelligence",
    "Topic :: Software Development :: Compilers",
]

[project.optional-dependencies]
torch = ["torch>=2.9"]
jax = ["jax"]

[project.scripts]
{scripts}

[tool.setuptools]
py-modules = ["amp_jax", "amp_mlir_tools"]
packages = ["amp_torch", "amp_torch.rules"]

[tool.setuptools.package-data]
amp_torch = ["bin/*", "include/**", "lib/*", "policies/*"]
"""

# Python modules of any version, machine code of one platform.
SETUP = """from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel


class BinaryDistribution(Distribution):
    def has_ext_modules(self):
        return True


class PlatformWheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", "linux_x86_64"


setup(distclass=BinaryDistribution, cmdclass={"bdist_wheel": PlatformWheel})
"""


def version_of(root):
    return re.search(r"project\(amp VERSION ([\d.]+)", (root / "CMakeLists.txt").read_text()).group(1)


def strip(path):
    subprocess.run(["strip", "--strip-unneeded", path], check=True)


def is_portable(build):
    """Whether the build runs on machines without LLVM."""
    return "AMP_PORTABLE:BOOL=ON" in (build / "CMakeCache.txt").read_text()


def stage_license(folder, name, package):
    """Copies the licence from a Debian package."""
    path = pathlib.Path("/usr/share/doc", package, "copyright")
    if not path.exists():
        sys.exit(f"make-wheel.py: {path} is missing; the wheel contains parts of {name} and needs its licence")
    shutil.copy2(path, folder / f"LICENSE.{name}")


def stage(root, build, folder):
    """The project that pip builds."""
    ignored = shutil.ignore_patterns("__pycache__")
    package = folder / "amp_torch"
    shutil.copytree(root / "tools" / "amp-torch" / "amp_torch", package, ignore=ignored)
    libraries = LIBRARIES + ((OPENMP,) if is_portable(build) else ())
    for name, names in (("bin", TOOLS), ("lib", libraries)):
        (package / name).mkdir()
        for item in names:
            source = build / name / item
            if not source.exists():
                sys.exit(f"make-wheel.py: {source} is missing; build the targets {' '.join(TOOLS)} AMPStep")
            shutil.copy2(source, package / name / item)
            strip(package / name / item)
    for name in HEADERS:
        source, copy = root / "include" / name, package / "include" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, copy)
    for source in ("tools/amp-jax/amp_jax.py", "tools/wheel/amp_mlir_tools.py", "LICENSE", "README.md"):
        shutil.copy2(root / source, folder)
    if is_portable(build):
        for name, owner in LICENSES.items():
            stage_license(folder, name, owner)
    scripts = "\n".join(f'{name} = "amp_mlir_tools:{name.replace("-", "_")}"' for name in TOOLS)
    (folder / "pyproject.toml").write_text(PROJECT.format(version=version_of(root), scripts=scripts))
    (folder / "setup.py").write_text(SETUP)


def repair(wheel, out):
    """Writes the wheel with the manylinux tag that auditwheel chooses. Fails if auditwheel
    refuses the wheel."""
    here = os.path.dirname(sys.executable)
    environment = {**os.environ, "PATH": here + os.pathsep + os.environ.get("PATH", "")}
    command = [sys.executable, "-m", "auditwheel", "repair", "--plat", "auto", "--wheel-dir", out, wheel]
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"make-wheel.py: auditwheel refuses the wheel:\n{result.stdout}{result.stderr}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        sys.exit(f"make-wheel.py: expected Linux on x86_64, this is {platform.system()} on {platform.machine()}")
    root = pathlib.Path(__file__).resolve().parents[2]
    build, out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        project, made, repaired = (pathlib.Path(scratch, name) for name in ("project", "wheel", "repaired"))
        project.mkdir()
        stage(root, build, project)
        subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation",
                        "--wheel-dir", made, project], check=True)
        (wheel,) = made.glob("*.whl")
        if is_portable(build):
            repair(wheel, repaired)
            (wheel,) = repaired.glob("*.whl")
        for old in out.glob("amp_mlir-*.whl"):
            old.unlink()
        shutil.move(wheel, out)
    print(*out.glob("amp_mlir-*.whl"), sep="\n")


if __name__ == "__main__":
    main()
