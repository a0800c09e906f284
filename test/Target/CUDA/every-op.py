# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Operations of the train dialect one by one, in f32, f16 and bf16, with odd
# extents: each writes the same state as amp-run. So are checks of
# gradients, roundings by chance, nested loops and sums in one bit.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib' %amp_src_root/docs/reference/train-dialect.md

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from program import Builder, as_numbers, distance, load, run

folder, compiler, library, reference = sys.argv[1:5]
builder = Builder(compiler, library, folder)

# %x, %y: T[6x10], %p: T[6x10] positive, %v: T[10], %im: T[2x6x5x3], %l: i64[6].
# T is the element type; $n names the case. The result is %$n.
X, V, IM = "tensor<6x10xT>", "tensor<10xT>", "tensor<2x6x5x3xT>"
CASES = {}


def case(name, result, text):
    CASES[name] = (result, text.replace("$", "%" + name))


for op in "neg abs sign sin cos erf tanh relu exp expm1 sigmoid square gelu silu".split():
    case(op, X, f"$ = train.{op} %x : {X}")
case("gelu_tanh", X, f"$ = train.gelu %x {{approximate = 1 : i32}} : {X}")
for op in "sqrt log log1p rsqrt reciprocal".split():
    case(op, X, f"$ = train.{op} %p : {X}")
for op in "add sub mul maximum minimum".split():
    case(op, X, f"$ = train.{op} %x, %y : ({X}, {X}) -> {X}")
case("div", X, f"$ = train.div %x, %p : ({X}, {X}) -> {X}")
case("pow", X, f"$ = train.pow %p, %x : ({X}, {X}) -> {X}")
case("add_row", X, f"$ = train.add %x, %v : ({X}, {V}) -> {X}")
case("add_column", X, f"""$c = train.reduce_max %x {{dims = array<i64: 1>, keep_dims}} : ({X}) -> tensor<6x1xT>
    $ = train.sub %x, $c : ({X}, tensor<6x1xT>) -> {X}""")
for dims, shape in (("0", "10x"), ("1", "6x"), ("0, 1", "")):
    for op in ("sum", "mean", "max"):
        case(f"{op}_{dims.replace(', ', '_')}", f"tensor<{shape}T>",
             f"$ = train.reduce_{op} %x {{dims = array<i64: {dims}>}} : ({X}) -> tensor<{shape}T>")
case("sum_middle", "tensor<2x3xT>",
     f"$ = train.reduce_sum %im {{dims = array<i64: 1, 2>}} : ({IM}) -> tensor<2x3xT>")
case("select", X, f"""$c = train.compare gt, %x, %y : ({X}, {X}) -> tensor<6x10xi1>
    $ = train.select $c, %x, %v : (tensor<6x10xi1>, {X}, {V}) -> {X}""")
case("transpose", "tensor<10x6xT>",
     f"$ = train.transpose %x {{permutation = array<i64: 1, 0>}} : ({X}) -> tensor<10x6xT>")
case("slice", "tensor<2x5xT>", f"$ = train.slice %x {{offsets = array<i64: 1, 0>, "
     f"sizes = array<i64: 2, 5>, strides = array<i64: 3, 2>}} : ({X}) -> tensor<2x5xT>")
case("pad", "tensor<9x12xT>", f"$ = train.pad %x {{low = array<i64: 2, 0>, high = array<i64: 1, 2>, "
     f"interior = array<i64: 0, 0>, value = 0.5 : f64}} : ({X}) -> tensor<9x12xT>")
case("spread", "tensor<11x10xT>", f"$ = train.pad %x {{low = array<i64: 0, 0>, high = array<i64: 0, 0>, "
     f"interior = array<i64: 1, 0>, value = 0.0 : f64}} : ({X}) -> tensor<11x10xT>")
case("concat", "tensor<12x10xT>",
     f"$ = train.concat %x, %y {{axis = 0 : i64}} : ({X}, {X}) -> tensor<12x10xT>")
case("broadcast", "tensor<6x10xT>",
     f"$ = train.broadcast %v {{dims = array<i64: 0>, mean}} : ({V}) -> {X}")
case("one_hot", X, f"$ = train.one_hot %l : (tensor<6xi64>) -> {X}")
for axis in (0, 1):
    for op in ("softmax", "log_softmax"):
        case(f"{op}_{axis}", X, f"$ = train.{op} %x {{axis = {axis} : i64}} : {X}")
        case(f"{op}_grad_{axis}", X, f"""$y = train.{op} %x {{axis = {axis} : i64}} : {X}
    $ = train.{op}_grad $y, %y {{axis = {axis} : i64}} : {X}""")
