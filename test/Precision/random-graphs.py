# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compares the precision passes on random graphs with a second, simple and slow
# implementation of the rules.
#
# RUN: %python %s amp-opt
# RUN: %python %s amp-opt 77
"""Usage: random-graphs.py <amp-opt> [first seed]

Generates functions (chains and dags of products, elementwise operations,
reductions, norms, constants, casts of the user, pins, branches and loops) and
checks, for fp16 and bf16, that
  * every operation of a function without control flow has the types that the
    four lists give by their definition;
  * in all functions, products that nobody pinned read low operands, denied
    operations are f32, casts of the user are as they were, no value is cast
    twice to one type, and no inserted cast reads another;
  * a second run changes nothing, neither of one pass nor of both.
A value that is computed from constants alone and does not fit the low type denies its slot and
those that read it, as decision 0031 says. Constants have one value throughout, so values computed
from them do too, and this test computes them. The tool verifies the types. AMP_LONG_TESTS=1 takes
twenty times the functions.
"""

import math
import os
import random
import re
import subprocess
import sys

T = "tensor<4x4xf32>"
UNARY = {
    "infer": ["tanh", "sigmoid", "gelu", "sqrt"],
    "clear": ["relu", "neg", "abs", "sign"],
    "deny": ["exp", "log", "square", "rsqrt"],
}
BINARY = {"infer": ["add", "mul", "sub", "div"], "clear": ["maximum", "minimum"]}
CLASS_OF = {
    f"train.{name}": kind
    for table in (UNARY, BINARY)
    for kind, names in table.items()
    for name in names
}
CLASS_OF.update({
    "train.matmul": "allow", "train.linear": "allow", "train.softmax": "infer",
    "train.transpose": "clear", "train.constant": "clear", "train.mse": "infer",
    "train.reduce_sum": "infer", "train.layer_norm": "infer",
})


MATH = {
    "tanh": math.tanh, "sigmoid": lambda a: 1 / (1 + math.exp(-a)),
    "gelu": lambda a: a * (1 + math.erf(a / math.sqrt(2))) / 2, "sqrt": math.sqrt,
    "relu": lambda a: max(a, 0.0), "neg": lambda a: -a, "abs": abs,
    "sign": lambda a: float((a > 0) - (a < 0)), "exp": math.exp, "log": math.log,
    "square": lambda a: a * a, "rsqrt": lambda a: 1 / math.sqrt(a),
    "add": lambda a, b: a + b, "mul": lambda a, b: a * b, "sub": lambda a, b: a - b,
    "div": lambda a, b: a / b, "maximum": max, "minimum": min,
    "matmul": lambda a, b: 4 * a * b, "softmax": lambda a: 0.25, "transpose": lambda a: a,
    "cast": lambda a: a,
}
MAXIMUM = {"f16": 65504.0, "bf16": 3.3895e38}


def evaluate(name, operands):
    """The value of all elements, None if it is not known, NaN if it is beyond
    or close to a limit, so that one should not depend on it."""
    values = [op.value if op else None for op in operands]
    function = MATH.get(name.split(".")[1])
    if function is None or None in values:
        return None
    try:
        value = function(*values)
    except (ArithmeticError, ValueError):
        return math.nan
    near = any(0.99 < abs(value) / limit < 1.01 for limit in MAXIMUM.values())
    return math.nan if abs(value) > 1e30 or near else value


def scaled_by(name, operands):
    """Bounds of the binary logarithm of the constant factor of a result, by
    those of the operands. A function that is neither linear nor a power has
    the factor of its operand or none."""
    name, sums = name.split(".")[1], operands[:2]
    if name in ("mul", "matmul", "linear"):
        return sums[0][0] + sums[1][0], sums[0][1] + sums[1][1]
    if name == "div":
        return sums[0][0] - sums[1][1], sums[0][1] - sums[1][0]
    if name == "square":
        return 2 * sums[0][0], 2 * sums[0][1]
    ends = [end for bounds in sums for end in bounds] or [0]
    if name not in ("neg", "abs", "relu", "transpose", "cast", "add", "sub", "maximum", "minimum"):
        ends += [0, *(-end for end in ends if name == "rsqrt")]
    return min(ends), max(ends)


