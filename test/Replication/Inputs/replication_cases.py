# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Data-parallel steps, right and wrong, for 4 ranks. Each wrong one has the
# message that it must cause. All are variants of one step: a linear layer with
# a mean loss, whose gradient is summed over the ranks and divided by 4.

S, B, I = "tensor<f32>", "tensor<i1>", "tensor<i32>"
X, Y, W = "tensor<?x8xf32>", "tensor<?x4xf32>", "tensor<8x4xf32>"

PARTIAL = "is a partial sum over the ranks, expected a value that all ranks have"
VARIES = "varies between the ranks, expected a value that all ranks have"
TIMES = "is N times its value for the whole batch, expected a division by N, the number of ranks"
LESS = "is 1/N of its value for the whole batch, expected one division less by N, the number of ranks"
PART_OF_RANK = "is the part of one rank, expected a value that all ranks have"
OTHER_ELEMENTS = "is not the part of this rank along dimension 0, expected parts of the same elements"
SUMMANDS = "operand 0 has other elements on each rank, expected summands of the same elements"
STALE = "joins parts that the step has not updated, expected the parts of the new value"
PLACE = "expected that all ranks execute it together"


def op(result, name, *operands, out, attributes=""):
    """An operation of train; operands are pairs of a value and a type."""
    values, types = zip(*operands)
    return f"{result} = \"train.{name}\"({', '.join(values)}) {{{attributes}}} : ({', '.join(types)}) -> ({out})\n"


def constant(name, value, type=S):
    return f"{name} = arith.constant dense<{value}> : {type}\n"


FORWARD = op("%y", "linear", ("%x", X), ("%w", W), out=Y) + op("%loss", "mse", ("%y", Y), ("%target", Y), out=S)
SEED = f'%seed = amp.gradient_seed "loss" : {S}\n'
BACKWARD = SEED + op("%dy", "mse_grad", ("%y", Y), ("%target", Y), ("%seed", S), out=Y)
GRADIENT = op("%g", "matmul", ("%x", X), ("%dy", Y), out=W, attributes="transpose_a")
REDUCE = f"%sum = amp.all_reduce sum %g : {W}\n"
QUARTER = constant("%quarter", 0.25)
FOUR = constant("%four", 4.0)


def divide(result="%mean", value="%sum", type=W):
    return FOUR.replace("%four", f"{result}_four") + op(result, "div", (value, type), (f"{result}_four", S), out=type)


def scale(result="%mean", value="%sum", factor="%quarter", type=W):
    return op(result, "mul", (value, type), (factor, S), out=type)


def sgd(gradient="%mean", result="%new", parameter="%w", rate="%lr"):
    return op(result, "sgd", (parameter, W), (gradient, W), (rate, S), out=W)


def step(*body, w="%new", results=(), args=""):
    """A step with the operations `body`; `results` are value, type, attribute."""
    head = (f'%w: {W} {{amp.name = "w", amp.role = "parameter"}}, %m: {W} {{amp.name = "m", amp.role = "optimizer_state"}}, '
            f'%x: {X} {{amp.name = "x", amp.role = "batch"}}, %target: {Y} {{amp.name = "target", amp.role = "batch"}}, '
            f'%lr: {S} {{amp.name = "lr", amp.role = "hyperparameter"}}, %stat: tensor<8xf32> {{amp.name = "stat", amp.role = "model_state"}}, '
            f'%scale: {S} {{amp.name = "loss_scale", amp.role = "scaler_state"}}, %t: {I} {{amp.name = "t", amp.role = "scaler_state"}}, '
            f'%h: {I} {{amp.name = "h", amp.role = "scaler_state"}}' + args)
    returned = ([(w, W, 'amp.updates = "w"')] if w else []) + list(results)
    signature = ", ".join(f"{type} {{{attribute}}}" for _, type, attribute in returned)
    values, types = (", ".join(one[i] for one in returned) for i in (0, 1))
    return f"func.func @NAME({head}) -> ({signature}) {{\n{''.join(body)}return {values} : {types}\n}}\n"


BASE = FORWARD + BACKWARD + GRADIENT
MEAN = BASE + REDUCE + divide()
M = [("%m1", W, 'amp.updates = "m"')]


def metric(value, name="loss"):
    return [(value, S, f'amp.metric = "{name}"')]


def state(value):
    return [(value, "tensor<8xf32>", 'amp.updates = "stat"')]


def adam(gradient="%mean"):
    types = [W, W, S, W, W, S]
    values = ["%w", gradient, "%lr", "%m", "%v", "%one"]
    return constant("%one", 1.0) + constant("%v", 0.5, W) + op("%new, %m1, %v1", "adam", *zip(values, types), out=f"{W}, {W}, {W}")


# Loss scaling around the step.
SCALED = FORWARD + SEED + f"%s = amp.scale %seed by %scale : {S}\n" + op("%dy", "mse_grad", ("%y", Y), ("%target", Y), ("%s", S), out=Y) + GRADIENT
UNSCALE = f"%u, %finite = amp.unscale %mean by %scale : ({W}) -> ({W})\n"
FLAG = f"%ok = tensor.extract %finite[] : {B}\n"
UPDATE = "%next, %nt, %nh = amp.update_scale %scale, %t, %h, %finite\n"
SCALER = [("%next", S, 'amp.updates = "loss_scale"'), ("%nt", I, 'amp.updates = "t"'), ("%nh", I, 'amp.updates = "h"')]


def guard(condition="%ok", body=sgd("%u", "%stepped"), new="%stepped", old="%w"):
    return f"%new = scf.if {condition} -> {W} {{\n{body}scf.yield {new} : {W}\n}} else {{\nscf.yield {old} : {W}\n}}\n"


