//===- FixedSlots.cpp - Why a slot keeps its type -------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Explains slots that have no vertex. The graph keeps no data for this, because
// only remarks need it, and they are usually off.
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Assignment/SlotGraph.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlir::amp;

/// Returns the element type of a tensor of floats, or null.
static FloatType getFloatElement(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? dyn_cast<FloatType>(shaped.getElementType()) : FloatType();
}

static bool hasFloatTensor(TypeRange types) {
  return llvm::any_of(types, getFloatElement);
}

OpClass SlotGraph::findClass(Operation *op, OpClass listed,
                             const PrecisionSlots &slots) const {
  if (policy.classifier)
    if (std::optional<OpClass> asked = policy.classifier(op))
      return *asked;
  return slots.variant.empty() ? listed
                               : policy.classify(op->getName(), slots.variant);
}

bool SlotGraph::hasSlots(Operation *op) const {
  auto it = infos.find(op->getName());
  if (it == infos.end())
    return false;
  const OperationInfo &info = it->second;
  if (info.adapted || getInterface(op))
    return true;
  return op->getNumRegions() == 0 && !info.isTerminator && !info.isCombiner &&
         (hasFloatTensor(op->getOperandTypes()) ||
          hasFloatTensor(op->getResultTypes())) &&
         findClass(op, info.opClass, PrecisionSlots()) != OpClass::Unlisted;
}

std::string SlotGraph::explainFixed(Operation *op, int8_t slot,
                                    const PrecisionSlots &slots) const {
  bool hasTensor = false;
  FloatType other;
  auto examine = [&](Type type, int8_t typeSlot) {
    FloatType element = getFloatElement(type);
    if (typeSlot != slot || !element)
      return;
    hasTensor = true;
    if (!element.isF32())
      other = element;
  };
  for (auto [type, typeSlot] :
       llvm::zip(op->getOperandTypes(), slots.operandSlots))
    examine(type, typeSlot);
  for (auto [type, typeSlot] :
       llvm::zip(op->getResultTypes(), slots.resultSlots))
    examine(type, typeSlot);
  OpClass opClass =
      findClass(op, infos.find(op->getName())->second.opClass, slots);
  // Operations that no list names have a separate remark.
  if (!hasTensor || opClass == OpClass::Unlisted)
    return {};

  std::string text;
  llvm::raw_string_ostream os(text);
  Pin pin = findOwnPin(op);
  if (pin == Pin::None)
    pin = regionPins.lookup(op->getParentOp());
  SmallVector<SlotKind, 4> kinds = slots.kinds;
  policy.overrideSlots(op->getName(), kinds);
  auto gradients = op->getAttrOfType<ArrayAttr>(gradientOfName);
  bool isGradient =
      gradients &&
      llvm::any_of(llvm::zip(slots.resultSlots, gradients), [&](auto entry) {
        auto [resultSlot, name] = entry;
        return resultSlot == slot && !cast<StringAttr>(name).empty();
      });
  if (pin == Pin::Keep)
    os << "a pin keeps its types";
  else if (opClass == OpClass::Keep)
    os << "in the list 'keep' of the policy";
  else if (other)
    os << "it has a value of type " << other << ", and only f32 changes";
  else if (slots.kinds[slot] == SlotKind::Fixed)
    os << "the operation needs the type";
  else if (kinds[slot] == SlotKind::Fixed)
    os << "the policy says so under 'slots'";
  else if (isGradient && policy.keepsGradients(op->getName()))
    os << "the gradient of a parameter, which 'gradient-type' keeps f32";
  else
    os << "the operation mentions the type outside its tensors";
  return text;
}
