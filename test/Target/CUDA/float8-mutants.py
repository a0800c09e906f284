# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each mistake that a lowering or an emitter of 8-bit products could make, as a mutant of the source of
# the perceptron with each recipe, is detected: as a state that differs from that of amp-run, or an
# error. The sources as they are pass.
#
# REQUIRES: full
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
COMMON = ["--data", digits, "--seed", "3", "--quiet", "--steps", "3"]
BOUND = 2e-4


def replace(old, new):
    def mutate(text):
        assert old in text, f"the source has no '{old}'"
        return text.replace(old, new, 1)
    return mutate


def edit_launch(name, *pairs):
    """Changes the launch of this name."""
    def mutate(text):
        scope, = [scope for scope in re.findall(r"  \{\n    LaunchScope scope.*?\n  \}\n", text, re.S)
                  if re.search(name, scope)]
        changed = scope
        for old, new in pairs:
            assert old in changed, (name, old, scope)
            changed = changed.replace(old, new, 1)
        return text.replace(scope, changed)
    return mutate


def drop_launch(name):
    return lambda text: text.replace(
        *[(scope, "") for scope in re.findall(r"  \{\n    LaunchScope scope.*?\n  \}\n", text, re.S)
          if re.search(name, scope)][0])


FC1, FC2 = r"b\.d = run\.at<__nv_bfloat16>\(at::fc1\)", r"b\.d = run\.at<__nv_bfloat16>\(at::fc2\)"
GRADIENT = r"b\.d = run\.at<float>\(at::fc2_weight_grad\)"
MUTATIONS = {
    "fp8": {
        "the scale of another tensor": edit_launch(FC2, ("scaleB = run.at<float>(at::fc2_weight_8bit_inverse)",
                                                         "scaleB = run.at<float>(at::fc1_weight_8bit_inverse)")),
        "one factor for both operands": edit_launch(FC2, ("scaleA = run.at<float>(at::quantize_2_inverse)",
                                                          "scaleA = run.at<float>(at::fc2_weight_8bit_inverse)")),
        "no pointer to a scale": edit_launch(FC1, ("    b.scaleA", "    // b.scaleA")),
        "the order of rows where a product contracts them": edit_launch(
            GRADIENT, ("at::quantize_2_transposed", "at::quantize_2")),
        "a copy of another order": edit_launch(FC2, ("at::fc2_weight_8bit_transposed", "at::fc2_weight_8bit")),
        "an operand that is not transposed": replace("  g.transposeB = true;\n", ""),
        "a format of another operand": replace("g.float8B = Float8::E5M2", "g.float8B = Float8::E4M3"),
        "a stale magnitude": drop_launch(r"kernels::scale_from_amax_reduce_max,"),
        "a kernel that finds no magnitude": replace("            out1}", "            nullptr}"),
        "columns that are cut": edit_launch(r"at::quantize_2_inverse\),\s+nullptr",
                                            ("QuantizeConfig{32, 128,", "QuantizeConfig{32, 112,")),
    },
    "fp8-delayed": {
        "a scale that never moves": drop_launch(r"updateQuantizer\("),
        "the magnitude of another tensor": edit_launch(
            r"updateQuantizer\(run.stream,\s+run.at<float>\(at::fp8_fc2_weight_input_scale",
            ("at::relu_amax", "at::quantize_amax")),
        "a kernel with the scale of another tensor": edit_launch(
            r"kernels::relu,", ("at::fp8_fc2_weight_input_scale", "at::fp8_fc1_weight_input_scale")),
        "a kernel that exchanges its copies": edit_launch(
            r"kernels::relu,", ("at::relu)", "at::relu_)"), ("at::relu_transposed)", "at::relu)"),
            ("at::relu_)", "at::relu_transposed)")),
        "a kernel that finds no magnitude": replace("            out4}", "            nullptr}"),
        "a gradient that is quantised before its mask": replace("t6 ? 0.0f : t4", "t6 ? t4 : t4"),
        "the format of another quantizer": replace("57344.0f", "448.0f"),
    },
    "fp8-rowwise": {
        # All rows of the images have the same magnitude, so the first product does not detect these mistakes.
        "one factor for all rows": lambda text: text.replace(
            "g.scalesA = Float8Scale::Outer, g.scalesB = Float8Scale::Outer;",
            "g.scalesA = g.scalesB = Float8Scale::Tensor;"),
        "the factors of another operand": edit_launch(FC2, ("scaleB = run.at<float>(at::fc2_weight_8bit_2_inverse)",
                                                            "scaleB = run.at<float>(at::fc1_weight_8bit_inverse)")),
        "rows that are cut": edit_launch(r"at::quantize_blocks_2_inverse\),\s+static_cast",
                                         ("QuantizeConfig{32, 128,", "QuantizeConfig{32, 112,")),
        "scales of rows for another format": replace("ScaleRule{448.0f,", "ScaleRule{57344.0f,"),
        "rows that are not transposed": replace("QuantizeBlocks{0, 1, Float8Scale::Outer, true}",
                                                "QuantizeBlocks{0, 1, Float8Scale::Outer, false}"),
    },
    "fp8-block-128": {
        "the square of another weight": edit_launch(FC2, ("scaleB = run.at<float>(at::fc2_weight_8bit_transposed_inverse)",
                                                          "scaleB = run.at<float>(at::fc1_weight_8bit_transposed_inverse)")),
        "a kernel with squares for vectors": replace("Tiles<Float8::E4M3, Float8Scale::Vector128, Float8Scale::Vector128>",
                                                     "Tiles<Float8::E4M3, Float8Scale::Block128, Float8Scale::Vector128>"),
        "a kernel that exchanges its orders": replace("BlockResults{out1,\n            out2,",
                                                      "BlockResults{out2,\n            out1,"),
        "a kernel that exchanges its factors": replace("            out3,\n            out4}",
                                                       "            out4,\n            out3}"),
        "vectors where the operand has squares": replace("g.scalesB = Float8Scale::Block128", "g.scalesB = Float8Scale::Vector128"),
        "rows that are not padded": replace("QuantizeConfig{64, 128,", "QuantizeConfig{48, 128,"),
        "fast accumulation": replace("  g.scalesA =", "  g.fastAccumulation = true;\n  g.scalesA ="),
    },
    "fp8-mxfp8": {
        "exponents as f32": replace("g.scalesA = Float8Scale::Vector32, g.scalesB = Float8Scale::Vector32;",
                                    "g.scalesA = g.scalesB = Float8Scale::Tensor;"),
        "another vector": replace("Tiles<Float8::E4M3, Float8Scale::Vector32, Float8Scale::Vector32>",
                                  "Tiles<Float8::E4M3, Float8Scale::Vector128, Float8Scale::Vector32>"),
        "factors without an order": replace("BlockKinds<Float8Scale::Vector32, Float8Scale::Vector32>",
                                            "BlockKinds<Float8Scale::Vector32, Float8Scale::Vector128>"),
    },
}


