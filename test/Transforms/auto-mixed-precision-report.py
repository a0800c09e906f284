# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The JSON report describes the changes to the module: types, casts, bytes.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %amp_src_root %t

import json
import pathlib
import re
import subprocess
import sys

root, scratch = (pathlib.Path(argument) for argument in sys.argv[1:])
sys.path.insert(0, str(root / "test" / "Transforms" / "Inputs"))
from report_checks import read_generic, validate

schema = json.loads((root / "docs/reports/precision-report.schema.json").read_text())
WIDTHS = {"f64": 8, "i64": 8, "f32": 4, "i32": 4, "f16": 2, "bf16": 2, "i8": 1, "i1": 1, "index": 8}


def size(type_):
    """The bytes of a type, a dynamic extent counting as 32; 0 without a size."""
    type_ = re.sub(r"^(tensor<[^,]*), .*>$", r"\1>", type_)  # without its encoding
    element = re.sub(r"^(?:tensor|vector|memref)<(?:[\d?]+x)*|>$", "", type_)
    if element not in WIDTHS:
        return 0
    total = WIDTHS[element]
    shape = re.search(r"<((?:[\d?]+x)*)", type_)
    for extent in re.findall(r"(\d+|\?)x", shape[1] if shape else ""):
        total *= 32 if extent == "?" else int(extent)
    return total


def amp_opt(*arguments):
    run = subprocess.run(["amp-opt", *map(str, arguments)], capture_output=True, text=True)
    assert run.returncode == 0, (arguments, run.stderr)
    return run.stdout


def check(source, passes, options):
    """Compares report and module; returns the report."""
    path = scratch / "report.json"
    option = f"--auto-mixed-precision={options} report={path}"
    printed = amp_opt(source, *passes, option, "--mlir-print-op-generic")
    text = path.read_bytes()
    amp_opt(source, *passes, option, "-o", scratch / "again.mlir")
    assert path.read_bytes() == text, f"{source}: two runs, two reports"
    report = json.loads(text)
    validate(report, schema)

    functions = iter(report["functions"])
    function = None
    count = used = 0
    for op in read_generic(printed):
        if op["name"] == "builtin.module":
            continue
        if op["name"] == "func.func":
            function = next(functions)
            if "untouched" in function:
                function = None
                continue
            ops, values = iter(function["ops"]), function["values"]
            arguments = [v for v in values if "op" not in v and v.get("argument") is not None]
            assert [v["typeAfter"] for v in arguments] == op["arguments"], source
            casts = {(u["op"], u["operand"]): c for c in function["casts"] for u in c["users"]}
            check_function(report, function, casts)
            count += len(function["casts"])
            continue
        if function is None:
            continue
        if op["inserted"]:
            used += 1
            continue
        told = next(ops)
        assert told["name"] == op["name"], (told, op)
        assert [values[r]["typeAfter"] for r in told["results"]] == op["results"], (told, op)
        operands = []
        for index, operand in enumerate(told["operands"]):
            cast, type_ = casts.get((told["id"], index)), values[operand]["typeAfter"]
            if cast:
                assert cast["value"] == operand
                assert re.sub(r"^tensor<(?:[\d?]+x)*", "", type_) == f"{cast['from']}>", (cast, type_)
                shape = values[operand]["shape"]
                type_ = "tensor<" + "".join(f"{'?' if n is None else n}x" for n in shape) + f"{cast['to']}>"
            operands.append(type_)
        assert operands == op["operands"], (told, op)
        carried = [v["typeAfter"] for v in values if v.get("op") == told["id"] and "argument" in v]
        assert carried == op["arguments"], (told, op)
        # The last operation of a function has consumed all entries.
        if op["name"] == "func.return":
            assert next(ops, None) is None, source
    assert next(functions, None) is None
    assert used == count, f"{source}: {used} casts in the module, {count} in the report"
    return report


taints = []


