# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The estimate of collectives follows its formulas, and counts as exposed the time in
# which the step only waits.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %models
"""The rates come from GPUModels.h and KernelRates.h, for an H100."""

import re
import subprocess
import sys

folder, models = sys.argv[1:3]
LINK, NETWORK, START, LINK_SECONDS, NETWORK_SECONDS = 0.8 * 450e9, 0.9 * 50e9, 10e-6, 1.5e-6, 6e-6


def run(*command, expect=0):
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode == 0) == (expect == 0), (command, done.stdout, done.stderr)
    return done.stdout if expect == 0 else done.stderr


def expected(size, ranks, nodes):
    """Microseconds of an all-reduce of `size` bytes."""
    inside = ranks // nodes
    return 1e6 * (START + 2 * ((inside - 1) / inside * size / LINK + (nodes - 1) / nodes * size / inside / NETWORK
                               + (inside - 1) * LINK_SECONDS + (nodes - 1) * NETWORK_SECONDS))


def costs(ranks, nodes, *options):
    parallel = run("amp-opt", f"{models}/digits-mlp.mlir", "--amp-training-pipeline=precision=bf16 data-parallel bucket-bytes=1")
    with open(f"{folder}/step.mlir", "w") as file:
        file.write(parallel)
    text = run("amp-translate", "--cuda-costs", f"{folder}/step.mlir", f"--batch-size={16 * ranks}", f"--ranks={ranks}", f"--nodes={nodes}",
               *options)
    rows = [(name, *map(float, numbers)) for name, *numbers in re.findall(r"^(reduce_\w+) +(\d+) +([\d.]+) +([\d.]+)$", text, re.M)]
    whole, busy, exposed = map(float, re.search(
        r"^step of all ranks ([\d.]+) us; collectives take ([\d.]+) us, of which ([\d.]+) us", text, re.M).groups())
    alone = float(re.search(r"^estimate ([\d.]+) us", text, re.M)[1])
    # The launches of the step do not contain the collectives.
    assert abs(whole - alone - exposed) < 0.01, text
    assert abs(busy - sum(row[2] for row in rows)) < 0.01 and abs(exposed - sum(row[3] for row in rows)) < 0.01, text
    return rows, text


# Gradients in f32, and loss and accuracy with the last ones.
SIZES = [4 * (64 * 10 + 10), 4 * (128 * 64 + 64), 4 * (64 * 128 + 128 + 2)]
for ranks, nodes in ((2, 1), (8, 1), (8, 2), (16, 16)):
    rows, text = costs(ranks, nodes)
    assert [row[1] for row in rows] == SIZES, rows
    for (_, size, time, exposed) in rows:
        assert abs(time - expected(size, ranks, nodes)) < 0.002 and 0 <= exposed <= time + 0.002, (ranks, nodes, rows)
    # The first one runs next to the backward pass.
    assert rows[0][3] < rows[0][2], rows
one = run("amp-translate", "--cuda-costs", f"{models}/digits-mlp.mlir", "--precision=bf16", "--batch-size=16", "--ranks=1")
assert "collective" not in one

for options, message in (
    (["--cuda-costs", "--ranks=4", "--nodes=3"], "--nodes=3 does not divide 4 ranks"),
    (["--cuda-costs", "--nodes=2"], "--nodes=2 does not divide 1 rank"),
    (["--cuda-costs", "--ranks=4", "--nodes=0"], "--nodes=0 does not divide 4 ranks"),
    (["--mlir-to-cuda", "--ranks=4", "--nodes=2"], "--nodes needs --cuda-costs"),
    (["--mlir-to-cuda", "--ranks=0"], "--ranks must be positive"),
    (["--mlir-to-cuda", "--ranks=3"], "a batch of 16 samples cannot be divided between 3 ranks"),
    (["--cuda-costs", "--ranks=2", "--memory=1GiB"], "--memory is for one rank, expected no --ranks"),
):
    error = run("amp-translate", *options, f"{models}/digits-mlp.mlir", "--precision=bf16", "--batch-size=16", expect=1)
    assert message in error, (options, error)