BOUNDED = {f"train.{name}" for name in ("softmax", "tanh", "sigmoid", "sign", "constant")}
BOUNDED_IF_ONE_END = {f"train.{name}" for name in ("gelu", "exp", "rsqrt", "minimum", "maximum")}
ONE_END = {f"train.{name}" for name in ("relu", "abs", "square", "sqrt", "exp", "gelu", "rsqrt")}


# Operations whose result is proportional to these operands. Here products are
# not among them, as in the tool.
PROPORTIONAL = {
    "train.neg": 1, "train.abs": 1, "train.relu": 1, "train.transpose": 1, "train.mul": 2, "train.div": 1,
}


def factors(value, op):
    """Names of values that `value`, the result of `op`, is proportional to."""
    found, pending = set(), [(value, op)]
    while pending:
        value, op = pending.pop()
        if value in found:
            continue
        found.add(value)
        if op and op.name in PROPORTIONAL:
            pending += list(zip(op.names, op.operands))[:PROPORTIONAL[op.name]]
    return found


def is_of_region(name):
    """Whether a value without an operation is one that a region yields or carries."""
    return name[1] in "xy"


class Op:
    """An operation, with the slots of its operands and of its result 0."""

    def __init__(self, tag, name, operands, text, pin=None, gradient=False, names=()):
        self.tag, self.name, self.operands, self.text = tag, name, operands, text
        self.names = names
        self.pin, self.gradient, self.value = pin, gradient, None
        # Whether an interval might be known. Some functions turn an interval
        # with one finite end into one with two.
        # Values of regions have no operation here and might be bounded.
        known = [op.is_bounded if op else is_of_region(value) for op, value in zip(operands, names)]
        has_end = any(op.has_end if op else is_of_region(value) for op, value in zip(operands, names))
        if name == "train.layer_norm":
            known, has_end = [False], False
        self.is_bounded = name in BOUNDED or (
            has_end if name in BOUNDED_IF_ONE_END else all(known))
        self.has_end = self.is_bounded or has_end or name in ONE_END
        self.kind = {"f32": "deny", "low": "allow"}.get(pin, CLASS_OF.get(name))
        if pin == "keep":
            self.kind = None
        # One slot "s" of operands and result, unless the operation says more.
        self.operand_slots = ["s"] * len(operands)
        self.result_slot = "s"
        if name in ("train.matmul", "train.linear"):
            self.operand_slots = ["in", "in", "s"][: len(operands)]
        elif name in ("train.reduce_sum", "train.mse"):
            self.operand_slots = ["in"] * len(operands)
            # A sum may overflow, a loss is fixed.
            self.result_slot = "range" if name == "train.reduce_sum" else None
        elif name == "train.layer_norm":
            self.operand_slots = ["s", None, None]
        elif name == "amp.cast":
            self.operand_slots, self.result_slot = [None], None
        if gradient:
            shared = self.result_slot
            self.operand_slots = [None if s == shared else s for s in self.operand_slots]
            self.result_slot = None

    def slots(self):
        return {s for s in [*self.operand_slots, self.result_slot] if s}

    def must_not_fit(self, slot, low_type):
        """Whether the slot has a known value beyond the range of the type."""
        def is_beyond(op):
            return op is not None and op.value is not None and abs(op.value) > MAXIMUM[low_type]
        if self.pin or self.name in ("train.constant", "amp.cast"):
            return False
        return (slot == self.result_slot and is_beyond(self)
                or any(s == slot and is_beyond(op)
                       for op, s in zip(self.operands, self.operand_slots)))

    def kind_of(self, slot, low_type):
        if self.must_not_fit(slot, low_type):
            return "deny"
        if slot == "range" and self.kind in ("infer", "clear"):
            return "deny"
        return self.kind


