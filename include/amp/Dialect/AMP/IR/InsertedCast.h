//===- InsertedCast.h - Casts that passes inserted --------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Casts of any dialect that a precision pass inserted. Casts that the user
// wrote are part of the semantics.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_INSERTEDCAST_H
#define AMP_DIALECT_AMP_IR_INSERTEDCAST_H

#include "amp/Dialect/AMP/IR/AMP.h"

namespace mlir::amp {

/// On a function: each rounding that an inserted cast or a low result makes is
/// part of its semantics. Passes do not drop it, even where the result would be
/// more precise. A unit attribute, which `auto-mixed-precision` sets if the
/// policy says `roundings: keep`.
inline constexpr llvm::StringLiteral kKeepRoundingsAttr = "amp.keep_roundings";

/// A cast of one value: an `amp.cast`, or an operation of another dialect that
/// a pass inserted and marked with `amp.inserted`. Null for anything else.
class CastLike {
public:
  CastLike() = default;
  explicit CastLike(Operation *op);

  explicit operator bool() const { return op; }
  Operation *getOperation() const { return op; }
  Operation *operator->() const { return op; }
  Value getInput() const { return op->getOperand(0); }
  Value getResult() const { return op->getResult(0); }
  Type getType() const { return op->getResult(0).getType(); }
  /// Whether a pass inserted it.
  bool isInserted() const;

private:
  Operation *op = nullptr;
};

/// Marks `op`, which converts its only operand, as inserted by a pass.
void markInserted(Operation *op);

/// Whether `buildInsertedCast` can convert values of type `from` to `type`.
bool canBuildInsertedCast(Type from, FloatType type);

/// Converts `value` to the element type `type` by the cast of the dialect of
/// its type, or by an inserted `amp.cast` for tensors of the builtin dialect.
/// Returns null if no such cast exists.
Value buildInsertedCast(OpBuilder &builder, Location loc, Value value,
                        FloatType type);

} // namespace mlir::amp

#endif // AMP_DIALECT_AMP_IR_INSERTEDCAST_H
