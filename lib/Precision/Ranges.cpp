//===- Ranges.cpp - Value intervals without data --------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Ranges.h"

#include "amp/Interfaces/FloatRangeOpInterface.h"
#include "amp/Interfaces/GradientInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

#include <cmath>

using namespace mlir;
using namespace mlir::amp;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Returns the element type of a value that has an interval, or null.
static FloatType getFloatType(Type type) {
  return dyn_cast<FloatType>(getElementTypeOrSelf(type));
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

std::optional<ConstantElements> mlir::amp::getConstantElements(Operation *op,
                                                               FloatType low) {
  Attribute value;
  if (op->getNumResults() != 1 || !matchPattern(op, m_Constant(&value)))
    return std::nullopt;
  ConstantElements result{FloatRange::empty(), FloatRange::empty(),
                          FloatRange::empty()};
  auto add = [&](double element) {
    if (std::isnan(element)) {
      result.range.mayBeNaN = true;
      return;
    }
    result.range = result.range.join(element);
    if (std::isfinite(element))
      result.finite = result.finite.join(element);
  };
  // Wider formats than f64 have numbers that it cannot hold.
  auto isSupported = [](FloatType type) { return type.getWidth() <= 64; };
  DenseFPElementsAttr elements;
  if (auto number = dyn_cast<FloatAttr>(value)) {
    if (!isSupported(cast<FloatType>(number.getType())))
      return std::nullopt;
    add(number.getValueAsDouble());
  } else if ((elements = dyn_cast<DenseFPElementsAttr>(value)) &&
             isSupported(cast<FloatType>(elements.getElementType()))) {
    if (elements.isSplat())
      add(elements.getSplatValue<FloatAttr>().getValueAsDouble());
    else if (elements.getElementType().isF32())
      llvm::for_each(elements.getValues<float>(), add);
    else
      for (const APFloat &element : elements.getValues<APFloat>()) {
        APFloat copy = element;
        bool losesInfo;
        copy.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                     &losesInfo);
        add(copy.convertToDouble());
      }
  } else {
    return std::nullopt;
  }

  if (!low || result.finite.isEmpty() || result.finite.fits(low))
    return result;
  // Rare: look again, for those beyond.
  auto addBeyond = [&](double element) {
    if (std::isfinite(element) && std::isinf(roundTo(element, low)))
      result.beyond = result.beyond.join(element);
  };
  if (elements && !elements.isSplat() && elements.getElementType().isF32())
    llvm::for_each(elements.getValues<float>(), addBeyond);
  else
    for (double bound : {result.finite.lo, result.finite.hi})
      addBeyond(bound);
  return result;
}

//===----------------------------------------------------------------------===//
// Intervals
//===----------------------------------------------------------------------===//

ValueRanges::ValueRanges(FunctionOpInterface function, FloatType low)
    : function(function), low(low) {
  if (low)
    largestLow = APFloat::getLargest(low.getFloatSemantics()).convertToDouble();
}

ValueRanges::~ValueRanges() = default;

uint32_t ValueRanges::addRange(Value value, FloatRange range) {
  positions[value] = ranges.size();
  ranges.push_back(range);
  return ranges.size() - 1;
}

FloatRange ValueRanges::lookup(Value value) const {
  auto it = positions.find(value);
  return it == positions.end() ? FloatRange::unknown() : ranges[it->second];
}

/// Returns `range` after it is stored in a value of `type`.
FloatRange ValueRanges::store(FloatRange range, Type type) const {
  if (range.isUnbounded() || range.hasNoNumber())
    return range;
  FloatType element = getFloatType(type);
  range = range.roundTo(element);
  // Rounding is monotone, so the bounds tell of all between them.
  if (low && element.isF32())
    range = range.join(range.roundTo(low))
                .join(range.clamp(-largestLow, largestLow));
  return range;
}

/// The operands that control flow forwards to `carried`.
ArrayRef<OpOperand *> ValueRanges::getSources(Value carried) {
  Operation *op = carried.getDefiningOp();
  if (!op)
    op = carried.getParentBlock()->getParentOp();
  auto branch = dyn_cast<RegionBranchOpInterface>(op);
  if (!branch)
    return {};
  if (branches.insert(op).second) {
    RegionBranchInverseSuccessorMapping mapping;
    branch.getSuccessorInputOperandMapping(mapping);
    for (auto &[value, operands] : mapping)
      sources[value] = operands;
  }
  auto it = sources.find(carried);
  return it == sources.end() ? ArrayRef<OpOperand *>() : it->second;
}

/// What one question depends on, in an order in which operands come first but
/// for those that control flow carries around.
struct ValueRanges::Slice {
  /// An operation with all its results, or one carried value.
  struct Node {
    Operation *op;
    Value carried;
  };

  explicit Slice(ValueRanges &parent) : parent(parent) {}

  void collect(Value value);
  void solve();

private:
  void enter(Value value);
  bool update(const Node &node);
  bool updateCarried(Value value);

  ValueRanges &parent;
  SmallVector<Node> order;
  /// Operations and carried values whose operands are being collected, with the
  /// number of the next one.
  SmallVector<std::pair<Node, unsigned>> stack;
  bool hasCarried = false;
  unsigned sweep = 0;
  SmallVector<FloatRange> operandRanges, resultRanges;
};

