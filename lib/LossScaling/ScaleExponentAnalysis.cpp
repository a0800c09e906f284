//===- ScaleExponentAnalysis.cpp - The exponent of each value -------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/LossScaling/ScaleExponentAnalysis.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/AMPScaledOps.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Interfaces/GradientInterfaces.h"
#include "amp/LossScaling/LossScaler.h"
#include "amp/LossScaling/ScalarEvaluator.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <tuple>
#include <utility>

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// ScaleSymbols
//===----------------------------------------------------------------------===//

ScaleExponent::Symbol ScaleSymbols::get(Value scale) {
  Attribute constant;
  const void *key = matchPattern(scale, m_Constant(&constant))
                        ? constant.getAsOpaquePointer()
                        : findEqual(scale).getAsOpaquePointer();
  auto [it, isNew] = numbers.try_emplace(key, values.size());
  if (isNew) {
    values.push_back(scale);
    bases.emplace_back();
  }
  return it->second;
}

void ScaleSymbols::derive(ScaleExponent::Symbol symbol,
                          const ScaleExponent &exponent) {
  for (const ScaleExponent::Term &term : exponent.getTerms())
    if (term.symbol != symbol &&
        !llvm::is_contained(bases[symbol], term.symbol))
      bases[symbol].push_back(term.symbol);
}

/// The name of a loss scale in diagnostics.
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
  // Names that the printer generates are in no file, and computing them numbers
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

