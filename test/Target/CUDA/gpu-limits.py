# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What run.py of `tools/dev gpu` does on a machine where tools fail, hang, or are
# refused, and when it is stopped: the rest runs, what did not is listed, and the
# file of results is whole at any time. Compiler, GPU and trainers are scripts.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %amp_src_root

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np

folder, root = map(pathlib.Path, sys.argv[1:3])
gpu, tools, log = folder / "gpu", folder / "cuda/bin", folder / "log"
shutil.copytree(root / "tools/gpu/harness", gpu / "harness")
for script in ("run.py", "peers.py"):
    shutil.copy(root / "tools/gpu" / script, gpu)
for part in ("sources", "data", "reference"):
    (gpu / part).mkdir()
tools.mkdir(parents=True)
(folder / "cuda/lib64").mkdir()
(folder / "cuda/lib64/libcublasLt.so").touch()
text = (pathlib.Path(__file__).parent / "Inputs/fake-gpu.py").read_text()
for name in ("nvcc", "nvidia-smi", "compute-sanitizer", "python-torch"):
    (tools / name).write_text(f"#!{sys.executable} -IS\n{text}")
    (tools / name).chmod(0o755)

np.savez(gpu / "reference/states.npz", w=np.arange(4, dtype=np.float32), loss_scale=np.float32(65536))
cases = []
for precision in ("f32", "fp16"):
    cases.append({"name": f"digits-{precision}", "model": "digits", "precision": precision, "data": "data/d.npz", "steps": 5,
                  "reference": "reference/states.npz", "limits": {"w": 1e-5, "loss_scale": 0.0}})
    cases.append({"name": f"big-{precision}", "model": "big", "precision": precision, "layers": [8, 8]})
cases.append({"name": "big-fp16-copy", "model": "big", "precision": "fp16", "layers": [8, 8], "variant": "copy"})
for case in cases:
    case.update(source=f"sources/{case['name']}.cu", batch=32, operations=10**9)
    (gpu / case["source"]).write_text("fine\n")
(gpu / "cases.json").write_text(json.dumps(cases))
PEERS = ("--torch-python", tools / "python-torch")