ALL_FLAGS = f"%all = amp.all_reduce and %finite : {B}\n"
SCALED_MEAN = SCALED + REDUCE + divide()
# Gradients are unscaled before they are reduced; the flag is reduced too.
LATE = (SCALED + f"%own, %finite = amp.unscale %g by %scale : ({W}) -> ({W})\n" + f"%sum = amp.all_reduce sum %own : {W}\n" + divide("%u"))
LATE_FLAGS = ALL_FLAGS + f"%ok = tensor.extract %all[] : {B}\n" + UPDATE.replace("%finite", "%all")

# A norm of batches: statistics of the part of a rank.
BATCH_NORM = constant("%gamma", 1.0, "tensor<8xf32>") + constant("%var", 1.0, "tensor<8xf32>") + op(
    "%n, %mu, %rstd, %rm, %rv", "batch_norm_training", ("%x", X), ("%gamma", "tensor<8xf32>"), ("%gamma", "tensor<8xf32>"),
    ("%stat", "tensor<8xf32>"), ("%var", "tensor<8xf32>"), out=", ".join([X] + ["tensor<8xf32>"] * 4))
STATISTIC = "%rms = amp.all_reduce sum %rm : tensor<8xf32>\n"

# Losses by hand: a sum over rows and the number of rows.
BY_HAND = (op("%y", "linear", ("%x", X), ("%w", W), out=Y) + op("%diff", "sub", ("%y", Y), ("%target", Y), out=Y) + op("%q", "square", ("%diff", Y), out=Y))
SUM_LOSS = BY_HAND + op("%loss", "reduce_sum", ("%q", Y), out=S, attributes="dims = array<i64: 0, 1>")
MEAN_LOSS = BY_HAND + op("%loss", "reduce_mean", ("%q", Y), out=S, attributes="dims = array<i64: 0, 1>")
SPREAD = SEED + op("%b", "broadcast", ("%seed", S), ("%q", Y), out=Y, attributes="dims = array<i64: 0, 1>{}")
CHAIN = op("%bd", "mul", ("%b", Y), ("%diff", Y), out=Y) + constant("%two", 2.0) + op("%dy", "mul", ("%bd", Y), ("%two", S), out=Y)
SUM_BACKWARD = SPREAD.replace("{}", "") + CHAIN + GRADIENT
MEAN_BACKWARD = SPREAD.replace("{}", ", mean") + CHAIN + GRADIENT

FLAT = "tensor<2x4xf32>"
SCATTERED = f"%part = amp.reduce_scatter %g along 0 : {W} to {FLAT}\n" + divide("%pm", "%part", FLAT) + f"%sum = amp.all_gather %pm along 0 : {FLAT} to {W}\n"


def linalg_gradient(second="%dy", reduction='"reduction"', body="arith.addf %c, %p : f32"):
    return (f"%zero = arith.constant 0.0 : f32\n%e = tensor.empty() : {W}\n%f = linalg.fill ins(%zero : f32) outs(%e : {W}) -> {W}\n"
            f"%g = linalg.generic {{indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], "
            f'iterator_types = ["parallel", "parallel", {reduction}]}} ins(%x, {second} : {X}, {Y}) outs(%f : {W}) {{\n'
            f"^bb0(%a: f32, %b2: f32, %c: f32):\n%p = arith.mulf %a, %b2 : f32\n%r = {body}\nlinalg.yield %r : f32\n}} -> {W}\n")


def loop(body, bound="%four_i", init="%g0", first="%zero_i"):
    return (f"%zero_i = arith.constant 0 : index\n%one_i = arith.constant 1 : index\n%four_i = arith.constant 4 : index\n{constant('%g0', 0.0, W)}"
            f"%g = scf.for %i = {first} to {bound} step %one_i iter_args(%acc = {init}) -> ({W}) {{\n{body}}}\n")


ACCUMULATE = GRADIENT.replace("%g ", "%gi ") + op("%added", "add", ("%acc", W), ("%gi", W), out=W) + f"scf.yield %added : {W}\n"
FOREIGN = '%sum = "host.psum"(%g) : (tensor<8x4xf32>) -> tensor<8x4xf32>\n'
FOREIGN_STEP = '%new = "host.step"(%w, %mean) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>\n'
RANK = '%rank = "host.rank"() : () -> tensor<f32>\n'
NORM = f"%norm = amp.global_norm %mean : {W}\n"
CLIP = op("%c, %norm", "clip_by_global_norm", ("%mean", W), out=f"{W}, {S}", attributes="max_norm = 1.0 : f64")
DECAY = constant("%decay", 0.01) + op("%wd", "mul", ("%w", W), ("%decay", S), out=W)
RELU = op("%z", "linear", ("%x", X), ("%w", W), out=Y) + op("%y", "relu", ("%z", Y), out=Y) + op("%loss", "mse", ("%y", Y), ("%target", Y), out=S)
RELU_BACK = SEED + op("%dr", "mse_grad", ("%y", Y), ("%target", Y), ("%seed", S), out=Y) + op("%dy", "relu_grad", ("%z", Y), ("%dr", Y), out=Y) + GRADIENT
BIAS_T = "tensor<4xf32>"
HAND_SGD = scale("%ug", "%mean", "%lr") + op("%new", "sub", ("%w", W), ("%ug", W), out=W)
SMALL = "%gl = amp.cast %g : tensor<8x4xf32> to tensor<8x4xbf16>\n%sl = amp.all_reduce sum %gl : tensor<8x4xbf16>\n%sum = amp.cast %sl : tensor<8x4xbf16> to tensor<8x4xf32>\n"
TEST_LOSS = f"%lsum = amp.all_reduce sum %loss : {S}\n" + divide("%lmean", "%lsum", S)

BY_RANKS = f"%mean = amp.divide_by_ranks %sum : {W}\n"
PART = FORWARD + BACKWARD.replace("%seed = ", "%start = ").replace('"loss" : tensor<f32>\n', '"loss" : tensor<f32>\n' + f"%seed = amp.divide_by_ranks %start : {S}\n") + GRADIENT

