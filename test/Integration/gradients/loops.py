# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The gradients of loops against central differences in f64, with stacks and
# with recomputation: carried values, values from outside, slices that
# iterations read and write, other bounds and steps, loops in loops, and loops
# that run no iteration.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/../../Conversion/Inputs

import os
import re
import sys

import numpy as np

folder = sys.argv[1]
sys.path.insert(0, sys.argv[2])
from oracle import Step  # noqa: E402

V, S, M = "tensor<3xf64>", "tensor<4x3xf64>", "tensor<3x3xf64>"
BINARY = f"({V}, {V}) -> {V}"
READ = "[1, 3] [1, 1]"

# Each program maps %x, %w : V, %s : S and %m : M to %loss0 : V.
PROGRAMS = {
    "carried": f"""
      %loss0 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x) -> ({V}) {{
        %b = train.mul %a, %w : {BINARY}
        %c = train.tanh %b : {V}
        %d = train.add %c, %w : {BINARY}
        scf.yield %d : {V}
      }}""",
    "reads": f"""
      %loss0 = scf.for %i = %c1 to %c4 step %c2 iter_args(%a = %x) -> ({V}) {{
        %p = tensor.extract_slice %s[%i, 0] {READ} : {S} to {V}
        %b = train.mul %a, %p : {BINARY}
        %c = train.sin %b : {V}
        scf.yield %c : {V}
      }}""",
    "writes": f"""
      %e = tensor.empty() : {S}
      %l:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x, %t = %e) -> ({V}, {S}) {{
        %p = tensor.extract_slice %s[%i, 0] {READ} : {S} to {V}
        %b = train.mul %a, %p : {BINARY}
        %t2 = tensor.insert_slice %b into %t[%i, 0] {READ} : {V} into {S}
        scf.yield %b, %t2 : {V}, {S}
      }}
      %q = train.square %l#1 : {S}
      %loss0 = train.reduce_sum %q {{dims = array<i64: 0>}} : ({S}) -> {V}""",
    "overwrites": f"""
      %l = scf.for %i = %c0 to %c2 step %c1 iter_args(%t = %s) -> ({S}) {{
        %p = tensor.extract_slice %t[%i, 0] {READ} : {S} to {V}
        %b = train.mul %p, %w : {BINARY}
        %j = arith.addi %i, %c1 : index
        %o = tensor.extract_slice %t[%j, 0] {READ} : {S} to {V}
        %c = train.mul %b, %o : {BINARY}
        %t2 = tensor.insert_slice %c into %t[%j, 0] {READ} : {V} into {S}
        scf.yield %t2 : {S}
      }}
      %loss0 = train.reduce_sum %l {{dims = array<i64: 0>}} : ({S}) -> {V}""",
    "swaps": f"""
      %l:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %w) -> ({V}, {V}) {{
        %c = train.mul %a, %b : {BINARY}
        scf.yield %b, %c : {V}, {V}
      }}
      %loss0 = train.sub %l#0, %l#1 : {BINARY}""",
    "nested": f"""
      %loss0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> ({V}) {{
        %p = tensor.extract_slice %s[%i, 0] {READ} : {S} to {V}
        %r = scf.for %j = %c0 to %c2 step %c1 iter_args(%b = %a) -> ({V}) {{
          %k = arith.addi %i, %j : index
          %o = tensor.extract_slice %s[%k, 0] {READ} : {S} to {V}
          %c = train.mul %b, %o : {BINARY}
          %d = train.tanh %c : {V}
          %e = train.add %d, %p : {BINARY}
          scf.yield %e : {V}
        }}
        %f = train.mul %r, %w : {BINARY}
        scf.yield %f : {V}
      }}""",
    "product": f"""
      %loss0 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x) -> ({V}) {{
        %r = train.reshape %a : ({V}) -> tensor<1x3xf64>
        %y = train.matmul %r, %m : (tensor<1x3xf64>, {M}) -> tensor<1x3xf64>
        %z = train.reshape %y : (tensor<1x3xf64>) -> {V}
        %c = train.tanh %z : {V}
        scf.yield %c : {V}
      }}""",
    "twice": f"""
      %l = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> ({V}) {{
        %b = train.mul %a, %w : {BINARY}
        scf.yield %b : {V}
      }}
      %k = train.mul %l, %w : {BINARY}
      %loss0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %k) -> ({V}) {{
        %b = train.add %a, %l : {BINARY}
        %c = train.sin %b : {V}
        scf.yield %c : {V}
      }}""",
    "constant": f"""
      %l:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %n = %one) -> ({V}, tensor<f64>) {{
        %b = train.mul %a, %n : ({V}, tensor<f64>) -> {V}
        %k = train.add %n, %n : (tensor<f64>, tensor<f64>) -> tensor<f64>
        %c = train.mul %b, %w : {BINARY}
        scf.yield %c, %k : {V}, tensor<f64>
      }}
      %loss0 = train.mul %l#0, %l#1 : ({V}, tensor<f64>) -> {V}""",
    "empty": f"""
      %l = scf.for %i = %c3 to %c3 step %c1 iter_args(%a = %x) -> ({V}) {{
        %b = train.mul %a, %w : {BINARY}
        scf.yield %b : {V}
      }}
      %loss0 = train.mul %l, %w : {BINARY}""",
}
NAMES = {"x": V, "w": V, "s": S, "m": M}
SHAPES = {"x": (3,), "w": (3,), "s": (4, 3), "m": (3, 3)}


