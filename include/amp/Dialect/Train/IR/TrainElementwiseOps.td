//===- TrainElementwiseOps.td - Elementwise operations -*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_TRAIN_IR_TRAINELEMENTWISEOPS_TD
#define AMP_DIALECT_TRAIN_IR_TRAINELEMENTWISEOPS_TD

include "amp/Dialect/Train/IR/TrainBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

class Train_UnaryOp<string mnemonic, string formula, list<Trait> traits = []>
    : Op<Train_Dialect, mnemonic, traits # [
          Pure, SameOperandsAndResultType, Train_Differentiable, Train_Ranges,
          DeclareOpInterfaceMethods<ShapeInferenceOpInterface>]> {
  let summary = "elementwise " # formula;
  let description = "Computes " # formula # [{ of each element, in f32 (f64 for f64), and rounds once.

    Example:

    ```mlir
    %1 = train.}] # mnemonic # [{ %0 : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$input);
  let results = (outs Train_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($result)";
}

// A unary operation whose result fits wherever its operand fits.
class Train_UnaryStorageOp<string mnemonic, string formula,
                           list<Trait> traits = []>
    : Train_UnaryOp<mnemonic, formula, traits # [PrecisionOpInterface]>;

// A unary operation whose result may leave the range of a low type.
class Train_UnaryRangeOp<string mnemonic, string formula,
                         list<Trait> traits = []>
    : Train_UnaryOp<mnemonic, formula, traits # [Train_Slots]>;

def Train_NegOp : Train_UnaryStorageOp<"neg", "-x"> { let hasFolder = 1; }
def Train_AbsOp : Train_UnaryStorageOp<"abs", "|x|">;
def Train_SignOp : Train_UnaryStorageOp<"sign", "the sign (-1, 0 or 1; NaN stays NaN)">;
def Train_SinOp : Train_UnaryStorageOp<"sin", "sin(x)">,
                  Train_Computes<"Periodic">;
def Train_CosOp : Train_UnaryStorageOp<"cos", "cos(x)">,
                  Train_Computes<"Periodic">;
def Train_ErfOp : Train_UnaryStorageOp<"erf", "erf(x)">;
def Train_SqrtOp : Train_UnaryStorageOp<"sqrt", "√x">, Train_Computes<"Steep">;
def Train_LogOp : Train_UnaryStorageOp<"log", "ln(x)">, Train_Computes<"Steep">;
def Train_Log1pOp : Train_UnaryStorageOp<"log1p", "ln(1 + x)">,
                    Train_Computes<"Steep">;
def Train_TanhOp : Train_UnaryStorageOp<"tanh", "tanh(x)">;
def Train_SigmoidOp : Train_UnaryStorageOp<"sigmoid", "1 / (1 + exp(-x))", [Train_Composite]>;
def Train_SiluOp : Train_UnaryStorageOp<"silu", "x / (1 + exp(-x))", [Train_Composite]>;
def Train_ReluOp : Train_UnaryStorageOp<"relu", "max(x, 0), with NaN propagated,">;
def Train_ExpOp : Train_UnaryRangeOp<"exp", "exp(x)">, Train_Computes<"Steep">;
def Train_Expm1Op : Train_UnaryRangeOp<"expm1", "exp(x) - 1">,
                    Train_Computes<"Steep">;
def Train_RsqrtOp : Train_UnaryRangeOp<"rsqrt", "1 / √x"> {
  let extraClassDeclaration = Train_Computes<"ReciprocalSqrt">.extraClassDeclaration;
}
def Train_ReciprocalOp : Train_UnaryRangeOp<"reciprocal", "1 / x">,
                         Train_Computes<"Steep">;
def Train_SquareOp : Train_UnaryRangeOp<"square", "x²"> {
  let extraClassDeclaration = Train_Computes<"Square">.extraClassDeclaration;
}

def Train_GeluApproximation : I32EnumAttr<"GeluApproximation", "form of gelu", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Tanh", 1, "tanh">]> {
  let cppNamespace = "::mlir::train";
}

def Train_GeluOp : Train_UnaryStorageOp<"gelu", "x·Φ(x)", [Train_Composite]> {
  let description = [{
    Computes x · (1 + erf(x / √2)) / 2 with `approximate = none`, and
    x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 x³))) with `tanh`.

    Example:

    ```mlir
    %1 = train.gelu %0 {approximate = 1 : i32} : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$input,
      DefaultValuedAttr<Train_GeluApproximation,
                        "::mlir::train::GeluApproximation::None">:$approximate);
}