for op in "relu tanh sigmoid gelu silu".split():
    case(f"{op}_dx", X, f"$ = train.{op}_grad %x, %y : {X}")
CLIP = "{min = -0.5 : f64, max = 0.75 : f64}"
case("clip", X, f"$ = train.clip %x {CLIP} : {X}")
case("clip_dx", X, f"$ = train.clip_grad %x, %y {CLIP} : {X}")
case("reshape", "tensor<4x15xT>", f"""$r = train.reshape %x : ({X}) -> tensor<4x15xT>
    $ = train.neg $r : tensor<4x15xT>""")
F, G = "tensor<10xf32>", "tensor<6xf32>"
L = "tensor<6xi64>"
# Constants: one that counts, two that do not, one that is the result itself.
case("counting", X, f"""$c = train.constant dense<[[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]> : tensor<6x1xT>
    $ = train.mul %x, $c : ({X}, tensor<6x1xT>) -> {X}""")
case("table", X, f"""$c = train.constant dense<[0.5, -1.0, 3.0, 1.0e-3, 0.1, 7.0, -0.0, 2.0, 1.0, 9.0]> : {V}
    $ = train.add %x, $c : ({X}, {V}) -> {X}""")
case("integers", "tensor<6x5xT>", f"""$c = train.constant dense<[7, 0, 3, 9, 3]> : tensor<5xi64>
    $ = train.gather %x, $c {{axis = 1 : i64}} : ({X}, tensor<5xi64>) -> tensor<6x5xT>""")
case("constant", "tensor<3xT>", "$ = train.constant dense<[0.25, 0.5, -1.5]> : tensor<3xT>")
# Operations over sequences.
case("gather", "tensor<6x6xT>", f"$ = train.gather %x, %l {{axis = 1 : i64}} : ({X}, {L}) -> tensor<6x6xT>")
case("embedding", "tensor<2x3x6xT>", f"""$l = train.constant dense<[[9, 0, 4], [4, 4, 1]]> : tensor<2x3xi64>
    $t = train.transpose %x {{permutation = array<i64: 1, 0>}} : ({X}) -> tensor<10x6xT>
    $ = train.gather $t, $l {{axis = 0 : i64}} : (tensor<10x6xT>, tensor<2x3xi64>) -> tensor<2x3x6xT>""")
case("embedding_dx", "tensor<12x10xf32>",
     f"$ = train.scatter_add %x, %l {{axis = 0 : i64}} : ({X}, {L}) -> tensor<12x10xf32>")
case("scatter_add", "tensor<2x10x5x3xT>",
     f"$ = train.scatter_add %im, %l {{axis = 1 : i64}} : ({IM}, {L}) -> tensor<2x10x5x3xT>")
for axis, kept in ((0, 10), (1, 6)):
    for reverse in ("", ", reverse"):
        case(f"cumsum_{axis}{reverse[2:]}", X, f"$ = train.cumsum %x {{axis = {axis} : i64{reverse}}} : ({X}) -> {X}")
    case(f"argmax_{axis}", f"tensor<{kept}xi64>",
         f"$ = train.argmax %x {{axis = {axis} : i64}} : ({X}) -> tensor<{kept}xi64>")
    case(f"logsumexp_{axis}", f"tensor<{kept}xf32>",
         f"$ = train.logsumexp %x {{axis = {axis} : i64}} : ({X}) -> tensor<{kept}xf32>")
case("rms_norm", X, f"$, $r = train.rms_norm %x, %g : ({X}, {F}) -> ({X}, {G})")
for name, result, results in (("dx", X, "$, $g"), ("dg", F, "$x, $")):
    case(f"rms_norm_{name}", result, f"""$y, $r = train.rms_norm %x, %g : ({X}, {F}) -> ({X}, {G})
    {results} = train.rms_norm_grad %y, %x, %g, $r : ({X}, {X}, {F}, {G}) -> ({X}, {F})""")
case("rotary", X, f"""$t = train.slice %g {{offsets = array<i64: 0>, sizes = array<i64: 5>, strides = array<i64: 1>}} : ({F}) -> tensor<5xf32>
    $s = train.square $t : tensor<5xf32>
    $ = train.rotary_embedding %x, $t, $s : ({X}, tensor<5xf32>, tensor<5xf32>) -> {X}""")
