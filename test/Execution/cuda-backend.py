# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# amp-run --backend=cuda is amp-run: states, metrics, predictions and messages are
# those of the CPU. Its steps are compiled for the CPU implementation of CUDA.
#
# REQUIRES: full
# Python lacks the runtime that a library with sanitizers needs.
# UNSUPPORTED: sanitizer
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib' %amp_src_root %amp_obj_root

import csv
import ctypes
import json
import os
import signal
import subprocess
import sys
import time

here = os.path.dirname(__file__)
sys.path[:0] = [os.path.join(here, "Inputs"), os.path.join(here, "../Step/Inputs"), os.path.join(here, "../CudaHost/Inputs")]
import checks
import numpy as np
import runner
import steps
from host_compiler import count_calls, count_runtimes, write_compiler
from runner import MODEL, make_data

folder, compiler, library, root, build = sys.argv[1:6]
folder += "/"
cache, nvcc = folder + "cache", folder + "nvcc"


def use_compiler(**options):
    write_compiler(nvcc, compiler, library, root, **options)


def count():
    return count_calls(nvcc)


def amp_run(backend, *arguments, fails=None, model=MODEL, **options):
    given = ["--backend=cuda", "--cuda-compiler", nvcc, "--cuda-cache", cache] if backend == "cuda" else []
    result = subprocess.run(["amp-run", model, "--data", folder + "data.npz", *given, *map(str, arguments)],
                            capture_output=True, text=True, **options)
    if fails:
        assert result.returncode == 1 and fails in result.stderr, (arguments, fails, result.stderr)
        assert result.stderr.count("error: ") == 1, result.stderr
    else:
        assert result.returncode == 0, (arguments, result.stderr)
    return result


def distance(one, other):
    a, b = np.load(folder + one), np.load(folder + other)
    assert set(a.files) == set(b.files), (a.files, b.files)
    assert (a["__amp_progress__"] == b["__amp_progress__"]).all() if "__amp_progress__" in a.files else True
    floats = [name for name in a.files if a[name].dtype.kind == "f"]
    return max(np.abs(a[name].astype(np.float64) - b[name]).max() for name in floats)


use_compiler()
np.savez(folder + "data.npz", **make_data())
quiet = ["--quiet", "--batch-size", "8"]

# Whole runs, with every output.
for precision, tolerance in (("f32", 1e-5), ("fp16", 5e-3)):
    csvs = {}
    for backend in ("cpu", "cuda"):
        out = f"{folder}{backend}."
        result = amp_run(backend, *quiet, "--precision", precision, "--epochs", 3, "--eval", "--seed", 5, "--set", "lr=0.2",
                         "--save", out + "npz", "--predict", out + "predictions.npz", "--metrics-csv", out + "csv",
                         "--metrics-json", out + "json", "--plot", out + "html")
        with open(out + "csv") as file:
            csvs[backend] = list(csv.DictReader(file))
        with open(out + "json") as file:
            assert json.load(file)
        assert "accuracy" in result.stdout, result.stdout
    assert "bytes of device memory" in result.stdout
    assert len(csvs["cpu"]) == 18 and csvs["cpu"][0].keys() == csvs["cuda"][0].keys()
    for mine, other in zip(csvs["cuda"], csvs["cpu"]):
        assert abs(float(mine["loss"]) - float(other["loss"])) <= tolerance, (mine, other)
    for name in ("npz", "predictions.npz"):
        apart = distance("cpu." + name, "cuda." + name)
        print(precision, name, apart)
        assert apart <= tolerance
# Both steps are linked with one runtime.
assert count() == 2 and count_runtimes(nvcc) == 1, (count(), count_runtimes(nvcc))

