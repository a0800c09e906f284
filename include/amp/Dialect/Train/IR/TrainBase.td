//===- TrainBase.td - Base of the train dialect -*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_TRAIN_IR_TRAINBASE_TD
#define AMP_DIALECT_TRAIN_IR_TRAINBASE_TD

include "amp/Dialect/Train/IR/TrainInterfaces.td"
include "amp/Interfaces/DecomposableOpInterface.td"
include "amp/Interfaces/DifferentiableOpInterface.td"
include "amp/Interfaces/FloatRangeOpInterface.td"
include "amp/Interfaces/GradientInterfaces.td"
include "amp/Interfaces/PrecisionOpInterface.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Train_Dialect : Dialect {
  let name = "train";
  let cppNamespace = "::mlir::train";
  let summary = "Training graphs";
  let description = [{
    Functional operations over ranked tensors, at the level at which precision
    decisions and tuned kernels exist: products, convolutions, norms, losses,
    optimizers, and the backward operations of these.

    - **Storage is not compute.** Every operation computes in f32 (f64 for f64
      operands) and rounds once, to nearest even, on each result. Element types
      say how values are stored.
    - **Explicit element types.** Nothing promotes implicitly: elementwise
      operations take equal float types, casts are `amp.cast`.
    - **A result may be wider than the operands** of products and reductions,
      where hardware gives it for free.
    - NaN propagates through relu, maximum, minimum, clip and pooling.
    - Only the batch dimension may be `?`; `train-set-batch` makes it static.
      Two dimensions `?` are taken to be equal.
    - Parameters of norms, statistics and the scalar results of losses are f32
      (f64 for f64 operands), whatever the type of the activations.
  }];
  let dependentDialects = ["::mlir::amp::AMPDialect"];
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
  private:
    // One per family, so that no translation unit instantiates them all.
    void registerElementwiseOps();
    void registerLossOps();
    void registerNormalizationOps();
    void registerProductOps();
    void registerSequenceOps();
    void registerShapeOps();

  public:
  }];
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Train_FloatTensor : RankedTensorOf<[F16, BF16, F32, F64]>;
def Train_WideTensor : RankedTensorOf<[F32, F64]>;
def Train_WideScalar : 0DTensorOf<[F32, F64]>;
def Train_IntTensor : RankedTensorOf<[I32, I64]>;
def Train_BoolTensor : RankedTensorOf<[I1]>;
def Train_NumberTensor : RankedTensorOf<[F16, BF16, F32, F64, I1, I32, I64]>;
def Train_RngState : StaticShapeTensorOf<[I64]>;

//===----------------------------------------------------------------------===//
// Operation classes
//===----------------------------------------------------------------------===//

// Interfaces in the form in which most operations use them.
def Train_Differentiable
    : DeclareOpInterfaceMethods<DifferentiableOpInterface>;
def Train_Composite : DeclareOpInterfaceMethods<DecomposableOpInterface>;
def Train_Slots
    : DeclareOpInterfaceMethods<PrecisionOpInterface, ["getPrecisionSlots"]>;
def Train_Ranges
    : DeclareOpInterfaceMethods<FloatRangeOpInterface, ["inferFloatRanges"]>;
def Train_RangesAndFlow
    : DeclareOpInterfaceMethods<FloatRangeOpInterface,
                                ["inferFloatRanges", "getElementFlow"]>;
def Train_StrictRanges
    : DeclareOpInterfaceMethods<FloatRangeOpInterface,
                                ["inferFloatRanges", "isUnboundedWith"]>;
def Train_ProductSlots
    : DeclareOpInterfaceMethods<PrecisionOpInterface,
                                ["getPrecisionSlots", "getProductFlops"]>;

// What an operation computes, for PrecisionOpInterface.
class Train_Computes<string kind> {
  code extraClassDeclaration =
      "::mlir::amp::Arithmetic getArithmetic() { return "
      "::mlir::amp::Arithmetic::" # kind # "; }";
}

// The same, of what says where dimensions go.
class Train_ComputesAlong<string kind> {
  code extraClassDeclaration =
      Train_Computes<kind>.extraClassDeclaration #
      "::std::optional<::llvm::SmallVector<int64_t>> getDimensionMap();";
}

// For a storage operation that has more to say of its slot.
defvar Train_HasOwnSlots =
    "void getPrecisionSlots(::mlir::amp::PrecisionSlots &slots);";

// An operation that describes its own slots through one of the traits above.
class Train_Op<string mnemonic, list<Trait> traits = []>
    : Op<Train_Dialect, mnemonic, traits # [
          Pure, DeclareOpInterfaceMethods<ShapeInferenceOpInterface>]> {
  let assemblyFormat =
      "operands attr-dict `:` functional-type(operands, results)";
}

// An operation that is one storage slot.
class Train_StorageOp<string mnemonic, list<Trait> traits = []>
    : Train_Op<mnemonic, traits # [PrecisionOpInterface]>;

#endif // AMP_DIALECT_TRAIN_IR_TRAINBASE_TD
