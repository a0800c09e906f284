//===- TrainDialect.cpp - The train dialect -------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registration of the dialect, and the shape inference and verification that
// all operations share.
//
//===----------------------------------------------------------------------===//

#include "ReplicationModels.h"
#include "ScaleExponentModels.h"

#include "amp/Dialect/AMP/IR/AttributeNames.h"
#include "amp/Dialect/Train/IR/Backpropagation.h"
#include "amp/Dialect/Train/IR/Train.h"

#include "amp/Interfaces/CastMaterialization.h"
#include "amp/Support/NearName.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/Support/MathExtras.h"
#include <utility>

using namespace mlir;
using namespace mlir::train;

#include "amp/Dialect/Train/IR/TrainDialect.cpp.inc"
#include "amp/Dialect/Train/IR/TrainEnums.cpp.inc"
#include "amp/Dialect/Train/IR/TrainInterfaces.cpp.inc"

namespace {
/// The inliner may inline every operation of the dialect, because none has side
/// effects or regions.
struct TrainInlinerInterface : public DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
/// Training graphs use `amp.cast`.
struct TrainCastInterface : public amp::CastMaterializationInterface {
  using CastMaterializationInterface::CastMaterializationInterface;
  bool canMaterializeCast(Type from, Type to) const final {
    return amp::CastOp::areCastCompatible(from, to);
  }
  Operation *materializeCast(OpBuilder &builder, Location loc, Value value,
                             Type type) const final {
    return amp::CastOp::create(builder, loc, type, value, /*inserted=*/true);
  }
};
} // namespace

void TrainDialect::initialize() {
  addInterfaces<TrainCastInterface, TrainInlinerInterface>();
  registerElementwiseOps();
  registerLossOps();
  registerNormalizationOps();
  registerProductOps();
  registerSequenceOps();
  registerShapeOps();
  attachReplicationModels(getContext());
  attachScaleExponentModels(getContext());
  attachMatrixProductModels(getContext());
}

Operation *TrainDialect::materializeConstant(OpBuilder &builder,
                                             Attribute value, Type type,
                                             Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}

FloatType mlir::train::getComputeType(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF64() ? cast<FloatType>(element)
                         : Float32Type::get(type.getContext());
}

FailureOr<SmallVector<int64_t>>
mlir::train::broadcastShapes(ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
  if (lhs.size() < rhs.size())
    std::swap(lhs, rhs);
  SmallVector<int64_t> shape(lhs);
  size_t offset = lhs.size() - rhs.size();
  for (auto [index, extent] : llvm::enumerate(rhs)) {
    int64_t &result = shape[offset + index];
    if (result == extent || extent == 1)
      continue;
    // `?` is the batch size. It broadcasts against itself, 1, or a missing
    // dimension.
    if (result != 1)
      return failure();
    result = extent;
  }
  return shape;
}

/// Reports that `train` has no attribute `name` on `place`.
static LogicalResult reject(Operation *op, StringRef place, StringRef name) {
  return op->emitOpError() << place << "attribute '" << name
                           << "' is not one of the 'train' dialect"
                           << amp::suggestName(
                                  name, {kStopGradientAttr, kRecomputedAttr});
}

LogicalResult TrainDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kRecomputedAttr) {
    if (isa<IntegerAttr>(attribute.getValue()))
      return success();
    return op->emitOpError()
           << "expected '" << name << "' to be the number of a group";
  }
  if (name != kStopGradientAttr)
    return reject(op, "", name);
  if (isa<UnitAttr>(attribute.getValue()))
    return success();
  return op->emitOpError() << "expected '" << name << "' to have no value";
}

LogicalResult TrainDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                     unsigned argIndex,
                                                     NamedAttribute attribute) {
  return reject(op, "argument " + std::to_string(argIndex) + ": ",
                attribute.getName());
}

LogicalResult TrainDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned resultIndex, NamedAttribute attribute) {
  return reject(op, "result " + std::to_string(resultIndex) + ": ",
                attribute.getName());
}

LogicalResult mlir::train::verifyTensorTypes(Operation *op) {
  constexpr int64_t maxElements = int64_t(1) << 48;
  Type last;
  auto verify = [&](Type type) -> LogicalResult {
    // Most operations have tensors of one type.
    if (type == std::exchange(last, type))
      return success();
    auto tensor = cast<RankedTensorType>(type);
    if (tensor.getEncoding())
      return op->emitOpError("expected tensors without an encoding, got ")
             << tensor;
    int64_t elements = 1;
    for (int64_t extent : tensor.getShape()) {
      if (extent == 0)
        return op->emitOpError("expected tensors without an empty dimension, "
                               "got ")
               << tensor;
      if (ShapedType::isDynamic(extent))
        continue;
      if (llvm::MulOverflow(elements, extent, elements) ||
          elements >= maxElements)
        return op->emitOpError("expected tensors of fewer than 2^48 elements, "
                               "got ")
               << tensor;
    }
    return success();
  };
  for (Type type :
       llvm::concat<Type>(op->getOperandTypes(), op->getResultTypes()))
    if (failed(verify(type)))
      return failure();
  return success();
}

LogicalResult mlir::train::verifyResultShapes(Operation *op) {
  if (failed(amp::verifyAttributeNames(op)) || failed(verifyTensorTypes(op)))
    return failure();
  SmallVector<SmallVector<int64_t>> shapes;
  if (failed(cast<ShapeInferenceOpInterface>(op).inferResultShapes(shapes)))
    return failure();
  if (shapes.size() != op->getNumResults())
    return op->emitOpError("expected ")
           << shapes.size() << " results, got " << op->getNumResults();
  for (auto [index, shape] : llvm::enumerate(shapes)) {
    auto type = cast<RankedTensorType>(op->getResult(index).getType());
    if (type.getShape() != ArrayRef<int64_t>(shape))
      return op->emitOpError("result ")
             << index << " must have type " << type.clone(shape) << ", got "
             << type;
  }
  return success();
}
