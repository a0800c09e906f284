//===- LinalgModels.cpp - The linalg dialect on tensors -------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Structured operations, classified by iterator types and body. Bodies compute
// in f32. They widen low values on entry and round them on exit. Accumulators
// stay f32.
//
//===----------------------------------------------------------------------===//

#include "LinalgBody.h"

#include "amp/ExternalModels/ExternalModels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::amp;

namespace {

template <typename OpTy>
struct StructuredModel
    : PrecisionOpInterface::ExternalModel<StructuredModel<OpTy>, OpTy> {
  void getPrecisionSlots(Operation *op, PrecisionSlots &slots) const {
    getStructuredSlots(cast<linalg::LinalgOp>(op), slots);
  }
  LogicalResult retype(Operation *op, ArrayRef<Type> slotTypes,
                       RewriterBase &rewriter) const {
    return retypeStructured(cast<linalg::LinalgOp>(op), slotTypes, rewriter);
  }
  int64_t getProductFlops(Operation *op) const {
    return getStructuredFlops(cast<linalg::LinalgOp>(op));
  }
  Arithmetic getArithmetic(Operation *op) const {
    return getElementArithmetic(cast<linalg::LinalgOp>(op));
  }
};

/// The ranges of a body that moves elements. Other bodies have no rule.
template <typename OpTy>
struct BodyRangeModel
    : FloatRangeOpInterface::ExternalModel<BodyRangeModel<OpTy>, OpTy> {
  void inferFloatRanges(Operation *op, ArrayRef<FloatRange> operands,
                        MutableArrayRef<FloatRange> results) const {
    for (auto [result, input] :
         llvm::zip(results, getMovedInputs(cast<linalg::LinalgOp>(op))))
      result = operands[input];
  }
  ElementFlow getElementFlow(Operation *op) const {
    return getMovedInputs(cast<linalg::LinalgOp>(op)).empty()
               ? ElementFlow::Computes
               : ElementFlow::Moves;
  }
};

/// linalg.pack may have a padding value, a scalar of the type of the tensors.
struct PackModel
    : PrecisionOpInterface::ExternalModel<PackModel, linalg::PackOp> {
  void getPrecisionSlots(Operation *op, PrecisionSlots &slots) const {
    getUniformPrecisionSlots(op, SlotKind::Storage, slots);
    if (Value padding = cast<linalg::PackOp>(op).getPaddingValue())
      addStoredScalar(padding, slots.resultSlots[0], slots);
  }
  LogicalResult retype(Operation *op, ArrayRef<Type> slotTypes,
                       RewriterBase &rewriter) const {
    Type type = getSlotType(slotTypes, 0);
    auto pack = cast<linalg::PackOp>(op);
    if (!type || !pack.getPaddingValue())
      return success();
    rewriter.setInsertionPoint(op);
    castOperand(*pack.getPaddingValueMutable().begin(), type, rewriter);
    return success();
  }
};

template <typename... OpTys>
void attachStructured(MLIRContext *context) {
  (OpTys::template attachInterface<StructuredModel<OpTys>>(*context), ...);
}

} // namespace

void mlir::amp::registerLinalgPrecisionModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context,
                            linalg::LinalgDialect *dialect) {
    context->getOrLoadDialect<arith::ArithDialect>();
    context->getOrLoadDialect<tensor::TensorDialect>();
    dialect->addInterfaces<ArithCastInterface>();
    attachStructured<
#define GET_OP_LIST
#include "mlir/Dialect/Linalg/IR/LinalgStructuredOps.cpp.inc"
        >(context);
    linalg::PackOp::attachInterface<PackModel>(*context);
    attachUniform<SlotKind::Storage, linalg::UnPackOp>(context);
    attachMovement<linalg::BroadcastOp, linalg::CopyOp, linalg::FillOp,
                   linalg::SelectOp, linalg::TransposeOp>(context);
    linalg::GenericOp::attachInterface<BodyRangeModel<linalg::GenericOp>>(
        *context);
    linalg::MapOp::attachInterface<BodyRangeModel<linalg::MapOp>>(*context);
    attachStoring<linalg::PackOp, linalg::UnPackOp>(context);
    // Several operations in one, which upstream decomposes in the type of
    // their operands.
    attachUniform<
        SlotKind::Fixed, linalg::SoftmaxOp, linalg::WinogradFilterTransformOp,
        linalg::WinogradInputTransformOp, linalg::WinogradOutputTransformOp>(
        context);
  });
}
