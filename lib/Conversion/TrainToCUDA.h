//===- TrainToCUDA.h - The steps of convert-train-to-cuda -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_CONVERSION_TRAINTOCUDA_H
#define AMP_LIB_CONVERSION_TRAINTOCUDA_H

#include "amp/Dialect/CUDA/IR/CUDA.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::cuda {

/// Inlines `scf.if` as choices between values, unrolls `scf.for`, outer ones
/// first: the bounds of inner ones may depend on what outer ones count. An
/// operation with a region that is neither, or a loop whose bounds are not
/// constants, is an error at that operation.
LogicalResult flattenRegions(func::FuncOp step);

/// Makes one `cuda.optimizer` of the optimizer operations that have the same
/// settings, with the unscaling, clipping, overflow guard and copies that
/// belong to them.
void convertOptimizers(func::FuncOp step);

/// Makes one `cuda.casts` of the casts of parameters to one type.
void mergeParameterCasts(func::FuncOp step);

/// Lowers products and convolutions to `cuda.gemm` and `cuda.conv`.
void populateProductsToCUDA(RewritePatternSet &patterns, bool tf32);

/// Moves transposes, casts and additions into products. With `strict`, what
/// would leave out a rounding to a low type stays.
void populateCanonicalProducts(RewritePatternSet &patterns, bool strict);

/// Makes one product of those that multiply the same matrix, where that saves
/// memory traffic.
void concatenateProducts(func::FuncOp step);

/// Moves activations, their gradients and bias gradients into products, with
/// `strict` as above.
void populateEpilogues(RewritePatternSet &patterns, bool strict);

/// Lowers composites that have a tuned kernel to `cuda.call`, and reshapes to
/// `cuda.view`.
void populateCompositesToCUDA(RewritePatternSet &patterns);

/// Makes one call of a cross-entropy and its gradient.
void mergeCrossEntropy(func::FuncOp step);

/// Rewrites slices, which then fuse, as loops over elements.
void populateSlicesToLoops(RewritePatternSet &patterns);

/// Gives each reader of a loop over elements a copy of it, where that reads no
/// more memory than the loop writes; they fuse then.
void recomputeCheapValues(func::FuncOp step);

/// Turns everything that is left, loops over elements and scalars, into
/// `cuda.kernel`. What cannot be one is an error at that operation.
LogicalResult convertKernels(func::FuncOp step);

/// Moves what follows a reduction element by element into it, and merges
/// kernels over the same loops that do not depend on each other.
void mergeKernels(func::FuncOp step);

/// Gives each launch that has none a name, and makes all of them unique in the
/// function.
void nameLaunches(func::FuncOp step);

/// Keeps the name of `op` in the location of what it is lowered to.
Location getNamedLocation(Operation *op);

} // namespace mlir::cuda

#endif // AMP_LIB_CONVERSION_TRAINTOCUDA_H
