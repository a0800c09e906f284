//===- TrainProductOps.td - Products, convolutions and pooling -*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_TRAIN_IR_TRAINPRODUCTOPS_TD
#define AMP_DIALECT_TRAIN_IR_TRAINPRODUCTOPS_TD

include "amp/Dialect/Train/IR/TrainBase.td"

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

def Train_MatmulOp : Train_Op<"matmul", [
    AllElementTypesMatch<["lhs", "rhs"]>, Train_ProductSlots,
    Train_Differentiable, Train_StrictRanges]> {
  let summary = "matrix product";
  let description = [{
    Computes [.., M, K] × [.., K, N] → [.., M, N]. The leading (batch)
    dimensions are equal. With `transpose_a`, `lhs` is [.., K, M]. With
    `transpose_b`, `rhs` is [.., N, K]. The product accumulates in f32 (f64 for
    f64). The result has the operands' type, or f32 for f16 or bf16 operands.

    Example:

    ```mlir
    %2 = train.matmul %0, %1 {transpose_a} : (tensor<?x4xf16>, tensor<?x8xf16>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$lhs, Train_FloatTensor:$rhs,
                       UnitAttr:$transpose_a, UnitAttr:$transpose_b);
  let results = (outs Train_FloatTensor:$result);
  let hasVerifier = 1;
}

def Train_LinearOp : Train_Op<"linear", [
    AllElementTypesMatch<["input", "weight"]>, Train_ProductSlots,
    Train_Composite, Train_Differentiable, Train_StrictRanges]> {
  let summary = "affine map of the last dimension";
  let description = [{
    Computes [.., K] × [K, N] + [N] → [.., N]. With `transpose_weight`, the
    weight is [N, K], as PyTorch stores it. The bias is optional and has the
    result's type. Product and sum round once, together.

    Example:

    ```mlir
    %3 = train.linear %0, %1, %2
        : (tensor<?x64xf32>, tensor<64x10xf32>, tensor<10xf32>) -> tensor<?x10xf32>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$input, Train_FloatTensor:$weight,
                       Optional<Train_FloatTensor>:$bias,
                       UnitAttr:$transpose_weight);
  let results = (outs Train_FloatTensor:$result);
  let hasVerifier = 1;
}

class Train_ConvOp<string mnemonic, list<Trait> traits = []>
    : Train_Op<mnemonic, traits # [Train_ProductSlots, Train_Differentiable]> {
  dag convAttrs = (ins
      DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$strides,
      DefaultValuedAttr<DenseI64ArrayAttr, "{0, 0, 0, 0}">:$padding,
      DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$dilations,
      DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs Train_FloatTensor:$result);
  let hasVerifier = 1;
}

def Train_Conv2DOp : Train_ConvOp<"conv2d", [Train_StrictRanges]> {
  let summary = "two-dimensional convolution";
  let description = [{
    Computes the cross-correlation, as every framework does. The input is
    [N, H, W, C], the filter is [KH, KW, C / `groups`, F], and the result is
    [N, H', W', F] with H' = (H + top + bottom - `dilations[0]`·(KH - 1) - 1) /
    `strides[0]` + 1 and W' likewise. `padding` is [top, bottom, left, right]
    and consists of zeros. The convolution accumulates in f32 (f64 for f64). The
    result has the operands' type, or f32 for f16 or bf16 operands.

    Example:

    ```mlir
    %2 = train.conv2d %0, %1 {padding = array<i64: 1, 1, 1, 1>}
        : (tensor<?x8x8x1xf32>, tensor<3x3x1x16xf32>) -> tensor<?x8x8x16xf32>
    ```
  }];
  let arguments = !con((ins Train_FloatTensor:$input, Train_FloatTensor:$filter),
                       convAttrs);
}

def Train_Conv2DInputGradOp : Train_ConvOp<"conv2d_input_grad"> {
  let summary = "gradient of the input of a convolution";
  let description = [{
    `grad` is the gradient of the result of a `train.conv2d` with the same
    attributes and the same filter. The result has the shape of its input.

    Example:

    ```mlir
    %dx = train.conv2d_input_grad %dy, %w {padding = array<i64: 1, 1, 1, 1>}
        : (tensor<?x8x8x16xf16>, tensor<3x3x1x16xf16>) -> tensor<?x8x8x1xf16>
    ```
  }];
  let arguments = !con((ins Train_FloatTensor:$grad, Train_FloatTensor:$filter),
                       convAttrs);
}

