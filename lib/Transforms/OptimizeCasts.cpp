//===- OptimizeCasts.cpp - Merge, fold and remove casts -------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Transforms/Passes.h"

#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::amp {
#define GEN_PASS_DEF_OPTIMIZECASTSPASS
#include "amp/Transforms/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

/// Returns whether every value of `from` is also a value of `to`.
static bool isWidening(Type from, Type to) {
  return llvm::APFloat::isRepresentableBy(
      cast<FloatType>(getElementTypeOrSelf(from)).getFloatSemantics(),
      cast<FloatType>(getElementTypeOrSelf(to)).getFloatSemantics());
}

/// Returns whether the function around `op` keeps the roundings of its values.
static bool keepsRoundings(Operation *op) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  return function && function->hasAttr(kKeepRoundingsAttr);
}

/// Gives the product that defines `value` the result type `type`, if its
/// operands are low and its result slot holds nothing else. Returns whether it
/// did. A wider result omits a rounding, so it depends on the function.
static bool retypeProduct(Value value, FloatType type, RewriterBase &rewriter) {
  auto product = value.getDefiningOp<PrecisionOpInterface>();
  if (!product || !value.hasOneUse())
    return false;
  // Users decide pins, and policies decide gradients.
  if (product->hasAttr(AMPDialect::kPrecisionAttr) ||
      product->hasAttr(AMPDialect::kGradientOfAttr))
    return false;
  PrecisionSlots slots;
  product.getPrecisionSlots(slots);
  int8_t slot = slots.resultSlots[cast<OpResult>(value).getResultNumber()];
  if (slot == PrecisionSlots::none ||
      !llvm::is_contained(slots.kinds, SlotKind::Compute) ||
      slots.kinds[slot] == SlotKind::Compute ||
      slots.kinds[slot] == SlotKind::Fixed ||
      llvm::count(slots.resultSlots, slot) != 1 ||
      llvm::is_contained(slots.operandSlots, slot))
    return false;
  // f32 products stay f32; only low operands leave a choice.
  Type operandType;
  for (auto [operand, operandSlot] :
       llvm::zip(product->getOperands(), slots.operandSlots))
    if (operandSlot != PrecisionSlots::none &&
        slots.kinds[operandSlot] == SlotKind::Compute)
      operandType = getElementTypeOrSelf(operand);
  Type wide = Float32Type::get(value.getContext());
  if (operandType == wide || (type != operandType && type != wide) ||
      (type == wide && keepsRoundings(product)))
    return false;
  SmallVector<Type> slotTypes(slots.kinds.size());
  slotTypes[slot] = type;
  return succeeded(retypeSlots(product, slots, slotTypes, rewriter));
}

/// Gives the conversion of integers that defines `value` the result type
/// `type`, if nothing else reads it. Returns whether it did. Casts of bits do
/// not change, because they cannot change the size of their result. An integer
/// beyond 2^24 would be rounded once instead of twice.
static bool retypeConversion(Value value, FloatType type,
                             RewriterBase &rewriter) {
  auto op = value.getDefiningOp<CastOpInterface>();
  if (!op || op->getNumOperands() != 1 || isa<BuiltinDialect>(op->getDialect()))
    return false;
  Type source = op->getOperand(0).getType();
  Type target = cast<ShapedType>(value.getType()).clone(type);
  if (!isa<IntegerType>(getElementTypeOrSelf(source)) ||
      !op.areCastCompatible(source, target) || !value.hasOneUse() ||
      keepsRoundings(op) || op->hasAttr(AMPDialect::kPrecisionAttr))
    return false;
  rewriter.modifyOpInPlace(op, [&] { value.setType(target); });
  return true;
}

namespace {

class OptimizeCastsPass final
    : public amp::impl::OptimizeCastsPassBase<OptimizeCastsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    // Repeat until nothing changes. A removed cast may leave a product with one
    // reader, and a fold may leave equal casts.
    while (runOnce())
      ;
  }

