# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wrong versions of steps with several losses, optimizers or micro-batches, which
are operations in the generic form (generic_ops.py).

Each has the message that it must cause: an error for another reason proves nothing.
"""

import re

from random_steps import M, S

T1, I32 = "tensor<i1>", "tensor<i32>"
UNFINITE = r"depends on gradients that may not be finite"
NO_OLD = r"does not give the old value back"
NOT_SCALED = r"is multiplied by .+, expected (an unscaled value|(the new )?\S+$)"
TWO_FACTORS = r"operand \d is multiplied by .*, but operand \d by .*, expected values with one factor"
CARRIED = r"carries a value that is multiplied by .* to where another one is"
KEPT = r'the update of "\S+" gives the old scale back where gradients are not finite'
OTHER = r'the update of "\S+" is the new value of "\S+", expected the new value of its own scale'
UNSEEN = r"does not see the finite flag of all gradients that its scale divides"
EITHER = "|".join([NOT_SCALED, TWO_FACTORS, CARRIED])


class Facts:
    """Facts about a step for the mutants."""

    def __init__(self, f):
        self.f = f
        self.unscales, self.updates, self.scales = f.ops("amp.unscale"), f.ops("amp.update_scale"), f.ops("amp.scale")
        self.loops = f.ops("scf.for")
        self.types = f.types()
        self.definer = {r: op for op in f.ops() for r in op.results}
        self.place = {id(op): i for i, op in enumerate(f.body)}
        self.guards = [op for op in f.body if op.name == "scf.if" and self.flags(op.operands[0])]
        self.named = {"result": re.findall(r'amp\.(?:metric|updates) = "([^"]*)"', self.attribute("res_attrs")),
                      "argument": re.findall(r'amp\.name = "([^"]*)"', self.attribute("arg_attrs"))}

    def attribute(self, name):
        """The list of dictionaries of that name. None holds a ']'."""
        text = self.f.root.head
        at = text.index(name + " = [")
        return text[at : text.index("]", at)]

    def argument(self, name):
        return self.f.arguments[self.named["argument"].index(name)][0]

    def flags(self, condition):
        """The checks of which `condition` is the conjunction."""
        op = self.definer.get(condition)
        if op is None:
            return frozenset()
        if op.name == "amp.unscale":
            return frozenset([op.base])
        if op.name in ("tensor.extract", "tensor.from_elements", "arith.andi"):
            return frozenset().union(*(self.flags(o) for o in op.operands))
        return frozenset()

    def needed(self, values, seen=None):
        """The checks on whose gradients `values` depend."""
        seen, found, work = set() if seen is None else seen, set(), list(values)
        while work:
            value = work.pop()
            op = self.definer.get(value)
            if value in seen or op is None:
                continue
            seen.add(value)
            if op.name == "amp.unscale":
                found.add(op.base)
            else:
                work += op.operands
                work += [o for inner in op.walk() for o in inner.operands]
        return frozenset(found)


def decay(g, gradient, parameter):
    return g.make("train.add", [gradient, parameter], [M, M], [M])


def clip(g, gradient):
    return g.make("train.clip_by_global_norm", [gradient], [M], [M, S], "<{max_norm = 1.0 : f64}>")


def once(operands, value):
    return operands.count(value) == 1


def schemes(f):
    """Yields the kind, the message, and a function that turns a copy of `f` into the
    mutant. It looks up the copy's operations by the names used here."""
    facts = Facts(f)
    types = facts.types
    constant = lambda g: g.make("arith.constant", [], [], [T1], "<{value = dense<true> : tensor<i1>}>")
    unscale = lambda g, value, scale: g.make("amp.unscale", [value, scale], [M, S], [M, T1])
    update = lambda g, like, operands: g.make("amp.update_scale", operands, [S, I32, I32, T1], [S, I32, I32], like.head or like.tail)
    parameter = facts.argument("w0")

    def swap(op, index, value):
        op.operands[index] = value

    for op in facts.unscales:
        name, scale, gradients = op.results[0], op.operands[-1], op.operands[:-1]
        for i, gradient in enumerate(gradients):
            ref, simple = op.results[i], types[gradient] == M and once(gradients, gradient)

            def never(g, name=name, ref=ref, gradient=gradient):
                g.replace(ref, gradient, but=[g.definer(name)])

            def twice(g, name=name, ref=ref, scale=scale):
                new = unscale(g, ref, scale)
                g.replace(ref, new.results[0])
                g.after(g.definer(name), new)
                new.operands[0] = ref

            def before(g, name=name, i=i, gradient=gradient, kind="decay"):
                at = g.definer(name)
                new = clip(g, gradient) if kind == "clip" else decay(g, gradient, parameter)
                g.before(at, new)
                swap(at, i, new.results[0])

            def outside(g, ref=ref, position=0):
                new = g.make("train.sub", [parameter, ref], [M, M], [M])
                g.before(g.body[-1], new)
                swap(g.body[-1], position, new.results[0])

            def stored(g, gradient=gradient):
                swap(g.body[-1], facts.named["result"].index("w0"), gradient)

            if types[gradient] == M:
                yield "never unscaled", EITHER, never
                yield "a scaled gradient stored", r'the update "w0" is multiplied by', stored
            yield "unscaled twice", r"gradient 0 is multiplied by 1, expected", twice
            for position, value in enumerate(f.body[-1].operands):
                if any(value in guard.results for guard in facts.guards) and types[value] == M:
                    yield ("stepped outside the guard", UNFINITE,
                           lambda g, outside=outside, position=position: outside(g, position=position))
            if simple:
                yield "decayed before", TWO_FACTORS, before
                yield "clipped before", NOT_SCALED, lambda g, before=before: before(g, kind="clip")

        def left(g, name=name, gradients=gradients):
            at = g.definer(name)
            for ref, gradient in zip(at.results, gradients):
                g.replace(ref, gradient, but=[at])

        def norm(g, gradients=gradients):
            new = g.make("amp.global_norm", gradients, [types[v] for v in gradients], [S])
            g.before(g.body[-1], new)
            swap(g.body[-1], facts.named["result"].index("loss"), new.results[0])

        def early(g, name=name, scale=scale):
            at, true = g.definer(name), constant(g)
            like = next(u for u in g.ops("amp.update_scale") if u.operands[0] == scale)
            new = update(g, like, [*like.operands[:3], true.results[0]])
            g.before(at, true, new)
            swap(at, -1, new.results[0])

        if len(facts.unscales) > 1 and all(types[v] == M for v in gradients):
            yield "an optimizer left scaled", EITHER, left
        yield "norm of scaled gradients", r'the metric "loss" is multiplied by', norm
        yield "updated before unscaled", r"gradient 0 is multiplied by .*, expected (the new |%)", early
        for other in facts.unscales:
            if other is op:
                continue
            theirs = other.operands[-1]

            def mixed(g, name=name, theirs=theirs):
                swap(g.definer(name), -1, theirs)

            def added(g, first=name, second=other.results[0], scaled=True):
                a, b = g.definer(first), g.definer(second)
                new = g.make("train.add", [(a.operands if scaled else a.results)[0], b.operands[0]], [M, M], [M])
                g.before(b, new)
                swap(b, 0, new.results[0])

            if theirs != scale:
                yield "unscaled by another loss's scale", r"gradient 0 is multiplied by", mixed
            ordered = facts.place[id(op)] < facts.place[id(other)]
            if ordered and types[gradients[0]] == M == types[other.operands[0]]:
                yield "added to unscaled", TWO_FACTORS, lambda g, added=added: added(g, scaled=False)
                if theirs != scale:
                    yield "added before unscaled", TWO_FACTORS, added

    for op in facts.scales:
        scaled, (seed, scale) = op.results[0], op.operands

        def unscaled(g, scaled=scaled, seed=seed):
            g.replace(scaled, seed)

        def doubled(g, scaled=scaled, scale=scale):
            new = g.make("amp.scale", [scaled, scale], [S, S], [S])
            g.replace(scaled, new.results[0])
            g.after(g.definer(scaled), new)
            new.operands[0] = scaled

        def ahead(g, scaled=scaled, scale=scale, place=None):
            at, true = g.definer(scaled), constant(g)
            like = next(u for u in g.ops("amp.update_scale") if u.operands[0] == scale)
            new = update(g, like, [*like.operands[:3], true.results[0]])
            g.before(g.definer(place) if place else at, true, new)
            swap(at, 1, new.results[0])

        yield "a loss not scaled", EITHER, unscaled
        yield "scaled twice", EITHER, doubled
        yield "scaled by the next scale", EITHER + "|a scale of this iteration alone", ahead
        for loop in facts.loops:
            if any(inner is op for inner in loop.walk()):
                yield ("scaled by the next scale", EITHER,
                       lambda g, ahead=ahead, place=loop.results[0]: ahead(g, place=place))
        for theirs in {u.operands[0] for u in facts.updates} - {scale}:
            yield "scaled by another loss's scale", EITHER, lambda g, scaled=scaled, theirs=theirs: swap(g.definer(scaled), 1, theirs)

    conditions = [v for v, op in facts.definer.items() if types[v] == "i1" and facts.flags(v) and id(op) in facts.place]
    for op in facts.guards:
        name = op.results[0]
        then, old = op.regions[0][1][-1].operands, op.regions[1][1][-1].operands
        needed = facts.needed(then)

        def nothing(g, name=name):
            at, true = g.definer(name), g.make("arith.constant", [], [], ["i1"], "<{value = true}>")
            g.before(at, true)
            swap(at, 0, true.results[0])

        if needed:
            yield "guarded by nothing", UNFINITE, nothing
        for value in conditions:
            if needed - facts.flags(value) and facts.place[id(facts.definer[value])] < facts.place[id(op)]:
                yield "guarded by the flag of another", UNFINITE, lambda g, name=name, value=value: swap(g.definer(name), 0, value)
        for i, value in enumerate(old):
            for other, type in f.arguments:
                if other != value and type == types[value]:
                    # There the scale is multiplied by itself, and the check reports
                    # that first.
                    yield ("another's old value", NO_OLD + "|is made even if|multiplied by",
                           lambda g, name=name, i=i, other=other: swap(g.definer(name).regions[1][1][-1], i, other))

    for position, name in enumerate(facts.named["result"]):
        if name == "t" or name.startswith("t."):

            def counted(g, position=position, old=facts.argument(name)):
                new = g.make("train.add", [old, old], [S, S], [S])
                g.before(g.body[-1], new)
                swap(g.body[-1], position, new.results[0])

            yield "counted outside the guard", "is made even if no gradient of its optimizer is finite", counted

    for name, op in list(facts.definer.items()):
        if op.name != "arith.andi":
            continue
        # The operations whose whole condition it is.
        for guard in facts.guards:
            if guard.operands[0] == name and facts.needed(guard.regions[0][1][-1].operands):
                yield "guarded by any flag", UNFINITE, lambda g, name=name: setattr(g.definer(name), "name", "arith.ori")

    for op in facts.updates:
        name, scale = op.results[0], op.operands[0]
        seen = frozenset(u.base for u in facts.unscales if u.operands[-1] == scale)

        def blind(g, name=name):
            at, true = g.definer(name), constant(g)
            g.before(at, true)
            swap(at, 3, true.results[0])

        def again(g, name=name):
            at = g.definer(name)
            new = update(g, at, [*at.results, at.operands[3]])
            for result, replaced in zip(at.results, new.results):
                g.replace(result, replaced, but=[new])
            g.after(at, new)

        def kept(g, name=name, condition=None):
            """The update is in a guard, whose result replaces the scale."""
            at = g.definer(name)
            guard = g.make("scf.if", [condition], ["i1"], [S, I32, I32])
            then, other = (g.make("scf.yield", of, [S, I32, I32], []) for of in (at.results, at.operands[:3]))
            for value, result in zip(at.results, guard.results):
                g.replace(value, result, but=[then])
            ops, index = g.block(at)
            ops[index] = guard
            guard.regions = [[[], [at, then]], [[], [other]]]

        place = f.body[-1].operands.index(name)
        yield "the new scale lost", KEPT, lambda g, place=place, scale=scale: swap(g.body[-1], place, scale)
        for theirs in facts.updates:
            if theirs is not op:
                yield ("another's new scale", OTHER,
                       lambda g, place=place, value=theirs.results[0]: swap(g.body[-1], place, value))
        for guard in facts.guards:
            condition = guard.operands[0]
            if seen & facts.flags(condition):
                yield ("updated within the guard", KEPT,
                       lambda g, kept=kept, condition=condition: kept(g, condition=condition))
        yield "updated on nothing", UNSEEN, blind
        yield "updated twice", "updates a scale that was updated before", again
        for value, type in types.items():
            source = facts.definer.get(value)
            if (type == T1 and source is not None and facts.flags(value) and seen - facts.flags(value)
                    and facts.place.get(id(source), 1 << 30) < facts.place[id(op)]
                    and (source.name != "amp.unscale" or value == source.results[-1])):
                yield "updated on a flag of another", UNSEEN, lambda g, name=name, value=value: swap(g.definer(name), 3, value)

    for op in facts.loops:
        yield from in_loop(f, facts, op, unscale, constant, update, swap)


