# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Steps with correct and with wrong loss scaling. Each wrong step has the
# message that it must cause. All are variants of one step.

T, S, B, I = "tensor<4xf32>", "tensor<f32>", "tensor<i1>", "tensor<i32>"
TRUE = "%true = arith.constant true\n"


def op(result, name, *operands, out=T, types=None):
    """An operation of train over tensors."""
    types = types or [T] * len(operands)
    kind = f"({', '.join(types)}) -> {out}" if len(operands) > 1 else types[0] if types[0] == out else f"({types[0]}) -> {out}"
    return f"{result} = train.{name} {', '.join(operands)} : {kind}\n"


SCALE = f"%seed = amp.gradient_seed \"loss\" : {S}\n%s = amp.scale %seed by %scale : {S}\n" + op("%g", "mul", "%x", "%s", types=[T, S])
UNSCALE = f"%u, %finite = amp.unscale %g by %scale : ({T}) -> ({T})\n"
FLAG = f"%ok = tensor.extract %finite[] : {B}\n"


def sgd(result="%stepped", gradient="%u", rate="%lr", parameter="%w"):
    return f"{result} = train.sgd {parameter}, {gradient}, {rate} : ({T}, {T}, {S}) -> {T}\n"


def guard(condition="%ok", then=sgd(), new="%stepped", old="%w", result="%new", swapped=False):
    first, second = (f"{then}scf.yield {new} : {T}\n", f"scf.yield {old} : {T}\n")
    if swapped:
        first, second = second, first
    return f"{result} = scf.if {condition} -> {T} {{\n{first}}} else {{\n{second}}}\n"


UPDATE = "%next, %nt, %nh = amp.update_scale %scale, %t, %h, %finite\n"


def step(scale=SCALE, unscale=UNSCALE, flag=FLAG, guard=guard(), update=UPDATE, w="%new", s="%next", t="%nt", h="%nh", args="", results=()):
    """One step; `results` are further ones: value, type and attribute."""
    head = (f'%w: {T} {{amp.name = "w", amp.role = "parameter"}}, %x: {T} {{amp.name = "x", amp.role = "batch"}}, '
            f'%lr: {S} {{amp.name = "lr", amp.role = "hyperparameter"}}, '
            f'%cap: {S} {{amp.name = "cap", amp.role = "hyperparameter"}}, '
            f'%scale: {S} {{amp.name = "loss_scale", amp.role = "scaler_state"}}, '
            f'%t: {I} {{amp.name = "t", amp.role = "scaler_state"}}, %h: {I} {{amp.name = "h", amp.role = "scaler_state"}}' + args)
    returned = [(w, T, 'amp.updates = "w"'), (s, S, 'amp.updates = "loss_scale"'), (t, I, 'amp.updates = "t"'),
                (h, I, 'amp.updates = "h"'), *results]
    returned = [one for one in returned if one[0]]
    signature = ", ".join(f"{type} {{{attribute}}}" for _, type, attribute in returned)
    values = ", ".join(value for value, _, _ in returned)
    types = ", ".join(type for _, type, _ in returned)
    return (f"func.func @NAME({head}) -> ({signature}) {{\n{scale}{unscale}{flag}{guard}{update}"
            f"return {values} : {types}\n}}\n")


def metric(value, name="m"):
    return [(value, S, f'amp.metric = "{name}"')]


def constant(name, value, type=S):
    return f"{name} = arith.constant dense<{value}> : {type}\n"


# Two gradients with separate checks.
TWO = SCALE + op("%k", "mul", "%g", "%x")
UNSCALE_TWO = UNSCALE + f"%v, %finite2 = amp.unscale %k by %scale : ({T}) -> ({T})\n"
FLAGS = FLAG + f"%ok2 = tensor.extract %finite2[] : {B}\n"
BOTH = op("%sum", "add", "%u", "%v") + sgd(gradient="%sum")
ALL = "%all = arith.andi %ok, %ok2 : i1\n%alls = tensor.from_elements %all : tensor<i1>\n"
UPDATE_ALL = "%next, %nt, %nh = amp.update_scale %scale, %t, %h, %alls\n"


def two(condition, code, swapped=False):
    return step(scale=TWO, unscale=UNSCALE_TWO, flag=FLAGS + ALL + code, guard=guard(condition, BOTH, swapped=swapped), update=UPDATE_ALL)


def state(text, **more):
    """A step whose scale is updated by hand: `text` computes %next."""
    halves = constant("%two", 2.0) + constant("%half", 0.5) + constant("%one", 1.0)
    up, down = "%up = arith.mulf %scale, %two : tensor<f32>\n", "%down = arith.mulf %scale, %half : tensor<f32>\n"
    return step(update=halves + up + down + text, **{"t": None, "h": None, **more})


def computed(code, gradient="%z", **more):
    """A step on something that is computed from the unscaled gradient."""
    return step(guard=guard(then=code + sgd(gradient=gradient)), **more)


def norm(result, value):
    square = result + "q"
    return (op(square, "square", value) + f"{square}s = train.reduce_sum {square} {{dims = array<i64: 0>}} : ({T}) -> {S}\n"
            + op(result, "sqrt", f"{square}s", types=[S], out=S))


def loop(body, carried, types, yields, prefix="r"):
    names = ", ".join(f"{name} = {init}" for name, init in carried)
    return ("%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%c4 = arith.constant 4 : index\n"
            f"%{prefix}:{len(carried)} = scf.for %i = %c0 to %c4 step %c1 iter_args({names}) -> ({', '.join(types)}) {{\n{body}"
            f"scf.yield {', '.join(yields)} : {', '.join(types)}\n}}\n")


def step_in_loop(update, yields, unscale=UNSCALE, guarded=None):
    """Steps in a loop, each with the state that the one before left."""
    names = {"%scale": "%sc", "%t": "%tt", "%h": "%hh", "%w": "%p"}
    import re
    body = SCALE.split("\n", 1)[1] + unscale + FLAG + (guarded or guard()) + update
    for old, new in names.items():
        body = re.sub(re.escape(old) + r"\b", new, body)
    seed = SCALE.split("\n", 1)[0] + "\n"
    text = seed + loop(body, [("%p", "%w"), ("%sc", "%scale"), ("%tt", "%t"), ("%hh", "%h")], [T, S, I, I], yields)
    return step(scale=text, unscale="", flag="", guard="", update="", w="%r#0", s="%r#1", t="%r#2", h="%r#3")


