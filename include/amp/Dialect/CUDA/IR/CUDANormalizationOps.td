//===- CUDANormalizationOps.td - Softmaxes and norms -------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_CUDA_IR_CUDANORMALIZATIONOPS_TD
#define AMP_DIALECT_CUDA_IR_CUDANORMALIZATIONOPS_TD

include "amp/Dialect/CUDA/IR/CUDABase.td"

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

def CUDA_SoftmaxOp : CUDA_TunedOp<"softmax", ["x"], ["y"], ["mayAlias"]> {
  let summary = "exponentials normalised to a sum of 1 along a dimension";
  let description = [{
    y = exp(x - max x) / Σ exp(x - max x) along dimension `axis`, as
    `train.softmax`. y may be written over x.

    Example:

    ```mlir
    %y = cuda.softmax ins(%x : tensor<32x10xf16>) {axis = 1 : i64} -> tensor<32x10xf16>
    ```
  }];
  let arguments = !con(operands, (ins I64Attr:$axis));
}

def CUDA_LogSoftmaxOp : CUDA_TunedOp<"log_softmax", ["x"], ["y"], ["mayAlias"]> {
  let summary = "logarithm of softmax along a dimension";
  let description = [{
    y = x - max x - ln Σ exp(x - max x) along dimension `axis`, as
    `train.log_softmax`. y may be written over x.

    Example:

    ```mlir
    %y = cuda.log_softmax ins(%x : tensor<32x10xf32>) {axis = 1 : i64} -> tensor<32x10xf32>
    ```
  }];
  let arguments = !con(operands, (ins I64Attr:$axis));
}

def CUDA_SoftmaxGradOp
    : CUDA_TunedGradOp<"softmax_grad", ["y", "dy"], ["dx"], ["mayAlias"]> {
  let summary = "gradient of the operand of softmax";
  let description = [{
    dx = y · (dy - Σ y · dy) along dimension `axis`, where y is the softmax, as
    `train.softmax_grad`. dx may be written over y or dy.

    Example:

    ```mlir
    %dx = cuda.softmax_grad ins(%y, %dy : tensor<32x10xf16>, tensor<32x10xf16>)
        {axis = 1 : i64} -> tensor<32x10xf16>
    ```
  }];
  let arguments = !con(operands, (ins I64Attr:$axis));
}

def CUDA_LogSoftmaxGradOp
    : CUDA_TunedGradOp<"log_softmax_grad", ["y", "dy"], ["dx"], ["mayAlias"]> {
  let summary = "gradient of the operand of log_softmax";
  let description = [{
    dx = dy - exp(y) · Σ dy along dimension `axis`, where y is the log_softmax,
    as `train.log_softmax_grad`. dx may be written over y or dy.

    Example:

    ```mlir
    %dx = cuda.log_softmax_grad ins(%y, %dy : tensor<32x10xf32>, tensor<32x10xf32>)
        {axis = 1 : i64} -> tensor<32x10xf32>
    ```
  }];
  let arguments = !con(operands, (ins I64Attr:$axis));
}

//===----------------------------------------------------------------------===//
// Layer norm
//===----------------------------------------------------------------------===//

def CUDA_LayerNormOp
    : CUDA_TunedOp<"layer_norm", ["x", "gamma", "beta"], ["y", "mean", "rstd"], ["getReadBytes"]> {
  let summary = "normalisation over the last dimensions";
  let description = [{
    y = (x - mean) · rstd · gamma + beta, as `train.layer_norm`. The last
    dimensions of x equal the dimensions of gamma and beta. The mean and rstd =
    1 / √(var + `epsilon`) of each row have the other dimensions. They are results because
    the gradient reads them. All operands but x and y are f32.

    With `x_rows` x is a tensor that holds the rows, and y has one to four
    dimensions, [sample, head, position, element]. `x_rows` says where the rows
    are in x. gamma has one dimension then.

    Example:

    ```mlir
    %y, %mean, %rstd = cuda.layer_norm ins(%x, %gamma, %beta
        : tensor<32x64xf16>, tensor<64xf32>, tensor<64xf32>) {epsilon = 1.0e-5 : f64}
        -> tensor<32x64xf16>, tensor<32xf32>, tensor<32xf32>
    ```
  }];
  let arguments = !con(operands, (ins F64Attr:$epsilon, OptionalAttr<CUDA_HeadsAttr>:$x_rows));
}

