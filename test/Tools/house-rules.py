# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The house rules that a machine can check; `tools/dev lint` runs this file too.
#
# RUN: %python %s %amp_src_root
"""Usage: house-rules.py <root of the source tree>

Prints one line for each broken rule and exits with 1 if there is one:
  * no source file is longer than 800 lines;
  * the precision layers see dialects through interfaces only: Interfaces,
    Precision and Transforms include nothing of Dialect/Train;
  * diagnostics start lower-case and end without a full stop;
  * each source file has the licence banner, and a C++ or TableGen banner that
    names a file names its own;
  * no tab characters, no trailing spaces, no left-over markers;
  * each pass has a test file named after its argument.
"""

import pathlib
import re
import sys

MAX_LINES = 800
FOLDERS = ("include", "lib", "tools", "test", "docs", ".ci")
SOURCES = {".cpp", ".h", ".c", ".cu", ".cuh", ".td", ".py", ".cmake", ".in"}
TEXTS = SOURCES | {".md", ".mlir", ".test", ".json", ".yaml"}
LICENCE = (
    "Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.",
    "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception",
)
BANNER = re.compile(r"^//===-+ (\S+\.(?:h|td|cpp|c|cu|cuh)) ")
LAYERS = re.compile(r"^(include/amp|lib)/(Interfaces|Precision|Transforms)/")
TRAIN_INCLUDE = re.compile(r'^\s*#?\s*include\s+["<]amp/Dialect/Train/')
# A call that makes a diagnostic, up to the end of its statement.
DIAGNOSTIC = re.compile(
    r"\b(?:emitOpError|emitError|emitWarning|emitRemark|attachNote"
    r"|emitOptionalError|createStringError|notifyMatchFailure)\s*\("
    r'(?:[^;"]|"(?:[^"\\]|\\.)*")*;'
)
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
PASS = re.compile(r'^def \w+\s*:\s*\w*Pass<\s*"([^"]+)"', re.M)
# Assembled so that this file does not contain what it looks for.
MARKERS = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "X" + "XX")) + r")\b")


def is_source(path):
    return (
        path.suffix in SOURCES
        or path.name == "CMakeLists.txt"
        or str(path) in ("tools/dev", ".ci/run")
    )


def diagnostics(text):
    """The line and the message of each diagnostic, as far as it is literal."""
    for match in DIAGNOSTIC.finditer(text):
        literals = LITERAL.findall(match.group())
        if literals:
            line = text.count("\n", 0, match.start()) + 1
            yield line, literals[0], literals[-1]


def check(path, text):
    """Yields (line, message) for each rule that the file breaks."""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if "\t" in line:
            yield number, "tab character"
        if line != line.rstrip() and path.suffix != ".md":
            yield number, "trailing space"
        if MARKERS.search(line):
            yield number, "left-over marker"
        if LAYERS.match(str(path)) and TRAIN_INCLUDE.match(line):
            yield number, "a precision layer includes a header of Dialect/Train"
    if not is_source(path):
        return
    if len(lines) > MAX_LINES:
        yield MAX_LINES, f"{len(lines)} lines, expected at most {MAX_LINES}"
    head = "\n".join(lines[:20])
    for line in LICENCE:
        if line not in head:
            yield 1, f"expected the line '{line}' in the banner"
    banner = BANNER.match(lines[0]) if lines else None
    if banner and banner.group(1) != path.name:
        yield 1, f"the banner names '{banner.group(1)}', expected '{path.name}'"
    if path.suffix in (".cpp", ".h", ".td"):
        for number, first, last in diagnostics(text):
            if re.match(r"[A-Z][a-z]", first):
                yield number, f"diagnostic starts upper-case: '{first}'"
            if last.endswith(".") and not last.endswith(".."):
                yield number, f"diagnostic ends with a full stop: '{last}'"


def untested_passes(definitions, tests):
    """The arguments of the passes in TableGen text that name no test file."""
    return [name for name in PASS.findall(definitions) if name not in tests]


def self_check():
    """Each rule must find what it is for."""
    bad = {
        "lib/Transforms/A.cpp": '#include "amp/Dialect/Train/IR/TrainOps.h"\n',
        "lib/B.cpp": 'void f() {\n  op.emitOpError() << "Expected "\n     << n;\n}\n',
        "lib/C.cpp": 'emitError(loc, "expected ") << n << " elements.";\n',
        "lib/D.h": "//===- E.h - Something --===//\n",
        "lib/F.mlir": "\t\n",
        "lib/G.py": "x = 1 \n",
        "lib/H.h": "// " + "TO" + "DO: later\n",
        "lib/I.h": "\n" * (MAX_LINES + 1),
    }
    banner = "".join(f"// {line}\n" for line in LICENCE)
    for name, text in bad.items():
        path = pathlib.Path(name)
        found = list(check(path, text + banner))
        # I.h also has its banner too far down, so two.
        wanted = {"lib/I.h": 3, "lib/F.mlir": 2}.get(name, 1)
        if len(found) != wanted:
            sys.exit(f"self-check: {name}: expected {wanted} finding(s), got {found}")
    good = banner + 'void f() { op.emitOpError("expected 2 operands, got ") << n; }\n'
    if list(check(pathlib.Path("lib/Good.cpp"), good)):
        sys.exit("self-check: a file that keeps the rules is rejected")
    passes = 'def A : Pass<"a-b">\ndef C\n    : InterfacePass<"c", "I">\n'
    if untested_passes(passes, {"c"}) != ["a-b"]:
        sys.exit("self-check: a pass without a test is not found")


def main(root):
    self_check()
    findings = checked = 0
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            relative = path.relative_to(root)
            if not path.is_file() or "__pycache__" in relative.parts:
                continue
            if not is_source(relative) and path.suffix not in TEXTS:
                continue
            checked += 1
            for number, message in check(relative, path.read_text()):
                findings += 1
                print(f"{relative}:{number}: error: {message}")
    tests = {path.stem for path in (root / "test").rglob("*.*")}
    for path in sorted((root / "include").rglob("*.td")):
        for name in untested_passes(path.read_text(), tests):
            findings += 1
            print(f"{path.relative_to(root)}: error: no test file '{name}.*'")
    if not checked:
        sys.exit(f"no source file under {root}")
    print(f"house rules: {checked} files, {findings} finding(s)")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