class Function:
    def __init__(self, rng, name, control_flow):
        self.rng, self.name, self.control_flow = rng, name, control_flow
        self.ops, self.lines, self.values, self.count = [], [], [], 0
        self.factors = {}
        arguments = [f"%a{i}" for i in range(rng.randint(1, 3))]
        self.scope = [(value, None) for value in arguments]
        self.fill(rng.randint(3, 25), "  ")
        returned = rng.sample(self.scope, min(2, len(self.scope)))
        self.returned = [op for _, op in returned]
        signature = ", ".join([f"{a}: {T}" for a in arguments] +
                              ["%c: i1", "%n: index", "%v: tensor<4xf32>"])
        self.text = "\n".join(
            [f"func.func @{name}({signature}) -> ({', '.join([T] * len(returned))}) {{",
             "  %c0 = arith.constant 0 : index", "  %c1 = arith.constant 1 : index",
             *self.lines,
             f"  return {', '.join(v for v, _ in returned)} : {', '.join([T] * len(returned))}",
             "}"])

    def pick(self):
        # Prefers recent values, so that chains arise.
        if self.rng.random() < 0.6:
            return self.scope[-1]
        return self.rng.choice(self.scope)

    def unbounded(self, picked):
        """`picked`, or an argument if an interval might be known of it."""
        is_known = picked[1].is_bounded if picked[1] else is_of_region(picked[0])
        return ("%a0", None) if is_known else picked

    def emit(self, indent, name, operands, attributes, types, result="T", decorate=True,
             constant=None):
        tag = self.count = self.count + 1
        value = evaluate(name, [op for _, op in operands])
        low = types.startswith(T) and types.endswith("xf16>")
        if value is not None and (math.isnan(value) or low and abs(value) > 65504):
            operands, value = [("%a0", None), *operands[1:]], None
        # No value has a constant factor that is large or small. Other tests
        # cover these.
        bounds = (math.log2(constant),) * 2 if constant else (0, 0)
        for index in range(len(operands) + 1):
            if operands:
                bounds = scaled_by(name, [self.factors.get(v, (0, 0)) for v, _ in operands])
            if -40 < bounds[0] and bounds[1] < 14:
                break
            operands, value = [*[("%a0", None)] * (index + 1), *operands[index + 1:]], None
        known = constant if name == "train.constant" else value
        pin, gradient = None, False
        if decorate and self.rng.random() < 0.06:
            pin = self.rng.choice(["f32", "low", "keep"])
        elif decorate and name in CLASS_OF and self.rng.random() < 0.06:
            gradient = True
        attributes = [f"test.tag = {tag} : i64", *attributes]
        if pin:
            attributes.append(f'amp.precision = "{pin}"')
        if gradient:
            count = 3 if name == "train.layer_norm" else 1
            names = ['"w"'] + ['""'] * (count - 1)
            attributes.append(f"amp.gradient_of = [{', '.join(names)}]")
        value = f"%x{tag}"
        left = f"{value}:3" if name == "train.layer_norm" else value
        body = f"{{{', '.join(attributes)}}}"
        if name == "train.constant":
            text = f"{left} = {name} {body} {types}"
        else:
            text = f"{left} = {name} {', '.join(v for v, _ in operands)} {body} : {types}"
        if name == "train.layer_norm":
            value += "#0"
        self.factors[value] = bounds
        self.lines.append(indent + text)
        op = Op(tag, name, [op for _, op in operands], text, pin, gradient, [v for v, _ in operands])
        if name == "train.mul" and factors(*operands[0]) & factors(*operands[1]):
            op.operand_slots, op.result_slot = ["range"] * 2, "range"
        op.value = known
        self.ops.append(op)
        if result == "T":
            self.scope.append((value, op))
        return value, op

    def emit_square(self, indent, name, operands, types):
        """A square that a sum reads. It is f32 in either low type. Like a sum,
        it may be proved to fit, so its operand is unbounded. Other tests cover
        squares that nothing sums."""
        value, op = self.emit(indent, f"train.{name}", operands, [], types, decorate=False)
        self.emit(indent, "train.reduce_sum", [(value, op)], ["dims = array<i64: 0>"],
                  f"({T}) -> tensor<4xf32>", result=None, decorate=False)

    def fill(self, count, indent):
        rng = self.rng
        for _ in range(count):
            draw = rng.random()
            a, b = self.pick(), self.pick()
            if draw < 0.22:
                self.emit(indent, "train.matmul", [a, b], [], f"({T}, {T}) -> {T}")
            elif draw < 0.28:
                self.emit(indent, "train.linear", [a, b, ("%v", None)], [],
                          f"({T}, {T}, tensor<4xf32>) -> {T}")
            elif draw < 0.52:
                name = rng.choice(UNARY[rng.choice(["infer", "clear", "clear", "deny"])])
                if name == "square":
                    self.emit_square(indent, name, [self.unbounded(a)], T)
                else:
                    self.emit(indent, f"train.{name}", [a], [], T)
            elif draw < 0.68:
                name = rng.choice(BINARY[rng.choice(["infer", "clear"])])
                if name == "mul" and factors(*a) & factors(*b):
                    # Proportional operands may be proved to fit too.
                    a = self.unbounded(a)
                    if b[0] == a[0] or self.unbounded(b) != b or not factors(*a) & factors(*b):
                        b = a
                    self.emit_square(indent, name, [a, b], f"({T}, {T}) -> {T}")
                else:
                    self.emit(indent, f"train.{name}", [a, b], [], f"({T}, {T}) -> {T}")
            elif draw < 0.72:
                self.emit(indent, "train.softmax", [a], ["axis = 1 : i64"], T)
            elif draw < 0.76:
                self.emit(indent, "train.transpose", [a], ["permutation = array<i64: 1, 0>"],
                          f"({T}) -> {T}")
            elif draw < 0.80:
                # A sum of bounded values may be proved to fit. Other tests
                # cover ranges.
                a = self.unbounded(a)
                self.emit(indent, "train.reduce_sum", [a], ["dims = array<i64: 0>"],
                          f"({T}) -> tensor<4xf32>", result=None)
            elif draw < 0.83:
                self.emit(indent, "train.mse", [a, b], [], f"({T}, {T}) -> tensor<f32>", result=None)
            elif draw < 0.87:
                self.emit(indent, "train.layer_norm", [a, ("%v", None), ("%v", None)], [],
                          f"({T}, tensor<4xf32>, tensor<4xf32>) -> ({T}, tensor<4xf32>, tensor<4xf32>)")
            elif draw < 0.90:
                number = rng.choice(["0.1", "2.0"])
                self.emit(indent, "train.constant", [], [], f"dense<{number}> : {T}",
                          constant=float(number))
            elif draw < 0.94:
                low = rng.choice(["f16", "bf16"])
                narrow, op = self.emit(indent, "amp.cast", [a], [], f"{T} to tensor<4x4x{low}>",
                                       result=None, decorate=False)
                self.emit(indent, "amp.cast", [(narrow, op)], [], f"tensor<4x4x{low}> to {T}",
                          decorate=False)
            elif self.control_flow and len(indent) < 8:
                self.region(indent)

    def region(self, indent):
        rng, outer = self.rng, list(self.scope)
        tag = self.count = self.count + 1
        init = self.pick()[0]
        passed = [init]

        def body(entry=()):
            self.scope = outer + list(entry)
            self.fill(rng.randint(1, 6), indent + "  ")
            passed.append(self.pick()[0])
            self.lines.append(f"{indent}  scf.yield {passed[-1]} : {T}")

        if rng.random() < 0.5:
            self.lines.append(f"{indent}%x{tag} = scf.if %c -> ({T}) {{")
            body()
            self.lines.append(f"{indent}}} else {{")
            body()
        else:
            self.lines.append(f"{indent}%x{tag} = scf.for %i{tag} = %c0 to %n step %c1 "
                              f"iter_args(%y{tag} = {init}) -> ({T}) {{")
            body([(f"%y{tag}", None)])
        pin = rng.choice(["f32", "low", "keep"]) if rng.random() < 0.1 else None
        # Only the verifier checks the contents of a pinned region.
        self.pinned_regions = getattr(self, "pinned_regions", False) or bool(pin)
        self.lines.append(f"{indent}}}" + (f' {{amp.precision = "{pin}"}}' if pin else ""))
        ends = [end for value in passed for end in self.factors.get(value, (0, 0))]
        self.factors[f"%x{tag}"] = min(ends), max(ends)
        self.scope = [*outer, (f"%x{tag}", None)]


