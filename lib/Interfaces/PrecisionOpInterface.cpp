//===- PrecisionOpInterface.cpp - What precision passes know --------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Interfaces/PrecisionOpInterface.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::amp;

StringRef mlir::amp::stringifySlotKind(SlotKind kind) {
  switch (kind) {
  case SlotKind::Compute:
    return "compute";
  case SlotKind::Storage:
    return "storage";
  case SlotKind::Range:
    return "range";
  case SlotKind::Fixed:
    return "fixed";
  }
  llvm_unreachable("every slot kind has a name");
}

FloatType mlir::amp::getPrecisionElementType(Type type) {
  // Vectors and memrefs belong to later stages. Only tensors (of any dialect)
  // take part.
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || isa<VectorType, BaseMemRefType>(type))
    return {};
  return dyn_cast<FloatType>(shaped.getElementType());
}

Type mlir::amp::getWithElementType(Type type, Type elementType) {
  // Handle the common case without an interface lookup.
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.clone(elementType);
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? shaped.cloneWith(/*shape=*/std::nullopt, elementType)
                : Type();
}

bool mlir::amp::isPrecisionTensor(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return isa<FloatType>(tensor.getElementType());
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && shaped.hasRank() && getPrecisionElementType(type);
}

/// Returns whether `getPrecisionElementType` returns a type. Avoids the lookup
/// of interfaces for common types.
static bool hasPrecisionElementType(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    Type element = tensor.getElementType();
    if (isa<Float32Type, Float16Type, BFloat16Type>(element))
      return true;
    if (isa<IntegerType>(element))
      return false;
  }
  return static_cast<bool>(getPrecisionElementType(type));
}

static bool isComplexTensor(Type type) {
  // Most types have this class, and an interface lookup takes longer.
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return isa<ComplexType>(tensor.getElementType());
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && isa<ComplexType>(shaped.getElementType());
}

void mlir::amp::getUniformPrecisionSlots(Operation *op, SlotKind kind,
                                         PrecisionSlots &slots) {
  slots.reset(op);
  // Parts and magnitudes of complex numbers keep the precision of the numbers.
  if (llvm::any_of(op->getOperandTypes(), isComplexTensor) ||
      llvm::any_of(op->getResultTypes(), isComplexTensor))
    kind = SlotKind::Fixed;
  int8_t slot = PrecisionSlots::none;
  auto assign = [&](Type type, int8_t &entry) {
    if (!hasPrecisionElementType(type))
      return;
    if (slot == PrecisionSlots::none)
      slot = slots.add(kind);
    entry = slot;
  };
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    assign(operand.getType(), slots.operandSlots[index]);
  for (auto [index, result] : llvm::enumerate(op->getResults()))
    assign(result.getType(), slots.resultSlots[index]);
}

LogicalResult mlir::amp::verifyPrecisionSlots(Operation *op,
                                              const PrecisionSlots &slots) {
  int64_t numSlots = slots.kinds.size();
  auto report = [&](int64_t slot) {
    return op->emitOpError("describes its precision slots wrongly: slot ")
           << slot << " ";
  };
  if (const auto &missing = slots.missing) {
    StringRef what = missing->isResult ? "result" : "operand";
    return report(missing->slot)
           << "has " << what << " " << missing->index
           << ", but the operation has "
           << (missing->isResult ? op->getNumResults() : op->getNumOperands())
           << " " << what << "s";
  }
  // Slots are numbered in a byte with a sign.
  if (numSlots > INT8_MAX)
    return report(numSlots - 1)
           << "is one too many, expected at most " << INT8_MAX;
  if (slots.operandSlots.size() != op->getNumOperands() ||
      slots.resultSlots.size() != op->getNumResults())
    return op->emitOpError("describes its precision slots wrongly: expected an "
                           "entry for each of ")
           << op->getNumOperands() << " operands and " << op->getNumResults()
           << " results, got " << slots.operandSlots.size() << " and "
           << slots.resultSlots.size();
  int64_t wrong = 0;
  auto isSlot = [&](int64_t slot) {
    bool exists = slot >= 0 && slot < numSlots;
    if (!exists)
      wrong = slot;
    return exists;
  };
  auto isEntry = [&](int8_t slot) {
    return slot == PrecisionSlots::none || isSlot(slot);
  };
  auto namesSlot = [&](const auto &entry) { return isSlot(entry.first); };
  if (llvm::all_of(slots.operandSlots, isEntry) &&
      llvm::all_of(slots.resultSlots, isEntry) && isEntry(slots.roundedSlot) &&
      llvm::all_of(slots.implications,
                   [&](auto entry) {
                     return isSlot(entry.first) && isSlot(entry.second);
                   }) &&
      llvm::all_of(slots.constants, namesSlot) &&
      llvm::all_of(slots.bounds, namesSlot))
    return success();
  return report(wrong) << "is named, but there are " << numSlots;
}

LogicalResult mlir::amp::retypeSlots(Operation *op, const PrecisionSlots &slots,
                                     ArrayRef<Type> slotTypes,
                                     RewriterBase &rewriter) {
  rewriter.modifyOpInPlace(op, [&] {
    for (auto [result, slot] : llvm::zip(op->getResults(), slots.resultSlots)) {
      if (slot == PrecisionSlots::none ||
          slot >= static_cast<int64_t>(slotTypes.size()) || !slotTypes[slot])
        continue;
      result.setType(getWithElementType(result.getType(), slotTypes[slot]));
    }
  });
  return cast<PrecisionOpInterface>(op).retype(slotTypes, rewriter);
}

#include "amp/Interfaces/PrecisionOpInterface.cpp.inc"
