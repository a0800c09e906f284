//===- CheckLossScaling.cpp - Prove that the loss scale is handled right --===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two proofs. The degrees: no value is used with a factor that it should not
// have. The guards: nothing that depends on an unscaled gradient reaches a
// parameter or an optimizer state when a gradient is not finite.
//
//===----------------------------------------------------------------------===//

#include "ScaleDegreeAnalysis.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Interfaces/GradientInterfaces.h"
#include "amp/Precision/Policy.h"
#include "amp/Transforms/Passes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::amp {
#define GEN_PASS_DEF_CHECKLOSSSCALINGPASS
#include "amp/Transforms/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// Guards
//===----------------------------------------------------------------------===//

namespace {

/// For each value of a step, on which unscaled gradients it depends that may
/// not be finite.
class GuardAnalysis {
public:
  explicit GuardAnalysis(FunctionOpInterface function);

  /// Whether the step has a scale that it updates.
  bool isDynamic() const { return !checks.empty(); }
  LogicalResult check();

private:
  void visit(Operation *op);
  const llvm::BitVector &get(Value value) {
    llvm::BitVector &entry = depends[value];
    entry.resize(checks.size());
    return entry;
  }
  /// The checks of whose flags `condition` is the conjunction.
  llvm::BitVector getFlags(Value condition);

  FunctionOpInterface function;
  /// Operations that unscale gradients by a scale that the step updates, and
  /// tell whether they are finite.
  SmallVector<LossScaleOpInterface> checks;
  SmallVector<LossScaleOpInterface> updates;
  DenseMap<Value, llvm::BitVector> depends;
};

} // namespace

GuardAnalysis::GuardAnalysis(FunctionOpInterface function)
    : function(function) {
  DenseSet<Value> updated;
  function->walk([&](LossScaleOpInterface op) {
    if (op.getFiniteFlagOperand() < 0)
      return;
    updates.push_back(op);
    updated.insert(op->getOperand(op.getLossScaleOperand()));
  });
  function->walk([&](LossScaleOpInterface op) {
    if (op.getFiniteFlagResult() >= 0 &&
        updated.contains(op->getOperand(op.getLossScaleOperand())))
      checks.push_back(op);
  });
}

/// Returns an i1, or a tensor of them, that is false, or null for another type.
static Attribute getFalse(Type type) {
  if (!getElementTypeOrSelf(type).isInteger(1))
    return {};
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.hasStaticShape() ? DenseElementsAttr::get(tensor, false)
                                   : Attribute();
  return type.isInteger(1) ? BoolAttr::get(type.getContext(), false)
                           : Attribute();
}

/// Returns whether the one result of `op` is false wherever operand `index` is:
/// whether it folds so, whatever the other operands are.
static bool isFalseWith(Operation *op, unsigned index) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0)
    return false;
  // Folding moves constant operands to the end, where the order is free.
  if (op->hasTrait<OpTrait::IsCommutative>())
    index = op->getNumOperands() - 1;
  SmallVector<Attribute> operands(op->getNumOperands());
  operands[index] = getFalse(op->getOperand(index).getType());
  Attribute wanted = getFalse(op->getResult(0).getType());
  if (!operands[index] || !wanted)
    return false;
  // Folding may change the operation that it is asked about.
  Operation *copy = op->clone();
  SmallVector<OpFoldResult> results;
  bool folds = succeeded(copy->fold(operands, results)) && results.size() == 1;
  // To the constant, or to the operand that is one.
  if (folds) {
    auto value = dyn_cast<Value>(results.front());
    folds = value
                ? value == copy->getOperand(index) && operands[index] == wanted
                : cast<Attribute>(results.front()) == wanted;
  }
  copy->destroy();
  return folds;
}

/// Returns the region that the branch `op` enters when its only operand, an i1,
/// is `condition`, or null.
static Region *getBranch(RegionBranchOpInterface op, bool condition) {
  if (op->getNumOperands() != 1 || !op->getOperand(0).getType().isInteger(1))
    return nullptr;
  SmallVector<RegionSuccessor> successors;
  op.getEntrySuccessorRegions(BoolAttr::get(op->getContext(), condition),
                              successors);
  return successors.size() == 1 ? successors.front().getSuccessor() : nullptr;
}

llvm::BitVector GuardAnalysis::getFlags(Value condition) {
  llvm::BitVector flags(checks.size());
  SmallVector<Value> worklist = {condition};
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op)
      continue;
    for (auto [index, check] : llvm::enumerate(checks))
      if (op == check && op->getResult(check.getFiniteFlagResult()) == value)
        flags.set(index);
    for (OpOperand &operand : op->getOpOperands())
      if (isFalseWith(op, operand.getOperandNumber()))
        worklist.push_back(operand.get());
  }
  return flags;
}