def is_denied(op, low_type):
    return "deny" in (op.kind_of(slot, low_type) for slot in op.slots())


def expected_low(function, low_type):
    """The low slots of a function without control flow, as (tag, slot). The
    slots of an operation have one colour."""
    kinds = {op.tag: "deny" if is_denied(op, low_type) else op.kind
             for op in function.ops if op.kind and op.slots()}
    constants = {op.tag for op in function.ops if op.name == "train.constant"}
    edges = [(producer.tag, op.tag) for op in function.ops
             for producer, slot in zip(op.operands, op.operand_slots)
             if producer and producer.result_slot and slot]
    edges = [(p, u) for p, u in edges if p in kinds and u in kinds]
    low = {v for v, kind in kinds.items() if kind == "allow"}
    if not low:
        return set()

    def closure(start, step):
        result = set(start)
        while True:
            more = {n for s in result for n in step(s)} - result
            if not more:
                return result
            result |= more

    users = lambda v: [u for p, u in edges if p == v]
    producers = lambda v: [p for p, u in edges if u == v]
    gray = {v for v, kind in kinds.items() if kind in ("deny", "infer")}
    leads_to_gray = closure(gray, lambda v: [p for p in producers(v) if kinds[p] == "clear"])
    denied = closure({v for v, kind in kinds.items() if kind == "deny"},
                     lambda v: [u for u in users(v) if u in leads_to_gray])
    is_open = lambda v: kinds[v] in ("infer", "clear") and v not in denied | low | constants
    after = closure(low, lambda v: [u for u in users(v) if is_open(u)])
    before = closure(low, lambda v: [p for p in producers(v) if is_open(p)])
    low |= {v for v in after & before if is_open(v)}
    for v in sorted(kinds):
        read = set(producers(v))
        if kinds[v] == "infer" and is_open(v) and read & low and not read & denied:
            low.add(v)
    low = closure(low, lambda v: [n for n in users(v) + producers(v)
                                  if is_open(n) and kinds[n] == "clear"])
    return {(op.tag, slot) for op in function.ops for slot in op.slots() if op.tag in low}


