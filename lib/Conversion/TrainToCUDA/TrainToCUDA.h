//===- TrainToCUDA.h - The steps of convert-train-to-cuda -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_CONVERSION_TRAINTOCUDA_TRAINTOCUDA_H
#define AMP_LIB_CONVERSION_TRAINTOCUDA_TRAINTOCUDA_H

#include "amp/Dialect/CUDA/IR/CUDA.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::cuda {

/// Inlines `scf.if` as selections and unrolls `scf.for`. Outer loops come first
/// because inner bounds may depend on their induction variables. Any other
/// operation with a region, and a loop whose bounds are not constants, is an
/// error at that operation.
LogicalResult flattenRegions(func::FuncOp step);

/// Merges optimizer operations with the same settings into one
/// `cuda.optimizer`, with their unscaling, clipping, overflow guard and copies.
void convertOptimizers(func::FuncOp step);

/// Stores the halves of a parameter apart if the step reads only its upper half
/// and updates it by a `cuda.optimizer`. Products then read the upper half as
/// bf16, without a conversion.
void splitParameters(func::FuncOp step);

/// Merges the casts of parameters to one type into one `cuda.casts`.
void mergeParameterCasts(func::FuncOp step);

/// Lowers products and convolutions to `cuda.gemm` and `cuda.conv`.
void populateProductsToCUDA(RewritePatternSet &patterns, bool tf32);

/// Moves transposes, casts and additions into products. With `strict`, keeps
/// operations if the move would skip a rounding to a low type.
void populateCanonicalProducts(RewritePatternSet &patterns, bool strict);

/// Lowers products of 8-bit floats to launches that quantise their operands and
/// `cuda.scaled_gemm`.
LogicalResult convertScaledProducts(func::FuncOp step);

/// Fuses products that multiply the same matrix if that saves memory traffic.
void fuseProductsHorizontally(func::FuncOp step);

/// Moves activations, their gradients and bias gradients into products, with
/// `strict` as above.
void populateEpilogues(RewritePatternSet &patterns, bool strict);

/// How plans compute attention.
struct AttentionOptions {
  /// Gradients have the same bits in each run.
  bool deterministic;
  /// cuDNN draws the random numbers of dropout. Otherwise attention with
  /// dropout does not become a plan.
  bool libraryDropout;
  /// Plans take documents as samples, with offsets. Otherwise the mask of
  /// documents becomes a bias.
  bool documentOffsets;
  /// A gradient whose scratch memory takes more bytes computes its samples in
  /// parts. 0 sets no limit.
  int64_t scratchBytes;
};

/// Lowers attention in 16 bits to `cuda.sdpa` and `cuda.sdpa_grad`, which read
/// their operands where slices and transposes take them from. Leaves other
/// attention, with a remark.
void convertAttention(func::FuncOp step, const AttentionOptions &options);

/// Gives attention over documents the offsets of its documents. Its inputs
/// after the tensors are the cumulative lengths twice, or offsets for other
/// strides. Attentions with the same strides share a launch.
void updateDocumentOffsets(func::FuncOp step);

/// Lowers convolutions in 16 bits to `cuda.conv_plan`, apart from pointwise
/// ones, which are products. With `deterministic`, gradients have the same bits
/// in each run. Leaves other convolutions, with a remark.
void convertConvolutions(func::FuncOp step, bool deterministic);

/// Reports as remark `name` that no plan computes `op` because of `obstacle`,
/// for --remarks-filter=amp.
void reportDecomposed(Operation *op, StringRef name, StringRef obstacle);

/// Writes the gradients of queries, keys and values to one tensor where sums of
/// padded tensors or a concatenation join them. Erases `launch` then.
void packGradients(SDPAGradOp launch);

/// Makes attention read queries, keys and values where they are in the tensors
/// of fused products.
void readHeadsByStrides(func::FuncOp step);

