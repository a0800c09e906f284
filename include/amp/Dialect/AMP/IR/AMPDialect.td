//===- AMPDialect.td - The amp dialect and its attributes --*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_AMPDIALECT_TD
#define AMP_DIALECT_AMP_IR_AMPDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def AMP_Dialect : Dialect {
  let name = "amp";
  let cppNamespace = "::mlir::amp";
  let summary = "Casts, loss scaling and the roles of a training step";
  let description = [{
    This dialect has the operations that a training step in any dialect needs
    for mixed precision: casts, the start of the backward pass, unscaling with a
    finite check, the update of the loss scale, and low-precision copies of
    master weights. It also has the discardable attributes that state the roles
    of a function's arguments and results.

    One function is one training step. It takes state and batch, and returns new
    state and metrics.

    | attribute | on | meaning |
    |---|---|---|
    | `amp.role` | argument | `parameter`, `optimizer_state`, `model_state`, `batch`, `hyperparameter`, `scaler_state` or `quantizer_state` |
    | `amp.name` | argument | unique name; the key in `.npz` files |
    | `amp.init` | argument | the initial value of a parameter or state, `#amp.init<...>` |
    | `amp.optimizer` | argument | name of the optimizer that a parameter or optimizer state belongs to, if a step has several |
    | `amp.updates` | result | name of the argument that this result replaces |
    | `amp.metric` | result | name of the metric that this result is |
    | `amp.prediction` | result | name of the model output that this result is |
    | `amp.gradient_of` | operation | per result, the name of the argument whose gradient it is, or an empty string |
    | `amp.precision` | operation or function | pin for it and for the operations within: `f32`, `low` or `keep` |
    | `amp.mixed_precision` | function | the low type to which `auto-mixed-precision` rewrote it |
    | `amp.fp8_recipe` | function | the recipe by which `amp-quantize-products` gave products 8-bit operands |
    | `amp.keep_roundings` | function | no value; each rounding to the low type is semantics, so passes keep it |
    | `amp.input_signature` | function | its type before `auto-mixed-precision`, if it changed |
    | `amp.input_types` | operation | the element types of its results and region arguments before `auto-mixed-precision`; empty for a copy of a constant that the pass made |
    | `amp.input_value` | constant | its value before `auto-mixed-precision`, if rounding changed it |
    | `amp.input_attributes` | operation that an adapter describes | its attributes before `auto-mixed-precision`, if they changed with its type |
    | `amp.inserted` | operation | marks a cast of another dialect that a pass inserted; passes may move, merge and remove it |
    | `amp.backward_of` | operation | number of the forward operation that a backward operation belongs to |
    | `amp.id` | operation | number of a forward operation, to which `amp.backward_of` refers |
    | `amp.composite` | operation | number that the operations of one block have that are one operation of the source; the strategy `autocast` rounds its results once |
    | `amp.gradient_seed` | argument or operation | no value; it is the gradient of the loss, where the backward pass begins |
    | `amp.inference_of` | function | the step from which `train-to-inference` derived it |
    | `amp.part_of` | argument | the type of the whole tensor; each rank keeps one flat part of it |
    | `amp.divided_along` | operation that draws random numbers | the dimension along which the ranks divide its result; after `amp-set-ranks`, also the number of ranks and this rank |

    `scaler_state` is the state of dynamic loss scaling: the scale, the growth
    tracker, the hysteresis tracker, and the optional count of skipped steps.
    The overflow guard never covers it. It is therefore not an optimizer state.
    `quantizer_state` is the state of quantisers whose scales follow the largest
    magnitudes of earlier steps: a scale and a history of magnitudes for each of
    them. Only finite magnitudes enter a history, so no guard covers it either.

    Roles are discardable attributes, so upstream passes work on a step. They
    belong to this dialect and not to `train`, so a step in any dialect can
    carry them.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 0;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Names of the discardable attributes of this dialect.
    static constexpr ::llvm::StringLiteral kRoleAttr = "amp.role";
    static constexpr ::llvm::StringLiteral kNameAttr = "amp.name";
    static constexpr ::llvm::StringLiteral kInitAttr = "amp.init";
    static constexpr ::llvm::StringLiteral kOptimizerAttr = "amp.optimizer";
    static constexpr ::llvm::StringLiteral kUpdatesAttr = "amp.updates";
    static constexpr ::llvm::StringLiteral kMetricAttr = "amp.metric";
    static constexpr ::llvm::StringLiteral kPredictionAttr = "amp.prediction";
    static constexpr ::llvm::StringLiteral kGradientOfAttr = "amp.gradient_of";
    static constexpr ::llvm::StringLiteral kGradientSeedAttr = "amp.gradient_seed";
    static constexpr ::llvm::StringLiteral kBackwardOfAttr = "amp.backward_of";
    static constexpr ::llvm::StringLiteral kIdAttr = "amp.id";
    static constexpr ::llvm::StringLiteral kPrecisionAttr = "amp.precision";
    static constexpr ::llvm::StringLiteral kMixedPrecisionAttr = "amp.mixed_precision";
    static constexpr ::llvm::StringLiteral kInputSignatureAttr = "amp.input_signature";
    static constexpr ::llvm::StringLiteral kInputTypesAttr = "amp.input_types";
    static constexpr ::llvm::StringLiteral kInputValueAttr = "amp.input_value";
    static constexpr ::llvm::StringLiteral kInsertedAttr = "amp.inserted";
  }];
}