ATTENTION = "train.scaled_dot_product_attention"
for name, tensor, causal in (("attention", X, ""), ("causal", X, " {causal}"), ("causal_heads", IM, " {causal, scale = 0.3 : f64}")):
    # Queries, keys and values are the input, a version of it, and the input.
    rows = "2x6x5" if tensor == IM else "6"
    before = f"$q = train.sin %{'im' if tensor == IM else 'x'} : {tensor}\n    $k = train.cos $q : {tensor}\n    "
    forward = f"{ATTENTION} $q, $k, $q{causal} : ({tensor}, {tensor}, {tensor}) -> ({tensor}, tensor<{rows}xf32>)"
    backward = (f"{ATTENTION}_grad $k, $q, $k, $q, $o, $e{causal} : ({tensor}, {tensor}, {tensor}, {tensor}, {tensor}, "
                f"tensor<{rows}xf32>) -> ({tensor}, {tensor}, {tensor})")
    case(name, tensor, f"{before}$, $e = {forward}")
    case(name + "_lse", f"tensor<{rows}xf32>", f"{before}$o, $ = {forward}")
    for i, which in enumerate(("dq", "dk", "dv")):
        results = ", ".join("$" if j == i else f"$r{j}" for j in range(3))
        case(f"{name}_{which}", tensor, f"{before}$o, $e = {forward}\n    {results} = {backward}")
# A mask without a row of nothing but false, and one with.
for name, least in (("masked", "-3.0e4"), ("masked_row", "1.5")):
    before = f"""$n = train.reduce_max %x {{dims = array<i64: 1>, keep_dims}} : ({X}) -> tensor<6x1xT>
    $c = train.constant dense<{least}> : tensor<6x1xT>
    $l = train.compare ge, $n, $c : (tensor<6x1xT>, tensor<6x1xT>) -> tensor<6x1xi1>
    $z = train.constant dense<-3.0e4> : tensor<6x1xT>
    $w = train.select $l, %y, $z : (tensor<6x1xi1>, {X}, tensor<6x1xT>) -> {X}
    $h = train.constant dense<-0.3> : tensor<6x1xT>
    $v = train.compare gt, $w, $h : ({X}, tensor<6x1xT>) -> tensor<6x10xi1>
    $k = train.matmul %x, %y {{transpose_a}} : ({X}, {X}) -> tensor<10x10xT>
    """
    K = "tensor<10x10xT>"
    forward = f"{ATTENTION} %x, $k, $k, $v : ({X}, {K}, {K}, tensor<6x10xi1>) -> ({X}, {G})"
    case(name, X, f"{before}$, $e = {forward}")
    for i, (which, result) in enumerate((("dq", X), ("dk", K), ("dv", K))):
        results = ", ".join("$" if j == i else f"$r{j}" for j in range(3))
        case(f"{name}_{which}", result, f"""{before}$o, $e = {forward}
    {results} = {ATTENTION}_grad %y, %x, $k, $k, $o, $e, $v : ({X}, {X}, {K}, {K}, {X}, {G}, tensor<6x10xi1>) -> ({X}, {K}, {K})""")
# Packed documents, whose lengths each sample has.
case("documents", "tensor<2x1x7x7xT>", """$c = train.constant dense<[[0, 3, 3, 7], [0, 1, 5, 6]]> : tensor<2x4xi32>
    $m = train.document_mask $c {positions = 7 : i64} : (tensor<2x4xi32>) -> tensor<2x1x7x7xi1>
    $z = train.constant dense<0.0> : tensor<7x1xT>
    $s = train.slice %im {offsets = array<i64: 0, 0, 0, 0>, sizes = array<i64: 2, 1, 1, 1>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x6x5x3xT>) -> tensor<2x1x1x1xT>
    $ = train.select $m, $s, $z : (tensor<2x1x7x7xi1>, tensor<2x1x1x1xT>, tensor<7x1xT>) -> tensor<2x1x7x7xT>""")
