//===- InlineCalls.cpp - A step with its callees inlined ------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InlineCalls.h"

#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "amp/Interfaces/LossScaleOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <utility>

using namespace mlir;
using namespace mlir::amp;

namespace {

/// Selects the calls that a proof of guards must analyse, and inlines their
/// callees.
class Inliner {
public:
  /// With `all`, every call is selected, and there are no errors.
  Inliner(FunctionOpInterface scope, SymbolTableCollection &tables,
          bool all = false)
      : scope(scope), tables(tables), all(all) {}

  /// Inlines calls in `copy`, a copy of the scope. Returns failure, after an
  /// error, if the result would have too many operations.
  LogicalResult run(FunctionOpInterface copy);

private:
  /// The facts about a function from its body and its callees.
  struct Facts {
    /// It calls itself.
    bool isRecursive = false;
    /// It reads or returns booleans, forwards an argument unchanged, or uses a
    /// loss scale.
    bool isPartOfGuard = false;
    /// The operations of its body after all of its calls that are part of a
    /// guard are inlined, up to `kMostOperations` + 1.
    unsigned numOperations = 0;
  };

  FunctionOpInterface getInlinable(CallOpInterface call);
  const Facts &getFacts(FunctionOpInterface callee);
  void inlineCall(CallOpInterface call, FunctionOpInterface callee);
  LogicalResult failTooLarge();
  /// Finds the values that depend on a finite flag, or on a result of an
  /// operation with a flag.
  void findChecked(FunctionOpInterface copy);

  /// More operations than any step has, and few enough to be analysed in
  /// seconds.
  static constexpr unsigned kMostOperations = 1u << 18;

  FunctionOpInterface scope;
  SymbolTableCollection &tables;
  bool all;
  DenseMap<Operation *, Facts> facts;
  DenseSet<Operation *> open;
  DenseSet<Value> checked;
  unsigned numOperations = 0;
};

} // namespace

/// Returns the callee of `call` if it can be inlined, or null.
FunctionOpInterface Inliner::getInlinable(CallOpInterface call) {
  auto symbol = dyn_cast<SymbolRefAttr>(call.getCallableForCallee());
  auto callee = symbol ? dyn_cast_or_null<FunctionOpInterface>(
                             tables.lookupNearestSymbolFrom(scope, symbol))
                       : FunctionOpInterface();
  if (!callee || callee.isExternal() ||
      !callee.getFunctionBody().hasOneBlock() ||
      callee.getNumArguments() != call.getArgOperands().size())
    return {};
  Operation *last = callee.getFunctionBody().front().getTerminator();
  return last->hasTrait<OpTrait::ReturnLike>() &&
                 last->getNumOperands() == call->getNumResults()
             ? callee
             : FunctionOpInterface();
}

/// Returns whether `op` uses a loss scale or a finite flag.
static bool usesScale(Operation *op) {
  auto iface = dyn_cast<LossScaleOpInterface>(op);
  return iface && (iface.getLossScaleOperand() >= 0 ||
                   iface.getFiniteFlagResult() >= 0 ||
                   iface.getFiniteFlagOperand() >= 0);
}

const Inliner::Facts &Inliner::getFacts(FunctionOpInterface callee) {
  if (auto it = facts.find(callee); it != facts.end())
    return it->second;
  Facts found;
  auto isBoolean = [](Type type) {
    return getElementTypeOrSelf(type).isInteger(1);
  };
  Operation *last = callee.getFunctionBody().front().getTerminator();
  found.isPartOfGuard = all ||
                        llvm::any_of(callee.getArgumentTypes(), isBoolean) ||
                        llvm::any_of(callee.getResultTypes(), isBoolean) ||
                        llvm::any_of(last->getOperands(), [](Value value) {
                          while (CastLike cast{value.getDefiningOp()})
                            value = cast.getInput();
                          return isa<BlockArgument>(value);
                        });
  open.insert(callee);
  auto count = [&](unsigned more) {
    found.numOperations =
        std::min(found.numOperations + more, kMostOperations + 1);
  };
  callee.getFunctionBody().walk([&](Operation *op) {
    found.isPartOfGuard |= usesScale(op);
    count(1);
    auto call = dyn_cast<CallOpInterface>(op);
    FunctionOpInterface other = call ? getInlinable(call) : nullptr;
    if (!other)
      return;
    if (open.contains(other)) {
      found.isRecursive = true;
      return;
    }
    Facts of = getFacts(other);
    found.isRecursive |= of.isRecursive;
    found.isPartOfGuard |= of.isPartOfGuard;
    if (of.isPartOfGuard && !of.isRecursive)
      count(of.numOperations);
  });
  open.erase(callee);
  return facts[callee] = found;
}

