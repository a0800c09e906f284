# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates a training step of a transformer of any depth, with the scopes that
a framework would give its operations as location names."""

X = "tensor<32x64xf32>"
W = "tensor<64x64xf32>"
V = "tensor<64xf32>"
A = "tensor<32x32xf32>"
NORM = f"({X}, {V}, {V}) -> ({X}, tensor<32xf32>, tensor<32xf32>)"
LINEAR = f"({X}, {W}, {V}) -> {X}"


def block(i):
    """About 20 operations, each with its scope."""
    x, v, w = f"%x{i}", lambda k: f"%b{i}_{k}", lambda k: f"%w{i}_{k}"
    lines = [
        ("attention", f"{v(0)}:3 = train.layer_norm {x}, %gain, %zero : {NORM}"),
        ("attention/query", f"{v(1)} = train.linear {v(0)}#0, {w(0)}, %zero : {LINEAR}"),
        ("attention/key", f"{v(2)} = train.linear {v(0)}#0, {w(1)}, %zero : {LINEAR}"),
        ("attention/value", f"{v(3)} = train.linear {v(0)}#0, {w(2)}, %zero : {LINEAR}"),
        ("attention/scores", f"{v(4)} = train.matmul {v(1)}, {v(2)} {{transpose_b}} : ({X}, {X}) -> {A}"),
        ("attention/scores", f"{v(5)} = train.mul {v(4)}, %scale : ({A}, tensor<f32>) -> {A}"),
        ("attention/scores", f"{v(6)} = train.softmax {v(5)} {{axis = 1 : i64}} : {A}"),
        ("attention", f"{v(7)} = train.matmul {v(6)}, {v(3)} : ({A}, {X}) -> {X}"),
        ("attention/output", f"{v(8)} = train.linear {v(7)}, {w(3)}, %zero : {LINEAR}"),
        ("attention", f"{v(9)} = train.add {v(8)}, {x} : ({X}, {X}) -> {X}"),
        ("mlp", f"{v(10)}:3 = train.layer_norm {v(9)}, %gain, %zero : {NORM}"),
        ("mlp/up", f"{v(11)} = train.linear {v(10)}#0, {w(4)}, %zero : {LINEAR}"),
        ("mlp", f"{v(12)} = train.gelu {v(11)} : {X}"),
        ("mlp/down", f"{v(13)} = train.linear {v(12)}, {w(5)}, %zero : {LINEAR}"),
        ("mlp", f"%x{i + 1} = train.add {v(13)}, {v(9)} : ({X}, {X}) -> {X}"),
        # Values computed for a metric, in f32.
        ("metric", f"{v(15)} = train.square {v(9)} : {X}"),
        ("metric", f"{v(16)} = train.reduce_sum {v(15)} {{dims = array<i64: 1>}} : ({X}) -> tensor<32xf32>"),
        ("metric", f"{v(17)} = train.log1p {v(16)} : tensor<32xf32>"),
        ("metric", f"%m{i + 1} = train.add {v(17)}, %m{i} : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>"),
    ]
    return [f'  {text} loc("encoder/layer{i}/{scope}")' for scope, text in lines]


def generate(blocks):
    weights = [f"w{i}_{k}" for i in range(blocks) for k in range(6)]
    arguments = [f'%{w}: {W} {{amp.role = "parameter", amp.name = "{w}"}}' for w in weights]
    arguments += [f'%{n}: {t} {{amp.role = "batch", amp.name = "{n}"}}' for n, t in
                  (("x0", X), ("target", X), ("m0", "tensor<32xf32>"), ("gain", V), ("zero", V))]
    arguments.append('%rate: tensor<f32> {amp.role = "hyperparameter", amp.name = "rate"}')
    results = [f'{W} {{amp.updates = "{w}"}}' for w in weights]
    results += ['tensor<f32> {amp.metric = "loss"}', 'tensor<32xf32> {amp.prediction = "norms"}']
    lines = [
        f"func.func @step({', '.join(arguments)}) -> ({', '.join(results)}) {{",
        "  %scale = train.constant dense<0.125> : tensor<f32>",
        *(line for i in range(blocks) for line in block(i)),
        f'  %loss = train.mse %x{blocks}, %target : ({X}, {X}) -> tensor<f32> loc("loss")',
        f"  %g:{len(weights)} = train.gradients %loss wrt({', '.join('%' + w for w in weights)}) : "
        f"({', '.join(['tensor<f32>'] + [W] * len(weights))}) -> ({', '.join([W] * len(weights))})",
        *(f'  %n_{w} = train.sgd %{w}, %g#{i}, %rate : ({W}, {W}, tensor<f32>) -> {W} loc("optimizer/{w.split("_")[0]}/{w}")'
          for i, w in enumerate(weights)),
        f"  return {', '.join('%n_' + w for w in weights)}, %loss, %m{blocks} : "
        f"{', '.join([W] * len(weights))}, tensor<f32>, tensor<32xf32>",
        "}",
        "",
    ]
    return "\n".join(lines)