case("smooth", "tensor<f32>", f"$ = train.cross_entropy %x, %l {{label_smoothing = 0.1 : f64}} : ({X}, {L}) -> tensor<f32>")
case("smooth_dx", X, f"$ = train.cross_entropy_grad %x, %l, %lr {{label_smoothing = 0.1 : f64}} : ({X}, {L}, tensor<f32>) -> {X}")
case("cross_entropy_dx", X, f"$ = train.cross_entropy_grad %x, %l, %lr : ({X}, {L}, tensor<f32>) -> {X}")
case("mse_dx", X, f"$ = train.mse_grad %x, %y, %lr : ({X}, {X}, tensor<f32>) -> {X}")
case("l1", "tensor<f32>", f"$ = train.l1 %x, %y : ({X}, {X}) -> tensor<f32>")
case("linear", "tensor<6x10xT>", f"""$w = train.matmul %x, %y {{transpose_a}} : ({X}, {X}) -> tensor<10x10xT>
    $ = train.linear %x, $w, %v {{transpose_weight}} : ({X}, tensor<10x10xT>, {V}) -> {X}""")
case("dropout", X, f"""$r = train.constant dense<[5, 9]> : tensor<2xi64>
    $a = train.advance_rng $r : tensor<2xi64>
    $ = train.dropout %x, $a {{rate = 0.4 : f64, key = 3 : i32}} : ({X}, tensor<2xi64>) -> {X}""")
case("layer_norm", X, f"""$, $m, $r = train.layer_norm %x, %g, %g : ({X}, {F}, {F}) -> ({X}, tensor<6xf32>, tensor<6xf32>)""")
case("layer_norm_dx", X, f"""$y, $m, $r = train.layer_norm %x, %g, %g : ({X}, {F}, {F}) -> ({X}, tensor<6xf32>, tensor<6xf32>)
    $, $g, $b = train.layer_norm_grad %y, %x, %g, $m, $r : ({X}, {X}, {F}, tensor<6xf32>, tensor<6xf32>) -> ({X}, {F}, {F})""")
case("batch_norm_dx", X, f"""$y, $m, $r, $a, $b = train.batch_norm_training %x, %g, %g, %g, %g : ({X}, {F}, {F}, {F}, {F}) -> ({X}, {F}, {F}, {F}, {F})
    $, $dg, $db = train.batch_norm_grad %y, %x, %g, $m, $r : ({X}, {X}, {F}, {F}, {F}) -> ({X}, {F}, {F})""")
# A relu, a residual and the gradients of both, which the norms take.
NORM = "tensor<6x8xT>"
for residual, read in ((False, ("y", "dx")), (True, ("y", "dx", "dr"))):
    for which in read:
        before = f"""$x = train.slice %x {{offsets = array<i64: 0, 0>, sizes = array<i64: 6, 8>, strides = array<i64: 1, 1>}} : ({X}) -> {NORM}
    $g = train.slice %g {{offsets = array<i64: 0>, sizes = array<i64: 8>, strides = array<i64: 1>}} : ({F}) -> tensor<8xf32>
    $t = train.tanh $x : {NORM}
    $n, $m, $r, $a, $b = train.batch_norm_training $x, $g, $g, $g, $g : ({NORM}, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> ({NORM}, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
    """
        sum_ = "$n"
        if residual:
            before, sum_ = before + f"$s = train.add $n, $t : ({NORM}, {NORM}) -> {NORM}\n    ", "$s"
        y, dr, dx = ("$" if which == result else f"${result}" for result in ("y", "dr", "dx"))
        case(f"norm_{'add_' if residual else ''}relu_{which}", NORM, f"""{before}{y} = train.relu {sum_} : {NORM}
    {dr} = train.relu_grad {y}, $t : {NORM}
    {dx}, $dg, $db = train.batch_norm_grad {dr}, $x, $g, $m, $r : ({NORM}, {NORM}, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> ({NORM}, tensor<8xf32>, tensor<8xf32>)""")
case("batch_norm_inference", X, f"""$v = train.square %g : {F}
    $ = train.batch_norm_inference %x, %g, %g, %g, $v : ({X}, {F}, {F}, {F}, {F}) -> {X}""")
POOL = "window = array<i64: 3, 2>, strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 0, 1>"
PIM = "tensor<2x3x3x3xT>"
for kind in ("max", "avg"):
    case(f"{kind}_pool", PIM, f"$ = train.{kind}_pool2d %im {{{POOL}}} : ({IM}) -> {PIM}")
case("max_pool_dx", IM, f"""$y = train.max_pool2d %im {{{POOL}}} : ({IM}) -> {PIM}
    $ = train.max_pool2d_grad %im, $y, $y {{{POOL}}} : ({IM}, {PIM}, {PIM}) -> {IM}""")
