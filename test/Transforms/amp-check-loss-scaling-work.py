# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The work of amp-check-loss-scaling is linear in the depth of calls, although
# each function is called twice, and quadratic in the depth of loops. The bounds
# are on the number of visited operations in its remark. A chain of guards, each of
# which reads the last one twice, ends too.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import pathlib
import re
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
T, S = "tensor<4xf32>", "tensor<f32>"
HEAD = f"""func.func @step(%x: {T}, %s: {S} {{amp.name = "loss_scale", amp.role = "scaler_state"}},
    %lb: index, %ub: index, %st: index) -> {T} {{
  %seed = amp.gradient_seed "loss" : {S}
  %sc = amp.scale %seed by %s : {S}
  %g = train.mul %x, %sc : ({T}, {S}) -> {T}
"""
TAIL = f"""  %u, %finite = amp.unscale %r0 by %s : ({T}) -> ({T})
  return %u : {T}
}}
"""


def calls(depth, body):
    """Functions that call the next one twice; `body` is the last."""
    text = f"func.func private @f0(%g: {T}, %x: {T}, %s: {S}) -> {T} {{\n{body}}}\n"
    for i in range(1, depth + 1):
        call = f"call @f{i - 1}({{}}, %x, %s) : ({T}, {T}, {S}) -> {T}"
        text += (f"func.func private @f{i}(%g: {T}, %x: {T}, %s: {S}) -> {T} {{\n"
                 f"  %0 = {call.format('%g')}\n  %1 = {call.format('%0')}\n  return %1 : {T}\n}}\n")
    return text + HEAD + f"  %r0 = call @f{depth}(%g, %x, %s) : ({T}, {T}, {S}) -> {T}\n" + TAIL


def loops(depth):
    """Nested loops, each of which carries the sum of the one within."""
    text, carried = HEAD + f"  %z = arith.constant dense<0.0> : {T}\n", "%z"
    for i in range(depth):
        text += f"  %r{i} = scf.for %i{i} = %lb to %ub step %st iter_args(%a{i} = {carried}) -> {T} {{\n"
        carried = f"%a{i}"
    text += f"  %sum = arith.addf {carried}, %g : {T}\n  scf.yield %sum : {T}\n  }}\n"
    for i in range(depth - 1, 0, -1):
        text += f"  scf.yield %r{i} : {T}\n  }}\n"
    return text + TAIL


def guards(depth):
    """Updates one after another, each under two flags that select one by one."""
    b, i = "tensor<i1>", "tensor<i32>"
    state = ("w", T, "parameter"), ("loss_scale", S, "scaler_state"), ("t", i, "scaler_state"), ("h", i, "scaler_state")
    arguments = ", ".join(f'%{name}: {type} {{amp.name = "{name}", amp.role = "{role}"}}' for name, type, role in state)
    results = ", ".join(f'{type} {{amp.updates = "{name}"}}' for name, type, _ in state)
    text = (f"func.func @step({arguments}, %x: {T}, %y: {T}) -> ({results}) {{\n"
            f'  %seed = amp.gradient_seed "loss" : {S}\n  %sc = amp.scale %seed by %loss_scale : {S}\n')
    for name in "xy":
        text += (f"  %g{name} = train.mul %{name}, %sc : ({T}, {S}) -> {T}\n"
                 f"  %u{name}, %f{name} = amp.unscale %g{name} by %loss_scale : ({T}) -> ({T})\n"
                 f"  %c{name} = tensor.extract %f{name}[] : {b}\n")
    text += f"  %all = arith.andi %fx, %fy : {b}\n  %n, %nt, %nh = amp.update_scale %loss_scale, %t, %h, %all\n"
    last = "%w"
    for at in range(depth):
        text += (f"  %d{at} = arith.subf {last}, %ux : {T}\n  %e{at} = arith.subf %d{at}, %uy : {T}\n"
                 f"  %i{at} = arith.select %cx, %e{at}, {last} : {T}\n  %o{at} = arith.select %cy, %i{at}, {last} : {T}\n")
        last = f"%o{at}"
    return text + f"  return {last}, %n, %nt, %nh : {T}, {S}, {i}, {i}\n}}\n"


def run(name, text, *options):
    path = folder / name
    path.write_text(text)
    return subprocess.run(["amp-opt", path, "--amp-check-loss-scaling", "-o", "/dev/null", *options],
                          capture_output=True, text=True, timeout=120)


def visited(name, text):
    result = run(name, text, "--remarks-filter=amp")
    assert result.returncode == 0, result.stderr[:2000]
    return int(re.search(r"VisitedOperations=(\d+)", result.stderr).group(1))


linear = f"  %0 = train.mul %g, %x : ({T}, {T}) -> {T}\n  return %0 : {T}\n"
shallow, deep = (visited(f"calls{depth}.mlir", calls(depth, linear)) for depth in (12, 24))
assert shallow <= 12 * 12 and deep <= 2.2 * shallow, (shallow, deep)

shallow, deep = (visited(f"loops{depth}.mlir", loops(depth)) for depth in (20, 40))
assert shallow <= 3 * 20**2 and deep <= 4.4 * shallow, (shallow, deep)

# The check inlines the callees that a guard depends on, up to a limit.
checked = (f"  %u, %finite = amp.unscale %g by %s : ({T}) -> ({T})\n"
           f"  %again = train.mul %u, %s : ({T}, {S}) -> {T}\n  return %again : {T}\n")
assert visited("checked.mlir", calls(4, checked)) <= 400
result = run("checked.mlir", calls(24, checked))
assert ("have more than 262144 operations where they are called, expected fewer: call a function in a loop instead of "
        "several times, or unscale the gradients outside of the functions") in result.stderr, result.stderr[:2000]

# Exponents do not wrap around to small ones.
squares = "".join(f"  %q{i + 1} = train.square %q{i} : {T}\n" for i in range(70)).replace("%q0 ", "%g ")
result = run("squares.mlir", HEAD + squares + f"  %r0 = train.add %q70, %x : ({T}, {T}) -> {T}\n" + TAIL)
assert "operand 0 is multiplied by loss_scale^1073741824, but operand 1 by 1" in result.stderr, result.stderr[:2000]

# Each guard doubles the number of paths to the parameter.
result = run("guards.mlir", guards(60))
assert result.returncode == 0, result.stderr[:2000]
