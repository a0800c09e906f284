//===- Optimizers.cpp - Optimizers as launches ----------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OptimizerUpdate.h"
#include "TrainToCUDA.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

#include <algorithm>
#include <cassert>

using namespace mlir;
using namespace mlir::cuda;

//===----------------------------------------------------------------------===//
// Unscaling and clipping
//===----------------------------------------------------------------------===//

namespace {

/// Turns unscaling and clipping into checks if only optimizers read the
/// gradients.
class Gradients {
public:
  explicit Gradients(func::FuncOp step) : builder(step.getContext()) {}

  /// Makes `update` read its gradient before unscaling and clipping.
  void absorb(Update &update);
  /// Moves the flags of unscaling operations to checks.
  void convertFlags(func::FuncOp step);

private:
  /// `scaled` is the unscaling operation that the check replaces, or null.
  CheckGradientsOp create(Operation *at, ValueRange gradients,
                          mlir::amp::UnscaleOp scaled,
                          std::optional<APFloat> maxNorm);
  CheckGradientsOp getCheck(Operation *op);
  bool isReadByOptimizers(ValueRange values);

  OpBuilder builder;
  DenseMap<Operation *, CheckGradientsOp> checks;
};

} // namespace

static bool isOptimizer(Operation *op) {
  return isa<train::SGDOp, train::AdamOp, train::AdamWOp>(op);
}

/// Whether only optimizers read `values`, as gradients.
bool Gradients::isReadByOptimizers(ValueRange values) {
  return llvm::all_of(values, [](Value value) {
    return llvm::all_of(value.getUses(), [](OpOperand &use) {
      return isOptimizer(use.getOwner()) && use.getOperandNumber() == 1;
    });
  });
}

CheckGradientsOp Gradients::create(Operation *at, ValueRange gradients,
                                   mlir::amp::UnscaleOp scaled,
                                   std::optional<APFloat> maxNorm) {
  builder.setInsertionPoint(at);
  SmallVector<Value> inputs(llvm::map_range(gradients, skipWidening));
  if (scaled)
    inputs.push_back(scaled.getScale());
  auto flag = [&](bool value) {
    return value ? builder.getUnitAttr() : UnitAttr();
  };
  Type f32 = builder.getF32Type();
  return CheckGradientsOp::create(
      builder, getNamedLocation(at),
      TypeRange{RankedTensorType::get({8}, f32),
                RankedTensorType::get({}, builder.getI1Type()),
                RankedTensorType::get({}, f32)},
      StringAttr(), inputs, ValueRange(), ValueRange(), Value(), flag(scaled),
      flag(scaled && scaled.getStrict()),
      maxNorm ? builder.getF64FloatAttr(maxNorm->convertToDouble())
              : FloatAttr());
}

/// The check that replaces `op`, an unscaling or a clipping. Null if optimizers
/// cannot take over its work.
CheckGradientsOp Gradients::getCheck(Operation *op) {
  auto [it, isNew] = checks.try_emplace(op);
  if (!isNew)
    return it->second;
  auto unscale = dyn_cast<mlir::amp::UnscaleOp>(op);
  if (unscale) {
    if (isReadByOptimizers(unscale.getUnscaled()) &&
        llvm::all_of(unscale.getUnscaled().getTypes(), [](Type type) {
          return cast<ShapedType>(type).getElementType().isF32();
        }))
      it->second =
          create(unscale, unscale.getGradients(), unscale, std::nullopt);
    return checks[op];
  }
  auto clip = cast<train::ClipByGlobalNormOp>(op);
  if (!isReadByOptimizers(clip.getClipped()) ||
      !cast<ShapedType>(clip.getNorm().getType()).getElementType().isF32())
    return {};
  // Match all results of one unscaling and nothing else.
  mlir::amp::UnscaleOp scaled;
  for (Value gradient : clip.getGradients())
    if (auto source = gradient.getDefiningOp<mlir::amp::UnscaleOp>())
      scaled = source;
  SmallVector<Value> gradients(clip.getGradients());
  if (scaled) {
    if (clip.getGradients().size() != scaled.getUnscaled().size())
      return {};
    SmallPtrSet<Value, 8> seen;
    for (Value &gradient : gradients) {
      auto result = cast<OpResult>(gradient);
      if (result.getOwner() != scaled || !gradient.hasOneUse() ||
          !seen.insert(gradient).second)
        return {};
      gradient = scaled.getGradients()[result.getResultNumber()];
    }
  }
  auto check = create(scaled ? scaled.getOperation() : clip.getOperation(),
                      gradients, scaled, clip.getMaxNorm());
  clip.getNorm().replaceAllUsesWith(check.getResult(2));
  if (scaled) {
    scaled.getAllFinite().replaceAllUsesWith(check.getResult(1));
    checks[scaled] = check;
  }
  return checks[op] = check;
}

