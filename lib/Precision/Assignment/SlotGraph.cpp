//===- SlotGraph.cpp - Slots and the values between them ------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Assignment/SlotGraph.h"

#include "CompositePatterns.h"
#include "RunningSums.h"
#include "TripCount.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Interfaces/GradientInterfaces.h"
#include "amp/Precision/Assignment/CastRules.h"
#include "amp/Precision/Assignment/SlotNames.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ParallelCombiningOpInterface.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

using namespace mlir;
using namespace mlir::amp;

bool SlotGraph::isEligible(Type type) const {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    // An encoding may not be valid for other element types.
    return tensor.getElementType() == f32 && !tensor.getEncoding();
  // A tensor type of another dialect. Scalars and tokens are not tensors.
  return type != f32 && isPrecisionTensor(type) &&
         cast<ShapedType>(type).getElementType() == f32;
}

static Pin readPin(Attribute attribute) {
  auto text = dyn_cast_or_null<StringAttr>(attribute);
  if (!text)
    return Pin::None;
  return symbolizePin(text.getValue()).value_or(Pin::Keep);
}

Pin SlotGraph::findOwnPin(Operation *op) const {
  Pin pin = readPin(op->getRawDictionaryAttrs().get(precisionName));
  return pin == Pin::None && policy.hasPins() ? policy.getPin(op->getLoc())
                                              : pin;
}

Pin SlotGraph::findPin(Operation *op) {
  Pin pin = findOwnPin(op);
  if (pin == Pin::None && !regionPins.empty())
    pin = regionPins.lookup(op->getParentOp());
  if (pin != Pin::None && op->getNumRegions() != 0)
    regionPins[op] = pin;
  return pin;
}

SlotGraph::SlotGraph(const CallGroup &group, const Policy &policy,
                     FloatType low, const WideValues *wide)
    : policy(policy), wide(wide), low(low),
      f32(Float32Type::get(group.functions.front()->getContext())),
      precisionName(
          StringAttr::get(f32.getContext(), AMPDialect::kPrecisionAttr)),
      gradientOfName(
          StringAttr::get(f32.getContext(), AMPDialect::kGradientOfAttr)) {
  // Most operations are in the body itself.
  size_t size = 0;
  for (FunctionOpInterface function : group.functions)
    for (Block &block : function.getFunctionBody())
      size += block.getOperations().size();
  if (!wide)
    for (FunctionOpInterface function : group.functions)
      ownSums.insert_range(findRunningSums(function, policy));
  // Reserve generously. Unused memory is never touched, but growing copies.
  vertices.reserve(3 * size);
  values.reserve(2 * size);
  uses.reserve(3 * size);
  numbers.reserve(size);

  // Vertex 0: everything that keeps its type.
  addVertex(nullptr, 0, SlotKind::Fixed, OpClass::Unlisted);
  vertices[0].produces = true;
  if (!group.callees.empty()) {
    callees = &group.callees;
    llvm::DenseSet<Operation *> open;
    for (auto [call, callee] : group.callees) {
      open.insert(callee);
      sources.addCall(cast<CallOpInterface>(call), callee);
    }
    for (FunctionOpInterface function : group.functions)
      if (open.contains(function))
        addSignature(function, findPin(function));
  }
  for (FunctionOpInterface function : group.functions) {
    findPin(function);
    function.getFunctionBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      const OperationInfo &info = getInfo(op);
      if (info.isFunction)
        return WalkResult::skip();
      addOperation(op, info);
      return info.adapted && info.adapted->ownsRegions(op)
                 ? WalkResult::skip()
                 : WalkResult::advance();
    });
  }

  reportContested();
  callees = nullptr;
  compositePatternOps = findCompositePatterns(group, policy);

  resolveProducers();
  if (wide && !wide->bits.empty())
    denyBits();
  if (wide && !wide->indices.empty())
    denyIndices();
  if (low)
    applyRanges();
  if (policy.hasSlotTypes())
    applySlotTypes(group);
  numbers.clear();
  buildAdjacency();
}

const llvm::DenseSet<Value> &SlotGraph::getRunningSums() const {
  return wide ? wide->runningSums : ownSums;
}

