# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Initial values against the published formulas, and Philox against the vectors
# of its reference implementation.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import math
import subprocess
import sys

import numpy as np

out = sys.argv[1] + "/init.npz"


def init(seed, *specs):
    subprocess.run(["amp-execution-test", "init", out, str(seed), *specs], check=True)
    with np.load(out) as f:
        return {name: f[name] for name in f}


def fails(message, *specs):
    result = subprocess.run(
        ["amp-execution-test", "init", out, "0", *specs], capture_output=True, text=True
    )
    assert result.returncode == 1 and message in result.stderr, result


# Known answers of the Random123 distribution (kat_vectors, philox4x32 10).
for counter_and_key, words in (
    ("00000000 " * 6, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff " * 6, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (
        "243f6a88 85a308d3 13198a2e 03707344 a4093822 299f31d0",
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
):
    result = subprocess.run(
        ["amp-execution-test", "philox", *counter_and_key.split()],
        capture_output=True,
        text=True,
    )
    assert result.stdout.split() == words.split(), result

# Constants.
s = init(
    3,
    "z:f32:3x4:zeros",
    "o:f16:5:ones",
    "c:f32:scalar:constant=65536",
    "i:i32:scalar:zeros",
    "r:i64:2:rng_state",
    "k:bf16:4x4:copy_of=w",
    "w:f32:4x4:normal",
    "kk:f16:4x4:copy_of=k",
)
assert (s["z"] == 0).all() and s["z"].shape == (3, 4)
assert (s["o"] == 1).all() and s["o"].dtype == np.float16
assert s["c"] == 65536 and s["c"].shape == ()
assert s["i"] == 0 and s["i"].dtype == np.int32
assert (s["r"] == [3, 0]).all()
bits = s["w"].view(np.uint32)
assert (s["k"] == ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16)).all()
widened = (s["k"].astype(np.uint32) << 16).view(np.float32)
assert (s["kk"] == widened.astype(np.float16)).all()

# Values depend on the seed and the name, not on the order or the company; a
# lower type is the rounded f32 value.
a = init(7, "x:f32:10x10:normal", "y:f32:10x10:normal")
b = init(7, "y:f32:10x10:normal", "q:f32:3:uniform", "x:f32:10x10:normal")
assert (a["x"] == b["x"]).all() and (a["y"] == b["y"]).all()
assert (a["x"] != a["y"]).all()
c = init(8, "x:f32:10x10:normal")
assert (a["x"] != c["x"]).all()
d = init(7, "x:f16:10x10:normal")
assert (d["x"] == a["x"].astype(np.float16)).all()
e = init(7, "x:f32:10x11:normal")
assert (e["x"].ravel()[:100] == a["x"].ravel()).all()

# Distributions: bounds, mean, deviation and the Kolmogorov-Smirnov distance,
# whose 99.9 % critical value is 1.95 / sqrt(n).
shape, fan_in, fan_out = "3x3x40x60", 3 * 3 * 40, 3 * 3 * 60
n = 3 * 3 * 40 * 60
gain = math.sqrt(2)


def distance(values, cdf):
    x = np.sort(values.ravel().astype(np.float64))
    ranks = np.arange(1, len(x) + 1) / len(x)
    return np.abs(np.vectorize(cdf)(x) - ranks).max() * math.sqrt(len(x))


def is_uniform(values, low, high):
    assert values.min() >= np.float32(low) and values.max() <= np.float32(high)
    assert distance(values, lambda x: (x - low) / (high - low)) < 1.95


def is_normal(values, mean, deviation):
    cdf = lambda x: 0.5 * (1 + math.erf((x - mean) / deviation / math.sqrt(2)))
    assert distance(values, cdf) < 1.95


s = init(
    11,
    f"u:f32:{shape}:uniform=-0.5,2",
    f"n:f32:{shape}:normal=1,0.25",
    f"ku:f32:{shape}:kaiming_uniform={gain}",
    f"kn:f32:{shape}:kaiming_normal={gain}",
    f"xu:f32:{shape}:xavier_uniform=1",
    f"xn:f32:{shape}:xavier_normal=1",
)
is_uniform(s["u"], -0.5, 2)
is_normal(s["n"], 1, 0.25)
bound = gain * math.sqrt(3 / fan_in)
is_uniform(s["ku"], -bound, bound)
is_normal(s["kn"], 0, gain / math.sqrt(fan_in))
bound = math.sqrt(6 / (fan_in + fan_out))
is_uniform(s["xu"], -bound, bound)
is_normal(s["xn"], 0, math.sqrt(2 / (fan_in + fan_out)))
# Neighbours are uncorrelated: |r| sqrt(n) is below 3.3 with 99.9 %.
for name in ("u", "n"):
    x = s[name].ravel()
    for lag in (1, 2, 3, 4):
        assert abs(np.corrcoef(x[:-lag], x[lag:])[0, 1]) * math.sqrt(n) < 3.3

# Rules that do not fit.
fails("needs at least two non-empty dimensions", "b:f32:10:kaiming_uniform=1")
fails("needs a float type", "b:i32:10x10:normal")
fails("expected 2xi64", "b:i32:2:rng_state")
fails("which is not a state with a value of its own", "b:f32:2:copy_of=a")
fails("which is not a state with a value of its own", "b:f32:2:copy_of=b")
fails("one is 2xf32 and the other 3xf32", "b:f32:2:copy_of=a", "a:f32:3:ones")
fails("one is 2xf32 and the other 2xi32", "b:f32:2:copy_of=a", "a:i32:2:ones")
