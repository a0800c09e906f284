//===- PrecisionRecord.cpp - What auto-mixed-precision changed ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PrecisionRecord.h"

#include "amp/Dialect/AMP/IR/InputAttributes.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "amp/Support/OperationAttributes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include <vector>

using namespace mlir;
using namespace mlir::amp;

static bool isTensorOf(Type type, Type element) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getElementType() == element;
  return isPrecisionTensor(type) && getPrecisionElementType(type) == element;
}

/// Visits the values of `op` that a rewrite may change: results, and values
/// that control flow passes to its regions.
template <typename Visit>
static void forEachChangeable(Operation *op, Visit visit) {
  for (Value result : op->getResults())
    visit(result);
  // The policy may declare an unregistered operation a loop.
  if (op->getNumRegions() == 0 ||
      (op->isRegistered() && !isa<RegionBranchOpInterface>(op)))
    return;
  for (Region &region : op->getRegions())
    for (Value argument : region.getArguments())
      visit(argument);
}

/// Returns whether `op` reads or produces a tensor of `element`, other than to
/// forward it.
static bool mentions(Operation *op, Type element) {
  bool found = llvm::any_of(op->getOperandTypes(), [&](Type type) {
    return isTensorOf(type, element);
  });
  forEachChangeable(
      op, [&](Value value) { found |= isTensorOf(value.getType(), element); });
  return found && !op->hasTrait<OpTrait::IsTerminator>();
}

FloatType mlir::amp::getRecordedPrecision(FunctionOpInterface function) {
  auto marker =
      function->getAttrOfType<TypeAttr>(AMPDialect::kMixedPrecisionAttr);
  return marker ? dyn_cast<FloatType>(marker.getValue()) : FloatType();
}

void mlir::amp::recordInput(FunctionOpInterface function, FloatType low) {
  function->setAttr(AMPDialect::kMixedPrecisionAttr, TypeAttr::get(low));
  function.getFunctionBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->getNumRegions() != 0 && isa<FunctionOpInterface>(op))
      return WalkResult::skip();
    // Casts by the user never change.
    CastLike castOp(op);
    if (castOp ? !castOp.isInserted() : !mentions(op, low))
      return WalkResult::advance();
    SmallVector<Attribute> types;
    forEachChangeable(op, [&](Value value) {
      types.push_back(TypeAttr::get(getElementTypeOrSelf(value)));
    });
    // An empty list marks copies of constants, and operations that only read.
    op->setAttr(AMPDialect::kInputTypesAttr,
                ArrayAttr::get(op->getContext(), types));
    return WalkResult::advance();
  });
}

Attribute mlir::amp::getConstantValue(Operation *op) {
  Attribute value;
  matchPattern(op, m_Constant(&value));
  return value;
}

/// Returns `value` with its elements rounded or widened to `type`, or null.
static DenseFPElementsAttr convert(Attribute value, FloatType type) {
  auto elements = dyn_cast_or_null<DenseFPElementsAttr>(value);
  if (!elements)
    return {};
  return cast<DenseFPElementsAttr>(
      elements.mapValues(type, [&](const APFloat &number) {
        APFloat result = number;
        bool losesInfo;
        result.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                       &losesInfo);
        return result.bitcastToAPInt();
      }));
}

void mlir::amp::recordConstant(Operation *op, Attribute input) {
  Attribute value = getConstantValue(op);
  if (value != input &&
      convert(value, Float32Type::get(op->getContext())) != input)
    op->setAttr(AMPDialect::kInputValueAttr, input);
}

void mlir::amp::recordCopy(Operation *op, Operation *original) {
  op->setAttr(AMPDialect::kInputTypesAttr,
              ArrayAttr::get(op->getContext(), {}));
  Attribute value = original->getAttr(AMPDialect::kInputValueAttr);
  if (!value)
    value = getConstantValue(original);
  Type f32 = Float32Type::get(op->getContext());
  // The original may be low itself, and this constant f32 again.
  if (auto elements = dyn_cast_or_null<DenseFPElementsAttr>(value);
      elements && elements.getElementType() != f32)
    value = convert(value, cast<FloatType>(f32));
  if (value)
    op->setAttr(AMPDialect::kInputValueAttr, value);
}

/// Restores the value of the constant `op`, which is f32 again.
static void restoreConstant(Operation *op) {
  Attribute input = op->removeAttr(AMPDialect::kInputValueAttr);
  Attribute value = getConstantValue(op);
  if (!input || !value)
    return;
  for (NamedAttribute attribute : getAllAttributes(op))
    if (attribute.getValue() == value)
      return op->setAttr(attribute.getName(), input);
}