def CUDA_LayerNormGradOp
    : CUDA_TunedGradOp<"layer_norm_grad", ["dy", "x", "gamma", "mean", "rstd", "addend"],
                       ["dx", "dgamma", "dbeta"],
                       ["mayAlias", "getNumKernels", "getScratchBytes", "getRereadBytes",
                        "getReadBytes"]> {
  let summary = "gradients of layer_norm";
  let description = [{
    The gradients of x, gamma and beta, as `train.layer_norm_grad`. The mean and
    rstd are results of `cuda.layer_norm`. A first kernel sums over the rows,
    with partial sums in scratch memory. A second kernel reads dy and x again.
    dx may be written over dy.

    `x_rows` means the same as in `cuda.layer_norm`. With `dx_rows` the rows of dx are at
    these places of dx, which they fill. With `accumulate` the last input has
    the shape of dy, and is added to dx, which may be written over it. The sum is
    rounded once. A launch has at most one of `dx_rows` and `accumulate`.

    Example:

    ```mlir
    %dx, %dgamma, %dbeta = cuda.layer_norm_grad ins(%dy, %x, %gamma, %mean, %rstd
        : tensor<32x64xf16>, tensor<32x64xf16>, tensor<64xf32>, tensor<32xf32>, tensor<32xf32>)
        -> tensor<32x64xf16>, tensor<64xf32>, tensor<64xf32>
    ```
  }];
  let arguments = !con(operands, (ins OptionalAttr<CUDA_HeadsAttr>:$x_rows,
                                      OptionalAttr<CUDA_HeadsAttr>:$dx_rows,
                                      UnitAttr:$accumulate));
}

def CUDA_LayerNormAndGradOp
    : CUDA_TunedGradOp<"layer_norm_and_grad", ["dy", "x", "gamma", "mean", "rstd", "beta", "addend"],
                       ["dx", "dgamma", "dbeta", "y"],
                       ["mayAlias", "getNumKernels", "getScratchBytes", "getRereadBytes",
                        "getReadBytes"]> {
  let summary = "gradients of layer_norm, and its result again";
  let description = [{
    As `cuda.layer_norm_grad`. The kernel that reads x also computes the norm y
    again, with the same bits. The backward pass reads it in place of a value
    that would stay in memory.

    Example:

    ```mlir
    %dx, %dgamma, %dbeta, %y = cuda.layer_norm_and_grad ins(%dy, %x, %gamma, %mean, %rstd, %beta
        : tensor<32x64xf16>, tensor<32x64xf16>, tensor<64xf32>, tensor<32xf32>, tensor<32xf32>,
          tensor<64xf32>) -> tensor<32x64xf16>, tensor<64xf32>, tensor<64xf32>, tensor<32x64xf16>
    ```
  }];
  let arguments = !con(operands, (ins OptionalAttr<CUDA_HeadsAttr>:$x_rows,
                                      OptionalAttr<CUDA_HeadsAttr>:$dx_rows,
                                      UnitAttr:$accumulate));
}

//===----------------------------------------------------------------------===//
// RMS norm
//===----------------------------------------------------------------------===//

def CUDA_RMSNormOp : CUDA_TunedOp<"rms_norm", ["x", "gamma"], ["y", "rstd"], ["getReadBytes"]> {
  let summary = "division by the root mean square of the last dimensions";
  let description = [{
    y = x · rstd · gamma, as `train.rms_norm`. The last dimensions of x are those
    of gamma. rstd = 1 / √(mean x² + `epsilon`) of each row has the other
    dimensions. It is a result because the gradient reads it. All operands but x
    and y are f32. `x_rows` means the same as in `cuda.layer_norm`.

    Example:

    ```mlir
    %y, %rstd = cuda.rms_norm ins(%x, %gamma : tensor<32x64xf16>, tensor<64xf32>)
        {epsilon = 1.0e-6 : f64} -> tensor<32x64xf16>, tensor<32xf32>
    ```
  }];
  let arguments = !con(operands, (ins F64Attr:$epsilon, OptionalAttr<CUDA_HeadsAttr>:$x_rows));
}