/// Gives `value` a position, and pushes what it is computed from if that
/// matters.
void ValueRanges::Slice::enter(Value value) {
  if (parent.positions.contains(value))
    return;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() != 0) {
    bool isCarried = !parent.getSources(value).empty();
    parent.addRange(value,
                    isCarried ? FloatRange::empty() : FloatRange::unknown());
    if (isCarried) {
      hasCarried = true;
      stack.push_back({{nullptr, value}, 0});
    }
    return;
  }
  if (op->hasTrait<OpTrait::ConstantLike>()) {
    auto elements = getConstantElements(op, {});
    parent.addRange(
        value, parent.store(elements ? elements->range : FloatRange::unknown(),
                            value.getType()));
    return;
  }
  bool hasRule = isa<FloatRangeOpInterface>(op);
  for (Value result : op->getResults())
    parent.addRange(result, hasRule && getFloatType(result.getType())
                                ? FloatRange::empty()
                                : FloatRange::unknown());
  if (hasRule)
    stack.push_back({{op, {}}, 0});
}

void ValueRanges::Slice::collect(Value value) {
  enter(value);
  while (!stack.empty()) {
    auto &[node, next] = stack.back();
    Value operand;
    if (node.op) {
      if (next < node.op->getNumOperands())
        operand = node.op->getOperand(next++);
    } else {
      ArrayRef<OpOperand *> sources = parent.getSources(node.carried);
      if (next < sources.size())
        operand = sources[next++]->get();
    }
    if (!operand)
      order.push_back(stack.pop_back_val().first);
    else if (getFloatType(operand.getType()))
      enter(operand);
  }
}

bool ValueRanges::Slice::updateCarried(Value value) {
  FloatRange &range = parent.ranges[parent.positions.lookup(value)];
  FloatRange joined = range;
  for (OpOperand *source : parent.getSources(value))
    joined = joined.join(parent.lookup(source->get()));
  if (joined == range)
    return false;
  // What still moves after some sweeps may go anywhere.
  constexpr unsigned patience = 3;
  if (sweep > patience && joined.lo < range.lo)
    joined.lo = -kInfinity;
  if (sweep > patience && joined.hi > range.hi)
    joined.hi = kInfinity;
  if (sweep > 3 * patience)
    joined = FloatRange::unknown();
  range = joined;
  return true;
}

/// Computes the ranges of `node` from those of its operands; returns whether
/// they changed.
bool ValueRanges::Slice::update(const Node &node) {
  if (!node.op)
    return updateCarried(node.carried);
  operandRanges.clear();
  for (Value operand : node.op->getOperands()) {
    FloatRange range = FloatRange::unknown();
    if (getFloatType(operand.getType()))
      range = parent.lookup(operand);
    // Nothing has arrived here yet.
    if (range.isEmpty())
      return false;
    operandRanges.push_back(range.hasNoNumber() ? FloatRange::unknown()
                                                : range);
  }
  resultRanges.assign(node.op->getNumResults(), FloatRange::unknown());
  cast<FloatRangeOpInterface>(node.op).inferFloatRanges(operandRanges,
                                                        resultRanges);
  bool changed = false;
  for (auto [result, range] : llvm::zip(node.op->getResults(), resultRanges)) {
    if (!getFloatType(result.getType()))
      continue;
    FloatRange &entry = parent.ranges[parent.positions.lookup(result)];
    FloatRange stored = parent.store(range, result.getType());
    changed |= entry != stored;
    entry = stored;
  }
  return changed;
}

void ValueRanges::Slice::solve() {
  bool changed = true;
  for (; changed; ++sweep) {
    changed = false;
    for (const Node &node : order)
      changed |= update(node);
    // Without a cycle one sweep tells all.
    if (!hasCarried)
      return;
  }
}

FloatRange ValueRanges::get(Value value) {
  if (!getFloatType(value.getType()))
    return FloatRange::unknown();
  if (!positions.contains(value)) {
    Slice slice(*this);
    slice.collect(value);
    slice.solve();
  }
  return lookup(value);
}

//===----------------------------------------------------------------------===//
// Seeds
//===----------------------------------------------------------------------===//

void ValueRanges::findSeeds() {
  seeded.emplace();
  SmallVector<Value> worklist;
  auto mark = [&](ValueRange values) {
    for (Value value : values)
      if (seeded->insert(value).second)
        worklist.push_back(value);
  };
  auto markArguments = [&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        mark(block.getArguments());
  };
  function.getFunctionBody().walk(
      [&](GradientSeedOpInterface seed) { mark(seed->getResults()); });
  while (!worklist.empty()) {
    for (Operation *user : worklist.pop_back_val().getUsers()) {
      // A condition decides what the results are as much as an operand does.
      mark(user->getResults());
      markArguments(user);
      if (!user->hasTrait<OpTrait::IsTerminator>())
        continue;
      for (Block *successor : user->getSuccessors())
        mark(successor->getArguments());
      Operation *parent = user->getParentOp();
      if (parent == function)
        continue;
      mark(parent->getResults());
      markArguments(parent);
    }
  }
}

bool ValueRanges::dependsOnSeed(Value value) {
  if (!seeded)
    findSeeds();
  return seeded->contains(value);
}
