//===- ScaleExponentModels.h - LossScaleOpInterface, attached ---*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_TRAIN_IR_SCALEEXPONENTMODELS_H
#define AMP_DIALECT_TRAIN_IR_SCALEEXPONENTMODELS_H

namespace mlir {
class MLIRContext;
}

namespace mlir::train {

/// Attaches LossScaleOpInterface to the operations of the dialect. They must be
/// registered.
void attachScaleExponentModels(MLIRContext *context);

/// Attaches MatrixProductOpInterface to products, and ShapeInferenceOpInterface
/// to the scaled operations of the amp dialect.
void attachMatrixProductModels(MLIRContext *context);

} // namespace mlir::train

#endif // AMP_DIALECT_TRAIN_IR_SCALEEXPONENTMODELS_H
