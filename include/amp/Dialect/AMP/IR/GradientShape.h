//===- GradientShape.h - Shapes of gradients --------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_GRADIENTSHAPE_H
#define AMP_DIALECT_AMP_IR_GRADIENTSHAPE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::amp {

/// Returns whether a value of type `gradient` can be the gradient of a
/// parameter of type `parameter`. Both types must be ranked. The gradient has
/// the shape of the parameter, possibly with additional leading dimensions,
/// such as a dimension of samples. Element types may differ, because gradients
/// may be low.
inline bool isGradientShape(ShapedType gradient, ShapedType parameter) {
  ArrayRef<int64_t> have = gradient.getShape(), need = parameter.getShape();
  return have.size() >= need.size() &&
         succeeded(verifyCompatibleShape(have.take_back(need.size()), need));
}

} // namespace mlir::amp

#endif // AMP_DIALECT_AMP_IR_GRADIENTSHAPE_H
