//===- CheckReplication.cpp - Prove that ranks stay equal -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass proves that all ranks of a data-parallel step compute the same
// state, and that a gradient is divided by the number of ranks exactly once.
//
//===----------------------------------------------------------------------===//

#include "BucketedReductions.h"

#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Interfaces/GradientInterfaces.h"
#include "amp/Replication/Passes.h"
#include "amp/Replication/ReplicationAnalysis.h"
#include "amp/Support/CheckedFunctions.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace mlir::amp {
#define GEN_PASS_DEF_CHECKREPLICATIONPASS
#include "amp/Replication/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

namespace {

/// Checks one function for one tuple of replications of its arguments.
class ReplicationChecker {
public:
  ReplicationChecker(ReplicationProgram &program,
                     const ReplicationStates &states,
                     llvm::DenseSet<Operation *> &reported)
      : program(program), states(states), reported(reported) {}

  /// Checks all operations. Returns the number of errors.
  unsigned checkOperations();
  /// Checks the values that a step returns.
  unsigned checkResults();
  unsigned getNumCollectives() const { return numCollectives; }

private:
  void checkOperation(Operation *op);
  /// Reports `op`, which is a collective or calls one, if not all ranks execute
  /// it.
  void checkPlace(Operation *op, StringRef what);
  void checkManualComputation(Operation *op);
  bool callsCollective(FunctionOpInterface callee);
  void fail(Operation *op, Value value, const Twine &message);
  /// Adds notes that say where `value` came to differ from its value on one
  /// rank.
  void explain(Value value, Diagnostic &diagnostic) const;
  /// Says whether `state` may be the value of something that all ranks keep.
  /// Returns the text of an error after the name of the value, or nothing.
  static std::string describeWrong(const Replication &state);
  /// The same for `operand`, which updates a state or a part of one.
  std::string describeWrongUpdate(OpOperand &operand) const;

