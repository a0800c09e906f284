//===- TrainNormalizationOps.td - Softmax and norms -*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_TRAIN_IR_TRAINNORMALIZATIONOPS_TD
#define AMP_DIALECT_TRAIN_IR_TRAINNORMALIZATIONOPS_TD

include "amp/Dialect/Train/IR/TrainBase.td"

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

class Train_SoftmaxLikeOp<string mnemonic, Trait ranges = Train_Ranges>
    : Train_StorageOp<mnemonic, [SameOperandsAndResultType, Train_Composite,
                                 Train_Differentiable, ranges]> {
  let results = (outs Train_FloatTensor:$result);
  let assemblyFormat = "operands attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Train_SoftmaxOp : Train_SoftmaxLikeOp<"softmax", Train_RangesAndFlow> {
  let summary = "exponentials normalised to a sum of 1 along a dimension";
  let description = [{
    Computes exp(x - max x) / Σ exp(x - max x) along dimension `axis`.

    Example:

    ```mlir
    %1 = train.softmax %0 {axis = 1 : i64} : tensor<?x10xf32>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$input, I64Attr:$axis);
}

def Train_LogSoftmaxOp : Train_SoftmaxLikeOp<"log_softmax"> {
  let summary = "logarithm of softmax along a dimension";
  let description = [{
    Computes x - max x - ln Σ exp(x - max x) along dimension `axis`.

    Example:

    ```mlir
    %1 = train.log_softmax %0 {axis = 1 : i64} : tensor<?x10xf32>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$input, I64Attr:$axis);
}

def Train_SoftmaxGradOp : Train_SoftmaxLikeOp<"softmax_grad"> {
  let summary = "gradient of the operand of softmax";
  let description = [{
    Computes y · (dy - Σ y · dy) along `axis`, where `output` y is the softmax.

    Example:

    ```mlir
    %dx = train.softmax_grad %y, %dy {axis = 1 : i64} : tensor<?x10xf32>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$output, Train_FloatTensor:$grad, I64Attr:$axis);
}

def Train_LogSoftmaxGradOp : Train_SoftmaxLikeOp<"log_softmax_grad"> {
  let summary = "gradient of the operand of log_softmax";
  let description = [{
    Computes dy - exp(y) · Σ dy along `axis`, where `output` y is the
    log_softmax.

    Example:

    ```mlir
    %dx = train.log_softmax_grad %y, %dy {axis = 1 : i64} : tensor<?x10xf32>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$output, Train_FloatTensor:$grad, I64Attr:$axis);
}

def Train_LogsumexpOp : Train_Op<"logsumexp", [
    Train_Slots, Train_Composite, Train_Differentiable, Train_Ranges]> {
  let summary = "logarithm of the sum of exponentials along a dimension";
  let description = [{
    Computes max x + ln Σ exp(x - max x) along dimension `axis`. The result does
    not have this dimension. It may be wider than the operand.

    Example:

    ```mlir
    %1 = train.logsumexp %0 {axis = 1 : i64} : (tensor<?x10xf16>) -> tensor<?xf32>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$input, I64Attr:$axis);
  let results = (outs Train_FloatTensor:$result);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Layer norm and RMS norm
//===----------------------------------------------------------------------===//

def Train_LayerNormOp : Train_Op<"layer_norm", [
    AllElementTypesMatch<["input", "result"]>,
    AllElementTypesMatch<["gamma", "beta", "mean", "rstd"]>,
    Train_Slots, Train_Composite, Train_Differentiable, Train_Ranges]> {
  let summary = "normalisation over the trailing dimensions";
  let description = [{
    Computes y = (x - mean) · rstd · gamma + beta. The mean and the reciprocal
    standard deviation 1 / √(var + `epsilon`) (biased variance) are taken over
    the trailing dimensions, as many as `gamma` has. `mean` and `rstd` have
    the leading dimensions. The backward pass reads them.

    Example:

    ```mlir
    %y, %mean, %rstd = train.layer_norm %x, %gamma, %beta {epsilon = 1.0e-5 : f64}
        : (tensor<?x8xf16>, tensor<8xf32>, tensor<8xf32>)
        -> (tensor<?x8xf16>, tensor<?xf32>, tensor<?xf32>)
    ```
  }];
  let arguments = (ins Train_FloatTensor:$input, Train_WideTensor:$gamma,
      Train_WideTensor:$beta, DefaultValuedAttr<F64Attr, "1.0e-5">:$epsilon);
  let results = (outs Train_FloatTensor:$result, Train_WideTensor:$mean,
                      Train_WideTensor:$rstd);
  let hasVerifier = 1;
}

def Train_LayerNormGradOp : Train_Op<"layer_norm_grad", [
    AllElementTypesMatch<["grad", "input", "input_grad"]>,
    AllElementTypesMatch<["gamma", "mean", "rstd", "gamma_grad", "beta_grad"]>,
    Train_Slots, Train_Composite, Train_Differentiable]> {
  let summary = "gradients of layer_norm";
  let description = [{
    Computes the gradients of the input, gamma and beta from the values that the
    forward operation saved.

    Example:

    ```mlir
    %dx, %dgamma, %dbeta = train.layer_norm_grad %dy, %x, %gamma, %mean, %rstd
        : (tensor<?x8xf16>, tensor<?x8xf16>, tensor<8xf32>, tensor<?xf32>, tensor<?xf32>)
        -> (tensor<?x8xf16>, tensor<8xf32>, tensor<8xf32>)
    ```
  }];
  let arguments = (ins Train_FloatTensor:$grad, Train_FloatTensor:$input,
      Train_WideTensor:$gamma, Train_WideTensor:$mean, Train_WideTensor:$rstd);
  let results = (outs Train_FloatTensor:$input_grad,
                      Train_WideTensor:$gamma_grad, Train_WideTensor:$beta_grad);
  let hasVerifier = 1;
}

def Train_RMSNormOp : Train_Op<"rms_norm", [
    AllElementTypesMatch<["input", "result"]>,
    AllElementTypesMatch<["gamma", "rstd"]>,
    Train_Slots, Train_Composite, Train_Differentiable, Train_Ranges]> {
  let summary = "division by the root mean square of the trailing dimensions";
  let description = [{
    Computes y = x · rstd · gamma, with rstd = 1 / √(mean x² + `epsilon`) over
    the trailing dimensions, as many as `gamma` has. `rstd` has the leading
    dimensions. The backward pass reads it.

    Example:

    ```mlir
    %y, %rstd = train.rms_norm %x, %gamma {epsilon = 1.0e-6 : f64}
        : (tensor<?x8xf16>, tensor<8xf32>) -> (tensor<?x8xf16>, tensor<?xf32>)
    ```
  }];
  let arguments = (ins Train_FloatTensor:$input, Train_WideTensor:$gamma,
                       DefaultValuedAttr<F64Attr, "1.0e-6">:$epsilon);
  let results = (outs Train_FloatTensor:$result, Train_WideTensor:$rstd);
  let hasVerifier = 1;
}

def Train_RMSNormGradOp : Train_Op<"rms_norm_grad", [
    AllElementTypesMatch<["grad", "input", "input_grad"]>,
    AllElementTypesMatch<["gamma", "rstd", "gamma_grad"]>,
    Train_Slots, Train_Composite, Train_Differentiable]> {
  let summary = "gradients of rms_norm";
  let description = [{
    Computes the gradients of the input and of gamma from the values that the
    forward operation saved.

    Example:

    ```mlir
    %dx, %dgamma = train.rms_norm_grad %dy, %x, %gamma, %rstd
        : (tensor<?x8xf16>, tensor<?x8xf16>, tensor<8xf32>, tensor<?xf32>)
        -> (tensor<?x8xf16>, tensor<8xf32>)
    ```
  }];
  let arguments = (ins Train_FloatTensor:$grad, Train_FloatTensor:$input,
      Train_WideTensor:$gamma, Train_WideTensor:$rstd);
  let results = (outs Train_FloatTensor:$input_grad, Train_WideTensor:$gamma_grad);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Batch norm
//===----------------------------------------------------------------------===//

def Train_BatchNormTrainingOp : Train_Op<"batch_norm_training", [
    AllElementTypesMatch<["input", "result"]>,
    AllElementTypesMatch<["gamma", "beta", "running_mean", "running_var",
        "mean", "rstd", "new_running_mean", "new_running_var"]>,
    Train_Slots, Train_Composite, Train_Differentiable, Train_Ranges]> {
  let summary = "normalisation over all dimensions but the last, training form";
  let description = [{
    Computes y = (x - mean) · rstd · gamma + beta per channel (the last
    dimension), with rstd = 1 / √(var + `epsilon`). Mean and biased variance are
    taken over all other dimensions. The backward pass reads `mean` and `rstd`.
    The running statistics move by `momentum` towards the batch's mean and its
    unbiased variance: running' = (1 - momentum) · running + momentum · batch.

    Example:

    ```mlir
    %y, %mean, %rstd, %rm1, %rv1 =
        train.batch_norm_training %x, %gamma, %beta, %rm, %rv {momentum = 0.1 : f64}
        : (tensor<?x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
        -> (tensor<?x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
    ```
  }];
  let arguments = (ins Train_FloatTensor:$input, Train_WideTensor:$gamma,
      Train_WideTensor:$beta, Train_WideTensor:$running_mean,
      Train_WideTensor:$running_var,
      DefaultValuedAttr<F64Attr, "1.0e-5">:$epsilon,
      DefaultValuedAttr<F64Attr, "0.1">:$momentum);
  let results = (outs Train_FloatTensor:$result, Train_WideTensor:$mean,
      Train_WideTensor:$rstd, Train_WideTensor:$new_running_mean,
      Train_WideTensor:$new_running_var);
  let hasVerifier = 1;
}

def Train_BatchNormInferenceOp : Train_Op<"batch_norm_inference", [
    AllElementTypesMatch<["input", "result"]>,
    AllElementTypesMatch<["gamma", "beta", "mean", "var"]>,
    Train_Slots, Train_Composite, Train_Differentiable, Train_Ranges]> {
  let summary = "normalisation with given statistics";
  let description = [{
    Computes y = (x - mean) / √(var + `epsilon`) · gamma + beta per channel (the
    last dimension).

    Example:

    ```mlir
    %y = train.batch_norm_inference %x, %gamma, %beta, %mean, %var
        : (tensor<?x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
        -> tensor<?x8x8x16xf16>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$input, Train_WideTensor:$gamma,
      Train_WideTensor:$beta, Train_WideTensor:$mean, Train_WideTensor:$var,
      DefaultValuedAttr<F64Attr, "1.0e-5">:$epsilon);
  let results = (outs Train_FloatTensor:$result);
  let hasVerifier = 1;
}

def Train_BatchNormGradOp : Train_Op<"batch_norm_grad", [
    AllElementTypesMatch<["grad", "input", "input_grad"]>,
    AllElementTypesMatch<["gamma", "mean", "rstd", "gamma_grad", "beta_grad"]>,
    Train_Slots, Train_Composite, Train_Differentiable]> {
  let summary = "gradients of batch_norm_training";
  let description = [{
    Computes the gradients of the input, gamma and beta from the values that the
    forward operation saved.

    Example:

    ```mlir
    %dx, %dgamma, %dbeta = train.batch_norm_grad %dy, %x, %gamma, %mean, %rstd
        : (tensor<?x8x8x16xf16>, tensor<?x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
        -> (tensor<?x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>)
    ```
  }];
  let arguments = (ins Train_FloatTensor:$grad, Train_FloatTensor:$input,
      Train_WideTensor:$gamma, Train_WideTensor:$mean, Train_WideTensor:$rstd);
  let results = (outs Train_FloatTensor:$input_grad,
                      Train_WideTensor:$gamma_grad, Train_WideTensor:$beta_grad);
  let hasVerifier = 1;
}

#endif // AMP_DIALECT_TRAIN_IR_TRAINNORMALIZATIONOPS_TD
