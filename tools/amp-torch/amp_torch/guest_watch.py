#===- guest_watch.py - Counts of the values of a rewritten graph ---------===//
#
# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
"""Counts the values of the graphs of a backend.

A sampled call runs its half of a graph node by node and counts the results: the same operations in
the same order as the call that does not count. Inductor fuses the operations of a half, so it has
no such call. The report has the form of `amp-run --watch-json`.
"""

import operator
import re
import struct

import torch
from torch import fx

from .fx_apply import is_cast
from .fx_to_mlir import ELEMENT_TYPES, clean_path, module_path, operation_name

FIELDS = ("nan", "infinite", "zero", "overflow", "underflow", "largest", "smallest")
LARGEST, SMALLEST, FIRST_BIN = 5, 6, 7
# The exponents of the least normal and the least subnormal magnitude.
EXPONENTS = {"f16": (-14, -24)}
LOW_DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16}
# From this number of points on, two points of the series become one.
MOST_POINTS = 512


def count(value, to=None):
    """The statistics of a tensor as `amp.statistics` lays them out, judged as f32."""
    wide = value.detach().float().reshape(-1)
    size = wide.view(torch.int32) & 0x7FFFFFFF
    finite, nonzero = size < 0x7F800000, size != 0
    low = wide.to(to) if to is not None else wide
    fields = [
        (size > 0x7F800000).sum(),
        (size == 0x7F800000).sum(),
        (~nonzero).sum(),
        (finite & ~torch.isfinite(low)).sum(),
        (nonzero & (low == 0)).sum(),
        torch.where(finite, size, 0).amax(),
        torch.where(finite & nonzero, size, 0x7FFFFFFF).amin() % 0x7FFFFFFF,
    ]
    return torch.cat([torch.stack([field.long() for field in fields]), torch.bincount(size >> 23, minlength=256)])


def add(total, other):
    """The statistics of two sets of elements together."""
    result = [a + b for a, b in zip(total, other)]
    result[LARGEST] = max(total[LARGEST], other[LARGEST])
    result[SMALLEST] = min(filter(None, (total[SMALLEST], other[SMALLEST])), default=0)
    return result


def to_number(bits):
    return struct.unpack("f", struct.pack("I", bits))[0]


def print_field(index, value):
    return to_number(value) if index in (LARGEST, SMALLEST) else value


class Record:
    """A watched value and its statistics."""

    def __init__(self, number, node, op, part, to, arguments):
        self.number, self.op, self.part, self.to = number, op, part, to
        self.type = ELEMENT_TYPES.get(node.meta["val"].dtype, str(node.meta["val"].dtype))
        self.shape = [e if isinstance(e, int) else -1 for e in node.meta["val"].shape]
        self.scope, self.place = "", ""
        if op == "argument":
            self.scope = arguments.get(node.name, node.name)
            self.name = f'argument "{self.scope}"'
        else:
            lines = re.findall(r'File "([^"]*)", line (\d+)', node.meta.get("stack_trace") or "")
            self.place = f"{lines[-1][0]}:{lines[-1][1]}" if lines else ""
            self.scope = module_path(node)
            self.name = " ".join(filter(None, (op, self.scope, self.place)))
        self.operands = []
        self.total = [0] * (FIRST_BIN + 256)
        # The fields before the bins, by the position of the step.
        self.points = {}

    def add(self, point, fields):
        self.total = add(self.total, fields)
        head = fields[:FIRST_BIN]
        self.points[point] = add(self.points[point], head) if point in self.points else head

    def halve(self):
        points = {}
        for point, fields in self.points.items():
            half = point // 2
            points[half] = add(points[half], fields) if half in points else fields
        self.points = points

    def bin(self, exponent):
        return self.total[FIRST_BIN + exponent + 127]

    def below(self, exponent):
        """Elements other than 0 below 2^exponent."""
        return self.bin(-127) - self.total[2] + sum(self.bin(e) for e in range(-126, exponent))

    def to_json(self, low, num_points):
        judged = self.to or (self.type if self.type in LOW_DTYPES or not low else low)
        normal, subnormal = EXPONENTS.get(judged, (-126, -126))
        total = self.total
        entry = {"name": self.name, "op": self.op, "location": self.place, "scope": self.scope, "part": self.part,
                 "type": self.type, "shape": self.shape, "to": self.to or "", "judged": judged}
        entry = {key: value for key, value in entry.items() if value != ""}
        entry |= {"operands": self.operands, "elements": sum(total[FIRST_BIN:]), "belowNormal": self.below(normal),
                  "belowSubnormal": self.below(subnormal)}
        entry |= {name: print_field(i, total[i]) for i, name in enumerate(FIELDS)}
        bins = {e: self.bin(e) - (total[2] if e == -127 else 0) for e in range(-127, 128)}
        entry["exponents"] = {str(e): n for e, n in bins.items() if n}
        points = [self.points.get(p, [0] * FIRST_BIN) for p in range(num_points)]
        entry["series"] = {name: [print_field(i, p[i]) for p in points] for i, name in enumerate(FIELDS)}
        return entry


