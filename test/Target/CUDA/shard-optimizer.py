# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Emitted programs whose ranks divide the optimizer state reach the same states as programs whose ranks
# keep the whole state, and as amp-run. They run on CPU implementations of CUDA and NCCL.
#
# REQUIRES: full, mpi
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib' %models %digits %S/../../Execution/Inputs
"""All programs add in the order of the ranks, as amp-run does. With 3 ranks, most states do not divide
evenly, and zeros follow the last element."""

import json
import os
import re
import subprocess
import sys

sys.path[:0] = [os.path.join(os.path.dirname(__file__), "Inputs"), sys.argv[6]]
import numpy as np
from program import Builder, distances, load, run
from rank_steps import BAD, whole, write_data

folder, compiler, library, models, digits = sys.argv[1:6]
MLP = f"{models}/digits-mlp.mlir"
STEPS, DEADLINE = 24, 4
MSE = """
func.func @step(
    %w: tensor<8x5xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<normal, value = 0.3>},
    %b: tensor<5xf32> {amp.role = "parameter", amp.name = "b", amp.init = #amp.init<zeros>},
    %v: tensor<8x5xf32> {amp.role = "optimizer_state", amp.name = "v", amp.init = #amp.init<zeros>},
    %vb: tensor<5xf32> {amp.role = "optimizer_state", amp.name = "vb", amp.init = #amp.init<zeros>},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.05>},
    %x: tensor<?x8xf32> {amp.role = "batch", amp.name = "x"}, %t: tensor<?x5xf32> {amp.role = "batch", amp.name = "t"})
    -> (tensor<8x5xf32> {amp.updates = "w"}, tensor<5xf32> {amp.updates = "b"}, tensor<8x5xf32> {amp.updates = "v"},
        tensor<5xf32> {amp.updates = "vb"}, tensor<f32> {amp.metric = "loss"}) {
  %y = train.linear %x, %w, %b : (tensor<?x8xf32>, tensor<8x5xf32>, tensor<5xf32>) -> tensor<?x5xf32>
  %loss = train.mse %y, %t : (tensor<?x5xf32>, tensor<?x5xf32>) -> tensor<f32>
  %g:2 = train.gradients %loss wrt(%w, %b) : (tensor<f32>, tensor<8x5xf32>, tensor<5xf32>) -> (tensor<8x5xf32>, tensor<5xf32>)
  %nw, %nv = train.sgd %w, %g#0, %lr, %v {momentum = 0.9 : f64} : (tensor<8x5xf32>, tensor<8x5xf32>, tensor<f32>, tensor<8x5xf32>) -> (tensor<8x5xf32>, tensor<8x5xf32>)
  %nb, %nvb = train.sgd %b, %g#1, %lr, %vb {momentum = 0.9 : f64} : (tensor<5xf32>, tensor<5xf32>, tensor<f32>, tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>)
  return %nw, %nb, %nv, %nvb, %loss : tensor<8x5xf32>, tensor<5xf32>, tensor<8x5xf32>, tensor<5xf32>, tensor<f32>
}
"""

# The gradient of a hidden unit with large weights overflows. Only the part of rank 0 contains the row of
# this unit in the first weights.
ROWS = """
func.func @step(
    %w: tensor<16x8xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<normal, value = 0.3>},
    %u: tensor<4x16xf32> {amp.role = "parameter", amp.name = "u", amp.init = #amp.init<normal, value = 0.3>},
    %v: tensor<16x8xf32> {amp.role = "optimizer_state", amp.name = "v", amp.init = #amp.init<zeros>},
    %vu: tensor<4x16xf32> {amp.role = "optimizer_state", amp.name = "vu", amp.init = #amp.init<zeros>},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.001>},
    %x: tensor<?x8xf32> {amp.role = "batch", amp.name = "x"}, %t: tensor<?xi64> {amp.role = "batch", amp.name = "labels"})
    -> (tensor<16x8xf32> {amp.updates = "w"}, tensor<4x16xf32> {amp.updates = "u"}, tensor<16x8xf32> {amp.updates = "v"},
        tensor<4x16xf32> {amp.updates = "vu"}, tensor<f32> {amp.metric = "loss"}) {
  %h = train.matmul %x, %w {transpose_b} : (tensor<?x8xf32>, tensor<16x8xf32>) -> tensor<?x16xf32>
  %r = train.relu %h : tensor<?x16xf32>
  %y = train.matmul %r, %u {transpose_b} : (tensor<?x16xf32>, tensor<4x16xf32>) -> tensor<?x4xf32>
  %loss = train.cross_entropy %y, %t : (tensor<?x4xf32>, tensor<?xi64>) -> tensor<f32>
  %g:2 = train.gradients %loss wrt(%w, %u) : (tensor<f32>, tensor<16x8xf32>, tensor<4x16xf32>) -> (tensor<16x8xf32>, tensor<4x16xf32>)
  %nw, %nv = train.sgd %w, %g#0, %lr, %v {momentum = 0.9 : f64} : (tensor<16x8xf32>, tensor<16x8xf32>, tensor<f32>, tensor<16x8xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>)
  %nu, %nvu = train.sgd %u, %g#1, %lr, %vu {momentum = 0.9 : f64} : (tensor<4x16xf32>, tensor<4x16xf32>, tensor<f32>, tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>)
  return %nw, %nu, %nv, %nvu, %loss : tensor<16x8xf32>, tensor<4x16xf32>, tensor<16x8xf32>, tensor<4x16xf32>, tensor<f32>
}
"""


