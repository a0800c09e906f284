//===- TensorModels.cpp - The tensor dialect ------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These operations move values. Their scalar operands and results stay f32, as
// all values in a body do, and are rounded at the tensor.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include "amp/ExternalModels/ExternalModels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::amp;

namespace {

/// tensor.pad and tensor.generate: the body yields the scalar.
template <typename OpTy>
struct YieldModel
    : PrecisionOpInterface::ExternalModel<YieldModel<OpTy>, OpTy> {
  void getPrecisionSlots(Operation *op, PrecisionSlots &slots) const {
    getUniformPrecisionSlots(op, SlotKind::Storage, slots);
    addStoredScalar(op->getRegion(0).front().getTerminator()->getOperand(0),
                    slots.resultSlots[0], slots);
  }
  LogicalResult retype(Operation *op, ArrayRef<Type> slotTypes,
                       RewriterBase &rewriter) const {
    Type type = getSlotType(slotTypes, 0);
    Operation *yield = op->getRegion(0).front().getTerminator();
    if (!type)
      return success();
    rewriter.setInsertionPoint(yield);
    castOperand(yield->getOpOperand(0), type, rewriter);
    return success();
  }
};

/// tensor.splat, tensor.insert and tensor.from_elements: operands are scalars.
template <typename OpTy>
struct ScalarOperandModel
    : PrecisionOpInterface::ExternalModel<ScalarOperandModel<OpTy>, OpTy> {
  void getPrecisionSlots(Operation *op, PrecisionSlots &slots) const {
    getUniformPrecisionSlots(op, SlotKind::Storage, slots);
    for (Value operand : op->getOperands())
      addStoredScalar(operand, slots.resultSlots[0], slots);
  }
  LogicalResult retype(Operation *op, ArrayRef<Type> slotTypes,
                       RewriterBase &rewriter) const {
    Type type = getSlotType(slotTypes, 0);
    if (!type)
      return success();
    rewriter.setInsertionPoint(op);
    for (OpOperand &operand : op->getOpOperands()) {
      if (isa<FloatType>(operand.get().getType()))
        castOperand(operand, type, rewriter);
    }
    return success();
  }
};

/// tensor.empty has no contents and may have any type.
struct EmptyModel
    : PrecisionOpInterface::ExternalModel<EmptyModel, tensor::EmptyOp> {
  void getPrecisionSlots(Operation *op, PrecisionSlots &slots) const {
    getUniformPrecisionSlots(op, SlotKind::Storage, slots);
    slots.isConstant = true;
  }
};

/// tensor.extract gives an f32 scalar from a tensor of any type.
struct ExtractModel
    : PrecisionOpInterface::ExternalModel<ExtractModel, tensor::ExtractOp> {
  void getPrecisionSlots(Operation *op, PrecisionSlots &slots) const {
    slots.reset(op);
    if (getPrecisionElementType(op->getOperand(0).getType()))
      slots.add(SlotKind::Storage, {0}, {});
  }
  Type getReadType(Operation *op, unsigned operand) const {
    return operand == 0 ? RankedTensorType::get(
                              {1}, getElementTypeOrSelf(op->getOperand(0)))
                        : op->getOperand(operand).getType();
  }
  LogicalResult retype(Operation *op, ArrayRef<Type> slotTypes,
                       RewriterBase &rewriter) const {
    Type type = getSlotType(slotTypes, 0);
    Value result = op->getResult(0);
    if (!type || result.getType() == type)
      return success();
    Type wide = result.getType();
    rewriter.modifyOpInPlace(op, [&] { result.setType(type); });
    rewriter.setInsertionPointAfter(op);
    castUses(result, wide, rewriter);
    return success();
  }
};

} // namespace

void mlir::amp::registerTensorPrecisionModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context,
                            tensor::TensorDialect *dialect) {
    context->getOrLoadDialect<arith::ArithDialect>();
    dialect->addInterfaces<ArithCastInterface>();
    attachUniform<SlotKind::Storage, tensor::CastOp, tensor::CollapseShapeOp,
                  tensor::ConcatOp, tensor::ExpandShapeOp,
                  tensor::InsertSliceOp, tensor::ReshapeOp, tensor::ScatterOp>(
        context);
    tensor::ExtractSliceOp::attachInterface<PartModel<tensor::ExtractSliceOp>>(
        *context);
    tensor::GatherOp::attachInterface<PartModel<tensor::GatherOp>>(*context);
    tensor::DimOp::attachInterface<ShapeModel<tensor::DimOp>>(*context);
    tensor::RankOp::attachInterface<ShapeModel<tensor::RankOp>>(*context);
    attachMovement<tensor::CastOp, tensor::CollapseShapeOp, tensor::ConcatOp,
                   tensor::ExpandShapeOp, tensor::ExtractSliceOp,
                   tensor::GatherOp, tensor::InsertSliceOp, tensor::ReshapeOp,
                   tensor::ScatterOp>(context);
    attachStoring<tensor::PadOp, tensor::InsertOp>(context);
    attachUniform<SlotKind::Fixed, tensor::ParallelInsertSliceOp>(context);
    attachBits<tensor::BitcastOp>(context);
    tensor::EmptyOp::attachInterface<EmptyModel>(*context);
    tensor::PadOp::attachInterface<YieldModel<tensor::PadOp>>(*context);
    tensor::GenerateOp::attachInterface<YieldModel<tensor::GenerateOp>>(
        *context);
    tensor::SplatOp::attachInterface<ScalarOperandModel<tensor::SplatOp>>(
        *context);
    tensor::InsertOp::attachInterface<ScalarOperandModel<tensor::InsertOp>>(
        *context);
    tensor::FromElementsOp::attachInterface<
        ScalarOperandModel<tensor::FromElementsOp>>(*context);
    tensor::ExtractOp::attachInterface<ExtractModel>(*context);
  });
}
