//===- AMPQuantizedOps.td - Scaled values of eight bits ----*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Quantisation to 8-bit floats by scales that follow the largest magnitudes,
// and the products of quantised matrices.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_AMPQUANTIZEDOPS_TD
#define AMP_DIALECT_AMP_IR_AMPQUANTIZEDOPS_TD

include "amp/Dialect/AMP/IR/AMPBase.td"

def AMP_PayloadTensor : RankedTensorOf<[F8E4M3FN, F8E5M2]>;
def AMP_QuantizableTensor : RankedTensorOf<[F16, BF16, F32]>;
def AMP_ScaleTensor : RankedTensorOf<[F32]>;

/// Scales of blocks view the tensor as a matrix: all dimensions but the last are
/// its rows, and the last dimension is its columns.
class AMP_QuantizedOp<string mnemonic, list<Trait> traits = []>
    : AMP_Op<mnemonic, traits> {
  let hasVerifier = 1;
}

/// The results follow from the shapes of the operands.
defvar AMP_InfersShapes = [{
  /// Appends the shape of the result. Emits a diagnostic and returns failure if
  /// the operands do not fit together.
  ::llvm::LogicalResult inferResultShapes(
      ::llvm::SmallVectorImpl<::llvm::SmallVector<int64_t>> &shapes);
}];

def AMP_AmaxOp : AMP_QuantizedOp<"amax", [AMP_Ranges]> {
  let summary = "the largest magnitudes of a tensor or of its blocks";
  let description = [{
    Computes the maximum of the absolute values of `input`. A maximum is
    infinite if an element is, and NaN if an element is NaN.

    Without `blocks` there is one maximum. Otherwise `input` is a matrix, whose
    rows are all dimensions but the last, and `blocks` has the rows and the
    columns of a block. 0 means all of them. A block at the end may be
    smaller. The result has one element for each block.

    Example:

    ```mlir
    %a = amp.amax %x : tensor<4x8x256xbf16> -> tensor<f32>
    %b = amp.amax %x blocks [1, 128] : tensor<4x8x256xbf16> -> tensor<32x2xf32>
    ```
  }];
  let arguments = (ins AMP_QuantizableTensor:$input,
                       OptionalAttr<DenseI64ArrayAttr>:$blocks);
  let results = (outs AMP_ScaleTensor:$amax);
  let assemblyFormat = [{
    $input (`blocks` $blocks^)? attr-dict `:` type($input) `->` type($amax)
  }];
  let extraClassDeclaration = AMP_InfersShapes;
}

def AMP_ScaleFromAmaxOp : AMP_QuantizedOp<"scale_from_amax", [
    SameOperandsAndResultType, AMP_Ranges]> {
  let summary = "the scales that bring magnitudes to the range of a format";
  let description = [{
    With the largest finite number M of `format`, each scale is

    ```
    a     = max(amax, epsilon)
    scale = a == 0                  ? 1
          : a is infinite or NaN    ? NaN       # 1, with ignore_non_finite
          : min(max(M * 2^-margin / a, 2^-126), largest f32)
    ```

    in f32. With `power_of_two` the scale is rounded down to a power of two. A
    NaN becomes NaN in all products of the tensor, so a gradient that overflows
    does not become finite by saturation.

    Example:

    ```mlir
    %s = amp.scale_from_amax %a for f8E4M3FN {power_of_two} : tensor<f32>
    ```
  }];
  let arguments = (ins AMP_ScaleTensor:$amax, TypeAttr:$format,
                       DefaultValuedAttr<I32Attr, "0">:$margin,
                       DefaultValuedAttr<F32Attr, "0.0f">:$epsilon,
                       UnitAttr:$power_of_two, UnitAttr:$ignore_non_finite);
  let results = (outs AMP_ScaleTensor:$scale);
  let assemblyFormat = "$amax `for` $format attr-dict `:` type($amax)";
  let extraClassDeclaration = AMP_InfersShapes;
}

def AMP_HistoryTensor : 1DTensorOf<[F32]>;

