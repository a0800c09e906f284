//===- ReduceOperations.cpp - Reduction of graphs -------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's own `reduction-tree` removes operations without regard to their users.
// A graph of tensors then does not verify. This pass replaces the results of a
// removed operation by other values of the same type.
//
//===----------------------------------------------------------------------===//

#include "ReduceOperations.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Reducer/Tester.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

/// Returns a value that can replace `result`: an operand of its operation, or
/// an argument of an enclosing block, of the same type.
static Value findSubstitute(OpResult result) {
  for (Value operand : result.getOwner()->getOperands())
    if (operand.getType() == result.getType())
      return operand;
  for (Block *block = result.getOwner()->getBlock(); block;) {
    for (BlockArgument argument : block->getArguments())
      if (argument.getType() == result.getType())
        return argument;
    Operation *parent = block->getParentOp();
    block = parent && !parent->hasTrait<OpTrait::IsIsolatedFromAbove>()
                ? parent->getBlock()
                : nullptr;
  }
  return {};
}

/// Removes `op`. Returns whether that is possible.
static bool cutOut(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>())
    return false;
  if (isa<SymbolOpInterface>(op) &&
      !SymbolTable::symbolKnownUseEmpty(op, op->getParentOp()))
    return false;
  SmallVector<Value> substitutes;
  for (OpResult result : op->getResults()) {
    Value substitute = result.use_empty() ? Value() : findSubstitute(result);
    if (!result.use_empty() && !substitute)
      return false;
    substitutes.push_back(substitute);
  }
  for (auto [result, substitute] : llvm::zip(op->getResults(), substitutes))
    if (substitute)
      result.replaceAllUsesWith(substitute);
  op->erase();
  return true;
}

/// Removes result `index` of `function`. Returns whether that is possible.
static bool removeResult(FunctionOpInterface function, unsigned index) {
  for (Block &block : function.getFunctionBody()) {
    Operation *terminator = block.getTerminator();
    if (!terminator->hasTrait<OpTrait::ReturnLike>() ||
        terminator->getNumOperands() != function.getNumResults())
      return false;
  }
  llvm::BitVector erased(function.getNumResults());
  erased.set(index);
  if (failed(function.eraseResults(erased)))
    return false;
  for (Block &block : function.getFunctionBody())
    block.getTerminator()->eraseOperand(index);
  return true;
}

/// Removes argument `index` of `function` if nothing uses it.
static bool removeArgument(FunctionOpInterface function, unsigned index) {
  llvm::BitVector erased(function.getNumArguments());
  erased.set(index);
  return function.getArgument(index).use_empty() &&
         succeeded(function.eraseArguments(erased));
}

namespace {

struct ReduceOperationsPass
    : PassWrapper<ReduceOperationsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReduceOperationsPass)
  ReduceOperationsPass() = default;
  ReduceOperationsPass(const ReduceOperationsPass &other)
      : PassWrapper(other) {}

  StringRef getArgument() const override { return "reduce-operations"; }
  StringRef getDescription() const override {
    return "Leave out operations, results and arguments while the test finds "
           "the module interesting";
  }

  void runOnOperation() override {
    if (!llvm::sys::fs::can_execute(tester)) {
      getOperation()->emitError("reduce-operations: cannot run the test '")
          << tester << "', expected 'test=' with the path of a program";
      return signalPassFailure();
    }
    Tester runner(tester, testerArguments);
    if (!isInteresting(runner, getOperation())) {
      getOperation()->emitError("reduce-operations: the test does not find the "
                                "module interesting; expected it to exit with "
                                "another status than 0");
      return signalPassFailure();
    }
    bool changed = true;
    while (changed) {
      changed = reduceOperations(runner);
      changed |= reduceSignatures(runner);
    }
  }

private:
  static bool isInteresting(const Tester &runner, ModuleOp module) {
    return runner.isInteresting(module).first == Tester::Interestingness::True;
  }

  /// Tries `change` on a copy of the module. The copy replaces the module if it
  /// is valid and still interesting.
  bool attempt(const Tester &runner, function_ref<bool(ModuleOp)> change) {
    OwningOpRef<ModuleOp> copy = getOperation().clone();
    ScopedDiagnosticHandler silent(&getContext(),
                                   [](Diagnostic &) { return success(); });
    if (!change(*copy) || failed(verify(*copy)) ||
        !isInteresting(runner, *copy))
      return false;
    getOperation().getBodyRegion().takeBody(copy->getBodyRegion());
    return true;
  }

  /// Removes ranges of operations, first half of them and finally one at a
  /// time. Users come before their operands.
  bool reduceOperations(const Tester &runner) {
    auto collect = [](ModuleOp module) {
      SmallVector<Operation *> operations;
      module.walk([&](Operation *op) {
        if (op != module)
          operations.push_back(op);
      });
      return operations;
    };
    bool changed = false;
    size_t count = collect(getOperation()).size();
    for (size_t size = std::max<size_t>(count / 2, 1); size != 0; size /= 2) {
      for (size_t end = count; end != 0;) {
        size_t begin = end > size ? end - size : 0;
        bool reduced = attempt(runner, [&](ModuleOp module) {
          SmallVector<Operation *> operations = collect(module);
          bool any = false;
          for (size_t i = end; i-- > begin;) {
            // Remove it separately, so that the others are not lost with it.
            if (operations[i]->getNumRegions() != 0 && end - begin > 1)
              continue;
            any |= cutOut(operations[i]);
          }
          return any;
        });
        changed |= reduced;
        size_t left = collect(getOperation()).size();
        // The rest of the range has now been tried.
        end = reduced ? std::min(begin, left) : begin;
        count = left;
      }
    }
    return changed;
  }

  /// Removes results and arguments of functions, one at a time.
  bool reduceSignatures(const Tester &runner) {
    bool changed = false;
    SmallVector<std::string> names;
    getOperation().walk([&](FunctionOpInterface function) {
      if (!function.isExternal())
        names.push_back(function.getName().str());
    });
    for (const std::string &name : names) {
      auto find = [&](ModuleOp module) {
        FunctionOpInterface found;
        module.walk([&](FunctionOpInterface function) {
          if (function.getName() == name && !function.isExternal())
            found = function;
        });
        return found;
      };
      for (unsigned i = find(getOperation()).getNumResults(); i-- > 0;)
        changed |= attempt(runner, [&](ModuleOp module) {
          return removeResult(find(module), i);
        });
      for (unsigned i = find(getOperation()).getNumArguments(); i-- > 0;)
        changed |= attempt(runner, [&](ModuleOp module) {
          return removeArgument(find(module), i);
        });
    }
    return changed;
  }

  Option<std::string> tester{
      *this, "test",
      llvm::cl::desc("Program that exits with a status other than 0 if the "
                     "file that it is given is interesting")};
  ListOption<std::string> testerArguments{
      *this, "test-arg", llvm::cl::desc("Arguments of the test")};
};

} // namespace

void mlir::amp::registerReduceOperationsPass() {
  PassRegistration<ReduceOperationsPass>();
}
