//===- ScalarEvaluator.cpp - Values under assumptions ---------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/LossScaling/ScalarEvaluator.h"

#include "amp/Interfaces/FloatRangeOpInterface.h"
#include "amp/LossScaling/ValueOrigins.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <utility>

using namespace mlir;
using namespace mlir::amp;

/// Larger sets, and larger products of sets, count as unknown.
static constexpr size_t kLargestSet = 8, kMostProducts = 64;

Attribute mlir::amp::getBoolean(Type type, bool value) {
  if (!getElementTypeOrSelf(type).isInteger(1))
    return {};
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.hasStaticShape() ? DenseElementsAttr::get(tensor, value)
                                   : Attribute();
  return type.isInteger(1) ? BoolAttr::get(type.getContext(), value)
                           : Attribute();
}

std::optional<bool> mlir::amp::getBoolean(Attribute attribute) {
  if (auto scalar = dyn_cast_or_null<BoolAttr>(attribute))
    return scalar.getValue();
  auto elements = dyn_cast_or_null<DenseElementsAttr>(attribute);
  if (elements && elements.isSplat() && elements.getElementType().isInteger(1))
    return elements.getSplatValue<bool>();
  return std::nullopt;
}

/// Adds the new elements. Returns false if the set becomes too large.
static bool insert(ScalarEvaluator::Set &set, ArrayRef<Attribute> more) {
  for (Attribute attribute : more)
    if (!llvm::is_contained(set, attribute))
      set.push_back(attribute);
  return set.size() <= kLargestSet;
}

static ScalarEvaluator::Set getUnknown(Type type) {
  if (Attribute no = getBoolean(type, false))
    return {no, getBoolean(type, true)};
  return {};
}

const ScalarEvaluator::Set &ScalarEvaluator::get(Value value) {
  if (auto it = memo.find(value); it != memo.end())
    return it->second;
  // Evaluate the values that this one needs first, so that long chains do not
  // recurse.
  SmallVector<Value> worklist = {value};
  llvm::DenseSet<Value> seen;
  SmallVector<Value> order;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (memo.contains(next) || !seen.insert(next).second)
      continue;
    order.push_back(next);
    Operation *op = next.getDefiningOp();
    if (op && op->getNumRegions() == 0 && !assume(next))
      llvm::append_range(worklist, op->getOperands());
  }
  // Within one block this is the order of definition. Other values recurse.
  for (Value next : llvm::reverse(order))
    if (!memo.contains(next)) {
      Set set = compute(next);
      memo[next] = std::move(set);
    }
  return memo[value];
}

std::optional<bool> ScalarEvaluator::getBool(Value value) {
  const Set &set = get(value);
  return set.size() == 1 ? getBoolean(set.front()) : std::nullopt;
}

ScalarEvaluator::Set ScalarEvaluator::getSplat(Type type, double number) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  if (!element)
    return {};
  auto scalar = FloatAttr::get(element, number);
  auto shaped = dyn_cast<RankedTensorType>(type);
  if (!shaped)
    return type == element ? Set{scalar} : Set();
  if (!shaped.hasStaticShape())
    return {};
  return {DenseElementsAttr::get(shaped, ArrayRef<Attribute>(scalar))};
}

ScalarEvaluator::Set ScalarEvaluator::compute(Value value) {
  if (std::optional<Set> assumed = assume(value))
    return *assumed;
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant))) {
    // Tables are not scalars, and folding them takes memory.
    auto elements = dyn_cast<ElementsAttr>(constant);
    bool isTable = elements && !isa<SplatElementsAttr>(elements) &&
                   elements.getNumElements() > 1;
    return isTable ? Set() : Set{constant};
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return getUnknown(value.getType());
  if (std::optional<Choice> choice = getChoice(value)) {
    Set set = computeChoice(value.getType(), choice->condition, choice->good,
                            choice->bad);
    return set.empty() ? getUnknown(value.getType()) : set;
  }
  if (std::optional<Set> carried = computeCarried(value))
    return *carried;
  Set set;
  if (op->getNumResults() == 1 && op->getNumRegions() == 0)
    set = fold(op);
  return set.empty() ? getUnknown(value.getType()) : set;
}

/// Returns the one element of `attribute` in all elements of `type`, or null.
static Attribute broadcast(Attribute attribute, Type type) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(attribute);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!elements || !elements.isSplat() || !tensor || !tensor.hasStaticShape() ||
      elements.getElementType() != tensor.getElementType())
    return {};
  return DenseElementsAttr::get(tensor, elements.getSplatValue<Attribute>());
}