def write(name, text):
    with open(f"{folder}/{name}", "w") as file:
        file.write(text)
    return f"{folder}/{name}"


rng = np.random.default_rng(5)
write_data(folder + "/", STEPS, rng)
np.savez(f"{folder}/mse.npz", x=rng.standard_normal((96, 8)).astype(np.float32), t=rng.standard_normal((96, 5)).astype(np.float32))
MODELS = {
    # Model, batch, data.
    "mlp": (MLP, 32, digits),
    "adamw": (write("adamw.mlir", whole(optimizer="adamw")), 24, f"{folder}/data.npz"),
    "clipped": (write("clipped.mlir", whole(optimizer="adamw", clip=0.05)), 24, f"{folder}/data.npz"),
    # With the metric of gradient-norm.
    "norms": (f"{folder}/adamw.mlir", 24, f"{folder}/data.npz"),
    "sgd": (write("sgd.mlir", whole()), 24, f"{folder}/overflows.npz"),
    "mse": (write("mse.mlir", MSE), 24, f"{folder}/mse.npz"),
    "rows": (write("rows.mlir", ROWS), 24, f"{folder}/data.npz"),
}
# The model, the ranks, the precision and the kind of master weights.
CASES = [("mlp", 4, "fp16", "copy"), ("mlp", 2, "bf16", "copy"), ("adamw", 3, "f32", None), ("clipped", 3, "fp16", "copy"), ("norms", 3, "fp16", "copy"),
         ("sgd", 4, "fp16", "cast"), ("mse", 3, "f32", None), ("mse", 2, "f32", None), ("rows", 4, "fp16", "cast")]
SHARD = ["--shard-optimizer", "--shard-min-elements=1"]


def name_case(model, ranks, precision, masters=None):
    return f"{model}-{precision}-{ranks}"


programs = {}
for case in CASES:
    model, ranks, precision, masters = case
    options = ["--strict-rounding", "--precision", precision, "--batch-size", str(MODELS[model][1]), "--ranks", str(ranks)]
    options += ["--master-weights", masters] if masters else []
    options += ["--pipeline=gradient-norm"] if model == "norms" else []
    programs["whole-" + name_case(*case)] = (MODELS[model][0], *options)
    programs["parts-" + name_case(*case)] = (MODELS[model][0], *options, *SHARD)
builder = Builder(compiler, library, folder)
builder.build_all(programs)


def launch(program, ranks, *options, data, name=None, environment={}):
    options = ["--data", data, "--deadline", DEADLINE, *options]
    if "--load" not in options:
        options += ["--seed", 3]
    if name:
        options += ["--save", f"{folder}/{name}.npz"]
    return subprocess.run(["mpirun", "--oversubscribe", "-n", str(ranks), f"{folder}/{program}", *map(str, options)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "AMP_CUDA_HOST_IN_ORDER": "1", "AMP_NCCL_HOST_ORDER": "rank", **environment})


def train(program, ranks, name, *options, **settings):
    done = launch(program, ranks, *options, name=name, **settings)
    assert done.returncode == 0, (program, options, done.stdout, done.stderr)
    return done.stdout


