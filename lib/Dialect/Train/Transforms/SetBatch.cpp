//===- SetBatch.cpp - Make the batch dimension static ---------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/Train/Transforms/Passes.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

namespace mlir::train {
#define GEN_PASS_DEF_TRAINSETBATCH
#include "amp/Dialect/Train/Transforms/Passes.h.inc"
} // namespace mlir::train

using namespace mlir;
using namespace mlir::train;

/// Returns whether a ranked tensor with a dynamic dimension occurs in `type`.
static bool mentionsDynamicTensor(Type type) {
  WalkResult result = type.walk([](RankedTensorType tensor) {
    return tensor.hasStaticShape() ? WalkResult::advance()
                                   : WalkResult::interrupt();
  });
  return result.wasInterrupted();
}

namespace {

struct SetBatchPass : public train::impl::TrainSetBatchBase<SetBatchPass> {
  using TrainSetBatchBase::TrainSetBatchBase;
  void runOnOperation() override;

private:
  Type makeStatic(Type type) const;
  LogicalResult setSignature(FunctionOpInterface function);
  LogicalResult retype(Operation *op);
  /// Appends the new result types of `op`, whose operands are static.
  LogicalResult inferTypes(Operation *op, SmallVectorImpl<Type> &types);
};

} // namespace

Type SetBatchPass::makeStatic(Type type) const {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.hasStaticShape())
    return type;
  SmallVector<int64_t> shape(tensor.getShape());
  for (int64_t &extent : shape)
    if (ShapedType::isDynamic(extent))
      extent = batchSize;
  return tensor.clone(shape);
}

LogicalResult SetBatchPass::setSignature(FunctionOpInterface function) {
  SmallVector<Type> arguments, results;
  for (Type type : function.getArgumentTypes())
    arguments.push_back(makeStatic(type));
  for (Type type : function.getResultTypes())
    results.push_back(makeStatic(type));
  if (TypeRange(arguments) == TypeRange(function.getArgumentTypes()) &&
      TypeRange(results) == TypeRange(function.getResultTypes()))
    return success();
  if (function.isExternal())
    return function->emitOpError(
        "is a declaration with a dynamic dimension; only functions with a "
        "body can be made static");
  function.setType(function.cloneTypeWith(arguments, results));
  return success();
}

LogicalResult SetBatchPass::inferTypes(Operation *op,
                                       SmallVectorImpl<Type> &types) {
  if (auto inferable = dyn_cast<ShapeInferenceOpInterface>(op)) {
    SmallVector<SmallVector<int64_t>> shapes;
    if (failed(inferable.inferResultShapes(shapes)))
      return failure();
    for (auto [shape, type] : llvm::zip(shapes, op->getResultTypes()))
      types.push_back(cast<RankedTensorType>(type).clone(shape));
    return success();
  }
  if (auto gradients = dyn_cast<GradientsOp>(op)) {
    llvm::append_range(types, gradients.getWrt().getTypes());
    return success();
  }
  if (op->hasTrait<OpTrait::SameOperandsAndResultShape>() &&
      op->getNumOperands() > 0) {
    auto operand = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    for (Type type : op->getResultTypes())
      types.push_back(operand ? cast<ShapedType>(type).clone(operand.getShape())
                              : type);
    return success();
  }
  // What these return follows from signatures, block arguments and yielded
  // values, in all of which `?` is replaced.
  if (op->getNumRegions() > 0 || isa<CallOpInterface>(op) ||
      isa<amp::AMPDialect>(op->getDialect())) {
    for (Type type : op->getResultTypes())
      types.push_back(makeStatic(type));
    return success();
  }
  if (auto inferable = dyn_cast<InferTypeOpInterface>(op)) {
    if (succeeded(inferable.inferReturnTypes(
            op->getContext(), op->getLoc(), op->getOperands(),
            op->getAttrDictionary(), op->getPropertiesStorage(),
            op->getRegions(), types)))
      return success();
  }
  return op->emitOpError("has a result with a dynamic dimension that does not "
                         "follow from its operands, expected an operation "
                         "with shape inference");
}

LogicalResult SetBatchPass::retype(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        argument.setType(makeStatic(argument.getType()));
  if (llvm::none_of(op->getResultTypes(), mentionsDynamicTensor))
    return success();
  SmallVector<Type> types;
  if (failed(inferTypes(op, types)))
    return failure();
  for (auto [result, type] : llvm::zip_equal(op->getResults(), types)) {
    if (mentionsDynamicTensor(type))
      return op->emitOpError("cannot make the result type ")
             << result.getType() << " static";
    result.setType(type);
  }
  ++numRetyped;
  return success();
}

void SetBatchPass::runOnOperation() {
  if (batchSize <= 0) {
    getOperation()->emitError("train-set-batch needs a positive 'batch-size', "
                              "got ")
        << batchSize.getValue();
    return signalPassFailure();
  }
  WalkResult result =
      getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (auto function = dyn_cast<FunctionOpInterface>(op))
          if (failed(setSignature(function)))
            return WalkResult::interrupt();
        return failed(retype(op)) ? WalkResult::interrupt()
                                  : WalkResult::advance();
      });
  if (result.wasInterrupted())
    signalPassFailure();
}
