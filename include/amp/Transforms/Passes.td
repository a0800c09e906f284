//===- Passes.td - The precision passes --------------------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These passes use only interfaces and the attributes of the amp dialect. They
// work on steps in any dialect.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TRANSFORMS_PASSES_TD
#define AMP_TRANSFORMS_PASSES_TD

include "amp/Support/CheckedPass.td"
include "amp/Transforms/LossScalingPasses.td"

def AutoMixedPrecisionPass : CheckedPass<"auto-mixed-precision"> {
  let summary = "Store values in low precision where the policy allows it";
  let description = [{
    Assigns f32 or the low type to each precision slot of each operation, and
    inserts one cast per value and type where the two meet. With
    `strategy=autocast` and a policy that says `roundings: keep`, each use of a
    value other than a parameter has its own cast. Slots come from
    `PrecisionOpInterface`. Classes come from the policy's four lists (allow,
    deny, infer, clear).

    `strategy=optimal`, the default, takes the assignment that moves the fewest
    bytes: those that operations read and write, and 6 an element for each
    distinct cast. It is exact: a minimum cut. Among equal cuts it takes the
    one with the most low slots. Operations that are far from products and gain
    nothing stay f32. It must obey these rules at any cost:

    - Allowed products read low operands. Denied and pinned operations have the
      types that they ask for. With `target` (a100, h100, h200 or b200) the time
      of a product counts as the bytes that memory moves in this time. A product
      of known size that gains less than its casts cost stays f32, with a
      remark.
    - Values that may leave the range of the low type (range slots:
      exponentials, sums) and values computed from them stay f32 until a product
      reads them, until they are bounded again, or until
      `(x - mean) * rsqrt(var + eps)`. Data movement that leads only to products
      may be low.
    - Values computed from gradients of parameters (their update), and from
      hyperparameters and state alone (a learning rate), stay f32. If an update
      and the computation of gradients call one private function, the update
      gets a copy of it.

    `strategy=grappler` propagates the lists as TensorFlow's
    `auto_mixed_precision` does. These rules hold for both strategies:

    - A product (matmul, convolution) takes low operands. Its result stays f32,
      at no cost, if all readers need f32.
    - Gradients of parameters (`amp.gradient_of`) stay f32 unless the policy's
      `gradient-type` is `low`.
    - Values that control flow carries have one type throughout. The same holds
      for values that calls carry. A private function that is only called
      directly is assigned together with its callers, and its signature may
      become low (`amp.input_signature` records the previous one). Arguments and
      results of all other functions keep their types, and a remark at each call
      says why.
    - Casts in the input are kept. `amp.precision = "f32" | "low" | "keep"` on
      an operation pins its type. On a region operation or a function, the
      attribute applies to all operations within that have no such attribute.
    - A slot stays f32, with a warning and in spite of a pin, if it reads or holds
      a number that becomes infinite or zero in the low type, or if it reads a
      gradient seed in f16. A negative constant that only masks becomes the lowest
      finite number. A range slot may be low if intervals prove that its values
      fit.
    - An operation that no list names keeps its types and is reported.

    Before and after, for `precision=fp16`:

    ```mlir
    %0 = train.matmul %a, %b : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    ```

    ```mlir
    %0 = amp.cast %a inserted : tensor<8x4xf32> to tensor<8x4xf16>
    %1 = amp.cast %b inserted : tensor<4x8xf32> to tensor<4x8xf16>
    %2 = train.matmul %0, %1 : (tensor<8x4xf16>, tensor<4x8xf16>) -> tensor<8x8xf32>
    ```

    With `ranges`, the pass reads the file of ranges that `amp-run --calibrate`
    writes, and finds the values of the module by their names: the operation with
    its location. A slot stays f32 if the largest magnitude of a value times
    `ranges-margin` leaves the range of the low type. It also stays f32 if the
    rounding error of a value is more than `ranges-tolerance`, as happens below
    the normal range. A range slot whose values all fit may be low, and the
    values computed from it may be low if they fit too. Gradients are judged at
    the loss scale `ranges-scale`. Pins and the rules above for numbers and seeds
    have priority. Such a decision holds for the data of the calibration and
    proves nothing. Remarks and reports mark it as measured.

    If nothing becomes low in a module with f32 tensors, the pass warns once. It
    marks each function with low values with `amp.mixed_precision`, and with
    `amp.keep_roundings` if the policy says `roundings: keep`. It records two
    things that the result does not show: the value of a constant that rounding
    changed (`amp.input_value`) and low types of the input (`amp.input_types`).
    `amp-strip-precision` restores the input, but for copies of functions. A
    second run also restores the input and then assigns types again. With the
    same options it changes nothing. With others its result is the same as for
    the input. If later passes depend on the low types, the input cannot be
    restored. The pass then leaves the function unchanged, with a remark.
  }];
  let options = [
    Option<"precision", "precision", "std::string", /*default=*/"\"\"",
           "Low type: fp16 (also f16, half) or bf16 (also bfloat16); f32 does nothing; "
           "by default the policy's, or fp16 if it has none">,
    Option<"policy", "policy", "std::string", /*default=*/"\"default\"",
           "Name of a preset, or a YAML file">,
    Option<"strategy", "strategy", "std::string", /*default=*/"\"\"",
           "How types are assigned: optimal (the default), grappler or autocast">,
    Option<"target", "target", "std::string", /*default=*/"\"\"",
           "The GPU on which products must pay for their casts: a100, h100, h200 or b200; by default every allowed product is low">,
    Option<"masterWeights", "master-weights", "std::string", /*default=*/"\"\"",
           "How a parameter gets its low version, for the cost model: cast (in every step), copy (by the update), split (the upper half of the parameter) or none">,
    Option<"sinkRule", "sink-rule", "bool", /*default=*/"false",
           "With strategy=grappler, operations between an allowed operation and the end of the graph become low too">,
    Option<"ranges", "ranges", "std::string", /*default=*/"\"\"",
           "A file of ranges from amp-run --calibrate: measured values that leave the range of the low type stay f32, and those that fit may be low">,
    Option<"rangesMargin", "ranges-margin", "double", /*default=*/"2.0",
           "With ranges: the largest magnitude counts this many times, at least 1">,
    Option<"rangesTolerance", "ranges-tolerance", "double", /*default=*/"0.01",
           "With ranges: the largest error of a value in the low type, relative to its Euclidean norm">,
    Option<"rangesScale", "ranges-scale", "double", /*default=*/"0.0",
           "With ranges: the loss scale of gradients in fp16; 0 takes the one with which most of their elements fit">,
    ListOption<"reports", "report", "std::string",
               "Files for a report of every decision, as JSON (*.json) or as a page (*.html)">,
  ];
  let statistics = [
    Statistic<"numLowSlots", "low-slots", "Slots that became low">,
    Statistic<"numCasts", "casts-inserted", "Casts inserted">,
    Statistic<"numWideProducts", "wide-products", "Products of low operands with an f32 result">,
    Statistic<"numUnlisted", "unlisted-ops", "Operations that no list names">,
  ];
  let dependentDialects = ["::mlir::amp::AMPDialect"];
}