def Train_ClipOp : Train_UnaryStorageOp<"clip", "min(max(x, min), max), with NaN propagated,", [Train_Composite]> {
  let description = [{
    Limits each element to [`min`, `max`]. NaN propagates.

    Example:

    ```mlir
    %1 = train.clip %0 {min = 0.0 : f64, max = 6.0 : f64} : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$input, F64Attr:$min, F64Attr:$max);
  let hasVerifier = 1;
  let extraClassDeclaration = Train_HasOwnSlots;
}

//===----------------------------------------------------------------------===//
// Backward operations of activations
//===----------------------------------------------------------------------===//

class Train_ActivationGradOp<string mnemonic, string formula, string saved>
    : Train_StorageOp<mnemonic, [SameOperandsAndResultType, Train_Composite,
                                 Train_Differentiable, Train_Ranges]> {
  let summary = "gradient of the operand of an activation: " # formula;
  let description = "Computes " # formula # ", where `" # saved # [{` is the value that the forward operation saved.

    Example:

    ```mlir
    %dx = train.}] # mnemonic # [{ %saved, %dy : tensor<4x8xf32>
    ```
  }];
  let results = (outs Train_FloatTensor:$result);
  let assemblyFormat = "operands attr-dict `:` type($result)";
}

def Train_ReluGradOp : Train_ActivationGradOp<"relu_grad", "output <= 0 ? 0 : dy", "output"> {
  let arguments = (ins Train_FloatTensor:$output, Train_FloatTensor:$grad);
}
def Train_TanhGradOp : Train_ActivationGradOp<"tanh_grad", "dy · (1 - output²)", "output"> {
  let arguments = (ins Train_FloatTensor:$output, Train_FloatTensor:$grad);
}
def Train_SigmoidGradOp : Train_ActivationGradOp<"sigmoid_grad", "dy · output · (1 - output)", "output"> {
  let arguments = (ins Train_FloatTensor:$output, Train_FloatTensor:$grad);
}
def Train_SiluGradOp : Train_ActivationGradOp<"silu_grad", "dy · silu'(input)", "input"> {
  let arguments = (ins Train_FloatTensor:$input, Train_FloatTensor:$grad);
}
def Train_GeluGradOp : Train_ActivationGradOp<"gelu_grad", "dy · gelu'(input)", "input"> {
  let arguments = (ins Train_FloatTensor:$input, Train_FloatTensor:$grad,
      DefaultValuedAttr<Train_GeluApproximation,
                        "::mlir::train::GeluApproximation::None">:$approximate);
}
def Train_ClipGradOp : Train_ActivationGradOp<"clip_grad", "min <= input <= max ? dy : 0", "input"> {
  let description = [{
    Computes min <= input <= max ? dy : 0, where `input` is the value that the
    forward operation saved.

    Example:

    ```mlir
    %dx = train.clip_grad %saved, %dy {min = 0.0 : f64, max = 6.0 : f64} : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$input, Train_FloatTensor:$grad,
                       F64Attr:$min, F64Attr:$max);
  let hasVerifier = 1;
  let extraClassDeclaration = Train_HasOwnSlots;
}

//===----------------------------------------------------------------------===//
// Binary, with broadcasting
//===----------------------------------------------------------------------===//

class Train_BinaryOp<string mnemonic, string formula, list<Trait> traits = [],
                     Trait ranges = Train_Ranges>
    : Train_Op<mnemonic, traits # [
          AllElementTypesMatch<["lhs", "rhs", "result"]>,
          Train_Differentiable, ranges]> {
  let summary = "elementwise " # formula # " with broadcasting";
  let description = "Computes " # formula # [{ of each pair of elements. Shapes broadcast as
    in NumPy: they are aligned at the last dimension, and a dimension that is 1
    or missing is repeated.

    Example:

    ```mlir
    %2 = train.}] # mnemonic # [{ %0, %1 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$lhs, Train_FloatTensor:$rhs);
  let results = (outs Train_FloatTensor:$result);
}

class Train_BinaryStorageOp<string mnemonic, string formula,
                            list<Trait> traits = [],
                            Trait ranges = Train_Ranges>
    : Train_BinaryOp<mnemonic, formula, traits # [PrecisionOpInterface],
                     ranges>;

