//===- CompositeFacts.h - Facts about values of a pattern -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the search for composite patterns knows about a value: whether it is a
// statistic or is computed from one, and which values it is computed from.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_PRECISION_ASSIGNMENT_COMPOSITEFACTS_H
#define AMP_LIB_PRECISION_ASSIGNMENT_COMPOSITEFACTS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

namespace mlir::amp {

/// The values from which elementwise operations, movements and reductions
/// compute a value: values of other operations, and arguments.
class CompositeOrigins {
public:
  void insert(Value origin) {
    if (isAnything || llvm::is_contained(values, origin))
      return;
    if (values.size() == kLimit)
      isAnything = true;
    else
      values.push_back(origin);
  }
  void insert(const CompositeOrigins &other) {
    isAnything |= other.isAnything;
    for (Value origin : other.values)
      insert(origin);
  }
  /// Whether one of these may be among `other`.
  bool intersect(const CompositeOrigins &other) const {
    return isAnything || other.isAnything ||
           llvm::any_of(values, [&](Value origin) {
             return llvm::is_contained(other.values, origin);
           });
  }
  unsigned size() const { return isAnything ? kLimit + 1 : values.size(); }

private:
  static constexpr unsigned kLimit = 8;
  SmallVector<Value, 2> values;
  /// More than `kLimit`.
  bool isAnything = false;
};

/// The facts about a value.
struct CompositeFact {
  enum Kind : uint8_t {
    /// Not visited yet.
    Unknown,
    /// Depends on constants alone.
    Constant,
    /// A statistic of rows, or computed from statistics alone.
    Statistic,
    /// A statistic that is repeated along rows.
    Repeated,
    /// Computed from constants and from `root`, the operation that combines
    /// elements with their statistic.
    Chain,
    Other,
  };
  Kind kind = Unknown;
  Operation *root = nullptr;

  bool operator==(CompositeFact other) const {
    return kind == other.kind && root == other.root;
  }
  bool isStatistic() const { return kind == Statistic || kind == Repeated; }

  CompositeFact join(CompositeFact other) const {
    if (kind <= Constant || *this == other)
      return std::max(kind, other.kind) == kind ? *this : other;
    return other.kind <= Constant ? *this : CompositeFact{Other};
  }
};

} // namespace mlir::amp

#endif // AMP_LIB_PRECISION_ASSIGNMENT_COMPOSITEFACTS_H
