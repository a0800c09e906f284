//===- ConstantFactors.cpp - Constant factors of values -------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConstantFactors.h"

#include "amp/Interfaces/FloatRangeOpInterface.h"
#include "amp/Interfaces/LossScaleOpInterface.h"
#include "amp/Interfaces/PrecisionOpInterface.h"
#include "amp/Interfaces/Proportional.h"
#include "amp/Support/RegionFlow.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

using namespace mlir;
using namespace mlir::amp;

std::optional<ConstantElements>
mlir::amp::readConstant(Operation *op, const AdapterOperation *adapted,
                        FloatType low) {
  if (adapted)
    for (StringRef name : adapted->typeAttributes)
      if (Attribute value = op->getAttr(name))
        if (auto elements = getConstantElements(value, low))
          return elements;
  return getConstantElements(op, low);
}

namespace {

/// The binary logarithms of the largest and the smallest magnitude of a value,
/// where data has the magnitude 1.
struct Factor {
  double largest = 0, smallest = 0;
  /// Whether the value is computed from constants alone.
  bool isConstant = false;

  /// Whether the value has the factor of data, 1.
  bool isData() const { return largest == 0 && smallest == 0 && !isConstant; }
  bool operator<(const Factor &other) const {
    return std::tie(largest, smallest, isConstant) <
           std::tie(other.largest, other.smallest, other.isConstant);
  }
};

/// Computes the factors in all functions. A function is evaluated once for each
/// combination of factors that its callers pass.
class FactorFinder {
public:
  FactorFinder(const Policy &policy, const ConstantTable &constants)
      : policy(policy), constants(constants) {}

  llvm::DenseSet<Value> run(Operation *root) {
    root->walk<WalkOrder::PreOrder>([&](FunctionOpInterface function) {
      if (!function.isExternal())
        evaluate(function, SmallVector<Factor>(function.getNumArguments()));
      return WalkResult::skip();
    });
    return std::move(found);
  }

private:
  using Factors = SmallVector<Factor>;

  static bool holdsFloats(Value value) {
    return isa<FloatType>(getElementTypeOrSelf(value.getType()));
  }

  Factor get(Value value) const { return factors.lookup(value); }

  void set(Value value, Factor factor) {
    // The largest finite number of f16 is 65504. The smallest is 2^-24, and a
    // loss scale is at most 2^24.
    static const double most = std::log2(65504.0), least = -48;
    if (!holdsFloats(value))
      return;
    factors[value] = factor;
    if ((factor.smallest > most || factor.largest < least) &&
        !factor.isConstant)
      found.insert(value);
  }

  /// The number of combinations of factors for which a function is evaluated.
  /// Without a limit, the number can double with each level of calls.
  static constexpr unsigned kMostEvaluations = 32;

  /// Returns the factors of the results of `function` for the factors
  /// `arguments`. The results of recursive calls, and of calls beyond the
  /// limit, have the factor 1.
  Factors evaluate(FunctionOpInterface function, const Factors &arguments) {
    if (active.contains(function))
      return {};
    std::map<std::vector<Factor>, Factors> &known = returned[function];
    std::vector<Factor> key(arguments.begin(), arguments.end());
    if (auto it = known.find(key); it != known.end())
      return it->second;
    if (known.size() == kMostEvaluations)
      return {};
    active.insert(function);
    if (!known.empty())
      forget(function);
    for (auto [argument, factor] :
         llvm::zip(function.getArguments(), arguments))
      set(argument, factor);
    Factors results;
    for (Block &block : function.getFunctionBody()) {
      evaluate(block);
      Operation *last = block.empty() ? nullptr : &block.back();
      if (last && last->hasTrait<OpTrait::ReturnLike>())
        for (Value operand : last->getOperands())
          results.push_back(get(operand));
    }
    active.erase(function);
    return known[std::move(key)] = results;
  }

  /// Erases the factors of an earlier evaluation of `function`.
  void forget(FunctionOpInterface function) {
    function.walk([&](Operation *op) {
      for (Value result : op->getResults())
        factors.erase(result);
      for (Region &region : op->getRegions())
        for (Value argument : region.getArguments())
          factors.erase(argument);
    });
  }

