//===- CompositePatterns.cpp - Softmax, norms and others written out ------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompositePatterns.h"
#include "CompositeFacts.h"

#include "amp/Precision/Policy/Policy.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::amp;

namespace {

using Fact = CompositeFact;
using Origins = CompositeOrigins;

class CompositePatternFinder {
public:
  CompositePatternFinder(const CallGroup &group, const Policy &policy)
      : group(group), policy(policy) {}

  llvm::DenseSet<Operation *> run() {
    for (FunctionOpInterface function : group.functions)
      for (Operation &op : function.getFunctionBody().getOps())
        hasCompositePatterns |= getCompositePatterns(&op) != nullptr;
    if (!hasCompositePatterns)
      return {};
    for (auto [call, callee] : group.callees)
      calls[callee].push_back(call);
    // Calls propagate facts between functions.
    constexpr int limit = 16;
    for (int i = 0; i < limit && std::exchange(changed, false); ++i) {
      reductions.clear();
      meetings.clear();
      for (FunctionOpInterface function : group.functions)
        sweep(function);
    }
    mark();
    return std::move(members);
  }

private:
  const AdapterCompositePatterns *getCompositePatterns(Operation *op) const {
    const Adapter *adapter =
        policy.findAdapter(op->getName().getDialectNamespace());
    return adapter && !adapter->compositePatterns.empty()
               ? &adapter->compositePatterns
               : nullptr;
  }
  static bool isFloat(Value value) {
    return getPrecisionElementType(value.getType()) != nullptr;
  }
  static int64_t getSize(Value value) {
    auto type = dyn_cast<ShapedType>(value.getType());
    return type && type.hasStaticShape() ? type.getNumElements() : -1;
  }
  Fact get(Value value) const {
    auto it = facts.find(value);
    return it == facts.end() ? Fact{Fact::Other} : it->second;
  }
  void set(Value value, Fact fact) {
    // A single number is equal for all rows.
    if (fact.kind >= Fact::Chain && getSize(value) == 1)
      fact = {Fact::Constant};
    Fact &entry = facts[value];
    Fact joined = entry.join(fact);
    changed |= !(joined == entry);
    entry = joined;
  }
  void addOrigins(Value value, const Origins &from) {
    Origins &entry = origins[value];
    unsigned before = entry.size();
    entry.insert(from);
    changed |= entry.size() != before;
  }
  /// Adds the origins of the operands of `op` to its results. A value that is
  /// not computed from facts is its own origin.
  void addOrigins(Operation *op, bool isComputed) {
    for (Value result : op->getResults()) {
      Origins from;
      if (!isComputed)
        from.insert(result);
      for (Value operand : op->getOperands())
        if (isComputed && isFloat(operand) &&
            get(operand).kind > Fact::Constant)
          from.insert(origins.lookup(operand));
      addOrigins(result, from);
    }
  }

  //===--------------------------------------------------------------------===//
  // Facts
  //===--------------------------------------------------------------------===//

  void sweep(FunctionOpInterface function) {
    bool isOpen = calls.count(function);
    for (BlockArgument argument : function.getArguments()) {
      set(argument, {isOpen ? Fact::Unknown : Fact::Other});
      Origins own;
      own.insert(argument);
      if (!isOpen)
        addOrigins(argument, own);
    }
    if (isOpen)
      for (Operation *call : calls[function])
        for (auto [argument, operand] :
             llvm::zip(function.getArguments(), call->getOperands())) {
          set(argument, get(operand));
          addOrigins(argument, origins.lookup(operand));
        }
    for (Operation &op : function.getFunctionBody().getOps())
      visit(&op);
  }

  void visit(Operation *op) {
    if (FunctionOpInterface callee = group.callees.lookup(op)) {
      for (Block &block : callee.getFunctionBody())
        for (auto [result, returned] : llvm::zip(
                 op->getResults(), block.getTerminator()->getOperands())) {
          set(result, facts.count(returned) ? get(returned) : Fact());
          addOrigins(result, origins.lookup(returned));
        }
      return;
    }
    Fact fact{Fact::Other};
    const AdapterCompositePatterns *patterns = getCompositePatterns(op);
    if (patterns)
      fact = evaluate(op, *patterns);
    addOrigins(op, patterns && computes(op, *patterns));
    for (Value result : op->getResults())
      set(result, isFloat(result) ? fact : Fact{Fact::Other});
  }

