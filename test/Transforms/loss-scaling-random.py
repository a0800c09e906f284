# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# amp-check-loss-scaling accepts random training steps after the pipeline, and
# rejects every mutant with a wrong order of loss scaling. The steps have one or
# several losses, several optimizers, micro-batches or calls of private functions.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs
"""Usage: loss-scaling-random.py <folder> <inputs> [first seed]

AMP_LONG_TESTS=1 takes 7,000 graphs and mutants of 1,500 of them.
"""

import os
import random
import re
import subprocess
import sys

folder = sys.argv[1]
sys.path.insert(0, sys.argv[2])
import generic_ops  # noqa: E402
from random_steps import M, S, scheme, step  # noqa: E402
from scheme_mutants import schemes  # noqa: E402

first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
LONG = bool(os.environ.get("AMP_LONG_TESTS"))
BATCHES, BATCH = (105, 50) if LONG else (4, 25)
MUTATED = 6 if LONG else 1  # Batches of which mutants are made.
SCHEMES = (20, 50) if LONG else (2, 12)  # Batches with several losses and so on.
# A diagnostic numbers the whole module: many small ones are faster.
CHUNK = 60
VARIANTS = ["", "master-weights=copy", "loss-scale=layerwise", "loss-scale=1024", "strategy=grappler", "scaler=deepspeed gradient-norm",
            "precision=bf16 loss-scale=dynamic count-skipped"]
# The seeds of steps with several losses, and whether to make mutants.
SCHEME_VARIANTS = {"": True, "scale-per-loss": True, "master-weights=copy": True,
                   "scale-per-loss gradient-norm count-skipped scaler=deepspeed": False, "loss-scale=layerwise": False}
T1 = "tensor<i1>"


def tool(text, name, *passes):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return subprocess.run(["amp-opt", path, *passes], capture_output=True, text=True)


def functions(text):
    """The functions of a printed module, as lists of lines."""
    found, current = [], None
    for line in text.splitlines():
        if line.startswith("  func.func "):
            current = []
            found.append(current)
        if current is not None:
            current.append(line)
        if line == "  }":
            current = None
    return found


def replace(lines, value, other, after=-1, but=()):
    """`lines` with `other` for `value` in the operands behind line `after`."""
    pattern = re.compile(re.escape(value) + r"(?![\w#])")

    def edit(index, line):
        if index <= after or index in but:
            return line
        if " = " not in line:
            return pattern.sub(lambda _: other, line)
        results, rest = line.split(" = ", 1)
        return results + " = " + pattern.sub(lambda _: other, rest)

    return [edit(i, line) for i, line in enumerate(lines)]


