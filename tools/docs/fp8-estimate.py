# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Estimates training steps of GPT-2 with 8-bit products, for docs/fp8.md.
"""Usage: fp8-estimate.py <folder of the tools> <folder> [<target> [<model>...]]

Prints three tables in Markdown:

- the gain of each recipe over bf16 for models of several sizes, at the peak rates of the target;
- the estimated times of the generated programs, with launches and the rates that kernels reach;
- the smallest width at which each recipe multiplies in 8 bits.

If models are given, such as 124M, prints only their rows of the first two tables.
"""

import os
import re
import subprocess
import sys

tools, folder = sys.argv[1], sys.argv[2]
target = sys.argv[3] if len(sys.argv) > 3 else "h200"
# The name, the blocks, the width, and the batch. The sequence has 1024 tokens.
MODELS = [("124M", 12, 768, 32), ("0.5B", 24, 1280, 16), ("1.5B", 48, 1600, 16), ("7B", 32, 4096, 8)]
# Recipes with scales of blocks run on one kind of GPU.
RECIPES = ["delayed", "current"] + (["mxfp8"] if target == "b200" else ["rowwise", "block-128"])
chosen = sys.argv[4:] or [name for name, *_ in MODELS]


def run(tool, *options):
    done = subprocess.run([os.path.join(tools, tool), *options], capture_output=True, text=True)
    assert done.returncode == 0, (tool, options, done.stderr[-2000:])
    return done.stdout, done.stderr


def make_model(layers, width, batch):
    path = os.path.join(folder, "model.mlir")
    heads = max(width // 64, 1)
    run("amp-model", "gpt2", f"--layers={layers}", f"--width={width}", f"--heads={heads}", "--vocabulary=50304",
        "--positions=1024", f"--batch={batch}", "--dropout=0", "-o", path)
    return path


def select(path, recipe):
    """Writes the step in 8 bits. Returns the time that products save and the time that copies take, in
    microseconds, and the number of 8-bit products."""
    _, remarks = run("amp-opt", path, f"--amp-training-pipeline=precision=fp8-{recipe} target={target}",
                     "--remarks-filter=amp", "-o", os.path.join(folder, "step.mlir"))
    saved = sum(map(float, re.findall(r"Passed\] Quantized .*SavedMicroseconds=([0-9.]+)", remarks)))
    copies = sum(map(float, re.findall(r"Analysis\] Copy .*Microseconds=([0-9.]+)", remarks)))
    low = len(re.findall(r"Passed\] Quantized ", remarks))
    return saved, copies, low


def estimate(path, *options):
    """Returns the bound and the estimate of the generated program, in microseconds."""
    costs, _ = run("amp-translate", "--cuda-costs", f"--target={target}", *options, path)
    return [float(re.search(pattern, costs, re.M)[1])
            for pattern in (r"^roofline bound as written ([0-9.]+) us", r"^estimate ([0-9.]+) us")]


def measure(layers, width, batch):
    """Returns the bound and the estimate in bf16. For each recipe, appends the time that products save minus
    the time that copies take, the number of 8-bit products and the estimate."""
    path = make_model(layers, width, batch)
    numbers = estimate(path, "--precision=bf16")
    for recipe in RECIPES:
        saved, copies, low = select(path, recipe)
        numbers += [saved - copies, low, estimate(os.path.join(folder, "step.mlir"))[1]]
    return numbers


bounds, programs = [], []
for name, layers, width, batch in MODELS:
    if name not in chosen:
        continue
    bound, whole, *numbers = measure(layers, width, batch)
    gains, times = [], []
    for recipe in RECIPES:
        gain, low, time, *numbers = numbers
        gains.append(f"{bound / (bound - gain):.2f} ({low} of {12 * layers})")
        times.append(f"{time / 1000:.1f} ms, {whole / time:.2f}")
    bounds.append(f"| {name}, width {width} | {bound / 1000:.1f} ms | {' | '.join(gains)} |")
    programs.append(f"| {name}, width {width} | {whole / 1000:.1f} ms | {' | '.join(times)} |")
for rows in (bounds, programs):
    print(f"| model | bf16 | {' | '.join(f'`{recipe}`' for recipe in RECIPES)} |\n|---|--:|{'--:|' * len(RECIPES)}")
    print("\n".join(rows) + "\n", flush=True)
if sys.argv[4:]:
    sys.exit()

print(f"| | {' | '.join(f'`{recipe}`' for recipe in RECIPES)} |\n|---|{'--:|' * len(RECIPES)}")
least = {}
for width in range(128, 4097, 128):
    missing = [recipe for recipe in RECIPES if recipe not in least]
    if not missing:
        break
    path = make_model(2, width, 16)
    for recipe in missing:
        if select(path, recipe)[2]:
            least[recipe] = width
print(f"| break-even width | {' | '.join(str(least.get(recipe, 'none')) for recipe in RECIPES)} |")
