//===- ShardOptimizer.cpp - Divide the state of optimizers ----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass that lets each rank of a data-parallel step keep and update a part
// of the state of the optimizers.
//
//===----------------------------------------------------------------------===//

#include "BucketedReductions.h"
#include "StateParts.h"

#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Replication/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Remarks.h"

namespace mlir::amp {
#define GEN_PASS_DEF_SHARDOPTIMIZERPASS
#include "amp/Replication/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// The rewrite
//===----------------------------------------------------------------------===//

namespace {

/// Turns values of one step into parts.
class StepSharder {
public:
  StepSharder(FunctionOpInterface function, int64_t ranks)
      : function(function), body(function.getFunctionBody().front()),
        ranks(ranks) {}

  void add(StateParts parts);
  void run();
  unsigned numGathers = 0;

private:
  RankedTensorType getPartType(Type whole) const {
    auto type = cast<RankedTensorType>(whole);
    return RankedTensorType::get(getFlatPartSize(type.getNumElements(), ranks),
                                 type.getElementType());
  }
  /// The part of `value`, for an operation that `user` contains.
  Value getPart(Value value, Operation *user);
  void scatterTotals();
  /// Replaces the all-reduce `op`, some of whose results become parts.
  void scatter(AllReduceOp op);
  void combineParts();
  void changeTypes();
  void setUses();
  void gatherResults();
  void updateSignature();

