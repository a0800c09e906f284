# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The stages of `tools/dev gpu` for networks, with a reduced decoder on the CPU emulator and PyTorch
# on the CPU: times, ceilings, the table of products and launches are in the results, both sides
# have the same losses from the same weights and data, a second run resumes, and PyTorch runs alone.
#
# REQUIRES: full, torch-export
# RUN: rm -rf %t && mkdir %t
# RUN: %python %amp_src_root/tools/gpu/generate.py %amp_obj_root/bin %t/gpu '^decoder-(300m|small|packed-small)$' --reduced
# RUN: %python %s %t/gpu '%cuda_host_cxx {} %cuda_host_lib' %torch_python
# RUN: %python %amp_src_root/tools/docs/gpu-results.py %amp_src_root %t/page %t/gpu/results.json
# RUN: FileCheck %s < %t/page/gpu-results.md
# CHECK: | `decoder-300m-bf16` | this project |
# CHECK: | `decoder-300m-bf16` | torch, eager |
# CHECK: ![Losses of decoder-300m-bf16](figures/gpu-decoder-300m-bf16.svg)

import copy
import json
import pathlib
import subprocess
import sys

folder, compiler, torch_python = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
BF16 = "decoder-300m-bf16"
EMULATED = ("--emulator", compiler, "--rounds", "1", "--cases", f"^{BF16}|^decoder-small-bf16", "--torch-python", torch_python,
            "--minutes", "20", "--curve-steps", "6")


def run(status, *arguments):
    result = subprocess.run([sys.executable, "-I", "-S", folder / "run.py", *arguments], capture_output=True, text=True)
    print(result.stdout, result.stderr, sep="", flush=True)
    assert result.returncode == status, (arguments, result.returncode)
    return result.stdout + result.stderr


def read():
    return json.loads((folder / "results.json").read_text())


run(0, *EMULATED, "--stages", "states,ceilings,probe,networks,curves,profile")
results = read()
assert [check["check"] for check in results["checks"] if check["case"] == "decoder-small-bf16"][0] == "states as on the CPU"
assert set(results["ceilings"]["own"]) == {"copy", "product bf16", "product fp16", "product tf32"}
assert all(rate > 0 for side in results["ceilings"].values() for rate in side.values())
own, eager = results["times"][BF16], results["peers"][f"{BF16}-eager"]
assert own["tokens per second"] > 0 and own["memory"] > 0 and eager["times the own step"] > 0
assert results["times"][f"{BF16}-decomposed"]["samples"]
# Both sides take the same batches: each step's loss belongs to its batch.
curves = results["curves"][BF16]
pairs = list(zip(curves["own"]["losses"], curves["eager"]["losses"]))
assert len(pairs) == 6 and all(abs(a - b) <= 2e-3 * b for a, b in pairs), pairs
assert len({round(a, 3) for a, _ in pairs}) > 3, pairs
assert set(curves["equal loss"]["seconds"]) == {"own", "eager"}
assert {"attention", "attention_grad", "h_0_attn_qkv"} <= {launch["launch"] for launch in results["launches"][BF16]}
table = json.loads((folder / "cublaslt.json").read_text())
assert table["products"] and table["grid"] and all(answer["algorithms"] for answer in table["products"].values())

# A second run takes nothing again.
before = copy.deepcopy(results)
run(0, *EMULATED, "--stages", "networks,curves,profile", "--resume")
results = read()
assert [results[key] for key in ("times", "peers", "curves", "launches")] == [before[key] for key in ("times", "peers", "curves", "launches")]
# A round more adds a sample.
run(0, *EMULATED, "--stages", "networks", "--resume", "--rounds", "2")
assert len(read()["times"][BF16]["samples"]) == 2 and len(read()["peers"][f"{BF16}-eager"]["samples"]) == 2
# Results of other cases are never mixed.
cases = (folder / "cases.json").read_text()
(folder / "cases.json").write_text(cases.replace('"rate": 0.0003', '"rate": 0.0004'))
assert "has results of other cases" in run(2, *EMULATED, "--stages", "networks", "--resume")
(folder / "cases.json").write_text(cases)

# PyTorch alone: no compiler, and no stage of programs.
alone = ("--peers-only", "--torch-device", "cpu", "--torch-python", torch_python, "--cases", f"^{BF16}$", "--rounds", "1",
         "--curve-steps", "3", "--output", folder / "alone.json")
run(0, *alone, "--stages", "ceilings,networks,curves")
found = json.loads((folder / "alone.json").read_text())
assert found["times"] == {} and found["peers"][f"{BF16}-eager"]["samples"] and set(found["curves"][BF16]) == {"eager"}
assert len(found["curves"][BF16]["eager"]["losses"]) == 3
assert "--peers-only has none of the stages" in run(2, *alone, "--stages", "states")
# The parts within the time of a lease: the value decides their order, a part needs time enough to start,
# and another lease takes what is missing.
def lease(status, *arguments):
    result = subprocess.run([sys.executable, "-I", "-S", folder / "lease.py", "--output", folder / "leased" / "results.json",
                             *arguments], capture_output=True, text=True)
    print(result.stdout, result.stderr, sep="", flush=True)
    assert result.returncode == status, (arguments, result.returncode)
    return result.stdout + result.stderr


(folder / "leased").mkdir()
plan = lease(0, "--dry-run")
assert plan.index("part right:") < plan.index("part gpt2:") < plan.index("part gpt2-compile:") < plan.index("part library:")
assert "part others: needs 1.5 minutes" in plan and "--minutes 2.50" in plan, plan
assert "unknown part 'none'" in lease(2, "--parts", "none") and "belongs to run.py" in lease(2, "--stages=states")
small = ("--parts", "right,decoder", "--cases", f"^{BF16}$|^decoder-small-bf16$", *EMULATED[:4], "--torch-python", torch_python)
text = lease(0, "--minutes", "0.9", *small)
assert "part right: needs 1 minutes, 0.9 are left" in text and "not complete: right, decoder" in text, text
assert "2 parts complete" in lease(0, "--minutes", "9", *small)
found = json.loads((folder / "leased/results.json").read_text())
assert found["times"][BF16]["samples"] and found["launches"][BF16] and found["peers"][f"{BF16}-eager"]["samples"]
assert [check["case"] for check in found["checks"] if check["check"] == "states as on the CPU"] == ["decoder-small-bf16"]
assert lease(0, "--minutes", "9", *small).count("complete in") == 2

# Without PyTorch they are skipped by name.
bare = folder / "python"
bare.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
bare.chmod(0o755)
assert "without PyTorch to compare with: no torch" in run(0, "--peers-only", "--torch-device", "cpu", "--torch-python", bare,
                                                          "--stages", "networks", "--output", folder / "none.json")