ScalarEvaluator::Set ScalarEvaluator::computeChoice(Type type, Value condition,
                                                    Value good, Value bad) {
  std::optional<bool> known = getBool(condition);
  Set set;
  for (auto [value, excluded] :
       {std::pair(good, false), std::pair(bad, true)}) {
    if (known && *known == excluded)
      continue;
    // The condition itself is known where it decides.
    Attribute decided =
        value == condition ? getBoolean(type, !excluded) : Attribute();
    Set other = decided ? Set{decided} : get(value);
    // An operand that is broadcast has another type.
    if (value.getType() != type)
      for (Attribute &attribute : other)
        attribute = broadcast(attribute, type);
    if (other.empty() || llvm::is_contained(other, Attribute()) ||
        !insert(set, other))
      return {};
  }
  return set;
}

std::optional<ScalarEvaluator::Set>
ScalarEvaluator::computeCarried(Value value) {
  std::optional<Carried> carried = getCarried(value);
  if (!carried)
    return std::nullopt;
  if (carried->yielded == carried->argument)
    return get(carried->init);
  Set yielded = get(carried->yielded);
  if (concerns && concerns(carried->loop)) {
    // The result of one iteration counts if no later iteration changes it.
    if (yielded.size() != 1)
      return getUnknown(value.getType());
    ScalarEvaluator later([&](Value other) -> std::optional<Set> {
      if (other == carried->argument)
        return Set{yielded.front()};
      return std::nullopt;
    });
    return later.get(carried->yielded) == yielded ? yielded
                                                  : getUnknown(value.getType());
  }
  if (yielded.empty())
    return getUnknown(value.getType());
  if (runsOnce(carried->loop))
    return yielded;
  Set set = get(carried->init);
  if (set.empty() || !insert(set, yielded))
    return getUnknown(value.getType());
  return set;
}

bool ScalarEvaluator::runsOnce(Operation *op) {
  auto loop = cast<LoopLikeOpInterface>(op);
  if (std::optional<APInt> count = loop.getStaticTripCount())
    return !count->isZero();
  // A loop of two regions decides by what ends the first one, which sees the
  // initial values at first.
  auto branch = dyn_cast<RegionBranchOpInterface>(op);
  if (!branch || op->getNumRegions() != 2 || !op->getRegion(0).hasOneBlock())
    return false;
  RegionBranchSuccessorMapping mapping;
  branch.getSuccessorOperandInputMapping(mapping);
  llvm::DenseMap<Value, Value> initial;
  for (OpOperand &operand : op->getOpOperands())
    if (auto it = mapping.find(&operand); it != mapping.end())
      for (Value input : it->second)
        initial[input] = operand.get();
  ScalarEvaluator first([&](Value value) -> std::optional<Set> {
    auto it = initial.find(value);
    return it == initial.end() ? assume(value)
                               : std::optional<Set>(get(it->second));
  });
  for (OpOperand &operand :
       op->getRegion(0).front().getTerminator()->getOpOperands())
    if (auto it = mapping.find(&operand);
        it == mapping.end() || it->second.empty())
      return first.getBool(operand.get()) == true;
  return false;
}

ScalarEvaluator::Set ScalarEvaluator::fold(Operation *op) {
  // Constants alone decide nothing if the rest is unknown.
  bool isKnown = op->getNumOperands() != 0, isAssumed = false;
  for (Value operand : op->getOperands()) {
    bool isEmpty = get(operand).empty();
    isKnown &= !isEmpty;
    isAssumed |= !isEmpty && !matchPattern(operand, m_Constant());
  }
  if (!isKnown && !isAssumed)
    return {};
  SmallVector<SmallVector<Attribute>> products(1);
  for (Value operand : op->getOperands()) {
    Set set = get(operand);
    if (set.empty())
      set.push_back({});
    SmallVector<SmallVector<Attribute>> longer;
    for (const SmallVector<Attribute> &product : products)
      for (Attribute attribute : set) {
        longer.push_back(product);
        longer.back().push_back(attribute);
      }
    products = std::move(longer);
    if (products.size() > kMostProducts)
      return {};
  }
  Set result;
  for (const SmallVector<Attribute> &product : products)
    if (!foldOne(op, product, result) || result.size() > kLargestSet)
      return {};
  return result;
}

std::optional<double> mlir::amp::getNumber(Attribute attribute) {
  if (auto number = dyn_cast_or_null<FloatAttr>(attribute))
    return number.getValueAsDouble();
  auto elements = dyn_cast_or_null<DenseFPElementsAttr>(attribute);
  if (!elements || !elements.isSplat())
    return std::nullopt;
  APFloat number = elements.getSplatValue<APFloat>();
  bool losesInfo;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return number.convertToDouble();
}

