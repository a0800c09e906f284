//===- CUDA.h - The cuda dialect --------------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_CUDA_IR_CUDA_H
#define AMP_DIALECT_CUDA_IR_CUDA_H

#include "amp/Dialect/AMP/IR/AMP.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "amp/Dialect/CUDA/IR/CUDADialect.h.inc"
#include "amp/Dialect/CUDA/IR/CUDAEnums.h.inc"

namespace mlir::cuda {

/// Verifies that a launch has one of its two forms, on tensors outside of a
/// program or on buffers inside: before all else, so that the verifier of the
/// operation finds each of its targets.
LogicalResult verifyLaunchForm(Operation *op);

} // namespace mlir::cuda

#include "amp/Dialect/CUDA/IR/CUDAInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "amp/Dialect/CUDA/IR/CUDAAttrs.h.inc"

#define GET_OP_CLASSES
#include "amp/Dialect/CUDA/IR/CUDAOps.h.inc"

namespace mlir::cuda {

/// The number of bytes of a tensor or buffer of type `type`; a boolean takes
/// one.
int64_t getBytes(ShapedType type);

/// The number of bytes of the buffer of role 'tickets' that reductions need.
int64_t getTicketBytes();

/// What an extent is rounded up to a multiple of.
inline int64_t alignTo(int64_t value, int64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// The buffer that `value`, in a program, is or is a view of; null if it is
/// neither.
BufferOp getBuffer(Value value);

/// The note on a step, on its way to a program, of how its predictions are
/// judged: an array of `#cuda.evaluation`.
inline constexpr StringLiteral kEvaluationNote = "cuda.evaluation";

/// The note on a step, on its way to a program, of what its states are of: a
/// `#cuda.state`.
inline constexpr StringLiteral kStateNote = "cuda.state";

/// The note on a batch argument of a step, on its way to a program, of how many
/// classes or slices its elements number.
inline constexpr StringLiteral kIndexBoundNote = "cuda.index_bound";

/// What is known of a callee of `cuda.call`.
struct CalleeInfo {
  StringRef name;
  unsigned numInputs, numTargets;
  /// The parameters that it must have.
  ArrayRef<StringRef> parameters;
};

/// Whether a launch cannot have this name, since its kernel would be a word of
/// C++ or hide a function that bodies of kernels call.
bool isReservedName(StringRef name);

/// Returns what is known of `callee`, or null if there is no such callee.
const CalleeInfo *findCallee(StringRef callee);

/// Global memory that a launch reads and writes, in bytes: each input and each
/// output once, what a second kernel reads again, and scratch memory twice,
/// such as the patches of a convolution.
int64_t getTrafficBytes(LaunchOpInterface launch);

} // namespace mlir::cuda

#endif // AMP_DIALECT_CUDA_IR_CUDA_H
