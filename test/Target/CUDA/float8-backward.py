# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Steps whose backward pass widens the 8-bit copies of the forward pass, on the CPU emulator against amp-run. With
# scales that are powers of two and sums in the order of amp-run, the states are equal bit for bit. The extents of
# one network are not multiples of 16, so the codes have padding. A backward pass that reads the 16-bit tensors
# gives other states.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %models %digits '%cuda_host_cxx' '%cuda_host_lib'

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from program import Builder, distances, load, run

folder, models, digits, compiler, library = sys.argv[1:]
odd, random = f"{folder}/odd.mlir", np.random.default_rng(7)
run(["amp-model", "mlp", "--features=13", "--hidden=21,35", "--classes=9", "-o", odd])
np.savez(f"{folder}/odd.npz", train_x=random.standard_normal((60, 13)).astype(np.float32),
         train_labels=random.integers(0, 9, 60))
MODELS = {"mlp": (f"{models}/digits-mlp.mlir", 32, digits), "odd": (odd, 11, f"{folder}/odd.npz")}
COMMON = ["--seed", "3", "--quiet", "--steps", "3"]
steps = {}
for model, (path, batch, data) in MODELS.items():
    for recipe in ("delayed", "rowwise", "block-128"):
        for backward in ("dequantized", "high"):
            name = f"{model}-{recipe}-{backward}"
            text = run(["amp-opt", path, f"--train-set-batch=batch-size={batch}",
                        f"--amp-training-pipeline=precision=fp8-{recipe} fp8-backward={backward} fp8-keep-last=0"])
            assert ("amp.dequantize" in text) == (backward == "dequantized")
            with open(f"{folder}/{name}.mlir", "w") as file:
                file.write(text)
            steps[name] = data
programs = {name: (f"{folder}/{name}.mlir", "--strict-rounding") for name in steps if name.endswith("dequantized")}
Builder(compiler, library, folder).build_all(programs)
environment = {**os.environ, "AMP_CUDA_HOST_CAPABILITY": "90", "AMP_CUDA_HOST_IN_ORDER": "1"}
for name, data in steps.items():
    run(["amp-run", f"{folder}/{name}.mlir", "--data", data, *COMMON, "--save", f"{folder}/{name}.cpu.npz"])
for name in programs:
    cpu, gpu = (f"{folder}/{name}.{kind}.npz" for kind in ("cpu", "gpu"))
    run([f"{folder}/{name}", "--data", steps[name], *COMMON, "--poison", "--save", gpu], env=environment)
    apart = distances(gpu, cpu)
    worst = max(apart, key=apart.get)
    wide = distances(f"{folder}/{name.replace('dequantized', 'high')}.cpu.npz", cpu)
    print(f"{name}: {len(apart)} states, {apart[worst]:.1e} ({worst}), from 16-bit tensors {max(wide.values()):.1e}", flush=True)
    # Other scales round each dequantised operand of an 8-bit product, but a program rounds only the result.
    if "delayed" in name:
        assert apart[worst] <= 2e-4, name
    else:
        expected, actual = load(cpu), load(gpu)
        assert all(np.array_equal(actual[state], expected[state]) for state in apart), (name, worst, apart[worst])
    assert max(wide.values()) > 1e-3, (name, wide)
