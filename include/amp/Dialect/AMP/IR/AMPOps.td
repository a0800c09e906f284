//===- AMPOps.td - The operations of the amp dialect -------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_AMPOPS_TD
#define AMP_DIALECT_AMP_IR_AMPOPS_TD

include "amp/Dialect/AMP/IR/AMPBase.td"
include "amp/Dialect/AMP/IR/AMPLayerOps.td"

def AMP_CastOp : AMP_Op<"cast", [
    DeclareOpInterfaceMethods<CastOpInterface>,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>, AMP_Ranges,
    SameOperandsAndResultShape]> {
  let summary = "converts the element type of a float tensor";
  let description = [{
    Rounds once, to nearest even. Values beyond the range of the result type
    become infinities. Subnormals are kept. Widening is exact.

    A cast that the user wrote is part of the semantics: it always rounds, and
    passes do not change it. A cast that a pass inserted carries `inserted`.
    Passes may move, merge and remove it. A widening followed by the narrowing
    back is exact and folds. A narrowing followed by a widening never folds.

    Example:

    ```mlir
    %1 = amp.cast %0 : tensor<4x8xf32> to tensor<4x8xf16>
    ```
  }];
  let arguments = (ins AMP_FloatTensor:$input, UnitAttr:$inserted);
  let results = (outs AMP_FloatTensor:$result);
  let assemblyFormat = [{
    $input (`inserted` $inserted^)? attr-dict `:` type($input) `to` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$input,
                                 "::mlir::FloatType":$elementType,
                                 CArg<"bool", "false">:$inserted)>];
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
}

def AMP_GradientSeedOp : AMP_Op<"gradient_seed", [
    DeclareOpInterfaceMethods<GradientSeedOpInterface>]> {
  let summary = "the gradient of a loss with respect to itself";
  let description = [{
    The result is 1. A backward pass starts from it. The operation is opaque to
    folding, because the loss scale is multiplied into it later. Every value
    computed from it must be linear in it. `loss` names the loss.

    Example:

    ```mlir
    %seed = amp.gradient_seed "loss" : tensor<f32>
    ```
  }];
  let arguments = (ins StrAttr:$loss);
  let results = (outs 0DTensorOf<[F32, F64]>:$result);
  let assemblyFormat = "$loss attr-dict `:` type($result)";
}

def AMP_ScaleOp : AMP_Op<"scale", [SameOperandsAndResultType, AMP_Ranges]> {
  let summary = "multiplies a gradient seed by the loss scale";
  let description = [{
    Computes the product of `input` and `scale`, rounded to f32.

    Example:

    ```mlir
    %scaled = amp.scale %seed by %scale : tensor<f32>
    ```
  }];
  let arguments = (ins AMP_ScalarF32:$input, AMP_ScalarF32:$scale);
  let results = (outs AMP_ScalarF32:$result);
  let assemblyFormat = "$input `by` $scale attr-dict `:` type($result)";
}

def AMP_InnerGradientOp : AMP_Op<"inner_gradient", [
    AllShapesMatch<["gradient", "result"]>, AMP_Ranges,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "a gradient that a loss depends on";
  let description = [{
    Marks a gradient that becomes part of another differentiated loss, as in a
    gradient penalty. It also marks the gradient of that loss with respect to
    the inner gradient, where it enters the first backward pass. Both are linear
    in the seed of the inner gradient.

    Without `scale` the result is the operand. Loss scaling adds the scale, and
    the result is then f32(`gradient`) · (1 / `scale`). The loss thus depends on
    the true gradient, and each product in the second backward pass carries one
    factor.

    Example:

    ```mlir
    %true = amp.inner_gradient %g by %scale : tensor<8xf16> to tensor<8xf32>
    ```
  }];
  let arguments = (ins AMP_FloatTensor:$gradient,
                       Optional<AMP_ScalarF32>:$scale);
  let results = (outs AMP_FloatTensor:$result);
  let assemblyFormat = [{
    $gradient (`by` $scale^)? attr-dict `:` type($gradient) `to` type($result)
  }];
}

def AMP_UnscaleOp : AMP_Op<"unscale", [
    DeclareOpInterfaceMethods<GradientConsumerOpInterface>]> {
  let summary = "divides gradients by the loss scale and checks that they are finite";
  let description = [{
    Each result is f32(gradient) · (1 / `scale`). `all_finite` is true iff every
    element of every gradient is finite before the multiplication, as in
    torch.amp.GradScaler. One operation covers all gradients of an optimizer,
    and one pass over memory suffices. Gradients may have any tensor type: a
    ranked `ShapedType` of floats.

    With a scale below 1 a finite gradient can overflow in the multiplication.
    With a scale below 2^-127 the reciprocal is infinite. `strict` detects this:
    `all_finite` is then true only if every element of every result is finite as
    well.

    Example:

    ```mlir
    %u:2, %finite = amp.unscale %g0, %g1 by %scale
        : (tensor<8xf16>, tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>)
    ```
  }];
  let arguments = (ins Variadic<AMP_AnyFloatTensor>:$gradients,
                       AMP_ScalarF32:$scale, UnitAttr:$strict);
  let results = (outs Variadic<AMP_AnyFloatTensor>:$unscaled,
                      AMP_ScalarBool:$all_finite);
  let assemblyFormat = [{
    $gradients `by` $scale (`strict` $strict^)? attr-dict `:`
        `(` type($gradients) `)` `->` `(` type($unscaled) `)`
  }];
  let hasVerifier = 1;
}