def mutants(lines):
    """Wrong versions of a step with one amp.unscale and a dynamic scale."""
    find = lambda text: next(i for i, line in enumerate(lines) if text in line)
    at = find("= amp.unscale ")
    match = re.match(r"\s*(%[\w$.-]+)(?::(\d+))?, (%[\w$.-]+) = amp\.unscale (.*) by (%\w+) : \((.*)\) -> ", lines[at])
    unscaled, count, flag, gradients, scale, types = match.groups()
    gradients, types = gradients.split(", "), types.split(", ")
    refs = [unscaled] if not count else [f"{unscaled}#{i}" for i in range(int(count))]
    parameter = re.search(r"(%arg\d+): tensor<4x4xf32> \{amp.name = \"w0\"", lines[0]).group(1)
    insert = lambda index, *new, base=lines: base[:index] + ["    " + line for line in new] + base[index:]

    for k, (gradient, type, ref) in enumerate(zip(gradients, types, refs)):
        use = lambda value: [line if i != at else replace([line], gradient, value)[0] for i, line in enumerate(lines)]
        if type == M:
            yield "never unscaled", replace(lines, ref, gradient, at)
        yield "unscaled twice", insert(
            at + 1, f"%m, %mf = amp.unscale {ref} by {scale} : ({M}) -> ({M})", base=replace(lines, ref, "%m", at))
        if gradients.count(gradient) > 1:
            continue
        wide = [] if type == M else [f"%mw = amp.cast {gradient} : {type} to {M}"]
        source = gradient if type == M else "%mw"
        for name, *new in (
            ("clipped before", f"%m, %mn = train.clip_by_global_norm {source} {{max_norm = 1.0 : f64}} : ({M}) -> ({M}, {S})"),
            ("decayed before", f"%m = train.add {source}, {parameter} : ({M}, {M}) -> {M}"),
            ("not linear", f"%m = train.exp {source} : {M}"),
            ("squared", f"%m = train.mul {source}, {source} : ({M}, {M}) -> {M}"),
        ):
            mutant = insert(at, *wide, *new, base=use("%m"))
            where = at + len(wide) + len(new)
            listed = list(types)
            listed[k] = M
            mutant[where] = mutant[where].replace(f"({', '.join(types)}) ->", f"({', '.join(listed)}) ->")
            yield name, mutant
        new = f"%m = train.sub {parameter}, {ref} : ({M}, {M}) -> {M}"
        end = len(lines) - 2
        operands, returned = lines[end].split("return ")[1].split(" : ")
        position = result_of(lines, "w0")
        operands = operands.split(", ")
        operands[position] = "%m"
        yield "stepped outside the guard", lines[:end] + ["    " + new, f"    return {', '.join(operands)} : {returned}", "  }"]

    yield "unscaled by another scale", insert(
        at, "%m = arith.constant dense<1024.0> : tensor<f32>",
        base=[line.replace(f" by {scale} ", " by %m ") if i == at else line for i, line in enumerate(lines)])
    trackers = re.search(r"amp\.update_scale %\w+, (%\w+), (%\w+), ", "\n".join(lines)).groups()
    yield "updated before unscaled", insert(
        at, f"%m = arith.constant dense<true> : {T1}",
        f"%m0, %m1, %m2 = amp.update_scale {scale}, {', '.join(trackers)}, %m",
        base=[line.replace(f" by {scale} ", " by %m0 ") if i == at else line for i, line in enumerate(lines)])
    guard = find("= scf.if ")
    yield "guarded by nothing", insert(
        guard, "%m = arith.constant true",
        base=[re.sub(r"scf\.if %[\w-]+", "scf.if %m", line) if i == guard else line for i, line in enumerate(lines)])
    update = find("= amp.update_scale ")
    yield "updated on nothing", insert(
        update, f"%m = arith.constant dense<true> : {T1}",
        base=[re.sub(re.escape(flag) + r"(?![\w#])", "%m", line) if i == update else line for i, line in enumerate(lines)])
    scaling = find("= amp.scale ")
    scaled, seed = re.match(r"\s*(%[\w-]+) = amp\.scale (%[\w-]+) by", lines[scaling]).groups()
    yield "not scaled", replace(lines, scaled, seed, scaling)
    yield "scaled twice", insert(
        scaling + 1, f"%m = amp.scale {scaled} by {scale} : {S}", base=replace(lines, scaled, "%m", scaling))
    end = len(lines) - 2
    operands, returned = lines[end].split("return ")[1].split(" : ")
    operands = operands.split(", ")
    loss = result_of(lines, "loss")
    for name, new in (
        ("scaled metric", f"%m = amp.scale {operands[loss]} by {scale} : {S}"),
        ("norm of scaled gradients", f"%m = amp.global_norm {', '.join(gradients)} : {', '.join(types)}"),
    ):
        changed = [*operands]
        changed[loss] = "%m"
        yield name, lines[:end] + ["    " + new, f"    return {', '.join(changed)} : {returned}", "  }"]


def layer_mutants(lines):
    """Wrong versions of a step whose layers have a scale each."""
    find = lambda text: [i for i, line in enumerate(lines) if text in line]
    scales = sorted({re.search(r" from (%\w+) to", lines[i]).group(1) for i in find("= amp.rescale ")}
                    | {re.search(r" to (%\w+) :", lines[i]).group(1) for i in find("= amp.rescale ")})
    other = lambda scale: scales[(scales.index(scale) + 1) % len(scales)]

    def edit(index, line):
        return [line if i == index else old for i, old in enumerate(lines)]

    for at in find("= amp.rescale "):
        result, gradient, source, target = re.match(
            r"\s*(%[\w-]+) = amp\.rescale (\S+) from (%\w+) to (%\w+) :", lines[at]).groups()
        yield "not rescaled", replace(lines, result, gradient, at)
        yield "rescaled backwards", edit(
            at, lines[at].replace(f"from {source} to {target}", f"from {target} to {source}"))
        yield "rescaled twice", replace(
            lines[:at + 1] + [re.sub(r"%[\w-]+ = amp\.rescale \S+", f"%m = amp.rescale {result}", lines[at])] + lines[at + 1:],
            result, "%m", at + 1)
    for at in find("= amp.unscale "):
        scale = re.search(r" by (%\w+) ", lines[at]).group(1)
        if scale in scales:
            yield "unscaled by another layer's", edit(at, lines[at].replace(f" by {scale} ", f" by {other(scale)} "))
    adapted = [(at, *re.search(r"amp\.adapt_scale (%\w+), (\S+), (\S+)", lines[at]).groups())
               for at in find("= amp.adapt_scale ")]
    for at, scale, magnitude, flag in adapted:
        if scale not in scales:
            continue
        yield "not told of its overflow", edit(
            at, lines[at].replace(f", {flag}", f", {next(f for _, s, _, f in adapted if s == other(scale))}"))
        yield "adapted to another layer", edit(
            at, lines[at].replace(f" {magnitude},", f" {next(m for _, s, m, _ in adapted if s == other(scale))},"))


def result_of(lines, name):
    """The number of the result that updates, or is the metric, `name`."""
    signature = lines[0].split(" -> (", 1)[1]
    return [m.group(1) for m in re.finditer(r'\{amp\.(?:metric|updates) = "([^"]*)"\}', signature)].index(name)


