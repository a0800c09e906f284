//===- Ranges.h - Value intervals without data ------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes intervals that hold the float values of a function for all data, and
// the values that depend on the seed of a backward pass.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_ASSIGNMENT_RANGES_H
#define AMP_PRECISION_ASSIGNMENT_RANGES_H

#include "amp/Interfaces/FloatRange.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <vector>

namespace mlir::amp {

/// The elements of a float constant.
struct ConstantElements {
  /// The range of all elements, infinities included.
  FloatRange range;
  /// The range of the finite elements. Empty if absent.
  FloatRange finite;
  /// The range of the finite elements that become infinite in the low type.
  /// Empty if all of them fit.
  FloatRange beyond;

  /// Whether all nonzero elements become zero in `low`, such as an epsilon that
  /// would no longer guard a division.
  bool vanishesIn(FloatType low) const;
};

/// Returns whether `number` is finite and becomes infinite or zero in `low`.
bool isLostIn(double number, FloatType low);

/// Returns whether rounding to `low` changes `number` to 1 or -1.
bool isRoundedToOne(double number, FloatType low);

/// Returns the elements of `value`, a float or elements in any form, and those
/// beyond the range of `low` (which may be null). None if they cannot be read.
std::optional<ConstantElements> getConstantElements(Attribute value,
                                                    FloatType low);
/// Returns the elements of the result of `op` if it is a constant of floats
/// that can be read, with those beyond the range of `low` (which may
/// be null).
std::optional<ConstantElements> getConstantElements(Operation *op,
                                                    FloatType low);

/// Intervals of the values of one function.
///
/// Ranges are computed on demand. A query makes one sweep over those operations
/// upstream of the value that no earlier query visited. The ranges of values
/// that control flow carries start from those of the entering values and are
/// widened until they are stable. Arguments, gradient seeds and results of
/// operations without `FloatRangeOpInterface` have no bounds.
class ValueRanges {
public:
  /// If `low` is given, intervals hold in either type: an f32 value may be
  /// rounded to `low` anywhere, and a constant saturates. With
  /// `hasForeignSeeds`, all values that other functions pass or return may
  /// depend on a gradient seed.
  explicit ValueRanges(FunctionOpInterface function, FloatType low = {},
                       bool hasForeignSeeds = false);
  /// Returns the interval that the caller knows for a value, or none.
  using Assumption = llvm::function_ref<std::optional<FloatRange>(Value)>;
  /// Takes the intervals of some values from `assume`, which must outlive this.
  ValueRanges(FunctionOpInterface function, Assumption assume);
  ~ValueRanges();

  /// Returns the interval of `value`, a tensor of floats.
  FloatRange get(Value value);

  /// Returns whether `value` depends on a gradient seed. Loss scaling later
  /// multiplies the seed by an unknown number.
  bool dependsOnSeed(Value value);

private:
  struct Slice;

  FloatType getElement(Type type);
  FloatRange lookup(Value value) const;
  FloatRange store(FloatRange range, FloatType element) const;
  ArrayRef<OpOperand *> getSources(Value carried);
  void findSeeds();

  FunctionOpInterface function;
  /// The entry block. Nothing is known of its arguments.
  Block *entry;
  FloatType low;
  bool hasForeignSeeds;
  Assumption assume;
  double largestLow = 0;
  llvm::DenseMap<Type, FloatType> elementTypes;
  /// Flat storage: the position and the range of each visited value.
  llvm::DenseMap<Value, uint32_t> positions;
  std::vector<FloatRange> ranges;
  /// The operands that control flow forwards to each value, for visited
  /// operations.
  llvm::DenseMap<Value, SmallVector<OpOperand *>> sources;
  llvm::DenseSet<Operation *> branches;
  /// The values that depend on a seed, computed on demand.
  std::optional<llvm::DenseSet<Value>> seeded;
};

} // namespace mlir::amp

#endif // AMP_PRECISION_ASSIGNMENT_RANGES_H
