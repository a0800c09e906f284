# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Both stages of `tools/dev gpu`, without a GPU: the second one runs the programs
# on the CPU emulator, passes, and writes its results; a reference that is wrong by
# little fails; without a GPU it says so, with status 3. gpu-limits.py tests it where tools fail or
# time runs out.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %S/../../../tools/gpu/generate.py %amp_obj_root/bin %t/gpu '^digits-mlp|^mlp-small'
# RUN: %python %s %t/gpu '%cuda_host_cxx {} %cuda_host_lib'

import json
import os
import pathlib
import subprocess
import sys

import numpy as np

folder, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]


def run_stage(status, *arguments, env=None):
    # With Python as it is on a machine that has nothing else.
    result = subprocess.run([sys.executable, "-I", "-S", folder / "run.py", *arguments], capture_output=True, text=True,
                            env=env)
    print(result.stdout, result.stderr, sep="", flush=True)
    assert result.returncode == status, (arguments, result.returncode)
    return result.stdout + result.stderr


# A Python without packages.
folder.mkdir(exist_ok=True)
bare = folder / "python"
bare.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
bare.chmod(0o755)
EMULATED = ("--emulator", compiler, "--rounds", "1", "--cases", "mlp-fp16|overflow", "--torch-python", bare)
text = run_stage(0, *EMULATED)
assert "overflow lowers the scale" in text
with open(folder / "results.json") as file:
    results = json.load(file)
assert all(check["passed"] for check in results["checks"])
assert {check["case"] for check in results["checks"]} == {"digits-mlp-fp16", "digits-mlp-overflow"}
entry = results["times"]["digits-mlp-fp16"]
assert entry["ms per step"] > 0 and not entry["overflows"] and results["finished"]
(sample,) = entry["samples"]
assert sample["scale before"] == sample["scale after"] == 65536 and sample["skipped"] == 0, sample
assert sample["seconds of warm-up"] >= 0.3 and 0 < sample["loss"] < 2.5, sample
assert "emulated" in results["device"]
assert "without PyTorch to compare with: no torch" in text and results["torch"].startswith("no torch"), results["torch"]
assert results["peers"] == {}

# Peers on the CPU: their losses equal the program's, and their steps are timed. A peer that
# needs a GPU fails alone.
if subprocess.run([sys.executable, "-c", "import torch"], capture_output=True).returncode == 0:
    text = run_stage(0, "--emulator", compiler, "--rounds", "1", "--cases", "mlp-small-f32", "--stages", "small,losses")
    assert "ok     mlp-small-f32: losses as in torch" in text
    with open(folder / "results.json") as file:
        results = json.load(file)
    assert results["torch"][0].isdigit(), results["torch"]
    assert set(results["peers"]) == {f"mlp-small-f32-{peer}" for peer in ("eager", "graph")}
    eager = results["peers"]["mlp-small-f32-eager"]
    assert eager["ms per step"] > 0 and eager["times the own step"] > 0 and len(eager["samples"]) == 1
    assert "error" in results["peers"]["mlp-small-f32-graph"]
    assert {item["check"] for item in results["not run"]} == {"torch graph"}, results["not run"]

# A parameter of the reference that is off by a hundredth.
reference = folder / "reference/digits-mlp-fp16.npz"
with np.load(reference) as file:
    arrays = {name: file[name] for name in file.files}
arrays["fc1.weight"] = arrays["fc1.weight"] * np.float32(1.01)
np.savez(reference, **arrays)
assert "FAILED digits-mlp-fp16: states as on the CPU: fc1.weight" in run_stage(1, *EMULATED, "--cases", "mlp-fp16", "--stages", "states")

# Programs that were built before, on a machine without a compiler. Its GPU is the emulator.
(folder / "prebuilt").mkdir()
smi = folder / "prebuilt/nvidia-smi"
smi.write_text("#!/bin/sh\necho 'NVIDIA H100 80GB HBM3, 580.1, 9.0'\n")
smi.chmod(0o755)
there = {"PATH": f"{folder / 'prebuilt'}:/usr/bin:/bin"}
PREBUILT = ("--prebuilt", "--cases", "mlp-fp16|overflow", "--stages", "states", "--no-peers")
text = run_stage(1, *PREBUILT, env=there)
assert "FAILED digits-mlp-fp16: states as on the CPU: fc1.weight" in text and "ok     digits-mlp-overflow: states" in text
(folder / "out/digits-mlp-fp16").unlink()
assert "digits-mlp-fp16 is missing, expected it from --build-only" in run_stage(2, *PREBUILT, env=there)
assert "--prebuilt builds nothing" in run_stage(2, *PREBUILT, "--build-only")
assert "--architectures needs --build-only" in run_stage(2, "--architectures", "90")

# A machine that has a compiler and no GPU, and one that has neither.
(folder / "bin").mkdir()
nvidia = folder / "bin/nvidia-smi"
nvidia.write_text("#!/bin/sh\necho 'No devices were found'\nexit 6\n")
nvidia.chmod(0o755)
alone = {"PATH": str(folder / "bin")}
assert "no GPU" in run_stage(3, "--nvcc", "/bin/true", env=alone)
if not os.path.exists("/usr/local/cuda/bin/nvcc"):
    assert "no nvcc" in run_stage(2, env=alone)
# A source that does not compile.
(folder / "sources/digits-mlp-f32.cu").write_text("not C++\n")
assert "does not compile" in run_stage(2, "--emulator", compiler, "--cases", "mlp-f32")