  /// Whether the results of `op` are computed from its operands in a way that
  /// keeps their origins.
  static bool computes(Operation *op,
                       const AdapterCompositePatterns &patterns) {
    StringRef name = op->getName().getStringRef();
    return op->getNumOperands() != 0 &&
           (patterns.reduce.contains(name) || patterns.repeat.contains(name) ||
            patterns.move.contains(name) ||
            patterns.elementwise.contains(name));
  }

  Fact evaluate(Operation *op, const AdapterCompositePatterns &patterns) {
    StringRef name = op->getName().getStringRef();
    const AdapterOperation *adapted = policy.findAdapted(op->getName());
    if (adapted && adapted->isConstant(op))
      return {Fact::Constant};
    if (op->getNumOperands() == 0)
      return {Fact::Other};
    Fact first = get(op->getOperand(0));
    if (patterns.reduce.contains(name)) {
      if (first.kind <= Fact::Constant || !isFloat(op->getOperand(0)))
        return first;
      reductions.insert(op);
      return {Fact::Statistic};
    }
    bool repeats = patterns.repeat.contains(name);
    if (repeats || patterns.move.contains(name)) {
      int64_t from = getSize(op->getOperand(0)), to = getSize(op->getResult(0));
      if (!repeats || from == to || first.kind <= Fact::Constant)
        return first;
      return {first.isStatistic() ? Fact::Repeated : Fact::Other};
    }
    if (!patterns.elementwise.contains(name))
      return {Fact::Other};
    return combine(op);
  }

  Fact combine(Operation *op) {
    bool hasStatistic = false, hasRepeated = false, hasOther = false;
    Fact chain{Fact::Constant};
    for (Value operand : op->getOperands()) {
      if (!isFloat(operand))
        continue;
      Fact fact = get(operand);
      if (fact.kind == Fact::Unknown)
        return fact;
      hasStatistic |= fact.kind == Fact::Statistic;
      hasRepeated |= fact.kind == Fact::Repeated;
      hasOther |= fact.kind == Fact::Chain || fact.kind == Fact::Other;
      if (!fact.isStatistic())
        chain = chain.join(fact);
    }
    if (!hasOther)
      return {hasRepeated    ? Fact::Repeated
              : hasStatistic ? Fact::Statistic
                             : Fact::Constant};
    if (hasRepeated && readsOwnStatistic(op)) {
      meetings.insert(op);
      return {Fact::Chain, op};
    }
    return hasStatistic || hasRepeated ? Fact{Fact::Other} : chain;
  }

  /// Whether the statistics that `op` reads and the elements to which it adds
  /// them are computed from the same values, or it does not add. Only then is
  /// the result smaller, as a deviation from a mean is. A difference of squared
  /// norms and products is not.
  bool readsOwnStatistic(Operation *op) const {
    if (policy.findLinearKind(op) != LinearRule::Kind::Joint)
      return true;
    Origins elements, statistics;
    for (Value operand : op->getOperands()) {
      if (!isFloat(operand))
        continue;
      Fact fact = get(operand);
      if (fact.kind > Fact::Constant)
        (fact.isStatistic() ? statistics : elements)
            .insert(origins.lookup(operand));
    }
    return elements.intersect(statistics);
  }

  //===--------------------------------------------------------------------===//
  // Members
  //===--------------------------------------------------------------------===//

  void mark() {
    for (Operation *op : meetings) {
      members.insert(op);
      for (Value operand : op->getOperands())
        if (isFloat(operand) && get(operand).isStatistic())
          markStatistic(operand);
      for (Operation *user : op->getUsers()) {
        const AdapterOperation *adapted = policy.findAdapted(user->getName());
        const AdapterCompositePatterns *patterns = getCompositePatterns(user);
        if (adapted && patterns && adapted->kind == SlotKind::Range &&
            patterns->elementwise.contains(user->getName().getStringRef()))
          members.insert(user);
      }
    }
    // A statistic of values that were computed from another statistic.
    for (Operation *op : reductions) {
      Fact fact = get(op->getOperand(0));
      if (fact.kind != Fact::Chain)
        continue;
      members.insert(op);
      markChain(op->getOperand(0), fact.root);
      markReaders(op);
    }
    // Operations such as squares, whose only reader is a sum. Their results may
    // leave the range of their operands.
    for (Operation *op : reductions) {
      if (!members.contains(op))
        continue;
      Operation *producer = op->getOperand(0).getDefiningOp();
      const AdapterCompositePatterns *patterns =
          producer ? getCompositePatterns(producer) : nullptr;
      if (patterns &&
          patterns->elementwise.contains(producer->getName().getStringRef()) &&
          readsOneValue(producer) &&
          llvm::all_of(producer->getUsers(),
                       [&](Operation *user) { return members.contains(user); }))
        members.insert(producer);
    }
  }