def check_function(report, function, casts):
    """What the report says agrees with itself."""
    values, ops = function["values"], function["ops"]
    slots = {slot["id"]: slot for op in ops for slot in op["slots"] if "id" in slot}
    rules = report["rules"]
    for index, value in enumerate(values):
        assert value["id"] == index
        assert value["bytesBefore"] == size(value["typeBefore"]), value
        assert value["bytesAfter"] == size(value["typeAfter"]), value
        low = "slot" in value and slots[value["slot"]]["low"]
        assert (value["typeBefore"] != value["typeAfter"]) == low, value
        if "slot" in value:
            assert value["rule"] == slots[value["slot"]]["rule"]
    for index, op in enumerate(ops):
        assert op["id"] == index
        for slot in op["slots"]:
            assert slot["rule"] in rules, slot
            assert ("id" in slot) == ("low" in slot) == ("class" in slot), slot
            held = [op["operands"][i] for i in slot.get("operands", ())]
            held += [op["results"][i] for i in slot.get("results", ())] + slot.get("values", [])
            before = sum(values[v]["bytesBefore"] for v in held)
            assert slot["bytesBefore"] == before, (op, slot)
            assert slot["bytesAfter"] == (before // 2 if slot.get("low") else before), (op, slot)
            # The chain of causes ends at the cause.
            at, steps = slot, 0
            while "via" in at:
                at, steps = slots[at["via"]], steps + 1
                assert steps <= len(slots), "the causes run in a circle"
            assert (slots[slot["cause"]] is at) if "cause" in slot else at is slot, slot
            ends = {"poisoned": ("denied", "pinned"), "tainted": ("range", "does-not-fit", "pinned")}
            if slot["rule"] in ends:
                assert at["rule"] in ends[slot["rule"]], (slot, at)
                taints.append(slot)
    chosen = [s for s in function["strategies"] if s["chosen"]]
    assert len(chosen) == 1 and chosen[0]["name"] == report["strategy"]
    chosen = chosen[0]
    free = [v for v in values if "slot" in v]
    low = [v for v in free if slots[v["slot"]]["low"]]
    assert chosen["slots"] == len(slots)
    assert chosen["lowSlots"] == sum(slot["low"] for slot in slots.values())
    assert (chosen["values"], chosen["lowValues"]) == (len(free), len(low))
    assert chosen["valueBytes"] == sum(v["bytesBefore"] for v in free)
    assert chosen["lowValueBytes"] == sum(v["bytesBefore"] for v in low)
    assert chosen["casts"] == len(function["casts"])
    assert chosen["castBytes"] == sum(c["bytes"] for c in function["casts"])
    what_if = function["whatIf"]
    assert len(what_if["reclassified"]) == min(what_if["bound"], what_if["candidates"])
    largest = [entry["bytes"] for entry in what_if["reclassified"]]
    assert largest == sorted(largest, reverse=True)


models = sorted((root / "test/Models").glob("*.mlir"))
assert len(models) >= 5, models
for model in models:
    for options in ("precision=fp16", "precision=bf16 strategy=grappler", "precision=fp16 target=h100"):
        report = check(model, ["--train-autodiff"], options)
        (function,) = report["functions"]
        assert any(v["typeBefore"] != v["typeAfter"] for v in function["values"]), model
        # No assignment that satisfies the hard constraints costs less than the
        # optimum.
        strategies = {s["name"]: s for s in function["strategies"]}
        optimal = strategies["optimal"]
        assert optimal["violated"] == 0, (model, optimal)
        for entry in strategies.values():
            assert entry["violated"] or entry["cost"] >= optimal["cost"], (model, entry, optimal)
        assert (report["target"] is not None) == ("target" in options)
        # Only named gradients reach the update.
        parts = {op["part"] for op in function["ops"]}
        differentiated = model.name.startswith("digits-")
        assert parts >= {"forward", "backward"} | ({"update"} if differentiated else set()), (model, parts)
        assert not differentiated or any("backwardOf" in op for op in function["ops"]), model
# Control flow, pins, unlisted operations, other types, several functions.
inputs = []
for path in sorted((root / "test/Transforms").glob("auto-mixed-precision*.mlir")):
    # Entries of calls have their own form. Masks have low copies, and scalar
    # bodies have conversions, which the report omits.
    if "split-file" in path.read_text() or path.stem.endswith(("-calls", "-ranges", "-types")):
        continue
    for number, part in enumerate(path.read_text().split("\n// -----\n")):
        if " linalg." in part:
            continue
        inputs.append(scratch / f"{path.stem}-{number}.mlir")
        inputs[-1].write_text(part)
checked = [check(path, ["--allow-unregistered-dialect"], "precision=fp16") for path in inputs]
carried = [s for r in checked for f in r["functions"] for op in f.get("ops", ()) for s in op["slots"] if s["slot"] == "carried"]
assert any(s["low"] for s in carried), "no carried value was low"
assert "tainted" in {slot["rule"] for slot in taints}, "a rule with a path did not occur"

# Functions that are assigned together are one entry. Each function is an
# operation around its body, and its arguments and results are carried values.
calls = scratch / "calls.mlir"
calls.write_text("""
func.func private @layer(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = call @layer(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = call @layer(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = train.matmul %1, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
func.func @alone(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  return %a : tensor<4x4xf32>
}
""")
amp_opt(calls, f"--auto-mixed-precision=report={scratch}/calls.json")
together, alone = json.loads((scratch / "calls.json").read_text())["functions"]
assert together["name"] == "layer, main" and alone["name"] == "alone", together["name"]
names = [op["name"] for op in together["ops"]]
assert names == ["func.func", "train.matmul", "func.return", "func.func", "func.call", "func.call", "train.matmul", "func.return"]
assert [op.get("parent") for op in together["ops"]] == [None, 0, 0, None, 3, 3, 3, 3]
assert any(s["slot"] == "carried" and s["low"] for s in together["ops"][0]["slots"]), together["ops"][0]
print(f"{len(models)} models, {len(inputs)} inputs")
