//===- IndexedSlices.h - Slices that indices address -------------*- C++
//-*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_CONVERSION_STABLEHLOTOTRAIN_INDEXEDSLICES_H
#define AMP_CONVERSION_STABLEHLOTOTRAIN_INDEXEDSLICES_H

#include "amp/Support/StableHLOText.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::amp {

/// How indices address slices of a tensor.
struct IndexedSlices {
  /// Reads the numbers of dimensions from `text`. `removed` is the name of the
  /// list of dimensions that slices lack, `batching` of those that batches
  /// share.
  IndexedSlices(StringRef text, StringRef map, StringRef removed,
                StringRef batching, StringRef indexBatching)
      : map(getField(text, map)), removed(getField(text, removed)),
        batching(getField(text, batching)),
        indexBatching(getField(text, indexBatching)) {
    StringRef rest = text.split("index_vector_dim = ").second;
    if (rest.consumeInteger(10, vectorDim))
      vectorDim = 0;
  }

  /// Divides the dimensions of a tensor of type `whole` into addressed and
  /// whole ones, for slices of `sizes` at `indices`. Returns false if they do
  /// not fit.
  bool divide(RankedTensorType whole, RankedTensorType indices,
              ArrayRef<int64_t> sizes);

  /// The place of `dim` in `map` or `batching`, or -1.
  static int64_t find(ArrayRef<int64_t> list, int64_t dim) {
    auto it = llvm::find(list, dim);
    return it == list.end() ? -1 : it - list.begin();
  }
  bool isRemoved(int64_t dim) const {
    return llvm::is_contained(removed, dim) ||
           llvm::is_contained(batching, dim);
  }
  /// The addressed dimensions, and then the others.
  SmallVector<int64_t> getOrder() const {
    SmallVector<int64_t> order(addressed);
    llvm::append_range(order, kept);
    return order;
  }
  /// The shape of the tensor as rows.
  SmallVector<int64_t> getRowShape() const {
    SmallVector<int64_t> shape = {1};
    for (int64_t dim : addressed)
      shape[0] *= extents[dim];
    for (int64_t dim : kept)
      shape.push_back(extents[dim]);
    return shape;
  }

  SmallVector<int64_t> map, removed, batching, indexBatching;
  int64_t vectorDim = 0;
  /// The extents of the tensor, and of a slice.
  SmallVector<int64_t> extents, sizes;
  /// The shape of the indices without the dimension of vectors.
  SmallVector<int64_t> batch;
  SmallVector<int64_t> addressed, kept;
};

} // namespace mlir::amp

#endif // AMP_CONVERSION_STABLEHLOTOTRAIN_INDEXEDSLICES_H
