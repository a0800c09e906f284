//===- Adapter.cpp - Dialects that only the policy knows ------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Policy/Adapter.h"

#include "amp/Dialect/AMP/IR/InputAttributes.h"
#include "amp/Interfaces/Rounding.h"
#include "amp/Support/OperationAttributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <utility>

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

/// Returns whether a region of `op` reads a float tensor from outside.
static bool capturesTensors(Operation *op) {
  bool captures = false;
  op->walk([&](Operation *nested) {
    if (nested == op)
      return;
    for (Value operand : nested->getOperands())
      captures |= getPrecisionElementType(operand.getType()) &&
                  !op->isAncestor(operand.getParentRegion()->getParentOp());
  });
  return captures;
}

bool AdapterOperation::ownsRegions(Operation *op) const {
  return op->getNumRegions() != 0 && regions != RegionRule::None &&
         !capturesTensors(op);
}

std::optional<SlotKind> AdapterOperation::getBodyKind(Operation *op) const {
  SlotKind kind = SlotKind::Storage;
  for (Region &region : op->getRegions()) {
    for (Operation &nested : region.getOps()) {
      // The last operation computes the result.
      if (!nested.getNextNode())
        continue;
      StringRef nestedName = nested.getName().getStringRef();
      auto entry = llvm::find_if(
          bodies, [&](const auto &body) { return body.first == nestedName; });
      if (entry == bodies.end())
        return std::nullopt;
      kind = std::max(kind, entry->second);
    }
  }
  return kind;
}

bool AdapterOperation::hasKnownBody(Operation *op) const {
  return bodies.empty() || getBodyKind(op).has_value();
}

/// Returns whether `type` is a tensor of integers or complex numbers.
static bool isOtherTensor(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && isa<IntegerType, ComplexType>(shaped.getElementType());
}

/// Calls `visit` with the indices of the operands that `entry` matches.
/// Returns whether there are any: `op` may have none of that name.
static bool forEachOperand(Operation *op, const AdapterIndex &entry,
                           StringRef operandNames,
                           llvm::function_ref<void(unsigned)> visit) {
  if (entry.name.empty()) {
    visit(entry.index);
    return true;
  }
  auto names = op->getAttrOfType<ArrayAttr>(operandNames);
  bool found = false;
  if (names)
    for (auto [number, name] : llvm::enumerate(names))
      if (auto text = dyn_cast<StringAttr>(name);
          text && text.getValue() == entry.name) {
        visit(number);
        found = true;
      }
  return found;
}

/// Returns whether this `op` computes on tensors other than floats. It then
/// keeps its types.
static bool hasOtherNumbers(Operation *op, ArrayRef<AdapterSlot> slots,
                            StringRef operandNames) {
  bool found = false;
  auto examine = [&](TypeRange types, unsigned index) {
    found |= index < types.size() && isOtherTensor(types[index]);
  };
  for (const AdapterSlot &slot : slots) {
    if (slot.isOptional)
      continue;
    for (const AdapterIndex &entry : slot.operands)
      forEachOperand(op, entry, operandNames, [&](unsigned index) {
        examine(op->getOperandTypes(), index);
      });
    for (const AdapterIndex &entry : slot.results)
      examine(op->getResultTypes(), entry.index);
  }
  return found;
}

/// Assigns the slots that the entry lists.
LogicalResult
AdapterOperation::assignDescribedSlots(Operation *op,
                                       PrecisionSlots &result) const {
  auto names = operandNames.empty()
                   ? ArrayAttr()
                   : op->getAttrOfType<ArrayAttr>(operandNames);
  if (names && names.size() != op->getNumOperands())
    return op->emitOpError() << "expected '" << operandNames
                             << "' to have one string per operand";
  LogicalResult status = success();
  auto error = [&](const AdapterIndex &entry) {
    status = failure();
    auto diag = emitError(entry.loc) << "policy: ";
    diag.attachNote(op->getLoc()) << "used here";
    return diag;
  };
  auto assign = [&](const AdapterIndex &entry, unsigned index, StringRef what,
                    TypeRange types, MutableArrayRef<int8_t> numbers,
                    int8_t number, bool isOptional) {
    bool isFloat =
        index < types.size() && getPrecisionElementType(types[index]);
    if (isFloat)
      numbers[index] = number;
    else if (isOptional)
      return;
    else if (index >= types.size())
      error(entry) << "'" << name << "' has no " << what << " " << index
                   << ": this one has " << types.size();
    else
      error(entry) << what << " " << index << " of '" << name
                   << "' is not a tensor of floats, but " << types[index];
  };
  for (const AdapterSlot &slot : slots) {
    int8_t number = result.add(slot.kind);
    for (const AdapterIndex &entry : slot.operands) {
      bool found = forEachOperand(op, entry, operandNames, [&](unsigned index) {
        if (succeeded(status))
          assign(entry, index, "operand", op->getOperandTypes(),
                 result.operandSlots, number, slot.isOptional);
      });
      if (!found && !slot.isOptional && succeeded(status))
        error(entry) << "'" << name << "' has no operand named '" << entry.name
                     << "' in '" << operandNames << "'";
    }
    for (const AdapterIndex &entry : slot.results)
      if (succeeded(status))
        assign(entry, entry.index, "result", op->getResultTypes(),
               result.resultSlots, number, slot.isOptional);
    if (slot.implies)
      result.addImplication(number, static_cast<int8_t>(*slot.implies));
    if (slot.isRounded)
      result.roundedSlot = number;
    if (failed(status))
      return failure();
  }
  return success();
}

