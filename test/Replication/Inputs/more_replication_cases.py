# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# More data-parallel steps for 4 ranks, right and wrong: several optimizers,
# averages of parameters, norms by hand, loops and collectives of StableHLO.

from replication_cases import (
    ALL_FLAGS, B, BACKWARD, BASE, BATCH_NORM, FORWARD, GRADIENT, LATE, LATE_FLAGS, LESS, LOCAL_COUNT, MEAN,
    PARTIAL, REDUCE, S, SCALER, STATISTIC, SUM_BACKWARD, SUM_LOSS, TIMES, UPDATE, VARIES, W, X, Y, constant,
    divide, guard, loop, metric, op, scale, sgd, state, step,
)

V = "tensor<8xf32>"
GRADIENT2 = GRADIENT.replace("%g ", "%g2 ")
TWO_REDUCED = f"%sum2 = amp.all_reduce sum %g2 : {W}\n" + divide("%mean2", "%sum2")
SECOND = (f', %w2: {W} {{amp.name = "w2", amp.role = "parameter"}}, %m2: {W} {{amp.name = "m2", amp.role = "optimizer_state"}}'
          f', %ema: {W} {{amp.name = "ema", amp.role = "model_state"}}')
W2 = [("%new2", W, 'amp.updates = "w2"')]
EMA_OUT = [("%ema1", W, 'amp.updates = "ema"')]


def sgd2(gradient="%mean2"):
    return sgd(gradient, "%new2", "%w2")


def ema(value="%new", result="%ema1", old="%ema"):
    return constant("%keep", 0.9) + constant("%add", 0.1) + scale("%e1", old, "%keep") + scale("%e2", value, "%add") + op(result, "add", ("%e1", W), ("%e2", W), out=W)


LOCAL_N = op("%n", "reduce_sum", ("%target", Y), out=S, attributes="dims = array<i64: 0, 1>")
LOCAL_NORM = op("%gq", "square", ("%g", W), out=W) + op("%gs", "reduce_sum", ("%gq", W), out=S, attributes="dims = array<i64: 0, 1>") + op("%gn", "sqrt", ("%gs", S), out=S)


def while_loop(condition, body):
    return (f"%g0 = arith.constant dense<0.0> : {W}\n%i0 = arith.constant 0 : index\n%i1 = arith.constant 1 : index\n%i4 = arith.constant 4 : index\n"
            f"%gw, %iw = scf.while (%acc = %g0, %i = %i0) : ({W}, index) -> ({W}, index) {{\n{condition}scf.condition(%c) %acc, %i : {W}, index\n}} do {{\n"
            f"^bb0(%acc: {W}, %i: index):\n{body}%in = arith.addi %i, %i1 : index\nscf.yield %r, %in : {W}, index\n}}\n")


FIXED = "%c = arith.cmpi slt, %i, %i4 : index\n"
BY_LOSS = LOCAL_COUNT + "%c = arith.cmpi slt, %i, %ci : index\n"
BODY = GRADIENT.replace("%g ", "%gi ") + f"%ri = amp.all_reduce sum %gi : {W}\n" + op("%r", "add", ("%acc", W), ("%ri", W), out=W)
ACC_REDUCE_OWN = GRADIENT.replace("%g ", "%gi ") + f"%ri = amp.all_reduce sum %gi : {W}\n" + op("%added", "add", ("%acc", W), ("%ri", W), out=W) + f"scf.yield %added : {W}\n"


def hlo_sum(value, type, groups="[[0, 1, 2, 3]]", shape="1x4", result="%sum", kind="add"):
    e = "tensor<f32>"
    return (f'{result} = "stablehlo.all_reduce"({value}) <{{replica_groups = dense<{groups}> : tensor<{shape}xi64>}}> ({{\n^bb0(%pa: {e}, %pb: {e}):\n'
            f'%ps = "stablehlo.{kind}"(%pa, %pb) : ({e}, {e}) -> {e}\n"stablehlo.return"(%ps) : ({e}) -> ()\n}}) : ({type}) -> {type}\n')


RIGHT = {
    "two optimizers": step(MEAN, GRADIENT2, TWO_REDUCED, sgd(), sgd2(), results=W2, args=SECOND),
    "two optimizers, one bucket": step(BASE, GRADIENT2, f"%sum, %sum2 = amp.all_reduce sum %g, %g2 : {W}, {W}\n", divide(), divide("%mean2", "%sum2"), sgd(), sgd2(), results=W2, args=SECOND),
    "reduce of each micro-batch added": step(FORWARD, BACKWARD, loop(ACC_REDUCE_OWN), divide("%mean", "%g"), sgd()),
    "divided in the loop": step(FORWARD, BACKWARD, loop(GRADIENT.replace("%g ", "%gi ") + f"%ri = amp.all_reduce sum %gi : {W}\n" + divide("%di", "%ri") + op("%added", "add", ("%acc", W), ("%di", W), out=W) + f"scf.yield %added : {W}\n"), sgd("%g")),
    "EMA of new parameters": step(MEAN, sgd(), ema(), results=EMA_OUT, args=SECOND),
    "EMA of gradients": step(MEAN, sgd(), ema("%mean"), results=EMA_OUT, args=SECOND),
    "EMA of a reduced sum, divided later": step(BASE, REDUCE, divide("%mean"), ema("%mean"), sgd("%ema1"), results=EMA_OUT, args=SECOND),
    "clip by hand, norm of the mean": step(MEAN, LOCAL_NORM.replace("(%g)", "(%mean)"), op("%cl", "div", ("%mean", W), ("%gn", S), out=W), sgd("%cl")),
    "sign of the mean": step(MEAN, op("%sg", "tanh", ("%mean", W), out=W), sgd("%sg")),
    "while, fixed": step(FORWARD, BACKWARD, while_loop(FIXED, BODY), divide("%mean", "%gw"), sgd()),
    "hlo sum of all": step(BASE, hlo_sum("%g", W), divide(), sgd()),
    "hlo maximum as a metric": step(MEAN, hlo_sum("%loss", S, kind="maximum", result="%top"), sgd(), results=metric("%top", "top")),
    "statistics of the old state": step(MEAN, BATCH_NORM, sgd(), results=metric("%loss") + [("%stat", V, 'amp.updates = "stat"')]),
    "statistics of one rank in a prediction": step(MEAN, BATCH_NORM, STATISTIC, divide("%rmm", "%rms", V), sgd(), results=state("%rmm") + [("%n", X, 'amp.prediction = "n"')]),
    "ignored labels, loss by count of all": step(SUM_LOSS, SUM_BACKWARD, LOCAL_N, f"%ns = amp.all_reduce sum %n : {S}\n%ls = amp.all_reduce sum %loss : {S}\n", op("%lm", "div", ("%ls", S), ("%ns", S), out=S),
        op("%gd", "div", ("%g", W), ("%ns", S), out=W), f"%mean = amp.all_reduce sum %gd : {W}\n", sgd(), results=metric("%lm")),
    "frozen parameter": step(MEAN, sgd(), results=[("%w2", W, 'amp.updates = "w2"')], args=SECOND),
}