case("avg_pool_dx", IM, f"""$y = train.avg_pool2d %im {{{POOL}}} : ({IM}) -> {PIM}
    $ = train.avg_pool2d_grad $y {{{POOL}}} : ({PIM}) -> {IM}""")
CONV = "strides = array<i64: 2, 1>, padding = array<i64: 1, 0, 1, 1>"
W, CIM = "tensor<2x3x3x4xT>", "tensor<2x3x5x4xT>"
case("conv", CIM, f"$ = train.conv2d %im, %w {{{CONV}}} : ({IM}, {W}) -> {CIM}")
case("conv_dx", IM, f"""$y = train.conv2d %im, %w {{{CONV}}} : ({IM}, {W}) -> {CIM}
    $ = train.conv2d_input_grad $y, %w {{{CONV}}} : ({CIM}, {W}) -> {IM}""")
case("conv_dw", W, f"""$y = train.conv2d %im, %w {{{CONV}}} : ({IM}, {W}) -> {CIM}
    $ = train.conv2d_filter_grad %im, $y {{{CONV}}} : ({IM}, {CIM}) -> {W}""")
# Bias, relu and bias gradient of convolutions, as epilogues of separate convolutions. The rows are
# the start of a vector.
ROW = """$b = train.slice %v {offsets = array<i64: 0>, sizes = array<i64: 4>, strides = array<i64: 1>} : (tensor<10xT>) -> tensor<4xT>
    """
ROWS = "tensor<4xT>"
for left, (name, bias, relu) in enumerate((("bias", True, False), ("relu", False, True), ("bias_relu", True, True))):
    pads = f"strides = array<i64: 2, 1>, padding = array<i64: 1, 0, {left + 2}, 0>"
    out = f"tensor<2x3x{left + 5}x4xT>"
    case(f"conv_{name}", out, f"""{ROW}$c = train.conv2d %im, %w {{{pads}}} : ({IM}, {W}) -> {out}
    """ + (f"$h = train.add $c, $b : ({out}, {ROWS}) -> {out}\n    " if bias else "")
         + (f"$ = train.relu ${'h' if bias else 'c'} : {out}" if relu else f"$ = train.neg $h : {out}"))
case("conv_db", ROWS, f"""$y = train.conv2d %im, %w {{strides = array<i64: 2, 1>, padding = array<i64: 1, 0, 0, 2>}} : ({IM}, {W}) -> {CIM}
    $g = train.conv2d_filter_grad %im, $y {{{CONV}}} : ({IM}, {CIM}) -> {W}
    $s = train.reduce_max $g {{dims = array<i64: 0, 1, 2>}} : ({W}) -> {ROWS}
    $d = train.reduce_sum $y {{dims = array<i64: 0, 1, 2>}} : ({CIM}) -> {ROWS}
    $ = train.add $s, $d : ({ROWS}, {ROWS}) -> {ROWS}""")
# A convolution of 1 x 1 behind one with a relu, and the gradients of both.
PW, PWIM = "tensor<1x1x3x4xT>", "tensor<2x6x5x4xT>"
CUT = f"train.slice %w {{offsets = array<i64: 0, $o, 0, 0>, sizes = array<i64: 1, 1, 3, 4>, strides = array<i64: 1, 1, 1, 1>}} : ({W}) -> {PW}"
for name, result, last in (
        ("", PWIM, "$ = train.neg $z : " + PWIM),
        ("_dx", IM, f"$d = train.conv2d_input_grad $z, $f : ({PWIM}, {PW}) -> {IM}\n    $ = train.relu_grad $a, $d : {IM}"),
        ("_dw", PW, f"$ = train.conv2d_filter_grad $a, $z : ({IM}, {PWIM}) -> {PW}")):
    offset = {"": 0, "_dx": 1, "_dw": 2}[name]
    case(f"pointwise{name}", result, f"""{ROW}$f = {CUT.replace('$o', str(offset))}
    $h = train.transpose $f {{permutation = array<i64: 0, 1, 3, 2>}} : ({PW}) -> tensor<1x1x4x3xT>
    $i = train.conv2d %im, $f : ({IM}, {PW}) -> {PWIM}
    $c = train.conv2d $i, $h : ({PWIM}, tensor<1x1x4x3xT>) -> {IM}
    $a = train.relu $c : {IM}
    $y = train.conv2d $a, $f : ({IM}, {PW}) -> {PWIM}
    $z = train.add $y, $b : ({PWIM}, {ROWS}) -> {PWIM}
    {last}""")
