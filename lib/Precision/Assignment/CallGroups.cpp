//===- CallGroups.cpp - Functions that are assigned together --------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Assignment/CallGroups.h"

#include "UpdateOperations.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Precision/Assignment/SharedFunctions.h"
#include "amp/Support/SymbolUses.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::amp;

namespace {
/// The facts about a function that is called.
struct Callee {
  SmallVector<Operation *> calls;
  size_t uses = 0;
  StringRef obstacle;
};
} // namespace

static bool isKept(Operation *op) {
  auto pin = op->getAttrOfType<StringAttr>(AMPDialect::kPrecisionAttr);
  return pin && pin.getValue() == "keep";
}

static bool hasRoles(FunctionOpInterface function) {
  for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i)
    if (function.getArgAttr(i, AMPDialect::kRoleAttr) ||
        function.getArgAttr(i, AMPDialect::kPrecisionAttr))
      return true;
  for (unsigned i = 0, e = function.getNumResults(); i != e; ++i)
    if (function.getResultAttr(i, AMPDialect::kUpdatesAttr) ||
        function.getResultAttr(i, AMPDialect::kMetricAttr) ||
        function.getResultAttr(i, AMPDialect::kPredictionAttr))
      return true;
  return false;
}

/// Whether an operation in `region`, but not in a region within it, is a
/// symbol.
static bool containsSymbols(Region &region) {
  return llvm::any_of(region.getOps(), [](Operation &op) {
    return isa<SymbolOpInterface>(op) ||
           (!op.isRegistered() && op.getAttr(SymbolTable::getSymbolAttrName()));
  });
}

/// Returns why `function` must keep its signature, or an empty string.
static StringRef findObstacle(FunctionOpInterface function,
                              const Callee &callee) {
  auto symbol = dyn_cast<SymbolOpInterface>(function.getOperation());
  if (function.isExternal())
    return "it has no body here";
  if (!symbol || !symbol.isPrivate())
    return "it is public: not every caller is known";
  if (callee.uses != callee.calls.size())
    return "another operation than a direct call uses it";
  if (hasRoles(function))
    return "its arguments or results have roles or pins";
  if (isKept(function))
    return "'amp.precision' keeps its types";
  for (Operation *call : callee.calls) {
    if (isKept(call))
      return "'amp.precision' keeps the types of a call";
    if (call->getResultTypes() != TypeRange(function.getResultTypes()) ||
        cast<CallOpInterface>(call).getArgOperands().getTypes() !=
            TypeRange(function.getArgumentTypes()))
      return "a call does not have its types";
  }
  return {};
}

