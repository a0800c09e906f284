# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# --explain on prepared failures: each names the operation, the cause and a
# change that helps.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from runner import fails, ok, run

folder = sys.argv[1] + "/"
N = 8
T = f"tensor<?x{N}xf32>"
STEP = """func.func @step(
    %w: tensor<8x8xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<xavier_uniform>},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = LR>},
    %x: TENSOR {amp.role = "batch", amp.name = "x"},
    %y: TENSOR {amp.role = "batch", amp.name = "y"}ARGUMENTS)
    -> (tensor<8x8xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}RESULTS) {
BODY
  %loss = train.mse %out, %y : (TENSOR, TENSOR) -> tensor<f32>
  %g = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<8x8xf32>) -> tensor<8x8xf32>
UPDATE
}
"""
SGD = """  %new = train.sgd %w, %g, %lr : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  return %new, %loss : tensor<8x8xf32>, tensor<f32>"""
LINEAR = "  %h = train.linear %x, %w : (TENSOR, tensor<8x8xf32>) -> TENSOR\n"

random = np.random.default_rng(0)


def data(scale=1.0, count=16, **changes):
    arrays = {"x": scale * random.standard_normal((count, N)), "y": random.standard_normal((count, N))}
    arrays.update(changes)
    return {name: np.float32(array) for name, array in arrays.items()}


def build(body, update, lr=0.1, arguments="", results="", tensor=T):
    text = STEP.replace("BODY", body.rstrip("\n")).replace("UPDATE", update).replace("LR", f"{lr:.9e}")
    return text.replace("ARGUMENTS", arguments).replace("RESULTS", results).replace("TENSOR", tensor)


def explain(name, body, arrays, *options, update=SGD, lr=0.1, arguments="", results="", steps=2,
            batch=8, tensor=T):
    """The explanations, and the lines of the model."""
    text = build(body, update, lr, arguments, results, tensor)
    model = folder + name + ".mlir"
    with open(model, "w") as f:
        f.write(text)
    np.savez(folder + name + ".npz", **arrays)
    out = folder + name + ".json"
    common = ("--data", folder + name + ".npz", "--batch-size", batch, "--steps", steps)
    given = () if any(o.startswith("--explain") for o in options) else ("--explain",)
    result = run(*common, *options, *given, "--explain-json", out, model=model)
    assert result.returncode == 0, result.stderr
    # A variant that is tried is not the program of the user.
    assert "nothing became low" not in result.stderr, result.stderr
    printed = result.stdout
    with open(out) as f:
        found = json.load(f)["explanations"]
    for one in found:
        assert one["exact"], (name, one)
        assert f"step {one['step']}: {one['event']}" in printed, printed
    return found, text.split("\n"), (common, options, model)


def check(name, first, cause, advice, *, line, op, cast=False, part="forward", runs=None):
    """`first` is about `op` in a line that contains `line`, with that cause and
    an advice that contains `advice` and was replayed."""
    found, lines, command = first
    assert found, name
    one = found[0]
    culprit = one["culprit"]
    assert culprit["op"] == op and one["inCast"] == cast and culprit["part"] == part, (name, one)
    if line:
        number = int(culprit["location"].rsplit(":", 2)[1])
        assert line in lines[number - 1], (name, line, lines[number - 1])
    assert one["cause"] == cause, (name, one["cause"], one)
    texts = [a["text"] + " " + a.get("options", "") for a in one["advice"]]
    assert any(advice in t for t in texts), (name, texts)
    # Each change that the tool has replayed takes the failure away.
    for change in one["advice"]:
        if change["replayed"] and change.get("options"):
            common, options, model = command
            if "policy" in change:
                with open(folder + "policy.yaml", "w") as f:
                    f.write(change["policy"])
            given = change["options"].replace("policy.yaml", folder + "policy.yaml").split()
            kept = [o for o in options if o.split("=")[0] not in [g.split("=")[0] for g in given]]
            result = run(*common, *kept, *given, "--explain", "--explain-json", folder + "again.json",
                         model=model)
            assert result.returncode == 0, (name, given, result.stderr)
            with open(folder + "again.json") as f:
                again = json.load(f)["explanations"]
            assert not any(a["step"] == one["step"] and a["culprit"]["name"] == culprit["name"]
                           for a in again), (name, given, again)
    print(name, "ok:", texts)


