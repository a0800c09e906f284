# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# NaN and infinities go through relu, maxima, minima and clips on the CPU emulator as
# under amp-run, alone and after a product: a NaN that one of them removed would hide an overflow.
# Where values are finite they are the same too.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib'

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from program import Builder, load, run

folder, compiler, library = sys.argv[1:4]
X, W = "tensor<6x16xT>", "tensor<16x16xT>"
IMAGE = "tensor<1x4x4x6xT>"
POOL = "window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>"
SMALL = "tensor<1x2x2x6xT>"
# The result, and what computes it from %x, %y and %w of the case.
CASES = {
    "relu": (X, f"$ = train.relu %x : {X}"),
    "relu_dx": (X, f"$ = train.relu_grad %x, %y : {X}"),
    "maximum": (X, f"$ = train.maximum %x, %y : ({X}, {X}) -> {X}"),
    "minimum": (X, f"$ = train.minimum %x, %y : ({X}, {X}) -> {X}"),
    "clip": (X, f"$ = train.clip %x {{min = -0.5 : f64, max = 0.75 : f64}} : {X}"),
    "clip_dx": (X, f"$ = train.clip_grad %x, %y {{min = -0.5 : f64, max = 0.75 : f64}} : {X}"),
    "rows": ("tensor<6xT>", f"$ = train.reduce_max %x {{dims = array<i64: 1>}} : ({X}) -> tensor<6xT>"),
    "columns": ("tensor<16xT>", f"$ = train.reduce_max %x {{dims = array<i64: 0>}} : ({X}) -> tensor<16xT>"),
    "pool": (SMALL, f"$i = train.reshape %x : ({X}) -> {IMAGE}\n  $ = train.max_pool2d $i {{{POOL}}} : ({IMAGE}) -> {SMALL}"),
    # The relu is part of the product, which keeps a mask for its gradient.
    "layer": (X, f"$p = train.linear %x, %w : ({X}, {W}) -> {X}\n  $ = train.relu $p : {X}"),
    "layer_dx": (X, f"$p = train.linear %x, %v : ({X}, {W}) -> {X}\n  $r = train.relu $p : {X}\n  "
                    f"$q = train.linear %y, %v {{transpose_weight}} : ({X}, {W}) -> {X}\n  $ = train.relu_grad $r, $q : {X}"),
}
SHAPES = {"x": "6x16", "y": "6x16", "w": "16x16", "v": "16x16"}


def make_step(element):
    arguments = ['%l: tensor<2xi64> {amp.role = "batch", amp.name = "l"}']
    results, returned, lines = [], [], []

    def add(name, kind, argument, value):
        arguments.append(f'%{argument}: {kind} {{amp.role = "model_state", amp.name = "{name}", amp.init = #amp.init<zeros>}}')
        results.append(f'{kind} {{amp.updates = "{name}"}}')
        returned.append(value)

    for name, shape in SHAPES.items():
        add(name, f"tensor<{shape}xf32>", f"{name}.wide", f"%{name}.wide")
        lines.append(f"%{name} = amp.cast %{name}.wide : tensor<{shape}xf32> to tensor<{shape}x{element}>"
                     if element != "f32" else f"%{name} = train.mul %{name}.wide, %one : (tensor<{shape}xf32>, tensor<f32>) -> tensor<{shape}xf32>")
    for name, (kind, text) in CASES.items():
        add(f"out.{name}", kind.replace("xT>", f"x{element}>"), f"s.{name}", f"%{name}")
        lines.append(text.replace("$", "%" + name).replace("xT>", f"x{element}>"))
    lines.insert(0, "%one = train.constant dense<1.0> : tensor<f32>")
    kinds = [result.split(" {")[0] for result in results]
    return (f"func.func @step({', '.join(arguments)})\n    -> ({', '.join(results)}) {{\n  " + "\n  ".join(lines)
            + f"\n  return {', '.join(returned)} : {', '.join(kinds)}\n}}\n")


rng = np.random.default_rng(9)
start = {name: rng.standard_normal([int(n) for n in shape.split("x")]).astype(np.float32) for name, shape in SHAPES.items()}
start["x"][1, 3] = start["x"][4, 0] = start["y"][2, 5] = start["y"][4, 0] = np.nan
start["x"][0, 7] = start["y"][3, 3] = np.inf
start["x"][3, 9] = start["y"][5, 1] = -np.inf
np.savez(f"{folder}/start.npz", **start)
np.savez(f"{folder}/data.npz", train_l=np.zeros(2, np.int64))
common = ["--data", f"{folder}/data.npz", "--init", f"{folder}/start.npz", "--steps", "1", "--quiet"]
BOUNDS = {"f32": 1e-5, "f16": 2e-3, "bf16": 1.6e-2}
models = {element: f"{folder}/{element}.mlir" for element in BOUNDS}
for element, model in models.items():
    with open(model, "w") as file:
        file.write(make_step(element))
programs = Builder(compiler, library, folder).build_all({element: (model,) for element, model in models.items()})


def as_f32(array):
    return (array.astype(np.uint32) << 16).view(np.float32) if array.dtype == np.uint16 else array.astype(np.float32)


for (element, model), program in zip(models.items(), programs):
    run(["amp-run", model, *common, "--save", f"{folder}/cpu.npz"])
    run([program, *common, "--save", f"{folder}/gpu.npz"])
    expected, actual = load(f"{folder}/cpu.npz"), load(f"{folder}/gpu.npz")
    for name in CASES:
        cpu, gpu = as_f32(expected["out." + name]), as_f32(actual["out." + name])
        assert np.isnan(cpu).any(), (element, name, "has no NaN")
        assert (np.isnan(cpu) == np.isnan(gpu)).all(), (element, name, cpu, gpu)
        finite = np.isfinite(cpu)
        assert (cpu[~finite & ~np.isnan(cpu)] == gpu[~finite & ~np.isnan(cpu)]).all(), (element, name)
        assert np.allclose(gpu[finite], cpu[finite], rtol=BOUNDS[element], atol=BOUNDS[element]), (element, name)
        print(element, name, int(np.isnan(cpu).sum()), "NaN", flush=True)
