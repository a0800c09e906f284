# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# --watch counts what NumPy counts, changes no bit of the training, and samples
# the steps that it should.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from runner import fails, make_data, ok, run

folder = sys.argv[1] + "/"

# One step that casts values of every kind, in shapes of every rank.
special = np.array(
    [0, -0.0, 1, -1, 65504, 65519.99, 65520, -1e6, 3e38, 2**-24, 2**-25, 2.0**-25 * 1.001,
     -(2.0**-26), 2.0**-14, 2.0**-15, 1e-40, np.inf, -np.inf, np.nan, np.nan],
    np.float32,
)
CAST = """
func.func @step(%w: tensor<{shape}f32> {{amp.role = "parameter", amp.name = "w"}},
                %x: tensor<?x2xf32> {{amp.role = "batch", amp.name = "x"}})
    -> (tensor<{shape}f32> {{amp.updates = "w"}}, tensor<f32> {{amp.metric = "loss"}}) {{
  %h = amp.cast %w : tensor<{shape}f32> to tensor<{shape}{low}>
  %m = train.abs %h : tensor<{shape}{low}>
  %n = amp.cast %m : tensor<{shape}{low}> to tensor<{shape}f32>
  %loss = train.reduce_sum %n {{dims = array<i64: {dims}>}} : (tensor<{shape}f32>) -> tensor<f32>
  return %w, %loss : tensor<{shape}f32>, tensor<f32>
}}
"""
MODEL = folder + "cast.mlir"


def round_to(x, low):
    """The f32 values of `x` in the low type; all of them if it is None."""
    if not low:
        return x
    with np.errstate(all="ignore"):
        if low == "f16":
            return x.astype(np.float16).astype(np.float32)
        # to nearest even
        bits = x.view(np.uint32).astype(np.uint64)
        bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
        return np.where(np.isnan(x), x, bits.astype(np.uint32).view(np.float32))


def numpy_statistics(x, low):
    rounded = round_to(x, low)
    size, finite = np.abs(x), np.isfinite(x)
    bins = np.bincount((size[finite & (x != 0)].view(np.uint32) >> 23).astype(int), minlength=256)
    return {
        "elements": x.size,
        "nan": int(np.isnan(x).sum()),
        "infinite": int(np.isinf(x).sum()),
        "zero": int((x == 0).sum()),
        "overflow": int((finite & ~np.isfinite(rounded)).sum()),
        "underflow": int(((x != 0) & (rounded == 0)).sum()),
        "largest": float(size[finite].max(initial=0)),
        "smallest": float(size[finite & (x != 0)].min(initial=np.inf)),
        "exponents": {str(e - 127): int(n) for e, n in enumerate(bins) if n},
    }


def close(got, expected):
    return got == expected or abs(got - expected) <= 1e-6 * abs(expected)


np.savez(folder + "x.npz", x=np.zeros((4, 2), np.float32))
random = np.random.default_rng(0)
wide = (random.standard_normal(3000) * 2.0 ** random.integers(-140, 120, 3000)).astype(np.float32)
for values, shape in ((special, (20,)), (wide, (3, 10, 100)), (np.float32([7e4]).reshape(()), ()), (wide[:1000], (1000, 1)),
                      (np.concatenate([special, wide, special]), (3040,)), (np.float32([2e-41] * 1500), (1500,))):
    values = values.reshape(shape)
    np.savez(folder + "w.npz", w=values)
    for low in ("f16", "bf16"):
        with open(MODEL, "w") as f:
            f.write(CAST.format(shape="".join(f"{n}x" for n in shape), low=low,
                                dims=", ".join(map(str, range(len(shape))))).replace(
                                    "array<i64: >", "array<i64>"))
        result = run("--data", folder + "x.npz", "--init", folder + "w.npz", "--steps", 1, "--batch-size", 4,
                     "--watch", "--watch-json", folder + "w.json", model=MODEL)
        # These values may make the loss NaN. Then amp-run fails after it writes the files.
        assert result.returncode == int("the loss is NaN" in result.stderr), result
        with open(folder + "w.json") as f:
            watched = json.load(f)
        (value,) = [v for v in watched["values"] if v["name"] == 'argument "w"']
        assert value["to"] == low and value["type"] == "f32", value
        # A value of the low type is judged as the f32 with the same value.
        (rounded,) = [v for v in watched["values"] if v["op"] == "train.abs"]
        assert "to" not in rounded and rounded["type"] == low, rounded
        flat = values.reshape(-1)
        for value, numbers, to in ((value, flat, low), (rounded, round_to(flat, low), None)):
            for key, expected in numpy_statistics(numbers, to).items():
                got = value[key]
                same = got == expected if isinstance(expected, dict) else close(got, expected)
                assert same, (shape, low, to, key, got, expected)

with open(folder + "wide.mlir", "w") as f:
    f.write(CAST.format(shape="3040x", low="f16", dims="0"))

# A column of a batch, which the step reads in place. Its elements are not next to each other.
with open(folder + "column.mlir", "w") as f:
    f.write("""
func.func @step(%w: tensor<64xf32> {amp.role = "parameter", amp.name = "w"},
                %x: tensor<64x3x5xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<64xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}) {
  %c = train.slice %x {offsets = array<i64: 0, 1, 2>, sizes = array<i64: 64, 1, 1>, strides = array<i64: 1, 1, 1>}
      : (tensor<64x3x5xf32>) -> tensor<64x1x1xf32>
  %v = train.reshape %c : (tensor<64x1x1xf32>) -> tensor<64xf32>
  %p = train.mul %v, %w : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %loss = train.reduce_sum %p {dims = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  return %w, %loss : tensor<64xf32>, tensor<f32>
}
""")
batch = (random.standard_normal((64, 3, 5)) * 2.0 ** random.integers(-20, 20, (64, 3, 5))).astype(np.float32)
np.savez(folder + "column.npz", x=batch)
np.savez(folder + "w.npz", w=np.ones(64, np.float32))
ok("--data", folder + "column.npz", "--init", folder + "w.npz", "--steps", 1, "--watch", "--watch-json",
   folder + "w.json", model=folder + "column.mlir")
