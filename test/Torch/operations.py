# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Which case of rules.py and which network meets each rule of amp_torch. The record is the
# column "tested by" of docs/torch-operations.md. This test traces every case and fails if
# the record is out of date.
#
# REQUIRES: torch-export, full
# RUN: %torch_python %s %S/Inputs/operations.json
"""Usage: operations.py <record> [--write]"""

import json
import sys

import torch

from amp_torch.export import trace
from amp_torch.translate import RULES, Translator
from rule_cases import CASES
from rules import Cases
from torch_networks import NETWORKS, batch_of, make, optimizer_of

LISTED = 3


def met(build):
    """The operations of the graph that `build` traces whose rules ran."""
    found, apply = set(), Translator.apply

    def recorded(self, function, name, args, kwargs):
        result = apply(self, function, name, args, kwargs)
        found.add(name)
        return result

    Translator.apply = recorded
    try:
        build()
    finally:
        Translator.apply = apply
    return found


def trace_case(name):
    model = Cases([name])
    sample = torch.ones(4, *CASES[name][1])
    trace(model, None, torch.optim.SGD(model.parameters(), lr=0.1), (sample,), dynamic_batch=True)


def trace_network(name):
    model, loss, arrays = make(name)
    trace(model, loss, optimizer_of("sgd", model), batch_of(loss, [array[:4] for array in arrays]))


def main():
    record = {}
    entries = [(name, trace_case, name) for name in CASES]
    entries += [(name, trace_network, f"network {name}") for name in NETWORKS]
    for name, build, label in entries:
        for operation in sorted(met(lambda: build(name))):
            listed = record.setdefault(operation, [])
            if len(listed) < LISTED:
                listed.append(label)
    text = json.dumps(dict(sorted(record.items())), indent=0) + "\n"
    if sys.argv[2:] == ["--write"]:
        with open(sys.argv[1], "w") as file:
            file.write(text)
    else:
        with open(sys.argv[1]) as file:
            assert file.read() == text, f"run operations.py {sys.argv[1]} --write, then tools/dev docs"
    without = sorted(set(RULES) - set(record))
    print(f"{len(record)} of {len(RULES)} rules run in a case; others: {' '.join(without)}")


if __name__ == "__main__":
    main()