def passes(name, cpu, precision):
    """Whether the program of this name behaves as amp-run does."""
    file = f"{folder}/{name}"
    os.link(f"{folder}/all", file)
    result = subprocess.run([file, *COMMON, "--poison", "--save", file + ".npz"], capture_output=True, timeout=300,
                            env={**os.environ, "AMP_CUDA_HOST_CAPABILITY": "100" if precision == "fp8-mxfp8" else "90"})
    if result.returncode != 0:
        return False, result.stderr.decode().strip().splitlines()[-1]
    apart = distances(file + ".npz", cpu)
    worst = max(apart, key=apart.get)
    return apart[worst] <= BOUND, f"{worst} differs by {apart[worst]:.1e}"


sources, expected = {}, {}
for precision, mutations in MUTATIONS.items():
    step = [f"{models}/digits-mlp.mlir", "--batch-size", "32", "--precision", precision]
    cpu = f"{folder}/{precision}.cpu.npz"
    run(["amp-run", *step, *COMMON, "--save", cpu])
    # Of the step alone, so the replaced text occurs once.
    program = run(["amp-opt", step[0], "--mlir-print-debuginfo",
                   f"--amp-cuda-pipeline=batch-size=32 precision={precision}"])
    with open(f"{folder}/{precision}.mlir", "w") as file:
        file.write(program)
    source = run(["amp-translate", "--mlir-to-cuda", "--emit-main", f"{folder}/{precision}.mlir"])
    for mistake, mutate in {"unchanged": lambda text: text, **mutations}.items():
        name = f"mutant{len(sources)}"
        sources[name], expected[name] = mutate(source), (mistake, cpu, precision)
        assert mistake == "unchanged" or sources[name] != source, mistake
with open(f"{folder}/all.cu", "w") as file:
    file.write(join(sources))
# A mistake may leave functions unused.
run([*shlex.split(compiler), "-w", f"{folder}/all.cu", *shlex.split(library), "-o", f"{folder}/all"])
wrong = []
for name, (mistake, cpu, precision) in expected.items():
    fine, why = passes(name, cpu, precision)
    print(f"{mistake}: {'as amp-run' if fine else why}", flush=True)
    if fine != (mistake == "unchanged"):
        wrong.append(mistake)
sys.exit(f"wrong: {wrong}" if wrong else 0)
