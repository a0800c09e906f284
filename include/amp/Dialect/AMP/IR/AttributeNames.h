//===- AttributeNames.h - Attributes that mean nothing ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR keeps each attribute that an operation does not know and ignores it. A
// misspelled attribute would therefore silently have its default value. The
// verifiers of the `amp` and `train` dialects reject it by these functions.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_ATTRIBUTENAMES_H
#define AMP_DIALECT_AMP_IR_ATTRIBUTENAMES_H

#include "mlir/IR/OpDefinition.h"

namespace mlir::amp {

/// On a function: the recipe by which `amp-quantize-products` quantised its
/// products. The low types can then not be undone.
inline constexpr llvm::StringLiteral kRecipeAttr = "amp.fp8_recipe";

/// On a forward function that `train-to-inference` derived: its step.
inline constexpr llvm::StringLiteral kInferenceOfAttr = "amp.inference_of";

/// Rejects attributes of `op`, an operation of `amp` or `train`, that neither
/// the operation nor a dialect defines: their names have no prefix. The
/// message names the attribute that is probably meant. Names that begin with
/// two underscores belong to analyses of MLIR.
LogicalResult verifyAttributeNames(Operation *op);

/// The trait of operations that verify their attributes in this way.
template <typename ConcreteType>
class HasKnownAttributes
    : public OpTrait::TraitBase<ConcreteType, HasKnownAttributes> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    return verifyAttributeNames(op);
  }
};

} // namespace mlir::amp

#endif // AMP_DIALECT_AMP_IR_ATTRIBUTENAMES_H