def list_arguments(graph_module):
    """The paths of the arguments of a graph of torch.compile in the model, by their names in the
    graph of AOTAutograd."""
    names = {}
    placeholders = [node for node in graph_module.graph.nodes if node.op == "placeholder"]
    for number, node in enumerate(placeholders, 1):
        source = getattr(node.meta.get("grapharg"), "source", None)
        path = source.name() if callable(getattr(source, "name", None)) else getattr(source, "name", None)
        local = re.fullmatch(r"[LG]\['(\w+)'\]", path or "")
        names[f"primals_{number}"] = local[1] if local else clean_path(path) if path else node.name
    return names


def is_view(node):
    return isinstance(node.target, torch._ops.OpOverload) and node.target.is_view


def is_watchable(node):
    """Whether a node is a tensor of floats, other than a constant and the result of a change in place."""
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor) or not value.dtype.is_floating_point:
        return False
    if node.op == "placeholder":
        return True
    is_change = isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable
    return node.op == "call_function" and bool(node.all_input_nodes) and not is_change


def narrow_type(node):
    """The low type that a cast of the value has, or None."""
    names = [ELEMENT_TYPES.get(user.meta["val"].dtype) for user in node.users if is_cast(user)]
    width = node.meta["val"].dtype.itemsize
    return next((name for name in names if name in LOW_DTYPES and LOW_DTYPES[name].itemsize < width), None)


class Graph:
    """The forward and the backward half of one graph, and the values of both."""

    def __init__(self, watch, graph_module):
        self.watch, self.calls = watch, 0
        self.arguments = list_arguments(graph_module)
        # The numbers of values by the name of the node. The backward half reads values by these names.
        self.numbers = {}
        # Whether the forward calls since the last backward call are sampled.
        self.flags, self.is_backward = [], False

    def begin(self):
        self.calls += 1
        if self.is_backward:
            self.flags, self.is_backward = [], False
        self.flags.append((self.calls - 1) % self.watch.every == 0)
        return self.flags[-1]

    def begin_backward(self):
        self.is_backward = True
        return any(self.flags)

    def add_values(self, part, backward):
        """Numbers the values of a half. Returns those to count, by node."""
        records, numbers = {}, {}

        def sources(node):
            return sorted({numbers[n] for n in node.all_input_nodes if n in numbers})

        for node in part.graph.nodes:
            op = "argument" if node.op == "placeholder" else operation_name(node.target)
            if backward and op == "argument" and node.name in self.numbers:
                # A value that the forward half kept.
                numbers[node] = self.numbers[node.name]
            elif not is_watchable(node):
                continue
            elif is_view(node) or is_cast(node):
                numbers.update({node: number for number in sources(node)[:1]})
            else:
                operands = sources(node)
                if node.target is operator.getitem:
                    op = f"{operation_name(node.args[0].target)}#{node.args[1]}"
                    operands = sources(node.args[0])
                part_name = "backward" if backward else "forward"
                record = self.watch.add_record(node, op, part_name, narrow_type(node), self.arguments)
                if record is not None:
                    record.operands, records[node], numbers[node] = operands, record, record.number
        if not backward:
            self.numbers = {node.name: number for node, number in numbers.items()}
        return records