void GuardAnalysis::visit(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &nested : block)
        visit(&nested);

  // A guard lets through what its branch computes only if all is finite.
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op)) {
    Region *good = getBranch(branch, true), *bad = getBranch(branch, false);
    if (good && bad && good != bad && good->hasOneBlock() &&
        bad->hasOneBlock()) {
      Operation *goodYield = good->front().getTerminator();
      Operation *badYield = bad->front().getTerminator();
      llvm::BitVector flags = getFlags(op->getOperand(0));
      for (OpResult result : op->getResults()) {
        unsigned i = result.getResultNumber();
        llvm::BitVector sum = get(goodYield->getOperand(i));
        sum.reset(flags);
        sum |= get(badYield->getOperand(i));
        depends[result] = sum;
      }
      return;
    }
  }
  // So does a choice between two values.
  if (auto select = dyn_cast<SelectLikeOpInterface>(op)) {
    llvm::BitVector sum = get(select.getTrueValue());
    sum.reset(getFlags(select.getCondition()));
    sum |= get(select.getFalseValue());
    depends[op->getResult(0)] = sum;
    return;
  }
  llvm::BitVector sum(checks.size());
  llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), read);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (block.mightHaveTerminator())
        read.insert(block.getTerminator()->operand_begin(),
                    block.getTerminator()->operand_end());
  for (Value value : read)
    sum |= get(value);
  int flag = -1;
  for (auto [index, check] : llvm::enumerate(checks))
    if (op == check) {
      sum.set(index);
      flag = check.getFiniteFlagResult();
    }
  for (OpResult result : op->getResults())
    if (static_cast<int>(result.getResultNumber()) != flag)
      depends[result] = sum;
}

LogicalResult GuardAnalysis::check() {
  // Twice, so that what a loop carries back is known.
  for (int round = 0; round != 2; ++round)
    for (Block &block : function.getFunctionBody())
      for (Operation &op : block)
        visit(&op);

  Operation *last = function.getFunctionBody().back().getTerminator();
  DenseMap<StringAttr, Role> roles;
  for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i) {
    auto name = function.getArgAttrOfType<StringAttr>(i, AMPDialect::kNameAttr);
    auto role = function.getArgAttrOfType<StringAttr>(i, AMPDialect::kRoleAttr);
    if (name && role)
      if (std::optional<Role> kind = symbolizeRole(role.getValue()))
        roles[name] = *kind;
  }
  bool failed = false;
  for (OpOperand &operand : last->getOpOperands()) {
    auto name = function.getResultAttrOfType<StringAttr>(
        operand.getOperandNumber(), AMPDialect::kUpdatesAttr);
    auto role = name ? roles.find(name) : roles.end();
    if (role == roles.end() || (role->second != Role::Parameter &&
                                role->second != Role::OptimizerState))
      continue;
    int unguarded = get(operand.get()).find_first();
    if (unguarded < 0)
      continue;
    InFlightDiagnostic diagnostic =
        emitError(operand.get().getLoc())
        << "the update of " << name
        << " depends on gradients that may not be finite, expected it within "
           "an 'scf.if' on the conjunction of their finite flags";
    diagnostic.attachNote(checks[unguarded]->getLoc())
        << "these gradients are unscaled and checked here";
    failed = true;
  }
  // The scale must learn of every overflow.
  for (LossScaleOpInterface update : updates) {
    llvm::BitVector flags =
        getFlags(update->getOperand(update.getFiniteFlagOperand()));
    Value scale = update->getOperand(update.getLossScaleOperand());
    for (auto [index, check] : llvm::enumerate(checks))
      if (check->getOperand(check.getLossScaleOperand()) == scale &&
          !flags.test(index)) {
        InFlightDiagnostic diagnostic =
            update->emitOpError("does not see the finite flag of all gradients "
                                "that its scale divides, expected their "
                                "conjunction");
        diagnostic.attachNote(check->getLoc()) << "this one is missing";
        failed = true;
      }
  }
  return failure(failed);
}

//===----------------------------------------------------------------------===//
// Guidance
//===----------------------------------------------------------------------===//

/// Warns of a backward pass that computes in f16 without a loss scale, at the
/// first operation that does.
static void warnOfUnscaledBackwardPass(FunctionOpInterface function,
                                       const ScaleDegreeAnalysis &analysis) {
  DenseSet<Value> fromSeed;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isSeed = isa<GradientSeedOpInterface>(op);
    // A body may read what is no operand.
    llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
    if (op->getNumRegions() != 0)
      getUsedValuesDefinedAbove(op->getRegions(), read);
    // What is computed from gradients of parameters is the update.
    if (!isSeed && llvm::none_of(read, [&](Value value) {
          return fromSeed.contains(value);
        }))
      return WalkResult::advance();
    for (Value result : op->getResults())
      if (getElementTypeOrSelf(result).isF16() && analysis.knows(result) &&
          analysis.getDegree(result).isUnscaled() &&
          !analysis.getDegree(result).isAny()) {
        InFlightDiagnostic diagnostic = op->emitWarning(
            "the backward pass computes in f16 without a loss "
            "scale: gradients below 2^-25 become zero; expected "
            "a dynamic or constant loss scale, or bf16");
        return WalkResult::interrupt();
      }
    // What an inner gradient divides by the scale has none on purpose.
    auto inner = dyn_cast<InnerGradientOp>(op);
    if (!op->hasAttr(AMPDialect::kGradientOfAttr) &&
        !(inner && inner.getScale()))
      fromSeed.insert(op->result_begin(), op->result_end());
    return WalkResult::advance();
  });
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

