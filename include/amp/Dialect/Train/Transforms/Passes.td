//===- Passes.td - Passes over training graphs -------------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_TRAIN_TRANSFORMS_PASSES_TD
#define AMP_DIALECT_TRAIN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def TrainAutodiff : Pass<"train-autodiff"> {
  let summary = "expand train.gradients into backward operations";
  let description = [{
    Replaces each `train.gradients` by the operations that compute it: reverse
    mode, from one `amp.gradient_seed` per `train.gradients`, through
    `DifferentiableOpInterface`. Where a value has several uses their
    contributions are added.

    Before:

    ```mlir
    %h = train.linear %x, %w : (tensor<?x64xf32>, tensor<64x10xf32>) -> tensor<?x10xf32>
    %loss = train.cross_entropy %h, %labels : (tensor<?x10xf32>, tensor<?xi64>) -> tensor<f32>
    %dw = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<64x10xf32>) -> tensor<64x10xf32>
    ```

    After, with `%w` an argument named "fc.weight":

    ```mlir
    %h = train.linear %x, %w {amp.id = 0 : i64} : ...
    %loss = train.cross_entropy %h, %labels {amp.id = 1 : i64} : ...
    %seed = amp.gradient_seed "loss" : tensor<f32>
    %dh = train.cross_entropy_grad %h, %labels, %seed {amp.backward_of = 1 : i64} : ...
    %dw = train.matmul %x, %dh {transpose_a, amp.backward_of = 0 : i64, amp.gradient_of = ["fc.weight"]} : ...
    ```

    - `amp.backward_of` on a backward operation is the `amp.id` of the forward
      operation that it belongs to, whose location it has too.
    - `amp.gradient_of` names, per result, the argument (by its `amp.name`)
      whose gradient the result is. Each tagged result has one name: where one
      value is the gradient of two arguments, or of an argument and something
      else that is tagged already, a `train.broadcast` without dimensions, the
      identity that canonicalization keeps, carries the name. A gradient that
      another `train.gradients` differentiates again is an intermediate value
      and is not tagged.
    - A value that the loss does not depend on has as its gradient a
      `train.broadcast` of a zero. (A constant would lose its tag when
      canonicalization merges it with others.)
    - Gradients that nothing uses are not computed.
    - `train.gradients` of something computed from `train.gradients` gives
      second derivatives; the inner one is expanded first.

    An operation with no derivative between the loss and one of the values to
    differentiate by is an error at that operation, and so is one with regions.
  }];
  let dependentDialects = ["::mlir::amp::AMPDialect", "TrainDialect"];
  let statistics = [
    Statistic<"numExpanded", "expanded", "Number of train.gradients expanded">,
    Statistic<"numBackwardOps", "backward-ops",
              "Number of backward operations emitted">,
    Statistic<"numZeroGradients", "zero-gradients",
              "Number of gradients of values that the loss does not depend on">,
  ];
}

def TrainSetBatch : Pass<"train-set-batch", "::mlir::ModuleOp"> {
  let summary = "make the batch dimension static";
  let description = [{
    Replaces every `?` in the signatures of functions by `batch-size`, and
    recomputes the shapes of all results in their bodies, operation by
    operation, through `ShapeInferenceOpInterface`. Calls, regions and returns
    follow.

    Before, and after with `batch-size=32`:

    ```mlir
    func.func @f(%x: tensor<?x64xf32>) -> tensor<?x8x8x1xf32> {
      %0 = train.reshape %x : (tensor<?x64xf32>) -> tensor<?x8x8x1xf32>

    func.func @f(%x: tensor<32x64xf32>) -> tensor<32x8x8x1xf32> {
      %0 = train.reshape %x : (tensor<32x64xf32>) -> tensor<32x8x8x1xf32>
    ```

    A module without `?` is left as it is. An operation of another dialect
    keeps its element types and gets static result types where its operands or
    its own type inference determine them; else it is an error at the operation.
  }];
  let dependentDialects = ["TrainDialect"];
  let options = [
    Option<"batchSize", "batch-size", "int64_t", /*default=*/"0",
           "The number of examples in a batch (required, positive)">,
  ];
  let statistics = [
    Statistic<"numRetyped", "retyped",
              "Number of operations that got static result types">,
  ];
}

def TrainToInference : Pass<"train-to-inference", "::mlir::ModuleOp"> {
  let summary = "derive the forward function from a training step";
  let description = [{
    Replaces a training step by its forward function, named after it with
    `suffix`: the results with `amp.prediction`, what they need, and nothing
    else. The step may have its gradients symbolic or expanded.

    - `train.dropout` becomes its operand.
    - `train.batch_norm_training` becomes `train.batch_norm_inference` with the
      running statistics.
    - Optimizer, backward pass and updates are gone, and so is each argument
      that nothing needs any more: labels, hyperparameters, optimizer state.
      The others keep their roles and names, so that the same weights load. An
      `amp.init` that copies an argument that is gone is dropped.

    With `keep-metrics` the results with `amp.metric` stay too, and what they
    need, such as labels: the evaluation form. A metric that depends on
    gradients or on the state of loss scaling has no meaning there and is
    dropped with a remark.

    Before:

    ```mlir
    func.func @step(%w: tensor<64x10xf32> {amp.role = "parameter", amp.name = "w"},
                    %v: tensor<64x10xf32> {amp.role = "optimizer_state", amp.name = "v"},
                    %x: tensor<?x64xf32> {amp.role = "batch", amp.name = "x"}, ...)
        -> (tensor<64x10xf32> {amp.updates = "w"}, ..., tensor<?x10xf32> {amp.prediction = "y"})
    ```

    After:

    ```mlir
    func.func @step_inference(%w: tensor<64x10xf32> {amp.role = "parameter", amp.name = "w"},
                              %x: tensor<?x64xf32> {amp.role = "batch", amp.name = "x"})
        -> (tensor<?x10xf32> {amp.prediction = "y"}) attributes {amp.inference_of = "step"}
    ```

    A function with `amp.inference_of` is done already and left alone.
  }];
  let dependentDialects = ["TrainDialect"];
  let options = [
    Option<"entry", "entry", "std::string", /*default=*/"\"\"",
           "Name of the training step (default: the only one)">,
    Option<"suffix", "suffix", "std::string", /*default=*/"\"_inference\"",
           "What to append to the name of the step">,
    Option<"keepMetrics", "keep-metrics", "bool", /*default=*/"false",
           "Keep metrics, and the labels that they need, for evaluation">,
    Option<"keepStep", "keep-step", "bool", /*default=*/"false",
           "Keep the training step beside the forward function">,
  ];
  let statistics = [
    Statistic<"numDropped", "dropped-arguments",
              "Number of arguments that the forward function does not need">,
  ];
}

#endif // AMP_DIALECT_TRAIN_TRANSFORMS_PASSES_TD
