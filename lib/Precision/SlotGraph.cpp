//===- SlotGraph.cpp - Slots and the values between them ------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/SlotGraph.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace mlir::amp;

/// Returns whether values of `type` take part: the passes can cast them.
static bool isEligible(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getElementType().isF32();
}

/// Returns whether an operation that only the policy knows can change type by
/// changing the types of its tensors: not if it mentions the type elsewhere, in
/// its value or in a scalar.
static bool canRetypeByName(Operation *op) {
  auto changes = [](Type type) {
    return isEligible(type) || !isa<FloatType>(getElementTypeOrSelf(type));
  };
  return !op->hasTrait<OpTrait::ConstantLike>() &&
         llvm::all_of(op->getOperandTypes(), changes) &&
         llvm::all_of(op->getResultTypes(), changes);
}

static Pin readPin(Attribute attribute) {
  auto text = dyn_cast_or_null<StringAttr>(attribute);
  if (!text)
    return Pin::None;
  if (text.getValue() == "f32")
    return Pin::F32;
  return text.getValue() == "low" ? Pin::Low : Pin::Keep;
}

Pin SlotGraph::findPin(Operation *op) {
  Pin pin =
      readPin(op->getRawDictionaryAttrs().get(AMPDialect::kPrecisionAttr));
  if (pin == Pin::None && !regionPins.empty())
    pin = regionPins.lookup(op->getParentOp());
  if (pin != Pin::None && op->getNumRegions() != 0)
    regionPins[op] = pin;
  return pin;
}

SlotGraph::SlotGraph(FunctionOpInterface function, const Policy &policy) {
  // Vertex 0: everything that keeps its type.
  addVertex(nullptr, 0, SlotKind::Fixed, OpClass::Unlisted);
  vertices[0].produces = true;
  findPin(function);
  function.getFunctionBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<FunctionOpInterface>(op))
      return WalkResult::skip();
    addOperation(op, policy);
    return WalkResult::advance();
  });

  // Operands and values of merged carried vertices move to the root.
  if (!parents.empty()) {
    for (SlotUse &use : uses) {
      use.producer = findRoot(use.producer);
      use.user = findRoot(use.user);
    }
    for (SlotValue &value : values)
      value.vertex = findRoot(value.vertex);
  }
  buildAdjacency();
}

VertexId SlotGraph::addVertex(Operation *op, int8_t slot, SlotKind kind,
                              OpClass opClass) {
  vertices.push_back({op, slot, kind, opClass, /*produces=*/false,
                      /*isProductResult=*/false, /*pinned=*/false,
                      /*isConstant=*/false});
  return vertices.size() - 1;
}

VertexId SlotGraph::findRoot(VertexId v) {
  auto it = parents.find(v);
  while (it != parents.end()) {
    v = it->second;
    it = parents.find(v);
  }
  return v;
}

void SlotGraph::addUse(OpOperand &operand, VertexId user) {
  VertexId producer = lookup(operand.get());
  // Between two that keep their types nothing can happen.
  if (producer != 0 || user != 0)
    uses.push_back({&operand, producer, user});
}

/// Adds a vertex for each group of values that control flow ties together:
/// region arguments, results, and the operands that are forwarded to them.
void SlotGraph::addCarriedValues(Operation *op, Pin pin) {
  auto branch = dyn_cast<RegionBranchOpInterface>(op);
  if (!branch || pin == Pin::Keep)
    return;
  OpClass opClass = pin == Pin::F32   ? OpClass::Deny
                    : pin == Pin::Low ? OpClass::Allow
                                      : OpClass::Clear;
  auto vertexFor = [&](Value value) {
    VertexId &vertex = vertexOf[value];
    if (vertex == 0) {
      vertex = addVertex(op, SlotVertex::carried, SlotKind::Storage, opClass);
      vertices[vertex].produces = true;
      vertices[vertex].pinned = pin != Pin::None;
      values.push_back({value, vertex});
    }
    return findRoot(vertex);
  };
  // Visit in program order, not in the order of the map, for determinism.
  RegionBranchSuccessorMapping mapping;
  branch.getSuccessorOperandInputMapping(mapping);
  auto visit = [&](Operation *holder) {
    for (OpOperand &operand : holder->getOpOperands()) {
      auto it = mapping.find(&operand);
      if (it == mapping.end() || !isEligible(operand.get().getType()))
        continue;
      for (Value input : it->second) {
        if (!isEligible(input.getType()))
          continue;
        VertexId vertex = vertexFor(input);
        auto [entry, isNew] = forwarded.try_emplace(&operand, vertex);
        VertexId root = findRoot(entry->second);
        if (!isNew && root != vertex)
          parents[std::max(root, vertex)] = std::min(root, vertex);
      }
    }
  };
  visit(op);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (block.mightHaveTerminator())
        visit(block.getTerminator());
}

