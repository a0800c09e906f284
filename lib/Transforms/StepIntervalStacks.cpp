//===- StepIntervalStacks.cpp - Intervals of tensors that loops write -----===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds tensors whose elements the iterations of a loop write, slice by slice,
// such as the outputs of `lax.scan`. The integers of the loop are computed for
// each iteration, so the indices may run backward or wrap.
//
//===----------------------------------------------------------------------===//

#include "StepIntervals.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::amp;

using Kind = FloatRangeRule::Kind;

/// Whether `loop` has a condition and a body that take the operands, and the
/// body gives the next ones.
static bool isConditionLoop(Operation *loop) {
  unsigned count = loop->getNumOperands();
  return loop->getNumRegions() == 2 && loop->getNumResults() == count &&
         llvm::all_of(loop->getRegions(),
                      [&](Region &region) {
                        return region.hasOneBlock() &&
                               !region.front().empty() &&
                               region.getNumArguments() == count;
                      }) &&
         loop->getRegion(0).front().back().getNumOperands() == 1 &&
         loop->getRegion(1).front().back().getNumOperands() == count;
}

/// Returns the operand that `argument` of a loop equals in each iteration, or
/// null if the loop changes the argument.
static Value getUnchanged(BlockArgument argument) {
  Operation *loop = argument.getOwner()->getParentOp();
  unsigned index = argument.getArgNumber();
  if (!isConditionLoop(loop))
    return nullptr;
  Region &body = loop->getRegion(1);
  return body.front().back().getOperand(index) == body.getArgument(index)
             ? loop->getOperand(index)
             : Value();
}

/// Returns `number` if elements of `type` can represent it.
static std::optional<int64_t> fit(std::optional<int64_t> number, Type type) {
  auto element = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  if (!number || !element || element.getWidth() == 0)
    return std::nullopt;
  if (element.isUnsigned() || element.getWidth() == 1)
    return *number >= 0 && (element.getWidth() >= 64 ||
                            llvm::isUIntN(element.getWidth(), *number))
               ? number
               : std::nullopt;
  return element.getWidth() >= 64 || llvm::isIntN(element.getWidth(), *number)
             ? number
             : std::nullopt;
}

/// Returns the integer of all elements of `attribute`, if they are equal.
static std::optional<int64_t> getSplat(Attribute attribute) {
  if (auto elements = dyn_cast_or_null<DenseIntElementsAttr>(attribute)) {
    if (!elements.isSplat())
      return std::nullopt;
    return fit(elements.getSplatValue<APInt>().trySExtValue(),
               elements.getElementType());
  }
  if (auto integer = dyn_cast_or_null<IntegerAttr>(attribute))
    return integer.getValue().trySExtValue();
  return std::nullopt;
}

/// The result of the operation of two integers that a rule calls `name`.
static std::optional<int64_t> combine(StringRef name, int64_t a, int64_t b) {
  if (name == "add")
    return llvm::checkedAdd(a, b);
  if (name == "subtract")
    return llvm::checkedSub(a, b);
  if (name == "multiply")
    return llvm::checkedMul(a, b);
  if (name == "maximum")
    return std::max(a, b);
  if (name == "minimum")
    return std::min(a, b);
  if (name == "less")
    return a < b;
  if (name == "less-equal")
    return a <= b;
  if (name == "greater")
    return a > b;
  if (name == "greater-equal")
    return a >= b;
  if (name == "equal")
    return a == b;
  return std::nullopt;
}

std::optional<int64_t> StepIntervals::getInteger(Value value, Operation *op,
                                                 unsigned number, int64_t count,
                                                 unsigned depth) const {
  constexpr unsigned most = 10;
  if (depth == most)
    return std::nullopt;
  auto get = [&](Value operand) {
    return getInteger(operand, op, number, count, depth + 1);
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner()->getParentOp() != op)
      return std::nullopt;
    if (argument.getArgNumber() == number)
      return count;
    Value initial = getUnchanged(argument);
    return initial ? get(initial) : std::nullopt;
  }
  Operation *definer = value.getDefiningOp();
  const FloatRangeRule *rule = findRule(definer);
  if (!rule || definer->getNumResults() != 1)
    return std::nullopt;
  unsigned operands = definer->getNumOperands();
  std::optional<int64_t> result;
  switch (rule->kind) {
  case Kind::Constant:
    result = getSplat(definer->getAttr(rule->attributeName));
    break;
  case Kind::Convert:
  case Kind::Reshape:
  case Kind::Repeat:
    if (operands == 1)
      result = get(definer->getOperand(0));
    break;
  case Kind::Select:
    if (operands == 3)
      if (std::optional<int64_t> chosen = get(definer->getOperand(0)))
        result = get(definer->getOperand(*chosen != 0 ? 1 : 2));
    break;
  case Kind::Binary:
  case Kind::Order:
  case Kind::Equal:
    if (operands == 2)
      if (auto a = get(definer->getOperand(0)), b = get(definer->getOperand(1));
          a && b)
        result = combine(rule->name, *a, *b);
    break;
  default:
    break;
  }
  return fit(result, value.getType());
}

