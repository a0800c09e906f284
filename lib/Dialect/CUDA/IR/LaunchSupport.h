//===- LaunchSupport.h - What verifiers of launches share -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_DIALECT_CUDA_IR_LAUNCHSUPPORT_H
#define AMP_LIB_DIALECT_CUDA_IR_LAUNCHSUPPORT_H

#include "amp/Dialect/CUDA/IR/CUDA.h"

namespace mlir::cuda {

/// Verifies what holds for every launch: one of the two forms throughout, and
/// scratch memory where it is needed.
LogicalResult verifyLaunch(LaunchOpInterface op, OperandRange scratch);

/// Verifies the numbers of inputs and targets.
LogicalResult verifyCounts(LaunchOpInterface op, unsigned inputs,
                           unsigned targets);

/// Verifies that `type`, of what `what` names, has this shape and element type.
LogicalResult verifyType(Operation *op, const Twine &what, ShapedType type,
                         ArrayRef<int64_t> shape, Type element);

/// A launch on buffers reads its inputs and writes its outputs.
void getLaunchEffects(
    LaunchOpInterface op, OperandRange scratch,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects);

/// `values` as text, such as "[1, 2]".
std::string formatList(ArrayRef<int64_t> values);

} // namespace mlir::cuda

#endif // AMP_LIB_DIALECT_CUDA_IR_LAUNCHSUPPORT_H
