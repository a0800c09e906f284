//===- AMPToUpstream.cpp - Removal of the amp dialect ---------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Conversion/LinalgCommon/AMPAttributes.h"
#include "amp/Conversion/LinalgCommon/LinalgBuilder.h"

#include "amp/Conversion/Passes.h"
#include "amp/Dialect/AMP/IR/AMPWeightOps.h"
#include "amp/Interfaces/CastMaterialization.h"
#include "amp/Interfaces/PrecisionOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::amp {
#define GEN_PASS_DEF_CONVERTAMPTOUPSTREAM
#include "amp/Conversion/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

/// Returns whether `name` names an attribute of the amp dialect.
static bool isOfAMP(StringAttr name) {
  return name.getValue().starts_with("amp.");
}

/// Returns the entries of `attributes` that belong to other dialects.
static SmallVector<NamedAttribute> getOthers(DictionaryAttr attributes) {
  return llvm::filter_to_vector(
      attributes ? attributes.getValue() : ArrayRef<NamedAttribute>(),
      [](NamedAttribute entry) { return !isOfAMP(entry.getName()); });
}

void mlir::amp::removeAMPAttributes(Operation *op) {
  SmallVector<StringAttr> names;
  for (NamedAttribute entry : op->getDiscardableAttrs())
    if (isOfAMP(entry.getName()))
      names.push_back(entry.getName());
  for (StringAttr name : names)
    op->removeDiscardableAttr(name);
}

void mlir::amp::removeAllAMPAttributes(Operation *op) {
  removeAMPAttributes(op);
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return;
  for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i)
    if (DictionaryAttr attributes = function.getArgAttrDict(i))
      function.setArgAttrs(i, getOthers(attributes));
  for (unsigned i = 0, e = function.getNumResults(); i != e; ++i)
    if (DictionaryAttr attributes = function.getResultAttrDict(i))
      function.setResultAttrs(i, getOthers(attributes));
}

/// Converts `value` to `type` between a type of another dialect and a builtin
/// tensor. Uses the cast of that dialect or one that it resolves.
static Value bridge(OpBuilder &builder, Location loc, Value value, Type type) {
  Type foreign = isa<RankedTensorType>(type) ? value.getType() : type;
  const auto *casts =
      foreign.getDialect()
          .getRegisteredInterface<CastMaterializationInterface>();
  if (casts && casts->canMaterializeCast(value.getType(), type))
    return casts->materializeCast(builder, loc, value, type)->getResult(0);
  return UnrealizedConversionCastOp::create(builder, loc, type, value)
      .getResult(0);
}

/// Makes `op` work on builtin tensors instead of types of another dialect,
/// which linalg does not know.
static void bridgeForeignTypes(Operation *op) {
  auto getTensor = [](Type type) -> Type {
    if (isa<RankedTensorType>(type) || !isPrecisionTensor(type))
      return {};
    auto shaped = cast<ShapedType>(type);
    return RankedTensorType::get(shaped.getShape(), shaped.getElementType());
  };
  OpBuilder builder(op);
  for (OpOperand &operand : op->getOpOperands())
    if (Type type = getTensor(operand.get().getType()))
      operand.set(bridge(builder, op->getLoc(), operand.get(), type));
  builder.setInsertionPointAfter(op);
  for (Value result : op->getResults())
    if (Type type = getTensor(result.getType())) {
      Type foreign = result.getType();
      result.setType(type);
      Value back = bridge(builder, op->getLoc(), result, foreign);
      result.replaceAllUsesExcept(back, back.getDefiningOp());
    }
}

namespace {

struct ConvertAMPToUpstream
    : mlir::amp::impl::ConvertAMPToUpstreamBase<ConvertAMPToUpstream> {
  using Base::Base;

  void runOnOperation() override {
    Operation *root = getOperation();
    root->walk([](Operation *op) {
      if (isa<UnscaleOp, MasterCopyOp, ResidualOp, CompensateOp, GlobalNormOp,
              SquareSumOp, RescaleOp, MaxMagnitudeOp, StatisticsOp,
              UpperHalfOp>(op))
        bridgeForeignTypes(op);
    });
    if (failed(lowerAMPToLinalg(root, "upstream dialects")))
      return signalPassFailure();
    if (!keepAttributes)
      root->walk(removeAllAMPAttributes);
  }
};

} // namespace