  void evaluate(Block &block) {
    for (Operation &op : block) {
      if (isa<FunctionOpInterface>(op))
        continue;
      if (FunctionOpInterface callee = findCallee(&op)) {
        evaluateCall(cast<CallOpInterface>(op), callee);
        continue;
      }
      for (Region &region : op.getRegions())
        for (Block &nested : region) {
          for (BlockArgument argument : nested.getArguments())
            join(argument);
          evaluate(nested);
        }
      if (op.getNumRegions() != 0 && RegionFlow::isKnown(&op) &&
          llvm::any_of(op.getResults(), [&](Value result) {
            return !flow.getSources(result).empty();
          })) {
        for (Value result : op.getResults())
          join(result);
        continue;
      }
      if (op.getNumResults() == 0 ||
          !llvm::any_of(op.getResults(), holdsFloats))
        continue;
      Factor factor = combine(&op);
      for (Value result : op.getResults())
        set(result, factor);
    }
  }

  FunctionOpInterface findCallee(Operation *op) {
    auto call = dyn_cast<CallOpInterface>(op);
    auto callee = call ? dyn_cast_or_null<FunctionOpInterface>(
                             call.resolveCallableInTable(&tables))
                       : FunctionOpInterface();
    return callee && !callee.isExternal() ? callee : FunctionOpInterface();
  }

  void evaluateCall(CallOpInterface call, FunctionOpInterface callee) {
    Factors arguments;
    for (Value operand : call.getArgOperands())
      arguments.push_back(get(operand));
    arguments.resize(callee.getNumArguments());
    Factors results = evaluate(callee, arguments);
    results.resize(call->getNumResults());
    for (auto [result, factor] : llvm::zip(call->getResults(), results))
      set(result, factor);
  }

  /// Sets the factor of `carried` to the smallest known factor of the values
  /// that control flow forwards to it.
  void join(Value carried) {
    std::optional<Factor> joined;
    for (OpOperand *source : flow.getSources(carried))
      if (auto it = factors.find(source->get()); it != factors.end())
        joined = joined ? std::min(*joined, it->second) : it->second;
    set(carried, joined.value_or(Factor()));
  }

  /// Returns the factor of the results of `op`.
  Factor combine(Operation *op) const {
    if (auto it = constants.find(op->getNumResults() == 1 ? op->getResult(0)
                                                          : Value());
        it != constants.end())
      return ofConstant(it->second);
    SmallVector<Value, 4> operands =
        llvm::filter_to_vector<4>(op->getOperands(), holdsFloats);
    // The rules of operations take time, and few values have factors.
    if (llvm::all_of(operands,
                     [&](Value operand) { return get(operand).isData(); }) ||
        isBounded(op))
      return {};
    Factor result = isa<LossScaleOpInterface>(op)
                        ? combineByInterface(op)
                        : combineByPolicy(op, operands);
    result.isConstant = llvm::all_of(
        operands, [&](Value operand) { return get(operand).isConstant; });
    return result;
  }

  static Factor ofConstant(const FloatRange &range) {
    double largest = std::max(std::abs(range.lo), std::abs(range.hi));
    if (range.isEmpty() || largest == 0)
      return {0, 0, true};
    double smallest = range.lo > 0   ? range.lo
                      : range.hi < 0 ? -range.hi
                                     : std::min(largest, 1.0);
    return {std::log2(largest), std::log2(smallest), true};
  }

  /// Returns whether the policy keeps the types of all operations with this
  /// name, because they are steep or unknown.
  bool isKept(Operation *op) const {
    OpClass opClass = policy.classify(op->getName());
    return opClass != OpClass::Allow && opClass != OpClass::Infer &&
           opClass != OpClass::Clear;
  }

  /// Returns whether the results of `op` fit f16 for any operands.
  bool isBounded(Operation *op) const {
    const AdapterOperation *adapted = policy.findAdapted(op->getName());
    if (adapted && adapted->isBounded)
      return true;
    auto rule = dyn_cast<FloatRangeOpInterface>(op);
    if (!rule || rule.getElementFlow() == ElementFlow::Moves)
      return false;
    SmallVector<FloatRange> operands(op->getNumOperands(),
                                     FloatRange::unknown());
    SmallVector<FloatRange> results(op->getNumResults(), FloatRange::unknown());
    rule.inferFloatRanges(operands, results);
    FloatType half = Float16Type::get(op->getContext());
    return llvm::all_of(
        results, [&](const FloatRange &range) { return range.fits(half); });
  }

