//===- SlotRanges.cpp - Slots that intervals free or deny -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Frees range slots whose values fit the low type, and denies slots of
// constants that do not fit.
//
//===----------------------------------------------------------------------===//

#include "ConstantFactors.h"

#include "amp/Interfaces/FloatRangeOpInterface.h"
#include "amp/Precision/Assignment/SlotGraph.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;
using namespace mlir::amp;

void SlotGraph::applyRanges() {
  // The other low types have the exponents of f32.
  if (wide && low.isF16()) {
    denyWide(wide->seeds);
    denyWide(wide->factorsF16);
  }
  if (wide) {
    denyWide(wide->getBeyond(low));
    markLimits();
  }
  freeSquares();
  freeRangeSlots();
  if (const MeasuredValues *measured = getMeasured())
    applyMeasured(*measured);
  if (!storing.empty())
    denyStored();
  if (!constants.empty()) {
    denyConstants();
    denyComputedConstants();
  }
}

/// Keeps `v` in f32. A pin to low precision would make a number infinite or
/// zero.
void SlotGraph::deny(VertexId v) {
  if (v == 0)
    return;
  SlotVertex &vertex = vertices[v];
  vertex.proof = RangeProof::DoesNotFit;
  if (vertex.pinned && vertex.opClass == OpClass::Allow) {
    vertex.pinned = false;
    overriddenPins.push_back(v);
  }
  vertex.opClass = OpClass::Deny;
}

/// Keeps slots that read one of `read` in f32, except products that may read it
/// low.
void SlotGraph::denyReaders(const llvm::DenseSet<Value> &read,
                            bool evenProducts) {
  if (read.empty())
    return;
  std::vector<bool> isRead(values.size(), false);
  for (auto [index, entry] : llvm::enumerate(values))
    isRead[index] = read.contains(entry.value);
  for (const SlotUse &use : uses)
    if (isRead[use.value] &&
        (evenProducts || vertices[use.user].kind != SlotKind::Compute))
      deny(use.user);
}

/// Keeps slots f32 that produce or read one of `found`, including products: a
/// gradient seed times constants, which the initial loss scale, 65536, makes
/// infinite in f16, or a number beyond the range of the low type.
void SlotGraph::denyWide(const llvm::DenseSet<Value> &found) {
  if (found.empty())
    return;
  for (const SlotValue &entry : values)
    if (found.contains(entry.value))
      deny(entry.vertex);
  denyReaders(found, /*evenProducts=*/true);
}

/// Keeps slots f32 that read a constant that does not fit and that an operation
/// stored among other numbers. This includes products, which would return
/// infinity.
void SlotGraph::denyStored() {
  llvm::DenseSet<Value> stored;
  SmallVector<Operation *> worklist(storing.begin(), storing.end());
  while (!worklist.empty()) {
    for (Value result : worklist.pop_back_val()->getResults()) {
      if (!stored.insert(result).second)
        continue;
      for (Operation *user : result.getUsers())
        if (movesElements(user))
          worklist.push_back(user);
    }
  }
  denyReaders(stored, /*evenProducts=*/true);
}

bool SlotGraph::movesElements(Operation *op) const {
  auto it = infos.find(op->getName());
  if (it != infos.end() &&
      (it->second.moves ||
       (it->second.castBy && it->second.castBy->isNoOpCast(op))))
    return true;
  auto rule = dyn_cast<FloatRangeOpInterface>(op);
  return rule && rule.getElementFlow() == ElementFlow::Moves;
}

bool SlotGraph::isPeriodic(Operation *op) const {
  auto it = infos.find(op->getName());
  if (it != infos.end() && it->second.adapted)
    return it->second.adapted->isPeriodic;
  PrecisionOpInterface iface = getInterface(op);
  return iface && iface.getArithmetic() == Arithmetic::Periodic;
}

/// The elements of `op`, a constant by its trait or by an adapter.
std::optional<ConstantElements> SlotGraph::readConstant(Operation *op) const {
  auto it = infos.find(op->getName());
  return amp::readConstant(op, it == infos.end() ? nullptr : it->second.adapted,
                           low);
}

//===----------------------------------------------------------------------===//
// Slots that fit
//===----------------------------------------------------------------------===//

/// Returns the intervals of the function that `value` is part of.
ValueRanges &SlotGraph::getRanges(Value value) const {
  // Most values are in the body of one function.
  Region *region = value.getParentRegion();
  if (region == lastRegion)
    return *lastRanges;
  auto function = region->getParentOfType<FunctionOpInterface>();
  std::unique_ptr<ValueRanges> &entry = ranges[function];
  if (!entry)
    entry = std::make_unique<ValueRanges>(
        function, low,
        /*hasForeignSeeds=*/!signatures.empty() && !seeds.empty());
  lastRegion = region;
  lastRanges = entry.get();
  return *entry;
}

bool SlotGraph::fitsLow(Value value) const {
  if (!low)
    return false;
  ValueRanges &known = getRanges(value);
  return known.get(value).fits(low) && !known.dependsOnSeed(value);
}

std::optional<FloatRange> SlotGraph::findFittingRange(VertexId v) const {
  const SlotVertex &vertex = vertices[v];
  PrecisionSlots slots;
  getSlots(vertex.op, slots);
  FloatRange all = FloatRange::empty();
  auto fits = [&](Value value, int8_t slot) {
    if (slot != vertex.slot)
      return true;
    if (!fitsLow(value))
      return false;
    all = all.join(getRanges(value).get(value));
    return true;
  };
  // Check results first, because they usually are the values that do not fit.
  for (auto [result, slot] :
       llvm::zip(vertex.op->getResults(), slots.resultSlots))
    if (!fits(result, slot))
      return std::nullopt;
  for (auto [operand, slot] :
       llvm::zip(vertex.op->getOperands(), slots.operandSlots))
    if (!fits(operand, slot))
      return std::nullopt;
  return all;
}

