# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# With delayed scales an optimizer writes the 8-bit copies of the weights for the next step. Another form
# of each program computes the copies again in each step, from the states. Both have the same states, bit
# for bit: for all ways to store weights, extents that are not multiples of 16, skipped steps, the parts of
# a run that is resumed, and states that a caller changes between steps. The mutants, whose copies are
# wrong, differ.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %models %digits '%cuda_host_cxx' '%cuda_host_lib' %amp_src_root

import ctypes as c
import os
import re
import shlex
import sys

here = os.path.dirname(__file__)
sys.path[:0] = [os.path.join(here, "Inputs"), os.path.join(here, "../../Step/Inputs")]
import numpy as np
import steps
from checks import Emulator
from program import Builder, distances, load, run

folder, models, digits, compiler, library, root = sys.argv[1:]
mlp, odd = f"{models}/digits-mlp.mlir", f"{folder}/odd-model.mlir"
run(["amp-model", "mlp", "--features=13", "--hidden=21,35,40", "--classes=9", "--optimizer=adamw", "-o", odd])
random = np.random.default_rng(7)
odd_data = f"{folder}/odd-data.npz"
np.savez(odd_data, train_x=random.standard_normal((66, 13)).astype(np.float32), train_labels=random.integers(0, 9, 66))
STEPS = 5
# The distance of any state from that of amp-run, relative to its norm.
BOUND = 2e-4
# Names, with the step, the samples of a batch, the data, the pipeline and the form of the optimizer.
CASES = {
    "cast": (mlp, 32, digits, "precision=fp8-delayed", "quantizedSgd<"),
    "copy": (mlp, 32, digits, "precision=fp8-delayed master-weights=copy", "quantizedSgd<"),
    "split": (mlp, 32, digits, "precision=fp8-delayed master-weights=split", "quantizedSgd<"),
    "none": (odd, 11, odd_data, "precision=fp8-delayed master-weights=none update-rounding=stochastic", "quantizedAdam<"),
    "odd": (odd, 11, odd_data, "precision=fp8-delayed", "quantizedAdam<"),
    # The scaled gradients of the first steps overflow.
    "skipped": (mlp, 32, digits, "precision=fp16 fp8-recipe=delayed init-scale=16777216", "quantizedSgd<"),
}
REFRESH = "if (run.refreshes) "


def emit(name, model, batch, pipeline):
    step = f"{folder}/{name}.mlir"
    with open(step, "w") as file:
        file.write(run(["amp-opt", model, f"--train-set-batch=batch-size={batch}", f"--amp-training-pipeline={pipeline}"]))
    return step


sources = {name: emit(name, model, batch, pipeline) for name, (model, batch, _, pipeline, _) in CASES.items()}
builder = Builder(compiler, library, folder)
emitted = {}
for name, step in sources.items():
    text = run(["amp-translate", "--mlir-to-cuda", "--emit-main", "--strict-rounding", step])
    assert CASES[name][4] in text and REFRESH in text, name
    emitted[name] = text
    emitted[f"{name}-again"] = text.replace(REFRESH, "")
# Mistakes of a program that keeps copies.
text = emitted["cast"]
MUTANTS = {
    "copies that are never written": text.replace("quantizedSgd<Float8::E4M3>", "sgd"),
    "the scale of another parameter": text.replace("at::fp8_fc2_weight_weight_scale, 128", "at::fp8_fc1_weight_weight_scale, 128"),
    "parameters that are rounded first": text.replace("Type::F32, true, true}", "Type::F16, true, true}"),
}
launches = re.findall(r"  \{\n    LaunchScope scope.*?\n  \}\n", text, re.S)
update = next(launch for launch in launches if "quantizedSgd<" in launch)
later = next(launch for launch in launches if "updateQuantizer(" in launch and "fc2_weight_weight_scale" in launch)
MUTANTS["a scale that is updated too late"] = text.replace(later, "").replace(update, update + later)
for mistake, mutant in MUTANTS.items():
    assert mutant != text, mistake
    emitted[f"mutant{len(emitted)}"] = mutant
mutants = [name for name in emitted if name.startswith("mutant")]
from program import join  # noqa: E402

with open(f"{folder}/all.cu", "w") as file:
    file.write(join(emitted))
