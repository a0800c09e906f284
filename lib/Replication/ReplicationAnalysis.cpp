//===- ReplicationAnalysis.cpp - Equal on all ranks? ----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Replication/ReplicationAnalysis.h"

#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Support/RegionFlow.h"
#include "mlir/Analysis/DataFlow/SparseAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::amp;

namespace {

class ReplicationLattice final : public dataflow::Lattice<Replication> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReplicationLattice)
  using Lattice::Lattice;
};

/// The view of one operation.
class Inference final : public ReplicationInference {
public:
  using Report = function_ref<void(unsigned, const Twine &)>;

  Inference(Operation *op, int64_t ranks,
            function_ref<Replication(Value)> lookup, Report reporter = nullptr)
      : op(op), ranks(ranks), reporter(reporter),
        results(op->getNumResults(), Replication::varying()) {
    for (Value operand : op->getOperands())
      operands.push_back(lookup(operand));
  }

  Operation *getOperation() const override { return op; }
  Replication getOperand(unsigned index) const override {
    return operands[index];
  }
  void setResult(unsigned index, const Replication &replication) override {
    // Only a shaped value has a dimension.
    auto type = dyn_cast<ShapedType>(op->getResult(index).getType());
    int64_t rank = type && type.hasRank() ? type.getRank() : 0;
    results[index] = replication.getDim() < rank
                         ? replication
                         : replication.withDim(Replication::kNoDim);
  }
  int64_t getNumRanks() const override { return ranks; }
  void report(unsigned index, const Twine &message) override {
    if (reporter)
      reporter(index, message);
  }
  bool isReady() const {
    return llvm::none_of(operands,
                         [](const Replication &r) { return r.isUnset(); });
  }
  /// Applies the rule of the operation.
  void run(ArrayRef<ReplicationRule> rules) {
    if (auto iface = dyn_cast<ReplicationOpInterface>(op))
      iface.inferReplication(*this);
    else
      inferForeignReplication(*this, rules);
  }
  ArrayRef<Replication> getResults() const { return results; }

private:
  Operation *op;
  int64_t ranks;
  Report reporter;
  SmallVector<Replication> operands, results;
};

//===----------------------------------------------------------------------===//
// The dataflow analysis
//===----------------------------------------------------------------------===//

class Analysis final
    : public dataflow::SparseForwardDataFlowAnalysis<ReplicationLattice> {
public:
  Analysis(DataFlowSolver &solver, ReplicationProgram &program,
           FunctionOpInterface function, ArrayRef<Replication> arguments)
      : SparseForwardDataFlowAnalysis(solver), program(program),
        function(function), arguments(arguments) {}

  LogicalResult initialize(Operation *top) override {
    if (failed(SparseForwardDataFlowAnalysis::initialize(top)))
      return failure();
    top->walk([&](Operation *op) { visitConditions(op); });
    return success();
  }
  LogicalResult visit(ProgramPoint *point) override {
    if (failed(SparseForwardDataFlowAnalysis::visit(point)))
      return failure();
    if (!point->isBlockStart())
      visitConditions(point->getPrevOp());
    return success();
  }
  LogicalResult visitOperation(Operation *op,
                               ArrayRef<const ReplicationLattice *> operands,
                               ArrayRef<ReplicationLattice *> results) override;
  void visitExternalCall(CallOpInterface call,
                         ArrayRef<const ReplicationLattice *> operands,
                         ArrayRef<ReplicationLattice *> results) override;
  void visitNonControlFlowArguments(Operation *op, const RegionSuccessor &to,
                                    ArrayRef<ReplicationLattice *> lattices,
                                    unsigned first) override;
  void setToEntryState(ReplicationLattice *lattice) override;

private:
  void set(ReplicationLattice *lattice, const Replication &replication) {
    propagateIfChanged(lattice, lattice->join(replication));
  }
  Replication getFor(ProgramPoint *point, Value value) {
    return getLatticeElementFor(point, value)->getValue();
  }
  /// Ranks that take different branches have different results.
  void visitConditions(Operation *op);
  /// Control flow without an interface: the results are the values that the
  /// regions yield.
  void visitForeignRegions(Operation *op,
                           ArrayRef<ReplicationLattice *> results);

  ReplicationProgram &program;
  FunctionOpInterface function;
  ArrayRef<Replication> arguments;
  RegionFlow flow;
};

} // namespace

/// Whether `op` is control flow of a dialect that implements no interface.
static bool isForeignControlFlow(Operation *op) {
  StringRef name = op->getName().getStringRef();
  return !isa<RegionBranchOpInterface>(op) && op->getNumRegions() != 0 &&
         (name == "stablehlo.if" || name == "stablehlo.case" ||
          name == "stablehlo.while" || name == "sdy.named_computation");
}