def read(name):
    with open(f"{folder}/{name}.npz", "rb") as file:
        return file.read()


def train_on_cpu(case, name, *options):
    model, ranks, precision, masters = case
    path, batch, data = MODELS[model]
    more = ["--master-weights", masters] if masters else []
    run(["mpirun", "--oversubscribe", "-n", str(ranks), "amp-run", path, "--data", data, "--batch-size", str(batch), "--seed", "3", "--quiet", "--precision", precision,
         "--shard-optimizer", "--pipeline", "shard-min-elements=1" + (" gradient-norm" if model == "norms" else ""), "--save", f"{folder}/{name}.npz", *more, *map(str, options)])


# Programs with divided and with whole states save the same bytes as amp-run.
for case in CASES:
    model, ranks, precision, masters = case
    steps = ["--steps", STEPS if model == "sgd" else 5]
    steps += ["--no-shuffle"] if model == "sgd" else []
    data = MODELS[model][2]
    train("whole-" + name_case(*case), ranks, "whole", *steps, "--metrics-json", f"{folder}/whole.json", data=data)
    shown = train("parts-" + name_case(*case), ranks, "parts", *steps, "--metrics-json", f"{folder}/parts.json", data=data)
    own, together = (int(re.search(rf"state bytes of {whose}: (\d+)\n", shown).group(1)) for whose in ("each rank", "all ranks"))
    assert own < together and shown.count("ms per step") == 1, shown
    apart = distances(f"{folder}/parts.npz", f"{folder}/whole.npz")
    assert read("parts") == read("whole"), (case, apart)
    train_on_cpu(case, "cpu", *steps)
    apart = distances(f"{folder}/parts.npz", f"{folder}/cpu.npz")
    print(case, "apart from amp-run by", max(apart.values()), flush=True)
    # In f32, the softmax of the emulated GPU adds in another order.
    if case[0] == "adamw":
        assert max(apart.values()) < 1e-5, (case, apart)
    else:
        assert read("parts") == read("cpu"), (case, apart)
    with open(f"{folder}/parts.json") as file:
        record = json.load(file)["runs"][0]
    if model == "norms":
        with open(f"{folder}/whole.json") as file:
            expected = json.load(file)["runs"][0]
        norms = [[entry["gradient_norm"] for entry in run["steps"]] for run in (record, expected)]
        assert norms[0] == norms[1] and len(set(norms[0])) == 5, norms
    if model == "sgd":
        skipped = [entry["skipped"] for entry in record["steps"]]
        assert [step for step, flag in enumerate(skipped) if flag] == list(BAD), skipped

# A file depends neither on the number of ranks nor on the division of the state.
data = MODELS["mse"][2]
train("parts-mse-f32-3", 3, "half", "--steps", 3, data=data)
load_half = ["--load", f"{folder}/half.npz", "--steps", 3]
train("parts-mse-f32-2", 2, "parts", *load_half, data=data)
train("whole-mse-f32-2", 2, "whole", *load_half, data=data)
assert read("parts") == read("whole")
run(["amp-run", MODELS["mse"][0], "--data", data, *map(str, load_half), "--quiet", "--precision", "f32", "--save", f"{folder}/one.npz"])
apart = distances(f"{folder}/parts.npz", f"{folder}/one.npz")
assert max(apart.values()) < 1e-5, apart

# Mutants: if a program lacks an event or has a wrong operand, some schedule gives other states or an
# error.
steps = ["--steps", 4, "--no-shuffle"]
data = MODELS["rows"][2]
weights = {"w": rng.normal(0, 0.3, (16, 8)).astype(np.float32), "u": rng.normal(0, 0.3, (4, 16)).astype(np.float32)}
weights["u"][:, 0] = [200, -200, 200, -200]
np.savez(f"{folder}/weights.npz", **weights)
with open(f"{folder}/parts-rows-fp16-4.cu") as file:
    source = file.read()


def find(pattern):
    found = re.search(pattern, source, re.M)
    assert found, pattern
    return found


def change(pattern, text):
    found = find(pattern)
    return source[:found.start()] + found.expand(text) + source[found.end():]