private:
  /// Returns whether it made a change that may enable others.
  bool runOnce() {
    IRRewriter rewriter(&getContext());
    SmallVector<CastLike> casts;
    getOperation()->walk([&](Operation *op) {
      if (CastLike cast{op})
        casts.push_back(cast);
    });
    // Visit casts backward, so that a chain disappears at once.
    for (CastLike &op : llvm::reverse(casts)) {
      if (!op->use_empty())
        continue;
      rewriter.eraseOp(op.getOperation());
      op = {};
      ++numErased;
    }
    changed = false;
    merge(casts, rewriter);
    for (CastLike &op : casts)
      if (op && fold(op, rewriter))
        op = {};
    return changed;
  }

  /// Replaces `op` by a value that needs no cast. Returns whether it did.
  bool fold(CastLike op, RewriterBase &rewriter) {
    auto replace = [&](Value value) {
      rewriter.replaceOp(op.getOperation(), value);
      ++numFolded;
      changed = true;
      return true;
    };
    if (op->use_empty())
      return false;
    auto type = cast<FloatType>(getElementTypeOrSelf(op.getType()));
    // A gradient keeps its name, on a product that can carry it.
    auto names = op->getAttrOfType<ArrayAttr>(AMPDialect::kGradientOfAttr);
    if (CastLike producer{op.getInput().getDefiningOp()}) {
      Value source = producer.getInput();
      if (isWidening(source.getType(), producer.getType())) {
        // narrow(widen(x)) is x.
        if (source.getType() == op.getType() && !names)
          return replace(source);
        // widen(widen(x)) is one widening.
        if (op.isInserted() && producer.isInserted() &&
            isWidening(producer.getType(), op.getType())) {
          rewriter.modifyOpInPlace(op.getOperation(),
                                   [&] { op->setOperand(0, source); });
          ++numFolded;
          changed = true;
          return false;
        }
      }
    }
    if (!op.isInserted())
      return false;
    if (retypeProduct(op.getInput(), type, rewriter)) {
      if (names)
        op.getInput().getDefiningOp()->setAttr(AMPDialect::kGradientOfAttr,
                                               names);
      return replace(op.getInput());
    }
    if (!names && retypeConversion(op.getInput(), type, rewriter))
      return replace(op.getInput());
    return false;
  }

  /// Replaces casts by an equal one that dominates them. If no cast dominates
  /// the others, moves the first inserted cast into the block of its operand,
  /// where it does.
  void merge(MutableArrayRef<CastLike> casts, RewriterBase &rewriter) {
    DominanceInfo dominance(getOperation());
    DenseMap<std::tuple<Value, Type, int>, SmallVector<CastLike, 1>> known;
    for (CastLike &op : casts) {
      if (!op)
        continue;
      SmallVector<CastLike, 1> &equals =
          known[{op.getInput(), op.getType(), op.isInserted()}];
      if (op->hasAttr(AMPDialect::kGradientOfAttr)) {
        equals.push_back(op);
        continue;
      }
      auto *leader = llvm::find_if(equals, [&](CastLike other) {
        return dominance.properlyDominates(other.getOperation(),
                                           op.getOperation());
      });
      if (leader == equals.end()) {
        // The first cast usually has the first ancestor in the block. This does
        // not hold if blocks are out of order.
        if (!equals.empty() && op.isInserted()) {
          Operation *first = equals.front().getOperation();
          Value input = op.getInput();
          Operation *holder =
              input.getParentBlock()->findAncestorOpInBlock(*first);
          rewriter.setInsertionPointAfterValue(input);
          if (holder && holder != first)
            rewriter.moveOpBefore(first, holder);
          else if (!holder)
            rewriter.moveOpBefore(first, rewriter.getInsertionBlock(),
                                  rewriter.getInsertionPoint());
          leader = equals.begin();
        } else {
          equals.push_back(op);
          continue;
        }
      }
      rewriter.replaceOp(op.getOperation(), leader->getResult());
      op = {};
      ++numMerged;
      changed = true;
    }
  }

  bool changed = false;
};

} // namespace
