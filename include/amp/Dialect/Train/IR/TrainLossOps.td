//===- TrainLossOps.td - Losses, gradients and optimizers -*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_TRAIN_IR_TRAINLOSSOPS_TD
#define AMP_DIALECT_TRAIN_IR_TRAINLOSSOPS_TD

include "amp/Dialect/Train/IR/TrainBase.td"

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

def Train_CrossEntropyOp : Train_Op<"cross_entropy", [
    Train_Slots, Train_Composite, Train_Differentiable, Train_Ranges]> {
  let summary = "mean cross-entropy of logits with integer labels";
  let description = [{
    Computes the mean over all rows of ln Σ exp(x) - x[label]. The last
    dimension holds the classes. With `label_smoothing` ε the target is 1 - ε at
    the label, plus ε divided by the number of classes at every class, as in
    torch. The caller must pass labels in range. `amp-run` checks them when it
    reads the data.

    Example:

    ```mlir
    %loss = train.cross_entropy %logits, %labels
        : (tensor<?x10xf16>, tensor<?xi64>) -> tensor<f32>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$logits, Train_IntTensor:$labels,
                       DefaultValuedAttr<F64Attr, "0.0">:$label_smoothing);
  let results = (outs Train_WideScalar:$loss);
  let hasVerifier = 1;
}

def Train_CrossEntropyGradOp : Train_Op<"cross_entropy_grad", [
    AllElementTypesMatch<["logits", "result"]>,
    Train_Slots, Train_Composite, Train_Differentiable, Train_Ranges]> {
  let summary = "gradient of the logits of cross_entropy";
  let description = [{
    Computes (softmax(x) - one_hot(label)) · `grad` / rows, where `grad` is the
    gradient of the loss. `label_smoothing` smooths the one-hot encoding.

    Example:

    ```mlir
    %dx = train.cross_entropy_grad %logits, %labels, %dloss
        : (tensor<?x10xf16>, tensor<?xi64>, tensor<f32>) -> tensor<?x10xf16>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$logits, Train_IntTensor:$labels,
                       Train_WideScalar:$grad,
                       DefaultValuedAttr<F64Attr, "0.0">:$label_smoothing);
  let results = (outs Train_FloatTensor:$result);
  let hasVerifier = 1;
}

class Train_RegressionLossOp<string mnemonic, string formula>
    : Train_Op<mnemonic, [SameTypeOperands, Train_Slots, Train_Composite,
                          Train_Differentiable, Train_Ranges]> {
  let summary = "mean of " # formula;
  let description = "Computes the mean over all elements of " # formula # [{.

    Example:

    ```mlir
    %loss = train.}] # mnemonic # [{ %x, %target : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<f32>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$input, Train_FloatTensor:$target);
  let results = (outs Train_WideScalar:$loss);
  let hasVerifier = 1;
}

class Train_RegressionLossGradOp<string mnemonic, string formula>
    : Train_Op<mnemonic, [AllTypesMatch<["input", "target", "result"]>,
                          Train_Slots, Train_Composite, Train_Differentiable,
                          Train_Ranges]> {
  let summary = "gradient of the input of the loss: " # formula;
  let description = "Computes " # formula # [{, where g is `grad`, the gradient of
    the loss, and n is the number of elements.

    Example:

    ```mlir
    %dx = train.}] # mnemonic # [{ %x, %target, %dloss
        : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$input, Train_FloatTensor:$target,
                       Train_WideScalar:$grad);
  let results = (outs Train_FloatTensor:$result);
  let hasVerifier = 1;
}

def Train_MSEOp : Train_RegressionLossOp<"mse", "(x - target)²">;
def Train_L1Op : Train_RegressionLossOp<"l1", "|x - target|">;
def Train_MSEGradOp : Train_RegressionLossGradOp<"mse_grad", "2 · (x - target) · g / n">;
def Train_L1GradOp : Train_RegressionLossGradOp<"l1_grad", "sign(x - target) · g / n">;

//===----------------------------------------------------------------------===//
// Differentiation
//===----------------------------------------------------------------------===//