std::string ScaleSymbols::describe(const ScaleExponent &exponent) const {
  if (exponent.isUnscaled())
    return "1";
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      exponent.getTerms(), os,
      [&](const ScaleExponent::Term &term) {
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

class ScaleExponentAnalysis::Inference final : public ScaleExponentInference {
public:
  Inference(ScaleExponentAnalysis &analysis, Operation *op, bool quiet = false)
      : analysis(analysis), op(op), quiet(quiet) {
    for (Value operand : op->getOperands())
      operands.push_back(analysis.getExponent(operand));
  }

  Operation *getOperation() const override { return op; }
  const ScaleExponent &getOperand(unsigned index) const override {
    return operands[index];
  }
  ScaleExponent getExponent(Value value) const override {
    return analysis.getExponent(value);
  }
  ScaleExponent getScale(unsigned index) const override {
    // A power of a scale is not another scale.
    ScaleExponent exponent = analysis.getExponent(op->getOperand(index));
    return exponent.getTerms().empty()
               ? ScaleExponent::of(analysis.getSymbol(op->getOperand(index)))
               : exponent;
  }
  ScaleExponent getFactor(unsigned index) const override {
    Value scale = analysis.getRoot(op->getOperand(index));
    ScaleExponent::Symbol symbol = analysis.symbols.get(scale);
    // A loss scale has its own exponent already.
    return analysis.getExponent(scale).mentions(symbol)
               ? ScaleExponent()
               : ScaleExponent::of(symbol);
  }
  void setResult(unsigned index, ScaleExponent exponent) override {
    analysis.set(op->getResult(index), std::move(exponent));
  }
  LogicalResult fail(unsigned index, const Twine &message) override {
    if (quiet)
      return failure();
    InFlightDiagnostic diagnostic = op->emitOpError() << message;
    analysis.explain(op->getOperand(index),
                     *diagnostic.getUnderlyingDiagnostic());
    return diagnostic;
  }
  std::string describe(const ScaleExponent &exponent) const override {
    return analysis.symbols.describe(exponent);
  }

private:
  ScaleExponentAnalysis &analysis;
  Operation *op;
  bool quiet;
  SmallVector<ScaleExponent, 4> operands;
};

//===----------------------------------------------------------------------===//
// ScaleExponentAnalysis
//===----------------------------------------------------------------------===//

void ScaleExponentAnalysis::set(Value value, ScaleExponent exponent) {
  // A loss scale is a multiple of itself. Its exponent names it.
  if (scales.contains(value) && exponent.isUnscaled())
    exponent = ScaleExponent::of(symbols.get(getRoot(value)));
  exponents[value] = std::move(exponent);
}

Value ScaleExponentAnalysis::getRoot(Value value) const {
  SmallVector<Value> worklist = {value};
  llvm::SmallDenseSet<Value> seen;
  Value root;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (auto it = sources.find(next); it != sources.end()) {
      llvm::append_range(worklist, it->second);
      continue;
    }
    if (root && root != next)
      return value;
    root = next;
  }
  return root ? root : value;
}

void ScaleExponentAnalysis::explain(Value value, Diagnostic &diagnostic) const {
  constexpr unsigned kMaxNotes = 8;
  if (getExponent(value).isUnscaled()) {
    if (Operation *op = value.getDefiningOp())
      diagnostic.attachNote(op->getLoc()) << "it is unscaled from here on";
    return;
  }
  llvm::DenseSet<Operation *> seen;
  for (unsigned notes = 0; notes != kMaxNotes; ++notes) {
    Operation *op = value.getDefiningOp();
    if (!op || !seen.insert(op).second)
      return;
    auto scaled = [&](Value operand) {
      return !getExponent(operand).isUnscaled() && !isScale(operand);
    };
    auto next = llvm::find_if(op->getOperands(), scaled);
    bool enters = next == op->getOperands().end();
    if (enters) {
      diagnostic.attachNote(op->getLoc())
          << (isa<QuantizeOp>(op) ? "the scale of quantisation"
                                  : "the loss scale")
          << " enters here";
      return;
    }
    diagnostic.attachNote(op->getLoc()) << "the factor passes through this '"
                                        << op->getName().getStringRef() << "'";
    value = *next;
  }
  diagnostic.attachNote(value.getLoc()) << "and through more operations";
}

/// Finds the loss scales: the values that operations use or define as scales,
/// and the values that control flow ties to these.
void ScaleExponentAnalysis::findScales(FunctionOpInterface function) {
  if (auto it = shared->scales.find(function); it != shared->scales.end()) {
    std::tie(scales, sources) = it->second;
    return;
  }
  // Float arguments of the role `scaler_state` are scales, unless only the
  // scaler reads them.
  for (BlockArgument argument : function.getArguments())
    if (getRole(argument) == Role::ScalerState &&
        isa<FloatType>(getElementTypeOrSelf(argument)) &&
        scalesOthers(argument))
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
        for (Value input : inputs) {
          ties.push_back({operand->get(), input});
          sources[input].push_back(operand->get());
        }
    }
    if (FunctionOpInterface callee = resolve(op)) {
      ScaleExponentAnalysis nested(tables, symbols, linear, shared);
      shared->stack.push_back(callee);
      nested.findScales(callee);
      shared->stack.pop_back();
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
  // A value that is computed from other values is not a new scale. Constants
  // serve many purposes.
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
  shared->scales[function] = {scales, sources};
}

FunctionOpInterface ScaleExponentAnalysis::resolve(Operation *op) const {
  auto call = dyn_cast<CallOpInterface>(op);
  if (!call)
    return {};
  auto symbol = dyn_cast<SymbolRefAttr>(call.getCallableForCallee());
  Operation *found =
      symbol && shared->scope && !SymbolTable::getNearestSymbolTable(op)
          ? tables.lookupNearestSymbolFrom(shared->scope, symbol)
          : call.resolveCallableInTable(&tables);
  auto callee = dyn_cast_or_null<FunctionOpInterface>(found);
  if (!callee || callee.isExternal() ||
      llvm::is_contained(shared->stack, callee))
    return {};
  return callee;
}

LogicalResult ScaleExponentAnalysis::run(FunctionOpInterface function,
                                         ArrayRef<ScaleExponent> arguments,
                                         Operation *scope) {
  if (scope)
    shared->scope = scope;
  findScales(function);
  findHiddenScales(function);
  Region &body = function.getFunctionBody();
  for (auto [argument, exponent] : llvm::zip(body.getArguments(), arguments))
    set(argument, exponent);
  shared->stack.push_back(function);
  LogicalResult result = success();
  if (body.hasOneBlock()) {
    result = visit(body.front());
  } else {
    // In unstructured control flow no value may be scaled.
    for (Block &block : body)
      for (Operation &op : block)
        for (Value operand : op.getOperands())
          if (scales.contains(operand) || !getExponent(operand).isUnscaled())
            result = op.emitOpError(
                "uses a loss scale in unstructured control flow, expected "
                "structured control flow, for which the handling of the scale "
                "can be proved");
  }
  shared->stack.pop_back();
  return result;
}

LogicalResult ScaleExponentAnalysis::visit(Block &block) {
  for (Operation &op : block)
    if (failed(visit(&op)))
      return failure();
  return success();
}

/// Returns failure, after an error, if `op` scales by a constant without a
/// finite reciprocal.
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

bool ScaleExponentAnalysis::holdsNumbers(Type type) {
  return isa<FloatType, ComplexType>(getElementTypeOrSelf(type));
}

bool ScaleExponentAnalysis::readsScalerAlone(Operation *op) const {
  auto iface = dyn_cast<LossScaleOpInterface>(op);
  return op->getNumRegions() == 0 && op->getNumOperands() != 0 &&
         op->getNumResults() != 0 && !isa<CallOpInterface>(op) &&
         !(iface && iface.getLossScaleOperand() >= 0) &&
         llvm::all_of(op->getOperands(), [&](Value value) {
           std::optional<Role> role = getRole(value);
           Operation *definer = value.getDefiningOp();
           return isOfScaler(value) || role == Role::ScalerState ||
                  role == Role::Hyperparameter ||
                  (definer && definer->hasTrait<OpTrait::ConstantLike>());
         });
}

LogicalResult ScaleExponentAnalysis::visitOfScaler(Operation *op) {
  for (Value result : op->getResults()) {
    ofScaler.insert(result);
    set(result, {});
  }
  bool isConditional = findCondition(op).has_value();
  if (!isConditional && llvm::all_of(op->getOperands(), [&](Value value) {
        return getExponent(value).isUnscaled();
      }))
    return failure();
  // A function that may change its sign is not a factor: its own sign depends
  // on the scale.
  bool isFactor = llvm::none_of(op->getOperands(), [&](Value operand) {
    return llvm::any_of(getExponent(operand).getTerms(),
                        [&](const ScaleExponent::Term &term) {
                          return signedSymbols.contains(term.symbol);
                        });
  });
  auto iface = dyn_cast<LossScaleOpInterface>(op);
  Inference inference(*this, op, /*quiet=*/true);
  if (!isConditional && isFactor && iface &&
      succeeded(iface.inferScaleExponents(inference)))
    return success();
  for (Value result : op->getResults()) {
    ScaleExponent::Symbol symbol = symbols.get(result);
    for (Value operand : op->getOperands()) {
      symbols.derive(symbol, getExponent(operand));
      if (auto it = conditions.find(operand); it != conditions.end())
        symbols.derive(symbol, ScaleExponent::of(it->second));
    }
    if (!holdsNumbers(result.getType())) {
      conditions[result] = symbol;
      continue;
    }
    if (!isPositive(result))
      signedSymbols.insert(symbol);
    scales.insert(result);
    set(result, {});
  }
  return success();
}

/// Whether `value` is a gradient seed, moved or cast.
static bool isSeed(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && op->getNumOperands() == 1 && op->getNumRegions() == 0)
    op = op->getOperand(0).getDefiningOp();
  return isa_and_nonnull<GradientSeedOpInterface>(op);
}

