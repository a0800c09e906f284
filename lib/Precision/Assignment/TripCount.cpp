//===- TripCount.cpp - How often loops run --------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TripCount.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/TypeUtilities.h"

#include <cstdlib>

using namespace mlir;
using namespace mlir::amp;

/// The integer that all elements of `attribute` are.
static std::optional<int64_t> getInteger(Attribute attribute) {
  if (auto elements = dyn_cast_or_null<DenseIntElementsAttr>(attribute)) {
    if (elements.isSplat())
      return elements.getSplatValue<APInt>().trySExtValue();
  } else if (auto number = dyn_cast_or_null<IntegerAttr>(attribute)) {
    return number.getValue().trySExtValue();
  }
  return std::nullopt;
}

namespace {
/// A loop of two regions: a condition that reads the carried values, and a body
/// that returns the next ones.
class ConditionLoop {
public:
  ConditionLoop(Operation *loop, const Policy &policy)
      : loop(loop), policy(policy) {}

  std::optional<int64_t> count() const {
    if (!isValid())
      return std::nullopt;
    Operation *compare = getCondition().getOperand(0).getDefiningOp();
    if (!compare || compare->getNumOperands() != 2 ||
        compare->getNumResults() != 1 || !isComparison(compare))
      return std::nullopt;
    for (unsigned side : {0u, 1u}) {
      auto counter = dyn_cast<BlockArgument>(compare->getOperand(side));
      std::optional<int64_t> bound = getConstant(compare->getOperand(1 - side));
      if (!bound || !isCarried(counter))
        continue;
      std::optional<int64_t> first = getConstant(getInitial(counter)),
                             step = getStep(counter);
      if (!first || !step || *step == 0 || !isSmall(*first) ||
          !isSmall(*bound) || !isSmall(*step))
        continue;
      int64_t span = *bound - *first;
      // An operation that only the policy names may subtract.
      if (span / *step < 0 && !loop->isRegistered())
        *step = -*step;
      if (span / *step < 0)
        continue;
      return span / *step + (span % *step != 0 ? 1 : 0);
    }
    return std::nullopt;
  }

private:
  /// Whether sums and differences with `number` do not overflow.
  static bool isSmall(int64_t number) {
    constexpr int64_t limit = int64_t(1) << 40;
    return -limit <= number && number <= limit;
  }
  static bool hasTerminator(Region &region) {
    return region.hasOneBlock() && region.front().mightHaveTerminator();
  }
  bool isValid() const {
    return loop->getNumRegions() == 2 &&
           llvm::all_of(loop->getRegions(), hasTerminator) &&
           loop->getRegion(0).getNumArguments() == loop->getNumOperands() &&
           getCondition().getNumOperands() >= 1 &&
           getBody().getNumOperands() == loop->getNumOperands();
  }
  Operation &getCondition() const { return loop->getRegion(0).front().back(); }
  Operation &getBody() const { return loop->getRegion(1).front().back(); }

  bool isCarried(BlockArgument value) const {
    return value && value.getOwner() == &loop->getRegion(0).front();
  }
  Value getInitial(BlockArgument carried) const {
    return loop->getOperand(carried.getArgNumber());
  }
  /// Whether `value`, which the body reads, is the value that the condition
  /// read as `carried`. A condition that gives more than its outcome passes the
  /// values on.
  bool isInBody(Value value, BlockArgument carried) const {
    auto argument = dyn_cast<BlockArgument>(value);
    if (value == carried)
      return true;
    if (!argument || argument.getOwner() != &loop->getRegion(1).front())
      return false;
    Operation &condition = getCondition();
    unsigned index = argument.getArgNumber();
    if (condition.getNumOperands() == 1)
      return index == carried.getArgNumber();
    return index + 1 < condition.getNumOperands() &&
           condition.getOperand(index + 1) == carried;
  }

  /// The integer that `value` is in every iteration.
  std::optional<int64_t> getConstant(Value value) const {
    for (int depth = 0; depth < 4; ++depth) {
      auto argument = dyn_cast<BlockArgument>(value);
      if (!argument)
        break;
      // A value that the loop carries and never changes.
      if (!isCarried(argument) ||
          !isInBody(getBody().getOperand(argument.getArgNumber()), argument))
        return std::nullopt;
      value = getInitial(argument);
    }
    Attribute known;
    if (matchPattern(value, m_Constant(&known)))
      return getInteger(known);
    Operation *op = value.getDefiningOp();
    const AdapterOperation *adapted =
        op ? policy.findAdapted(op->getName()) : nullptr;
    if (!adapted || !adapted->isConstant(op))
      return std::nullopt;
    for (StringRef name : adapted->typeAttributes)
      if (std::optional<int64_t> number = getInteger(op->getAttr(name)))
        return number;
    return std::nullopt;
  }

  /// The increment of `counter` in the body.
  std::optional<int64_t> getStep(BlockArgument counter) const {
    Operation *next =
        getBody().getOperand(counter.getArgNumber()).getDefiningOp();
    if (!next || next->getNumOperands() != 2 || next->getNumResults() != 1)
      return std::nullopt;
    for (unsigned side : {0u, 1u}) {
      std::optional<int64_t> step = getConstant(next->getOperand(1 - side));
      if (!step || !isInBody(next->getOperand(side), counter))
        continue;
      // The effect of a foldable operation on a number identifies it.
      if (next->isRegistered()) {
        std::optional<int64_t> at0 = fold(next, side, 0),
                               at5 = fold(next, side, 5);
        if (at0 && at5 && *at5 - *at0 == 5)
          return at0;
        continue;
      }
      if (policy.findLinearKind(next) == LinearRule::Kind::Joint)
        return step;
    }
    return std::nullopt;
  }

  /// The result of `op` on `number` at operand `side` and its own constant.
  std::optional<int64_t> fold(Operation *op, unsigned side,
                              int64_t number) const {
    Type type = op->getOperand(side).getType();
    Type element = getElementTypeOrSelf(type);
    if (!element.isIntOrIndex())
      return std::nullopt;
    Attribute value = IntegerAttr::get(element, number), constant;
    if (auto shaped = dyn_cast<RankedTensorType>(type)) {
      if (!shaped.hasStaticShape())
        return std::nullopt;
      value = DenseElementsAttr::get(shaped, value);
    }
    if (!matchPattern(op->getOperand(1 - side), m_Constant(&constant)))
      return std::nullopt;
    SmallVector<Attribute> operands = {value, constant};
    if (side == 1)
      std::swap(operands[0], operands[1]);
    // Folding an operation in place would change the function.
    OwningOpRef<Operation *> copy(op->cloneWithoutRegions());
    SmallVector<OpFoldResult> results;
    if (failed(copy->fold(operands, results)) || results.size() != 1)
      return std::nullopt;
    return getInteger(dyn_cast<Attribute>(results.front()));
  }

  bool isComparison(Operation *op) const {
    Type type = getElementTypeOrSelf(op->getResult(0).getType());
    return type.isInteger(1) &&
           getElementTypeOrSelf(op->getOperand(0).getType()).isIntOrIndex() &&
           (op->isRegistered() ||
            policy.findLinearKind(op) == LinearRule::Kind::Order);
  }

  Operation *loop;
  const Policy &policy;
};
} // namespace

std::optional<int64_t> mlir::amp::findTripCount(Operation *loop,
                                                const Policy &policy) {
  return ConditionLoop(loop, policy).count();
}
