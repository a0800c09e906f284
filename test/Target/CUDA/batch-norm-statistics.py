# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The mean and the variance of batch norm, of amp-run and of a program on the CPU
# emulator, against numpy in f64: with 4096 elements in a channel, and with means
# that are large against the deviation. One sum in f32 would be 50 units from these.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib'

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from program import Builder, load, run

folder, compiler, library = sys.argv[1:4]
ROWS, CHANNELS = (8, 16, 32), 16
X, C = "tensor<8x16x32x16xT>", "tensor<16xf32>"


def make_step(element):
    state = ", ".join(f'%{name}: {C} {{amp.role = "model_state", amp.name = "{name}", amp.init = #amp.init<zeros>}}'
                      for name in ("mean", "variance", "shift", "scale"))
    results = ", ".join(f'{C} {{amp.updates = "{name}"}}' for name in ("mean", "variance", "shift", "scale"))
    low = X.replace("T", element)
    wide = X.replace("T", "f32")
    cast = f"%x = amp.cast %wide : {wide} to {low}" if element != "f32" else f"%x = train.abs %wide : {wide}"
    return f"""func.func @step(%wide: {wide} {{amp.role = "batch", amp.name = "x"}}, {state}) -> ({results}) {{
  {cast}
  %one = train.constant dense<1.0> : {C}
  %none = train.constant dense<0.0> : {C}
  %y, %m, %r, %mean.new, %variance.new = train.batch_norm_training %x, %one, %none, %mean, %variance {{epsilon = 1.0e-5 : f64, momentum = 1.0 : f64}} : ({low}, {C}, {C}, {C}, {C}) -> ({low}, {C}, {C}, {C}, {C})
  return %mean.new, %variance.new, %m, %r : {C}, {C}, {C}, {C}
}}
"""


elements = ("f32", "f16")
names = {}
for element in elements:
    with open(f"{folder}/{element}.mlir", "w") as file:
        file.write(make_step(element))
    names[element] = (f"{folder}/{element}.mlir",)
programs = dict(zip(names, Builder(compiler, library, folder).build_all(names)))
rng = np.random.default_rng(1)
for element in elements:
    for center in (0.0, 3.0, -30.0):
        # Channels with different deviations.
        x = (rng.standard_normal((*ROWS, CHANNELS)) * np.linspace(0.5, 2.0, CHANNELS) + center).astype(np.float32)
        np.savez(f"{folder}/data.npz", train_x=x)
        exact = (x.astype(np.float16) if element == "f16" else np.abs(x)).astype(np.float64)
        count = x.size // CHANNELS
        mean, variance = exact.mean((0, 1, 2)), exact.var((0, 1, 2))
        common = ["--data", f"{folder}/data.npz", "--steps", "1", "--quiet", "--save", f"{folder}/state.npz"]
        for backend, command in (("amp-run", ["amp-run", f"{folder}/{element}.mlir"]), ("CUDA", [programs[element]])):
            run([*command, *common])
            state = load(f"{folder}/state.npz")
            assert np.array_equal(state["mean"], state["shift"]), backend
            # In units of the last place: of the mean, and of the deviation where that is larger.
            unit = np.spacing(np.maximum(np.abs(mean), np.sqrt(variance)).astype(np.float32)).astype(np.float64)
            errors = (
                np.max(np.abs(state["mean"] - mean) / unit),
                np.max(np.abs(state["variance"] / (variance * count / (count - 1)) - 1)),
                np.max(np.abs(state["scale"] * np.sqrt(variance + 1e-5) - 1)),
            )
            print(f"{element} {backend}, mean {center}: {errors[0]:.2f} units, variance {errors[1]:.1e}, rstd {errors[2]:.1e}")
            # amp-run sums in f64. A GPU sums distances from one element in f32, in many short parts.
            bounds = (0.51, 1e-7, 2e-7) if backend == "amp-run" else (6, 2e-6, 1e-6)
            assert all(error <= bound for error, bound in zip(errors, bounds)), (element, backend, center, errors)
