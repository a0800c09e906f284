# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# amp.divide_by_ranks divides in the compute type and rounds once, like NumPy.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import subprocess
import sys

import numpy as np

folder = sys.argv[1] + "/"
values = np.random.default_rng(1).standard_normal(4096).astype(np.float32)
values[:4] = [0.0, np.inf, 1e-40, 3e38]
np.savez(folder + "data.npz", x=values)


def rounded(value, low):
    """To the storage type and back, ties to even."""
    if low != "bf16":
        return value.astype({"f32": np.float32, "f16": np.float16}[low]).astype(np.float32)
    bits = value.view(np.uint32)
    bits = np.where(np.isfinite(value), bits + 0x7FFF + (bits >> 16 & 1), bits) & 0xFFFF0000
    return bits.astype(np.uint32).view(np.float32)


for low in ("f32", "f16", "bf16"):
    for ranks in (1, 3, 7, 8):
        model = f"""
func.func @step(%x: tensor<?xf32> {{amp.role = "batch", amp.name = "x"}}) -> (tensor<?xf32> {{amp.prediction = "y"}}) {{
  %0 = amp.cast %x : tensor<?xf32> to tensor<?xf32>
  %1 = amp.divide_by_ranks %0 of {ranks} : tensor<?xf32>
  return %1 : tensor<?xf32>
}}
"""
        if low == "f32":
            model = model.replace("  %0 = amp.cast %x : tensor<?xf32> to tensor<?xf32>\n", "").replace("%0", "%x")
        else:
            model = model.replace("to tensor<?xf32>", f"to tensor<?x{low}>").replace(f"of {ranks} : tensor<?xf32>", f"of {ranks} : tensor<?x{low}>")
            model = model.replace("  return %1", f"  %2 = amp.cast %1 : tensor<?x{low}> to tensor<?xf32>\n  return %2")
        # The runner would fix the number of ranks.
        lowered = subprocess.run(["amp-opt", "-", "--train-set-batch=batch-size=4096", "--convert-amp-to-linalg"],
                                 input=model, capture_output=True, text=True)
        assert lowered.returncode == 0, lowered.stderr
        with open(folder + "step.mlir", "w") as file:
            file.write(lowered.stdout)
        subprocess.run(["amp-run", folder + "step.mlir", "--data", folder + "data.npz", "--eval-prefix", "", "--steps", "0",
                        "--predict", folder + "out.npz"], check=True, capture_output=True)
        found = np.load(folder + "out.npz")["y"]
        with np.errstate(all="ignore"):
            expected = rounded(rounded(values, low) / np.float32(ranks), low)
        assert np.array_equal(found, expected, equal_nan=True), (low, ranks)

# Without a number there is nothing to divide by.
done = subprocess.run(["amp-opt", "-", "--convert-amp-to-linalg"], capture_output=True, text=True,
                      input="func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n%0 = amp.divide_by_ranks %x : tensor<4xf32>\nreturn %0 : tensor<4xf32>\n}\n")
assert done.returncode != 0 and "'amp.divide_by_ranks' op cannot be lowered to linalg" in done.stderr, done.stderr