void Gradients::absorb(Update &update) {
  Operation *op = update.gradient.getDefiningOp();
  if (!isa_and_nonnull<mlir::amp::UnscaleOp, train::ClipByGlobalNormOp>(op))
    return;
  CheckGradientsOp check = getCheck(op);
  if (!check)
    return;
  update.gradientIndex = cast<OpResult>(update.gradient).getResultNumber();
  update.gradient = check.getGradients()[update.gradientIndex];
  update.check = check;
}

void Gradients::convertFlags(func::FuncOp step) {
  SmallVector<mlir::amp::UnscaleOp> left;
  step.walk([&](mlir::amp::UnscaleOp op) { left.push_back(op); });
  for (mlir::amp::UnscaleOp op : left) {
    if (op.getAllFinite().use_empty())
      continue;
    CheckGradientsOp check = getCheck(op);
    if (!check)
      check = create(op, op.getGradients(), op, std::nullopt);
    op.getAllFinite().replaceAllUsesWith(check.getResult(1));
    // The rest of the operation only multiplies.
    op.setStrict(false);
  }
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// For each operation, the number of updates that must precede it in sequence.
/// Updates of one group wait for the same ones, so groups never wait for each
/// other. The operands of the guard of a launch count as operands of the
/// update.
static DenseMap<Operation *, unsigned>
countUpdatesBefore(Block &block, MutableArrayRef<Update> updates) {
  DenseMap<Operation *, Update *> updateOf;
  for (Update &update : updates)
    updateOf[update.op] = &update;
  DenseMap<Operation *, unsigned> counts;
  // A guard may be computed after its update. No chain is longer than the
  // number of updates.
  bool changes = true;
  for (size_t pass = 0; changes && pass <= updates.size() + 1; ++pass) {
    changes = false;
    for (Operation &op : block) {
      unsigned count = 0;
      auto read = [&](Value value) {
        Operation *source = value ? value.getDefiningOp() : nullptr;
        source = source ? block.findAncestorOpInBlock(*source) : nullptr;
        if (source && source != &op)
          count = std::max(count, counts.lookup(source) +
                                      (updateOf.contains(source) ? 1 : 0));
      };
      op.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          read(operand);
      });
      if (Update *update = updateOf.lookup(&op)) {
        read(update->guard);
        if (update->copy && update->guard)
          read(update->getOldCopy());
      }
      unsigned &known = counts[&op];
      changes |= known != count;
      known = count;
    }
  }
  return counts;
}

/// Whether one launch can make both updates.
static bool fitTogether(const Update &a, const Update &b) {
  if (a.kind != b.kind || a.learningRate != b.learningRate ||
      a.step != b.step || a.guard != b.guard || a.check != b.check ||
      a.states.size() != b.states.size())
    return false;
  Value random = a.getRandomState(), other = b.getRandomState();
  if (random && other && random != other)
    return false;
  // Compare all settings except the weight decay, which is per parameter.
  auto settings = [](Operation *op) {
    NamedAttrList list(
        op->getPropertiesAsAttribute()
            ? cast<DictionaryAttr>(op->getPropertiesAsAttribute())
            : DictionaryAttr::get(op->getContext()));
    list.erase("weight_decay");
    return list.getDictionary(op->getContext());
  };
  return settings(a.op) == settings(b.op);
}

/// Returns the inputs of the launch for `group`, in the order of
/// `cuda.optimizer`.
static SmallVector<Value> getInputs(MutableArrayRef<Update> group) {
  Update &first = group.front();
  SmallVector<Value> inputs;
  for (Update &update : group)
    inputs.push_back(update.getOld(0));
  for (Update &update : group)
    inputs.push_back(update.gradient);
  for (unsigned state = 0; state < first.states.size(); ++state)
    for (Update &update : group)
      inputs.push_back(update.getOld(state + 1));
  inputs.push_back(first.learningRate);
  if (first.step)
    inputs.push_back(first.step);
  if (first.check)
    inputs.push_back(first.check.getResult(0));
  for (Update &update : group)
    if (Value random = update.getRandomState()) {
      inputs.push_back(random);
      break;
    }
  for (Update &update : group)
    if (update.residual)
      inputs.push_back(update.getSum().getResidual());
  if (first.guard)
    for (Update &update : group)
      if (update.copy)
        inputs.push_back(update.getOldCopy());
  return inputs;
}