def Train_Conv2DFilterGradOp : Train_ConvOp<"conv2d_filter_grad"> {
  let summary = "gradient of the filter of a convolution";
  let description = [{
    `grad` is the gradient of the result of a `train.conv2d` with the same
    attributes and the same input. The result has the shape of its filter.

    Example:

    ```mlir
    %dw = train.conv2d_filter_grad %x, %dy {padding = array<i64: 1, 1, 1, 1>}
        : (tensor<?x8x8x1xf16>, tensor<?x8x8x16xf16>) -> tensor<3x3x1x16xf32>
    ```
  }];
  let arguments = !con((ins Train_FloatTensor:$input, Train_FloatTensor:$grad),
                       convAttrs);
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

class Train_PoolOp<string mnemonic, list<Trait> traits = []>
    : Train_StorageOp<mnemonic, traits # [Train_Differentiable]> {
  dag poolAttrs = (ins DenseI64ArrayAttr:$window,
      DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$strides,
      DefaultValuedAttr<DenseI64ArrayAttr, "{0, 0, 0, 0}">:$padding);
  let results = (outs Train_FloatTensor:$result);
  let hasVerifier = 1;
}

def Train_MaxPool2DOp : Train_PoolOp<"max_pool2d", [Train_Ranges]> {
  let summary = "two-dimensional max pooling";
  let description = [{
    Computes the maximum over windows of [N, H, W, C]. `window` and `strides`
    are [height, width]. `padding` is [top, bottom, left, right] and consists of
    -inf. A window with a NaN gives NaN.

    Example:

    ```mlir
    %1 = train.max_pool2d %0 {window = array<i64: 2, 2>, strides = array<i64: 2, 2>}
        : (tensor<?x8x8x16xf32>) -> tensor<?x4x4x16xf32>
    ```
  }];
  let arguments = !con((ins Train_FloatTensor:$input), poolAttrs);
}

def Train_MaxPool2DGradOp : Train_PoolOp<"max_pool2d_grad"> {
  let summary = "gradient of the input of max pooling";
  let description = [{
    The gradient of each window goes to the first element, in row-major order,
    that equals its maximum. An element that is the maximum of several windows
    receives the sum of their gradients, accumulated in f32. `output` is the
    pooled result.

    Example:

    ```mlir
    %dx = train.max_pool2d_grad %x, %y, %dy {window = array<i64: 2, 2>, strides = array<i64: 2, 2>}
        : (tensor<?x8x8x16xf32>, tensor<?x4x4x16xf32>, tensor<?x4x4x16xf32>) -> tensor<?x8x8x16xf32>
    ```
  }];
  let arguments = !con((ins Train_FloatTensor:$input, Train_FloatTensor:$output,
                            Train_FloatTensor:$grad), poolAttrs);
}

def Train_AvgPool2DOp : Train_PoolOp<"avg_pool2d", [Train_Ranges]> {
  let summary = "two-dimensional average pooling";
  let description = [{
    Divides the sum over each window of [N, H, W, C] by the size of the window.
    The size includes the padding, which consists of zeros.

    Example:

    ```mlir
    %1 = train.avg_pool2d %0 {window = array<i64: 4, 4>, strides = array<i64: 4, 4>}
        : (tensor<?x4x4x16xf32>) -> tensor<?x1x1x16xf32>
    ```
  }];
  let arguments = !con((ins Train_FloatTensor:$input), poolAttrs);
}

def Train_AvgPool2DGradOp : Train_PoolOp<"avg_pool2d_grad"> {
  let summary = "gradient of the input of average pooling";
  let description = [{
    Spreads the gradient of each window evenly over its elements. The result has
    the shape of the pooled input.

    Example:

    ```mlir
    %dx = train.avg_pool2d_grad %dy {window = array<i64: 4, 4>, strides = array<i64: 4, 4>}
        : (tensor<?x1x1x16xf32>) -> tensor<?x4x4x16xf32>
    ```
  }];
  let arguments = !con((ins Train_FloatTensor:$grad), poolAttrs);
}

#endif // AMP_DIALECT_TRAIN_IR_TRAINPRODUCTOPS_TD
