//===- ScaleExponentAnalysis.cpp - The exponent of each value -------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/LossScaling/ScaleExponentAnalysis.h"

#include "ExponentInference.h"
#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/AMPQuantizedOps.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Interfaces/GradientInterfaces.h"
#include "amp/LossScaling/LossScaler.h"
#include "amp/LossScaling/ScalarEvaluator.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/STLExtras.h"
#include <tuple>
#include <utility>

using namespace mlir;
using namespace mlir::amp;

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
    for (Operation &op : body.front())
      if (failed(visit(&op))) {
        stopped = &op;
        result = failure();
        break;
      }
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
  const LinearRule *rule = iface ? nullptr : findRule(op);
  if (!isConditional && isFactor && rule && !rule->isControlFlow() &&
      succeeded(applyRule(op, *rule, /*quiet=*/true)))
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