def StripPrecisionPass : CheckedPass<"amp-strip-precision"> {
  let summary = "Undo auto-mixed-precision";
  let description = [{
    Restores the input of `auto-mixed-precision`, bit for bit. In each function
    that carries `amp.mixed_precision`, the pass makes low values f32 again,
    restores the values of constants, and removes the inserted casts. Casts and
    low types of the input stay.

    The pass does not undo other passes that have run in between. It reports an
    error if one of them depends on a low type, such as a low copy of a
    parameter. It leaves a function without `amp.mixed_precision` unchanged,
    with a remark.

    ```mlir
    func.func @f(%a: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {amp.mixed_precision = f16} {
      %0 = train.constant {amp.input_value = dense<0.1> : tensor<8x8xf32>} dense<9.997560e-02> : tensor<8x8xf16>
      %1 = amp.cast %a inserted : tensor<8x8xf32> to tensor<8x8xf16>
      %2 = train.matmul %1, %0 : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf32>
      return %2 : tensor<8x8xf32>
    }
    ```

    ```mlir
    func.func @f(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %0 = train.constant dense<0.1> : tensor<8x8xf32>
      %1 = train.matmul %a, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      return %1 : tensor<8x8xf32>
    }
    ```
  }];
  let statistics = [
    Statistic<"numFunctions", "functions-restored", "Functions restored">,
    Statistic<"numValues", "values-widened", "Values that are f32 again">,
    Statistic<"numCasts", "casts-removed", "Casts removed">,
  ];
  let dependentDialects = ["::mlir::amp::AMPDialect"];
}

