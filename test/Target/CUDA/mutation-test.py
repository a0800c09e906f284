# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A mutation test of the comparison with amp-run: each mistake that a planner or an
# emitter could make, as a mutant of the source of the perceptron in fp16, is detected,
# as a state that differs or an error of the device. The source as it is passes.
# Without --long it is every fourth.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %models %digits '%cuda_host_cxx' '%cuda_host_lib'

import os
import re
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from program import distances, join, run

folder, models, digits, compiler, library = sys.argv[1:6]
path = f"{models}/digits-mlp.mlir"
COMMON = ["--data", digits, "--seed", "3", "--quiet", "--steps", "3"]
BOUND = 4e-3

# The scale at the start is so large that the first step overflows: only then does a guard have an
# effect.
lowered = run(["amp-opt", path, "--train-set-batch=batch-size=32", "--amp-training-pipeline=precision=fp16"])
model = f"{folder}/model.mlir"
with open(model, "w") as file:
    file.write(lowered.replace("value = 6.553600e+04", "value = 4194304.0"))
run(["amp-run", model, *COMMON, "--save", f"{folder}/cpu.npz"])
# Of the step alone, so the replaced text occurs once.
program = f"{folder}/program.mlir"
run(["amp-opt", model, "--amp-cuda-pipeline", "--mlir-print-debuginfo", "-o", program])
source = run(["amp-translate", "--mlir-to-cuda", "--emit-main", program])


def replace(old, new):
    def mutate(text):
        assert text.count(old) >= 1, f"the source has no '{old}'"
        return text.replace(old, new, 1)
    return mutate


def move(buffer, other):
    """Lays one buffer over another that is in use at the same time."""
    def mutate(text):
        offset = re.search(rf"constexpr int64_t {other} = (\d+);", text)[1]
        changed, count = re.subn(rf"(constexpr int64_t {buffer} = )\d+;", rf"\g<1>{offset};", text)
        assert count == 1, buffer
        return changed
    return mutate


def drop_launch(name):
    """Leaves out the launch that has this in its text."""
    def mutate(text):
        scopes = re.findall(r"  \{\n    LaunchScope scope.*?\n  \}\n", text, re.S)
        found = [scope for scope in scopes if name in scope]
        assert len(found) == 1, (name, len(found))
        return text.replace(found[0], "")
    return mutate


def edit_gemm(name, *pairs):
    """Changes the description of one product."""
    def mutate(text):
        body = re.search(rf"GemmConfig gemm_{name}\(\) \{{.*?\n\}}\n", text, re.S)[0]
        changed = body
        for old, new in pairs:
            assert re.search(old, changed), (name, old, body)
            changed = re.sub(old, new, changed, count=1)
        return text.replace(body, changed)
    return mutate


def swap_launches(first, second):
    def mutate(text):
        scopes = re.findall(r"  \{\n    LaunchScope scope.*?\n  \}\n", text, re.S)
        one, = [scope for scope in scopes if first in scope]
        two, = [scope for scope in scopes if second in scope]
        return text.replace(one, "@").replace(two, one).replace("@", two)
    return mutate


MUTATIONS = {
    "two buffers over each other": move("fc2", "fc1"),
    "a gradient over a gradient": move("fc1_weight_grad", "fc2_weight_grad"),
    "a mask over a mask": move("fc2_mask", "fc1_mask"),
    "rows and columns of a product swapped": edit_gemm(
        "fc2", (r"g\.m = 32, g\.n = 64", "g.m = 64, g.n = 32")),
    "the wrong operand transposed": edit_gemm("fc2_weight_grad", (r"transposeA = true", "transposeB = true")),
    "a bias gradient of the wrong product": replace("at::fc2_weight_grad_bias_grad);", "at::fc3_weight_grad_bias_grad);"),
    "a product reads the wrong buffer": replace("b.b = run.at<__half>(at::cast_parameters_2)", "b.b = run.at<__half>(at::cast_parameters_0)"),
    "a stale scale": swap_launches("unscaleCheck(", "updateScale("),
    "a scale that never moves": drop_launch("updateScale("),
    "no cast of the parameters": drop_launch("castParameters("),
    "a step that ignores the overflow": replace(
        "run.at<UnscaleState>(at::check_gradients_0), run.at<uint8_t>(at::check_gradients_1)));",
        "run.at<UnscaleState>(at::check_gradients_0), nullptr));"),
    "no unscaling": replace(
        "        run.at<UnscaleState>(at::check_gradients_0), run.at<uint8_t>", "        nullptr, run.at<uint8_t>"),
    "momentum of another optimizer": replace("SgdConfig{0.9f", "SgdConfig{0.5f"),
    "a growth interval of another scaler": replace("0.5f, 2000", "0.5f, 1"),
}


def passes(name):
    """Whether the program of this name behaves as amp-run does."""
    file = f"{folder}/{name}"
    os.link(f"{folder}/all", file)
    result = subprocess.run([file, *COMMON, "--poison", "--save", file + ".npz"], capture_output=True, timeout=300)
    if result.returncode != 0:
        return False, result.stderr.decode().strip().splitlines()[-1]
    apart = distances(file + ".npz", f"{folder}/cpu.npz")
    worst = max(apart, key=apart.get)
    return apart[worst] <= BOUND, f"{worst} differs by {apart[worst]:.1e}"


chosen = dict(list(MUTATIONS.items())[:: 1 if os.environ.get("AMP_LONG_TESTS") else 4])
with open(f"{folder}/all.cu", "w") as file:
    file.write(join({"unchanged": source,
                     **{f"mutant{number}": mutate(source) for number, mutate in enumerate(chosen.values())}}))
# Speed does not matter here, nor do functions that a mistake leaves unused.
flags = [flag for flag in shlex.split(compiler) if flag not in ("-O1", "-Werror")]
run([*flags, "-O0", "-w", f"{folder}/all.cu", *shlex.split(library), "-o", f"{folder}/all"])
fine, why = passes("unchanged")
assert fine, why
survivors = []
for number, mistake in enumerate(chosen):
    fine, why = passes(f"mutant{number}")
    print(f"{mistake}: {'NOT DETECTED' if fine else why}", flush=True)
    if fine:
        survivors.append(mistake)
sys.exit(f"survived: {survivors}" if survivors else 0)
