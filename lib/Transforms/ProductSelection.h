//===- ProductSelection.h - Which 8-bit products save time ------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products save time on a target, and the copies that they read cost time, each
// once. The products and copies of the largest total form a closure of maximum
// weight, which a minimum cut finds.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_PRODUCTSELECTION_H
#define AMP_LIB_TRANSFORMS_PRODUCTSELECTION_H

#include "ProductChooser.h"
#include "amp/Precision/Policy/Target.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::amp {

/// Products that gain, and things that they need, each of which costs something
/// once. All numbers are times in picoseconds.
class ProductSelection {
public:
  using Number = unsigned;

  /// Adds something that costs `cost`, and that needs `needs`.
  Number addCost(int64_t cost, ArrayRef<Number> needs = {}) {
    return add(-cost, needs);
  }
  /// Adds something that gains `gain`, which may be negative, and that needs
  /// `needs`.
  Number add(int64_t gain, ArrayRef<Number> needs) {
    entries.push_back({gain, SmallVector<Number, 4>(needs)});
    return entries.size() - 1;
  }

  /// Returns the smallest set of the largest total gain that contains
  /// everything that its members need.
  llvm::BitVector choose() const;

private:
  struct Entry {
    int64_t gain;
    SmallVector<Number, 4> needs;
  };
  std::vector<Entry> entries;
};

/// The times of products and copies on a GPU, in picoseconds. A kernel takes
/// the longer of the times that the peak rate and the bandwidth give.
class Float8Costs {
public:
  Float8Costs(const GPURates &rates, const ScalingRecipe &recipe)
      : rates(rates), recipe(recipe) {}

  /// The time of a product [m, k] × [k, n] whose result takes `resultBytes`,
  /// with operands of 16 or of 8 bits. Products of 8 bits are padded to
  /// multiples of 16.
  int64_t getProductTime(int64_t m, int64_t n, int64_t k, int64_t resultBytes,
                         bool isFloat8) const;

  /// The bytes that the quantisation of a tensor of `bytes` bytes reads. A
  /// scale of the tensor needs a pass of its own unless it is known before. A
  /// kernel that computes the tensor elementwise makes one of these passes.
  /// The scales of columns need another pass, too.
  int64_t getReadBytes(int64_t bytes, bool isElementwise,
                       bool contractsColumns) const;

  /// Whether one launch reads a tensor once and makes all of its copies,
  /// because tiles hold the blocks of the scales.
  bool readsTiles() const { return recipe.block > 0; }

  /// Whether products contract either dimension of one copy. GPUs before
  /// Blackwell read matrices only along the contracted dimension.
  bool readsBothOrders() const { return rates.capability >= 100; }

  int64_t getTime(int64_t bytes) const {
    return int64_t(double(bytes) / rates.bandwidth * 1e12);
  }

private:
  const GPURates &rates;
  const ScalingRecipe &recipe;
};

/// A copy that chosen products read.
struct SelectedCopy {
  CopiedOperand operand;
  QuantizedCopies::Key key;
  unsigned readers = 0;
  /// Whether a product reads it in the order of its rows, and of its columns.
  bool isRead[2] = {false, false};
  /// Whether a product of the backward pass reads it.
  bool isReadBackward = false;
  /// Unknown if an extent is.
  std::optional<int64_t> readBytes, writtenBytes;
  /// In picoseconds, with a target.
  std::optional<int64_t> time;
  /// The bytes of the 16-bit tensor that the backward pass reads no more.
  std::optional<int64_t> freedBytes;

  Value getSource() const { return std::get<Value>(key); }
  unsigned getOrders() const { return isRead[0] + isRead[1]; }
};

/// Gives a reason to each product among `candidates` that has none and that is
/// not in the set of the largest saving of time. A product of the backward pass
/// needs that of its layer. Returns failure if extents are not known.
LogicalResult selectProducts(MutableArrayRef<Candidate> candidates,
                             const ScalingRecipe &recipe,
                             const GPURates &rates);

/// Whose copies products share.
enum class Sharing {
  /// All products that read a tensor in the same way. The kernel that computes
  /// a tensor makes a pass of its quantisation.
  Step,
  /// The products of one layer, as if each layer were a module.
  Layer
};

/// Returns the copies that the products of `candidates` without a reason read.
/// Without `rates`, those of a GPU before Blackwell.
std::vector<SelectedCopy> listCopies(ArrayRef<Candidate> candidates,
                                     const ScalingRecipe &recipe,
                                     const std::optional<GPURates> &rates,
                                     Sharing sharing = Sharing::Step);

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_PRODUCTSELECTION_H