class Counter(fx.Interpreter):
    """Runs a half and counts its values."""

    def __init__(self, part, records):
        super().__init__(part)
        self.records, self.counts = records, {}

    def run_node(self, node):
        result = super().run_node(node)
        record = self.records.get(node)
        if record is not None and result.numel():
            self.counts[record] = count(result, LOW_DTYPES.get(record.to))
        return result


class Watch:
    """The watched values of all graphs of a backend."""

    def __init__(self, match, every, low):
        self.match = None if match is True else re.compile(match)
        self.every, self.low = every, low
        self.records, self.steps, self.last = [], [], None
        self.num_steps = self.num_sampled = 0
        # The sampled steps in one point of the series.
        self.merged = 1
        self.ran, self.has_ended = set(), True

    def add_record(self, node, op, part, to, arguments):
        record = Record(len(self.records), node, op, part, to, arguments)
        if self.match is not None and not self.match.search(record.name):
            return None
        self.records.append(record)
        return record

    def begin(self, graph, backward):
        """Starts the call of a half. Returns whether it is sampled. A step begins with a forward
        pass after a backward pass, or with a graph that ran in the step already."""
        if backward:
            self.has_ended = True
            return graph.begin_backward()
        if self.has_ended or graph in self.ran:
            self.num_steps += 1
            self.ran, self.has_ended = set(), False
        self.ran.add(graph)
        return graph.begin()

    def add_counts(self, counts):
        if not counts:
            return
        if self.last != self.num_steps:
            self.last = self.num_steps
            if self.num_sampled == MOST_POINTS * self.merged:
                self.merged *= 2
                self.steps = self.steps[::2]
                for record in self.records:
                    record.halve()
            if self.num_sampled % self.merged == 0:
                self.steps.append(self.num_steps)
            self.num_sampled += 1
        fields = torch.stack(list(counts.values())).tolist()
        for record, row in zip(counts, fields):
            record.add(len(self.steps) - 1, row)

    def wrap(self, graph, part, compiled, backward):
        """Returns a function that calls `compiled` with a list of arguments, or runs `part` and counts
        its values."""
        records = graph.add_values(part, backward)

        def call(arguments):
            if not self.begin(graph, backward) or not records:
                return compiled(arguments)
            counter = Counter(part, records)
            results = counter.run(*arguments)
            with torch.no_grad():
                self.add_counts(counter.counts)
            arguments.clear()
            return results

        call._boxed_call = True
        return call

    def rank(self):
        """The numbers of the values by importance, as in the table of amp-run."""

        def key(record):
            total = record.total
            nonzero = sum(total[FIRST_BIN:]) - total[0] - total[1] - total[2]
            is_low = bool(record.to) or record.type in LOW_DTYPES
            kind = 0 if total[0] + total[1] else 1 if total[3] else 2 if total[4] else 3 if is_low else 4
            judged = record.to or (record.type if is_low or not self.low else self.low)
            part = (0, total[3], total[4])[kind] if kind < 3 else record.below(EXPONENTS.get(judged, (-126,))[0])
            return kind, -part / nonzero if nonzero else 0.0, record.number

        return [record.number for record in sorted(self.records, key=key)]

    def report(self):
        return {"version": 1, "model": "torch.compile", "low": self.low, "every": self.every,
                "sampled": self.num_sampled, "merged": self.merged, "steps": list(self.steps), "ranked": self.rank(),
                "values": [record.to_json(self.low, len(self.steps)) for record in self.records]}
