//===- Optimizers.cpp - Optimizers as launches ----------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainToCUDA.h"

#include "amp/Dialect/AMP/IR/AMPWeightOps.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

#include <algorithm>
#include <cassert>

using namespace mlir;
using namespace mlir::cuda;

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

namespace {

/// An optimizer operation on one parameter and its surroundings.
struct Update {
  Operation *op;
  OptimizerKind kind;
  Value parameter, gradient, learningRate, step;
  SmallVector<Value, 2> states;
  /// For the parameter and each state, the operation that rounds the new value
  /// to the low type in which it is stored. Null for a stored f32.
  SmallVector<Operation *, 3> roundings;
  double weightDecay;
  /// The flag under which new values are stored. Null if absent.
  Value guard;
  /// Selections between new and old values. Their results are then the targets.
  SmallVector<train::SelectOp> choices;
  mlir::amp::MasterCopyOp copy;
  /// The check whose factors multiply the gradient, and the index of the
  /// gradient in it.
  CheckGradientsOp check;
  unsigned gradientIndex = 0;

  /// The results, rounded: the parameter, then the states.
  Value getNew(unsigned index) const {
    Operation *rounding = roundings[index];
    return rounding ? rounding->getResult(0) : op->getResult(index);
  }
  /// The stored values that the results replace.
  Value getOld(unsigned index) const {
    Value wide = index == 0 ? parameter : states[index - 1];
    return roundings[index] ? wide.getDefiningOp<mlir::amp::CastOp>().getInput()
                            : wide;
  }
  /// The state of the generator for roundings at random, or null.
  Value getRandomState() const {
    for (Operation *rounding : roundings)
      if (auto copied = dyn_cast_or_null<mlir::amp::MasterCopyOp>(rounding))
        return copied.getRng();
    return {};
  }
  /// The key of the rounding of a result, or -1.
  int64_t getKey(unsigned index) const {
    auto copied = dyn_cast_or_null<mlir::amp::MasterCopyOp>(roundings[index]);
    return copied ? int64_t(copied.getKey()) : -1;
  }

  /// The copy that is kept if the guard is false.
  Value getOldCopy() {
    for (train::SelectOp choice : choices)
      if (choice.getOnTrue() == copy.getCopy())
        return choice.getOnFalse();
    return {};
  }
};

} // namespace

/// The 16-bit gradient that `gradient` widens, or `gradient`. Optimizers and
/// checks read both.
static Value skipWidening(Value gradient) {
  auto cast = gradient.getDefiningOp<mlir::amp::CastOp>();
  if (!cast || !cast.getType().getElementType().isF32())
    return gradient;
  Type element = cast.getInput().getType().getElementType();
  return element.isF16() || element.isBF16() ? Value(cast.getInput())
                                             : gradient;
}

/// Returns the operation that rounds the new value `result` to the low type in
/// which `wide`, the old value in f32, is stored. Null if no operation does.
static Operation *findRounding(Value wide, Value result) {
  auto widening = wide.getDefiningOp<mlir::amp::CastOp>();
  if (!widening || !result.hasOneUse())
    return nullptr;
  Type stored = widening.getInput().getType();
  Operation *user = *result.user_begin();
  auto copied = dyn_cast<mlir::amp::MasterCopyOp>(user);
  bool rounds = isa<mlir::amp::CastOp>(user) || (copied && copied.getRng());
  return rounds && user->getResult(0).getType() == stored &&
                 getElementTypeOrSelf(stored).getIntOrFloatBitWidth() == 16
             ? user
             : nullptr;
}

/// Finds the roundings of the results. Roundings at random must have the same
/// generator.
static void readRoundings(Update &update) {
  update.roundings = {findRounding(update.parameter, update.op->getResult(0))};
  for (auto [index, state] : llvm::enumerate(update.states)) {
    Operation *rounding = findRounding(state, update.op->getResult(index + 1));
    // Moments have f32 or bf16.
    if (rounding &&
        !getElementTypeOrSelf(rounding->getResult(0).getType()).isBF16())
      rounding = nullptr;
    update.roundings.push_back(rounding);
  }
  Value random = update.getRandomState();
  for (Operation *&rounding : update.roundings)
    if (auto copied = dyn_cast_or_null<mlir::amp::MasterCopyOp>(rounding);
        copied && copied.getRng() != random)
      rounding = nullptr;
}

