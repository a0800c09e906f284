//===- SlotVertices.cpp - The slots of one operation ----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adds the vertices and edges of one operation to the slot graph. Each step
// reads the slots that earlier steps left in `scratch`.
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Assignment/SlotGraph.h"
#include "amp/Support/OperationAttributes.h"
#include "amp/Support/RegionFlow.h"

#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::amp;

/// Returns whether an operation that only the policy knows can change type by
/// changing the types of its tensors. It cannot if its constant value or a
/// scalar has the type.
static bool canRetypeByName(Operation *op, const SlotGraph &graph) {
  auto changes = [&](Type type) {
    return graph.isEligible(type) ||
           !isa<FloatType>(getElementTypeOrSelf(type));
  };
  // A call also mentions a type, and so does any reference to an operation with
  // its own type.
  auto isReference = [](NamedAttribute attribute) {
    return attribute.getValue()
        .walk([](SymbolRefAttr) { return WalkResult::interrupt(); })
        .wasInterrupted();
  };
  return !op->hasTrait<OpTrait::ConstantLike>() &&
         llvm::all_of(op->getOperandTypes(), changes) &&
         llvm::all_of(op->getResultTypes(), changes) &&
         llvm::none_of(getAllAttributes(op), isReference);
}

/// Returns whether an attribute of `op` holds a number that `low` loses.
static bool holdsLostNumber(Operation *op, FloatType low) {
  return llvm::any_of(getAllAttributes(op), [&](NamedAttribute attribute) {
    if (!isa<FloatAttr, ElementsAttr>(attribute.getValue()) ||
        attribute.getName().strref().starts_with("amp."))
      return false;
    auto elements = getConstantElements(attribute.getValue(), low);
    return elements &&
           (!elements->beyond.isEmpty() || elements->vanishesIn(low));
  });
}

/// Returns whether operations in the regions of `op` must keep their types.
/// They must if no interface and no policy describes `op`, because the uses of
/// their values are unknown.
static bool keepsRegions(Operation *op) {
  if (RegionFlow::isKnown(op) || isa<FunctionOpInterface>(op) ||
      op->hasTrait<OpTrait::SymbolTable>())
    return false;
  remark::missed(op->getLoc(),
                 remark::RemarkOpts::name("RegionKept").category("amp"))
      << "the operations in the regions keep their types"
      << remark::reason("{0}",
                        "nothing says how values get into the regions of "
                        "the operation and out of them");
  return true;
}

void SlotGraph::addOperation(Operation *op, const OperationInfo &info) {
  Pin pin = findPin(op);
  if (op->getNumRegions() != 0)
    addCarriedValues(op, info, pin);

  if (callees)
    if (FunctionOpInterface callee = callees->lookup(op))
      return addCall(op, callee, pin);

  std::optional<OpClass> asked;
  if (policy.classifier)
    asked = policy.classifier(op);
  OpClass opClass = asked.value_or(info.opClass);
  switch (describeSlots(op, info, opClass, pin)) {
  case Description::Invalid:
    invalid = true;
    return;
  case Description::Forwards:
    return addForwarded(op);
  case Description::Slots:
    break;
  }
  if (!scratch.variant.empty() && !asked)
    opClass = policy.classify(op->getName(), scratch.variant);
  Value squared = raiseKinds(op, info, opClass);
  // The kinds of the policy have priority.
  if (!policy.overrideSlots(op->getName(), scratch.kinds) && squared)
    squares[op] = squared;

  bool hasEligible = fixOtherTypes(op);
  bool mayBeLow = hasEligible && llvm::any_of(scratch.kinds, [](SlotKind kind) {
                    return kind != SlotKind::Fixed;
                  });
  if (pin == Pin::Low && !mayBeLow && findOwnPin(op) == Pin::Low)
    ignoredPins.push_back(op);
  if (!hasEligible)
    return;
  noteOperation(op, info, opClass, pin, mayBeLow);
  SmallVector<int8_t, 1> listed = fixParameterGradients(op, info);
  SmallVector<VertexId, 8> slotVertices =
      addSlotVertices(op, info, opClass, pin);
  for (int8_t slot : listed)
    listedGradients.push_back(slotVertices[slot]);
  denyNumbers(op, info, slotVertices);
  connectSlots(op, slotVertices);
}

/// Operands that control flow forwards belong to the carried value. All other
/// values of such an operation keep their types.
void SlotGraph::addForwarded(Operation *op) {
  for (OpOperand &operand : op->getOpOperands())
    if (isEligible(operand.get().getType()))
      addUse(operand, forwarded.lookup(&operand));
}

