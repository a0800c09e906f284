# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The plugin in LLVM's own mlir-opt does what amp-opt does: every pass, every
# pipeline, with every option; it brings no second MLIR, shows nothing but its
# entry points, and refuses to work in a tool that does not use its MLIR, before
# anything of MLIR is loaded there.
#
# REQUIRES: full
# UNSUPPORTED: static-mlir, sanitizer
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %amp_src_root %amp_plugin %t
"""Usage: plugin.py <source tree> <AMPPlugin.so> <scratch folder>"""

import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys

ENTRY_POINTS = {"mlirGetDialectPluginInfo", "mlirGetPassPluginInfo"}


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    # The messages of the tool may contain its folder.
    return result.returncode, result.stdout, result.stderr


def pass_names(source):
    """The passes in the generated reference, and the pipelines in the code."""
    reference = (source / "docs/reference/passes.md").read_text()
    passes = re.findall(r"^#+ `-([\w-]+)`$", reference, re.M)
    pipelines = set()
    for file in (source / "lib").rglob("*.cpp"):
        text = file.read_text()
        constants = dict(re.findall(r"StringLiteral (k\w+) = \"([\w-]+)\"", text))
        for name in re.findall(r"(?:PassPipelineRegistration|registerPipeline)<\w*>\w*\s*\(\s*\"?([\w-]+)", text):
            pipelines.add(constants.get(name, name))
    assert len(passes) > 8 and "amp-training-pipeline" in pipelines, (passes, pipelines)
    return sorted(set(passes) | pipelines)


def compare(name, plugin, scratch, source):
    """Yields what differs between mlir-opt with the plugin and amp-opt."""
    mlir_opt = ["mlir-opt", f"--load-dialect-plugin={plugin}", f"--load-pass-plugin={plugin}"]
    inputs = [source / "docs/examples/one-layer.mlir", scratch / "after.mlir"]
    # amp-opt prints the options with their values: all of them go back in.
    anchored = f"builtin.module({name})"
    _, _, text = run("amp-opt", f"--pass-pipeline={anchored}", "--dump-pass-pipeline", inputs[0])
    if "restricted to 'func.func'" in text:
        anchored = f"builtin.module(func.func({name}))"
        _, _, text = run(
            "amp-opt", f"--pass-pipeline={anchored}", "--dump-pass-pipeline", inputs[0]
        )
    dumped = re.search(r"Pass Manager with \d+ passes:\n(.*?\)\n)", text, re.S)
    if not dumped:
        yield f"{name}: amp-opt prints no pipeline: {text}"
        return
    written = "".join(dumped[1].split("\n"))
    for pipeline in (anchored, re.sub(r"\s*([,()])\s*", r"\1", written)):
        for file in inputs:
            # A diagnostic of amp-opt leaves out the operation by default.
            wanted = run("amp-opt", "--mlir-print-op-on-diagnostic", f"--pass-pipeline={pipeline}", file)
            found = run(*mlir_opt, f"--pass-pipeline={pipeline}", file)
            # amp-opt prints its own name in an error without a location.
            wanted = (*wanted[:2], wanted[2].replace("amp-opt: error: ", "<unknown>:0: error: "))
            if wanted != found:
                yield f"{pipeline} of {file.name}: expected {wanted}, got {found}"
            if "registered pass" in found[2] or "unknown option" in found[2]:
                yield f"{pipeline}: {found[2]}"


def entry_point(plugin):
    """Yields the faults of the library that a tool loads first."""
    _, text, _ = run("ldd", plugin)
    if re.search("libMLIR|libLLVM|AMP", text):
        yield f"expected {plugin.name} to be linked to no LLVM, got {text}"
    _, text, _ = run("llvm-nm", "--dynamic", "--defined-only", "--format=just-symbols", plugin)
    shown = {name for name in text.split() if not name.startswith("_")}
    if shown != ENTRY_POINTS:
        yield f"expected {plugin.name} to show {ENTRY_POINTS}, got {shown}"