def CUDA_RMSNormGradOp
    : CUDA_TunedGradOp<"rms_norm_grad", ["dy", "x", "gamma", "rstd", "addend"], ["dx", "dgamma"],
                       ["mayAlias", "getNumKernels", "getScratchBytes", "getRereadBytes",
                        "getReadBytes"]> {
  let summary = "gradients of rms_norm";
  let description = [{
    The gradients of x and gamma, as `train.rms_norm_grad`. rstd is a result of
    `cuda.rms_norm`. A first kernel sums over the rows, with partial sums in
    scratch memory. A second kernel reads dy and x again. dx may be written over
    dy. `x_rows`, `dx_rows` and `accumulate` mean the same as in
    `cuda.layer_norm_grad`.

    Example:

    ```mlir
    %dx, %dgamma = cuda.rms_norm_grad ins(%dy, %x, %gamma, %rstd
        : tensor<32x64xf16>, tensor<32x64xf16>, tensor<64xf32>, tensor<32xf32>)
        -> tensor<32x64xf16>, tensor<64xf32>
    ```
  }];
  let arguments = !con(operands, (ins OptionalAttr<CUDA_HeadsAttr>:$x_rows,
                                      OptionalAttr<CUDA_HeadsAttr>:$dx_rows,
                                      UnitAttr:$accumulate));
}

def CUDA_RMSNormAndGradOp
    : CUDA_TunedGradOp<"rms_norm_and_grad", ["dy", "x", "gamma", "rstd", "addend"],
                       ["dx", "dgamma", "y"],
                       ["mayAlias", "getNumKernels", "getScratchBytes", "getRereadBytes",
                        "getReadBytes"]> {
  let summary = "gradients of rms_norm, and its result again";
  let description = [{
    As `cuda.rms_norm_grad`. The kernel that reads x also computes the norm y
    again, as in `cuda.layer_norm_and_grad`.

    Example:

    ```mlir
    %dx, %dgamma, %y = cuda.rms_norm_and_grad ins(%dy, %x, %gamma, %rstd
        : tensor<32x64xf16>, tensor<32x64xf16>, tensor<64xf32>, tensor<32xf32>)
        -> tensor<32x64xf16>, tensor<64xf32>, tensor<32x64xf16>
    ```
  }];
  let arguments = !con(operands, (ins OptionalAttr<CUDA_HeadsAttr>:$x_rows,
                                      OptionalAttr<CUDA_HeadsAttr>:$dx_rows,
                                      UnitAttr:$accumulate));
}

//===----------------------------------------------------------------------===//
// Batch norm
//===----------------------------------------------------------------------===//

def CUDA_BatchNormTrainingOp
    : CUDA_TunedOp<"batch_norm_training",
                   ["x", "gamma", "beta", "running_mean", "running_var"],
                   ["y", "mean", "rstd", "new_running_mean", "new_running_var"],
                   ["mayAlias", "getNumKernels", "getScratchBytes", "getRereadBytes"]> {
  let summary = "normalisation by the statistics of the batch";
  let description = [{
    y = (x - mean) · rstd · gamma + beta for each channel, as
    `train.batch_norm_training`. The channels are the last dimension. The mean
    and rstd = 1 / √(var + `epsilon`) are over all other dimensions. The running
    statistics become (1 - `momentum`) · running + `momentum` · batch, with the
    unbiased variance. They may be updated in place. All operands but x and y
    are f32.

    A first kernel computes the statistics, with partial sums in scratch memory.
    A second kernel reads x again.

    Example:

    ```mlir
    %y, %mean, %rstd, %rm1, %rv1 = cuda.batch_norm_training ins(%x, %gamma, %beta, %rm, %rv
        : tensor<32x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
        {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64}
        -> tensor<32x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
    ```
  }];
  let arguments = !con(operands, (ins F64Attr:$epsilon, F64Attr:$momentum));
}