class CheckLossScalingPass final
    : public amp::impl::CheckLossScalingPassBase<CheckLossScalingPass> {
public:
  using Base::Base;

  void runOnOperation() override;

private:
  LogicalResult checkFunction(FunctionOpInterface function,
                              SymbolTableCollection &tables,
                              ArrayRef<LinearRule> linear);
};

} // namespace

LogicalResult CheckLossScalingPass::checkFunction(FunctionOpInterface function,
                                                  SymbolTableCollection &tables,
                                                  ArrayRef<LinearRule> linear) {
  ScaleSymbols symbols;
  ScaleDegreeAnalysis analysis(tables, symbols, linear);
  SmallVector<ScaleDegree> arguments(function.getNumArguments());
  if (failed(analysis.run(function, arguments)))
    return failure();

  // What leaves the step is unscaled, but for the scales themselves.
  bool failed = false;
  for (Block &block : function.getFunctionBody()) {
    Operation *last = block.getTerminator();
    if (!last->hasTrait<OpTrait::ReturnLike>())
      continue;
    for (OpOperand &operand : last->getOpOperands()) {
      ScaleDegree degree = analysis.getDegree(operand.get());
      if (degree.isUnscaled() || analysis.isScale(operand.get()))
        continue;
      unsigned index = operand.getOperandNumber();
      StringRef kind = "result";
      StringAttr name;
      for (auto [attribute, word] :
           {std::pair(AMPDialect::kUpdatesAttr, "update"),
            std::pair(AMPDialect::kMetricAttr, "metric"),
            std::pair(AMPDialect::kPredictionAttr, "prediction")})
        if (auto found =
                function.getResultAttrOfType<StringAttr>(index, attribute)) {
          kind = word;
          name = found;
        }
      InFlightDiagnostic diagnostic = emitError(operand.get().getLoc());
      diagnostic << "the " << kind << ' ';
      if (name)
        diagnostic << name;
      else
        diagnostic << index;
      diagnostic << " is multiplied by " << symbols.describe(degree)
                 << ", expected an unscaled value";
      analysis.explain(operand.get(), *diagnostic.getUnderlyingDiagnostic());
      failed = true;
    }
  }
  if (failed)
    return failure();

  warnOfUnscaledBackwardPass(function, analysis);
  GuardAnalysis guards(function);
  if (guards.isDynamic() && mlir::failed(guards.check()))
    return failure();

  unsigned scaled = 0, unscaled = 0;
  function->walk([&](Operation *op) {
    if (auto iface = dyn_cast<LossScaleOpInterface>(op))
      if (iface.getFiniteFlagResult() >= 0)
        unscaled += op->getNumResults() - 1;
    for (Value result : op->getResults())
      scaled +=
          !analysis.getDegree(result).isUnscaled() && !analysis.isScale(result);
  });
  numScaled += scaled;
  numUnscaled += unscaled;
  if (scaled != 0)
    remark::analysis(function.getLoc(),
                     remark::RemarkOpts::name("LossScaleProved")
                         .category("amp")
                         .function(function.getName()))
        << remark::metric("ScaledValues", scaled)
        << remark::metric("UnscaledGradients", unscaled);
  return success();
}

void CheckLossScalingPass::runOnOperation() {
  Operation *module = getOperation();
  std::vector<std::string> entries(linear.begin(), linear.end());
  if (!policy.empty()) {
    FailureOr<Policy> loaded = Policy::load(policy, module->getLoc());
    if (mlir::failed(loaded))
      return signalPassFailure();
    llvm::append_range(entries, loaded->settings.linear);
  }
  SmallVector<LinearRule> rules;
  for (const std::string &entry : entries) {
    std::string expected;
    FailureOr<LinearRule> rule = LinearRule::parse(entry, expected);
    if (mlir::failed(rule)) {
      module->emitError() << "amp-check-loss-scaling: expected 'linear' to be "
                          << expected << ", got '" << entry << "'";
      return signalPassFailure();
    }
    rules.push_back(std::move(*rule));
  }
  // A private function that is called is followed from its calls.
  SymbolTableCollection tables;
  // Calls tell more than uses of symbols, which are not known where an
  // unregistered operation might be a symbol table.
  DenseSet<Operation *> called;
  module->walk([&](CallOpInterface call) {
    Operation *callee = call.resolveCallableInTable(&tables);
    if (callee && !callee->isAncestor(call))
      called.insert(callee);
  });
  bool failed = false;
  module->walk<WalkOrder::PreOrder>([&](FunctionOpInterface function) {
    if (!function.isExternal() &&
        (!function.isPrivate() || !called.contains(function)))
      failed |= mlir::failed(checkFunction(function, tables, rules));
    return WalkResult::skip();
  });
  if (failed)
    signalPassFailure();
  markAllAnalysesPreserved();
}