def AMP_InitKind : I32EnumAttr<"InitKind", "kind of an initial value", [
    I32EnumAttrCase<"Zeros", 0, "zeros">,
    I32EnumAttrCase<"Ones", 1, "ones">,
    I32EnumAttrCase<"Constant", 2, "constant">,
    I32EnumAttrCase<"Normal", 3, "normal">,
    I32EnumAttrCase<"Uniform", 4, "uniform">,
    I32EnumAttrCase<"KaimingUniform", 5, "kaiming_uniform">,
    I32EnumAttrCase<"KaimingNormal", 6, "kaiming_normal">,
    I32EnumAttrCase<"XavierUniform", 7, "xavier_uniform">,
    I32EnumAttrCase<"XavierNormal", 8, "xavier_normal">,
    I32EnumAttrCase<"CopyOf", 9, "copy_of">,
    I32EnumAttrCase<"RngState", 10, "rng_state">]> {
  let cppNamespace = "::mlir::amp";
  let genSpecializedAttr = 0;
}

def AMP_InitAttr : AttrDef<AMP_Dialect, "Init"> {
  let mnemonic = "init";
  let summary = "the initial value of a parameter or state";
  let description = [{
    | kind | value | uses |
    |---|---|---|
    | `zeros`, `ones` | 0, 1 | |
    | `constant` | `value` | `value` |
    | `normal` | N(0, `value`²) | `value` (standard deviation) |
    | `uniform` | U(-`value`, `value`) | `value` (bound) |
    | `kaiming_uniform` | U(-b, b), b = `value`·√(3 / fan_in) | `value` (gain, √2 if absent) |
    | `kaiming_normal` | N(0, s²), s = `value` / √fan_in | `value` (gain, √2 if absent) |
    | `xavier_uniform` | U(-b, b), b = `value`·√(6 / (fan_in + fan_out)) | `value` (gain, 1 if absent) |
    | `xavier_normal` | N(0, s²), s = `value`·√(2 / (fan_in + fan_out)) | `value` (gain, 1 if absent) |
    | `copy_of` | the state named `source`, rounded to this type | `source` |
    | `rng_state` | (seed, 0) | `seed` |

    `fan_in` is the product of all dimensions but the last. `fan_out` is the
    product of all dimensions but the second to last. This fits `[in, out]`
    weights and `[height, width, in, out]` filters. Random kinds draw from a
    counter-based generator. Its key is `seed`, or the run's seed and the
    argument's name.

    Example: `#amp.init<kaiming_uniform>`, `#amp.init<constant, value = 0.1>`.
  }];
  let parameters = (ins
      EnumParameter<AMP_InitKind>:$kind,
      OptionalParameter<"::mlir::FloatAttr">:$value,
      OptionalParameter<"::mlir::IntegerAttr">:$seed,
      OptionalParameter<"::mlir::StringAttr">:$source);
  let assemblyFormat =
      "`<` $kind (`,` struct($value, $seed, $source)^)? `>`";
  let genVerifyDecl = 1;
}

class AMP_ScalerAttrBase<string name, string attrMnemonic>
    : AttrDef<AMP_Dialect, name> {
  let mnemonic = attrMnemonic;
  let constBuilderCall =
      "$_builder.getAttr<::mlir::amp::" # name # "Attr>($0)";
  let parameters = (ins "::mlir::amp::" # name # "Rules":$rules);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def AMP_ScalerAttr : AMP_ScalerAttrBase<"Scaler", "scaler"> {
  let summary = "the rules by which `amp.update_scale` adapts a loss scale";
  let description = [{
    | field | default | value | meaning |
    |---|---|---|---|
    | `growth_factor` | 2 | greater than 1 | what growth multiplies the scale by |
    | `backoff_factor` | 0.5 | between 0 and 1 | the factor of the scale after a backoff |
    | `growth_interval` | 2000 | positive | clean steps before the scale grows |
    | `min_scale` | 1 | at least 0 | the floor of the scale |
    | `max_scale` | largest f32 | at least `min_scale`, or `inf` | the cap of the scale |
    | `hysteresis` | 1 | positive | overflows before a backoff |
    | `hysteresis_refill` | `clean` | `clean`, `growth` | what fills the hysteresis tracker up: every clean step, or growth |
    | `after_backoff` | `count` | `count`, `hold`, `refill` | the hysteresis tracker after a backoff: it counts on below 0, is held at 1, or is full |
    | `growth_guard` | `on` | `on`, `off` | whether growth beyond the range of f32 is refused |
    | `interval_rule` | `at_least` | `at_least`, `equal` | the scale grows when the growth tracker is at least at the interval, or equal to it |

    A step is clean if it does not overflow. Fields with their default value are
    left out. The option of a pass and the key of a policy for a field have its
    name with `-` for `_`.

    Example: `#amp.scaler`, `#amp.scaler<growth_interval = 1000, max_scale = inf,
    growth_guard = off>`.
  }];
}

def AMP_LayerScalerAttr : AMP_ScalerAttrBase<"LayerScaler", "layer_scaler"> {
  let summary = "the constants by which `amp.adapt_scale` adapts a loss scale";
  let description = [{
    | field | default | value | meaning |
    |---|---|---|---|
    | `target` | 2048 | positive | the largest gradient of a layer is brought to between half of this and this |
    | `growth_factor` | 2 | power of two from 2 | the most by which the scale grows in a step |
    | `backoff_factor` | 2^-4 | power of two to 0.5 | the factor of the scale after an overflow |
    | `min_scale` | 2^-16 | power of two | the floor of the scale |
    | `max_scale` | 2^40 | power of two | the cap of the scale |

    Powers of two are between 2^-126 and 2^126, so they have reciprocals.

    Example: `#amp.layer_scaler<target = 100.0, growth_factor = 4.0>`.
  }];
}

#endif // AMP_DIALECT_AMP_IR_AMPDIALECT_TD