run([*shlex.split(compiler), "-w", f"{folder}/all.cu", *shlex.split(library), "-o", f"{folder}/all"])
for name in emitted:
    os.link(f"{folder}/all", f"{folder}/{name}")


def train(name, data, steps, *options, suffix="", order="ascending"):
    saved = f"{folder}/{name}{suffix}.npz"
    options = options or ("--seed", "3")
    environment = {"AMP_CUDA_HOST_CAPABILITY": "90", "AMP_CUDA_HOST_IN_ORDER": "1", "AMP_CUDA_HOST_ORDER": order}
    run([f"{folder}/{name}", "--data", data, "--quiet", "--poison", "--steps", str(steps), "--save", saved, *options],
        env={**os.environ, **environment})
    return saved


def same(one, other):
    one, other = load(one), load(other)
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name], equal_nan=True) for name in one)


for name, (_, _, data, _, _) in CASES.items():
    kept = train(name, data, STEPS)
    assert same(kept, train(f"{name}-again", data, STEPS)), f"{name}: the kept copies differ"
    assert same(kept, train(name, data, STEPS, suffix="-random", order="random")), f"{name} depends on the order of threads"
    half = train(name, data, 2, suffix="-half")
    assert same(kept, train(name, data, STEPS - 2, "--load", half, suffix="-resumed")), f"{name}: the resumed run differs"
    cpu = f"{folder}/{name}.cpu.npz"
    run(["amp-run", sources[name], "--data", data, "--seed", "3", "--quiet", "--steps", str(STEPS), "--save", cpu])
    apart = distances(kept, cpu)
    worst = max(apart, key=apart.get)
    print(f"{name}: {apart[worst]:.1e} ({worst})", flush=True)
    assert apart[worst] <= BOUND, (name, worst, apart[worst])
skipped = load(f"{folder}/skipped.npz")
scale, = [value for name, value in skipped.items() if name.endswith("loss_scale") or name == "scale"]
assert scale < 16777216, "no step was skipped"
for name, mistake in zip(mutants, MUTANTS):
    assert not same(f"{folder}/cast.npz", train(name, digits, STEPS)), f"nothing shows {mistake}"

# A caller that changes states, by `write` or through their addresses.
shared = f"{folder}/cast.so"
run(["amp-translate", "--mlir-to-cuda", "--strict-rounding", sources["cast"], "-o", f"{folder}/cast-library.cu"])
run([*shlex.split(compiler), "-shared", f"{folder}/cast-library.cu", *shlex.split(library),
     f"-Wl,--version-script={root}/test/CudaHost/library.exports", "-o", shared])
os.environ["AMP_CUDA_HOST_CAPABILITY"] = "90"
code, program, message, loaded = steps.load(shared)
assert code == steps.OK, message
memory = Emulator(loaded)
with np.load(digits) as file:
    images, labels = file["train_images"], file["train_labels"]


def change(step, way):
    """Three steps, and weights of half their size after the first of them."""
    for number in range(3):
        for batch, array in zip(step.tensors(steps.BATCHES), (images, labels)):
            _, tensor = step.tensors(steps.BATCHES)[batch]
            part = array[32 * number:32 * number + 32].astype(steps.NAMES[tensor.type])
            step.set_batch(batch, part.reshape(steps.shape_of(tensor)))
        step.call("run", 0, 1)
        if number:
            continue
        index, tensor = step.tensors(steps.STATES)["fc2.weight"]
        weight = step.read(steps.STATES, "fc2.weight") / 2
        if way == "write":
            step.call("write", steps.STATES, index, weight.ctypes.data, weight.nbytes)
        else:
            memory.poke(tensor.data, weight)
    states = step.states()
    step.destroy()
    return states


written = change(steps.Step(program, seed=3, flags=steps.NO_STATE_ADDRESSES), "write")
poked = change(steps.Step(program, seed=3), "poke")
for name, state in written.items():
    assert np.array_equal(state, poked[name]), f"{name} depends on how the caller changes a state"
step = steps.Step(program, seed=3, flags=steps.NO_STATE_ADDRESSES)
assert all(not tensor.data for _, tensor in step.tensors(steps.STATES).values())
step.destroy()
print("a caller that changes states")
