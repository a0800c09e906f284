//===- PrecisionRecord.cpp - What auto-mixed-precision changed ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PrecisionRecord.h"

#include "amp/Dialect/AMP/IR/InputAttributes.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"

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

/// Visits the values of `op` that a rewrite may change: results, and what
/// control flow passes to its regions.
template <typename Visit>
static void forEachChangeable(Operation *op, Visit visit) {
  for (Value result : op->getResults())
    visit(result);
  if (op->getNumRegions() == 0 || !isa<RegionBranchOpInterface>(op))
    return;
  for (Region &region : op->getRegions())
    for (Value argument : region.getArguments())
      visit(argument);
}

/// Returns whether `op`, other than to pass it on, reads or gives a tensor of
/// `element`.
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
    // Casts of the user never change.
    CastLike castOp(op);
    if (castOp ? !castOp.isInserted() : !mentions(op, low))
      return WalkResult::advance();
    SmallVector<Attribute> types;
    forEachChangeable(op, [&](Value value) {
      types.push_back(TypeAttr::get(getElementTypeOrSelf(value)));
    });
    // An empty list marks copies of constants, and what only reads.
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
  // The original may be low itself, and this one be f32 again.
  if (auto elements = dyn_cast_or_null<DenseFPElementsAttr>(value);
      elements && elements.getElementType() != f32)
    value = convert(value, cast<FloatType>(f32));
  if (value)
    op->setAttr(AMPDialect::kInputValueAttr, value);
}

/// Gives the constant `op`, which is an f32 constant again, its value back.
static void restoreConstant(Operation *op) {
  Attribute input = op->removeAttr(AMPDialect::kInputValueAttr);
  Attribute value = getConstantValue(op);
  if (!input || !value)
    return;
  for (NamedAttribute attribute : op->getAttrs())
    if (attribute.getValue() == value)
      return op->setAttr(attribute.getName(), input);
}

/// Gives an operation that followed by an adapter its attributes back, and the
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
/// An operation with slots that read or give the low type, by number.
struct LowSlots {
  PrecisionOpInterface op;
  SmallVector<bool> isLow;
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
      found.push_back({op, std::move(isLow)});
  });
  return found;
}

/// Lets an operation follow its values of those slots that have become f32.
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