def AMP_UpdateQuantizerOp : AMP_QuantizedOp<"update_quantizer", [
    AllTypesMatch<["history", "new_history"]>]> {
  let summary = "enters a magnitude into a history, which gives the next scale";
  let description = [{
    Executed once per step for each quantiser with a history. `amax` is the
    largest magnitude of the tensor in this step, without a factor of the loss
    scale. `history` holds the magnitudes of the last steps, the last one first,
    and 0 for steps before the first one. With the largest finite number M of
    `format`:

    ```
    if amax is finite and amax > 0:
      history' = [amax, history[0], ..., history[length - 2]]
      a        = max(history'), or amax with most_recent
      scale'   = min(max(M * 2^-margin / a, 2^-126), largest f32)
    else:
      history' = history, scale' = scale
    ```

    in f32. `amp.quantize` multiplied the tensor of this step by `scale`, and its
    readers divide by it. Both results become state of the next step. The scale is 1 in the
    first step, as in Transformer Engine.

    Example:

    ```mlir
    %s1, %h1 = amp.update_quantizer %s, %h, %amax for f8E5M2 : tensor<1024xf32>
    ```
  }];
  let arguments = (ins AMP_ScalarF32:$scale, AMP_HistoryTensor:$history,
                       AMP_ScalarF32:$amax, TypeAttr:$format,
                       DefaultValuedAttr<I32Attr, "0">:$margin,
                       UnitAttr:$most_recent);
  let results = (outs AMP_ScalarF32:$new_scale, AMP_HistoryTensor:$new_history);
  let assemblyFormat = [{
    $scale `,` $history `,` $amax `for` $format attr-dict `:` type($history)
  }];
  let extraClassDeclaration = AMP_InfersShapes;
}

def AMP_QuantizeOp : AMP_QuantizedOp<"quantize", [
    AllShapesMatch<["input", "payload"]>, AMP_Ranges]> {
  let summary = "multiplies by scales and rounds to eight bits";
  let description = [{
    Computes f32(`input`) · `scale` and rounds the product once, to nearest even
    unless it has `stochastic`.
    With `saturate`, magnitudes beyond the range become the largest finite
    number, infinities too. Without it, they become infinite in f8E5M2 and NaN
    in f8E4M3FN. NaN stays NaN. With `keep_non_finite` only finite elements
    saturate. An infinite element is converted as without `saturate`, so a scale
    of earlier steps does not hide an overflow.

    `scale` is a scalar or, with `blocks`, has one element for each block of
    `input`, as `amp.amax` describes.

    With `stochastic`, the product is rounded up or down with the probabilities that
    make the expected value exact. A product that `format` represents does not change.
    The random number of an element depends only on `rng` (seed and step), `key` and
    the index of the element. It is the upper 20 bits (f8E4M3FN) or 21 bits (f8E5M2)
    of the word that train.dropout compares with its rate, and 20 bits for products
    below the least normal number.

    Example:

    ```mlir
    %q = amp.quantize %x by %s saturate
        : (tensor<?x8xbf16>, tensor<f32>) -> tensor<?x8xf8E4M3FN>
    %g = amp.quantize %d by %t saturate stochastic %rng key 3
        : (tensor<?x8xbf16>, tensor<f32>) -> tensor<?x8xf8E5M2>
    ```
  }];
  let arguments = (ins AMP_QuantizableTensor:$input, AMP_ScaleTensor:$scale,
                       OptionalAttr<DenseI64ArrayAttr>:$blocks,
                       UnitAttr:$saturate, UnitAttr:$keep_non_finite,
                       Optional<AMP_RngState>:$rng,
                       DefaultValuedAttr<I32Attr, "0">:$key);
  let results = (outs AMP_PayloadTensor:$payload);
  let builders = [OpBuilder<(ins "::mlir::Type":$payload, "::mlir::Value":$input,
      "::mlir::Value":$scale, "::mlir::DenseI64ArrayAttr":$blocks,
      "::mlir::UnitAttr":$saturate, "::mlir::UnitAttr":$keepNonFinite), [{
    build($_builder, $_state, payload, input, scale, blocks, bool(saturate),
          bool(keepNonFinite), ::mlir::Value());
  }]>];
  let assemblyFormat = [{
    $input `by` $scale (`blocks` $blocks^)? (`saturate` $saturate^)?
        (`stochastic` $rng^ `key` $key)? attr-dict
        `:` `(` type($input) `,` type($scale) `)` `->` type($payload)
  }];
  let extraClassDeclaration = AMP_InfersShapes;
}

