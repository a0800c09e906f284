//===- ForeignRules.h - Ranks in dialects without interfaces ----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of replication for operations that do not implement
// ReplicationOpInterface: those of StableHLO and Shardy, and those that the
// user describes.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_REPLICATION_FOREIGNRULES_H
#define AMP_REPLICATION_FOREIGNRULES_H

#include "amp/Interfaces/ReplicationOpInterface.h"
#include "llvm/Support/GlobPattern.h"

namespace mlir::amp {

/// An entry `GLOB=RULE` for operations without ReplicationOpInterface.
struct ReplicationRule {
  enum class Kind {
    /// `sum`: each result is a sum of the operands.
    Sum,
    /// `product`: the product of operands 0 and 1, element by element.
    Product,
    /// `quotient`: operand 0 divided by operand 1, element by element.
    Quotient,
    /// `map`: any function of the operands, element by element.
    Map,
    /// `all-reduce`: result i is the sum of operand i over all ranks.
    AllReduce,
    /// `all-gather`: result i has operand i of all ranks.
    AllGather,
    /// `rank`: the results differ between the ranks.
    Rank,
    /// `consumer`: all operands must be replicated, as those of an optimizer.
    Consumer,
  };

  llvm::GlobPattern pattern;
  Kind kind;

  bool isCollective() const {
    return kind == Kind::AllReduce || kind == Kind::AllGather;
  }
  /// Reads an entry, which must outlive the rule. Returns failure if it is not
  /// one, and describes a valid one in `expected`.
  static FailureOr<ReplicationRule> parse(StringRef text,
                                          std::string &expected);
};

/// Sets the replication of the results of an operation that does not implement
/// ReplicationOpInterface and is not control flow. `rules` come first.
void inferForeignReplication(ReplicationInference &inference,
                             ArrayRef<ReplicationRule> rules);

/// Whether all ranks must execute `op` together.
bool isCollective(Operation *op, ArrayRef<ReplicationRule> rules);

/// The number of ranks that `module` states: the devices of its collectives, or
/// `mhlo.num_partitions` times `mhlo.num_replicas`. 0 if it states none.
int64_t findNumRanks(Operation *module);

/// Whether `op` runs its region once on each rank, on its parts of the operands
/// (`sdy.manual_computation`).
bool isManualComputation(Operation *op);

/// Reads the shardings of the operands of a manual computation, or of its
/// results: for each, the dimension that is divided between the ranks, or
/// `Replication::kNoDim` and true if it is replicated. Returns failure if the
/// attribute is not understood.
struct ValueSharding {
  bool isReplicated;
  int64_t dim;
};
FailureOr<SmallVector<ValueSharding>> getShardings(Operation *op,
                                                   StringRef attribute);

} // namespace mlir::amp

#endif // AMP_REPLICATION_FOREIGNRULES_H
