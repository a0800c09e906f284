# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The scale and the counters that StableHLO computes for `scaler=<framework>`
# equal an independent model of that framework's machine, bit for bit,
# over random patterns of overflows. The StableHLO is interpreted here: an update
# consists of operations on scalars, each of which numpy has.
#
# RUN: %python %s %S/Inputs

import re
import subprocess
import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
from scalers import DEFAULTS, MODELS  # noqa: E402

STEPS = 300
TYPES = {"f32": np.float32, "i32": np.int32, "i1": np.bool_}
STEP = """
func.func @step(%w: tensor<f32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<f32> {amp.updates = "w"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %g = "foreign.backward"(%w, %seed) {amp.gradient_of = ["w"]} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}
"""
UPDATE = """
func.func @update(%s: tensor<f32>, %g: tensor<i32>, %h: tensor<i32>, %f: tensor<i1>)
    -> (tensor<f32>, tensor<i32>, tensor<i32>) {{
  %r:3 = amp.update_scale %s, %g, %h, %f {}
  return %r#0, %r#1, %r#2 : tensor<f32>, tensor<i32>, tensor<i32>
}}
"""
COMPARE = {"GT": np.greater, "GE": np.greater_equal, "EQ": np.equal, "LT": np.less}
BINARY = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum,
          "minimum": np.minimum, "and": np.logical_and}


def opt(text, *options):
    result = subprocess.run(["amp-opt", "-", "--allow-unregistered-dialect", *options], input=text,
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def number(text, type):
    if text.startswith("0x"):
        return np.uint32(int(text, 16)).view(np.float32)
    return TYPES[type]({"true": True, "false": False}.get(text, text))


class Update:
    """The StableHLO of an amp.update_scale with these attributes."""

    def __init__(self, attributes):
        text = opt(UPDATE.format(attributes), "--convert-amp-to-stablehlo")
        self.arguments = re.findall(r"(%\w+): tensor", text.split("->")[0])
        self.operations = re.findall(r'(%\w+) = "stablehlo\.(\w+)"\(([^)]*)\)(.*) : .*tensor<(\w+)>$', text, re.M)
        assert text.count(" = ") - text.count("#stablehlo<") // 2 >= len(self.operations) > 8, text
        self.results = re.search(r"return (.*) : ", text).group(1).split(", ")

    def __call__(self, *state):
        values = dict(zip(self.arguments, state))
        for result, name, operands, attributes, type in self.operations:
            inputs = [values[operand] for operand in operands.split(", ") if operand]
            if name == "constant":
                value = number(re.search(r"dense<([^>]*)>", attributes).group(1), type)
            elif name == "compare":
                value = COMPARE[re.search(r"comparison_direction (\w+)", attributes).group(1)](*inputs)
            elif name == "select":
                value = inputs[1] if inputs[0] else inputs[2]
            else:
                with np.errstate(over="ignore"):
                    value = BINARY[name](*inputs)
            values[result] = TYPES[type](value)
        return [values[name] for name in self.results]


rng = np.random.default_rng(19)
for name, model in MODELS.items():
    for interval, hysteresis in ((1, DEFAULTS[name][2]), (3, DEFAULTS[name][2]), (2, 3)):
        if hysteresis == 3 and name not in ("deepspeed", "megatron", "paddle"):
            continue
        text = opt(STEP, f"--amp-insert-loss-scaling=scaler={name} growth-interval={interval} hysteresis={hysteresis}")
        attributes = re.search(r"amp\.update_scale [^{\n]*(\{.*\})?", text).group(1)
        update = Update(attributes)
        state = [np.float32(DEFAULTS[name][0]), np.int32(0), np.int32(hysteresis)]
        reference = model(state[0], 0, interval, hysteresis)
        for count in range(STEPS):
            finite = np.bool_(rng.random() < (0.9 if count < STEPS // 2 else 0.5))
            state = update(*state, finite)
            with np.errstate(over="ignore"):
                reference.step(bool(finite))
            if reference.double and not 2.0**-126 <= reference.scale < 2.0**128:
                break
            assert state == [np.float32(reference.scale), reference.tracker, reference.hysteresis], (
                name, interval, hysteresis, count, state)
        assert count > 20, (name, count)

# `check=both` asks the unscaled gradients to be finite too.
unscale = """
func.func @unscale(%g: tensor<4xf16>, %s: tensor<f32>) -> tensor<i1> {{
  %u, %finite = amp.unscale %g by %s {} : (tensor<4xf16>) -> (tensor<4xf32>)
  return %finite : tensor<i1>
}}
"""
checks = [opt(unscale.format(check), "--convert-amp-to-stablehlo").count('"stablehlo.is_finite"')
          for check in ("", "strict")]
assert checks == [1, 2], checks