/// Restores the attributes of an operation that changed by an adapter, and the
/// values in its regions, none of which was low.
static void restoreContents(Operation *op, FloatType low) {
  auto record =
      dyn_cast_or_null<DictionaryAttr>(op->removeAttr(kInputAttributesAttr));
  if (!record)
    return;
  for (NamedAttribute attribute : record)
    op->setAttr(attribute.getName(), attribute.getValue());
  Type f32 = Float32Type::get(op->getContext());
  auto widen = [&](Value value) {
    if (value.getType() == low)
      value.setType(f32);
    else if (isTensorOf(value.getType(), low))
      value.setType(getWithElementType(value.getType(), f32));
  };
  auto widenArguments = [&](Region &region) {
    for (Block &block : region)
      llvm::for_each(block.getArguments(), widen);
  };
  for (Region &region : op->getRegions()) {
    widenArguments(region);
    region.walk([&](Operation *nested) {
      llvm::for_each(nested->getResults(), widen);
      llvm::for_each(nested->getRegions(), widenArguments);
    });
  }
}

namespace {
/// An operation, and the numbers of its slots that read or produce the low
/// type.
struct LowSlots {
  PrecisionOpInterface op;
  SmallVector<bool> isLow;
  /// Whether it depends on no value, like a constant or a fill.
  bool isConstant = false;
};
} // namespace

static std::vector<LowSlots> findLowSlots(FunctionOpInterface function,
                                          FloatType low) {
  std::vector<LowSlots> found;
  PrecisionSlots slots;
  function.getFunctionBody().walk([&](PrecisionOpInterface op) {
    if (CastLike{op})
      return;
    op.getPrecisionSlots(slots);
    SmallVector<bool> isLow(slots.kinds.size(), false);
    auto mark = [&](TypeRange types, ArrayRef<int8_t> numbers) {
      for (auto [type, slot] : llvm::zip(types, numbers))
        if (slot != PrecisionSlots::none && isTensorOf(type, low))
          isLow[slot] = true;
    };
    mark(op->getOperandTypes(), slots.operandSlots);
    mark(op->getResultTypes(), slots.resultSlots);
    if (llvm::is_contained(isLow, true))
      found.push_back({op, std::move(isLow), slots.isConstant});
  });
  return found;
}

/// Updates the slots of an operation whose values have become f32.
static LogicalResult retypeRestored(LowSlots &entry, FloatType low,
                                    RewriterBase &rewriter,
                                    std::string &reason) {
  PrecisionOpInterface op = entry.op;
  Type f32 = Float32Type::get(op->getContext());
  PrecisionSlots slots;
  op.getPrecisionSlots(slots);
  SmallVector<Type> slotTypes(entry.isLow.size());
  for (auto [slot, wasLow] : llvm::enumerate(entry.isLow))
    if (wasLow)
      slotTypes[slot] = f32;
  auto keep = [&](TypeRange types, ArrayRef<int8_t> numbers) {
    for (auto [type, slot] : llvm::zip(types, numbers))
      if (slot != PrecisionSlots::none && isTensorOf(type, low))
        slotTypes[slot] = Type();
  };
  keep(op->getOperandTypes(), slots.operandSlots);
  keep(op->getResultTypes(), slots.resultSlots);
  if (llvm::none_of(slotTypes, [](Type type) { return !!type; }))
    return success();
  if (failed(op.retype(slotTypes, rewriter))) {
    reason = ("'" + op->getName().getStringRef() + "' cannot be f32").str();
    return failure();
  }
  if (op->hasTrait<OpTrait::ConstantLike>())
    restoreConstant(op);
  return success();
}

