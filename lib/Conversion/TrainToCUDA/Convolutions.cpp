//===- Convolutions.cpp - Convolutions by cuDNN ---------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Filters of a step are [KH, KW, C, F], those of a plan [F, KH, KW, C]. A
// transpose changes the low copy of a filter once for the plans of both
// directions, and the gradient of a filter back.
//
//===----------------------------------------------------------------------===//

#include "Products.h"

#include "amp/Dialect/Train/IR/Train.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::cuda;

/// Why no plan of cuDNN computes the convolution, or an empty text. Patches
/// with f32 results stay for gradients that the policy keeps f32.
template <typename OpTy>
static std::string findPlanObstacle(OpTy op) {
  auto first = typeOf(op->getOperand(0)), result = op.getType();
  Type element = first.getElementType();
  if (!element.isF16() && !element.isBF16())
    return "its operands are not of 16 bits";
  if (result.getElementType() != element)
    return "its result is wider than its operands";
  return "";
}

/// Transposes a filter with the permutation `order`.
static Value transposeFilter(OpBuilder &builder, Location loc, Value filter,
                             ArrayRef<int64_t> order) {
  auto type = typeOf(filter);
  SmallVector<int64_t> shape;
  for (int64_t dim : order)
    shape.push_back(type.getDimSize(dim));
  return train::TransposeOp::create(builder, loc, type.clone(shape), filter,
                                    order);
}

/// Replaces `op` by a plan.
template <typename OpTy>
static void convertToPlan(OpTy op, ConvKind kind, bool deterministic) {
  static constexpr int64_t toPlan[] = {3, 0, 1, 2}, toStep[] = {1, 2, 3, 0};
  OpBuilder builder(op);
  Location loc = getNamedLocation(op);
  const bool isFilter = kind == ConvKind::FilterGrad;
  SmallVector<Value> inputs(op->getOperands());
  if (!isFilter)
    inputs[1] = transposeFilter(builder, loc, inputs[1], toPlan);
  RankedTensorType type = op.getType();
  if (isFilter) {
    SmallVector<int64_t> shape;
    for (int64_t dim : toPlan)
      shape.push_back(type.getDimSize(dim));
    type = type.clone(shape);
  }
  auto plan =
      ConvPlanOp::create(builder, loc, type, kind, StringAttr(), inputs,
                         ValueRange(), ValueRange(), Value(), op.getStrides(),
                         op.getPadding(), op.getDilations(), op.getGroups());
  // The sum of a forward convolution has one order in all kernels.
  plan.setDeterministic(deterministic && kind != ConvKind::Forward);
  copyAttributes(op, plan);
  Value result = plan.getResult(0);
  if (isFilter)
    result = transposeFilter(builder, loc, result, toStep);
  op.replaceAllUsesWith(result);
  op.erase();
}

void mlir::cuda::convertConvolutions(func::FuncOp step, bool deterministic) {
  auto convertAll = [&](auto ops, ConvKind kind) {
    for (auto op : ops) {
      auto filter = kind == ConvKind::FilterGrad ? op.getType()
                                                 : typeOf(op->getOperand(1));
      // A product computes it.
      if (isPointwise(op, filter.getShape()))
        continue;
      std::string obstacle = findPlanObstacle(op);
      if (obstacle.empty())
        convertToPlan(op, kind, deterministic);
      else
        reportDecomposed(op, "ConvolutionByPatches", obstacle);
    }
  };
  convertAll(llvm::to_vector(step.getOps<train::Conv2DOp>()),
             ConvKind::Forward);
  convertAll(llvm::to_vector(step.getOps<train::Conv2DInputGradOp>()),
             ConvKind::InputGrad);
  convertAll(llvm::to_vector(step.getOps<train::Conv2DFilterGradOp>()),
             ConvKind::FilterGrad);
}