# 1. Attention scores beyond the range of f16.
S = "tensor<8x8xf32>"
scores = f"""  %h = train.linear %x, %w : ({S}, {S}) -> {S}
  %s = train.matmul %h, %x {{transpose_b}} : ({S}, {S}) -> {S}
  %p = train.softmax %s {{axis = 1 : i64}} : {S}
  %out = train.matmul %p, %h : ({S}, {S}) -> {S}
"""
check("scores", explain("scores", scores, data(300), "--precision=fp16", "--pipeline=policy=pytorch", tensor=S),
      "precision", "bf16", line="%s = ", op="train.matmul")

# 2. A variance.
variance = LINEAR + """  %m = train.reduce_mean %h {dims = array<i64: 1>, keep_dims} : (TENSOR) -> tensor<?x1xf32>
  %c = train.sub %h, %m : (TENSOR, tensor<?x1xf32>) -> TENSOR
  %q = train.square %c : TENSOR
  %v = train.reduce_mean %q {dims = array<i64: 1>, keep_dims} : (TENSOR) -> tensor<?x1xf32>
  %e = train.constant dense<1.0e-5> : tensor<1x1xf32>
  %ve = train.add %v, %e : (tensor<?x1xf32>, tensor<1x1xf32>) -> tensor<?x1xf32>
  %r = train.rsqrt %ve : tensor<?x1xf32>
  %out = train.mul %c, %r : (TENSOR, tensor<?x1xf32>) -> TENSOR
"""
with open(folder + "low.yaml", "w") as f:
    f.write('version: 1\nextends: default\npins: {"*variance.mlir:10:*": low, "*sum.mlir:9:*": low}\n')
low = "--pipeline=policy=" + folder + "low.yaml"
check("variance", explain("variance", variance, data(1000), "--precision=fp16", low),
      "precision", "f32", line="%q = ", op="train.square")

# 3. A sum over a long axis.
total = LINEAR + """  %a = train.abs %h : TENSOR
  %t = train.reduce_sum %a {dims = array<i64: 1>, keep_dims} : (TENSOR) -> tensor<?x1xf32>
  %out = train.div %h, %t : (TENSOR, tensor<?x1xf32>) -> TENSOR
"""
check("sum", explain("sum", total, data(2e4), "--precision=fp16", low),
      "precision", "f32", line="%t = ", op="train.reduce_sum")

# 4. A residual stream that grows.
stream = "  %r0 = train.linear %x, %w : (TENSOR, tensor<8x8xf32>) -> TENSOR\n"
for i in range(8):
    stream += f"""  %f{i} = train.linear %r{i}, %w : (TENSOR, tensor<8x8xf32>) -> TENSOR
  %r{i + 1} = train.add %r{i}, %f{i} : (TENSOR, TENSOR) -> TENSOR
"""
stream += "  %out = train.linear %r8, %w : (TENSOR, tensor<8x8xf32>) -> TENSOR\n"
weights = 4 * np.eye(8)
np.savez(folder + "four.npz", w=np.float32(weights))
first = explain("stream", stream, data(2), "--precision=fp16", "--init", folder + "four.npz")
one = first[0][0]
check("stream", first, "precision", "bf16", line=" = ", op=one["culprit"]["op"], cast=one["inCast"])
assert one["culprit"]["op"] in ("train.add", "train.linear"), one
assert one["culprit"]["largest"] > 1e4 or one["inCast"], one

# 5. A gradient that underflows without a loss scale.
check("gradient", explain("gradient", LINEAR + "  %out = train.tanh %h : TENSOR\n",
                          data(5e-7, y=np.zeros((16, N))), "--precision=fp16", "--loss-scale=none"),
      "small-loss-scale", "--loss-scale=dynamic", line="train.mse", op="train.mse_grad", part="backward")

# 6. An input beyond the range.
check("input", explain("input", LINEAR + "  %out = train.tanh %h : TENSOR\n", data(1e6), "--precision=fp16"),
      "precision", "bf16", line=None, op="argument", cast=True)

