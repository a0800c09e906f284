# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lets a PyTorch that is built for CUDA run on a CPU without CUDA's libraries.

Usage: stand-ins.py <site-packages with torch>

The loader resolves every library that PyTorch's libraries name. For each one
that is missing, this writes a library of that name whose functions abort. The
names and the versions of the functions come from PyTorch's own libraries. A
program that calls none of them runs as with the real libraries. This is for
tests on a CPU: a PyTorch that trains on a GPU needs the real ones.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

# NVIDIA's libraries. The driver (libcuda) is loaded on demand only.
NVIDIA = re.compile(r"lib((?:cu(?!da\.)|nv|nccl)[A-Za-z]*)\w*\.so")


def readelf(option, path):
    command = ["readelf", option, "-W", str(path)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed(path):
    """The names of the libraries that a library names."""
    return re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", path))


def undefined(path):
    """The functions that a library expects: pairs of name and version or ''."""
    for line in readelf("--dyn-syms", path).splitlines():
        columns = line.split()
        if len(columns) > 7 and columns[6] == "UND" and columns[4] != "WEAK":
            name, _, version = columns[7].partition("@")
            yield name, version


def write_library(path, symbols):
    """Compiles a library with these (name, version) functions, which abort."""
    by_version = {}
    for name, version in sorted(symbols):
        by_version.setdefault(version, []).append(name)
    source = "".join(
        f"void {name}(void) {{ __builtin_trap(); }}\n" for name, _ in sorted(symbols)
    )
    script = "".join(
        f"{version} {{ global: {' '.join(name + ';' for name in names)} }};\n"
        for version, names in by_version.items()
        if version
    )
    with tempfile.TemporaryDirectory() as folder:
        code, versions = pathlib.Path(folder, "code.c"), pathlib.Path(folder, "versions")
        code.write_text(source)
        versions.write_text(script)
        command = ["cc", "-shared", "-fPIC", "-w", "-fno-builtin", f"-Wl,-soname,{path.name}"]
        if script:
            command.append(f"-Wl,--version-script={versions}")
        subprocess.run([*command, "-o", str(path), str(code)], check=True)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    packages = pathlib.Path(sys.argv[1])
    folder = packages / "torch" / "lib"
    if not folder.is_dir():
        sys.exit(f"stand-ins: no torch in '{packages}'")
    libraries = [path for path in sorted(folder.glob("*.so")) if path.name.startswith("lib")]
    present = {path.name for path in packages.glob("nvidia/*/lib/*.so*")}
    present |= {path.name for path in folder.glob("*.so*")}
    missing = {}
    expected = set()
    for library in libraries:
        expected |= set(undefined(library))
        for name in needed(library):
            if NVIDIA.match(name) and name not in present:
                missing.setdefault(name, set())
    for symbol, version in expected:
        version = version.lstrip("@")
        owners = [name for name in missing if name == version]
        if not owners:
            owners = [name for name in missing if symbol.startswith(NVIDIA.match(name)[1])]
        if owners:
            owner = max(owners, key=lambda name: len(NVIDIA.match(name)[1]))
            missing[owner].add((symbol, version))
    for name, symbols in sorted(missing.items()):
        write_library(folder / name, symbols)
    print(f"stand-ins: wrote {len(missing)} libraries: {' '.join(sorted(missing))}")


if __name__ == "__main__":
    main()