/// Fills `scratch` with the slots of `op`.
SlotGraph::Description SlotGraph::describeSlots(Operation *op,
                                                const OperationInfo &info,
                                                OpClass opClass, Pin pin) {
  if (info.isCombiner)
    return Description::Forwards;
  if (info.adapted) {
    std::string kept;
    if (failed(info.adapted->getSlots(op, scratch, &kept)))
      return Description::Invalid;
    if (!kept.empty())
      remark::missed(op->getLoc(),
                     remark::RemarkOpts::name("RegionKept").category("amp"))
          << "the regions cannot follow, and the operation keeps its types"
          << remark::reason("{0}", kept);
    return Description::Slots;
  }
  if (info.slots || info.hasSlots) {
    if (info.slots)
      PrecisionOpInterface(op, info.slots).getPrecisionSlots(scratch);
    else
      cast<PrecisionOpInterface>(op).getPrecisionSlots(scratch);
    return succeeded(verifyPrecisionSlots(op, scratch)) ? Description::Slots
                                                        : Description::Invalid;
  }
  if (op->getNumRegions() != 0 || info.isTerminator) {
    // Control flow that no interface describes keeps the types of its carried
    // values.
    if (op->getNumRegions() != 0 && pin == Pin::None && keepsRegions(op))
      regionPins[op] = Pin::Keep;
    if (!op->isRegistered() && op->getNumRegions() != 0 &&
        llvm::any_of(op->getOperandTypes(),
                     [&](Type type) { return isEligible(type); }))
      unlisted.push_back(op);
    return Description::Forwards;
  }
  if (opClass != OpClass::Unlisted && canRetypeByName(op, *this))
    getUniformPrecisionSlots(op, SlotKind::Storage, scratch);
  else
    scratch.reset(op);
  return Description::Slots;
}

/// Turns storage slots into range slots if the results may leave the range of
/// the operands. This concerns squares in any form, and operations that only a
/// list of the policy describes, if that list is `deny` or all operands are one
/// value. If `op` is a square, and nothing else made the slots range slots,
/// returns the value to which its factors are proportional, or null.
Value SlotGraph::raiseKinds(Operation *op, const OperationInfo &info,
                            OpClass opClass) {
  bool isForeign = info.adapted || !info.hasSlots;
  if (isForeign && info.adapted && info.adapted->describesKind())
    return {};
  Value squared = findSquared(op, info, opClass);
  if (squared || (isForeign && opClass == OpClass::Deny))
    llvm::replace(scratch.kinds, SlotKind::Storage, SlotKind::Range);
  return squared;
}

/// Fixes slots that hold a value that cannot change, since a slot has one type.
/// Fixes all slots if a result is wider than f32, because the program asks for
/// more precision. Returns whether some value of `op` can change.
bool SlotGraph::fixOtherTypes(Operation *op) {
  bool hasEligible = false;
  auto isWide = [](Type type) {
    FloatType element = getPrecisionElementType(type);
    return element && element.getWidth() > 32;
  };
  if (!scratch.kinds.empty() && llvm::any_of(op->getResultTypes(), isWide))
    llvm::fill(scratch.kinds, SlotKind::Fixed);
  auto examine = [&](Type type, int8_t slot) {
    if (isEligible(type))
      hasEligible = true;
    else if (slot != PrecisionSlots::none)
      scratch.kinds[slot] = SlotKind::Fixed;
  };
  for (auto [type, slot] :
       llvm::zip(op->getOperandTypes(), scratch.operandSlots))
    examine(type, slot);
  for (auto [type, slot] : llvm::zip(op->getResultTypes(), scratch.resultSlots))
    examine(type, slot);
  return hasEligible;
}

/// Adds `op` to the lists that later steps and remarks use.
void SlotGraph::noteOperation(Operation *op, const OperationInfo &info,
                              OpClass opClass, Pin pin, bool mayBeLow) {
  if (info.isConstant)
    constants.push_back(op);
  if (info.isSeed)
    seeds.push_back(op);
  if (opClass == OpClass::Unlisted && pin == Pin::None &&
      (mayBeLow || !info.hasSlots) && !info.isTerminator && !info.isConstant &&
      !info.isCall)
    unlisted.push_back(op);
  else if (info.adapted && hasUnknownBody(op))
    unlisted.push_back(op);
}

