//===- Passes.td - Passes over training graphs -------------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_TRAIN_TRANSFORMS_PASSES_TD
#define AMP_DIALECT_TRAIN_TRANSFORMS_PASSES_TD

include "amp/Support/CheckedPass.td"

def TrainAutodiff : CheckedPass<"train-autodiff"> {
  let summary = "expand train.gradients into backward operations";
  let description = [{
    Replaces each `train.gradients` by the operations that compute it. The pass
    differentiates in reverse mode through `DifferentiableOpInterface` and
    starts from one `amp.gradient_seed` per `train.gradients`. It adds the
    contributions of all uses of a value.

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

    - `amp.backward_of` on a backward operation is the `amp.id` of its forward
      operation. Both have the same location.
    - `amp.gradient_of` names, per result, the argument (by its `amp.name`)
      whose gradient the result is. Each tagged result has one name. If one
      value is the gradient of two arguments, or of an argument and of another
      tagged value, a `train.broadcast` without dimensions carries the name. It
      is an identity that canonicalization keeps. A gradient that another
      `train.gradients` differentiates is an intermediate value and has no tag.
    - The gradient of a value that the loss does not depend on is a
      `train.broadcast` of a zero. A constant would lose its tag when
      canonicalization merges it with others.
    - Gradients that nothing uses are not computed.
    - The results of an operation with the unit attribute `train.stop_gradient`
      count as constants. A `train.broadcast` without dimensions that has this
      attribute is the identity without a derivative.
    - `train.gradients` of a value that depends on another `train.gradients`
      gives second derivatives. The pass expands the inner one first.

    A loop (`scf.for`) with constant bounds is differentiated too, and so are
    the slices (`tensor.extract_slice`, `tensor.insert_slice`) that its
    iterations read and write. A second loop runs through the iterations
    backward. It carries the gradients of the carried values, and sums the
    gradients of values from outside. The forward loop stores the values that an
    iteration of the backward loop reads on stacks (`loop-values=stack`). With
    `loop-values=recompute` these stacks hold the carried values alone, and the
    backward loop computes the rest again. This saves memory and costs time.
    Loops may be nested.

    A branch (`scf.if`) has a derivative too: a second `scf.if` computes the
    branch again and yields the gradients of the values that it reads from
    outside. A loop that the data ends (`scf.while`) has none.

    Before:

    ```mlir
    %h = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %x) -> (tensor<4xf32>) {
      %b = train.mul %a, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      scf.yield %b : tensor<4xf32>
    }
    ```

    After, with the gradient `%dh`:

    ```mlir
    %h:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %x, %s = %empty) -> (tensor<4xf32>, tensor<8x4xf32>) {
      %b = train.mul %a, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %t = tensor.insert_slice %a into %s[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
      scf.yield %b, %t : tensor<4xf32>, tensor<8x4xf32>
    }
    %dw = scf.for %j = %c0 to %c8 step %c1 iter_args(%db = %dh, %sum = %zeros) -> (tensor<4xf32>, tensor<4xf32>) {
      %p = arith.subi %c7, %j : index
      %a = tensor.extract_slice %h#1[%p, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
      %da = train.mul %db, %w : ...
      %part = train.mul %db, %a : ...
      %next = train.add %sum, %part : ...
      scf.yield %da, %next : tensor<4xf32>, tensor<4xf32>
    }
    ```

    A `train.gradients` inside a loop may differentiate by values from outside,
    as gradient accumulation does. The loss must not depend on a value that the
    loop carries, unless through a result with `train.stop_gradient`.

    It is an error if an operation without a derivative is between the loss
    and a value to differentiate by. Other operations with regions are errors
    too, and so are loops whose trip count is not a constant.
  }];
  let dependentDialects = ["::mlir::amp::AMPDialect", "TrainDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"loopValues", "loop-values", "std::string", "\"stack\"",
           "How the backward loop gets values: stack or recompute">,
  ];
  let statistics = [
    Statistic<"numExpanded", "expanded", "Number of train.gradients expanded">,
    Statistic<"numBackwardOps", "backward-ops",
              "Number of backward operations emitted">,
    Statistic<"numZeroGradients", "zero-gradients",
              "Number of gradients of values that the loss does not depend on">,
    Statistic<"numLoops", "loops", "Number of loops differentiated">,
  ];
}