def write(step, text, values):
    """Adds a program to `step` and returns its loss."""
    for index in range(5):
        step.line(f"%c{index} = arith.constant {index} : index")
    step.line("%one = train.constant dense<1.5> : tensor<f64>")
    text = re.sub(r"%(\w+)", lambda m: values.get(m[1], m[0]), text)
    for line in text.strip().splitlines():
        step.line(line.strip())
    return step.op(f"train.reduce_sum %loss0 {{dims = array<i64: 0>}} : ({V}) -> tensor<f64>", "")


def run(name, text, arrays, wrt, options):
    """The loss, and the gradients by `wrt`."""
    step = Step()
    values = {key: step.input((array, "f64")) for key, array in arrays.items()}
    loss = write(step, text, values)
    step.output(loss, (), "f64")
    if wrt:
        types = ", ".join(NAMES[key] for key in wrt)
        found = step.op(
            f"train.gradients {loss} wrt({', '.join(values[key] for key in wrt)})"
            f" : (tensor<f64>, {types}) -> ({types})",
            *wrt,
        )
        for gradient, key in zip([found] if isinstance(found, str) else found, wrt):
            step.output(gradient, SHAPES[key], "f64")
    step.compile(os.path.join(folder, name), f"--train-autodiff{options} --canonicalize --cse --amp-cpu-pipeline")
    return step


def check(name, text):
    rng = np.random.default_rng(1)
    arrays = {key: rng.uniform(0.4, 1.2, SHAPES[key]) for key in NAMES}
    wrt = [key for key in NAMES if re.search(rf"%{key}\b", text)]
    for mode in ("", "=loop-values=recompute"):
        step = run(f"{name}{len(mode)}", text, arrays, wrt, mode)
        outputs = [array for array, _ in step.call()[1]]
        gradients = dict(zip(wrt, outputs[1:]))
        for key in wrt:
            flat = arrays[key].reshape(-1)
            for index in range(flat.size):
                losses = []
                for sign in (1, -1):
                    old = flat[index]
                    flat[index] = old + sign * 1e-5
                    losses.append(float(step.call()[1][0][0]))
                    flat[index] = old
                difference = (losses[0] - losses[1]) / 2e-5
                ours = gradients[key].reshape(-1)[index]
                assert abs(ours - difference) < 1e-8 * max(1, abs(difference)), (
                    name, mode, key, index, ours, difference)
    print(f"{name}: {', '.join(wrt)}")


for name, text in PROGRAMS.items():
    check(name, text)