static std::optional<Update> readOptimizer(Operation *op) {
  Update update;
  update.op = op;
  auto readAdam = [&](auto adam, OptimizerKind kind) {
    update.kind = kind;
    update.parameter = adam.getParameter();
    update.gradient = skipWidening(adam.getGrad());
    update.learningRate = adam.getLearningRate();
    update.step = adam.getStep();
    update.states = {adam.getExpAvg(), adam.getExpAvgSq()};
    update.weightDecay = adam.getWeightDecay().convertToDouble();
  };
  if (auto sgd = dyn_cast<train::SGDOp>(op)) {
    update.kind = OptimizerKind::SGD;
    update.parameter = sgd.getParameter();
    update.gradient = skipWidening(sgd.getGrad());
    update.learningRate = sgd.getLearningRate();
    if (sgd.getVelocity())
      update.states = {sgd.getVelocity()};
    update.weightDecay = sgd.getWeightDecay().convertToDouble();
    return update;
  }
  if (auto adam = dyn_cast<train::AdamOp>(op)) {
    readAdam(adam, OptimizerKind::Adam);
    return update;
  }
  if (auto adam = dyn_cast<train::AdamWOp>(op)) {
    readAdam(adam, OptimizerKind::AdamW);
    return update;
  }
  return std::nullopt;
}

static std::optional<Update> readUpdate(Operation *op) {
  std::optional<Update> update = readOptimizer(op);
  if (update)
    readRoundings(*update);
  return update;
}

/// The selection by a scalar flag between `value` and `old` if it is the only
/// use of `value`. A null `old` matches any value.
static train::SelectOp getChoice(Value value, Value old) {
  if (!value.hasOneUse())
    return {};
  auto choice = dyn_cast<train::SelectOp>(*value.user_begin());
  if (!choice || choice.getOnTrue() != value ||
      choice.getCondition().getType().getRank() != 0 ||
      choice.getType() != value.getType() ||
      (old && choice.getOnFalse() != old))
    return {};
  return choice;
}

/// Finds the copy of the new parameter, and the guard if all results of the
/// update are under one.
static void readSurroundings(Update &update) {
  Value parameter = update.getNew(0);
  SmallVector<Operation *> users(parameter.getUsers());
  // Expect a copy and one other user.
  for (Operation *user : users)
    if (auto copy = dyn_cast<mlir::amp::MasterCopyOp>(user);
        copy && !copy.getRng())
      update.copy = copy;
  bool guarded = true;
  Value flag;
  SmallVector<train::SelectOp> choices;
  auto read = [&](Value value, Value old) {
    if (value.use_empty())
      return;
    train::SelectOp choice = getChoice(value, old);
    if (!choice || (flag && choice.getCondition() != flag)) {
      guarded = false;
      return;
    }
    flag = choice.getCondition();
    choices.push_back(choice);
  };
  train::SelectOp main;
  for (Operation *user : users) {
    if (user == update.copy.getOperation())
      continue;
    auto choice = dyn_cast<train::SelectOp>(user);
    if (!choice || main || choice.getOnTrue() != parameter ||
        choice.getOnFalse() != update.getOld(0) ||
        choice.getCondition().getType().getRank() != 0) {
      guarded = false;
      continue;
    }
    main = choice;
  }
  if (main) {
    flag = main.getCondition();
    choices.push_back(main);
  }
  for (unsigned index = 1; index <= update.states.size(); ++index)
    read(update.getNew(index), update.getOld(index));
  if (update.copy)
    read(update.copy.getCopy(), Value());
  if (!guarded || !flag)
    return;
  update.guard = flag;
  update.choices = choices;
  // A copy without readers is not kept.
  if (update.copy && !update.getOldCopy()) {
    update.copy.erase();
    update.copy = {};
  }
}

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

/// Reads the operands of `update` again. The replacement of another update, or
/// a check, may have changed them.
static void readAgain(Update &update) {
  std::optional<Update> now = readUpdate(update.op);
  assert(now && "an optimizer operation");
  update.parameter = now->parameter;
  update.learningRate = now->learningRate;
  update.step = now->step;
  update.states = now->states;
  update.roundings = now->roundings;
  // The gradient of a check is the one before unscaling and clipping.
  update.gradient = update.check
                        ? update.check.getGradients()[update.gradientIndex]
                        : now->gradient;
  if (!update.choices.empty())
    update.guard = update.choices.front().getCondition();
}

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

/// The inputs of the launch for `group`, in the order of `cuda.optimizer`.
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
  SmallVector<int64_t> copies, keys;
  for (unsigned target = 0; target <= first.states.size(); ++target)
    for (Update &update : group) {
      types.push_back(update.getNew(target).getType());
      keys.push_back(update.getKey(target));
    }
  if (llvm::all_of(keys, [](int64_t key) { return key < 0; }))
    keys.clear();
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
      builder.getDenseI64ArrayAttr(copies), builder.getDenseI64ArrayAttr({}),
      builder.getDenseI64ArrayAttr(keys), UnitAttr(), UnitAttr(),
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

  unsigned count = group.size(), copied = (1 + first.states.size()) * count;
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

//===----------------------------------------------------------------------===//
// Halves
//===----------------------------------------------------------------------===//

