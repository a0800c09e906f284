//===- RoundOnce.cpp - One rounding for each source operation -------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoundOnce.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/Composite.h"
#include "amp/Interfaces/FloatRangeOpInterface.h"
#include "amp/Interfaces/PrecisionOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::amp;

namespace {

/// Operations of one block that are one operation of the source, in order.
class SourceOperation {
public:
  SourceOperation(ArrayRef<Operation *> members, FloatType low)
      : members(members), inGroup(members.begin(), members.end()), low(low),
        f32(Float32Type::get(low.getContext())) {}

  int64_t roundOnce() {
    for (Operation *op : members) {
      for (OpOperand &operand : op->getOpOperands())
        operand.set(feedsProduct(operand) ? getLow(operand.get(), op)
                                          : getWide(operand.get(), op));
      for (Value result : op->getResults())
        if (isLow(result)) {
          result.setType(getWithElementType(result.getType(), f32));
          rounded.push_back(result);
        }
    }
    for (Value value : rounded)
      roundOutside(value);
    for (CastOp cast : replaced)
      if (cast.use_empty()) {
        cast.erase();
        --numCasts;
      }
    return numCasts;
  }

private:
  bool isLow(Value value) const {
    return isa<RankedTensorType>(value.getType()) &&
           getElementTypeOrSelf(value) == low;
  }

  /// Whether a product reads `operand`. It stays low, and the accumulator is
  /// f32.
  static bool feedsProduct(OpOperand &operand) {
    auto iface = dyn_cast<PrecisionOpInterface>(operand.getOwner());
    if (!iface)
      return false;
    PrecisionSlots slots;
    iface.getPrecisionSlots(slots);
    int8_t slot = slots.operandSlots[operand.getOperandNumber()];
    return slot != PrecisionSlots::none &&
           slots.kinds[slot] == SlotKind::Compute;
  }

  /// Returns `value`, which the product `user` reads. One that was low until a
  /// member became f32 is rounded.
  Value getLow(Value value, Operation *user) {
    if (!llvm::is_contained(rounded, value))
      return value;
    OpBuilder builder(user);
    ++numCasts;
    return CastOp::create(builder, value.getLoc(), value, low,
                          /*inserted=*/true);
  }

  /// Returns `value`, which `user` reads, in f32. All members share a cast.
  Value getWide(Value value, Operation *user) {
    auto cast = value.getDefiningOp<CastOp>();
    if (cast && cast.getInserted()) {
      Value input = cast.getInput();
      if (isInside(input) || (isLow(value) && isNumber(input))) {
        replaced.insert(cast);
        return input;
      }
      // A cast of the assignment to f32.
      if (isLow(input)) {
        Value &shared = wide.try_emplace(input, value).first->second;
        if (shared != value)
          replaced.insert(cast);
        return shared;
      }
    }
    if (!isLow(value) || isInside(value))
      return value;
    Value &shared = wide[value];
    if (!shared) {
      OpBuilder builder(user);
      shared = CastOp::create(builder, value.getLoc(), value, f32,
                              /*inserted=*/true);
      ++numCasts;
    }
    return shared;
  }

  bool isInside(Value value) const {
    return inGroup.contains(value.getDefiningOp());
  }

  /// Whether `value` is a number of the source: a constant of one value.
  static bool isNumber(Value value) {
    Attribute constant;
    return matchPattern(value, m_Constant(&constant)) &&
           isa<SplatElementsAttr>(constant);
  }

  /// Rounds `value` for the operations outside.
  void roundOutside(Value value) {
    auto isOutside = [&](OpOperand &use) {
      return !inGroup.contains(use.getOwner()) &&
             !replaced.contains(dyn_cast<CastOp>(use.getOwner()));
    };
    if (llvm::none_of(value.getUses(), isOutside))
      return;
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    auto cast = CastOp::create(builder, value.getLoc(), value, low,
                               /*inserted=*/true);
    ++numCasts;
    value.replaceUsesWithIf(cast.getResult(), [&](OpOperand &use) {
      return use.getOwner() != cast && isOutside(use);
    });
  }

  ArrayRef<Operation *> members;
  llvm::SmallPtrSet<Operation *, 8> inGroup;
  FloatType low, f32;
  /// The f32 casts of values from outside.
  llvm::DenseMap<Value, Value> wide;
  llvm::SetVector<CastOp> replaced;
  /// The low results of members, which became f32.
  SmallVector<Value> rounded;
  int64_t numCasts = 0;
};

} // namespace

/// Whether `op` computes with a number that a cast rounds to the low type.
static bool roundsNumber(Operation *op) {
  if (!isa<PrecisionOpInterface>(op) || op->getNumRegions() != 0 ||
      isa<CastOp>(op))
    return false;
  auto rule = dyn_cast<FloatRangeOpInterface>(op);
  if (rule && rule.getElementFlow() == ElementFlow::Moves)
    return false;
  return llvm::any_of(op->getOperands(), [](Value value) {
    auto cast = value.getDefiningOp<CastOp>();
    SplatElementsAttr elements;
    if (!cast || !cast.getInserted() ||
        !matchPattern(cast.getInput(), m_Constant(&elements)))
      return false;
    auto to = dyn_cast<FloatType>(getElementTypeOrSelf(value));
    APFloat number = elements.getSplatValue<APFloat>();
    bool losesInfo = false;
    number.convert(to.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    return losesInfo;
  });
}

int64_t mlir::amp::roundOnce(FunctionOpInterface function, FloatType low) {
  llvm::MapVector<std::pair<Block *, int64_t>, SmallVector<Operation *, 4>>
      composites;
  SmallVector<Operation *> alone;
  function.getFunctionBody().walk([&](Operation *op) {
    if (auto number = op->getAttrOfType<IntegerAttr>(kCompositeAttr))
      composites[{op->getBlock(), number.getInt()}].push_back(op);
    else if (roundsNumber(op))
      alone.push_back(op);
  });
  int64_t numCasts = 0;
  for (auto &[key, members] : composites)
    numCasts += SourceOperation(members, low).roundOnce();
  for (Operation *op : alone)
    numCasts += SourceOperation(op, low).roundOnce();
  return numCasts;
}
