# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# --search: on three networks, the found policy costs less than the presets
# whose loss is within the bound, its file gives the same run, and over five
# seeds its loss on held-out data equals the loss in f32.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %models %digits

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from runner import fails, make_data, ok

folder, models, digits = sys.argv[1] + "/", sys.argv[2] + "/", sys.argv[3]
LINE = re.compile(r"^ *([0-9.e+]+) +([0-9.e+-]+|nan|inf) +(?:([0-9.e+-]+)%|-)  (.*?)(  <- .*)?$", re.M)
N, H = 16, 32


def write_network(name, middle, middle_size=H):
    """A network with two linear layers around `middle`, which maps %h to %m."""
    with open(folder + name, "w") as f:
        f.write(f"""func.func @step(
    %w1: tensor<{N}x{H}xf32> {{amp.role = "parameter", amp.name = "w1", amp.init = #amp.init<xavier_uniform>}},
    %g: tensor<{H}xf32> {{amp.role = "model_state", amp.name = "g", amp.init = #amp.init<ones>}},
    %b: tensor<{H}xf32> {{amp.role = "model_state", amp.name = "b", amp.init = #amp.init<zeros>}},
    %w2: tensor<{H}x{N}xf32> {{amp.role = "parameter", amp.name = "w2", amp.init = #amp.init<xavier_uniform>}},
    %lr: tensor<f32> {{amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.01>}},
    %x: tensor<?x{N}xf32> {{amp.role = "batch", amp.name = "x"}},
    %y: tensor<?x{N}xf32> {{amp.role = "batch", amp.name = "y"}})
    -> (tensor<{N}x{H}xf32> {{amp.updates = "w1"}}, tensor<{H}x{N}xf32> {{amp.updates = "w2"}},
        tensor<{H}xf32> {{amp.updates = "g"}}, tensor<{H}xf32> {{amp.updates = "b"}},
        tensor<f32> {{amp.metric = "loss"}}) {{
  %h = train.linear %x, %w1 : (tensor<?x{N}xf32>, tensor<{N}x{H}xf32>) -> tensor<?x{H}xf32>
  {middle}
  %out = train.linear %m, %w2 : (tensor<?x{H}xf32>, tensor<{H}x{N}xf32>) -> tensor<?x{N}xf32>
  %loss = train.mse %out, %y : (tensor<?x{N}xf32>, tensor<?x{N}xf32>) -> tensor<f32>
  %d1, %d2 = train.gradients %loss wrt(%w1, %w2) : (tensor<f32>, tensor<{N}x{H}xf32>, tensor<{H}x{N}xf32>) -> (tensor<{N}x{H}xf32>, tensor<{H}x{N}xf32>)
  %u1 = train.sgd %w1, %d1, %lr : (tensor<{N}x{H}xf32>, tensor<{N}x{H}xf32>, tensor<f32>) -> tensor<{N}x{H}xf32>
  %u2 = train.sgd %w2, %d2, %lr : (tensor<{H}x{N}xf32>, tensor<{H}x{N}xf32>, tensor<f32>) -> tensor<{H}x{N}xf32>
  return %u1, %u2, %g, %b, %loss : tensor<{N}x{H}xf32>, tensor<{H}x{N}xf32>, tensor<{H}xf32>, tensor<{H}xf32>, tensor<f32>
}}
""")
    return folder + name


def search(model, *options, bound, precision):
    """The lines of the table as (cost, loss, difference, label), and that of the
    found policy."""
    text = ok(*options, "--precision", precision, "--search", folder + "found.yaml", "--search-bound", bound,
              "--search-presets", "--quiet", model=model)
    print(text)
    lines = [(float(cost), float(loss), abs(float(difference or "inf")) / 100, label, bool(found))
             for cost, loss, difference, label, found in LINE.findall(text)]
    assert sum(line[4] for line in lines) == 1, text
    return lines, next(line for line in lines if line[4])


