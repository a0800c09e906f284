# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How far the gradients of one step are from f32, for ten networks in bf16 and fp16: at most 1.1 times
# as far as those of eager autocast, with the policy of compiled steps and with the one that rounds
# where autocast does. The ratio of a network is the geometric mean over its parameters, each over five
# seeds. One step amplifies no rounding, so this ratio varies less than those of seeds.py.
#
# REQUIRES: torch-export, full
# RUN: rm -rf %t && mkdir %t
# RUN: %torch_python %s %t mlp bert llama vae lstm
"""Usage: gradient-distance.py <folder> [network...]: by default all."""

import math
import sys

import torch

from distances import Gradients
from parity import batches, loss_of_step
from torch_networks import NETWORKS, batch_of, loss_of, make

SIZE, SEEDS, BOUND = 4, 5, 1.1
POLICIES = {"compiled": None, "pytorch-cpu": "pytorch-cpu"}


def ratio(name, precision, policy, folder):
    model, loss, arrays = make(name)
    gradients = Gradients(model, loss, loss_of(loss), batch_of(loss, [array[:SIZE] for array in arrays]), precision,
                          policy, folder)
    mine, theirs, size = {}, {}, {}
    for seed in range(SEEDS):
        eager, _, arrays = make(name, seed)
        rows = next(batches(arrays, SIZE, 1))
        tensors = [torch.from_numpy(row) for row in rows]
        # The statistics of batch norm move in each pass.
        weights = {key: value.clone() for key, value in eager.state_dict().items()}
        ours = gradients.compiled(weights, lambda step: loss_of_step(step, loss, batch_of(loss, rows)))
        exact, low = (gradients.eager(eager, tensors, autocast) for autocast in (False, True))
        for key, value in exact.items():
            for sums, other in ((mine, ours[key]), (theirs, low[key]), (size, 0 * value)):
                sums[key] = sums.get(key, 0.0) + ((other - value) ** 2).sum().item()
    # A key bias has no gradient, and small networks may have other exact ones.
    kept = [key for key in size if theirs[key] > 1e-12 * size[key] and theirs[key] < size[key]]
    return math.exp(sum(math.log(mine[key] / theirs[key]) for key in kept) / (2 * len(kept)))


def main():
    folder, *names = sys.argv[1:]
    print("| network | " + " | ".join(f"{low} {policy}" for low in ("bf16", "fp16") for policy in POLICIES) + " |")
    print("|---" * 5 + "|")
    wrong = []
    for name in names or NETWORKS:
        cells = []
        for precision in ("bf16", "fp16"):
            for label, policy in POLICIES.items():
                cells.append(ratio(name, precision, policy, folder))
                if not cells[-1] <= BOUND:
                    wrong.append(f"{name} {precision} {label}: {cells[-1]:.2f} times the distance of autocast")
        print(f"| {name} | " + " | ".join(f"{cell:.2f}" for cell in cells) + " |", flush=True)
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
