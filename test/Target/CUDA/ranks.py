# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Emitted programs train on two and four ranks as amp-run does, on CPU
# implementations of CUDA and NCCL. A dropped event, a rank that ends or stops, and
# ranks that run other programs are found.
#
# REQUIRES: full, mpi
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib' %models %digits '%plain_cuda_host_cxx' '%plain_cuda_host_lib'
"""Sums are in the order of the ranks (AMP_NCCL_HOST_ORDER=rank), as those of amp-run, unless a case
says otherwise. With strict rounding, low precisions are then equal bit for bit. In f32 the softmax of
the emulated GPU sums in another order, which costs a few ulps."""

import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from program import Builder, distances, load, run

folder, compiler, library, models, digits = sys.argv[1:6]
MLP = f"{models}/digits-mlp.mlir"
STEPS, BATCH, DEADLINE = 5, 32, 4
DROPOUT = """
func.func @step(
    %w: tensor<6x16xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<normal, value = 0.3>},
    %u: tensor<16x3xf32> {amp.role = "parameter", amp.name = "u", amp.init = #amp.init<normal, value = 0.3>},
    %rng: tensor<2xi64> {amp.role = "model_state", amp.name = "rng", amp.init = #amp.init<rng_state>},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.1>},
    %x: tensor<?x6xf32> {amp.role = "batch", amp.name = "x"}, %t: tensor<?xi64> {amp.role = "batch", amp.name = "t"})
    -> (tensor<6x16xf32> {amp.updates = "w"}, tensor<16x3xf32> {amp.updates = "u"},
        tensor<2xi64> {amp.updates = "rng"}, tensor<f32> {amp.metric = "loss"}) {
  %h = train.matmul %x, %w : (tensor<?x6xf32>, tensor<6x16xf32>) -> tensor<?x16xf32>
  %d = train.dropout %h, %rng {rate = 0.5 : f64, key = 3 : i32} : (tensor<?x16xf32>, tensor<2xi64>) -> tensor<?x16xf32>
  %y = train.matmul %d, %u : (tensor<?x16xf32>, tensor<16x3xf32>) -> tensor<?x3xf32>
  %loss = train.cross_entropy %y, %t : (tensor<?x3xf32>, tensor<?xi64>) -> tensor<f32>
  %g:2 = train.gradients %loss wrt(%w, %u) : (tensor<f32>, tensor<6x16xf32>, tensor<16x3xf32>) -> (tensor<6x16xf32>, tensor<16x3xf32>)
  %nw = train.sgd %w, %g#0, %lr : (tensor<6x16xf32>, tensor<6x16xf32>, tensor<f32>) -> tensor<6x16xf32>
  %nu = train.sgd %u, %g#1, %lr : (tensor<16x3xf32>, tensor<16x3xf32>, tensor<f32>) -> tensor<16x3xf32>
  %next = train.advance_rng %rng : tensor<2xi64>
  return %nw, %nu, %next, %loss : tensor<6x16xf32>, tensor<16x3xf32>, tensor<2xi64>, tensor<f32>
}
"""


def write(name, text):
    with open(f"{folder}/{name}", "w") as file:
        file.write(text)
    return f"{folder}/{name}"


rng = np.random.default_rng(2)
np.savez(f"{folder}/small.npz", x=rng.standard_normal((96, 6)).astype(np.float32), t=rng.integers(0, 3, 96))
dropout = write("dropout.mlir", DROPOUT)
# Each layer is a bucket, so that exchanges overlap the backward pass.
parallel = run(["amp-opt", MLP, "--amp-training-pipeline=precision=bf16 data-parallel bucket-bytes=1"])
buckets = write("buckets.mlir", run(
    ["amp-opt", "-", f"--amp-cuda-pipeline=batch-size={BATCH // 2} ranks=2 strict-rounding"], input=parallel))
with open(buckets) as file:
    program = file.read()
reduced, awaited = (re.findall(pattern, program) for pattern in (r'cuda\.all_reduce .*?named "(\w+)"', r'cuda\.await "(\w+)"'))
assert len(reduced) == 3 and awaited, (reduced, awaited)
# Launches of the backward pass run between the first exchange and its end.
between = program[program.index("cuda.all_reduce"):program.index("cuda.await")]
assert between.count("cuda.gemm") >= 2, between

