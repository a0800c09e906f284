# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compares the strategy `grappler` with TensorFlow's auto_mixed_precision pass
# on the same graphs, with the lists of that pass as a policy. The same
# operations must become low, with the same number of casts.
# Inputs/record_tensorflow.py records TensorFlow's results in
# Inputs/grappler_tensorflow.json (last with tensorflow 2.21.0).
#
# RUN: %python %s amp-opt %S/Inputs %S/Inputs/grappler_tensorflow.json
#
# The comparison fails with another algorithm and with another record.
# RUN: not %python %s amp-opt %S/Inputs %S/Inputs/grappler_tensorflow.json autocast 2>&1 | FileCheck %s
# CHECK: f16 deny-clear-product:
# CHECK: graphs differ
"""Usage: grappler-tensorflow.py <amp-opt> <folder of the graphs> <record>
[strategy]"""

import json
import os
import re
import subprocess
import sys
import tempfile

tool, folder, record_file = sys.argv[1:4]
strategy = sys.argv[4] if len(sys.argv) > 4 else "grappler"
sys.path.insert(0, folder)
from grappler_graphs import GRAPHS

T = "tensor<4x4xf32>"
TYPES = {"i": "tensor<4x4xi32>"}


class Writer:
    """The MLIR form of a graph."""

    def __init__(self, low):
        self.lines, self.types = [], {**{n: T for n in "xywvc"}, **TYPES}
        self.types["h"] = f"tensor<4x4x{low}>"
        self.arguments = ", ".join(f"%{n}: {t}" for n, t in self.types.items())

    def result_type(self, op, operands):
        if op == "Greater":
            return "tensor<4x4xi1>"
        if op == "ArgMax":
            return "tensor<4xi64>"
        shapes = [self.types[o] for o in operands]
        if op in ("Sum", "Mean", "Max"):
            return "tensor<4x1xf32>"
        # Elementwise operations broadcast.
        return T if any(s.startswith("tensor<4x4x") for s in shapes) else shapes[0]

    def emit(self, nodes, indent):
        for name, op, inputs, attributes in nodes:
            operands = ", ".join(f"%{i}" for i in inputs)
            tag = f'{{test.tag = "{name}"}}'
            if op == "Loop":
                self.emit_loop(name, inputs[0], attributes, indent)
                continue
            self.types[name] = self.result_type(op, inputs) if op not in ("Cast", "Const") else T
            types = ", ".join(self.types[i] for i in inputs)
            if op == "Const":
                text = f"train.constant dense<{attributes['value']}> : {T}"
            elif op == "Cast" and inputs == ["i"]:
                text = f"arith.sitofp {operands} {tag} : {types} to {T}"
            elif op == "Cast":
                text = f"amp.cast {operands} {tag} : {types} to {T}"
            else:
                text = f'"tf.{op}"({operands}) {tag} : ({types}) -> {self.types[name]}'
            self.lines.append(f"{indent}%{name} = {text}")

    def emit_loop(self, name, initial, attributes, indent):
        self.types["carried"] = self.types[name] = self.types[initial]
        self.lines.append(f"{indent}%{name} = scf.for %iv = %zero to %three step %one "
                          f"iter_args(%carried = %{initial}) -> ({self.types[name]}) {{")
        self.emit(attributes["body"], indent + "  ")
        self.lines += [f"{indent}  scf.yield %{attributes['yields']} : {self.types[name]}",
                       f"{indent}}}"]

    def function(self, name, graph):
        nodes, outputs = graph
        for index, number in enumerate(("zero", "one", "two", "three")):
            self.lines.append(f"  %{number} = arith.constant {index} : index")
        self.emit(nodes, "  ")
        types = ", ".join(self.types[o] for o in outputs)
        returned = ", ".join(f"%{o}" for o in outputs)
        return "\n".join([f"func.func @\"{name}\"({self.arguments}) -> ({types}) {{",
                          *self.lines, f"  return {returned} : {types}", "}"])


def nodes_of(nodes):
    for name, op, _, attributes in nodes:
        if op == "Loop":
            yield from nodes_of(attributes["body"])
        elif op != "Const":
            yield name, op


def run(text, policy, precision, *more):
    command = [tool, "-", "--allow-unregistered-dialect",
               f"--auto-mixed-precision=precision={precision} policy={policy} strategy={strategy}", *more]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} fails:\n{done.stderr}")
    return done.stdout


def functions(text):
    parts = re.split(r"^  func\.func @\"?([\w-]+)\"?\(", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def measure(graph, text, low):
    """Which nodes are low, and the number of casts, in a rewritten function."""
    types = dict(re.findall(r'tag = "(\w+)".*? : (.*)$', text, flags=re.M))
    is_low = {}
    for name, op in nodes_of(graph[0]):
        # A removed cast of the input counts as low, since its operand is low.
        result = types[name].split(" to ")[-1] if op == "Cast" and name in types else types.get(name, low)
        is_low[name] = bool(re.search(rf"x{low}\b|^{low}$", result))
    return is_low, len(re.findall(r"= amp\.cast %\S+ inserted", text))


def compare(mode, record):
    low = mode
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", delete=False) as policy:
        policy.write("version: 1\nadapters: [{dialect: tf, cast: {op: amp.cast}}]\n")
        for key, ops in record["lists"].items():
            policy.write(f"{key}:\n" + "".join(f"  - tf.{op}\n" for op in ops))
        # TensorFlow treats the square of a value as any other product.
        policy.write("slots:\n  - {op: tf.Mul, slot: 0, kind: storage}\n")
    try:
        text = "\n".join(Writer(low).function(n, g) for n, g in GRAPHS.items())
        plain = functions(run(text, policy.name, low))
        folded = functions(run(text, policy.name, low, "--amp-optimize-casts"))
    finally:
        os.unlink(policy.name)
    different = 0
    for name, graph in GRAPHS.items():
        is_low, _ = measure(graph, folded[name], low)
        _, casts = measure(graph, plain[name], low)
        # When casts are folded, a cast of the input takes the type of all its
        # readers. The pass alone adds a second cast after it.
        casts -= sum(is_low[n] for n, op in nodes_of(graph[0]) if op == "Cast")
        expected = record["graphs"][name]
        want = {**dict.fromkeys(expected["low"], True), **dict.fromkeys(expected["f32"], False)}
        wrong = [f"{n} is {'low' if is_low[n] else 'f32'}" for n in want if is_low.get(n) != want[n]]
        if set(want) != set(is_low):
            wrong.append("the record has other nodes")
        if casts != expected["casts"]:
            wrong.append(f"{casts} casts instead of {expected['casts']}")
        if wrong:
            different += 1
            print(f"{mode} {name}: {', '.join(wrong)}\n{plain[name]}")
    return different


def main():
    record = json.load(open(record_file))
    different = total = 0
    for mode, results in record["modes"].items():
        if set(results["graphs"]) != set(GRAPHS):
            sys.exit(f"{record_file} has other graphs: record it again")
        different += compare(mode, results)
        total += len(GRAPHS)
    print(f"TensorFlow {record['tensorflow']}: {total - different} graphs equal, {different} graphs differ")
    sys.exit(different != 0)


main()