/// Returns the one number that intervals give for an operation without a
/// folder, or null. An unbounded result counts as infinite if it is bounded for
/// other operands.
static Attribute foldByRange(Operation *op, ArrayRef<Attribute> operands) {
  auto iface = dyn_cast<FloatRangeOpInterface>(op);
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!iface || !type || !type.hasStaticShape() ||
      !isa<FloatType>(type.getElementType()))
    return {};
  SmallVector<FloatRange> ranges, usual, results(1), others(1);
  bool isKnown = true;
  for (auto [operand, operandType] :
       llvm::zip_equal(operands, op->getOperandTypes())) {
    std::optional<double> number = getNumber(operand);
    ranges.push_back(number ? FloatRange::get(*number) : FloatRange::unknown());
    usual.push_back(FloatRange::get(1.5));
    isKnown &= number || !isa<FloatType>(getElementTypeOrSelf(operandType));
  }
  iface.inferFloatRanges(ranges, results);
  FloatRange range = results.front();
  double middle = range.lo + (range.hi - range.lo) / 2;
  if (range.mayBeNaN || range.mayBeInfinite()) {
    iface.inferFloatRanges(usual, others);
    if (!isKnown || others.front().mayBeNaN || others.front().mayBeInfinite())
      return {};
    middle = std::numeric_limits<double>::infinity();
  } else if (range.hi - range.lo > 1e-5 * std::abs(middle) + 1e-30) {
    return {};
  }
  APFloat number(middle);
  bool losesInfo;
  number.convert(cast<FloatType>(type.getElementType()).getFloatSemantics(),
                 APFloat::rmNearestTiesToEven, &losesInfo);
  return DenseElementsAttr::get(type, number);
}

/// Returns the result of a cast between floats. Folders skip casts that lose
/// information, such as those that overflow to infinity.
static Attribute foldCast(Operation *op, ArrayRef<Attribute> operands) {
  Type type = op->getResult(0).getType();
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  std::optional<double> number =
      operands.size() == 1 ? getNumber(operands.front()) : std::nullopt;
  if (!isa<CastOpInterface>(op) || !element || !number)
    return {};
  APFloat value(*number);
  bool losesInfo;
  value.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return type == element ? FloatAttr::get(element, value) : Attribute();
  return tensor.hasStaticShape() ? DenseElementsAttr::get(tensor, value)
                                 : Attribute();
}

/// Returns the result of an elementwise operation on splats. Some folders, such
/// as that of arith.cmpf, expect scalars.
static Attribute foldScalars(Operation *op, ArrayRef<Attribute> operands) {
  auto tensor = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!tensor || !tensor.hasStaticShape() ||
      !OpTrait::hasElementwiseMappableTraits(op))
    return {};
  SmallVector<Attribute> scalars;
  for (Attribute operand : operands) {
    auto splat = dyn_cast_or_null<SplatElementsAttr>(operand);
    if (!splat)
      return {};
    scalars.push_back(splat.getSplatValue<Attribute>());
  }
  Operation *copy = op->clone();
  SmallVector<OpFoldResult> results;
  Attribute folded;
  if (succeeded(copy->fold(scalars, results)) && results.size() == 1)
    folded = dyn_cast<Attribute>(results.front());
  copy->destroy();
  auto typed = dyn_cast_or_null<TypedAttr>(folded);
  return typed && typed.getType() == tensor.getElementType()
             ? DenseElementsAttr::get(tensor, ArrayRef<Attribute>(folded))
             : Attribute();
}

bool ScalarEvaluator::foldOne(Operation *op, ArrayRef<Attribute> operands,
                              Set &result) {
  // Folding may change the operation that it is asked about.
  Operation *copy = op->clone();
  SmallVector<Attribute> attributes(operands);
  if (op->hasTrait<OpTrait::IsCommutative>()) {
    // Folding expects constants at the end, where the order is free.
    SmallVector<unsigned> order =
        llvm::to_vector(llvm::seq<unsigned>(operands.size()));
    llvm::sort(order, [&](unsigned a, unsigned b) {
      return std::pair(bool(operands[a]), a) < std::pair(bool(operands[b]), b);
    });
    for (auto [index, from] : llvm::enumerate(order)) {
      attributes[index] = operands[from];
      copy->setOperand(index, op->getOperand(from));
    }
  }
  SmallVector<OpFoldResult> results;
  Set found;
  if (succeeded(copy->fold(attributes, results)) && results.size() == 1) {
    if (auto attribute = dyn_cast<Attribute>(results.front())) {
      found.push_back(attribute);
    } else {
      auto value = cast<Value>(results.front());
      for (OpOperand &operand : copy->getOpOperands())
        if (operand.get() == value && attributes[operand.getOperandNumber()])
          found = {attributes[operand.getOperandNumber()]};
      if (found.empty())
        found = get(value);
    }
  }
  copy->destroy();
  for (auto *other : {foldScalars, foldCast, foldByRange})
    if (found.empty())
      if (Attribute number = other(op, operands))
        found.push_back(number);
  // Both values of a boolean are possible.
  if (found.empty()) {
    found = getUnknown(op->getResult(0).getType());
    skipped |= !llvm::is_contained(operands, Attribute());
  }
  insert(result, found);
  return !found.empty();
}
