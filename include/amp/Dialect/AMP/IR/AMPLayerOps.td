//===- AMPLayerOps.td - Loss scales of layers --------------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations of a backward pass in which each layer has its own loss scale. A
// gradient moves from the scale of one layer to that of the next. Each scale
// follows the largest gradient of its layer.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_AMPLAYEROPS_TD
#define AMP_DIALECT_AMP_IR_AMPLAYEROPS_TD

include "amp/Dialect/AMP/IR/AMPBase.td"

def AMP_RescaleOp
    : AMP_Op<"rescale", [AllTypesMatch<["gradient", "result"]>]> {
  let summary = "brings a gradient from one loss scale to another";
  let description = [{
    Computes `gradient` · (`to` / `from`). The quotient is rounded to f32 and
    the product to the type of the gradient. `gradient` carries the scale `from`
    and the result carries the scale `to`. If both are powers of two, the
    operation is exact up to overflow and underflow. It is inserted where a
    gradient enters another layer and where gradients of different layers are
    added.

    Example:

    ```mlir
    %1 = amp.rescale %0 from %scale2 to %scale1 : tensor<4x8xf16>
    ```
  }];
  let arguments = (ins AMP_AnyFloatTensor:$gradient, AMP_ScalarF32:$from,
                       AMP_ScalarF32:$to);
  let results = (outs AMP_AnyFloatTensor:$result);
  let assemblyFormat = [{
    $gradient `from` $from `to` $to attr-dict `:` type($gradient)
  }];
}

def AMP_MaxMagnitudeOp : AMP_Op<"max_magnitude"> {
  let summary = "the largest magnitude among all elements of some gradients";
  let description = [{
    Computes the maximum of the absolute values of all elements of all
    gradients, rounded to f32. It is infinite or NaN if an element is.

    Example:

    ```mlir
    %largest = amp.max_magnitude %g0, %g1 : tensor<8xf16>, tensor<4x4xf32>
    ```
  }];
  let arguments = (ins Variadic<AMP_AnyFloatTensor>:$gradients);
  let results = (outs AMP_ScalarF32:$largest);
  let assemblyFormat = "$gradients attr-dict `:` type($gradients)";
  let hasVerifier = 1;
}

def AMP_AdaptScaleOp : AMP_Op<"adapt_scale"> {
  let summary = "updates the loss scale of a layer from its largest gradient";
  let description = [{
    Executed once per step, after all uses of the scale. `magnitude` is the
    largest magnitude of the layer's gradients, multiplied by `scale`; the other
    names are fields of `scaler`, an `#amp.layer_scaler`:

    ```
    if all_finite and magnitude is finite:
      wanted = the largest power of two that is at most
               target * scale / magnitude                 # any, if magnitude is 0
      scale' = min(wanted, scale * growth_factor)
    else:
      scale' = scale * backoff_factor
    scale' = min(max(scale', min_scale), max_scale)
    ```

    So the largest gradient of the next step is expected between half of `target`
    and `target`. All fields but `target` are powers of two, and a scale that is one
    stays one.

    Example:

    ```mlir
    %s1 = amp.adapt_scale %scale, %largest, %finite
        {scaler = #amp.layer_scaler<target = 1024.0>}
    ```
  }];
  let arguments = (ins
      AMP_ScalarF32:$scale, AMP_ScalarF32:$magnitude, AMP_ScalarBool:$all_finite,
      DefaultValuedAttr<AMP_LayerScalerAttr,
                        "::mlir::amp::LayerScalerRules()">:$scaler);
  let results = (outs AMP_ScalarF32:$new_scale);
  let assemblyFormat = "$scale `,` $magnitude `,` $all_finite attr-dict";
}

#endif // AMP_DIALECT_AMP_IR_AMPLAYEROPS_TD