COMMON = ["--strict-rounding", "--precision"]
PROGRAMS = {
    **{f"{precision}-{ranks}": (MLP, *COMMON, precision, "--batch-size", str(BATCH), "--ranks", str(ranks))
       for precision, ranks in (("fp16", 2), ("fp16", 4), ("f32", 2))},
    "dropout": (dropout, "--precision", "f32", "--batch-size", "24", "--ranks", "3"),
    "buckets": (buckets,),
    "f32-2-small": (MLP, *COMMON, "f32", "--batch-size", str(BATCH // 2), "--ranks", "2"),
    "f32-1": (MLP, *COMMON, "f32", "--batch-size", str(BATCH)),
}
builder = Builder(compiler, library, folder)
builder.build_all(PROGRAMS)
# Steps as written and with one rank are the same program.
alone, one = (run(["amp-translate", "--mlir-to-cuda", MLP, "--precision", "fp16", "--batch-size", "8", *ranks])
              for ranks in ([], ["--ranks=1"]))
assert alone == one and "ranks->" not in alone


def launch(program, ranks, *options, data=digits, name=None, environment={}, order="rank"):
    """Trains by mpirun. Returns the process and the seconds that it took."""
    seed = [] if "--load" in options else ["--seed", 3]
    options = ["--data", data, "--steps", STEPS, *seed, "--deadline", DEADLINE, *options]
    if name:
        options += ["--save", f"{folder}/{name}.npz"]
    begin = time.monotonic()
    done = subprocess.run(["mpirun", "-n", str(ranks), program, *map(str, options)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "AMP_CUDA_HOST_IN_ORDER": "1", "AMP_NCCL_HOST_ORDER": order, **environment})
    return done, time.monotonic() - begin


def train(program, ranks, name, *options, **settings):
    done, _ = launch(f"{folder}/{program}", ranks, *options, name=name, **settings)
    assert done.returncode == 0, (program, options, done.stdout, done.stderr)
    # Only rank 0 prints.
    assert done.stdout.count("ms per step") == 1, done.stdout
    return load(f"{folder}/{name}.npz")


def train_on_cpu(ranks, name, model, *options, data=digits):
    run(["mpirun", "-n", str(ranks), "amp-run", model, "--data", data, "--steps", str(STEPS), "--seed", "3", "--quiet",
         "--save", f"{folder}/{name}.npz", *options])
    return load(f"{folder}/{name}.npz")


def same(one, other):
    return one.keys() == other.keys() and all(np.array_equal(one[key], other[key], equal_nan=True) for key in one)


# The states of amp-run on as many ranks.
for ranks in (2, 4):
    expected = train_on_cpu(ranks, "cpu", MLP, "--precision", "fp16", "--batch-size", str(BATCH))
    assert same(train(f"fp16-{ranks}", ranks, "gpu"), expected), ranks
# Each resumes the state of the other, with another number of ranks.
halves = ["--data", digits, "--load", f"{folder}/gpu.npz", "--steps", "3", "--quiet", "--precision", "fp16", "--save"]
run(["amp-run", MLP, *halves, f"{folder}/one.npz"])
train("fp16-2", 2, "two", "--load", f"{folder}/cpu.npz", "--steps", 3)
apart = distances(f"{folder}/two.npz", f"{folder}/one.npz")
assert max(apart.values()) < 2e-3, apart
train_on_cpu(2, "cpu", MLP, "--precision", "f32", "--batch-size", str(BATCH))
for order in ("rank", "ring"):
    train("f32-2", 2, "gpu", order=order)
    apart = distances(f"{folder}/gpu.npz", f"{folder}/cpu.npz")
    assert max(apart.values()) < 1e-6, (order, apart)
# Dropout has the masks of the whole batch, also those of one rank.
expected = train_on_cpu(1, "cpu", dropout, "--precision", "f32", "--batch-size", "24", data=f"{folder}/small.npz")
train("dropout", 3, "gpu", data=f"{folder}/small.npz")
apart = distances(f"{folder}/gpu.npz", f"{folder}/cpu.npz")
assert max(apart.values()) < 1e-5, apart

# The bits do not depend on when exchanges run, on a graph, or on slow ranks.
reference = train("buckets", 2, "reference", environment={"AMP_CUDA_HOST_PRIORITY": "late"})
SCHEDULES = [
    ({"AMP_CUDA_HOST_PRIORITY": "early"}, "--poison"),
    ({"AMP_CUDA_HOST_PRIORITY": "late"}, "--poison"),
    ({"AMP_CUDA_HOST_PRIORITY": "random"}, "--no-graph"),
    ({"AMP_NCCL_HOST_DELAY": "1:4:300"}, "--no-graph"),
]
for environment, option in SCHEDULES:
    assert same(train("buckets", 2, "again", option, environment=environment), reference), (environment, option)

# Registered memory does not change the states. --check-ranks finds no difference.
registered = train("buckets", 2, "again", "--register-buffers", environment={"AMP_NCCL_HOST_REGISTERED": "1"})
assert same(registered, reference)
assert same(train("buckets", 2, "again", "--check-ranks", 2), reference)
done, _ = launch(f"{folder}/buckets", 2, environment={"AMP_NCCL_HOST_REGISTERED": "1"})
assert done.returncode != 0 and "invalid usage" in done.stderr, done.stderr

# Each event is necessary: without it, a schedule shows other states, or the capture fails.
with open(f"{folder}/buckets.cu") as file:
    source = file.read()
EVENT = re.compile(r"^ *AMP_RETURN_IF_ERROR\(run\.ranks->(?:begin|await)\(\d+, run\.stream\)\);\n", re.M)
events = list(EVENT.finditer(source))
assert len(events) == len(reduced) + len(awaited), events
for number, event in enumerate(events):
    path = write("mutant.cu", source[:event.start()] + source[event.end():])
    run([*builder.compiler, path, *builder.library, "-o", f"{folder}/mutant"])
    found = []
    for environment, _ in SCHEDULES[:2]:
        for option in ("--no-graph", "--poison"):
            done, _ = launch(f"{folder}/mutant", 2, option, name="mutant", environment=environment)
            found.append(done.returncode != 0 or not same(load(f"{folder}/mutant.npz"), reference))
    print(number, event.group().strip(), found, flush=True)
    assert any(found), event.group()

# --check-ranks reports the first state that differs between ranks.
drifts = write("drifts.cu", re.sub(r"(\{run\.at<float>\(at::fc2_weight_grad\), run\.at<float>\(at::fc2_weight_grad\), )\d+", r"\1 1", source, count=1))
run([*builder.compiler, drifts, *builder.library, "-o", f"{folder}/drifts"])
done, _ = launch(f"{folder}/drifts", 2, "--check-ranks=3")
assert done.returncode != 0 and re.search(r"error: after step 3, rank 1 and rank 0 have different values of 'fc2.weight'", done.stderr), done.stderr
done, _ = launch(f"{folder}/drifts", 2, "--check-ranks=6")
assert done.returncode == 0, done.stderr

# A rank that ends, stops or is out of step ends the others, with the place.
# A step has three collectives with eight operands. One NCCL call reduces the contiguous operands
# of a collective. In the last collective, the memory plan may place one operand separately.
with open(f"{folder}/buckets.cu") as file:
    calls = [len(re.findall(r"^ *\{run\.at<.*\},$", block, re.M)) for block in re.findall(r"operands\[\] = \{(.*?)\n    \};", file.read(), re.S)]
assert len(calls) == 3 and calls[:2] == [1, 1] and calls[2] <= 2, calls
CALL = sum(calls) + 2
PLACE = rf"error: rank 0 of 2: collective '{reduced[2]}' of \d+ elements, number 6, in step 2 of this run: "
FAULTS = [
    ({"AMP_NCCL_HOST_EXIT": f"1:{CALL}"}, PLACE + "remote process exited"),
    ({"AMP_NCCL_HOST_EXIT": f"1:{CALL}", "AMP_NCCL_HOST_SILENT": "1"}, PLACE + f"it has not ended within {DEADLINE} s"),
    ({"AMP_NCCL_HOST_STOP": f"1:{CALL}"}, PLACE + f"it has not ended within {DEADLINE} s"),
]


def start(program, rank, *options, ranks=2, environment={}, deadline=DEADLINE):
    """Starts a rank without a launcher that ends the others."""
    options = ["--data", digits, "--steps", STEPS, *(["--deadline", deadline] if deadline else []), *options]
    if ranks:
        options += ["--ranks", ranks, "--rank", rank]
    return subprocess.Popen([f"{folder}/{program}", *map(str, options)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, env={**os.environ, **environment})


for number, (environment, message) in enumerate(FAULTS):
    place = f"--rendezvous=file:{folder}/place{number}"
    begin = time.monotonic()
    ranks = [start("buckets", rank, place, environment=environment) for rank in range(2)]
    error = ranks[0].communicate(timeout=60)[1]
    seconds = time.monotonic() - begin
    print(environment, error, f"{seconds:.1f} s", flush=True)
    assert ranks[0].returncode == 1 and re.search(message, error), error
    ranks[1].send_signal(signal.SIGKILL)
    ranks[1].communicate()

# If the batch size, the program or an option of a rank differs from rank 0, all ranks say so at once.
OTHERS = [
    ("f32-2", ["--seed=4"], "'--seed' is 4 on rank 1 of 2, but 0 on rank 0; expected the same program and options on all ranks"),
    ("f32-2", ["--steps=7"], f"'--steps' is 7 on rank 1 of 2, but {STEPS} on rank 0; expected"),
    ("f32-2", ["--save", f"{folder}/one.npz"], "'--save' is given on rank 1 of 2, but not on rank 0; expected"),
    ("f32-2", ["--no-graph"], "'--no-graph' is given on rank 1 of 2, but not on rank 0; expected"),
    ("fp16-2", [], "'checksum of the program' is "),
    ("f32-2-small", [], f"'batch size of a rank' is {BATCH // 4} on rank 1 of 2, but {BATCH // 2} on rank 0; expected"),
]
for number, (other, options, message) in enumerate(OTHERS):
    place = f"--rendezvous=file:{folder}/other{number}" if number % 2 == 0 else f"--rendezvous=tcp://127.0.0.1:{29771 + number}"
    begin = time.monotonic()
    ranks = [start("f32-2", 0, place, deadline=60), start(other, 1, place, *options, deadline=60)]
    errors = [rank.communicate(timeout=60)[1] for rank in ranks]
    assert all(rank.returncode == 1 and message in error for rank, error in zip(ranks, errors)), errors
    assert errors[1].startswith("rank 1: ") and time.monotonic() - begin < 30, errors
# A rank may start late.
place = f"--rendezvous=file:{folder}/late"
ranks = [start("f32-2", 0, place)]
time.sleep(DEADLINE / 2)
ranks.append(start("f32-2", 1, place))
errors = [rank.communicate(timeout=60)[1] for rank in ranks]
assert all(rank.returncode == 0 for rank in ranks), errors

# Ranks meet by TCP and with the variables of launchers.
expected = None
for number, (environment, options) in enumerate([
    ({"RANK": "{}", "WORLD_SIZE": "2", "LOCAL_RANK": "{}", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29731"}, []),
    ({"PMI_RANK": "{}", "PMI_SIZE": "2"}, []),
    ({"SLURM_PROCID": "{}", "SLURM_NTASKS": "8", "SLURM_STEP_NUM_TASKS": "2"}, []),
    ({"SLURM_PROCID": "{}", "SLURM_NTASKS": "2", "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0"}, ["--rendezvous=tcp://127.0.0.1:29741"]),
]):
    ranks = [start("f32-2", rank, *options, "--save", f"{folder}/met.npz", ranks=0,
                   environment={key: value.format(rank) for key, value in environment.items()}) for rank in range(2)]
    errors = [rank.communicate(timeout=60)[1] for rank in ranks]
    assert all(rank.returncode == 0 for rank in ranks), (environment, errors)
    states = load(f"{folder}/met.npz")
    assert expected is None or same(states, expected), environment
    expected = states

# Wrong starts.
ERRORS = [
    ("f32-2", 0, [], 0, {}, "the program is for 2 ranks, but 1 was started; expected a start by torchrun, mpirun or srun"),
    ("f32-2", 0, [], 4, {}, "the program is for 2 ranks, but 4 were started"),
    ("f32-2", 2, [], 2, {}, "this process is rank 2 of 2, expected a number from 0 to 1"),
    ("f32-2", 0, ["--rendezvous=nowhere"], 2, {}, "unknown rendezvous 'nowhere', expected file:path, tcp://host:port or torch://host:port"),
    ("f32-2", 1, [f"--rendezvous=file:{folder}/none", "--deadline=1"], 2, {}, "rank 1 of 2: rank 0 has left no message at 'file:"),
    ("f32-2", 0, ["--rendezvous=tcp://127.0.0.1:29751", "--deadline=1"], 2, {}, "rank 0 of 2: rank 1 has left no message at 'tcp:"),
    ("f32-2", 1, ["--rendezvous=torch://127.0.0.1:29761", "--deadline=1"], 2, {}, "rank 1 of 2: the store of torchrun does not answer at 'torch:"),
    ("f32-2", 0, [f"--rendezvous=file:{folder}/alone", "--deadline=1"], 2, {}, "rank 0 of 2: rank 1 has left no message at 'file:"),
    ("f32-2", 0, [f"--rendezvous=file:{folder}/no/file"], 2, {}, f"cannot write '{folder}/no/file'"),
    ("f32-2", 0, [], 0, {"RANK": "0"}, "the environment of torchrun has RANK, but not WORLD_SIZE"),
    ("f32-2", 0, [], 0, {"RANK": "x"}, "the environment has RANK='x', expected a number"),
    ("f32-2", 0, ["--ranks=0"], 0, {}, "--ranks must be positive"),
    ("f32-2", 0, ["--check-ranks=0"], 0, {}, "--check-ranks must be positive"),
    ("f32-1", 0, [], 2, {}, "--ranks=2, but the program is for one rank; expected --ranks of amp-translate"),
    ("f32-1", 0, ["--rank=3"], 0, {}, "--rank=3, but the program is for one rank"),
    ("f32-1", 0, ["--check-ranks=2"], 0, {}, "--check-ranks has no effect, because the program is for one rank; expected --ranks of amp-translate"),
    ("f32-1", 0, ["--register-buffers"], 0, {}, "--register-buffers has no effect, because the program is for one rank"),
    ("f32-1", 0, ["--rendezvous=file:x"], 0, {}, "--rendezvous has no effect, because the program is for one rank"),
]
for program, rank, options, count, environment, message in ERRORS:
    # --deadline is not valid for one rank.
    deadline = {} if program != "f32-1" else {"deadline": None}
    process = start(program, rank, *options, ranks=count, environment=environment, **deadline)
    error = process.communicate(timeout=60)[1]
    assert process.returncode == 1 and message in error and error.count("error:") == 1, (options, error)
# Only rank 0 warns that each process trains alone.
ranks = [start("f32-1", rank, ranks=0, environment={"RANK": str(rank), "WORLD_SIZE": "2"}, deadline=None) for rank in range(2)]
errors = [rank.communicate(timeout=60)[1] for rank in ranks]
WARNING = "warning: torchrun has started 2 processes, each of which trains alone, because the program is for one rank"
assert all(rank.returncode == 0 for rank in ranks) and WARNING in errors[0] and "warning" not in errors[1], errors
# An older NCCL does not register memory.
plain = Builder(*sys.argv[6:8], folder)
run([*plain.compiler, "-DNCCL_VERSION_CODE=21805", "-DNCCL_MAJOR=2", "-DNCCL_MINOR=18", f"{folder}/buckets.cu", *plain.library, "-o", f"{folder}/old"])
done, _ = launch(f"{folder}/old", 2, "--register-buffers")
assert done.returncode != 0 and "error: NCCL 2.18 registers no memory, expected 2.19 or later" in done.stderr, done.stderr
