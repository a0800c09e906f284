# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The house rules that a machine can check; `tools/dev lint` runs this file too.
#
# RUN: %python %s %amp_src_root
"""Usage: house-rules.py <root of the source tree>

Prints one line for each broken rule and exits with 1 if there is one:
  * no source file is longer than 800 lines, no function of C++ than 100;
  * the precision layers see dialects through interfaces only: Interfaces,
    Precision and Transforms include nothing of Dialect/Train;
  * diagnostics start lower-case and end without a full stop;
  * each source file has the licence banner, and a C++ or TableGen banner that
    names a file names its own;
  * no tab characters, no trailing spaces, no left-over markers;
  * each pass has a test file named after its argument;
  * English avoids phrases that read as translated.
"""

import pathlib
import re
import sys

MAX_LINES = 800
MAX_FUNCTION_LINES = 100
FUNCTIONS_IN = ("include", "lib", "tools")
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
# Assembled so that this file does not contain the text that it searches for.
MARKERS = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "X" + "XX")) + r")\b")
# Phrases that the house English replaces, and by what.
PHRASES = (
    (re.compile(r"(?<!here )\b(?:is|are) no (?!more|less|worse|\w+er\b)[a-z]+"), "'is not a'"),
    (re.compile(r"\b(?:is|are) (?:that|those) of\b"), "what equals, has or comes from the other one"),
    (re.compile(r"\banother than\b"), "'other than'"),
    (re.compile(r"\banew\b"), "'again'"),
)


def is_source(path):
    return (
        path.suffix in SOURCES
        or path.name == "CMakeLists.txt"
        or str(path) in ("tools/dev", ".ci/run")
    )


def diagnostics(text):
    """The line and the literal part of the message of each diagnostic."""
    for match in DIAGNOSTIC.finditer(text):
        literals = LITERAL.findall(match.group())
        if literals:
            line = text.count("\n", 0, match.start()) + 1
            yield line, literals[0], literals[-1]


# Text with braces that are not code.
QUOTED = re.compile(
    r'R"([^()\s\\]{0,16})\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S
)
SCOPE = re.compile(r"(?:\w+\s+)*?(?:namespace|class|struct|union|enum|extern)\b[^()=]*$", re.S)
FUNCTION = re.compile(r"((?:[\w~]+(?:<[^()]*?>)?::)*(?:operator\s*[^\s(]+|~?\w+))\s*\(")

INITIALIZER = re.compile(r"\)\s*:(?!:).*[\w>]$", re.S)


def functions(text):
    """The first line, the name and the number of lines of each function."""
    text = QUOTED.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    start, opened, kind = 0, [], ""
    for match in re.finditer(r"[{};]", text):
        if match.group() == "{":
            head = re.sub(r"^\s*#.*$", "", text[start:match.start()], flags=re.M).strip()
            # Only a definition in a namespace or class is a function, not its blocks.
            is_scope = SCOPE.match(re.sub(r"^template\s*<.*?>\s*", "", head, flags=re.S))
            name = FUNCTION.search(head)
            is_outer = all(kind == "scope" for kind, *_ in opened)
            if is_outer and INITIALIZER.search(head):
                kind = "initializer"
            else:
                kind = "scope" if is_scope else "function" if name and is_outer else "block"
            opened.append((kind, match.start(), name.group(1) if name else "", start))
        elif match.group() == "}" and opened:
            kind, begin, name, before = opened.pop()
            if kind == "function":
                lines = text.count("\n", begin, match.start()) + 1
                yield text.count("\n", 0, begin) + 1, name, lines
        # The head of a constructor goes on behind its initializers.
        start = before if match.group() == "}" and kind == "initializer" else match.end()


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
        for phrase, instead in PHRASES:
            if path.name != "house-rules.py" and phrase.search(line):
                yield number, f"'{phrase.search(line).group()}', expected {instead}"
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
    if path.suffix in (".cpp", ".h") and path.parts[0] in FUNCTIONS_IN:
        for number, name, count in functions(text):
            if count > MAX_FUNCTION_LINES:
                yield number, f"'{name}' has {count} lines, expected at most {MAX_FUNCTION_LINES}"
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
    """Each rule must find its kind of fault."""
    bad = {
        "lib/Transforms/A.cpp": '#include "amp/Dialect/Train/IR/TrainOps.h"\n',
        "lib/B.cpp": 'void f() {\n  op.emitOpError() << "Expected "\n     << n;\n}\n',
        "lib/C.cpp": 'emitError(loc, "expected ") << n << " elements.";\n',
        "lib/D.h": "//===- E.h - Something --===//\n",
        "lib/F.mlir": "\t\n",
        "lib/G.py": "x = 1 \n",
        "lib/H.h": "// " + "TO" + "DO: later\n",
        "lib/I.h": "\n" * (MAX_LINES + 1),
        "lib/K.py": "# A cast is no fill. There is no fill.\n",
        "lib/L.py": "# The type is that of x.\n",
        "lib/J.cpp": "namespace a {\nvoid J::f(int x) const {" + "if (x) {\n'}';\n}\n" * 34 + "}\n}\n",
    }
    banner = "".join(f"// {line}\n" for line in LICENCE)
    for name, text in bad.items():
        path = pathlib.Path(name)
        found = list(check(path, text + banner))
        # I.h and J.cpp have their banners too far down, too.
        wanted = {"lib/I.h": 3, "lib/J.cpp": 3, "lib/F.mlir": 2}.get(name, 1)
        if len(found) != wanted:
            sys.exit(f"self-check: {name}: expected {wanted} finding(s), got {found}")
    names = "struct A : B<int> {\n  A() : x{1} {\n  }\n};\ntemplate <typename T>\nstatic int f(T t) {\n  t();\n}\n"
    names += "int x[] = {1, 2};\n// {\nbool C::operator==(C c) {\n  for (;;) {\n  }\n}\n"
    expected = [(2, "A", 2), (6, "f", 3), (11, "C::operator==", 4)]
    if list(functions(names)) != expected:
        sys.exit(f"self-check: expected the functions {expected}, got {list(functions(names))}")
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
