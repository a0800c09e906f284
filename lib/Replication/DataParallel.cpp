//===- DataParallel.cpp - A step for several ranks ------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass that inserts the reductions of a data-parallel step. The analysis of
// replications says which values are summands of a total, and by which power of
// N they are too large.
//
//===----------------------------------------------------------------------===//

#include "BucketedReductions.h"

#include "amp/Dialect/AMP/IR/AMPQuantizedOps.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Interfaces/GradientInterfaces.h"
#include "amp/Replication/Passes.h"
#include "amp/Replication/ReplicationAnalysis.h"
#include "amp/Support/RegionFlow.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/CallInterfaces.h"

namespace mlir::amp {
#define GEN_PASS_DEF_DATAPARALLELPASS
#include "amp/Replication/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

namespace {

/// Makes one step data-parallel.
class StepParallelizer {
public:
  StepParallelizer(FunctionOpInterface function,
                   const ReductionSettings &settings)
      : function(function), body(function.getFunctionBody().front()),
        reductions(settings) {}

  /// Gives normalizations the statistics of all ranks.
  void synchronizeStatistics();
  void run();
  const BucketedReductions &getReductions() const { return reductions; }
  unsigned numSeeds = 0, numCounts = 0, numRandom = 0, numSynchronized = 0;

private:
  /// Analyses the step as it is now.
  void analyse();
  Replication get(Value value) const { return states->get(value); }
  Operation *getLast() const { return body.getTerminator(); }
  /// `values` and all values of the step that depend on them.
  llvm::DenseSet<Value> getDependents(ArrayRef<Value> values) const;
  /// Whether `op` computes a value of another kind if `operand` is a total
  /// instead of the summand of one rank.
  bool needsTotal(Operation *op, Value operand) const;
  void reduceCounts();
  void normalizeSeeds();
  void collectGradients();
  void collectResults();
  bool updatesState(Value value) const;
  void reduceMagnitudes();
  void divideRandomNumbers();
  void remarkOn(Location loc, StringRef name, const Twine &text) const;