with open(folder + "w.json") as f:
    (column,) = [v for v in json.load(f)["values"] if v["op"] == "train.slice"]
for key, expected in numpy_statistics(batch[:, 1, 2], None).items():
    assert column[key] == expected or close(column[key], expected), (key, column[key], expected)

# Training with --watch gives the same bits as without, whichever steps are
# sampled.
arrays = make_data()
np.savez(folder + "data.npz", **arrays)
common = ("--data", folder + "data.npz", "--batch-size", 10, "--steps", 12)
for precision in ("f32", "fp16", "bf16"):
    def train(name, *options):
        text = ok(*common, "--precision", precision, "--save", folder + name, "--metrics-csv",
                  folder + name + ".csv", *options)
        with np.load(folder + name) as state:
            state = {key: state[key].tobytes() for key in state}
        with open(folder + name + ".csv") as f:
            return text, state, f.read()

    _, state, metrics = train("plain.npz")
    for every, sampled in ((1, list(range(1, 13))), (5, [1, 6, 11])):
        text, watched_state, watched_metrics = train(
            "watched.npz", "--watch", "--watch-every", every, "--watch-json", folder + "w.json",
            "--watch-page", folder + "w.html")
        assert watched_state == state and watched_metrics == metrics, (precision, every)
        with open(folder + "w.json") as f:
            watched = json.load(f)
        assert watched["steps"] == sampled and watched["every"] == every, watched["steps"]
        parts = {v["part"] for v in watched["values"]}
        assert parts == {"forward", "backward", "update"}, parts
        assert all(len(v["series"]["nan"]) == len(sampled) for v in watched["values"])
        assert sorted(watched["ranked"]) == list(range(len(watched["values"])))
        assert f"in {len(sampled)} steps, {precision}: 0 not finite" in text, text
        with open(folder + "w.html") as f:
            page = f.read()
        start = page.index('id="data">') + len('id="data">')
        assert json.loads(page[start : page.index("</script>", start)]) == watched
        assert "http://" not in page.replace("http://www.w3.org/2000/svg", ""), "the page needs another file"

# A long run has a series of bounded length. A point has the counts of several steps.
ok(*common[:4], "--steps", 1100, "--quiet", "--precision", "bf16", "--watch", "--watch-json", folder + "long.json")
with open(folder + "long.json") as f:
    long = json.load(f)
assert (long["sampled"], long["merged"], len(long["steps"])) == (1100, 4, 275), long["steps"]
assert long["steps"][:3] == [1, 5, 9] and long["steps"][-1] == 1097, long["steps"]
for value in long["values"]:
    for key in ("zero", "underflow"):
        assert sum(value["series"][key]) == value[key], (value["name"], key)
    assert max(value["series"]["largest"]) == value["largest"], value["name"]

# Magnitudes that are not finite are the largest ones of the table.
for number, text in ((np.inf, "inf"), (np.nan, "nan")):
    np.savez(folder + "w.npz", w=np.full(3040, number, np.float32))
    result = run("--data", folder + "x.npz", "--init", folder + "w.npz", "--steps", 1, "--batch-size", 4, "--watch",
                 model=MODEL.replace("cast", "wide"))
    line = next(line for line in result.stdout.splitlines() if 'argument "w"' in line)
    assert line.split()[4] == text, line

# A part of the values, and the module that runs.
ok(*common, "--precision", "fp16", "--watch=train.linear", "--watch-json", folder + "w.json")
with open(folder + "w.json") as f:
    names = [v["name"] for v in json.load(f)["values"]]
assert names and all("train.linear" in name and "linear.mlir:13:" in name for name in names), names
assert "amp.statistics" in ok(*common, "--precision", "fp16", "--watch", "--print-ir")

# Values that 16 bits store, or a cast to 16 bits, precede those that stay f32. The guard of an update is not its operand.
ok(*common, "--precision", "fp16", "--watch", "--watch-json", folder + "w.json")
with open(folder + "w.json") as f:
    watched = json.load(f)
ranked = [watched["values"][number] for number in watched["ranked"]]
stays = ["to" not in v and v["type"] == "f32" for v in ranked]
assert stays == sorted(stays) and len(set(stays)) == 2, [v["name"] for v in ranked]
(update,) = [v for v in watched["values"] if v["name"].startswith("train.sgd#0 ")]
operands = {watched["values"][number]["name"].split(" /")[0] for number in update["operands"]}
assert operands == {'argument "weight"', 'argument "velocity"', 'argument "lr"', "amp.unscale#0"}, operands

fails("'train.conv2d' selects no value to watch, expected a regular expression", *common, "--watch=train.conv2d")
fails("wrong value of --watch: '(', expected a regular expression", *common, "--watch=(")
fails("--watch-every must be at least 1, got 0", *common, "--watch", "--watch-every", 0)
fails("--watch-json needs --watch", *common, "--watch-json", folder + "w.json")
fails("--watch is for a single run, without --compare", *common, "--watch", "--compare", "f32,fp16")
fails("--watch is for a single run, without --seeds", *common, "--watch", "--seeds", 2)
fails("would overwrite", *common, "--watch", "--watch-json", folder + "data.npz")