def element(types):
    return re.findall(r"tensor<(?:\d+x)*(\w+)>", types)


class Parsed:
    """The printed operations of a function, by tag, and the inserted casts."""

    def __init__(self, text):
        self.by_tag, self.inserted = {}, []
        for line in text.splitlines():
            match = re.match(r"\s*(%\w+)(?::\d+)?(?:, %\w+)* = ([\w.]+)\b ?(.*)$", line)
            if not match:
                continue
            result, name, rest = match.groups()
            if name == "amp.cast" and " inserted" in rest:
                source, to = re.match(r"(%\S+) inserted.* to (\S+)$", rest).groups()
                self.inserted.append((result, source, to))
            if tag := re.search(r"\btag = (\d+) : i64", rest):
                types = rest.rsplit(" : ", 1)[1]
                self.by_tag[int(tag[1])] = (name, types)


def types_of(name, types):
    """Element types of operands and of result 0."""
    if "->" in types:
        operands, results = types.split("->")
        return element(operands), element(results)[0]
    if name == "amp.cast":
        operand, result = element(types)
        return [operand], result
    return element(types) * 2, element(types)[0]


def check(function, text, low_type):
    parsed = Parsed(text)
    errors = []
    for op in function.ops:
        if op.tag not in parsed.by_tag:
            errors.append(f"operation {op.tag} is gone")
            continue
        name, types = parsed.by_tag[op.tag]
        operands, result = types_of(name, types)
        if name == "amp.cast":
            if types != op.text.rsplit(" : ", 1)[1]:
                errors.append(f"cast of the user became {types}")
        elif (op.pin is None and op.kind == "allow" and not is_denied(op, low_type)
              and not getattr(function, "pinned_regions", False)):
            if set(operands[:2]) != {low_type}:
                errors.append(f"product reads {operands}: {op.text}")
        elif op.pin is None and op.kind == "deny" and not getattr(function, "pinned_regions", False):
            if set(operands) | {result} != {"f32"}:
                errors.append(f"denied operation has {types}: {op.text}")
    # Results of norms have their own names, which other regions use again.
    casts = [(source, to) for _, source, to in parsed.inserted if "result" not in source]
    if len(casts) != len(set(casts)):
        errors.append("a value is cast twice to one type")
    if {source for _, source, _ in parsed.inserted} & {result for result, _, _ in parsed.inserted}:
        errors.append("an inserted cast reads an inserted cast")
    if function.control_flow:
        return errors
    low = expected_low(function, low_type)
    for op in function.ops:
        if op.name == "amp.cast" or op.tag not in parsed.by_tag:
            continue
        operands, result = types_of(*parsed.by_tag[op.tag])
        type_of = lambda slot: low_type if (op.tag, slot) in low else "f32"
        for slot, operand in [*zip(op.operand_slots, operands), (op.result_slot, result)]:
            if operand != type_of(slot):
                errors.append(f"slot {slot} of {op.text}: expected {type_of(slot)}, got {operand}")
    return errors


