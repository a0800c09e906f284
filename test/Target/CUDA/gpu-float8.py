# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The stage `float8` of `tools/dev gpu` with a reduced GPT-2 on the CPU emulator: each recipe that a Hopper GPU has is
# built, trained next to bf16 and timed in turns with it, and the estimates are there. A recipe of Blackwell is not run,
# by name. The stage `probe` asks for 8-bit products of all scale modes.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %amp_src_root/tools/gpu/generate.py %amp_obj_root/bin %t/gpu '^gpt2-b64$' --reduced
# RUN: %python %s %t/gpu '%cuda_host_cxx {} %cuda_host_lib'

import json
import pathlib
import subprocess
import sys

folder, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]


def run(status, *arguments):
    result = subprocess.run([sys.executable, "-I", "-S", folder / "run.py", "--emulator", compiler, "--rounds", "1", "--no-peers",
                             "--minutes", "20", "--curve-steps", "12", "--cases", "^gpt2-b64-(bf16$|fp8)", *arguments],
                            capture_output=True, text=True)
    print(result.stdout, result.stderr, sep="", flush=True)
    assert result.returncode == status, (arguments, result.returncode)
    return result.stdout + result.stderr


text = run(0, "--stages", "probe,float8")
results = json.loads((folder / "results.json").read_text())
RECIPES = ("delayed", "current", "rowwise", "block-128")
# What a GPU of this capability has not is left out, and what it has is neither failed nor missing.
assert "not run gpt2-b64-fp8-mxfp8: build: 8-bit products of 'mxfp8' do not run on sm_90" in text
assert [item["case"] for item in results["not run"]] == ["gpt2-b64-fp8-mxfp8"], results["not run"]
assert all(check["passed"] for check in results["checks"]), results["checks"]
losses = results["float8 losses"]["gpt2-b64"]
assert set(losses) == {"seed", "bf16", *(f"fp8-{recipe}" for recipe in RECIPES)}
for recipe in RECIPES:
    name = f"gpt2-b64-fp8-{recipe}"
    assert {"case": name, "check": "losses as in bf16"}.items() <= next(
        check for check in results["checks"] if check["case"] == name and check["check"].startswith("losses")).items()
    assert len(losses[f"fp8-{recipe}"]) == 12 and losses[f"fp8-{recipe}"] != losses["bf16"], recipe
    entry = results["times"][name]
    assert entry["gain over bf16"] > 0 and entry["samples"]
    # Only the GPUs of the recipe have estimates.
    assert set(entry["estimated gain"]) == ({"h100", "h200"} if recipe in ("rowwise", "block-128") else {"h100", "h200", "b200"})
    assert f"{name}: " in text and "times as fast as in bf16, estimates: " in text
# The table knows which pairs of modes a Hopper GPU takes, and in which layout.
table = json.loads((folder / "cublaslt.json").read_text())["scaled"]


def accepts(types, modes, layout, extent):
    return table[f"{types} scale {modes} {layout} extent {extent}"]["algorithms"] > 0


assert accepts("e4m3 e4m3 bf16", "scalar", "TN", 256) and not accepts("e4m3 e4m3 bf16", "scalar", "NN", 256)
assert not accepts("e5m2 e5m2 bf16", "scalar", "TN", 256) and accepts("e5m2 e4m3 bf16", "scalar", "TN", 144)
assert not accepts("e4m3 e4m3 bf16", "scalar", "TN", 132)
assert accepts("e4m3 e4m3 bf16", "vec128.blk128x128", "TN", 256) and not accepts("e4m3 e4m3 bf16", "blk128x128", "TN", 256)
assert not accepts("e4m3 e4m3 bf16", "vec32_ue8m0", "TN", 256)
