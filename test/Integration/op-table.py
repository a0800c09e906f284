# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# No operation without its tests and its documentation: walks all operations that the .td files
# define, and fails with a list of missing parts. The examples in the descriptions must parse and
# verify.
#
# RUN: %python %s %amp_src_root
#
# It can fail: an operation that nobody tested lacks everything.
# RUN: not %python %s %amp_src_root --pretend train.forgotten 2>&1 | FileCheck %s
# CHECK-DAG: train.forgotten: no round trip
# CHECK-DAG: train.forgotten: no case that is rejected
# CHECK-DAG: train.forgotten: no derivative check
# CHECK-DAG: train.forgotten: no slot test
# CHECK-DAG: train.forgotten: no loss-scale exponent
# CHECK-DAG: train.forgotten: no f16 and bf16 lowering test
# CHECK-DAG: train.forgotten: no lowering of its example in f16 and bf16
# CHECK-DAG: train.forgotten: not in docs/reference
# CHECK-DAG: train.forgotten: no summary
# CHECK-DAG: train.forgotten: no example in its description
# CHECK-DAG: train.forgotten: the example does not use it
"""Usage: op-table.py <root of the source tree> [--pretend <operation>]"""

import ast
import json
import pathlib
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field

root = pathlib.Path(sys.argv[1])
test = root / "test"

# Tests that an operation does not need, and why.
EXEMPT = {
    # Expanded by train-autodiff before anything is lowered.
    "train.gradients": {"f16 and bf16 lowering test", "lowering of its example in f16 and bf16"},
    # Execution/watch.py compares its counts with NumPy in f16 and bf16.
    "amp.statistics": {"f16 and bf16 lowering test"},
    # Execution/ranks.py and Execution/shard-optimizer.py run them on several ranks. On one they disappear.
    "amp.all_gather": {"f16 and bf16 lowering test", "lowering of its example in f16 and bf16"},
    "amp.all_reduce": {"f16 and bf16 lowering test", "lowering of its example in f16 and bf16"},
    # Torch/custom-operations.py runs it. The caller computes its derivative.
    "amp.call": {"derivative check", "f16 and bf16 lowering test"},
    "amp.rank_part": {"f16 and bf16 lowering test", "lowering of its example in f16 and bf16"},
    "amp.reduce_scatter": {"f16 and bf16 lowering test", "lowering of its example in f16 and bf16"},
}


@dataclass
class Op:
    name: str
    summary: str = ""
    description: str = ""
    differentiable: bool = True
    takes_low_types: bool = True
    examples: list = field(default_factory=list)


# ===----------------------------------------------------------------------=== #
# The operations
# ===----------------------------------------------------------------------=== #


def read_operations(td):
    # The one next to mlir-tblgen: an older LLVM may come first on the PATH.
    tool = shutil.which("mlir-tblgen")
    assert tool, "mlir-tblgen is not on the PATH"
    tblgen = pathlib.Path(tool).resolve().with_name("llvm-tblgen")
    output = subprocess.run(
        [tblgen, "--dump-json", "-I", root / "include", "-I", tblgen.parents[1] / "include", td],
        check=True, capture_output=True,
    )
    records = json.loads(output.stdout)
    for record in (records[name] for name in records["!instanceof"]["Op"]):
        interfaces = {records[trait["def"]].get("cppInterfaceName") for trait in record["traits"]}
        types = [value for dag in ("arguments", "results") for value, _ in record[dag]["args"]]
        constraints = json.dumps([records[type["def"]].get("summary") for type in types if "def" in type])
        description = record["description"] or ""
        yield Op(
            f"{records[record['opDialect']['def']]['name']}.{record['opName']}",
            record["summary"] or "",
            description,
            "DifferentiableOpInterface" in interfaces,
            "16-bit float" in constraints,
            re.findall(r"```mlir\n(.*?)```", description, re.S),
        )


# ===----------------------------------------------------------------------=== #
# The tests
# ===----------------------------------------------------------------------=== #


def read(*patterns):
    paths = [path for pattern in patterns for path in sorted(test.glob(pattern))]
    return {path: path.read_text() for path in paths}