/// Makes norms of rows read slices and transposes where they are in the tensor
/// that these are taken from, and their gradients write transposed rows.
void placeNormRows(func::FuncOp step);

/// Lowers composites with a tuned kernel to the operation of that kernel, and
/// reshapes to `cuda.view`.
void populateCompositesToCUDA(RewritePatternSet &patterns);

/// Verifies that the collectives of `step` can be lowered for `ranks` ranks. If
/// `ranks` is 0, the number is unknown.
LogicalResult verifyCollectives(func::FuncOp step, int64_t ranks);

/// Lowers the collectives that divide values between the ranks. Adjacent
/// collectives of the same kind become one launch. Call `verifyCollectives`
/// first.
void convertParts(func::FuncOp step);

/// Lowers the collectives of several ranks. NCCL may drop NaN from a maximum of
/// floats, so this becomes one of integers in the order of the floats.
void populateCollectives(RewritePatternSet &patterns);

/// Moves each collective to the last launch that computes one of its operands,
/// so that the launches after it run at the same time.
void startCollectivesEarly(func::FuncOp step);

/// Whether `value` is a result of `other` or computed from one.
bool dependsOn(Value value, Operation *other);

/// Moves residuals, relus and their gradients into batch norms, with `strict`
/// as above.
void populateBatchNorms(RewritePatternSet &patterns, bool strict);

/// Moves sums into the gradients of norms of rows and dropouts that give one of
/// the terms, with `strict` as above.
void populateSums(RewritePatternSet &patterns, bool strict);

/// Merges a cross-entropy and its gradient into one launch.
void mergeCrossEntropy(func::FuncOp step);

/// Computes the logits of a classifier, their cross-entropy and the gradients
/// in chunks of rows if the logits take more than `logitBytes`. A chunk takes
/// no more. 0 leaves all logits whole. A remark gives the reason if they stay
/// whole otherwise. Returns whether there is such a classifier. The operations
/// that it replaces are dead then.
bool fuseLinearLosses(func::FuncOp step, int64_t logitBytes);

/// Rewrites each rotary embedding as one loop over elements.
void populateRotations(RewritePatternSet &patterns);

/// Rewrites slices as loops over elements, which then fuse.
void populateSlicesToLoops(RewritePatternSet &patterns);

/// Copies a loop over elements to each of its readers if it reads no more
/// memory than it writes. The copies then fuse. Readers are loops after fusion,
/// which become kernels. Returns whether there is a copy.
bool recomputeCheapValues(func::FuncOp step);

/// Computes values of the forward pass again in the backward pass where they
/// add to the most memory in use. A second computation is one launch that reads
/// operands which are in memory anyway, and frees at least `leastRate` bytes
/// for each microsecond that it takes on an H100. With 0 all values stay.
/// Returns whether there are kernels that `mergeKernels` can merge.
bool recomputeLaunches(func::FuncOp step, int64_t leastRate);

/// Turns the remaining loops over elements and scalars into `cuda.kernel`. It
/// is an error at an operation if it cannot become one.
LogicalResult convertKernels(func::FuncOp step);

/// Moves elementwise readers of a reduction into it. Merges independent kernels
/// over the same loops.
void mergeKernels(func::FuncOp step);

/// Makes launches write the 8-bit copies of their results if the scales are
/// known before them. Otherwise makes them find the magnitudes for the scales.
void fuseQuantizations(func::FuncOp step);

/// Makes optimizers write the 8-bit copies of the parameters that they update,
/// for the next step, if the scales follow from earlier steps.
void quantizeInOptimizers(func::FuncOp step);

/// Names each launch without a name and makes all names unique in the function.
void nameLaunches(func::FuncOp step);

/// Keeps the name of `op` in the locations of its lowered operations.
Location getNamedLocation(Operation *op);

} // namespace mlir::cuda

#endif // AMP_LIB_CONVERSION_TRAINTOCUDA_TRAINTOCUDA_H