def in_loop(f, facts, op, unscale, constant, update, swap):
    name, (arguments, body) = op.results[0], op.regions[0]
    types, parameter = facts.types, facts.argument("w0")
    scales = {s.operands[1] for s in body if s.name == "amp.scale"}
    carried = range(len(arguments) - 1)
    # The gradients added to each accumulator.
    for i in carried:
        value = body[-1].operands[i]
        if types[value] != M:
            continue
        adder = facts.definer[value]
        index = next((k for k, o in enumerate(adder.operands) if o != arguments[i + 1][0] and types[o] == M), None)
        if adder.name not in ("train.add", "arith.addf") or index is None:
            continue
        gradient, adding = adder.operands[index], adder.results[0]
        scale = next(iter(scales))

        def inside(g, adding=adding, index=index, gradient=gradient, kind="unscale"):
            at = g.definer(adding)
            if kind == "unscale":
                new = unscale(g, gradient, scale)
            else:
                new = clip(g, gradient) if kind == "clip" else decay(g, gradient, parameter)
            g.before(at, new)
            swap(at, index, new.results[0])

        def onto(g, i=i):
            swap(g.definer(name), 3 + i, parameter)

        yield "unscaled in the loop and behind it", EITHER, inside
        yield "decayed in the loop", TWO_FACTORS, lambda g, inside=inside: inside(g, kind="decay")
        yield "clipped in the loop", NOT_SCALED, lambda g, inside=inside: inside(g, kind="clip")
        yield "accumulated onto a parameter", EITHER, onto

    def alone(g):
        """Unscaled in each iteration, and checked nowhere else."""
        loop = g.definer(name)
        inner = loop.regions[0][1]
        for u in g.ops("amp.unscale"):
            taken = [v for v in u.operands[:-1] if v in loop.results]
            if not taken:
                continue
            true = constant(g)
            g.before(u, true)
            g.replace(u.results[-1], true.results[0])
            for ref, value in zip(u.results, u.operands[:-1]):
                g.replace(ref, value, but=[u])
            for value in taken:
                yielded = inner[-1].operands[loop.results.index(value)]
                at = g.definer(yielded)
                # The carried value is already unscaled.
                kept = loop.regions[0][0][1 + loop.results.index(value)][0]
                new = unscale(g, next(o for o in at.operands if o != kept), u.operands[-1])
                g.before(at, new)
                at.operands = [new.results[0] if o == new.operands[0] else o for o in at.operands]
            ops, index = g.block(u)
            del ops[index]

    def fresh_scale(g):
        """Another scale in each iteration."""
        loop = g.definer(name)
        args, inner = loop.regions[0]
        scale = next(iter(scales))
        like = next(u for u in g.ops("amp.update_scale") if u.operands[0] == scale)
        true = constant(g)
        new = update(g, like, ["%ms", *like.operands[1:3], true.results[0]])
        for one in inner:
            if one.name == "amp.scale" and one.operands[1] == scale:
                one.operands[1] = "%ms"
        inner[-1:-1] = [true, new]
        args.append(("%ms", S))
        inner[-1].operands.append(new.results[0])
        inner[-1].inputs.append(S)
        loop.operands.append(scale)
        loop.inputs.append(S)
        loop.outputs.append(S)
        loop.tail = ""  # It names the gradients among the results.
        # The number of results is part of their names.
        count = len(loop.results)
        if count == 1:
            g.replace(loop.base, f"{loop.base}#0")
        loop.results = [f"{loop.base}#{i}" for i in range(count + 1)]

    def metric(g):
        inner = g.definer(name).regions[0][1]
        last = inner[-1]
        i = next(i for i in reversed(carried) if types[last.operands[i]] == S)
        new = g.make("amp.scale", [last.operands[i], next(iter(scales))], [S, S], [S])
        inner[-1:-1] = [new]
        swap(last, i, new.results[0])

    losses = [i for i in carried if types[body[-1].operands[i]] == S]
    read = {o for u in facts.unscales for o in u.operands}
    simple = all(len(facts.definer[body[-1].operands[i]].operands) == 2 and types[body[-1].operands[i]] == M
                 and arguments[i + 1][0] in facts.definer[body[-1].operands[i]].operands
                 for i in carried if op.results[i] in read)
    if simple and len(facts.unscales) == 1 and len(scales) == 1:
        holders = [o for o in facts.unscales[0].operands[:-1] if o not in op.results]
        if not holders:
            yield "unscaled and checked in the loop alone", UNFINITE, alone
    yield "another scale in each iteration", "a scale of this iteration alone|" + EITHER, fresh_scale
    if losses:
        yield "the loss scaled in the loop", r"the metric \"loss\" is multiplied by|" + TWO_FACTORS + "|" + CARRIED, metric
