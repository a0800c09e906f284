# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Steps with 8-bit products on the CPU emulator equal the steps of amp-run, with the recipes that have
# one scale for a tensor. With scales that are powers of two, all products and factors are exact: with
# strict rounding, and products that sum in one order, the states after five steps are equal bit for
# bit. With other scales, amp-run rounds each dequantised operand and a program only the result, which
# moves a sum by an ulp and few codes. The transformer is compared after one step, with strict rounding:
# a bf16 rounding that is left out changes codes. The bound tells a step from the one in bf16. Extents
# that are not multiples of 16 are padded, in each direction. A program whose norms and kernels do not
# quantise their results computes the same bits.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %models %digits '%cuda_host_cxx' '%cuda_host_lib'

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from networks import CONSTANT_RATE, NETWORKS
from program import Builder, distance, distances, load, run

folder, models, digits, compiler, library = sys.argv[1:6]
builder = Builder(compiler, library, folder)
COMMON = ["--seed", "3", "--quiet"]
# The number of steps, and the distance of any state relative to its norm
# (measured: at most 3.8e-5, of the perceptron with delayed scales).
STEPS = {"mlp": 5, "odd": 5, "gpt2": 1}
BOUND = 2e-4


class Case:
    """A step that is translated as it is written in `path`."""

    def __init__(self, model, recipe, path, data):
        self.name, self.path, self.data, self.exact = f"{model}-{recipe}", path, data, recipe == "exact"
        self.steps = STEPS[model]
        self.options = ["--strict-rounding"] if self.exact or model == "gpt2" else []
        # The epilogues of other products add in another order without strict rounding.
        self.is_fused = bool(self.options)

    def check(self, bf16):
        saved = {kind: f"{folder}/{self.name}.{kind}.npz" for kind in ("cpu", "gpu", "again")}
        arguments = ["--data", self.data, *COMMON, "--steps", str(self.steps)]
        run(["amp-run", self.path, *arguments, "--save", saved["cpu"]])
        environment = {**os.environ, **({"AMP_CUDA_HOST_IN_ORDER": "1"} if self.options else {})}
        for kind, order in (("gpu", "ascending"), ("again", "random")):
            run([f"{folder}/{self.name}", *arguments, "--poison", "--save", saved[kind]],
                env={**environment, "AMP_CUDA_HOST_ORDER": order})
        if self.is_fused:
            for suffix, quantises in (("", True), ("-apart", False)):
                with open(f"{folder}/{self.name}{suffix}.cu") as source:
                    assert ("quantizeTiles<" in source.read()) == quantises, (self.name, suffix)
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
        assert apart[worst] <= BOUND, (self.name, worst, apart[worst])
        low, wide = load(saved["cpu"]), load(bf16)
        far = max(distance(low[name], wide[name]) for name in apart if name in wide)
        assert far > 2 * BOUND, (self.name, far)


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
    for recipe, precision in (("current", "fp8"), ("exact", "fp8"), ("delayed", "fp8-delayed")):
        # Norms add in another order.
        if recipe == "exact" and name == "gpt2":
            continue
        step = quantise(path, f"{name}-{recipe}", batch, precision, recipe == "exact")
        cases.append((Case(name, recipe, step, data), reference))
programs = {case.name: (case.path, *case.options) for case, _ in cases}
for case, _ in cases:
    if case.is_fused:
        programs[f"{case.name}-apart"] = (case.path, *case.options, "--no-epilogues")
builder.build_all(programs)
for case, reference in cases:
    case.check(reference)