def mentions(text):
    """The operations in a text, in custom or generic form."""
    return set(re.findall(r"\b((?:train|amp)\.[a-z]\w*)", text))


def checked(text):
    return mentions("\n".join(re.findall(r"// CHECK.*", text)))


def rejected(text):
    """The operations on the line that an expected-error is about."""
    lines = text.splitlines()
    found = set()
    for number, line in enumerate(lines):
        match = re.search(r"expected-error@\+(\d+)", line)
        if match:
            found |= mentions(lines[number + int(match.group(1))])
    return found


def strings(tree):
    """The words that occur in the strings of a Python file."""
    words = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words |= set(re.findall(r"[\w.]+", node.value))
    return words


def spelled(tree):
    """Patterns of the operations that a Python file spells, in f-strings too:
    each formatted value matches some word of the file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            pieces = [re.escape(node.value)]
        elif isinstance(node, ast.JoinedStr):
            pieces = [
                re.escape(value.value) if isinstance(value, ast.Constant) else r"(\w+)"
                for value in node.values
            ]
        else:
            continue
        text = "".join(pieces).replace(r"\.", ".")
        for match in re.finditer(r"(?<!\w)(?:train|amp)\.(?:\w|\(\\w\+\))+", text):
            yield re.compile(re.escape(match.group()).replace(r"\(\\w\+\)", r"(\w+)"))


def lowered(files):
    """Operation -> whether a file that lowers it does so in f16 and in bf16."""
    found = {}
    for text in files.values():
        tree = ast.parse(text)
        words, patterns = strings(tree), list(spelled(tree))
        low = {"f16", "bf16"} <= words
        for op in operations:
            for match in filter(None, (pattern.fullmatch(op.name) for pattern in patterns)):
                if all(word in words for word in match.groups()):
                    found[op.name] = found.get(op.name, False) or low
    return found


# ===----------------------------------------------------------------------=== #
# The examples
# ===----------------------------------------------------------------------=== #

UNDECLARED = re.compile(r"<stdin>:(\d+):\d+: error: use of undeclared SSA value name")
OTHER_TYPE = re.compile(
    r"<stdin>:(\d+):\d+: error: use of value '(%\w+)' expects different type than prior uses: '(.*)' vs 'none'"
)
ERROR = re.compile(r"<stdin>:(\d+):\d+: error: (.*)")


# The operations whose examples came back from printing and parsing.
round_trips_run = set()


def round_trip(source):
    """Each module of the source as it is printed, empty if it does not survive
    being printed, in the custom and in the generic form, and parsed again."""

    def convert(text, *options):
        command = ["amp-opt", "-", "-split-input-file", *options]
        result = subprocess.run(command, input=text, capture_output=True, text=True)
        return result.stdout

    separator = "// -----\n"
    once = convert(source).split(separator)
    twice = convert(separator.join(once)).split(separator)
    generic = convert(convert(separator.join(once), "-mlir-print-op-generic")).split(separator)
    return [
        a if a == b == c and a.strip() else ""
        for a, b, c in zip(once, twice, generic)
    ]


def verify_examples(ops):
    """Wraps each example in a function whose arguments are the values that it
    uses and does not define, of the types that the parser asks for."""
    examples = []
    for op in ops:
        for text in op.examples:
            body = "\n".join(line.strip() for line in text.strip().splitlines())
            defined = set(re.findall(r"(%\w+)[\w:, %]*(?= =)", body))
            for group in re.findall(r"^(%[\w:, %\n]+?) =", body, re.M):
                defined |= set(re.findall(r"%\w+", group))
            used = [name for name in dict.fromkeys(re.findall(r"%\w+", body)) if name not in defined]
            examples.append([op.name, body, dict.fromkeys(used, "none")])
    while True:
        starts, source = [], ""
        for _, body, types in examples:
            arguments = ", ".join(f"{name}: {type}" for name, type in types.items())
            starts.append(source.count("\n") + 1)
            source += f"func.func @f({arguments}) {{\n{body}\nreturn\n}}\n// -----\n"
        result = subprocess.run(
            ["amp-opt", "-", "-split-input-file"], input=source, capture_output=True, text=True
        )

        def at(line):
            return max(i for i, start in enumerate(starts) if start <= int(line))

        learned = False
        for line, name, type in OTHER_TYPE.findall(result.stderr):
            types = examples[at(line)][2]
            if types.get(name) == "none":
                types[name], learned = type, True
        if not learned:
            break
    for example, text in zip(examples, [] if ERROR.search(result.stderr) else round_trip(source)):
        if f"{example[0]} " in text or f'"{example[0]}"' in text:
            round_trips_run.add(example[0])
    problems = [
        f"{examples[at(line)][0]}: the example is rejected: {error}"
        for line, error in ERROR.findall(result.stderr)
    ]
    return problems, examples


# ===----------------------------------------------------------------------=== #
# Lowering in low precision
# ===----------------------------------------------------------------------=== #

GENERIC = re.compile(r'"([\w.]+)"\((?:%[^)]*)?\)(.*?) : \((.*?)\) -> (.*)$')
NARROW = re.compile(r"(?<![a-w])f16\b")


@dataclass
class Case:
    """One operation alone, in the types of its example, and which of its f32
    operands and results are in the low type."""

    name: str
    low: str
    attributes: str
    types: dict
    turned: dict

    def text(self):
        operands, results = (
            [type.replace("f32", self.low) if turn else type
             for type, turn in zip(self.types[key], self.turned[key])]
            for key in ("operand", "result")
        )
        values = [f"%v{i}" for i in range(len(operands))]
        returned = [f"%r#{i}" for i in range(len(results))]
        # A constant has its type in its attribute.
        attributes = self.attributes if operands else self.attributes.replace("f32", self.low)
        # An argument with a role makes it a step.
        arguments = ['%s: tensor<f32> {amp.role = "batch", amp.name = "s"}'] + [
            f'{value}: {type} {{amp.role = "batch", amp.name = "{value[1:]}"}}'
            for value, type in zip(values, operands)
        ]
        metrics = [f'{type} {{amp.metric = "m{i}"}}' for i, type in enumerate(results)]
        return (
            f"func.func @step({', '.join(arguments)}) -> ({', '.join(metrics)}) {{\n"
            f'%r:{len(results)} = "{self.name}"({", ".join(values)})'
            f"{attributes} : ({', '.join(operands)}) -> ({', '.join(results)})\n"
            f"return {', '.join(returned)} : {', '.join(results)}\n}}\n"
        )

    def keep_wide(self, error):
        """Restores the operations that the verifier names. False if it names nothing."""
        if match := re.search(r"(operand|result) #(\d+) must be", error):
            self.turned[match[1]][int(match[2])] = False
        elif "but operand and result are both" in error:
            self.turned["operand"] = [False] * len(self.types["operand"])
        else:
            return False
        return True

    def is_low(self):
        return self.low in self.text()


def split_run(texts, *options):
    """Output and errors of amp-opt for each text."""
    separator = "// -----\n"
    source = separator.join(texts)
    done = subprocess.run(
        ["amp-opt", "-", "-split-input-file", *options], input=source, capture_output=True, text=True
    )
    ends = [part.count("\n") for part in texts]
    starts = [sum(ends[:i]) + i + 1 for i in range(len(texts))]
    errors = [""] * len(texts)
    for line, error in ERROR.findall(done.stderr):
        index = max(i for i, start in enumerate(starts) if start <= int(line))
        errors[index] = errors[index] or error
    outputs = done.stdout.split(separator)
    assert len(outputs) == len(texts), (len(outputs), len(texts), done.stderr)
    return list(zip(outputs, errors))


def lowered_low(examples, low):
    """The operations that the CPU pipeline takes with as many f32 operands and
    results turned to `low` as their verifiers allow."""
    sources = [
        f"func.func @f({', '.join(f'{name}: {type}' for name, type in types.items())}) {{\n{body}\nreturn\n}}\n"
        for _, body, types in examples
    ]
    cases = []
    for (name, _, _), (text, _) in zip(examples, split_run(sources, "-mlir-print-op-generic")):
        for line in NARROW.sub(low, text).splitlines():
            match = GENERIC.search(line)
            if match and match[1] == name:
                types = {
                    key: re.findall(r"tensor<[^>]*>|\w+", match[group])
                    for key, group in (("operand", 3), ("result", 4))
                }
                turned = {key: ["f32" in type for type in list] for key, list in types.items()}
                cases.append(Case(name, low, match[2], types, turned))
                break
    while True:
        answers = split_run([case.text() for case in cases])
        kept = [case for case, (_, error) in zip(cases, answers) if not error or case.keep_wide(error)]
        if not any(error for _, error in answers):
            break
        cases = kept
    sources = [case.text() for case in cases]
    return {
        case.name
        for case, (text, error) in zip(cases, split_run(sources, "--train-set-batch=batch-size=3", "--amp-cpu-pipeline"))
        if case.is_low() and not error and "llvm.func" in text and not re.search(r"\b(train|amp)\.\w+ ", text)
    }


# ===----------------------------------------------------------------------=== #
# The table
# ===----------------------------------------------------------------------=== #

operations = [
    op
    for td in ("Train/IR/TrainOps.td", "AMP/IR/AMPOps.td", "AMP/IR/AMPQuantizedOps.td", "AMP/IR/AMPCollectiveOps.td",
               "AMP/IR/AMPCallOps.td")
    for op in read_operations(root / "include/amp/Dialect" / td)
]
assert len(operations) > 80, "the .td files define fewer operations than there are"
if "--pretend" in sys.argv:
    operations.append(Op(sys.argv[-1], examples=["%0 = train.neg %x : tensor<f32>"]))

# The tables of the derivative checks and of the slots.
sys.path.insert(0, str(test / "Integration/gradients/Inputs"))
from cases import CASES  # noqa: E402

round_trips = set().union(*map(checked, read("Dialect/*/ops*.mlir").values()))
rejections = set().union(*map(rejected, read("Dialect/*/invalid*.mlir").values()))
slots = mentions((test / "Precision/slots.mlir").read_text())
# The tables of rules name C++ classes: MatmulOp is train.matmul.
exponents = {
    name.lower()
    for path in root.glob("lib/Dialect/*/IR/*ScaleExponents.cpp")
    for name in re.findall(r"\b(\w+)Op\b", path.read_text())
}
lowerings = lowered(read("Conversion/*.py"))
reference = "".join(path.read_text() for path in (root / "docs/reference").glob("*-dialect.md"))

problems, examples = verify_examples(operations)
lowered_examples = set() if problems else lowered_low(examples, "f16") & lowered_low(examples, "bf16")
for op in operations:
    needs = {
        "round trip": op.name in round_trips and op.name in round_trips_run,
        "case that is rejected": op.name in rejections,
        "derivative check": not op.differentiable or bool(CASES.get(op.name)),
        "slot test": op.name in slots,
        "loss-scale exponent": op.name.split(".")[1].replace("_", "") in exponents,
        "f16 and bf16 lowering test": lowerings.get(op.name, False)
        or (op.name in lowerings and not op.takes_low_types),
        "lowering of its example in f16 and bf16": not op.takes_low_types or op.name in lowered_examples,
        "summary": bool(op.summary.strip()),
        "example in its description": bool(op.examples) and "Example:" in op.description,
    }
    problems += [
        f"{op.name}: no {need}"
        for need, met in needs.items()
        if not met and need not in EXEMPT.get(op.name, ())
    ]
    if f"### `{op.name}`" not in reference:
        problems.append(f"{op.name}: not in docs/reference")
    if op.examples and not any(op.name in mentions(example) for example in op.examples):
        problems.append(f"{op.name}: the example does not use it")
for name in EXEMPT:
    if name not in {op.name for op in operations}:
        problems.append(f"{name}: exempt, but no operation")

print(f"{len(operations)} operations, {sum(len(op.examples) for op in operations)} examples")
print("\n".join(problems))
sys.exit(bool(problems))
