# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tables of memory in docs/models.md, from reports of train-report-memory."""

import json
import pathlib
import subprocess
import sys

MODELS = {"resnet50": "layer*.*", "gpt2": "h.*"}
# The operations whose results count as those of layers. Norms and the elementwise operations after
# them can be computed in place.
LAYERS = ("train.conv2d", "train.linear", "train.matmul", "train.scaled_dot_product_attention", "train.add",
          "train.gather", "train.max_pool2d", "train.reduce_mean")
GIB = (16, 80)


def execute(*command):
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stderr[-2000:]}")
    return result.stdout


def variants(name):
    """The names of the rows, with the options of the pipeline for each."""
    return {
        "f32": "precision=f32",
        "mixed": "precision=bf16",
        "mixed, blocks again": f"precision=bf16 recompute-blocks={MODELS[name]}",
    }


def report(tools, graph, options, batch=1):
    """The report of the step in the file `graph` after the training pipeline."""
    return json.loads(execute(
        pathlib.Path(tools) / "amp-opt", graph, f"--train-set-batch=batch-size={batch}",
        f"--amp-training-pipeline={options}", "--train-report-memory=json=true", "-o", "/dev/null"))


def layers(counts):
    """Values and bytes of one result for each layer."""
    chosen = [count for name, count in counts.items() if name in LAYERS]
    return sum(count["elements"] for count in chosen), sum(count["bytes"] for count in chosen)


def total(counts):
    chosen = counts.values()
    return sum(count["elements"] for count in chosen), sum(count["bytes"] for count in chosen)


def weights(found):
    """Bytes of the weights that the forward pass reads: the low copies, and the f32 weights
    without a copy."""
    low = found["categories"]["low weights"]["bytes"]
    return low + 4 * found["parameters"] - 2 * low


def largest_batch(peak, limit):
    """The largest batch with `peak(batch) <= limit`, for a peak that rises."""
    if peak(1) > limit:
        return 0
    slope = max(1, (peak(32) - peak(16)) // 16)
    batch = max(1, 16 + (limit - peak(16)) // slope)
    while batch > 1 and peak(batch) > limit:
        batch = max(1, batch - max(1, (peak(batch) - limit) // slope))
    while peak(batch + 1) <= limit:
        batch += max(1, (limit - peak(batch + 1)) // slope)
    return batch


def megabytes(count):
    return f"{count / 1e6:,.1f}"


def tables(tools, folder):
    """The rows of both tables, each with its head."""
    folder = pathlib.Path(folder)
    forward = [["model", "type", "weights", "weights, MB", "layers", "with weights, MB", "saved", "with weights, MB",
                "all", "with weights, MB"]]
    parts = [["model", "type", "parameters", "low copies", "optimizer", "other", "batch", "saved", "gradients",
              "temporaries", "peak, MB"] + [f"batch in {gib} GiB" for gib in GIB]]
    for name in MODELS:
        graph = folder / f"{name}-any.mlir"
        execute(pathlib.Path(tools) / "amp-model", name, "-o", graph)
        for label, options in variants(name).items():
            found = report(tools, graph, options)
            if "recompute" not in options:
                size = weights(found)
                row = [name, label, f"{found['parameters']:,}", megabytes(size)]
                for elements, count in (layers(found["forward"]), total(found["saved"]), total(found["forward"])):
                    row += [f"{elements:,}", megabytes(size + count)]
                forward.append(row)
            peaks = {}

            def peak(batch):
                if batch not in peaks:
                    peaks[batch] = report(tools, graph, options, batch)["peak_bytes"]
                return peaks[batch]

            categories = found["categories"]
            order = ("parameters", "low weights", "optimizer state", "other state", "batch", "saved activations",
                     "gradients", "temporaries")
            row = [name, label] + [megabytes(categories[which]["at_peak"]) for which in order]
            row.append(megabytes(found["peak_bytes"]))
            parts.append(row + [f"{largest_batch(peak, gib << 30):,}" for gib in GIB])
    return {"forward": forward, "memory": parts}
