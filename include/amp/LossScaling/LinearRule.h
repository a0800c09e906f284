//===- LinearRule.h - Operations that a policy calls linear -----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of a policy for the effect of operations without
// LossScaleOpInterface on a loss scale.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LOSSSCALING_LINEARRULE_H
#define AMP_LOSSSCALING_LINEARRULE_H

#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/GlobPattern.h"

#include <optional>

namespace mlir::amp {

/// The operations that an entry of a policy describes: `GLOB`, or
/// `GLOB(ATTRIBUTE:VALUE)` with a condition on an attribute.
struct OperationPattern {
  llvm::GlobPattern pattern;
  /// The name of an attribute that must match `value`: its text if it is a
  /// string, its name if it is a symbol, or else its printed form. Empty if
  /// there is no condition.
  StringRef attribute;
  std::optional<llvm::GlobPattern> value;

  /// Returns whether the attributes of `op` satisfy the condition. The glob
  /// must match the name of `op`.
  bool isSatisfiedBy(Operation *op) const;

  /// Returns the glob of an entry, without its condition and rule.
  static StringRef getNameGlob(StringRef text) {
    return text.substr(0, text.find_first_of("(="));
  }

  /// Reads an entry, which must outlive this. Returns the text after the glob
  /// and its condition, which is empty or starts with '='. Returns failure if
  /// the glob or the condition is wrong, and describes a valid one in
  /// `expected`.
  FailureOr<StringRef> read(StringRef text, std::string &expected);
};

/// An entry of the key `linear`: a pattern, alone or with `=RULE`.
struct LinearRule : OperationPattern {
  enum class Kind {
    /// `GLOB`: all float operands and results, and the values that a region
    /// computes from elements, share a factor. `GLOB=N+M`: only these operands
    /// have the factor.
    Joint,
    /// `product`: the factors of the first two operands multiply; further
    /// operands are added to the product.
    Product,
    /// `quotient`: the factor of the first operand is divided by that of the
    /// second.
    Quotient,
    /// `power:N/D`: the factor of the first operand is raised to this power.
    Power,
    /// `power`: the factor of the first operand is raised to the second one, a
    /// constant with one number.
    ConstantPower,
    /// `order`: the outcome does not change with a factor that all float
    /// operands share.
    Order,
    /// `each`: result i has the factor of operand i.
    Each,
    /// `constant`: zeros, infinities and NaN in an attribute have every factor.
    Constant,
    /// `branch`: the results are the values that one of the regions yields.
    Branch,
    /// `loop`: the regions take the operands, and then the values that the last
    /// region yields. The results are the last yielded values.
    Loop,
    /// `body`: the only region takes the operands and yields the results.
    Body,
  };

  Kind kind = Kind::Joint;
  /// The operands that have a joint factor. Empty means all float operands.
  SmallVector<unsigned, 2> operands;
  int64_t numerator = 1, denominator = 1;

  bool isControlFlow() const {
    return kind == Kind::Branch || kind == Kind::Loop || kind == Kind::Body;
  }

  /// Reads an entry, which must outlive the rule. Returns failure if it is not
  /// an entry, and describes a valid one in `expected`.
  static FailureOr<LinearRule> parse(StringRef text, std::string &expected);
};

} // namespace mlir::amp

#endif // AMP_LOSSSCALING_LINEARRULE_H