def Train_GradientsOp : Op<Train_Dialect, "gradients", [Pure, Train_Slots]> {
  let summary = "gradients of a scalar, symbolically";
  let description = [{
    Computes the gradient of `loss` with respect to each value of `wrt`. Each
    gradient has the type of its value. `train-autodiff` expands the operation
    into backward operations. A value that the loss
    does not depend on has a gradient of zeros. `name` identifies the loss in
    the `amp.gradient_seed` that the expansion starts from.

    Example:

    ```mlir
    %g:2 = train.gradients %loss wrt(%w, %b)
        : (tensor<f32>, tensor<64x10xf32>, tensor<10xf32>) -> (tensor<64x10xf32>, tensor<10xf32>)
    ```
  }];
  let arguments = (ins Train_WideScalar:$loss,
                       Variadic<Train_FloatTensor>:$wrt,
                       DefaultValuedStrAttr<StrAttr, "loss">:$name);
  let results = (outs Variadic<Train_FloatTensor>:$gradients);
  let assemblyFormat = [{
    $loss `wrt` `(` $wrt `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Optimizers
//===----------------------------------------------------------------------===//

class Train_OptimizerOp<string mnemonic> : Train_Op<mnemonic, [
    Train_Slots, Train_Composite,
    DeclareOpInterfaceMethods<GradientConsumerOpInterface>]> {
  let hasVerifier = 1;
}

def Train_SGDOp : Train_OptimizerOp<"sgd"> {
  let summary = "stochastic gradient descent";
  let description = [{
    Computes g = grad + `weight_decay` · w and w' = w - lr · g. With a momentum
    buffer v it computes v' = `momentum` · v + g and replaces g by v', or by
    g + `momentum` · v' if `nesterov` is set. This matches torch.optim.SGD with
    dampening 0 and a buffer that starts at zero.

    Example:

    ```mlir
    %w1, %v1 = train.sgd %w, %g, %lr, %v {momentum = 0.9 : f64}
        : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    ```
  }];
  let arguments = (ins Train_WideTensor:$parameter, Train_FloatTensor:$grad,
      Train_WideScalar:$learning_rate, Optional<Train_WideTensor>:$velocity,
      DefaultValuedAttr<F64Attr, "0.0">:$momentum,
      DefaultValuedAttr<F64Attr, "0.0">:$weight_decay, UnitAttr:$nesterov);
  let results = (outs Train_WideTensor:$new_parameter,
                      Optional<Train_WideTensor>:$new_velocity);
}

class Train_AdamLikeOp<string mnemonic> : Train_OptimizerOp<mnemonic> {
  let arguments = (ins Train_WideTensor:$parameter, Train_FloatTensor:$grad,
      Train_WideScalar:$learning_rate, Train_WideTensor:$exp_avg,
      Train_WideTensor:$exp_avg_sq, Train_WideScalar:$step,
      DefaultValuedAttr<F64Attr, "0.9">:$beta1,
      DefaultValuedAttr<F64Attr, "0.999">:$beta2,
      DefaultValuedAttr<F64Attr, "1.0e-8">:$epsilon,
      DefaultValuedAttr<F64Attr, "0.0">:$weight_decay);
  let results = (outs Train_WideTensor:$new_parameter,
      Train_WideTensor:$new_exp_avg, Train_WideTensor:$new_exp_avg_sq);
}

def Train_AdamOp : Train_AdamLikeOp<"adam"> {
  let summary = "Adam";
  let description = [{
    Computes g = grad + `weight_decay` · w; m' = β₁ m + (1 - β₁) g;
    v' = β₂ v + (1 - β₂) g²;
    w' = w - lr · (m' / (1 - β₁ᵗ)) / (√(v' / (1 - β₂ᵗ)) + `epsilon`).
    t is the number of this step, counted from 1 (`step`). This matches
    torch.optim.Adam.

    Example:

    ```mlir
    %w1, %m1, %v1 = train.adam %w, %g, %lr, %m, %v, %t
        : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>)
        -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
    ```
  }];
}

def Train_AdamWOp : Train_AdamLikeOp<"adamw"> {
  let summary = "Adam with decoupled weight decay";
  let description = [{
    Differs from `train.adam` in the decay, which acts on the weight and not on
    the gradient: the operation first replaces w by w · (1 - lr ·
    `weight_decay`). This matches torch.optim.AdamW.

    Example:

    ```mlir
    %w1, %m1, %v1 = train.adamw %w, %g, %lr, %m, %v, %t {weight_decay = 0.01 : f64}
        : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>)
        -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
    ```
  }];
}

def Train_ClipByGlobalNormOp : Train_Op<"clip_by_global_norm", [
    Train_Slots, Train_Composite,
    DeclareOpInterfaceMethods<GradientConsumerOpInterface>]> {
  let summary = "limits the global norm of gradients";
  let description = [{
    Computes norm = √ Σ g² over all elements of all gradients and multiplies
    each gradient by min(1, `max_norm` / (norm + 1e-6)), as
    torch.nn.utils.clip_grad_norm_ does. The last result is the norm before
    clipping. The squares are added in f64, where those of f32 are exact. The sum
    is rounded once, to the type of the norm, so it hardly depends on the order
    in which ranks add it.

    Example:

    ```mlir
    %c:2, %norm = train.clip_by_global_norm %g0, %g1 {max_norm = 1.0 : f64}
        : (tensor<8xf32>, tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>, tensor<f32>)
    ```
  }];
  let arguments = (ins Variadic<Train_FloatTensor>:$gradients, F64Attr:$max_norm);
  let results = (outs Variadic<Train_FloatTensor>:$clipped,
                      Train_WideScalar:$norm);
  let hasVerifier = 1;
}

#endif // AMP_DIALECT_TRAIN_IR_TRAINLOSSOPS_TD
