//===- FloatRangeRule.h - Intervals of foreign operations -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of a policy for the intervals of the results of operations without
// FloatRangeOpInterface.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LOSSSCALING_FLOATRANGERULE_H
#define AMP_LOSSSCALING_FLOATRANGERULE_H

#include "amp/Interfaces/FloatRange.h"
#include "amp/LossScaling/LinearRule.h"

namespace mlir::amp {

/// An entry of the key `intervals`: a pattern with `=RULE`.
struct FloatRangeRule : OperationPattern {
  enum class Kind {
    /// A function of one or two operands: `exp`, `add`.
    Unary,
    Binary,
    /// `clamp`: operand 1 between operands 0 and 2.
    Clamp,
    /// `constant:ATTRIBUTE`: the numbers in the attribute.
    Constant,
    /// `move`: elements of float operands.
    Move,
    /// `update`: operand 1 replaces a slice of operand 0. The other operands
    /// are the indices of the first element of the slice.
    Update,
    /// `convert`: the operand in another type. A boolean becomes 0 or 1.
    Convert,
    /// `reshape`: the operand in another shape.
    Reshape,
    /// `repeat:ATTRIBUTE`: the attribute lists the dimension of the result for
    /// each dimension of the operand.
    Repeat,
    /// `select`: operand 1 or 2, chosen by operand 0.
    Select,
    /// `reduce:ATTRIBUTE`: the operation in the body combines operand 0 along
    /// the dimensions of the attribute, starting from operand 1. Without an
    /// attribute the extent of the reduction is unknown.
    Reduce,
    /// `scatter`: the body adds elements of operand 2 to elements of operand 0.
    /// With `scatter:rows` each index of dimension 0 gets equally many. With
    /// `scatter:ATTRIBUTE` the text of the attribute contains
    /// `index_vector_dim = N`, the dimension of operand 1 whose elements are
    /// the parts of one index.
    Scatter,
    /// `iota:ATTRIBUTE`: numbers from 0 on that differ along the dimension.
    Iota,
    /// `equal`: whether operands 0 and 1 are equal.
    Equal,
    /// `less`, `less-equal`, `greater` or `greater-equal`: compares operand 0
    /// with operand 1.
    Order,
    /// `finite`: whether operand 0 is finite.
    Finite,
  };
  using UnaryFunction = FloatRange (*)(FloatRange);
  using BinaryFunction = FloatRange (*)(FloatRange, FloatRange);

  Kind kind = Kind::Move;
  /// The name in the entry, such as `exp`.
  StringRef name;
  UnaryFunction unary = nullptr;
  BinaryFunction binary = nullptr;
  /// The attribute with dimensions, or with the numbers of a constant.
  StringRef attributeName;
  bool byRows = false;

  /// Returns the interval of the result of the matching operation `op` for the
  /// intervals of its operands. It is unknown if the kind needs more than
  /// these.
  FloatRange infer(Operation *op, ArrayRef<FloatRange> operands) const;

  /// Reads an entry, which must outlive the rule. Returns failure if it is not
  /// an entry, and describes a valid one in `expected`.
  static FailureOr<FloatRangeRule> parse(StringRef text, std::string &expected);
};

} // namespace mlir::amp

#endif // AMP_LOSSSCALING_FLOATRANGERULE_H
