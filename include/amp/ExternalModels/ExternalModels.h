//===- ExternalModels.h - Upstream dialects in mixed precision --*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implementations of the project's interfaces for upstream dialects.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXTERNALMODELS_EXTERNALMODELS_H
#define AMP_EXTERNALMODELS_EXTERNALMODELS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::amp {

/// Attaches PrecisionOpInterface to the operations of linalg, tosa, arith, math
/// and tensor, and CastMaterializationInterface to these dialects, when they
/// are loaded.
void registerPrecisionExternalModels(DialectRegistry &registry);

/// Registers `LossScaleOpInterface` for the operations of arith, math, tensor,
/// linalg and tosa.
void registerScaleExponentExternalModels(DialectRegistry &registry);

/// The part of `registerScaleExponentExternalModels` for tosa.
void registerTosaScaleExponentModels(DialectRegistry &registry);

/// The parts of `registerPrecisionExternalModels`.
void registerArithPrecisionModels(DialectRegistry &registry);
void registerLinalgPrecisionModels(DialectRegistry &registry);
void registerTensorPrecisionModels(DialectRegistry &registry);
void registerTosaPrecisionModels(DialectRegistry &registry);

} // namespace mlir::amp

#endif // AMP_EXTERNALMODELS_EXTERNALMODELS_H
