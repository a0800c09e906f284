//===- WideValues.cpp - Values that stay f32 by origin or use -------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Assignment/WideValues.h"

#include "ConstantFactors.h"
#include "RunningSums.h"
#include "UpdateOperations.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Interfaces/FloatRangeOpInterface.h"
#include "amp/Interfaces/GradientInterfaces.h"
#include "amp/Interfaces/PrecisionOpInterface.h"
#include "amp/Precision/Assignment/Ranges.h"
#include "amp/Support/OperationAttributes.h"
#include "amp/Support/RegionFlow.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::amp;

static bool holdsFloats(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

/// Whether `value` holds numbers. A single bit is a decision, not a number.
static bool holdsNumbers(Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  return isa<FloatType>(element) ||
         (isa<IntegerType>(element) && !element.isInteger(1));
}

/// The operands with which blocks of `function` return.
static SmallVector<MutableArrayRef<OpOperand>>
getReturned(FunctionOpInterface function) {
  SmallVector<MutableArrayRef<OpOperand>> returned;
  for (Block &block : function.getFunctionBody())
    if (block.mightHaveTerminator() &&
        block.getTerminator()->hasTrait<OpTrait::ReturnLike>())
      returned.push_back(block.getTerminator()->getOpOperands());
  return returned;
}

namespace {

/// Follows values forward from conversions of bits to numbers, and backward
/// from new parameters and states.
class WideValueFinder {
public:
  WideValueFinder(Operation *root, const Policy &policy)
      : root(root), policy(policy) {}

  WideValues run() {
    root->walk([&](Operation *op) {
      Source source = getSource(op);
      for (Value value : op->getResults()) {
        if (source == Source::Bits)
          mark(value, found.bits);
        else if (source == Source::Seed)
          mark(value, found.seeds);
        else if (source == Source::Indices || isIntegerTable(op))
          mark(value, found.indices);
      }
      if (isConstant(op))
        markNumbers(op);
      if (auto function = dyn_cast<FunctionOpInterface>(op))
        markUpdates(function);
    });
    found.updateOperations = findUpdateOperations(root);
    found.runningSums = findRunningSums(root, policy);
    found.factorsF16 = findConstantFactors(root, policy, constants);
    if (worklist.empty() && operands.empty())
      return std::move(found);
    findCalls();
    while (!worklist.empty()) {
      auto [value, marks] = worklist.pop_back_val();
      for (OpOperand &use : value.getUses())
        if (!handOn(use, *marks))
          compute(use, *marks);
    }
    while (!operands.empty())
      traceState(operands.pop_back_val()->get());
    return std::move(found);
  }

private:
  //===--------------------------------------------------------------------===//
  // Bits and seeds
  //===--------------------------------------------------------------------===//

  enum class Source : uint8_t { None, Bits, Indices, Seed };
  using Marks = llvm::DenseSet<Value>;

  void mark(Value value, Marks &marks) {
    if (holdsNumbers(value) && marks.insert(value).second)
      worklist.push_back({value, &marks});
  }

  Source getSource(Operation *op) {
    auto [it, isNew] = sources.try_emplace(op->getName(), Source::None);
    if (!isNew)
      return it->second;
    const AdapterOperation *adapted = policy.findAdapted(op->getName());
    auto iface = dyn_cast<PrecisionOpInterface>(op);
    if (isa<GradientSeedOpInterface>(op))
      it->second = Source::Seed;
    else if (adapted ? adapted->isBits
                     : iface && iface.getArithmetic() == Arithmetic::Bits)
      it->second = Source::Bits;
    else if (adapted ? adapted->givesIndices
                     : iface && iface.getArithmetic() == Arithmetic::Indices)
      it->second = Source::Indices;
    return it->second;
  }

  bool isConstant(Operation *op) const {
    const AdapterOperation *adapted = policy.findAdapted(op->getName());
    return adapted ? adapted->isConstant(op)
                   : op->hasTrait<OpTrait::ConstantLike>();
  }
  bool isConstant(Value value) const {
    Operation *op = value.getDefiningOp();
    return op && isConstant(op);
  }

  /// Returns the value whose elements operations move or repeat to give
  /// `value`.
  Value skipMoves(Value value) const {
    constexpr int limit = 8;
    for (int depth = 0; depth < limit; ++depth) {
      Operation *op = value.getDefiningOp();
      if (!op || op->getNumOperands() == 0 || !movesElements(op) ||
          llvm::count_if(op->getOperands(), holdsNumbers) != 1)
        break;
      value = op->getOperand(0);
    }
    return value;
  }

  /// Whether `op` is a constant tensor of several integers.
  bool isIntegerTable(Operation *op) const {
    Attribute value;
    if (!isConstant(op) || op->getNumResults() != 1 ||
        holdsFloats(op->getResult(0)) || !holdsNumbers(op->getResult(0)))
      return false;
    for (NamedAttribute attribute : getAllAttributes(op))
      if (auto elements = dyn_cast<ElementsAttr>(attribute.getValue()))
        return !elements.isSplat();
    return false;
  }

  /// Whether the value of `use`, which is in `marks`, decides the results of
  /// the operation.
  bool decides(OpOperand &use, const Marks &marks) const {
    Operation *op = use.getOwner();
    if (&marks == &found.seeds || &marks == &found.indices) {
      int8_t shape = PrecisionSlots::none;
      if (auto iface = dyn_cast<PrecisionOpInterface>(op)) {
        PrecisionSlots slots;
        iface.getPrecisionSlots(slots);
        shape = slots.shapeOperand;
      }
      const bool readsFloats = llvm::any_of(op->getOperands(), holdsFloats);
      return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
        bool counts = readsFloats || &marks == &found.seeds
                          ? holdsFloats(operand.get())
                          : holdsNumbers(operand.get());
        return !counts || marks.contains(operand.get()) ||
               isConstant(skipMoves(operand.get())) ||
               static_cast<int>(operand.getOperandNumber()) == shape;
      });
    }
    // Indices select the elements that are read, but do not change them.
    return holdsFloats(use.get()) ||
           llvm::none_of(op->getOperands(), holdsFloats);
  }

  /// Marks the values to which calls and regions forward the value of `use`.
  /// Returns whether the operation computes nothing from it.
  bool handOn(OpOperand &use, Marks &marks) {
    Operation *op = use.getOwner();
    unsigned index = use.getOperandNumber();
    if (FunctionOpInterface callee = callees.lookup(op)) {
      unsigned first =
          cast<CallOpInterface>(op).getArgOperands().getBeginOperandIndex();
      if (index >= first && index - first < callee.getNumArguments() &&
          !callee.isExternal())
        mark(callee.getArgument(index - first), marks);
      for (MutableArrayRef<OpOperand> returned : getReturned(callee))
        for (OpOperand &operand : returned)
          if (marks.contains(operand.get()))
            returnTo(cast<CallOpInterface>(op), operand, marks);
      return true;
    }
    ArrayRef<Value> inputs = flow.getInputs(use);
    for (Value input : inputs) {
      Marks &carried = getCarriedMarks(input, marks);
      if (&carried != &marks)
        addOrigin(op, carried);
      mark(input, carried);
    }
    auto function = dyn_cast_or_null<FunctionOpInterface>(op->getParentOp());
    if (function && op->hasTrait<OpTrait::ReturnLike>()) {
      for (CallOpInterface call : calls.lookup(function))
        returnTo(call, use, marks);
      return true;
    }
    return (op->getNumRegions() != 0 && !inputs.empty()) ||
           op->hasTrait<OpTrait::IsTerminator>();
  }

  /// Marks the result of `call` that `returned` becomes. Large numbers return
  /// to calls that pass some, and to all if the function has its own. Functions
  /// that only move elements have many callers.
  void returnTo(CallOpInterface call, OpOperand &returned, Marks &marks) {
    unsigned index = returned.getOperandNumber();
    auto function =
        cast<FunctionOpInterface>(returned.getOwner()->getParentOp());
    bool isOrigin = !areNumbers(marks) || origins.contains({&marks, function});
    const Marks &limits = &marks == &found.limitedF16    ? nearF16
                          : &marks == &found.limitedBF16 ? nearBF16
                                                         : marks;
    if (index >= call->getNumResults() ||
        (!isOrigin && llvm::none_of(call.getArgOperands(), [&](Value operand) {
          return marks.contains(operand) || limits.contains(operand);
        })))
      return;
    if (isOrigin && areNumbers(marks))
      addOrigin(call, marks);
    mark(call->getResult(index), marks);
  }

  /// Notes that the function of `op` puts values into `marks` for any
  /// arguments.
  void addOrigin(Operation *op, Marks &marks) {
    auto function = op->getParentOfType<FunctionOpInterface>();
    if (!function || !origins.insert({&marks, function}).second)
      return;
    for (MutableArrayRef<OpOperand> returned : getReturned(function))
      for (OpOperand &operand : returned)
        if (marks.contains(operand.get()))
          worklist.push_back({operand.get(), &marks});
  }

  /// Whether `marks` originate from constants, which are beyond the range of a
  /// low type or near 1.
  bool areNumbers(const Marks &marks) const {
    return &marks != &found.bits && &marks != &found.indices &&
           &marks != &found.seeds;
  }

  /// Marks the values that the owner of `use` computes from a value of `marks`.
  void compute(OpOperand &use, Marks &marks) {
    Operation *op = use.getOwner();
    if (&marks == &nearF16 || &marks == &nearBF16)
      return limit(op, marks);
    if ((isProduct(op) && &marks != &found.indices) ||
        (areNumbers(marks) ? !keepsLarge(op, marks) : !decides(use, marks)))
      return;
    for (OpResult result : op->getResults())
      if (&marks == &found.bits || !isMarkedGradient(result))
        mark(result, marks);
  }

  //===--------------------------------------------------------------------===//
  // Large numbers
  //===--------------------------------------------------------------------===//

  /// Marks the constant `op` if it contains numbers beyond the range of a low
  /// type, or consists of a number that a low type rounds to 1 or -1.
  void markNumbers(Operation *op) {
    if (op->getNumResults() != 1 || !holdsFloats(op->getResult(0)))
      return;
    auto elements = readConstant(op, policy.findAdapted(op->getName()), {});
    if (!elements || elements->finite.isEmpty())
      return;
    constants[op->getResult(0)] = elements->finite;
    MLIRContext *context = op->getContext();
    for (auto [low, marks] :
         {std::pair(FloatType(Float16Type::get(context)), &largeF16),
          std::pair(FloatType(BFloat16Type::get(context)), &largeBF16)})
      if (!elements->finite.fits(low)) {
        addOrigin(op, *marks);
        mark(op->getResult(0), *marks);
      }
    if (elements->range.lo != elements->range.hi)
      return;
    for (auto [low, marks] :
         {std::pair(FloatType(Float16Type::get(context)), &nearF16),
          std::pair(FloatType(BFloat16Type::get(context)), &nearBF16)})
      if (isRoundedToOne(elements->range.lo, low)) {
        addOrigin(op, *marks);
        mark(op->getResult(0), *marks);
      }
  }

  /// Marks the results of `op`, which reads a number near 1 in `marks`. If `op`
  /// moves elements, the results contain the same number. If `op` selects, the
  /// number limits the results. Other operations, such as a multiplication by a
  /// factor near 1, mark nothing.
  void limit(Operation *op, Marks &marks) {
    Marks &limited = &marks == &nearF16 ? found.limitedF16 : found.limitedBF16;
    bool moves = movesElements(op);
    if (!moves && !selects(op))
      return;
    if (!moves &&
        origins.contains({&marks, op->getParentOfType<FunctionOpInterface>()}))
      addOrigin(op, limited);
    for (Value result : op->getResults())
      mark(result, moves ? marks : limited);
  }

  /// Whether the results of `op` are elements of its operands, as those of a
  /// maximum are. Then equal operands have this result too. Presets that
  /// imitate eager frameworks also list additions and products as clear.
  bool selects(Operation *op) const {
    if (auto rule = dyn_cast<FloatRangeOpInterface>(op)) {
      constexpr double sample = 3;
      SmallVector<FloatRange> operands(op->getNumOperands(),
                                       FloatRange::get(sample));
      SmallVector<FloatRange> results(op->getNumResults(),
                                      FloatRange::get(sample));
      rule.inferFloatRanges(operands, results);
      return llvm::all_of(results, [&](const FloatRange &range) {
        return range.getMaxAbs() == sample;
      });
    }
    std::optional<LinearRule::Kind> kind = policy.findLinearKind(op);
    return policy.classify(op->getName()) == OpClass::Clear &&
           kind != LinearRule::Kind::Product &&
           kind != LinearRule::Kind::Quotient &&
           kind != LinearRule::Kind::Power;
  }

  /// Whether `op` only moves elements of its operands.
  bool movesElements(Operation *op) const {
    const Adapter *adapter =
        policy.findAdapter(op->getName().getDialectNamespace());
    auto rule = dyn_cast<FloatRangeOpInterface>(op);
    return (adapter && adapter->movesElements(op)) ||
           (rule && rule.getElementFlow() == ElementFlow::Moves);
  }

  /// Returns the marks of `input`, a region argument or result, to which
  /// control flow forwards a value of `marks`. A loop has marks of its own,
  /// because large values of several iterations meet in it.
  Marks &getCarriedMarks(Value input, Marks &marks) {
    if (&marks != &largeF16 && &marks != &largeBF16)
      return marks;
    Operation *op = input.getDefiningOp();
    if (!op)
      op = input.getParentBlock()->getParentOp();
    // Values come into a loop, and back from its end.
    bool isLoop = llvm::any_of(op->getRegions(), [&](Region &region) {
      return llvm::any_of(region.getArguments(), [&](Value argument) {
        return flow.getSources(argument).size() > 1;
      });
    });
    if (!isLoop)
      return marks;
    return &marks == &largeF16 ? found.beyondF16 : found.beyondBF16;
  }

  /// Whether results of `op` may hold large numbers if an operand with `marks`
  /// does.
  bool keepsLarge(Operation *op, const Marks &marks) const {
    const AdapterOperation *adapted = policy.findAdapted(op->getName());
    auto rule = dyn_cast<FloatRangeOpInterface>(op);
    if (&marks == &found.limitedF16 || &marks == &found.limitedBF16)
      return !adapted || !adapted->isBounded;
    if (movesElements(op))
      return true;
    if (&marks == &largeF16 || &marks == &largeBF16) {
      auto iface = dyn_cast<PrecisionOpInterface>(op);
      return policy.findLinearKind(op) == LinearRule::Kind::Product ||
             (iface && iface.getArithmetic() == Arithmetic::Multiply);
    }
    OpClass opClass = policy.classify(op->getName());
    if ((opClass != OpClass::Infer && opClass != OpClass::Clear) ||
        (adapted && adapted->isBounded))
      return false;
    if (!rule)
      return true;
    SmallVector<FloatRange> operands(op->getNumOperands(),
                                     FloatRange::unknown());
    SmallVector<FloatRange> results(op->getNumResults(), FloatRange::unknown());
    rule.inferFloatRanges(operands, results);
    FloatType half = Float16Type::get(op->getContext());
    return !llvm::all_of(
        results, [&](const FloatRange &range) { return range.fits(half); });
  }

  //===--------------------------------------------------------------------===//
  // New parameters and states
  //===--------------------------------------------------------------------===//

  /// Starts from the new parameters and states that `function` returns.
  void markUpdates(FunctionOpInterface function) {
    llvm::DenseSet<Attribute> state;
    for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i) {
      std::optional<Role> role = getRole(function, i);
      if (role == Role::Parameter || role == Role::OptimizerState)
        state.insert(function.getArgAttr(i, AMPDialect::kNameAttr));
    }
    if (state.empty())
      return;
    for (MutableArrayRef<OpOperand> returned : getReturned(function))
      for (OpOperand &operand : returned)
        if (Attribute updated = function.getResultAttr(
                operand.getOperandNumber(), AMPDialect::kUpdatesAttr);
            updated && state.contains(updated))
          operands.push_back(&operand);
  }

  static bool isMarkedGradient(OpResult value) {
    auto names =
        value.getOwner()->getDiscardableAttrDictionary().getAs<ArrayAttr>(
            AMPDialect::kGradientOfAttr);
    if (!names || value.getResultNumber() >= names.size())
      return false;
    auto name = dyn_cast<StringAttr>(names[value.getResultNumber()]);
    return name && !name.empty();
  }

  /// Whether `op` sums, so that its results may be gradients.
  bool sums(Operation *op) const {
    PrecisionSlots slots;
    if (const AdapterOperation *adapted = policy.findAdapted(op->getName()))
      (void)adapted->getSlots(op, slots);
    else if (auto iface = dyn_cast<PrecisionOpInterface>(op))
      iface.getPrecisionSlots(slots);
    return llvm::any_of(slots.kinds, [](SlotKind kind) {
      return kind == SlotKind::Compute || kind == SlotKind::Range;
    });
  }

  /// Marks `value`, and continues with its operands.
  void traceState(Value value) {
    auto result = dyn_cast<OpResult>(value);
    if (!holdsFloats(value) || (result && isMarkedGradient(result)) ||
        !found.newState.insert(value).second)
      return;
    if (ArrayRef<OpOperand *> handedOn = flow.getSources(value);
        !handedOn.empty()) {
      llvm::append_range(operands, handedOn);
      return;
    }
    if (!result) {
      auto argument = cast<BlockArgument>(value);
      auto function = dyn_cast_or_null<FunctionOpInterface>(
          argument.getOwner()->getParentOp());
      for (CallOpInterface call : calls.lookup(function))
        if (argument.getArgNumber() < call.getArgOperands().size())
          operands.push_back(
              &call.getArgOperandsMutable()[argument.getArgNumber()]);
      return;
    }
    Operation *op = result.getOwner();
    if (FunctionOpInterface callee = callees.lookup(op)) {
      for (MutableArrayRef<OpOperand> returned : getReturned(callee))
        if (result.getResultNumber() < returned.size())
          operands.push_back(&returned[result.getResultNumber()]);
      return;
    }
    if (op->getNumRegions() != 0 || isProduct(op) || sums(op))
      return;
    for (OpOperand &operand : op->getOpOperands())
      operands.push_back(&operand);
  }

  //===--------------------------------------------------------------------===//
  // What both need
  //===--------------------------------------------------------------------===//

  /// Whether `op` is a product, or another operation that the policy makes low.
  bool isProduct(Operation *op) const {
    if (policy.classify(op->getName()) == OpClass::Allow)
      return true;
    auto iface = dyn_cast<PrecisionOpInterface>(op);
    if (!iface || policy.findAdapted(op->getName()))
      return false;
    PrecisionSlots slots;
    iface.getPrecisionSlots(slots);
    return llvm::is_contained(slots.kinds, SlotKind::Compute);
  }

  void findCalls() {
    root->walk([&](CallOpInterface call) {
      auto callee = dyn_cast_or_null<FunctionOpInterface>(
          call.resolveCallableInTable(&tables));
      if (!callee)
        return;
      calls[callee].push_back(call);
      callees[call] = callee;
    });
  }

  Operation *root;
  const Policy &policy;
  WideValues found;
  /// Values that hold a number beyond the range of f16 or of bf16, and have not
  /// entered a loop.
  Marks largeF16, largeBF16;
  /// Values that contain a number near 1 or -1 that f16 or bf16 rounds to it.
  Marks nearF16, nearBF16;
  ConstantTable constants;
  /// The functions that put values into such marks by themselves.
  llvm::DenseSet<std::pair<const Marks *, Operation *>> origins;
  SmallVector<std::pair<Value, Marks *>> worklist;
  SmallVector<OpOperand *> operands;
  llvm::DenseMap<OperationName, Source> sources;
  llvm::DenseMap<Operation *, SmallVector<CallOpInterface>> calls;
  llvm::DenseMap<Operation *, FunctionOpInterface> callees;
  SymbolTableCollection tables;
  RegionFlow flow;
};

} // namespace

WideValues WideValues::find(Operation *root, const Policy &policy) {
  return WideValueFinder(root, policy).run();
}
