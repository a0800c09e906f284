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
    This dialect has functional operations over ranked tensors: products,
    convolutions, norms, losses, optimizers, and their backward operations.
    Precision decisions and tuned kernels exist at this level.

    - **Storage is not compute.** Every operation computes in f32 (f64 for f64
      operands) and rounds once, to nearest even, on each result. Element types
      say how values are stored.
    - **Explicit element types.** There is no implicit promotion. The operands
      of elementwise operations have equal float types. `amp.cast` converts.
    - **A result may be wider than the operands** of products and reductions.
      Hardware gives the wider result at no cost.
    - NaN propagates through relu, maximum, minimum, clip and pooling.
    - Only the batch dimension may be `?`. `train-set-batch` makes it static.
      Two dimensions `?` are assumed to be equal.
    - Parameters of norms, statistics and the scalar results of losses are f32
      (f64 for f64 operands). The type of the activations does not matter.
    - An operation has its own attributes and those of dialects, whose names
      have a prefix. Other attributes are errors: MLIR would ignore a misspelled
      one.

    | attribute | on | meaning |
    |---|---|---|
    | `train.stop_gradient` | operation | no value; its results count as constants of the differentiation |
    | `train.recomputed` | operation | the number of the group that `train-rematerialize` runs again |
  }];
  let dependentDialects = ["::mlir::amp::AMPDialect"];
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
  private:
    // One per family. No translation unit instantiates all operations.
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

// Interfaces as most operations declare them.
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

// Defines PrecisionOpInterface::getArithmetic.
class Train_Computes<string kind> {
  code extraClassDeclaration =
      "::mlir::amp::Arithmetic getArithmetic() { return "
      "::mlir::amp::Arithmetic::" # kind # "; }";
}

// Defines getArithmetic and declares getDimensionMap.
class Train_ComputesAlong<string kind> {
  code extraClassDeclaration =
      Train_Computes<kind>.extraClassDeclaration #
      "::std::optional<::llvm::SmallVector<int64_t>> getDimensionMap();";
}

// For a storage operation that adds constants or constraints to its slot.
defvar Train_HasOwnSlots =
    "void getPrecisionSlots(::mlir::amp::PrecisionSlots &slots);";

// For an operation that reads a part of an operand, or its shape alone.
defvar Train_ReadsPart = "::mlir::Type getReadType(unsigned operand);";

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
