//===- DependentValues.cpp - Values that depend on others -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Support/DependentValues.h"

#include "amp/Support/RegionFlow.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::amp;

namespace {

/// Follows values forward, into regions and called functions.
class DependentFinder {
public:
  DependentFinder(ArrayRef<Value> values,
                  llvm::function_ref<bool(OpOperand &)> follows)
      : follows(follows) {
    llvm::for_each(values, [&](Value value) { mark(value); });
  }

  llvm::DenseSet<Value> run() {
    while (!worklist.empty())
      for (OpOperand &use : worklist.pop_back_val().getUses())
        if (!follows || follows(use))
          visit(use);
    return std::move(dependents);
  }

private:
  void mark(Value value) {
    if (dependents.insert(value).second)
      worklist.push_back(value);
  }

  void visit(OpOperand &use) {
    Operation *op = use.getOwner();
    if (auto call = dyn_cast<CallOpInterface>(op); call && visitCall(call, use))
      return;
    ArrayRef<Value> inputs = flow.getInputs(use);
    llvm::for_each(inputs, [&](Value input) { mark(input); });
    if (!inputs.empty())
      return;
    // An operand that a terminator does not forward decides which region runs.
    if (op->hasTrait<OpTrait::IsTerminator>()) {
      op = op->getParentOp();
      if (isa<FunctionOpInterface>(op))
        return visitReturn(op, use.getOperandNumber());
    }
    llvm::for_each(op->getResults(), [&](Value value) { mark(value); });
    for (Region &region : op->getRegions())
      llvm::for_each(region.getArguments(), [&](Value value) { mark(value); });
  }

  /// Continues in the callee of `call`. Returns whether the callee is known.
  bool visitCall(CallOpInterface call, OpOperand &use) {
    auto callee = dyn_cast_or_null<FunctionOpInterface>(
        call.resolveCallableInTable(&tables));
    unsigned first = call.getArgOperands().getBeginOperandIndex();
    unsigned index = use.getOperandNumber();
    if (!callee || callee.isExternal() || index < first ||
        index - first >= callee.getNumArguments())
      return false;
    Callee &entry = callees[callee];
    if (entry.calls.insert(call))
      for (unsigned returned : entry.returned)
        markResult(call, returned);
    mark(callee.getArgument(index - first));
    return true;
  }

  void visitReturn(Operation *function, unsigned index) {
    Callee &entry = callees[function];
    if (entry.returned.insert(index))
      for (Operation *call : entry.calls)
        markResult(call, index);
  }

  void markResult(Operation *call, unsigned index) {
    if (index < call->getNumResults())
      mark(call->getResult(index));
  }

  /// The calls with a dependent operand, and the dependent results of the
  /// function.
  struct Callee {
    llvm::SmallSetVector<Operation *, 4> calls;
    llvm::SmallSetVector<unsigned, 4> returned;
  };

  llvm::function_ref<bool(OpOperand &)> follows;
  RegionFlow flow;
  SymbolTableCollection tables;
  llvm::DenseMap<Operation *, Callee> callees;
  llvm::DenseSet<Value> dependents;
  SmallVector<Value> worklist;
};

} // namespace

llvm::DenseSet<Value>
mlir::amp::findDependentValues(ArrayRef<Value> values,
                               llvm::function_ref<bool(OpOperand &)> follows) {
  return DependentFinder(values, follows).run();
}