# The same step again is not compiled again. Another size, precision, rounding or
# compiler is another step.
short = [*quiet, "--steps", 3, "--precision", "f32", "--save", folder + "short.npz"]
amp_run("cuda", *short)
base = count()
amp_run("cuda", *short)
amp_run("cuda", *short, "--seed", 2, "--set", "lr=0.1")
assert count() == base
progress = amp_run("cuda", *short[1:]).stderr
assert "compiling" not in progress, progress
progress = amp_run("cuda", *[a for a in short if a != "--quiet"], "--strict-rounding").stderr
assert "compiling 'step' by nvcc ... " in progress and count() == base + 1, progress
use_compiler(version="2")
amp_run("cuda", *short)
assert count() == base + 2

# A damaged library is compiled again: truncated, empty, of other bytes, without
# its hash.
libraries = [os.path.join(cache, name) for name in os.listdir(cache) if name.endswith(".so")]
newest = max((name for name in libraries if "-" not in os.path.basename(name)), key=os.path.getmtime)
[copy] = [name for name in libraries if name.startswith(newest[:-3] + "-")]
size = os.path.getsize(newest)
for damage in ("truncate", "empty", "change", "hash"):
    before = count()
    # The copy with the numbers of the step is made from the library.
    os.remove(copy)
    if damage == "hash":
        os.remove(newest[:-3] + ".sha256")
    else:
        with open(newest, "r+b") as file:
            if damage == "change":
                file.seek(size // 2)
                file.write(b"\x5a" * 64)
            else:
                file.truncate(size // 2 if damage == "truncate" else 0)
    amp_run("cuda", *short)
    assert count() == before + 1, damage
    amp_run("cuda", *short)
    assert count() == before + 1, damage

# A damaged runtime is also compiled again.
[runtime] = [name for name in os.listdir(cache) if name.startswith("runtime-") and name.endswith(".o")
             and os.path.getmtime(os.path.join(cache, name)) == max(
                 os.path.getmtime(os.path.join(cache, other)) for other in os.listdir(cache) if other.endswith(".o"))]
with open(os.path.join(cache, runtime), "r+b") as file:
    file.truncate(100)
os.remove(newest)
os.remove(copy)
before = count(), count_runtimes(nvcc)
amp_run("cuda", *short)
assert (count(), count_runtimes(nvcc)) == (before[0] + 1, before[1] + 1)

# A compilation that is killed leaves nothing that a later run takes.
use_compiler(version="3", before="echo broken > $out; sleep 60")
process = subprocess.Popen(["amp-run", MODEL, "--data", folder + "data.npz", "--backend=cuda", "--cuda-compiler", nvcc,
                            "--cuda-cache", cache, *map(str, short)], start_new_session=True)
before = count()
while count() == before:
    time.sleep(0.05)
time.sleep(0.2)
os.killpg(process.pid, signal.SIGKILL)
process.wait()
use_compiler(version="3")
before = count()
amp_run("cuda", *short)
assert count() == before + 1

# A run resumes on either side.
amp_run("cpu", *quiet, "--precision", "f32", "--steps", 9, "--seed", 3, "--save", folder + "part.npz")
amp_run("cuda", "--quiet", "--precision", "f32", "--load", folder + "part.npz", "--steps", 7, "--save", folder + "there.npz")
amp_run("cpu", "--quiet", "--precision", "f32", "--load", folder + "part.npz", "--steps", 7, "--save", folder + "here.npz")
assert distance("there.npz", "here.npz") <= 1e-5
amp_run("cpu", "--quiet", "--precision", "f32", "--load", folder + "there.npz", "--steps", 1)
amp_run("cuda", *quiet, "--precision", "fp16", "--load", folder + "part.npz", "--steps", 1,
        fails="was saved by a run with --precision f32, but this one is with --precision fp16")

# Several runs, weights, evaluation alone.
table = amp_run("cuda", *quiet, "--compare", "f32,fp16", "--steps", 6, "--seeds", 2).stdout
assert "f32" in table and "fp16" in table and "accuracy" in table, table
amp_run("cuda", *quiet, "--precision", "f32", "--init", folder + "there.npz", "--eval")
assert "cuda.program @step" in amp_run("cuda", "--batch-size", 8, "--precision", "fp16", "--print-ir").stdout
options = ["--batch-size", 8, "--precision", "fp16", "--pipeline", "scaler=apex gradient-norm"]
assert '"gradient_norm"' in amp_run("cuda", *options, "--print-ir").stdout
amp_run("cuda", *quiet, "--last-batch", "keep", fails="expected --last-batch=drop")

# Options that only one of the backends has.
for option in (["--num-threads", 2], ["--gradient-histogram"]):
    amp_run("cuda", *quiet, "--precision", "fp16", *option,
            fails=option[0] + " is an option of --backend=cpu, but the backend is cuda")
for option in (["--device", 1], ["--cuda-cache", cache], ["--strict-rounding"], ["--cuda-compiler", nvcc]):
    amp_run("cpu", *quiet, *option, fails=option[0] + " is an option of --backend=cuda, but the backend is cpu")
amp_run("cpu", *quiet, "--backend=tpu", fails="unknown backend 'tpu', expected cpu or cuda")
amp_run("cpu", *quiet, "--target", "h100", fails="--target is a model of GPU, which amp-translate --cuda-costs takes")

# Errors name the missing device, compiler or folder.
amp_run("cuda", *short, "--device", 3, fails="there is no device 3, but 1 in all")
blocked = folder + "blocked"
with open(blocked, "w"):
    pass
data = ["--data", folder + "data.npz"]
for arguments, message in (
    (["--cuda-compiler", folder + "nothing"], f"there is no CUDA compiler '{folder}nothing'"),
    (["--cuda-compiler", nvcc, "--cuda-cache", blocked + "/x"], "cannot create the folder"),
    (["--cuda-compiler", "false"], "--version' failed"),
):
    result = runner.run(*data, "--backend=cuda", "--precision", "f32", *arguments, *quiet)
    assert result.returncode == 1 and message in result.stderr, result.stderr
use_compiler(version="4", before="echo 'step.cu(7): no such thing' >&2; exit 3")
amp_run("cuda", *short, fails="no such thing")
if not os.path.exists("/dev/nvidia0"):
    environment = {name: value for name, value in os.environ.items() if name != "AMP_CUDA_COMPILER"}
    result = subprocess.run(["amp-run", MODEL, *data, "--backend=cuda", "--precision", "f32", *quiet], env=environment,
                            capture_output=True, text=True)
    assert result.returncode == 1 and ("needs nvcc" in result.stderr or "needs a GPU" in result.stderr), result.stderr
    print(result.stderr)

# The environment chooses as the options do.
use_compiler(version="5")
environment = {**os.environ, "AMP_CUDA_COMPILER": nvcc, "XDG_CACHE_HOME": folder + "xdg"}
subprocess.run(["amp-run", MODEL, *data, "--backend=cuda", *map(str, short)], env=environment, check=True)
assert any(name.endswith(".so") for name in os.listdir(folder + "xdg/amp"))

# A program in another language compiles by the same cache, in process.
with open(MODEL) as file:
    text = file.read()
before = count()
states = []
own = ctypes.CDLL(build + "/lib/libAMPStep.so")
gpu = {"batch_size": 8, "cuda_compiler": nvcc, "cuda_cache": cache}
for backend, options in (("cuda", gpu), ("cuda", gpu), ("cpu", {})):
    code, program, said = steps.compile_module(own, text, backend=backend, precision="f32", **options)
    assert code == steps.OK and program.backend.decode() == backend and program.has_forward == 1, (code, said)
    step = steps.Step(program, seed=3)
    checks.train(step)
    states.append(step.states())
    step.destroy()
assert count() == before + 1 and checks.same(states[0], states[1])
assert all(np.abs(value - states[2][name]).max() <= 1e-5 for name, value in states[0].items())
