//===- ScaleDegreeAnalysis.cpp - The degree of each value -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScaleDegreeAnalysis.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Precision/LossScaler.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ParallelCombiningOpInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <utility>

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// ScaleSymbols
//===----------------------------------------------------------------------===//

ScaleDegree::Symbol ScaleSymbols::get(Value scale) {
  Attribute constant;
  const void *key = matchPattern(scale, m_Constant(&constant))
                        ? constant.getAsOpaquePointer()
                        : scale.getAsOpaquePointer();
  auto [it, isNew] = numbers.try_emplace(key, values.size());
  if (isNew)
    values.push_back(scale);
  return it->second;
}

/// The name that a reader knows a loss scale by.
static std::string getName(Value scale) {
  std::string name;
  llvm::raw_string_ostream os(name);
  DenseFPElementsAttr constant;
  if (matchPattern(scale, m_Constant(&constant)) && constant.isSplat()) {
    SmallString<16> digits;
    constant.getSplatValue<APFloat>().toString(digits);
    os << digits;
    return name;
  }
  if (auto argument = dyn_cast<BlockArgument>(scale))
    if (auto function =
            dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp()))
      if (auto attribute = function.getArgAttrOfType<StringAttr>(
              argument.getArgNumber(), AMPDialect::kNameAttr))
        return attribute.str();
  // The names that a printer makes up are in no file, and cost the numbering of
  // the whole module.
  if (auto update = scale.getDefiningOp<LossScaleOpInterface>()) {
    int result = update.getLossScaleResult();
    if (result >= 0 && update->getResult(result) == scale)
      return "the new " +
             getName(update->getOperand(update.getLossScaleOperand()));
  }
  scale.printAsOperand(os, OpPrintingFlags());
  return name;
}

std::string ScaleSymbols::describe(const ScaleDegree &degree) const {
  if (degree.isUnscaled())
    return "1";
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      degree.getTerms(), os,
      [&](const ScaleDegree::Term &term) {
        os << getName(values[term.symbol]);
        if (term.numerator != 1 || term.denominator != 1)
          os << '^' << term.numerator;
        if (term.denominator != 1)
          os << '/' << term.denominator;
      },
      " * ");
  return text;
}

//===----------------------------------------------------------------------===//
// The view of one operation
//===----------------------------------------------------------------------===//

class ScaleDegreeAnalysis::Inference final : public ScaleDegreeInference {
public:
  Inference(ScaleDegreeAnalysis &analysis, Operation *op)
      : analysis(analysis), op(op) {
    for (Value operand : op->getOperands())
      operands.push_back(analysis.getDegree(operand));
  }

  Operation *getOperation() const override { return op; }
  const ScaleDegree &getOperand(unsigned index) const override {
    return operands[index];
  }
  ScaleDegree getDegree(Value value) const override {
    return analysis.getDegree(value);
  }
  ScaleDegree getScale(unsigned index) const override {
    return ScaleDegree::of(analysis.getSymbol(op->getOperand(index)));
  }
  void setResult(unsigned index, ScaleDegree degree) override {
    analysis.set(op->getResult(index), std::move(degree));
  }
  LogicalResult fail(unsigned index, const Twine &message) override {
    InFlightDiagnostic diagnostic = op->emitOpError() << message;
    analysis.explain(op->getOperand(index),
                     *diagnostic.getUnderlyingDiagnostic());
    return diagnostic;
  }
  std::string describe(const ScaleDegree &degree) const override {
    return analysis.symbols.describe(degree);
  }

private:
  ScaleDegreeAnalysis &analysis;
  Operation *op;
  SmallVector<ScaleDegree, 4> operands;
};

//===----------------------------------------------------------------------===//
// ScaleDegreeAnalysis
//===----------------------------------------------------------------------===//

