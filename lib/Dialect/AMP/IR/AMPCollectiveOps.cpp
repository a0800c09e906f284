//===- AMPCollectiveOps.cpp - Values of several ranks ---------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::amp;

#include "amp/Dialect/AMP/IR/AMPCollectiveEnums.cpp.inc"

#define GET_OP_CLASSES
#include "amp/Dialect/AMP/IR/AMPCollectiveOps.cpp.inc"

//===----------------------------------------------------------------------===//
// AllReduceOp
//===----------------------------------------------------------------------===//

LogicalResult AllReduceOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            ValueRange operands, DictionaryAttr,
                                            OpaqueProperties, RegionRange,
                                            SmallVectorImpl<Type> &results) {
  llvm::append_range(results, operands.getTypes());
  return success();
}

LogicalResult AllReduceOp::verify() {
  if (getValues().empty())
    return emitOpError("expected at least one tensor");
  for (Type type : getValues().getTypes()) {
    bool isBool = getElementTypeOrSelf(type).isInteger(1);
    if (isBool != (getReduction() == RankReductionKind::And))
      return emitOpError("reduction '")
             << stringifyRankReductionKind(getReduction()) << "' combines "
             << (isBool ? "numbers" : "booleans") << ", got " << type;
  }
  return success();
}

LogicalResult AllReduceOp::fold(FoldAdaptor adaptor,
                                SmallVectorImpl<OpFoldResult> &results) {
  // All ranks have the constants, and run no collective then.
  if (getReduction() == RankReductionKind::Sum ||
      llvm::is_contained(adaptor.getValues(), Attribute()))
    return failure();
  llvm::append_range(results, getValues());
  return success();
}

void AllReduceOp::getPrecisionSlots(PrecisionSlots &slots) {
  // A pass decides the type in which ranks exchange sums.
  slots.reset(*this);
  SlotKind kind = getReduction() == RankReductionKind::Max ? SlotKind::Storage
                                                           : SlotKind::Fixed;
  for (unsigned i = 0, e = getValues().size(); i != e; ++i)
    slots.add(kind, {i}, {i});
}

void AllReduceOp::inferFloatRanges(ArrayRef<FloatRange> operands,
                                   MutableArrayRef<FloatRange> results) {
  for (auto [operand, result] : llvm::zip_equal(operands, results))
    result = getReduction() == RankReductionKind::Max ? operand
                                                      : FloatRange::unknown();
}

//===----------------------------------------------------------------------===//
// DivideByRanksOp
//===----------------------------------------------------------------------===//

void DivideByRanksOp::getPrecisionSlots(PrecisionSlots &slots) {
  getUniformPrecisionSlots(*this, SlotKind::Fixed, slots);
}

void DivideByRanksOp::inferFloatRanges(ArrayRef<FloatRange>,
                                       MutableArrayRef<FloatRange> results) {
  results[0] = FloatRange::unknown();
}

//===----------------------------------------------------------------------===//
// ReduceScatterOp and AllGatherOp
//===----------------------------------------------------------------------===//

Type mlir::amp::getWholeType(FunctionOpInterface function, unsigned index) {
  auto whole = function.getArgAttrOfType<TypeAttr>(index, kPartOfAttr);
  return whole ? whole.getValue() : function.getArgumentTypes()[index];
}

int64_t mlir::amp::getFlatPartSize(int64_t elements, int64_t ranks) {
  return llvm::divideCeil(elements, ranks);
}

bool mlir::amp::isFlatPart(ShapedType whole, ShapedType part) {
  if (whole.getElementType() != part.getElementType() || part.getRank() != 1 ||
      !whole.hasStaticShape() || !part.hasStaticShape())
    return false;
  int64_t all = whole.getNumElements(), own = part.getNumElements();
  // The least number of ranks with parts of this size.
  return own != 0 && own <= all &&
         getFlatPartSize(all, llvm::divideCeil(all, own)) == own;
}

/// Checks that `part` has the type of `whole`, with an extent along dimension
/// `along` that divides that of `whole`, or that it is a flat part.
static LogicalResult verifyPart(Operation *op, Type whole, Type part,
                                int64_t along) {
  auto from = cast<ShapedType>(whole), to = cast<ShapedType>(part);
  if (along == kFlatPart) {
    if (isFlatPart(from, to))
      return success();
    return op->emitOpError("expected a flat part of ")
           << whole << ", with one dimension and n / N elements, rounded up, "
           << "got " << part;
  }
  if (along < 0 || along >= from.getRank())
    return op->emitOpError("expected 'along' to be a dimension of ")
           << whole << ", got " << along;
  bool fits = from.getElementType() == to.getElementType() &&
              from.getRank() == to.getRank();
  for (int64_t dim = 0; fits && dim != from.getRank(); ++dim) {
    if (from.isDynamicDim(dim) || to.isDynamicDim(dim))
      continue;
    int64_t all = from.getDimSize(dim), own = to.getDimSize(dim);
    fits = dim == along ? own != 0 && all % own == 0 : all == own;
  }
  if (!fits)
    return op->emitOpError("expected a part of ")
           << whole << " along dimension " << along << ", got " << part;
  return success();
}

LogicalResult ReduceScatterOp::verify() {
  return verifyPart(*this, getValue().getType(), getPart().getType(),
                    getAlong());
}

LogicalResult RankPartOp::verify() {
  return verifyPart(*this, getValue().getType(), getPart().getType(),
                    getAlong());
}

LogicalResult AllGatherOp::verify() {
  return verifyPart(*this, getValue().getType(), getPart().getType(),
                    getAlong());
}

void ReduceScatterOp::getPrecisionSlots(PrecisionSlots &slots) {
  getUniformPrecisionSlots(*this, SlotKind::Fixed, slots);
}

void RankPartOp::getPrecisionSlots(PrecisionSlots &slots) {
  getUniformPrecisionSlots(*this, SlotKind::Storage, slots);
}

void AllGatherOp::getPrecisionSlots(PrecisionSlots &slots) {
  getUniformPrecisionSlots(*this, SlotKind::Storage, slots);
}

void ReduceScatterOp::inferFloatRanges(ArrayRef<FloatRange>,
                                       MutableArrayRef<FloatRange> results) {
  results[0] = FloatRange::unknown();
}

void RankPartOp::inferFloatRanges(ArrayRef<FloatRange> operands,
                                  MutableArrayRef<FloatRange> results) {
  // Zeros may follow the last element.
  results[0] = isFlat() ? FloatRange::unknown() : operands[0];
}

void AllGatherOp::inferFloatRanges(ArrayRef<FloatRange> operands,
                                   MutableArrayRef<FloatRange> results) {
  results[0] = operands[0];
}
