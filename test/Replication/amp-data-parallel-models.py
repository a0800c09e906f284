# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every model, in every precision, becomes a data-parallel step that the check accepts. Without one
# of its reductions, or without the division by N, the check rejects it. For one rank it is the
# step without ranks.
#
# REQUIRES: full
# RUN: %python %s

import re
import subprocess

SMALL = ["--layers=2", "--heads=2", "--dropout=0.1", "--attention-dropout=0.2"]
MODELS = {
    "mlp": ["--features=16", "--hidden=8,8"],
    "lenet": [],
    "resnet18": ["--image-size=32"],
    "gpt2": [*SMALL, "--vocabulary=64", "--sequence=8", "--positions=8"],
    "decoder": ["--layers=2", "--vocabulary=64", "--sequence=8", "--clip=1"],
    "decoder-packed": ["--layers=1", "--vocabulary=64", "--sequence=8", "--clip=1", "--documents=3"],
    "bert": [*SMALL, "--vocabulary=64", "--sequence=8", "--positions=8"],
    "vit": [*SMALL, "--image-size=32", "--patch=16"],
}
# The settings of the pipeline, and the all-reduces of mlp and gpt2. With a scale for each layer, each
# layer is unscaled at once, and the magnitudes are one more.
SETTINGS = {
    "precision=f32": (1, 1),
    "precision=fp16 gradient-norm count-skipped": (1, 1),
    "precision=fp16 master-weights=copy": (1, 1),
    "precision=fp16 loss-scale=layerwise": (4, None),
    "precision=bf16 strategy=autocast": (1, 1),
    "precision=fp8": (1, 1),
}
CLEAN = ["--canonicalize", "--cse"]


def optimize(text, *options, fails=False):
    done = subprocess.run(["amp-opt", "-", *options], input=text, capture_output=True, text=True)
    assert (done.returncode != 0) == fails, (options, done.stderr[:2000])
    return done.stderr if fails else done.stdout


def mutants(text):
    """The step without each of its sums of gradients, and without the division by N of the start."""
    for line in text.splitlines(keepends=True):
        match = re.match(r"\s*%(\w+)(?::\d+)? = amp\.(?:all_reduce sum|divide_by_ranks) (%[^{:]*?) (?:\{.*)?: ", line)
        if not match or ("divide_by_ranks" in line and "#" in match[2]):
            continue
        rest, operands = text.replace(line, ""), match[2].split(", ")
        for index, operand in enumerate(operands):
            name = f"%{match[1]}" + (f"#{index}" if len(operands) > 1 else "")
            rest = re.sub(re.escape(name) + r"(?![\w#])", operand, rest)
        yield line, rest


rejected = 0
for model, options in MODELS.items():
    step = subprocess.run(["amp-model", model.split("-")[0], "--batch=?", *options], capture_output=True, text=True, check=True).stdout
    every = model in ("mlp", "gpt2")
    for setting, counts in SETTINGS.items() if every else [*SETTINGS.items()][1:2]:
        parallel = optimize(step, f"--amp-training-pipeline={setting} data-parallel bucket-bytes=1000000000")
        count, expected = parallel.count("amp.all_reduce"), counts[model == "gpt2"]
        assert count == (expected or count), (model, setting, count)
        draws = parallel.count("train.dropout") + parallel.count("dropout_rate")
        assert parallel.count("amp.divided_along") == draws, (model, setting)
        # One rank runs the step without ranks. Low gradients of filters are widened before, not in,
        # the unscale.
        one = optimize(parallel, "--amp-set-ranks", *CLEAN)
        alone = optimize(step, f"--amp-training-pipeline={setting}", *CLEAN)
        assert one == alone or model in ("lenet", "resnet18", "vit"), (model, setting)
    buckets = optimize(step, "--amp-training-pipeline=precision=fp16 data-parallel bucket-bytes=1")
    assert buckets.count("amp.all_reduce") > 2, model
    for line, mutant in mutants(buckets) if every else ():
        message = optimize(mutant, "--amp-check-replication", "-o", "/dev/null", fails=True)
        what = "is N times its value" if "divide" in line else "partial sum over the ranks"
        assert what in message or "varies between the ranks" in message, (model, line, message)
        rejected += 1
    # The ranks divide the state of every parameter and share one flag for finite gradients.
    parts = optimize(step, "--amp-training-pipeline=precision=fp16 master-weights=copy data-parallel shard-optimizer=3 shard-min-elements=1")
    # Parameters of norms have no low copy and no master.
    count, copies = parts.count("amp.reduce_scatter"), parts.count("amp.master_copy")
    assert count == parts.count("amp.all_gather") >= copies > 4, model
    assert parts.count("amp.part_of") >= count + copies, model
    flag = re.search(r"\s*(%\w+) = amp\.all_reduce and (%\w+) : .*", parts)
    mutant = re.sub(re.escape(flag[1]) + r"(?!\w)", flag[2], parts.replace(flag[0], ""))
    message = optimize(mutant, "--amp-check-replication", "-o", "/dev/null", fails=True)
    assert "varies between the ranks" in message, (model, message)
assert rejected > 10, rejected
