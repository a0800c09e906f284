# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: loss-scale-figures.py <folder of the tools> <folder> [step of exponents] [steps of the trajectories]

Trains the underflow graph with constant scales from 2^0 to 2^44, in f32 and with
a dynamic scale, and the digits with three scalers. Prints a table, and writes
loss-scale-sweep.svg and loss-scale-trajectory.svg into the folder.
"""

import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from figure import COLOURS, Figure

MODELS = pathlib.Path(__file__).resolve().parents[2] / "test" / "Models"


def train(bin, model, *options):
    """The metrics of each step and the output."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "metrics.json")
        command = [os.path.join(bin, "amp-run"), MODELS / f"{model}.mlir", "--data", MODELS / "data" / "digits.npz",
                   "--quiet", "--eval", "--metrics-json", out, *options]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        # A run that ends in NaN fails after it writes its results.
        assert done.returncode == 0 or "the loss is NaN" in done.stderr, done.stderr
        with open(out) as file:
            return json.load(file)["runs"][0]["steps"], done.stdout


def held_out(text):
    """The held-out loss and accuracy."""
    return tuple(float(re.search(rf"^eval {what}: (\S+)$", text, re.M).group(1)) for what in ("loss", "accuracy"))


def sweep(bin, path, every):
    """Accuracy over the constant scale, next to f32 and a dynamic scale."""
    epochs = "--epochs", "10"
    found = {}
    for name, options in [("f32", ["--precision", "f32"]), ("dynamic", ["--precision", "fp16"])] + [
        (k, ["--precision", "fp16", "--loss-scale", str(2**k)]) for k in range(0, 45, every)
    ]:
        loss, accuracy = held_out(train(bin, "underflow", *options, *epochs)[1])
        found[name] = accuracy
        print(f"{name if isinstance(name, str) else f'2^{name}':>8}  loss {loss:.4f}  accuracy {accuracy:.4f}")
        if math.isnan(loss):
            found[name] = None
    figure = Figure(
        "Held-out accuracy over the constant loss scale",
        (0, 44, [(k, f"2^{k}") for k in range(0, 45, 4)]), (0, 1, [(v / 5, f"{v * 20}%") for v in range(6)]),
        "constant loss scale", "held-out accuracy")
    figure.line([(0, found["f32"]), (44, found["f32"])], COLOURS[2], "6 4")
    figure.text(figure.px(22), figure.py(found["f32"]) + 20, "f32 (dashed) and the dynamic scale, from 2^16", "middle")
    scales = [k for k in found if not isinstance(k, str)]
    figure.line([(k, found[k]) for k in scales if found[k] is not None], COLOURS[0])
    for k in scales:
        figure.mark(k, found[k] or 0, COLOURS[0] if found[k] is not None else COLOURS[1], found[k] is None)
    figure.mark(16, found["dynamic"], COLOURS[2])
    figure.text(figure.px(2), figure.py(0.1), "too small: gradients are lost")
    figure.text(figure.px(43), figure.py(0.07), "too large: overflow, then NaN (crosses)", "end", COLOURS[1])
    figure.write(path)


def trajectories(bin, path, steps):
    """The scale over the steps of the digits with three scalers."""
    figure = Figure(
        "The loss scale over the steps of a run",
        (0, steps, [(steps * i // 6, str(steps * i // 6)) for i in range(7)]),
        (12, 34, [(k, f"2^{k}") for k in range(12, 35, 4)]), "step", "loss scale")
    for i, scaler in enumerate(("amp", "deepspeed", "megatron")):
        metrics, text = train(bin, "digits-mlp", "--precision", "fp16", "--pipeline", f"scaler={scaler}",
                              "--steps", steps)
        points, last = [], None
        for step, metric in enumerate(metrics):
            scale = math.log2(metric["loss_scale"])
            if scale != last:
                points += ([] if last is None else [(step, last)]) + [(step, scale)]
                last = scale
        figure.line(points + [(steps, last)], COLOURS[i])
        figure.text(figure.px(0) + 240, figure.py(14) - 16 + 16 * i, f"scaler={scaler}", "start", COLOURS[i])
        skipped = sum(bool(metric["skipped"]) for metric in metrics)
        print(f"{scaler:>10}  skipped {skipped} of {len(metrics)}  last 2^{last:g}  accuracy {held_out(text)[1]:.4f}")
    figure.write(path)


def main(bin, folder, every="1", steps="30000"):
    sweep(bin, os.path.join(folder, "loss-scale-sweep.svg"), int(every))
    trajectories(bin, os.path.join(folder, "loss-scale-trajectory.svg"), int(steps))


if __name__ == "__main__":
    main(*sys.argv[1:])