# Ranks that divide the state of the optimizer: flat parts of 8 elements.
P = "tensor<8xf32>"
PARTS = (f', %mp: {P} {{amp.name = "mp", amp.role = "optimizer_state", amp.part_of = {W}}}'
         f', %master: {P} {{amp.name = "master", amp.role = "parameter", amp.part_of = {W}}}'
         f', %mw: {P} {{amp.name = "mw", amp.role = "optimizer_state"}}')
SCATTER = f"%gp = amp.reduce_scatter %g : {W} to {P}\n"
MEAN_PART = SCATTER + divide("%gm", "%gp", P)
JOIN = f"%new = amp.all_gather %np : {P} to {W}\n"
MASTER = [("%np", P, 'amp.updates = "master"'), ("%m1", P, 'amp.updates = "mp"')]
FIRST = f"%flat = tensor.collapse_shape %whole [[0, 1]] : {W} into tensor<32xf32>\n%first = tensor.extract_slice %flat[0] [8] [1] : tensor<32xf32> to {P}\n"


def part(value="%w", result="%wp"):
    return f"{result} = amp.rank_part {value} : {W} to {P}\n"


def part_step(gradient="%gm", parameter="%wp", state="%mp", rate="%lr"):
    values = (parameter, P), (gradient, P), (rate, S), (state, P)
    return op("%np, %m1", "sgd", *values, out=f"{P}, {P}", attributes="momentum = 0.9 : f64")


def parts(*body, results=MASTER[1:], w="%new"):
    """A step whose ranks keep parts of the state."""
    return step(*body, w=w, results=results, args=PARTS)


def sum_of_squares(value="%gm"):
    return op("%sq", "square", (value, P), out=P) + op("%own", "reduce_sum", ("%sq", P), out=S, attributes="dims = array<i64: 0>")


UNSCALE_PART = f"%up, %finite = amp.unscale %gm by %scale : ({P}) -> ({P})\n"
PART_OF_SCALED = SCALED + MEAN_PART + UNSCALE_PART
ROWS = "tensor<2x4xf32>"


def part_guard(flag="%ok", inner="", yielded="%np, %m1", kinds=f"{P}, {P}", other="%master, %mp"):
    body = part_step("%up", "%master") + inner
    return f"%nm, %nv = scf.if {flag} -> ({kinds}) {{\n{body}scf.yield {yielded} : {kinds}\n}} else {{\nscf.yield {other} : {kinds}\n}}\n"


GUARDED = [("%nm", P, 'amp.updates = "master"'), ("%nv", P, 'amp.updates = "mp"')] + SCALER
JOIN_GUARDED = JOIN.replace("%np", "%nm")

