# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Another compiler adopts the passes: installs this project, moves what was
# installed, builds its own tool against it from a copy that does not know this
# source tree, and rewrites a step in its own dialect.
#
# UNSUPPORTED: static-mlir, sanitizer
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %S/consumer %amp_src_root %amp_obj_root %t
"""Usage: consumer.py <consumer> <source tree> <build tree> <scratch folder>"""

import pathlib
import re
import shutil
import subprocess
import sys


def run(*command, **arguments):
    result = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, **arguments
    )
    if result.returncode != 0:
        sys.exit(f"{command}: {result.returncode}\n{result.stdout}\n{result.stderr}")
    return result.stdout


def cache(build, name):
    text = (build / "CMakeCache.txt").read_text()
    found = re.search(rf"^{name}:\w+=(.*)$", text, re.M)
    return found[1] if found else ""


def main(consumer, source, build, scratch):
    run("cmake", "--install", build, "--prefix", scratch / "first")
    prefix = scratch / "moved"
    (scratch / "first").rename(prefix)
    for path in sorted(prefix.rglob("*.cmake")):
        for folder in (source, build, scratch / "first"):
            if str(folder) in path.read_text():
                sys.exit(f"{path} names {folder}")
    for path in ("bin/amp-opt", "lib/AMPPlugin.so", "include/amp/InitAll.h",
                 "include/amp/Dialect/AMP/IR/AMPOps.h.inc",
                 "include/amp/Interfaces/PrecisionOpInterface.td",
                 "share/amp/presets/default.yaml"):  # fmt: skip
        if not (prefix / path).is_file():
            sys.exit(f"{path} is not installed")

    # The consumer, where nothing of this project is.
    toy = scratch / "toy"
    shutil.copytree(consumer, toy)
    configure = [
        "cmake", "-G", "Ninja", "-S", toy, "-B", toy / "build",
        f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DMLIR_DIR={cache(build, 'MLIR_DIR')}",
        f"-DCMAKE_CXX_COMPILER={cache(build, 'CMAKE_CXX_COMPILER')}",
        f"-DCMAKE_C_COMPILER={cache(build, 'CMAKE_C_COMPILER')}",
        f"-DCMAKE_EXE_LINKER_FLAGS={cache(build, 'CMAKE_EXE_LINKER_FLAGS')}",
        "-DCMAKE_BUILD_TYPE=None",
    ]  # fmt: skip
    run(*configure)
    flags = (toy / "build/build.ninja").read_text()
    for folder in (source / "include", build / "include", build / "lib"):
        if str(folder) in flags:
            sys.exit(f"the consumer is built with {folder}")
    run("ninja", "-C", toy / "build", "-j", "2")

    toy_opt = toy / "build/toy-opt"
    output = run(toy_opt, "step.mlir", "--toy-pipeline", cwd=toy)
    run("FileCheck", "step.mlir", cwd=toy, input=output)
    # The policy of the file says the same as the one in C++ with its callback.
    options = "precision=fp16 master-weights=copy policy=toy.yaml"
    textual = f"--pass-pipeline=builtin.module(amp-training-pipeline{{{options}}})"
    if run(toy_opt, "step.mlir", textual, cwd=toy) != output:
        sys.exit("the pipeline built in C++ and the one of the options differ")

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
    for name in ("train.mlir", "linalg.mlir", "tosa.mlir", "unregistered.mlir"):
        text = (inputs / name).read_text()
        options = re.findall(r"^// OPTIONS: (.*)$", text, re.M)
        pipeline = re.search(r"^// PIPELINE: (.*)$", text, re.M)[1]
        options.append(f"--pass-pipeline=builtin.module({pipeline})")
        outputs = {
            tool: run(*command, name, *options, cwd=inputs) for tool, command in tools.items()
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
        ["cmake", "-S", toy, "-B", toy / "other", f"-DAMP_DIR={version}"]
        + [str(part) for part in configure[7:]],
        capture_output=True,
        text=True,
    )
    if result.returncode == 0 or "AMP was built for MLIR 22" not in " ".join(result.stderr.split()):
        sys.exit(f"expected another MLIR to be refused, got {result.stderr}")


if __name__ == "__main__":
    main(*(pathlib.Path(argument).resolve() for argument in sys.argv[1:]))
