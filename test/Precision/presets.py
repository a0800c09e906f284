# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every preset names each operation of both dialects in exactly one list; prints
# as YAML that reads back as the same policy; and takes every model through the
# pipeline, with the precision asked for and with its own. Under apex-O0 nothing
# is low; under apex-O3 no parameter that a product reads is f32.
#
# RUN: %python %s %amp_src_root %S/slots.mlir %t

import pathlib
import re
import subprocess
import sys

source, slots, scratch = map(pathlib.Path, sys.argv[1:])
PRESETS = [
    "apex-O0", "apex-O1", "apex-O2", "apex-O3", "default",
    "fp8-block-128", "fp8-current", "fp8-delayed", "fp8-mxfp8", "fp8-rowwise",
    "mxnet", "pytorch", "pytorch-cpu", "stablehlo", "tensorflow",
]
# Presets whose own precision is bf16.
BF16 = [preset for preset in PRESETS if preset == "pytorch-cpu" or preset.startswith("fp8-")]
shipped = sorted(path.stem for path in (source / "lib/Precision/Policy/presets").glob("*.yaml"))
assert shipped == sorted(PRESETS), shipped
# A step that was written in f16 by hand has no backward pass to find.
models = sorted((source / "test/Models").glob("*.mlir"))
models = [model for model in models if not model.stem.endswith("-f16")]
assert len(models) >= 4, models
scratch.mkdir(exist_ok=True)


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, (command, result.stderr)
    return result.stdout


# The coverage test ignores the remarks that this file expects.
module = scratch / "slots.mlir"
module.write_text(re.sub(r"^ *// expected-.*\n", "", slots.read_text(), flags=re.M))

for preset in PRESETS:
    run("amp-test-opt", module, f"--test-policy-coverage=dialects=train,amp "
        f"policy={preset} exactly-once")
    printed = run("amp-opt", f"--amp-print-policy={preset}")
    copy = scratch / f"{preset}.yaml"
    copy.write_text(printed)
    assert run("amp-opt", f"--amp-print-policy={copy}") == printed, preset
    by_pass = run("amp-opt", models[0], f"--amp-print-policy=policy={preset}", "-o", "/dev/null")
    assert by_pass == printed, preset
    # The presets of 8-bit products differ only in the recipe.
    for model in models[:2] if preset.startswith("fp8-") else models:
        for precision in ("precision=fp16 ", ""):
            options = f"--amp-training-pipeline={precision}policy="
            out = run("amp-opt", model, options + preset)
            low = set(re.findall(r"b?f16(?=>)", out))
            expected = {"": "bf16" if preset in BF16 else "f16"}.get(
                precision, precision[10:].strip().replace("fp", "f"))
            assert low == (set() if preset == "apex-O0" else {expected}), (
                preset, model.name, precision, low)
        assert out == run("amp-opt", model, options + str(copy)), (preset, model.name)
        # A network of one layer keeps it.
        assert ("amp.scaled_matmul" in out) <= preset.startswith("fp8-"), (preset, model.name)
        assert ("amp.update_quantizer" in out) <= (preset == "fp8-delayed"), (preset, model.name)
        copies = "#amp.init<copy_of" in out
        assert copies == (preset == "apex-O2"), (preset, model.name)
        if preset == "apex-O3":
            assert re.search(r'tensor<[^>]*xf16> \{[^}]*amp.role = "parameter"', out), model.name
            assert "amp.scale" not in out
        elif preset not in ("apex-O0", *BF16):
            assert re.search(r"amp.update_scale .*", out), (preset, model.name)
    if preset.startswith("fp8-"):
        mlp = source / "test/Models/digits-mlp.mlir"
        by_policy = run("amp-opt", mlp, f"--amp-training-pipeline=policy={preset}")
        assert by_policy == run("amp-opt", mlp, f"--amp-training-pipeline=precision={preset}"), preset
        assert "amp.scaled_matmul" in by_policy, preset
print(f"{len(PRESETS)} presets, {len(models)} models")