/// Gives slots of single operations the types of the policy.
void SlotGraph::applySlotTypes(const CallGroup &group) {
  llvm::DenseMap<Operation *, ArrayRef<Pin>> types;
  nameOperations(group.functions, [&](Operation *op, StringRef name) {
    if (ArrayRef<Pin> pins = policy.getSlotTypes(name); !pins.empty())
      types[op] = pins;
  });
  for (SlotVertex &vertex : vertices) {
    ArrayRef<Pin> pins = types.lookup(vertex.op);
    if (vertex.slot >= 0 && size_t(vertex.slot) < pins.size())
      vertex.given = pins[vertex.slot];
  }
}

/// Returns the class of values that control flow carries under `pin`.
static OpClass getCarriedClass(Pin pin) {
  return pin == Pin::F32   ? OpClass::Deny
         : pin == Pin::Low ? OpClass::Allow
                           : OpClass::Clear;
}

/// Pins a vertex of a signature. A pin of `holder` itself has priority over one
/// of an enclosing operation. Two of the same kind must agree.
void SlotGraph::pinSignature(VertexId vertex, Pin pin, Operation *holder,
                             bool isOwn) {
  if (vertex == 0 || pin == Pin::None)
    return;
  SignaturePin entry = {pin, holder, isOwn};
  auto [it, isNew] = signaturePins.try_emplace(vertex, entry);
  SignaturePin &known = it->second;
  if (!isNew && isOwn == known.isOwn) {
    if ((pin == Pin::Low) == (known.pin == Pin::Low))
      return;
    if (isOwn)
      return reportConflict(holder, pin, known.holder, known.pin);
    // A pin with priority over both may follow.
    contested.push_back({vertex, entry});
    return;
  }
  if (!isNew && !isOwn)
    return;
  known = entry;
  vertices[vertex].opClass = getCarriedClass(pin);
  vertices[vertex].pinned = true;
}

/// Reports pins of regions that contradict each other, unless a pin of a
/// function, call or return has priority.
void SlotGraph::reportContested() {
  for (const auto &[vertex, entry] : contested) {
    const SignaturePin &known = signaturePins.find(vertex)->second;
    if (!known.isOwn)
      reportConflict(entry.holder, entry.pin, known.holder, known.pin);
  }
}

/// Adds a vertex for each argument and result of a function whose callers are
/// all in the graph.
void SlotGraph::addSignature(FunctionOpInterface function, Pin pin) {
  bool isOwn = findOwnPin(function) != Pin::None;
  auto add = [&](Type type) -> VertexId {
    if (!isEligible(type))
      return 0;
    VertexId vertex = addVertex(function, SlotVertex::carried,
                                SlotKind::Storage, OpClass::Clear);
    vertices[vertex].produces = true;
    pinSignature(vertex, pin, function, isOwn);
    return vertex;
  };
  Signature &signature = signatures[function];
  for (BlockArgument argument : function.getArguments()) {
    signature.arguments.push_back(add(argument.getType()));
    if (signature.arguments.back() != 0)
      addValue(argument, signature.arguments.back());
  }
  for (Type type : function.getResultTypes())
    signature.results.push_back(add(type));
  for (Block &block : function.getFunctionBody()) {
    if (!block.mightHaveTerminator() ||
        !block.getTerminator()->hasTrait<OpTrait::ReturnLike>())
      continue;
    Operation *terminator = block.getTerminator();
    Pin returnPin = findOwnPin(terminator);
    for (auto [operand, vertex] :
         llvm::zip(terminator->getOpOperands(), signature.results)) {
      if (vertex == 0)
        continue;
      forwarded[&operand] = vertex;
      pinSignature(vertex, returnPin, terminator, /*isOwn=*/true);
    }
  }
}

void SlotGraph::addCall(Operation *call, FunctionOpInterface callee, Pin pin) {
  const Signature &signature = signatures.find(callee)->second;
  bool isOwn = findOwnPin(call) != Pin::None;
  MutableOperandRange operands =
      cast<CallOpInterface>(call).getArgOperandsMutable();
  for (auto [operand, vertex] : llvm::zip(operands, signature.arguments)) {
    if (vertex == 0)
      continue;
    pinSignature(vertex, pin, call, isOwn);
    addUse(operand, vertex);
  }
  for (auto [result, vertex] :
       llvm::zip(call->getResults(), signature.results)) {
    if (vertex == 0)
      continue;
    pinSignature(vertex, pin, call, isOwn);
    addValue(result, vertex);
  }
}