def OptimizeCastsPass : CheckedPass<"amp-optimize-casts"> {
  let summary = "Merge, fold and remove casts that passes inserted";
  let description = [{
    - Equal casts of one value become one, at a point that dominates all users.
    - A widening followed by the narrowing back disappears. This is exact.
    - A cast that is the only use of a product's result folds into the product,
      which supports either type: `cast(matmul : f32) to f16` becomes
      `matmul : f16`.
    - A chain of two widenings becomes one.
    - Casts without users disappear.

    A narrowing followed by a widening rounds and therefore stays. If a product
    has a low result that one widening reads, the pass makes it f32, which omits
    a rounding. It does not do this in a function with `amp.keep_roundings`,
    which a policy with `roundings: keep` asks for. The pass merges equal casts
    that the user wrote (those without `inserted`). It does not change them in
    any other way.

    ```mlir
    %0 = train.matmul %a, %b : (tensor<8x4xf16>, tensor<4x8xf16>) -> tensor<8x8xf32>
    %1 = amp.cast %0 inserted : tensor<8x8xf32> to tensor<8x8xf16>
    ```

    ```mlir
    %0 = train.matmul %a, %b : (tensor<8x4xf16>, tensor<4x8xf16>) -> tensor<8x8xf16>
    ```
  }];
  let statistics = [
    Statistic<"numMerged", "casts-merged", "Casts replaced by an equal one">,
    Statistic<"numFolded", "casts-folded", "Casts folded into a product or away">,
    Statistic<"numErased", "casts-erased", "Casts without users">,
  ];
  let dependentDialects = ["::mlir::amp::AMPDialect"];
}

def CompressActivationsPass : CheckedPass<"amp-compress-activations"> {
  let summary = "Store saved activations in the low type";
  let description = [{
    `auto-mixed-precision` decides in what type an operation computes. Results
    of f32 operations that the backward pass reads (the exponentials of a
    softmax, the normalized values of a norm) stay in memory in f32 until then.
    In a function that `auto-mixed-precision` has rewritten, this pass rounds
    such values where they are computed. It widens them again before the first
    operation of the backward pass that reads them. Forward readers use the
    unrounded value, and every operation computes in the same type as before. A
    cast to the low type that only the backward pass uses moves to the
    definition of its operand.

    ```mlir
    %e = train.exp %x : tensor<64x64xf32>
    %s = amp.gradient_seed "loss" : tensor<f32>
    ...
    %d = train.mul %g, %e : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    ```

    ```mlir
    %e = train.exp %x : tensor<64x64xf32>
    %l = amp.cast %e inserted : tensor<64x64xf32> to tensor<64x64xbf16>
    %s = amp.gradient_seed "loss" : tensor<f32>
    ...
    %w = amp.cast %l inserted : tensor<64x64xbf16> to tensor<64x64xf32>
    %d = train.mul %g, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    ```

    Gradients change by the rounding of one operand, as for any low saved
    activation. These values stay f32, with a remark that says why: statistics
    (which the backward pass spreads over a larger tensor) and the values spread
    from them, values that the step returns, values with a pin, and, for f16,
    values that are not proved to fit. An operation belongs to the backward pass
    if it depends on a gradient seed or carries `amp.backward_of`.
    `amp-strip-precision` removes the casts.
  }];
  let statistics = [
    Statistic<"numNarrowed", "values-narrowed", "Saved values that are stored in the low type">,
    Statistic<"numMoved", "casts-moved", "Casts to the low type that moved from the backward to the forward pass">,
    Statistic<"numBytes", "bytes-saved", "Bytes by which they are smaller">,
  ];
  let dependentDialects = ["::mlir::amp::AMPDialect"];
}

