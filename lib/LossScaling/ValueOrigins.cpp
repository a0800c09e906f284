//===- ValueOrigins.cpp - What values were chosen from --------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/LossScaling/ValueOrigins.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "amp/LossScaling/ScalarEvaluator.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::amp;

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

std::optional<double> mlir::amp::getInitialNumber(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function =
      argument
          ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
          : FunctionOpInterface();
  auto init = function ? function.getArgAttrOfType<InitAttr>(
                             argument.getArgNumber(), AMPDialect::kInitAttr)
                       : InitAttr();
  if (!init)
    return std::nullopt;
  switch (init.getKind()) {
  case InitKind::Zeros:
    return 0;
  case InitKind::Ones:
    return 1;
  case InitKind::Constant:
    return init.getValue().getValueAsDouble();
  default:
    return std::nullopt;
  }
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

/// Returns the value that a loop of two regions carries to `result`. The first
/// region decides whether the second one runs, and passes its values to the
/// results. One of the two regions forwards its arguments unchanged.
static std::optional<Carried> getCarriedByTwo(LoopLikeOpInterface loop,
                                              OpResult result) {
  auto branch = dyn_cast<RegionBranchOpInterface>(loop.getOperation());
  if (!branch || loop->getNumRegions() != 2 ||
      !loop->getRegion(0).hasOneBlock() || !loop->getRegion(1).hasOneBlock())
    return std::nullopt;
  Block *first = &loop->getRegion(0).front();
  Block *second = &loop->getRegion(1).front();
  RegionBranchSuccessorMapping mapping;
  branch.getSuccessorOperandInputMapping(mapping);
  // The one operand of `holder` that reaches `input`.
  auto find = [&](Operation *holder, Value input) -> OpOperand * {
    OpOperand *found = nullptr;
    for (OpOperand &operand : holder->getOpOperands())
      if (auto it = mapping.find(&operand);
          it != mapping.end() && llvm::is_contained(it->second, input)) {
        if (found)
          return nullptr;
        found = &operand;
      }
    return found;
  };
  OpOperand *passed = find(first->getTerminator(), result);
  if (!passed)
    return std::nullopt;
  for (BlockArgument before : first->getArguments()) {
    OpOperand *init = find(loop, before);
    OpOperand *next = find(second->getTerminator(), before);
    if (!init || !next)
      continue;
    for (BlockArgument after : second->getArguments()) {
      if (!llvm::is_contained(mapping[passed], after))
        continue;
      if (passed->get() == before)
        return Carried{loop, init->get(), next->get(), after};
      if (next->get() == after)
        return Carried{loop, init->get(), passed->get(), before};
    }
  }
  return std::nullopt;
}

std::optional<Carried> mlir::amp::getCarried(Value value) {
  auto loop = dyn_cast_or_null<LoopLikeOpInterface>(value.getDefiningOp());
  if (loop && loop.getLoopRegions().size() == 2)
    return getCarriedByTwo(loop, cast<OpResult>(value));
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

/// The width of a float type in bits, 0 for other types.
static unsigned getWidth(Value value) {
  Type type = getElementTypeOrSelf(value);
  return isa<FloatType>(type) ? type.getIntOrFloatBitWidth() : 0;
}

Value mlir::amp::skipWidening(Value value) {
  for (CastLike cast(value.getDefiningOp());
       cast && getWidth(cast.getInput()) != 0 &&
       getWidth(cast.getInput()) <= getWidth(value);
       cast = CastLike(value.getDefiningOp()))
    value = cast.getInput();
  return value;
}

/// Returns whether `op` returns its one operand unchanged. It does if two
/// numbers, one of them negative, fold to themselves.
static bool isMove(Operation *op) {
  if (op->getNumOperands() != 1 || op->getNumResults() != 1 ||
      op->getNumRegions() != 0)
    return false;
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  auto getNumber = [](Type type, int number) -> Attribute {
    Type element = getElementTypeOrSelf(type);
    TypedAttr scalar;
    if (isa<FloatType>(element))
      scalar = FloatAttr::get(element, number + 0.5);
    else if (element.isIntOrIndex())
      scalar = IntegerAttr::get(element, number);
    auto shaped = dyn_cast<RankedTensorType>(type);
    if (!scalar || type == element)
      return scalar;
    return shaped && shaped.getNumElements() == 1
               ? DenseElementsAttr::get(shaped, ArrayRef<Attribute>(scalar))
               : Attribute();
  };
  for (Type type : {from, to})
    if (auto shaped = dyn_cast<ShapedType>(type);
        shaped && !shaped.hasStaticShape())
      return false;
  for (int number : {37, -3}) {
    Attribute input = getNumber(from, number), output = getNumber(to, number);
    Operation *copy = op->clone();
    SmallVector<OpFoldResult> results;
    bool isSame = input && output && succeeded(copy->fold({input}, results)) &&
                  results.size() == 1 &&
                  dyn_cast<Attribute>(results.front()) == output;
    copy->destroy();
    if (!isSame)
      return false;
  }
  return true;
}

/// Returns the operand of an operation that takes a rank's part of a value or
/// joins the parts, or null. The parts of an old state are an old state.
static Value getWholeOrPart(Value value) {
  if (auto gather = value.getDefiningOp<AllGatherOp>())
    return gather.getPart();
  if (auto part = value.getDefiningOp<RankPartOp>())
    return part.getValue();
  return {};
}

/// Returns the value that the only region of `branch` yields as `result`, if
/// the region always runs once, or null.
static Value getYieldedOnce(RegionBranchOpInterface branch, OpResult result) {
  if (branch->getNumRegions() != 1 || branch->getNumOperands() != 0 ||
      isa<LoopLikeOpInterface>(branch.getOperation()) ||
      !branch->getRegion(0).hasOneBlock())
    return {};
  SmallVector<RegionSuccessor> entries;
  branch.getEntrySuccessorRegions({}, entries);
  Operation *last = branch->getRegion(0).front().getTerminator();
  unsigned index = result.getResultNumber();
  if (entries.size() != 1 || entries.front().isParent() ||
      index >= last->getNumOperands())
    return {};
  return last->getOperand(index);
}

Value mlir::amp::skipRegions(Value value) {
  while (true) {
    auto branch = value.getDefiningOp<RegionBranchOpInterface>();
    Value source = branch ? getYieldedOnce(branch, cast<OpResult>(value))
                          : getWholeOrPart(value);
    if (!source)
      return value;
    value = source;
  }
}

Value mlir::amp::skipMoves(Value value) {
  while (true) {
    value = skipWidening(skipRegions(value));
    Operation *op = value.getDefiningOp();
    if (!op || !isMove(op))
      return value;
    value = op->getOperand(0);
  }
}

bool mlir::amp::testsFinite(Operation *op) {
  constexpr double large = 1e30;
  if (op->getNumOperands() < 2 ||
      skipMoves(op->getOperand(0)) == skipMoves(op->getOperand(1)))
    return true;
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    Attribute constant;
    if (!matchPattern(skipMoves(operand), m_Constant(&constant)))
      return false;
    std::optional<double> number = getNumber(constant);
    return number && std::abs(*number) >= large;
  });
}