bool ScaleExponentAnalysis::visitHidden(Operation *op) {
  if (hidden.empty() || op->getNumOperands() != 2 || op->getNumResults() != 1 ||
      op->getNumRegions() != 0)
    return false;
  for (unsigned index : {0, 1}) {
    Value factor = op->getOperand(index), seed = op->getOperand(1 - index);
    Attribute constant;
    if (!matchPattern(factor, m_Constant(&constant)) || !isSeed(seed))
      continue;
    std::optional<double> number = getNumber(constant);
    auto *it = llvm::find_if(
        hidden, [&](const auto &scale) { return scale.first == number; });
    if (it == hidden.end())
      continue;
    ScaleExponent own = ScaleExponent::of(symbols.get(it->second));
    ScaleExponent product = own + getExponent(seed);
    bool isProduct = false;
    if (auto iface = dyn_cast<LossScaleOpInterface>(op)) {
      ScaleExponent before = getExponent(factor);
      set(factor, own);
      Inference inference(*this, op, /*quiet=*/true);
      isProduct = succeeded(iface.inferScaleExponents(inference)) &&
                  getExponent(op->getResult(0)) == product;
      set(factor, before);
    } else if (const LinearRule *rule = findRule(op)) {
      isProduct = rule->kind == LinearRule::Kind::Product;
    }
    if (!isProduct)
      continue;
    set(op->getResult(0), product);
    return true;
  }
  return false;
}

