//===- TrainGradientsShape.cpp - Rules of reductions and data movement ----===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientRules.h"

using namespace mlir;
using namespace mlir::train;

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Repeats `gradient`, the gradient of the reduction of `x` over `dims`, over
/// `x`.
static Value spread(TrainBuilder &t, Value gradient, Value x,
                    ArrayRef<int64_t> dims, bool keepDims, bool mean) {
  if (keepDims) {
    SmallVector<int64_t> shape;
    ArrayRef<int64_t> kept = typeOf(gradient).getShape();
    for (auto [dim, extent] : llvm::enumerate(kept))
      if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
        shape.push_back(extent);
    gradient = t.reshape(gradient, shape);
  }
  // Narrow last: the mean of a scaled gradient may fit even if the gradient
  // does not.
  return t.castTo(t.broadcast(gradient, x, dims, mean),
                  getElementTypeOrSelf(x));
}

AMP_GRADIENT_RULE(ReduceSumOp) {
  TrainBuilder t(builder, getLoc());
  operandGradients[0] = spread(t, resultGradients[0], getInput(), getDims(),
                               getKeepDims(), /*mean=*/false);
  return success();
}

AMP_GRADIENT_RULE(ReduceMeanOp) {
  TrainBuilder t(builder, getLoc());
  operandGradients[0] = spread(t, resultGradients[0], getInput(), getDims(),
                               getKeepDims(), /*mean=*/true);
  return success();
}

// Equal maxima share the gradient equally.
AMP_GRADIENT_RULE(ReduceMaxOp) {
  TrainBuilder t(builder, getLoc());
  Value y = getResult(), dy = resultGradients[0];
  Value x = t.castTo(getInput(), getElementTypeOrSelf(y));
  if (!getKeepDims()) {
    y = t.unsqueeze(y, getDims(), typeOf(x));
    dy = t.unsqueeze(dy, getDims(), typeOf(x));
  }
  Value isMax = t.compare(ComparePredicate::EQ, x, y);
  Value zero = t.scalar(0.0, y);
  Value count = t.sum(t.select(isMax, t.scalar(1.0, y), zero), getDims(),
                      /*keepDims=*/true);
  Value gradient = t.select(isMax, t.div(dy, count), zero);
  operandGradients[0] = t.castTo(gradient, getElementTypeOrSelf(getInput()));
  return success();
}

AMP_GRADIENT_RULE(BroadcastOp) {
  if (!wanted[0])
    return success();
  TrainBuilder t(builder, getLoc());
  Value dy = resultGradients[0];
  if (getDims().empty())
    operandGradients[0] = dy;
  else
    operandGradients[0] =
        getMean() ? t.mean(dy, getDims()) : t.sum(dy, getDims());
  return success();
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

AMP_GRADIENT_RULE(ReshapeOp) {
  TrainBuilder t(builder, getLoc());
  operandGradients[0] =
      t.reshape(resultGradients[0], typeOf(getInput()).getShape());
  return success();
}

AMP_GRADIENT_RULE(TransposeOp) {
  TrainBuilder t(builder, getLoc());
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [index, dim] : llvm::enumerate(getPermutation()))
    inverse[dim] = index;
  operandGradients[0] = t.transpose(resultGradients[0], inverse);
  return success();
}

AMP_GRADIENT_RULE(SliceOp) {
  // Elements that were not taken have a gradient of zero.
  ArrayRef<int64_t> extents = typeOf(getInput()).getShape();
  SmallVector<int64_t> low, high, interior;
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    int64_t offset = getOffsets()[dim], size = getSizes()[dim];
    int64_t stride = getStrides()[dim];
    bool whole = size == -1;
    low.push_back(whole ? 0 : offset);
    high.push_back(whole ? 0 : extent - offset - (size - 1) * stride - 1);
    interior.push_back(whole ? 0 : stride - 1);
  }
  operandGradients[0] =
      PadOp::create(builder, getLoc(), getInput().getType(), resultGradients[0],
                    low, high, interior, APFloat(0.0));
  return success();
}

AMP_GRADIENT_RULE(PadOp) {
  auto type = typeOf(getInput());
  SmallVector<int64_t> sizes, strides;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    bool padded = getLow()[dim] || getHigh()[dim] || getInterior()[dim];
    sizes.push_back(padded ? type.getDimSize(dim) : -1);
    strides.push_back(getInterior()[dim] + 1);
  }
  operandGradients[0] = SliceOp::create(
      builder, getLoc(), type, resultGradients[0], getLow(), sizes, strides);
  return success();
}

AMP_GRADIENT_RULE(ConcatOp) {
  int64_t axis = getAxis(), offset = 0;
  for (auto [index, input] : llvm::enumerate(getInputs())) {
    auto type = typeOf(input);
    SmallVector<int64_t> offsets(type.getRank(), 0), sizes(type.getRank(), -1);
    SmallVector<int64_t> strides(type.getRank(), 1);
    offsets[axis] = offset;
    sizes[axis] = type.getDimSize(axis);
    offset += type.getDimSize(axis);
    // The dialect has no empty slices.
    if (wanted[index] && type.getDimSize(axis) > 0)
      operandGradients[index] = SliceOp::create(
          builder, getLoc(), type, resultGradients[0], offsets, sizes, strides);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Randomness
//===----------------------------------------------------------------------===//

// The backward pass drops the same elements, because the choice depends only on
// state, key and index.
AMP_GRADIENT_RULE(DropoutOp) {
  if (wanted[0])
    operandGradients[0] =
        DropoutOp::create(builder, getLoc(), getType(), resultGradients[0],
                          getRng(), getRateAttr(), getKeyAttr());
  return success();
}
