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

def TrainPadForTensorCores : Pass<"train-pad-for-tensor-cores"> {
  let summary = "pad products to extents that tensor cores take whole";
  let description = [{
    Low products (`train.matmul`, `linear`, `conv2d` and its gradients) run at
    the rate of tensor cores only if the innermost extents of their operands and
    of their result are multiples of 16 bytes. Where one is not, the operands
    are padded with zeros and the result is sliced, if an estimate says that it
    pays: bytes that move, those of pads and slices included, and the time of
    the product as bytes, at the rate of f32 as it is and at the low rate padded,
    on `target`. A padded operand is made once for all products in a block that
    read it.

    An extent becomes a multiple of 128 bytes (64 elements of 16 bit) if that
    adds no more than 1/32 to it, else of 16 bytes (8 elements). With the
    vocabulary of GPT-2, 50257:

    ```mlir
    %y = train.linear %x, %w {transpose_weight}
        : (tensor<64x768xbf16>, tensor<50257x768xbf16>) -> tensor<64x50257xbf16>
    ```

    becomes

    ```mlir
    %p = train.pad %w {high = array<i64: 47, 0>, ...} : (tensor<50257x768xbf16>) -> tensor<50304x768xbf16>
    %z = train.linear %x, %p {transpose_weight}
        : (tensor<64x768xbf16>, tensor<50304x768xbf16>) -> tensor<64x50304xbf16>
    %y = train.slice %z {sizes = array<i64: 64, 50257>, ...} : (tensor<64x50304xbf16>) -> tensor<64x50257xbf16>
    ```

    Softmax, loss and whatever else reads the result see what they saw before,
    so results are equal: zeros add nothing to a sum of products, and padded rows
    and columns are cut off. Sums may be taken in another order on a GPU. A
    gradient of a parameter keeps its shape and its `amp.gradient_of`.

    Each low product with a misaligned extent that is left has a remark
    (`Misaligned`) with the reason, and so has each misaligned batch
    (`MisalignedBatch`): samples are never added. Run it after
    `auto-mixed-precision`; a second run changes nothing.
  }];
  let dependentDialects = ["TrainDialect"];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"h100\"",
           "The machine of the estimate: a100, h100 or h200">,
    Option<"alignment", "alignment", "int64_t", /*default=*/"0",
           "Elements of which innermost extents must be multiples (0: 16 bytes)">,
    Option<"multiple", "multiple", "int64_t", /*default=*/"0",
           "Elements to whose multiples extents are padded (0: 128 bytes where "
           "that adds little, else the alignment)">,
    Option<"always", "always", "bool", /*default=*/"false",
           "Pad whether it pays or not">,
  ];
  let statistics = [
    Statistic<"numPadded", "padded", "Number of products padded">,
    Statistic<"numPads", "pads", "Number of operands padded">,
    Statistic<"numSlices", "slices", "Number of results sliced">,
    Statistic<"numLeft", "left",
              "Number of misaligned products and batches left as they are">,
  ];
}

def TrainRematerialize : Pass<"train-rematerialize"> {
  let summary = "compute cheap values again instead of keeping them";
  let description = [{
    A value of the forward pass that the backward pass reads occupies memory
    between the two. This pass computes such values again, right before the
    backward pass first needs them. Results are equal bit for bit: the same
    operations run on the same operands (`train.dropout` draws from a state and
    a key, so it draws the same).

    The policy for single values: one is computed again if what it takes are at
    most `chain` cheap operations (elementwise operations, casts, data movement,
    norms, dropout) from arguments, constants and values that are kept anyway,
    or that are smaller than what is saved. Small values (under `min-bytes`) are
    kept.

    On request whole blocks are computed again from their inputs, products and
    all: `blocks` has patterns (`*` is anything but a dot) of the names of
    locations, and operations whose names begin with one match are a block.
    `blocks=h.*` makes one of each layer of GPT-2, with everything in `h.0`,
    `h.0.attn` and `h.0.mlp.fc`.

    Before, with `%0` needed by the backward pass:

    ```mlir
    %0 = train.gelu %x : tensor<8x64xf32>
    ...
    %dw = train.matmul %0, %dy {transpose_a} : (tensor<8x64xf32>, tensor<8x16xf32>) -> tensor<64x16xf32>
    ```

    After:

    ```mlir
    %0 = train.gelu %x : tensor<8x64xf32>
    ...
    %1 = train.broadcast %x {dims = array<i64>, train.recomputed = 0 : i64} : (tensor<8x64xf32>) -> tensor<8x64xf32>
    %2 = train.gelu %1 {train.recomputed = 0 : i64} : tensor<8x64xf32>
    %dw = train.matmul %2, %dy {transpose_a} : (tensor<8x64xf32>, tensor<8x16xf32>) -> tensor<64x16xf32>
    ```

    The broadcast without dimensions is the identity, of which nothing remains
    when the step is lowered: it keeps common subexpression elimination from
    finding the first value again.

    Run it last: what computes gradients is told from the forward pass by its
    dependence on `amp.gradient_seed`. A `train.gradients` that is left is an
    error. A value that is left has a remark (`Kept`) with the reason; a second
    run changes nothing.
  }];
  let dependentDialects = ["TrainDialect"];
  let options = [
    Option<"chain", "chain", "int64_t", /*default=*/"4",
           "The most operations to run again for one value (0: none)">,
    Option<"minBytes", "min-bytes", "int64_t", /*default=*/"1024",
           "Values of fewer bytes are kept">,
    ListOption<"blocks", "blocks", "std::string",
               "Patterns of the names of locations that are blocks">,
  ];
  let statistics = [
    Statistic<"numValues", "values", "Number of values no longer kept">,
    Statistic<"numBytes", "bytes",
              "Bytes no longer kept between forward and backward pass">,
    Statistic<"numOps", "operations", "Number of operations that run again">,
    Statistic<"numBlocks", "blocks-computed-again",
              "Number of blocks that run again">,
  ];
}

def TrainReportMemory : Pass<"train-report-memory", "::mlir::ModuleOp"> {
  let summary = "print what occupies the memory of a training step";
  let description = [{
    Prints, for each training step of static shapes, the bytes of its tensors by
    category, in all and where most of them live at once: parameters, optimizer
    state, other state, batch, low copies of weights that the step makes, saved
    activations (what the forward pass computes from the batch and lives on
    behind it), gradients, and temporaries, of which "in all" are the most that
    live at once. Updates are in place. JSON, one object for each step, also has
    the results of the forward pass that depend on the batch, by operation. The
    module stays as it is. A `train.gradients`, which stands for a backward pass
    that is not written out yet, is an error.

    ```
    memory of 'step' in bytes
                                   in all      at the peak
    parameters                        512              512
    optimizer state                   512              512
    ```
  }];
  let options = [
    Option<"output", "output", "std::string", /*default=*/"\"-\"",
           "The file to write (-: the standard output)">,
    Option<"json", "json", "bool", /*default=*/"false",
           "Print JSON, not a table">,
  ];
}

#endif // AMP_DIALECT_TRAIN_TRANSFORMS_PASSES_TD