void SlotGraph::freeRangeSlots() {
  for (auto [v, opClass] : rangeSlots) {
    SlotVertex &vertex = vertices[v];
    // Constants are exact and need no interval.
    if (vertex.isConstant || vertex.proof != RangeProof::None)
      continue;
    std::optional<FloatRange> range = findFittingRange(v);
    if (!range) {
      // The other factors of a product are not part of the square.
      if (Value squared = squares.lookup(vertex.op);
          squared && hasBoundedSquare(squared)) {
        vertex.kind = SlotKind::Storage;
        vertex.opClass = opClass;
      }
      continue;
    }
    vertex.opClass = opClass;
    vertex.proof = RangeProof::Fits;
    proven[v] = *range;
  }
}

//===----------------------------------------------------------------------===//
// Constants that do not fit
//===----------------------------------------------------------------------===//

/// Returns whether `use` only masks. It reads a constant whose elements beyond
/// the range of `low` are all `value`. Operations move these elements unchanged
/// to groups in which only elements close to the largest one have influence. No
/// other constant that does not fit arrives there.
///
/// Then the lowest finite number of the low type, L, can replace `value` < L. A
/// group consists of masked elements, which become L, and of others in the low
/// type. Any element greater than L exceeds it by at least a unit in the last
/// place of L, 32 in f16. Under softmax a masked element weighs at most
/// exp(-32) < 1.3e-14 times as much. That is zero in f16, less than a rounding
/// error in f32, and exactly zero from a distance of 104 on. If all elements
/// are masked, they are equal with either number. With -inf they would give
/// NaN.
static bool isMaskUse(OpOperand &use, double value, FloatType low) {
  constexpr unsigned limit = 256;
  auto flowOf = [](Operation *op) {
    auto iface = dyn_cast<FloatRangeOpInterface>(op);
    return iface ? iface.getElementFlow() : ElementFlow::Computes;
  };
  // Search forward for the groups.
  SmallVector<Operation *> worklist, groups;
  llvm::DenseSet<Operation *> visited;
  auto push = [&](Operation *op) {
    if (visited.insert(op).second)
      worklist.push_back(op);
  };
  push(use.getOwner());
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    ElementFlow flow = flowOf(op);
    if (flow == ElementFlow::Computes || visited.size() > limit)
      return false;
    if (flow == ElementFlow::IgnoresFarBelow)
      groups.push_back(op);
    else
      llvm::for_each(op->getUsers(), push);
  }
  // Search backward for the constants.
  visited.clear();
  auto pushOperands = [&](Operation *op) {
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        push(producer);
  };
  llvm::for_each(groups, pushOperands);
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    if (visited.size() > limit)
      return false;
    if (flowOf(op) == ElementFlow::Moves) {
      pushOperands(op);
      continue;
    }
    if (!op->hasTrait<OpTrait::ConstantLike>())
      continue;
    auto elements = getConstantElements(op, low);
    if (elements && !elements->beyond.isEmpty() &&
        elements->beyond != FloatRange::get(value))
      return false;
  }
  return true;
}

void SlotGraph::denyConstants() {
  llvm::DenseMap<OpOperand *, VertexId> users;
  llvm::DenseMap<VertexId, OpClass> classes(rangeSlots.begin(),
                                            rangeSlots.end());
  auto findUser = [&](OpOperand &use) {
    if (users.empty())
      for (const SlotUse &entry : uses)
        users[entry.operand] = entry.user;
    return users.lookup(&use);
  };
  llvm::DenseMap<VertexId, SmallVector<Value>> carried;
  auto findCarried = [&](VertexId v) -> ArrayRef<Value> {
    if (carried.empty())
      for (const SlotValue &entry : values)
        if (vertices[entry.vertex].slot == SlotVertex::carried)
          carried[entry.vertex].push_back(entry.value);
    return carried[v];
  };
  for (Operation *op : constants) {
    auto elements = readConstant(op);
    if (!elements)
      continue;
    VertexId own = lookup(op->getResult(0));
    SlotVertex &vertex = vertices[own];
    auto free = [&] {
      auto it = classes.find(own);
      if (it != classes.end())
        vertex.opClass = it->second;
    };
    if (elements->beyond.isEmpty() && !elements->vanishesIn(low)) {
      // A range slot because of another low type.
      free();
      continue;
    }
    // A constant that can follow its readers may be a mask.
    FloatRange beyond = elements->beyond;
    bool isWide = vertex.pinned && vertex.opClass != OpClass::Allow;
    bool canMask = own != 0 && !isWide && !beyond.isEmpty() &&
                   beyond.lo == beyond.hi && beyond.hi < 0 && getInterface(op);
    SmallVector<Value> worklist{op->getResult(0)};
    while (!worklist.empty()) {
      for (OpOperand &use : worklist.pop_back_val().getUses()) {
        VertexId user = findUser(use);
        if (user == 0 || vertices[user].proof == RangeProof::DoesNotFit)
          continue;
        Operation *reader = use.getOwner();
        if (canMask && use.get() == op->getResult(0) &&
            isMaskUse(use, beyond.lo, low)) {
          masks.insert(use.get());
          continue;
        }
        deny(user);
        // The results of operations that move these elements contain them. So
        // do values that control flow and calls carry.
        if (movesElements(reader))
          llvm::append_range(worklist, reader->getResults());
        else if (vertices[user].slot == SlotVertex::carried)
          llvm::append_range(worklist, findCarried(user));
      }
    }
    if (masks.contains(op->getResult(0))) {
      free();
    } else {
      deny(own);
    }
  }
}
