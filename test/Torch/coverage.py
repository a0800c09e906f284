# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Models of torchvision and transformers take one training step in each mode: a
# compiled step in f32, and torch.compile with the passes as its backend. The results are the
# input of docs/torch-coverage.md.
#
# REQUIRES: torch-models, full
# RUN: rm -f %t.json
# RUN: %torch_python %s --output %t.json --expect-all squeezenet1_1 gpt2
# RUN: %python %amp_src_root/tools/docs/torch-coverage.py %amp_src_root %t.json | FileCheck %s
# CHECK: | torchvision | compile | 1 | 1 | 100 % |
# CHECK: | torchvision | guest | 1 | 1 | 100 % |
# CHECK: | transformers | compile | 1 | 1 | 100 % |
# CHECK: | transformers | guest | 1 | 1 | 100 % |
# CHECK-COUNT-2: Every model that was tried trains.
"""Usage: coverage.py --output <file> [--resume] [--modes compile,guest] [--timeout <seconds>]
[--expect-all] [model...]: by default all models. Each model runs in a process that ends after the
timeout. --resume keeps the results in the file and runs the other models; --retry also runs those
without success. With --expect-all, a model that does not train is an error."""

import argparse
import json
import math
import multiprocessing
import os
import resource
import sys
import tempfile
import traceback
import warnings

import torch

import amp_torch
from architectures import FAMILIES, NotTried

MODES = ("compile", "guest")
#: Relative differences of losses from eager PyTorch in f32. The norms of a small batch
#: amplify roundings, so the second loss has the bound of library-models.py.
FIRST, SECOND = 1e-4, 1e-3
#: The norm of gradients. Those of a deep network with random weights may be so large that
#: the second loss depends on roundings alone.
CLIP = 1.0
MEMORY = 6 << 30


def optimizer_of(model):
    return torch.optim.SGD(model.parameters(), lr=0.01)


def loss_function(model, loss):
    if loss is None:
        return lambda batch: model(**batch).loss
    return lambda batch: loss(model(batch[0]), batch[1])


