//===- StridedViews.cpp - Parts of tensors by strides ---------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StridedViews.h"

#include "amp/Dialect/Train/IR/Train.h"
#include "amp/Support/TensorTypes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::cuda;
using mlir::amp::typeOf;

SmallVector<int64_t> mlir::cuda::getContiguousStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i > 1; --i)
    strides[i - 2] = strides[i - 1] * shape[i - 1];
  return strides;
}

/// The strides of a tensor of shape `from` in the shape `to`, if they exist.
static std::optional<SmallVector<int64_t>>
reshapeStrides(ArrayRef<int64_t> from, ArrayRef<int64_t> strides,
               ArrayRef<int64_t> to) {
  SmallVector<int64_t> result(to.size(), 0);
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    // The shortest groups of dimensions with equal numbers of elements.
    size_t iEnd = i + 1, jEnd = j + 1;
    int64_t left = from[i], right = to[j];
    while (left != right) {
      if (left < right) {
        if (iEnd == from.size())
          return std::nullopt;
        left *= from[iEnd++];
      } else {
        if (jEnd == to.size())
          return std::nullopt;
        right *= to[jEnd++];
      }
    }
    // The group must be contiguous, apart from its dimensions of 1.
    int64_t inner = 0, expected = 0;
    for (size_t k = iEnd; k > i; --k) {
      if (from[k - 1] == 1)
        continue;
      if (inner == 0)
        inner = strides[k - 1];
      else if (strides[k - 1] != expected)
        return std::nullopt;
      expected = strides[k - 1] * from[k - 1];
    }
    int64_t stride = inner;
    for (size_t k = jEnd; k > j; --k) {
      result[k - 1] = stride;
      stride *= to[k - 1];
    }
    i = iEnd;
    j = jEnd;
  }
  auto isOne = [](int64_t extent) { return extent == 1; };
  if (!llvm::all_of(from.drop_front(i), isOne) ||
      !llvm::all_of(to.drop_front(j), isOne))
    return std::nullopt;
  return result;
}

StridedView mlir::cuda::trace(Value value) {
  StridedView whole{value, 0, getContiguousStrides(typeOf(value).getShape())};
  Operation *op = value.getDefiningOp();
  if (auto transpose = dyn_cast_or_null<train::TransposeOp>(op)) {
    StridedView view = trace(transpose.getInput());
    SmallVector<int64_t> strides;
    for (int64_t dim : transpose.getPermutation())
      strides.push_back(view.strides[dim]);
    view.strides = std::move(strides);
    return view;
  }
  if (auto slice = dyn_cast_or_null<train::SliceOp>(op)) {
    StridedView view = trace(slice.getInput());
    for (auto [stride, offset, step] : llvm::zip_equal(
             view.strides, slice.getOffsets(), slice.getStrides())) {
      view.offset += offset * stride;
      stride *= step;
    }
    return view;
  }
  Value input;
  if (auto reshape = dyn_cast_or_null<train::ReshapeOp>(op))
    input = reshape.getInput();
  else if (auto view = dyn_cast_or_null<ViewOp>(op))
    input = view.getSource();
  if (!input)
    return whole;
  StridedView view = trace(input);
  std::optional<SmallVector<int64_t>> strides = reshapeStrides(
      typeOf(input).getShape(), view.strides, typeOf(value).getShape());
  if (!strides)
    return whole;
  view.strides = std::move(*strides);
  return view;
}

HeadsAttr mlir::cuda::getHeads(MLIRContext *context, int64_t offset,
                               ArrayRef<int64_t> strides) {
  const size_t rank = strides.size();
  return HeadsAttr::get(context, offset, rank > 3 ? strides[0] : 0,
                        rank > 2 ? strides[rank - 3] : 0, strides[rank - 2]);
}

SmallVector<int64_t> mlir::cuda::getSwap(int64_t rank) {
  SmallVector<int64_t> permutation =
      llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (rank > 2)
    std::swap(permutation[rank - 3], permutation[rank - 2]);
  return permutation;
}