  Factor combineByInterface(Operation *op) const {
    auto iface = dyn_cast<PrecisionOpInterface>(op);
    if (iface && iface.getArithmetic() == Arithmetic::Square)
      return multiply(get(op->getOperand(0)), get(op->getOperand(0)));
    SmallVector<Value, 4> proportional, others;
    Value inverse;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!holdsFloats(operand.get()))
        continue;
      unsigned number = operand.getOperandNumber();
      bool isFactor = isProportionalTo(op, number);
      (isFactor ? proportional : others).push_back(operand.get());
      if (!isFactor && isInverselyProportionalTo(op, number))
        inverse = operand.get();
    }
    if (proportional.empty())
      return isKept(op) ? Factor() : add(op, others);
    Factor result = get(proportional.front());
    for (Value value : ArrayRef<Value>(proportional).drop_front())
      result = multiply(result, get(value));
    if (inverse)
      result = divide(result, get(inverse));
    return result;
  }

  Factor combineByPolicy(Operation *op, ArrayRef<Value> operands) const {
    std::optional<LinearRule::Kind> kind = policy.findLinearKind(op);
    bool isProduct = kind == LinearRule::Kind::Product ||
                     policy.classify(op->getName()) == OpClass::Allow;
    if (operands.size() >= 2 && isProduct)
      return multiply(get(operands[0]), get(operands[1]));
    if (operands.size() >= 2 && kind == LinearRule::Kind::Quotient)
      return divide(get(operands[0]), get(operands[1]));
    return isKept(op) && kind != LinearRule::Kind::Joint ? Factor()
                                                         : add(op, operands);
  }

  static Factor multiply(const Factor &a, const Factor &b) {
    return {a.largest + b.largest,
            // A constant that contains zeros may be a mask, so only its
            // largest element counts.
            (a.isConstant ? a.largest : a.smallest) +
                (b.isConstant ? b.largest : b.smallest),
            false};
  }

  /// A small factor of a divisor counts only if the divisor is constant,
  /// because data may have any magnitude.
  static Factor divide(const Factor &a, const Factor &b) {
    double divisor = b.isConstant ? b.smallest : std::max(b.smallest, 0.0);
    return {a.largest - divisor, a.smallest - divisor, false};
  }

  /// Returns the factor of a sum, or of a value that is selected from
  /// `operands`. If all elements of a constant term exceed the other term, the
  /// sum has the factor of the constant.
  Factor add(Operation *op, ArrayRef<Value> operands) const {
    std::optional<Factor> terms, numbers;
    for (Value operand : operands) {
      Factor factor = get(operand);
      std::optional<Factor> &group = factor.isConstant ? numbers : terms;
      if (!group)
        group = factor;
      group->largest = std::max(group->largest, factor.largest);
      group->smallest = std::min(group->smallest, factor.smallest);
    }
    if (!terms)
      return numbers.value_or(Factor());
    if (numbers && operands.size() == 2 && isSum(op) &&
        numbers->smallest > terms->largest)
      return *numbers;
    terms->isConstant = false;
    return *terms;
  }

  bool isSum(Operation *op) const {
    auto iface = dyn_cast<PrecisionOpInterface>(op);
    if (iface && !policy.findAdapted(op->getName()))
      return iface.getArithmetic() == Arithmetic::Add ||
             iface.getArithmetic() == Arithmetic::Subtract;
    return policy.classify(op->getName()) == OpClass::Infer &&
           op->getNumRegions() == 0 &&
           policy.findLinearKind(op) == LinearRule::Kind::Joint;
  }

  const Policy &policy;
  const ConstantTable &constants;
  llvm::DenseMap<Value, Factor> factors;
  llvm::DenseSet<Value> found;
  /// The results of each function, by the factors of its arguments.
  std::map<Operation *, std::map<std::vector<Factor>, Factors>> returned;
  /// The functions that are being evaluated.
  llvm::DenseSet<Operation *> active;
  SymbolTableCollection tables;
  RegionFlow flow;
};

} // namespace

llvm::DenseSet<Value>
mlir::amp::findConstantFactors(Operation *root, const Policy &policy,
                               const ConstantTable &constants) {
  if (constants.empty())
    return {};
  return FactorFinder(policy, constants).run(root);
}
