//===- Ranges.cpp - Value intervals without data --------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Assignment/Ranges.h"

#include "amp/Interfaces/FloatRangeOpInterface.h"
#include "amp/Interfaces/GradientInterfaces.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/SwapByteOrder.h"

#include <cmath>
#include <cstring>

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

static double toDouble(APFloat number) {
  bool losesInfo;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return number.convertToDouble();
}

/// Calls `visit` with each number of `elements`.
template <typename Visit>
static void visitDense(DenseFPElementsAttr elements, Visit visit) {
  if (elements.isSplat())
    visit(toDouble(elements.getSplatValue<APFloat>()));
  else if (elements.getElementType().isF32())
    llvm::for_each(elements.getValues<float>(), visit);
  else
    for (const APFloat &element : elements.getValues<APFloat>())
      visit(toDouble(element));
}

/// The same for bytes in native order. Returns whether their number fits
/// `type`.
template <typename Visit>
static bool visitBytes(ArrayRef<char> bytes, ShapedType type, Visit visit) {
  auto element = cast<FloatType>(type.getElementType());
  size_t width = element.getWidth() / 8;
  if (element.getWidth() % 8 != 0 ||
      bytes.size() != width * static_cast<size_t>(type.getNumElements()))
    return false;
  for (; !bytes.empty(); bytes = bytes.drop_front(width)) {
    uint64_t bits = 0;
    std::memcpy(llvm::sys::IsBigEndianHost
                    ? reinterpret_cast<char *>(&bits) + sizeof(bits) - width
                    : reinterpret_cast<char *>(&bits),
                bytes.data(), width);
    visit(toDouble(
        APFloat(element.getFloatSemantics(), APInt(element.getWidth(), bits))));
  }
  return true;
}

/// Calls `visit` with each number of `value`, a constant in any form, once or
/// several times. Returns whether the numbers can be read. Formats wider than
/// f64 have numbers that a double cannot hold.
template <typename Visit>
static bool visitElements(Attribute value, Visit visit) {
  if (auto number = dyn_cast<FloatAttr>(value)) {
    if (number.getType().getIntOrFloatBitWidth() > 64)
      return false;
    visit(number.getValueAsDouble());
    return true;
  }
  auto elements = dyn_cast<ElementsAttr>(value);
  auto element =
      elements ? dyn_cast<FloatType>(elements.getElementType()) : FloatType();
  if (!element || element.getWidth() > 64)
    return false;
  if (auto dense = dyn_cast<DenseFPElementsAttr>(value)) {
    visitDense(dense, visit);
    return true;
  }
  if (auto sparse = dyn_cast<SparseElementsAttr>(value)) {
    auto stored = dyn_cast<DenseFPElementsAttr>(sparse.getValues());
    if (!stored)
      return false;
    visitDense(stored, visit);
    visit(0.0);
    return true;
  }
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    return blob && visitBytes(blob->getData(), resource.getType(), visit);
  }
  return false;
}

std::optional<ConstantElements> mlir::amp::getConstantElements(Attribute value,
                                                               FloatType low) {
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
  if (!visitElements(value, add))
    return std::nullopt;
  if (!low || result.finite.isEmpty() || result.finite.fits(low))
    return result;
  // In this rare case, visit the elements again to find those beyond.
  visitElements(value, [&](double element) {
    if (std::isfinite(element) && std::isinf(roundTo(element, low)))
      result.beyond = result.beyond.join(element);
  });
  return result;
}

std::optional<ConstantElements> mlir::amp::getConstantElements(Operation *op,
                                                               FloatType low) {
  Attribute value;
  if (op->getNumResults() != 1 || !matchPattern(op, m_Constant(&value)))
    return std::nullopt;
  return getConstantElements(value, low);
}

bool mlir::amp::isLostIn(double number, FloatType low) {
  if (!std::isfinite(number))
    return false;
  double rounded = roundTo(number, low);
  return std::isinf(rounded) || (rounded == 0 && number != 0);
}

bool mlir::amp::isRoundedToOne(double number, FloatType low) {
  return std::abs(number) != 1 && std::abs(roundTo(number, low)) == 1;
}

bool ConstantElements::vanishesIn(FloatType low) const {
  return !finite.isEmpty() && (finite.lo != 0 || finite.hi != 0) &&
         roundTo(finite.lo, low) == 0 && roundTo(finite.hi, low) == 0;
}

