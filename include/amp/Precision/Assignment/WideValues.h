//===- WideValues.h - Values that stay f32 by origin or use -----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values that stay f32 because of their origin or their use, also across calls
// and the regions of any operation. The search runs once per module, before the
// module is divided into groups of functions.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_ASSIGNMENT_WIDEVALUES_H
#define AMP_PRECISION_ASSIGNMENT_WIDEVALUES_H

#include "amp/Precision/Policy/Policy.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::amp {

class MeasuredValues;

struct WideValues {
  /// Floats computed from bits: results of operations with `Arithmetic::Bits`,
  /// or with `bits: true` in the policy, and values that are computed from
  /// them. They end at products, at other operations of the list `allow`, and
  /// at comparisons.
  ///
  /// Random numbers have this form: shifted bits become a float in [1, 2), or
  /// an integer is converted and multiplied by a power of two. A low type has
  /// few numbers in this range. A uniform number would become 0 or 1, and a
  /// normal one infinite.
  llvm::DenseSet<Value> bits;

  /// Values computed from indices and constants alone, products included, such
  /// as the angles of positions. Their number does not depend on data, so they
  /// are rounded once, where data meets them.
  llvm::DenseSet<Value> indices;

  /// A gradient seed times constants, moved or repeated, up to products. Loss
  /// scaling multiplies it by the scale S, which is infinite in f16 at first.
  llvm::DenseSet<Value> seeds;

  /// Values from which a new parameter or optimizer state is computed, back to
  /// gradients. These are values with `amp.gradient_of`, or else products and
  /// range slots.
  ///
  /// In a loop over steps, or in the region of an unknown operation, no value
  /// has a mark. An update that is rounded there is lost.
  llvm::DenseSet<Value> newState;

  /// Operations that compute with gradients of parameters, and from which no
  /// gradient is computed, including operations in loops and in called
  /// functions. Their products stay f32, like the rest of the update.
  llvm::DenseSet<Operation *> updateOperations;

  /// Values that may hold a number beyond the range of f16 or of bf16: values
  /// of loops whose initial values are such constants, moved or multiplied, and
  /// values that depend on them. Products, operations of the list `deny`, and
  /// operations whose results fit for any operands end the propagation.
  ///
  /// For example, a recurrence over log probabilities initializes impossible
  /// states to -1e5. In f16 this is -inf, and -inf - (-inf) is NaN.
  llvm::DenseSet<Value> beyondF16, beyondBF16;

  /// Values with a constant factor that is beyond the range of f16, such as
  /// `x * 6e16`, or so small that a loss scale cannot move it into this range.
  /// Products keep the factor. Steep functions, and operations whose results
  /// fit for any operands, end the propagation. bf16 can represent the factors.
  llvm::DenseSet<Value> factorsF16;

  /// Results of operations that select from values and a number near 1 or -1
  /// that f16 or bf16 rounds to 1 or -1, and values computed from these
  /// results. Products, and operations that an adapter declares bounded, end
  /// the propagation.
  ///
  /// For example, a program clips a cosine to 0.9999 before it takes the arc
  /// cosine, because the derivative of the arc cosine at 1 is infinite.
  llvm::DenseSet<Value> limitedF16, limitedBF16;

  /// Sums and moving averages that loops carry, with their intermediate sums.
  llvm::DenseSet<Value> runningSums;

  /// The values that rounding to `low` may change to 1 or -1.
  const llvm::DenseSet<Value> &getLimited(FloatType low) const {
    return low.isF16() ? limitedF16 : limitedBF16;
  }

  /// The values that must not be stored as `low`, a type of two bytes.
  const llvm::DenseSet<Value> &getBeyond(FloatType low) const {
    return low.isF16() ? beyondF16 : beyondBF16;
  }

  /// The measured ranges of the values of the module, or null.
  const MeasuredValues *measured = nullptr;

  /// Finds them in `root`, a module or a function.
  static WideValues find(Operation *root, const Policy &policy);
};

} // namespace mlir::amp

#endif // AMP_PRECISION_ASSIGNMENT_WIDEVALUES_H