RIGHT = {
    "parts": parts(BASE, MEAN_PART, part(), part_step(), JOIN),
    "parts of a master": parts(BASE, MEAN_PART, part_step(parameter="%master"), JOIN, results=MASTER),
    "parts of an average": parts(MEAN, part("%mean", "%gm"), part(), part_step(), JOIN),
    "parts, by hand": parts(BASE, MEAN_PART, part(), op("%d", "mul", ("%gm", P), ("%lr", S), out=P), op("%np", "sub", ("%wp", P), ("%d", P), out=P), JOIN, results=()),
    "parts with a decay": parts(BASE, MEAN_PART, part(), constant("%decay", 0.1), op("%wd", "mul", ("%wp", P), ("%decay", S), out=P),
                                op("%d", "add", ("%gm", P), ("%wd", P), out=P), part_step("%d"), JOIN),
    "parts, guarded": parts(PART_OF_SCALED, LATE_FLAGS, part_guard(), JOIN_GUARDED, results=GUARDED),
    "parts, with a norm": parts(BASE, MEAN_PART, part(), sum_of_squares(), f"%total = amp.all_reduce sum %own : {S}\n", op("%norm", "sqrt", ("%total", S), out=S),
                                op("%c", "div", ("%gm", P), ("%norm", S), out=P), part_step("%c"), JOIN, results=MASTER[1:] + metric("%norm", "norm")),
    "parts, with a maximum": parts(BASE, MEAN_PART, part(), f"%top = amp.max_magnitude %gm : {P}\n%most = amp.all_reduce max %top : {S}\n", part_step(), JOIN,
                                   results=MASTER[1:] + metric("%most", "top")),
    "parts, stored low": parts(BASE, MEAN_PART, part_step(parameter="%master"), f"%low = amp.cast %np : {P} to tensor<8xbf16>\n%nw = amp.all_gather %low : tensor<8xbf16> to tensor<8x4xbf16>\n"
                               f"%new = amp.cast %nw : tensor<8x4xbf16> to {W}\n", results=MASTER),
    "parts joined before use": parts(f"%joined = amp.all_gather %master : {P} to {W}\n", BASE.replace("%w)", "%joined)"), MEAN_PART, part_step(parameter="%master"), JOIN, results=MASTER),
    "parts of rows": parts(BASE, SCATTERED.split("%sum")[0], f"%wr = amp.rank_part %w along 0 : {W} to {ROWS}\n", op("%nr", "sgd", ("%wr", ROWS), ("%pm", ROWS), ("%lr", S), out=ROWS),
                           f"%new = amp.all_gather %nr along 0 : {ROWS} to {W}\n", results=()),
    "divided by the number of ranks": step(BASE, REDUCE, BY_RANKS, sgd()),
    "start of the backward pass divided": step(PART, REDUCE, sgd("%sum")),
    "reduced and divided": step(MEAN, sgd()),
    "multiplied by the reciprocal": step(BASE, REDUCE, QUARTER, scale(), sgd()),
    "divided before the reduction": step(BASE, divide("%d4", "%g"), "%mean = amp.all_reduce sum %d4 : tensor<8x4xf32>\n", sgd()),
    "multiplied before the reduction": step(BASE, QUARTER, scale("%d4", "%g"), "%mean = amp.all_reduce sum %d4 : tensor<8x4xf32>\n", sgd()),
    "sum loss without a division": step(SUM_LOSS, SUM_BACKWARD, REDUCE, sgd("%sum")),
    "mean loss by hand": step(MEAN_LOSS, MEAN_BACKWARD, REDUCE, divide(), sgd()),
    "adam": step(MEAN, adam(), results=M),
    "clipped": step(MEAN, CLIP, sgd("%c")),
    "norm as a metric": step(MEAN, NORM, sgd(), results=metric("%norm", "norm")),
    "weight decay after the reduction": step(MEAN, DECAY, op("%d", "add", ("%mean", W), ("%wd", W), out=W), sgd("%d")),
    "weight decay before a mean": step(BASE, DECAY, op("%d", "add", ("%g", W), ("%wd", W), out=W), "%sum = amp.all_reduce sum %d : tensor<8x4xf32>\n", divide(), sgd()),
    "momentum by hand": step(MEAN, constant("%beta", 0.9), scale("%bm", "%m", "%beta"), op("%m1", "add", ("%bm", W), ("%mean", W), out=W), sgd("%m1"), results=M),
    "sgd by hand": step(MEAN, HAND_SGD),
    "nesterov by sgd": step(MEAN, op("%new, %m1", "sgd", ("%w", W), ("%mean", W), ("%lr", S), ("%m", W), out=f"{W}, {W}", attributes="momentum = 0.9 : f64, nesterov"), results=M),
    "loss scaling": step(SCALED_MEAN, UNSCALE, FLAG, guard(), UPDATE, results=SCALER),
    "flags reduced": step(LATE, LATE_FLAGS, guard(), results=SCALER),
    "unscaled, divided, reduced": step(SCALED, divide("%d4", "%g"), "%mean = amp.all_reduce sum %d4 : tensor<8x4xf32>\n", UNSCALE, FLAG, guard(), UPDATE, results=SCALER),
    "local loss as a metric": step(MEAN, sgd(), results=metric("%loss")),
    "mean loss as a metric": step(MEAN, TEST_LOSS, sgd(), results=metric("%lmean")),
    "sum loss as a metric": step(SUM_LOSS, SUM_BACKWARD, REDUCE, f"%lsum = amp.all_reduce sum %loss : {S}\n", sgd("%sum"), results=metric("%lsum")),
    "prediction of a rank": step(MEAN, sgd(), results=[("%y", Y, 'amp.prediction = "y"')]),
    "bucket of two": step(BASE, f"%sum, %other = amp.all_reduce sum %g, %loss : {W}, {S}\n", divide(), sgd()),
    "reduced in bf16": step(BASE, SMALL, divide(), sgd()),
    "scattered and gathered": step(BASE, SCATTERED, sgd("%sum")),
    "statistics averaged": step(MEAN, BATCH_NORM, STATISTIC, divide("%rmm", "%rms", "tensor<8xf32>"), sgd(), results=state("%rmm")),
    "micro-batches": step(FORWARD, BACKWARD, loop(ACCUMULATE), REDUCE, divide(), sgd()),
    "relu": step(RELU, RELU_BACK, REDUCE, divide(), sgd()),
    "bias": step(FORWARD, BACKWARD, op("%db", "reduce_sum", ("%dy", Y), out=BIAS_T, attributes="dims = array<i64: 0>"), GRADIENT,
                 f"%sum, %bs = amp.all_reduce sum %g, %db : {W}, {BIAS_T}\n", divide(), sgd()),
    "linalg": step(FORWARD, BACKWARD, linalg_gradient(), REDUCE, divide(), sgd()),
    "gradient through a transpose": step(FORWARD, BACKWARD, op("%xt", "transpose", ("%x", X), out="tensor<8x?xf32>", attributes="permutation = array<i64: 1, 0>"),
                                         op("%g", "matmul", ("%xt", "tensor<8x?xf32>"), ("%dy", Y), out=W), REDUCE, divide(), sgd()),
    "select on a flag of all": step(SCALED_MEAN, UNSCALE, sgd("%u", "%stepped"), op("%new", "select", ("%finite", B), ("%stepped", W), ("%w", W), out=W), UPDATE, results=SCALER),
    "largest gradient of all": step(MEAN, f"%top = amp.max_magnitude %g : {W}\n%most = amp.all_reduce max %top : {S}\n", sgd(), results=metric("%most", "top")),
    "ignored labels": step(SUM_LOSS, SUM_BACKWARD, op("%n", "reduce_sum", ("%target", Y), out=S, attributes="dims = array<i64: 0, 1>"),
                           f"%sum, %ns = amp.all_reduce sum %g, %n : {W}, {S}\n", scale("%mean", "%sum", "%ns").replace("train.mul", "train.div"), sgd()),
    "host collective": step(BASE, FOREIGN, divide(), sgd()),
    "host optimizer": step(MEAN, FOREIGN_STEP),
    "rank in a metric": step(RANK, MEAN, sgd(), results=metric("%rank", "rank")),
    "dropout": step(op("%xd", "dropout", ("%x", X), ("%rng", "tensor<2xi64>"), out=X, attributes="rate = 0.1 : f64"), MEAN.replace("(%x,", "(%xd,"), sgd(),
                    args=', %rng: tensor<2xi64> {amp.name = "rng", amp.role = "model_state"}'),
    "collective in a fixed loop": step(FORWARD, BACKWARD, loop(GRADIENT.replace("%g ", "%gi ") + f"%r = amp.all_reduce sum %gi : {W}\n" + f"scf.yield %r : {W}\n"), divide("%mean", "%g"), sgd()),
    "slice of the batch": step(op("%xs", "slice", ("%x", X), out="tensor<?x8xf32>", attributes="offsets = array<i64: 0, 0>, sizes = array<i64: -1, 8>, strides = array<i64: 1, 1>"), MEAN.replace("(%x,", "(%xs,"), sgd()),
    "rate from the step": step(MEAN, constant("%half", 0.5), op("%rate", "mul", ("%lr", S), ("%half", S), out=S), sgd(rate="%rate")),
    "reshaped batch": step(op("%x3", "reshape", ("%x", X), out="tensor<?x2x4xf32>"), op("%x2", "reshape", ("%x3", "tensor<?x2x4xf32>"), out=X), MEAN.replace("(%x,", "(%x2,"), sgd()),
    "no gradient": step(constant("%rate", 0.5), scale("%new", "%w", "%rate")),
}