SmallVector<CallGroup, 1>
mlir::amp::findCallGroups(Operation *root,
                          SmallVectorImpl<KeptSignature> &kept) {
  SmallVector<FunctionOpInterface> functions;
  auto collect = [&](FunctionOpInterface function) {
    functions.push_back(function);
    return WalkResult::skip();
  };
  root->walk<WalkOrder::PreOrder>(collect);

  SmallVector<CallGroup, 1> groups;
  llvm::MapVector<Operation *, Callee> callees;
  llvm::DenseSet<Operation *> known;
  if (root->hasTrait<OpTrait::SymbolTable>()) {
    SymbolTableCollection symbols;
    for (FunctionOpInterface function : functions)
      known.insert(function);
    for (FunctionOpInterface function : functions) {
      function->walk([&](CallOpInterface call) {
        auto callee = dyn_cast_or_null<FunctionOpInterface>(
            call.resolveCallableInTable(&symbols));
        if (callee && known.contains(callee))
          callees[callee].calls.push_back(call);
      });
    }
    // SymbolTable does not count properties of unregistered operations.
    auto countUses = [&](Operation *user) {
      forEachSymbolRef(user, [&](SymbolRefAttr name) {
        Operation *symbol = symbols.lookupNearestSymbolFrom(user, name);
        if (auto it = callees.find(symbol); it != callees.end())
          ++it->second.uses;
        // The scope is unknown, so the name may refer to any symbol.
        if (!symbol)
          for (auto &[callee, entry] : callees)
            entry.uses +=
                SymbolTable::getSymbolName(callee) == name.getRootReference();
      });
    };
    // An unregistered operation with one region is a symbol table if it
    // contains symbols. Reductions of StableHLO contain none.
    auto isUnknownTable = [&](Operation *op) {
      return WalkResult(failure(op->getNumRegions() == 1 && !op->getDialect() &&
                                containsSymbols(op->getRegion(0))));
    };
    if (!callees.empty()) {
      root->walk(countUses);
      if (root->walk(isUnknownTable).wasInterrupted())
        for (auto &[callee, entry] : callees)
          ++entry.uses;
    }
  }

  llvm::EquivalenceClasses<Operation *> joined;
  llvm::DenseMap<Operation *, FunctionOpInterface> open;
  for (auto &[op, callee] : callees) {
    auto function = cast<FunctionOpInterface>(op);
    StringRef obstacle = findObstacle(function, callee);
    if (!obstacle.empty()) {
      kept.push_back({function, obstacle});
      continue;
    }
    for (Operation *call : callee.calls) {
      Operation *caller = call->getParentOp();
      while (!known.contains(caller))
        caller = caller->getParentOp();
      joined.unionSets(caller, op);
      open[call] = function;
    }
  }
  llvm::DenseMap<Operation *, size_t> groupOf;
  for (FunctionOpInterface function : functions) {
    if (function.isExternal())
      continue;
    Operation *leader = function;
    if (joined.contains(leader))
      leader = joined.getLeaderValue(leader);
    auto [it, isNew] = groupOf.try_emplace(leader, groups.size());
    if (isNew)
      groups.emplace_back();
    groups[it->second].functions.push_back(function);
  }
  for (auto &[op, callee] : callees)
    for (Operation *call : callee.calls)
      if (auto function = open.lookup(call))
        groups[groupOf.lookup(joined.getLeaderValue(op))].callees[call] =
            function;
  return groups;
}

/// Whether `root` contains a private function with a body.
static bool hasPrivateFunction(Operation *root) {
  return root
      ->walk<WalkOrder::PreOrder>([](FunctionOpInterface function) {
        auto symbol = dyn_cast<SymbolOpInterface>(function.getOperation());
        if (symbol && symbol.isPrivate() && !function.isExternal())
          return WalkResult::interrupt();
        return WalkResult::skip();
      })
      .wasInterrupted();
}

SmallVector<FunctionOpInterface>
mlir::amp::splitFunctionsOfUpdates(Operation *root) {
  llvm::MapVector<Operation *, FunctionOpInterface> copies;
  if (!hasPrivateFunction(root))
    return {};
  // Calls in a copy are calls of the update in the next round.
  for (bool changed = true; changed;) {
    changed = false;
    for (auto &[function, calls] : findSharedUpdateCalls(root)) {
      auto symbol = dyn_cast<SymbolOpInterface>(function.getOperation());
      Operation *table = function->getParentOp();
      if (!symbol || !symbol.isPrivate() || isKept(function) ||
          hasRoles(function) || !table->hasTrait<OpTrait::SymbolTable>())
        continue;
      // A recursive function has one copy, which calls itself.
      FunctionOpInterface &copy = copies[function];
      if (!copy) {
        copy = cast<FunctionOpInterface>(function->clone());
        SymbolTable::setSymbolName(copy,
                                   (function.getName() + "_update").str());
        SymbolTable(table).insert(copy, std::next(Block::iterator(function)));
      }
      for (CallOpInterface call : calls)
        if (isa_and_nonnull<FlatSymbolRefAttr>(
                dyn_cast<SymbolRefAttr>(call.getCallableForCallee()))) {
          call.setCalleeFromCallable(FlatSymbolRefAttr::get(copy));
          changed = true;
        }
    }
  }
  SmallVector<FunctionOpInterface> result;
  for (auto &[function, copy] : copies)
    result.push_back(copy);
  return result;
}
