# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The estimate of collectives follows its formulas and published times, and counts as exposed
# the time in which the step only waits.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %models
"""The rates come from GPUModels.h and KernelRates.h, for an H100. Estimates of collectives and of whole
steps are within 15 % of published times."""

import math
import re
import subprocess
import sys

folder, models = sys.argv[1:3]
LINK, NETWORK, SWITCH, SWITCH_SECONDS = 0.8 * 450e9, 0.96 * 50e9, 0.61 * 450e9, 60e-6
START, LINK_SECONDS, NETWORK_START, NETWORK_SECONDS = 8.9e-6, 0.6e-6, 28.6e-6, 2.6e-6


def run(*command, expect=0):
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode == 0) == (expect == 0), (command, done.stdout, done.stderr)
    return done.stdout if expect == 0 else done.stderr


def expected(size, ranks, nodes):
    """Microseconds of an all-reduce of `size` bytes."""
    inside = ranks // nodes
    rate = LINK if nodes == 1 else NETWORK if inside == 1 else min(LINK, inside * NETWORK)
    seconds = 2 * (ranks - 1) / ranks * size / rate
    if nodes == 1 and ranks > 4:
        seconds = min(seconds, SWITCH_SECONDS + size / SWITCH)
    seconds += START + 2 * math.log2(inside) * LINK_SECONDS
    if nodes > 1:
        seconds += NETWORK_START + 2 * math.log2(nodes) * NETWORK_SECONDS
    return 1e6 * seconds


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



def reduce_alone(size, ranks, nodes, target):
    """Microseconds of an all-reduce of `size` bytes, as estimated."""
    n = size // 4
    with open(f"{folder}/alone.mlir", "w") as file:
        file.write(f"""func.func @step(
    %w: tensor<{n}xf32> {{amp.role = "parameter", amp.name = "w", amp.init = #amp.init<zeros>}},
    %x: tensor<?x{n}xf32> {{amp.role = "batch", amp.name = "x"}}) -> (tensor<{n}xf32> {{amp.updates = "w"}}) {{
  %g = train.reduce_sum %x {{dims = array<i64: 0>}} : (tensor<?x{n}xf32>) -> tensor<{n}xf32>
  %all = amp.all_reduce sum %g : tensor<{n}xf32>
  %new = train.sub %w, %all : (tensor<{n}xf32>, tensor<{n}xf32>) -> tensor<{n}xf32>
  return %new : tensor<{n}xf32>
}}
""")
    text = run("amp-translate", "--cuda-costs", f"{folder}/alone.mlir", f"--batch-size={ranks}", f"--ranks={ranks}", f"--nodes={nodes}",
               f"--target={target}")
    return float(re.search(rf"^all_reduce +{size} +([\d.]+) ", text, re.M)[1])


def by_bus(size, ranks, rate):
    """Microseconds of an all-reduce at `rate` GB/s, as nccl-tests counts them (busbw)."""
    return 2 * (ranks - 1) / ranks * size / rate / 1e3


GIB = 1 << 30
PUBLISHED = [
    # Bytes, ranks, nodes, GPU, microseconds, source.
    (8 * GIB, 8, 1, "h100", 31356, "NVIDIA/nccl-tests#347"),
    (GIB // 4, 8, 1, "h100", GIB / 4 / 250e3, "NVIDIA/nccl-tests#212, 250 GB/s of the operand"),
    (4 * GIB, 8, 1, "h100", by_bus(4 * GIB, 8, 480), "NVIDIA/nccl#1455, NVLS"),
    (4 * GIB, 6, 1, "h100", by_bus(4 * GIB, 6, 440), "NVIDIA/nccl#1455, NVLS"),
    (4 * GIB, 5, 1, "h100", by_bus(4 * GIB, 5, 420), "NVIDIA/nccl#1455, NVLS"),
    (4 * GIB, 4, 1, "h100", by_bus(4 * GIB, 4, 367.5), "NVIDIA/nccl#1455, ring"),
    (4 * GIB, 2, 1, "h100", by_bus(4 * GIB, 2, 367.5), "NVIDIA/nccl#1455, ring"),
    (8 * GIB, 8, 1, "a100", by_bus(8 * GIB, 8, 230), "NVIDIA/nccl-tests#149"),
    (8 * GIB, 24, 3, "a100", by_bus(8 * GIB, 24, 192), "NVIDIA/nccl#812, DGX A100 with 8 cards of 200 Gb/s"),
    (32, 2, 1, "a100", 10.1, "NVIDIA/nccl#583"),
    (32, 8, 1, "h100", 12.5, "deepseek-ai/DeepEP#303, H20"),
    (32, 16, 2, "h100", 46.3, "NVIDIA/nccl#1244, H20"),
    (32, 128, 16, "h100", 62.2, "NVIDIA/nccl#1469"),
]
for size, ranks, nodes, target, published, source in PUBLISHED:
    estimate = reduce_alone(size, ranks, nodes, target)
    print(f"{source}: {size} bytes, {ranks} {target}, {nodes} nodes: {published:.1f} us, estimate {estimate:.1f} us", flush=True)
    assert abs(estimate / published - 1) < 0.15, (source, estimate, published)

# llm.c trains GPT-2 with 124 million parameters on 524,288 tokens in 140 ms on eight H100 and in 300 ms on
# eight A100. As its program does by default, this one has kernels for GELU and keeps all logits.
run("amp-model", "gpt2", "--batch=?", "--sequence=1024", "-o", f"{folder}/gpt2.mlir")
STEP = re.compile(r"^step of all ranks ([\d.]+) us; .*\(([\d.]+) % of the step\) are exposed", re.M)


def train_gpt2(*options):
    text = run("amp-translate", "--cuda-costs", f"{folder}/gpt2.mlir", "--batch-size=512", "--ranks=8", "--precision=bf16",
               "--attention=cudnn", *options)
    return [float(number) for number in STEP.search(text).groups()]


for target, published in (("h100", 140e3), ("a100", 300e3)):
    whole, exposed = train_gpt2(f"--target={target}", "--no-epilogues", "--logit-bytes=0")
    print(f"llm.c on {target}: {published} us, estimate {whole} us", flush=True)
    assert abs(whole / published - 1) < 0.15 and exposed <= 3, (target, whole, exposed)
# With its own kernels, at most 3 % of the step only waits, also with divided states.
for options in ([], ["--shard-optimizer", "--master-weights=copy"]):
    whole, exposed = train_gpt2(*options)
    print(options, whole, exposed, flush=True)
    assert exposed <= 3, (options, whole, exposed)

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