case("matmul", "tensor<10x10xT>", f"$ = train.matmul %x, %y {{transpose_a}} : ({X}, {X}) -> tensor<10x10xT>")
case("cross_entropy", "tensor<f32>", f"$ = train.cross_entropy %x, %l : ({X}, tensor<6xi64>) -> tensor<f32>")
case("mse", "tensor<f32>", f"$ = train.mse %x, %y : ({X}, {X}) -> tensor<f32>")
case("l1_dx", X, f"$ = train.l1_grad %x, %y, %lr : ({X}, {X}, tensor<f32>) -> {X}")

# Unscaling that checks its results as well: of a scale with which they are finite,
# and of one with which they are not, as without `strict`.
for name, scale, strict in (("finite", "0.5", " strict"), ("overflow", "1.0e-38", " strict"), ("unchecked", "1.0e-38", "")):
    case(f"unscale_{name}", F, f"""$s = arith.constant dense<{scale}> : tensor<f32>
    $k = arith.constant dense<64.0> : tensor<f32>
    $b = train.mul %g, $k : ({F}, tensor<f32>) -> {F}
    $h = amp.cast %g : {F} to tensor<10xf16>
    $u:2, $f = amp.unscale $h, $b by $s{strict} : (tensor<10xf16>, {F}) -> ({F}, {F})
    $z = train.neg %g : {F}
    $ = train.select $f, %g, $z : (tensor<i1>, {F}, {F}) -> {F}""")
# Rounding by chance, with a state that is written element by element.
case("stochastic", "tensor<7x10xbf16>", f"""$r = train.constant dense<[5, 9]> : tensor<2xi64>
    $i = arith.constant 1 : index
    $o = tensor.extract $r[$i] : tensor<2xi64>
    $t = arith.addi $o, $o : i64
    $a = tensor.insert $t into $r[$i] : tensor<2xi64>
    $w = train.broadcast %g {{dims = array<i64: 0>}} : ({F}) -> tensor<7x10xf32>
    $ = amp.master_copy $w stochastic $a key 3 : tensor<7x10xf32> to tensor<7x10xbf16>""")
# A loop whose bounds depend on another one's count, one of them empty.
case("triangle", X, f"""$0 = arith.constant 0 : index
    $1 = arith.constant 1 : index
    $2 = arith.constant 2 : index
    $4 = arith.constant 4 : index
    $ = scf.for $i = $0 to $4 step $1 iter_args($a = %x) -> ({X}) {{
      $n = arith.muli $i, $2 : index
      $m = arith.minsi $n, $4 : index
      $b = scf.for $j = $i to $m step $1 iter_args($c = $a) -> ({X}) {{
        $d = train.add $c, %y : ({X}, {X}) -> {X}
        $s = train.sin $d : {X}
        scf.yield $s : {X}
      }}
      scf.yield $b : {X}
    }}""")
# Sums and products in one bit, over everything, rows and columns.
for over, (kept, out) in {"all": ("", ""), "rows": ("d0", "6x"), "columns": ("d1", "10x")}.items():
    for op, start in (("addi", "false"), ("muli", "true")):
        kinds = ", ".join(f'"{"parallel" if d == kept else "reduction"}"' for d in ("d0", "d1"))
        case(f"bit_{op}_{over}", f"tensor<{out}T>", f"""$c = train.compare gt, %x, %y : ({X}, {X}) -> tensor<6x10xi1>
    $f = arith.constant dense<{start}> : tensor<{out}i1>
    $s = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ({kept})>],
        iterator_types = [{kinds}]}} ins($c : tensor<6x10xi1>) outs($f : tensor<{out}i1>) {{
    ^bb0($e: i1, $b: i1):
      $r = arith.{op} $b, $e : i1
      linalg.yield $r : i1
    }} -> tensor<{out}i1>
    $y = train.constant dense<1.0> : tensor<{out}T>
    $n = train.constant dense<-2.0> : tensor<{out}T>
    $ = train.select $s, $y, $n : (tensor<{out}i1>, tensor<{out}T>, tensor<{out}T>) -> tensor<{out}T>""")
# Cases that are equal bit for bit.
EXACT = {"stochastic"}

