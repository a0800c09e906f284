//===- TrainMatrixProducts.cpp - Products that may be quantised -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MatrixProductOpInterface for the products of the dialect, and shapes of the
// scaled operations of the amp dialect.
//
//===----------------------------------------------------------------------===//

#include "ScaleExponentModels.h"

#include "amp/Dialect/AMP/IR/AMPQuantizedOps.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "amp/Interfaces/MatrixProductOpInterface.h"
#include "amp/Support/TensorTypes.h"

using namespace mlir;
using namespace mlir::train;
using amp::MatrixProduct;
using amp::typeOf;

/// Returns the first value that reshapes turn into `value`, or that another
/// reshape of the same tensor gives, and that is the same matrix: both have the
/// same last dimension.
static Value skipReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    RankedTensorType from = typeOf(reshape.getInput());
    if (from.getRank() == 0 ||
        from.getShape().back() != typeOf(value).getShape().back())
      break;
    value = reshape.getInput();
  }
  auto first = value.getDefiningOp<ReshapeOp>();
  if (!first)
    return value;
  for (Operation *user : first.getInput().getUsers())
    if (auto other = dyn_cast<ReshapeOp>(user);
        other && other->getBlock() == first->getBlock() &&
        other.getType().getRank() != 0 &&
        other.getType().getShape().back() == typeOf(value).getShape().back() &&
        other->isBeforeInBlock(first))
      first = other;
  return first.getResult();
}

/// The product `lhs` · `rhs`. The result has the leading dimensions of a
/// left matrix that is not transposed.
static MatrixProduct getProduct(Value lhs, Value rhs, bool transposeLhs,
                                bool transposeRhs, Value bias) {
  return {transposeLhs ? skipReshapes(lhs) : lhs, skipReshapes(rhs),
          transposeLhs, transposeRhs, bias};
}

namespace {

struct MatmulModel
    : amp::MatrixProductOpInterface::ExternalModel<MatmulModel, MatmulOp> {
  std::optional<MatrixProduct> getMatrixProduct(Operation *op) const {
    auto matmul = cast<MatmulOp>(op);
    if (matmul.getType().getRank() != 2)
      return std::nullopt;
    return getProduct(matmul.getLhs(), matmul.getRhs(), matmul.getTransposeA(),
                      matmul.getTransposeB(), Value());
  }
};

struct LinearModel
    : amp::MatrixProductOpInterface::ExternalModel<LinearModel, LinearOp> {
  std::optional<MatrixProduct> getMatrixProduct(Operation *op) const {
    auto linear = cast<LinearOp>(op);
    return getProduct(linear.getInput(), linear.getWeight(), false,
                      linear.getTransposeWeight(), linear.getBias());
  }
};

template <typename OpTy>
struct ShapeModel
    : ShapeInferenceOpInterface::ExternalModel<ShapeModel<OpTy>, OpTy> {
  LogicalResult
  inferResultShapes(Operation *op,
                    SmallVectorImpl<SmallVector<int64_t>> &shapes) const {
    return cast<OpTy>(op).inferResultShapes(shapes);
  }
};

} // namespace

void mlir::train::attachMatrixProductModels(MLIRContext *context) {
  MatmulOp::attachInterface<MatmulModel>(*context);
  LinearOp::attachInterface<LinearModel>(*context);
  amp::AmaxOp::attachInterface<ShapeModel<amp::AmaxOp>>(*context);
  amp::ScaleFromAmaxOp::attachInterface<ShapeModel<amp::ScaleFromAmaxOp>>(
      *context);
  amp::QuantizeOp::attachInterface<ShapeModel<amp::QuantizeOp>>(*context);
  amp::DequantizeOp::attachInterface<ShapeModel<amp::DequantizeOp>>(*context);
  amp::ScaledMatmulOp::attachInterface<ShapeModel<amp::ScaledMatmulOp>>(
      *context);
}
