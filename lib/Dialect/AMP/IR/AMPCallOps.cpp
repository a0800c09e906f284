//===- AMPCallOps.cpp - Operations of the caller --------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/AMP/IR/AMPCallOps.h"

using namespace mlir;
using namespace mlir::amp;

#define GET_OP_CLASSES
#include "amp/Dialect/AMP/IR/AMPCallOps.cpp.inc"

static bool isFloat(Type type) {
  return isa<FloatType>(getElementTypeOrSelf(type));
}

/// Verifies that the numbers in `list` increase from 0.
static LogicalResult verifyNumbers(Operation *op, StringRef name,
                                   ArrayRef<int64_t> list) {
  int64_t last = -1;
  for (int64_t number : list) {
    if (number <= last)
      return op->emitOpError("expected the numbers of '")
             << name << "' to increase from 0, got " << number;
    last = number;
  }
  return success();
}

LogicalResult
mlir::amp::verifyDerivative(Operation *call, ArrayRef<ShapedType> inputs,
                            ArrayRef<ShapedType> outputs,
                            std::optional<ArrayRef<int64_t>> seeds,
                            std::optional<ArrayRef<int64_t>> wrt) {
  if (seeds.has_value() != wrt.has_value())
    return call->emitOpError("expected both 'seeds' and 'wrt', or neither");
  if (!seeds)
    return success();
  if (seeds->empty() || seeds->size() > inputs.size())
    return call->emitOpError(
               "expected at least one number in 'seeds' and an operand "
               "for each, got ")
           << seeds->size() << " numbers and " << inputs.size() << " operands";
  if (wrt->size() != outputs.size())
    return call->emitOpError("expected a result for each number in 'wrt', got ")
           << wrt->size() << " numbers and " << outputs.size() << " results";
  ArrayRef<ShapedType> own = inputs.drop_back(seeds->size());
  if (failed(verifyNumbers(call, "wrt", *wrt)) ||
      failed(verifyNumbers(call, "seeds", *seeds)))
    return failure();
  if (!wrt->empty() && wrt->back() >= int64_t(own.size()))
    return call->emitOpError("expected the numbers of operands that are not "
                             "gradients in 'wrt', got ")
           << wrt->back() << " for " << own.size() << " such operands";
  for (auto [number, result] : llvm::zip_equal(*wrt, outputs))
    if (own[number] != result || !isFloat(result))
      return call->emitOpError("expected the gradient of operand ")
             << number << " to have its type and elements that are floats, got "
             << result << " for " << own[number];
  for (ShapedType seed : inputs.take_back(seeds->size()))
    if (!isFloat(seed))
      return call->emitOpError("expected a gradient of floats, got ") << seed;
  return success();
}

void CallOp::inferOutputTypes(SmallVectorImpl<Type> &types) {
  if (isGradient()) {
    ArrayRef<int64_t> wrt = *getWrt();
    for (int64_t number : wrt)
      types.push_back(getInputs()[number].getType());
    return;
  }
  int64_t extent = ShapedType::kDynamic;
  if (std::optional<ArrayRef<int64_t>> from = getExtentOf())
    extent = cast<ShapedType>(getInputs()[(*from)[0]].getType())
                 .getDimSize((*from)[1]);
  for (Type type : getOutputs().getTypes()) {
    SmallVector<int64_t> shape(cast<ShapedType>(type).getShape());
    llvm::replace(shape, ShapedType::kDynamic, extent);
    types.push_back(cast<ShapedType>(type).clone(shape));
  }
}

LogicalResult CallOp::verify() {
  if (getCallee().empty())
    return emitOpError("expected the name of an operation");
  if (getOutputs().empty())
    return emitOpError("expected at least one result");
  if (std::optional<ArrayRef<int64_t>> from = getExtentOf()) {
    auto getRank = [&](int64_t operand) {
      return cast<ShapedType>(getInputs()[operand].getType()).getRank();
    };
    if (from->size() != 2 || (*from)[0] < 0 || (*from)[1] < 0 ||
        (*from)[0] >= int64_t(getInputs().size()) ||
        (*from)[1] >= getRank((*from)[0]))
      return emitOpError("expected 'extent_of' to be the number of an operand "
                         "and the number of one of its dimensions");
  }
  if (isGradient() && getDifferentiable())
    return emitOpError("expected a derivative without 'differentiable'");
  auto shaped = [](TypeRange types) {
    return llvm::map_to_vector(
        types, [](Type type) { return cast<ShapedType>(type); });
  };
  return verifyDerivative(*this, shaped(getInputs().getTypes()),
                          shaped(getOutputs().getTypes()), getSeeds(),
                          getWrt());
}

void CallOp::getPrecisionSlots(PrecisionSlots &slots) {
  slots.reset(*this);
  for (auto [index, input] : llvm::enumerate(getInputs()))
    if (isFloat(input.getType()))
      slots.add(SlotKind::Fixed, {unsigned(index)}, {});
  for (auto [index, output] : llvm::enumerate(getOutputs()))
    if (isFloat(output.getType()))
      slots.add(SlotKind::Fixed, {}, {unsigned(index)});
}

void CallOp::inferFloatRanges(ArrayRef<FloatRange>,
                              MutableArrayRef<FloatRange> results) {
  for (FloatRange &result : results)
    result = FloatRange::unknown();
}

LogicalResult CallOp::buildOperandGradients(
    OpBuilder &builder, ArrayRef<Value> resultGradients,
    const BitVector &wanted, MutableArrayRef<Value> operandGradients) {
  if (isGradient())
    return emitOpError("has no derivative: it is a derivative itself");
  if (!getDifferentiable())
    return emitOpError("has no derivative: the operation ")
           << getCalleeAttr() << " has no backward pass, but a gradient needs "
           << "it";
  SmallVector<int64_t> seeds, wrt;
  SmallVector<Value> inputs(getInputs());
  SmallVector<Type> types;
  for (auto [index, gradient] : llvm::enumerate(resultGradients))
    if (gradient) {
      seeds.push_back(index);
      inputs.push_back(gradient);
    }
  for (unsigned index : wanted.set_bits())
    if (isFloat(getInputs()[index].getType())) {
      wrt.push_back(index);
      types.push_back(getInputs()[index].getType());
    }
  if (wrt.empty())
    return success();
  auto gradients = CallOp::create(
      builder, getLoc(), types, getCalleeAttr(), inputs,
      /*differentiable=*/UnitAttr(), /*extent_of=*/DenseI64ArrayAttr(),
      builder.getDenseI64ArrayAttr(seeds), builder.getDenseI64ArrayAttr(wrt));
  for (auto [index, gradient] : llvm::zip_equal(wrt, gradients.getOutputs()))
    operandGradients[index] = gradient;
  return success();
}
