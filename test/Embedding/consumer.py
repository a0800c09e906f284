# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Another compiler adopts the passes: installs this project, moves the installation, builds its own
# tool against it with this source tree and its build hidden, and rewrites a step in its own
# dialect, on tensors of its own type.
#
# REQUIRES: full
# UNSUPPORTED: static-mlir, sanitizer
# RUN: %python %s %S/consumer %amp_src_root %amp_obj_root
"""Usage: consumer.py <consumer> <source tree> <build tree>"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
from installation import cache, install, run, sealed  # noqa: E402


def toy_dialect(run_toy, toy):
    """Runs the toy compiler on steps in its own dialect."""
    output = run_toy("step.mlir", "--toy-pipeline")
    run("FileCheck", "step.mlir", cwd=toy, input=output)
    # The policy of the file says the same as the one in C++ with its callback.
    options = "precision=fp16 master-weights=copy policy=toy.yaml"
    pipeline = f"amp-training-pipeline{{{options}}}"
    if run_toy("step.mlir", f"--pass-pipeline=builtin.module({pipeline})") != output:
        sys.exit("the pipeline built in C++ and the one of the options differ")
    # Back to its own operations and upstream's.
    lowered = run_toy(
        "step.mlir", f"--pass-pipeline=builtin.module({pipeline},convert-amp-to-upstream)"
    )
    run("FileCheck", "step.mlir", "--check-prefix=BACK", cwd=toy, input=lowered)
    # The rewrite undone.
    rewrite = "auto-mixed-precision{precision=fp16 policy=toy.yaml}"
    undone = run_toy("step.mlir", f"--pass-pipeline=builtin.module({rewrite},amp-strip-precision)")
    if undone != run_toy("step.mlir"):
        sys.exit(f"the rewrite undone gives {undone}")
    # Every strategy and its remarks support tensor types of other dialects.
    for strategy in "optimal", "grappler", "autocast":
        report = toy / "report.json"
        run_toy(
            "step.mlir",
            "--pass-pipeline=builtin.module(auto-mixed-precision{precision=bf16 target=h100 "
            f"policy=toy.yaml strategy={strategy} report={report}}})",
        )
        text = report.read_text()
        json.loads(text)
        for wanted in "toy.matmul", "!toy.tensor<2x8xf32>", "!toy.tensor<2x4xbf16>":
            if wanted not in text:
                sys.exit(f"{strategy}: expected {wanted} in the report, got {text}")
    # The check sees a step that reads scaled gradients.
    gradient, unscaled = re.search(r"(%\w+), %\w+ = amp.unscale (%\w+)", output).groups()[::-1]
    wrong, count = re.subn(rf"(toy.descend %\w+, ){unscaled}\b", rf"\g<1>{gradient}", output)
    assert count == 1, output
    (toy / "wrong.mlir").write_text(wrong)
    error = run_toy("wrong.mlir", "--amp-check-loss-scaling", fails=True)
    if "'toy.descend' op has an operand that is multiplied by loss_scale" not in error:
        sys.exit(f"a step with scaled gradients: {error}")


def main(consumer, source, build, scratch):
    prefix = install(
        build, source, scratch,
        "bin/amp-opt", "lib/AMPPlugin.so", "include/amp/InitAll.h",
        "include/amp/Dialect/AMP/IR/AMPOps.h.inc",
        "include/amp-c/Pipeline.h", "include/amp/Transforms/Passes.capi.h.inc",
        "include/amp/Interfaces/PrecisionOpInterface.td",
        "share/amp/presets/default.yaml", "share/amp/python/amp_jax.py",
        "share/amp/python/amp_torch/rules/shapes.py", "share/amp/python/amp_torch/policies/aten.yaml",
    )  # fmt: skip

    # The consumer, where nothing of this project is.
    toy = scratch / "toy"
    shutil.copytree(consumer, toy)
    tests = consumer.parent.parent
    shutil.copy(tests / "CAPI/capi.c", toy)
    shutil.copy(source / "docs/examples/one-layer.mlir", toy)
    shutil.copy(tests / "JAX/Inputs/mlp.mlir", toy)
    seal = sealed([folder for folder in (source, build) if folder.is_dir()])
    configure = [
        "cmake", "-G", "Ninja", "-S", toy, "-B", toy / "build",
        f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DMLIR_DIR={cache(build, 'MLIR_DIR')}",
        f"-DCMAKE_CXX_COMPILER={cache(build, 'CMAKE_CXX_COMPILER')}",
        f"-DCMAKE_C_COMPILER={cache(build, 'CMAKE_C_COMPILER')}",
        f"-DCMAKE_EXE_LINKER_FLAGS={cache(build, 'CMAKE_EXE_LINKER_FLAGS')}",
        "-DCMAKE_BUILD_TYPE=None",
    ]  # fmt: skip
    run(*seal, *configure, cwd=toy)
    flags = (toy / "build/build.ninja").read_text()
    for folder in (source / "include", build / "include", build / "lib"):
        if str(folder) in flags:
            sys.exit(f"the consumer is built with {folder}")
    run(*seal, "ninja", "-C", toy / "build", "-j", "2", cwd=toy)

    toy_opt = toy / "build/toy-opt"

    def run_toy(*arguments, fails=False):
        command = [*seal, toy_opt, *arguments]
        if not fails:
            return run(*command, cwd=toy)
        result = subprocess.run(command, capture_output=True, text=True, cwd=toy)
        if result.returncode == 0 or result.stdout:
            sys.exit(f"{command}: expected a failure, got {result}")
        return result.stderr

    toy_dialect(run_toy, toy)
    output = run(*seal, toy / "build/toy-c", "one-layer.mlir", "mlp.mlir", cwd=toy)
    run("FileCheck", "capi.c", cwd=toy, input=output)

    # Every tool does the same to every dialect that it knows.
    plugin = prefix / "lib/AMPPlugin.so"
    tools = {
        "amp-opt": [build / "bin/amp-opt"],
        "installed amp-opt": [prefix / "bin/amp-opt"],
        "mlir-opt": [
            "mlir-opt", f"--load-dialect-plugin={plugin}", f"--load-pass-plugin={plugin}"
        ],
        "toy-opt": [toy_opt],
    }  # fmt: skip
    inputs = consumer.parent / "Inputs"
    for name in ("train.mlir", "linalg.mlir", "tosa.mlir", "unregistered.mlir", "toy.mlir"):
        text = (inputs / name).read_text()
        options = re.findall(r"^// OPTIONS: (.*)$", text, re.M)
        pipeline = re.search(r"^// PIPELINE: (.*)$", text, re.M)[1]
        options.append(f"--pass-pipeline=builtin.module({pipeline})")
        # The toy dialect is not unregistered in its own compiler.
        only = re.search(r"^// TOOLS: (.*)$", text, re.M)
        outputs = {
            tool: run(*command, name, *options, cwd=inputs)
            for tool, command in tools.items()
            if not only or tool in only[1].split(", ")
        }
        run("FileCheck", name, cwd=inputs, input=outputs["amp-opt"])
        for tool, output in outputs.items():
            if output != outputs["amp-opt"]:
                sys.exit(f"{name}: {tool} gives\n{output}\namp-opt\n{outputs['amp-opt']}")

    # Another MLIR than that of the libraries is refused where CMake looks.
    version = scratch / "version"
    shutil.copytree(prefix / "lib/cmake/AMP", version)
    config = version / "AMPConfig.cmake"
    wanted, other = "LLVM_VERSION_MAJOR EQUAL 22", "LLVM_VERSION_MAJOR EQUAL 99"
    config.write_text(config.read_text().replace(wanted, other))
    result = subprocess.run(
        [*seal, "cmake", "-S", toy, "-B", toy / "other", f"-DAMP_DIR={version}"]
        + [str(part) for part in configure[7:]],
        capture_output=True,
        text=True,
        cwd=toy,
    )
    if result.returncode == 0 or "AMP was built for MLIR 22" not in " ".join(result.stderr.split()):
        sys.exit(f"expected another MLIR to be refused, got {result.stderr}")


if __name__ == "__main__":
    # The hidden folder cannot contain the build.
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(argument).resolve() for argument in (*sys.argv[1:], folder)]
        main(*paths)
