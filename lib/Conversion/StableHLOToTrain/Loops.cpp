//===- Loops.cpp - Loops --------------------------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StableHLOImporter.h"
#include "amp/Support/StableHLOText.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {

/// The properties of carried values that the text of a loop gives.
class LoopText {
public:
  LoopText(Operation *op, function_ref<std::optional<double>(Value)> getNumber)
      : op(op), condition(op->getRegion(0).front()),
        body(op->getRegion(1).front()), getNumber(getNumber) {}

  bool isInvariant(unsigned index) const {
    return getYielded(index) == body.getArgument(index);
  }
  /// The constant that each iteration adds to carried value `index`, if it
  /// does.
  std::optional<int64_t> getStep(unsigned index) const;
  /// The number of iterations, if counters alone decide it.
  std::optional<int64_t> getTripCount() const;

private:
  Value getYielded(unsigned index) const {
    return body.back().getOperand(index);
  }
  std::optional<int64_t> getConstant(Value value) const;
  std::optional<int64_t> getInitial(unsigned index) const {
    std::optional<double> number = getNumber(op->getOperand(index));
    return number ? std::optional<int64_t>(*number) : std::nullopt;
  }

  Operation *op;
  Block &condition, &body;
  function_ref<std::optional<double>(Value)> getNumber;
};

} // namespace

/// The value of a constant, of an invariant of the loop or of a value from
/// outside.
std::optional<int64_t> LoopText::getConstant(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Block *owner = argument.getOwner();
    if ((owner == &condition || owner == &body) &&
        isInvariant(argument.getArgNumber()))
      return getInitial(argument.getArgNumber());
  }
  Operation *producer = value.getDefiningOp();
  if (producer && producer->getName().stripDialect() == "constant") {
    auto elements =
        dyn_cast_or_null<DenseIntElementsAttr>(producer->getAttr("value"));
    if (elements && elements.isSplat())
      return elements.getSplatValue<APInt>().getSExtValue();
    return std::nullopt;
  }
  std::optional<double> number = getNumber(value);
  return number ? std::optional<int64_t>(*number) : std::nullopt;
}

std::optional<int64_t> LoopText::getStep(unsigned index) const {
  auto type = dyn_cast<RankedTensorType>(op->getOperand(index).getType());
  Operation *producer = getYielded(index).getDefiningOp();
  if (!type || type.getRank() != 0 || !type.getElementType().isInteger() ||
      !getInitial(index) || !producer || producer->getNumOperands() != 2)
    return std::nullopt;
  Value arg = body.getArgument(index), lhs = producer->getOperand(0),
        rhs = producer->getOperand(1);
  StringRef name = producer->getName().stripDialect();
  if (name == "add" && rhs == arg)
    std::swap(lhs, rhs);
  if (lhs != arg || (name != "add" && name != "subtract"))
    return std::nullopt;
  std::optional<int64_t> step = getConstant(rhs);
  return step && name == "subtract" ? -*step : step;
}

std::optional<int64_t> LoopText::getTripCount() const {
  Operation *compare = condition.back().getOperand(0).getDefiningOp();
  if (!compare || compare->getName().stripDialect() != "compare" ||
      compare->getNumOperands() != 2 || compare->getBlock() != &condition)
    return std::nullopt;
  Value lhs = compare->getOperand(0), rhs = compare->getOperand(1);
  StringRef how = getEnum(compare, "comparison_direction");
  auto isCounter = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == &condition &&
           !isInvariant(argument.getArgNumber());
  };
  if (!isCounter(lhs)) {
    std::swap(lhs, rhs);
    how = how == "LT"   ? "GT"
          : how == "LE" ? "GE"
          : how == "GT" ? "LT"
          : how == "GE" ? "LE"
                        : how;
  }
  if (!isCounter(lhs))
    return std::nullopt;
  unsigned index = cast<BlockArgument>(lhs).getArgNumber();
  std::optional<int64_t> step = getStep(index), bound = getConstant(rhs);
  if (!step || !bound || *step == 0)
    return std::nullopt;
  int64_t first = *getInitial(index), distance = *bound - first;
  if (how == "GT" || how == "GE") {
    distance = -distance;
    *step = -*step;
  } else if (how == "NE") {
    if (distance % *step != 0 || distance / *step < 0)
      return std::nullopt;
    return distance / *step;
  } else if (how != "LT" && how != "LE") {
    return std::nullopt;
  }
  if (*step < 0)
    return std::nullopt;
  distance += how == "LE" || how == "GE";
  return distance <= 0 ? 0 : (distance + *step - 1) / *step;
}

/// Whether the regions, arguments and results of a loop fit each other.
static bool isLoop(Operation *op) {
  if (op->getNumRegions() != 2 || op->getNumResults() != op->getNumOperands())
    return false;
  for (Region &region : op->getRegions()) {
    if (!region.hasOneBlock() || region.front().empty() ||
        region.front().getArgumentTypes() != op->getOperandTypes() ||
        region.front().back().getName().getStringRef() != "stablehlo.return")
      return false;
  }
  return op->getRegion(0).front().back().getNumOperands() == 1 &&
         op->getRegion(1).front().back().getOperandTypes() ==
             op->getOperandTypes();
}

