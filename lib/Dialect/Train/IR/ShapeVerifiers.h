//===- ShapeVerifiers.h - What shape rules share ----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Helpers of the files Train*Ops.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_DIALECT_TRAIN_IR_SHAPEVERIFIERS_H
#define AMP_LIB_DIALECT_TRAIN_IR_SHAPEVERIFIERS_H

#include "amp/Support/TensorTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"

namespace mlir::train {

using amp::typeOf;

/// Verifies that `value`, the operand `name` of `op`, has shape `shape`.
inline LogicalResult verifyShape(Operation *op, StringRef name, Value value,
                                 ArrayRef<int64_t> shape) {
  if (typeOf(value).getShape() == shape)
    return success();
  return op->emitOpError("'")
         << name << "' must have type " << typeOf(value).clone(shape)
         << ", got " << value.getType();
}

/// The inferred shapes of results.
using Shapes = SmallVectorImpl<SmallVector<int64_t>>;

/// Appends the shape of the operands of `op`, which must have equal types.
inline LogicalResult inferSameShape(Operation *op, Shapes &shapes) {
  for (Value operand : op->getOperands().drop_front())
    if (operand.getType() != op->getOperand(0).getType())
      return op->emitOpError("operands must have one type, got ")
             << op->getOperandTypes();
  shapes.emplace_back(typeOf(op->getOperand(0)).getShape());
  return success();
}

/// Verifies that the elements of `result`, which sums products or elements of
/// `operand`, have the type of `operand` or the type that it accumulates in.
inline LogicalResult verifyAccumulatedType(Operation *op, Value operand,
                                           Value result) {
  Type from = getElementTypeOrSelf(operand);
  Type to = getElementTypeOrSelf(result);
  if (to == from || to == getComputeType(from))
    return success();
  auto diag = op->emitOpError("expected a result of ") << from;
  if (from != getComputeType(from))
    diag << " or " << getComputeType(from);
  return diag << " elements, got " << to;
}

/// Verifies that `axis`, an attribute of `op`, is a dimension of `type`.
inline LogicalResult verifyAxis(Operation *op, int64_t axis,
                                RankedTensorType type) {
  if (axis >= 0 && axis < type.getRank())
    return success();
  return op->emitOpError("'axis' must be in [0, ")
         << type.getRank() << "), got " << axis;
}

} // namespace mlir::train

#endif // AMP_LIB_DIALECT_TRAIN_IR_SHAPEVERIFIERS_H
