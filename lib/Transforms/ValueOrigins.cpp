//===- ValueOrigins.cpp - What values were chosen from --------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ValueOrigins.h"

#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::amp;

Attribute mlir::amp::getFalse(Type type) {
  if (!getElementTypeOrSelf(type).isInteger(1))
    return {};
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.hasStaticShape() ? DenseElementsAttr::get(tensor, false)
                                   : Attribute();
  return type.isInteger(1) ? BoolAttr::get(type.getContext(), false)
                           : Attribute();
}

bool mlir::amp::isFalseWith(Operation *op, ArrayRef<unsigned> known) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0)
    return false;
  Attribute wanted = getFalse(op->getResult(0).getType());
  if (!wanted)
    return false;
  SmallVector<Attribute> operands(op->getNumOperands());
  unsigned last = op->getNumOperands() - known.size();
  for (unsigned index : known) {
    // Folding moves constant operands to the end, where the order is free.
    unsigned position = op->hasTrait<OpTrait::IsCommutative>() ? last++ : index;
    operands[position] = getFalse(op->getOperand(index).getType());
    if (!operands[position])
      return false;
  }
  // Folding may change the operation that it is asked about.
  Operation *copy = op->clone();
  SmallVector<OpFoldResult> results;
  bool folds = succeeded(copy->fold(operands, results)) && results.size() == 1;
  // To the constant, or to an operand that is one.
  if (folds) {
    auto value = dyn_cast<Value>(results.front());
    folds = value
                ? llvm::any_of(copy->getOpOperands(),
                               [&](OpOperand &operand) {
                                 return operand.get() == value &&
                                        operands[operand.getOperandNumber()] ==
                                            wanted;
                               })
                : cast<Attribute>(results.front()) == wanted;
  }
  copy->destroy();
  return folds;
}

/// Returns the region that the branch `op` enters when its only operand, an i1,
/// is `condition`, or null.
static Region *getBranch(RegionBranchOpInterface op, bool condition) {
  if (op->getNumOperands() != 1 || !op->getOperand(0).getType().isInteger(1))
    return nullptr;
  SmallVector<RegionSuccessor> successors;
  op.getEntrySuccessorRegions(BoolAttr::get(op->getContext(), condition),
                              successors);
  return successors.size() == 1 ? successors.front().getSuccessor() : nullptr;
}

std::optional<Choice> mlir::amp::getChoice(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto branch = dyn_cast_or_null<RegionBranchOpInterface>(op)) {
    Region *good = getBranch(branch, true), *bad = getBranch(branch, false);
    if (!good || !bad || good == bad || !good->hasOneBlock() ||
        !bad->hasOneBlock())
      return std::nullopt;
    unsigned index = cast<OpResult>(value).getResultNumber();
    Operation *goodYield = good->front().getTerminator();
    Operation *badYield = bad->front().getTerminator();
    if (index >= goodYield->getNumOperands() ||
        index >= badYield->getNumOperands())
      return std::nullopt;
    return Choice{op->getOperand(0), goodYield->getOperand(index),
                  badYield->getOperand(index)};
  }
  if (auto select = dyn_cast_or_null<SelectLikeOpInterface>(op))
    return Choice{select.getCondition(), select.getTrueValue(),
                  select.getFalseValue()};
  return std::nullopt;
}

Value mlir::amp::skipCast(Value value, BlockArgument old) {
  auto width = [](Value of) -> unsigned {
    Type type = getElementTypeOrSelf(of);
    return isa<FloatType>(type) ? type.getIntOrFloatBitWidth() : 0;
  };
  CastLike cast{value.getDefiningOp()};
  if (!cast)
    return {};
  Value input = cast.getInput();
  return width(old) != 0 && width(input) >= width(old) &&
                 width(value) >= width(old)
             ? input
             : Value();
}

std::optional<Carried> mlir::amp::getCarried(Value value) {
  auto loop = dyn_cast_or_null<LoopLikeOpInterface>(value.getDefiningOp());
  if (!loop || !isa<RegionBranchOpInterface>(loop.getOperation()) ||
      loop.getLoopRegions().size() != 1)
    return std::nullopt;
  auto result = cast<OpResult>(value);
  OpOperand *init = loop.getTiedLoopInit(result);
  BlockArgument argument = loop.getTiedLoopRegionIterArg(result);
  OpOperand *yielded =
      argument ? loop.getTiedLoopYieldedValue(argument) : nullptr;
  if (!init || !yielded)
    return std::nullopt;
  return Carried{loop, init->get(), yielded->get(), argument};
}