def check(model, *options, precision, bound=0.01):
    """Searches, and runs the found policy. Returns the presets with a loss
    within the bound, and the found line."""
    lines, found = search(model, *options, bound=bound, precision=precision)
    assert found[2] <= bound * 1.001, found
    presets = [line for line in lines if line[3].startswith("preset ")]
    assert len(presets) >= 8, lines
    # The file gives the run of the search.
    policy = ("--precision", precision, "--pipeline=policy=" + folder + "found.yaml")
    ok(*options, *policy, "--quiet", "--metrics-csv", folder + "run.csv", model=model)
    with open(folder + "run.csv") as f:
        header, *rows = (line.rstrip("\n").split(",") for line in f)
    losses = [float(row[header.index("loss")]) for row in rows]
    late = np.mean(losses[-max(1, len(losses) // 4):])
    assert abs(late - found[1]) <= 1e-4 * abs(late), (late, found)
    # Neither a target nor the size of the batch changes the assignment.
    written = ok(*policy, "--print-ir", model=model)
    other = ok(*policy[:2], policy[2] + " target=a100", "--print-ir", model=model)
    assert written == other, model
    f32 = next(line for line in lines if line[3] == "f32")
    return [line for line in presets if line[2] <= bound], found, f32


rng = np.random.default_rng(0)


def write_data(name, scale, targets):
    x = rng.standard_normal((256, N))
    y = targets(x)
    np.savez(folder + name, x=np.float32(scale * x), y=np.float32(y))
    return ("--data", folder + name, "--batch-size", 32, "--steps", 16)


# Squares are f32 by default, since nothing bounds them. Their measured values
# fit, so the found policy computes in fp16 throughout.
squares = write_network("squares.mlir", f"%m = train.square %h : tensor<?x{H}xf32>")
data = write_data("squares.npz", 1.0, lambda x: x * x[:, :1])
equal, found, f32 = check(squares, *data, precision="fp16")
assert found[0] < f32[0], (found, f32)
assert any(line[3] == "preset default" for line in equal), equal
assert all(found[0] < line[0] for line in equal), (found, equal)

# The first product leaves the range of fp16. Each preset skips every step, and
# the found policy keeps that product in f32.
units = write_network("units.mlir", f"""%m, %mean, %rstd = train.layer_norm %h, %g, %b {{epsilon = 1.0e-5 : f64}} : (tensor<?x{H}xf32>, tensor<{H}xf32>, tensor<{H}xf32>) -> (tensor<?x{H}xf32>, tensor<?xf32>, tensor<?xf32>)""")
data = write_data("units.npz", 3e5, lambda x: np.tanh(x))
equal, found, f32 = check(units, *data, precision="fp16")
assert [line[3] for line in equal] == [], equal
with open(folder + "found.yaml") as f:
    types = f.read()
assert "'train.linear units.mlir:12:8': [f32, f32]" in types, types

# The default is the assignment of least cost here. No other preset costs less.
mlp = models + "digits-mlp.mlir"
equal, found, f32 = check(mlp, "--data", digits, "--batch-size", 64, "--steps", 12, precision="bf16")
assert len(equal) >= 4 and found[0] < f32[0], (equal, found, f32)
for line in equal:
    assert found[0] <= line[0] if line[3] == "preset default" else found[0] < line[0], (found, line)


def evaluate(*options):
    text = ok("--data", digits, "--epochs", 1, "--seeds", 5, "--eval", "--quiet", *options, model=mlp)
    match = re.search(r"^eval loss: ([0-9.e+-]+) \+- ([0-9.e+-]+)$", text, re.M)
    return float(match[1]), float(match[2])


wide, deviation = evaluate("--precision", "f32")
low, _ = evaluate("--precision", "bf16", "--pipeline=policy=" + folder + "found.yaml")
assert abs(low - wide) <= 2 * deviation, (low, wide, deviation)

np.savez(folder + "data.npz", **make_data())
linear = ("--data", folder + "data.npz", "--batch-size", 10, "--steps", 4)
given = ("--precision", "bf16", "--search", folder + "found.yaml")
fails("--search needs --precision=fp16 or --precision=bf16", *linear, "--search", folder + "found.yaml")
fails("--search needs --precision=fp16 or --precision=bf16", *linear, "--precision", "f32", *given[2:])
fails("--search needs the name of a file", *linear, "--precision", "bf16", "--search=")
fails("--search needs --steps or --epochs", *linear[:4], *given)
fails("--search and --watch exclude each other", *linear, *given, "--watch")
fails("--search is for a single run", *linear, *given, "--seeds", 2)
fails("--search-bound must be positive, got 0", *linear, *given, "--search-bound", 0)
fails("--search-presets needs --search", *linear, "--precision", "bf16", "--search-presets")
fails("--search is for strategy=optimal, got strategy=grappler", *linear, *given,
      "--pipeline=strategy=grappler")
