//===- GradientGroups.cpp - Gradients that are unscaled together ----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientGroups.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "amp/Support/DependentValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::amp;

SmallVector<Value> mlir::amp::getUnscaled(ArrayRef<GradientGroup> groups) {
  SmallVector<Value> unscaled;
  for (GradientGroup group : groups)
    llvm::append_range(unscaled, group.unscale.getUnscaled().take_front(
                                     group.gradients.size()));
  return unscaled;
}

/// Combines `flags` by `OpTy`.
template <typename OpTy>
static Value combineFlags(StepRewriter &step, ArrayRef<Value> flags) {
  if (flags.size() == 1)
    return flags.front();
  Operation *last = flags.front().getDefiningOp();
  for (Value flag : flags.drop_front())
    if (last->isBeforeInBlock(flag.getDefiningOp()))
      last = flag.getDefiningOp();
  OpBuilder builder(step.getFunction().getContext());
  builder.setInsertionPointAfter(last);
  Value all;
  for (Value flag : flags) {
    Value one =
        tensor::ExtractOp::create(builder, flag.getLoc(), flag, ValueRange());
    all = all ? OpTy::create(builder, flag.getLoc(), all, one) : one;
  }
  return tensor::FromElementsOp::create(builder, last->getLoc(),
                                        flags.front().getType(), all);
}

Value mlir::amp::buildConjunction(StepRewriter &step, ArrayRef<Value> flags) {
  return combineFlags<arith::AndIOp>(step, flags);
}

Value mlir::amp::buildDisjunction(StepRewriter &step, ArrayRef<Value> flags) {
  return combineFlags<arith::OrIOp>(step, flags);
}

LogicalResult
mlir::amp::groupGradients(const StepRewriter &step, ArrayRef<Scaling> scalings,
                          SmallVector<GradientGroup> &groups,
                          llvm::function_ref<unsigned(Value)> getLayer) {
  // The values that depend on the seeds of each scale.
  SmallVector<llvm::DenseSet<Value>> dependents;
  for (const Scaling &scaling : scalings) {
    if (getLayer)
      break;
    SmallVector<Value> seeded;
    for (Operation *seed : scaling.seeds)
      seeded.push_back(seed->getResult(0));
    dependents.push_back(findDependentValues(seeded));
  }
  for (Value gradient : step.getGradients()) {
    Operation *op = gradient.getDefiningOp();
    SmallVector<unsigned> of;
    if (getLayer)
      of.push_back(getLayer(gradient));
    for (unsigned i = 0, e = dependents.size(); i != e; ++i)
      if (dependents[i].contains(gradient))
        of.push_back(i);
    if (of.size() > 1) {
      InFlightDiagnostic diagnostic = op->emitOpError(
          "gives a gradient of several losses that have a scale each, expected "
          "gradients of one loss that are added behind 'amp.gradient_of'");
      for (unsigned i : of)
        diagnostic.attachNote(scalings[i].seeds.front()->getLoc())
            << "it depends on this seed";
      return diagnostic;
    }
    StringAttr optimizer =
        step.getOptimizer(StepRewriter::getParameterOf(gradient));
    unsigned scaling = of.empty() ? 0 : of.front();
    auto group = llvm::find_if(groups, [&](const GradientGroup &other) {
      return other.scaling == scaling && other.optimizer == optimizer;
    });
    if (group == groups.end()) {
      groups.push_back({scaling, optimizer, {}, {}, {}, {}});
      group = std::prev(groups.end());
    }
    group->gradients.push_back(gradient);
  }
  return success();
}

void GradientGroup::getFlags(SmallVectorImpl<Value> &flags) {
  flags.push_back(unscale.getAllFinite());
  for (UnscaleOp op : further)
    flags.push_back(op.getAllFinite());
}

/// Divides observed values whose power is above 1 until they are unscaled.
/// `unscaled` are the results of the first division of `group`.
static void divideFurther(OpBuilder &builder, GradientGroup &group, Value scale,
                          bool strict, MutableArrayRef<Value> unscaled) {
  MutableArrayRef<Value> observed = unscaled.drop_front(group.gradients.size());
  for (unsigned divided = 1;; ++divided) {
    SmallVector<Value *> left;
    for (auto [value, of] : llvm::zip_equal(observed, group.observed))
      if (of.power > divided)
        left.push_back(&value);
    if (left.empty())
      return;
    SmallVector<Value> operands;
    SmallVector<Type> types;
    for (Value *value : left) {
      operands.push_back(*value);
      types.push_back(value->getType());
    }
    types.push_back(group.unscale.getAllFinite().getType());
    auto unscale = UnscaleOp::create(builder, group.unscale.getLoc(), types,
                                     operands, scale, strict);
    for (auto [value, result] : llvm::zip_equal(left, unscale.getUnscaled()))
      *value = result;
    group.further.push_back(unscale);
  }
}