  ReplicationProgram &program;
  const ReplicationStates &states;
  /// The operations with an error, each of which is reported once.
  llvm::DenseSet<Operation *> &reported;
  llvm::DenseSet<Operation *> searched;
  unsigned numErrors = 0, numCollectives = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

std::string ReplicationChecker::describeWrong(const Replication &state) {
  std::string deviation = describeDeviation(state);
  if (deviation.empty())
    return deviation;
  return deviation + ", expected " + describeExpected(state);
}

/// Whether `operand` is a reason that `value` deviates.
static bool passesDeviation(const Replication &value,
                            const Replication &operand) {
  if (!value.isReplicated())
    return !operand.isReplicated() && !operand.isUnset();
  return operand.getPower().isOfSeveral() ||
         operand.getPower().value_or(0) != 0;
}

void ReplicationChecker::explain(Value value, Diagnostic &diagnostic) const {
  llvm::DenseSet<Value> seen;
  while (seen.insert(value).second) {
    Replication state = states.get(value);
    Operation *op = value.getDefiningOp();
    StringRef what = state.isPartial()   ? "the partial sum"
                     : state.isVarying() ? "the difference between the ranks"
                                         : "the power of N";
    if (!op) {
      diagnostic.attachNote(value.getLoc()) << what << " enters here";
      return;
    }
    SmallVector<Value> read = llvm::to_vector(op->getOperands());
    // A result of a collective comes from the operand with its number.
    if (isCollective(op, program.getRules()) &&
        op->getNumOperands() == op->getNumResults())
      read = {op->getOperand(cast<OpResult>(value).getResultNumber())};
    for (OpOperand *condition : ReplicationStates::getConditions(op))
      read.push_back(condition->get());
    for (Region &region : op->getRegions())
      if (!region.empty() && region.front().mightHaveTerminator() &&
          !region.front().empty())
        llvm::append_range(read, region.front().getTerminator()->getOperands());
    // An argument of a region says less than the operation that it comes from.
    auto find = [&](bool isDefined) {
      return llvm::find_if(read, [&](Value operand) {
        return (operand.getDefiningOp() != nullptr) == isDefined &&
               passesDeviation(state, states.get(operand));
      });
    };
    auto *next = find(/*isDefined=*/true);
    if (next == read.end())
      next = find(/*isDefined=*/false);
    Replication before =
        next == read.end() ? Replication::replicated() : states.get(*next);
    // The power of N rises, or falls if it is negative, on its way.
    int power = state.getPower().value_or(0),
        earlier = before.getPower().value_or(0);
    bool isOrigin = state.isReplicated() && state.getPower().isOfSeveral()
                        ? !before.getPower().isOfSeveral()
                    : state.isReplicated()
                        ? (power > 0 ? earlier < power : earlier > power)
                        : before.getKind() != state.getKind();
    if (next == read.end() || isOrigin) {
      diagnostic.attachNote(op->getLoc())
          << what << " comes from this '" << op->getName() << "'";
      return;
    }
    value = *next;
  }
}

void ReplicationChecker::fail(Operation *op, Value value,
                              const Twine &message) {
  if (!reported.insert(op).second)
    return;
  ++numErrors;
  InFlightDiagnostic diagnostic = op->emitOpError() << message;
  if (value)
    explain(value, *diagnostic.getUnderlyingDiagnostic());
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void ReplicationChecker::checkPlace(Operation *op, StringRef what) {
  for (Operation *parent = op->getParentOp();
       parent && parent != states.getFunction();
       parent = parent->getParentOp()) {
    SmallVector<OpOperand *> conditions =
        ReplicationStates::getConditions(parent);
    bool isLoop = isa<LoopLikeOpInterface>(parent) ||
                  parent->getName().getStringRef() == "stablehlo.while";
    if (isLoop) {
      for (OpOperand *condition : conditions)
        if (!states.get(condition->get()).isReplicated())
          return fail(op, condition->get(),
                      Twine(what) + " in a loop, '" +
                          parent->getName().getStringRef() +
                          "', whose iterations differ between the ranks, "
                          "expected that all ranks execute it together");
    } else if (!conditions.empty()) {
      return fail(op, Value(),
                  Twine(what) + " in the conditional '" +
                      parent->getName().getStringRef() +
                      "', expected that all ranks execute it together");
    }
  }
}

bool ReplicationChecker::callsCollective(FunctionOpInterface callee) {
  if (!callee || !searched.insert(callee).second)
    return false;
  bool found = false;
  callee->walk([&](Operation *op) {
    found |= isCollective(op, program.getRules());
    if (auto call = dyn_cast<CallOpInterface>(op); call && !found)
      found = callsCollective(program.resolve(call));
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

void ReplicationChecker::checkManualComputation(Operation *op) {
  FailureOr<SmallVector<ValueSharding>> in = getShardings(op, "in_shardings"),
                                        out = getShardings(op, "out_shardings");
  Block &body = op->getRegion(0).front();
  if (failed(in) || failed(out) || in->size() != body.getNumArguments() ||
      out->size() != op->getNumResults())
    return fail(op, Value(),
                "expected a sharding for each operand and for each result");
  Operation *last = body.getTerminator();
  for (auto [index, sharding] : llvm::enumerate(*out)) {
    if (index >= last->getNumOperands())
      return;
    Value value = last->getOperand(index);
    Replication state = states.get(value);
    std::string wrong = describeWrong(state);
    if (!wrong.empty() && sharding.isReplicated)
      fail(op, value,
           "result " + Twine(index) +
               " is declared equal on all ranks, but it " + wrong);
  }
}

void ReplicationChecker::checkOperation(Operation *op) {
  if (isCollective(op, program.getRules())) {
    ++numCollectives;
    checkPlace(op, "is a collective");
  }
  if (auto call = dyn_cast<CallOpInterface>(op)) {
    searched.clear();
    if (callsCollective(program.resolve(call)))
      checkPlace(op, "calls a collective");
  }
  if (isManualComputation(op))
    checkManualComputation(op);
  states.check(op, [&](unsigned index, const Twine &message) {
    fail(op, op->getOperand(index), message);
  });
  auto consumer = dyn_cast<GradientConsumerOpInterface>(op);
  if (!consumer || isa<ReplicationOpInterface>(op))
    return;
  for (Value gradient : consumer.getGradientOperands())
    if (std::string wrong = describeWrong(states.get(gradient)); !wrong.empty())
      fail(op, gradient, "reads a gradient that " + wrong);
}

unsigned ReplicationChecker::checkOperations() {
  states.getFunction()->walk([&](Operation *op) {
    if (op != states.getFunction())
      checkOperation(op);
  });
  return numErrors;
}

std::string ReplicationChecker::describeWrongUpdate(OpOperand &operand) const {
  FunctionOpInterface function = states.getFunction();
  Replication state = states.get(operand.get());
  BlockArgument argument =
      getUpdatedArgument(function, operand.getOperandNumber());
  bool isPart =
      argument && function.getArgAttr(argument.getArgNumber(), kPartOfAttr);
  if (isPart && state.isSharded())
    return describeWrong(Replication::replicated(state.getPower()));
  if (isPart)
    return (state.isReplicated() ? std::string("is equal on all ranks")
                                 : describeDeviation(state)) +
           ", expected the part of this rank";
  auto gather = operand.get().getDefiningOp<AllGatherOp>();
  if (!gather)
    return describeWrong(state);
  Replication part = states.get(gather.getPart());
  if (part.isSharded() && !part.isReduced())
    return "joins parts that the step has not updated, expected the parts of "
           "the new value";
  return describeWrong(state);
}

unsigned ReplicationChecker::checkResults() {
  FunctionOpInterface function = states.getFunction();
  function->walk([&](Operation *last) {
    if (!last->hasTrait<OpTrait::ReturnLike>() ||
        last->getParentOp() != function)
      return;
    for (OpOperand &operand : last->getOpOperands()) {
      unsigned index = operand.getOperandNumber();
      auto update = function.getResultAttrOfType<StringAttr>(
          index, AMPDialect::kUpdatesAttr);
      auto metric = function.getResultAttrOfType<StringAttr>(
          index, AMPDialect::kMetricAttr);
      Replication state = states.get(operand.get());
      std::string wrong =
          update ? describeWrongUpdate(operand) : describeWrong(state);
      if (wrong.empty() || (!update && !metric))
        continue;
      if (!update && !state.isReplicated()) {
        remark::analysis(operand.get().getLoc(),
                         remark::RemarkOpts::name("LocalMetric")
                             .category("amp")
                             .function(function.getName()))
            << "the metric " << metric.getValue()
            << " covers only one rank: it " << wrong;
        continue;
      }
      ++numErrors;
      InFlightDiagnostic diagnostic =
          emitError(operand.get().getLoc())
          << "the " << (update ? "update " : "metric ")
          << (update ? update : metric) << " " << wrong;
      explain(operand.get(), *diagnostic.getUnderlyingDiagnostic());
    }
  });
  return numErrors;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
class CheckReplicationPass final
    : public amp::impl::CheckReplicationPassBase<CheckReplicationPass> {
public:
  using Base::Base;

  void runOnOperation() override;

private:
  ArrayRef<StringRef> getListOptions() const override {
    static constexpr StringRef names[] = {"rules"};
    return names;
  }
  /// Reads the options. Returns failure after an error.
  LogicalResult readRules(SmallVectorImpl<ReplicationRule> &parsed);
  LogicalResult checkFunction(FunctionOpInterface function,
                              ArrayRef<ReplicationRule> parsed, int64_t number);
};
} // namespace

LogicalResult
CheckReplicationPass::readRules(SmallVectorImpl<ReplicationRule> &parsed) {
  Operation *module = getOperation();
  for (const std::string &entry : rules) {
    std::string expected;
    FailureOr<ReplicationRule> rule = ReplicationRule::parse(entry, expected);
    if (mlir::failed(rule))
      return module->emitError() << "amp-check-replication: expected 'rules' "
                                    "to be "
                                 << expected << ", got '" << entry << "'";
    parsed.push_back(std::move(*rule));
  }
  if (ranks < 0)
    return module->emitError() << "amp-check-replication: expected 'ranks' to "
                                  "be positive, or 0 if it is unknown, got "
                               << std::to_string(ranks);
  return success();
}

LogicalResult
CheckReplicationPass::checkFunction(FunctionOpInterface function,
                                    ArrayRef<ReplicationRule> parsed,
                                    int64_t number) {
  ReplicationProgram program(number, parsed);
  const ReplicationStates &states =
      program.analyse(function, getStepArguments(function));
  llvm::DenseSet<Operation *> reported;
  unsigned errors = 0, collectives = 0;
  for (const std::unique_ptr<ReplicationStates> &analysed :
       program.getAnalysed()) {
    ReplicationChecker checker(program, *analysed, reported);
    errors += checker.checkOperations();
    collectives += checker.getNumCollectives();
  }
  errors += ReplicationChecker(program, states, reported).checkResults();
  numCollectives += collectives;
  if (errors != 0)
    return failure();
  if (collectives != 0)
    remark::analysis(function.getLoc(),
                     remark::RemarkOpts::name("ReplicationProved")
                         .category("amp")
                         .function(function.getName()))
        << remark::metric("Collectives", collectives)
        << remark::metric("Ranks", static_cast<int>(number));
  return success();
}

void CheckReplicationPass::runOnOperation() {
  Operation *module = getOperation();
  SmallVector<ReplicationRule> parsed;
  if (failed(readRules(parsed)))
    return signalPassFailure();
  int64_t number = ranks != 0 ? ranks : findNumRanks(module);
  // A private function is checked for the arguments of its calls.
  SymbolTableCollection tables;
  unsigned rejected =
      forEachCheckedFunction(module, tables, [&](FunctionOpInterface function) {
        return checkFunction(function, parsed, number);
      });
  numRejected += rejected;
  if (rejected != 0)
    signalPassFailure();
  markAllAnalysesPreserved();
}
