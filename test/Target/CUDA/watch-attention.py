# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cuda-watch counts the scores and the weights of attention by plans, and their
# gradients, as NumPy does: packed heads with a causal mask, and fewer heads of
# keys than of queries with a mask of its own. The results of the step have the
# same bits with and without counts.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib' %amp_src_root

import os
import shlex
import sys

here = os.path.dirname(__file__)
sys.path[:0] = [os.path.join(here, "Inputs"), os.path.join(here, "../../Step/Inputs")]
import numpy as np
import steps
from program import run

folder, compiler, library, root = sys.argv[1:5]
NANS, INFINITIES, ZEROS, OVERFLOWS, UNDERFLOWS, LARGEST, SMALLEST, BINS = range(8)
B, S, D = 3, 8, 16


def write(name, heads, key_heads, mask):
    """A step that returns attention and its gradient. `mask` is an operand or empty."""
    q, k = f"tensor<{B}x{heads}x{S}x{D}x", f"tensor<{B}x{key_heads}x{S}x{D}x"
    types = {"q": q, "k": k, "v": k, "dy": q}
    arguments = "".join(f', %{n}: {t}f32> {{amp.role = "batch", amp.name = "{n}"}}' for n, t in types.items())
    casts = "".join(f"  %{n}h = amp.cast %{n} : {t}f32> to {t}f16>\n" for n, t in types.items())
    given, flag, more = "", " {causal}", ""
    if mask:
        m = f"tensor<{B}x1x{S}x{S}xi1>"
        arguments += f', %m: {m} {{amp.role = "batch", amp.name = "m"}}'
        given, flag, more = ", %m", "", f", {m}"
    results = ", ".join(f'{t}f16> {{amp.prediction = "{n}"}}' for n, t in (("y", q), ("dq", q), ("dk", k), ("dv", k)))
    path = f"{folder}/{name}.mlir"
    with open(path, "w") as file:
        file.write(f"""func.func @step(%w: tensor<f32> {{amp.role = "parameter", amp.name = "w", amp.init = #amp.init<zeros>}}{arguments})
    -> (tensor<f32> {{amp.updates = "w"}}, {results}) {{
{casts}  %y, %lse = train.scaled_dot_product_attention %qh, %kh, %vh{given}{flag}
      : ({q}f16>, {k}f16>, {k}f16>{more}) -> ({q}f16>, tensor<{B}x{heads}x{S}xf32>)
  %dq, %dk, %dv = train.scaled_dot_product_attention_grad %dyh, %qh, %kh, %vh, %y, %lse{given}{flag}
      : ({q}f16>, {q}f16>, {k}f16>, {k}f16>, {q}f16>, tensor<{B}x{heads}x{S}xf32>{more}) -> ({q}f16>, {k}f16>, {k}f16>)
  return %w, %y, %dq, %dk, %dv : tensor<f32>, {q}f16>, {q}f16>, {k}f16>, {k}f16>
}}
""")
    return path


def build(model, watch):
    program = f"{model}{'.watched' if watch else '.plain'}"
    run(["amp-opt", model, f"--amp-cuda-pipeline=attention=cudnn{watch}", "-o", f"{program}.mlir"])
    with open(f"{program}.mlir") as file:
        assert "cuda.sdpa_grad" in file.read()
    run(["amp-translate", "--mlir-to-cuda", f"{program}.mlir", "-o", f"{program}.cu"])
    run([*shlex.split(compiler), "-shared", f"{program}.cu", *shlex.split(library),
         f"-Wl,--version-script={root}/test/CudaHost/library.exports", "-o", f"{program}.so"])
    code, loaded, message, alive = steps.load(f"{program}.so")
    assert code == steps.OK, message
    return loaded, alive


def inner_values(batch, heads, key_heads):
    """The inner values of attention by NumPy, from operands that are rounded to f16."""
    low = {n: batch[n].astype(np.float16).astype(np.float64) for n in ("q", "k", "v", "dy")}
    group = heads // key_heads
    k, v = (np.repeat(low[n], group, axis=1) for n in ("k", "v"))
    scores = low["q"] @ k.swapaxes(2, 3) / np.sqrt(D)
    seen = batch["m"] if "m" in batch else np.tril(np.ones((S, S), bool))
    exps = np.exp(np.where(seen, scores, -np.inf) - np.where(seen, scores, -np.inf).max(-1, keepdims=True))
    weights = exps / exps.sum(-1, keepdims=True)
    y = (weights @ v).astype(np.float16).astype(np.float64)
    weights_grad = low["dy"] @ v.swapaxes(2, 3)
    scores_grad = weights * (weights_grad - (low["dy"] * y).sum(-1, keepdims=True))
    return {"scores": scores, "weights": weights, "weights_grad": weights_grad, "scores_grad": scores_grad}


random = np.random.default_rng(2)
for name, heads, key_heads, mask in (("packed", 2, 2, False), ("grouped", 4, 2, True)):
    model = write(name, heads, key_heads, mask)
    batch = {n: random.standard_normal((B, h, S, D)).astype(np.float32)
             for n, h in (("q", heads), ("k", key_heads), ("v", key_heads), ("dy", heads))}
    # A gradient below the range of f16, and scores beyond it.
    batch["dy"][1] *= 1e-6
    batch["q"][2], batch["k"][2] = batch["q"][2] * 250, batch["k"][2] * 250
    if mask:
        batch["m"] = random.random((B, 1, S, S)) < 0.7
        batch["m"][..., 0] = True
    (plain, keep), (watched, keep_watched) = build(model, ""), build(model, " watch=.")
    results = []
    for program in (plain, watched):
        step = steps.Step(program, seed=3)
        kept = [step.set_batch(key, value) for key, value in batch.items()]
        step.call("run", 0, 1)
        results.append({n: step.read(4, n).tobytes() for n in ("y", "dq", "dk", "dv")})
    assert results[0] == results[1], name
    found = {}
    for prediction in step.tensors(4):
        if "#" in prediction and "scaled_dot_product_attention" in prediction:
            words = prediction.split(" ", 6)
            found[words[6].split(" ")[0].split("#")[1]] = words, step.read(4, prediction)
    expected = inner_values(batch, heads, key_heads)
    assert expected.keys() <= found.keys(), found.keys()
    for value, array in expected.items():
        words, got = found[value]
        assert words[3] == "f32>f16", words
        assert words[4] == f"{B}x{heads}x{S}x{S}x" and got[BINS:].sum() == array.size, words
        assert got[NANS] == got[INFINITIES] == 0, (value, got[:BINS])
        size = np.abs(array)
        # Weights of keys far below the best one round to 0 in f32. The sums of f32 have errors.
        tiny = size < 1e-36
        assert abs(got[ZEROS] - tiny.sum()) <= 0.02 * array.size, (value, got[ZEROS], tiny.sum())
        largest = np.uint32(got[LARGEST]).view(np.float32)
        # A score of 2^18 and the log of its sum have errors of 2^-7 in f32, so a weight has an error of 1.6 %.
        bound = 0.02 if value == "weights" else 1e-6
        assert abs(largest - size.max()) <= bound * size.max(), (value, largest, size.max())
        assert abs(got[OVERFLOWS] - (size >= 65520).sum()) <= 1, (value, got[OVERFLOWS])
        if value == "scores":
            bins = np.bincount(size.astype(np.float32).reshape(-1).view(np.uint32) >> 23, minlength=256)
            assert np.abs(bins - got[BINS:]).sum() <= 0.02 * array.size, value
            assert got[OVERFLOWS] > 0
        if value == "scores_grad":
            assert got[UNDERFLOWS] > 0
    print(name, "ok")
