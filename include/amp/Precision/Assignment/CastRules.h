//===- CastRules.h - The casts between two precisions ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses the cast operation for a value whose producer and users disagree on
// its type.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_ASSIGNMENT_CASTRULES_H
#define AMP_PRECISION_ASSIGNMENT_CASTRULES_H

#include "amp/Interfaces/CastMaterialization.h"
#include "amp/Precision/Assignment/Assignment.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::amp {

/// The source of one cast: an adapter of the policy, or a dialect.
struct CastRule {
  const Adapter *adapter = nullptr;
  const CastMaterializationInterface *dialect = nullptr;

  explicit operator bool() const { return adapter || dialect; }
  /// Whether the dialect uses the cast of another dialect.
  bool isBorrowed() const { return dialect && dialect->isBorrowed(); }

  /// Builds the cast and marks it as inserted.
  Value build(OpBuilder &builder, Location loc, Value value, Type type) const;
};

/// The casts that an assignment needs.
///
/// The operations around a value decide its cast. The dialects of the users
/// that read it in another type come first, in program order, then the dialect
/// of its producer, then the dialect of its type. A dialect with its own cast
/// has priority over one that borrows (linalg, tensor and math borrow from
/// arith). An adapter in the policy has priority over the interface of the same
/// dialect. A value that control flow or a call carries may have no cast from
/// the operations around it. It gets the cast of the first operation of the
/// function that has one. If only control flow is around it, it gets
/// `amp.cast`. Only pins make such a value low. In all other cases a missing
/// rule is an error. The passes never insert a cast of an unrelated dialect.
class CastRules {
public:
  explicit CastRules(const Policy &policy) : policy(policy) {}

  /// Chooses the rule for each use whose producer and user disagree. Changes no
  /// operation. Reports an error and returns failure if no rule applies or its
  /// cast cannot be built.
  LogicalResult choose(const SlotGraph &graph, const Assignment &assignment,
                       FloatType low);

  /// The rule for the value with number `value`, which a use reads in another
  /// type.
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
  /// Caches: the rule of an operation's dialect, and whether a dialect casts
  /// between two types.
  llvm::DenseMap<OperationName, CastRule> rulesOfOperations;
  llvm::DenseMap<std::tuple<const CastMaterializationInterface *, Type, Type>,
                 bool>
      castable;
};

} // namespace mlir::amp

#endif // AMP_PRECISION_ASSIGNMENT_CASTRULES_H