void mlir::amp::unscaleGradients(StepRewriter &step, CastChooser &casts,
                                 GradientGroup &group, Value scale, bool strict,
                                 const StepRewriter::OpSet &backward) {
  SmallVector<Value> gradients = group.gradients;
  for (const ObservedValue &observed : group.observed)
    gradients.push_back(observed.value);
  OpBuilder builder(scale.getContext());
  Operation *last = gradients.front().getDefiningOp();
  for (Value gradient : gradients)
    if (last->isBeforeInBlock(gradient.getDefiningOp()))
      last = gradient.getDefiningOp();
  builder.setInsertionPointAfter(last);
  SmallVector<Type> types;
  for (Value gradient : gradients) {
    Type type = gradient.getType();
    types.push_back(getElementTypeOrSelf(type).isF64()
                        ? type
                        : getWithElementType(type, builder.getF32Type()));
  }
  types.push_back(RankedTensorType::get({}, builder.getI1Type()));
  SmallVector<Location> locs;
  for (Value gradient : gradients)
    locs.push_back(gradient.getLoc());
  auto unscale = UnscaleOp::create(builder, builder.getFusedLoc(locs), types,
                                   gradients, scale, strict);

  step.moveDependentsAfter(unscale, gradients, backward);
  group.unscale = unscale;
  builder.setInsertionPointAfter(unscale);
  SmallVector<Value> results = llvm::to_vector_of<Value>(unscale.getUnscaled());
  divideFurther(builder, group, scale, strict, results);
  for (auto [gradient, unscaled] : llvm::zip(unscale.getGradients(), results)) {
    Value narrowed;
    for (OpOperand &use : llvm::make_early_inc_range(gradient.getUses())) {
      Operation *user = step.getAncestor(use.getOwner());
      if (user == unscale || backward.contains(user))
        continue;
      // Values that were widened before are already wide.
      if (CastLike cast{use.getOwner()};
          cast && cast.getType() == unscaled.getType()) {
        cast.getResult().replaceAllUsesWith(unscaled);
        cast->erase();
        continue;
      }
      if (gradient.getType() == unscaled.getType()) {
        use.set(unscaled);
        continue;
      }
      if (!narrowed)
        narrowed = casts.build(builder, unscale.getLoc(), unscaled,
                               cast<FloatType>(getElementTypeOrSelf(gradient)),
                               {user, gradient.getDefiningOp()});
      use.set(narrowed);
    }
  }
}

SmallVector<UpdateGuard>
mlir::amp::getUpdateGuards(StepRewriter &step, ArrayRef<GradientGroup> groups,
                           bool modelState, bool byLayer) {
  SmallVector<llvm::DenseSet<Value>> dependents;
  for (const GradientGroup &group : groups) {
    UnscaleOp unscale = group.unscale;
    dependents.push_back(
        findDependentValues(llvm::to_vector_of<Value>(unscale->getResults())));
  }
  FunctionOpInterface function = step.getFunction();
  SmallVector<GuardedResult> entries = getGuardedResults(step, modelState);
  // The flags of the gradients that each update depends on, and all flags that
  // it needs.
  SmallVector<BitVector> reads, needs;
  for (const GuardedResult &entry : entries) {
    auto optimizer = function.getArgAttrOfType<StringAttr>(
        entry.argument.getArgNumber(), AMPDialect::kOptimizerAttr);
    BitVector needed(groups.size());
    for (auto [index, group] : llvm::enumerate(groups))
      if (dependents[index].contains(entry.result->get()))
        needed.set(index);
    reads.push_back(needed);
    if (!byLayer || needed.none())
      for (auto [index, group] : llvm::enumerate(groups))
        if (group.optimizer == optimizer)
          needed.set(index);
    if (needed.none())
      needed.set();
    needs.push_back(std::move(needed));
  }
  // A guard also covers values that are computed from a guarded new value, such
  // as a mean over the weights of steps. (If each layer steps separately, both
  // depend on their own gradients.)
  if (!byLayer && !llvm::all_equal(needs)) {
    SmallVector<BitVector> own = needs;
    for (auto [index, entry] : llvm::enumerate(entries)) {
      if (reads[index].none())
        continue;
      llvm::DenseSet<Value> later = findDependentValues(entry.result->get());
      for (auto [other, needed] : llvm::zip(entries, needs))
        if (later.contains(other.result->get()))
          needed |= own[index];
    }
  }
  SmallVector<UpdateGuard> guards;
  for (auto [entry, read, needed] : llvm::zip(entries, reads, needs)) {
    bool follows = byLayer && read.none();
    auto it =
        llvm::find_if(guards, [&, &groups = needed](const UpdateGuard &guard) {
          return guard.groups == groups && guard.follows == follows;
        });
    if (it == guards.end()) {
      guards.push_back({needed, follows, {}});
      it = std::prev(guards.end());
    }
    it->results.push_back(entry);
  }
  return guards;
}