  FunctionOpInterface function;
  Block &body;
  int64_t ranks;
  llvm::SetVector<Value> totals, values;
  llvm::SetVector<OpOperand *> uses;
  SmallVector<BlockArgument> states;
  /// The parts of values that other operations compute now, or that are whole.
  llvm::DenseMap<Value, Value> parts;
  llvm::DenseMap<Value, Type> wholeTypes;
  SmallVector<Operation *> replaced;
};

} // namespace

void StepSharder::add(StateParts more) {
  totals.insert(more.total);
  values.insert(more.values.begin(), more.values.end());
  uses.insert(more.uses.begin(), more.uses.end());
  states.append(more.states);
  for (BlockArgument state : more.states)
    values.insert(state);
  for (Value value : values)
    wholeTypes.try_emplace(value, value.getType());
}

Value StepSharder::getPart(Value value, Operation *user) {
  if (Value part = parts.lookup(value))
    return part;
  if (values.contains(value))
    return value;
  OpBuilder builder(user->getContext());
  Operation *defining = value.getDefiningOp();
  if (value.getParentBlock() == &body)
    builder.setInsertionPoint(body.findAncestorOpInBlock(*user));
  else if (defining)
    builder.setInsertionPointAfter(defining);
  else
    builder.setInsertionPointToStart(value.getParentBlock());
  return parts[value] = RankPartOp::create(builder, value.getLoc(),
                                           getPartType(value.getType()), value);
}

void StepSharder::scatter(AllReduceOp op) {
  OpBuilder builder(op);
  SmallVector<Value> left;
  for (auto [value, total] : llvm::zip_equal(op.getValues(), op.getReduced()))
    if (!totals.contains(total))
      left.push_back(value);
  AllReduceOp rest;
  if (!left.empty())
    rest = AllReduceOp::create(builder, op.getLoc(), op.getReduction(), left);
  unsigned next = 0;
  for (auto [value, total] : llvm::zip_equal(op.getValues(), op.getReduced())) {
    Value now;
    if (totals.contains(total)) {
      now = ReduceScatterOp::create(builder, value.getLoc(),
                                    getPartType(value.getType()), value);
      parts[total] = now;
    } else {
      now = rest.getReduced()[next++];
    }
    moveGradientName(total, now);
    if (!totals.contains(total))
      Value(total).replaceAllUsesWith(now);
  }
  replaced.push_back(op);
}

void StepSharder::scatterTotals() {
  llvm::SetVector<Operation *> reductions;
  for (Value total : totals)
    reductions.insert(total.getDefiningOp());
  for (Operation *op : reductions)
    scatter(cast<AllReduceOp>(op));
}

void StepSharder::combineParts() {
  SmallVector<Operation *> combinations;
  function->walk([&](ReplicationOpInterface op) {
    if (op.combinesParts() &&
        llvm::any_of(op->getOpOperands(),
                     [&](OpOperand &use) { return uses.contains(&use); }))
      combinations.push_back(op);
  });
  for (Operation *op : combinations) {
    SmallVector<Value> operands, results;
    SmallVector<bool> isPart;
    for (OpOperand &operand : op->getOpOperands()) {
      isPart.push_back(uses.contains(&operand));
      operands.push_back(isPart.back() ? getPart(operand.get(), op)
                                       : operand.get());
    }
    // Collectives are never in a conditional.
    OpBuilder builder(body.findAncestorOpInBlock(*op));
    cast<ReplicationOpInterface>(op).combineParts(builder, operands, isPart,
                                                  results);
    for (auto [old, now] : llvm::zip_equal(op->getResults(), results)) {
      moveGradientName(old, now);
      if (values.contains(old))
        parts[old] = now;
      else
        old.replaceAllUsesWith(now);
    }
    replaced.push_back(op);
  }
}

void StepSharder::changeTypes() {
  for (Value value : values)
    if (!parts.contains(value))
      value.setType(getPartType(value.getType()));
}

void StepSharder::setUses() {
  SmallVector<OpOperand *> inOrder;
  for (OpOperand *use : uses)
    if (!llvm::is_contained(replaced, use->getOwner()))
      inOrder.push_back(use);
  // A part of a whole value is taken before its first use.
  llvm::stable_sort(inOrder, [&](OpOperand *a, OpOperand *b) {
    Operation *first = body.findAncestorOpInBlock(*a->getOwner()),
              *second = body.findAncestorOpInBlock(*b->getOwner());
    return first != second && first->isBeforeInBlock(second);
  });
  for (OpOperand *use : inOrder)
    use->set(getPart(use->get(), use->getOwner()));
}

void StepSharder::gatherResults() {
  Operation *last = body.getTerminator();
  OpBuilder builder(last);
  llvm::DenseMap<Value, Value> gathered;
  for (OpOperand &operand : last->getOpOperands()) {
    Value value = operand.get();
    if (!values.contains(value))
      continue;
    Value part = getPart(value, last);
    if (llvm::is_contained(
            states, getUpdatedArgument(function, operand.getOperandNumber()))) {
      operand.set(part);
      continue;
    }
    Value &whole = gathered[value];
    if (!whole) {
      whole =
          AllGatherOp::create(builder, value.getLoc(), wholeTypes[value], part);
      ++numGathers;
    }
    operand.set(whole);
  }
}

void StepSharder::updateSignature() {
  for (BlockArgument state : states)
    function.setArgAttr(state.getArgNumber(), kPartOfAttr,
                        TypeAttr::get(wholeTypes[state]));
  SmallVector<Type> arguments(body.getArgumentTypes()),
      results(body.getTerminator()->getOperandTypes());
  function.setType(function.cloneTypeWith(arguments, results));
}

void StepSharder::run() {
  scatterTotals();
  // The parts of whole values are taken while these have their types.
  changeTypes();
  combineParts();
  setUses();
  gatherResults();
  updateSignature();
  for (Operation *op : llvm::reverse(replaced)) {
    op->dropAllUses();
    op->erase();
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
class ShardOptimizerPass final
    : public amp::impl::ShardOptimizerPassBase<ShardOptimizerPass> {
public:
  using Base::Base;

  void runOnOperation() override;

private:
  LogicalResult checkOptions();
  /// Says why the pass does nothing to `function`, or returns an empty text.
  StringRef findObstacle(FunctionOpInterface function) const;
  void shard(FunctionOpInterface function);
  /// Says why the parameter of `gradient` stays whole on all ranks.
  void refuse(FunctionOpInterface function, Value gradient, StringRef reason);
};
} // namespace

LogicalResult ShardOptimizerPass::checkOptions() {
  if (ranks < 1)
    return getOperation()->emitError()
           << "amp-shard-optimizer: expected 'ranks' to be positive, got "
           << std::to_string(ranks);
  if (minElements < 1)
    return getOperation()->emitError() << "amp-shard-optimizer: expected "
                                          "'min-elements' to be positive, got "
                                       << std::to_string(minElements);
  return success();
}

StringRef ShardOptimizerPass::findObstacle(FunctionOpInterface function) const {
  bool isDivided = false, isReduced = false;
  for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i)
    isDivided |= function.getArgAttr(i, kPartOfAttr) != nullptr;
  function->walk([&](Operation *op) {
    isDivided |= isa<ReduceScatterOp, AllGatherOp, RankPartOp>(op);
    isReduced |= isa<AllReduceOp>(op);
  });
  if (isDivided)
    return "the ranks divide its state already";
  if (!isReduced)
    return "it has no sums over ranks (amp-data-parallel)";
  if (!function.getFunctionBody().hasOneBlock())
    return "it has more than one block";
  return ranks == 1 ? "one rank keeps the whole state" : "";
}

void ShardOptimizerPass::refuse(FunctionOpInterface function, Value gradient,
                                StringRef reason) {
  remark::missed(gradient.getLoc(), remark::RemarkOpts::name("NotSharded")
                                        .category("amp")
                                        .function(function.getName()))
      << reason.str();
}

void ShardOptimizerPass::shard(FunctionOpInterface function) {
  ReplicationProgram program(/*ranks=*/0, ArrayRef<ReplicationRule>());
  const ReplicationStates &states =
      program.analyse(function, getStepArguments(function));
  StatePartsFinder finder(function, states, minElements);
  StepSharder sharder(function, ranks);
  int64_t whole = 0, part = 0;
  unsigned numParameters = 0;
  auto addBytes = [&](BlockArgument state) {
    auto type = cast<RankedTensorType>(state.getType());
    int64_t width = type.getElementTypeBitWidth() / 8;
    whole += type.getNumElements() * width;
    part += getFlatPartSize(type.getNumElements(), ranks) * width;
  };
  for (auto sum : function.getFunctionBody().front().getOps<AllReduceOp>()) {
    if (sum.getReduction() != RankReductionKind::Sum)
      continue;
    for (OpResult total : sum->getResults()) {
      std::string reason;
      FailureOr<StateParts> parts = finder.find(total, reason);
      if (succeeded(parts)) {
        ++numParameters;
        llvm::for_each(parts->states, addBytes);
        sharder.add(std::move(*parts));
      } else if (!reason.empty()) {
        refuse(function, total, reason);
      }
    }
  }
  if (numParameters == 0)
    return;
  sharder.run();
  numSharded += numParameters;
  numGathered += sharder.numGathers;
  remark::passed(function.getLoc(), remark::RemarkOpts::name("ShardedOptimizer")
                                        .category("amp")
                                        .function(function.getName()))
      << remark::metric("Parameters", numParameters)
      << remark::metric("BytesPerRank", static_cast<int>(part))
      << remark::metric("BytesWhole", static_cast<int>(whole));
}

void ShardOptimizerPass::runOnOperation() {
  if (failed(checkOptions()))
    return signalPassFailure();
  getOperation()->walk<WalkOrder::PreOrder>([&](FunctionOpInterface function) {
    if (function.isExternal() || !isStepFunction(function))
      return WalkResult::skip();
    StringRef obstacle = findObstacle(function);
    if (obstacle.empty())
      shard(function);
    else
      remark::missed(function.getLoc(),
                     remark::RemarkOpts::name("StateStaysWhole")
                         .category("amp")
                         .function(function.getName()))
          << ("the state of the step stays whole: " + obstacle).str();
    return WalkResult::skip();
  });
}