def micro(body, yields, after, **more):
    """A loop over micro-batches that carries a sum and a flag."""
    text = SCALE + constant("%zero", 0.0, T) + TRUE + loop(body, [("%acc", "%zero"), ("%good", "%true")], [T, "i1"], yields)
    return step(scale=text, unscale="", flag="", guard=after, **more)


PIECE = f"%pu, %pf = amp.unscale %g by %scale : ({T}) -> ({T})\n%pok = tensor.extract %pf[] : {B}\n" + op("%more", "add", "%acc", "%pu")
LOOP_FLAG = "%finite = tensor.from_elements %r#1 : tensor<i1>\n"
UNGUARDED = "depends on gradients that may not be finite, expected it within an 'scf.if'"
INFINITE = "depends on gradients that may not be finite, expected no operation after their check that computes an infinity from finite gradients"
UNVERIFIED = "unverified scaler: the update of "
HALF = f"%u16 = amp.cast %u : {T} to tensor<4xf16>\n"
SECOND = (f', %scale.b: {S} {{amp.name = "loss_scale.b", amp.role = "scaler_state"}}, %t.b: {I} {{amp.name = "t.b", amp.role = "scaler_state"}}, '
          f'%v: {T} {{amp.name = "v", amp.role = "parameter"}}')


def two_scales(sa="%next", ta="%nt", sb="%next.b", tb="%nt.b", update_b="%scale.b, %t.b, %h, %finite.b", metric_of=None):
    more = (f"%s.b = amp.scale %seed by %scale.b : {S}\n" + op("%g.b", "mul", "%x", "%s.b", types=[T, S])
            + f"%u.b, %finite.b = amp.unscale %g.b by %scale.b : ({T}) -> ({T})\n%ok.b = tensor.extract %finite.b[] : {B}\n"
            + guard("%ok.b", sgd("%stepped.b", "%u.b", parameter="%v"), "%stepped.b", "%v", "%new.b"))
    update = UPDATE + f"%next.b, %nt.b, %nh.b = amp.update_scale {update_b}\n"
    results = [("%new.b", T, 'amp.updates = "v"'), (sb, S, 'amp.updates = "loss_scale.b"'), (tb, I, 'amp.updates = "t.b"')]
    if metric_of:
        results += metric(metric_of)
        more += norm("%na", "%g") + norm("%nb", "%g.b") + op("%ratio", "div", "%na", "%nb", types=[S, S], out=S)
    return step(guard=guard() + more, update=update, s=sa, t=ta, args=SECOND, results=results)


def pick(result, condition, good, bad, type=S):
    return f"{result} = arith.select {condition}, {good}, {bad} : {type}\n"


COUNT = (constant("%i1", 1, I) + constant("%i0", 0, I) + constant("%limit", 2000, I) + f"%t1 = arith.addi %t, %i1 : {I}\n"
         f"%dues = arith.cmpi sge, %t1, %limit : {I}\n%due = tensor.extract %dues[] : {B}\n")
BY_HAND = (COUNT + pick("%grown", "%due", "%up", "%scale") + pick("%next", "%ok", "%grown", "%down")
           + pick("%t2", "%due", "%i0", "%t1", I) + pick("%nt", "%ok", "%t2", "%i0", I))
NORMS = norm("%n1", "%g") + norm("%n2", "%k")

# Gradients that ranks add after each has checked its own.
SUM = f"%r = amp.all_reduce sum %u : {T}\n"
REDUCED = f"%every = amp.all_reduce and %finite : {B}\n%ok = tensor.extract %every[] : {B}\n"
UPDATE_EVERY = UPDATE.replace("%finite", "%every")


def conditional(predicate, bound):
    """A step whose scale falls after an overflow, or where the norm of a value does not fulfil a condition."""
    code = (norm("%size", "%x") + constant("%bound", bound) + f"%fits = train.compare {predicate}, %size, %bound : ({S}, {S}) -> {B}\n"
            f"%fine = arith.andi %finite, %fits : {B}\n")
    return step(update=code + UPDATE.replace("%finite", "%fine"))


# Whether the scale, or a multiple of it, is between two numbers.
BETWEEN = (constant("%l", 3000.0) + constant("%m", 4000.0) + f"%above = arith.cmpf ogt, %scale, %l : {S}\n"
           f"%below = arith.cmpf olt, %scale, %m : {S}\n%betweens = arith.andi %above, %below : {B}\n"
           f"%between = tensor.extract %betweens[] : {B}\n")
TRIPLE_BETWEEN = (constant("%three", 3.0) + f"%triple = arith.mulf %scale, %three : {S}\n"
                  + BETWEEN.replace("%scale,", "%triple,").replace("3000", "9300").replace("4000", "9310"))
FLOOR = constant("%floor", 65536.0) + "%least = arith.maximumf %down, %floor : tensor<f32>\n" + pick("%next", "%ok", "%scale", "%least")


def starting(text, value):
    return text.replace('{amp.name = "loss_scale",', '{amp.name = "loss_scale", amp.init = #amp.init<constant, value = %s>,' % value)


