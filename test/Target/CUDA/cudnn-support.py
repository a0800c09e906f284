# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cuDNN itself has kernels for each attention of the models in full size, in both types
# and both directions, on sm_80, sm_90 and sm_100. A block of a transformer is as
# the others. The documents of packed sequences are a bias, or samples with offsets, whose gradient needs
# sm_90. Dropout has a deterministic gradient on sm_80 and sm_90 only. The library refuses heads that it
# does not compute, so that an answer says something. Answers for want of a GPU or a driver count as unknown.
#
# REQUIRES: cudnn, full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %amp_cudnn %cuda_stub

import copy
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import cudnn
from program import run

folder, path, stub = sys.argv[1:4]
cudnn.run_with_stub(stub, folder)
library = cudnn.Library(path)
print("cuDNN", library.version(), flush=True)
assert library.version() >= 90000

MODELS = {
    "gpt2": ["--sequence=1024"],
    "gpt2-dropout": ["--sequence=1024", "--attention-dropout=0.1"],
    "gpt2-long": ["--sequence=8192", "--positions=8192"],
    "decoder": ["--sequence=2048"],
    "decoder-packed": ["--sequence=2048", "--documents=16"],
    "decoder-offsets": ["--sequence=2048", "--documents=16"],
    "bert": ["--sequence=512"],
    "vit": [],
}
BATCHES = {"gpt2": 64, "gpt2-dropout": 64, "gpt2-long": 8, "decoder": 16, "decoder-packed": 16, "decoder-offsets": 16, "bert": 64, "vit": 256}
failures, answers = [], {}
for model, options in MODELS.items():
    graph = f"{folder}/{model}.mlir"
    run(["amp-model", model.split("-")[0], "--layers=1", "--vocabulary=1000" if model != "vit" else "--classes=10",
         *options, "-o", graph])
    for precision in ("fp16", "bf16"):
        for kind in ([], ["--nondeterministic"]):
            source = run(["amp-translate", "--mlir-to-cuda", graph, "--precision", precision, "--attention=cudnn",
                          "--library-dropout", "--batch-size", str(BATCHES[model]), *kind,
                          *(["--documents=offsets"] if model == "decoder-offsets" else [])])
            plans = cudnn.read_plans(source)
            directions = sorted(attention.backward for attention in plans.values())
            assert directions == [0, 1], (model, precision, directions)
            for name, attention in plans.items():
                # A deterministic gradient of long sequences takes its samples in parts. A sample has 17
                # documents with the one after the last end.
                assert attention.has_offsets == (model == "decoder-offsets")
                samples = BATCHES[model] * (17 if attention.has_offsets else 1)
                parts = samples // attention.batch
                assert parts * attention.batch == samples and (parts == 1 or attention.deterministic)
                assert (attention.bias_type >= 0) == (model in ("decoder-packed", "bert")), (model, attention.bias_type)
                assert attention.dropout == (0.1 if model == "gpt2-dropout" else 0), attention.dropout
                assert attention.deterministic == (attention.backward and not kind)
                for capability in cudnn.CAPABILITIES:
                    code, message = library.check(attention, capability)
                    answers[code] = answers.get(code, 0) + 1
                    if attention.has_offsets and attention.backward and capability == 80:
                        assert code == cudnn.UNSUPPORTED and "not supported for bprop thd" in message, (code, message)
                        continue
                    if attention.dropout and attention.deterministic and capability == 100:
                        # --nondeterministic avoids this refusal.
                        assert code == cudnn.UNSUPPORTED and "not supported on blackwell" in message, (code, message)
                        continue
                    if code not in (cudnn.OK, cudnn.UNKNOWN):
                        failures.append(f"{model} {precision} {name} on sm_{capability}: {message}")
    last = plans
print("answers by code:", answers, flush=True)
assert answers.get(cudnn.OK), "every answer is unknown: the library was asked nothing"

# Refusals.
for attention in last.values():
    for field, value, expected in (("head_size", 60, "multiple of 8"), ("key_heads", 5, "multiple"), ("type", 0, "f16 or bf16")):
        wrong = copy.copy(attention)
        setattr(wrong, field, value)
        code, message = library.check(wrong, 90)
        print(field, value, code, message)
        assert code in (cudnn.UNSUPPORTED, cudnn.INVALID) and expected in message, (field, code, message)
    code, message = library.check(attention, 70)
    assert code == cudnn.INVALID and "no GPU of compute capability 70 is known" in message, (code, message)
print(*failures, sep="\n")
sys.exit(1 if failures else 0)