/// Replaces `copies`, which again have the types and values of the input, by
/// their originals. The original is the last equal operation before the copy.
/// If a pass removed it as dead, the copy stays.
static void replaceCopies(FunctionOpInterface function,
                          const llvm::SetVector<Operation *> &copies) {
  if (copies.empty())
    return;
  constexpr auto flags =
      OperationEquivalence::Flags(OperationEquivalence::IgnoreLocations |
                                  OperationEquivalence::IgnoreDiscardableAttrs);
  DenseMap<size_t, SmallVector<Operation *, 1>> originals;
  auto isEqual = [&](Operation *original, Operation *copy) {
    // Values at the same place in regions are equal.
    return OperationEquivalence::isEquivalentTo(original, copy, flags) &&
           original->getBlock()->findAncestorOpInBlock(*copy);
  };
  llvm::SmallDenseSet<OperationName> names;
  for (Operation *copy : copies)
    names.insert(copy->getName());
  function.getFunctionBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!names.contains(op->getName()))
      return;
    size_t hash = OperationEquivalence::computeHash(
        op, OperationEquivalence::directHashValue,
        OperationEquivalence::ignoreHashValue, flags);
    SmallVector<Operation *, 1> &known = originals[hash];
    if (copies.contains(op)) {
      auto found =
          llvm::find_if(llvm::reverse(known), [&](Operation *original) {
            return isEqual(original, op);
          });
      if (found != known.rend()) {
        op->replaceAllUsesWith(*found);
        return;
      }
    }
    known.push_back(op);
  });
  for (Operation *copy : copies) {
    copy->removeAttr(AMPDialect::kInputTypesAttr);
    copy->removeAttr(AMPDialect::kInputValueAttr);
    if (copy->use_empty())
      copy->erase();
  }
}

namespace {

/// Undoes the rewrite of a detached function in steps. A step that fails sets
/// `reason`.
class Restorer {
public:
  Restorer(FunctionOpInterface function, FloatType low, std::string &reason,
           RestoreCounts &counts)
      : function(function), low(low),
        f32(Float32Type::get(function.getContext())), reason(reason),
        counts(counts) {}

  LogicalResult run();

private:
  LogicalResult restoreSignature();
  WalkResult visit(Operation *op);
  WalkResult visitCast(CastLike cast, bool isRecorded);
  WalkResult widenValues(Operation *op, ArrayAttr recorded);
  LogicalResult eraseCasts();
  LogicalResult checkRest();
  LogicalResult fail(const Twine &why) {
    reason = why.str();
    return failure();
  }

  FunctionOpInterface function;
  FloatType low;
  Type f32;
  std::string &reason;
  RestoreCounts &counts;
  SmallVector<CastLike> casts;
  llvm::SetVector<Operation *> copies;
};

} // namespace

LogicalResult Restorer::restoreSignature() {
  auto type = dyn_cast_or_null<TypeAttr>(
      function->removeAttr(AMPDialect::kInputSignatureAttr));
  if (!type)
    return success();
  auto signature = dyn_cast<FunctionType>(type.getValue());
  if (!signature || signature.getNumInputs() != function.getNumArguments() ||
      signature.getNumResults() != function.getNumResults())
    return fail("the signature differs from the signature of the input");
  for (auto [argument, input] :
       llvm::zip(function.getArguments(), signature.getInputs())) {
    counts.values += argument.getType() != input;
    argument.setType(input);
  }
  function.setType(signature);
  return success();
}

/// Collects the inserted casts, which are removed after their operands are
/// restored.
WalkResult Restorer::visitCast(CastLike cast, bool isRecorded) {
  Operation *op = cast.getOperation();
  bool isNew = cast.isInserted() && !isRecorded;
  if (isNew && (op->hasAttr(AMPDialect::kIdAttr) ||
                op->hasAttr(AMPDialect::kBackwardOfAttr) ||
                op->hasAttr(AMPDialect::kGradientOfAttr)))
    return WalkResult(fail("a cast has been differentiated"));
  if (isNew)
    casts.push_back(cast);
  return WalkResult::advance();
}

/// Restores the types of the results of `op` and of the arguments of its
/// regions.
WalkResult Restorer::widenValues(Operation *op, ArrayAttr recorded) {
  SmallVector<Value> values;
  forEachChangeable(op, [&](Value value) { values.push_back(value); });
  if (recorded && recorded.size() != values.size())
    return WalkResult(
        fail("'" + op->getName().getStringRef() +
             "' has no longer the results that it had in the input"));
  for (auto [index, value] : llvm::enumerate(values)) {
    if (!isTensorOf(value.getType(), low) ||
        (recorded && recorded[index] == TypeAttr::get(low)))
      continue;
    value.setType(getWithElementType(value.getType(), f32));
    ++counts.values;
  }
  return WalkResult::advance();
}

