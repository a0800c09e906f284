//===- RunningSums.cpp - Sums that loops carry ----------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunningSums.h"

#include "amp/Interfaces/PrecisionOpInterface.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace mlir::amp;

namespace {

/// How a value depends on a value that a loop carries.
struct Dependence {
  /// It is the carried value, possibly plus other values.
  bool isSum = false;
  bool isAddedTo = false;
  /// It is computed from the carried value in another way.
  bool isOther = false;
};

/// Follows one carried value through the body of its loop.
class SumTrace {
public:
  SumTrace(LoopLikeOpInterface loop, BlockArgument carried)
      : loop(loop), carried(carried) {}

  /// Adds the sums to `sums` if `yielded` is one.
  void run(Value yielded, llvm::DenseSet<Value> &sums) {
    add(carried, {/*isSum=*/true, /*isAddedTo=*/false, /*isOther=*/false});
    while (!worklist.empty()) {
      Value value = worklist.pop_back_val();
      Dependence of = known.lookup(value);
      for (OpOperand &use : value.getUses())
        visit(use, of);
    }
    Dependence end = known.lookup(yielded);
    if (!end.isSum || !end.isAddedTo || end.isOther)
      return;
    for (auto &[value, of] : known)
      if (of.isSum && !of.isOther)
        sums.insert(value);
  }

private:
  void add(Value value, Dependence of) {
    Dependence &entry = known[value];
    Dependence joined = {entry.isSum || of.isSum,
                         entry.isAddedTo || of.isAddedTo,
                         entry.isOther || of.isOther};
    if (joined.isSum == entry.isSum && joined.isAddedTo == entry.isAddedTo &&
        joined.isOther == entry.isOther)
      return;
    entry = joined;
    worklist.push_back(value);
  }

  void visit(OpOperand &use, Dependence of) {
    Operation *op = use.getOwner();
    // Control flow forwards the value.
    auto branch = dyn_cast<RegionBranchOpInterface>(
        op->hasTrait<OpTrait::IsTerminator>() ? op->getParentOp() : op);
    if (branch) {
      const RegionBranchSuccessorMapping &mapping = getMapping(branch);
      auto it = mapping.find(&use);
      if (it == mapping.end())
        return;
      // A result of the loop itself is read after it.
      for (Value input : it->second)
        if (input.getDefiningOp() != loop)
          add(input, of);
      return;
    }
    if (of.isSum && addsTo(use))
      of.isAddedTo = true;
    else if (of.isSum)
      of = {/*isSum=*/false, /*isAddedTo=*/false, /*isOther=*/true};
    for (Value result : op->getResults())
      add(result, of);
    // An unknown operation between may forward in any way what its body reads.
    for (Operation *parent = op->getParentOp();
         parent != loop && !isa<RegionBranchOpInterface>(parent);
         parent = parent->getParentOp())
      for (Value result : parent->getResults())
        add(result, {/*isSum=*/false, /*isAddedTo=*/false, /*isOther=*/true});
  }

  /// Whether the only result of the owner is `operand` plus another value.
  static bool addsTo(OpOperand &operand) {
    auto op = dyn_cast<PrecisionOpInterface>(operand.getOwner());
    if (!op || op->getNumResults() != 1 ||
        op->getResult(0).getType() != operand.get().getType())
      return false;
    if (op.getArithmetic() == Arithmetic::Add)
      return true;
    // A product adds to its destination.
    auto style = dyn_cast<DestinationStyleOpInterface>(op.getOperation());
    if (!style || !style.isDpsInit(&operand))
      return false;
    PrecisionSlots slots;
    op.getPrecisionSlots(slots);
    return llvm::is_contained(slots.kinds, SlotKind::Compute);
  }

  const RegionBranchSuccessorMapping &getMapping(RegionBranchOpInterface op) {
    auto [it, isNew] = mappings.try_emplace(op);
    if (isNew)
      op.getSuccessorOperandInputMapping(it->second);
    return it->second;
  }

  LoopLikeOpInterface loop;
  BlockArgument carried;
  llvm::DenseMap<Value, Dependence> known;
  SmallVector<Value> worklist;
  llvm::DenseMap<Operation *, RegionBranchSuccessorMapping> mappings;
};

} // namespace

void mlir::amp::findRunningSums(Operation *op, llvm::DenseSet<Value> &sums) {
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  if (!loop || !isa<RegionBranchOpInterface>(op))
    return;
  for (BlockArgument carried : loop.getRegionIterArgs()) {
    OpOperand *yielded = loop.getTiedLoopYieldedValue(carried);
    if (yielded && isa<FloatType>(getElementTypeOrSelf(carried.getType())))
      SumTrace(loop, carried).run(yielded->get(), sums);
  }
}
