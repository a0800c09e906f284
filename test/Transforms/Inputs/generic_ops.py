# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations in the generic form, as `--mlir-print-op-generic` and
`--mlir-print-local-scope` give them: read, changed, written again.
"""

import re

START = re.compile(r'\s*(?:(%\w+)(?::(\d+))? = )?"([\w.]+)"\(([^()]*)\)(.*)$')


def split(types):
    types = types.strip()
    return [t.strip() for t in (types[1:-1] if types.startswith("(") else types).split(", ")] if types != "()" else []


class Op:
    """`head` is the text between the operands and the regions, `tail` the text after
    these, without types. A region is [arguments with types, operations]."""

    def __init__(self, line):
        base, count, self.name, operands, rest = START.match(line).groups()
        count = int(count or 1) if base else 0
        self.base = base
        self.results = [base] if count == 1 else [f"{base}#{i}" for i in range(count)]
        self.operands = operands.split(", ") if operands else []
        self.regions, self.head, self.tail = [], "", ""
        self.opens = rest.endswith("({")
        if self.opens:
            self.head = rest[:-2].strip()
        else:
            self.finish(rest)

    def finish(self, rest):
        self.tail, types = rest.rsplit(" : (", 1)
        inputs, outputs = ("(" + types).split(" -> ")
        self.inputs, self.outputs = split(inputs), split(outputs)

    def lines(self, indent):
        result = "" if not self.results else self.base + (f":{len(self.results)}" if len(self.results) > 1 else "") + " = "
        types = f" : ({', '.join(self.inputs)}) -> ({', '.join(self.outputs)})"
        text = f"{indent}{result}\"{self.name}\"({', '.join(self.operands)})"
        if not self.regions:
            return [text + self.tail + types]
        made = [f"{text} {self.head} ({{"]
        for number, (arguments, ops) in enumerate(self.regions):
            if number:
                made.append(indent + "}, {")
            if arguments:
                made.append(f"{indent}^bb0({', '.join(f'{a}: {t}' for a, t in arguments)}):")
            for op in ops:
                made += op.lines(indent + "  ")
        return [*made, f"{indent}}}){self.tail}{types}"]

    def walk(self):
        yield self
        for _, ops in self.regions:
            for op in ops:
                yield from op.walk()


class Function:
    def __init__(self, lines):
        self.fresh = 0
        stack, self.root = [], None
        for line in lines:
            text = line.strip()
            if text.startswith("})"):
                stack.pop().finish(text[2:])
            elif text == "}, {":
                stack[-1].regions.append([[], []])
            elif text.startswith("^bb0("):
                stack[-1].regions[-1][0] = [tuple(a.split(": ", 1)) for a in text[5:-2].split(", ")]
            else:
                op = Op(line)
                if stack:
                    stack[-1].regions[-1][1].append(op)
                else:
                    self.root = op
                if op.opens:
                    op.regions.append([[], []])
                    stack.append(op)
        self.arguments, self.body = self.root.regions[0]

    def ops(self, name=""):
        return [op for op in self.root.walk() if op.name.startswith(name) and op is not self.root]

    def block(self, wanted):
        """The block that holds `wanted`, and the place there."""
        for op in self.root.walk():
            for _, ops in op.regions:
                for index, inner in enumerate(ops):
                    if inner is wanted:
                        return ops, index
        raise AssertionError(wanted.lines(""))

    def definer(self, value):
        return next((op for op in self.root.walk() if value in op.results), None)

    def types(self):
        found = {}
        for op in self.root.walk():
            found.update(zip(op.results, op.outputs))
            for arguments, _ in op.regions:
                found.update(arguments)
        return found

    def make(self, name, operands, inputs, outputs, head=""):
        self.fresh += 1
        results = "" if not outputs else f"%m{self.fresh}" + (f":{len(outputs)}" if len(outputs) > 1 else "") + " = "
        return Op(f'{results}"{name}"({", ".join(operands)}) {head} : ({", ".join(inputs)}) -> ({", ".join(outputs)})')

    def before(self, place, *made):
        ops, index = self.block(place)
        ops[index:index] = made

    def after(self, place, *made):
        ops, index = self.block(place)
        ops[index + 1 : index + 1] = made

    def replace(self, value, other, but=()):
        for op in self.root.walk():
            if not any(op is one for one in but):
                op.operands = [other if operand == value else operand for operand in op.operands]

    def lines(self):
        return self.root.lines("")


def functions(text):
    """Those of a module, as lists of lines."""
    found, current = [], None
    for line in text.splitlines():
        if line.startswith('  "func.func"'):
            current = []
            found.append(current)
        if current is not None:
            current.append(line)
        if line.startswith("  })"):
            current = None
    return found


def outline(function, rng, name):
    """Puts some operations that stand in sequence into a private function, which
    is returned as lines, and calls that in their place."""
    blocks = [function.body] + [ops for op in function.ops("scf.for") for _, ops in op.regions]
    ops = rng.choice(blocks)
    start = rng.randrange(len(ops) - 1)
    count = rng.randrange(1, min(len(ops) - 1 - start, 12) + 1)
    moved = ops[start : start + count]
    types = function.types()
    inner = [op for one in moved for op in one.walk()]
    defined = {r for op in inner for r in op.results} | {a for op in inner for args, _ in op.regions for a, _ in args}
    read = list(dict.fromkeys(o for op in inner for o in op.operands if o not in defined))
    others = [op for op in function.root.walk() if not any(op is one for one in inner)]
    used = {operand for op in others for operand in op.operands}
    given = [r for op in moved for r in op.results if r in used]
    inputs, outputs = [types[v] for v in read], [types[v] for v in given]
    callee = function.make("func.return", given, outputs, [])
    call = function.make("func.call", read, inputs, outputs, f"<{{callee = @{name}}}>")
    if not given:
        call = Op(f'"func.call"({", ".join(read)}) <{{callee = @{name}}}> : ({", ".join(inputs)}) -> ()')
    ops[start : start + count] = [call]
    for value, result in zip(given, call.results):
        function.replace(value, result)
    # Each function has its own names.
    rename = {v: f"%arg{i}" for i, v in enumerate(read)}
    taken = set(defined)
    rename = {v: (n if n not in taken else n + "_in") for v, n in rename.items()}
    made = []
    for op in [*moved, callee]:
        for one in op.walk():
            one.operands = [rename.get(o, o) for o in one.operands]
        made += op.lines("  ")
    header = ", ".join(f"{rename[v]}: {types[v]}" for v in read)
    return [f"func.func private @{name}({header}) -> ({', '.join(outputs)}) {{", *made, "}"]