WalkResult Restorer::visit(Operation *op) {
  if (isa<FunctionOpInterface>(op))
    return WalkResult::skip();
  auto recorded =
      dyn_cast_or_null<ArrayAttr>(op->getAttr(AMPDialect::kInputTypesAttr));
  if (CastLike cast{op})
    return visitCast(cast, static_cast<bool>(recorded));
  if (!recorded || !recorded.empty() || op->getNumResults() == 0)
    return widenValues(op, recorded);
  copies.insert(op);
  for (Value result : op->getResults())
    if (isTensorOf(result.getType(), low))
      result.setType(getWithElementType(result.getType(), f32));
  return WalkResult::advance();
}

LogicalResult Restorer::eraseCasts() {
  // In program order, the operand of a cast is already restored.
  for (CastLike cast : casts) {
    Value input = cast.getInput();
    bool narrows = isTensorOf(cast.getType(), low);
    if (!isTensorOf(input.getType(), f32) ||
        (!narrows && cast.getType() != input.getType()))
      return fail("an inserted cast reads a low type that was in the input");
    cast.getResult().replaceAllUsesWith(input);
    cast->erase();
    ++counts.casts;
  }
  return success();
}

/// Remaining low types come from a later pass.
LogicalResult Restorer::checkRest() {
  auto check = [&](Operation *op) {
    if (isa<FunctionOpInterface>(op))
      return WalkResult::skip();
    if (op->removeAttr(AMPDialect::kInputTypesAttr) ||
        op->hasTrait<OpTrait::IsTerminator>() || CastLike{op} ||
        !mentions(op, low))
      return WalkResult::advance();
    return WalkResult(
        fail("'" + op->getName().getStringRef() +
             "' reads or gives a low type that was not in the input"));
  };
  return failure(function.getFunctionBody()
                     .walk<WalkOrder::PreOrder>(check)
                     .wasInterrupted());
}

LogicalResult Restorer::run() {
  if (function->hasAttr(kRecipeAttr))
    return fail("amp-quantize-products has quantised low operands");
  // Find the low slots first, because arguments and producers change before
  // their users.
  std::vector<LowSlots> lowSlots = findLowSlots(function, low);
  if (failed(restoreSignature()))
    return failure();
  if (function.getFunctionBody()
          .walk<WalkOrder::PreOrder>([&](Operation *op) { return visit(op); })
          .wasInterrupted())
    return failure();
  function.getFunctionBody().walk(
      [&](Operation *op) { restoreContents(op, low); });

  IRRewriter rewriter(function.getContext());
  for (LowSlots &entry : lowSlots)
    if ((copies.contains(entry.op) || entry.isConstant ||
         entry.op->hasTrait<OpTrait::ConstantLike>()) &&
        failed(retypeRestored(entry, low, rewriter, reason)))
      return failure();
  llvm::erase_if(lowSlots, [&](const LowSlots &entry) {
    return copies.contains(entry.op);
  });
  llvm::for_each(copies, restoreConstant);
  replaceCopies(function, copies);
  if (failed(eraseCasts()))
    return failure();
  // All slots that have become f32 are known now.
  for (LowSlots &entry : lowSlots)
    if (failed(retypeRestored(entry, low, rewriter, reason)))
      return failure();
  if (failed(checkRest()))
    return failure();
  function->removeAttr(AMPDialect::kMixedPrecisionAttr);
  function->removeAttr(kKeepRoundingsAttr);
  return success();
}

LogicalResult mlir::amp::restoreInput(ArrayRef<FunctionOpInterface> functions,
                                      FunctionOpInterface &culprit,
                                      std::string &reason,
                                      RestoreCounts &counts) {
  // Change and verify clones first. Only the verifier detects some uses of low
  // types by later passes.
  SmallVector<std::pair<FunctionOpInterface, OwningOpRef<Operation *>>> clones;
  RestoreCounts restored;
  for (FunctionOpInterface function : functions) {
    FloatType low = getRecordedPrecision(function);
    if (!low)
      continue;
    culprit = function;
    OwningOpRef<Operation *> clone = function->clone();
    if (failed(
            Restorer(cast<FunctionOpInterface>(*clone), low, reason, restored)
                .run()))
      return failure();
    ScopedDiagnosticHandler handler(
        function.getContext(), [&](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
              reason.empty())
            reason = diagnostic.str();
          return success();
        });
    if (failed(verify(*clone)))
      return failure();
    clones.emplace_back(function, std::move(clone));
  }
  for (auto &[function, clone] : clones) {
    function.getFunctionBody().takeBody(
        cast<FunctionOpInterface>(*clone).getFunctionBody());
    function->setAttrs(clone->getAttrDictionary());
    ++counts.functions;
  }
  counts.casts += restored.casts;
  counts.values += restored.values;
  return success();
}