def AMP_UpdateScaleOp : AMP_Op<"update_scale", []> {
  let summary = "updates the state of dynamic loss scaling";
  let description = [{
    Executed once per step, after all uses of the scale. The lower-case names
    below that are not operands are fields of `scaler`, an `#amp.scaler`:

    ```
    if not all_finite:
      h = hysteresis_tracker - 1, growth_tracker' = 0
      if h > 0: scale' = scale, hysteresis_tracker' = h
      else:
        scale' = max(scale * backoff_factor, min_scale)
        hysteresis_tracker' = h, 1 or hysteresis     # after_backoff: count, hold, refill
    else:
      c = growth_tracker + 1
      due = c >= growth_interval                     # interval_rule equal: ==
      if due and (growth_guard is off or scale * growth_factor is finite):
        scale' = min(scale * growth_factor, max_scale)
      growth_tracker' = due ? 0 : c
      if hysteresis_refill is clean, or it is growth and due:
        hysteresis_tracker' = hysteresis
    ```

    All other values stay. With the default rules this is
    torch.amp.GradScaler with a floor of 1 and `>=` in place of `==`. The
    hysteresis tracker starts at `hysteresis`; with the default of 1 every
    overflow backs off.

    Example:

    ```mlir
    %s, %g, %h = amp.update_scale %scale, %tracker, %hysteresis, %finite
        {scaler = #amp.scaler<growth_interval = 1000>}
    ```
  }];
  let arguments = (ins
      AMP_ScalarF32:$scale, AMP_ScalarI32:$growth_tracker,
      AMP_ScalarI32:$hysteresis_tracker, AMP_ScalarBool:$all_finite,
      DefaultValuedAttr<AMP_ScalerAttr, "::mlir::amp::ScalerRules()">:$scaler);
  let results = (outs AMP_ScalarF32:$new_scale,
                      AMP_ScalarI32:$new_growth_tracker,
                      AMP_ScalarI32:$new_hysteresis_tracker);
  let assemblyFormat = [{
    $scale `,` $growth_tracker `,` $hysteresis_tracker `,` $all_finite attr-dict
  }];
}

def AMP_GlobalNormOp : AMP_Op<"global_norm", [
    DeclareOpInterfaceMethods<GradientConsumerOpInterface>]> {
  let summary = "the norm of all gradients together";
  let description = [{
    Computes the square root of the sum of the squares of all elements of all
    gradients. The squares are added in f64, as `amp.square_sum` adds them. The
    sum is rounded to f32 before the root is computed. The result is infinite or
    NaN if a gradient is not finite, and infinite if the sum is beyond the range
    of f32.

    Example:

    ```mlir
    %norm = amp.global_norm %g0, %g1 : tensor<8xf32>, tensor<4x4xf32>
    ```
  }];
  let arguments = (ins Variadic<AMP_AnyFloatTensor>:$gradients);
  let results = (outs AMP_ScalarF32:$norm);
  let assemblyFormat = "$gradients attr-dict `:` type($gradients)";
  let hasVerifier = 1;
}

def AMP_SquareSumOp : AMP_Op<"square_sum", [
    DeclareOpInterfaceMethods<GradientConsumerOpInterface>]> {
  let summary = "the sum of the squares of all elements of some gradients";
  let description = [{
    Adds the squares of all elements of all gradients in f64. The square of an
    f32 is exact in f64, so the order of the sum rarely decides a bit of a norm
    in f32. The norm of gradients that ranks divide therefore equals the norm of
    whole gradients: the sum over all ranks of the sums of their parts is the
    sum of the whole.

    Example:

    ```mlir
    %own = amp.square_sum %g0, %g1 : tensor<8xf32>, tensor<4xf32>
    %all = amp.all_reduce sum %own : tensor<f64>
    ```
  }];
  let arguments = (ins Variadic<AMP_AnyFloatTensor>:$gradients);
  let results = (outs AMP_ScalarF64:$sum);
  let assemblyFormat = "$gradients attr-dict `:` type($gradients)";
  let hasVerifier = 1;
}