WRONG = {
    # Flags of other ranks, and conditions on data.
    "ranks add unscaled gradients": ("the finite flags of all ranks", step(unscale=UNSCALE + SUM, guard=guard(then=sgd(gradient="%r")))),
    "ranks add unscaled gradients, the scale sees all flags": ("the finite flags of all ranks", step(
        unscale=UNSCALE + SUM, flag=FLAG + REDUCED.replace("%ok", "%all"), guard=guard(then=sgd(gradient="%r")), update=UPDATE_EVERY)),
    "the scale falls after a large norm": ("lowers the scale where all gradients are finite", conditional("lt", 1.0)),
    "by hand with a floor above the initial scale": ("grows where gradients are not finite", starting(state(FLOOR), 1024.0)),
    # The state of the scaler.
    "old growth tracker": ('the update of "t" gives the old value back', step(t="%t")),
    "old hysteresis tracker": ('the update of "h" gives the old value back', step(h="%h")),
    "both trackers old": ('the update of "t" gives the old value back', step(t="%t", h="%h")),
    "trackers exchanged": ('the update of "t" is the new value of "h"', step(t="%nh", h="%nt")),
    "trackers exchanged in operands": (
        'the update of "h" is the new value of "t"', step(update="%next, %nt, %nh = amp.update_scale %scale, %h, %t, %finite\n")),
    "old tracker on clean steps": (
        'the update of "t" gives the old value back', step(update=UPDATE + pick("%k1", "%ok", "%t", "%nt", I), t="%k1")),
    "old tracker after overflows": (
        'the update of "t" gives the old value back', step(update=UPDATE + pick("%k1", "%ok", "%nt", "%t", I), t="%k1")),
    "old tracker moved": (
        'the update of "t" gives the old value back',
        step(update=UPDATE + "%e = tensor.extract %t[] : tensor<i32>\n%k1 = tensor.from_elements %e : tensor<i32>\n", t="%k1")),
    "tracker a constant": (UNVERIFIED, step(update=UPDATE + constant("%k1", 0, I), t="%k1")),
    "tracker counted again": (UNVERIFIED, step(update=UPDATE + constant("%k0", 1, I) + "%k1 = arith.addi %nt, %k0 : tensor<i32>\n", t="%k1")),
    "old tracker in a loop": ('the update of "t" gives the old value back', step_in_loop(UPDATE, ["%new", "%next", "%tt", "%nh"])),
    "trackers exchanged in a loop": ('the update of "t" is the new value of "h"', step_in_loop(UPDATE, ["%new", "%next", "%nh", "%nt"])),
    "trackers of two scales exchanged": ('the update of "t" is the new value of "t.b"', two_scales(ta="%nt.b", tb="%nt")),
    "tracker of another scale": ('the update of "t.b" is the new value of "t"', two_scales(tb="%nt")),
    "scales exchanged": ('the update of "loss_scale" is the new value of "loss_scale.b"', two_scales(sa="%next.b", sb="%next")),
    "second scale lost": ('the update of "loss_scale.b" gives the old scale back', two_scales(sb="%scale.b")),
    "second scale sees another flag": ("does not see the finite flag", two_scales(update_b="%scale.b, %t.b, %h, %finite")),
    "scale and flag of another": ("does not see the finite flag", step(update=TRUE + "%tt = tensor.from_elements %true : tensor<i1>\n"
                                                                       "%next, %nt, %nh = amp.update_scale %scale, %t, %h, %tt\n")),
    "a tracker without an update": ('the state "t" of the scaler is not updated', step(t=None)),
    "kept after an overflow of the other check": (
        "gives the old scale back where gradients are not finite",
        step(scale=TWO, unscale=UNSCALE_TWO, flag=FLAGS + ALL, guard=guard("%all", BOTH),
             update=UPDATE_ALL + pick("%kept", "%ok", "%scale", "%next"), s="%kept")),
    "kept where one of two is finite": (
        "gives the old scale back where gradients are not finite",
        step(scale=TWO, unscale=UNSCALE_TWO, flag=FLAGS + ALL + "%any = arith.ori %ok, %ok2 : i1\n", guard=guard("%all", BOTH),
             update=UPDATE_ALL + pick("%kept", "%any", "%scale", "%next"), s="%kept")),
    # Updates and loops.
    "updated twice in a loop": (
        "updates a scale that was updated before",
        step_in_loop(UPDATE + "%n2, %m2, %q2 = amp.update_scale %next, %nt, %nh, %finite\n", ["%new", "%n2", "%m2", "%q2"])),
    "updated again behind a loop": (
        "updates a scale that was updated before",
        step_in_loop(UPDATE, ["%new", "%next", "%nt", "%nh"]).replace(
            "return %r#0, %r#1, %r#2, %r#3", "%f = arith.constant dense<true> : tensor<i1>\n"
            "%n2, %m2, %q2 = amp.update_scale %r#1, %r#2, %r#3, %f\nreturn %r#0, %n2, %m2, %q2")),
    "updated in each iteration on one flag": (
        "updates a scale in each iteration of a loop that unscales no gradients by it",
        step(update=loop("%n1, %n2, %n3 = amp.update_scale %sc, %tt, %hh, %finite\n", [("%sc", "%scale"), ("%tt", "%t"), ("%hh", "%h")],
                         [S, I, I], ["%n1", "%n2", "%n3"]), s="%r#0", t="%r#1", h="%r#2")),
    "updated for each micro-batch": (
        "updates a scale in each iteration of a loop that updates no parameter",
        step(scale='%seed = amp.gradient_seed "loss" : tensor<f32>\n' + constant("%zero", 0.0, T) + TRUE + loop(
            f"%s = amp.scale %seed by %sc : {S}\n" + op("%g", "mul", "%x", "%s", types=[T, S])
            + f"%pu, %pf = amp.unscale %g by %sc : ({T}) -> ({T})\n%pok = tensor.extract %pf[] : {B}\n" + op("%more", "add", "%acc", "%pu")
            + "%both = arith.andi %good, %pok : i1\n%n1, %n2, %n3 = amp.update_scale %sc, %tt, %hh, %pf\n",
            [("%acc", "%zero"), ("%good", "%true"), ("%sc", "%scale"), ("%tt", "%t"), ("%hh", "%h")], [T, "i1", S, I, I],
            ["%more", "%both", "%n1", "%n2", "%n3"]),
            unscale="", flag="", guard=guard("%r#1", sgd(gradient="%r#0")), update="", s="%r#2", t="%r#3", h="%r#4")),
    "updated in a while loop": (
        "updates a scale in each iteration of a loop that unscales no gradients by it",
        step(args=', %last: i1 {amp.name = "last", amp.role = "hyperparameter"}',
             update=f"%n1, %n2, %n3 = scf.while (%sc = %scale, %tt = %t, %hh = %h) : ({S}, {I}, {I}) -> ({S}, {I}, {I}) {{\n"
             f"scf.condition(%last) %sc, %tt, %hh : {S}, {I}, {I}\n}} do {{\n^bb0(%sc: {S}, %tt: {I}, %hh: {I}):\n"
             f"%m1, %m2, %m3 = amp.update_scale %sc, %tt, %hh, %finite\nscf.yield %m1, %m2, %m3 : {S}, {I}, {I}\n}}\n",
             s="%n1", t="%n2", h="%n3")),
    # Updates by hand.
    "halved on clean steps": ("falls where all gradients are finite", state(pick("%next", "%ok", "%down", "%up"))),
    "halved now and then on clean steps": (
        "falls where all gradients are finite",
        state(COUNT + pick("%fall", "%due", "%down", "%scale") + pick("%next", "%ok", "%fall", "%down"))),
    "halved on clean steps between 3000 and 4000": ("falls where all gradients are finite", state(
        BETWEEN + pick("%same", "%between", "%down", "%scale") + pick("%next", "%ok", "%same", "%down"))),
    "kept after overflows between 3000 and 4000": ("stays as it is where gradients are not finite", state(
        BETWEEN + pick("%less", "%between", "%scale", "%down") + pick("%next", "%ok", "%up", "%less"))),
    "kept after overflows for a third of 9300 to 9310": ("stays as it is where gradients are not finite", state(
        TRIPLE_BETWEEN + pick("%less", "%between", "%scale", "%down") + pick("%next", "%ok", "%up", "%less"))),
    "always doubled": ("grows where gradients are not finite", state("%next = arith.addf %up, %scale : tensor<f32>\n")),
    "always halved": ("falls where all gradients are finite", state("%next = arith.mulf %down, %half : tensor<f32>\n")),
    "kept after overflows": ("gives the old scale back where gradients are not finite", state(pick("%next", "%ok", "%up", "%scale"))),
    "doubled after overflows": ("grows where gradients are not finite", state(pick("%next", "%ok", "%scale", "%up"))),
    "zero after overflows": ("can become 0, negative or infinite",
                             state(constant("%z", 0.0) + "%gone = arith.mulf %scale, %z : tensor<f32>\n" + pick("%next", "%ok", "%up", "%gone"))),
    "a constant taken away": ("can become 0, negative or infinite", state(
        constant("%k", 1024.0) + "%less = arith.subf %scale, %k : tensor<f32>\n" + pick("%next", "%ok", "%up", "%less"))),
    "flag negated": ("falls where all gradients are finite", state(
        TRUE + "%bad = arith.xori %ok, %true : i1\n" + pick("%next", "%bad", "%up", "%down"))),
    "grows by the tracker alone": ("grows where gradients are not finite", state(COUNT + pick("%next", "%due", "%up", "%scale"))),
    "falls by the tracker alone": ("falls where all gradients are finite", state(COUNT + pick("%next", "%due", "%down", "%scale"))),
    "up and down by the tracker alone": (UNVERIFIED, state(COUNT + pick("%next", "%due", "%up", "%down"))),
    "a constant after overflows": ("stays as it is where gradients are not finite", state(
        constant("%k", 1024.0) + pick("%next", "%ok", "%scale", "%k"))),
    "an unknown function of the scale": (UNVERIFIED, state('%next = "toy.next"(%scale, %finite) : (tensor<f32>, tensor<i1>) -> tensor<f32>\n')),
    "by hand in train, falls when clean": ("falls where all gradients are finite", state(
        op("%d2", "mul", "%scale", "%half", types=[S, S], out=S) + op("%u2", "mul", "%scale", "%two", types=[S, S], out=S)
        + f"%next = train.select %finite, %d2, %u2 : ({B}, {S}, {S}) -> {S}\n")),
    "tracker of a scale by hand old": ('the update of "t" gives the old value back', state(BY_HAND, t="%t")),
    "the new scale doubled": (UNVERIFIED, step(update=UPDATE + constant("%two", 2.0) + "%n2 = arith.mulf %next, %two : tensor<f32>\n", s="%n2")),
    "halved on clean steps in a loop": ("falls where all gradients are finite", step_in_loop(
        constant("%two", 2.0) + constant("%half", 0.5) + "%up = arith.mulf %scale, %two : tensor<f32>\n%down = arith.mulf %scale, %half : tensor<f32>\n"
        + pick("%next", "%ok", "%down", "%up"), ["%new", "%next", "%tt", "%hh"])),
    "no guard with a scale by hand in a loop": (UNGUARDED, step_in_loop(
        constant("%two", 2.0) + constant("%half", 0.5) + "%up = arith.mulf %scale, %two : tensor<f32>\n%down = arith.mulf %scale, %half : tensor<f32>\n"
        + pick("%next", "%ok", "%up", "%down"), ["%new", "%next", "%tt", "%hh"], guarded=sgd("%new"))),
    "squared after overflows": ("grows where gradients are not finite", state(
        "%sq = arith.mulf %scale, %scale : tensor<f32>\n" + pick("%next", "%ok", "%scale", "%sq"))),
    "inverted after overflows": ("grows where gradients are not finite", state(
        "%inv = arith.divf %one, %scale : tensor<f32>\n" + pick("%next", "%ok", "%scale", "%inv"))),
    "one overflow of two": ("grows where gradients are not finite", step(
        scale=TWO, unscale=UNSCALE_TWO, flag=FLAGS + ALL, guard=guard("%all", BOTH), t=None, h=None,
        update=constant("%two", 2.0) + constant("%half", 0.5) + "%up = arith.mulf %scale, %two : tensor<f32>\n"
        "%down = arith.mulf %scale, %half : tensor<f32>\n" + pick("%next", "%ok", "%up", "%down"))),
    "the lesser of old and new scale": (UNVERIFIED, step(update=UPDATE + "%n2 = arith.minimumf %next, %scale : tensor<f32>\n", s="%n2")),
    "the greater of old and new scale": (UNVERIFIED, step(update=UPDATE + "%n2 = arith.maximumf %next, %scale : tensor<f32>\n", s="%n2")),
    "the mean of old and new scale": (UNVERIFIED, step(
        update=UPDATE + constant("%half", 0.5) + "%sum2 = arith.addf %next, %scale : tensor<f32>\n%n2 = arith.mulf %sum2, %half : tensor<f32>\n", s="%n2")),
    # Guards.
    "guard negated": (UNGUARDED, step(flag=FLAG + TRUE + "%no = arith.xori %ok, %true : i1\n", guard=guard("%no"))),
    "branches exchanged": (UNGUARDED, step(guard=guard(swapped=True))),
    "guard compares unequal": (UNGUARDED, step(flag=FLAG + TRUE + "%no = arith.cmpi ne, %ok, %true : i1\n", guard=guard("%no"))),
    "disjunction of flags": (UNGUARDED, two("%c", "%c = arith.ori %ok, %ok2 : i1\n")),
    "disjunction by De Morgan": (UNGUARDED, two("%c", TRUE + "%a = arith.xori %ok, %true : i1\n%b = arith.xori %ok2, %true : i1\n"
                                                 "%ab = arith.andi %a, %b : i1\n%c = arith.xori %ab, %true : i1\n")),
    "one flag of two": (UNGUARDED, two("%ok", "")),
    "sum of flags at least one": (UNGUARDED, two("%c", "%a = arith.extui %ok : i1 to i32\n%b = arith.extui %ok2 : i1 to i32\n"
                                                  "%ab = arith.addi %a, %b : i32\n%k1 = arith.constant 1 : i32\n%c = arith.cmpi sge, %ab, %k1 : i32\n")),
    "flags unequal": (UNGUARDED, two("%c", "%c = arith.xori %ok, %ok2 : i1\n")),
    "guarded by the tracker": (UNGUARDED, step(
        flag=FLAG + constant("%i0", 0, I) + f"%c = arith.cmpi sgt, %t, %i0 : {I}\n%d = tensor.extract %c[] : {B}\n", guard=guard("%d"))),
    "select exchanged": (UNGUARDED, step(guard=sgd() + f"%new = train.select %finite, %w, %stepped : ({B}, {T}, {T}) -> {T}\n")),
    "select gives zeros": ("does not give the old value back", step(
        guard=sgd() + constant("%z", 0.0, T) + f"%new = train.select %finite, %stepped, %z : ({B}, {T}, {T}) -> {T}\n")),
    "rate zero after overflows": (UNGUARDED, step(guard=constant("%z", 0.0) + f"%rate = train.select %finite, %lr, %z : ({B}, {S}, {S}) -> {S}\n"
                                                  + sgd("%new", rate="%rate"))),
    "gradient zero after overflows": ("does not give the old value back", step(
        guard=constant("%z", 0.0, T) + f"%k = train.select %finite, %u, %z : ({B}, {T}, {T}) -> {T}\n" + sgd("%new", "%k"))),
    "disjunction carried by a loop": (UNGUARDED, micro(
        PIECE + "%both = arith.ori %good, %pok : i1\n", ["%more", "%both"], guard("%r#1", sgd(gradient="%r#0")),
        update=LOOP_FLAG + UPDATE)),
    "last flag of a loop": (UNGUARDED, micro(PIECE, ["%more", "%pok"], guard("%r#1", sgd(gradient="%r#0")), update=LOOP_FLAG + UPDATE)),
    "flag of a loop forgotten": (UNGUARDED, micro(PIECE, ["%more", "%good"], guard("%r#1", sgd(gradient="%r#0")), update=LOOP_FLAG + UPDATE)),
    "no guard on the capped scale": (UNGUARDED, step(
        scale=f"%sc = train.minimum %scale, %cap : ({S}, {S}) -> {S}\n" + SCALE.replace("by %scale", "by %sc"),
        unscale=UNSCALE.replace("%scale", "%sc"), guard=sgd("%new"))),
    "no guard on the new scale": (UNGUARDED, step(
        scale=constant("%f", "true", B) + UPDATE.replace("%finite", "%f") + SCALE.replace("by %scale", "by %next"),
        unscale=UNSCALE.replace("%scale", "%next"), update="", guard=sgd("%new"))),
    "no guard on the scale of a loop": (UNGUARDED, step_in_loop(UPDATE, ["%new", "%next", "%nt", "%nh"], guarded=sgd("%new"))),
    # Infinities after the check.
    "narrowed behind the check": (INFINITE, computed(HALF + f"%z = amp.cast %u16 : tensor<4xf16> to {T}\n")),
    "truncated behind the check": (INFINITE, computed(
        "%u16 = arith.truncf %u : tensor<4xf32> to tensor<4xf16>\n%z = arith.extf %u16 : tensor<4xf16> to tensor<4xf32>\n")),
    "divided by its norm": (INFINITE, computed(norm("%n", "%u") + op("%z", "div", "%u", "%n", types=[T, S]))),
    "reciprocal": (INFINITE, computed(op("%z", "reciprocal", "%u"))),
    "root mean square below": (INFINITE, computed(
        op("%q", "square", "%u") + f"%m = train.reduce_mean %q {{dims = array<i64: 0>}} : ({T}) -> {S}\n"
        + op("%k", "rsqrt", "%m", types=[S], out=S) + op("%z", "mul", "%u", "%k", types=[T, S]))),
    "exponential": (INFINITE, computed(op("%z", "exp", "%u"))),
    "logarithm of the magnitude": (INFINITE, computed(op("%a", "abs", "%u") + op("%z", "log", "%a"))),
    "divided by itself": (INFINITE, computed("%z = arith.divf %u, %u : tensor<4xf32>\n")),
    "divided by the largest": (INFINITE, computed(
        op("%a", "abs", "%u") + f"%m = train.reduce_max %a {{dims = array<i64: 0>}} : ({T}) -> {S}\n" + op("%z", "div", "%u", "%m", types=[T, S]))),
    "an infinite constant": (INFINITE, computed(constant("%k", "0x7F800000", T) + "%z = arith.mulf %u, %k : tensor<4xf32>\n")),
    "a constant that overflows": (INFINITE, computed(constant("%k", "3.0e38", T) + "%z = arith.mulf %u, %k : tensor<4xf32>\n")),
    "a square that overflows f16": (INFINITE, step(
        scale=SCALE + f"%g16 = amp.cast %g : {T} to tensor<4xf16>\n",
        unscale=f"%u, %finite = amp.unscale %g16 by %scale : (tensor<4xf16>) -> ({T})\n",
        guard=guard(then="%q = arith.mulf %g16, %g16 : tensor<4xf16>\n" + f"%q32 = amp.cast %q : tensor<4xf16> to {T}\n"
                    + op("%d1", "div", "%q32", "%scale", types=[T, S]) + op("%z", "div", "%d1", "%scale", types=[T, S]) + sgd(gradient="%z")))),
    # Factors.
    "a parameter updated by the scale": ("is multiplied by loss_scale", step(
        guard="%e = tensor.extract %scale[] : tensor<f32>\n%new = tensor.splat %e : tensor<4xf32>\n")),
    "a prediction of the scale": ('the prediction "p" is multiplied by loss_scale', step(results=[("%scale", S, 'amp.prediction = "p"')])),
    "a loss times the logarithm of the scale": ('the metric "m" is multiplied by', step(
        guard=guard() + op("%log", "log", "%scale", types=[S], out=S) + f"%sum = train.reduce_sum %x {{dims = array<i64: 0>}} : ({T}) -> {S}\n"
        + op("%m", "mul", "%sum", "%log", types=[S, S], out=S), results=metric("%m"))),
    "a loss times the scale": ('the metric "m" is multiplied by loss_scale', step(
        guard=guard() + f"%sum = train.reduce_sum %x {{dims = array<i64: 0>}} : ({T}) -> {S}\n"
        + op("%m", "mul", "%sum", "%scale", types=[S, S], out=S), results=metric("%m"))),
    "rate over scale with momentum": ("an optimizer steps on true gradients", step(
        args=f', %b: {T} {{amp.name = "b", amp.role = "optimizer_state"}}',
        guard=op("%rate", "div", "%lr", "%scale", types=[S, S], out=S)
        + f"%new, %nb = train.sgd %w, %g, %rate, %b {{momentum = 0.9 : f64}} : ({T}, {T}, {S}, {T}) -> ({T}, {T})\n",
        results=[("%nb", T, 'amp.updates = "b"')])),
    "rate over scale with decay": ("an optimizer steps on true gradients", step(
        guard=op("%rate", "div", "%lr", "%scale", types=[S, S], out=S)
        + f"%new = train.sgd %w, %g, %rate {{weight_decay = 0.1 : f64}} : ({T}, {T}, {S}) -> {T}\n")),
    "rate over scale on what is unscaled": ("operand 2 is multiplied by loss_scale^-1", step(
        guard=op("%rate", "div", "%lr", "%scale", types=[S, S], out=S) + guard(then=sgd(rate="%rate")))),
    "rate times scale": ("operand 2 is multiplied by loss_scale", step(
        guard=op("%rate", "mul", "%lr", "%scale", types=[S, S], out=S) + guard(then=sgd(rate="%rate")))),
    "rate over scale unguarded": (UNGUARDED, step(
        guard=op("%rate", "div", "%lr", "%scale", types=[S, S], out=S) + sgd("%new", "%g", "%rate"))),
    "divided twice": ("operand 1 is multiplied by loss_scale^-1", step(
        guard=op("%z", "div", "%u", "%scale", types=[T, S]) + guard(then=sgd(gradient="%z")))),
    "unscaled twice in a row": ("gradient 0 is multiplied by 1, expected loss_scale", step(
        unscale=UNSCALE + f"%v, %finite2 = amp.unscale %u by %scale : ({T}) -> ({T})\n", guard=guard(then=sgd(gradient="%v")))),
    "scaled by the cap, unscaled by the scale": ("expected loss_scale", step(
        scale=f"%sc = train.minimum %scale, %cap : ({S}, {S}) -> {S}\n" + SCALE.replace("by %scale", "by %sc"))),
    "ratio over two scales": ('the metric "m" is multiplied by', two_scales(metric_of="%ratio")),
    "angle of a scaled and an unscaled value": ("expected values with one factor", step(
        guard=guard() + f"%angle = math.atan2 %g, %x : {T}\n%m = train.reduce_sum %angle {{dims = array<i64: 0>}} : ({T}) -> {S}\n",
        results=metric("%m"))),
    "gradient capped before it is unscaled": ("expected values with one factor", step(
        scale=SCALE.replace("%g =", "%g0 =") + op("%g", "minimum", "%g0", "%cap", types=[T, S]))),
    "signs unguarded": (UNGUARDED, step(guard=op("%z", "sign", "%g") + sgd("%new", "%z"))),
    "ratio of gradients unguarded": (UNGUARDED, step(
        scale=TWO, unscale=UNSCALE_TWO, flag=FLAGS + ALL + constant("%e", "1.0e-3", T), update=UPDATE_ALL,
        guard=op("%a", "sign", "%g") + op("%b", "sign", "%k") + op("%z", "mul", "%a", "%b") + sgd("%new", "%z"))),
}

