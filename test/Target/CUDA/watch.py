# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks the counts of cuda-watch. They equal the counts of NumPy for arguments,
# and are close to the counts of the CPU for other values. The training gives the
# same bits with and without counts. The counts locate a planted overflow.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %models '%cuda_host_cxx' '%cuda_host_lib' %amp_src_root

import json
import os
import re
import shlex
import sys

here = os.path.dirname(__file__)
sys.path[:0] = [os.path.join(here, "Inputs"), os.path.join(here, "../../Step/Inputs")]
import numpy as np
import steps
from program import run

folder, models, compiler, library, root = sys.argv[1:6]
MODEL, BATCH = f"{models}/digits-mlp.mlir", 32
NO_PREDICTIONS = 1 << 7
NANS, INFINITIES, ZEROS, OVERFLOWS, UNDERFLOWS, LARGEST, SMALLEST, BINS = range(8)


def build(name, watch, precision="fp16"):
    """Compiles the step. Returns the program and an object that keeps it alive."""
    program, source, shared = (f"{folder}/{name}.{kind}" for kind in ("mlir", "cu", "so"))
    run(["amp-opt", MODEL, f"--amp-cuda-pipeline=precision={precision} batch-size={BATCH}{watch}", "-o", program])
    run(["amp-translate", "--mlir-to-cuda", program, "-o", source])
    run([*shlex.split(compiler), "-shared", source, *shlex.split(library),
         f"-Wl,--version-script={root}/test/CudaHost/library.exports", "-o", shared])
    code, loaded, message, alive = steps.load(shared)
    assert code == steps.OK, message
    return loaded, alive


def start(program, data, **options):
    step = steps.Step(program, seed=3, **options)
    step.set_batch("images", data["images"])
    step.set_batch("labels", data["labels"])
    return step


def states(step):
    return {name: value.tobytes() for name, value in step.states().items()}


def counts(step):
    """Returns the counts by description: number, type, extents and names."""
    found = {}
    for name in step.tensors(4):
        words = name.split(" ", 6)
        if words[0] == "watch":
            _, number, _, kind, shape, _, names = words
            found[number, kind, shape, names] = step.read(4, name)
    return found


random = np.random.default_rng(1)
data = {"images": random.standard_normal((BATCH, 64)).astype(np.float32),
        "labels": random.integers(0, 10, BATCH)}
plain, keep_plain = build("plain", "")
watched, keep_watched = build("watched", " watch=.")

# The states are the same with and without counts, and with and without reads of
# the counts. A run of five steps counts only in the last step.
expected = start(plain, data)
quiet = start(watched, data, flags=NO_PREDICTIONS)
sampled = start(watched, data)
each = start(watched, data)
before = {name: value for name, value in each.states().items()}
for step in (expected, quiet, sampled):
    step.call("run", 0, 5)
for number in range(5):
    each.call("run", 0, 1)
    if number == 0:
        first = counts(each)
for step in (quiet, sampled, each):
    assert states(step) == states(expected)
    assert step.metrics() == expected.metrics()
last, other = counts(each), counts(sampled)
assert last.keys() == other.keys() and all((last[key] == other[key]).all() for key in last)
assert len(first) > 40, list(first)

# NumPy gives the same counts for the arguments.
for (_, kind, shape, name), got in first.items():
    assert got[BINS:].sum() == np.prod([int(n) for n in shape.split("x") if n]), (name, shape)
    if not name.startswith("argument") or name == 'argument "lr"':
        continue
    name = name.split('"')[1]
    if name not in before and name != "images":
        continue
    value = (data["images"] if name == "images" else before[name]).reshape(-1)
    size, low = np.abs(value), value.astype(np.float16)
    assert got[ZEROS] == (value == 0).sum() and got[NANS] == got[INFINITIES] == 0
    assert np.uint32(got[LARGEST]).view(np.float32) == size.max(), name
    least = size[size != 0].min() if size.any() else np.float32(0)
    assert np.uint32(got[SMALLEST]).view(np.float32) == least, name
    assert (got[BINS:] == np.bincount(size.view(np.uint32) >> 23, minlength=256)).all(), name
    if kind == "f32>f16":
        assert got[UNDERFLOWS] == ((value != 0) & (low == 0)).sum() and got[OVERFLOWS] == np.isinf(low).sum()

# amp-run --watch gives nearly the same counts for the same states and batch. It
# adds in another order, so some values cross a power of two.
seeded = start(plain, data)
seeded.call("save", f"{folder}/state.npz".encode())
np.savez(f"{folder}/data.npz", train_images=data["images"], train_labels=data["labels"])
run(["amp-run", MODEL, "--data", f"{folder}/data.npz", "--load", f"{folder}/state.npz", "--precision", "fp16", "--quiet",
     "--steps", "1", "--batch-size", str(BATCH), "--no-shuffle", "--watch", "--watch-json", f"{folder}/cpu.json"])