def linking(plugin):
    """Yields the faults of the libraries and symbols of the passes."""
    _, text, _ = run("ldd", plugin)
    for library in ("libMLIR", "libLLVM"):
        loaded = set(re.findall(rf"{library}[.\w-]*so[.\d]*(?= =>)", text))
        if len(loaded) != 1:
            yield f"expected one {library}, got {loaded}"
    path = re.search(r"libMLIR\S* => (\S+)", text)[1]
    # Functions that are not inline: a definition of one is a second MLIR.
    strong = r"^[0-9a-f]+ [TDB] (\S+)$"
    _, text, _ = run("llvm-nm", "--dynamic", "--defined-only", path)
    mlir = set(re.findall(strong, text.replace("@@LLVM_22.1", ""), re.M))
    assert any("PassInfo" in name for name in mlir), "the pattern for MLIR is wrong"
    _, text, _ = run("llvm-nm", "--defined-only", plugin)
    own = re.findall(r"^[0-9a-f]+ [tdbTDB] (\S+)$", text, re.M)
    assert any("AMPDialect" in name for name in own), "the pattern for the plugin is wrong"
    both = sorted(mlir.intersection(own) - {"_init", "_fini"})
    if both:
        yield f"{len(both)} definitions of MLIR, such as {both[:3]}"
    _, text, _ = run("llvm-nm", "--dynamic", "--defined-only", plugin)
    shown = {line.split()[-1].split("@")[0] for line in text.splitlines()}
    # Identities of types are shared with MLIR, whichever compiler made it.
    shared = {name for name in shown if re.match(r"_Z(GV)?ZN4mlir6detail14TypeIDResolver", name)}
    if not shared:
        yield "expected the identities of types to be visible"
    if shown - shared != {name.replace("mlirGet", "ampGet") for name in ENTRY_POINTS}:
        yield f"expected the two functions of the passes, got {shown}"


# A host that calls both entry points and prints the API versions it gets.
HOST = """
import ctypes, sys
class PluginInfo(ctypes.Structure):
    _fields_ = [("api_version", ctypes.c_uint32), ("name", ctypes.c_char_p),
                ("version", ctypes.c_char_p), ("register", ctypes.c_void_p)]
others = [ctypes.CDLL(path) for path in sys.argv[2:]]
library = ctypes.CDLL(sys.argv[1])
for name in "mlirGetDialectPluginInfo", "mlirGetPassPluginInfo":
    entry = getattr(library, name)
    entry.restype = PluginInfo
    print(entry().api_version)
"""


def wrong_host(plugin, passes):
    """Python is a host that does not use MLIR, even where the process holds it:
    both entry points answer with an API version that no tool takes."""
    _, text, _ = run("ldd", passes)
    mlir = re.search(r"libMLIR\S* => (\S+)", text)[1]
    for others in [], [mlir]:
        result = run(sys.executable, "-c", HOST, plugin, *others)
        if result[:2] != (0, "0\n0\n"):
            yield f"expected the API version 0 twice in a host without MLIR, got {result}"
        message = (
            r"(error: AMPPlugin uses MLIR 22\.\S+ in '\S*libMLIR\S*', but '\S+', which loads it, "
            r"does not; expected a tool that is linked to that library\n){2}"
        )
        if not re.fullmatch(message, result[2]):
            yield f"the message in a host without MLIR: {result[2]}"


def alone(plugin, scratch, source):
    """The library that a tool loads, without the one next to it."""
    copy = shutil.copy(plugin, scratch)
    code, output, error = run(
        "mlir-opt",
        f"--load-pass-plugin={copy}",
        "--pass-pipeline=builtin.module(auto-mixed-precision)",
        source / "test/Embedding/Inputs/linalg.mlir",
    )
    wanted = f"error: AMPPlugin cannot load the passes, expected them in '{scratch}/AMPPluginPasses"
    if code == 0 or output or wanted not in error:
        yield f"the plugin alone: {code}, {output}, {error}"


def twice(plugin, source):
    """A tool that has everything already warns and goes on."""
    code, output, error = run(
        "amp-opt",
        f"--load-dialect-plugin={plugin}",
        f"--load-pass-plugin={plugin}",
        "--pass-pipeline=builtin.module(amp-training-pipeline)",
        source / "docs/examples/one-layer.mlir",
    )
    wanted = [
        f"warning: AMPPlugin: the {what} are there already, and stay as they are"
        for what in ("dialects", "passes")
    ]
    if code != 0 or "amp.unscale" not in output or error.splitlines() != wanted:
        yield f"plugin in amp-opt: {code}, {output}, {error}"


def main(source, plugin, scratch):
    passes = plugin.with_name("AMPPluginPasses.so")
    failures = [*entry_point(plugin), *linking(passes), *twice(plugin, source)]
    failures += [*wrong_host(plugin, passes), *alone(plugin, scratch, source)]
    _, text, _ = run(
        "amp-opt",
        "--pass-pipeline=builtin.module(amp-training-pipeline)",
        source / "docs/examples/one-layer.mlir",
    )
    (scratch / "after.mlir").write_text(text)
    names = pass_names(source)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for result in pool.map(lambda n: list(compare(n, plugin, scratch, source)), names):
            failures += result
    for failure in failures:
        print(failure)
    print(f"{len(names)} passes and pipelines, {len(failures)} failure(s)")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*(pathlib.Path(argument).resolve() for argument in sys.argv[1:])))
