//===- LossScalingPasses.td - Passes of loss scaling --------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TRANSFORMS_LOSSSCALINGPASSES_TD
#define AMP_TRANSFORMS_LOSSSCALINGPASSES_TD

include "amp/Support/CheckedPass.td"

def InsertLossScalingPass : CheckedPass<"amp-insert-loss-scaling"> {
  let summary = "Scale the loss gradient, unscale gradients, guard the update";
  let description = [{
    Finds the start of the backward pass (`GradientSeedOpInterface`) and the
    gradients of parameters (`amp.gradient_of`), in a step of any dialect, and

    - multiplies the seed by the loss scale,
    - unscales all gradients at once and checks that they are finite, before
      any consumer outside of the backward pass sees them,
    - with `mode=dynamic`, makes every update of a parameter or an optimizer
      state conditional on that check (`scf.if`), updates the scale, and
      publishes `loss_scale` and `skipped` as metrics. A step that overflows
      then changes neither parameters nor optimizer states.

    With `mode=dynamic` the step's signature grows by three arguments of role
    `scaler_state` (`loss_scale`, `growth_tracker`, `hysteresis_tracker`), their
    updates, and the metrics. If `mode` is a number, the scale is that constant,
    and no update is skipped. The user must then prevent non-finite gradients, as with
    a constant scale in every framework.

    `scaler` names the loss scaler that updates the scale. It selects the
    constants and rules of a framework. The options after `scaler` override
    single constants and rules.

    With `mode=layerwise` each layer has its own scale, a power of two that
    follows the largest gradient of the layer. For each layer, the step gets an
    argument, an update and a metric `loss_scale.<parameter>`, and a metric
    `skipped.<parameter>`. `<parameter>` is the name of the layer's first
    parameter. A layer ends where a gradient is multiplied by a parameter and
    both have at least two dimensions. At this point, and where gradients of
    several layers are added, `amp.rescale` brings the gradients to one scale.
    `amp.adapt_scale` updates the scales. If a layer overflows, only this layer
    skips its update. `skipped` is set if the step made no update. Of the options
    of a loss scaler, init-scale, growth-factor, backoff-factor, min-scale and
    max-scale apply. Their values must be powers of two.

    By default, several losses share one scale. With `per-loss`, each loss has a
    separate scale. The names above then end with the name of the loss
    (`loss_scale.critic`), and each gradient must depend on only one loss. If arguments carry `amp.optimizer`, the
    gradients of each optimizer are unscaled and checked separately. An
    optimizer whose gradients overflow skips its update, and the scale backs off
    once. The other optimizers make their updates. If a value depends on the
    gradients of several optimizers, such as a common norm, all of them must be
    finite.

    A seed may be in a loop over micro-batches that accumulates gradients. The
    results of the loop then carry `amp.gradient_of` and are unscaled once. If the
    step also reads other results of the loop that a power of the scale
    multiplies, such as a norm or a squared norm, they are divided as often as
    the power says.

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

    The pass leaves a step that contains an `amp.unscale` unchanged, with a
    remark.
  }];
  let options = [
    Option<"mode", "mode", "std::string", /*default=*/"\"dynamic\"",
           "dynamic, layerwise, none, or a number: a constant scale">,
    Option<"scaler", "scaler", "std::string", /*default=*/"\"amp\"",
           "The loss scaler of mode=dynamic: amp, pytorch, apex, deepspeed, megatron, tf-keras, keras, mxnet or paddle">,
    Option<"initScale", "init-scale", "std::string", /*default=*/"\"\"",
           "Initial scale; this and the following options default to the scaler's values">,
    Option<"growthFactor", "growth-factor", "std::string", /*default=*/"\"\"",
           "Factor after growth-interval steps without overflow">,
    Option<"backoffFactor", "backoff-factor", "std::string", /*default=*/"\"\"",
           "Factor after an overflow">,
    Option<"growthInterval", "growth-interval", "std::string", /*default=*/"\"\"",
           "Steps without overflow after which the scale grows">,
    Option<"minScale", "min-scale", "std::string", /*default=*/"\"\"",
           "Floor of the scale">,
    Option<"maxScale", "max-scale", "std::string", /*default=*/"\"\"",
           "Cap of the scale">,
    Option<"hysteresis", "hysteresis", "std::string", /*default=*/"\"\"",
           "Overflows before the scale backs off">,
    Option<"hysteresisRefill", "hysteresis-refill", "std::string", /*default=*/"\"\"",
           "When the hysteresis is refilled: clean (after every step without overflow) or growth">,
    Option<"afterBackoff", "after-backoff", "std::string", /*default=*/"\"\"",
           "The hysteresis after a backoff: count (continue to count down), hold (at 1) or refill">,
    Option<"growthGuard", "growth-guard", "std::string", /*default=*/"\"\"",
           "Whether growth beyond the range of f32 is refused: on or off">,
    Option<"intervalRule", "interval-rule", "std::string", /*default=*/"\"\"",
           "When the scale grows: if the tracker is at-least the interval, or equal to it">,
    Option<"check", "check", "std::string", /*default=*/"\"\"",
           "Gradients that must be finite: scaled, or both (scaled and unscaled)">,
    Option<"layerTarget", "layer-target", "std::string", /*default=*/"\"\"",
           "With mode=layerwise, the target magnitude of the largest scaled gradient of a layer; 2048 by default">,
    Option<"perLoss", "per-loss", "bool", /*default=*/"false",
           "One scale for each loss, with mode=dynamic">,
    Option<"guardModelState", "guard-model-state", "bool", /*default=*/"false",
           "Guard float model state (batch-norm statistics) too">,
    Option<"gradientNorm", "gradient-norm", "bool", /*default=*/"false",
           "Publish the norm of all unscaled gradients as the metric gradient_norm">,
    Option<"countSkipped", "count-skipped", "bool", /*default=*/"false",
           "Count skipped steps and publish the count as the metric skipped_steps">,
    Option<"trackerMetrics", "tracker-metrics", "bool", /*default=*/"false",
           "Publish the growth and hysteresis trackers before the step as metrics, with mode=dynamic">,
    ListOption<"linear", "linear", "std::string",
               "Globs of operations without LossScaleOpInterface, with a rule, "
               "as in amp-check-loss-scaling: they tell which power of the scale "
               "multiplies a metric that a loop computes from gradients">,
    Option<"policy", "policy", "std::string", /*default=*/"\"\"",
           "A preset or file whose 'linear' rules also apply">,
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

def CheckLossScalingPass : CheckedPass<"amp-check-loss-scaling"> {
  let summary = "Prove that the loss scale is handled correctly";
  let description = [{
    Follows each loss scale as a factor from its entry (`amp.scale`, or any
    product with it) through `LossScaleOpInterface`, and rejects a step that uses
    a value with the wrong factor. Each value has a *loss-scale exponent*, the
    power of each scale by which it is multiplied. Sums and joins require equal
    exponents. Products add exponents. An optimizer, a clip against a constant, a
    loss and a metric require exponent 0. It is an error if a scaled value reaches
    an operation whose effect on the scale is unknown.

    If the step updates the scale, the check also proves that an overflow cannot
    change guarded state. A parameter or an optimizer state that depends on an
    unscaled gradient must be the result of an `scf.if` or a select. Its condition
    must be the conjunction of the flags of all gradients that the state depends
    on. The update of the scale must depend on the flags of all gradients that the
    scale divides. The check evaluates conditions, so they may combine, negate and
    compare the flags in any way, and loops may carry them. Each state of a scaler
    must be replaced by the result of the operation that updates it.

    The check evaluates a handwritten update of a scale for several scales, with
    and without an overflow. If this is not possible, the error begins with
    *unverified scaler*. With `allow-unverified-scaler`, it is a warning.

    A function of only scales, hyperparameters and constants is a separate scale.
    A condition on a scale may decide only the scale, its trackers and metrics. A
    constant scale may enter through a multiplication of the gradient seed.

    In f16 the check also computes ranges. The scale times constants must be
    finite for each scale that the step may have. Otherwise, the error names the
    largest safe power of two. For scaled values that have a bound for all data, a
    remark (`SafeLossScale`) gives the largest scale for which all of them are
    finite. A larger constant scale causes a warning. If the initial value of a
    dynamic scale is larger, the remark names the option that sets a smaller one.
    The key `intervals` of a policy gives the intervals of foreign operations.

    The pass emits a warning for a backward pass that computes in f16 without a
    loss scale, because gradients below 2^-25 round to zero.

    The module does not change. The order of operations in this example is wrong.
    A framework reports this at run time or not at all:

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
               "Globs of operations without LossScaleOpInterface, with a rule: "
               "by default all float operands share one factor; with =N the "
               "operation is linear in operand N alone; with =product factors "
               "multiply; and others. The pipeline reads them from the "
               "policy's key 'linear'">,
    Option<"policy", "policy", "std::string", /*default=*/"\"\"",
           "A preset or file whose 'linear' and 'intervals' rules also apply">,
    ListOption<"intervals", "intervals", "std::string",
               "Globs of operations without FloatRangeOpInterface, with =RULE: "
               "the interval of their results. The pipeline reads them from the "
               "policy's key 'intervals'">,
    Option<"allowUnverifiedScaler", "allow-unverified-scaler", "bool", /*default=*/"false",
           "Emit a warning instead of an error for handwritten scale updates "
           "that cannot be proved">,
  ];
  let statistics = [
    Statistic<"numScaled", "values-scaled", "Values that are multiplied by a loss scale">,
    Statistic<"numUnscaled", "gradients-unscaled", "Gradients that are divided by their scale">,
    Statistic<"numRejected", "steps-rejected", "Steps that break a rule">,
    Statistic<"numUnverified", "scalers-unverified", "Handwritten scale updates without a proof">,
    Statistic<"numVisited", "operations-visited", "Operation visits that compute exponents">,
  ];
}

#endif // AMP_TRANSFORMS_LOSSSCALINGPASSES_TD
