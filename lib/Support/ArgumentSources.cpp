//===- ArgumentSources.cpp - Values passed as arguments -------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Support/ArgumentSources.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::amp;

void ArgumentSources::addCall(CallOpInterface call,
                              FunctionOpInterface callee) {
  calls[callee].push_back(call);
}

ArrayRef<CallOpInterface> ArgumentSources::getCalls(Operation *function) const {
  auto it = calls.find(function);
  return it == calls.end() ? ArrayRef<CallOpInterface>() : it->second;
}

SmallVector<Value, 2> ArgumentSources::get(Value value) {
  SmallVector<Value, 2> sources;
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || !argument.getOwner()->isEntryBlock())
    return sources;
  auto add = [&](Value source) {
    if (source != value && !llvm::is_contained(sources, source))
      sources.push_back(source);
  };
  Operation *parent = argument.getOwner()->getParentOp();
  for (CallOpInterface call : getCalls(parent))
    if (argument.getArgNumber() < call.getArgOperands().size())
      add(call.getArgOperands()[argument.getArgNumber()]);
  if (!isa<FunctionOpInterface>(parent))
    for (OpOperand *source : flow.getSources(value))
      add(source->get());
  return sources;
}

bool ArgumentSources::holdsInCall(Value value,
                                  llvm::function_ref<bool(Value)> holds) {
  SmallVector<Value, 2> sources = get(value);
  bool isPassedByCalls =
      !sources.empty() &&
      isa<FunctionOpInterface>(value.getParentBlock()->getParentOp());
  return isPassedByCalls ? llvm::any_of(sources, holds)
                         : !sources.empty() && llvm::all_of(sources, holds);
}
