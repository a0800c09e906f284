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
    What every training step needs for mixed precision, whatever dialect it is
    written in: casts, the start of the backward pass, unscaling with a finite
    check, the update of the loss scale, low-precision copies of master
    weights; and the discardable attributes by which a function says what its
    arguments and results are.

    One function is one training step: state and batch in, new state and
    metrics out.

    | attribute | on | meaning |
    |---|---|---|
    | `amp.role` | argument | `parameter`, `optimizer_state`, `model_state`, `batch`, `hyperparameter` or `scaler_state` |
    | `amp.name` | argument | unique name; the key in `.npz` files |
    | `amp.init` | argument | how a parameter or state starts, `#amp.init<...>` |
    | `amp.optimizer` | argument | name of the optimizer that a parameter or optimizer state belongs to, where a step has several |
    | `amp.updates` | result | name of the argument that this result replaces |
    | `amp.metric` | result | name of the metric that this result is |
    | `amp.prediction` | result | name of the model output that this result is |
    | `amp.gradient_of` | operation | per result, the name of the argument whose gradient it is, or an empty string |
    | `amp.precision` | operation or function | pin for it and what is within: `f32`, `low` or `keep` |
    | `amp.mixed_precision` | function | the low type that `auto-mixed-precision` rewrote it to |
    | `amp.input_signature` | function | its type before that, if it has another |
    | `amp.input_types` | operation | in such a function, the element types of its results and region arguments that stood in the input; none for a copy of a constant that did not stand there |
    | `amp.input_value` | constant | in such a function, its value in the input, where rounding lost it |
    | `amp.input_attributes` | operation that an adapter describes | in such a function, its attributes in the input, where they have followed its type |
    | `amp.inserted` | operation | a pass inserted this cast of another dialect, and may move, merge and remove it |
    | `amp.backward_of` | operation | number of the forward operation that a backward operation belongs to |
    | `amp.id` | operation | number of a forward operation, referred to by `amp.backward_of` |

    `scaler_state` is the state of dynamic loss scaling: the scale, the growth
    tracker and the hysteresis tracker, and the count of skipped steps where one
    is kept. It is never guarded by the overflow
    check, which is why it is not an optimizer state.

    Roles are discardable attributes so that upstream passes keep working on a
    step, and belong to this dialect and not to `train` so that a step in any
    dialect can carry them.
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

def AMP_InitKind : I32EnumAttr<"InitKind", "how a state starts", [
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
  let summary = "how a parameter or state starts";
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

    `fan_in` is the product of all dimensions but the last, `fan_out` that of
    all but the second to last, which fits `[in, out]` weights and
    `[height, width, in, out]` filters. Random kinds draw from a counter-based
    generator keyed by the run's seed and the argument's name, or by `seed`.

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

class AMP_EnumAttr<EnumInfo info, string name> : EnumAttr<AMP_Dialect, info, name> {
  let assemblyFormat = "`<` $value `>`";
}

def AMP_HysteresisRefill
    : I32EnumAttr<"HysteresisRefill", "what fills the hysteresis up again", [
        I32EnumAttrCase<"Clean", 0, "clean">,
        I32EnumAttrCase<"Growth", 1, "growth">]> {
  let cppNamespace = "::mlir::amp";
  let genSpecializedAttr = 0;
}
def AMP_HysteresisRefillAttr
    : AMP_EnumAttr<AMP_HysteresisRefill, "hysteresis_refill">;

def AMP_AfterBackoff
    : I32EnumAttr<"AfterBackoff", "the hysteresis tracker after a backoff", [
        I32EnumAttrCase<"Count", 0, "count">,
        I32EnumAttrCase<"Hold", 1, "hold">,
        I32EnumAttrCase<"Refill", 2, "refill">]> {
  let cppNamespace = "::mlir::amp";
  let genSpecializedAttr = 0;
}
def AMP_AfterBackoffAttr : AMP_EnumAttr<AMP_AfterBackoff, "after_backoff">;

#endif // AMP_DIALECT_AMP_IR_AMPDIALECT_TD