def two_losses(model, compute, batch, seed):
    """The losses before and after one update."""
    optimizer, losses = optimizer_of(model), []
    torch.manual_seed(seed)
    for _ in range(2):
        optimizer.zero_grad()
        loss = compute(batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        losses.append(loss.item())
    return losses


def eager(make, name):
    """The losses in PyTorch, and whether they depend on random numbers."""
    try:
        runs = []
        for seed in (1, 2):
            model, loss, batch = make(name)
            runs.append(two_losses(model, loss_function(model, loss), batch, seed))
    except NotTried:
        raise
    except Exception as error:
        raise NotTried(f"eager PyTorch: {first_line(error)}") from error
    if not all(map(math.isfinite, runs[0])):
        raise NotTried("eager PyTorch: a loss that is not finite")
    return runs[0], runs[0] != runs[1]


def compiled(make, name):
    model, loss, batch = make(name)
    step = amp_torch.compile(model, loss, optimizer_of(model), batch, clip_grad_norm=CLIP, threads=1)
    call = (lambda: step(batch)) if loss is None else (lambda: step(*batch))
    losses = [call().item() for _ in range(2)]
    return losses, {"fixed batch": step.main.traced.fixed} if step.main.traced.fixed else {}


def guest(make, name):
    model, loss, batch = make(name)
    backend = amp_torch.backend("bf16")
    losses = two_losses(model, torch.compile(loss_function(model, loss), backend=backend), batch, 1)
    if not any(report.low for report in backend.reports):
        raise RuntimeError("no operation is in low precision")
    return losses, {"graphs": len(backend.reports)}


def first_line(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:240]


def reasons_of(error):
    """Why a model does not train, without the paths of modules."""
    if isinstance(error, amp_torch.UnsupportedModel):
        return sorted({f"{what}: {advice}"[:240] for _, what, advice in error.problems})
    return [first_line(error)]


def try_model(family, name, modes):
    """The result of each mode, as the page reads it."""
    make = FAMILIES[family][1]
    try:
        expected, is_random = eager(make, name)
    except NotTried as error:
        return {"not tried": str(error)}
    result = {}
    for mode in modes:
        try:
            losses, notes = {"compile": compiled, "guest": guest}[mode](make, name)
        except Exception as error:  # The table has an entry for each model.
            if os.environ.get("AMP_COVERAGE_TRACE"):
                traceback.print_exc()
            result[mode] = {"reasons": reasons_of(error)}
            continue
        differences = [abs(a - b) / max(abs(b), 1e-6) for a, b in zip(losses, expected)]
        entry = {"difference": float(f"{max(differences):.1e}"), **notes}
        if is_random:
            entry["random"] = True
        if not all(map(math.isfinite, losses)):
            entry["reasons"] = ["a loss that is not finite"]
        elif mode == "compile" and not is_random and (differences[0] > FIRST or differences[1] > SECOND):
            entry["reasons"] = [f"the losses differ from those of PyTorch by {max(differences):.0e}"]
        result[mode] = entry
    return result


def child(connection, family, name, modes):
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    connection.send(try_model(family, name, modes))
    connection.close()


def warm_up():
    """Imports in this process much that PyTorch imports when it first captures a graph,
    without a backward pass, after which a process with autograd cannot fork."""
    model, batch = torch.nn.Linear(2, 2), (torch.randn(2, 2), torch.randint(0, 2, (2,)))
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        amp_torch.export(model, torch.nn.functional.cross_entropy, optimizer_of(model), batch, folder)


def in_process(family, name, modes, timeout):
    """The results of a process that starts with the imported libraries."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=child, args=(theirs, family, name, modes))
    process.start()
    theirs.close()
    try:
        if not ours.poll(timeout):
            reason = f"no result after {timeout} seconds"
        else:
            return ours.recv()
    except EOFError:
        process.join()
        reason = f"the process ended with the code {process.exitcode}"
    finally:
        process.kill()
        process.join()
    return {mode: {"reasons": [reason]} for mode in modes}


def trains(entry):
    return "reasons" not in entry


def describe(result):
    if "not tried" in result:
        return f"not tried: {result['not tried']}"
    return ", ".join(f"{mode}: {entry['difference'] if trains(entry) else '; '.join(entry['reasons'])}"
                     for mode, entry in result.items())


def write(path, results):
    with open(path + ".new", "w") as file:
        json.dump({"torch": torch.__version__, **results}, file, indent=1, sort_keys=True)
        file.write("\n")
    os.replace(path + ".new", path)


def done(result, modes, retry):
    if result is None:
        return False
    if "not tried" in result:
        return not retry
    return all(mode in result and (trains(result[mode]) or not retry) for mode in modes)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--output", required=True)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--retry", action="store_true")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--timeout", type=float, default=240)
    parser.add_argument("--expect-all", action="store_true")
    parser.add_argument("models", nargs="*")
    options = parser.parse_args()
    modes, results = options.modes.split(","), {family: {} for family in FAMILIES}
    if (options.resume or options.retry) and os.path.exists(options.output):
        with open(options.output) as file:
            results |= {family: entries for family, entries in json.load(file).items() if family in FAMILIES}
    warm_up()
    failures = 0
    for family, (names, _) in FAMILIES.items():
        for name in names():
            if options.models and name not in options.models:
                continue
            known = results[family].get(name)
            if not done(known, modes, options.retry):
                found = in_process(family, name, modes, options.timeout)
                results[family][name] = found if "not tried" in found else {**(known or {}), **found}
                results[family][name].pop("not tried", None) if "not tried" not in found else None
                write(options.output, results)
                print(f"{name}: {describe(found)}", flush=True)
            result = results[family][name]
            failures += "not tried" in result or not all(map(trains, result.values()))
    return failures > 0 if options.expect_all else 0


if __name__ == "__main__":
    sys.exit(main())
