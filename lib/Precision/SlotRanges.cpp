//===- SlotRanges.cpp - What intervals of values prove of slots -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Frees range slots that fit the low type, and denies slots of constants that
// do not.
//
//===----------------------------------------------------------------------===//

#include "amp/Interfaces/FloatRangeOpInterface.h"
#include "amp/Precision/SlotGraph.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlir::amp;

void SlotGraph::applyRanges(ArrayRef<FunctionOpInterface> functions,
                            FloatType low) {
  // The other low types have the exponents of f32.
  if (!seeds.empty() && low.isF16())
    denySeeds();
  if (!rangeSlots.empty())
    for (FunctionOpInterface function : functions)
      freeRangeSlots(function, low);
  if (!constants.empty())
    denyConstants(low);
}

/// Keeps what reads a gradient seed in f32: times the initial loss scale,
/// 65536, it is infinite in f16. Products decide for themselves.
void SlotGraph::denySeeds() {
  for (Operation *seed : seeds) {
    for (Value result : seed->getResults()) {
      auto it = valueOf.find(result);
      if (it == valueOf.end())
        continue;
      for (const SlotUse &use : uses) {
        SlotVertex &user = vertices[use.user];
        if (use.value != it->second || use.user == 0 || user.pinned ||
            user.kind == SlotKind::Compute)
          continue;
        user.opClass = OpClass::Deny;
        user.proof = RangeProof::DoesNotFit;
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Slots that fit
//===----------------------------------------------------------------------===//

void SlotGraph::freeRangeSlots(FunctionOpInterface function, FloatType low) {
  ValueRanges ranges(function, low);
  for (auto [v, opClass] : rangeSlots) {
    SlotVertex &vertex = vertices[v];
    // Constants are exact, and need no interval: see below.
    if (vertex.isConstant || !function->isProperAncestor(vertex.op))
      continue;
    getSlots(vertex.op, scratch);
    FloatRange all = FloatRange::empty();
    auto fits = [&](Value value, int8_t slot) {
      if (slot != vertex.slot)
        return true;
      FloatRange range = ranges.get(value);
      all = all.join(range);
      return range.fits(low) && !ranges.dependsOnSeed(value);
    };
    bool allFit = true;
    // Results first: they are what leaves the range, as a rule.
    for (unsigned i = 0, e = vertex.op->getNumResults(); allFit && i != e; ++i)
      allFit = fits(vertex.op->getResult(i), scratch.resultSlots[i]);
    for (unsigned i = 0, e = vertex.op->getNumOperands(); allFit && i != e; ++i)
      allFit = fits(vertex.op->getOperand(i), scratch.operandSlots[i]);
    if (!allFit)
      continue;
    vertex.opClass = opClass;
    vertex.proof = RangeProof::Fits;
    vertex.isBounded = true;
    proven[v] = all;
  }
}

//===----------------------------------------------------------------------===//
// Constants that do not fit
//===----------------------------------------------------------------------===//

/// Returns whether `use`, of a constant whose elements beyond the range of
/// `low` are all `value`, does no more than mask: it is moved, unchanged, to
/// where only what lies close to the largest of a group has any influence, and
/// no other constant that does not fit arrives there.
///
/// Then the lowest finite number of the low type, L, serves as well as `value`
/// < L. A group consists of masked elements, which are L now, and of others, in
/// the low type. If one of these is greater than L it is so by a unit in the
/// last place of L, 32 in f16, and under softmax a masked element weighs at
/// most exp(-32) < 1.3e-14 times as much: nothing in f16, less than rounding in
/// f32, and exactly nothing from a distance of 104 on. If there is none other,
/// all are equal with either number. With -inf they would give NaN.
static bool isMaskUse(OpOperand &use, double value, FloatType low) {
  constexpr unsigned limit = 256;
  auto flowOf = [](Operation *op) {
    auto iface = dyn_cast<FloatRangeOpInterface>(op);
    return iface ? iface.getElementFlow() : ElementFlow::Computes;
  };
  // Forwards, to the groups.
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
  // Backwards, to the constants.
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

void SlotGraph::denyConstants(FloatType low) {
  llvm::DenseMap<OpOperand *, VertexId> users;
  llvm::DenseMap<VertexId, OpClass> classes(rangeSlots.begin(),
                                            rangeSlots.end());
  auto findUser = [&](OpOperand &use) {
    if (users.empty())
      for (const SlotUse &entry : uses)
        users[entry.operand] = entry.user;
    return users.lookup(&use);
  };
  for (Operation *op : constants) {
    auto elements = getConstantElements(op, low);
    if (!elements)
      continue;
    VertexId own = lookup(op->getResult(0));
    SlotVertex &vertex = vertices[own];
    auto free = [&] {
      auto it = classes.find(own);
      if (it != classes.end())
        vertex.opClass = it->second;
    };
    if (elements->beyond.isEmpty()) {
      // A range slot on account of another low type.
      free();
      continue;
    }
    // A constant that can follow its readers may be a mask.
    FloatRange beyond = elements->beyond;
    bool canMask = own != 0 && !vertex.pinned && beyond.lo == beyond.hi &&
                   beyond.hi < 0 && getInterface(op);
    SmallVector<Value> worklist{op->getResult(0)};
    while (!worklist.empty()) {
      for (OpOperand &use : worklist.pop_back_val().getUses()) {
        VertexId user = findUser(use);
        if (user == 0 || vertices[user].pinned ||
            vertices[user].proof == RangeProof::DoesNotFit)
          continue;
        Operation *reader = use.getOwner();
        if (canMask && use.get() == op->getResult(0) &&
            isMaskUse(use, beyond.lo, low)) {
          masks.insert(use.get());
          continue;
        }
        vertices[user].opClass = OpClass::Deny;
        vertices[user].proof = RangeProof::DoesNotFit;
        // What moves these elements and no others has them in its result.
        auto iface = dyn_cast<FloatRangeOpInterface>(reader);
        if (iface && iface.getElementFlow() == ElementFlow::Moves &&
            reader->getNumOperands() == 1)
          llvm::append_range(worklist, reader->getResults());
      }
    }
    if (masks.contains(op->getResult(0))) {
      free();
    } else if (own != 0 && !vertex.pinned) {
      vertex.opClass = OpClass::Deny;
      vertex.proof = RangeProof::DoesNotFit;
    }
  }
}