LogicalResult ScaleExponentAnalysis::visit(Operation *op) {
  if (failed(visitByKind(op)))
    return failure();
  // What updates a scale may read what depends on the scale.
  auto iface = dyn_cast<LossScaleOpInterface>(op);
  if (iface && iface.getFiniteFlagOperand() >= 0)
    return success();
  if (std::optional<ScaleExponent::Symbol> condition = findCondition(op);
      condition && !isa<RegionBranchOpInterface>(op))
    for (Value result : op->getResults())
      spread(result, *condition);
  return success();
}

LogicalResult ScaleExponentAnalysis::visitByKind(Operation *op) {
  ++shared->numVisited;
  if (visitHidden(op))
    return success();
  if (readsScalerAlone(op) && succeeded(visitOfScaler(op)))
    return success();
  if (auto iface = dyn_cast<LossScaleOpInterface>(op)) {
    if (failed(checkConstantScale(iface)))
      return failure();
    for (Value result : op->getResults())
      set(result, {});
    if (int flag = iface.getFiniteFlagResult(); flag >= 0)
      ofScaler.insert(op->getResult(flag));
    if (iface.getFiniteFlagOperand() >= 0)
      ofScaler.insert(op->result_begin(), op->result_end());
    Inference inference(*this, op);
    return iface.inferScaleExponents(inference);
  }
  if (isa<CallOpInterface>(op))
    return visitCall(op);
  const LinearRule *rule = findRule(op);
  if (isa<RegionBranchOpInterface, LoopLikeOpInterface>(op) ||
      (rule && rule->isControlFlow()))
    return visitRegions(op);
  return visitUnknown(op);
}

const LinearRule *ScaleExponentAnalysis::findRule(Operation *op) {
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

LogicalResult ScaleExponentAnalysis::visitUnknown(Operation *op) {
  bool isZero = matchPattern(op, m_AnyZeroFloat());
  for (Value result : op->getResults())
    set(result, isZero ? ScaleExponent::any() : ScaleExponent());
  // The parent or the caller handles the values that a region forwards. An
  // unregistered terminator is known only by its place.
  bool isLast = !op->isRegistered() && op->getNumResults() == 0 &&
                !op->getNextNode() && findRule(op->getParentOp());
  if (isLast || op->hasTrait<OpTrait::IsTerminator>())
    return success();

  llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
  if (op->getNumRegions() != 0)
    getUsedValuesDefinedAbove(op->getRegions(), read);
  const LinearRule *rule = findRule(op);
  if (rule &&
      (rule->isControlFlow() ||
       (op->getNumRegions() != 0 && rule->kind != LinearRule::Kind::Joint)))
    rule = nullptr;
  if (rule && rule->kind == LinearRule::Kind::Constant)
    return applyRule(op, *rule);
  auto it = llvm::find_if(
      read, [&](Value value) { return !getExponent(value).isUnscaled(); });
  // Zeros stay zeros.
  bool isFromZero = rule && llvm::any_of(read, [&](Value value) {
                      return getExponent(value).isAny();
                    });
  if (it == read.end() && isFromZero)
    return applyRule(op, *rule);
  if (it == read.end()) {
    // A constant scale may enter in a region.
    Operation *scaling = nullptr;
    for (Region &region : op->getRegions())
      region.walk([&](LossScaleOpInterface nested) {
        if (nested.getLossScaleOperand() >= 0)
          scaling = nested;
      });
    if (!scaling)
      return success();
    InFlightDiagnostic diagnostic = op->emitOpError(
        "has a region that uses a loss scale, and its effect on the factor is "
        "unknown: it does not implement LossScaleOpInterface; if it "
        "commutes with a factor, name it under the policy's key 'linear'");
    diagnostic.attachNote(scaling->getLoc()) << "the loss scale enters here";
    return diagnostic;
  }
  // An operation that a pass inserted as a cast is a cast in any dialect.
  if (CastLike cast{op}; cast && op->getNumRegions() == 0) {
    set(cast.getResult(), getExponent(cast.getInput()));
    return success();
  }
  if (rule)
    return applyRule(op, *rule);
  InFlightDiagnostic diagnostic =
      op->emitOpError() << "has an operand that is multiplied by "
                        << symbols.describe(getExponent(*it))
                        << ", and its effect on the factor is unknown: it "
                           "does not implement LossScaleOpInterface; if it "
                           "commutes with a factor, name it under the "
                           "policy's key 'linear'";
  explain(*it, *diagnostic.getUnderlyingDiagnostic());
  return diagnostic;
}

LogicalResult ScaleExponentAnalysis::applyRule(Operation *op,
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
    return inferProductExponent(inference);
  case Kind::Quotient:
    if (failed(require("quotient", 2)))
      return failure();
    inference.setResults(inference.getOperand(0) +
                         inference.getOperand(1).power(-1));
    return success();
  case Kind::Power:
    if (failed(require("power", 1)))
      return failure();
    return inferPowerExponent(inference, rule.numerator, rule.denominator);
  case Kind::Each:
    if (op->getNumOperands() != op->getNumResults())
      return op->emitOpError("is declared to keep each operand in 'linear', "
                             "expected as many results, got ")
             << op->getNumOperands() << " and " << op->getNumResults();
    for (unsigned i = 0, e = op->getNumOperands(); i != e; ++i)
      inference.setResult(i, inference.getOperand(i));
    return success();
  case Kind::Constant: {
    // Unregistered operations keep inherent attributes as properties.
    SmallVector<NamedAttribute> attributes(op->getAttrs());
    if (!op->isRegistered())
      if (auto inherent =
              dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute()))
        llvm::append_range(attributes, inherent);
    if (llvm::any_of(attributes, [](NamedAttribute attribute) {
          return isScaleInvariant(attribute.getValue());
        }))
      inference.setResults(ScaleExponent::any());
    return success();
  }
  case Kind::Joint:
  case Kind::Order:
    return applyJointRule(op, rule);
  case Kind::Branch:
  case Kind::Loop:
  case Kind::Body:
    break;
  }
  llvm_unreachable("control flow has no factor of its own");
}

