//===- ReplicationAnalysis.h - Equal on all ranks? --------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dataflow analysis that finds which values of a data-parallel step are equal
// on all ranks, which vary, and which are summands of one total. It is forward
// and sparse. A called function is analysed once for each tuple of replications
// of its arguments.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_REPLICATION_REPLICATIONANALYSIS_H
#define AMP_REPLICATION_REPLICATIONANALYSIS_H

#include "amp/Interfaces/ReplicationOpInterface.h"
#include "amp/Replication/ForeignRules.h"
#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <memory>

namespace mlir::amp {

class ReplicationProgram;

/// The replication of the arguments of `function`: each rank has its part of a
/// batch, unless a manual computation divides the values of the whole program.
SmallVector<Replication> getStepArguments(FunctionOpInterface function);

/// The replication of the values of one function, for given replications of its
/// arguments.
class ReplicationStates {
public:
  FunctionOpInterface getFunction() const { return function; }
  /// The replication of `value`, of the function. Unset in dead code.
  Replication get(Value value) const;
  /// What the function returns, joined over its returns.
  ArrayRef<Replication> getResults() const { return results; }
  /// Applies the rule of `op` once more and hands wrong operands to `report`.
  void check(Operation *op,
             function_ref<void(unsigned, const Twine &)> report) const;
  /// What the results of `op` would be if `value` were `other`. `op` has no
  /// regions.
  SmallVector<Replication> infer(Operation *op, Value value,
                                 const Replication &other) const;
  /// What the results of `op`, without regions, would be if `lookup` gave the
  /// replications of its operands. Nothing if they do not fit.
  std::optional<SmallVector<Replication>>
  tryInfer(Operation *op, function_ref<Replication(Value)> lookup) const;
  /// The operands of `op`, and those of terminators in it, that decide which
  /// region runs next.
  static SmallVector<OpOperand *> getConditions(Operation *op);

private:
  friend class ReplicationProgram;
  ReplicationStates(ReplicationProgram &program, FunctionOpInterface function)
      : program(program), function(function) {}

  ReplicationProgram &program;
  FunctionOpInterface function;
  SmallVector<Replication> arguments, results;
  std::unique_ptr<DataFlowSolver> solver;
};

/// The functions of a module, analysed on demand.
class ReplicationProgram {
public:
  /// `ranks` is the number of ranks, or 0 if it is unknown. `rules` are for
  /// operations without ReplicationOpInterface.
  ReplicationProgram(int64_t ranks, ArrayRef<ReplicationRule> rules)
      : ranks(ranks), rules(rules) {}

  /// Analyses `function`, or returns the earlier result for these arguments.
  const ReplicationStates &analyse(FunctionOpInterface function,
                                   ArrayRef<Replication> arguments);
  /// The function that `call` calls, or null if it has no body or is being
  /// analysed.
  FunctionOpInterface resolve(CallOpInterface call);
  int64_t getNumRanks() const { return ranks; }
  ArrayRef<ReplicationRule> getRules() const { return rules; }
  /// All pairs of a function and arguments that were analysed.
  ArrayRef<std::unique_ptr<ReplicationStates>> getAnalysed() const {
    return analysed;
  }

private:
  int64_t ranks;
  ArrayRef<ReplicationRule> rules;
  SymbolTableCollection tables;
  SmallVector<Operation *> stack;
  SmallVector<std::unique_ptr<ReplicationStates>> analysed;
};

} // namespace mlir::amp

#endif // AMP_REPLICATION_REPLICATIONANALYSIS_H
