# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# By the cost model, counting all values of a small step takes at most as long as
# the step. Steps without counts have the same launches and memory.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t
"""Usage: watch-costs.py <folder>"""

import itertools
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from program import run

folder = sys.argv[1]
READERS = "only in steps whose metrics or predictions are read:\n"
PARAMETER = """
    %w: tensor<64x10xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<zeros>},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.1>}"""
# Three launches: a mean, a difference and an update.
MEAN = f"""func.func @step({PARAMETER},
    %x: tensor<?x64x10xf32> {{amp.role = "batch", amp.name = "x"}}) -> (tensor<64x10xf32> {{amp.updates = "w"}}) {{
  %mean = train.reduce_mean %x {{dims = array<i64: 0>}} : (tensor<?x64x10xf32>) -> tensor<64x10xf32>
  %g = train.sub %w, %mean : (tensor<64x10xf32>, tensor<64x10xf32>) -> tensor<64x10xf32>
  %new = train.sgd %w, %g, %lr : (tensor<64x10xf32>, tensor<64x10xf32>, tensor<f32>) -> tensor<64x10xf32>
  return %new : tensor<64x10xf32>
}}"""
# Four launches: a linear regression whose gradient is written by hand. Low precision adds two casts.
LINEAR = f"""func.func @step({PARAMETER},
    %x: tensor<?x64xf32> {{amp.role = "batch", amp.name = "x"}}, %y: tensor<?x10xf32> {{amp.role = "batch", amp.name = "y"}})
    -> (tensor<64x10xf32> {{amp.updates = "w"}}) {{
  %p = train.linear %x, %w : (tensor<?x64xf32>, tensor<64x10xf32>) -> tensor<?x10xf32>
  %d = train.sub %p, %y : (tensor<?x10xf32>, tensor<?x10xf32>) -> tensor<?x10xf32>
  %g = train.matmul %x, %d {{transpose_a}} : (tensor<?x64xf32>, tensor<?x10xf32>) -> tensor<64x10xf32>
  %new = train.sgd %w, %g, %lr : (tensor<64x10xf32>, tensor<64x10xf32>, tensor<f32>) -> tensor<64x10xf32>
  return %new : tensor<64x10xf32>
}}"""


def estimate(model, options):
    """Returns the report of the training, its launches, and the times without and with readers."""
    program = f"{folder}/program.mlir"
    run(["amp-opt", model, f"--amp-cuda-pipeline={options}", "-o", program])
    training, _, readers = run(["amp-translate", "--cuda-costs", program]).partition(READERS)
    times = [float(found[1]) if found else None for found in (
        re.search(r"^estimate ([\d.]+) us", training, re.M),
        re.search(r"^estimate of a step with all of them ([\d.]+) us$", readers, re.M))]
    return training, int(re.search(r"; (\d+) launches", training)[1]), times[0], times[1] or times[0]


worst = {}
def check(name, model, batch):
    for precision in ("f32", "bf16", "fp16"):
        options = f"precision={precision} batch-size={batch}"
        training, launches, others, read = estimate(model, options)
        watched, _, _, sampled = estimate(model, options + " watch=.")
        assert watched == training, (name, precision)
        ratio = (others + sampled - read) / others
        assert 1 < ratio <= 2, (name, precision, launches, others, read, sampled)
        worst[launches] = max(worst.get(launches, 0), ratio)


for name, text, batches in (("mean", MEAN, (4,)), ("linear", LINEAR, (8, 256))):
    with open(f"{folder}/{name}.mlir", "w") as file:
        file.write(text)
    for batch in batches:
        check(name, f"{folder}/{name}.mlir", batch)
for layers, optimizer, clip in itertools.product(("16", "64,64"), ("sgd", "adamw"), (0, 1)):
    model = f"{folder}/mlp.mlir"
    run(["amp-model", "mlp", "--features=64", f"--hidden={layers}", f"--optimizer={optimizer}", f"--clip={clip}", "-o", model])
    check((layers, optimizer, clip), model, 8 if clip else 256)
assert set(worst) >= {3, 4, 6, 8, 9, 11}, sorted(worst)
print("launches: ratio", {launches: round(ratio, 2) for launches, ratio in sorted(worst.items())})
