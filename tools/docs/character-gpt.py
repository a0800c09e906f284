# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: character-gpt.py <folder of the tools> <folder> [steps] [batch] [layers] [width] [precisions]

Trains a character-level GPT on test/Models/data/kjv.txt in f32, fp16 and bf16, or in
the precisions given with commas between them.
Prints a line for each, writes the losses to character-gpt.csv and draws them in
character-gpt.svg, in the folder.
"""

import csv
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from figure import COLOURS, Figure

DATA = pathlib.Path(__file__).resolve().parents[2] / "test" / "Models" / "data"
PRECISIONS = "f32,fp16,bf16"
POSITIONS = 64
# The number of points of a curve. Each is the mean over an equal part of the steps.
POINTS = 100


def execute(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def train(bin, folder, precision, steps, batch):
    """The loss of each step and the output."""
    metrics = os.path.join(folder, precision + ".csv")
    out = execute(os.path.join(bin, "amp-run"), os.path.join(folder, "gpt.mlir"), "--data",
                  os.path.join(folder, "text.npz"), "--precision", precision, "--batch-size", batch,
                  "--steps", steps, "--eval", "--quiet", "--metrics-csv", metrics)
    with open(metrics) as file:
        return [float(row["loss"]) for row in csv.DictReader(file)], out


def draw(path, curves, steps, bigram):
    figure = Figure(
        "Training loss of a character-level GPT",
        (0, steps, [(steps * i // 8, str(steps * i // 8)) for i in range(9)]),
        (1, 4.2, [(v / 2, f"{v / 2:.1f}") for v in range(2, 9)]), "step", "loss, nats per character")
    figure.line([(0, bigram), (steps, bigram)], "#888888", "6 4")
    figure.text(figure.px(steps), figure.py(bigram) - 5, "what pairs of characters tell", "end", "#666666")
    for i, (precision, points) in enumerate(curves.items()):
        # The lines overlap. Dashes let the first ones show.
        figure.line(points, COLOURS[i % len(COLOURS)], ("", "7 5", "2 4")[i % 3])
        figure.text(figure.px(steps * 0.6), figure.py(3.9) + 16 * i, precision, "start", COLOURS[i % len(COLOURS)])
    figure.write(path)


def main(bin, folder, steps="600", batch="16", layers="4", width="128", precisions=PRECISIONS):
    steps = int(steps)
    with tempfile.TemporaryDirectory() as scratch:
        said = execute(sys.executable, DATA / "make_text.py", os.path.join(scratch, "text.npz"), POSITIONS)
        print(said, end="")
        vocabulary, bigram = re.match(r"(\d+) characters, bigram entropy (\S+)", said).groups()
        execute(os.path.join(bin, "amp-model"), "gpt2", f"--layers={layers}", f"--width={width}", "--heads=4",
                f"--vocabulary={vocabulary}", f"--positions={POSITIONS}", "--dropout=0", "--lr=0.002",
                f"--warmup-steps={steps // 16}", f"--decay-steps={steps}", "-o", os.path.join(scratch, "gpt.mlir"))
        every, curves = max(steps // POINTS, 1), {}
        for precision in precisions.split(","):
            losses, out = train(bin, scratch, precision, steps, batch)
            means = [sum(losses[i : i + every]) / len(losses[i : i + every]) for i in range(0, steps, every)]
            curves[precision] = [(i * every + every / 2, mean) for i, mean in enumerate(means)]
            held_out = float(re.search(r"^eval loss: (\S+)$", out, re.M).group(1))
            time = float(re.search(r"^ms per step: (\S+)$", out, re.M).group(1))
            print(f"{precision:>5}  first {losses[0]:.4f}  last {means[-1]:.4f}  held out {held_out:.4f}"
                  f"  {time:.0f} ms a step", flush=True)
    with open(os.path.join(folder, "character-gpt.csv"), "w") as file:
        file.write("step," + ",".join(curves) + "\n")
        for i in range(len(curves["f32"])):
            losses = ",".join(f"{curves[p][i][1]:.4f}" for p in curves)
            file.write(f"{curves['f32'][i][0]:g},{losses}\n")
    draw(os.path.join(folder, "character-gpt.svg"), curves, steps, float(bigram))


if __name__ == "__main__":
    main(*sys.argv[1:])