void ScaleDegreeAnalysis::set(Value value, ScaleDegree degree) {
  // A loss scale is a multiple of itself: its degree is what names it.
  if (scales.contains(value) && degree.isUnscaled())
    degree = ScaleDegree::of(symbols.get(value));
  degrees[value] = std::move(degree);
}

void ScaleDegreeAnalysis::explain(Value value, Diagnostic &diagnostic) const {
  constexpr unsigned kMostNotes = 8;
  if (getDegree(value).isUnscaled()) {
    if (Operation *op = value.getDefiningOp())
      diagnostic.attachNote(op->getLoc()) << "it is unscaled from here on";
    return;
  }
  llvm::DenseSet<Operation *> seen;
  for (unsigned notes = 0; notes != kMostNotes; ++notes) {
    Operation *op = value.getDefiningOp();
    if (!op || !seen.insert(op).second)
      return;
    auto scaled = [&](Value operand) {
      return !getDegree(operand).isUnscaled() && !isScale(operand);
    };
    auto next = llvm::find_if(op->getOperands(), scaled);
    bool enters = next == op->getOperands().end();
    diagnostic.attachNote(op->getLoc())
        << (enters ? "the loss scale enters here"
                   : "the factor passes through this '")
        << (enters ? "" : op->getName().getStringRef()) << (enters ? "" : "'");
    if (enters)
      return;
    value = *next;
  }
  diagnostic.attachNote(value.getLoc()) << "and through more operations";
}

/// Finds the values that are loss scales: what operations use or define as one,
/// and what control flow ties to these.
void ScaleDegreeAnalysis::findScales(FunctionOpInterface function) {
  // What the state of the scaler says of itself, whoever reads it.
  for (BlockArgument argument : function.getArguments())
    if (getRole(argument) == Role::ScalerState &&
        isa<FloatType>(getElementTypeOrSelf(argument)))
      scales.insert(argument);
  SmallVector<std::pair<Value, Value>> ties;
  function->walk([&](Operation *op) {
    if (auto iface = dyn_cast<LossScaleOpInterface>(op)) {
      if (int i = iface.getLossScaleOperand(); i >= 0)
        scales.insert(op->getOperand(i));
      if (int i = iface.getLossScaleResult(); i >= 0)
        scales.insert(op->getResult(i));
    }
    if (auto branch = dyn_cast<RegionBranchOpInterface>(op)) {
      RegionBranchSuccessorMapping mapping;
      branch.getSuccessorOperandInputMapping(mapping);
      for (auto &[operand, inputs] : mapping)
        for (Value input : inputs)
          ties.push_back({operand->get(), input});
    }
    if (FunctionOpInterface callee = resolve(op)) {
      ScaleDegreeAnalysis nested(*this);
      stack->push_back(callee);
      nested.scales.clear();
      nested.findScales(callee);
      stack->pop_back();
      for (auto [operand, argument] :
           llvm::zip(cast<CallOpInterface>(op).getArgOperands(),
                     callee.getArguments()))
        if (nested.isScale(argument))
          scales.insert(operand);
    }
  });
  for (size_t before = 0; before != scales.size();) {
    before = scales.size();
    for (auto [operand, input] : ties)
      if (scales.contains(operand) || scales.contains(input))
        scales.insert({operand}), scales.insert({input});
  }
  // What is computed from something else is no scale of its own, and constants
  // stand for many things.
  SmallVector<Value> derived;
  for (Value scale : scales) {
    Operation *op = scale.getDefiningOp();
    if (!op || isa<RegionBranchOpInterface>(op))
      continue;
    auto iface = dyn_cast<LossScaleOpInterface>(op);
    int result = iface ? iface.getLossScaleResult() : -1;
    if (result < 0 || op->getResult(result) != scale)
      derived.push_back(scale);
  }
  for (Value scale : derived)
    scales.erase(scale);
}

