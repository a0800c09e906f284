# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The loss of a transformer block that JAX dumped, as CUDA: on the CPU emulator it
# trains as under amp-run. Needs no JAX.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs/transformer-loss.mlir '%cuda_host_cxx' '%cuda_host_lib'
"""Usage: import-cuda.py <scratch> <dump> <compiler> <library>"""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "Target", "CUDA", "Inputs"))
from program import Builder, distances, run  # noqa: E402

STEPS = 20
folder, dump, compiler, library = sys.argv[1:5]
step = run(
    ["amp-opt", "--allow-unregistered-dialect", dump,
     "--stablehlo-to-train=optimizer=adam learning-rate=0.003"]
)  # fmt: skip
# A dump says what arguments are, but not how they start.
start = "amp.init = #amp.init<normal, value = 0.15>"
path = f"{folder}/step.mlir"
with open(path, "w") as file:
    file.write(step.replace('amp.role = "parameter"', f'amp.role = "parameter", {start}'))
rng = np.random.default_rng(0)
data = f"{folder}/data.npz"
labels = rng.integers(0, 4, 16).astype(np.int32)
np.savez(data, **{"batch.0": rng.standard_normal((16, 16, 16)).astype(np.float32), "batch.1": labels})

options = ["--data", data, "--seed", "1", "--quiet", "--steps", str(STEPS)]
program = Builder(compiler, library, folder).build("step", path)
saved = {name: f"{folder}/{name}.npz" for name in ("cpu", "cuda")}
run([program, *options, "--save", saved["cuda"]])
run(["amp-run", path, *options, "--save", saved["cpu"]])
apart = distances(saved["cuda"], saved["cpu"])
worst = max(apart, key=apart.get)
print(f"{len(apart)} states, the farthest {apart[worst]:.1e} ({worst}) after {STEPS} steps")
assert len(apart) == 43 and apart[worst] < 1e-5, (len(apart), worst)