# 7. A division by a variance of zero.
division = LINEAR + """  %m = train.reduce_mean %x {dims = array<i64: 1>, keep_dims} : (TENSOR) -> tensor<?x1xf32>
  %c = train.sub %x, %m : (TENSOR, tensor<?x1xf32>) -> TENSOR
  %q = train.square %c : TENSOR
  %v = train.reduce_mean %q {dims = array<i64: 1>, keep_dims} : (TENSOR) -> tensor<?x1xf32>
  %d = train.sqrt %v : tensor<?x1xf32>
  %z = train.div %c, %d : (TENSOR, tensor<?x1xf32>) -> TENSOR
  %out = train.linear %z, %w : (TENSOR, tensor<8x8xf32>) -> TENSOR
"""
check("division", explain("division", division, data(x=np.ones((16, N))), "--precision=fp16"),
      "domain", "has zeros", line="%z = ", op="train.div")

# 8. A logarithm of zero.
logarithm = LINEAR + """  %p = train.relu %h : TENSOR
  %out = train.log %p : TENSOR
"""
check("log", explain("log", logarithm, data(), "--precision=fp16"),
      "domain", "has zeros", line="%out = ", op="train.log")

# 9. An update that is too large.
check("update", explain("update", LINEAR + "  %out = train.tanh %h : TENSOR\n", data(100, y=1e4 * np.ones((16, N))),
                        "--precision=bf16", lr=3e38),
      "step", "--set=lr=", line="train.sgd", op="train.sgd", part="update")

# The next step casts such a parameter to f16. In f32 its products overflow.
check("grown", explain("grown", LINEAR + "  %out = train.square %h : TENSOR\n", data(), "--precision=fp16", lr=1e38),
      "range", "smaller learning rate", line="", op="argument", cast=True)

# 10. A static loss scale that is too large.
check("scale", explain("scale", LINEAR + "  %out = train.tanh %h : TENSOR\n", data(), "--precision=fp16",
                       "--loss-scale=1073741824"),
      "loss-scale", "--loss-scale=", line="train.mse", op="train.mse_grad", part="backward")

# 11. A batch norm with one sample: the unbiased variance divides by n - 1 = 0.
# The compiler refuses it at the operation.
V = "tensor<8xf32>"
states = "".join(f""",
    %{n}: {V} {{amp.role = "model_state", amp.name = "{n}", amp.init = #amp.init<ones>}}""" for n in ("rm", "rv"))
updates = "".join(f', {V} {{amp.updates = "{n}"}}' for n in ("rm", "rv"))
norm = LINEAR + f"""  %one = train.constant dense<1.0> : {V}
  %out, %mean, %rstd, %m1, %v1 = train.batch_norm_training %h, %one, %one, %rm, %rv : (TENSOR, {V}, {V}, {V}, {V}) -> (TENSOR, {V}, {V}, {V}, {V})
"""
text = build(norm, SGD.replace("%new, %loss : tensor<8x8xf32>, tensor<f32>",
                               f"%new, %loss, %m1, %v1 : tensor<8x8xf32>, tensor<f32>, {V}, {V}"),
             arguments=states, results=updates)
with open(folder + "norm.mlir", "w") as f:
    f.write(text)
np.savez(folder + "norm.npz", **data())
message = fails("the variance of a batch needs more than one value per channel", "--data", folder + "norm.npz",
                "--steps", 2, "--batch-size", 1, "--precision", "fp16", "--explain", model=folder + "norm.mlir")
assert "norm.mlir:11:" in message, message