FunctionOpInterface ScaleDegreeAnalysis::resolve(Operation *op) const {
  auto call = dyn_cast<CallOpInterface>(op);
  if (!call)
    return {};
  auto callee = dyn_cast_or_null<FunctionOpInterface>(
      call.resolveCallableInTable(&tables));
  if (!callee || callee.isExternal() || llvm::is_contained(*stack, callee))
    return {};
  return callee;
}

LogicalResult ScaleDegreeAnalysis::run(FunctionOpInterface function,
                                       ArrayRef<ScaleDegree> arguments) {
  findScales(function);
  Region &body = function.getFunctionBody();
  for (auto [argument, degree] : llvm::zip(body.getArguments(), arguments))
    set(argument, degree);
  stack->push_back(function);
  LogicalResult result = success();
  if (body.hasOneBlock()) {
    result = visit(body.front());
  } else {
    // Without structure no value may be scaled.
    for (Block &block : body)
      for (Operation &op : block)
        for (Value operand : op.getOperands())
          if (scales.contains(operand) || !getDegree(operand).isUnscaled())
            result = op.emitOpError(
                "uses a loss scale in unstructured control flow, expected "
                "structured control flow, of which it can be proved that the "
                "scale is handled correctly");
  }
  stack->pop_back();
  return result;
}

LogicalResult ScaleDegreeAnalysis::visit(Block &block) {
  for (Operation &op : block)
    if (failed(visit(&op)))
      return failure();
  return success();
}

/// Returns failure, after an error, if `op` scales by a constant by which
/// nothing can be divided.
static LogicalResult checkConstantScale(LossScaleOpInterface op) {
  int index = op.getLossScaleOperand();
  DenseFPElementsAttr constant;
  if (index < 0 || !matchPattern(op->getOperand(index), m_Constant(&constant)))
    return success();
  for (const APFloat &element : constant.getValues<APFloat>()) {
    APFloat scale = element;
    bool losesInfo;
    scale.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    SmallString<16> digits;
    element.toString(digits);
    if (!isLossScale(scale.convertToDouble()))
      return op->emitOpError("has the constant loss scale ")
             << digits
             << ", expected a positive one that is finite in f32, and so is "
                "its reciprocal";
  }
  return success();
}

/// Returns whether `type` holds numbers that a factor may multiply.
static bool holdsNumbers(Type type) {
  return isa<FloatType, ComplexType>(getElementTypeOrSelf(type));
}

static bool isControlFlow(const LinearRule &rule) {
  return rule.kind == LinearRule::Kind::Branch ||
         rule.kind == LinearRule::Kind::Loop;
}

LogicalResult ScaleDegreeAnalysis::visit(Operation *op) {
  if (auto iface = dyn_cast<LossScaleOpInterface>(op)) {
    if (failed(checkConstantScale(iface)))
      return failure();
    for (Value result : op->getResults())
      set(result, {});
    Inference inference(*this, op);
    return iface.inferScaleDegrees(inference);
  }
  if (isa<CallOpInterface>(op))
    return visitCall(op);
  const LinearRule *rule = findRule(op);
  if (isa<RegionBranchOpInterface, LoopLikeOpInterface>(op) ||
      (rule && isControlFlow(*rule)))
    return visitRegions(op);
  return visitUnknown(op);
}

const LinearRule *ScaleDegreeAnalysis::findRule(Operation *op) {
  if (linear.empty())
    return nullptr;
  auto [it, isNew] = rules.try_emplace(op->getName(), nullptr);
  if (isNew) {
    const auto *rule = llvm::find_if(linear, [op](const LinearRule &rule) {
      return rule.pattern.match(op->getName().getStringRef());
    });
    it->second = rule == linear.end() ? nullptr : rule;
  }
  return it->second;
}

