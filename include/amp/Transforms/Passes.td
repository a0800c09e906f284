//===- Passes.td - The precision passes --------------------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes that see the world through interfaces and the attributes of the amp
// dialect, and so work on steps in any dialect.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TRANSFORMS_PASSES_TD
#define AMP_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def AutoMixedPrecisionPass : Pass<"auto-mixed-precision"> {
  let summary = "Store values in low precision where the policy allows it";
  let description = [{
    Gives each precision slot of each operation a type, f32 or the low type,
    and inserts one cast per value and type where the two meet. Slots come from
    `PrecisionOpInterface`, classes from the policy's four lists (allow, deny,
    infer, clear).

    `strategy=optimal`, the default, takes the assignment that moves the fewest
    bytes: those that operations read and write, and 6 an element for each
    distinct cast. It is exact, a minimum cut; of equal ones it takes that with
    the most low slots. It must obey these rules, whatever they cost:

    - Allowed products read low operands, denied and pinned operations have what
      they ask for. With `target=a100|h100|h200` the time of products counts as
      the bytes that memory would move meanwhile, and a product (of known size)
      that gains less than its casts cost stays f32, with a remark.
    - What may leave the range of the low type (range slots: exponentials, sums)
      and what is computed from it stays f32 until a product reads it, until the
      values are bounded again, or until `(x - mean) * rsqrt(var + eps)`. Data
      movement that leads to products alone is not held back.
    - What is computed from gradients of parameters (their update), and from
      hyperparameters and state alone (a learning rate), stays f32.

    `strategy=grappler` propagates the lists as TensorFlow's
    `auto_mixed_precision` does. It holds for both:

    - A product (matmul, convolution) takes low operands; its result stays f32
      where it is only read in f32, which costs nothing.
    - Gradients of parameters (`amp.gradient_of`) stay f32 unless the policy's
      `gradient-type` is `low`.
    - Values carried by control flow have one type throughout. So have those
      that calls carry: a private function that is used by direct calls alone is
      assigned together with its callers, and its signature may become low
      (`amp.input_signature` records the one it had). Arguments and results of
      all other functions keep their type; where such a function is called, a
      remark says why.
    - Casts that stand in the input are kept. An operation with
      `amp.precision = "f32" | "low" | "keep"` decides for itself; on a region
      operation or a function the attribute holds for everything within that
      has none of its own.
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

    The function is marked with `amp.mixed_precision`, and what a reader of the
    result could not know is recorded: the value of a constant that rounding
    changed (`amp.input_value`), low types that stood in the input
    (`amp.input_types`). `amp-strip-precision` gives the input back. A second
    run does so too and assigns anew: with the same options it changes nothing,
    with others it gives what they give for the input. Where later passes have
    built on the low types, that cannot be done: the function is left alone,
    with a remark.
  }];
  let options = [
    Option<"precision", "precision", "std::string", /*default=*/"\"\"",
           "Low type: fp16 (also f16, half) or bf16 (also bfloat16); f32 does nothing; "
           "by default what the policy says, and fp16 if it says nothing">,
    Option<"policy", "policy", "std::string", /*default=*/"\"default\"",
           "Name of a preset, or a YAML file">,
    Option<"strategy", "strategy", "std::string", /*default=*/"\"\"",
           "How types are assigned: optimal (the default), grappler or autocast">,
    Option<"target", "target", "std::string", /*default=*/"\"\"",
           "The machine on which products must pay for their casts: a100, h100 or h200; by default every allowed product is low">,
    Option<"masterWeights", "master-weights", "std::string", /*default=*/"\"\"",
           "What a low version of a parameter costs: cast (it is made in every step) or copy (the update writes it)">,
    Option<"sinkRule", "sink-rule", "bool", /*default=*/"false",
           "With strategy=grappler: what lies between an allowed operation and the end of the graph becomes low too">,
    ListOption<"reports", "report", "std::string",
               "Files to write every decision to, as JSON (*.json) or as a page to look at (*.html)">,
  ];
  let statistics = [
    Statistic<"numLowSlots", "low-slots", "Slots that became low">,
    Statistic<"numCasts", "casts-inserted", "Casts inserted">,
    Statistic<"numWideProducts", "wide-products", "Products of low operands with an f32 result">,
    Statistic<"numUnlisted", "unlisted-ops", "Operations that no list names">,
  ];
  let dependentDialects = ["::mlir::amp::AMPDialect"];
}