def run(tool, text, *passes):
    # Names are unique across regions.
    done = subprocess.run([tool, "-", "--mlir-print-unique-ssa-ids", *passes], input=text, capture_output=True, text=True)
    if done.returncode:
        print(text)
        sys.exit(f"{' '.join(passes)} fails:\n{done.stderr}")
    return done.stdout


def split(module):
    """The text of each function, by name, its values numbered from 0: the tool
    counts through the module, so that one function would shift all others."""
    def renumber(text):
        numbers = {}
        return re.sub(r"%(?:arg)?\d+", lambda m: numbers.setdefault(m[0], f"%v{len(numbers)}"), text)

    parts = re.split(r"^  func\.func @(\w+)", module, flags=re.M)
    return dict(zip(parts[1::2], map(renumber, parts[2::2])))


def main():
    tool, seed = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2024
    count = 6000 if os.environ.get("AMP_LONG_TESTS") else 300
    rng = random.Random(seed)
    functions = [Function(rng, f"f{i}", control_flow=i % 3 == 2) for i in range(count)]
    module = "\n".join(f.text for f in functions)
    failures = lowered = 0
    for precision, low_type in (("fp16", "f16"), ("bf16", "bf16")):
        mixed = run(tool, module, f"--auto-mixed-precision=strategy=grappler precision={precision}")
        after = split(mixed)
        for function in functions:
            lowered += low_type in after[function.name]
            errors = check(function, after[function.name], low_type)
            if errors and failures < 3:
                print(f"{precision} @{function.name}, seed {seed}:", *errors, sep="\n  ")
                print(function.text, "becomes", after[function.name], sep="\n")
            failures += bool(errors)
        if run(tool, mixed, f"--auto-mixed-precision=strategy=grappler precision={precision}") != mixed:
            failures += 1
            print(f"{precision}: a second run of auto-mixed-precision changes something")
        cleaned = run(tool, mixed, "--amp-optimize-casts")
        # A narrowing followed by a widening in the input rounds, so both stay.
        for name in ("f16", "bf16"):
            pattern = rf"= amp\.cast %\w+ {{test\.tag[^}}]*}} : tensor<4x4x{name}> to tensor<4x4xf32>"
            if len(re.findall(pattern, cleaned)) > len(re.findall(pattern, mixed)):
                failures += 1
                print(f"{precision}: amp-optimize-casts adds casts")
        both = (f"--auto-mixed-precision=strategy=grappler precision={precision}", "--amp-optimize-casts")
        # A second run starts from the input, except where the clean-up removed
        # unused casts of the user.
        user_casts = lambda text: len(re.findall(r"= amp\.cast %[\w#]+ {test\.tag", text))
        once = split(cleaned)
        untouched = {name for name, text in once.items()
                     if user_casts(text) == user_casts(after[name])}
        again = split(run(tool, cleaned, *both))
        if any(again[name] != once[name] for name in untouched) or len(untouched) < count / 2:
            failures += 1
            print(f"{precision}: a second run of both passes changes something")
    print(f"{count} functions, {failures} failure(s)")
    if lowered < count:
        sys.exit("too few functions became low: the test would prove nothing")
    sys.exit(failures != 0)


main()