  // Interfaces are handles: their methods are not const.
  mutable FunctionOpInterface function;
  Block &body;
  BucketedReductions reductions;
  std::unique_ptr<ReplicationProgram> program;
  const ReplicationStates *states = nullptr;
};

} // namespace

void StepParallelizer::analyse() {
  program = std::make_unique<ReplicationProgram>(/*ranks=*/0,
                                                 ArrayRef<ReplicationRule>());
  states = &program->analyse(function, getStepArguments(function));
}

void StepParallelizer::remarkOn(Location loc, StringRef name,
                                const Twine &text) const {
  remark::passed(loc, remark::RemarkOpts::name(name).category("amp").function(
                          function.getName()))
      << text.str();
}

llvm::DenseSet<Value>
StepParallelizer::getDependents(ArrayRef<Value> values) const {
  llvm::DenseSet<Value> dependents;
  SmallVector<Value> worklist;
  RegionFlow flow;
  auto mark = [&](Value value) {
    if (dependents.insert(value).second)
      worklist.push_back(value);
  };
  llvm::for_each(values, mark);
  while (!worklist.empty())
    for (OpOperand &use : worklist.pop_back_val().getUses()) {
      Operation *op = use.getOwner();
      ArrayRef<Value> inputs = flow.getInputs(use);
      llvm::for_each(inputs, mark);
      if (!inputs.empty())
        continue;
      // An operand that is not handed on decides which region runs.
      if (op->hasTrait<OpTrait::IsTerminator>())
        op = op->getParentOp();
      if (op == function)
        continue;
      llvm::for_each(op->getResults(), mark);
      for (Region &region : op->getRegions())
        llvm::for_each(region.getArguments(), mark);
    }
  return dependents;
}

void StepParallelizer::synchronizeStatistics() {
  SmallVector<ReplicationOpInterface> ops;
  function->walk([&](ReplicationOpInterface op) { ops.push_back(op); });
  for (ReplicationOpInterface op : ops) {
    OpBuilder builder(op);
    SmallVector<Value> results;
    if (failed(op.synchronize(builder, results)))
      continue;
    // Names of gradients go to the operations that compute them.
    for (auto [old, value] : llvm::zip_equal(op->getResults(), results))
      moveGradientName(old, value);
    op->replaceAllUsesWith(results);
    op->erase();
    ++numSynchronized;
  }
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

bool StepParallelizer::needsTotal(Operation *op, Value operand) const {
  if (op->getNumRegions() != 0 || isa<CallOpInterface>(op) ||
      op->hasTrait<OpTrait::IsTerminator>() || isCollective(op, {}) ||
      llvm::all_of(op->getResults(),
                   [&](Value result) { return get(result).isPartial(); }))
    return false;
  SmallVector<Replication> total =
      states->infer(op, operand, Replication::replicated());
  return llvm::any_of(llvm::zip_equal(op->getResults(), total), [&](auto pair) {
    return get(std::get<0>(pair)) != std::get<1>(pair);
  });
}

/// Reduces numbers that depend only on the data, such as the number of labels
/// that are not ignored. A loss divides by the total of all ranks.
void StepParallelizer::reduceCounts() {
  // Gradients are reduced later, also those that no parameter determines.
  SmallVector<Value> state = getNamedGradients(body);
  for (BlockArgument argument : function.getArguments())
    if (getRole(argument) != Role::Batch)
      state.push_back(argument);
  function->walk([&](GradientSeedOpInterface seed) {
    state.push_back(seed->getResult(0));
  });
  llvm::DenseSet<Value> trained = getDependents(state);
  llvm::SetVector<Value> counts;
  auto collect = [&] {
    counts.clear();
    function->walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (!trained.contains(operand) && operand.getDefiningOp() &&
            get(operand).isPartial() && needsTotal(op, operand))
          counts.insert(operand);
    });
    return !counts.empty();
  };
  // A function of a total may be a summand of another one.
  while (collect()) {
    for (Value count : counts) {
      OpBuilder builder(function.getContext());
      builder.setInsertionPointAfterValue(count);
      Summand summand{count, get(count).getPower().value_or(0)};
      reductions.reduceAlone(builder, summand);
    }
    numCounts += counts.size();
    analyse();
  }
}

//===----------------------------------------------------------------------===//
// Seeds
//===----------------------------------------------------------------------===//

/// Divides the start of each backward pass whose gradients are N times too
/// large. All gradients inside are then those of one rank with the whole batch.
void StepParallelizer::normalizeSeeds() {
  SmallVector<Value> seeds;
  function->walk([&](GradientSeedOpInterface seed) {
    seeds.push_back(seed->getResult(0));
  });
  for (Value seed : seeds) {
    llvm::DenseSet<Value> dependents = getDependents(seed);
    std::optional<int> power;
    bool isUniform = true;
    for (Value gradient : getNamedGradients(body)) {
      Replication state = get(gradient);
      if (!dependents.contains(gradient) || !state.isPartial())
        continue;
      int own = state.getPower().value_or(0);
      isUniform &= !power || *power == own;
      power = own;
    }
    if (!isUniform || power.value_or(0) <= 0)
      continue;
    OpBuilder builder(function.getContext());
    builder.setInsertionPointAfterValue(seed);
    Operation *divided = buildDivisions(builder, seed, *power).getDefiningOp();
    seed.replaceUsesWithIf(divided->getResult(0), [&](OpOperand &use) {
      return !isa<DivideByRanksOp>(use.getOwner());
    });
    ++numSeeds;
  }
  if (numSeeds != 0)
    analyse();
}

//===----------------------------------------------------------------------===//
// Gradients, metrics and state
//===----------------------------------------------------------------------===//

void StepParallelizer::collectGradients() {
  for (Value gradient : getNamedGradients(body)) {
    Replication state = get(gradient);
    if (state.isPartial())
      reductions.addGradient(gradient, state.getPower().value_or(0));
  }
}