# 12. A second moment that underflows: the module stores it in f16.
W, H = "tensor<8x8xf32>", "tensor<8x8xf16>"
moment = f"""  %b2 = train.constant dense<0.999> : tensor<f32>
  %c2 = train.constant dense<0.001> : tensor<f32>
  %e = train.constant dense<1.0e-8> : tensor<f32>
  %vw = amp.cast %v : {H} to {W}
  %g2 = train.square %g : {W}
  %s = train.mul %g2, %c2 : ({W}, tensor<f32>) -> {W}
  %k = train.mul %vw, %b2 : ({W}, tensor<f32>) -> {W}
  %v2 = train.add %k, %s : ({W}, {W}) -> {W}
  %v3 = amp.cast %v2 : {W} to {H}
  %v4 = amp.cast %v3 : {H} to {W}
  %d = train.sqrt %v4 : {W}
  %de = train.add %d, %e : ({W}, tensor<f32>) -> {W}
  %q = train.div %g, %de : ({W}, {W}) -> {W}
  %u = train.mul %q, %lr : ({W}, tensor<f32>) -> {W}
  %new = train.sub %w, %u : ({W}, {W}) -> {W}
  return %new, %loss, %v3 : {W}, tensor<f32>, {H}"""
check("moment", explain("moment", LINEAR + "  %out = train.tanh %h : TENSOR\n", data(0.1, y=np.zeros((16, N))),
                        "--precision=fp16", "--loss-scale=none", lr=1e-9, update=moment, steps=1,
                        arguments=f""",
    %v: {H} {{amp.role = "optimizer_state", amp.name = "v", amp.init = #amp.init<zeros>}}""",
                        results=f', {H} {{amp.updates = "v"}}'),
      "underflow", "the module itself rounds", line="%v2 = ", op="train.add", part="update", cast=True)

# Prepared after the feature was finished: data that are not finite, an
# exponential, and a quotient that hides an infinity.
check("data", explain("data", LINEAR + "  %out = train.tanh %h : TENSOR\n", data(x=np.full((16, N), np.inf)),
                      "--precision=fp16"),
      "data", "check the array 'x'", line=None, op="argument")
with open(folder + "exp.yaml", "w") as f:
    f.write('version: 1\nextends: default\npins: {"*exp.mlir:8:*": low}\n')
check("exp", explain("exp", LINEAR + "  %out = train.exp %h : TENSOR\n", data(12), "--precision=fp16",
                     "--pipeline=policy=" + folder + "exp.yaml", lr=0.0),
      "precision", "f32", line="train.exp", op="train.exp")
hidden = LINEAR + """  %big = train.constant dense<3.0e38> : tensor<f32>
  %i = train.mul %h, %big : (TENSOR, tensor<f32>) -> TENSOR
  %c = train.clip %i {min = -1.0 : f64, max = 1.0 : f64} : TENSOR
  %out = train.linear %c, %w : (TENSOR, tensor<8x8xf32>) -> TENSOR
"""
found, _, _ = explain("hidden", hidden, data(100), "--precision=bf16")
assert found[0]["event"] == "a value is not finite, but the loss is" and found[0]["culprit"]["op"] == "train.mul", found

# Prepared later, with calibration: a root whose derivative at zero is infinite,
# a norm of zero, and a constant that is not finite.
check("root", explain("root", LINEAR + "  %p = train.relu %h : TENSOR\n  %out = train.sqrt %p : TENSOR\n", data(),
                      "--precision=fp16"),
      "domain", "has zeros", line="%out = ", op="train.div", part="backward")
length = LINEAR + """  %q = train.square %h : TENSOR
  %t = train.reduce_sum %q {dims = array<i64: 1>, keep_dims} : (TENSOR) -> tensor<?x1xf32>
  %r = train.rsqrt %t : tensor<?x1xf32>
  %out = train.mul %h, %r : (TENSOR, tensor<?x1xf32>) -> TENSOR
"""
rows = random.standard_normal((16, N)) * (np.arange(16)[:, None] % 4 != 0)
check("length", explain("length", length, data(x=rows), "--precision=fp16"),
      "domain", "has zeros", line="%r = ", op="train.rsqrt")
infinite = LINEAR + """  %c = train.constant dense<0x7F800000> : tensor<f32>
  %m = train.add %h, %c : (TENSOR, tensor<f32>) -> TENSOR
  %out = train.sub %m, %m : (TENSOR, TENSOR) -> TENSOR
"""
check("infinite", explain("infinite", infinite, data(), "--precision=fp16"),
      "domain", "is not finite", line="%m = ", op="train.add")