SmallVector<OpOperand *> ReplicationStates::getConditions(Operation *op) {
  SmallVector<OpOperand *> conditions;
  RegionFlow flow;
  bool branches = isa<RegionBranchOpInterface>(op);
  if (!branches && !isForeignControlFlow(op))
    return conditions;
  auto collect = [&](Operation *from) {
    for (OpOperand &operand : from->getOpOperands())
      if (flow.getInputs(operand).empty())
        conditions.push_back(&operand);
  };
  collect(op);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (!block.empty() && block.mightHaveTerminator() &&
          (!branches ||
           isa<RegionBranchTerminatorOpInterface>(block.getTerminator())))
        collect(block.getTerminator());
  return conditions;
}

void Analysis::visitConditions(Operation *op) {
  SmallVector<OpOperand *> conditions = ReplicationStates::getConditions(op);
  if (llvm::all_of(conditions, [&](OpOperand *condition) {
        Replication state = getFor(getProgramPointAfter(op), condition->get());
        return state.isUnset() || state.isReplicated();
      }))
    return;
  for (Value result : op->getResults())
    set(getLatticeElement(result), Replication::varying());
  // The iterations of a loop differ as well.
  for (Region &region : op->getRegions())
    for (BlockArgument argument : region.getArguments())
      set(getLatticeElement(argument), Replication::varying());
}

void Analysis::visitForeignRegions(Operation *op,
                                   ArrayRef<ReplicationLattice *> results) {
  ProgramPoint *point = getProgramPointAfter(op);
  for (auto [value, lattice] : llvm::zip_equal(op->getResults(), results))
    for (OpOperand *source : flow.getSources(value))
      set(lattice, getFor(point, source->get()));
}

LogicalResult
Analysis::visitOperation(Operation *op,
                         ArrayRef<const ReplicationLattice *> operands,
                         ArrayRef<ReplicationLattice *> results) {
  if (isForeignControlFlow(op)) {
    visitForeignRegions(op, results);
    return success();
  }
  Inference inference(op, program.getNumRanks(), [&](Value value) {
    return getLatticeElement(value)->getValue();
  });
  if (!inference.isReady())
    return success();
  inference.run(program.getRules());
  for (auto [lattice, replication] :
       llvm::zip_equal(results, inference.getResults()))
    set(lattice, replication);
  return success();
}

void Analysis::visitExternalCall(CallOpInterface call,
                                 ArrayRef<const ReplicationLattice *> operands,
                                 ArrayRef<ReplicationLattice *> results) {
  SmallVector<Replication> given;
  for (const ReplicationLattice *operand : operands) {
    given.push_back(operand->getValue());
    if (given.back().isUnset())
      return;
  }
  FunctionOpInterface callee = program.resolve(call);
  if (!callee || callee.getNumArguments() != given.size()) {
    bool isEqual = llvm::all_of(
        given, [](const Replication &r) { return r.isReplicated(); });
    for (ReplicationLattice *result : results)
      set(result, isEqual ? Replication::replicated(std::nullopt)
                          : Replication::varying());
    return;
  }
  const ReplicationStates &states = program.analyse(callee, given);
  for (auto [result, returned] : llvm::zip(results, states.getResults()))
    set(result, returned);
}

void Analysis::visitNonControlFlowArguments(
    Operation *op, const RegionSuccessor &to,
    ArrayRef<ReplicationLattice *> lattices, unsigned first) {
  Region *region = to.getSuccessor();
  if (!region || region->empty())
    return;
  ProgramPoint *point = getProgramPointBefore(&region->front());
  if (isManualComputation(op)) {
    FailureOr<SmallVector<ValueSharding>> shardings =
        getShardings(op, "in_shardings");
    for (auto [i, lattice] : llvm::enumerate(lattices)) {
      bool isKnown = succeeded(shardings) && i < shardings->size();
      set(lattice, !isKnown ? Replication::varying()
                   : (*shardings)[i].isReplicated
                       ? Replication::replicated()
                       : Replication::varying((*shardings)[i].dim, 0));
    }
    return;
  }
  if (isForeignControlFlow(op)) {
    for (ReplicationLattice *lattice : lattices)
      for (OpOperand *source : flow.getSources(lattice->getAnchor()))
        set(lattice, getFor(point, source->get()));
    return;
  }
  // Induction variables, whose bounds are operands. The values in other bodies
  // are scalars that no rule reads.
  unsigned after = first + to.getSuccessorInputs().size();
  for (auto [i, lattice] : llvm::enumerate(lattices))
    if (i < first || i >= after)
      set(lattice, Replication::replicated());
}