def QuantizeProductsPass : CheckedPass<"amp-quantize-products"> {
  let summary = "Multiply matrices of 8-bit floats in layers";
  let description = [{
    In a function that `auto-mixed-precision` has rewritten, replaces products of
    16-bit operands by `amp.scaled_matmul`. A layer is a product with a parameter
    in the forward pass (`MatrixProductOpInterface`). These products become 8-bit:

    - each layer, but not the first `keep-first` and the last `keep-last`, in
      program order; the last layer of a network gives its logits,
    - the two products of such a layer in the backward pass, unless
      `backward` or `high-weight-gradients` keeps them.

    Products of batches (attention, experts), of two activations or of two
    gradients, products of a layer that `keep` names, and products that
    `amp.precision` pins keep their operands, with a remark that gives the reason.

    With `backward=dequantized` the products of the backward pass have 16-bit
    operands. They read the 8-bit copies of the forward pass, which
    `amp.dequantize` widens, and the gradient itself. No 16-bit tensor needs to be
    saved for them.

    ```mlir
    %y = train.matmul %x, %w : (tensor<8x4xbf16>, tensor<4x6xbf16>) -> tensor<8x6xbf16>
    ```

    ```mlir
    %a = amp.amax %x : tensor<8x4xbf16> -> tensor<f32>
    %s = amp.scale_from_amax %a for f8E4M3FN : tensor<f32>
    %q = amp.quantize %x by %s saturate : (tensor<8x4xbf16>, tensor<f32>) -> tensor<8x4xf8E4M3FN>
    ...
    %y = amp.scaled_matmul %q by %s, %r by %t : (tensor<8x4xf8E4M3FN>, tensor<f32>), (tensor<4x6xf8E4M3FN>, tensor<f32>) -> tensor<8x6xbf16>
    ```

    All products that read a tensor in one format and with the same blocks share
    its copy, which is made where the tensor is computed. A copy of a value that
    an inserted cast narrowed is made from the f32 value, so it is rounded once.

    | recipe | scales | formats |
    |---|---|---|
    | `current` | one for each tensor | f8E4M3FN, and f8E5M2 for gradients |
    | `delayed` | one for each tensor, of the last steps | f8E4M3FN, and f8E5M2 for gradients |
    | `rowwise` | one for each row along the contracted dimension, a power of two | f8E4M3FN |
    | `block-128` | one for 128 elements along it, 128 × 128 for weights, a power of two | f8E4M3FN |
    | `mxfp8` | one for 32 elements along it, a power of two | f8E4M3FN |

    Scales follow from the largest magnitudes of the same step. With `delayed` they
    follow from those of the last `history-length` steps, and the step gets two
    arguments of role `quantizer_state` for each copy: `fp8.NAME.KIND.scale`, 1 at
    first, and `fp8.NAME.KIND.history`. NAME is the weight of the layer, and KIND
    is `input`, `weight` or `gradient`. `amp.update_quantizer` enters the magnitude
    of this step, divided by the loss scale, and gives the next scale. An infinite
    element is not saturated, so that a dynamic loss scale sees it. Products in
    regions keep 16 bits.

    Rows and blocks run along the dimension that a product contracts, so such a
    tensor needs two copies if products contract both of its dimensions.

    With `target`, and extents that are known, the products become 8-bit that save
    the most time together. A product saves the difference of its times with both
    widths. A copy costs the time to read the tensor and to write each order in
    which products read it, once for all of its products. A minimum cut finds the
    set. Remarks give the times, which follow from the peak rates, and the bytes.

    With `report`, the pass writes a JSON file. It lists each product with its
    operations, its layer and the reason to keep it, each copy with its bytes, and
    the sums. For comparison it sums the copies that modules would make: each
    layer for itself, and none in the kernel that computes the tensor.

    The pass marks the function with `amp.fp8_recipe` and leaves a function with
    this mark unchanged. It warns if no product becomes 8-bit.
  }];
  let options = [
    Option<"recipe", "recipe", "std::string", /*default=*/"\"current\"",
           "How scales are found: current, delayed, rowwise, block-128 or mxfp8">,
    Option<"formats", "formats", "std::string", /*default=*/"\"\"",
           "hybrid: gradients are f8E5M2; e4m3: all operands are f8E4M3FN; by "
           "default the formats of the recipe">,
    Option<"historyLength", "history-length", "int64_t", /*default=*/"1024",
           "With recipe=delayed: the number of steps whose magnitudes a scale "
           "follows">,
    Option<"algorithm", "algorithm", "std::string", /*default=*/"\"max\"",
           "With recipe=delayed: a scale follows the largest magnitude of the "
           "history (max) or the last one (most_recent)">,
    Option<"margin", "margin", "int32_t", /*default=*/"0",
           "The largest magnitude becomes 2^-margin of the largest number of "
           "the format">,
    Option<"accumulatorBits", "accumulator-bits", "int32_t", /*default=*/"32",
           "The width in which the CPU accumulates products, with a sign and 8 "
           "bits of exponent; an H100 has 22 bits">,
    Option<"promotion", "promotion", "int64_t", /*default=*/"0",
           "The number of products whose sum is added in f32; 0 for all of "
           "them">,
    Option<"target", "target", "std::string", /*default=*/"\"\"",
           "A GPU that must multiply operands with scales of this recipe: a100, "
           "h100, h200 or b200; any if empty">,
    ListOption<"linear", "linear", "std::string",
               "With recipe=delayed: the rules of amp-check-loss-scaling for "
               "operations without LossScaleOpInterface">,
    Option<"keepFirst", "keep-first", "unsigned", /*default=*/"0",
           "The number of first layers that keep 16-bit operands">,
    Option<"keepLast", "keep-last", "unsigned", /*default=*/"1",
           "The number of last layers that keep 16-bit operands">,
    ListOption<"keep", "keep", "std::string",
               "Layers that keep 16-bit operands: globs of the names of their "
               "weights">,
    Option<"backward", "backward", "std::string", /*default=*/"\"quantized\"",
           "The products of the backward pass: quantized; high, which keeps "
           "their 16-bit operands; or dequantized, which also keeps 16 bits but "
           "reads the 8-bit copies of the forward pass">,
    Option<"highWeightGradients", "high-weight-gradients", "bool", /*default=*/"false",
           "Keep the products that compute gradients of weights in 16 bits">,
    Option<"report", "report", "std::string", /*default=*/"\"\"",
           "Write the products and the copies to this JSON file">,
  ];
  let statistics = [
    Statistic<"numQuantized", "products-quantized", "Products of 8-bit operands">,
    Statistic<"numKept", "products-kept", "Products that keep their operands">,
    Statistic<"numCopies", "copies-made", "Quantised copies of tensors">,
  ];
  let dependentDialects = ["::mlir::amp::AMPDialect",
                           "::mlir::arith::ArithDialect"];
}