LogicalResult ScaleDegreeAnalysis::visitUnknown(Operation *op) {
  bool isZero = matchPattern(op, m_AnyZeroFloat());
  for (Value result : op->getResults())
    set(result, isZero ? ScaleDegree::any() : ScaleDegree());
  // What a region hands on to its parent or to the caller is theirs to judge.
  // Of an unregistered operation nobody knows that it does, but its place.
  bool isLast = !op->isRegistered() && op->getNumResults() == 0 &&
                !op->getNextNode() && findRule(op->getParentOp());
  if (isLast || op->hasTrait<OpTrait::IsTerminator>())
    return success();

  llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
  if (op->getNumRegions() != 0)
    getUsedValuesDefinedAbove(op->getRegions(), read);
  const LinearRule *rule = findRule(op);
  if (rule && (isControlFlow(*rule) || (op->getNumRegions() != 0 &&
                                        rule->kind != LinearRule::Kind::Joint)))
    rule = nullptr;
  if (rule && rule->kind == LinearRule::Kind::Constant)
    return applyRule(op, *rule);
  auto it = llvm::find_if(
      read, [&](Value value) { return !getDegree(value).isUnscaled(); });
  // What is zero stays so.
  bool isFromZero = rule && llvm::any_of(read, [&](Value value) {
                      return getDegree(value).isAny();
                    });
  if (it == read.end() && isFromZero)
    return applyRule(op, *rule);
  if (it == read.end()) {
    // A constant scale may enter within.
    Operation *scaling = nullptr;
    for (Region &region : op->getRegions())
      region.walk([&](LossScaleOpInterface nested) {
        if (nested.getLossScaleOperand() >= 0)
          scaling = nested;
      });
    if (!scaling)
      return success();
    InFlightDiagnostic diagnostic = op->emitOpError(
        "has a region that uses a loss scale, and what becomes of the factor "
        "is unknown: it does not implement LossScaleOpInterface");
    diagnostic.attachNote(scaling->getLoc()) << "the loss scale enters here";
    return diagnostic;
  }
  // What a pass inserted as a cast is one, whatever its dialect calls it.
  if (CastLike cast{op}; cast && op->getNumRegions() == 0) {
    set(cast.getResult(), getDegree(cast.getInput()));
    return success();
  }
  if (rule)
    return applyRule(op, *rule);
  InFlightDiagnostic diagnostic =
      op->emitOpError() << "has an operand that is multiplied by "
                        << symbols.describe(getDegree(*it))
                        << ", and what it does to the factor is unknown: it "
                           "does not implement LossScaleOpInterface";
  explain(*it, *diagnostic.getUnderlyingDiagnostic());
  return diagnostic;
}

LogicalResult ScaleDegreeAnalysis::applyRule(Operation *op,
                                             const LinearRule &rule) {
  using Kind = LinearRule::Kind;
  Inference inference(*this, op);
  auto require = [&](StringRef what, unsigned count) -> LogicalResult {
    if (op->getNumOperands() >= count)
      return success();
    return op->emitOpError("is declared a ")
           << what << " in 'linear', expected "
           << (count == 1 ? "an operand" : "two operands") << ", got "
           << op->getNumOperands();
  };
  switch (rule.kind) {
  case Kind::Product:
    if (failed(require("product", 2)))
      return failure();
    return inferProductDegree(inference);
  case Kind::Quotient:
    if (failed(require("quotient", 2)))
      return failure();
    inference.setResults(inference.getOperand(0) +
                         inference.getOperand(1).power(-1));
    return success();
  case Kind::Power:
    if (failed(require("power", 1)))
      return failure();
    return inferPowerDegree(inference, rule.numerator, rule.denominator);
  case Kind::Each:
    if (op->getNumOperands() != op->getNumResults())
      return op->emitOpError("is declared to keep each operand in 'linear', "
                             "expected as many results, got ")
             << op->getNumOperands() << " and " << op->getNumResults();
    for (unsigned i = 0, e = op->getNumOperands(); i != e; ++i)
      inference.setResult(i, inference.getOperand(i));
    return success();
  case Kind::Constant: {
    // Unregistered operations keep what is inherent to them as properties.
    SmallVector<NamedAttribute> attributes(op->getAttrs());
    if (!op->isRegistered())
      if (auto inherent =
              dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute()))
        llvm::append_range(attributes, inherent);
    if (llvm::any_of(attributes, [](NamedAttribute attribute) {
          return isScaleInvariant(attribute.getValue());
        }))
      inference.setResults(ScaleDegree::any());
    return success();
  }
  case Kind::Joint:
  case Kind::Order:
    return applyJointRule(op, rule);
  case Kind::Branch:
  case Kind::Loop:
    break;
  }
  llvm_unreachable("control flow has no factor of its own");
}

