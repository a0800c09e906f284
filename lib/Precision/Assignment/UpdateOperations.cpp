//===- UpdateOperations.cpp - Operations of updates alone -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "UpdateOperations.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Support/RegionFlow.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::amp;

void mlir::amp::addTowardsGradient(
    Operation *op, llvm::DenseSet<Operation *> &towards,
    llvm::function_ref<void(Operation *)> onAdded) {
  SmallVector<Operation *> worklist;
  auto enter = [&](Operation *source) {
    if (source && !isa<FunctionOpInterface>(source) &&
        !towards.contains(source))
      worklist.push_back(source);
  };
  enter(op);
  while (!worklist.empty())
    worklist.pop_back_val()->walk([&](Operation *nested) {
      if (!towards.insert(nested).second)
        return;
      if (onAdded)
        onAdded(nested);
      enter(nested->getParentOp());
      for (Value operand : nested->getOperands())
        enter(operand.getDefiningOp());
    });
}

namespace {

/// Visits functions that operations call, each once.
class CalledFunctions {
public:
  explicit CalledFunctions(
      const llvm::DenseMap<Operation *, FunctionOpInterface> &callees)
      : callees(callees) {}

  /// Adds the function that `op` calls, if any.
  void add(Operation *op) {
    FunctionOpInterface callee = callees.lookup(op);
    if (callee && !callee.isExternal() && visited.insert(callee).second)
      pending.push_back(callee);
  }

  /// Calls `visit` for all operations in the added functions, and in the
  /// functions that these operations call.
  void walk(llvm::function_ref<void(Operation *)> visit) {
    while (!pending.empty())
      pending.pop_back_val()->walk([&](Operation *nested) {
        if (isa<FunctionOpInterface>(nested))
          return;
        visit(nested);
        add(nested);
      });
  }

private:
  const llvm::DenseMap<Operation *, FunctionOpInterface> &callees;
  llvm::DenseSet<Operation *> visited;
  SmallVector<Operation *> pending;
};

class UpdateFinder {
public:
  /// Finds the operations of updates in `root`.
  void run(Operation *root) {
    SmallVector<Operation *> marked;
    root->walk([&](Operation *op) {
      if (op->hasAttr(AMPDialect::kGradientOfAttr) &&
          !isa<FunctionOpInterface>(op))
        marked.push_back(op);
      if (auto call = dyn_cast<CallOpInterface>(op))
        if (auto callee = dyn_cast_or_null<FunctionOpInterface>(
                call.resolveCallableInTable(&tables))) {
          calls[callee].push_back(call);
          callees[op] = callee;
        }
    });
    if (marked.empty())
      return;
    findTowards(marked);
    for (Operation *op : marked) {
      auto names = op->getDiscardableAttrDictionary().getAs<ArrayAttr>(
          AMPDialect::kGradientOfAttr);
      if (!names)
        continue;
      for (auto [result, name] : llvm::zip(op->getResults(), names))
        if (auto text = dyn_cast<StringAttr>(name); text && !text.empty())
          enter(result);
    }
    while (!worklist.empty())
      for (OpOperand &use : worklist.pop_back_val().getUses())
        follow(use);
  }

  llvm::DenseSet<Operation *> takeFound() { return std::move(found); }

  /// Calls of updates to functions that computations of gradients call too.
  llvm::MapVector<FunctionOpInterface, SmallVector<CallOpInterface>>
  getSharedCalls() {
    llvm::MapVector<FunctionOpInterface, SmallVector<CallOpInterface>> shared;
    for (auto &[callee, of] : calls) {
      FunctionOpInterface function = callee;
      auto isOfUpdate = [&](CallOpInterface call) {
        return found.contains(call) || updateCalls.contains(call);
      };
      if (function.isExternal() || !llvm::any_of(of, isOfUpdate) ||
          llvm::none_of(
              of, [&](CallOpInterface call) { return towards.contains(call); }))
        continue;
      llvm::copy_if(of, std::back_inserter(shared[function]), isOfUpdate);
    }
    return shared;
  }

private:
  /// Collects the operations from which gradients are computed, including
  /// operations in called functions and in callers.
  void findTowards(SmallVector<Operation *> pending) {
    llvm::DenseSet<Operation *> entered;
    CalledFunctions called(callees);
    while (!pending.empty()) {
      Operation *op = pending.pop_back_val();
      if (!entered.insert(op).second)
        continue;
      addTowardsGradient(op, towards,
                         [&](Operation *added) { called.add(added); });
      called.walk([&](Operation *nested) { towards.insert(nested); });
      if (auto function = op->getParentOfType<FunctionOpInterface>())
        llvm::append_range(pending, calls.lookup(function));
    }
  }

  void enter(Value value) {
    if (seen.insert(value).second)
      worklist.push_back(value);
  }

  void follow(OpOperand &use) {
    Operation *op = use.getOwner();
    if (towards.contains(op))
      return;
    if (FunctionOpInterface callee = callees.lookup(op)) {
      updateCalls.insert(op);
      unsigned first =
          cast<CallOpInterface>(op).getArgOperands().getBeginOperandIndex();
      unsigned index = use.getOperandNumber();
      if (!callee.isExternal() && index >= first &&
          index - first < callee.getNumArguments())
        enter(callee.getArgument(index - first));
      llvm::for_each(op->getResults(), [&](Value value) { enter(value); });
      return;
    }
    Operation *outermost = op;
    while (Operation *parent = outermost->getParentOp()) {
      if (isa<FunctionOpInterface>(parent) || towards.contains(parent) ||
          parent->hasTrait<OpTrait::SymbolTable>())
        break;
      outermost = parent;
    }
    if (found.contains(outermost))
      return;
    auto add = [&](Operation *nested) {
      if (towards.contains(nested))
        return;
      found.insert(nested);
      inLoops.add(nested);
      llvm::for_each(nested->getResults(), [&](Value value) { enter(value); });
    };
    outermost->walk(add);
    inLoops.walk(add);
  }

  llvm::DenseSet<Operation *> towards, found;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> worklist;
  llvm::MapVector<FunctionOpInterface, SmallVector<CallOpInterface>> calls;
  /// Calls outside of loops and branches whose operands an update computes.
  llvm::DenseSet<Operation *> updateCalls;
  llvm::DenseMap<Operation *, FunctionOpInterface> callees;
  /// The functions that loops and branches of the update call.
  CalledFunctions inLoops{callees};
  SymbolTableCollection tables;
};

} // namespace

llvm::DenseSet<Operation *> mlir::amp::findUpdateOperations(Operation *root) {
  UpdateFinder finder;
  finder.run(root);
  return finder.takeFound();
}

llvm::MapVector<FunctionOpInterface, SmallVector<CallOpInterface>>
mlir::amp::findSharedUpdateCalls(Operation *root) {
  UpdateFinder finder;
  finder.run(root);
  return finder.getSharedCalls();
}
