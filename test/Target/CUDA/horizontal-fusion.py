# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Queries, keys and values of an attention are one product on the CPU emulator, once
# in a step; three steps of training are the same as in amp-run.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib'

import collections
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from program import Builder, distances, run

folder, compiler, library = sys.argv[1:4]
# Parts of different widths, so that no two bytes may be confused: values have
# heads of another size than queries and keys.
WIDTHS = {"q": 8, "k": 8, "v": 12}


def shape(*extents):
    return "tensor<" + "".join(f"{extent}x" for extent in extents) + "f32>"


arguments, updates, results, lines, wanted = [], [], [], [], []
for name, width in WIDTHS.items():
    for part, kind in (("weight", shape(8, width)), ("bias", shape(width))):
        arguments.append(f'%{name}.{part}: {kind} {{amp.role = "parameter", amp.name = "attn.{name}.{part}", '
                         f"amp.init = #amp.init<normal, value = 0.4>}}")
        updates.append(f'{kind} {{amp.updates = "attn.{name}.{part}"}}')
        wanted.append((f"%{name}.{part}", kind))
    rows, heads = shape(96, width), shape(4, 24, 2, width // 2)
    turned = shape(4, 2, 24, width // 2)
    lines += [
        f"%{name} = train.linear %x, %{name}.weight, %{name}.bias : ({shape(96, 8)}, {shape(8, width)}, {shape(width)}) -> {rows}",
        f"%{name}.heads = train.reshape %{name} : ({rows}) -> {heads}",
        f"%{name}.turned = train.transpose %{name}.heads {{permutation = array<i64: 0, 2, 1, 3>}} : ({heads}) -> {turned}",
    ]
keys, values = shape(4, 2, 24, 4), shape(4, 2, 24, 6)
lines += [
    f"%y, %e = train.scaled_dot_product_attention %q.turned, %k.turned, %v.turned : ({keys}, {keys}, {values}) -> ({values}, {shape(4, 2, 24)})",
    f"%z = train.reshape %y : ({values}) -> {shape(96, 12)}",
    f"%loss = train.mse %z, %t : ({shape(96, 12)}, {shape(96, 12)}) -> tensor<f32>",
    f"%d:6 = train.gradients %loss wrt({', '.join(name for name, _ in wanted)}) : (tensor<f32>, "
    f"{', '.join(kind for _, kind in wanted)}) -> ({', '.join(kind for _, kind in wanted)})",
]
for index, (name, kind) in enumerate(wanted):
    lines.append(f"%n{index} = train.sgd {name}, %d#{index}, %lr : ({kind}, {kind}, tensor<f32>) -> {kind}")
kinds = [kind for _, kind in wanted] + ["tensor<f32>"]
text = (
    f'func.func @step(%x: {shape(96, 8)} {{amp.role = "batch", amp.name = "x"}}, %t: {shape(96, 12)} {{amp.role = "batch", amp.name = "t"}},\n  '
    '%lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.5>},\n  '
    + ",\n  ".join(arguments) + ")\n  -> (" + ", ".join(updates) + ', tensor<f32> {amp.metric = "loss"}) {\n  '
    + "\n  ".join(lines) + "\n  return " + ", ".join(f"%n{i}" for i in range(6)) + f", %loss : {', '.join(kinds)}\n}}\n"
)
model, data = f"{folder}/model.mlir", f"{folder}/data.npz"
with open(model, "w") as file:
    file.write(text)
rng = np.random.default_rng(5)
np.savez(data, x=rng.standard_normal((96, 8)).astype(np.float32), t=rng.standard_normal((96, 12)).astype(np.float32))

PRECISIONS = {"f32": 1e-5, "fp16": 1e-3}
builder = Builder(compiler, library, folder)
programs = builder.build_all({precision: (model, "--precision", precision) for precision in PRECISIONS})
for (precision, bound), program in zip(PRECISIONS.items(), programs):
    common = ["--data", data, "--seed", "3", "--quiet", "--steps", "3"]
    trace, saved, expected = f"{folder}/trace", f"{folder}/{precision}.npz", f"{folder}/{precision}.cpu.npz"
    run([program, *common, "--poison", "--no-graph", "--save", saved], env={**os.environ, "AMP_CUDA_HOST_TRACE": trace})
    run(["amp-run", model, "--batch-size", "96", "--precision", precision, *common, "--save", expected])
    apart = distances(saved, expected)
    worst = max(apart, key=apart.get)
    print(f"{precision}: {apart[worst]:.1e} ({worst})", flush=True)
    assert apart[worst] <= bound, (precision, worst)
    with open(trace) as file:
        launched = collections.Counter(line.split("\t")[0] for line in file)
    assert launched["attn_q_k_v"] == 3, launched
    assert not {"attn_q", "attn_k", "attn_v"} & set(launched), launched