def CUDA_BatchNormInferenceOp
    : CUDA_TunedOp<"batch_norm_inference", ["x", "gamma", "beta", "mean", "var"],
                   ["y"]> {
  let summary = "normalisation by given statistics";
  let description = [{
    y = (x - mean) / √(var + `epsilon`) · gamma + beta for each channel, as
    `train.batch_norm_inference`. The channels are the last dimension. All
    operands but x and y are f32.

    Example:

    ```mlir
    %y = cuda.batch_norm_inference ins(%x, %gamma, %beta, %mean, %var
        : tensor<32x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
        {epsilon = 1.0e-5 : f64} -> tensor<32x8x8x16xf16>
    ```
  }];
  let arguments = !con(operands, (ins F64Attr:$epsilon));
}

def CUDA_BatchNormGradOp
    : CUDA_TunedGradOp<"batch_norm_grad", ["dy", "x", "gamma", "mean", "rstd"],
                       ["dx", "dgamma", "dbeta"],
                       ["mayAlias", "getNumKernels", "getScratchBytes", "getRereadBytes"]> {
  let summary = "gradients of batch_norm_training";
  let description = [{
    The gradients of x, gamma and beta, as `train.batch_norm_grad`. The mean and
    rstd are results of `cuda.batch_norm_training`. A first kernel sums over the
    pixels, with partial sums in scratch memory. A second kernel reads dy and x
    again. dx may be written over dy.

    Example:

    ```mlir
    %dx, %dgamma, %dbeta = cuda.batch_norm_grad ins(%dy, %x, %gamma, %mean, %rstd
        : tensor<32x64xf16>, tensor<32x64xf16>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>)
        -> tensor<32x64xf16>, tensor<64xf32>, tensor<64xf32>
    ```
  }];
  let arguments = operands;
}

//===----------------------------------------------------------------------===//
// Batch norm with a relu
//===----------------------------------------------------------------------===//

defvar CUDA_BatchNormInputs = ["x", "gamma", "beta", "running_mean", "running_var"];
defvar CUDA_BatchNormReluTargets =
    ["y", "mean", "rstd", "new_running_mean", "new_running_var", "mask"];

def CUDA_BatchNormReluOp
    : CUDA_TunedOp<"batch_norm_relu", CUDA_BatchNormInputs, CUDA_BatchNormReluTargets,
                   ["mayAlias", "getNumKernels", "getScratchBytes", "getRereadBytes"]> {
  let summary = "batch_norm_training and relu";
  let description = [{
    As `cuda.batch_norm_training`, with the relu of y in its place. The mask has
    a bit for each element of y, which tells whether it is positive. It has the
    shape of y in bytes of 8 channels each: bit i of a byte belongs to channel i
    of the 8. The number of channels is a multiple of 8.

    Example:

    ```mlir
    %y, %mean, %rstd, %rm1, %rv1, %mask = cuda.batch_norm_relu ins(%x, %gamma, %beta, %rm, %rv
        : tensor<32x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
        {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64}
        -> tensor<32x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>,
           tensor<32x8x8x2xi8>
    ```
  }];
  let arguments = !con(operands, (ins F64Attr:$epsilon, F64Attr:$momentum));
}

def CUDA_BatchNormAddReluOp
    : CUDA_TunedOp<"batch_norm_add_relu", CUDA_BatchNormInputs # ["residual"],
                   CUDA_BatchNormReluTargets,
                   ["mayAlias", "getNumKernels", "getScratchBytes", "getRereadBytes"]> {
  let summary = "batch_norm_training, a residual and relu";
  let description = [{
    As `cuda.batch_norm_relu`, where y is max(norm + residual, 0). The sum is
    rounded once. The residual has the shape of y, which may be written over it.

    Example:

    ```mlir
    %y, %mean, %rstd, %rm1, %rv1, %mask = cuda.batch_norm_add_relu
        ins(%x, %gamma, %beta, %rm, %rv, %residual
        : tensor<32x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>,
          tensor<32x8x8x16xf16>) {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64}
        -> tensor<32x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>,
           tensor<32x8x8x2xi8>
    ```
  }];
  let arguments = !con(operands, (ins F64Attr:$epsilon, F64Attr:$momentum));
}