/// Applies one factor to the operands, the results, and the elements in
/// regions.
LogicalResult ScaleExponentAnalysis::applyJointRule(Operation *op,
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
  ScaleExponent exponent;
  if (!operands.empty() && failed(inference.join(operands, exponent)))
    return failure();
  if (rule.kind == LinearRule::Kind::Order)
    return success();

  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(region, captured);
    auto scaled = llvm::find_if(captured, [&](Value value) {
      return !getExponent(value).isUnscaled();
    });
    if (scaled != captured.end() || !region.hasOneBlock()) {
      InFlightDiagnostic diagnostic =
          op->emitOpError("is declared linear, expected regions of one block "
                          "that read nothing scaled from outside");
      if (scaled != captured.end())
        explain(*scaled, *diagnostic.getUnderlyingDiagnostic());
      return diagnostic;
    }
    // The body is visited twice if all operands are zeros and its results are
    // not. The results of an earlier visit hold in this one.
    for (BlockArgument argument : region.getArguments())
      if (auto it = exponents.find(argument);
          it != exponents.end() && holdsNumbers(argument.getType()))
        exponent = exponent.join(it->second).value_or(exponent);
    for (bool changed = true; std::exchange(changed, false);) {
      for (BlockArgument argument : region.getArguments())
        set(argument,
            holdsNumbers(argument.getType()) ? exponent : ScaleExponent());
      if (failed(visit(region.front())))
        return failure();
      if (!region.front().mightHaveTerminator())
        continue;
      for (Value yielded : region.front().getTerminator()->getOperands()) {
        if (!holdsNumbers(yielded.getType()))
          continue;
        std::optional<ScaleExponent> joined =
            exponent.join(getExponent(yielded));
        if (!joined) {
          InFlightDiagnostic diagnostic =
              op->emitOpError("has a region that computes a value that is "
                              "multiplied by ")
              << symbols.describe(getExponent(yielded))
              << " from elements that "
              << "are multiplied by " << symbols.describe(exponent)
              << ", expected one factor";
          explain(yielded, *diagnostic.getUnderlyingDiagnostic());
          return diagnostic;
        }
        changed |= *joined != exponent;
        exponent = *joined;
      }
    }
  }
  bool isHeld = false;
  for (Value result : op->getResults())
    if (holdsNumbers(result.getType())) {
      set(result, exponent);
      isHeld = true;
    }
  if (isHeld || exponent.isUnscaled())
    return success();
  return inference.fail(operands.front(),
                        "loses a factor: it gives no float that could have it");
}