def start(*arguments, fake=""):
    log.write_text("")
    (gpu / "results.json").unlink(missing_ok=True)
    environment = {"PATH": f"{tools}:/bin:/usr/bin", "FAKE": fake, "FAKE_LOG": str(log)}
    command = [sys.executable, "-IS", gpu / "run.py", "--rounds", "1", *arguments]
    return subprocess.Popen(list(map(str, command)), env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def read():
    return json.loads((gpu / "results.json").read_text())


def run(status, *arguments, fake="", most=60):
    began = time.monotonic()
    process = start(*arguments, fake=fake)
    text, _ = process.communicate()
    assert process.returncode == status, (process.returncode, text)
    assert time.monotonic() - began < most, text
    results = read()
    assert results["finished"] and not os.path.exists(gpu / "results.json.new")
    return results, text


def failed(results):
    return {(check["case"], check["check"]) for check in results["checks"] if not check["passed"]}


def not_run(results):
    return {(item["case"], item["check"]) for item in results["not run"]}


# Everything is there: nothing is left out, and the large models come first.
results, text = run(0, *PEERS)
assert not_run(results) == failed(results) == set() and len(results["checks"]) == 15, text
assert list(results["seconds of stages"]) == ["own", "peers", "small", "states", "losses", "sanitizer", "compile"]
lines = log.read_text()
builds = re.findall(r"^nvcc (-.*\.cu.*)$", lines, re.M)
assert len(builds) == 5 and all("-Werror" not in line and f"-rpath,{folder}/cuda/lib64" in line and "sm_90" in line
                                for line in builds), builds
assert re.findall(r"^big-\S+ .*--time \d+", lines, re.M)[0].startswith("big-fp16 ")
assert lines.index("--time") < lines.index("python-torch eager") < lines.index("--save") < lines.index("--tool=") \
    < lines.index("python-torch compile fp16") < lines.index("python-torch compile f32")
assert "--tool=racecheck --kernel-name-exclude=kns=cublas" in lines and "memcheck --kernel" not in lines
turns = [own or " ".join(peer) for own, *peer in re.findall(r"^(?:(big-fp16) .*--time|python-torch (\w+) (fp16)$)", lines, re.M)]
assert turns == ["big-fp16", "big-fp16", "eager fp16", "graph fp16", "big-fp16", "compile fp16"], turns
# Own steps and peers alternate, and ratios compare the same rounds.
assert results["ratios"] == {"big": {"fp16": 4.0}, "digits": {"fp16": 4.0}}, results["ratios"]
assert results["times"]["big-fp16-copy"]["times the plain step"] == 0.5
assert {name: entry["times the own step"] for name, entry in results["peers"].items() if "fp16" in name} == {
    "big-fp16-eager": 2.0, "big-fp16-graph": 2.0, "big-fp16-compile": 2.0}
# The device during the run, and the result of the timed run.
sample = results["times"]["big-fp16"]["samples"][-1]
assert sample["SM MHz"] == 1980 and sample["W"] == 650.5 and "memory MHz" not in sample, sample
assert sample["loss"] == 1.5 and sample["skipped"] == 0 and not results["times"]["big-fp16"]["overflows"]
assert results["device"] == {"name": "Fake GPU", "driver": "999.9", "architecture": "90"}

# A run that diverged is marked.
results, text = run(0, "--no-peers", "--stages", "own", fake="diverges")
assert results["times"]["big-fp16"]["overflows"] and not results["times"]["big-f32"]["overflows"]
assert "big-fp16: 2 ms per step" in text and "STEPS OVERFLOW" in text

results, text = run(0, "--no-peers", "--stages", "own", fake="overflows-once")
assert not results["times"]["big-fp16"]["overflows"] and "OVERFLOW" not in text

# A source that does not compile, and one with a warning.
(gpu / "sources/big-f32.cu").write_text("error\n")
(gpu / "sources/big-fp16.cu").write_text("warning\n")
results, text = run(2, "--no-peers", "--stages", "own,states")
assert failed(results) == {("big-f32", "build")} and results["warnings"] == {"big-fp16": "warning: hm"}, text
assert set(results["times"]) == {"big-fp16", "big-fp16-copy"} and "ok     digits-f32: states" in text
for name in ("big-f32", "big-fp16"):
    (gpu / f"sources/{name}.cu").write_text("fine\n")

# A sanitizer that the device refuses, an old one, and one that finds something.
results, text = run(0, "--no-peers", "--stages", "sanitizer", fake="refused")
assert not_run(results) == {(f"digits-{p}", f"compute-sanitizer {tool}") for p in ("f32", "fp16") for tool in ("memcheck", "racecheck")}
assert "Device not supported" in results["not run"][0]["why"] and log.read_text().count("--tool") == 1
results, _ = run(0, "--no-peers", "--stages", "sanitizer", fake="old")
assert not_run(results) == set() and len(results["checks"]) == 4
results, _ = run(1, "--no-peers", "--stages", "sanitizer", fake="race")
assert failed(results) == {(f"digits-{p}", "compute-sanitizer racecheck") for p in ("f32", "fp16")}

# PyTorch ends, or answers nonsense: its other times are taken all the same.
for wrong in ("ends", "garbage"):
    results, text = run(0, *PEERS, "--stages", "peers,compile", "--cases", "^big", fake=wrong)
    assert not_run(results) == {("big-f32", "torch graph"), ("big-fp16", "torch graph")}, text
    assert {name for name, entry in results["peers"].items() if entry["samples"]} == {
        f"big-{p}-{peer}" for p in ("f32", "fp16") for peer in ("eager", "compile")}
# A step of it that does not end is ended with the stage; the next has a new process.
results, text = run(0, *PEERS, "--stages", "peers,compile", "--cases", "^big", "--minutes", "0.12", fake="waits")
assert ("big-fp16", "torch graph") in not_run(results) and "no time left" in text, text
assert results["peers"]["big-fp16-compile"]["samples"] and log.read_text().count("about") == 2, text
# One that cannot be started: own steps are timed in as many rounds.
results, text = run(0, "--torch-python", folder / "none", "--stages", "own,peers,compile", "--rounds", "2")
assert "without PyTorch" in text and len(results["times"]["big-fp16"]["samples"]) == 3 and results["peers"] == {}, text
# Its output is not an answer.
(folder / "noisy").mkdir()
(folder / "noisy/torch.py").write_text("import os\nos.write(1, b'noise\\n')\nprint('noise')\n__version__ = '9'\n")
answer = subprocess.run([sys.executable, gpu / "peers.py", "cpu"], input='{"do": "about"}\n', text=True, capture_output=True,
                        env={"PYTHONPATH": str(folder / "noisy")})
assert json.loads(answer.stdout) == {"torch": "9", "usable": True} and "noise" in answer.stderr, answer

# The library of a Python package, where the toolkit has none.
sys.path[:0] = [str(gpu / "harness"), str(folder / "site")]
import machine  # noqa: E402

(folder / "bare/bin").mkdir(parents=True)
for part in ("lib/libcublasLt.so.13", "include/cublasLt.h"):
    (folder / "site/nvidia/cu13" / part).parent.mkdir(parents=True)
    (folder / "site/nvidia/cu13" / part).touch()
place = f"{folder}/site/nvidia/cu13"
assert machine.find_library(str(folder / "bare/bin/nvcc")) == [
    f"-L{place}/lib", "-l:libcublasLt.so.13", "-Xlinker", f"-rpath,{place}/lib", f"-I{place}/include"]

# Trainers that fail, and one that writes nonsense.
results, text = run(1, "--no-peers", "--stages", "own,small,states", fake="big digits-garbage")
assert {("big-fp16", "time"), ("digits-fp16", "time")} <= failed(results) and "ok     digits-fp16: states" in text
assert "out of luck" in text and "JSONDecodeError" in text

# Time runs out: the programs that hang are ended with what they started; programs that were not
# timed are not run, which is not a failure.
results, text = run(0, "--no-peers", "--stages", "own,small", "--minutes", "0.12", fake="big-hangs", most=60)
assert ("big-fp16", "time") in not_run(results) and failed(results) == set(), text
assert any("no time left" in item["why"] for item in results["not run"])
assert results["times"]["digits-fp16"]["samples"]


def check_children():
    children = [int(number) for number in re.findall(r"child (\d+)", log.read_text())]
    assert children
    for child in children:
        for _ in range(100):
            try:
                os.kill(child, 0)
            except ProcessLookupError:
                break
            # One that ended and was not waited for counts as ended.
            if pathlib.Path(f"/proc/{child}/stat").exists() and ") Z" in pathlib.Path(f"/proc/{child}/stat").read_text():
                break
            time.sleep(0.05)
        else:
            raise AssertionError(f"process {child} goes on")


check_children()
# Programs with a sample are not among them.
results, text = run(0, "--no-peers", "--stages", "own", "--minutes", "0.1", "--rounds", "1000", most=60)
assert not_run(results) == set() and 1 < len(results["times"]["big-fp16"]["samples"]) < 1000, text
# Stopped, with the results so far.
for number, status in ((signal.SIGTERM, 4), (signal.SIGKILL, -9)):
    process = start("--no-peers", "--stages", "small,own,states", "--cases", "big|digits-fp16", fake="digits-hangs")
    while "child" not in log.read_text():
        assert process.poll() is None, process.stdout.read()
        time.sleep(0.05)
    process.send_signal(number)
    process.wait()
    results = read()
    assert process.returncode == status and not results["finished"] and results["stage"] == "small", results
    assert results["times"]["big-fp16"]["samples"] and results.get("stopped") == ("SIGTERM" if status == 4 else None)
    if status == 4:
        check_children()
    else:
        for child in re.findall(r"child (\d+)", log.read_text()):
            os.killpg(os.getpgid(int(child)), signal.SIGKILL)

# It is an error before the build if results cannot be written.
process = start("--no-peers", "--output", folder / "none/results.json")
assert "none/results.json" in process.communicate()[0] and process.returncode != 0 and "-o" not in log.read_text()