/// Sets the producers of uses. This step comes last, because blocks may be out
/// of order, and a value may be read before its definition is visited.
void SlotGraph::resolveProducers() {
  // Operands and values of merged carried vertices move to the root.
  if (!parents.empty()) {
    for (SlotUse &use : uses)
      use.user = findRoot(use.user);
    for (SlotValue &value : values)
      value.vertex = findRoot(value.vertex);
  }
  for (SlotUse &use : uses)
    use.producer = values[use.value].vertex;
  // Between two that keep their types nothing can happen.
  llvm::erase_if(uses, [](const SlotUse &use) {
    return use.producer == 0 && use.user == 0;
  });
}

void SlotGraph::addValue(Value value, VertexId vertex) {
  auto [number, isNew] = numbers.insert(value, values);
  if (isNew)
    values.push_back({value, vertex});
  else
    values[number].vertex = vertex;
}

VertexId SlotGraph::addVertex(Operation *op, int8_t slot, SlotKind kind,
                              OpClass opClass) {
  vertices.push_back({op, slot, kind, opClass, /*produces=*/false,
                      /*isProductResult=*/false, /*pinned=*/false,
                      /*isConstant=*/false, /*isBounded=*/false,
                      /*isRounded=*/false, /*isSum=*/false, /*isLimit=*/false,
                      /*isSquare=*/false, /*addsUp=*/false, RangeProof::None});
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
  Value value = operand.get();
  // Between two that keep their types nothing can happen. In a region of one
  // block a value that has not been seen keeps its type.
  if (user == 0 && lookup(value) == 0 && value.getParentRegion()->hasOneBlock())
    return;
  auto [number, isNew] = numbers.insert(value, values);
  if (isNew)
    values.push_back({value, 0});
  uses.push_back({&operand, 0, user, number});
}

/// Reports that two operations want different types for a value that both of
/// them forward or carry.
void SlotGraph::reportConflict(Operation *op, Pin pin, Operation *other,
                               Pin otherPin) {
  if (std::exchange(invalid, true))
    return;
  auto source = [&](Operation *of) {
    return of->hasAttr(precisionName)    ? "'amp.precision'"
           : findOwnPin(of) != Pin::None ? "the policy"
                                         : "an operation around it";
  };
  InFlightDiagnostic diag = op->emitOpError()
                            << "pinned to " << stringifyPin(pin) << " by "
                            << source(op)
                            << ", but control flow ties a value of it to one "
                               "that is pinned to "
                            << stringifyPin(otherPin);
  diag.attachNote(other->getLoc()) << "pinned to " << stringifyPin(otherPin)
                                   << " here, by " << source(other);
}

const SlotGraph::OperationInfo &SlotGraph::getInfo(Operation *op) {
  auto [it, isNew] = infos.try_emplace(op->getName());
  OperationInfo &info = it->second;
  if (isNew) {
    OperationName name = op->getName();
    info.opClass = policy.classify(name);
    info.hasSlots = isa<PrecisionOpInterface>(op);
    if (name.isRegistered())
      info.slots = name.getInterface<PrecisionOpInterface>();
    info.isFunction = isa<FunctionOpInterface>(op);
    info.isForeignLoop =
        op->getNumRegions() != 0 && !op->isRegistered() && policy.isLoop(op);
    loops |= isa<LoopLikeOpInterface>(op) || info.isForeignLoop;
    info.isCall = isa<CallOpInterface>(op);
    if (const Adapter *adapter =
            policy.findAdapter(name.getDialectNamespace())) {
      info.isView = adapter->views.contains(name.getStringRef());
      info.moves = info.isView || adapter->moves.contains(name.getStringRef());
      if (adapter->cast && name.getStringRef() == adapter->cast->op)
        info.castBy = adapter;
      info.readsPart = adapter->readsPart.contains(name.getStringRef());
    }
    info.givesLowGradients = policy.gradientType == GradientType::Listed &&
                             !policy.keepsGradients(name);
    info.isSeed = isa<GradientSeedOpInterface>(op);
    info.isTerminator = op->hasTrait<OpTrait::IsTerminator>();
    info.isCombiner = isa<ParallelCombiningOpInterface>(op);
    info.adapted = policy.findAdapted(name);
    info.isConstant = info.adapted ? info.adapted->isConstant(op)
                                   : op->hasTrait<OpTrait::ConstantLike>();
  }
  return info;
}