IF = f"%flag = tensor.extract %bool[] : {B}\n"
LOCAL_FLAG = op("%bool", "compare", ("%loss", S), ("%lr", S), out=B, attributes="predicate = 4 : i32")
CALLED = f"func.func private @reduce_NAME(%v: {W}) -> {W} {{\n%r = amp.all_reduce sum %v : {W}\nreturn %r : {W}\n}}\n"


def conditional(inner, condition="%flag", other="%g"):
    return f"%sum = scf.if {condition} -> {W} {{\n{inner}scf.yield %r : {W}\n}} else {{\nscf.yield {other} : {W}\n}}\n"


IN_IF = f"%r = amp.all_reduce sum %g : {W}\n"
LOOP_REDUCE = GRADIENT.replace("%g ", "%gi ") + f"%r = amp.all_reduce sum %gi : {W}\nscf.yield %r : {W}\n"
LOCAL_COUNT = "%ci = \"host.count\"(%loss) : (tensor<f32>) -> index\n"

WRONG = {
    "parts: old master": ("the update \"w\" " + STALE, parts(BASE, MEAN_PART, part_step(parameter="%master"), JOIN.replace("%np", "%master"), results=MASTER)),
    "parts: old parameter": ("the update \"w\" " + STALE, parts(BASE, MEAN_PART, part(), part_step(), JOIN.replace("%np", "%wp"))),
    "parts: never joined": ("the update \"mw\" " + PART_OF_RANK, parts(BASE, MEAN_PART, part(), part_step(), JOIN, results=[("%m1", P, 'amp.updates = "mw"'), ("%mp", P, 'amp.updates = "mp"')])),
    "parts: norm of one part": ("operand 0 " + PART_OF_RANK, parts(BASE, MEAN_PART, part(), NORM.replace("%mean", "%gm").replace(W, P), part_step(), JOIN, results=MASTER[1:] + metric("%norm", "norm"))),
    "parts: clip of one part": ("operand 0 " + PART_OF_RANK, parts(BASE, MEAN_PART, part(), CLIP.replace("%mean", "%gm").replace(W, P), part_step("%c"), JOIN)),
    "parts: squares not added": ("operand 2 " + PARTIAL, parts(BASE, MEAN_PART, part(), sum_of_squares(), op("%rate", "mul", ("%lr", S), ("%own", S), out=S), part_step(rate="%rate"), JOIN)),
    "parts: root before the sum": ("operand 2 " + VARIES, parts(BASE, MEAN_PART, part(), sum_of_squares(), op("%norm", "sqrt", ("%own", S), out=S), op("%rate", "mul", ("%lr", S), ("%norm", S), out=S),
                                                             part_step(rate="%rate"), JOIN)),
    "parts: maximum of one part": ("operand 2 " + VARIES, parts(BASE, MEAN_PART, part(), f"%top = amp.max_magnitude %gm : {P}\n", op("%rate", "mul", ("%lr", S), ("%top", S), out=S),
                                                             part_step(rate="%rate"), JOIN)),
    "parts: not divided": ("operand 1 " + TIMES, parts(BASE, SCATTER, part(), part_step("%gp"), JOIN)),
    "parts: divided twice": ("operand 1 " + LESS, parts(BASE, MEAN_PART, part(), divide("%again", "%gm", P), part_step("%again"), JOIN)),
    "parts: reduced, then scattered": ("operand 1 " + TIMES, parts(BASE, REDUCE, SCATTER.replace("%g ", "%sum "), divide("%gm", "%gp", P), part(), part_step(), JOIN)),
    "parts: scattered twice": (SUMMANDS, parts(BASE, MEAN_PART, f"%again = amp.reduce_scatter %gm : {P} to tensor<2xf32>\n", part(), part_step(), JOIN, results=MASTER[1:])),
    "parts: sum of parts": (SUMMANDS, parts(BASE, MEAN_PART, f"%all = amp.all_reduce sum %gm : {P}\n", part(), part_step("%all"), JOIN)),
    "parts: not reduced": ("operand 1 " + OTHER_ELEMENTS, parts(BASE, part("%g", "%gm"), part(), part_step(), JOIN)),
    "parts: first elements of the gradient": ("operand 1 " + OTHER_ELEMENTS, parts(MEAN, FIRST.replace("%whole", "%mean"), part(), part_step("%first"), JOIN)),
    "parts: first elements of the parameter": ("operand 0 " + OTHER_ELEMENTS, parts(BASE, MEAN_PART, FIRST.replace("%whole", "%w"), part_step(parameter="%first"), JOIN)),
    "parts: first elements, by hand": ("the update \"w\" ", parts(BASE, MEAN_PART, FIRST.replace("%whole", "%w"), op("%d", "mul", ("%gm", P), ("%lr", S), out=P),
                                       op("%np", "sub", ("%first", P), ("%d", P), out=P), op("%odd", "reduce_sum", ("%np", P), out=S, attributes="dims = array<i64: 0>"), scale("%new", "%w", "%odd"), results=())),
    "parts: state of all ranks": ("operand 3 " + OTHER_ELEMENTS, parts(BASE, MEAN_PART, part(), part_step(state="%mw"), JOIN)),
    "parts: state from all ranks": ("the update \"mp\" is equal on all ranks, expected the part of this rank",
                                    parts(MEAN, FIRST.replace("%whole", "%mean"), sgd(), results=[("%first", P, 'amp.updates = "mp"')])),
    "parts: state from a rank's gradient": ("the update \"mp\" " + VARIES.split(",")[0] + ", expected the part of this rank",
                                            parts(MEAN, sgd(), part("%g", "%own"), results=[("%own", P, 'amp.updates = "mp"')])),
    "parts: state not divided": ("the update \"mp\" " + TIMES, parts(BASE, SCATTER, MEAN_PART.replace("%gp", "%gq"), part(), part_step(), JOIN, results=[("%gp", P, 'amp.updates = "mp"')])),
    "parts: flag of one rank": ("the update \"master\" " + VARIES.split(",")[0], parts(PART_OF_SCALED, FLAG, part_guard(), ALL_FLAGS, UPDATE.replace("%finite", "%all"), JOIN_GUARDED, results=GUARDED)),
    "parts: scaler of one rank": ("operand 3 " + VARIES, parts(PART_OF_SCALED, ALL_FLAGS, f"%ok = tensor.extract %all[] : {B}\n", part_guard(), UPDATE, JOIN_GUARDED, results=GUARDED)),
    "parts: joined in the guard": ("is a collective in the conditional 'scf.if', " + PLACE,
                                   parts(PART_OF_SCALED, LATE_FLAGS, part_guard(inner=JOIN.replace("%new", "%nw"), yielded="%nw, %m1", kinds=f"{W}, {P}", other="%w, %mp"), w="%nm", results=GUARDED[1:])),
    "parts: of all ranks, joined": ("operand 0 is equal on all ranks, expected the part of each rank", parts(BASE, MEAN_PART, part(), part_step(), JOIN.replace("%np", "%mw"))),
    "parts: another dimension": ("operand 0 is a part along dimension 1, expected a part along 0",
                                 parts(BASE, REDUCE, f"%c1 = amp.rank_part %w along 1 : {W} to tensor<8x1xf32>\n%tall = amp.all_gather %c1 along 0 : tensor<8x1xf32> to tensor<32x1xf32>\n",
                                       op("%new", "reshape", ("%tall", "tensor<32x1xf32>"), out=W), results=())),
    "parts: with the whole": ("the update \"mp\" " + VARIES.split(",")[0], parts(MEAN, sgd(), part("%mean", "%gm"), op("%mix", "add", ("%gm", P), ("%mw", P), out=P), results=[("%mix", P, 'amp.updates = "mp"')])),
    "parts: added to a gradient": ("the update \"mp\" " + VARIES.split(",")[0], parts(MEAN, sgd(), FIRST.replace("%whole", "%g"), op("%mix", "add", ("%mp", P), ("%first", P), out=P), results=[("%mix", P, 'amp.updates = "mp"')])),
    "parts: rolled": ("the update \"mp\" " + VARIES.split(",")[0],
                      parts(MEAN, sgd(), "%low = tensor.extract_slice %mp[0] [4] [1] : tensor<8xf32> to tensor<4xf32>\n%high = tensor.extract_slice %mp[4] [4] [1] : tensor<8xf32> to tensor<4xf32>\n",
                            op("%mix", "concat", ("%high", "tensor<4xf32>"), ("%low", "tensor<4xf32>"), out=P, attributes="axis = 0 : i64"), results=[("%mix", P, 'amp.updates = "mp"')])),
    "parts: softmax of a part": ("the update \"mp\" " + VARIES.split(",")[0], parts(MEAN, sgd(), op("%mix", "softmax", ("%mp", P), out=P, attributes="axis = 0 : i64"), results=[("%mix", P, 'amp.updates = "mp"')])),
    "start and sum divided": ("operand 1 " + LESS, step(PART, REDUCE, BY_RANKS, sgd())),
    "sum loss divided by the number of ranks": ("operand 1 " + LESS, step(SUM_LOSS, SUM_BACKWARD, REDUCE, BY_RANKS, sgd())),
    "not reduced, divided by the number of ranks": ("operand 1 " + PARTIAL, step(BASE, BY_RANKS.replace("%sum", "%g"), sgd())),
    "not reduced, sgd": ("operand 1 " + PARTIAL, step(BASE, sgd("%g"))),
    "not reduced, adam": ("operand 1 " + PARTIAL, step(BASE, adam("%g"), results=M)),
    "not reduced, divided": ("operand 1 " + PARTIAL, step(BASE, divide("%mean", "%g"), sgd())),
    "not reduced, by hand": ("the update \"w\" varies", step(BASE, scale("%ug", "%g", "%lr"), op("%p", "exp", ("%ug", W), out=W), op("%new", "sub", ("%w", W), ("%p", W), out=W))),
    "partial state": ("the update \"m\" " + PARTIAL, step(MEAN, sgd(), results=[("%g", W, 'amp.updates = "m"')])),
    "not reduced, momentum": ("the update \"m\" " + PARTIAL, step(BASE, constant("%beta", 0.9), scale("%bm", "%m", "%beta"), op("%m1", "add", ("%bm", W), ("%g", W), out=W), REDUCE, divide(), sgd(), results=M)),
    "not divided, sgd": ("operand 1 " + TIMES, step(BASE, REDUCE, sgd("%sum"))),
    "not divided, adam": ("operand 1 " + TIMES, step(BASE, REDUCE, adam("%sum"), results=M)),
    "not divided, by hand": ("the update \"w\" " + TIMES, step(BASE, REDUCE, HAND_SGD.replace("%mean", "%sum"))),
    "not divided, momentum": ("the update \"m\" " + TIMES, step(BASE, REDUCE, op("%m1", "add", ("%m", W), ("%sum", W), out=W), w=None, results=M)),
    "not divided, clip": ("operand 0 " + TIMES, step(BASE, REDUCE, CLIP.replace("%mean", "%sum"), sgd("%c"))),
    "not divided, norm": ("operand 0 " + TIMES, step(BASE, REDUCE, NORM.replace("%mean", "%sum"), divide(), sgd(), results=metric("%norm", "norm"))),
    "not divided, unscale": ("operand 1 " + TIMES, step(SCALED, REDUCE, UNSCALE.replace("%mean", "%sum"), FLAG, guard(), UPDATE, results=SCALER)),
    "not divided, bf16": ("operand 1 " + TIMES, step(BASE, SMALL, sgd("%sum"))),
    "not divided, host": ("operand 1 " + TIMES, step(BASE, FOREIGN, sgd("%sum"))),
    "not divided, scattered": ("operand 1 " + TIMES, step(BASE, SCATTERED.replace("%pm along", "%part along"), sgd("%sum"))),
    "not divided, mean by hand": ("operand 1 " + TIMES, step(MEAN_LOSS, MEAN_BACKWARD, REDUCE, sgd("%sum"))),
    "not divided, relu": ("operand 1 " + TIMES, step(RELU, RELU_BACK, REDUCE, sgd("%sum"))),
    "not divided, linalg": ("operand 1 " + TIMES, step(FORWARD, BACKWARD, linalg_gradient(), REDUCE, sgd("%sum"))),
    "not divided, micro-batches": ("operand 1 " + TIMES, step(FORWARD, BACKWARD, loop(ACCUMULATE), REDUCE, sgd("%sum"))),
    "not divided, metric": ("the metric \"loss\" " + TIMES, step(MEAN, f"%lsum = amp.all_reduce sum %loss : {S}\n", sgd(), results=metric("%lsum"))),
    "not divided, decay": ("operand 1 " + TIMES, step(BASE, REDUCE, DECAY, op("%d", "add", ("%sum", W), ("%wd", W), out=W), sgd("%d"))),
    "divided twice": ("operand 1 " + LESS, step(MEAN, divide("%again", "%mean"), sgd("%again"))),
    "divided before and after": ("operand 1 " + LESS, step(BASE, divide("%d4", "%g"), "%sum = amp.all_reduce sum %d4 : tensor<8x4xf32>\n", divide(), sgd())),
    "divided twice before": ("operand 1 " + LESS, step(BASE, divide("%d4", "%g"), divide("%d16", "%d4"), "%mean = amp.all_reduce sum %d16 : tensor<8x4xf32>\n", sgd())),
    "sum loss divided": ("operand 1 " + LESS, step(SUM_LOSS, SUM_BACKWARD, REDUCE, divide(), sgd())),
    "multiplied, then divided": ("operand 1 " + LESS, step(BASE, REDUCE, QUARTER, scale(), divide("%again", "%mean"), sgd("%again"))),
    "divided twice, clip": ("operand 0 " + LESS, step(MEAN, divide("%again", "%mean"), CLIP.replace("%mean", "%again"), sgd("%c"))),
    "reduced twice": ("operand 1 " + TIMES, step(MEAN, f"%again = amp.all_reduce sum %mean : {W}\n", sgd("%again"))),
    "reduced twice before": ("operand 1 " + TIMES, step(BASE, REDUCE, f"%twice = amp.all_reduce sum %sum : {W}\n", divide("%mean", "%twice"), sgd())),
    "sum loss reduced twice": ("operand 1 " + TIMES, step(SUM_LOSS, SUM_BACKWARD, REDUCE, f"%twice = amp.all_reduce sum %sum : {W}\n", sgd("%twice"))),
    "reduced three times": ("operand 1 is N^2 times", step(BASE, REDUCE, f"%b1 = amp.all_reduce sum %sum : {W}\n%b2 = amp.all_reduce sum %b1 : {W}\n", divide("%mean", "%b2"), sgd())),
    "decay reduced with a sum": ("operand 1 " + TIMES, step(SUM_LOSS, SUM_BACKWARD, DECAY, op("%d", "add", ("%g", W), ("%wd", W), out=W), f"%sum = amp.all_reduce sum %d : {W}\n", sgd("%sum"))),
    "gathered, then reduced": ("operand 1 " + TIMES, step(BASE, SCATTERED, f"%again = amp.all_reduce sum %sum : {W}\n", sgd("%again"))),
    "parameter reduced": ("operand 0 " + TIMES, step(MEAN, f"%ws = amp.all_reduce sum %w : {W}\n", sgd(parameter="%ws"))),
    "new parameter reduced": ("the update \"w\" " + TIMES, step(MEAN, sgd(result="%own"), f"%new = amp.all_reduce sum %own : {W}\n")),
    "norm of partial": ("operand 0 " + PARTIAL, step(BASE, NORM.replace("%mean", "%g"), REDUCE, divide(), sgd(), results=metric("%norm", "norm"))),
    "clip of partial": ("operand 0 " + PARTIAL, step(BASE, CLIP.replace("%mean", "%g"), "%sum = amp.all_reduce sum %c : tensor<8x4xf32>\n", divide(), sgd())),
    "norm of two, one partial": ("operand 1 " + PARTIAL, step(MEAN, f"%norm = amp.global_norm %mean, %g : {W}, {W}\n", sgd(), results=metric("%norm", "norm"))),
    "clip of two, one partial": ("operand 1 " + PARTIAL, step(MEAN, op("%c, %c2, %norm", "clip_by_global_norm", ("%mean", W), ("%g", W), out=f"{W}, {W}, {S}", attributes="max_norm = 1.0 : f64"), sgd("%c"))),
    "unscale of partial": ("operand 3 " + VARIES, step(SCALED, UNSCALE.replace("%mean", "%g"), f"%sum = amp.all_reduce sum %u : {W}\n", divide(), sgd(), UPDATE, results=SCALER)),
    "guard of one rank": ("the update \"w\" " + VARIES, step(LATE, FLAG, guard(), ALL_FLAGS, UPDATE.replace("%finite", "%all"), results=SCALER)),
    "select of one rank": ("the update \"w\" " + VARIES, step(LATE, ALL_FLAGS, sgd("%u", "%stepped"), op("%new", "select", ("%finite", B), ("%stepped", W), ("%w", W), out=W), UPDATE.replace("%finite", "%all"), results=SCALER)),
    "scaler of one rank": ("operand 3 " + VARIES, step(LATE, ALL_FLAGS, f"%ok = tensor.extract %all[] : {B}\n", guard(), UPDATE, results=SCALER)),
    "guard on the loss": ("the update \"w\" " + VARIES, step(MEAN, LOCAL_FLAG, IF, guard("%flag", sgd("%mean", "%stepped")))),
    "state guarded by the loss": ("the update \"m\" " + VARIES, step(MEAN, LOCAL_FLAG, op("%m1", "select", ("%bool", B), ("%mean", W), ("%m", W), out=W), sgd(), results=M)),
    "rate from the loss": ("operand 2 " + PARTIAL, step(MEAN, op("%rate", "mul", ("%lr", S), ("%loss", S), out=S), sgd(rate="%rate"))),
    "rate from a function of the loss": ("operand 2 " + VARIES, step(MEAN, op("%rate", "exp", ("%loss", S), out=S), sgd(rate="%rate"))),
    "statistics of one rank": ("the update \"stat\" " + VARIES, step(MEAN, BATCH_NORM, sgd(), results=state("%rm"))),
    "statistics of a rank's mean": ("the update \"stat\" " + PARTIAL, step(MEAN, op("%mu", "reduce_mean", ("%x", X), out="tensor<8xf32>", attributes="dims = array<i64: 0>"), sgd(), results=state("%mu"))),
    "statistics of a rank's maximum": ("the update \"stat\" " + VARIES, step(MEAN, op("%mu", "reduce_max", ("%x", X), out="tensor<8xf32>", attributes="dims = array<i64: 0>"), sgd(), results=state("%mu"))),
    "statistics not divided": ("the update \"stat\" " + TIMES, step(MEAN, op("%mu", "reduce_mean", ("%x", X), out="tensor<8xf32>", attributes="dims = array<i64: 0>"), "%ms = amp.all_reduce sum %mu : tensor<8xf32>\n", sgd(), results=state("%ms"))),
    "rank in a parameter": ("the update \"w\" " + VARIES, step(RANK, scale("%new", "%w", "%rank"))),
    "rank in a gradient": ("operand 1 " + VARIES, step(RANK, MEAN, scale("%odd", "%mean", "%rank"), sgd("%odd"))),
    "rank in the rate": ("operand 2 " + VARIES, step(RANK, MEAN, sgd(rate="%rank"))),
    "conditional": ("is a collective in the conditional 'scf.if', " + PLACE, step(BASE, LOCAL_FLAG, IF, conditional(IN_IF), divide(), sgd())),
    "conditional on equal flags": ("is a collective in the conditional 'scf.if', " + PLACE,
                                   step(BASE, op("%bool", "compare", ("%lr", S), ("%scale", S), out=B, attributes="predicate = 4 : i32"), IF, conditional(IN_IF), sgd("%sum"))),
    "called in a conditional": ("calls a collective in the conditional 'scf.if', " + PLACE,
                                CALLED + step(BASE, LOCAL_FLAG, IF, conditional(f"%r = func.call @reduce_NAME(%g) : ({W}) -> {W}\n"), divide(), sgd())),
    "loop of a varying length": ("is a collective in a loop, 'scf.for', whose iterations differ between the ranks, " + PLACE, step(FORWARD, BACKWARD, LOCAL_COUNT, loop(LOOP_REDUCE, "%ci"), divide("%mean", "%g"), sgd())),
    "loop from a varying start": ("is a collective in a loop, 'scf.for', whose iterations differ between the ranks, " + PLACE, step(FORWARD, BACKWARD, LOCAL_COUNT, loop(LOOP_REDUCE, first="%ci"), divide("%mean", "%g"), sgd())),
    "host collective in a conditional": ("is a collective in the conditional 'scf.if', " + PLACE, step(BASE, LOCAL_FLAG, IF, conditional(FOREIGN.replace("%sum", "%r")), divide(), sgd())),
    "host optimizer of a partial": ("operand 1 " + PARTIAL, step(BASE, FOREIGN_STEP.replace("%mean", "%g"))),
    "host optimizer, not divided": ("operand 1 " + TIMES, step(BASE, REDUCE, FOREIGN_STEP.replace("%mean", "%sum"))),
    "called without a reduction": ("operand 1 " + PARTIAL, f"func.func private @same_NAME(%v: {W}) -> {W} {{\nreturn %v : {W}\n}}\n" + step(BASE, f"%mean = func.call @same_NAME(%g) : ({W}) -> {W}\n", sgd())),
    "called, not divided": ("operand 1 " + TIMES, CALLED + step(BASE, f"%sum = func.call @reduce_NAME(%g) : ({W}) -> {W}\n", sgd("%sum"))),
    "part of a rank": ("the update \"stat\" " + PART_OF_RANK, step(MEAN, sgd(), "%ms = tensor.collapse_shape %w [[0, 1]] : tensor<8x4xf32> into tensor<32xf32>\n%b8 = tensor.empty() : tensor<32xf32>\n%part = amp.reduce_scatter %ms along 0 : tensor<32xf32> to tensor<8xf32>\n", results=state("%part"))),
}
