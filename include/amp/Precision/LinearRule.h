//===- LinearRule.h - Operations that a policy calls linear -----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a policy says of how operations without LossScaleOpInterface treat a
// loss scale.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_LINEARRULE_H
#define AMP_PRECISION_LINEARRULE_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/GlobPattern.h"

namespace mlir::amp {

/// An entry of the key `linear`: `GLOB` or `GLOB=RULE`.
struct LinearRule {
  enum class Kind {
    /// `GLOB`: all float operands share a factor, which the float results have
    /// too, and what a region computes from elements. `GLOB=N+M`: of these
    /// operands; the others have none.
    Joint,
    /// `product`: the factors of the first two operands multiply; further
    /// operands are added to the product.
    Product,
    /// `quotient`: of the first two operands.
    Quotient,
    /// `power:N/D` of the first operand.
    Power,
    /// `order`: the outcome does not change with a factor that all float
    /// operands share.
    Order,
    /// `each`: result i has the factor of operand i.
    Each,
    /// `constant`: zeros, infinities and NaN in an attribute have every factor.
    Constant,
    /// `branch`: the results are what one of the regions yields.
    Branch,
    /// `loop`: the regions take the operands, and then what the last one
    /// yields; the results are the last of these.
    Loop,
  };

  llvm::GlobPattern pattern;
  Kind kind = Kind::Joint;
  /// Of a joint factor: the operands that have it, all floats if empty.
  SmallVector<unsigned, 2> operands;
  int64_t numerator = 1, denominator = 1;

  /// Reads an entry, which must outlive the rule. Returns failure, with what
  /// was expected in `expected`, if it is none.
  static FailureOr<LinearRule> parse(StringRef text, std::string &expected);
};

} // namespace mlir::amp

#endif // AMP_PRECISION_LINEARRULE_H
