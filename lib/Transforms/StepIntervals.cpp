//===- StepIntervals.cpp - Intervals of values by rules of a policy -------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepIntervals.h"

#include "amp/Interfaces/FloatRangeOpInterface.h"
#include "amp/Precision/Assignment/Ranges.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace mlir::amp;

using Kind = FloatRangeRule::Kind;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

FloatType StepIntervals::getFloat(Value value) {
  return dyn_cast<FloatType>(getElementTypeOrSelf(value));
}

std::optional<ArrayRef<int64_t>> StepIntervals::getShape(Value value) {
  auto type = dyn_cast<ShapedType>(value.getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  return type.getShape();
}

std::optional<SmallVector<int64_t>> StepIntervals::getIntegers(Operation *op,
                                                               StringRef name) {
  Attribute attribute = op->getAttr(name);
  if (auto array = dyn_cast_or_null<DenseI64ArrayAttr>(attribute))
    return SmallVector<int64_t>(array.asArrayRef());
  if (auto number = dyn_cast_or_null<IntegerAttr>(attribute))
    return SmallVector<int64_t>{number.getValue().getSExtValue()};
  if (auto elements = dyn_cast_or_null<DenseIntElementsAttr>(attribute)) {
    SmallVector<int64_t> numbers;
    for (const APInt &number : elements.getValues<APInt>())
      numbers.push_back(number.getSExtValue());
    return numbers;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

const FloatRangeRule *StepIntervals::findRule(Operation *op) const {
  auto [it, isNew] = cache.try_emplace(op->getName());
  if (isNew)
    for (const FloatRangeRule &rule : rules)
      if (rule.pattern.match(op->getName().getStringRef()))
        it->second.push_back(&rule);
  for (const FloatRangeRule *rule : it->second)
    if (rule->isSatisfiedBy(op))
      return rule;
  return nullptr;
}

const FloatRangeRule *StepIntervals::findRule(Value value, Kind kind) const {
  Operation *op = value.getDefiningOp();
  const FloatRangeRule *rule = op ? findRule(op) : nullptr;
  return rule && rule->kind == kind ? rule : nullptr;
}

StringRef StepIntervals::getBody(Operation *op) const {
  if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock())
    return {};
  Block &body = op->getRegion(0).front();
  if (body.getOperations().size() != 2)
    return {};
  const FloatRangeRule *rule = findRule(&body.front());
  return rule ? rule->name : StringRef();
}

std::optional<bool> StepIntervals::getOutcome(Value condition) const {
  condition = skipMoves(condition);
  const FloatRangeRule *rule = findRule(condition, Kind::Order);
  Operation *op = condition.getDefiningOp();
  if (!rule || op->getNumOperands() != 2 || !getFloat(op->getOperand(0)))
    return std::nullopt;
  // Data that stay finite give no NaN.
  FloatRange a = get(op->getOperand(0)), b = get(op->getOperand(1));
  if (a.hasNoNumber() || b.hasNoNumber())
    return std::nullopt;
  if (rule->name.starts_with("greater"))
    std::swap(a, b);
  bool orEqual = rule->name.ends_with("-equal");
  if (orEqual ? a.hi <= b.lo : a.hi < b.lo)
    return true;
  if (orEqual ? a.lo > b.hi : a.lo >= b.hi)
    return false;
  return std::nullopt;
}

bool StepIntervals::isConstant(Value value, double number) const {
  FloatRange range = get(value);
  return range.lo == number && range.hi == number && !range.mayBeNaN;
}

//===----------------------------------------------------------------------===//
// Intervals
//===----------------------------------------------------------------------===//

FloatRange StepIntervals::inferReduce(Operation *op,
                                      const FloatRangeRule &rule) {
  if (op->getNumOperands() != 2 || op->getNumResults() != 1)
    return FloatRange::unknown();
  Value source = op->getOperand(0);
  FloatRange range = get(source), init = get(op->getOperand(1));
  StringRef body = getBody(op);
  // The neutral element of an extremum leaves no trace in a row that is not
  // empty.
  if (body == "maximum")
    return isConstant(op->getOperand(1), -kInfinity)
               ? range
               : interval::max(range, init).join(range);
  if (body == "minimum")
    return isConstant(op->getOperand(1), kInfinity)
               ? range
               : interval::min(range, init).join(range);
  auto shape = getShape(source);
  auto reduced = rule.attributeName.empty()
                     ? std::nullopt
                     : getIntegers(op, rule.attributeName);
  FloatType type = getFloat(op->getResult(0));
  if (body != "add" || !shape || !reduced || !type ||
      llvm::any_of(*reduced, [&](int64_t dimension) {
        return dimension < 0 ||
               dimension >= static_cast<int64_t>(shape->size());
      }))
    return FloatRange::unknown();
  int64_t count = 1;
  bool hasSparse = false;
  for (int64_t dimension : *reduced) {
    int64_t extent = (*shape)[dimension];
    if (extent != 1 && !hasSparse && isSparse(source, dimension))
      hasSparse = true;
    else
      count *= extent;
  }
  if (hasSparse)
    range = range.join(0);
  FloatRange total = interval::add(interval::sum(range, count, type), init);
  // A row of exponentials of values minus their maximum contains a 1, and the
  // other elements may be 0.
  auto exponential = exponentials.find(skipExact(source));
  if (exponential != exponentials.end() &&
      llvm::all_of(exponential->second,
                   [&](int64_t dimension) {
                     return llvm::is_contained(*reduced, dimension);
                   }) &&
      init.lo >= 0)
    total.lo = std::max(total.lo, 1.0);
  else if (count != 1)
    loose.insert(op->getResult(0));
  return total;
}

FloatRange StepIntervals::inferScatter(Operation *op,
                                       const FloatRangeRule &rule) {
  if (op->getNumOperands() != 3 || op->getNumResults() != 1 ||
      getBody(op) != "add")
    return FloatRange::unknown();
  auto target = getShape(op->getOperand(0)),
       added = getShape(op->getOperand(2));
  FloatType type = getFloat(op->getResult(0));
  if (!target || !added || !type)
    return FloatRange::unknown();
  // An index places each element of its window once.
  int64_t count = ShapedType::getNumElements(*added);
  if (auto indices = getShape(op->getOperand(1)))
    count = std::min(count, ShapedType::getNumElements(*indices));
  if (hasDistinctIndices(op, rule))
    count = std::min<int64_t>(count, 1);
  if (rule.byRows) {
    if (target->empty() || target->front() <= 0)
      return FloatRange::unknown();
    count = llvm::divideCeil(count, target->front());
  }
  if (count > 1)
    loose.insert(op->getResult(0));
  FloatRange sum = interval::sum(get(op->getOperand(2)), count, type).join(0);
  return interval::add(get(op->getOperand(0)), sum);
}

FloatRange StepIntervals::infer(Operation *op, const FloatRangeRule &rule) {
  SmallVector<FloatRange> operands;
  for (Value operand : op->getOperands())
    operands.push_back(get(operand));
  switch (rule.kind) {
  case Kind::Unary:
    if (rule.name == "exp" && op->getNumOperands() == 1)
      if (auto it = shifted.find(op->getOperand(0)); it != shifted.end())
        exponentials[op->getResult(0)] = it->second;
    break;
  case Kind::Binary: {
    if (rule.name != "subtract" || op->getNumOperands() != 2)
      break;
    SmallVector<int64_t> row =
        findMaximum(op->getOperand(1), op->getOperand(0));
    if (row.empty())
      break;
    shifted[op->getResult(0)] = row;
    return rule.infer(op, operands).clamp(-kInfinity, 0).withNaN(false);
  }
  case Kind::Constant: {
    Attribute value = op->getAttr(rule.attributeName);
    auto elements = value ? getConstantElements(value, {}) : std::nullopt;
    return elements ? elements->range : FloatRange::unknown();
  }
  case Kind::Select:
    if (op->getNumOperands() != 3)
      break;
    if (std::optional<bool> outcome = getOutcome(op->getOperand(0)))
      return operands[*outcome ? 1 : 2];
    break;
  case Kind::Reduce:
    return inferReduce(op, rule);
  case Kind::Scatter:
    return inferScatter(op, rule);
  default:
    break;
  }
  return rule.infer(op, operands);
}

void StepIntervals::set(Value value, FloatRange range) {
  FloatType type = getFloat(value);
  if (!type || range.isUnbounded() || range.isEmpty()) {
    intervals.erase(value);
    return;
  }
  intervals[value] = range.hasNoNumber() ? range : range.roundTo(type);
}

void StepIntervals::visit(Operation *op, Assumption assume) {
  visited.insert(op);
  // A loop visits its operations several times.
  for (Value result : op->getResults()) {
    shifted.erase(result);
    exponentials.erase(result);
  }
  const FloatRangeRule *rule = findRule(op);
  auto iface = dyn_cast<FloatRangeOpInterface>(op);
  if (llvm::any_of(op->getOperands(),
                   [&](Value operand) { return isLoose(operand); }))
    loose.insert(op->result_begin(), op->result_end());
  if (auto elements = getConstantElements(op, {})) {
    set(op->getResult(0), elements->range);
  } else if (rule && op->getNumResults() == 1) {
    set(op->getResult(0), infer(op, *rule));
  } else if (iface && op->getNumRegions() == 0) {
    SmallVector<FloatRange> operands, results(op->getNumResults());
    for (Value operand : op->getOperands()) {
      FloatRange range = get(operand);
      operands.push_back(range.hasNoNumber() ? FloatRange::unknown() : range);
    }
    iface.inferFloatRanges(operands, results);
    for (auto [result, range] : llvm::zip(op->getResults(), results))
      set(result, range);
  }
  for (OpResult result : op->getResults())
    if (std::optional<FloatRange> known = assume(result))
      set(result, *known);
}

/// Whether each operation of `function` follows the operations that define its
/// operands. Regions of unregistered operations may have cycles.
static bool isInOrder(FunctionOpInterface function) {
  return !function
              ->walk([](Operation *op) {
                auto follows = [&](Value operand) {
                  Operation *definer = operand.getDefiningOp();
                  if (!definer)
                    return true;
                  Block *block = definer->getBlock();
                  Operation *user = block->findAncestorOpInBlock(*op);
                  return !user || definer->isBeforeInBlock(user);
                };
                return llvm::all_of(op->getOperands(), follows)
                           ? WalkResult::advance()
                           : WalkResult::interrupt();
              })
              .wasInterrupted();
}

StepIntervals::StepIntervals(FunctionOpInterface function,
                             const ForeignRules &foreign, Assumption assume)
    : rules(foreign.getIntervals()), linear(foreign.getLinear()) {
  if (function.isExternal() || !isInOrder(function))
    return;
  for (BlockArgument argument : function.getArguments())
    if (std::optional<FloatRange> known = assume(argument))
      set(argument, *known);
  visit(function.getFunctionBody(), assume);
}
