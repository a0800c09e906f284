//===- ValueNumbers.h - Values by number ------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the number of a value in an array. A DenseMap would hold every value a
// second time and take four times the memory. On a graph of a few thousand
// operations, the first access to memory takes much of the time of the passes.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_ASSIGNMENT_VALUENUMBERS_H
#define AMP_PRECISION_ASSIGNMENT_VALUENUMBERS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/Support/MathExtras.h"
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace mlir::amp {

/// A hash table of numbers in an array of `EntryT`, each with another `value`.
/// The array belongs to the caller, who appends to it and removes nothing.
template <typename EntryT>
class ValueNumbers {
public:
  static constexpr uint32_t none = std::numeric_limits<uint32_t>::max();

  /// Makes room for `count` values.
  void reserve(size_t count) {
    if (!hasRoomFor(count))
      resize(count, {});
  }

  /// Returns the number of `value` in `entries`, or `none`.
  uint32_t find(Value value, llvm::ArrayRef<EntryT> entries) const {
    return table.empty() ? none : table[probe(value, entries)];
  }

  /// Returns the number of `value`, and whether it is new. A new number is the
  /// size of `entries`, and the caller must append the value there.
  std::pair<uint32_t, bool> insert(Value value,
                                   llvm::ArrayRef<EntryT> entries) {
    if (!hasRoomFor(entries.size() + 1))
      resize(2 * entries.size() + 1, entries);
    uint32_t &number = table[probe(value, entries)];
    if (number != none)
      return {number, false};
    number = entries.size();
    return {number, true};
  }

  /// Removes all numbers, and frees the memory.
  void clear() { std::vector<uint32_t>().swap(table); }

private:
  bool hasRoomFor(size_t count) const { return 4 * count <= 3 * table.size(); }

  void resize(size_t count, llvm::ArrayRef<EntryT> entries) {
    table.assign(llvm::NextPowerOf2(4 * count / 3 + 1), none);
    for (uint32_t number = 0; number != entries.size(); ++number)
      table[probe(entries[number].value, entries)] = number;
  }

  /// Returns the place of `value`, or the place to insert it.
  size_t probe(Value value, llvm::ArrayRef<EntryT> entries) const {
    size_t mask = table.size() - 1;
    size_t at = llvm::DenseMapInfo<Value>::getHashValue(value) & mask;
    for (size_t step = 1; table[at] != none; at = (at + step++) & mask)
      if (entries[table[at]].value == value)
        break;
    return at;
  }

  /// The number of places is a power of two. At most three quarters are in use.
  std::vector<uint32_t> table;
};

} // namespace mlir::amp

#endif // AMP_PRECISION_ASSIGNMENT_VALUENUMBERS_H