def TrainSetBatch : CheckedPass<"train-set-batch", "::mlir::ModuleOp"> {
  let summary = "make the batch dimension static";
  let description = [{
    Replaces every `?` in the signatures of functions by `batch-size`. In their
    bodies it computes the shapes of all results again, operation by operation,
    through `ShapeInferenceOpInterface`. It adapts calls, regions and returns.
    The sizes of `tensor.extract_slice` become static too if they are extents,
    constants, or their products and quotients. A quotient with a remainder is
    an error.

    Before, and after with `batch-size=32`:

    ```mlir
    func.func @f(%x: tensor<?x64xf32>) -> tensor<?x8x8x1xf32> {
      %0 = train.reshape %x : (tensor<?x64xf32>) -> tensor<?x8x8x1xf32>

    func.func @f(%x: tensor<32x64xf32>) -> tensor<32x8x8x1xf32> {
      %0 = train.reshape %x : (tensor<32x64xf32>) -> tensor<32x8x8x1xf32>
    ```

    A module without `?` does not change. An operation of another dialect keeps
    its element types and gets static result types if its operands or its own
    type inference determine them. Otherwise the pass reports an error at the
    operation.
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

def TrainToInference : CheckedPass<"train-to-inference", "::mlir::ModuleOp"> {
  let summary = "derive the forward function from a training step";
  let description = [{
    Replaces a training step by its forward function, which has the name of the
    step with `suffix`. It computes the results with `amp.prediction` and
    nothing else. The gradients of the step may be symbolic or expanded.

    - `train.dropout` becomes its operand.
    - `train.batch_norm_training` becomes `train.batch_norm_inference` with the
      running statistics.
    - The pass removes the optimizer, the backward pass and the updates, and
      each argument that is then unused: labels, hyperparameters, optimizer
      state. The others keep their roles and names, and the same weights load.
      An `amp.init` that copies a removed argument is dropped.

    With `keep-metrics` the function also keeps the results with `amp.metric`
    and their inputs, such as labels. This is the evaluation form. The pass
    drops a metric that depends on gradients or on the state of loss scaling,
    with a remark.

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

    A function that has `amp.inference_of` does not change.
  }];
  let dependentDialects = ["TrainDialect"];
  let options = [
    Option<"entry", "entry", "std::string", /*default=*/"\"\"",
           "Name of the training step (default: the only one)">,
    Option<"suffix", "suffix", "std::string", /*default=*/"\"_inference\"",
           "The suffix of the name of the forward function">,
    Option<"keepMetrics", "keep-metrics", "bool", /*default=*/"false",
           "Keep metrics, and the labels that they need, for evaluation">,
    Option<"keepStep", "keep-step", "bool", /*default=*/"false",
           "Keep the training step as well as the forward function">,
  ];
  let statistics = [
    Statistic<"numDropped", "dropped-arguments",
              "Number of arguments that the forward function does not need">,
  ];
}

def TrainPadForTensorCores : CheckedPass<"train-pad-for-tensor-cores"> {
  let summary = "pad products to extents that tensor cores take whole";
  let description = [{
    Low products (`train.matmul`, `linear`, `conv2d` and its gradients) run at
    the rate of tensor cores only if the innermost extents of their operands and
    of their result are multiples of 16 bytes. If one is not, the pass pads the
    operands with zeros and slices the result, provided that an estimate for
    `target` favours it. The estimate adds the bytes that move, those of pads
    and slices included, to the time of the product, expressed in bytes. It uses
    the f32 rate for the product as it is and the low rate for the padded one.
    All products of a block that read an operand share its padded form.

    An extent becomes a multiple of 128 bytes (64 elements of 16 bits) if that
    adds no more than 1/32 to it, and otherwise of 16 bytes (8 elements). With
    the vocabulary of GPT-2, 50257:

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

    The readers of the result see the same values as before: zeros add nothing
    to a sum of products, and the slice removes padded rows and columns. A GPU
    may take the sums in another order. A gradient of a parameter keeps its
    shape and its `amp.gradient_of`.

    The pass emits a remark with the reason for each low product that keeps a
    misaligned extent (`Misaligned`). It never adds samples, and emits a remark
    for each misaligned batch (`MisalignedBatch`). Run it after
    `auto-mixed-precision`. A second run changes nothing.
  }];
  let dependentDialects = ["TrainDialect"];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"h100\"",
           "The GPU of the estimate: a100, h100, h200 or b200">,
    Option<"alignment", "alignment", "int64_t", /*default=*/"0",
           "Innermost extents must be multiples of this number of elements (0: "
           "16 bytes)">,
    Option<"multiple", "multiple", "int64_t", /*default=*/"0",
           "Pad extents to a multiple of this number of elements (0: 128 bytes "
           "if that adds little, otherwise the alignment)">,
    Option<"always", "always", "bool", /*default=*/"false",
           "Pad even if the estimate does not favour it">,
  ];
  let statistics = [
    Statistic<"numPadded", "padded", "Number of products padded">,
    Statistic<"numPads", "pads", "Number of operands padded">,
    Statistic<"numSlices", "slices", "Number of results sliced">,
    Statistic<"numLeft", "left",
              "Number of misaligned products and batches left as they are">,
  ];
}

def TrainPropagateLayout : CheckedPass<"train-propagate-layout"> {
  let summary = "move transposes to where they cost the fewest bytes";
  let description = [{
    A model with images in [N, C, H, W] transposes them around each operation
    that needs channels last. The pass divides the values that transposes
    connect into two orders, the one before and the one after a transpose.
    Operations that can compute in both orders get the order that moves the
    fewest bytes (a minimum cut): elementwise operations, reductions,
    broadcasts, softmax, concat, pad, slice, gather by a list of indices, splat
    constants, and reshapes that keep the moved dimensions together. All others
    keep their order. Transposes remain where the order changes. A value is
    transposed once for all of its readers.

    Before:

    ```mlir
    %0 = train.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<?x3x8x8xf32>) -> tensor<?x8x8x3xf32>
    %1 = train.conv2d %0, %f {...} : (tensor<?x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<?x8x8x4xf32>
    %2 = train.transpose %1 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<?x8x8x4xf32>) -> tensor<?x4x8x8xf32>
    %3 = train.relu %2 : tensor<?x4x8x8xf32>
    %4 = train.reduce_mean %3 {dims = array<i64: 2, 3>} : (tensor<?x4x8x8xf32>) -> tensor<?x4xf32>
    ```

    After:

    ```mlir
    %0 = train.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<?x3x8x8xf32>) -> tensor<?x8x8x3xf32>
    %1 = train.conv2d %0, %f {...} : (tensor<?x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<?x8x8x4xf32>
    %2 = train.relu %1 : tensor<?x8x8x4xf32>
    %3 = train.reduce_mean %2 {dims = array<i64: 1, 2>} : (tensor<?x8x8x4xf32>) -> tensor<?x4xf32>
    ```

    A transpose that moves only dimensions of extent 1 becomes a
    `train.reshape`. An unknown extent counts as 32. Arguments and results of
    functions keep their order, and so do results with `amp.gradient_of` and
    values that `train.gradients` differentiates by. `train.dropout` keeps its
    order too, because its random numbers depend on it. Elements are the same,
    except for sums, which a reduction may add in another order.

    Run the pass before `train-autodiff`, which then gives a backward pass in
    the same orders. The pass emits a remark with the transposes and their bytes
    before and after (`Layout`), and one with the reason for each transpose of
    activations or weights that remains (`Transposed`). A second run changes
    nothing.
  }];
  let dependentDialects = ["TrainDialect"];
  let statistics = [
    Statistic<"numErased", "erased", "Number of transposes erased">,
    Statistic<"numInserted", "inserted", "Number of transposes inserted">,
    Statistic<"numMoved", "moved", "Number of operations in another order">,
  ];
}

def TrainRematerialize : CheckedPass<"train-rematerialize"> {
  let summary = "compute cheap values again instead of keeping them";
  let description = [{
    A value of the forward pass that the backward pass reads occupies memory
    between the two. This pass computes such values again, right before the
    backward pass first needs them. Results are equal bit for bit, because the
    same operations run on the same operands. `train.dropout` draws the same
    numbers, because it draws from a state and a key.

    The pass computes a single value again if at most `chain` cheap operations
    suffice (elementwise operations, casts, data movement, norms, dropout). They
    start from arguments, constants, values that are kept in any case, and
    values that are smaller than the saving. Values under `min-bytes` are kept.

    With `blocks` the pass computes whole blocks again from their inputs,
    products included. The option takes patterns of location names, in which `*`
    matches anything but a dot. Operations whose names begin with the same match
    form a block. `blocks=h.*` makes one block of each layer of GPT-2, with
    everything in `h.0`, `h.0.attn` and `h.0.mlp.fc`.

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

    The broadcast without dimensions is an identity. It keeps common
    subexpression elimination from merging the two computations, and the
    lowering of the step removes it.

    Run this pass last. It recognizes the backward pass by its dependence on
    `amp.gradient_seed`. It reports an error at a `train.gradients` that is not
    expanded. It emits a remark with the reason for each value that it keeps
    (`Kept`). A second run changes nothing.
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

def TrainReportMemory : CheckedPass<"train-report-memory", "::mlir::ModuleOp"> {
  let summary = "print what occupies the memory of a training step";
  let description = [{
    Prints, for each training step of static shapes, the bytes of its tensors by
    category: in total, and at the point where most bytes live. The categories
    are parameters, optimizer state, other state, batch, low copies of weights
    that the step makes, saved activations (values that the forward pass
    computes from the batch and that live beyond it), gradients, and
    temporaries. The upper halves of parameters (`master-weights=split`) count as
    low copies, which they are on the CPU. A CUDA program reads them in place.
    For temporaries, the total is the most that live at one time.
    Updates are in place. JSON has one object for each step. It also lists the
    results of the forward pass that depend on the batch, by operation. Of a step
    whose ranks divide the state (`amp-shard-optimizer`), all numbers are for
    one rank, and a last line has the bytes that the ranks divide. The module does
    not change. The pass reports an error at a `train.gradients`,
    because the backward pass is not expanded.

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
           "Print JSON instead of a table">,
  ];
}

def TrainDecompose : CheckedPass<"train-decompose"> {
  let summary = "replace composite operations by primitives";
  let description = [{
    Applies `DecomposableOpInterface` until no operation has it. The primitives
    compute in f32 (f64 for f64 operands), with one rounding per result.
  }];
  let dependentDialects = ["::mlir::amp::AMPDialect",
                           "::mlir::train::TrainDialect"];
}

#endif // AMP_DIALECT_TRAIN_TRANSFORMS_PASSES_TD
