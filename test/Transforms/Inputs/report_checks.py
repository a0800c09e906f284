# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared by the tests of reports: a validator for the part of JSON Schema that
the report's schema uses, and a reader of MLIR's generic form."""

import re

TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
    "integer": int, "number": (int, float),
}
KNOWN = {"$schema", "$defs", "$ref", "title", "description", "type", "enum", "minimum",
         "required", "properties", "additionalProperties", "items"}


def validate(instance, schema, top=None, where="report"):
    """Raises ValueError, naming the place, if `instance` is not as it should be."""
    top = top or schema
    unknown = set(schema) - KNOWN
    if unknown:
        raise ValueError(f"the validator does not know {unknown}")
    if "$ref" in schema:
        target = top
        for key in schema["$ref"].split("/")[1:]:
            target = target[key]
        validate(instance, target, top, where)
    if "enum" in schema and not any(instance == e and type(instance) is type(e) for e in schema["enum"]):
        raise ValueError(f"{where}: {instance!r} is not in {schema['enum']}")
    if "type" in schema:
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(isinstance(instance, TYPES[k]) and (k == "boolean" or not isinstance(instance, bool)) for k in kinds):
            raise ValueError(f"{where}: {instance!r} is no {kinds}")
    if "minimum" in schema and isinstance(instance, int) and instance < schema["minimum"]:
        raise ValueError(f"{where}: {instance} is less than {schema['minimum']}")
    if isinstance(instance, dict):
        missing = set(schema.get("required", ())) - set(instance)
        if missing:
            raise ValueError(f"{where}: misses {missing}")
        others = schema.get("additionalProperties", True)
        for key, value in instance.items():
            if key in schema.get("properties", {}):
                validate(value, schema["properties"][key], top, f"{where}.{key}")
            elif others is False:
                raise ValueError(f"{where}: unknown key '{key}'")
            elif isinstance(others, dict):
                validate(value, others, top, f"{where}.{key}")
    if isinstance(instance, list) and "items" in schema:
        for index, item in enumerate(instance):
            validate(item, schema["items"], top, f"{where}[{index}]")


def split_types(text):
    """The types of `(a, b<c, d>)` or of a single type."""
    text = text.strip()
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    types, depth, current = [], 0, ""
    for char in text:
        depth += char in "<(["
        depth -= char in ">)]"
        if char == "," and depth == 0:
            types.append(current.strip())
            current = ""
        else:
            current += char
    return [t for t in [*types, current.strip()] if t]


def read_generic(text):
    """(name, operand types, result types, is an inserted cast, block-argument
    types) of each operation in the generic form, in program order."""
    ops, stack = [], []
    start = re.compile(r'^\s*(?:%[\w:#, %]+ = )?"([\w.$]+)"\(')

    def finish(op, rest):
        signature = rest[rest.rindex(" : (") + 3 :] if " : (" in rest else rest[rest.rindex(": (") + 2 :]
        signature = re.sub(r" loc\(.*$", "", signature)
        depth = 0
        for index, char in enumerate(signature):
            depth += char == "("
            depth -= char == ")"
            if depth == 0:
                break
        op["operands"] = split_types(signature[: index + 1])
        op["results"] = split_types(signature[index + 1 :].strip().removeprefix("->"))

    for line in text.splitlines():
        opened = start.match(line)
        if opened:
            op = {"name": opened[1], "inserted": opened[1] == "amp.cast" and "inserted" in line, "arguments": []}
            ops.append(op)
            if line.rstrip().endswith("({"):
                stack.append(op)
            else:
                finish(op, line)
        elif re.match(r"^\s*\^\w+\(", line):
            inner = line[line.index("(") + 1 : line.rindex(")")]
            op = stack[-1]
            op["arguments"] += [part.split(": ", 1)[1] for part in split_types(f"({inner})")]
        elif re.match(r"^\s*\}\)", line):
            finish(stack.pop(), line)
    return ops
