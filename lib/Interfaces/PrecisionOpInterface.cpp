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
  // Vectors and memrefs are someone else's later stage: only values that are
  // still tensors (of any dialect) take part.
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || isa<VectorType, BaseMemRefType>(type))
    return {};
  return dyn_cast<FloatType>(shaped.getElementType());
}

void mlir::amp::getUniformPrecisionSlots(Operation *op, SlotKind kind,
                                         PrecisionSlots &slots) {
  slots.reset(op);
  int8_t slot = PrecisionSlots::none;
  auto assign = [&](Type type, int8_t &entry) {
    if (!getPrecisionElementType(type))
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

LogicalResult mlir::amp::retypeResults(Operation *op, ArrayRef<Type> slotTypes,
                                       RewriterBase &rewriter) {
  PrecisionSlots slots;
  cast<PrecisionOpInterface>(op).getPrecisionSlots(slots);
  rewriter.modifyOpInPlace(op, [&] {
    for (auto [result, slot] : llvm::zip(op->getResults(), slots.resultSlots)) {
      if (slot == PrecisionSlots::none ||
          slot >= static_cast<int64_t>(slotTypes.size()) || !slotTypes[slot])
        continue;
      auto type = cast<ShapedType>(result.getType());
      result.setType(type.cloneWith(/*shape=*/std::nullopt, slotTypes[slot]));
    }
  });
  return success();
}

#include "amp/Interfaces/PrecisionOpInterface.cpp.inc"
