//===- CUDA.h - The cuda dialect --------------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_CUDA_IR_CUDA_H
#define AMP_DIALECT_CUDA_IR_CUDA_H

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Runtime/CuDNN/Attention.h"
#include "amp/Runtime/CuDNN/Convolution.h"
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

/// Verifies that a launch has one of its two forms: on tensors outside of a
/// program or on buffers inside. No tensor or buffer has more than 2^40
/// elements, and no integer attribute is larger, so sums of sizes do not
/// overflow. This runs first, so that the verifier of the operation finds each
/// of its targets.
LogicalResult verifyLaunchForm(Operation *op);

/// Verifies that a launch has one input and one target per name, and that none
/// of them is empty.
LogicalResult verifyTunedKernel(Operation *op, ArrayRef<StringLiteral> inputs,
                                ArrayRef<StringLiteral> targets);

/// A tuned kernel of the runtime headers: a launch whose inputs and targets
/// have names.
template <typename ConcreteOp>
class TunedKernel : public OpTrait::TraitBase<ConcreteOp, TunedKernel> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    return verifyTunedKernel(op, ConcreteOp::getInputNames(),
                             ConcreteOp::getTargetNames());
  }
};

/// The bytes that most launches read and write, and `perElement` operations for
/// each element of the largest operand.
int64_t getReadBytes(Operation *launch);
int64_t getWrittenBytes(Operation *launch);
int64_t estimateFlops(Operation *launch, int64_t perElement);

} // namespace mlir::cuda

#include "amp/Dialect/CUDA/IR/CUDAInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "amp/Dialect/CUDA/IR/CUDAAttrs.h.inc"

#define GET_OP_CLASSES
#include "amp/Dialect/CUDA/IR/CUDAAttentionOps.h.inc"
#define GET_OP_CLASSES
#include "amp/Dialect/CUDA/IR/CUDACallOps.h.inc"
#define GET_OP_CLASSES
#include "amp/Dialect/CUDA/IR/CUDACollectiveOps.h.inc"
#define GET_OP_CLASSES
#include "amp/Dialect/CUDA/IR/CUDACompositeOps.h.inc"
#define GET_OP_CLASSES
#include "amp/Dialect/CUDA/IR/CUDAConvolutionOps.h.inc"
#define GET_OP_CLASSES
#include "amp/Dialect/CUDA/IR/CUDAKernelOps.h.inc"
#define GET_OP_CLASSES
#include "amp/Dialect/CUDA/IR/CUDANormalizationOps.h.inc"
#define GET_OP_CLASSES
#include "amp/Dialect/CUDA/IR/CUDAOptimizerOps.h.inc"
#define GET_OP_CLASSES
#include "amp/Dialect/CUDA/IR/CUDAProductOps.h.inc"
#define GET_OP_CLASSES
#include "amp/Dialect/CUDA/IR/CUDAProgramOps.h.inc"
#define GET_OP_CLASSES
#include "amp/Dialect/CUDA/IR/CUDAQuantizedOps.h.inc"

namespace mlir::cuda {

/// The number of bytes of a tensor or buffer of type `type`. A boolean takes
/// one byte.
int64_t getBytes(ShapedType type);

/// The extents of a tensor before, along and after one dimension.
struct AxisExtents {
  int64_t outer = 1, along = 1, inner = 1;
};
AxisExtents getAxisExtents(ShapedType type, int64_t axis);

/// The number of bytes of the buffer of role 'arrival_counters' that reductions
/// need.
int64_t getArrivalCounterBytes();

/// Rounds `value` up to a multiple of `alignment`.
inline int64_t alignTo(int64_t value, int64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// The buffer that `value`, in a program, is or is a view of. Null if it is
/// neither.
BufferOp getBuffer(Value value);

/// Returns the number of bytes that `launch`, in a program, uses from the
/// offset of the buffer of `operand`. A collective also uses memory after a
/// buffer whose elements the ranks do not divide evenly.
int64_t getUsedBytes(LaunchOpInterface launch, unsigned operand);

/// Whether two launches of a program use common bytes of the arena.
bool usesMemoryOf(Operation *launch, Operation *other);

/// Verifies that each collective of a program is awaited, and that no launch in
/// between uses its memory.
LogicalResult verifyAwaits(ProgramOp program);

/// The attribute of a step that states how its predictions are judged: an array
/// of `#cuda.evaluation`. It becomes part of the program.
inline constexpr StringLiteral kEvaluationAttr = "cuda.evaluation";

/// The attribute of a step that states what its checkpoints must match: a
/// `#cuda.state`. It becomes part of the program.
inline constexpr StringLiteral kStateAttr = "cuda.state";

/// The attribute of a launch that training does not need: a `#cuda.reader`.
inline constexpr StringLiteral kReaderAttr = "cuda.reader";

/// Marks a launch that computes copies of states again, in a step before which
/// the caller has changed a state.
inline constexpr StringLiteral kRefreshesAttr = "cuda.refreshes";

/// Whether `launch` has this mark.
bool refreshes(LaunchOpInterface launch);

/// Whether each training step runs `launch`.
bool isInEachStep(LaunchOpInterface launch);

/// The results that alone need `launch`. Nothing if training needs it.
std::optional<Reader> getReader(LaunchOpInterface launch);

/// The attribute of a batch argument of a step with the number of classes or
/// slices that its elements index. It becomes part of the program.
inline constexpr StringLiteral kIndexBoundAttr = "cuda.index_bound";

/// Marks a batch argument of a step whose rows are cumulative lengths. The
/// buffer of the argument then has the attribute `cumulative`.
inline constexpr StringLiteral kCumulativeAttr = "cuda.cumulative";

/// Marks a parameter of a step whose upper and lower halves are stored apart.
/// The buffer of the parameter then has the attribute `split`.
inline constexpr StringLiteral kSplitAttr = "cuda.split";

/// Whether a launch cannot have this name because its kernel would be a word of
/// C++ or hide a function that bodies of kernels call.
bool isReservedName(StringRef name);

/// Global memory that a launch reads and writes, in bytes.
int64_t getTrafficBytes(LaunchOpInterface launch);

/// Whether the `count` heads of a position are next to each other, and the
/// samples, each of `positions` positions, follow one another.
bool arePacked(HeadsAttr heads, int64_t batch, int64_t count, int64_t positions,
               int64_t size);

} // namespace mlir::cuda

#endif // AMP_DIALECT_CUDA_IR_CUDA_H