# Prepared later, from other programs. A mask of -inf, as PyTorch and JAX write it,
# is finite after the softmax: it is neither a failure nor the cause of another one.
NINF, rows_seen = "0xFF800000", np.tril(np.ones((8, 8), bool))


def masked(seen, end):
    mask = "[" + ", ".join("[" + ", ".join("0.0" if s else NINF for s in row) + "]" for row in seen) + "]"
    return f"""  %h = train.linear %x, %w : ({S}, {S}) -> {S}
  %s = train.matmul %h, %x {{transpose_b}} : ({S}, {S}) -> {S}
  %m = train.constant dense<{mask}> : {S}
  %sm = train.add %s, %m : ({S}, {S}) -> {S}
  %p = train.softmax %sm {{axis = 1 : i64}} : {S}
  %a = train.matmul %p, %h : ({S}, {S}) -> {S}
{end}"""


tanh = f"  %out = train.tanh %a : {S}\n"
for precision in ("fp16", "bf16"):
    found, _, _ = explain("mask", masked(rows_seen, tanh), data(), f"--precision={precision}", tensor=S)
    assert found == [], found
check("mask-log", explain("mask-log", masked(rows_seen, f"  %r = train.relu %a : {S}\n  %out = train.log %r : {S}\n"),
                          data(), "--precision=fp16", tensor=S),
      "domain", "has zeros", line="%out = ", op="train.log")
check("mask-scale", explain("mask-scale", masked(rows_seen, tanh), data(), "--precision=fp16", "--loss-scale=1e9", tensor=S),
      "loss-scale", "--loss-scale=", line="train.mse", op="train.mse_grad", part="backward")
# A row without a key is NaN after the softmax, because of the mask.
rows_seen[3] = False
check("mask-row", explain("mask-row", masked(rows_seen, tanh), data(), "--precision=fp16", tensor=S),
      "domain", "is not finite", line="%sm = ", op="train.add")
# Infinities of the data can be a mask too.
arrays = data(m=np.where(np.tril(np.ones((16, 8), bool)), 0, -np.inf))
given = masked(np.ones((8, 8), bool), tanh).replace("%sm = train.add %s, %m", "%sk = train.add %s, %m").replace(
    "  %p = train.softmax %sm", f"  %sm = train.add %sk, %k : ({S}, {S}) -> {S}\n  %p = train.softmax %sm")
argument = f', %k: {S} {{amp.role = "batch", amp.name = "m"}}'
text = STEP.replace('amp.name = "y"}', 'amp.name = "y"}' + argument)
with open(folder + "mask-data.mlir", "w") as f:
    f.write(text.replace("BODY", given.rstrip("\n")).replace("UPDATE", SGD).replace("LR", "0.1").replace("ARGUMENTS", "")
            .replace("RESULTS", "").replace("TENSOR", S))
np.savez(folder + "mask-data.npz", **arrays)
assert "no step was skipped" in ok("--data", folder + "mask-data.npz", "--batch-size", 8, "--steps", 2, "--no-shuffle",
                                   "--precision=fp16", "--explain", model=folder + "mask-data.mlir")

# Prepared last: the cosine similarity of a vector of zeros, a softplus written with
# exp, whose operand also has zeros, and a power by repeated squares.
cosine = LINEAR + """  %q = train.mul %h, %h : (TENSOR, TENSOR) -> TENSOR
  %t = train.reduce_sum %q {dims = array<i64: 1>, keep_dims} : (TENSOR) -> tensor<?x1xf32>
  %n = train.sqrt %t : tensor<?x1xf32>
  %yq = train.mul %y, %y : (TENSOR, TENSOR) -> TENSOR
  %yt = train.reduce_sum %yq {dims = array<i64: 1>, keep_dims} : (TENSOR) -> tensor<?x1xf32>
  %yn = train.sqrt %yt : tensor<?x1xf32>
  %d = train.mul %h, %y : (TENSOR, TENSOR) -> TENSOR
  %nn = train.mul %n, %yn : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  %out = train.div %d, %nn : (TENSOR, tensor<?x1xf32>) -> TENSOR
"""
check("cosine", explain("cosine", cosine, data(x=rows), "--precision=fp16"),
      "domain", "has zeros", line="%out = ", op="train.div")
