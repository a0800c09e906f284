# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Data-parallel steps for 4 ranks that are spelled unlike the others: batches that are gathered,
# delayed gradients, rotated loop variables, nested regions, sums of squares of parts.

from more_replication_cases import hlo_sum
from replication_cases import (
    B, BACKWARD, BASE, FORWARD, GRADIENT, JOIN, LESS, M, MASTER, MEAN, MEAN_PART, P, PARTIAL, PLACE, REDUCE, S, SCATTER,
    TIMES, VARIES, W, X, Y, constant, divide, loop, metric, op, part, part_step, parts, scale, sgd, step,
)

# Sums of squares, of whole gradients and of parts.
SQUARES = f"%own = amp.square_sum %gm : {P}\n"
ALL_SQUARES = f"%all = amp.all_reduce sum %own : tensor<f64>\n"
F64 = "tensor<f64>"
SEVERAL = "is multiplied by different powers of N, depending on a condition, expected the value for the whole batch in each case"
RATE = f"%short = arith.truncf %all : {F64} to {S}\n" + op("%norm", "sqrt", ("%short", S), out=S) + op("%rate", "div", ("%lr", S), ("%norm", S), out=S)

# Each rank gathers the batch and computes the gradient of all rows.
GATHERED_X, GATHERED_Y = "tensor<16x8xf32>", "tensor<16x4xf32>"
GATHER = (f"%x4 = tensor.cast %x : {X} to tensor<4x8xf32>\n%t4 = tensor.cast %target : {Y} to tensor<4x4xf32>\n"
          f"%xa = amp.all_gather %x4 along 0 : tensor<4x8xf32> to {GATHERED_X}\n%ta = amp.all_gather %t4 along 0 : tensor<4x4xf32> to {GATHERED_Y}\n")
WHOLE = BASE.replace("%x,", "%xa,").replace("%target,", "%ta,").replace("(%x)", "(%xa)").replace(X, GATHERED_X).replace(Y, GATHERED_Y).replace("%target)", "%ta)")

# Two gradients take turns in a loop.
ROTATED = loop(f"scf.yield %acc : {W}\n").split("%g = ")[0]


def rotate(first, second):
    return (ROTATED + f"%a, %b = scf.for %i = %zero_i to %four_i step %one_i iter_args(%p = {first}, %q = {second}) -> ({W}, {W}) {{\n"
            f"scf.yield %q, %p : {W}, {W}\n}}\n")


def nested(inner, outer="%flag"):
    """A conditional in a loop in a conditional."""
    return (f"%bool = arith.constant dense<true> : {B}\n%flag = tensor.extract %bool[] : {B}\n" + ROTATED +
            f"%deep = scf.if {outer} -> {W} {{\n%l = scf.for %i = %zero_i to %four_i step %one_i iter_args(%acc = %mean) -> ({W}) {{\n"
            f"%k = scf.if %flag -> {W} {{\n{inner}scf.yield %z : {W}\n}} else {{\nscf.yield %acc : {W}\n}}\nscf.yield %k : {W}\n}}\n"
            f"scf.yield %l : {W}\n}} else {{\nscf.yield %mean : {W}\n}}\n")


HALVED = constant("%half", 0.5) + op("%z", "mul", ("%acc", W), ("%half", S), out=W)
SWITCH = (f"%index = arith.constant 1 : index\n%sum = scf.index_switch %index -> {W}\ncase 1 {{\n%r = amp.all_reduce sum %g : {W}\nscf.yield %r : {W}\n}}\n"
          f"default {{\nscf.yield %g : {W}\n}}\n")
BY_FLAG = f"%bool = \"host.flag\"() : () -> {B}\n"
CALLS = f"func.func private @average_NAME(%v: {W}) -> {W} {{\n%s = amp.all_reduce sum %v : {W}\n" + divide("%d", "%s") + f"return %d : {W}\n}}\n"


def call(result, value):
    return f"{result} = func.call @average_NAME({value}) : ({W}) -> {W}\n"


RIGHT = {
    "squares of parts": parts(BASE, MEAN_PART, part(), SQUARES, ALL_SQUARES, RATE, part_step(rate="%rate"), JOIN, results=MASTER[1:] + metric("%norm", "norm")),
    "squares of whole gradients": step(MEAN, f"%all = amp.square_sum %mean : {W}\n", RATE, sgd(rate="%rate")),
    "gathered batch": step(GATHER, WHOLE, sgd("%g")),
    "gathered batch, averaged": step(GATHER, WHOLE, REDUCE, divide(), sgd()),
    "gradient of the step before": step(MEAN, sgd("%m"), results=[("%mean", W, 'amp.updates = "m"')]),
    "two averages take turns": CALLS + step(MEAN, call("%again", "%g"), rotate("%mean", "%again"), sgd("%a"), results=[("%b", W, 'amp.updates = "m"')]),
    "nested regions": step(MEAN, nested(HALVED), sgd("%deep")),
    "average in a function": CALLS + step(BASE, call("%mean", "%g"), sgd()),
    "sum of hlo in a function": f"func.func private @hlo_NAME(%v: {W}) -> {W} {{\n" + hlo_sum("%v", W, result="%s") + f"return %s : {W}\n}}\n"
                                + step(BASE, f"%sum = func.call @hlo_NAME(%g) : ({W}) -> {W}\n", divide(), sgd()),
    "largest of all gradients as the rate": step(MEAN, f"%top = amp.max_magnitude %mean : {W}\n", op("%rate", "mul", ("%lr", S), ("%top", S), out=S), sgd(rate="%rate")),
}