INPUTS = {"x": "6x10", "y": "6x10", "p": "6x10", "v": "10", "im": "2x6x5x3", "w": "2x3x3x4"}


def make_module(element):
    low = element != "f32"
    arguments, casts, body, results, returns = [], [], [], [], []
    for name, shape in INPUTS.items():
        read = f"{name}32" if low else name
        # One batch of the whole: a sample is the first dimension.
        arguments.append(f'%{read}: tensor<{shape}xf32> {{amp.role = "model_state", amp.name = "{name}"}}')
        results.append(f'tensor<{shape}xf32> {{amp.updates = "{name}"}}')
        returns.append((f"%{read}", f"tensor<{shape}xf32>"))
        if low:
            casts.append(f"%{name} = amp.cast %{read} : tensor<{shape}xf32> to tensor<{shape}x{element}>")
    arguments.append('%g: tensor<10xf32> {amp.role = "model_state", amp.name = "g"}')
    arguments.append('%lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.5>}')
    arguments.append('%l: tensor<6xi64> {amp.role = "batch", amp.name = "l"}')
    for name, (result, text) in CASES.items():
        result = result.replace("T", element)
        arguments.append(f'%s_{name}: {result} {{amp.role = "model_state", amp.name = "out.{name}", amp.init = #amp.init<zeros>}}')
        results.append(f'{result} {{amp.updates = "out.{name}"}}')
        returns.append((f"%{name}", result))
        body.append(re.sub(r"xT>|<T>", lambda m: m[0].replace("T", element), text))
    return (
        "func.func @step(" + ",\n    ".join(arguments) + ")\n    -> (" + ",\n    ".join(results)
        + ") {\n    " + "\n    ".join(casts + body) + "\n  return "
        + ", ".join(value for value, _ in returns) + " : " + ", ".join(kind for _, kind in returns) + "\n}\n"
    )


# Every operation has a case; those of updates and the request for gradients are in digits.py and
# networks.py.
ELSEWHERE = set("adam adamw clip_by_global_norm gradients sgd".split())
with open(reference) as file:
    known = set(re.findall(r"^### `train\.(\w+)`", file.read(), re.M))
tested = set(re.findall(r"train\.(\w+)", " ".join(text for _, text in CASES.values())))
assert known - tested == ELSEWHERE, sorted(known - tested ^ ELSEWHERE)

generator = np.random.default_rng(7)
start = {name: generator.standard_normal([int(n) for n in shape.split("x")]).astype(np.float32)
         for name, shape in INPUTS.items()}
start["p"] = np.abs(start["p"]) + 0.1
start["g"] = generator.standard_normal(10).astype(np.float32)
np.savez(f"{folder}/start.npz", **start)
np.savez(f"{folder}/data.npz", train_l=generator.integers(0, 10, 6))

failures = []
BOUNDS = {"f32": 4e-6, "f16": 1e-3, "bf16": 8e-3}
models = {element: f"{folder}/{element}.mlir" for element in BOUNDS}
for element, model in models.items():
    with open(model, "w") as file:
        file.write(make_module(element))
programs = builder.build_all({element: (model,) for element, model in models.items()})
for (element, bound), program in zip(BOUNDS.items(), programs):
    model = models[element]
    common = ["--data", f"{folder}/data.npz", "--init", f"{folder}/start.npz", "--steps", "1", "--quiet"]
    run(["amp-run", model, *common, "--save", f"{folder}/cpu.npz"])
    run([program, *common, "--poison", "--save", f"{folder}/gpu.npz"])
    expected, actual = load(f"{folder}/cpu.npz"), load(f"{folder}/gpu.npz")
    for name in CASES:
        apart = distance(actual["out." + name], expected["out." + name])
        if not apart <= (0.0 if name in EXACT or name.startswith("bit_") else bound):
            failures.append(f"{element} {name}: {apart:.2e}")
    assert np.any(expected["out.tanh"] != 0)
    # One of the checks sees an overflow, and it depends on the random bits how much is rounded up.
    for name, sign in (("finite", 1), ("overflow", -1), ("unchecked", 1)):
        assert np.array_equal(expected["out.unscale_" + name], sign * start["g"]), name
    rounded = as_numbers(expected["out.stochastic"]) > start["g"]
    assert np.any(rounded.any(0) & ~rounded.all(0))
print(len(CASES), "cases;", *failures, sep="\n")
sys.exit(1 if failures else 0)
