# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The number of threads changes no bit of the results and counts no byte twice. Invalid numbers are
# errors.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %models %t

import os
import re
import subprocess
import sys

import numpy as np

models, folder = sys.argv[1], sys.argv[2] + "/"
rng = np.random.default_rng(0)


def make(name, *options):
    subprocess.run(["amp-model", *options, "-o", f"{folder}{name}.mlir"], check=True)


make("gpt2", "gpt2", "--layers=1", "--width=64", "--heads=2", "--vocabulary=50", "--positions=32")
make("resnet18", "resnet18", "--width=8", "--image-size=32", "--classes=10")
LONG = "AMP_LONG_TESTS" in os.environ
text = rng.integers(0, 50, (24, 33))
np.savez(folder + "gpt2.npz", tokens=text[:, :-1], targets=text[:, 1:])
np.savez(folder + "resnet18.npz", images=rng.standard_normal((24, 32, 32, 3)).astype(np.float32),
         labels=rng.integers(0, 10, 24).astype(np.int32))


def count_divided(model, batch, precision):
    """The number of kernels that two threads divide."""
    text = subprocess.run(
        ["amp-opt", model, f"--train-set-batch=batch-size={batch}",
         *([f"--amp-training-pipeline=precision={precision}"] if precision else []),
         "--amp-cpu-pipeline=threads=2 to-llvm=false"], check=True, capture_output=True, text=True).stdout
    return text.count("omp.parallel")


def run(model, data, precision, threads, variables=(), batch=8):
    """The state, the metrics and the planned peak after three steps."""
    out = f"{folder}{threads}"
    result = subprocess.run(
        ["amp-run", model, "--data", data, f"--precision={precision}", f"--batch-size={batch}", "--steps=3", "--quiet",
         f"--save={out}.npz", f"--metrics-csv={out}.csv",
         *([f"--num-threads={threads}"] if isinstance(threads, int) else [])],
        env={**os.environ, **dict(variables)}, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    with open(f"{out}.npz", "rb") as file:
        state = file.read()
    with open(f"{out}.csv") as file:
        metrics = file.read()
    planned, allocated = (int(re.search(f"peak bytes {kind}: (\\d+)", result.stdout)[1]) for kind in ("planned", "allocated"))
    assert abs(planned - allocated) <= 0.02 * planned, result.stdout
    return state, metrics, planned


for model, data, precision, batch in (
        (f"{models}/digits-cnn.mlir", f"{models}/data/digits.npz", "fp16", 64),
        (f"{models}/digits-mlp.mlir", f"{models}/data/digits.npz", "f32", 1000),
        (folder + "gpt2.mlir", folder + "gpt2.npz", "bf16", 8),
        *([(folder + "resnet18.mlir", folder + "resnet18.npz", "f32", 8)] if LONG else [])):
    assert count_divided(model, batch, precision), (model, batch)
    expected = run(model, data, precision, 1, batch=batch)
    for threads in (2, 5):
        assert run(model, data, precision, threads, batch=batch) == expected, (model, precision, threads)
# A short step stays on one thread.
assert count_divided(f"{models}/digits-mlp.mlir", 64, "f32") == 0

# Steps of other compilers: indices that loops do not reach evenly, and parallel
# loops that reduce.
model, data = os.path.join(os.path.dirname(__file__), "Inputs", "foreign-loops.mlir"), folder + "foreign.npz"
np.savez(data, x=rng.standard_normal((300, 400)).astype(np.float32))


def run_foreign(threads):
    subprocess.run(["amp-run", model, "--data", data, "--steps=1", "--quiet", f"--num-threads={threads}",
                    "--save", f"{folder}foreign.out.npz"], check=True, capture_output=True)
    return dict(np.load(f"{folder}foreign.out.npz"))


assert count_divided(model, 1, "")
expected = run_foreign(1)
x = np.load(data)["x"]
assert np.count_nonzero(expected["v"]) and abs(expected["s"] - x.astype(np.float64).sum()) < 0.1
for threads in (2, 4):
    for name, array in run_foreign(threads).items():
        assert array.tobytes() == expected[name].tobytes(), (threads, name)

# Without the option OpenMP's variable counts.
model, data = f"{models}/digits-mlp.mlir", f"{models}/data/digits.npz"
assert run(model, data, "bf16", "three", {"OMP_NUM_THREADS": "3"}.items()) == run(model, data, "bf16", 1)

for number, message in (("0", "--num-threads must be at least 1, got 0"),
                        ("5000", "a step has at most 1024 threads, got 5000"),
                        ("many", "'many' value invalid"), ("-1", "'-1' value invalid")):
    result = subprocess.run(["amp-run", model, "--data", data, "--steps=1", f"--num-threads={number}"],
                            capture_output=True, text=True)
    assert result.returncode == 1 and message in result.stderr, (number, result)


# A killed process leaves the file in which OpenMP's runtime registers, and a later process may get its number.
def register():
    with open(f"/dev/shm/__KMP_REGISTERED_LIB_{os.getpid()}_{os.getuid()}", "wb") as file:
        file.truncate(1024)


if os.path.isdir("/dev/shm"):
    subprocess.run(["amp-run", model, "--data", data, "--steps=1", "--quiet"], preexec_fn=register, check=True,
                   capture_output=True)
