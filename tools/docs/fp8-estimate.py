# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Estimates training steps of GPT-2 with 8-bit products, for docs/fp8.md.
"""Usage: fp8-estimate.py <folder of the tools> <folder> [<target>]

Prints two tables in Markdown: the gain of each recipe over bf16 for models of several sizes, and the
least width for which a recipe multiplies in 8 bits. All times follow from the peak rates of the target.
"""

import os
import re
import subprocess
import sys

tools, folder = sys.argv[1], sys.argv[2]
target = sys.argv[3] if len(sys.argv) > 3 else "h200"
# The name, the blocks, the width, and the batch. The sequence has 1024 tokens.
MODELS = [("124M", 12, 768, 32), ("0.5B", 24, 1280, 16), ("1.5B", 48, 1600, 16), ("7B", 32, 4096, 8)]
RECIPES = ["delayed", "current", "rowwise", "block-128"]


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
    """The time that products save and that copies take, in microseconds, and the products of both kinds."""
    _, remarks = run("amp-opt", path, f"--amp-training-pipeline=precision=fp8-{recipe} target={target}",
                     "--remarks-filter=amp", "-o", os.devnull)
    saved = sum(map(float, re.findall(r"Passed\] Quantized .*SavedMicroseconds=([0-9.]+)", remarks)))
    copies = sum(map(float, re.findall(r"Analysis\] Copy .*Microseconds=([0-9.]+)", remarks)))
    low = len(re.findall(r"Passed\] Quantized ", remarks))
    return saved, copies, low


print(f"| model | bf16 | {' | '.join(f'`{recipe}`' for recipe in RECIPES)} |\n|---|--:|{'--:|' * len(RECIPES)}")
for name, layers, width, batch in MODELS:
    path = make_model(layers, width, batch)
    costs, _ = run("amp-translate", "--cuda-costs", f"--target={target}", "--precision=bf16", path)
    whole = float(re.search(r"^roofline bound as written ([0-9.]+) us", costs, re.M)[1])
    cells = []
    for recipe in RECIPES:
        saved, copies, low = select(path, recipe)
        cells.append(f"{whole / (whole - saved + copies):.2f} ({low} of {12 * layers})")
    print(f"| {name}, width {width} | {whole / 1000:.1f} ms | {' | '.join(cells)} |", flush=True)

print(f"\n| | {' | '.join(f'`{recipe}`' for recipe in RECIPES)} |\n|---|{'--:|' * len(RECIPES)}")
least = {}
for width in range(128, 4097, 128):
    missing = [recipe for recipe in RECIPES if recipe not in least]
    if not missing:
        break
    path = make_model(2, width, 16)
    for recipe in missing:
        if select(path, recipe)[2]:
            least[recipe] = width
print(f"| least width | {' | '.join(str(least.get(recipe, 'none')) for recipe in RECIPES)} |")