softplus = LINEAR + """  %p = train.relu %h : TENSOR
  %e = train.exp %p : TENSOR
  %one = train.constant dense<1.0> : tensor<f32>
  %s = train.add %e, %one : (TENSOR, tensor<f32>) -> TENSOR
  %out = train.log %s : TENSOR
"""
check("softplus", explain("softplus", softplus, data(100), "--precision=bf16", lr=0.0),
      "range", "clip the operands from above", line="%e = ", op="train.exp")
power = LINEAR + "  %p0 = train.abs %h : TENSOR\n" + "".join(
    f"  %p{i + 1} = train.mul %p{i}, %p{i} : (TENSOR, TENSOR) -> TENSOR\n" for i in range(5)) + (
    "  %out = train.linear %p5, %w : (TENSOR, tensor<8x8xf32>) -> TENSOR\n")
check("power", explain("power", power, data(1), "--precision=fp16", lr=0.0),
      "precision", "f32", line="%p5 = ", op="train.mul", cast=True)

# In a loop: the operation, and the iteration in which it fails first.
loop = f"""  %h = train.linear %x, %w : ({S}, {S}) -> {S}
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %cn = arith.constant 12 : index
  %out = scf.for %i = %c0 to %cn step %c1 iter_args(%z = %h) -> ({S}) {{
    %q = train.linear %z, %w : ({S}, {S}) -> {S}
    %e = train.add %q, %z : ({S}, {S}) -> {S}
    scf.yield %e : {S}
  }}
"""
np.savez(folder + "loop-init.npz", w=np.float32(2 * np.eye(8)))
first = explain("loop", loop, data(x=np.ones((16, N)), y=np.ones((16, N))), "--precision=fp16", "--init",
                folder + "loop-init.npz", tensor=S, lr=0.0)
# The product of iteration n is 4 * 3^(n - 1). f16 ends at 65504, so it overflows for n = 10.
one = first[0][0]
assert one["culprit"]["op"] == "train.matmul" and one["inCast"] and one["iteration"] == 10, one
assert one["loop"]["part"] == "forward", one
assert "%q = " in first[1][int(one["culprit"]["location"].rsplit(":", 2)[1]) - 1] and one["cause"] == "precision", one
nested = loop.replace("train.add %q, %z :", "train.log %q :").replace(f"log %q : ({S}, {S}) -> {S}", f"log %q : {S}")
check("loop-log", explain("loop-log", nested, data(), "--precision=fp16", tensor=S),
      "domain", "domain of the operation", line="%e = ", op="train.log")

# A norm of gradients that the module computes in f16: its squares are 0, and the quotient is infinite.
clip = """  %gh = amp.cast %g : tensor<8x8xf32> to tensor<8x8xf16>
  %g2 = train.square %gh : tensor<8x8xf16>
  %ss = train.reduce_sum %g2 {dims = array<i64: 0, 1>} : (tensor<8x8xf16>) -> tensor<f16>
  %sw = amp.cast %ss : tensor<f16> to tensor<f32>
  %nn = train.sqrt %sw : tensor<f32>
  %gc = train.div %g, %nn : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
""" + SGD.replace("%g,", "%gc,")
check("norm16", explain("norm16", LINEAR + "  %out = train.tanh %h : TENSOR\n", data(1e-3, y=1e-3 * np.ones((16, N))),
                        "--precision=bf16", update=clip),
      "underflow", "a wider type in the module", line="%gc = ", op="train.div", part="update")

