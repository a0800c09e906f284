//===- CastMaterialization.h - The cast of a dialect ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface through which a dialect supplies the operation that converts
// the element type of its values.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_INTERFACES_CASTMATERIALIZATION_H
#define AMP_INTERFACES_CASTMATERIALIZATION_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectInterface.h"

namespace mlir::amp {

/// How a dialect converts element types. The precision passes ask the dialects
/// of the operations around a value, and insert what the answer is.
class CastMaterializationInterface
    : public DialectInterface::Base<CastMaterializationInterface> {
public:
  CastMaterializationInterface(Dialect *dialect) : Base(dialect) {}

  /// Whether the dialect only borrows the cast of another one, and gives way to
  /// a dialect at the same value that has its own.
  virtual bool isBorrowed() const { return false; }

  /// Returns whether `materializeCast` converts values of type `from` to `to`,
  /// which differ in their element types only; or, for a dialect with tensor
  /// types of its own, between one of these and the builtin tensor of the same
  /// shape and element type, which `convert-amp-to-upstream` asks for.
  virtual bool canMaterializeCast(Type from, Type to) const = 0;

  /// Builds an operation whose only result is `value` converted to `type`,
  /// rounded to nearest even.
  virtual Operation *materializeCast(OpBuilder &builder, Location loc,
                                     Value value, Type type) const = 0;
};

} // namespace mlir::amp

#endif // AMP_INTERFACES_CASTMATERIALIZATION_H
