//===- ScaleExponentModels.h - LossScaleOpInterface, attached ---*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_SCALEEXPONENTMODELS_H
#define AMP_DIALECT_AMP_IR_SCALEEXPONENTMODELS_H

namespace mlir {
class MLIRContext;
}

namespace mlir::amp {

/// Attaches LossScaleOpInterface to the operations of the dialect, which are
/// registered already.
void attachScaleExponentModels(MLIRContext *context);
/// The same for the operations of AMPQuantizedOps.h.
void attachQuantizedScaleExponentModels(MLIRContext *context);

} // namespace mlir::amp

#endif // AMP_DIALECT_AMP_IR_SCALEEXPONENTMODELS_H
