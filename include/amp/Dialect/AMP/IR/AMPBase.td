//===- AMPBase.td - Common definitions of operations -------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_AMPBASE_TD
#define AMP_DIALECT_AMP_IR_AMPBASE_TD

include "amp/Dialect/AMP/IR/AMPDialect.td"
include "amp/Interfaces/DifferentiableOpInterface.td"
include "amp/Interfaces/FloatRangeOpInterface.td"
include "amp/Interfaces/GradientInterfaces.td"
include "amp/Interfaces/PrecisionOpInterface.td"
include "mlir/Interfaces/CastInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// Rejects attributes that the operation does not have.
def AMP_KnownAttributes : NativeOpTrait<"HasKnownAttributes"> {
  let cppNamespace = "::mlir::amp";
}

class AMP_Op<string mnemonic, list<Trait> traits = []>
    : Op<AMP_Dialect, mnemonic, traits # [
          AMP_KnownAttributes, Pure,
          DeclareOpInterfaceMethods<PrecisionOpInterface,
                                    ["getPrecisionSlots"]>]>;

def AMP_Ranges
    : DeclareOpInterfaceMethods<FloatRangeOpInterface, ["inferFloatRanges"]>;

def AMP_FloatTensor : RankedTensorOf<[F16, BF16, F32, F64]>;
/// A tensor of any dialect, for operations on the tensor types of a host.
class AMP_AnyTensorOf<list<Type> elements, string summary>
    : Type<And<[CPred<"::mlir::amp::isPrecisionTensor($_self)">,
                SubstLeaves<"$_self", "::mlir::getElementTypeOrSelf($_self)",
                            Or<!foreach(element, elements,
                                        element.predicate)>>]>,
           summary, "::mlir::ShapedType">;
def AMP_AnyFloatTensor
    : AMP_AnyTensorOf<[F16, BF16, F32, F64],
                      "ranked tensor of f16, bf16, f32 or f64 values">;
def AMP_AnyWideTensor
    : AMP_AnyTensorOf<[F32], "ranked tensor of 32-bit float values">;
def AMP_AnyLowTensor
    : AMP_AnyTensorOf<[F16, BF16], "ranked tensor of f16 or bf16 values">;
class AMP_Scalar<Type element, string getter>
    : 0DTensorOf<[element]>,
      BuildableType<"::mlir::RankedTensorType::get({}, " # getter # ")">;
def AMP_ScalarF32 : AMP_Scalar<F32, "$_builder.getF32Type()">;
def AMP_ScalarF64 : AMP_Scalar<F64, "$_builder.getF64Type()">;
def AMP_ScalarI32 : AMP_Scalar<I32, "$_builder.getI32Type()">;
def AMP_ScalarBool : AMP_Scalar<I1, "$_builder.getI1Type()">;

def AMP_RngState
    : Type<CPred<"$_self == ::mlir::RankedTensorType::get({2}, "
                 "::mlir::IntegerType::get($_self.getContext(), 64))">,
           "random number state tensor<2xi64>">,
      BuildableType<"::mlir::RankedTensorType::get({2}, "
                    "$_builder.getI64Type())">;

#endif // AMP_DIALECT_AMP_IR_AMPBASE_TD