/// Adds one vertex for each slot that may change. Returns the vertices by slot,
/// with 0 for the other slots.
SmallVector<VertexId, 8> SlotGraph::addSlotVertices(Operation *op,
                                                    const OperationInfo &info,
                                                    OpClass opClass, Pin pin) {
  SmallVector<VertexId, 8> slotVertices(scratch.kinds.size(), 0);
  if (pin == Pin::F32)
    opClass = OpClass::Deny;
  else if (pin == Pin::Low)
    opClass = OpClass::Allow;
  if (pin == Pin::Keep || opClass == OpClass::Keep ||
      opClass == OpClass::Unlisted)
    return slotVertices;
  bool hasCompute = llvm::is_contained(scratch.kinds, SlotKind::Compute);
  bool givesSum =
      op->getNumResults() == 1 && getRunningSums().contains(op->getResult(0));
  const bool isSquare = hasCompute && pin == Pin::None && givesSquares(op);
  const bool isSumOfProduct = hasCompute && pin == Pin::None && addsUp(op);
  for (auto [slot, kind] : llvm::enumerate(scratch.kinds)) {
    if (kind == SlotKind::Fixed)
      continue;
    bool isRange = kind == SlotKind::Range && opClass != OpClass::Allow;
    bool isSum = kind != SlotKind::Compute && pin == Pin::None && givesSum;
    VertexId vertex =
        addVertex(op, slot, kind, isRange || isSum ? OpClass::Deny : opClass);
    if (isRange && !isSum &&
        (opClass == OpClass::Infer || opClass == OpClass::Clear))
      rangeSlots.push_back({vertex, opClass});
    vertices[vertex].pinned = pin != Pin::None;
    vertices[vertex].isSum = isSum;
    vertices[vertex].isProductResult = hasCompute && kind != SlotKind::Compute;
    vertices[vertex].isConstant = info.isConstant || scratch.isConstant;
    vertices[vertex].isRounded =
        static_cast<int8_t>(slot) == scratch.roundedSlot;
    vertices[vertex].isBounded = info.adapted && info.adapted->isBounded;
    vertices[vertex].isSquare = isSquare && kind != SlotKind::Compute;
    vertices[vertex].addsUp = isSumOfProduct && kind == SlotKind::Compute;
    slotVertices[slot] = vertex;
  }
  return slotVertices;
}

/// Denies slots whose operation stores or combines with a number that the low
/// type loses.
void SlotGraph::denyNumbers(Operation *op, const OperationInfo &info,
                            ArrayRef<VertexId> slotVertices) {
  if (!low)
    return;
  for (auto [slot, number] : scratch.constants) {
    if (!isLostIn(number, low))
      continue;
    deny(slotVertices[slot]);
    storing.push_back(op);
  }
  // The largest number of f32 is not a limit.
  constexpr double noLimit = std::numeric_limits<float>::max();
  for (auto [slot, number] : scratch.bounds)
    if (std::abs(number) < noLimit && isLostIn(number, low))
      deny(slotVertices[slot]);
  for (auto [slot, number] : scratch.bounds)
    if (VertexId v = slotVertices[slot];
        vertices[v].opClass == OpClass::Clear && isRoundedToOne(number, low))
      vertices[v].isLimit = true;
  // Without an interface, the meaning of an attribute is unknown.
  if (!info.hasSlots && !info.isConstant && holdsLostNumber(op, low))
    llvm::for_each(slotVertices, [&](VertexId vertex) { deny(vertex); });
}

/// Adds uses, values and implications. Slots that may change hold f32 values
/// only. All other slots are vertex 0.
void SlotGraph::connectSlots(Operation *op, ArrayRef<VertexId> slotVertices) {
  auto vertexOf = [&](int8_t slot) {
    return slot == PrecisionSlots::none ? 0 : slotVertices[slot];
  };
  for (OpOperand &operand : op->getOpOperands()) {
    VertexId vertex =
        vertexOf(scratch.operandSlots[operand.getOperandNumber()]);
    // The terminator of a region of a loop that only the policy declares.
    if (vertex == 0 && !forwarded.empty())
      vertex = forwarded.lookup(&operand);
    if (vertex != 0 || isEligible(operand.get().getType()))
      addUse(operand, vertex);
  }
  for (OpResult result : op->getResults()) {
    VertexId vertex = vertexOf(scratch.resultSlots[result.getResultNumber()]);
    if (vertex == 0)
      continue;
    vertices[vertex].produces = true;
    addValue(result, vertex);
  }
  for (auto [premise, conclusion] : scratch.implications)
    if (slotVertices[premise] != 0)
      implications.push_back({slotVertices[premise], slotVertices[conclusion]});
}
