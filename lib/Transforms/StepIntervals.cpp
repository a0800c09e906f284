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

static FloatType getFloat(Value value) {
  return dyn_cast<FloatType>(getElementTypeOrSelf(value));
}

/// The extents of `value`, or none if they are not known.
static std::optional<ArrayRef<int64_t>> getShape(Value value) {
  auto type = dyn_cast<ShapedType>(value.getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  return type.getShape();
}

/// The integers of an attribute in any form, or none.
static std::optional<SmallVector<int64_t>> getIntegers(Operation *op,
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

static SmallVector<int64_t> getIdentity(Value value) {
  auto shape = getShape(value);
  return shape ? llvm::to_vector(llvm::seq<int64_t>(0, shape->size()))
               : SmallVector<int64_t>();
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

bool StepIntervals::isConstant(Value value, double number) const {
  FloatRange range = get(value);
  return range.lo == number && range.hi == number && !range.mayBeNaN;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// Follows conversions that lose nothing.
Value StepIntervals::skipExact(Value value) const {
  while (findRule(value, Kind::Convert)) {
    Value source = value.getDefiningOp()->getOperand(0);
    FloatType from = getFloat(source), to = getFloat(value);
    if (!from || !to || from.getWidth() >= to.getWidth())
      break;
    value = source;
  }
  return value;
}

/// Follows all conversions.
Value StepIntervals::skipConversions(Value value) const {
  while (findRule(value, Kind::Convert))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

StepIntervals::View StepIntervals::skipRepeats(View view) const {
  while (Operation *op = view.value.getDefiningOp()) {
    const FloatRangeRule *rule = findRule(op);
    if (!rule || (rule->kind != Kind::Repeat && rule->kind != Kind::Reshape))
      break;
    Value source = op->getOperand(0);
    auto from = getShape(source), to = getShape(view.value);
    if (!from || !to || view.dimensions.size() != to->size())
      break;
    SmallVector<int64_t> followed(from->size(), -1);
    if (rule->kind == Kind::Repeat) {
      auto places = getIntegers(op, rule->attributeName);
      if (!places || places->size() != from->size())
        break;
      for (auto [place, extent, dimension] :
           llvm::zip(*places, *from, followed))
        if (extent != 1 && place >= 0 &&
            place < static_cast<int64_t>(to->size()))
          dimension = view.dimensions[place];
    } else {
      // The extents other than 1 must be the same.
      SmallVector<int64_t> places;
      for (auto [place, extent] : llvm::enumerate(*to))
        if (extent != 1)
          places.push_back(place);
      unsigned next = 0;
      bool isSame = true;
      for (auto [extent, dimension] : llvm::zip(*from, followed)) {
        if (extent == 1)
          continue;
        isSame &= next < places.size() && (*to)[places[next]] == extent;
        if (isSame)
          dimension = view.dimensions[places[next++]];
      }
      if (!isSame || next != places.size())
        break;
    }
    view = {source, std::move(followed)};
  }
  return view;
}

StepIntervals::View StepIntervals::skipGuards(View view) const {
  while (true) {
    view = skipRepeats(std::move(view));
    view.value = skipExact(view.value);
    Operation *op = view.value.getDefiningOp();
    const FloatRangeRule *rule = op ? findRule(op) : nullptr;
    if (!rule)
      return view;
    if (rule->name == "maximum" && isConstant(op->getOperand(0), -kInfinity)) {
      view.value = op->getOperand(1);
    } else if (rule->name == "maximum" &&
               isConstant(op->getOperand(1), -kInfinity)) {
      view.value = op->getOperand(0);
    } else if (rule->kind == Kind::Select && op->getNumOperands() == 3 &&
               findRule(op->getOperand(0), Kind::Finite) &&
               skipConversions(op->getOperand(0).getDefiningOp()->getOperand(
                   0)) == skipConversions(op->getOperand(1))) {
      view.value = op->getOperand(1);
    } else {
      return view;
    }
  }
}

SmallVector<int64_t> StepIntervals::findMaximum(Value maximum,
                                                Value value) const {
  View view = skipGuards({maximum, getIdentity(maximum)});
  const FloatRangeRule *rule = findRule(view.value, Kind::Reduce);
  if (!rule || rule->attributeName.empty())
    return {};
  Operation *op = view.value.getDefiningOp();
  auto reduced = getIntegers(op, rule->attributeName);
  auto shape = getShape(op->getOperand(0));
  if (!reduced || !shape || op->getNumOperands() != 2 ||
      getBody(op) != "maximum" ||
      skipExact(op->getOperand(0)) != skipExact(value))
    return {};
  // Each element is compared with the maximum of its own row.
  SmallVector<int64_t> kept;
  for (int64_t dimension = 0, e = shape->size(); dimension != e; ++dimension)
    if (!llvm::is_contained(*reduced, dimension))
      kept.push_back(dimension);
  if (kept.size() != view.dimensions.size())
    return {};
  for (auto [dimension, followed] : llvm::zip(kept, view.dimensions))
    if ((*shape)[dimension] != 1 && followed != dimension)
      return {};
  return *reduced;
}

//===----------------------------------------------------------------------===//
// Rows with one element
//===----------------------------------------------------------------------===//

StepIntervals::Variation StepIntervals::getVariation(Value value,
                                                     int64_t dimension) const {
  SmallVector<int64_t> marks(getIdentity(value).size(), -2);
  auto shape = getShape(value);
  if (!shape || dimension >= static_cast<int64_t>(marks.size()))
    return Variation::Unknown;
  marks[dimension] = dimension;
  View view = skipRepeats({value, std::move(marks)});
  const auto *followed = llvm::find(view.dimensions, dimension);
  if (followed == view.dimensions.end())
    return Variation::None;
  const FloatRangeRule *rule = findRule(view.value, Kind::Iota);
  if (!rule)
    return Variation::Unknown;
  auto places = getIntegers(view.value.getDefiningOp(), rule->attributeName);
  return places && places->size() == 1 &&
                 places->front() == followed - view.dimensions.begin()
             ? Variation::Distinct
             : Variation::None;
}

bool StepIntervals::isSparse(Value value, int64_t dimension,
                             unsigned depth) const {
  constexpr unsigned most = 6;
  Operation *op = value.getDefiningOp();
  const FloatRangeRule *rule = op && depth < most ? findRule(op) : nullptr;
  if (!rule)
    return false;
  auto sparse = [&](unsigned operand) {
    return isSparse(op->getOperand(operand), dimension, depth + 1);
  };
  if (rule->name == "negate" || rule->name == "abs" || rule->name == "divide" ||
      rule->kind == Kind::Convert)
    return sparse(0);
  if (rule->name == "multiply")
    return sparse(0) || sparse(1);
  if (rule->kind == Kind::Select && op->getNumOperands() == 3)
    return isConstant(op->getOperand(2), 0) && (sparse(0) || sparse(1));
  if (rule->kind == Kind::Scatter)
    return isConstant(op->getOperand(0), 0) && getBody(op) == "add" &&
           !(rule->byRows && dimension == 0);
  if (rule->kind == Kind::Repeat || rule->kind == Kind::Reshape) {
    SmallVector<int64_t> marks(getIdentity(value).size(), -2);
    if (dimension >= static_cast<int64_t>(marks.size()))
      return false;
    marks[dimension] = dimension;
    View view = skipRepeats({value, std::move(marks)});
    const auto *followed = llvm::find(view.dimensions, dimension);
    return view.value != value && followed != view.dimensions.end() &&
           isSparse(view.value, followed - view.dimensions.begin(), depth + 1);
  }
  if (rule->kind != Kind::Equal)
    return false;
  Variation first = getVariation(op->getOperand(0), dimension);
  Variation second = getVariation(op->getOperand(1), dimension);
  return (first == Variation::None && second == Variation::Distinct) ||
         (first == Variation::Distinct && second == Variation::None);
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
  auto operand = [&](unsigned number) {
    FloatRange range = number < op->getNumOperands()
                           ? get(op->getOperand(number))
                           : FloatRange::unknown();
    return range.hasNoNumber() ? FloatRange::unknown() : range;
  };
  switch (rule.kind) {
  case Kind::Unary: {
    if (rule.name == "exp" && op->getNumOperands() == 1)
      if (auto it = shifted.find(op->getOperand(0)); it != shifted.end())
        exponentials[op->getResult(0)] = it->second;
    return rule.unary(operand(0));
  }
  case Kind::Binary: {
    FloatRange range = rule.binary(operand(0), operand(1));
    if (rule.name != "subtract" || op->getNumOperands() != 2)
      return range;
    SmallVector<int64_t> row =
        findMaximum(op->getOperand(1), op->getOperand(0));
    if (row.empty())
      return range;
    shifted[op->getResult(0)] = row;
    return range.clamp(-kInfinity, 0).withNaN(false);
  }
  case Kind::Clamp:
    return interval::min(interval::max(operand(1), operand(0)), operand(2));
  case Kind::Constant: {
    Attribute value = op->getAttr(rule.attributeName);
    auto elements = value ? getConstantElements(value, {}) : std::nullopt;
    return elements ? elements->range : FloatRange::unknown();
  }
  case Kind::Convert:
    if (op->getNumOperands() == 1 &&
        getElementTypeOrSelf(op->getOperand(0)).isInteger(1))
      return FloatRange::get(0, 1);
    return operand(0);
  case Kind::Reshape:
  case Kind::Repeat:
    return operand(0);
  case Kind::Select:
    return op->getNumOperands() == 3
               ? get(op->getOperand(1)).join(get(op->getOperand(2)))
               : FloatRange::unknown();
  case Kind::Move: {
    FloatRange range = FloatRange::empty();
    for (Value moved : op->getOperands())
      if (getFloat(moved))
        range = range.join(get(moved));
    return range.isEmpty() ? FloatRange::unknown() : range;
  }
  case Kind::Reduce:
    return inferReduce(op, rule);
  case Kind::Scatter:
    return inferScatter(op, rule);
  case Kind::Iota:
  case Kind::Equal:
  case Kind::Finite:
    break;
  }
  return FloatRange::unknown();
}

void StepIntervals::set(Value value, FloatRange range) {
  FloatType type = getFloat(value);
  if (!type || range.isUnbounded() || range.isEmpty())
    return;
  intervals[value] = range.hasNoNumber() ? range : range.roundTo(type);
}

void StepIntervals::visit(Operation *op, Assumption assume) {
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

StepIntervals::StepIntervals(FunctionOpInterface function,
                             ArrayRef<FloatRangeRule> rules, Assumption assume)
    : rules(rules) {
  if (function.isExternal())
    return;
  for (BlockArgument argument : function.getArguments())
    if (std::optional<FloatRange> known = assume(argument))
      set(argument, *known);
  // Operands come first.
  function.getFunctionBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) { visit(op, assume); });
}
