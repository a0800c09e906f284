//===- LaunchSupport.h - Shared verifiers of launches -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_DIALECT_CUDA_IR_LAUNCHSUPPORT_H
#define AMP_LIB_DIALECT_CUDA_IR_LAUNCHSUPPORT_H

#include "amp/Dialect/CUDA/IR/CUDA.h"

namespace mlir::cuda {

/// Verifies the rules of every launch besides its form: scratch memory where it
/// is needed, and buffers that can be written.
LogicalResult verifyLaunch(LaunchOpInterface op);

/// Verifies the numbers of inputs and targets.
LogicalResult verifyCounts(LaunchOpInterface op, unsigned inputs,
                           unsigned targets);

/// Verifies that `type`, the type of `what`, has this shape and element type.
LogicalResult verifyType(Operation *op, const Twine &what, ShapedType type,
                         ArrayRef<int64_t> shape, Type element);

/// Verifies that the targets from index `first` on fit `quantization`. If it
/// has codes, verifies that the last input is their scale.
LogicalResult verifyQuantization(LaunchOpInterface op,
                                 QuantizationAttr quantization, unsigned first);
/// The same for the targets alone.
LogicalResult verifyQuantizedTargets(LaunchOpInterface op,
                                     QuantizationAttr quantization,
                                     unsigned first);

/// Whether `type` is f16, bf16 or f32.
inline bool isWide(Type type) {
  return type.isF16() || type.isBF16() || type.isF32();
}

/// Verifies the label smoothing of a cross-entropy.
LogicalResult verifySmoothing(Operation *op, const APFloat &smoothing);

/// Verifies that `shape` has dimension `axis`.
LogicalResult verifyAxis(Operation *op, int64_t axis, ArrayRef<int64_t> shape);

/// The requirements on an input or target of a tuned kernel. Without an element
/// type, any type that the kernels compute with is valid: f16, bf16 and f32.
struct OperandSpec {
  ArrayRef<int64_t> shape;
  Type element = {};
};

/// Verifies the inputs and targets of a tuned kernel and the rules of every
/// launch.
LogicalResult verifyOperands(LaunchOpInterface op,
                             ArrayRef<StringLiteral> inputNames,
                             ArrayRef<OperandSpec> inputs,
                             ArrayRef<StringLiteral> targetNames,
                             ArrayRef<OperandSpec> targets);
template <typename OpTy>
LogicalResult verifyOperands(OpTy op, ArrayRef<OperandSpec> inputs,
                             ArrayRef<OperandSpec> targets) {
  return verifyOperands(cast<LaunchOpInterface>(op.getOperation()),
                        OpTy::getInputNames(), inputs, OpTy::getTargetNames(),
                        targets);
}

/// The heads of one operand: [batch, count, positions, size].
struct HeadsSpec {
  StringRef name;
  HeadsAttr heads;
  int64_t count, positions, size;
  ShapedType type;

  int64_t getNumElements(int64_t batch) const {
    return batch * count * positions * size;
  }
  /// The first element after the heads of one position.
  int64_t getRowEnd() const {
    return heads.getOffset() + (count - 1) * heads.getHead() + size;
  }
};

/// Verifies that the heads are elements of their tensor, where a read of 16
/// bytes can begin.
LogicalResult verifyHeads(Operation *op, const HeadsSpec &spec, int64_t batch,
                          Type element);

/// Verifies that the heads of `specs` fill their tensor, each element once.
LogicalResult verifyFilled(Operation *op, ArrayRef<HeadsSpec> specs,
                           int64_t batch);

/// Whether a kernel that reads each element before it writes it may write
/// `target` over `input`. They must have one type, and no other input may be
/// the same value.
bool mayOverwrite(LaunchOpInterface op, unsigned target, unsigned input);

/// Adds the effects of a launch on buffers: it reads its inputs and writes its
/// outputs.
void getLaunchEffects(
    LaunchOpInterface op,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects);

/// Whether the product of `extents`, without those that are 0 or open, is at
/// most 2^40.
bool hasCountableElements(ArrayRef<int64_t> extents);

/// Verifies that each value of `op` has countable elements.
LogicalResult verifyExtents(Operation *op);

/// Formats `values`, for example as "[1, 2]".
std::string formatList(ArrayRef<int64_t> values);

} // namespace mlir::cuda

#endif // AMP_LIB_DIALECT_CUDA_IR_LAUNCHSUPPORT_H