/// One factor of operands, results, and the elements that regions work on.
LogicalResult ScaleDegreeAnalysis::applyJointRule(Operation *op,
                                                  const LinearRule &rule) {
  Inference inference(*this, op);
  SmallVector<unsigned> operands(rule.operands.begin(), rule.operands.end());
  for (unsigned index : operands)
    if (index >= op->getNumOperands())
      return op->emitOpError("is declared linear in operand ")
             << index << ", but has " << op->getNumOperands();
  for (unsigned i = 0, e = op->getNumOperands(); i != e; ++i) {
    if (rule.operands.empty()) {
      if (holdsNumbers(op->getOperand(i).getType()))
        operands.push_back(i);
    } else if (!llvm::is_contained(rule.operands, i)) {
      std::string named;
      llvm::raw_string_ostream os(named);
      llvm::interleave(rule.operands, os, " and ");
      if (failed(inference.requireUnscaled(
              i, "the operation is linear only in operand " + named)))
        return failure();
    }
  }
  ScaleDegree degree;
  if (!operands.empty() && failed(inference.join(operands, degree)))
    return failure();
  if (rule.kind == LinearRule::Kind::Order)
    return success();

  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(region, captured);
    auto scaled = llvm::find_if(
        captured, [&](Value value) { return !getDegree(value).isUnscaled(); });
    if (scaled != captured.end() || !region.hasOneBlock()) {
      InFlightDiagnostic diagnostic =
          op->emitOpError("is declared linear, expected regions of one block "
                          "that read nothing scaled from outside");
      if (scaled != captured.end())
        explain(*scaled, *diagnostic.getUnderlyingDiagnostic());
      return diagnostic;
    }
    // Twice if all operands are zeros, and what is computed from them is not.
    for (bool changed = true; std::exchange(changed, false);) {
      for (BlockArgument argument : region.getArguments()) {
        degrees.erase(argument);
        set(argument,
            holdsNumbers(argument.getType()) ? degree : ScaleDegree());
      }
      if (failed(visit(region.front())))
        return failure();
      if (!region.front().mightHaveTerminator())
        continue;
      for (Value yielded : region.front().getTerminator()->getOperands()) {
        if (!holdsNumbers(yielded.getType()))
          continue;
        std::optional<ScaleDegree> joined = degree.join(getDegree(yielded));
        if (!joined) {
          InFlightDiagnostic diagnostic =
              op->emitOpError("computes in its region what is multiplied by ")
              << symbols.describe(getDegree(yielded)) << " from elements that "
              << "are by " << symbols.describe(degree)
              << ", expected one factor";
          explain(yielded, *diagnostic.getUnderlyingDiagnostic());
          return diagnostic;
        }
        changed |= *joined != degree;
        degree = *joined;
      }
    }
  }
  bool isHeld = false;
  for (Value result : op->getResults())
    if (holdsNumbers(result.getType())) {
      set(result, degree);
      isHeld = true;
    }
  if (isHeld || degree.isUnscaled())
    return success();
  return inference.fail(operands.front(),
                        "loses a factor: it gives no float that could have it");
}