def check_schemes(batch, accepted, kinds):
    """Checks a batch of steps with several losses, optimizers or micro-batches, as
    they are and with parts of them in functions that they call, and mutants of both."""
    rng = random.Random(first * 1000 + batch + 500)
    variants = list(SCHEME_VARIANTS)
    variant = variants[batch % len(variants)]
    steps = [scheme(rng, f"f{i}", together="per-loss" not in variant) for i in range(SCHEMES[1])]
    result = tool("".join(steps), "schemes.mlir", f"--amp-training-pipeline={variant}",
                  "--mlir-print-op-generic", "--mlir-print-local-scope")
    assert result.returncode == 0, (batch, variant, result.stderr[-3000:])
    found = generic_ops.functions(result.stdout)
    assert len(found) == SCHEMES[1], len(found)

    def called(function, number, count):
        return [line for i in range(count) for line in generic_ops.outline(function, rng, f"c{number}_{i}")]

    # With calls: correct steps stay correct.
    lines = []
    for number, one in enumerate(found):
        function = generic_ops.Function(one)
        lines += called(function, number, 3) + function.lines()
    result = tool("\n".join(lines) + "\n", "calls.mlir", "--amp-check-loss-scaling", "-o", "/dev/null")
    assert result.returncode == 0, (batch, variant, result.stderr[-3000:])
    accepted += 2 * len(found)
    if not SCHEME_VARIANTS[variant] or batch // len(variants) >= MUTATED:
        return accepted
    made = {}
    for number, one in enumerate(found):
        for kind, message, change in schemes(generic_ops.Function(one)):
            made.setdefault(kind, []).append((number, kind, message, change))
    # As many of each kind.
    made = [m for of in made.values() for m in rng.sample(of, min(len(of), 40 if LONG else 2))]
    for start in range(0, len(made), CHUNK):
        part, module, owner = made[start : start + CHUNK], [], []
        for number, (step_number, _, _, change) in enumerate(part):
            function = generic_ops.Function(found[step_number])
            change(function)
            function.root.head = re.sub(r'sym_name = "\w+"', f'sym_name = "m{number}"', function.root.head)
            lines = called(function, number, rng.choice([0, 0, 1, 2])) + function.lines()
            module += lines
            owner += [number] * len(lines)
        result = tool("\n".join(module) + "\n", "mutants.mlir", "--amp-check-loss-scaling", "-o", "/dev/null")
        said = {}
        for m in re.finditer(r"mutants\.mlir:(\d+):\d+: error: (.*)", result.stderr):
            said.setdefault(owner[int(m.group(1)) - 1], []).append(m.group(2))
        for number, (_, kind, message, _) in enumerate(part):
            errors = said.get(number, [])
            text = "\n".join(line for line, of in zip(module, owner) if of == number)
            assert any(re.search(message, error) for error in errors), (kind, message, errors, text, result.stderr[:2000])
            kinds[kind] = kinds.get(kind, 0) + 1
    return accepted


accepted = rejected = 0
kinds = {}
for batch in range(BATCHES):
    rng = random.Random(first * 1000 + batch)
    text = "".join(step(rng, f"f{i}") for i in range(BATCH))
    variant = VARIANTS[batch % len(VARIANTS)]
    result = tool(text, "steps.mlir", f"--amp-training-pipeline={variant}", "--mlir-print-local-scope")
    assert result.returncode == 0, (batch, variant, result.stderr[-3000:])
    found = functions(result.stdout)
    assert len(found) == BATCH, len(found)
    assert all(any("amp.unscale" in line for line in lines) for lines in found), batch
    accepted += BATCH
    # Those of the first variants, which have scales that adapt.
    if batch % len(VARIANTS) not in (0, 1, 2) or batch // len(VARIANTS) >= MUTATED:
        continue
    make = layer_mutants if "layerwise" in variant else mutants
    made = [(kind, lines) for lines in found for kind, lines in make(lines)]
    if not LONG:
        made = rng.sample(made, CHUNK)
    for start in range(0, len(made), CHUNK):
        part = made[start : start + CHUNK]
        module, owner = [], []
        for number, (kind, lines) in enumerate(part):
            named = [re.sub(r"@f\d+", f"@m{number}", lines[0]), *lines[1:]]
            module += named
            owner += [number] * len(named)
        result = tool("\n".join(module) + "\n", "mutants.mlir", "--amp-check-loss-scaling", "-o", "/dev/null")
        hit = {owner[int(m.group(1)) - 1] for m in re.finditer(r"mutants\.mlir:(\d+):\d+: error: ", result.stderr)}
        missed = [part[i] for i in range(len(part)) if i not in hit]
        assert not missed, (len(missed), missed[0][0], "\n".join(missed[0][1]), result.stderr[:2000])
        rejected += len(part)
        for kind, _ in part:
            kinds[kind] = kinds.get(kind, 0) + 1
assert len(kinds) >= 18, kinds
combined = {}
for batch in range(SCHEMES[0]):
    accepted = check_schemes(batch, accepted, combined)
assert len(combined) >= 24, combined
rejected += sum(combined.values())
if LONG:
    assert accepted >= 5000 and rejected >= 1000, (accepted, rejected)
print(f"{accepted} steps accepted, {rejected} mutants rejected: {kinds}, {combined}")