static void createOptimizer(MutableArrayRef<Update> group) {
  for (Update &update : group)
    readAgain(update);
  Update &first = group.front();
  Operation *last = first.op;
  for (Update &update : group)
    if (last->isBeforeInBlock(update.op))
      last = update.op;
  OpBuilder builder(last);
  SmallVector<double> decays;
  SmallVector<Location> locations;
  for (Update &update : group) {
    decays.push_back(update.weightDecay);
    locations.push_back(getNamedLocation(update.op));
  }
  SmallVector<Type> types;
  SmallVector<int64_t> copies, compensations, keys;
  for (unsigned target = 0; target <= first.states.size(); ++target)
    for (Update &update : group) {
      types.push_back(update.getNew(target).getType());
      keys.push_back(update.getKey(target));
    }
  if (llvm::all_of(keys, [](int64_t key) { return key < 0; }))
    keys.clear();
  for (auto [index, update] : llvm::enumerate(group))
    if (update.residual) {
      compensations.push_back(index);
      types.push_back(update.residual.getType());
    }
  for (auto [index, update] : llvm::enumerate(group))
    if (update.copy) {
      copies.push_back(index);
      types.push_back(update.copy.getType());
    }

  auto optimizer = OptimizerOp::create(
      builder, builder.getFusedLoc(locations), types,
      OptimizerKindAttr::get(builder.getContext(), first.kind), StringAttr(),
      getInputs(group), ValueRange(), ValueRange(), first.guard,
      builder.getDenseF64ArrayAttr(decays),
      builder.getDenseI64ArrayAttr(copies),
      builder.getDenseI64ArrayAttr(compensations),
      builder.getDenseI64ArrayAttr({}), builder.getDenseI64ArrayAttr(keys),
      ArrayAttr(), UnitAttr(), UnitAttr(),
      first.check ? builder.getUnitAttr() : UnitAttr(),
      builder.getF64FloatAttr(0.0), builder.getF64FloatAttr(0.9),
      builder.getF64FloatAttr(0.999), builder.getF64FloatAttr(1e-8));
  if (auto sgd = dyn_cast<train::SGDOp>(first.op)) {
    optimizer.setVelocity(bool(sgd.getVelocity()));
    optimizer.setNesterov(sgd.getNesterov());
    optimizer.setMomentumAttr(sgd.getMomentumAttr());
  } else {
    auto readAdam = [&](auto adam) {
      optimizer.setBeta1Attr(adam.getBeta1Attr());
      optimizer.setBeta2Attr(adam.getBeta2Attr());
      optimizer.setEpsilonAttr(adam.getEpsilonAttr());
    };
    if (auto adam = dyn_cast<train::AdamOp>(first.op))
      readAdam(adam);
    else
      readAdam(cast<train::AdamWOp>(first.op));
  }

  unsigned count = group.size(),
           compensated = (1 + first.states.size()) * count,
           copied = compensated + compensations.size();
  for (unsigned index = 0; index < count; ++index) {
    Update &update = group[index];
    auto replace = [&](Value old, Value with) {
      // Under a guard the launch itself selects.
      auto it = llvm::find_if(update.choices, [&](train::SelectOp choice) {
        return choice.getOnTrue() == old;
      });
      if (it != update.choices.end()) {
        train::SelectOp choice = *it;
        update.choices.erase(it);
        choice.getResult().replaceAllUsesWith(with);
        choice.erase();
      }
      old.replaceAllUsesWith(with);
    };
    // Replace the copy first because it reads the parameter.
    if (update.copy) {
      replace(update.copy.getCopy(), optimizer.getResult(copied++));
      update.copy.erase();
    }
    if (update.residual) {
      replace(update.residual.getResidual(),
              optimizer.getResult(compensated++));
      update.residual.erase();
    }
    for (unsigned target = 0; target <= update.states.size(); ++target)
      replace(update.getNew(target),
              optimizer.getResult(target * count + index));
    for (Operation *rounding : update.roundings)
      if (rounding)
        rounding->erase();
    update.op->erase();
  }
}

void mlir::cuda::convertOptimizers(func::FuncOp step) {
  SmallVector<Update> updates;
  for (Operation &op : step.getBody().front())
    if (std::optional<Update> update = readUpdate(&op))
      updates.push_back(*update);
  Gradients gradients(step);
  for (Update &update : updates) {
    gradients.absorb(update);
    readSurroundings(update);
  }
  gradients.convertFlags(step);
  // The flag may have moved to a check.
  for (Update &update : updates)
    if (!update.choices.empty())
      update.guard = update.choices.front().getCondition();

  DenseMap<Operation *, unsigned> before =
      countUpdatesBefore(step.getBody().front(), updates);
  std::vector<SmallVector<Update>> groups;
  for (Update &update : updates) {
    auto group = llvm::find_if(groups, [&](SmallVector<Update> &other) {
      return llvm::all_of(other,
                          [&](const Update &known) {
                            return fitTogether(known, update);
                          }) &&
             before.lookup(other.front().op) == before.lookup(update.op);
    });
    if (group == groups.end())
      group = groups.insert(groups.end(), SmallVector<Update>());
    group->push_back(update);
  }
  for (SmallVector<Update> &group : groups)
    createOptimizer(group);
  sortTopologically(&step.getBody().front());
}
