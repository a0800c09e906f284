//===- ScaledOps.cpp - Products of 8-bit floats ---------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchSupport.h"

#include "amp/Dialect/AMP/IR/AMPScaledOps.h"
#include "amp/Runtime/CUDA/Sizes.h"

using namespace mlir;
using namespace mlir::cuda;

static bool isWide(Type type) {
  return type.isF16() || type.isBF16() || type.isF32();
}

static LogicalResult verifyFormat(Operation *op, Type format) {
  if (mlir::amp::getFloat8Format(format))
    return success();
  return op->emitOpError("has the format ")
         << format << ", expected f8E4M3FN or f8E5M2";
}

//===----------------------------------------------------------------------===//
// Quantize
//===----------------------------------------------------------------------===//

SmallVector<int64_t, 2> QuantizeOp::getMatrix() {
  auto launch = cast<LaunchOpInterface>(getOperation());
  return mlir::amp::getMatrixShape(launch.getInputType(0).getShape());
}

std::optional<unsigned> QuantizeOp::getPayloadTarget() {
  return getPayload() ? std::optional(0u) : std::nullopt;
}
std::optional<unsigned> QuantizeOp::getTransposedTarget() {
  return getTransposed() ? std::optional<unsigned>(getPayload()) : std::nullopt;
}
std::optional<unsigned> QuantizeOp::getAmaxTarget() {
  return getAmax() ? std::optional(getInverseTarget() + 1) : std::nullopt;
}

LogicalResult QuantizeOp::verify() {
  auto launch = cast<LaunchOpInterface>(getOperation());
  if (failed(verifyFormat(*this, getFormat())))
    return failure();
  if (!getPayload() && !getTransposed())
    return emitOpError("writes no codes, expected 'payload' or 'transposed'");
  if (failed(verifyCounts(launch, 2, getInverseTarget() + 1 + getAmax())))
    return failure();
  ShapedType x = launch.getInputType(0);
  if (!isWide(x.getElementType()) || x.getNumElements() == 0)
    return emitOpError("quantises ")
           << x << ", expected elements of f16, bf16 or f32";
  SmallVector<int64_t, 2> matrix = getMatrix();
  int64_t rows = ::amp::cuda::padFloat8(matrix[0]),
          columns = ::amp::cuda::padFloat8(matrix[1]);
  Type f32 = Float32Type::get(getContext());
  auto verifyTarget = [&](StringRef what, std::optional<unsigned> target,
                          ArrayRef<int64_t> shape, Type element) {
    return success(!target || succeeded(verifyType(
                                  *this, what, launch.getTargetType(*target),
                                  shape, element)));
  };
  if (failed(verifyType(*this, "the scale", launch.getInputType(1), {}, f32)) ||
      failed(verifyTarget("the payload", getPayloadTarget(), {rows, columns},
                          getFormat())) ||
      failed(verifyTarget("the transposed payload", getTransposedTarget(),
                          {columns, rows}, getFormat())) ||
      failed(verifyTarget("the inverse scale", getInverseTarget(), {}, f32)) ||
      failed(verifyTarget("the magnitude", getAmaxTarget(), {}, f32)))
    return failure();
  return verifyLaunch(launch);
}

std::string QuantizeOp::getTargetSuffix(unsigned target) {
  if (target == getInverseTarget())
    return ".inverse";
  if (target == getAmaxTarget())
    return ".amax";
  return target == getTransposedTarget() ? ".transposed" : "";
}

int64_t QuantizeOp::getScratchBytes() {
  SmallVector<int64_t, 2> matrix = getMatrix();
  return getAmax() ? ::amp::cuda::quantizeScratchBytes(matrix[0], matrix[1])
                   : 0;
}

int64_t QuantizeOp::getFlops() { return estimateFlops(*this, 2); }

//===----------------------------------------------------------------------===//
// Scaled gemm
//===----------------------------------------------------------------------===//

