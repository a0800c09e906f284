# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A step that itself widens images of 8 bits: the batch is copied in 8 bits, and the program trains the states of
# amp-run. Images of unsigned bytes are given as the signed bytes with the same bits.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %models %digits '%cuda_host_cxx' '%cuda_host_lib'

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from program import Builder, distances, run

folder, models, digits, compiler, library = sys.argv[1:6]
with open(f"{models}/digits-mlp.mlir") as file:
    text = file.read()
text = text.replace("%images: tensor<?x64xf32>", "%bytes: tensor<?x64xi8>")
text = re.sub(r"(?m)^(.*train\.linear %images)", "  %wide = arith.uitofp %bytes : tensor<?x64xi8> to tensor<?x64xf32>\n"
              "  %s = train.constant dense<3.921568627e-3> : tensor<f32>\n"
              "  %images = train.mul %wide, %s : (tensor<?x64xf32>, tensor<f32>) -> tensor<?x64xf32>\n\\1", text)
model = f"{folder}/bytes.mlir"
with open(model, "w") as file:
    file.write(text)
with np.load(digits) as file:
    arrays = {name: file[name] for name in file.files}
for name in ("train_images", "test_images"):
    arrays[name] = np.rint(arrays[name] * 255).astype(np.uint8).view(np.int8)
assert arrays["train_images"].min() < 0
np.savez(f"{folder}/bytes.npz", **arrays)

step = (model, "--batch-size", "32", "--precision", "bf16")
program = Builder(compiler, library, folder).build("bytes", *step)
with open(f"{folder}/bytes.cu") as file:
    assert re.search(r'\{"images", Role::Batch, Type::I8, 2, \{32, 64\}', file.read())
states = []
for name, command in (("program", [program]), ("run", ["amp-run", *step])):
    states.append(f"{folder}/{name}.npz")
    text = run([*command, "--data", f"{folder}/bytes.npz", "--seed", "3", "--quiet", "--steps", "5", "--eval", "--save", states[-1]])
    print(name, text)
found = distances(*states)
worst = max(found, key=found.get)
print(worst, found[worst])
assert found[worst] < 1e-2, worst
# A trainer also makes such data itself.
synthetic = run([program, "--synthetic", "--steps", "2", "--quiet"])
print(synthetic)