WRONG = {
    "squares of parts, not added": ("operand 2 " + VARIES, parts(BASE, MEAN_PART, part(), SQUARES.replace("%own", "%all"), RATE, part_step(rate="%rate"), JOIN)),
    "squares of parts and of a whole": ("operand 1 is not a part, expected parts of all gradients",
                                        parts(MEAN, MEAN_PART, part(), SQUARES.replace("%gm : ", "%gm, %mean : ").replace(P + "\n", f"{P}, {W}\n"), ALL_SQUARES, RATE, part_step(rate="%rate"), JOIN)),
    "squares of parts that are not divided": ("operand 0 " + TIMES, parts(BASE, SCATTER, MEAN_PART.replace("%gp", "%gq"), part(), SQUARES.replace("%gm", "%gp"), ALL_SQUARES, RATE, part_step(rate="%rate"), JOIN)),
    "squares of a rank's gradient": ("operand 0 " + PARTIAL, step(MEAN, f"%own = amp.square_sum %g : {W}\n", ALL_SQUARES, RATE, sgd(rate="%rate"))),
    "squares of all, added again": ("the metric \"squares\" " + TIMES, step(MEAN, f"%own = amp.square_sum %mean : {W}\n", ALL_SQUARES, sgd(), results=[("%all", F64, 'amp.metric = "squares"')])),
    "gathered batch, gradient added": ("operand 1 " + TIMES, step(GATHER, WHOLE, REDUCE, sgd("%sum"))),
    "gathered batch, gradient divided": ("operand 1 " + LESS, step(GATHER, WHOLE, divide("%mean", "%g"), sgd())),
    "gathered rows, labels of a rank": ("operand 1 ", step(GATHER, WHOLE.replace("%ta", "%tt").replace("%y = ", "%tt = \"host.tile\"(%t4) : (tensor<4x4xf32>) -> tensor<16x4xf32>\n%y = "), sgd("%g"))),
    "gradient of the step before, of a rank": ('the update "m" ' + PARTIAL, step(MEAN, sgd("%m"), results=[("%g", W, 'amp.updates = "m"')])),
    "gradient of the step before, not divided": ('the update "m" ' + TIMES, step(MEAN, sgd("%m"), results=[("%sum", W, 'amp.updates = "m"')])),
    "an average and a rank's gradient take turns": ("operand 1 " + VARIES, step(MEAN, rotate("%mean", "%g"), sgd("%a"))),
    "nested regions with a rank's gradient": ("operand 1 " + VARIES, step(MEAN, nested(op("%z", "add", ("%acc", W), ("%g", W), out=W)), sgd("%deep"))),
    "nested collective": ("is a collective in the conditional 'scf.if', " + PLACE, step(MEAN, nested(f"%z = amp.all_reduce max %acc : {W}\n"), sgd("%deep"))),
    "collective in a switch": ("is a collective in the conditional 'scf.index_switch', " + PLACE, step(BASE, SWITCH, divide(), sgd())),
    "average in a function, divided again": ("operand 1 " + LESS, CALLS + step(BASE, call("%one", "%g"), divide("%mean", "%one"), sgd())),
    "average of one of two gradients": ("operand 1 " + PARTIAL, CALLS + step(BASE, call("%one", "%g"), GRADIENT.replace("%g ", "%g2 "), op("%mean", "add", ("%one", W), ("%g2", W), out=W), sgd())),
    "select of a mean and of a sum": ("operand 1 " + SEVERAL, step(MEAN, BY_FLAG, op("%some", "select", ("%bool", B), ("%mean", W), ("%sum", W), out=W), sgd("%some"))),
    "division in one branch": ("operand 1 " + SEVERAL, step(BASE, REDUCE, BY_FLAG, f"%flag = tensor.extract %bool[] : {B}\n%some = scf.if %flag -> {W} {{\n", divide(), f"scf.yield %mean : {W}\n}} else {{\nscf.yield %sum : {W}\n}}\n", sgd("%some"))),
    "division in each iteration": ("operand 1 " + SEVERAL, step(BASE, REDUCE, loop(divide("%less", "%acc") + f"scf.yield %less : {W}\n", init="%sum").replace("%g = scf.for", "%mean = scf.for"), sgd())),
    "largest of a rank's gradients as the rate": ("operand 2 " + VARIES, step(MEAN, f"%top = amp.max_magnitude %g : {W}\n", op("%rate", "mul", ("%lr", S), ("%top", S), out=S), sgd(rate="%rate"))),
    "rows of a rank in the parameter": ("the update \"w\" " + VARIES, step(MEAN, sgd(result="%own"), "%rows = tensor.extract_slice %x[0, 0] [8, 4] [1, 1] : tensor<?x8xf32> to tensor<8x4xf32>\n",
                                        op("%new", "add", ("%own", W), ("%rows", W), out=W))),
}