# The mutants remove each event, the reduction of the overflow flag, and the gather, and read wrong parts.
EVENT = r"^ *AMP_RETURN_IF_ERROR\(run\.ranks->(?:begin|await)\(\d+, run\.stream\)\);\n"
mutants = {"event " + event.group().strip(): source[:event.start()] + source[event.end():] for event in re.finditer(EVENT, source, re.M)}
mutants["own flag"] = change(r"AMP_RETURN_IF_ERROR\(allReduce\(run, (\d+), operands, ncclMin\)\)", r"(void)operands;\n    AMP_RETURN_IF_ERROR(run.ranks->await(\1, run.stream))")
mutants["no gather"] = change(r"AMP_RETURN_IF_ERROR\(allGather\(run, (\d+), operands\)\)", r"(void)operands;\n    AMP_RETURN_IF_ERROR(run.ranks->await(\1, run.stream))")
mutants["fewer elements"] = change(r"(\{run\.at<float>\(at::\w+\), run\.at<float>\(at::scatter_\w+\), )(\d+)", r"\1 \2 - 1")
mutants["part of rank 0"] = change(r"copyRankPart\(run, ", "copyRankPart(StepRun{}, ").replace("copyRankPart(StepRun{}, ", "copyRankPart([&] { StepRun other = run; other.rank = 0; return other; }(), ", 1)
SCHEDULES = [({"AMP_CUDA_HOST_PRIORITY": priority}, option) for option in ("--no-graph", "--poison") for priority in ("early", "late")]
NINE = ["--steps", 9, "--init", f"{folder}/weights.npz"]


def observe(program, *options, environment={}):
    """Returns the states and metrics of a run, or None after an error."""
    done = launch(program, 4, *NINE, "--metrics-json", f"{folder}/seen.json", *options, data=data, name="seen", environment=environment)
    if done.returncode != 0:
        return None
    with open(f"{folder}/seen.json") as file:
        steps = json.load(file)["runs"][0]["steps"]
    # Text compares a NaN of a skipped step as equal to another NaN.
    return read("seen"), json.dumps(steps)


reference = observe("parts-rows-fp16-4")
skipped = reference and [entry["skipped"] for entry in json.loads(reference[1])]
assert reference and 2 <= sum(skipped) <= 7, skipped
for environment, option in SCHEDULES:
    assert observe("parts-rows-fp16-4", option, environment=environment) == reference, (environment, option)
assert len(mutants) >= 8, list(mutants)
for number, (what, text) in enumerate(mutants.items()):
    path = write("mutant.cu", text)
    run([*builder.compiler, path, *builder.library, "-o", f"{folder}/mutant"])
    found = next((schedule for schedule in SCHEDULES if observe("mutant", schedule[1], environment=schedule[0]) != reference), None)
    print(number, what, found, flush=True)
    assert found, what

# A rank ends while rank 0 gathers the states, after the collectives of four steps.
numCollectives = len(re.findall(r"run\.ranks->begin", source))
operands = sum(block.count("{run.at<") for block in re.findall(r"operands\[\] = \{(.*?)\n    \};", source, re.S))
done = launch("parts-rows-fp16-4", 4, *steps, data=data, name="mutant", environment={"AMP_NCCL_HOST_EXIT": f"1:{4 * operands + 1}"})
assert numCollectives < operands, (numCollectives, operands)
assert done.returncode != 0, done.stderr
assert re.search(r"error: rank \d of 4: the gathering of the state '[\w.]+': remote process exited|exited on signal|exit code", done.stderr), done.stderr

# The costs include the bytes of state of each rank.
costs = run(["amp-translate", "--cuda-costs", MLP, "--batch-size=64", "--ranks=4", "--precision=fp16", "--master-weights=copy", "--shard-optimizer"])
assert "state of each rank 73968 bytes, of one rank without parts 172272 bytes" in costs, costs

# Options that have no effect are errors.
for options, message in [
    (["--shard-optimizer"], "--shard-optimizer divides the state between GPUs, expected --ranks of at least 2"),
    (["--ranks=2", "--shard-min-elements=4"], "--shard-min-elements needs --shard-optimizer"),
    (["--ranks=2", "--shard-optimizer", "--shard-min-elements=0"], "--shard-min-elements must be positive"),
]:
    done = subprocess.run(["amp-translate", "--mlir-to-cuda", MLP, "--batch-size=32", *options], capture_output=True, text=True)
    assert done.returncode == 1 and message in done.stderr, done.stderr
