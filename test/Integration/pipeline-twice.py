# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The training pipeline run on its own output changes nothing, for every model, precision and
# option. In another precision it is refused where parts of the first one would remain, and
# otherwise starts from the input.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %amp_src_root %t

import pathlib
import subprocess
import sys

root, scratch = map(pathlib.Path, sys.argv[1:])
MODELS = [
    *sorted(root.glob("test/Models/*.mlir")),
    root / "docs/examples/one-layer.mlir",
    root / "test/Execution/Inputs/linear.mlir",
]
OPTIONS = [
    "",
    "strategy=grappler",
    "strategy=grappler sink-rule=true",
    "strategy=autocast",
    "target=h100",
    "master-weights=copy",
    "master-weights=none",
    "loss-scale=none",
    "loss-scale=1024",
    "strategy=grappler loss-scale=dynamic master-weights=copy",
    "mode=inference",
]


def pipeline(source, options, target):
    return subprocess.run(
        ["amp-opt", source, f"--amp-training-pipeline={options}", "-o", target],
        capture_output=True, text=True,
    )


once, twice = scratch / "once.mlir", scratch / "twice.mlir"
compared = 0
for model in MODELS:
    for precision in ("fp16", "bf16", "f32"):
        for extra in OPTIONS:
            options = f"precision={precision} {extra}"
            if pipeline(model, options, once).returncode != 0:
                # It has no gradients to scale, which is another error.
                assert model.stem == "small-updates-f16", (model, options)
                continue
            again = pipeline(once, options, twice)
            assert again.returncode == 0, (model, options, again.stderr)
            assert once.read_text() == twice.read_text(), (model, options)
            compared += 1
assert compared >= (len(MODELS) - 1) * 3 * len(OPTIONS), compared

# Another precision. What amp.unscale and low copies of parameters were made for
# is gone then.
mlp = root / "test/Models/digits-mlp.mlir"
for first, second, reason in (
    ("fp16", "f32", "it has 'amp.unscale'"),
    ("fp16", "bf16", "it has 'amp.unscale'"),
    ("fp16 loss-scale=1024", "bf16", "it has 'amp.unscale'"),
    ("bf16 master-weights=copy", "fp16", "'train."),
    ("bf16 strategy=autocast", "f32", "a cast has been differentiated"),
):
    assert pipeline(mlp, f"precision={first}", once).returncode == 0
    result = pipeline(once, f"precision={second}", twice)
    assert result.returncode == 1, (first, second)
    assert result.stderr.count("error:") == 1, result.stderr
    low = "f16" if first.startswith("fp16") else "bf16"
    assert f"already in mixed precision with '{low}', and later passes built on it: {reason}" in result.stderr, result.stderr
    assert "amp-strip-precision" in result.stderr, result.stderr
for first, second in (("bf16", "f32"), ("bf16", "fp16"), ("fp16 loss-scale=none", "bf16")):
    assert pipeline(mlp, f"precision={first}", once).returncode == 0
    assert pipeline(once, f"precision={second}", twice).returncode == 0
    assert pipeline(mlp, f"precision={second}", once).returncode == 0
    assert once.read_text() == twice.read_text(), (first, second)
