//===- InlineCalls.cpp - A step with what it calls ------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InlineCalls.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

/// Returns the function that `call` calls if its body can stand in its place.
static FunctionOpInterface getInlinable(CallOpInterface call, Operation *scope,
                                        SymbolTableCollection &tables) {
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

/// Puts bodies in place of the calls in `root`; those of `open` are being
/// inlined already. `scope` stands where the symbols are known.
static void inlineCalls(Operation *root, Operation *scope,
                        SymbolTableCollection &tables,
                        SmallVectorImpl<Operation *> &open) {
  SmallVector<CallOpInterface> calls;
  root->walk([&](CallOpInterface call) { calls.push_back(call); });
  for (CallOpInterface call : calls) {
    FunctionOpInterface callee = getInlinable(call, scope, tables);
    if (!callee || llvm::is_contained(open, callee))
      continue;
    IRMapping mapping;
    mapping.map(callee.getArguments(), call.getArgOperands());
    OpBuilder builder(call);
    Block &body = callee.getFunctionBody().front();
    SmallVector<Operation *> copies;
    for (Operation &op : body.without_terminator())
      copies.push_back(builder.clone(op, mapping));
    for (auto [result, operand] :
         llvm::zip(call->getResults(), body.getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookupOrDefault(operand));
    call->erase();
    open.push_back(callee);
    for (Operation *copy : copies)
      inlineCalls(copy, scope, tables, open);
    open.pop_back();
  }
}

OwningOpRef<FunctionOpInterface>
mlir::amp::cloneInlined(FunctionOpInterface function,
                        SymbolTableCollection &tables) {
  WalkResult found = function->walk([&](CallOpInterface call) {
    return getInlinable(call, function, tables) ? WalkResult::interrupt()
                                                : WalkResult::advance();
  });
  if (!found.wasInterrupted())
    return {};
  OwningOpRef<FunctionOpInterface> copy(
      cast<FunctionOpInterface>(function->clone()));
  SmallVector<Operation *> open = {function};
  inlineCalls(*copy, function, tables, open);
  return copy;
}