LogicalResult ScaleDegreeAnalysis::visitCall(Operation *op) {
  FunctionOpInterface callee = resolve(op);
  if (!callee)
    return visitUnknown(op);
  SmallVector<ScaleDegree> arguments;
  for (Value operand : cast<CallOpInterface>(op).getArgOperands())
    arguments.push_back(getDegree(operand));
  ScaleDegreeAnalysis nested(*this);
  nested.degrees.clear();
  nested.scales.clear();
  // A scale that is handed over is the caller's.
  if (failed(nested.run(callee, arguments)))
    return failure();
  for (Block &block : callee.getFunctionBody())
    if (Operation *last = block.getTerminator();
        last->getNumOperands() == op->getNumResults())
      for (auto [result, operand] :
           llvm::zip(op->getResults(), last->getOperands())) {
        set(result, nested.getDegree(operand));
        if (nested.isScale(operand))
          scales.insert(result);
      }
  return success();
}

LogicalResult ScaleDegreeAnalysis::carry(OpOperand &operand, Value input,
                                         Operation *op, bool &changed) {
  ScaleDegree degree = getDegree(operand.get());
  // A scale that is carried is another one each time.
  if (scales.contains(input)) {
    if (scales.contains(operand.get()) || degree.isUnscaled())
      return success();
  }
  // So nothing that is multiplied by an inner one leaves its iteration.
  for (const ScaleDegree::Term &term : degree.getTerms())
    if (op->isProperAncestor(
            symbols.getValue(term.symbol).getParentBlock()->getParentOp()) ||
        symbols.getValue(term.symbol).getParentBlock()->getParentOp() == op) {
      InFlightDiagnostic diagnostic =
          operand.getOwner()->emitOpError()
          << "carries a value that is multiplied by "
          << symbols.describe(degree)
          << ", a scale of this iteration alone, expected it to be unscaled";
      explain(operand.get(), *diagnostic.getUnderlyingDiagnostic());
      return diagnostic;
    }
  auto [it, isNew] = degrees.try_emplace(input, degree);
  if (isNew) {
    changed = true;
    return success();
  }
  std::optional<ScaleDegree> joined = it->second.join(degree);
  if (!joined) {
    InFlightDiagnostic diagnostic =
        operand.getOwner()->emitOpError()
        << "carries a value that is multiplied by " << symbols.describe(degree)
        << " to where another one is multiplied by "
        << symbols.describe(it->second) << ", expected one factor";
    explain(operand.get(), *diagnostic.getUnderlyingDiagnostic());
    return diagnostic;
  }
  changed |= *joined != it->second;
  it->second = *joined;
  return success();
}

/// What one operation of control flow passes on.
using Ties = SmallVector<std::pair<OpOperand *, Value>>;

/// Returns what `op`, a loop whose iterations combine their results in
/// parallel, passes to its body and its results, and what the terminator of the
/// body passes: a destination is one tensor throughout.
static std::pair<Ties, Ties> getCombined(LoopLikeOpInterface op,
                                         InParallelOpInterface terminator) {
  std::pair<Ties, Ties> ties;
  auto style = dyn_cast<DestinationStyleOpInterface>(op.getOperation());
  if (!style)
    return ties;
  DenseMap<Value, Value> results;
  for (OpOperand &init : op.getInitsMutable()) {
    BlockArgument argument = op.getTiedLoopRegionIterArg(&init);
    if (!argument || !style.isDpsInit(&init))
      continue;
    Value result = style.getTiedOpResult(&init);
    results[argument] = result;
    ties.first.push_back({&init, argument});
    ties.first.push_back({&init, result});
  }
  for (Operation &inner : terminator.getYieldingOps()) {
    auto combiner = dyn_cast<ParallelCombiningOpInterface>(inner);
    if (!combiner)
      return {};
    for (OpOperand &destination : combiner.getUpdatedDestinations()) {
      auto it = results.find(destination.get());
      if (it == results.end())
        return {};
      for (OpOperand &operand : inner.getOpOperands())
        if (isa<FloatType>(getElementTypeOrSelf(operand.get()))) {
          ties.second.push_back({&operand, it->first});
          ties.second.push_back({&operand, it->second});
        }
    }
  }
  return ties;
}