LogicalResult AdapterOperation::assignSlots(Operation *op,
                                            PrecisionSlots &result) const {
  if (slots.empty()) {
    std::optional<SlotKind> found = kind;
    if (!bodies.empty())
      found = getBodyKind(op);
    getUniformPrecisionSlots(op, found.value_or(SlotKind::Fixed), result);
    // Sums and extrema may be in different lists.
    if (!bodies.empty() && found)
      result.variant = *found == SlotKind::Range ? PrecisionSlots::reduction
                                                 : PrecisionSlots::movement;
  } else if (result.reset(op); !hasOtherNumbers(op, slots, operandNames)) {
    if (failed(assignDescribedSlots(op, result)))
      return failure();
  }
  // The attribute cannot be rounded, or would become infinite.
  if (op->getNumResults() == 0 || result.resultSlots[0] == PrecisionSlots::none)
    return success();
  SlotKind &first = result.kinds[result.resultSlots[0]];
  for (StringRef attributeName : typeAttributes) {
    Attribute attribute = op->getAttr(attributeName);
    if (!attribute || first == SlotKind::Fixed)
      continue;
    // The value of a constant gives its range.
    if (!canRoundAttribute(attribute) ||
        (!fitsHalf(attribute) && !isConstant(op)))
      first = SlotKind::Fixed;
    else if (!fitsHalf(attribute))
      first = SlotKind::Range;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Retyping
//===----------------------------------------------------------------------===//

/// Returns `type` with f32 replaced by `low`, in a scalar or a shaped type.
static Type narrow(Type type, Type low) {
  if (type.isF32())
    return low;
  FloatType element = getPrecisionElementType(type);
  return element && element.isF32() ? getWithElementType(type, low) : type;
}

/// Sets the attribute `name` of `op` to `value`, and records the previous one.
static void follow(Operation *op, StringAttr name, Attribute value) {
  Attribute before = op->getAttr(name);
  if (before == value)
    return;
  NamedAttrList record;
  if (auto known = op->getAttrOfType<DictionaryAttr>(kInputAttributesAttr))
    record = known;
  if (!record.get(name))
    record.set(name, before);
  op->setAttr(name, value);
  op->setAttr(kInputAttributesAttr, record.getDictionary(op->getContext()));
}

/// Changes the element type of every f32 value in the regions of `op` to `low`.
static void narrowRegions(Operation *op, FloatType low) {
  // Record the change of the body even if no attribute changes.
  if (!op->getAttr(kInputAttributesAttr))
    op->setAttr(kInputAttributesAttr, DictionaryAttr::get(op->getContext()));
  auto narrowArguments = [&](Region &region) {
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        argument.setType(narrow(argument.getType(), low));
  };
  for (Region &region : op->getRegions()) {
    narrowArguments(region);
    region.walk([&](Operation *nested) {
      for (Value value : nested->getResults())
        value.setType(narrow(value.getType(), low));
      // The elements of constants have the type of the result.
      for (NamedAttribute attribute : getAllAttributes(nested))
        if (canRoundAttribute(attribute.getValue()) &&
            !isa<TypeAttr>(attribute.getValue()))
          follow(nested, attribute.getName(),
                 roundAttribute(attribute.getValue(), low));
      llvm::for_each(nested->getRegions(), narrowArguments);
    });
  }
}

void AdapterOperation::retypeContents(Operation *op,
                                      const PrecisionSlots &current,
                                      ArrayRef<Type> slotTypes) const {
  auto typeOf = [&](int8_t slot) -> Type {
    return slot == PrecisionSlots::none ||
                   slot >= static_cast<int64_t>(slotTypes.size())
               ? Type()
               : slotTypes[slot];
  };
  if (op->getNumResults() != 0)
    if (Type low = typeOf(current.resultSlots[0]))
      for (StringRef attributeName : typeAttributes)
        if (Attribute attribute = op->getAttr(attributeName))
          follow(op, StringAttr::get(op->getContext(), attributeName),
                 roundAttribute(attribute, cast<FloatType>(low)));
  const auto *low = llvm::find_if(slotTypes, [](Type type) { return !!type; });
  if (regions == RegionRule::Follow && op->getNumRegions() != 0 &&
      low != slotTypes.end())
    narrowRegions(op, cast<FloatType>(*low));
}

LogicalResult AdapterOperation::retype(Operation *op,
                                       ArrayRef<Type> slotTypes) const {
  // `getSlots` has checked that the regions can become low.
  PrecisionSlots current;
  if (failed(assignSlots(op, current)))
    return failure();
  retypeContents(op, current, slotTypes);
  return success();
}

//===----------------------------------------------------------------------===//
// Checks of whether an operation can become low
//===----------------------------------------------------------------------===//

/// Returns whether `type` is f32 or contains it.
static bool mentionsF32(Type type) {
  return type.walk([](Float32Type) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Returns why the regions of `op` cannot become low, or an empty string.
/// Checks properties that the verifier of a single operation cannot.
static std::string findObstacle(Operation *op) {
  std::string reason;
  auto found = [&](Operation *nested, const Twine &what) {
    reason = ("'" + nested->getName().getStringRef() + "' " + what).str();
    return WalkResult::interrupt();
  };
  auto isHalf = [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return element.isF16() || element.isBF16();
  };
  Type half = Float16Type::get(op->getContext());
  auto visit = [&](Operation *nested) {
    if (isa<CallOpInterface, FunctionOpInterface, SymbolUserOpInterface>(
            nested))
      return found(nested, "refers to a value outside of the region");
    // Low values of the input could not be told from those that become low.
    if (llvm::any_of(nested->getResultTypes(), isHalf))
      return found(nested, "gives a low type in the input");
    for (Type type : nested->getResultTypes())
      if (mentionsF32(type) && mentionsF32(narrow(type, half)))
        return found(nested, "gives a type that holds f32");
    for (NamedAttribute attribute : getAllAttributes(nested)) {
      if (auto type = dyn_cast<TypeAttr>(attribute.getValue());
          type && mentionsF32(type.getValue()))
        return found(nested, "has an attribute that says f32");
      if (canRoundAttribute(attribute.getValue()) &&
          !fitsHalf(attribute.getValue()))
        return found(nested, "holds a number that does not fit the low type");
    }
    return WalkResult::advance();
  };
  for (Region &region : op->getRegions()) {
    if (llvm::any_of(region.getArgumentTypes(), isHalf))
      return "an argument has a low type in the input";
    if (region.walk(visit).wasInterrupted())
      break;
  }
  return reason;
}

/// Verifies a copy of `op` whose slots have the types `slotTypes`. Placeholders
/// replace its operands.
LogicalResult AdapterOperation::verifyRetyped(Operation *op,
                                              const PrecisionSlots &current,
                                              ArrayRef<Type> slotTypes,
                                              std::string &reason) const {
  OwningOpRef<ModuleOp> holder = ModuleOp::create(op->getLoc());
  OpBuilder builder = OpBuilder::atBlockBegin(holder->getBody());
  auto create = [&](Type type) {
    return UnrealizedConversionCastOp::create(builder, op->getLoc(), type,
                                              ValueRange())
        .getResult(0);
  };
  auto typeOf = [&](Type type, int8_t slot) {
    return slot != PrecisionSlots::none && slotTypes[slot]
               ? getWithElementType(type, slotTypes[slot])
               : type;
  };
  IRMapping mapping;
  for (Region &region : op->getRegions())
    region.walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (!op->isAncestor(operand.getParentRegion()->getParentOp()) &&
            !mapping.contains(operand))
          mapping.map(operand, create(operand.getType()));
    });
  SmallVector<Value> operands;
  for (auto [operand, slot] :
       llvm::zip(op->getOperands(), current.operandSlots))
    operands.push_back(create(typeOf(operand.getType(), slot)));
  Operation *copy = builder.clone(*op, mapping);
  copy->setOperands(operands);
  for (auto [result, slot] : llvm::zip(copy->getResults(), current.resultSlots))
    result.setType(typeOf(result.getType(), slot));
  retypeContents(copy, current, slotTypes);
  // The attributes of this project do not describe the operation.
  copy->walk([](Operation *nested) {
    for (NamedAttribute attribute : llvm::to_vector(nested->getAttrs()))
      if (attribute.getName().strref().starts_with("amp."))
        nested->removeAttr(attribute.getName());
  });
  ScopedDiagnosticHandler handler(op->getContext(), [&](Diagnostic &diag) {
    if (reason.empty())
      reason = diag.str();
    return success();
  });
  return verify(copy);
}

LogicalResult AdapterOperation::getSlots(Operation *op, PrecisionSlots &result,
                                         std::string *kept) const {
  bool hasRegions = op->getNumRegions() != 0;
  if (hasRegions && !ownsRegions(op)) {
    result.reset(op);
    return success();
  }
  if (failed(assignSlots(op, result)))
    return failure();
  bool follows = hasRegions && regions == RegionRule::Follow;
  if (!follows && !op->isRegistered())
    return success();

  // A slot with another type than f32 never changes.
  SmallVector<bool> mayBeLow(result.kinds.size(), true);
  auto examine = [&](TypeRange types, ArrayRef<int8_t> numbers) {
    for (auto [type, slot] : llvm::zip(types, numbers))
      if (slot != PrecisionSlots::none && !getElementTypeOrSelf(type).isF32())
        mayBeLow[slot] = false;
  };
  examine(op->getOperandTypes(), result.operandSlots);
  examine(op->getResultTypes(), result.resultSlots);
  for (auto [slot, kind] : llvm::enumerate(result.kinds))
    if (kind == SlotKind::Fixed)
      mayBeLow[slot] = false;

  // Verify each slot alone, with the slots that it implies.
  Type low = Float16Type::get(op->getContext());
  std::string reason = follows ? findObstacle(op) : std::string();
  for (unsigned slot = 0, e = mayBeLow.size(); slot != e && reason.empty();
       ++slot) {
    if (!mayBeLow[slot])
      continue;
    SmallVector<Type> slotTypes(mayBeLow.size());
    slotTypes[slot] = low;
    for (bool changed = true; std::exchange(changed, false);)
      for (auto [premise, conclusion] : result.implications)
        if (slotTypes[premise] && !slotTypes[conclusion]) {
          slotTypes[conclusion] = low;
          changed = true;
        }
    if (succeeded(verifyRetyped(op, result, slotTypes, reason)))
      reason.clear();
    else if (reason.empty())
      reason = "it is not valid in the low type";
  }
  if (reason.empty())
    return success();
  if (!follows) {
    auto diag = emitError(loc) << "policy: the slots of '" << name
                               << "' do not fit the operation: " << reason;
    diag.attachNote(op->getLoc()) << "used here";
    return diag;
  }
  result.reset(op);
  if (kept)
    *kept = reason;
  return success();
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

/// Builds the cast without inserting it.
static Operation *createCast(const AdapterCast &cast, Location loc, Value value,
                             Type type) {
  MLIRContext *context = loc.getContext();
  OperationState state(loc, cast.op);
  state.addOperands(value);
  state.addTypes(type);
  for (const AdapterCast::CastAttribute &attribute : cast.attributes) {
    Attribute content = attribute.value;
    if (!content)
      content = TypeAttr::get(::cast<ShapedType>(type).getElementType());
    state.addAttribute(StringAttr::get(context, attribute.name), content);
  }
  return Operation::create(state);
}

bool Adapter::isNoOpCast(Operation *op) const {
  return cast && op->getName().getStringRef() == cast->op &&
         op->getNumOperands() == 1 && op->getNumResults() == 1 &&
         op->getOperand(0).getType() == op->getResult(0).getType();
}

bool Adapter::movesElements(Operation *op) const {
  return moves.contains(op->getName().getStringRef()) || isNoOpCast(op);
}

Operation *Adapter::buildCast(OpBuilder &builder, Location loc, Value value,
                              Type type) const {
  return builder.insert(createCast(*cast, loc, value, type));
}

LogicalResult Adapter::checkCast(Location loc, Type from, Type to) const {
  MLIRContext *context = loc.getContext();
  auto error = [&] {
    return emitError(cast->loc) << "policy: the cast '" << cast->op
                                << "' of the dialect '" << dialect << "' ";
  };
  OperationName name(cast->op, context);
  if (!name.isRegistered()) {
    Dialect *owner = context->getLoadedDialect(name.getDialectNamespace());
    if (owner && !owner->allowsUnknownOperations())
      return error() << "is not an operation of the dialect '"
                     << name.getDialectNamespace() << "'";
    if (!owner && !context->allowsUnregisteredDialects())
      return error() << "cannot be built: its dialect is not loaded, and "
                        "unregistered dialects are not allowed";
    return success();
  }
  // Verify a detached cast. Its diagnostics become notes.
  std::string reason;
  LogicalResult result = success();
  {
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diag) {
      if (reason.empty())
        reason = diag.str();
      return success();
    });
    Block block;
    Operation *op = createCast(*cast, loc, block.addArgument(from, loc), to);
    result = verify(op);
    op->destroy();
  }
  if (succeeded(result))
    return success();
  auto diag = error() << "cannot convert " << from << " to " << to;
  diag.attachNote(loc) << reason;
  return diag;
}