std::optional<StepIntervals::Counter>
StepIntervals::countIterations(Operation *op, unsigned number) const {
  constexpr unsigned most = 1 << 14;
  Value condition = op->getRegion(0).front().back().getOperand(0);
  Value next = op->getRegion(1).front().back().getOperand(number);
  Counter counter{number, {}};
  // The initial value does not depend on the count.
  std::optional<int64_t> count =
      getInteger(op->getOperand(number), op, number, 0);
  while (count) {
    std::optional<int64_t> runs = getInteger(condition, op, number, *count);
    if (!runs || counter.counts.size() == most)
      return std::nullopt;
    if (*runs == 0)
      return counter;
    counter.counts.push_back(*count);
    count = getInteger(next, op, number, *count);
  }
  return std::nullopt;
}

const StepIntervals::Counter &StepIntervals::getCounter(Operation *op) const {
  auto [it, isNew] = counters.try_emplace(op);
  if (!isNew || !isConditionLoop(op))
    return it->second;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<IntegerType>(getElementTypeOrSelf(operand.get())))
      continue;
    if (auto counter = countIterations(op, operand.getOperandNumber())) {
      it->second = std::move(*counter);
      break;
    }
  }
  return it->second;
}

Value StepIntervals::findStackedSlice(OpResult result) const {
  Operation *op = result.getOwner();
  unsigned index = result.getResultNumber();
  if (!isConditionLoop(op))
    return nullptr;
  Region &body = op->getRegion(1);
  Value yielded = body.front().back().getOperand(index);
  Operation *update = yielded.getDefiningOp();
  if (!update || !findRule(yielded, Kind::Update) ||
      update->getBlock() != &body.front() || update->getNumOperands() < 2 ||
      update->getOperand(0) != body.getArgument(index))
    return nullptr;
  Value slice = update->getOperand(1);
  auto whole = getShape(yielded), part = getShape(slice);
  if (!whole || !part || whole->size() != part->size() ||
      update->getNumOperands() != whole->size() + 2)
    return nullptr;
  // The slices differ along one dimension.
  SmallVector<unsigned> partial;
  for (unsigned i = 0, e = whole->size(); i != e; ++i)
    if ((*whole)[i] != (*part)[i])
      partial.push_back(i);
  const Counter &counter = getCounter(op);
  if (partial.size() > 1 || counter.counts.empty())
    return nullptr;
  if (partial.empty())
    return slice;
  unsigned dimension = partial.front();
  int64_t extent = (*whole)[dimension], size = (*part)[dimension];
  SmallVector<int64_t> starts;
  for (int64_t count : counter.counts) {
    std::optional<int64_t> start = getInteger(update->getOperand(2 + dimension),
                                              op, counter.number, count);
    if (!start || *start < 0 || *start > extent - size)
      return nullptr;
    starts.push_back(*start);
  }
  llvm::sort(starts);
  int64_t written = 0;
  for (int64_t start : starts) {
    if (start > written)
      return nullptr;
    written = start + size;
  }
  return written == extent ? slice : Value();
}

Value StepIntervals::skipMoves(Value condition) const {
  while (true) {
    Value source;
    if (auto argument = dyn_cast<BlockArgument>(condition)) {
      source = getUnchanged(argument);
    } else if (auto result = cast<OpResult>(condition);
               isConditionLoop(result.getOwner())) {
      source = findStackedSlice(result);
    } else if (const FloatRangeRule *rule = findRule(result.getOwner());
               rule &&
               (rule->kind == Kind::Move || rule->kind == Kind::Reshape ||
                rule->kind == Kind::Repeat)) {
      // Indices have another type.
      for (Value operand : result.getOwner()->getOperands()) {
        if (getElementTypeOrSelf(operand) != getElementTypeOrSelf(condition))
          continue;
        if (source)
          return condition;
        source = operand;
      }
    }
    if (!source)
      return condition;
    condition = source;
  }
}
