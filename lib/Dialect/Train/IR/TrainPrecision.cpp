//===- TrainPrecision.cpp - Precision slots of the train dialect ----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The slots of every operation that is not one storage slot.
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/Train/IR/Train.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace mlir::train;
using amp::PrecisionSlots;
using amp::SlotKind;

//===----------------------------------------------------------------------===//
// Products: low operands, and a result that may be low or f32
//===----------------------------------------------------------------------===//

/// Describes the slots of a product of operands 0 and 1. `epilogue`, if any, is
/// an operand that has the result's type.
static void getProductSlots(Operation *op, PrecisionSlots &slots,
                            ArrayRef<unsigned> epilogue = {}) {
  slots.reset(op);
  int8_t operands = slots.add(SlotKind::Compute, {0, 1}, {});
  int8_t result = slots.add(SlotKind::Storage, epilogue, {0});
  slots.addImplication(result, operands);
}

void MatmulOp::getPrecisionSlots(PrecisionSlots &slots) {
  getProductSlots(*this, slots);
}
void Conv2DOp::getPrecisionSlots(PrecisionSlots &slots) {
  getProductSlots(*this, slots);
}
void Conv2DInputGradOp::getPrecisionSlots(PrecisionSlots &slots) {
  getProductSlots(*this, slots);
}
void Conv2DFilterGradOp::getPrecisionSlots(PrecisionSlots &slots) {
  getProductSlots(*this, slots);
}
void LinearOp::getPrecisionSlots(PrecisionSlots &slots) {
  if (getBias())
    getProductSlots(*this, slots, {2});
  else
    getProductSlots(*this, slots);
}

void ScaledDotProductAttentionOp::getPrecisionSlots(PrecisionSlots &slots) {
  slots.reset(*this);
  int8_t operands = slots.add(SlotKind::Compute, {0, 1, 2}, {});
  int8_t result = slots.add(SlotKind::Storage, {}, {0});
  slots.add(SlotKind::Fixed, {}, {1});
  slots.addImplication(result, operands);
}
void ScaledDotProductAttentionGradOp::getPrecisionSlots(PrecisionSlots &slots) {
  slots.reset(*this);
  int8_t operands = slots.add(SlotKind::Compute, {0, 1, 2, 3}, {});
  int8_t results = slots.add(SlotKind::Storage, {}, {0, 1, 2});
  // The output is only multiplied by its gradient, in f32.
  slots.add(SlotKind::Storage, {4}, {});
  slots.add(SlotKind::Fixed, {5}, {});
  slots.addImplication(results, operands);
}

//===----------------------------------------------------------------------===//
// Elementwise operations that may leave the range of a low type
//===----------------------------------------------------------------------===//

#define AMP_RANGE_OP(OP)                                                       \
  void OP::getPrecisionSlots(PrecisionSlots &slots) {                          \
    amp::getUniformPrecisionSlots(*this, SlotKind::Range, slots);              \
  }
AMP_RANGE_OP(ExpOp)
AMP_RANGE_OP(Expm1Op)
AMP_RANGE_OP(RsqrtOp)
AMP_RANGE_OP(ReciprocalOp)
AMP_RANGE_OP(SquareOp)
AMP_RANGE_OP(PowOp)
#undef AMP_RANGE_OP

//===----------------------------------------------------------------------===//
// Constants: the value changes type with the result
//===----------------------------------------------------------------------===//