def CUDA_BatchNormApplyOp
    : CUDA_TunedOp<"batch_norm_apply", ["x", "gamma", "beta", "mean", "rstd"], ["y"]> {
  let summary = "the normalisation of batch_norm_training, computed again";
  let description = [{
    y = (x - mean) · rstd · gamma + beta for each channel, where the mean and
    rstd are results of `cuda.batch_norm_training` or `cuda.batch_norm_relu`. y
    has the same bits as theirs. With `relu` it is max(y, 0). The backward pass
    reads it in place of a value that would stay in memory.

    Example:

    ```mlir
    %y = cuda.batch_norm_apply ins(%x, %gamma, %beta, %mean, %rstd
        : tensor<32x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
        {relu} -> tensor<32x8x8x16xf16>
    ```
  }];
  let arguments = !con(operands, (ins UnitAttr:$relu));
}

def CUDA_BatchNormAddReluApplyOp
    : CUDA_TunedOp<"batch_norm_add_relu_apply",
                   ["x", "gamma", "beta", "mean", "rstd", "residual"], ["y"], ["mayAlias"]> {
  let summary = "the result of batch_norm_add_relu, computed again";
  let description = [{
    y = max((x - mean) · rstd · gamma + beta + residual, 0) for each channel,
    where the mean and rstd are results of `cuda.batch_norm_add_relu`. y has the
    same bits as its result, and may be written over the residual.

    Example:

    ```mlir
    %y = cuda.batch_norm_add_relu_apply ins(%x, %gamma, %beta, %mean, %rstd, %residual
        : tensor<32x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>,
          tensor<32x8x8x16xf16>) -> tensor<32x8x8x16xf16>
    ```
  }];
  let arguments = operands;
}

defvar CUDA_BatchNormReluGradInputs = ["dy", "mask", "x", "gamma", "mean", "rstd"];

def CUDA_BatchNormReluGradOp
    : CUDA_TunedGradOp<"batch_norm_relu_grad", CUDA_BatchNormReluGradInputs,
                       ["dx", "dgamma", "dbeta"],
                       ["mayAlias", "getNumKernels", "getScratchBytes", "getRereadBytes"]> {
  let summary = "gradients of batch_norm_relu";
  let description = [{
    As `cuda.batch_norm_grad` for the gradient of the relu, which is dy where the
    bit of the mask is set and 0 elsewhere. dx may be written over dy.

    Example:

    ```mlir
    %dx, %dgamma, %dbeta = cuda.batch_norm_relu_grad ins(%dy, %mask, %x, %gamma, %mean, %rstd
        : tensor<32x64xf16>, tensor<32x8xi8>, tensor<32x64xf16>, tensor<64xf32>, tensor<64xf32>,
          tensor<64xf32>) -> tensor<32x64xf16>, tensor<64xf32>, tensor<64xf32>
    ```
  }];
  let arguments = operands;
}

def CUDA_BatchNormAddReluGradOp
    : CUDA_TunedGradOp<"batch_norm_add_relu_grad", CUDA_BatchNormReluGradInputs,
                       ["dx", "dgamma", "dbeta", "dresidual"],
                       ["mayAlias", "getNumKernels", "getScratchBytes", "getRereadBytes"]> {
  let summary = "gradients of batch_norm_add_relu";
  let description = [{
    As `cuda.batch_norm_relu_grad`. The last result is the gradient of the relu,
    for its other readers, such as the residual. It may be written over dy, and
    dx over x.

    Example:

    ```mlir
    %dx, %dgamma, %dbeta, %dr = cuda.batch_norm_add_relu_grad
        ins(%dy, %mask, %x, %gamma, %mean, %rstd
        : tensor<32x64xf16>, tensor<32x8xi8>, tensor<32x64xf16>, tensor<64xf32>, tensor<64xf32>,
          tensor<64xf32>) -> tensor<32x64xf16>, tensor<64xf32>, tensor<64xf32>, tensor<32x64xf16>
    ```
  }];
  let arguments = operands;
}

#endif // AMP_DIALECT_CUDA_IR_CUDANORMALIZATIONOPS_TD
