//===- CastRules.h - Which cast stands between two precisions ---*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rule by which the cast operation is chosen for a value on which its
// producer and its users disagree.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_CASTRULES_H
#define AMP_PRECISION_CASTRULES_H

#include "amp/Interfaces/CastMaterialization.h"
#include "amp/Precision/Assignment.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::amp {

/// Where one cast comes from: an adapter of the policy, or a dialect.
struct CastRule {
  const Adapter *adapter = nullptr;
  const CastMaterializationInterface *dialect = nullptr;

  explicit operator bool() const { return adapter || dialect; }
  /// Whether the dialect uses the cast of another one.
  bool isBorrowed() const { return dialect && dialect->isBorrowed(); }

  /// Builds the cast and marks it as inserted.
  Value build(OpBuilder &builder, Location loc, Value value, Type type) const;
};

/// The casts that an assignment needs.
///
/// The cast of a value comes from the operations that it stands between: from
/// the dialects of the users that read it in another type, in program order,
/// then from that of its producer, then from that of its type. A dialect with a
/// cast of its own goes before one that borrows (linalg, tensor and math borrow
/// from arith). An adapter in the policy goes before the interface of the same
/// dialect. A value that control flow or a call carries, from or to operations
/// without a cast, gets the cast of the first operation of the function that
/// has one, or `amp.cast` between control flow alone, where only pins make
/// anything low. If none has a rule otherwise, that is an error: no cast of a
/// dialect that has nothing to do with the value is ever inserted.
class CastRules {
public:
  explicit CastRules(const Policy &policy) : policy(policy) {}

  /// Chooses the rule for each use on which producer and user disagree, without
  /// changing anything. Returns failure, after a diagnostic, if there is none
  /// or its cast cannot be built.
  LogicalResult choose(const SlotGraph &graph, const Assignment &assignment,
                       FloatType low);

  /// The rule for the value with number `value`, which some use reads in
  /// another type.
  CastRule get(uint32_t value) const { return chosen[value]; }

private:
  CastRule find(StringRef dialectNamespace, MLIRContext *context);
  CastRule find(Operation *op);
  CastRule findOfFunction(const SlotGraph &graph, Type from, Type to);
  bool canCast(CastRule rule, Type from, Type to);

  const Policy &policy;
  /// By value. Values that need no cast have none.
  std::vector<CastRule> chosen;
  llvm::StringMap<CastRule> rules;
  /// What is asked for often: the rule of an operation's dialect, and whether a
  /// dialect casts between two types.
  llvm::DenseMap<OperationName, CastRule> rulesOfOperations;
  llvm::DenseMap<std::tuple<const CastMaterializationInterface *, Type, Type>,
                 bool>
      castable;
};

} // namespace mlir::amp

#endif // AMP_PRECISION_CASTRULES_H
