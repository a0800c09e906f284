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
    for folder in (source / "include", build):
        if str(folder) in flags:
            sys.exit(f"the consumer is built with {folder}")
    run("ninja", "-C", toy / "build", "-j", "2")

    toy_opt = toy / "build/toy-opt"
    output = run(toy_opt, "step.mlir", "--toy-pipeline", cwd=toy)
    run("FileCheck", "step.mlir", cwd=toy, input=output)
    # The pipeline in its own form is the same one.
    options = "precision=fp16 master-weights=copy policy=toy.yaml"
    textual = f"--pass-pipeline=builtin.module(amp-training-pipeline{{{options}}})"
    if run(toy_opt, "step.mlir", textual, cwd=toy) != output:
        sys.exit("the pipeline built in C++ and the one of the options differ")

    # What was installed works where it is now.
    example = source / "docs/examples/one-layer.mlir"
    pipeline = "--pass-pipeline=builtin.module(amp-training-pipeline)"
    wanted = run(build / "bin/amp-opt", pipeline, example)
    if run(prefix / "bin/amp-opt", pipeline, example) != wanted:
        sys.exit("the installed amp-opt gives something else")
    plugin = prefix / "lib/AMPPlugin.so"
    loads = [f"--load-dialect-plugin={plugin}", f"--load-pass-plugin={plugin}"]
    if run("mlir-opt", *loads, pipeline, example) != wanted:
        sys.exit("the installed plugin gives something else")

    # Another MLIR than that of the libraries is refused where CMake looks.
    version = scratch / "version"
    shutil.copytree(prefix / "lib/cmake/AMP", version)
    config = version / "AMPConfig.cmake"
    config.write_text(config.read_text().replace("LLVM_VERSION_MAJOR EQUAL 22", "LLVM_VERSION_MAJOR EQUAL 99"))
    (toy / "CMakeCache.txt").unlink(missing_ok=True)
    result = subprocess.run(
        ["cmake", "-S", toy, "-B", toy / "other", f"-DAMP_DIR={version}"]
        + [str(part) for part in configure[6:]],
        capture_output=True,
        text=True,
    )
    if result.returncode == 0 or "AMP was built for MLIR 22" not in " ".join(result.stderr.split()):
        sys.exit(f"expected another MLIR to be refused, got {result.stderr}")


if __name__ == "__main__":
    main(*(pathlib.Path(argument).resolve() for argument in sys.argv[1:]))
