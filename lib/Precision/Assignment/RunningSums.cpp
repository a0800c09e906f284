//===- RunningSums.cpp - Sums that loops carry ----------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunningSums.h"

#include "ConstantFactors.h"
#include "Terms.h"

#include "amp/Interfaces/FloatRangeOpInterface.h"
#include "amp/Interfaces/PrecisionOpInterface.h"
#include "amp/Interfaces/Proportional.h"
#include "amp/Support/ArgumentSources.h"
#include "amp/Support/RegionFlow.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"

#include <cmath>

using namespace mlir;
using namespace mlir::amp;

static bool hasFloatElements(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

namespace {

/// The arithmetic of single operations, by their interfaces or by the policy.
class SumArithmetic {
public:
  SumArithmetic(const Policy &policy, ArgumentSources &sources)
      : policy(policy), sources(sources) {}

  /// Whether the only result of the owner is `operand` plus or minus another
  /// value.
  bool addsTo(OpOperand &operand) const {
    Operation *op = operand.getOwner();
    if (op->getNumResults() != 1 ||
        op->getResult(0).getType() != operand.get().getType())
      return false;
    auto iface = getInterface(op);
    if (!iface)
      return policy.classify(op->getName()) == OpClass::Infer &&
             op->getNumRegions() == 0 && op->getNumOperands() == 2 &&
             policy.findLinearKind(op) == LinearRule::Kind::Joint;
    if (iface.getArithmetic() == Arithmetic::Add ||
        iface.getArithmetic() == Arithmetic::Subtract)
      return true;
    // A product adds to its destination.
    auto style = dyn_cast<DestinationStyleOpInterface>(op);
    if (!style || !style.isDpsInit(&operand))
      return false;
    PrecisionSlots slots;
    iface.getPrecisionSlots(slots);
    return llvm::is_contained(slots.kinds, SlotKind::Compute);
  }

  /// Whether the only result of the owner is `operand` times a constant whose
  /// magnitude is near 1 or larger.
  bool scales(OpOperand &operand) const {
    Operation *op = operand.getOwner();
    if (op->getNumResults() != 1 ||
        op->getResult(0).getType() != operand.get().getType())
      return false;
    Value factor = getOtherTerm(operand);
    return factor && isProduct(op, getInterface(op)) &&
           isConstant(factor, keepsErrors);
  }

  /// Whether the only result of the owner is `operand` times a small constant,
  /// or divided by a large one.
  bool shrinks(OpOperand &operand) const {
    Operation *op = operand.getOwner();
    Value factor = getOtherTerm(operand);
    if (op->getNumResults() != 1 || !factor)
      return false;
    auto iface = getInterface(op);
    if (isProduct(op, iface))
      return isConstant(factor, isSmall);
    bool divides =
        iface ? isInverselyProportionalTo(op, 1)
              : policy.classify(op->getName()) == OpClass::Infer &&
                    policy.findLinearKind(op) == LinearRule::Kind::Quotient;
    return divides && operand.getOperandNumber() == 0 &&
           isConstant(factor, isLarge);
  }

  /// Whether the owner is a unary operation whose result is proportional to
  /// `operand`, such as a negation. A body may multiply by any constant.
  bool negates(OpOperand &operand) const {
    Operation *op = operand.getOwner();
    if (op->getNumResults() != 1 || op->getNumRegions() != 0 ||
        getTerms(op).size() != 1 ||
        op->getResult(0).getType() != operand.get().getType())
      return false;
    return getInterface(op) ? isProportionalTo(op, operand.getOperandNumber())
                            : policy.findFunction(op) == "negate";
  }

  /// Whether the only result of the owner holds all elements of `operand`.
  bool moves(OpOperand &operand) const {
    Operation *op = operand.getOwner();
    auto from = dyn_cast<ShapedType>(operand.get().getType());
    auto to = op->getNumResults() == 1
                  ? dyn_cast<ShapedType>(op->getResult(0).getType())
                  : ShapedType();
    return from && to && from.getElementType() == to.getElementType() &&
           from.hasStaticShape() && to.hasStaticShape() &&
           from.getNumElements() == to.getNumElements() &&
           getTerms(op).size() == 1 && movesElements(op);
  }

private:
  PrecisionOpInterface getInterface(Operation *op) const {
    return policy.findAdapted(op->getName())
               ? PrecisionOpInterface()
               : dyn_cast<PrecisionOpInterface>(op);
  }

  bool movesElements(Operation *op) const {
    const Adapter *adapter =
        policy.findAdapter(op->getName().getDialectNamespace());
    auto rule = dyn_cast<FloatRangeOpInterface>(op);
    return (adapter && adapter->movesElements(op)) ||
           (rule && rule.getElementFlow() == ElementFlow::Moves);
  }

  /// Returns the value that the owner of `operand` combines with it, or null.
  static Value getOtherTerm(OpOperand &operand) {
    SmallVector<OpOperand *, 4> terms = getTerms(operand.getOwner());
    if (terms.size() != 2 || !llvm::is_contained(terms, &operand))
      return {};
    return terms[terms[0] == &operand ? 1 : 0]->get();
  }

  /// Whether `op` multiplies its two operands element by element.
  bool isProduct(Operation *op, PrecisionOpInterface iface) const {
    return iface ? iface.getArithmetic() == Arithmetic::Multiply
                 : policy.classify(op->getName()) == OpClass::Infer &&
                       policy.findLinearKind(op) == LinearRule::Kind::Product;
  }

  /// With this distance of a decay from 1, or this factor of a term, bf16 keeps
  /// four bits of what an iteration changes. Below it, bf16 keeps fewer.
  static constexpr double smallStep = 1.0 / 16;

  /// Whether the magnitude of an end of `range` is near 1 or larger, but not 1.
  /// A rounding error then persists for many iterations. The coefficients of a
  /// recursive filter may be larger than 1.
  static bool keepsErrors(const FloatRange &range) {
    auto isLarge = [](double number) {
      return std::abs(number) >= 1 - smallStep && std::abs(number) != 1;
    };
    return isLarge(range.lo) || isLarge(range.hi);
  }

  static bool isSmall(const FloatRange &range) {
    return range.lo >= -smallStep && range.hi <= smallStep;
  }

  static bool isLarge(const FloatRange &range) {
    return range.lo >= 1 / smallStep || range.hi <= -1 / smallStep;
  }

  /// Whether `value` may be a constant that is moved, repeated, or passed as an
  /// argument, and whose elements are in a range for which `holds` is true.
  bool isConstant(Value value,
                  llvm::function_ref<bool(const FloatRange &)> holds,
                  int depth = 8) const {
    Operation *op = value.getDefiningOp();
    if (depth == 0)
      return false;
    if (!op)
      return sources.holdsInCall(value, [&](Value source) {
        return isConstant(source, holds, depth - 1);
      });
    const AdapterOperation *adapted = policy.findAdapted(op->getName());
    if (adapted ? adapted->isConstant(op)
                : op->hasTrait<OpTrait::ConstantLike>()) {
      auto elements = readConstant(op, adapted, {});
      return elements && !elements->range.isEmpty() && holds(elements->range);
    }
    SmallVector<OpOperand *, 4> inputs = getInputs(op);
    return !inputs.empty() && movesElements(op) &&
           isConstant(inputs.front()->get(), holds, depth - 1);
  }

  const Policy &policy;
  ArgumentSources &sources;
};

/// How a value depends on a value that a loop carries.
struct Dependence {
  /// It is the carried value, possibly plus other values.
  bool isSum = false;
  bool isAddedTo = false;
  /// It is computed from the carried value in another way.
  bool isOther = false;
};

/// Where values flow that control flow and calls hand on.
struct ModuleFlow {
  explicit ModuleFlow(Operation *root) {
    SymbolTableCollection tables;
    root->walk([&](CallOpInterface call) {
      auto callee = dyn_cast_or_null<FunctionOpInterface>(
          call.resolveCallableInTable(&tables));
      if (!callee || callee.isExternal())
        return;
      callees[call] = callee;
      sources.addCall(call, callee);
    });
  }

  llvm::DenseMap<Operation *, FunctionOpInterface> callees;
  ArgumentSources sources;
  RegionFlow regions;
};

/// Follows one carried value through the body of its loop, and through the
/// functions that the body calls.
class SumTrace {
public:
  SumTrace(Operation *loop, ArrayRef<OpOperand *> yielded, ModuleFlow &flow,
           SumArithmetic arithmetic)
      : loop(loop), yielded(yielded.begin(), yielded.end()), flow(flow),
        arithmetic(arithmetic) {}

  /// Adds the sums to `sums` if each iteration adds to `carried`.
  void run(Value carried, llvm::DenseSet<Value> &sums) {
    // Most carried values are not sums. At first only the sums are followed.
    for (bool all : {false, true}) {
      followsAll = all;
      known.clear();
      calls.clear();
      add(carried, {/*isSum=*/true, /*isAddedTo=*/false, /*isOther=*/false});
      while (!worklist.empty()) {
        Value value = worklist.pop_back_val();
        Dependence of = known.lookup(value);
        for (OpOperand &use : value.getUses())
          visit(use, of);
      }
      for (OpOperand *operand : yielded) {
        Dependence end = known.lookup(operand->get());
        if (!end.isSum || !end.isAddedTo || end.isOther)
          return;
      }
    }
    for (auto &[value, of] : known)
      if (of.isSum && !of.isOther)
        sums.insert(value);
  }

private:
  void add(Value value, Dependence of) {
    if (of.isOther && !followsAll)
      return;
    Dependence &entry = known[value];
    Dependence joined = {entry.isSum || of.isSum,
                         entry.isAddedTo || of.isAddedTo,
                         entry.isOther || of.isOther};
    if (joined.isSum == entry.isSum && joined.isAddedTo == entry.isAddedTo &&
        joined.isOther == entry.isOther)
      return;
    entry = joined;
    worklist.push_back(value);
  }

  void visit(OpOperand &use, Dependence of) {
    Operation *op = use.getOwner();
    if (handOn(use, of))
      return;
    // A small step does not keep the value from being a sum.
    if (arithmetic.shrinks(use))
      return;
    if (of.isSum && (arithmetic.addsTo(use) || arithmetic.scales(use)))
      of.isAddedTo = true;
    else if (of.isSum && !arithmetic.moves(use) && !arithmetic.negates(use))
      of = {/*isSum=*/false, /*isAddedTo=*/false, /*isOther=*/true};
    for (Value result : op->getResults())
      add(result, of);
    // An unknown operation between may forward in any way what its body reads.
    for (Operation *parent = op->getParentOp();
         parent && parent != loop && !isa<FunctionOpInterface>(parent);
         parent = parent->getParentOp())
      if (!RegionFlow::isKnown(parent))
        for (Value result : parent->getResults())
          add(result, {/*isSum=*/false, /*isAddedTo=*/false, /*isOther=*/true});
  }

  /// Follows the value of `use` to where control flow or a call hands it on.
  /// Returns whether the operation computes nothing from it.
  bool handOn(OpOperand &use, Dependence of) {
    Operation *op = use.getOwner();
    if (FunctionOpInterface callee = flow.callees.lookup(op)) {
      unsigned first =
          cast<CallOpInterface>(op).getArgOperands().getBeginOperandIndex();
      unsigned index = use.getOperandNumber() - first;
      calls[callee].insert(op);
      if (index < callee.getNumArguments())
        add(callee.getArgument(index), of);
      return true;
    }
    Operation *parent = op->getParentOp();
    if (isa_and_nonnull<FunctionOpInterface>(parent) &&
        op->hasTrait<OpTrait::ReturnLike>()) {
      // Only to the calls through which the value came.
      auto it = calls.find(parent);
      if (it != calls.end())
        for (Operation *call : it->second)
          if (use.getOperandNumber() < call->getNumResults())
            add(call->getResult(use.getOperandNumber()), of);
      return true;
    }
    if (llvm::is_contained(yielded, &use))
      return true;
    ArrayRef<Value> inputs = flow.regions.getInputs(use);
    // A result of the loop itself is read after it.
    for (Value input : inputs)
      if (input.getDefiningOp() != loop)
        add(input, of);
    return !inputs.empty() || isa<RegionBranchOpInterface>(op) ||
           (op->hasTrait<OpTrait::IsTerminator>() &&
            isa_and_nonnull<RegionBranchOpInterface>(parent));
  }

  Operation *loop;
  SmallVector<OpOperand *, 1> yielded;
  ModuleFlow &flow;
  SumArithmetic arithmetic;
  /// Whether values that are computed in another way are followed too.
  bool followsAll = false;
  llvm::DenseMap<Value, Dependence> known;
  /// By function: the calls through which the value came.
  llvm::DenseMap<Operation *, llvm::SmallPtrSet<Operation *, 2>> calls;
  SmallVector<Value> worklist;
};

} // namespace

llvm::DenseSet<Value> mlir::amp::findRunningSums(Operation *root,
                                                 const Policy &policy) {
  llvm::DenseSet<Value> sums;
  std::optional<ModuleFlow> flow;
  root->walk([&](Operation *op) {
    if (op->getNumRegions() == 0 || isa<FunctionOpInterface>(op) ||
        op->hasTrait<OpTrait::SymbolTable>())
      return;
    for (Region &region : op->getRegions())
      for (Value carried : region.getArguments()) {
        if (!hasFloatElements(carried))
          continue;
        if (!flow)
          flow.emplace(root);
        SmallVector<OpOperand *, 1> yielded;
        for (OpOperand *source : flow->regions.getSources(carried))
          if (op->isProperAncestor(source->getOwner()))
            yielded.push_back(source);
        if (!yielded.empty())
          SumTrace(op, yielded, *flow, SumArithmetic(policy, flow->sources))
              .run(carried, sums);
      }
  });
  return sums;
}
