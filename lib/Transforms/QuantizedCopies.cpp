//===- QuantizedCopies.cpp - The 8-bit copies of tensors ------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizedCopies.h"

#include "amp/Dialect/AMP/IR/AMPQuantizedOps.h"
#include "amp/Dialect/AMP/IR/AMPWeightOps.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "amp/Support/TensorTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::amp;

BlockArgument mlir::amp::findWeight(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    auto iface = dyn_cast<FloatRangeOpInterface>(op);
    bool moves = iface && iface.getElementFlow() == ElementFlow::Moves;
    if (op->getNumOperands() != 1 ||
        (!moves && !CastLike(op) && !isa<UpperHalfOp>(op)))
      return {};
    value = op->getOperand(0);
  }
  return getRole(value) == Role::Parameter ? cast<BlockArgument>(value)
                                           : BlockArgument();
}

Value mlir::amp::skipInsertedCasts(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    CastLike cast(op);
    if (!cast || !cast.isInserted() ||
        !isa<RankedTensorType>(cast.getInput().getType()) ||
        !getElementTypeOrSelf(cast.getInput()).isF32())
      break;
    value = cast.getInput();
  }
  return value;
}

StringRef mlir::amp::stringifyKind(CopyKind kind) {
  switch (kind) {
  case CopyKind::Input:
    return "input";
  case CopyKind::Weight:
    return "weight";
  case CopyKind::Gradient:
    return "gradient";
  }
  llvm_unreachable("every kind has a name");
}

/// Returns a name that no other quantiser of the step has.
std::string QuantizedCopies::chooseName(const CopiedOperand &operand) {
  std::string base =
      ("fp8." + operand.layer + "." + stringifyKind(operand.kind)).str();
  std::string name = base;
  for (unsigned i = 2; !names.insert(name).second; ++i)
    name = base + "." + std::to_string(i);
  return name;
}

/// The scale that follows from the magnitudes of `source` in this step.
Value QuantizedCopies::buildCurrentScale(OpBuilder &builder, Value source,
                                         Type format,
                                         DenseI64ArrayAttr blocks) {
  Location loc = source.getLoc();
  auto type = RankedTensorType::get(
      getScaleShape(typeOf(source).getShape(),
                    blocks ? BlockSizes(blocks.asArrayRef()) : std::nullopt),
      builder.getF32Type());
  Value amax = AmaxOp::create(builder, loc, type, source, blocks);
  return ScaleFromAmaxOp::create(
      builder, loc, type, amax, TypeAttr::get(format),
      builder.getI32IntegerAttr(settings.margin), builder.getF32FloatAttr(0),
      recipe.powersOfTwo ? builder.getUnitAttr() : UnitAttr(), UnitAttr());
}

/// The scale of the last steps. The magnitude of this step enters the history
/// at the end. States have no factor of the loss scale, so they stay right when
/// it changes.
FailureOr<Value>
QuantizedCopies::buildDelayedScale(OpBuilder &builder, Value source,
                                   Type format, const CopiedOperand &operand) {
  Location loc = source.getLoc();
  MLIRContext *context = builder.getContext();
  auto scalar = RankedTensorType::get({}, builder.getF32Type());
  auto column =
      RankedTensorType::get({settings.historyLength}, builder.getF32Type());
  std::string name = chooseName(operand);
  std::string scaleName = name + ".scale", historyName = name + ".history";
  FailureOr<BlockArgument> scale =
      step.addArgument(scaleName, Role::QuantizerState, scalar,
                       InitAttr::get(context, InitKind::Ones, {}, {}, {}));
  FailureOr<BlockArgument> history =
      step.addArgument(historyName, Role::QuantizerState, column,
                       InitAttr::get(context, InitKind::Zeros, {}, {}, {}));
  if (failed(scale) || failed(history))
    return failure();

  Value used = *scale;
  Value amax = AmaxOp::create(builder, loc, scalar, source, nullptr);
  for (Value lossScale : lossScales.lookup(source)) {
    used = arith::DivFOp::create(builder, loc, used, lossScale);
    amax = arith::DivFOp::create(builder, loc, amax, lossScale);
  }
  OpBuilder last(step.getResultPoint());
  auto update = UpdateQuantizerOp::create(
      last, loc, scalar, column, *scale, *history, amax, TypeAttr::get(format),
      builder.getI32IntegerAttr(settings.margin),
      settings.mostRecent ? builder.getUnitAttr() : UnitAttr());
  if (failed(step.addResult(update.getNewScale(), AMPDialect::kUpdatesAttr,
                            scaleName)) ||
      failed(step.addResult(update.getNewHistory(), AMPDialect::kUpdatesAttr,
                            historyName)))
    return failure();
  return used;
}

QuantizedCopies::Key QuantizedCopies::getKey(const ScalingRecipe &recipe,
                                             const CopiedOperand &operand) {
  MLIRContext *context = operand.value.getContext();
  Type format = operand.kind == CopyKind::Gradient && recipe.wideGradients
                    ? Type(Float8E5M2Type::get(context))
                    : Type(Float8E4M3FNType::get(context));
  DenseI64ArrayAttr blocks;
  if (auto sizes = recipe.getBlocks(operand.contractsColumns,
                                    operand.kind == CopyKind::Weight))
    blocks = DenseI64ArrayAttr::get(context, *sizes);
  return {skipInsertedCasts(operand.value), format, blocks};
}

FailureOr<QuantizedCopies::Copy>
QuantizedCopies::get(const CopiedOperand &operand) {
  Key key = getKey(recipe, operand);
  auto [it, isNew] = copies.try_emplace(key);
  if (!isNew)
    return it->second;

  Value source = std::get<0>(key);
  Type format = std::get<1>(key);
  auto blocks = cast_or_null<DenseI64ArrayAttr>(std::get<2>(key));
  OpBuilder builder(source.getContext());
  builder.setInsertionPointAfterValue(source);
  FailureOr<Value> scale =
      recipe.isDelayed ? buildDelayedScale(builder, source, format, operand)
                       : buildCurrentScale(builder, source, format, blocks);
  if (failed(scale))
    return failure();
  // A saturated infinity would hide an overflow. A scale of this step is then
  // NaN, but one of earlier steps is finite.
  UnitAttr yes = builder.getUnitAttr();
  Value payload = QuantizeOp::create(
      builder, source.getLoc(), typeOf(source).clone(format), source, *scale,
      blocks, /*saturate=*/yes, recipe.isDelayed ? yes : UnitAttr());
  it->second = {payload, *scale, blocks};
  return it->second;
}