void Analysis::setToEntryState(ReplicationLattice *lattice) {
  auto argument = dyn_cast<BlockArgument>(lattice->getAnchor());
  bool isOwn = argument &&
               argument.getOwner() == &function.getFunctionBody().front() &&
               argument.getArgNumber() < arguments.size();
  set(lattice,
      isOwn ? arguments[argument.getArgNumber()] : Replication::varying());
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

SmallVector<Replication>
mlir::amp::getStepArguments(FunctionOpInterface function) {
  bool isWhole = function
                     ->walk([](Operation *op) {
                       return isManualComputation(op) ? WalkResult::interrupt()
                                                      : WalkResult::advance();
                     })
                     .wasInterrupted();
  SmallVector<Replication> arguments;
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<ShapedType>(argument.getType());
    bool isDivided = type && type.hasRank() && type.getRank() != 0;
    bool isBatch = getRole(argument) == Role::Batch && !isWhole;
    if (function.getArgAttr(argument.getArgNumber(), kPartOfAttr))
      arguments.push_back(Replication::sharded(/*dim=*/0));
    else
      arguments.push_back(
          !isBatch
              ? Replication::replicated()
              : Replication::varying(isDivided ? 0 : Replication::kNoDim, 0));
  }
  return arguments;
}

Replication ReplicationStates::get(Value value) const {
  const auto *lattice = solver->lookupState<ReplicationLattice>(value);
  return lattice ? lattice->getValue() : Replication();
}

void ReplicationStates::check(
    Operation *op, function_ref<void(unsigned, const Twine &)> report) const {
  Inference inference(
      op, program.getNumRanks(), [&](Value value) { return get(value); },
      report);
  if (inference.isReady() && !isa<CallOpInterface>(op) &&
      !op->hasTrait<OpTrait::IsTerminator>())
    inference.run(program.getRules());
}

SmallVector<Replication>
ReplicationStates::infer(Operation *op, Value value,
                         const Replication &other) const {
  Inference inference(op, program.getNumRanks(), [&](Value operand) {
    return operand == value ? other : get(operand);
  });
  if (inference.isReady())
    inference.run(program.getRules());
  return llvm::to_vector(inference.getResults());
}

std::optional<SmallVector<Replication>>
ReplicationStates::tryInfer(Operation *op,
                            function_ref<Replication(Value)> lookup) const {
  bool fits = true;
  auto report = [&](unsigned, const Twine &) { fits = false; };
  Inference inference(op, program.getNumRanks(), lookup, report);
  if (!inference.isReady() || isa<CallOpInterface>(op))
    return std::nullopt;
  inference.run(program.getRules());
  if (!fits)
    return std::nullopt;
  return llvm::to_vector(inference.getResults());
}

FunctionOpInterface ReplicationProgram::resolve(CallOpInterface call) {
  auto callee = dyn_cast_or_null<FunctionOpInterface>(
      call.resolveCallableInTable(&tables));
  return callee && !callee.isExternal() && !llvm::is_contained(stack, callee)
             ? callee
             : FunctionOpInterface();
}

const ReplicationStates &
ReplicationProgram::analyse(FunctionOpInterface function,
                            ArrayRef<Replication> arguments) {
  for (const std::unique_ptr<ReplicationStates> &states : analysed)
    if (states->function == function &&
        ArrayRef<Replication>(states->arguments) == arguments)
      return *states;
  std::unique_ptr<ReplicationStates> states(
      new ReplicationStates(*this, function));
  states->arguments.assign(arguments.begin(), arguments.end());
  // A called function is analysed for the arguments of each call.
  states->solver = std::make_unique<DataFlowSolver>(
      DataFlowConfig().setInterprocedural(false));
  dataflow::loadBaselineAnalyses(*states->solver);
  states->solver->load<Analysis>(*this, function, states->arguments);
  stack.push_back(function);
  LogicalResult result = states->solver->initializeAndRun(function);
  stack.pop_back();
  states->results.assign(function.getNumResults(), Replication());
  function->walk([&](Operation *op) {
    if (!op->hasTrait<OpTrait::ReturnLike>() || op->getParentOp() != function)
      return;
    for (auto [joined, operand] : llvm::zip(states->results, op->getOperands()))
      joined = Replication::join(joined, failed(result) ? Replication::varying()
                                                        : states->get(operand));
  });
  analysed.push_back(std::move(states));
  return *analysed.back();
}
