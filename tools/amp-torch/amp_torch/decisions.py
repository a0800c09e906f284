# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The decisions on precision for one shape of the batch, as a policy for other shapes.

The costs of a precision depend on the sizes of tensors, so two lengths of a sequence could get
different types. Their programs would then have different kernels."""

import json


def slot_types(report):
    """The types of all slots in a JSON report of auto-mixed-precision, as the mapping `slot-types`
    of a policy. Empty if the types do not depend on sizes."""
    report = json.loads(report)
    if report["strategy"] != "optimal":
        return {}
    found = {}
    for function in report["functions"]:
        ops, values = function.get("ops", []), function.get("values", [])
        counts = {}
        for op, name in zip(ops, name_operations(ops, values)):
            if name is None:
                continue
            counts[name] = counts.get(name, 0) + 1
            types = types_of(op)
            if types:
                found[name if counts[name] == 1 else f"{name} #{counts[name]}"] = types
    return found


def types_of(op):
    """The types of the slots of an operation. Empty if a policy cannot decide any of them."""
    # A constant follows the operations that read it.
    slots = [] if op["name"].endswith(".constant") else [slot for slot in op["slots"] if slot["slot"] != "carried"]
    if not any("low" in slot for slot in slots):
        return []
    types = ["any"] * (1 + max(slot["slot"] for slot in slots))
    for slot in slots:
        if "low" in slot:
            types[slot["slot"]] = "low" if slot["low"] else "f32"
    return types


def name_operations(ops, values):
    """The name of each operation as policies spell it: the operation and the location of its first
    result. None without results. An operation with regions has the name of what computes its result."""
    last = {op["parent"]: op for op in ops if "parent" in op}

    def is_inside(op, parent):
        while "parent" in op:
            op = ops[op["parent"]]
            if op is parent:
                return True
        return False

    for op in ops:
        if not op["results"]:
            yield None
            continue
        result = 0
        while op["id"] in last and len(last[op["id"]]["operands"]) == len(op["results"]):
            value = values[last[op["id"]]["operands"][result]]
            if "result" not in value or not is_inside(ops[value["op"]], op):
                break
            op, result = ops[value["op"]], value["result"]
        words = [op["name"] + (f"#{result}" if len(op["results"]) > 1 else ""), op.get("scope"), op.get("location")]
        if words[-1]:
            # Policies name files without their folders.
            words[-1] = words[-1].rsplit("/", 1)[-1]
        yield " ".join(word for word in words if word)


def write_policy(types, base, folder):
    """Writes a policy that extends the preset or file `base` and gives slots these types. Returns its path."""
    paths = [f"{folder}/types.yaml", f"{folder}/decided.yaml"]
    with open(paths[0], "w") as file:
        file.write(f"version: 1\nextends: {json.dumps(base)}\nslot-types:\n")
        for name, slots in types.items():
            file.write(f"  {json.dumps(name)}: [{', '.join(slots)}]\n")
    # A shape can have fewer operations than another. Only unused entries of the outermost policy are warnings.
    with open(paths[1], "w") as file:
        file.write(f"version: 1\nextends: {json.dumps(paths[0])}\n")
    return paths[1]