/// Adds metrics that are summands, and the model state that differs between
/// ranks, such as the statistics of a batch norm.
void StepParallelizer::collectResults() {
  for (OpOperand &operand : getLast()->getOpOperands()) {
    unsigned index = operand.getOperandNumber();
    Value value = operand.get();
    Replication state = get(value);
    auto metric = function.getResultAttrOfType<StringAttr>(
        index, AMPDialect::kMetricAttr);
    auto update = function.getResultAttrOfType<StringAttr>(
        index, AMPDialect::kUpdatesAttr);
    bool isFloat = isa<FloatType>(getElementTypeOrSelf(value.getType()));
    int power = state.getPower().value_or(0);
    if (power != 0 && !isFloat)
      continue;
    if (metric && state.isPartial())
      reductions.addResult(operand, power);
    if (!update || !isFloat || state.isReplicated())
      continue;
    BlockArgument argument = getUpdatedArgument(function, index);
    if (!argument || getRole(argument) != Role::ModelState)
      continue;
    // The mean over the ranks.
    reductions.addResult(operand, state.isPartial() ? power : 1);
    remarkOn(value.getLoc(), "StateAveraged",
             "the model state " + update.getValue() +
                 " covers only a rank's part of the batch: the step keeps "
                 "the mean over the ranks");
  }
}

/// Whether a state follows from the magnitude `value` by operations on scalars
/// and vectors. In a quantisation a magnitude has no such use.
bool StepParallelizer::updatesState(Value value) const {
  return llvm::any_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (user == getLast())
      return function.getResultAttr(use.getOperandNumber(),
                                    AMPDialect::kUpdatesAttr) != nullptr;
    return user->getNumRegions() == 0 &&
           llvm::any_of(user->getResults(), [&](Value result) {
             auto type = dyn_cast<ShapedType>(result.getType());
             return type && type.hasRank() && type.getRank() <= 1 &&
                    updatesState(result);
           });
  });
}

/// Replaces the magnitudes that decide scales of later steps by their maxima
/// over all ranks, with one all-reduce before the first use.
void StepParallelizer::reduceMagnitudes() {
  SmallVector<Value> group;
  Operation *before = nullptr;
  auto flush = [&] {
    if (!group.empty())
      reductions.buildMaximum(before, group);
    group.clear();
    before = nullptr;
  };
  SmallVector<Value> magnitudes;
  for (Operation &op : body)
    if (isa<AmaxOp, MaxMagnitudeOp>(op) && updatesState(op.getResult(0)) &&
        !get(op.getResult(0)).isReplicated())
      magnitudes.push_back(op.getResult(0));
  for (Value magnitude : magnitudes) {
    Operation *op = magnitude.getDefiningOp();
    if (before && !op->isBeforeInBlock(before))
      flush();
    group.push_back(magnitude);
    for (Operation *user : op->getUsers()) {
      Operation *ancestor = body.findAncestorOpInBlock(*user);
      if (!before || ancestor->isBeforeInBlock(before))
        before = ancestor;
    }
  }
  flush();
}

/// Marks operations that draw a random number for each element of a value that
/// is divided between the ranks. Elements have the numbers of the whole batch.
void StepParallelizer::divideRandomNumbers() {
  function->walk([&](Operation *op) {
    auto random = dyn_cast<ReplicationOpInterface>(op);
    if (!random || !random.drawsByIndex())
      return;
    int64_t dim = get(op->getResult(0)).getDim();
    if (dim == Replication::kNoDim)
      return;
    op->setAttr(kDividedAlongAttr,
                DenseI64ArrayAttr::get(op->getContext(), dim));
    ++numRandom;
  });
}

void StepParallelizer::run() {
  analyse();
  reduceCounts();
  normalizeSeeds();
  divideRandomNumbers();
  collectGradients();
  collectResults();
  reductions.build(body);
  analyse();
  reduceMagnitudes();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
class DataParallelPass final
    : public amp::impl::DataParallelPassBase<DataParallelPass> {
public:
  using Base::Base;

  void runOnOperation() override;

private:
  LogicalResult checkOptions();
  /// Whether `function` is a step that the pass can divide. Says why if not.
  bool canDivide(FunctionOpInterface function, LogicalResult &result);
  void divide(FunctionOpInterface function);
};
} // namespace

