# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The preset knows every operation that StableHLO publishes, and each one between
# two products becomes low or stays f32 as its list and its body say. It says what
# becomes of a loss scale in each that commutes with a factor.
#
# RUN: %python %s amp-opt %S/Inputs/stablehlo-ops.txt
"""Usage: op-list.py <amp-opt> <names>"""

import pathlib
import re
import subprocess
import sys

# Operations with regions: their bodies, and whether these may be low.
BODIES = {
    "reduce": (("maximum", True), ("minimum", True), ("add", False), ("multiply", False), ("divide", False)),
    "reduce_window": (("maximum", True), ("add", False), ("subtract", False)),
    "select_and_scatter": (("compare", True), ("add", False), ("multiply", False)),
    "scatter": (("maximum", True), ("add", False), ("divide", False)),
    "sort": (("compare", True), ("add", False)),
    "while": (("add", False),),
    "if": (("add", False),),
    "case": (("add", False),),
    "map": (("add", False),),
}  # fmt: skip
# Not between two products in a function: terminators.
ELSEWHERE = {"return"}
# No factor passes through these, or nobody can tell.
NONLINEAR = set(
    """after_all and async_done async_start batch_norm_grad batch_norm_inference
    batch_norm_training bitcast_convert ceil cholesky composite cosine count_leading_zeros
    create_token custom_call dynamic_conv dynamic_iota exponential exponential_minus_one floor
    get_tuple_element infeed iota log log_plus_one logistic not or outfeed partition_id popcnt
    recv replica_id return rng rng_bit_generator round_nearest_afz round_nearest_even send shift_left
    shift_right_arithmetic shift_right_logical sine tan tanh tuple unary_einsum uniform_dequantize
    uniform_quantize xor""".split()
)


def lists(amp_opt):
    text = subprocess.run(
        [amp_opt, "--amp-print-policy=stablehlo"], capture_output=True, text=True, check=True
    ).stdout
    found, linear, intervals, current = {}, set(), set(), None
    for line in text.splitlines():
        if key := re.match(r"(\w+):$", line):
            current = key[1]
        elif (entry := re.match(r"  - '?stablehlo\.([\w-]+)(=.*)?$", line)) and current:
            rules = {"linear": linear, "intervals": intervals}.get(current)
            assert entry[1] not in (found if rules is None else rules), f"{entry[1]} is in two lists"
            if rules is None:
                found[entry[1]] = current
            else:
                rules.add(entry[1])
    return found, linear


def function(index, name, body):
    a = "tensor<4x4xf32>"
    operands, types = ("", "") if name == "constant" else ("%0, %s", f"{a}, {a}")
    attributes = f"<{{value = dense<1.5> : {a}}}> " if name == "constant" else ""
    region = ""
    if body:
        s = "tensor<f32>"
        region = (
            f" ({{\n^bb0(%p: {s}, %q: {s}):\n"
            f'  %r = "stablehlo.{body}"(%p, %q) : ({s}, {s}) -> {s}\n'
            f'  "stablehlo.return"(%r) : ({s}) -> ()\n}})'
        )
    # Two values, because an operation that reads one value twice may be a square.
    return f"""
func.func @f{index}(%a: {a}, %b: {a}) -> {a} {{
  %0 = "stablehlo.dot_general"(%a, %a) : ({a}, {a}) -> {a}
  %s = "stablehlo.dot_general"(%b, %b) : ({a}, {a}) -> {a}
  %1 = "stablehlo.{name}"({operands}) {attributes}{region} : ({types}) -> {a}
  %2 = "stablehlo.dot_general"(%1, %1) : ({a}, {a}) -> {a}
  return %2 : {a}
}}
"""


def main(amp_opt, names):
    known, linear = lists(amp_opt)
    names = pathlib.Path(names).read_text().split()
    missing = [name for name in names if name not in known]
    assert not missing, f"in no list of the preset: {missing}"
    undecided = set(names) ^ (linear | NONLINEAR) | (linear & NONLINEAR)
    assert not undecided, f"not decided what a loss scale does in: {undecided}"
    cases = []
    for name in names:
        if name in ELSEWHERE:
            continue
        for body, low in BODIES.get(name, ((None, known[name] in ("allow", "infer", "clear")),)):
            cases.append((name, body, low))
    source = "".join(function(i, name, body) for i, (name, body, _) in enumerate(cases))
    result = subprocess.run(
        [amp_opt, "--allow-unregistered-dialect",
         "--auto-mixed-precision=precision=bf16 policy=stablehlo"],
        input=source, capture_output=True, text=True,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    functions = result.stdout.split("func.func")[1:]
    assert len(functions) == len(cases)
    wrong = []
    for (name, body, low), text in zip(cases, functions):
        # A product gives f32; its cast shows that the result is low.
        line = re.search(
            rf'"stablehlo\.{name}"\([^)]*\)(?: ?<\{{[^}}]*\}}>)?(?: \(\{{.*?\}}\))?(?: \{{[^\n]*\}})? : (.*)$',
            text.split("dot_general", 1)[1] if name != "dot_general" else text,
            re.M | re.S,
        )
        types = line[1].split("\n")[0]
        operands = types.split(" -> ")[0] if "->" in types else types
        is_low = "bf16" in (types if name == "constant" else operands)
        if is_low != low:
            wrong.append((name, body, types))
    assert not wrong, f"expected otherwise: {wrong}"
    print(f"{len(names)} operations, {len(cases)} cases")


if __name__ == "__main__":
    main(*sys.argv[1:])