/// Replaces `copies`, which have the types and values of the input again, by
/// the operations that they are copies of: the last equal one before. One that
/// has none, because nothing read it and it is gone, stays in its place.
static void replaceCopies(FunctionOpInterface function,
                          const llvm::SetVector<Operation *> &copies) {
  if (copies.empty())
    return;
  constexpr auto flags =
      OperationEquivalence::Flags(OperationEquivalence::IgnoreLocations |
                                  OperationEquivalence::IgnoreDiscardableAttrs);
  DenseMap<size_t, SmallVector<Operation *, 1>> originals;
  auto isEqual = [&](Operation *original, Operation *copy) {
    return OperationEquivalence::isEquivalentTo(
               original, copy, OperationEquivalence::exactValueMatch,
               /*markEquivalent=*/nullptr, flags) &&
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

/// Undoes the rewrite of a function that stands alone.
static LogicalResult restore(FunctionOpInterface function, FloatType low,
                             std::string &reason, RestoreCounts &counts) {
  Type f32 = Float32Type::get(function.getContext());
  auto widen = [&](Value value) {
    value.setType(getWithElementType(value.getType(), f32));
    ++counts.values;
  };

  if (auto type = dyn_cast_or_null<TypeAttr>(
          function->removeAttr(AMPDialect::kInputSignatureAttr))) {
    auto signature = dyn_cast<FunctionType>(type.getValue());
    if (!signature || signature.getNumInputs() != function.getNumArguments() ||
        signature.getNumResults() != function.getNumResults()) {
      reason = "the signature is no longer that of the input";
      return failure();
    }
    for (auto [argument, input] :
         llvm::zip(function.getArguments(), signature.getInputs())) {
      counts.values += argument.getType() != input;
      argument.setType(input);
    }
    function.setType(signature);
  }

  IRRewriter rewriter(function.getContext());
  SmallVector<Value> values;
  SmallVector<CastLike> casts;
  llvm::SetVector<Operation *> copies;
  // Producers change before their users, so this has to be known in advance.
  std::vector<LowSlots> lowSlots = findLowSlots(function, low);
  auto walk =
      function.getFunctionBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (isa<FunctionOpInterface>(op))
          return WalkResult::skip();
        auto recorded = dyn_cast_or_null<ArrayAttr>(
            op->getAttr(AMPDialect::kInputTypesAttr));
        if (CastLike castOp{op}) {
          bool isNew = castOp.isInserted() && !recorded;
          if (isNew && (op->hasAttr(AMPDialect::kIdAttr) ||
                        op->hasAttr(AMPDialect::kBackwardOfAttr) ||
                        op->hasAttr(AMPDialect::kGradientOfAttr))) {
            reason = "a cast has been differentiated";
            return WalkResult::interrupt();
          }
          if (isNew)
            casts.push_back(castOp);
          return WalkResult::advance();
        }
        if (recorded && recorded.empty() && op->getNumResults() != 0) {
          copies.insert(op);
          for (Value result : op->getResults())
            if (isTensorOf(result.getType(), low))
              result.setType(getWithElementType(result.getType(), f32));
          return WalkResult::advance();
        }
        values.clear();
        forEachChangeable(op, [&](Value value) { values.push_back(value); });
        if (recorded && recorded.size() != values.size()) {
          reason = ("'" + op->getName().getStringRef() +
                    "' has no longer the results that it had in the input")
                       .str();
          return WalkResult::interrupt();
        }
        for (auto [index, value] : llvm::enumerate(values)) {
          if (!isTensorOf(value.getType(), low) ||
              (recorded && recorded[index] == TypeAttr::get(low)))
            continue;
          widen(value);
        }
        return WalkResult::advance();
      });
  if (walk.wasInterrupted())
    return failure();
  function.getFunctionBody().walk(
      [&](Operation *op) { restoreContents(op, low); });

  for (LowSlots &entry : lowSlots)
    if ((copies.contains(entry.op) ||
         entry.op->hasTrait<OpTrait::ConstantLike>()) &&
        failed(retypeRestored(entry, low, rewriter, reason)))
      return failure();
  llvm::erase_if(lowSlots, [&](const LowSlots &entry) {
    return copies.contains(entry.op);
  });
  llvm::for_each(copies, restoreConstant);
  replaceCopies(function, copies);

  // Program order: what a cast reads has its type by now.
  for (CastLike castOp : casts) {
    Value input = castOp.getInput();
    bool narrows = isTensorOf(castOp.getType(), low);
    if (!isTensorOf(input.getType(), f32) ||
        (!narrows && castOp.getType() != input.getType())) {
      reason = "an inserted cast reads a low type that was in the input";
      return failure();
    }
    castOp.getResult().replaceAllUsesWith(input);
    castOp->erase();
    ++counts.casts;
  }
  // Now the slots that have become f32 are known.
  for (LowSlots &entry : lowSlots)
    if (failed(retypeRestored(entry, low, rewriter, reason)))
      return failure();
  // What has low types all the same has them from a later pass.
  auto check = [&](Operation *op) {
    if (isa<FunctionOpInterface>(op))
      return WalkResult::skip();
    if (op->removeAttr(AMPDialect::kInputTypesAttr) ||
        op->hasTrait<OpTrait::IsTerminator>() || CastLike{op} ||
        !mentions(op, low))
      return WalkResult::advance();
    reason = ("'" + op->getName().getStringRef() +
              "' reads or gives a low type that nothing says was in the input")
                 .str();
    return WalkResult::interrupt();
  };
  if (function.getFunctionBody()
          .walk<WalkOrder::PreOrder>(check)
          .wasInterrupted())
    return failure();
  function->removeAttr(AMPDialect::kMixedPrecisionAttr);
  return success();
}

LogicalResult mlir::amp::restoreInput(ArrayRef<FunctionOpInterface> functions,
                                      FunctionOpInterface &culprit,
                                      std::string &reason,
                                      RestoreCounts &counts) {
  // Later passes may have built on low types in ways that only the verifier
  // sees: clones are changed and checked first.
  SmallVector<std::pair<FunctionOpInterface, OwningOpRef<Operation *>>> clones;
  RestoreCounts restored;
  for (FunctionOpInterface function : functions) {
    FloatType low = getRecordedPrecision(function);
    if (!low)
      continue;
    culprit = function;
    OwningOpRef<Operation *> clone = function->clone();
    if (failed(
            restore(cast<FunctionOpInterface>(*clone), low, reason, restored)))
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