WRONG = {
    "two optimizers, one reduced": ("operand 1 " + PARTIAL, step(MEAN, GRADIENT2, sgd(), sgd2("%g2"), results=W2, args=SECOND)),
    "two optimizers, one divided": ("operand 1 " + TIMES, step(MEAN, GRADIENT2, TWO_REDUCED, sgd(), sgd2("%sum2"), results=W2, args=SECOND)),
    "two optimizers, bucket divided twice": ("operand 1 " + LESS, step(BASE, GRADIENT2, f"%sum, %sum2 = amp.all_reduce sum %g, %g2 : {W}, {W}\n", divide(), divide("%d2", "%sum2"), divide("%mean2", "%d2"), sgd(), sgd2(), results=W2, args=SECOND)),
    "accumulator reduced in the loop and after it": ("operand 1 " + TIMES, step(FORWARD, BACKWARD, loop(ACC_REDUCE_OWN), f"%sum = amp.all_reduce sum %g : {W}\n", divide(), sgd())),
    "reduce in the loop, not divided": ("operand 1 " + TIMES, step(FORWARD, BACKWARD, loop(ACC_REDUCE_OWN), sgd("%g"))),
    "EMA of a rank's gradient": ('the update "ema" ' + PARTIAL, step(MEAN, sgd(), ema("%g"), results=EMA_OUT, args=SECOND)),
    "EMA of a rank's update": ('the update "ema" ' + PARTIAL, step(MEAN, sgd(), scale("%ug", "%g", "%lr"), op("%own", "sub", ("%w", W), ("%ug", W), out=W), ema("%own"), results=EMA_OUT, args=SECOND)),
    "EMA of sums": ('the update "ema" ' + TIMES, step(MEAN, sgd(), ema("%sum"), results=EMA_OUT, args=SECOND)),
    "clip of the mean by a rank's norm": ("operand 1 " + VARIES, step(MEAN, LOCAL_NORM, op("%cl", "div", ("%mean", W), ("%gn", S), out=W), sgd("%cl"))),
    "labels: count of a rank after": ("operand 1 " + VARIES, step(SUM_LOSS, SUM_BACKWARD, LOCAL_N, REDUCE, op("%gd", "div", ("%sum", W), ("%n", S), out=W), sgd("%gd"))),
    "guard by an or of a rank's flag": ("the update \"w\" " + VARIES, step(LATE, ALL_FLAGS, f"%any = arith.ori %finite, %all : {B}\n%ok = tensor.extract %any[] : {B}\n", guard(), UPDATE.replace("%finite", "%all"), results=SCALER)),
    "sign before the reduction, not divided": ("operand 1 " + VARIES, step(BASE, op("%sg", "tanh", ("%g", W), out=W), sgd("%sg"))),
    "while, by a rank's count": ("is a collective in a loop", step(FORWARD, BACKWARD, while_loop(BY_LOSS, BODY), divide("%mean", "%gw"), sgd())),
    "while, not divided": ("operand 1 " + TIMES, step(FORWARD, BACKWARD, while_loop(FIXED, BODY), sgd("%gw"))),
    "hlo sum of pairs": ("operand 1 " + VARIES, step(BASE, hlo_sum("%g", W, "[[0, 1], [2, 3]]", "2x2"), divide(), sgd())),
    "hlo sum without rank 3": ("operand 1 " + VARIES, step(BASE, hlo_sum("%g", W, "[[0, 1, 2]]", "1x3"), divide(), sgd())),
    "while in hlo with pairs": ("operand 1 " + VARIES, step(FORWARD, BACKWARD, while_loop(FIXED, BODY.replace(f"%ri = amp.all_reduce sum %gi : {W}\n", hlo_sum("%gi", W, "[[0, 1], [2, 3]]", "2x2", "%ri"))), divide("%mean", "%gw"), sgd())),
    "loss scale from a rank's loss": ('the update "loss_scale" ' + PARTIAL, step(MEAN, sgd(), op("%ns", "mul", ("%scale", S), ("%loss", S), out=S), results=[("%ns", S, 'amp.updates = "loss_scale"')])),
    "square of a sum": ("operand 1 " + TIMES, step(BASE, REDUCE, op("%sq", "square", ("%sum", W), out=W), divide("%mean", "%sq"), sgd())),
}