def AMP_MasterCopyOp : AMP_Op<"master_copy", [AMP_Ranges]> {
  let summary = "the low-precision copy of an updated weight";
  let description = [{
    Rounds an f32 weight to the type in which the model reads it. It is separate
    from `amp.cast`, so it remains next to the optimizer and can fuse with it.
    Master and copy are then written together. Both may have any tensor type.
    They differ only in the element type.

    The operation rounds to nearest even. With `stochastic` (bf16 only) it
    rounds up or down with the probabilities that make the expected value exact.
    Values that bf16 represents do not change. The random number of an element
    depends only on `rng` (seed and step), `key` and the element's index. It is
    the upper 16 bits of the word that train.dropout compares with its rate.

    Example:

    ```mlir
    %copy = amp.master_copy %master : tensor<8x4xf32> to tensor<8x4xf16>
    %w1 = amp.master_copy %w stochastic %rng key 3 : tensor<8x4xf32> to tensor<8x4xbf16>
    ```
  }];
  let arguments = (ins AMP_AnyWideTensor:$master,
                       Optional<AMP_RngState>:$rng,
                       DefaultValuedAttr<I32Attr, "0">:$key);
  let results = (outs AMP_AnyLowTensor:$copy);
  let assemblyFormat = [{
    $master (`stochastic` $rng^ `key` $key)? attr-dict `:`
        type($master) `to` type($copy)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$type,
                                 "::mlir::Value":$master), [{
    build($_builder, $_state, type, master, ::mlir::Value());
  }]>];
  let hasVerifier = 1;
}

def AMP_ResidualOp : AMP_Op<"residual", [AMP_Ranges]> {
  let summary = "the rounding error of a weight";
  let description = [{
    Computes f32(`master`) - f32(`copy`), rounded to the type of `copy`. This is
    the compensation of Kahan's summation. It is 0 where the copy is not finite.

    Example:

    ```mlir
    %c1 = amp.residual %w1, %low
        : (tensor<8xf32>, tensor<8xbf16>) -> tensor<8xbf16>
    ```
  }];
  let arguments = (ins AMP_AnyWideTensor:$master,
                       AMP_AnyLowTensor:$copy);
  let results = (outs AMP_AnyLowTensor:$residual);
  let assemblyFormat = [{
    $master `,` $copy attr-dict `:` `(` type($master) `,` type($copy) `)` `->`
        type($residual)
  }];
  let hasVerifier = 1;
}

def AMP_CompensateOp : AMP_Op<"compensate", [AMP_Ranges]> {
  let summary = "the sum of a weight and its rounding error";
  let description = [{
    Computes f32(`copy`) + f32(`residual`) in f32.

    Example:

    ```mlir
    %w = amp.compensate %low, %c
        : (tensor<8xbf16>, tensor<8xbf16>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins AMP_AnyLowTensor:$copy,
                       AMP_AnyLowTensor:$residual);
  let results = (outs AMP_AnyWideTensor:$master);
  let assemblyFormat = [{
    $copy `,` $residual attr-dict `:` `(` type($copy) `,` type($residual) `)`
        `->` type($master)
  }];
  let hasVerifier = 1;
}

def AMP_Statistics
    : Type<CPred<"$_self == ::mlir::RankedTensorType::get({263}, "
                 "::mlir::IntegerType::get($_self.getContext(), 64))">,
           "statistics tensor<263xi64>">,
      BuildableType<"::mlir::RankedTensorType::get({263}, "
                    "$_builder.getI64Type())">;

def AMP_StatisticsOp : AMP_Op<"statistics"> {
  let summary = "counts and the range of the elements of a tensor";
  let description = [{
    Counts the elements of `input`, rounded to f32, without an effect on other
    values. The result has these elements:

    | element | meaning |
    |---|---|
    | 0 | NaNs |
    | 1 | infinities |
    | 2 | zeros |
    | 3 | finite elements that the type `to` rounds to infinity or NaN |
    | 4 | elements other than 0 that the type `to` rounds to 0 |
    | 5 | the bits of the largest finite magnitude as an f32, or 0 |
    | 6 | the bits of the smallest magnitude other than 0 as an f32, or 0 |
    | 7 + e | elements whose biased exponent as an f32 is e, from 0 to 255 |

    Without `to`, elements 3 and 4 are 0. `in` names the part of the step to
    which the value belongs. `amp-watch` inserts the operation.

    Example:

    ```mlir
    %1 = amp.statistics %0 to f16 in "backward" : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins AMP_AnyFloatTensor:$input, OptionalAttr<TypeAttr>:$to,
                       OptionalAttr<StrAttr>:$part);
  let results = (outs AMP_Statistics:$counts);
  let assemblyFormat = [{
    $input (`to` $to^)? (`in` $part^)? attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
}

#endif // AMP_DIALECT_AMP_IR_AMPOPS_TD
