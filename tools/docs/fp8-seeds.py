# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Trains small networks with several seeds in each recipe of 8-bit products, for docs/fp8.md.
"""Usage: fp8-seeds.py <folder of the tools> <results.csv> [train]

Prints the means of the results as a table in Markdown. With `train`, first trains a GPT on characters and
a vision transformer on digits, and writes the final losses to the results. Each network trains in f32, with
each recipe, and in 8 bits without scales, with three seeds each. The final loss is the mean loss of the last
20 steps.

The margin was fixed before the first run: the mean of a recipe over the seeds may differ from the mean of
f32 by at most twice the standard deviation (with n - 1) of f32 over its seeds. The exit status is 1 if a
recipe exceeds the margin.
"""

import csv
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

DATA = pathlib.Path(__file__).resolve().parents[2] / "test" / "Models" / "data"
SEEDS = 1, 2, 3
RECIPES = "current", "delayed", "rowwise", "block-128", "mxfp8"
SMALL = ["--layers=1", "--width=64", "--heads=2", "--dropout=0", "--warmup-steps=10"]
# Options of the model, number of steps, batch size.
MODELS = {
    "gpt": (["gpt2", "--positions=32", "--lr=0.004", "--decay-steps=200"], 200, 8),
    "vit": (["vit", "--image-size=8", "--patch=2", "--classes=10", "--optimizer=adamw", "--lr=0.002",
             "--decay-steps=200"], 200, 16),
}


def execute(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stderr[-2000:])
    return done.stdout


def write_data(folder):
    """Writes the data of both models. Returns the model options that depend on the data."""
    import numpy as np
    said = execute(sys.executable, DATA / "make_text.py", f"{folder}/gpt.npz", 32)
    with np.load(DATA / "digits.npz") as file:
        images = file["train_images"].reshape(-1, 8, 8, 1).repeat(3, axis=3)
        np.savez(f"{folder}/vit.npz", train_images=images, train_labels=file["train_labels"])
    return {"gpt": [f"--vocabulary={re.match(r'[0-9]+', said)[0]}"], "vit": []}


def remove_scales(tools, folder, model):
    """Writes the step of the recipe `current` with all scales replaced by 1. Returns its path."""
    text = execute(f"{tools}/amp-opt", f"{folder}/{model}.mlir", "--amp-training-pipeline=precision=fp8-current")
    text, count = re.subn(r"= amp\.scale_from_amax .* : tensor<f32>", "= arith.constant dense<1.0> : tensor<f32>", text)
    assert count > 0 and "amp.scale_from_amax" not in text
    path = f"{folder}/{model}-unscaled.mlir"
    with open(path, "w") as file:
        file.write(text)
    return path


def train(tools, results):
    with tempfile.TemporaryDirectory() as folder:
        train_in(folder, tools, f"{folder}/results.csv")
        # A failure keeps the old results.
        shutil.copyfile(f"{folder}/results.csv", results)


def train_in(folder, tools, results):
    with open(results, "w") as file:
        file.write("model,precision,seed,loss\n")
        more = write_data(folder)
        for model, (options, steps, batch) in MODELS.items():
            path = f"{folder}/{model}.mlir"
            execute(f"{tools}/amp-model", *options, *SMALL, *more[model], "-o", path)
            kinds = {"f32": (path, ["--precision", "f32"])}
            kinds.update({recipe: (path, ["--precision", f"fp8-{recipe}"]) for recipe in RECIPES})
            kinds["no scales"] = remove_scales(tools, folder, model), []
            for precision, (step, chosen) in kinds.items():
                metrics = f"{folder}/metrics.csv"
                execute(f"{tools}/amp-run", step, *chosen, "--data", f"{folder}/{model}.npz", "--batch-size", batch,
                        "--steps", steps, "--seed", SEEDS[0], "--seeds", len(SEEDS), "--quiet", "--metrics-csv", metrics)
                with open(metrics) as rows:
                    losses = [(int(row["seed"]), float(row["loss"])) for row in csv.DictReader(rows)]
                for seed in SEEDS:
                    last = [loss for of, loss in losses if of == seed][-20:]
                    file.write(f"{model},{precision},{seed},{statistics.mean(last):.6f}\n")
                file.flush()


def summarize(results):
    """Returns the rows of the table, and whether each recipe stays within the margin."""
    losses, rows, kept = {}, [], True
    with open(results) as file:
        for row in csv.DictReader(file):
            losses.setdefault(row["model"], {}).setdefault(row["precision"], []).append(float(row["loss"]))
    for model, precisions in losses.items():
        mean, margin = statistics.mean(precisions["f32"]), 2 * statistics.stdev(precisions["f32"])
        for precision, values in precisions.items():
            difference = statistics.mean(values) - mean
            isKept = abs(difference) <= margin
            kept &= isKept or precision == "no scales"
            said = "" if precision == "f32" else "yes" if isKept else "no"
            rows.append(f"| {model} | `{precision}` | {statistics.mean(values):.4f} | {difference:+.4f} | {margin:.4f} | {said} |")
    return rows, kept


def main(tools, results, command=None):
    if command == "train":
        train(tools, results)
    rows, kept = summarize(results)
    print("| model | precision | final loss | difference from f32 | margin | within margin |\n|---|---|--:|--:|--:|---|")
    print("\n".join(rows))
    return 0 if kept else "a recipe differs from f32 by more than the margin"


if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