LogicalResult ScaledGemmOp::verify() {
  auto launch = cast<LaunchOpInterface>(getOperation());
  if (failed(verifyCounts(launch, 4 + getBias(), 1)))
    return failure();
  ShapedType a = launch.getInputType(0), b = launch.getInputType(1),
             d = launch.getTargetType(0);
  Type result = d.getElementType();
  if (!mlir::amp::getFloat8Format(a.getElementType()) ||
      !mlir::amp::getFloat8Format(b.getElementType()))
    return emitOpError("multiplies ")
           << a.getElementType() << " and " << b.getElementType()
           << ", expected both to be f8E4M3FN or f8E5M2";
  if (isa<Float8E5M2Type>(a.getElementType()) &&
      isa<Float8E5M2Type>(b.getElementType()))
    return emitOpError("multiplies f8E5M2 and f8E5M2, expected at most one of "
                       "them");
  if (!isWide(result))
    return emitOpError("has a result of ")
           << result << ", expected f16, bf16 or f32";
  if (a.getRank() != 2 || b.getRank() != 2 || d.getRank() != 2)
    return emitOpError("multiplies tensors of ranks ")
           << a.getRank() << " and " << b.getRank() << " to one of rank "
           << d.getRank() << ", expected 2";
  int64_t k = a.getDimSize(1), m = d.getDimSize(0), n = b.getDimSize(0);
  if (b.getDimSize(1) != k)
    return emitOpError("sums over ")
           << k << " elements of A and " << b.getDimSize(1) << " of B";
  if (k % ::amp::cuda::kFloat8Extent != 0 ||
      n % ::amp::cuda::kFloat8Extent != 0)
    return emitOpError("multiplies [M, ")
           << k << "] and [" << n << ", " << k << "], expected multiples of 16";
  if (m < 1 || a.getDimSize(0) != ::amp::cuda::padFloat8(m))
    return emitOpError("has ")
           << m << " rows of a result for " << a.getDimSize(0)
           << " rows of A, expected as many without padding";
  Type f32 = Float32Type::get(getContext());
  if (failed(verifyType(*this, "the result", d, {m, n}, result)) ||
      failed(verifyType(*this, "the factor of A", launch.getInputType(2), {},
                        f32)) ||
      failed(verifyType(*this, "the factor of B", launch.getInputType(3), {},
                        f32)))
    return failure();
  if (getBias() && result.isF32())
    return emitOpError("has a bias of f32, expected a result of 16 bits");
  if (getBias() && failed(verifyType(*this, "the bias", launch.getInputType(4),
                                     {n}, result)))
    return failure();
  return verifyLaunch(launch);
}

int64_t ScaledGemmOp::getFlops() {
  auto launch = cast<LaunchOpInterface>(getOperation());
  return 2 * launch.getTargetType(0).getNumElements() *
         launch.getInputType(0).getDimSize(1);
}

//===----------------------------------------------------------------------===//
// Update of a quantizer
//===----------------------------------------------------------------------===//

LogicalResult UpdateQuantizerOp::verify() {
  ShapedType history = getInputType(1);
  if (failed(verifyFormat(*this, getFormat())))
    return failure();
  if (history.getRank() != 1)
    return emitOpError("has a history of rank ")
           << history.getRank() << ", expected 1";
  if (auto margin = int32_t(getMargin());
      margin < 0 || margin > mlir::amp::kLargestMargin)
    return emitOpError("has a margin of ")
           << margin << ", expected 0 to " << mlir::amp::kLargestMargin;
  Type f32 = Float32Type::get(getContext());
  OperandSpec scalar{{}, f32}, magnitudes{history.getShape(), f32};
  return verifyOperands(*this, {scalar, magnitudes, scalar},
                        {scalar, magnitudes});
}

std::optional<unsigned> UpdateQuantizerOp::getTiedInput(unsigned target) {
  return target;
}

bool UpdateQuantizerOp::mayAlias(unsigned target, unsigned input) {
  return target == input && mayOverwrite(*this, target, input);
}

//===----------------------------------------------------------------------===//
// Generated code
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "amp/Dialect/CUDA/IR/CUDAScaledOps.cpp.inc"

void CUDADialect::registerScaledOps() {
  addOperations<
#define GET_OP_LIST
#include "amp/Dialect/CUDA/IR/CUDAScaledOps.cpp.inc"
      >();
}
