//===- StepIntervalViews.cpp - Rows, repeats and indices of steps ---------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the maximum of a row, rows with one element that is not zero, and
// indices that are distinct.
//
//===----------------------------------------------------------------------===//

#include "StepIntervals.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/raw_ostream.h"

#include <limits>

using namespace mlir;
using namespace mlir::amp;

using Kind = FloatRangeRule::Kind;

/// Returns the dimension along which the indices of the scatter `op` have the
/// parts of one index. The text of the attribute `name` gives it, if at all.
static std::optional<int64_t> getIndexDimension(Operation *op, StringRef name) {
  Attribute attribute = name.empty() ? Attribute() : op->getAttr(name);
  if (!attribute)
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  StringRef rest = StringRef(text).split("index_vector_dim = ").second;
  uint64_t dimension;
  if (rest.consumeInteger(10, dimension))
    return std::nullopt;
  return dimension;
}

SmallVector<int64_t> StepIntervals::getIdentity(Value value) {
  auto shape = getShape(value);
  return shape ? llvm::to_vector(llvm::seq<int64_t>(0, shape->size()))
               : SmallVector<int64_t>();
}

bool StepIntervals::isZero(Value value) const {
  if (getFloat(value))
    return isConstant(value, 0);
  Value source = skipRepeats({value, getIdentity(value)}).value;
  const FloatRangeRule *rule = findRule(source, Kind::Constant);
  auto elements =
      rule ? dyn_cast_or_null<DenseIntElementsAttr>(
                 source.getDefiningOp()->getAttr(rule->attributeName))
           : DenseIntElementsAttr();
  return elements && elements.isSplat() &&
         elements.getSplatValue<APInt>().isZero();
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

StepIntervals::View StepIntervals::skipWraps(View view) const {
  while (true) {
    view = skipRepeats(std::move(view));
    Operation *op = view.value.getDefiningOp();
    const FloatRangeRule *rule = op ? findRule(op) : nullptr;
    if (!rule || rule->kind != Kind::Select || op->getNumOperands() != 3)
      return view;
    const FloatRangeRule *order = findRule(op->getOperand(0), Kind::Order);
    Value index = op->getOperand(2);
    if (!order || order->name != "less")
      return view;
    Operation *condition = op->getOperand(0).getDefiningOp();
    View source = skipRepeats({index, getIdentity(index)});
    if (condition->getNumOperands() != 2 || condition->getOperand(0) != index ||
        !isZero(condition->getOperand(1)) ||
        !findRule(source.value, Kind::Iota))
      return view;
    view.value = index;
  }
}

StepIntervals::View StepIntervals::skipGuards(View view) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  while (true) {
    view = skipRepeats(std::move(view));
    view.value = skipExact(view.value);
    Operation *op = view.value.getDefiningOp();
    const FloatRangeRule *rule = op ? findRule(op) : nullptr;
    if (!rule)
      return view;
    if (rule->name == "maximum" && isConstant(op->getOperand(0), -infinity)) {
      view.value = op->getOperand(1);
    } else if (rule->name == "maximum" &&
               isConstant(op->getOperand(1), -infinity)) {
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
  View view = skipWraps({value, std::move(marks)});
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

bool StepIntervals::hasDistinctIndices(Operation *op,
                                       const FloatRangeRule &rule) const {
  Value indices = op->getOperand(1);
  auto shape = getShape(indices), added = getShape(op->getOperand(2));
  std::optional<int64_t> parts = getIndexDimension(op, rule.attributeName);
  if (!shape || !added || !parts ||
      *parts >= static_cast<int64_t>(shape->size()))
    return false;
  // Windows of several elements may overlap.
  if (ShapedType::getNumElements(*added) * (*shape)[*parts] !=
      ShapedType::getNumElements(*shape))
    return false;
  SmallVector<Value> columns = {indices};
  if ((*shape)[*parts] != 1) {
    if (!findRule(indices, Kind::Move))
      return false;
    columns.assign(indices.getDefiningOp()->operand_begin(),
                   indices.getDefiningOp()->operand_end());
    // The operation concatenates along this dimension if each operand has
    // extent 1 there and the extents of the result elsewhere.
    for (Value column : columns) {
      auto extents = getShape(column);
      SmallVector<int64_t> expected(*shape);
      expected[*parts] = 1;
      if (!extents || *extents != ArrayRef(expected))
        return false;
    }
    if (static_cast<int64_t>(columns.size()) != (*shape)[*parts])
      return false;
  }
  return llvm::all_of(llvm::enumerate(*shape), [&](auto entry) {
    auto [dimension, extent] = entry;
    return extent == 1 || static_cast<int64_t>(dimension) == *parts ||
           llvm::any_of(columns, [&, number = dimension](Value column) {
             return getVariation(column, number) == Variation::Distinct;
           });
  });
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