def StripPrecisionPass : Pass<"amp-strip-precision"> {
  let summary = "Undo auto-mixed-precision";
  let description = [{
    Gives back the input of `auto-mixed-precision`, bit for bit: in each
    function that carries `amp.mixed_precision`, values that the pass stored in
    the low type are f32 again, constants have the value they had, and the casts
    that it inserted are gone. Casts and low types that stood in the input stay.

    Passes that have run in between are not undone. Where one has built on a low
    type (a low copy of a parameter, for instance) the input cannot be given
    back, which is an error. A function without `amp.mixed_precision` is left
    alone, with a remark.

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
    Statistic<"numFunctions", "functions-restored", "Functions given back as they were">,
    Statistic<"numValues", "values-widened", "Values that are f32 again">,
    Statistic<"numCasts", "casts-removed", "Casts removed">,
  ];
  let dependentDialects = ["::mlir::amp::AMPDialect"];
}

def OptimizeCastsPass : Pass<"amp-optimize-casts"> {
  let summary = "Merge, fold and remove casts that passes inserted";
  let description = [{
    - Equal casts of one value become one, at a point that dominates all users.
    - A widening followed by the narrowing back disappears, which is exact.
    - A cast of the only use of a product's result folds into the product, which
      can give either type: `cast(matmul : f32) to f16` is `matmul : f16`.
    - A chain of two widenings becomes one.
    - Casts without users disappear.

    A narrowing followed by a widening rounds, and stays. Casts that the user
    wrote (those without `inserted`) are merged where they are equal and
    otherwise left alone.

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

def NarrowSavedActivationsPass : Pass<"amp-narrow-saved-activations"> {
  let summary = "Store in the low type what the backward pass reads";
  let description = [{
    `auto-mixed-precision` decides in what type an operation computes. What an
    f32 operation gives (the exponentials of a softmax, the normalised values of
    a norm) and the backward pass reads again lies in memory in f32 in between.
    In a function that `auto-mixed-precision` has rewritten, this pass rounds
    such values where they are computed and widens them again before the first
    operation of the backward pass that reads them; forward readers see the
    unrounded value, and every operation computes in the type it had. A cast to
    the low type that stands in the backward pass and serves it alone moves to
    what it casts.

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

    Gradients change by the rounding of one operand, as those of any saved
    activation that is low. Left in f32, with a remark that says why: statistics
    (what the backward pass spreads over a larger tensor) and what is spread
    from them, values that the step returns, values with a pin, and in f16
    values that are not proved to fit. The backward pass is what depends on a
    gradient seed or carries `amp.backward_of`. `amp-strip-precision` removes the
    casts again.
  }];
  let statistics = [
    Statistic<"numNarrowed", "values-narrowed", "Saved values that are stored in the low type">,
    Statistic<"numMoved", "casts-moved", "Casts to the low type that moved from the backward to the forward pass">,
    Statistic<"numBytes", "bytes-saved", "Bytes by which they are smaller">,
  ];
  let dependentDialects = ["::mlir::amp::AMPDialect"];
}

def InsertLossScalingPass : Pass<"amp-insert-loss-scaling"> {
  let summary = "Scale the loss gradient, unscale gradients, guard the update";
  let description = [{
    Finds the start of the backward pass (`GradientSeedOpInterface`) and the
    gradients of parameters (`amp.gradient_of`), in a step of any dialect, and

    - multiplies the seed by the loss scale,
    - unscales all gradients at once and checks that they are finite, before
      any consumer outside of the backward pass sees them,
    - with `mode=dynamic`, makes every update of a parameter or an optimizer
      state conditional on that check (`scf.if`), so that a step that overflows
      changes nothing, updates the scale, and publishes `loss_scale` and
      `skipped` as metrics.

    With `mode=dynamic` the step's signature grows by three arguments of role
    `scaler_state` (`loss_scale`, `growth_tracker`,
    `hysteresis_tracker`), their updates, and the metrics. With a number the
    scale is that constant and nothing is skipped: non-finite gradients are the
    user's responsibility, as with a constant scale in every framework.

    `scaler` names the machine that updates the scale, with the constants and
    rules of a framework; the options that follow it replace them one by one.

    With `mode=layerwise` each layer has a scale of its own, a power of two that
    follows the largest gradient of the layer: an argument, an update and a metric
    `loss_scale.<parameter>`, and a metric `skipped.<parameter>`, with the name of
    the layer's first parameter. A layer ends where a gradient is multiplied by a
    parameter, both being matrices or of more dimensions. There, and where
    gradients of several layers are added, `amp.rescale` brings them to one scale;
    `amp.adapt_scale` updates the scales. A layer that overflows skips alone:
    `skipped` is set where no update was made. Of the options of a machine,
    init-scale, growth-factor, backoff-factor, min-scale and max-scale apply, and
    are powers of two.

    Several losses share one scale, or have one each with `per-loss`; then the
    names above end with the loss (`loss_scale.critic`), and each gradient must
    depend on one loss alone. Where arguments carry `amp.optimizer`, the gradients
    of each optimizer are unscaled and checked apart: one whose gradients
    overflow skips, another one steps, and the scale backs off once. What
    depends on the gradients of several (a common norm) needs all of them finite.

    A seed may stand in a loop over micro-batches that accumulates gradients; the
    results of the loop carry `amp.gradient_of`, and are unscaled once.

    ```mlir
    %seed = amp.gradient_seed "loss" : tensor<f32>
    ...
    %w1 = train.sgd %w, %g, %lr : ...
    ```

    ```mlir
    %seed = amp.gradient_seed "loss" : tensor<f32>
    %scaled = amp.scale %seed by %scale : tensor<f32>
    ...
    %u, %finite = amp.unscale %g by %scale : ...
    %ok = tensor.extract %finite[] : tensor<i1>
    %w1 = scf.if %ok -> tensor<4xf32> {
      %new = train.sgd %w, %u, %lr : ...
      scf.yield %new
    } else {
      scf.yield %w
    }
    %s1, %t1, %h1 = amp.update_scale %scale, %tracker, %hysteresis, %finite
    ```

    A step that has an `amp.unscale` already is left alone, with a remark.
  }];
  let options = [
    Option<"mode", "mode", "std::string", /*default=*/"\"dynamic\"",
           "dynamic, layerwise, none, or a number: a constant scale">,
    Option<"scaler", "scaler", "std::string", /*default=*/"\"amp\"",
           "The machine of mode=dynamic: amp, pytorch, apex, deepspeed, megatron, tf-keras, keras, mxnet or paddle">,
    Option<"initScale", "init-scale", "double", /*default=*/"std::numeric_limits<double>::lowest()",
           "Initial scale; here and below, by default the scaler's">,
    Option<"growthFactor", "growth-factor", "double", /*default=*/"std::numeric_limits<double>::lowest()",
           "Factor after growth-interval steps without overflow">,
    Option<"backoffFactor", "backoff-factor", "double", /*default=*/"std::numeric_limits<double>::lowest()",
           "Factor after an overflow">,
    Option<"growthInterval", "growth-interval", "int32_t", /*default=*/"std::numeric_limits<int32_t>::min()",
           "Steps without overflow after which the scale grows">,
    Option<"minScale", "min-scale", "double", /*default=*/"std::numeric_limits<double>::lowest()",
           "Floor of the scale">,
    Option<"maxScale", "max-scale", "double", /*default=*/"std::numeric_limits<double>::lowest()",
           "Cap of the scale">,
    Option<"hysteresis", "hysteresis", "int32_t", /*default=*/"std::numeric_limits<int32_t>::min()",
           "Overflows before the scale backs off">,
    Option<"hysteresisRefill", "hysteresis-refill", "std::string", /*default=*/"\"\"",
           "What fills the hysteresis up again: clean (every step without overflow) or growth">,
    Option<"afterBackoff", "after-backoff", "std::string", /*default=*/"\"\"",
           "The hysteresis after a backoff: count (down on), hold (at 1) or refill">,
    Option<"growthGuard", "growth-guard", "std::string", /*default=*/"\"\"",
           "Whether growth beyond the range of f32 is refused: on or off">,
    Option<"intervalRule", "interval-rule", "std::string", /*default=*/"\"\"",
           "The scale grows when the tracker is at-least the interval, or equal to it">,
    Option<"check", "check", "std::string", /*default=*/"\"\"",
           "Gradients that must be finite: scaled, or both these and the unscaled ones">,
    Option<"layerTarget", "layer-target", "double", /*default=*/"std::numeric_limits<double>::lowest()",
           "With mode=layerwise, what the largest gradient of a layer is brought to, times its scale; 2048 by default">,
    Option<"perLoss", "per-loss", "bool", /*default=*/"false",
           "One scale for each loss, with mode=dynamic">,
    Option<"guardModelState", "guard-model-state", "bool", /*default=*/"false",
           "A skipped step keeps float model state (batch-norm statistics) too">,
    Option<"gradientNorm", "gradient-norm", "bool", /*default=*/"false",
           "Publish the norm of all unscaled gradients as the metric gradient_norm">,
    Option<"countSkipped", "count-skipped", "bool", /*default=*/"false",
           "Keep the number of skipped steps, and publish it as the metric skipped_steps">,
  ];
  let statistics = [
    Statistic<"numGradients", "gradients-unscaled", "Gradients unscaled">,
    Statistic<"numGuarded", "updates-guarded", "Updates made conditional">,
    Statistic<"numGuards", "guards", "Conditions under which updates are made">,
    Statistic<"numScales", "scales", "Loss scales">,
  ];
  let dependentDialects = ["::mlir::amp::AMPDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def InsertMasterWeightsPass : Pass<"amp-insert-master-weights"> {
  let summary = "Keep f32 master weights beside low-precision copies";
  let description = [{
    With `mode=cast` parameters stay f32 and are cast once per step where the
    forward and backward pass read them low: this is what `auto-mixed-precision`
    leaves, and nothing is changed.

    With `mode=copy` each parameter that is read low gets a low-precision copy,
    a further argument of role `parameter` named `<name>.low` that starts as the
    rounded master. Forward and backward read only the copy, widened where a use
    is f32; the update reads and writes the master, and `amp.master_copy` writes
    the copy beside it, under the same overflow guard.

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

    With `mode=none` a parameter that is read low is stored in that type alone:
    the update reads it widened, is computed in f32, and is rounded.

    - `update-rounding=nearest` loses updates below half the spacing of the low
      type, which is what masters are for.
    - `stochastic` rounds up or down so that the expected value is exact (bf16).
      The random numbers come from a counter in the state `update_rounding`,
      which every step advances: a resumed run rounds as an uninterrupted one.
    - `kahan` keeps what rounding lost in a further state of the low type,
      `<name>.compensation`, which the next update adds again.

    With `moments=bf16` optimizer states but scalars are stored in bf16, rounded
    to nearest, or with `update-rounding=stochastic` as weights are.

    With `mode=inference` there is no master: a parameter that nothing updates
    and that is only read through casts to one low type is stored in that type.
  }];
  let options = [
    Option<"mode", "mode", "std::string", /*default=*/"\"cast\"",
           "cast, copy, none, or inference">,
    Option<"updateRounding", "update-rounding", "std::string", /*default=*/"\"nearest\"",
           "How updates of weights without a master are rounded: nearest, stochastic or kahan">,
    Option<"moments", "moments", "std::string", /*default=*/"\"f32\"",
           "How optimizer states are stored: f32 or bf16">,
  ];
  let statistics = [
    Statistic<"numLowMoments", "low-moments", "Optimizer states stored in bf16">,
    Statistic<"numLowParameters", "low-parameters", "Parameters without a master">,
    Statistic<"numCopies", "copies", "Parameters that got a low-precision copy">,
  ];
  let dependentDialects = ["::mlir::amp::AMPDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def CheckLossScalingPass : Pass<"amp-check-loss-scaling"> {
  let summary = "Prove that the loss scale is handled correctly";
  let description = [{
    Follows each loss scale as a factor from where it enters (`amp.scale`, or
    any product with it) through `LossScaleOpInterface`, and rejects a step that
    would use a value with the wrong factor: each value has a *degree*, the
    power of each scale by which it is multiplied. Sums and joins need equal
    degrees, products add them; an optimizer, a clip against a constant, a loss
    or a metric needs degree 0. An operation of which it is not known what it
    does to a factor is an error where it reads one.

    With a scale that the step updates, the check also proves that what an
    overflow must not touch is guarded: a parameter or an optimizer state that
    depends on an unscaled gradient is the result of an `scf.if` on the
    conjunction of the flags of all gradients that it depends on, and the scale
    is updated on the flags of all gradients that it divides.

    A backward pass that computes in f16 without a loss scale is no error, but
    gets a warning: gradients below 2^-25 round to zero.

    The module is not changed. A wrong order of operations, of which a framework
    tells at run time or never:

    ```mlir
    %clipped, %norm = train.clip_by_global_norm %g {max_norm = 1.0} : ...
    %u, %finite = amp.unscale %clipped by %scale : ...
    ```

    ```
    error: 'train.clip_by_global_norm' op operand 0 is multiplied by loss_scale,
    expected an unscaled value: gradients are unscaled before they are clipped
    against a constant norm
    note: the factor passes through this 'train.matmul'
    note: the loss scale enters here
    ```
  }];
  let options = [
    ListOption<"linear", "linear", "std::string",
               "Globs of operations without LossScaleOpInterface that commute "
               "with a factor that all their float operands share; with =N, "
               "that are linear in operand N alone; with =product, whose "
               "factors multiply; and more. The pipeline takes them from the "
               "policy's key of this name">,
    Option<"policy", "policy", "std::string", /*default=*/"\"\"",
           "A preset or file whose rules of that name are taken as well">,
  ];
  let statistics = [
    Statistic<"numScaled", "values-scaled", "Values that are multiplied by a loss scale">,
    Statistic<"numUnscaled", "gradients-unscaled", "Gradients that are divided by their scale">,
  ];
}

def PrintPolicyPass : Pass<"amp-print-policy"> {
  let summary = "Print a policy as YAML, with what it extends";
  let description = [{
    Prints the policy to the standard output in a form that can be edited and
    passed back: the entries of the file and of what it extends in one, and all
    settings. Reading it again gives the same policy. The module is not changed.

    `amp-opt --amp-print-policy=<preset or file>` does the same without an
    input.
  }];
  let options = [
    Option<"policy", "policy", "std::string", /*default=*/"\"default\"",
           "Name of a preset, or a YAML file">,
  ];
}

def PolicySkeletonPass : Pass<"amp-policy-skeleton"> {
  let summary = "Print the start of a policy for the operations of a module";
  let description = [{
    Prints a policy that extends `policy` to the standard output. Operations
    with f32 tensors that no list of `policy` names come first, each in the list
    that its slots, name or traits suggest, with the number of its occurrences
    and the reason for the guess; an operation of which nothing is known comes
    into `keep`. Those in a list already follow in comments. The module is not
    changed.

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

def ImportStepPass : Pass<"amp-import-step"> {
  let summary = "Find gradients and the gradient seed by position";
  let description = [{
    A step that a framework dumps can be marked on its arguments and results
    alone. Let it return its gradients, and take the number that the backward
    pass starts from, 1, as an argument: the result with
    `amp.gradient_of = "<parameter>"` and the argument with
    `amp.gradient_seed = "<loss>"` go, the operation that gives the gradient is
    marked, and an `amp.gradient_seed` stands where the argument was read.

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

#endif // AMP_TRANSFORMS_PASSES_TD