def Train_AddOp : Train_BinaryStorageOp<"add", "x + y", [Commutative], Train_StrictRanges> {
  let hasFolder = 1;
  let extraClassDeclaration = Train_Computes<"Add">.extraClassDeclaration;
}
def Train_SubOp : Train_BinaryStorageOp<"sub", "x - y", [], Train_StrictRanges> {
  let hasFolder = 1;
  let extraClassDeclaration = Train_Computes<"Subtract">.extraClassDeclaration;
}
def Train_MulOp : Train_BinaryStorageOp<"mul", "x · y", [Commutative]> {
  let hasFolder = 1;
  let extraClassDeclaration = Train_Computes<"Multiply">.extraClassDeclaration;
}
def Train_DivOp : Train_BinaryStorageOp<"div", "x / y"> { let hasFolder = 1; }
def Train_MaximumOp : Train_BinaryStorageOp<"maximum", "max(x, y), with NaN propagated,", [Commutative]>;
def Train_MinimumOp : Train_BinaryStorageOp<"minimum", "min(x, y), with NaN propagated,", [Commutative]>;
def Train_PowOp : Train_BinaryOp<"pow", "x to the power y", [Train_Slots]>,
                  Train_Computes<"Steep">;

//===----------------------------------------------------------------------===//
// Comparison and selection
//===----------------------------------------------------------------------===//

def Train_ComparePredicate : I32EnumAttr<"ComparePredicate", "comparison", [
    I32EnumAttrCase<"EQ", 0, "eq">, I32EnumAttrCase<"NE", 1, "ne">,
    I32EnumAttrCase<"LT", 2, "lt">, I32EnumAttrCase<"LE", 3, "le">,
    I32EnumAttrCase<"GT", 4, "gt">, I32EnumAttrCase<"GE", 5, "ge">]> {
  let cppNamespace = "::mlir::train";
}

def Train_CompareOp : Train_StorageOp<"compare", [
    AllElementTypesMatch<["lhs", "rhs"]>]> {
  let summary = "elementwise comparison with broadcasting";
  let description = [{
    Compares floats or integers. A comparison with NaN is true for `ne` and
    false for all other predicates. Integers are signed. i1 operands allow only
    `eq` and `ne`.

    Example:

    ```mlir
    %2 = train.compare ge, %0, %1 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xi1>
    ```
  }];
  let arguments = (ins Train_ComparePredicate:$predicate,
                       Train_NumberTensor:$lhs, Train_NumberTensor:$rhs);
  let results = (outs Train_BoolTensor:$result);
  let assemblyFormat = [{
    $predicate `,` $lhs `,` $rhs attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Train_SelectOp : Train_StorageOp<"select", [
    AllElementTypesMatch<["on_true", "on_false", "result"]>,
    Train_Differentiable, Train_RangesAndFlow, SelectLikeOpInterface]> {
  let summary = "elementwise choice with broadcasting";
  let description = [{
    Computes `condition ? on_true : on_false`. The three operands broadcast
    against each other.

    Example:

    ```mlir
    %3 = train.select %0, %1, %2
        : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Train_BoolTensor:$condition,
                       Train_FloatTensor:$on_true, Train_FloatTensor:$on_false);
  let results = (outs Train_FloatTensor:$result);
  let extraClassDeclaration = [{
    ::mlir::Value getTrueValue() { return getOnTrue(); }
    ::mlir::Value getFalseValue() { return getOnFalse(); }
  }];
}

def Train_OneHotOp : Train_StorageOp<"one_hot", [Train_Ranges]> {
  let summary = "one-hot encoding of integers";
  let description = [{
    Adds a last dimension whose extent is the number of classes. Its elements
    are 1 at the index that the integer gives and 0 elsewhere. An index out of
    range gives zeros.

    Example:

    ```mlir
    %1 = train.one_hot %0 : (tensor<?xi64>) -> tensor<?x10xf32>
    ```
  }];
  let arguments = (ins Train_IntTensor:$indices);
  let results = (outs Train_FloatTensor:$result);
}

def Train_ConstantOp : Train_Op<"constant", [ConstantLike,
    AllTypesMatch<["value", "result"]>,
    DeclareOpInterfaceMethods<PrecisionOpInterface,
                              ["getPrecisionSlots", "retype"]>]> {
  let summary = "a constant tensor";
  let description = [{
    A constant with a finite element beyond the range of f16 is a range slot.

    Example:

    ```mlir
    %0 = train.constant dense<0.5> : tensor<f32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Train_NumberTensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
  let hasVerifier = 1;
}

#endif // AMP_DIALECT_TRAIN_IR_TRAINELEMENTWISEOPS_TD
