//===- Ranges.h - Value intervals without data ------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which intervals the float values of a function lie in, whatever data it is
// given, and which values depend on the seed of a backward pass.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_RANGES_H
#define AMP_PRECISION_RANGES_H

#include "amp/Interfaces/FloatRange.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>
#include <vector>

namespace mlir::amp {

/// The elements of a float constant.
struct ConstantElements {
  /// All of them, infinities included.
  FloatRange range;
  /// The finite ones; empty if there are none.
  FloatRange finite;
  /// The finite elements that become infinite in the low type; empty if all of
  /// them fit.
  FloatRange beyond;

  /// Whether all that is not zero becomes zero in `low`: an epsilon that no
  /// longer guards a division.
  bool vanishesIn(FloatType low) const;
};

/// Returns the elements of the result of `op` if it is a constant of floats
/// that can be read, with those that lie beyond the range of `low` (which may
/// be null).
std::optional<ConstantElements> getConstantElements(Operation *op,
                                                    FloatType low);

/// Intervals of the values of one function.
///
/// Nothing is computed before it is asked for, and then only what the answer
/// depends on: one sweep over the operations behind the value that nobody asked
/// for before. Values that control flow carries start from what enters and are
/// widened until they hold. Arguments, gradient seeds and results of operations
/// without `FloatRangeOpInterface` may be anything.
class ValueRanges {
public:
  /// If `low` is given, an f32 value may be stored in it anywhere, rounded, or
  /// saturated if it is a constant: intervals hold in either type. With
  /// `hasForeignSeeds` whatever other functions pass or return may change with
  /// a gradient seed.
  explicit ValueRanges(FunctionOpInterface function, FloatType low = {},
                       bool hasForeignSeeds = false);
  ~ValueRanges();

  /// Returns the interval of `value`, a tensor of floats.
  FloatRange get(Value value);

  /// Returns whether `value` changes with a gradient seed, into which loss
  /// scaling later multiplies a number that is not known here.
  bool dependsOnSeed(Value value);

private:
  struct Slice;

  FloatType getElement(Type type);
  FloatRange lookup(Value value) const;
  FloatRange store(FloatRange range, FloatType element) const;
  ArrayRef<OpOperand *> getSources(Value carried);
  void findSeeds();

  FunctionOpInterface function;
  /// Where the arguments of the function are, of which nothing is known.
  Block *entry;
  FloatType low;
  bool hasForeignSeeds;
  double largestLow = 0;
  llvm::DenseMap<Type, FloatType> elementTypes;
  /// Flat storage: the position of each value that was asked for, and its
  /// range.
  llvm::DenseMap<Value, uint32_t> positions;
  std::vector<FloatRange> ranges;
  /// What control flow forwards to each value, for operations that occurred.
  llvm::DenseMap<Value, SmallVector<OpOperand *>> sources;
  llvm::DenseSet<Operation *> branches;
  /// Values that depend on a seed, once someone has asked.
  std::optional<llvm::DenseSet<Value>> seeded;
};

} // namespace mlir::amp

#endif // AMP_PRECISION_RANGES_H