LogicalResult DataParallelPass::checkOptions() {
  Operation *module = getOperation();
  if (reduceType != "f32" && reduceType != "low")
    return module->emitError() << "amp-data-parallel: expected 'reduce-type' "
                                  "to be f32 or low, got '"
                               << reduceType << "'";
  if (batchNorm != "local" && batchNorm != "synchronized")
    return module->emitError() << "amp-data-parallel: expected 'batch-norm' to "
                                  "be local or synchronized, got '"
                               << batchNorm << "'";
  if (bucketBytes <= 0)
    return module->emitError() << "amp-data-parallel: expected 'bucket-bytes' "
                                  "to be positive, got "
                               << std::to_string(bucketBytes);
  return success();
}

bool DataParallelPass::canDivide(FunctionOpInterface function,
                                 LogicalResult &result) {
  bool hasBatch =
      llvm::any_of(function.getArguments(), [](BlockArgument argument) {
        return getRole(argument) == Role::Batch;
      });
  if (!hasBatch)
    return false;
  WalkResult found = function->walk([](Operation *op) {
    return isCollective(op, {}) ? WalkResult::interrupt()
                                : WalkResult::advance();
  });
  if (found.wasInterrupted()) {
    remark::missed(function.getLoc(),
                   remark::RemarkOpts::name("AlreadyParallel")
                       .category("amp")
                       .function(function.getName()))
        << "the step has collectives already";
    return false;
  }
  result = verifyStepBody(function);
  return succeeded(result);
}

/// The type in which gradients are exchanged, or null for f32.
static FloatType getExchangedType(FunctionOpInterface function,
                                  StringRef option) {
  auto low = function->getAttrOfType<TypeAttr>(AMPDialect::kMixedPrecisionAttr);
  if (option == "f32" || !low)
    return {};
  auto type = dyn_cast<FloatType>(low.getValue());
  return type && type.getWidth() < 32 ? type : FloatType();
}

void DataParallelPass::divide(FunctionOpInterface function) {
  ReductionSettings settings;
  settings.bucketBytes = bucketBytes;
  settings.low = getExchangedType(function, reduceType);
  StepParallelizer parallelizer(function, settings);
  if (batchNorm == "synchronized")
    parallelizer.synchronizeStatistics();
  parallelizer.run();
  const BucketedReductions &reductions = parallelizer.getReductions();
  numGradients += reductions.getNumGradients();
  numCollectives += reductions.getNumCollectives();
  numSeeds += parallelizer.numSeeds;
  numCounts += parallelizer.numCounts;
  numRandom += parallelizer.numRandom;
  numSynchronized += parallelizer.numSynchronized;
  auto options = [&](StringRef name) {
    return remark::RemarkOpts::name(name).category("amp").function(
        function.getName());
  };
  if (reduceType == "low" && !settings.low)
    remark::missed(function.getLoc(), options("ReducedInF32"))
        << "gradients are exchanged in f32: the step has no low type "
           "(auto-mixed-precision)";
  if (settings.low && reductions.getNumGradients() != 0) {
    unsigned bits =
        APFloat::semanticsPrecision(settings.low.getFloatSemantics());
    std::string type;
    llvm::raw_string_ostream(type) << settings.low;
    remark::passed(function.getLoc(), options("ReducedLow"))
        << llvm::formatv("gradients are exchanged in {0}: half of the bytes, "
                         "and each is rounded twice, with a relative error of "
                         "up to 2^-{1}",
                         type, bits)
               .str();
  }
  remark::passed(function.getLoc(), options("DataParallel"))
      << remark::metric("Gradients", reductions.getNumGradients())
      << remark::metric("Collectives", reductions.getNumCollectives());
}

void DataParallelPass::runOnOperation() {
  LogicalResult result = checkOptions();
  if (failed(result))
    return signalPassFailure();
  getOperation()->walk<WalkOrder::PreOrder>([&](FunctionOpInterface function) {
    if (!function.isExternal() && canDivide(function, result))
      divide(function);
    return WalkResult::skip();
  });
  if (failed(result))
    signalPassFailure();
}
