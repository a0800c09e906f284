# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compares steps with 8-bit products on the CPU emulator with the steps of amp-run. This test runs the
# recipes that have one scale for a tensor, and float8-blocks.test runs the other recipes. If scales are
# powers of two, all products and factors are exact. With strict rounding, and products that sum in one
# order, the states of perceptrons after five steps are then equal, bit for bit. With other scales,
# amp-run rounds each dequantised operand, but a program rounds only the result. The difference moves a
# sum by an ulp and changes a few codes. The transformer is compared after one step, with strict
# rounding, because a missing bf16 rounding changes codes. The bounds distinguish an 8-bit step from a
# bf16 step. Extents that are not multiples of 16 are padded in each direction. A program whose norms
# and kernels do not quantise their results computes the same bits.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %models %digits '%cuda_host_cxx' '%cuda_host_lib' current exact delayed

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from networks import CONSTANT_RATE, NETWORKS
from program import Builder, distance, distances, load, run

folder, models, digits, compiler, library, *recipes = sys.argv[1:]
builder = Builder(compiler, library, folder)
COMMON = ["--seed", "3", "--quiet"]
# The number of steps, and the distance of any state relative to its norm
# (measured: at most 3.8e-5, of the perceptron with delayed scales).
STEPS = {"mlp": 5, "odd": 5, "gpt2": 1}
BOUND = 2e-4
# The bound for the transformer if scales are powers of two (measured: 4.5e-3). Norms sum in another
# order, which moves a bf16 value by an ulp. With such scales, one in 16 bf16 values is halfway between
# two codes, so its code changes.
TIES_BOUND = 1e-2
# The recipes whose scales are powers of two. `exact` is `current` with such scales.
EXACT = ("exact", "rowwise", "block-128", "mxfp8")
# What kernels that quantise their results call. Rows of a tensor are not in one tile.
FUSED = {"current": "quantizeTiles<", "exact": "quantizeTiles<", "delayed": "quantizeTiles<",
         "block-128": "quantizeBlockTiles<", "mxfp8": "quantizeBlockTiles<"}


class Case:
    """A step that is translated as it is written in `path`."""

    def __init__(self, model, recipe, path, data):
        self.exact = recipe in EXACT and model != "gpt2"
        self.bound = TIES_BOUND if recipe in EXACT else BOUND
        self.name, self.path, self.data, self.recipe = f"{model}-{recipe}", path, data, recipe
        self.steps = STEPS[model]
        self.options = ["--strict-rounding"] if self.exact or model == "gpt2" else []
        # Without strict rounding, the epilogues of other products add in another order.
        self.is_fused = bool(self.options) and recipe in FUSED
        # Scales for 32 elements need Blackwell. Scales for rows and for 128 elements need Hopper.
        self.capability = "100" if recipe == "mxfp8" else "90"

    def check(self, bf16):
        saved = {kind: f"{folder}/{self.name}.{kind}.npz" for kind in ("cpu", "gpu", "again")}
        arguments = ["--data", self.data, *COMMON, "--steps", str(self.steps)]
        run(["amp-run", self.path, *arguments, "--save", saved["cpu"]])
        environment = {**os.environ, "AMP_CUDA_HOST_CAPABILITY": self.capability, **({"AMP_CUDA_HOST_IN_ORDER": "1"} if self.options else {})}
        for kind, order in (("gpu", "ascending"), ("again", "random")):
            run([f"{folder}/{self.name}", *arguments, "--poison", "--save", saved[kind]],
                env={**environment, "AMP_CUDA_HOST_ORDER": order})
        if self.is_fused:
            for suffix, quantises in (("", True), ("-apart", False)):
                with open(f"{folder}/{self.name}{suffix}.cu") as source:
                    assert (FUSED[self.recipe] in source.read()) == quantises, (self.name, suffix)
            saved["apart"] = f"{folder}/{self.name}.apart.npz"
            run([f"{folder}/{self.name}-apart", *arguments, "--poison", "--save", saved["apart"]],
                env={**environment, "AMP_CUDA_HOST_ORDER": "ascending"})
            fused, others = load(saved["gpu"]), load(saved["apart"])
            assert fused.keys() == others.keys()
            for name, state in fused.items():
                assert np.array_equal(state, others[name]), f"{self.name}: {name} depends on what quantises"
        apart = distances(saved["gpu"], saved["cpu"])
        worst = max(apart, key=apart.get)
        print(f"{self.name}: {len(apart)} states, {apart[worst]:.1e} ({worst}) after {self.steps} steps", flush=True)
        with open(saved["gpu"], "rb") as one, open(saved["again"], "rb") as other:
            assert one.read() == other.read(), f"{self.name} depends on the order of threads"
        if self.exact:
            expected, actual = load(saved["cpu"]), load(saved["gpu"])
            for name in apart:
                assert np.array_equal(actual[name], expected[name]), (self.name, name, apart[name])
            return
        assert apart[worst] <= self.bound, (self.name, worst, apart[worst])
        low, wide = load(saved["cpu"]), load(bf16)
        far = max(distance(low[name], wide[name]) for name in apart if name in wide)
        assert far > 2 * self.bound, (self.name, far)


def quantise(path, name, batch, precision, exact):
    options = f"precision={precision}"
    text = run(["amp-opt", path, f"--train-set-batch=batch-size={batch}", f"--amp-training-pipeline={options}"])
    if exact:
        text, count = re.subn(r"( for f8\w+) : tensor<f32>", r"\1 {power_of_two} : tensor<f32>", text)
        assert count > 0 and "amp.scale_from_amax" in text
    step = f"{folder}/{name}.mlir"
    with open(step, "w") as file:
        file.write(text)
    return step


def make_models():
    """Names, with the path of a step, the samples of a batch and a file of data. The one of `odd` has
    no extent that is a multiple of 16."""
    mlp = f"{models}/digits-mlp.mlir"
    yield "mlp", mlp, 32, digits
    odd, random = f"{folder}/odd.mlir", np.random.default_rng(7)
    run(["amp-model", "mlp", "--features=13", "--hidden=21,35", "--classes=9", "-o", odd])
    np.savez(f"{folder}/odd.npz", train_x=random.standard_normal((60, 13)).astype(np.float32),
             train_labels=random.integers(0, 9, 60))
    yield "odd", odd, 11, f"{folder}/odd.npz"
    options, batches, size = NETWORKS["gpt2"]
    np.savez(f"{folder}/gpt2.npz", **batches(random, 5 * size))
    run(["amp-model", "gpt2", *options, "--optimizer=sgd", *CONSTANT_RATE, "-o", f"{folder}/gpt2.mlir"])
    yield "gpt2", f"{folder}/gpt2.mlir", size, f"{folder}/gpt2.npz"


cases = []
for name, path, batch, data in make_models():
    reference = f"{folder}/{name}.bf16.npz"
    step = quantise(path, f"{name}-bf16", batch, "bf16", False)
    run(["amp-run", step, "--data", data, *COMMON, "--steps", str(STEPS[name]), "--save", reference])
    for recipe in recipes:
        precision = "fp8" if recipe == "exact" else f"fp8-{recipe}"
        step = quantise(path, f"{name}-{recipe}", batch, precision, recipe == "exact")
        cases.append((Case(name, recipe, step, data), reference))
programs = {case.name: (case.path, *case.options) for case, _ in cases}
for case, _ in cases:
    if case.is_fused:
        programs[f"{case.name}-apart"] = (case.path, *case.options, "--no-epilogues")
builder.build_all(programs)
for case, reference in cases:
    case.check(reference)