  /// Whether `op` reads one value and constants only.
  bool readsOneValue(Operation *op) const {
    Value only;
    for (Value operand : op->getOperands()) {
      if (!isFloat(operand) || get(operand).kind <= Fact::Constant)
        continue;
      if (only && only != operand)
        return false;
      only = operand;
    }
    return true;
  }

  /// Calls `visit` with the values of `value` in other functions:
  /// the operands of calls for an argument, and the returned values for the
  /// result of a call.
  template <typename Visit>
  void forEachSource(Value value, Visit visit) const {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto it = calls.find(argument.getOwner()->getParentOp());
      if (it != calls.end() && argument.getOwner()->isEntryBlock())
        for (Operation *call : it->second)
          visit(call->getOperand(argument.getArgNumber()));
      return;
    }
    auto result = cast<OpResult>(value);
    if (FunctionOpInterface callee = group.callees.lookup(result.getOwner()))
      for (Block &block : callee.getFunctionBody())
        visit(block.getTerminator()->getOperand(result.getResultNumber()));
  }

  /// Marks the operations that compute `value` from values for which
  /// `isMember` holds, up to those for which `isStart` holds.
  void markSources(Value value, llvm::function_ref<bool(Value)> isMember,
                   llvm::function_ref<bool(Operation *)> isStart) {
    SmallVector<Value> worklist = {value};
    while (!worklist.empty()) {
      Value next = worklist.pop_back_val();
      if (!isMember(next) || !visited.insert(next).second)
        continue;
      forEachSource(next, [&](Value source) { worklist.push_back(source); });
      Operation *op = next.getDefiningOp();
      if (!op || group.callees.count(op))
        continue;
      members.insert(op);
      if (!isStart(op))
        llvm::append_range(worklist, op->getOperands());
    }
  }

  /// Marks the operations that compute `value`, a statistic.
  void markStatistic(Value value) {
    markSources(
        value, [&](Value next) { return get(next).isStatistic(); },
        [&](Operation *op) { return reductions.contains(op); });
  }

  /// Marks the operations that compute `value` from `root`.
  void markChain(Value value, Operation *root) {
    markSources(
        value,
        [&](Value next) {
          return get(next) == Fact{Fact::Chain, root};
        },
        [](Operation *) { return false; });
  }

  /// Marks the operations on the statistic `op` alone.
  void markReaders(Operation *op) {
    SmallVector<Operation *> worklist = {op};
    while (!worklist.empty())
      for (Operation *user : worklist.pop_back_val()->getUsers())
        if (getCompositePatterns(user) && user->getNumResults() == 1 &&
            get(user->getResult(0)).isStatistic() &&
            members.insert(user).second)
          worklist.push_back(user);
  }

  const CallGroup &group;
  const Policy &policy;
  bool hasCompositePatterns = false, changed = true;
  llvm::DenseMap<Operation *, SmallVector<Operation *>> calls;
  llvm::DenseMap<Value, Fact> facts;
  /// The origins of the values whose fact is not Constant.
  llvm::DenseMap<Value, Origins> origins;
  /// Reductions to statistics, and operations that combine elements with a
  /// statistic.
  llvm::SetVector<Operation *> reductions, meetings;
  llvm::DenseSet<Operation *> members;
  llvm::DenseSet<Value> visited;
};

} // namespace

llvm::DenseSet<Operation *>
mlir::amp::findCompositePatterns(const CallGroup &group, const Policy &policy) {
  if (!policy.hasCompositePatterns())
    return {};
  return CompositePatternFinder(group, policy).run();
}
