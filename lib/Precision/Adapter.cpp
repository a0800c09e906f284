//===- Adapter.cpp - Dialects that only the policy knows ------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Adapter.h"

#include "amp/Interfaces/Rounding.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

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
      // The last one gives the result.
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

LogicalResult AdapterOperation::getSlots(Operation *op,
                                         PrecisionSlots &result) const {
  if (op->getNumRegions() != 0 && !ownsRegions(op)) {
    result.reset(op);
    return success();
  }
  if (slots.empty()) {
    std::optional<SlotKind> found = kind;
    if (!bodies.empty())
      found = getBodyKind(op);
    getUniformPrecisionSlots(op, found.value_or(SlotKind::Fixed), result);
  } else {
    result.reset(op);
    auto assign = [&](const AdapterIndex &entry, StringRef what, size_t count,
                      auto types, auto &numbers, int8_t slot) -> LogicalResult {
      if (entry.index >= count) {
        auto diag = emitError(entry.loc)
                    << "policy: '" << name << "' has no " << what << " "
                    << entry.index << ": this one has " << count;
        diag.attachNote(op->getLoc()) << "used here";
        return diag;
      }
      if (!getPrecisionElementType(types[entry.index])) {
        auto diag = emitError(entry.loc)
                    << "policy: " << what << " " << entry.index << " of '"
                    << name << "' is no tensor of floats, but "
                    << types[entry.index];
        diag.attachNote(op->getLoc()) << "used here";
        return diag;
      }
      numbers[entry.index] = slot;
      return success();
    };
    for (const AdapterSlot &slot : slots) {
      int8_t number = result.add(slot.kind);
      for (const AdapterIndex &operand : slot.operands)
        if (failed(assign(operand, "operand", op->getNumOperands(),
                          op->getOperandTypes(), result.operandSlots, number)))
          return failure();
      for (const AdapterIndex &entry : slot.results)
        if (failed(assign(entry, "result", op->getNumResults(),
                          op->getResultTypes(), result.resultSlots, number)))
          return failure();
      if (slot.implies)
        result.addImplication(number, static_cast<int8_t>(*slot.implies));
      if (slot.isRounded)
        result.roundedSlot = number;
    }
  }
  // An attribute that cannot be rounded, or that would become infinite.
  if (op->getNumResults() == 0 || result.resultSlots[0] == PrecisionSlots::none)
    return success();
  SlotKind &first = result.kinds[result.resultSlots[0]];
  for (StringRef attributeName : typeAttributes) {
    Attribute attribute = op->getAttr(attributeName);
    if (attribute && !canRoundAttribute(attribute))
      first = SlotKind::Fixed;
    else if (attribute && first != SlotKind::Fixed && !fitsHalf(attribute))
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

LogicalResult AdapterOperation::retype(Operation *op,
                                       ArrayRef<Type> slotTypes) const {
  PrecisionSlots current;
  if (failed(getSlots(op, current)))
    return failure();
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
          op->setAttr(attributeName,
                      roundAttribute(attribute, cast<FloatType>(low)));
  if (regions != RegionRule::Follow)
    return success();
  const auto *low = llvm::find_if(slotTypes, [](Type type) { return !!type; });
  if (low == slotTypes.end())
    return success();
  for (Region &region : op->getRegions()) {
    region.walk([&](Operation *nested) {
      for (Value value : nested->getResults())
        value.setType(narrow(value.getType(), *low));
      for (NamedAttribute attribute : llvm::to_vector(nested->getAttrs())) {
        // The elements of constants have the type of the result.
        if (canRoundAttribute(attribute.getValue()) &&
            !isa<TypeAttr>(attribute.getValue()))
          nested->setAttr(
              attribute.getName(),
              roundAttribute(attribute.getValue(), cast<FloatType>(*low)));
      }
      for (Region &inner : nested->getRegions())
        for (Block &block : inner)
          for (BlockArgument argument : block.getArguments())
            argument.setType(narrow(argument.getType(), *low));
    });
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        argument.setType(narrow(argument.getType(), *low));
  }
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
      return error() << "is no operation of the dialect '"
                     << name.getDialectNamespace() << "'";
    if (!owner && !context->allowsUnregisteredDialects())
      return error() << "cannot be built: its dialect is not loaded, and "
                        "unregistered dialects are not allowed";
    return success();
  }
  // Verify one like it. Its diagnostics become notes.
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