with open(f"{folder}/cpu.json") as file:
    values = json.load(file)["values"]
same, parts = 0, set()
for (_, kind, shape, names), got in first.items():
    name = names.split(" | ")[0]
    elements = int(got[BINS:].sum())
    like = [v for v in values
            if v["name"] == name and v["type"] == kind.split(">")[0] and v["elements"] == elements]
    apart = [sum(abs(got[BINS + e] - v["exponents"].get(str(e - 127), 0)) for e in range(1, 255)) for v in like]
    if apart:
        assert min(apart) <= max(4, 0.03 * elements), (name, kind, min(apart), elements)
        same += 1
        parts.add(like[int(np.argmin(apart))]["part"])
print(len(first), "values,", same, "with the name, type and size of one on the CPU")
assert same >= 25 and parts == {"forward", "backward", "update"}, (same, parts)

# An input exceeds the range of f16, and its cast overflows. The first values that
# are not finite are computed from this input.
data["images"] = data["images"] * np.float32(1e6)
broken = start(watched, data)
broken.call("run", 0, 1)
found = [(names, got) for (_, _, _, names), got in counts(broken).items()]
(image,) = [got for name, got in found if name == 'argument "images"']
assert image[OVERFLOWS] == (np.abs(data["images"]) >= 65520).sum() > 1900 and image[INFINITIES] == 0
bad = [name for name, got in found if got[NANS] + got[INFINITIES]]
assert "train.relu" in bad[0] and "digits-mlp.mlir:37:" in bad[0], bad

# The pass also counts a value if its launch stores only the 8-bit copies of it.
data["images"] = data["images"] / np.float32(1e6)
for recipe in ("fp8-delayed", "fp8"):
    plain, keep_plain = build(f"plain-{recipe}", "", recipe)
    watched, keep_watched = build(f"watched-{recipe}", " watch=.", recipe)
    with open(f"{folder}/watched-{recipe}.mlir") as program:
        assert " quantize <" in program.read()
    expected, counted = start(plain, data), start(watched, data)
    for step in (expected, counted):
        step.call("run", 0, 3)
    assert states(counted) == states(expected)
    found = counts(counted)
    relu = [got for (_, _, _, names), got in found.items() if "train.relu" in names and "train.relu_grad" not in names]
    assert len(relu) >= 2 and all(0 < got[ZEROS] < got[BINS:].sum() and got[NANS] == 0 for got in relu), relu
    print(recipe, len(found), "values")

# One launch counts many values, after one fill of memory. The memory of the
# training does not grow.
def describe_costs(model, options):
    program = f"{folder}/costs.mlir"
    run(["amp-opt", model, f"--amp-cuda-pipeline={options}", "-o", program])
    text = run(["amp-translate", "--cuda-costs", program])
    training, _, readers = text.partition("only in steps whose metrics or predictions are read:\n")
    times = [float(re.search(pattern, part, re.M)[1]) for pattern, part in
             ((r"^estimate ([\d.]+) us", training), (r"^estimate of a step with all of them ([\d.]+) us$", readers))]
    return training, *times


# According to the cost model, counting all values at most doubles the time of a
# step of each model. Steps that do not count run the same launches.
SMALL = ("--layers=2", "--heads=4", "--width=64", "--sequence=32")
MODELS = [(("mlp",), 32, ""), (("mlp",), 256, ""), (("lenet",), 64, ""), (("resnet18",), 64, " convolutions=cudnn"),
          (("gpt2", *SMALL), 4, ""), (("decoder", *SMALL), 4, ""), (("bert", *SMALL), 4, ""),
          (("vit", *SMALL[:3], "--image-size=32", "--patch=8"), 4, ""), (("gpt2", "--sequence=1024"), 8, ""),
          (None, BATCH, "")]
for arguments, batch, options in MODELS:
    model = f"{folder}/model.mlir" if arguments else MODEL
    if arguments:
        run(["amp-model", *arguments, "-o", model])
    for precision in ("bf16",) if arguments else ("fp16", "bf16"):
        common = f"precision={precision} batch-size={batch} attention=cudnn{options}"
        unwatched, _, _ = describe_costs(model, common)
        training, others, all_values = describe_costs(model, common + " watch=.")
        assert training == unwatched, (arguments, precision)
        print(arguments, precision, f"{others} us, {all_values / others:.2f} times with the counts of all values")
        assert others < all_values <= 2 * others, (arguments, precision, others, all_values)
