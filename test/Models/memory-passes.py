# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Padding for tensor cores and recomputation do not change the results of a step: three steps of
# each model, small, end in the same state. Recomputed steps are equal bit for bit, dropout
# included; padded ones too on the CPU, where zeros at the end of a sum change no bit.
# AMP_LONG_TESTS=1 takes every precision and all of the residual network.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t
# RUN: not %python %s %t --wrong 2>&1 | FileCheck %s
# CHECK: gpt2 bf16 blocks: {{.*}} differs

import os
import subprocess
import sys

import numpy as np

folder = sys.argv[1]
wrong = "--wrong" in sys.argv
LONG = bool(os.environ.get("AMP_LONG_TESTS"))
rng = np.random.default_rng(3)
BATCH = 3
PRECISIONS = {"resnet18": ("bf16",), "gpt2": ("f32", "bf16", "fp16") if LONG else ("fp16",)}
BLOCKS = {"resnet18": "layer*.*", "gpt2": "h.*"}
MODELS = {
    "resnet18": ["--width=4", "--image-size=32", "--classes=10"],
    "gpt2": ["--layers=2", "--width=36", "--heads=3", "--vocabulary=61", "--positions=10", "--dropout=0.1"],
}


def execute(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, (command, result.stderr[-2000:])
    return result.stdout + result.stderr


def tokens(*shape):
    return rng.integers(0, 61, (BATCH * 3, *shape))


DATA = {
    "resnet18": lambda: {"images": rng.standard_normal((BATCH * 3, 32, 32, 3)), "labels": rng.integers(0, 10, BATCH * 3)},
    "gpt2": lambda: {"tokens": tokens(10), "targets": tokens(10)},
}


def final_state(name, graph, precision, what):
    path = f"{folder}/{name}-{precision}-{what}.npz"
    execute("amp-run", graph, "--data", f"{folder}/{name}.npz", "--steps=3", f"--batch-size={BATCH}",
                   "--quiet", "--save", path)
    with np.load(path) as state:
        return {key: state[key] for key in state.files if not key.startswith("__amp")}


def compare(name, precision, what, expected, state):
    assert expected.keys() == state.keys(), (expected.keys(), state.keys())
    for key, value in expected.items():
        if value.dtype.kind in "fiuV":
            assert value.tobytes() == state[key].tobytes(), (
                f"{name} {precision} {what}: {key} differs")


for name, options in MODELS.items():
    if wrong and name != "gpt2":
        continue
    graph = f"{folder}/{name}.mlir"
    execute("amp-model", name, *options, f"--batch={BATCH}", "-o", graph)
    data = DATA[name]()
    np.savez(f"{folder}/{name}.npz", **{k: v.astype(np.float32) if v.dtype == float else v for k, v in data.items()})
    for precision in ("bf16",) if wrong else PRECISIONS[name]:
        base = f"{folder}/{name}-{precision}.mlir"
        pipeline = f"precision={precision}"
        execute("amp-opt", graph, f"--amp-training-pipeline={pipeline}", "--mlir-print-debuginfo", "-o", base)
        expected = final_state(name, base, precision, "base")
        variants = {
            "recomputed": ["--train-rematerialize=min-bytes=0"],
            "blocks": [f"--train-rematerialize=min-bytes=0 blocks={BLOCKS[name]}"],
        }
        if name == "resnet18" and not LONG:
            del variants["recomputed"]
        elif precision != "f32":
            variants["padded"] = ["--train-pad-for-tensor-cores=always"]
        for what, passes in variants.items():
            changed = f"{folder}/{name}-{precision}-{what}.mlir"
            execute("amp-opt", base, *passes, "--mlir-print-debuginfo", "-o", changed)
            text = open(changed).read()
            mark = "train.pad" if what == "padded" else "train.recomputed"
            assert text.count(mark) > open(base).read().count(mark), (name, precision, what)
            execute("amp-opt", changed, "--amp-check-loss-scaling", "-o", "/dev/null")
            if wrong:
                # Another mask of dropout in recomputed operations.
                text = "\n".join(line.replace("key = ", "key = 1") if "train.recomputed" in line else line
                                 for line in text.splitlines())
                open(changed, "w").write(text)
            state = final_state(name, changed, precision, what)
            compare(name, precision, what, expected, state)
        print(f"{name} {precision}: equal")
