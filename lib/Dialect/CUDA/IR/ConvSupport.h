//===- ConvSupport.h - Shared verifiers of convolutions ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_DIALECT_CUDA_IR_CONVSUPPORT_H
#define AMP_LIB_DIALECT_CUDA_IR_CONVSUPPORT_H

#include "LaunchSupport.h"

#include "amp/Runtime/CUDA/Sizes.h"
#include "llvm/Support/CheckedArithmetic.h"

namespace mlir::cuda {

/// The extents of a filter: its height and width, the channels that it reads,
/// and the number of filters.
struct FilterExtents {
  int64_t height, width, channels, features;
};

/// Verifies the strides, dilations, padding and groups of a convolution of
/// images of `channels` channels.
template <typename OpTy>
LogicalResult verifyWindow(OpTy op, int64_t channels,
                           const FilterExtents &filter) {
  auto isPositive = [](int64_t value) { return value > 0; };
  const int64_t groups = op.getGroups();
  if (op.getStrides().size() != 2 ||
      !llvm::all_of(op.getStrides(), isPositive) ||
      op.getDilations().size() != 2 ||
      !llvm::all_of(op.getDilations(), isPositive) ||
      op.getPadding().size() != 4 || groups <= 0)
    return op.emitOpError("has ill-formed strides, dilations, padding or "
                          "groups");
  for (auto [extent, dilation] :
       {std::pair(filter.height, op.getDilations()[0]),
        std::pair(filter.width, op.getDilations()[1])})
    if (!llvm::checkedMul(extent, dilation))
      return op.emitOpError("has a filter of ")
             << extent << " elements with the dilation " << dilation
             << ", which ends at an index that overflows 64 bits";
  if (channels % groups != 0 || channels / groups != filter.channels ||
      filter.features % groups != 0)
    return op.emitOpError("has ")
           << channels << " channels and " << filter.features
           << " features, which do not fit a filter of " << filter.channels
           << " channels in " << groups << " groups";
  return success();
}

/// Verifies that the operations of a convolution and its patches can be
/// counted.
template <typename OpTy>
LogicalResult verifyWork(OpTy op, const ::amp::cuda::ConvShape &shape) {
  constexpr int64_t largest = int64_t(1) << 56;
  int64_t elements = shape.depth() * shape.features;
  if (shape.rows() > largest / std::max<int64_t>(elements, 1))
    return op.emitOpError("has ")
           << shape.rows() << " windows and filters of " << elements
           << " elements, expected a product of at most 2^56";
  return success();
}

/// The sizes of a convolution of images of shape [N, H, W, C].
template <typename OpTy>
::amp::cuda::ConvShape getConvShape(OpTy op, ArrayRef<int64_t> image,
                                    const FilterExtents &filter) {
  ::amp::cuda::ConvShape shape{image[0],       image[1],      image[2],
                               image[3],       filter.height, filter.width,
                               filter.features};
  shape.strideHeight = op.getStrides()[0];
  shape.strideWidth = op.getStrides()[1];
  shape.padTop = op.getPadding()[0];
  shape.padBottom = op.getPadding()[1];
  shape.padLeft = op.getPadding()[2];
  shape.padRight = op.getPadding()[3];
  shape.dilationHeight = op.getDilations()[0];
  shape.dilationWidth = op.getDilations()[1];
  shape.groups = op.getGroups();
  return shape;
}

/// The types of image, filter and output of the forward convolution that `op`
/// is or differentiates.
template <typename OpTy>
typename OpTy::Types getConvTypes(OpTy op) {
  auto launch = cast<LaunchOpInterface>(op.getOperation());
  auto first = launch.getInputType(0), second = launch.getInputType(1),
       result = launch.getTargetType(0);
  switch (op.getKind()) {
  case ConvKind::Forward:
    return {first, second, result};
  case ConvKind::InputGrad:
    return {result, second, first};
  case ConvKind::FilterGrad:
    return {first, result, second};
  }
  llvm_unreachable("a kind of convolution");
}

/// The shape of the output of a convolution.
inline SmallVector<int64_t> getOutputShape(const ::amp::cuda::ConvShape &s) {
  return {s.batch, s.outHeight(), s.outWidth(), s.features};
}

} // namespace mlir::cuda

#endif // AMP_LIB_DIALECT_CUDA_IR_CONVSUPPORT_H
