# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adds the defaults of attributes, which mlir-tblgen leaves out, to a generated page of a dialect.

Usage: attribute-defaults.py <records as JSON> < page > page"""

import json
import re
import sys

with open(sys.argv[1]) as f:
    records = json.load(f)


def default(name):
    """The default of an attribute as written in a .td file, or None."""
    record = records[name]
    if record.get("baseAttr"):
        record = {**records[record["baseAttr"]["def"]], **record}
    value = record.get("defaultValue")
    if value in (None, ""):
        return None
    if value.startswith("{"):
        return "[" + value[1:-1] + "]"
    # The printed case of an enumeration.
    return value.split("::")[-1].lower() if "::" in value else value


defaults = {}
for op in (records[name] for name in records["!instanceof"]["Op"]):
    name = f"{records[op['opDialect']['def']]['name']}.{op['opName']}"
    for value, argument in op["arguments"]["args"]:
        if "def" in value and "Attr" in records["!instanceof"] and value["def"] in records["!instanceof"]["Attr"]:
            text = default(value["def"])
            if text is not None:
                defaults[name, argument] = text

op = None
for line in sys.stdin:
    heading = re.match(r"### `([\w.]+)`", line)
    if heading:
        op = heading.group(1)
    row = re.match(r"(<tr><td><code>(\w+)</code></td><td>[^<]*</td><td>)(.*)(</td></tr>)$", line.rstrip("\n"))
    if row and (op, row.group(2)) in defaults:
        text = defaults.pop((op, row.group(2)))
        line = f"{row.group(1)}{row.group(3)}; default `{text}`{row.group(4)}\n"
    sys.stdout.write(line)