void SlotGraph::addOperation(Operation *op, const Policy &policy) {
  Pin pin = findPin(op);
  if (op->getNumRegions() != 0)
    addCarriedValues(op, pin);

  // What control flow forwards belongs to the carried value; all else of such
  // an operation keeps its type.
  auto iface = dyn_cast<PrecisionOpInterface>(op);
  if (!iface &&
      (op->getNumRegions() != 0 || op->hasTrait<OpTrait::IsTerminator>())) {
    for (OpOperand &operand : op->getOpOperands())
      if (isEligible(operand.get().getType()))
        addUse(operand, forwarded.lookup(&operand));
    return;
  }

  OpClass opClass = policy.classify(op->getName());
  if (iface)
    iface.getPrecisionSlots(scratch);
  else if (opClass != OpClass::Unlisted && canRetypeByName(op))
    getUniformPrecisionSlots(op, SlotKind::Storage, scratch);
  else
    scratch.reset(op);

  ArrayAttr gradients;
  if (policy.gradientType == GradientType::F32)
    gradients = op->getRawDictionaryAttrs().getAs<ArrayAttr>(
        AMPDialect::kGradientOfAttr);

  // A slot has one type: it keeps it if one of its values cannot change, be it
  // that the value is not f32, or that it is the gradient of a parameter, which
  // stays f32 unless the policy says otherwise.
  for (auto [operand, slot] :
       llvm::zip_equal(op->getOperands(), scratch.operandSlots))
    if (slot != PrecisionSlots::none && !isEligible(operand.getType()))
      scratch.kinds[slot] = SlotKind::Fixed;
  for (auto [index, slot] : llvm::enumerate(scratch.resultSlots))
    if (slot != PrecisionSlots::none &&
        (!isEligible(op->getResult(index).getType()) ||
         (gradients && index < gradients.size() &&
          !cast<StringAttr>(gradients[index]).empty())))
      scratch.kinds[slot] = SlotKind::Fixed;

  // One vertex per slot that may change.
  bool isFixedOp =
      pin == Pin::Keep || (pin == Pin::None && opClass == OpClass::Unlisted);
  SmallVector<VertexId, 4> slotVertices(scratch.kinds.size(), 0);
  bool hasCompute = llvm::is_contained(scratch.kinds, SlotKind::Compute);
  bool hasEligible = false, hasFree = false;
  auto vertexOfSlot = [&](int8_t slot) -> VertexId {
    if (slot == PrecisionSlots::none)
      return 0;
    SlotKind kind = scratch.kinds[slot];
    if (kind == SlotKind::Fixed)
      return 0;
    hasFree = true;
    if (isFixedOp)
      return 0;
    VertexId &vertex = slotVertices[slot];
    if (vertex != 0)
      return vertex;
    OpClass slotClass = opClass;
    if (kind == SlotKind::Range && opClass != OpClass::Allow)
      slotClass = OpClass::Deny;
    if (pin == Pin::F32)
      slotClass = OpClass::Deny;
    else if (pin == Pin::Low)
      slotClass = OpClass::Allow;
    vertex = addVertex(op, slot, kind, slotClass);
    vertices[vertex].pinned = pin != Pin::None;
    vertices[vertex].isProductResult = hasCompute && kind != SlotKind::Compute;
    vertices[vertex].isConstant = op->hasTrait<OpTrait::ConstantLike>();
    return vertex;
  };

  for (auto [operand, slot] :
       llvm::zip_equal(op->getOpOperands(), scratch.operandSlots)) {
    if (!isEligible(operand.get().getType()))
      continue;
    hasEligible = true;
    addUse(operand, vertexOfSlot(slot));
  }
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    if (!isEligible(result.getType()))
      continue;
    hasEligible = true;
    VertexId vertex = vertexOfSlot(scratch.resultSlots[index]);
    if (vertex == 0)
      continue;
    vertices[vertex].produces = true;
    vertexOf.try_emplace(result, vertex);
    values.push_back({result, vertex});
  }
  for (auto [premise, conclusion] : scratch.implications)
    if (slotVertices[premise] != 0)
      implications.push_back({slotVertices[premise], slotVertices[conclusion]});

  if (opClass == OpClass::Unlisted && pin == Pin::None && hasEligible &&
      (hasFree || !iface) && !op->hasTrait<OpTrait::IsTerminator>() &&
      !op->hasTrait<OpTrait::ConstantLike>())
    unlisted.push_back(op);
}

void SlotGraph::buildAdjacency() {
  size_t count = vertices.size();
  intoOffsets.assign(count + 1, 0);
  ofOffsets.assign(count + 1, 0);
  for (const SlotUse &use : uses) {
    ++intoOffsets[use.user + 1];
    ++ofOffsets[use.producer + 1];
  }
  for (size_t v = 0; v < count; ++v) {
    intoOffsets[v + 1] += intoOffsets[v];
    ofOffsets[v + 1] += ofOffsets[v];
  }
  intoUses.resize(uses.size());
  ofUses.resize(uses.size());
  std::vector<uint32_t> into(intoOffsets.begin(), intoOffsets.end() - 1);
  std::vector<uint32_t> of(ofOffsets.begin(), ofOffsets.end() - 1);
  for (auto [index, use] : llvm::enumerate(uses)) {
    intoUses[into[use.user]++] = index;
    ofUses[of[use.producer]++] = index;
  }
}