bool SlotGraph::isLoop(Operation *op) const {
  auto it = infos.find(op->getName());
  return isa<LoopLikeOpInterface>(op) ||
         (it != infos.end() && it->second.isForeignLoop);
}

std::optional<int64_t> SlotGraph::findTripCount(Operation *loop) const {
  return mlir::amp::findTripCount(loop, policy);
}

bool SlotGraph::isView(Operation *op) const {
  auto it = infos.find(op->getName());
  return it != infos.end() && it->second.isView;
}

Type SlotGraph::getReadType(const SlotUse &use) const {
  Operation *op = use.operand->getOwner();
  unsigned operand = use.operand->getOperandNumber();
  auto it = infos.find(op->getName());
  if (it != infos.end() && it->second.readsPart)
    return operand == 0 && op->getNumResults() != 0
               ? op->getResult(0).getType()
               : use.operand->get().getType();
  PrecisionOpInterface iface = getInterface(op);
  return iface ? iface.getReadType(operand) : use.operand->get().getType();
}

void SlotGraph::getSlots(Operation *op, PrecisionSlots &slots) const {
  // Errors in an adapter were found when the vertices were added.
  auto it = infos.find(op->getName());
  if (it != infos.end() && it->second.adapted)
    (void)it->second.adapted->getSlots(op, slots);
  else if (PrecisionOpInterface iface = getInterface(op))
    iface.getPrecisionSlots(slots);
  else
    getUniformPrecisionSlots(op, SlotKind::Storage, slots);
}

LogicalResult SlotGraph::retype(Operation *op, ArrayRef<Type> slotTypes,
                                RewriterBase &rewriter) const {
  const OperationInfo &info = infos.find(op->getName())->second;
  if (info.adapted) {
    if (failed(info.adapted->retype(op, slotTypes)))
      return failure();
    PrecisionSlots slots;
    getSlots(op, slots);
    int8_t rounded = slots.roundedSlot;
    if (rounded == PrecisionSlots::none ||
        rounded >= static_cast<int64_t>(slotTypes.size()) ||
        !slotTypes[rounded])
      return success();
    CastRule rule;
    rule.adapter = policy.findAdapter(op->getName().getDialectNamespace());
    rewriter.setInsertionPointAfter(op);
    for (OpResult result : op->getResults()) {
      if (slots.resultSlots[result.getResultNumber()] != rounded)
        continue;
      Type type = result.getType();
      result.setType(getWithElementType(type, f32));
      Value cast = rule.build(rewriter, op->getLoc(), result, type);
      rewriter.replaceAllUsesExcept(result, cast, cast.getDefiningOp());
    }
    return success();
  }
  PrecisionOpInterface iface = getInterface(op);
  return iface ? iface.retype(slotTypes, rewriter) : success();
}

void SlotGraph::buildAdjacency() {
  size_t count = vertices.size();
  intoOffsets.assign(count + 1, 0);
  ofOffsets.assign(count + 1, 0);
  for (const SlotUse &use : uses) {
    ++intoOffsets[use.user];
    ++ofOffsets[use.producer];
  }
  for (size_t v = 0; v < count; ++v) {
    intoOffsets[v + 1] += intoOffsets[v];
    ofOffsets[v + 1] += ofOffsets[v];
  }
  // Each offset is now the end of its vertex, and becomes the start.
  intoUses.resize(uses.size());
  ofUses.resize(uses.size());
  for (uint32_t index = uses.size(); index-- != 0;) {
    intoUses[--intoOffsets[uses[index].user]] = index;
    ofUses[--ofOffsets[uses[index].producer]] = index;
  }
}
