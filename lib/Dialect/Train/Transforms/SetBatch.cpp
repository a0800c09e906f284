//===- SetBatch.cpp - Make the batch dimension static ---------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/AMP/IR/AMPCallOps.h"
#include "amp/Dialect/Train/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
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
  LogicalResult setFunction(FunctionOpInterface function);
  LogicalResult retype(Operation *op);
  /// Appends the new result types of `op`, whose operands are static.
  LogicalResult inferTypes(Operation *op, SmallVectorImpl<Type> &types);

  SymbolTableCollection *symbols = nullptr;
  /// Functions whose visit has begun.
  DenseSet<Operation *> visited;
};

} // namespace

/// Returns the number that `value` is, if it follows from constants and static
/// extents. A division that leaves a remainder is an error at its operation.
static FailureOr<std::optional<int64_t>> evaluate(Value value) {
  using Result = std::optional<int64_t>;
  if (Result constant = getConstantIntValue(value))
    return constant;
  if (auto dim = value.getDefiningOp<tensor::DimOp>()) {
    auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
    Result index = dim.getConstantIndex();
    bool isKnown = type && index && *index >= 0 && *index < type.getRank() &&
                   !type.isDynamicDim(*index);
    return isKnown ? Result(type.getDimSize(*index)) : std::nullopt;
  }
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::MulIOp, arith::DivUIOp>(op))
    return Result();
  FailureOr<Result> lhs = evaluate(op->getOperand(0));
  FailureOr<Result> rhs = evaluate(op->getOperand(1));
  if (failed(lhs) || failed(rhs))
    return failure();
  if (!*lhs || !*rhs || **rhs <= 0)
    return Result();
  if (isa<arith::MulIOp>(op))
    return Result(**lhs * **rhs);
  if (**lhs % **rhs != 0)
    return op->emitOpError("divides an extent of ")
           << **lhs << " by " << **rhs
           << ", which leaves a remainder; expected a batch size that is a "
              "multiple of "
           << **rhs;
  return Result(**lhs / **rhs);
}

/// Makes the sizes of `slice` static where they follow from static extents.
/// Returns its type.
static FailureOr<RankedTensorType> foldSizes(tensor::ExtractSliceOp slice) {
  SmallVector<Value> dynamic;
  SmallVector<int64_t> sizes(slice.getStaticSizes());
  auto operands = slice.getSizes().begin();
  for (int64_t &size : sizes) {
    if (!ShapedType::isDynamic(size))
      continue;
    Value operand = *operands++;
    FailureOr<std::optional<int64_t>> number = evaluate(operand);
    if (failed(number))
      return failure();
    if (*number)
      size = **number;
    else
      dynamic.push_back(operand);
  }
  slice.getSizesMutable().assign(dynamic);
  slice.setStaticSizes(sizes);
  if (slice.getType().getRank() == static_cast<int64_t>(sizes.size()))
    return slice.getType().clone(sizes);
  return tensor::ExtractSliceOp::inferCanonicalRankReducedResultType(
      slice.getType().getRank(), slice.getSourceType(), sizes);
}

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

/// Makes the signature and the body of `function` static, once.
LogicalResult SetBatchPass::setFunction(FunctionOpInterface function) {
  if (!visited.insert(function).second)
    return success();
  SmallVector<Type> arguments, results;
  for (Type type : function.getArgumentTypes())
    arguments.push_back(makeStatic(type));
  // A recursive call relies on these types before the body is static.
  for (Type type : function.getResultTypes())
    results.push_back(makeStatic(type));
  bool isStatic = TypeRange(arguments) == function.getArgumentTypes() &&
                  TypeRange(results) == function.getResultTypes();
  if (isStatic && function.isExternal())
    return success();
  if (function.isExternal())
    return function->emitOpError(
        "is a declaration with a dynamic dimension; only functions with a "
        "body can be made static");
  if (!isStatic)
    function.setType(function.cloneTypeWith(arguments, results));
  if (failed(retype(function)))
    return failure();
  // Only the body shows an extent that is the batch times a factor.
  for (Block &block : function.getFunctionBody())
    if (Operation *last = block.getTerminator();
        last->hasTrait<OpTrait::ReturnLike>() &&
        last->getNumOperands() == results.size() &&
        last->getOperandTypes() != function.getResultTypes())
      function.setType(
          function.cloneTypeWith(arguments, last->getOperandTypes()));
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
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    FailureOr<RankedTensorType> type = foldSizes(slice);
    if (failed(type))
      return failure();
    types.push_back(*type);
    return success();
  }
  if (auto call = dyn_cast<amp::CallOp>(op)) {
    call.inferOutputTypes(types);
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
  if (auto call = dyn_cast<CallOpInterface>(op)) {
    auto callee = dyn_cast_or_null<FunctionOpInterface>(
        call.resolveCallableInTable(symbols));
    if (callee && callee.getNumResults() == op->getNumResults()) {
      if (failed(setFunction(callee)))
        return failure();
      llvm::append_range(types, callee.getResultTypes());
      return success();
    }
  }
  // The types of these results follow from the operands, which are static.
  if (op->getNumRegions() > 0 || isa<CallOpInterface>(op) ||
      isa_and_nonnull<amp::AMPDialect>(op->getDialect())) {
    for (Type type : op->getResultTypes())
      types.push_back(makeStatic(type));
    if (auto branch = dyn_cast<RegionBranchOpInterface>(op)) {
      RegionBranchSuccessorMapping mapping;
      branch.getSuccessorOperandInputMapping(mapping);
      for (auto &[operand, inputs] : mapping)
        for (Value input : inputs)
          if (auto result = dyn_cast<OpResult>(input))
            types[result.getResultNumber()] = operand->get().getType();
    }
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
    for (Block &block : region) {
      for (BlockArgument argument : block.getArguments())
        argument.setType(makeStatic(argument.getType()));
      for (Operation &nested : block) {
        auto function = dyn_cast<FunctionOpInterface>(nested);
        if (failed(function ? setFunction(function) : retype(&nested)))
          return failure();
      }
    }
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
  SymbolTableCollection tables;
  symbols = &tables;
  visited.clear();
  if (failed(retype(getOperation())))
    signalPassFailure();
}
