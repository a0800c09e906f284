# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every diagnostic of the dialects is provoked by a test: the fixed parts of each
# message in the sources occur, in order, in what some test expects.
#
# RUN: %python %s %amp_src_root
"""Usage: messages.py <root of the source tree>"""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
CALL = re.compile(r'\b(?:emitOpError|emitError|error)\s*\((?:[^;"]|"(?:[^"\\]|\\.)*")*;')
PART = re.compile(r'"((?:[^"\\\n]|\\.)*)"(?:\s*"((?:[^"\\\n]|\\.)*)")*')
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
# Messages that no text provokes, by the last part, and why.
UNREACHABLE = {
    "operands are too many to join": "more operands than an operation can have",
    " of type ": "a derivative rule that is wrong",
}

expected = []
for path in sorted((root / "test").glob("Dialect/**/*.mlir")):
    expected += re.findall(r"expected-error ?@\S+ \{\{(.*)\}\}", path.read_text())

missing, count = [], 0
for path in sorted((root / "lib/Dialect").glob("*/IR/*.cpp")):
    text = path.read_text()
    for call in CALL.finditer(text):
        # Adjacent literals are one; a literal in a conditional may be absent.
        source = re.sub(r'\?\s*"[^"]*"\s*:\s*"[^"]*"', "", call.group())
        source = re.sub(r'R"\((.*?)\)"', lambda raw: '"' + raw.group(1).replace('"', r"\"") + '"', source)
        parts = [
            "".join(LITERAL.findall(match.group())).replace('\\"', '"') for match in PART.finditer(source)
        ]
        parts = [part for part in parts if part.strip()]
        if not parts or parts == ["'"]:
            continue
        count += 1
        pattern = re.compile(".*".join(map(re.escape, parts)))
        if any(pattern.search(message) for message in expected):
            continue
        if UNREACHABLE.pop(parts[-1], None):
            continue
        line = text.count("\n", 0, call.start()) + 1
        missing.append(f"{path.relative_to(root)}:{line}: no test expects: {' ... '.join(parts)}")

print(f"{count} diagnostics, {len(expected)} expectations")
missing += [f"no such diagnostic any more: {part}" for part in UNREACHABLE]
print("\n".join(missing))
assert count > 60, "the sources have fewer diagnostics than there are"
sys.exit(bool(missing))