/// Finds what an operation that is control flow by a rule passes on: `holders`
/// are the operation and the terminators of its regions. Returns whether it has
/// the form that the rule says.
static bool tieByRule(Operation *op, const LinearRule &rule,
                      MutableArrayRef<std::pair<Operation *, Ties>> holders) {
  auto tie = [](std::pair<Operation *, Ties> &holder, ValueRange to) {
    if (holder.first->getNumOperands() != to.size())
      return false;
    for (auto [operand, input] :
         llvm::zip_equal(holder.first->getOpOperands(), to))
      holder.second.push_back({&operand, input});
    return true;
  };
  MutableArrayRef<std::pair<Operation *, Ties>> yields = holders.drop_front();
  if (yields.empty() || yields.size() != op->getNumRegions())
    return false;
  if (rule.kind == LinearRule::Kind::Branch)
    return llvm::all_of(yields, [&](auto &yield) {
      return yield.first->getParentRegion()->getNumArguments() == 0 &&
             tie(yield, op->getResults());
    });
  for (std::pair<Operation *, Ties> *holder :
       {&holders.front(), &yields.back()}) {
    for (Region &region : op->getRegions())
      if (!tie(*holder, region.getArguments()))
        return false;
    if (!tie(*holder, op->getResults()))
      return false;
  }
  return true;
}

LogicalResult ScaleDegreeAnalysis::visitRegions(Operation *op) {
  // In program order, for the same diagnostic each time. An operation with a
  // body stands for its terminator too.
  SmallVector<std::pair<Operation *, Ties>> holders = {{op, {}}};
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  const LinearRule *rule = findRule(op);
  if (rule && !isControlFlow(*rule))
    rule = nullptr;
  RegionBranchSuccessorMapping mapping;
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op))
    branch.getSuccessorOperandInputMapping(mapping);
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    if (!region.hasOneBlock())
      return visitUnknown(op);
    if (!region.front().mightHaveTerminator())
      continue;
    Operation *last = region.front().getTerminator();
    holders.push_back({last, {}});
    if (auto parallel = dyn_cast<InParallelOpInterface>(last); parallel && loop)
      std::tie(holders.front().second, holders.back().second) =
          getCombined(loop, parallel);
  }
  if (rule && !tieByRule(op, *rule, holders))
    return visitUnknown(op);
  for (auto &[holder, ties] : holders)
    if (ties.empty())
      for (OpOperand &operand : holder->getOpOperands())
        if (auto it = mapping.find(&operand); it != mapping.end())
          for (Value input : it->second)
            ties.push_back({&operand, input});

  // Of what comes from elsewhere, such as from a reduction, nothing is known.
  llvm::DenseSet<Value> tied;
  for (auto &[holder, ties] : holders)
    for (auto [operand, input] : ties)
      tied.insert(input);
  auto isUnknown = [&](Value value) {
    return !tied.contains(value) && holdsNumbers(value.getType());
  };
  if (llvm::any_of(op->getResults(), isUnknown))
    return visitUnknown(op);
  for (Region &region : op->getRegions())
    if (llvm::any_of(region.getArguments(), isUnknown))
      return visitUnknown(op);

  auto reset = [&](Value value) {
    degrees.erase(value);
    // The rest, such as induction variables, is no multiple of a scale.
    if (scales.contains(value) || !tied.contains(value))
      set(value, {});
  };
  for (Region &region : op->getRegions())
    llvm::for_each(region.getArguments(), reset);
  llvm::for_each(op->getResults(), reset);
  for (bool changed = true; changed;) {
    changed = false;
    for (auto &[holder, ties] : holders) {
      // The body that ends with this terminator.
      if (holder != op && failed(visit(*holder->getBlock())))
        return failure();
      for (auto [operand, input] : ties)
        if (failed(carry(*operand, input, op, changed)))
          return failure();
    }
  }
  return success();
}