//===----------------------------------------------------------------------===//
// Intervals
//===----------------------------------------------------------------------===//

ValueRanges::ValueRanges(FunctionOpInterface function, FloatType low,
                         bool hasForeignSeeds)
    : function(function),
      entry(function.isExternal() ? nullptr
                                  : &function.getFunctionBody().front()),
      low(low), hasForeignSeeds(hasForeignSeeds) {
  if (low)
    largestLow = APFloat::getLargest(low.getFloatSemantics()).convertToDouble();
}

ValueRanges::ValueRanges(FunctionOpInterface function, Assumption assume)
    : ValueRanges(function) {
  this->assume = assume;
}

ValueRanges::~ValueRanges() = default;

/// Returns the element type of `type` if values of it have an interval, or
/// null. The types are cached, because a function has few.
FloatType ValueRanges::getElement(Type type) {
  auto [it, isNew] = elementTypes.try_emplace(type);
  if (isNew)
    it->second = getFloatType(type);
  return it->second;
}

FloatRange ValueRanges::lookup(Value value) const {
  auto it = positions.find(value);
  return it == positions.end() ? FloatRange::unknown() : ranges[it->second];
}

/// Returns `range` after its values are stored as `element`.
FloatRange ValueRanges::store(FloatRange range, FloatType element) const {
  if (range.isUnbounded() || range.hasNoNumber())
    return range;
  range = range.roundTo(element);
  // Rounding is monotone, so rounding the bounds suffices.
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

/// The dependences of one query. Operands come first, except those that control
/// flow carries around.
struct ValueRanges::Slice {
  /// An operation with all its results, or one carried value.
  struct Node {
    /// Null for a carried value.
    FloatRangeOpInterface op;
    Value carried;
    /// The position of the range of the first result. Those of the others
    /// follow.
    uint32_t results = 0;
    /// The index of the positions of the operands' ranges.
    uint32_t operands = 0;
  };

  explicit Slice(ValueRanges &parent) : parent(parent) {}

  /// Collects the dependences of `value`, and makes a first sweep over them.
  void collect(Value value);
  /// Sweeps until cycles are stable.
  void solve();

private:
  uint32_t enter(Value value);
  bool update(const Node &node);
  bool updateCarried(const Node &node);

  /// The position of a value that is not a tensor of floats.
  static constexpr uint32_t none = ~0u;

  ValueRanges &parent;
  SmallVector<Node> order;
  /// Operations and carried values whose operands are being collected, with the
  /// number of the next one.
  SmallVector<std::pair<Node, unsigned>> stack;
  SmallVector<uint32_t> operandPositions;
  bool hasCarried = false;
  unsigned sweep = 0;
  SmallVector<FloatRange> operandRanges, resultRanges;
};

/// Returns the position of the range of `value`. If it is new, pushes its node
/// if its operands matter.
uint32_t ValueRanges::Slice::enter(Value value) {
  std::vector<FloatRange> &ranges = parent.ranges;
  uint32_t position = ranges.size();
  auto [entry, isNew] = parent.positions.try_emplace(value, position);
  if (!isNew)
    return entry->second;
  if (parent.assume)
    if (std::optional<FloatRange> known = parent.assume(value)) {
      ranges.push_back(*known);
      return position;
    }
  Operation *op = value.getDefiningOp();
  // A structured operation may have a rule in addition to its body.
  if (!op || (op->getNumRegions() != 0 && !isa<FloatRangeOpInterface>(op))) {
    bool isCarried = !parent.getSources(value).empty();
    ranges.push_back(isCarried ? FloatRange::empty() : FloatRange::unknown());
    if (isCarried) {
      hasCarried = true;
      stack.push_back({{{}, value, position, 0}, 0});
    }
    return position;
  }
  if (op->getNumOperands() == 0 && op->hasTrait<OpTrait::ConstantLike>()) {
    auto elements = getConstantElements(op, {});
    ranges.push_back(
        parent.store(elements ? elements->range : FloatRange::unknown(),
                     parent.getElement(value.getType())));
    return position;
  }
  auto rule = dyn_cast<FloatRangeOpInterface>(op);
  if (!rule) {
    ranges.push_back(FloatRange::unknown());
    return position;
  }
  // An operand that is an argument of the function, such as a weight, often
  // leaves the result unbounded.
  bool unbounded = llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
    auto argument = dyn_cast<BlockArgument>(operand.get());
    return argument && argument.getOwner() == parent.entry && !parent.assume &&
           rule.isUnboundedWith(operand.getOperandNumber());
  });
  // Add all results, one after the other.
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    parent.positions[result] = position + index;
    ranges.push_back(!unbounded && parent.getElement(result.getType())
                         ? FloatRange::empty()
                         : FloatRange::unknown());
  }
  if (unbounded)
    return position;
  uint32_t operands = operandPositions.size();
  operandPositions.append(op->getNumOperands(), none);
  stack.push_back({{rule, {}, position, operands}, 0});
  return position + cast<OpResult>(value).getResultNumber();
}

