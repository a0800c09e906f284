//===- InsertedCast.cpp - Casts that passes inserted ----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/AMP/IR/InsertedCast.h"

#include "amp/Interfaces/CastMaterialization.h"

using namespace mlir;
using namespace mlir::amp;

CastLike::CastLike(Operation *candidate) {
  if (!candidate)
    return;
  if (isa<CastOp>(candidate) ||
      (candidate->getDiscardableAttr(AMPDialect::kInsertedAttr) &&
       candidate->getNumOperands() == 1 && candidate->getNumResults() == 1))
    op = candidate;
}

bool CastLike::isInserted() const {
  if (auto cast = dyn_cast<CastOp>(op))
    return cast.getInserted();
  return true;
}

void mlir::amp::markInserted(Operation *op) {
  if (auto cast = dyn_cast<CastOp>(op))
    cast.setInserted(true);
  else
    op->setDiscardableAttr(AMPDialect::kInsertedAttr,
                           UnitAttr::get(op->getContext()));
}

bool mlir::amp::canBuildInsertedCast(Type from, FloatType type) {
  if (isa<RankedTensorType>(from))
    return true;
  Type to = getWithElementType(from, type);
  const auto *casts =
      from.getDialect().getRegisteredInterface<CastMaterializationInterface>();
  return to && casts && casts->canMaterializeCast(from, to);
}

Value mlir::amp::buildInsertedCast(OpBuilder &builder, Location loc,
                                   Value value, FloatType type) {
  if (isa<RankedTensorType>(value.getType()))
    return CastOp::create(builder, loc, value, type, /*inserted=*/true);
  if (!canBuildInsertedCast(value.getType(), type))
    return {};
  Operation *cast =
      value.getType()
          .getDialect()
          .getRegisteredInterface<CastMaterializationInterface>()
          ->materializeCast(builder, loc, value,
                            getWithElementType(value.getType(), type));
  markInserted(cast);
  return cast->getResult(0);
}
