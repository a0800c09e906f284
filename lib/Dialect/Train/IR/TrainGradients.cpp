//===- TrainGradients.cpp - What reverse-mode rules share -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientRules.h"

#include "amp/Dialect/Train/IR/Backpropagation.h"

using namespace mlir;
using namespace mlir::train;

Value mlir::train::sumToType(TrainBuilder &t, Value gradient, Type type) {
  ArrayRef<int64_t> from = typeOf(gradient).getShape();
  ArrayRef<int64_t> to = cast<RankedTensorType>(type).getShape();
  int64_t leading = from.size() - to.size();
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, leading));
  for (auto [index, extent] : llvm::enumerate(to))
    if (extent == 1 && from[leading + index] != 1)
      dims.push_back(leading + index);
  if (dims.empty())
    return t.reshape(gradient, to);
  bool keepDims = leading == 0;
  return t.reshape(t.sum(gradient, dims, keepDims), to);
}

LogicalResult mlir::train::differentiateDecomposition(
    Operation *op, OpBuilder &builder, ArrayRef<Value> resultGradients,
    const BitVector &wanted, MutableArrayRef<Value> operandGradients) {
  auto composite = dyn_cast<amp::DecomposableOpInterface>(op);
  if (!composite)
    return op->emitOpError("has no derivative");

  Block *block = builder.getInsertionBlock();
  Block::iterator point = builder.getInsertionPoint();
  Operation *last = point == block->begin() ? nullptr : &*std::prev(point);
  SmallVector<Value> results;
  if (failed(composite.decompose(builder, results)))
    return failure();
  SmallVector<Operation *> primitives;
  Block::iterator first =
      last ? std::next(Block::iterator(last)) : block->begin();
  for (Operation &primitive :
       llvm::make_range(first, builder.getInsertionPoint()))
    primitives.push_back(&primitive);

  Backpropagation sweep(builder);
  for (unsigned index : wanted.set_bits())
    sweep.activate(op->getOperand(index));
  for (auto [result, gradient] : llvm::zip_equal(results, resultGradients))
    if (gradient)
      sweep.accumulate(result, gradient, op->getLoc());
  if (failed(sweep.run(primitives, [](Operation *, Operation *) {})))
    return failure();

  // An operand that occurs twice has one gradient. Report it once.
  DenseSet<Value> reported;
  for (unsigned index : wanted.set_bits()) {
    Value operand = op->getOperand(index);
    if (reported.insert(operand).second)
      operandGradients[index] = sweep.lookup(operand);
  }
  return success();
}