void ValueRanges::Slice::collect(Value value) {
  enter(value);
  while (!stack.empty()) {
    auto &[node, next] = stack.back();
    if (!node.op) {
      ArrayRef<OpOperand *> sources = parent.getSources(node.carried);
      if (next == sources.size()) {
        order.push_back(stack.pop_back_val().first);
        update(order.back());
      } else if (Value source = sources[next++]->get();
                 parent.getElement(source.getType())) {
        enter(source);
      }
      continue;
    }
    // The previous operand now has a range, or is part of a cycle.
    if (next != 0 && node.op.isUnboundedWith(next - 1)) {
      uint32_t position = operandPositions[node.operands + next - 1];
      if (position != none && parent.ranges[position].isUnbounded()) {
        std::fill_n(parent.ranges.begin() + node.results,
                    node.op->getNumResults(), FloatRange::unknown());
        stack.pop_back();
        continue;
      }
    }
    if (next == node.op->getNumOperands()) {
      order.push_back(stack.pop_back_val().first);
      update(order.back());
      continue;
    }
    Value operand = node.op->getOperand(next);
    uint32_t place = node.operands + next++;
    if (parent.getElement(operand.getType())) {
      // The stack may grow and move in this call.
      uint32_t position = enter(operand);
      operandPositions[place] = position;
    }
  }
}

bool ValueRanges::Slice::updateCarried(const Node &node) {
  FloatRange &range = parent.ranges[node.results];
  FloatRange joined = range;
  for (OpOperand *source : parent.getSources(node.carried))
    joined = joined.join(parent.lookup(source->get()));
  if (joined == range)
    return false;
  range = joined.widen(range, sweep);
  return true;
}

/// Computes the ranges of `node` from those of its operands. Returns whether
/// they changed.
bool ValueRanges::Slice::update(const Node &node) {
  if (!node.op)
    return updateCarried(node);
  Operation *op = node.op;
  operandRanges.clear();
  for (uint32_t position :
       ArrayRef(operandPositions).slice(node.operands, op->getNumOperands())) {
    FloatRange range =
        position == none ? FloatRange::unknown() : parent.ranges[position];
    // No value has arrived here yet.
    if (range.isEmpty())
      return false;
    operandRanges.push_back(range.hasNoNumber() ? FloatRange::unknown()
                                                : range);
  }
  resultRanges.assign(op->getNumResults(), FloatRange::unknown());
  FloatRangeOpInterface rule = node.op;
  rule.inferFloatRanges(operandRanges, resultRanges);
  bool changed = false;
  for (auto [index, range] : llvm::enumerate(resultRanges)) {
    FloatType element = parent.getElement(op->getResult(index).getType());
    if (!element)
      continue;
    FloatRange &entry = parent.ranges[node.results + index];
    FloatRange stored = parent.store(range, element);
    changed |= entry != stored;
    entry = stored;
  }
  return changed;
}

void ValueRanges::Slice::solve() {
  // Without a cycle one sweep suffices.
  bool changed = hasCarried;
  for (sweep = 1; changed; ++sweep) {
    changed = false;
    for (const Node &node : order)
      changed |= update(node);
  }
}

FloatRange ValueRanges::get(Value value) {
  if (!getElement(value.getType()))
    return FloatRange::unknown();
  auto it = positions.find(value);
  if (it != positions.end())
    return ranges[it->second];
  Slice slice(*this);
  slice.collect(value);
  slice.solve();
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
  if (hasForeignSeeds) {
    mark(entry->getArguments());
    function.getFunctionBody().walk(
        [&](CallOpInterface call) { mark(call->getResults()); });
  }
  while (!worklist.empty()) {
    for (Operation *user : worklist.pop_back_val().getUsers()) {
      // The results depend on a condition as on an operand.
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
