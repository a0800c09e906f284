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

/// Converts element types in the operations of one dialect. The precision
/// passes query the dialects of the operations around a value and insert the
/// cast of the one that answers.
class CastMaterializationInterface
    : public DialectInterface::Base<CastMaterializationInterface> {
public:
  CastMaterializationInterface(Dialect *dialect) : Base(dialect) {}

  /// Whether the dialect uses the cast of another dialect. A dialect at the
  /// same value with its own cast then takes precedence.
  virtual bool isBorrowed() const { return false; }

  /// Returns whether `materializeCast` converts values of type `from` to `to`.
  /// The types differ in their element types only. `convert-amp-to-upstream`
  /// also asks a dialect with its own tensor types for a conversion between one
  /// of them and the builtin tensor of the same shape and element type.
  virtual bool canMaterializeCast(Type from, Type to) const = 0;

  /// Builds an operation whose only result is `value` converted to `type`,
  /// rounded to nearest even.
  virtual Operation *materializeCast(OpBuilder &builder, Location loc,
                                     Value value, Type type) const = 0;
};

} // namespace mlir::amp

#endif // AMP_INTERFACES_CASTMATERIALIZATION_H