RIGHT = {
    "ranks add unscaled gradients and join flags": step(
        unscale=UNSCALE + SUM, flag=REDUCED, guard=guard(then=sgd(gradient="%r")), update=UPDATE_EVERY),
    "ranks add scaled gradients": step(
        scale=SCALE + f"%r = amp.all_reduce sum %g : {T}\n", unscale=UNSCALE.replace("%g", "%r")),
    "the scale falls after a number that is not finite": conditional("lt", "0x7F800000"),
    "by hand with a floor at the initial scale": starting(state(FLOOR), 65536.0),
    "as it is usually written": step(),
    # Conditions.
    "negated, branches exchanged": step(flag=FLAG + TRUE + "%no = arith.xori %ok, %true : i1\n", guard=guard("%no", swapped=True)),
    "equal to true": step(flag=FLAG + TRUE + "%c = arith.cmpi eq, %ok, %true : i1\n", guard=guard("%c")),
    "unequal to false": step(flag=FLAG + "%false = arith.constant false\n%c = arith.cmpi ne, %ok, %false : i1\n", guard=guard("%c")),
    "equal to false, exchanged": step(flag=FLAG + "%false = arith.constant false\n%c = arith.cmpi eq, %ok, %false : i1\n", guard=guard("%c", swapped=True)),
    "negated twice": step(flag=FLAG + TRUE + "%no = arith.xori %ok, %true : i1\n%c = arith.xori %true, %no : i1\n", guard=guard("%c")),
    "conjunction by De Morgan": two("%c", TRUE + "%a = arith.xori %ok, %true : i1\n%b = arith.xori %ok2, %true : i1\n"
                                    "%ab = arith.ori %a, %b : i1\n%c = arith.xori %ab, %true : i1\n"),
    "disjunction of negations, exchanged": two("%c", TRUE + "%a = arith.xori %ok, %true : i1\n%b = arith.xori %ok2, %true : i1\n"
                                               "%c = arith.ori %a, %b : i1\n", swapped=True),
    "conjunction by selects": two("%c", "%false = arith.constant false\n%c = arith.select %ok, %ok2, %false : i1\n"),
    "sum of flags": two("%c", "%a = arith.extui %ok : i1 to i32\n%b = arith.extui %ok2 : i1 to i32\n%ab = arith.addi %a, %b : i32\n"
                        "%k2 = arith.constant 2 : i32\n%c = arith.cmpi eq, %ab, %k2 : i32\n"),
    "product of flags": two("%c", "%a = arith.uitofp %ok : i1 to f32\n%b = arith.uitofp %ok2 : i1 to f32\n%ab = arith.mulf %a, %b : f32\n"
                            "%k0 = arith.constant 0.5 : f32\n%c = arith.cmpf ogt, %ab, %k0 : f32\n"),
    "smallest of flags": two("%c", "%a = arith.extui %ok : i1 to i32\n%b = arith.extui %ok2 : i1 to i32\n%ab = arith.minui %a, %b : i32\n"
                             "%k0 = arith.constant 0 : i32\n%c = arith.cmpi ne, %ab, %k0 : i32\n"),
    "count of overflows": two("%c", TRUE + "%x1 = arith.xori %ok, %true : i1\n%x2 = arith.xori %ok2, %true : i1\n%a = arith.extui %x1 : i1 to i32\n"
                              "%b = arith.extui %x2 : i1 to i32\n%ab = arith.addi %a, %b : i32\n%k0 = arith.constant 0 : i32\n"
                              "%c = arith.cmpi eq, %ab, %k0 : i32\n"),
    "conjunction by an if": two("%c", "%c = scf.if %ok -> i1 {\nscf.yield %ok2 : i1\n} else {\n%false = arith.constant false\nscf.yield %false : i1\n}\n"),
    "a comparison of train": step(flag=f"%c = train.compare eq, %finite, %finite0 : ({B}, {B}) -> {B}\n".replace("%finite0", "%yes") .join(
        [constant("%yes", "true", B), f"%ok = tensor.extract %c[] : {B}\n"])),
    "nested guards": step(scale=TWO, unscale=UNSCALE_TWO, flag=FLAGS + ALL, update=UPDATE_ALL, guard=guard(
        "%ok", guard("%ok2", BOTH, result="%inner"), "%inner")),
    "skipped by train.select": step(guard=sgd() + f"%new = train.select %finite, %stepped, %w : ({B}, {T}, {T}) -> {T}\n"),
    "skipped by arith.select": step(guard=sgd() + pick("%new", "%ok", "%stepped", "%w", T)),
    "skipped by a negated train.select": step(
        flag=FLAG + constant("%yes", "true", B) + f"%no = arith.xori %finite, %yes : {B}\n",
        guard=sgd() + f"%new = train.select %no, %w, %stepped : ({B}, {T}, {T}) -> {T}\n"),
    # Loops.
    "flags that a loop carries": micro(PIECE + "%both = arith.andi %good, %pok : i1\n", ["%more", "%both"],
                                       guard("%r#1", sgd(gradient="%r#0")), update=LOOP_FLAG + UPDATE),
    "flags that a loop carries negated": micro(
        TRUE.replace("%true", "%yes") + PIECE + "%b1 = arith.xori %good, %yes : i1\n%b2 = arith.xori %pok, %yes : i1\n%b3 = arith.ori %b1, %b2 : i1\n"
        "%both = arith.xori %b3, %yes : i1\n", ["%more", "%both"], guard("%r#1", sgd(gradient="%r#0")), update=LOOP_FLAG + UPDATE),
    "flags that a loop selects": micro(
        "%no = arith.constant false\n" + PIECE + "%both = arith.select %pok, %good, %no : i1\n", ["%more", "%both"],
        guard("%r#1", sgd(gradient="%r#0")), update=LOOP_FLAG + UPDATE),
    "steps in a loop": step_in_loop(UPDATE, ["%new", "%next", "%nt", "%nh"]),
    "a scale that a loop carries unchanged": step(
        scale='%seed = amp.gradient_seed "loss" : tensor<f32>\n' + constant("%zero", 0.0, T) + loop(
            f"%s = amp.scale %seed by %sc : {S}\n" + op("%g0", "mul", "%x", "%s", types=[T, S]) + op("%more", "add", "%acc", "%g0"),
            [("%acc", "%zero"), ("%sc", "%scale")], [T, S], ["%more", "%sc"]),
        unscale=UNSCALE.replace("%g", "%r#0")),
    # Scales.
    "a cap on the new scale": step(update=UPDATE + f"%capped = train.minimum %next, %cap : ({S}, {S}) -> {S}\n", s="%capped"),
    "a constant cap": step(update=UPDATE + constant("%k", 65536.0) + "%capped = arith.minimumf %next, %k : tensor<f32>\n", s="%capped"),
    "a floor and a cap": step(update=UPDATE + constant("%k", 65536.0) + constant("%f", 2.0) + "%c1 = arith.minimumf %next, %k : tensor<f32>\n"
                              "%capped = arith.maximumf %c1, %f : tensor<f32>\n", s="%capped"),
    "the scale capped before its use": step(
        scale=f"%sc = train.minimum %scale, %cap : ({S}, {S}) -> {S}\n" + SCALE.replace("by %scale", "by %sc"),
        unscale=UNSCALE.replace("%scale", "%sc")),
    "rate over scale": step(guard=op("%rate", "div", "%lr", "%scale", types=[S, S], out=S) + guard(then=sgd(gradient="%g", rate="%rate"))),
    "a scheduled rate over scale": step(
        args=f', %n: {S} {{amp.name = "n", amp.role = "model_state"}}',
        guard=op("%r0", "mul", "%lr", "%n", types=[S, S], out=S) + "%rate = arith.divf %r0, %scale : tensor<f32>\n"
        + guard(then=sgd(gradient="%g", rate="%rate"))),
    "a clip of the new scale": step(
        update=UPDATE + f"%capped = train.clip %next {{min = 1.0 : f64, max = 65536.0 : f64}} : {S}\n", s="%capped"),
    "a cap by comparison": step(
        update=UPDATE + f"%c = arith.cmpf ogt, %next, %cap : {S}\n%d = tensor.extract %c[] : {B}\n" + pick("%capped", "%d", "%cap", "%next"), s="%capped"),
    "rate times the inverse of the scale": step(
        guard=op("%i", "reciprocal", "%scale", types=[S], out=S) + op("%rate", "mul", "%lr", "%i", types=[S, S], out=S)
        + guard(then=sgd(gradient="%g", rate="%rate"))),
    "the logarithm of the scale as a metric": step(
        guard=guard() + op("%m", "log", "%scale", types=[S], out=S), results=metric("%m")),
    "the binary logarithm of the new scale": step(update=UPDATE + "%m = math.log2 %next : tensor<f32>\n", results=metric("%m")),
    "the inverse of the scale as a metric": step(guard=guard() + op("%m", "reciprocal", "%scale", types=[S], out=S), results=metric("%m")),
    "the root of the scale as a metric": step(guard=guard() + op("%m", "sqrt", "%scale", types=[S], out=S), results=metric("%m")),
    "the ratio of new and old scale": step(update=UPDATE + "%m = arith.divf %next, %scale : tensor<f32>\n", results=metric("%m")),
    "a window of micro-batches": step(
        args=', %last: i1 {amp.name = "last", amp.role = "hyperparameter"}',
        flag=FLAG + "%both = arith.andi %ok, %last : i1\n", guard=guard("%both"),
        update=f"%s1, %t1, %h1 = scf.if %last -> ({S}, {I}, {I}) {{\n{UPDATE}scf.yield %next, %nt, %nh : {S}, {I}, {I}\n}} else {{\n"
        f"scf.yield %scale, %t, %h : {S}, {I}, {I}\n}}\n", s="%s1", t="%t1", h="%h1"),
    # Functions of gradients.
    "a ratio of norms": step(scale=TWO, guard=guard() + NORMS + op("%m", "div", "%n1", "%n2", types=[S, S], out=S), results=metric("%m")),
    "a cosine": step(scale=TWO, guard=guard() + NORMS + op("%p", "mul", "%g", "%k")
                     + f"%dot = train.reduce_sum %p {{dims = array<i64: 0>}} : ({T}) -> {S}\n" + op("%d", "mul", "%n1", "%n2", types=[S, S], out=S)
                     + op("%m", "div", "%dot", "%d", types=[S, S], out=S), results=metric("%m")),
    "an angle": step(scale=TWO, guard=guard() + f"%angle = math.atan2 %g, %k : {T}\n"
                     f"%m = train.reduce_sum %angle {{dims = array<i64: 0>}} : ({T}) -> {S}\n", results=metric("%m")),
    "signs of scaled gradients": step(guard=guard(then=op("%z", "sign", "%g") + sgd(gradient="%z"))),
    "signs of two gradients": step(
        scale=TWO, unscale=UNSCALE_TWO, flag=FLAGS + ALL, update=UPDATE_ALL,
        guard=guard("%all", op("%a", "sign", "%g") + op("%b", "sign", "%k") + op("%z", "mul", "%a", "%b") + sgd(gradient="%z"))),
    "unscaled twice": step(unscale=UNSCALE + f"%v, %finite2 = amp.unscale %g by %scale : ({T}) -> ({T})\n",
                           guard=guard(then=op("%z", "add", "%u", "%v") + sgd(gradient="%z"))),
    "unscaled apart and together": step(
        scale=TWO, unscale=UNSCALE_TWO + f"%a:2, %f3 = amp.unscale %g, %k by %scale : ({T}, {T}) -> ({T}, {T})\n".replace("%a:2, %f3", "%a, %b, %f3"),
        flag=FLAGS + ALL, update=UPDATE_ALL, guard=guard("%all", op("%z", "add", "%a", "%b") + sgd(gradient="%z"))),
    # Scalers by hand.
    "by hand": state(BY_HAND, t="%nt"),
    "by hand with a floor": state(COUNT + "%low = arith.maximumf %down, %one : tensor<f32>\n" + pick("%next", "%ok", "%up", "%low")),
    "by hand with a cap": state(constant("%k", 65536.0) + "%high = arith.minimumf %up, %k : tensor<f32>\n" + pick("%next", "%ok", "%high", "%down")),
    "by hand, falls only": state(pick("%next", "%ok", "%scale", "%down")),
    "by hand, negated": state(TRUE + "%bad = arith.xori %ok, %true : i1\n" + pick("%next", "%bad", "%down", "%up")),
    "by hand in train": state(op("%d2", "mul", "%scale", "%half", types=[S, S], out=S) + op("%u2", "mul", "%scale", "%two", types=[S, S], out=S)
                              + f"%next = train.select %finite, %u2, %d2 : ({B}, {S}, {S}) -> {S}\n"),
    "by hand in a loop": step_in_loop(
        constant("%two", 2.0) + constant("%half", 0.5) + "%up = arith.mulf %scale, %two : tensor<f32>\n%down = arith.mulf %scale, %half : tensor<f32>\n"
        + pick("%next", "%ok", "%up", "%down"), ["%new", "%next", "%tt", "%hh"]),
    "by hand in branches": state("%next = scf.if %ok -> tensor<f32> {\nscf.yield %up : tensor<f32>\n} else {\nscf.yield %down : tensor<f32>\n}\n"),
    # Gradients after the check.
    "divided by its norm and a constant": computed(
        norm("%n", "%u") + constant("%e", "1.0e-6") + op("%ne", "add", "%n", "%e", types=[S, S], out=S) + op("%z", "div", "%u", "%ne", types=[T, S])),
    "divided by its norm where that is not zero": computed(
        norm("%n", "%u") + constant("%e", 0.0) + constant("%k", 1.0) + f"%c = train.compare gt, %n, %e : ({S}, {S}) -> {B}\n"
        + op("%i", "reciprocal", "%n", types=[S], out=S) + f"%j = train.select %c, %i, %k : ({B}, {S}, {S}) -> {S}\n"
        + op("%z", "mul", "%u", "%j", types=[T, S])),
    "trust ratio": computed(
        norm("%wn", "%w") + norm("%un", "%u") + constant("%e", "1.0e-6") + op("%ue", "add", "%un", "%e", types=[S, S], out=S)
        + op("%tr", "div", "%wn", "%ue", types=[S, S], out=S) + op("%z", "mul", "%u", "%tr", types=[T, S])),
    "clipped, then narrowed": computed(
        f"%c = train.clip %u {{min = -1.0 : f64, max = 1.0 : f64}} : {T}\n%q = amp.cast %c : {T} to tensor<4xf16>\n"
        f"%z = amp.cast %q : tensor<4xf16> to {T}\n"),
    "clipped by hand": computed(
        norm("%n", "%u") + constant("%k", 1.0) + op("%m", "maximum", "%n", "%k", types=[S, S], out=S) + op("%z", "div", "%u", "%m", types=[T, S])),
    "divided by the root of squares": step(
        args=f', %q: {T} {{amp.name = "q", amp.role = "optimizer_state"}}',
        guard=f"%new, %nq = scf.if %ok -> ({T}, {T}) {{\n" + op("%uu", "square", "%u") + op("%q1", "add", "%q", "%uu") + op("%r", "sqrt", "%q1")
        + constant("%e", "1.0e-8", T) + op("%re", "add", "%r", "%e") + op("%z", "div", "%u", "%re") + sgd(gradient="%z")
        + f"scf.yield %stepped, %q1 : {T}, {T}\n}} else {{\nscf.yield %w, %q : {T}, {T}\n}}\n", results=[("%nq", T, 'amp.updates = "q"')]),
    "narrowed to what it was": step(
        scale=SCALE + f"%g16 = amp.cast %g : {T} to tensor<4xf16>\n",
        unscale=f"%u, %finite = amp.unscale %g16 by %scale : (tensor<4xf16>) -> ({T})\n", guard=guard(then=HALF
        + f"%stepped = train.sgd %w, %u16, %lr : ({T}, tensor<4xf16>, {S}) -> {T}\n")),
    "a low copy of the master": step(
        args=', %low: tensor<4xf16> {amp.name = "w.low", amp.role = "parameter"}',
        guard=guard() + f"%copy = amp.master_copy %new : {T} to tensor<4xf16>\n", results=[("%copy", "tensor<4xf16>", 'amp.updates = "w.low"')]),
    "two scales": two_scales(),
}
