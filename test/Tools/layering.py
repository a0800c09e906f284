# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The precision libraries depend on no dialect but amp and builtin: neither do
# they link one, nor does their code refer to anything in the namespace of one.
# AMP::All has every library that a compiler takes in, of models as well.
#
# UNSUPPORTED: static-mlir
# RUN: %python %s %amp_obj_root
"""Usage: layering.py <build tree>"""

import pathlib
import re
import subprocess
import sys

# The libraries of this project that each may link.
LINKS = {
    "Support": set(),
    "Interfaces": {"Support"},
    "Dialect": {"Support", "Interfaces"},
    "LossScaling": {"Support", "Interfaces", "Dialect"},
    "Precision": {"Support", "Interfaces", "Dialect", "LossScaling"},
    "Transforms": {"Support", "Interfaces", "Dialect", "LossScaling", "Precision"},
}
# Namespaces under mlir that are not dialects. Builtin has no separate library.
NOT_DIALECTS = {
    "amp",
    "detail",
    "dialect_extension_detail",
    "function_interface_impl",
    "impl",
    "remark",
}
# The guard, its condition and a constant scale are written in these. So are the scales of quantisers, which
# are divided by the loss scale.
GUARD = {"arith", "scf", "tensor"}
GUARD_OBJECTS = re.compile(r"^(GradientGroups|InsertLossScaling|InsertMasterWeights|OverflowGuard|QuantizedCopies|QuantizeProducts|ScalerState|UpdateRounder)\.cpp\.o$")


def links(build):
    """The libraries of this project that each one links, and those in turn."""
    text = (build / "lib/cmake/AMP/AMPTargets.cmake").read_text()
    direct = {
        name: set(re.findall(r"AMP::(\w+)", libraries))
        for name, libraries in re.findall(
            r"set_target_properties\(AMP::(\w+) PROPERTIES\n(?:[^)]*?)"
            r'INTERFACE_LINK_LIBRARIES "([^"]*)"',
            text,
        )
    }

    def closure(name):
        # A library that links none of ours is not listed.
        others = direct.get(name, set())
        return others.union(*(closure(other) for other in others))

    return {name: closure(name) for name in direct}


def archive(build, name):
    return next((build / "lib").rglob(f"libAMP{name}.a"))


def namespaces(path):
    """Yields (object file, namespace under mlir) of the undefined symbols of an archive."""
    text = subprocess.run(
        ["llvm-nm", "--demangle", "--undefined-only", path],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    member = ""
    for line in text.splitlines():
        if line.endswith(":"):
            member = line[:-1]
        for namespace in re.findall(r"\bmlir::([a-z]\w*)::", line):
            yield member, namespace


def main(build):
    failures = []
    linked = links(build)
    for name, allowed in LINKS.items():
        if not linked[name] <= allowed:
            failures.append(f"AMP{name} links {sorted(linked[name] - allowed)}")
        for member, namespace in sorted(set(namespaces(archive(build, name)))):
            if namespace in NOT_DIALECTS:
                continue
            if name == "Transforms" and namespace in GUARD and GUARD_OBJECTS.match(member):
                continue
            failures.append(f"{member} of AMP{name} refers to mlir::{namespace}")
    # Those that docs/embedding.md names in addition.
    left = set(linked) - linked["All"] - {"All", "CAPI", "CAPIShared", "Execution", "ExecutionCUDA", "RegisterTools"}
    if left:
        failures.append(f"AMP::All lacks {sorted(left)}")
    # What finds nothing proves nothing.
    found = {namespace for _, namespace in namespaces(archive(build, "Conversion"))}
    if not {"linalg", "train"} <= found or "TrainDialect" not in linked["Conversion"]:
        failures.append(f"the check is blind: AMPConversion refers to {sorted(found)}")
    print("\n".join(failures) or f"{len(LINKS)} libraries, no dialect")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
