//===- CastChooser.cpp - Casts from their neighbourhood -------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CastChooser.h"

#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "amp/Interfaces/PrecisionOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace mlir::amp;

/// The interface of the dialect of `op`, or null.
static const CastMaterializationInterface *getInterface(Operation *op) {
  Dialect *dialect = op->getDialect();
  return dialect
             ? dialect->getRegisteredInterface<CastMaterializationInterface>()
             : nullptr;
}

/// Whether `op` does not decide casts: it only forwards values, or loss scaling
/// inserted it.
static bool isSilent(Operation *op) {
  return !op || op->hasTrait<OpTrait::IsTerminator>() ||
         isa<CallOpInterface, RegionBranchOpInterface>(op) ||
         (isa_and_nonnull<AMPDialect>(op->getDialect()) && !isa<CastOp>(op));
}

CastChooser::CastChooser(FunctionOpInterface function) : function(function) {
  function.getFunctionBody().walk([&](Operation *op) {
    CastLike cast(op);
    auto to = cast ? dyn_cast<FloatType>(getElementTypeOrSelf(cast.getType()))
                   : FloatType();
    if (!to || isa<CastOp>(op))
      return;
    Example example{op->getName(), {}, to, {}};
    auto addDialect = [&](Operation *neighbour) {
      if (neighbour && !isSilent(neighbour) && !getInterface(neighbour))
        example.dialects.insert(neighbour->getName().getDialectNamespace());
    };
    addDialect(cast.getInput().getDefiningOp());
    llvm::for_each(cast.getResult().getUsers(), addDialect);
    if (!getInterface(op))
      addDialect(op);
    if (example.dialects.empty())
      return;
    NamedAttrList attributes(op->getAttrs());
    for (NamedAttribute attribute : op->getAttrs())
      if (attribute.getName().strref().starts_with("amp."))
        attributes.erase(attribute.getName());
    example.attributes = attributes.getDictionary(op->getContext());
    examples.push_back(std::move(example));
  });
}

Operation *CastChooser::create(const Example &example, Location loc,
                               Value value, Type type) {
  OperationState state(loc, example.name);
  state.addOperands(value);
  state.addTypes(type);
  // Attributes that named the result type name the new type.
  for (NamedAttribute attribute : example.attributes) {
    Attribute content = attribute.getValue();
    if (content == TypeAttr::get(example.to))
      content = TypeAttr::get(getElementTypeOrSelf(type));
    state.addAttribute(attribute.getName(), content);
  }
  return Operation::create(state);
}

bool CastChooser::canCreate(const Example &example, Type from, Type to) {
  if (!example.name.isRegistered())
    return true;
  ScopedDiagnosticHandler handler(from.getContext(),
                                  [](Diagnostic &) { return success(); });
  Block block;
  Location loc = UnknownLoc::get(from.getContext());
  Operation *op = create(example, loc, block.addArgument(from, loc), to);
  bool isValid = succeeded(verify(op));
  op->destroy();
  return isValid;
}

CastChooser::Source CastChooser::findOf(Operation *op, Type from,
                                        Type to) const {
  if (isSilent(op))
    return {};
  if (const CastMaterializationInterface *dialect = getInterface(op))
    return dialect->canMaterializeCast(from, to) ? Source{dialect, nullptr}
                                                 : Source();
  for (const Example &example : examples)
    if (example.dialects.contains(op->getName().getDialectNamespace()) &&
        canCreate(example, from, to))
      return {nullptr, &example};
  return {};
}

FailureOr<CastChooser::Source>
CastChooser::find(Type from, Type to, ArrayRef<Operation *> neighbours) {
  if (!to)
    return failure();
  Source found;
  auto consider = [&](Source candidate) {
    if (candidate &&
        (!found || (found.isBorrowed() && !candidate.isBorrowed())))
      found = candidate;
  };
  bool isPassedOn = true;
  for (Operation *op : neighbours) {
    consider(findOf(op, from, to));
    isPassedOn &= isSilent(op);
  }
  if (!found || found.isBorrowed())
    if (const auto *dialect =
            from.getDialect()
                .getRegisteredInterface<CastMaterializationInterface>();
        dialect && dialect->canMaterializeCast(from, to))
      consider({dialect, nullptr});
  if (found)
    return found;
  if (!isPassedOn)
    return failure();
  // Operations elsewhere in the step decide for values that are only forwarded.
  function.getFunctionBody().walk([&](Operation *op) {
    if (!found || found.isBorrowed())
      if (llvm::any_of(op->getOperandTypes(), isPrecisionTensor) ||
          llvm::any_of(op->getResultTypes(), isPrecisionTensor))
        consider(findOf(op, from, to));
  });
  if (!found && !isa<RankedTensorType>(from))
    return failure();
  return found;
}

bool CastChooser::canBuild(Type from, FloatType to,
                           ArrayRef<Operation *> neighbours) {
  return succeeded(find(from, getWithElementType(from, to), neighbours));
}

Value CastChooser::build(OpBuilder &builder, Location loc, Value value,
                         FloatType to, ArrayRef<Operation *> neighbours) {
  Type type = getWithElementType(value.getType(), to);
  FailureOr<Source> source = find(value.getType(), type, neighbours);
  if (failed(source))
    return {};
  if (!*source)
    return CastOp::create(builder, loc, value, to, /*inserted=*/true);
  Operation *cast =
      source->dialect
          ? source->dialect->materializeCast(builder, loc, value, type)
          : builder.insert(create(*source->example, loc, value, type));
  if (cast->getNumOperands() == 1 && cast->getOperand(0) == value)
    markInserted(cast);
  return cast->getResult(0);
}