bool StableHLOImporter::getCarried(Operation *op,
                                   llvm::function_ref<bool(unsigned)> isOmitted,
                                   SmallVectorImpl<unsigned> &carried,
                                   SmallVectorImpl<Value> &inits) {
  for (unsigned i = 0, e = op->getNumOperands(); i != e; ++i) {
    if (isOmitted(i))
      continue;
    Value init = getAny(op->getOperand(i));
    if (!init) {
      advice = "it carries a value that is not imported";
      return false;
    }
    carried.push_back(i);
    inits.push_back(init);
  }
  return true;
}

bool StableHLOImporter::convertWhile(Operation *op) {
  if (!isLoop(op))
    return false;
  Location loc = op->getLoc();
  auto lookup = [&](Value value) { return getNumber(value); };
  LoopText text(op, lookup);
  std::optional<int64_t> count = text.getTripCount();
  if (!count) {
    SmallVector<bool> isInvariant;
    for (unsigned i = 0, e = op->getNumOperands(); i != e; ++i)
      isInvariant.push_back(text.isInvariant(i));
    return convertDynamicWhile(op, isInvariant);
  }
  Block &body = op->getRegion(1).front();
  auto index = [&](int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  // The values that an iteration carries, without invariants and counters.
  SmallVector<unsigned> carried;
  SmallVector<Value> inits;
  auto isOmitted = [&](unsigned i) {
    return text.isInvariant(i) || text.getStep(i);
  };
  if (!getCarried(op, isOmitted, carried, inits))
    return false;
  auto loop =
      scf::ForOp::create(builder, loc, index(0), index(*count), index(1), inits,
                         [](OpBuilder &, Location, Value, ValueRange) {});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  for (BlockArgument argument : body.getArguments()) {
    unsigned i = argument.getArgNumber();
    if (text.isInvariant(i))
      known[argument] = known.lookup(op->getOperand(i));
    else if (std::optional<int64_t> step = text.getStep(i))
      known[argument] = {
          Value(), std::nullopt, std::nullopt,
          KnownCounter{loop.getInductionVar(), *count, *step,
                       static_cast<int64_t>(*getNumber(op->getOperand(i)))}};
  }
  for (auto [i, value] : llvm::zip(carried, loop.getRegionIterArgs()))
    known[body.getArgument(i)] = {value, std::nullopt, std::nullopt};
  SmallVector<Value> returned, results;
  visitBlock(body, returned);
  for (auto [i, init] : llvm::zip(carried, inits)) {
    Value result = getAny(returned[i]);
    // The body's unsupported operations have been reported.
    results.push_back(result && result.getType() == init.getType() ? result
                                                                   : init);
    if (results.back() != result && unsupported.empty())
      return false;
  }
  scf::YieldOp::create(builder, loc, results);
  for (unsigned i = 0, e = op->getNumOperands(); i != e; ++i) {
    if (text.isInvariant(i))
      known[op->getResult(i)] = known.lookup(op->getOperand(i));
    else if (std::optional<int64_t> step = text.getStep(i))
      known[op->getResult(i)] = {Value(),
                                 *getNumber(op->getOperand(i)) + *step * *count,
                                 std::nullopt};
  }
  for (auto [i, value] : llvm::zip(carried, loop.getResults()))
    known[op->getResult(i)] = {value, std::nullopt, std::nullopt};
  return true;
}

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

/// Converts arithmetic on counters with constants, and comparisons that their
/// range decides.
bool StableHLOImporter::computeCounter(Operation *op) {
  StringRef name = op->getName().stripDialect();
  auto getCounter = [&](unsigned i) {
    return known.lookup(op->getOperand(i)).counter;
  };
  if (op->getNumOperands() == 0 ||
      typeOf(op->getResult(0)).getNumElements() != 1)
    return false;
  std::optional<KnownCounter> x = getCounter(0);
  auto become = [&](KnownCounter result) {
    known[op->getResult(0)] = {Value(), std::nullopt, std::nullopt, result};
    return true;
  };
  unsigned width = typeOf(op->getResult(0)).getElementTypeBitWidth();
  if (op->getNumOperands() == 1)
    return x &&
           (name == "convert" || name == "reshape" ||
            name == "broadcast_in_dim") &&
           width >= 32 && become(*x);
  if (name == "select") {
    std::optional<double> chosen = getNumber(op->getOperand(0));
    if (!chosen)
      return false;
    known[op->getResult(0)] =
        known.lookup(op->getOperand(*chosen != 0 ? 1 : 2));
    return true;
  }
  if (op->getNumOperands() != 2)
    return false;
  std::optional<double> y = getNumber(op->getOperand(1));
  bool swapped = !x;
  if (swapped) {
    x = getCounter(1);
    y = getNumber(op->getOperand(0));
  }
  if (!x || !y)
    return false;
  int64_t number = *y;
  if (name == "add")
    x->offset += number;
  else if (name == "subtract" && !swapped)
    x->offset -= number;
  else if (name == "subtract" || name == "multiply") {
    int64_t factor = name == "multiply" ? number : -1;
    x->scale *= factor;
    x->offset = x->offset * factor + (name == "subtract" ? number : 0);
  } else if (name == "compare" && !swapped) {
    StringRef how = getEnum(op, "comparison_direction");
    int64_t low = x->getMin(), high = x->getMax();
    if ((how == "LT" && high < number) || (how == "LE" && high <= number) ||
        (how == "GT" && low > number) || (how == "GE" && low >= number))
      return set(op, 1.0);
    if ((how == "LT" && low >= number) || (how == "LE" && low > number) ||
        (how == "GT" && high <= number) || (how == "GE" && high < number))
      return set(op, 0.0);
    return false;
  } else {
    return false;
  }
  return become(*x);
}