void ConstantOp::getPrecisionSlots(PrecisionSlots &slots) {
  // Elements that are not part of the IR (a resource) cannot be rounded.
  auto elements = dyn_cast<DenseFPElementsAttr>(getValue());
  if (!elements)
    return amp::getUniformPrecisionSlots(*this, SlotKind::Fixed, slots);
  // A constant that rounds to infinity would change more than its last bit.
  auto fits = [](APFloat value) {
    bool losesInfo;
    bool isFinite = value.isFinite();
    value.convert(APFloat::IEEEhalf(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    return !isFinite || value.isFinite();
  };
  bool allFit = elements.isSplat() ? fits(elements.getSplatValue<APFloat>())
                                   : llvm::all_of(elements, fits);
  amp::getUniformPrecisionSlots(
      *this, allFit ? SlotKind::Storage : SlotKind::Range, slots);
}

LogicalResult ConstantOp::retype(ArrayRef<Type> slotTypes,
                                 RewriterBase &rewriter) {
  auto elements = dyn_cast<DenseFPElementsAttr>(getValue());
  if (!elements || slotTypes.empty() || !slotTypes[0])
    return success();
  auto type = cast<FloatType>(slotTypes[0]);
  auto rounded = elements.mapValues(type, [&](const APFloat &value) {
    APFloat copy = value;
    bool losesInfo;
    copy.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
    // Only masks have elements beyond the range of the type here. They
    // saturate, because -inf would turn a fully masked row into NaN.
    if (copy.isInfinity() && value.isFinite())
      copy = APFloat::getLargest(type.getFloatSemantics(), value.isNegative());
    return copy.bitcastToAPInt();
  });
  rewriter.modifyOpInPlace(*this, [&] {
    setValueAttr(rounded);
    getResult().setType(cast<RankedTensorType>(rounded.getType()));
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions: they accumulate in f32, and only the result may overflow
//===----------------------------------------------------------------------===//

static void getReduceSlots(Operation *op, SlotKind resultKind,
                           PrecisionSlots &slots) {
  slots.reset(op);
  int8_t input = slots.add(SlotKind::Storage, {0}, {});
  int8_t result = slots.add(resultKind, {}, {0});
  slots.addImplication(result, input);
}

void ReduceSumOp::getPrecisionSlots(PrecisionSlots &slots) {
  getReduceSlots(*this, SlotKind::Range, slots);
}
void ScatterAddOp::getPrecisionSlots(PrecisionSlots &slots) {
  getReduceSlots(*this, SlotKind::Range, slots);
}
void CumsumOp::getPrecisionSlots(PrecisionSlots &slots) {
  getReduceSlots(*this, SlotKind::Range, slots);
}
void LogsumexpOp::getPrecisionSlots(PrecisionSlots &slots) {
  getReduceSlots(*this, SlotKind::Storage, slots);
}
void ReduceMeanOp::getPrecisionSlots(PrecisionSlots &slots) {
  getReduceSlots(*this, SlotKind::Storage, slots);
}
void ReduceMaxOp::getPrecisionSlots(PrecisionSlots &slots) {
  getReduceSlots(*this, SlotKind::Storage, slots);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

void BroadcastOp::getPrecisionSlots(PrecisionSlots &slots) {
  slots.reset(*this);
  slots.add(SlotKind::Storage, {0}, {0});
  // The operation reads only the extents of `like`. Its type does not matter.
  if (getLike()) {
    slots.add(SlotKind::Storage, {1}, {});
    slots.shapeOperand = 1;
  }
}

//===----------------------------------------------------------------------===//
// Activations in storage, everything else fixed
//===----------------------------------------------------------------------===//

/// One storage slot of the given operands and results; one fixed slot of all
/// other floats.
static void getActivationSlots(Operation *op, ArrayRef<unsigned> operands,
                               ArrayRef<unsigned> results,
                               PrecisionSlots &slots) {
  amp::getUniformPrecisionSlots(op, SlotKind::Fixed, slots);
  if (!operands.empty() || !results.empty())
    slots.add(SlotKind::Storage, operands, results);
}

void LayerNormOp::getPrecisionSlots(PrecisionSlots &slots) {
  getActivationSlots(*this, {0}, {0}, slots);
}
void LayerNormGradOp::getPrecisionSlots(PrecisionSlots &slots) {
  getActivationSlots(*this, {0, 1}, {0}, slots);
}
void RMSNormOp::getPrecisionSlots(PrecisionSlots &slots) {
  getActivationSlots(*this, {0}, {0}, slots);
}
void RMSNormGradOp::getPrecisionSlots(PrecisionSlots &slots) {
  getActivationSlots(*this, {0, 1}, {0}, slots);
}
void RotaryEmbeddingOp::getPrecisionSlots(PrecisionSlots &slots) {
  getActivationSlots(*this, {0}, {0}, slots);
}
void BatchNormTrainingOp::getPrecisionSlots(PrecisionSlots &slots) {
  getActivationSlots(*this, {0}, {0}, slots);
}
void BatchNormInferenceOp::getPrecisionSlots(PrecisionSlots &slots) {
  getActivationSlots(*this, {0}, {0}, slots);
}
void BatchNormGradOp::getPrecisionSlots(PrecisionSlots &slots) {
  getActivationSlots(*this, {0, 1}, {0}, slots);
}
void CrossEntropyOp::getPrecisionSlots(PrecisionSlots &slots) {
  getActivationSlots(*this, {0}, {}, slots);
}
void CrossEntropyGradOp::getPrecisionSlots(PrecisionSlots &slots) {
  getActivationSlots(*this, {0}, {0}, slots);
}
void MSEOp::getPrecisionSlots(PrecisionSlots &slots) {
  getActivationSlots(*this, {0, 1}, {}, slots);
}
void L1Op::getPrecisionSlots(PrecisionSlots &slots) {
  getActivationSlots(*this, {0, 1}, {}, slots);
}
void MSEGradOp::getPrecisionSlots(PrecisionSlots &slots) {
  getActivationSlots(*this, {0, 1}, {0}, slots);
}
void L1GradOp::getPrecisionSlots(PrecisionSlots &slots) {
  getActivationSlots(*this, {0, 1}, {0}, slots);
}

//===----------------------------------------------------------------------===//
// Never low: optimizers, norms of gradients, state of random generators
//===----------------------------------------------------------------------===//

void SGDOp::getPrecisionSlots(PrecisionSlots &slots) {
  // A gradient may have any type. The update computes in f32.
  getActivationSlots(*this, {1}, {}, slots);
}
void AdamOp::getPrecisionSlots(PrecisionSlots &slots) {
  getActivationSlots(*this, {1}, {}, slots);
}
void AdamWOp::getPrecisionSlots(PrecisionSlots &slots) {
  getActivationSlots(*this, {1}, {}, slots);
}
void GradientsOp::getPrecisionSlots(PrecisionSlots &slots) {
  // The operands select what to differentiate. Their values are not read.
  amp::getUniformPrecisionSlots(*this, SlotKind::Fixed, slots);
}
void ClipByGlobalNormOp::getPrecisionSlots(PrecisionSlots &slots) {
  amp::getUniformPrecisionSlots(*this, SlotKind::Fixed, slots);
}
void AdvanceRngOp::getPrecisionSlots(PrecisionSlots &slots) {
  slots.reset(*this);
}
void DocumentMaskOp::getPrecisionSlots(PrecisionSlots &slots) {
  slots.reset(*this);
}

//===----------------------------------------------------------------------===//
// Constants in attributes
//===----------------------------------------------------------------------===//

void PadOp::getPrecisionSlots(PrecisionSlots &slots) {
  getUniformPrecisionSlots(*this, SlotKind::Storage, slots);
  slots.addConstant(0, getValue().convertToDouble());
}

/// Adds the limits of a clip. One on the far side of zero is a value of the
/// result in any case.
static void addLimits(const APFloat &min, const APFloat &max,
                      PrecisionSlots &slots) {
  for (const APFloat &limit : {min, max})
    slots.addBound(0, limit.convertToDouble());
  if (min.isNonZero() && !min.isNegative())
    slots.addConstant(0, min.convertToDouble());
  if (max.isNonZero() && max.isNegative())
    slots.addConstant(0, max.convertToDouble());
}

void ClipOp::getPrecisionSlots(PrecisionSlots &slots) {
  getUniformPrecisionSlots(*this, SlotKind::Storage, slots);
  addLimits(getMin(), getMax(), slots);
}

void ClipGradOp::getPrecisionSlots(PrecisionSlots &slots) {
  getUniformPrecisionSlots(*this, SlotKind::Storage, slots);
  for (const APFloat &limit : {getMin(), getMax()})
    slots.addBound(0, limit.convertToDouble());
}

void DropoutOp::getPrecisionSlots(PrecisionSlots &slots) {
  getUniformPrecisionSlots(*this, SlotKind::Storage, slots);
  // Scales the remaining elements.
  slots.addBound(0, 1 / (1 - getRate().convertToDouble()));
}

//===----------------------------------------------------------------------===//
// What is read
//===----------------------------------------------------------------------===//

Type SliceOp::getReadType(unsigned) { return getType(); }

Type GatherOp::getReadType(unsigned operand) {
  return operand == 0 ? Type(getType()) : getOperand(operand).getType();
}

Type BroadcastOp::getReadType(unsigned operand) {
  return operand == 0 ? Type(getInput().getType()) : Type();
}

//===----------------------------------------------------------------------===//
// Dimension maps
//===----------------------------------------------------------------------===//

std::optional<SmallVector<int64_t>> ReduceMeanOp::getDimensionMap() {
  SmallVector<int64_t> map;
  for (int64_t dim : llvm::seq(getInput().getType().getRank())) {
    bool isReduced = llvm::is_contained(getDims(), dim);
    if (!isReduced || getKeepDims())
      map.push_back(isReduced ? -1 : dim);
  }
  return map;
}

std::optional<SmallVector<int64_t>> BroadcastOp::getDimensionMap() {
  SmallVector<int64_t> map;
  int64_t next = 0;
  for (int64_t dim : llvm::seq(getResult().getType().getRank()))
    map.push_back(llvm::is_contained(getDims(), dim) ? -1 : next++);
  return map;
}

/// The map is known only if the reshape inserts or drops dimensions of
/// extent 1.
std::optional<SmallVector<int64_t>> ReshapeOp::getDimensionMap() {
  RankedTensorType from = getInput().getType(), to = getResult().getType();
  SmallVector<int64_t> map;
  int64_t next = 0;
  auto skipUnits = [&] {
    while (next < from.getRank() && from.getDimSize(next) == 1)
      ++next;
  };
  for (int64_t extent : to.getShape()) {
    skipUnits();
    if (extent == 1)
      map.push_back(-1);
    else if (next < from.getRank() && from.getDimSize(next) == extent)
      map.push_back(next++);
    else
      return std::nullopt;
  }
  skipUnits();
  if (next != from.getRank())
    return std::nullopt;
  return map;
}