def InsertMasterWeightsPass : CheckedPass<"amp-insert-master-weights"> {
  let summary = "Keep f32 master weights and read them in low precision";
  let description = [{
    With `mode=cast` parameters stay f32. Each step casts them once where the
    forward and backward pass read them low. `auto-mixed-precision` produces
    this form, and the pass changes nothing.

    With `mode=copy` each parameter that is read low gets a low-precision copy.
    The copy is a parameter named `<name>.low` that starts as the rounded master.
    The forward and backward pass read the copy where they read low. The update
    writes the master, and `amp.master_copy` writes the copy under the same
    overflow guard.

    ```mlir
    func.func @step(%w: tensor<8x4xf32> {amp.name = "w", amp.role = "parameter"}, ...) {
      %l = amp.cast %w inserted : tensor<8x4xf32> to tensor<8x4xf16>
      ...
      return %w1
    ```

    ```mlir
    func.func @step(%w: tensor<8x4xf32> {amp.name = "w", amp.role = "parameter"}, ...,
                    %l: tensor<8x4xf16> {amp.init = #amp.init<copy_of, source = "w">,
                                         amp.name = "w.low", amp.role = "parameter"}) {
      ...
      %l1 = amp.master_copy %w1 : tensor<8x4xf32> to tensor<8x4xf16>
      return %w1, ..., %l1
    ```

    With `mode=split` (bf16), the forward and backward pass read `amp.upper_half`
    of a parameter where they read low. This rounds towards zero. A GPU program
    stores the two halves separately. It needs 4 bytes per element and no kernel
    that casts the parameter.

    With `mode=none` a parameter that is read low is stored only in that type.
    The update widens it, computes in f32 and rounds the result.

    - `update-rounding=nearest` loses updates below half the spacing of the type.
    - `stochastic` rounds up or down such that the expected value is exact
      (bf16). The random numbers come from a counter in the state
      `update_rounding`, so a resumed run rounds like an uninterrupted run.
    - `kahan` adds the rounding error, in `<name>.compensation`, to the next update.

    With `moments=bf16` optimizer states except scalars are stored in bf16. They
    are rounded to nearest, or as weights are with `update-rounding=stochastic`.

    With `mode=inference` there is no master. A parameter that has no update and
    is only read through casts to one low type is stored in that type.
  }];
  let options = [
    Option<"mode", "mode", "std::string", /*default=*/"\"cast\"",
           "cast, copy, split, none, or inference">,
    Option<"updateRounding", "update-rounding", "std::string", /*default=*/"\"nearest\"",
           "How updates of weights without a master are rounded: nearest, stochastic or kahan">,
    Option<"moments", "moments", "std::string", /*default=*/"\"f32\"",
           "How optimizer states are stored: f32 or bf16">,
  ];
  let statistics = [
    Statistic<"numLowMoments", "low-moments", "Optimizer states stored in bf16">,
    Statistic<"numLowParameters", "low-parameters", "Parameters without a master">,
    Statistic<"numCopies", "copies", "Parameters that got a low-precision copy">,
    Statistic<"numSplit", "split", "Parameters whose upper half is read">,
  ];
  let dependentDialects = ["::mlir::amp::AMPDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def CheckSymbolTables : CheckedPass<"amp-check-symbol-tables"> {
  let summary = "Reject operations that may hide symbols";
  let description = [{
    An operation of an unknown dialect with one region may define symbols of its
    own. The uses of a symbol are then not known, and passes that need them,
    such as `inline`, end without a diagnostic. This pass rejects such an
    operation. The pipelines run it before they inline functions.

    The module does not change. This example is rejected:

    ```mlir
    "toy.module"() ({
      func.func @f() { return }
    }) : () -> ()
    ```

    ```
    error: 'toy.module' op of an unknown dialect has one region and may define
    symbols, expected its dialect to be loaded
    ```
  }];
}

def ExportTypesPass : CheckedPass<"amp-export-types"> {
  let summary = "Write the types and casts of a module as JSON";
  let description = [{
    For a host that keeps its own graph, prints it for the precision passes, and
    takes back only types and casts. The host gives each operation an attribute
    with its name, which passes do not touch. The pass writes the operations of
    each function in order. An operation without the attribute is one that
    passes inserted. The module does not change.

    ```mlir
    func.func @f(%a: tensor<4xf32>) -> tensor<4xbf16> {
      %0 = "host.convert"(%a) : (tensor<4xf32>) -> tensor<4xbf16>
      %1 = "host.exp"(%0) {node = "exp_1"} : (tensor<4xbf16>) -> tensor<4xbf16>
      return %1 : tensor<4xbf16>
    }
    ```

    With `key=node` this is, without the line breaks:

    ```json
    {"version": 1, "key": "node", "functions": [{"name": "f",
      "arguments": ["f32"],
      "operations": [
        {"op": "host.convert", "operands": [[-1, 0]], "types": ["bf16"]},
        {"op": "host.exp", "key": "exp_1", "operands": [[0, 0]], "types": ["bf16"]},
        {"op": "func.return", "operands": [[1, 0]], "types": []}
      ] } ] }
    ```

    An operand is the number of an operation in the list and of its result, or
    -1 and the number of an argument of the function. It is null for an argument
    of another block. Types are element types, and whole types of values without
    elements. Operations in regions follow the operation that holds them.
  }];
  let options = [
    Option<"key", "key", "std::string", /*default=*/"\"\"",
           "The string attribute that identifies an operation to the host">,
    Option<"output", "output", "std::string", /*default=*/"\"\"",
           "The file to write, or - for the standard output">,
  ];
  let statistics = [
    Statistic<"numKeys", "operations-with-key", "Operations that have the attribute">,
  ];
}

def PrintPolicyPass : CheckedPass<"amp-print-policy"> {
  let summary = "Print a policy and its bases as YAML";
  let description = [{
    Prints the policy to the standard output. The output merges the entries of
    the file and of the policies that it extends, and has all settings. It can
    be edited and used as a policy. Reading it gives the same policy. The module
    does not change.

    `amp-opt --amp-print-policy=<preset or file>` does the same without an
    input.
  }];
  let options = [
    Option<"policy", "policy", "std::string", /*default=*/"\"default\"",
           "Name of a preset, or a YAML file">,
  ];
}

def PolicySkeletonPass : CheckedPass<"amp-policy-skeleton"> {
  let summary = "Print the start of a policy for the operations of a module";
  let description = [{
    Prints a policy that extends `policy` to the standard output. It begins with
    the operations with f32 tensors that no list of `policy` names. Each is in
    the list that its slots, name or traits suggest, with the number of its
    occurrences and the reason for the guess. Operations without such a hint are
    in `keep`. Operations that a list of `policy` names follow in comments. The
    module does not change.

    ```yaml
    version: 1
    extends: default

    # In no list of 'default'. The lists below are guesses: check each entry.
    allow:
      - stablehlo.dot_general  # 12, named like a product
    infer:
      - stablehlo.add          # 24, named like elementwise arithmetic
    ```
  }];
  let options = [
    Option<"policy", "policy", "std::string", /*default=*/"\"default\"",
           "Name of a preset, or a YAML file">,
  ];
}

def ImportStepPass : CheckedPass<"amp-import-step"> {
  let summary = "Find gradients and the gradient seed by position";
  let description = [{
    A framework can mark only the arguments and results of a step that it
    exports. The exported step must return its gradients, and take the seed of
    the backward pass, 1, as an argument. The pass removes each result with
    `amp.gradient_of = "<parameter>"` and marks the operation that computes the
    gradient. It replaces each argument with `amp.gradient_seed = "<loss>"` by
    an `amp.gradient_seed`.

    ```mlir
    func.func @step(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"},
                    %seed: tensor<f32> {amp.gradient_seed = "loss"})
        -> (tensor<4xf32> {amp.updates = "w"}, tensor<4xf32> {amp.gradient_of = "w"})
    ```
  }];
  let statistics = [
    Statistic<"numGradients", "gradients", "Gradients marked">,
  ];
  let dependentDialects = ["::mlir::amp::AMPDialect"];
}

def WatchPass : CheckedPass<"amp-watch"> {
  let summary = "Return statistics of the values of a step";
  let description = [{
    Adds one result to a step for each floating-point tensor that an argument or
    an operation of its body defines: an `amp.statistics` of the value, or with
    `values` the value itself. The results carry `amp.prediction = "watch <n>"`
    (for values `"watch <n> in <part>"`), with n counted from 0 in program order.
    No other value changes. A step that
    has such a result does not change.

    ```mlir
    %0 = train.mul %x, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %1 = amp.cast %0 : tensor<8xf32> to tensor<8xf16>
    return %1 : tensor<8xf16>
    ```

    ```mlir
    %0 = train.mul %x, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %s = amp.statistics %0 to f16 in "forward" : tensor<8xf32>
    %1 = amp.cast %0 : tensor<8xf32> to tensor<8xf16>
    return %1, %s : tensor<8xf16>, tensor<263xi64>
    ```

    A narrowing cast has no separate statistics. Those of its operand count
    the elements that the cast takes out of range. Widening casts, constants and
    values within regions are not watched. The parts of a step are `forward`, `backward` (what
    depends on a gradient seed) and `update` (what depends on the gradient of a
    parameter).

    `match` selects values by a regular expression that matches a part of the
    name: `argument "<name>"`, or the operation with its place, as in
    `train.matmul net.layer1 model.mlir:12:10`.
  }];
  let options = [
    Option<"match", "match", "std::string", /*default=*/"\"\"",
           "Watch only values whose names match this regular expression">,
    Option<"values", "values", "bool", /*default=*/"false",
           "Return the values instead of statistics">,
  ];
  let statistics = [
    Statistic<"numWatched", "values-watched", "Values that are watched">,
  ];
  let dependentDialects = ["::mlir::amp::AMPDialect"];
}

#endif // AMP_TRANSFORMS_PASSES_TD