def AMP_DequantizeOp : AMP_QuantizedOp<"dequantize", [
    AllShapesMatch<["payload", "result"]>]> {
  let summary = "widens a quantised tensor and divides by its scales";
  let description = [{
    Computes f32(`payload`) · (1 / `scale`). The reciprocal and the product are
    rounded to f32, and the result to its type. `scale` and `blocks` must be the
    same as in the `amp.quantize` that made the payload.

    Example:

    ```mlir
    %x = amp.dequantize %q by %s
        : (tensor<?x8xf8E4M3FN>, tensor<f32>) -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins AMP_PayloadTensor:$payload, AMP_ScaleTensor:$scale,
                       OptionalAttr<DenseI64ArrayAttr>:$blocks);
  let results = (outs AMP_QuantizableTensor:$result);
  let assemblyFormat = [{
    $payload `by` $scale (`blocks` $blocks^)? attr-dict
        `:` `(` type($payload) `,` type($scale) `)` `->` type($result)
  }];
  let extraClassDeclaration = AMP_InfersShapes;
}

def AMP_ScaledMatmulOp : AMP_QuantizedOp<"scaled_matmul", [
    DeclareOpInterfaceMethods<PrecisionOpInterface, ["getProductFlops"]>]> {
  let summary = "the product of two quantised matrices";
  let description = [{
    Computes the product of the dequantised operands, `amp.dequantize` in f32.
    The product accumulates in f32 and is rounded once, with the sum of the
    optional `bias`.

    Each operand is a matrix, whose rows are all dimensions but the last. With
    `transpose_a`, `lhs` is transposed, and with `transpose_b`, `rhs`. The result
    has the leading dimensions of `lhs`, or one if `lhs` is transposed, and the
    columns of the second matrix. A product has at most one operand of f8E5M2.

    `accumulator_bits` is the width of the accumulator: a sign, 8 bits of
    exponent, and the first bits of an f32 significand. Each sum is rounded
    toward zero to this width. With `promotion`, each sum of that many products
    is added in f32. The CPU then emulates the error of a GPU with narrow
    accumulators: 22 bits, and 128 products in DeepSeek-V3.

    Example:

    ```mlir
    %y = amp.scaled_matmul %x by %sx, %w by %sw
        : (tensor<?x8x4xf8E4M3FN>, tensor<f32>), (tensor<4x6xf8E4M3FN>, tensor<f32>) -> tensor<?x8x6xbf16>
    ```
  }];
  let arguments = (ins AMP_PayloadTensor:$lhs, AMP_ScaleTensor:$lhs_scale,
                       AMP_PayloadTensor:$rhs, AMP_ScaleTensor:$rhs_scale,
                       Optional<AMP_QuantizableTensor>:$bias,
                       OptionalAttr<DenseI64ArrayAttr>:$lhs_blocks,
                       OptionalAttr<DenseI64ArrayAttr>:$rhs_blocks,
                       UnitAttr:$transpose_a, UnitAttr:$transpose_b,
                       DefaultValuedAttr<I32Attr, "32">:$accumulator_bits,
                       DefaultValuedAttr<I64Attr, "0">:$promotion);
  let results = (outs AMP_QuantizableTensor:$result);
  let assemblyFormat = [{
    $lhs `by` $lhs_scale (`blocks` $lhs_blocks^)? `,`
    $rhs `by` $rhs_scale (`blocks` $rhs_blocks^)? (`plus` $bias^ `:` type($bias))?
        attr-dict `:` `(` type($lhs) `,` type($lhs_scale) `)` `,`
        `(` type($rhs) `,` type($rhs_scale) `)` `->` type($result)
  }];
  let extraClassDeclaration = AMP_InfersShapes;
}

#endif // AMP_DIALECT_AMP_IR_AMPQUANTIZEDOPS_TD