void Inliner::inlineCall(CallOpInterface call, FunctionOpInterface callee) {
  IRMapping mapping;
  mapping.map(callee.getArguments(), call.getArgOperands());
  OpBuilder builder(call);
  Block &body = callee.getFunctionBody().front();
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping)->walk([&](Operation *) { ++numOperations; });
  for (auto [result, operand] :
       llvm::zip(call->getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(operand));
  call->erase();
}

void Inliner::findChecked(FunctionOpInterface copy) {
  bool changed = true;
  auto insert = [&](Value value) { changed |= checked.insert(value).second; };
  auto isChecked = [&](Value value) { return checked.contains(value); };
  while (std::exchange(changed, false))
    copy->walk<WalkOrder::PreOrder>([&](Operation *op) {
      auto iface = dyn_cast<LossScaleOpInterface>(op);
      auto call = dyn_cast<CallOpInterface>(op);
      FunctionOpInterface callee = call ? getInlinable(call) : nullptr;
      if ((iface && iface.getFiniteFlagResult() >= 0) ||
          (callee && getFacts(callee).isPartOfGuard) ||
          llvm::any_of(op->getOperands(), isChecked)) {
        llvm::for_each(op->getResults(), insert);
        for (Region &region : op->getRegions())
          llvm::for_each(region.getArguments(), insert);
        // Yielded values of a region become results of its operation.
        if (Operation *parent = op->getParentOp();
            parent != copy && op->hasTrait<OpTrait::IsTerminator>()) {
          llvm::for_each(parent->getResults(), insert);
          for (Region &region : parent->getRegions())
            llvm::for_each(region.getArguments(), insert);
        }
      }
    });
}

LogicalResult Inliner::failTooLarge() {
  if (all)
    return failure();
  return scope->emitOpError(
             "calls functions that use loss scales or unscaled gradients, and "
             "these have more than ")
         << kMostOperations
         << " operations where they are called, expected fewer: call a "
            "function "
            "in a loop instead of several times, or unscale the gradients "
            "outside of the functions";
}

LogicalResult Inliner::run(FunctionOpInterface copy) {
  // Chains of calls may double the operations with each function. Count before
  // anything is copied.
  unsigned sum = 0;
  copy->walk([&](CallOpInterface call) {
    FunctionOpInterface callee = getInlinable(call);
    if (!callee || callee == scope || sum > kMostOperations)
      return;
    const Facts &of = getFacts(callee);
    if (of.isPartOfGuard && !of.isRecursive)
      sum += of.numOperations;
  });
  if (sum > kMostOperations)
    return failTooLarge();
  while (true) {
    findChecked(copy);
    SmallVector<std::pair<CallOpInterface, FunctionOpInterface>> calls;
    copy->walk([&](CallOpInterface call) {
      FunctionOpInterface callee = getInlinable(call);
      if (!callee || callee == scope || getFacts(callee).isRecursive)
        return;
      if (getFacts(callee).isPartOfGuard ||
          llvm::any_of(call->getOperands(),
                       [&](Value value) { return checked.contains(value); }))
        calls.push_back({call, callee});
    });
    if (calls.empty())
      return success();
    for (auto [call, callee] : calls) {
      if (numOperations > kMostOperations)
        return failTooLarge();
      inlineCall(call, callee);
    }
  }
}

static bool hasCalls(FunctionOpInterface function) {
  return function->walk([](CallOpInterface) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

OwningOpRef<FunctionOpInterface>
mlir::amp::cloneWithoutCalls(FunctionOpInterface function,
                             SymbolTableCollection &tables) {
  if (!hasCalls(function))
    return {};
  OwningOpRef<FunctionOpInterface> copy(
      cast<FunctionOpInterface>(function->clone()));
  if (failed(Inliner(function, tables, /*all=*/true).run(*copy)))
    return {};
  return copy;
}

FailureOr<OwningOpRef<FunctionOpInterface>>
mlir::amp::cloneInlined(FunctionOpInterface function,
                        SymbolTableCollection &tables) {
  if (!hasCalls(function))
    return OwningOpRef<FunctionOpInterface>();
  OwningOpRef<FunctionOpInterface> copy(
      cast<FunctionOpInterface>(function->clone()));
  if (failed(Inliner(function, tables).run(*copy)))
    return failure();
  return copy;
}
