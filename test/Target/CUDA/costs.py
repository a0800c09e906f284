# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The roofline bound in f32 in the cost report of a mixed step equals the bound of the step in f32: without
# casts, low copies and operations of the scale. The largest batch for some memory, with which the
# costs are printed where none is given.
#
# RUN: rm -rf %t && mkdir %t && %python %s %models %t

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from program import run

models, folder = sys.argv[1:3]


def costs(*options):
    return run(["amp-translate", "--cuda-costs", *options])


def bounds(text):
    """As written, in f32, with TF32."""
    line, = re.findall(r"^roofline bound as written (.*) us, in f32 (.*) us, with TF32 products (.*) us$", text, re.M)
    return [float(bound) for bound in line]


for model in ("digits-mlp", "digits-cnn"):
    # In f32, convolutions take patches.
    step = [f"{models}/{model}.mlir", "--batch-size", "512", "--convolutions=patches"]
    wide, tf32 = (bounds(costs(*step, "--precision", precision))[0] for precision in ("f32", "tf32"))
    for options in (["bf16"], ["fp16", "--loss-scale", "none"], ["bf16", "--master-weights", "copy"], ["fp16"]):
        written, in_f32, with_tf32 = bounds(costs(*step, "--precision", *options))
        print(model, *options, f"{written:.3f} us, {in_f32:.3f} in f32 of {wide:.3f}, {with_tf32:.3f} of {tf32:.3f}", flush=True)
        # A scale adds one read of the gradients.
        most = 1.03 if options == ["fp16"] else 1.001
        assert written < 0.8 * wide, (model, options)
        for found, expected in ((in_f32, wide), (with_tf32, tf32)):
            assert 0.999 * expected <= found <= most * expected, (model, options)

# docs/cuda-backend.md gives the bounds with a loss scale for the step, with a scale for
# each layer, and without master weights.
with open(os.path.join(os.path.dirname(__file__), "../../../docs/cuda-backend.md")) as file:
    page = " ".join(file.read().split())
figures = []
for options in (["f32"], ["fp16"], ["fp16", "--loss-scale", "layerwise"], ["fp16", "--master-weights", "none"]):
    small = costs(f"{models}/digits-mlp.mlir", "--batch-size", "32", "--precision", *options)
    figures.append(f"{bounds(small)[1]:.3f} us")
    updates = len(re.findall(r"^sgd", small, re.M))
    assert updates == (3 if "layerwise" in options else 1), (options, small)
    # The launch of the optimizer also casts and selects.
    assert "\nselect_cast" not in small, (options, small)
print(*figures, flush=True)
section = page[page.index("For `digits-mlp` with a batch of 32 the roofline bound"):]
assert re.findall(r"\d\.\d+ us", section)[:4] == figures, (figures, section[:300])

# The estimate is the sum of its column, of launches that training needs, and no
# launch beats its bound. A node takes 1.8 us, so a sum by sorted indices costs its
# nodes; the report ends with the launches that lose most.
gpt2 = f"{folder}/gpt2.mlir"
run(["amp-model", "gpt2", "--layers=1", "--width=64", "--heads=2", "--vocabulary=5000", "--positions=64",
     "--batch=32", "--sequence=64", "-o", gpt2])
for target in ("a100", "h100", "h200", "b200"):
    text = costs(gpt2, "--precision", "bf16", f"--target={target}")
    rows = re.findall(r"^(\S+) +\d+ +\d+ +(?:memory|compute) +(\S+) +(\S+)$", text, re.M)
    lost = {name: float(estimate) - float(bound) for name, bound, estimate in rows}
    assert len(rows) > 30 and min(lost.values()) >= 1.8 - 1e-6, (target, min(lost.values()))
    assert lost["scatter_add"] >= 12 * 1.8, (target, lost["scatter_add"])
    estimate, count = re.search(r"^estimate (\S+) us, up to 8 % more; (\d+) launches$", text, re.M).groups()
    total = sum(float(row[2]) for row in rows)
    assert abs(float(estimate) - total) < 1e-4 * total and int(count) == len(rows), (target, estimate, total, count)
    named = re.findall(r"(\S+) by (\S+) us", re.search(r"^farthest from their bounds: (.*)$", text, re.M)[1])
    assert len(named) == 3 and all(abs(lost[name] - float(us)) < 2e-3 for name, us in named), (target, named)
    assert min(float(us) for _, us in named) >= sorted(lost.values())[-3] - 2e-3, (target, named)
    print(f"gpt2 on {target}: estimate {estimate} us, bound {bounds(text)[0]:.3f} us", flush=True)

# The largest batch: the costs refer to it, or to the given batch.
open_step = [f"{models}/digits-mlp.mlir", "--precision", "fp16"]
text = costs(*open_step, "--memory", "40MiB")
batch, taken = re.search(r"^the largest batch in 41943040 bytes is (\d+), which takes (\d+)$", text, re.M).groups()
print(f"{batch} samples in {taken} bytes", flush=True)
assert int(taken) <= 40 << 20 and int(batch) > 1
assert text.endswith(f"the costs are for a batch of {batch}\n"), text


def needed(text, samples):
    """The arena, and two slots of images of 64 f32 elements with i64 labels."""
    return int(re.search(r"^memory (\d+) bytes", text, re.M)[1]) + 2 * samples * (64 * 4 + 8)


assert needed(text, int(batch)) == int(taken), text
own = costs(*open_step, "--batch-size", batch)
assert text.startswith(own), text
assert needed(costs(*open_step, "--batch-size", str(int(batch) + 1)), int(batch) + 1) > 40 << 20
asked = costs(*open_step, "--memory", "40MiB", "--batch-size", "32")
assert asked == costs(*open_step, "--batch-size", "32") + text.splitlines(True)[-2], asked
none = costs(*open_step, "--memory", "1KiB").splitlines()
assert re.fullmatch(r"a batch of 1 takes \d+ bytes, more than 1024", none[-2]) and none[-1] == "the costs are for a batch of 1", none

# A step that leaves nothing open has no largest batch.
static = f"{folder}/static.mlir"
run(["amp-opt", f"{models}/digits-mlp.mlir", "--train-set-batch=batch-size=32", "-o", static])
result = subprocess.run(["amp-translate", "--cuda-costs", static, "--memory", "40MiB"], capture_output=True, text=True)
assert result.returncode == 1 and not result.stdout, result
assert result.stderr == ("amp-translate: error: --memory asks for the largest batch, but no step leaves its batch open\n"), result