/// Whether `use` is the return of the new value of `parameter`.
static bool isUpdateOf(OpOperand &use, BlockArgument parameter) {
  auto step = cast<func::FuncOp>(parameter.getOwner()->getParentOp());
  StringRef updates = mlir::amp::AMPDialect::kUpdatesAttr;
  return isa<func::ReturnOp>(use.getOwner()) &&
         step.getResultAttr(use.getOperandNumber(), updates) ==
             step.getArgAttr(parameter.getArgNumber(),
                             mlir::amp::AMPDialect::kNameAttr);
}

/// Whether all results of `optimizer` are only new values of arguments. The
/// launch is then the last one that reads these.
static bool endsStep(OptimizerOp optimizer) {
  return llvm::all_of(optimizer->getUses(), [](OpOperand &use) {
    auto step = dyn_cast<func::ReturnOp>(use.getOwner());
    return step &&
           step->getParentOfType<func::FuncOp>().getResultAttr(
               use.getOperandNumber(), mlir::amp::AMPDialect::kUpdatesAttr);
  });
}

/// The optimizer that alone reads `parameter` in f32. Null if other operations
/// read it, with one of them in `other`, or if nothing does.
static OptimizerOp findOnlyOptimizer(BlockArgument parameter,
                                     Operation *&other) {
  OptimizerOp found;
  for (OpOperand &use : parameter.getUses()) {
    if (isa<mlir::amp::UpperHalfOp>(use.getOwner()) ||
        isUpdateOf(use, parameter))
      continue;
    auto optimizer = dyn_cast<OptimizerOp>(use.getOwner());
    unsigned index = use.getOperandNumber();
    bool isParameter =
        optimizer && !found && endsStep(optimizer) &&
        index < optimizer.getNumParameters() &&
        optimizer.getResult(index).hasOneUse() &&
        isUpdateOf(*optimizer.getResult(index).use_begin(), parameter);
    if (!isParameter) {
      other = use.getOwner();
      return {};
    }
    found = optimizer;
  }
  return found;
}

void mlir::cuda::splitParameters(func::FuncOp step) {
  Builder builder(step.getContext());
  for (BlockArgument parameter : step.getArguments()) {
    if (mlir::amp::getRole(parameter) != mlir::amp::Role::Parameter ||
        llvm::none_of(parameter.getUsers(), [](Operation *user) {
          return isa<mlir::amp::UpperHalfOp>(user);
        }))
      continue;
    Operation *other = nullptr;
    OptimizerOp optimizer = findOnlyOptimizer(parameter, other);
    if (other) {
      reportDecomposed(other, "NotSplit",
                       "it reads a parameter in f32, whose halves are "
                       "therefore not stored apart");
      continue;
    }
    step.setArgAttr(parameter.getArgNumber(), kSplitAttr,
                    builder.getUnitAttr());
    if (optimizer) {
      SmallVector<int64_t> splits(optimizer.getSplits());
      for (auto [index, updated] : llvm::enumerate(optimizer.getParameters()))
        if (updated == parameter)
          splits.push_back(index);
      optimizer.setSplits(splits);
    }
    for (Operation *user : llvm::make_early_inc_range(parameter.getUsers()))
      if (auto half = dyn_cast<mlir::amp::UpperHalfOp>(user)) {
        OpBuilder at(half);
        Value view =
            UpperHalfOp::create(at, half.getLoc(), half.getType(), parameter);
        half.getHalf().replaceAllUsesWith(view);
        half.erase();
      }
  }
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

void mlir::cuda::mergeParameterCasts(func::FuncOp step) {
  llvm::MapVector<Type, SmallVector<mlir::amp::CastOp>> groups;
  for (BlockArgument argument : step.getArguments()) {
    if (mlir::amp::getRole(argument) != mlir::amp::Role::Parameter ||
        !getElementTypeOrSelf(argument.getType()).isF32())
      continue;
    for (Operation *user : argument.getUsers())
      if (auto cast = dyn_cast<mlir::amp::CastOp>(user);
          cast && cast->getBlock() == &step.getBody().front() &&
          cast.getType().getElementTypeBitWidth() == 16)
        groups[cast.getType().getElementType()].push_back(cast);
  }
  for (auto &[type, casts] : groups) {
    if (casts.size() < 2)
      continue;
    SmallVector<Value> inputs;
    SmallVector<Type> types;
    SmallVector<Location> locations;
    for (mlir::amp::CastOp cast : casts) {
      inputs.push_back(cast.getInput());
      types.push_back(cast.getType());
      locations.push_back(getNamedLocation(cast));
    }
    OpBuilder builder = OpBuilder::atBlockBegin(&step.getBody().front());
    auto merged = CastsOp::create(builder, builder.getFusedLoc(locations),
                                  types, StringAttr(), inputs, ValueRange(),
                                  ValueRange(), Value());
    for (auto [cast, result] : llvm::zip_equal(casts, merged.getResults())) {
      cast.getResult().replaceAllUsesWith(result);
      cast.erase();
    }
  }
}