# A softmax written out, as in JAX. If its maximum alone is beyond f16, the exponentials are
# zeros, which are finite, and their quotient is NaN. The pins follow such a chain.
M = "tensor<8xf32>"
written = f"""  %h = train.linear %x, %w : ({S}, {S}) -> {S}
  %s = train.matmul %h, %x {{transpose_b}} : ({S}, {S}) -> {S}
  %mx = train.reduce_max %s {{dims = array<i64: 1>}} : ({S}) -> {M}
  %ninf = train.constant dense<{NINF}> : {M}
  %m = train.maximum %mx, %ninf : ({M}, {M}) -> {M}
  %b = train.broadcast %m {{dims = array<i64: 1>}} : ({M}) -> {S}
  %c = train.sub %s, %b : ({S}, {S}) -> {S}
  %e = train.exp %c : {S}
  %t = train.reduce_sum %e {{dims = array<i64: 1>}} : ({S}) -> {M}
  %tb = train.broadcast %t {{dims = array<i64: 1>}} : ({M}) -> {S}
  %p = train.div %e, %tb : ({S}, {S}) -> {S}
  %out = train.matmul %p, %h : ({S}, {S}) -> {S}
"""
first = explain("written", written, data(300), "--precision=fp16", tensor=S)
check("written", first, "precision", "keep these operations in f32", line="%s = ", op="train.matmul")
with open(folder + "maximum.yaml", "w") as f:
    f.write("version: 1\nextends: default\nloss-scaling: {init-scale: 16}\npins: {" + ", ".join(
        f'"*written.mlir:{n}:*": {kind}' for n, kind in ((8, "f32"), (9, "f32"), (11, "low"), (13, "f32"))) + "}\n")
check("written", explain("written", written, data(300), "--precision=fp16", "--pipeline=policy=" + folder + "maximum.yaml",
                         tensor=S),
      "precision", "keep these operations in f32", line="%mx = ", op="train.reduce_max", cast=True)
# The policy of the run may have a relative path. The advice extends it, in another file.
base = folder + "base/"
os.makedirs(base)
with open(base + "policy.yaml", "w") as f:
    f.write('version: 1\nextends: default\npins: {"*written.mlir:9:*": f32}\n')
given = "--pipeline=policy=" + os.path.relpath(base + "policy.yaml")
found, _, (common, options, model) = explain("written", written, data(300), "--precision=fp16", given,
                                             tensor=S)
(pins,) = [one for one in found[0]["advice"] if "policy" in one]
assert pins["replayed"] and pins["options"] == "--pipeline=policy=policy-2.yaml", pins
with open(base + "policy-2.yaml", "w") as f:
    f.write(pins["policy"])
options = [*options[:-1], "--pipeline=policy=" + base + "policy-2.yaml"]
assert "no step was skipped" in ok(*common[:-1], 1, *options, "--explain", model=model)

# A learning rate that is no number.
check("rate", explain("rate", LINEAR + "  %out = train.tanh %h : TENSOR\n", data(), "--precision=fp16", "--set=lr=nan"),
      "state", "--set=lr=", line=None, op="argument")

# A snapshot every few steps gives the same explanations, bit for bit.
arrays = data(count=64)
arrays["x"][40] = 1e6
for interval in (1, 3, 100):
    np.savez(folder + "late.npz", **arrays)
    found, _, _ = explain("late", LINEAR + "  %out = train.tanh %h : TENSOR\n", arrays, "--precision=fp16",
                          f"--explain={interval}", steps=8)
    assert [one["step"] for one in found] == [found[0]["step"]] and found[0]["inCast"], found

model = folder + "late.mlir"
common = ("--data", folder + "late.npz", "--steps", 1, "--batch-size", 8)
assert "no step was skipped" in ok(*common, "--precision", "f32", "--explain", model=model)
fails("wrong value of --explain: '0'", *common, "--explain=0", model=model)
fails("--explain-json needs --explain", *common, "--explain-json", "x.json", model=model)
fails("--explain is for a single run", *common, "--explain", "--seeds", 2, model=model)
# A run whose every step was skipped is an error, as is a scaler at its floor.
np.savez(folder + "bad.npz", x=np.full((80, N), 1e6, np.float32), y=np.zeros((80, N), np.float32))
result = run("--data", folder + "bad.npz", "--steps", 10, "--batch-size", 8, "--precision", "fp16", model=model)
assert result.returncode == 1 and "all 10 steps were skipped" in result.stderr, result
# The error names --explain only if it was not given.
assert result.stderr.endswith(", see --explain of amp-run for the first value that is not finite\n"), result
result = run("--data", folder + "bad.npz", "--steps", 10, "--batch-size", 8, "--precision", "fp16", "--explain",
             model=model)
assert result.stderr.endswith("the loss scale does not help; expected finite gradients\n"), result
