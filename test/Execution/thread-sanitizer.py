# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The thread sanitizer finds no race in steps that three threads compute. It knows the synchronisation of OpenMP from
# libarcher, and it finds a race that the test adds.
#
# REQUIRES: full, thread-sanitizer
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %models %t %llvm_bin
"""Usage: thread-sanitizer.py <models> <folder> <bin of LLVM>"""

import os
import re
import subprocess
import sys

models, folder, tools = sys.argv[1], sys.argv[2] + "/", sys.argv[3] + "/"
LARGEST = 1 << 23

# Every thread adds to the same number.
RACE = """
llvm.func @step_cpu(%arg0: !llvm.ptr) {
  omp.parallel {
    %0 = llvm.load %arg0 : !llvm.ptr -> i64
    %1 = llvm.add %0, %0 : i64
    llvm.store %1, %arg0 : i64, !llvm.ptr
    omp.terminator
  }
  llvm.return
}
"""


def make(name, *options):
    subprocess.run(["amp-model", *options, "-o", f"{folder}{name}.mlir"], check=True)
    return f"{folder}{name}.mlir"


def compile_step(model, batch, precision):
    """A step in the LLVM dialect. Its function takes bare pointers."""
    return subprocess.run(
        ["amp-opt", model, f"--train-set-batch=batch-size={batch}", f"--amp-training-pipeline=precision={precision}",
         "--amp-cpu-pipeline=threads=3"], check=True, capture_output=True, text=True).stdout  # fmt: skip


def run(name, text):
    """What the sanitizer prints while the step runs twice, on zeros."""
    path = folder + name
    # Declarations have no body, and kernels are internal.
    line = next(line for line in text.splitlines() if "llvm.func @" in line and line.endswith("{"))
    function = re.search(r"@(\w+)", line)[1]
    pointers = len(re.findall(r"%arg\d+: !llvm\.ptr", line))
    assert pointers and line.count("%arg") == pointers and "omp.parallel" in text, line
    code = subprocess.run([f"{tools}mlir-translate", "--mlir-to-llvmir"], input=text, check=True, capture_output=True,
                          text=True).stdout  # fmt: skip
    with open(f"{path}.ll", "w") as file:
        file.write(subprocess.run([f"{tools}opt", "-S", "-passes=forceattrs", "-force-attribute=sanitize_thread"], input=code,
                                  check=True, capture_output=True, text=True).stdout)  # fmt: skip
    with open(f"{path}.c", "w") as file:
        file.write("#include <stdlib.h>\n" f"void {function}({', '.join(['void *'] * pointers)});\n"
                   "int main(void) {\n" f"  void *p[{pointers}];\n"
                   f"  for (int i = 0; i < {pointers}; ++i) p[i] = calloc({LARGEST}, 1);\n"
                   f"  for (int i = 0; i < 2; ++i) {function}({', '.join(f'p[{i}]' for i in range(pointers))});\n"
                   "}\n")  # fmt: skip
    subprocess.run([f"{tools}clang", "-O1", "-fsanitize=thread", "-fopenmp", "-Wno-override-module", f"{path}.ll", f"{path}.c",
                    "-lm", "-o", path], check=True)  # fmt: skip
    environment = {"TSAN_OPTIONS": "ignore_noninstrumented_modules=1 exitcode=0", "OMP_NUM_THREADS": "3",
                   "OMP_TOOL_LIBRARIES": "libarcher.so", "LD_LIBRARY_PATH": f"{tools}../lib"}  # fmt: skip
    result = subprocess.run([path], env={**os.environ, **environment}, capture_output=True, text=True)
    assert result.returncode == 0, (name, result.returncode, result.stderr[-2000:])
    return result.stderr


assert "data race" in run("race", RACE)
gpt2 = make("gpt2", "gpt2", "--layers=1", "--width=64", "--heads=2", "--vocabulary=50", "--positions=32")
LONG = "AMP_LONG_TESTS" in os.environ
resnet = make("resnet18", "resnet18", "--width=8", "--image-size=32", "--classes=10")
for model, batch, precision in ((f"{models}/digits-mlp.mlir", 1000, "f32"), (f"{models}/digits-cnn.mlir", 64, "fp16"),
                                (gpt2, 8, "bf16"), *([(resnet, 8, "bf16")] if LONG else [])):  # fmt: skip
    text = compile_step(model, batch, precision)
    name = os.path.basename(model)[: -len(".mlir")]
    found = run(name, text)
    assert not found, (name, found[:3000])
    print(f"{name}: {text.count('omp.parallel')} parallel kernels, no race")
