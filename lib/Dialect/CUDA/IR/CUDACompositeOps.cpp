//===- CUDACompositeOps.cpp - Losses, pooling, indices, random numbers ----===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchSupport.h"

#include "amp/Runtime/CUDA/Sizes.h"

#include <limits>

using namespace mlir;
using namespace mlir::cuda;

/// Whether `type` is a type of indices.
static bool isIndexType(Type type) {
  return type.isInteger(32) || type.isInteger(64);
}

//===----------------------------------------------------------------------===//
// Cross-entropy
//===----------------------------------------------------------------------===//

LogicalResult mlir::cuda::verifySmoothing(Operation *op,
                                          const APFloat &smoothing) {
  if (double value = smoothing.convertToDouble(); !(value >= 0 && value < 1))
    return op->emitOpError("has a label smoothing of ")
           << value << ", expected at least 0 and less than 1";
  return success();
}

/// Verifies the first two inputs of a cross-entropy against each other, and its
/// smoothing.
static LogicalResult verifyLabels(Operation *op, ShapedType logits,
                                  ShapedType labels, const APFloat &smoothing) {
  if (failed(verifySmoothing(op, smoothing)))
    return failure();
  if (logits.getRank() >= 1 &&
      logits.getShape().drop_back() == labels.getShape() &&
      isIndexType(labels.getElementType()))
    return success();
  return op->emitOpError("has labels of shape ")
         << formatList(labels.getShape()) << " of " << labels.getElementType()
         << " for logits of shape " << formatList(logits.getShape())
         << ", expected one i32 or i64 per row";
}

LogicalResult CrossEntropyOp::verify() {
  ShapedType logits = getInputType(0), labels = getInputType(1);
  if (failed(verifyLabels(*this, logits, labels, getLabelSmoothing())))
    return failure();
  return verifyOperands(
      *this,
      {{logits.getShape()}, {labels.getShape(), labels.getElementType()}},
      {{{}, Float32Type::get(getContext())}});
}

LogicalResult CrossEntropyGradOp::verify() {
  ShapedType logits = getInputType(0), labels = getInputType(1);
  if (failed(verifyLabels(*this, logits, labels, getLabelSmoothing())))
    return failure();
  return verifyOperands(*this,
                        {{logits.getShape()},
                         {labels.getShape(), labels.getElementType()},
                         {{}, Float32Type::get(getContext())}},
                        {{logits.getShape()}});
}

LogicalResult CrossEntropyWithGradOp::verify() {
  ShapedType logits = getInputType(0), labels = getInputType(1);
  if (failed(verifyLabels(*this, logits, labels, getLabelSmoothing())))
    return failure();
  OperandSpec loss{{}, Float32Type::get(getContext())};
  return verifyOperands(
      *this,
      {{logits.getShape()}, {labels.getShape(), labels.getElementType()}, loss},
      {loss, {logits.getShape()}});
}

bool CrossEntropyGradOp::mayAlias(unsigned target, unsigned input) {
  return input == 0 && mayOverwrite(*this, target, input);
}
bool CrossEntropyWithGradOp::mayAlias(unsigned target, unsigned input) {
  return target == 1 && input == 0 && mayOverwrite(*this, target, input);
}

int64_t CrossEntropyOp::getScratchBytes() {
  return ::amp::cuda::crossEntropyScratchBytes(
      getInputType(1).getNumElements());
}
int64_t CrossEntropyGradOp::getScratchBytes() {
  return ::amp::cuda::crossEntropyScratchBytes(
      getInputType(1).getNumElements());
}
int64_t CrossEntropyWithGradOp::getScratchBytes() {
  return ::amp::cuda::crossEntropyScratchBytes(
      getInputType(1).getNumElements());
}

// Labels are less than the number of classes.
int64_t CrossEntropyOp::getIndexBound(unsigned input) {
  return input == 1 ? getInputType(0).getShape().back() : 0;
}
int64_t CrossEntropyGradOp::getIndexBound(unsigned input) {
  return input == 1 ? getInputType(0).getShape().back() : 0;
}
int64_t CrossEntropyWithGradOp::getIndexBound(unsigned input) {
  return input == 1 ? getInputType(0).getShape().back() : 0;
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

static LogicalResult verifyPoolAttribute(Operation *op, StringRef name,
                                         ArrayRef<int64_t> values, size_t size,
                                         int64_t least) {
  if (values.size() == size &&
      llvm::all_of(values, [&](int64_t value) { return value >= least; }))
    return success();
  return op->emitOpError("has '")
         << name << "' " << formatList(values) << ", expected " << size
         << " integers of at least " << least;
}

/// The shape of the pooled `x`, or failure with a message.
template <typename OpTy>
static FailureOr<SmallVector<int64_t>> getPooledShape(OpTy op, ShapedType x) {
  ArrayRef<int64_t> window = op.getWindow(), strides = op.getStrides(),
                    padding = op.getPadding();
  if (failed(verifyPoolAttribute(op, "window", window, 2, 1)) ||
      failed(verifyPoolAttribute(op, "strides", strides, 2, 1)) ||
      failed(verifyPoolAttribute(op, "padding", padding, 4, 0)))
    return failure();
  if (x.getRank() != 4)
    return op.emitOpError("pools a tensor of rank ")
           << x.getRank() << ", expected 4";
  SmallVector<int64_t> shape(x.getShape());
  for (unsigned i = 0; i < 2; ++i) {
    int64_t extent = shape[i + 1] + padding[2 * i] + padding[2 * i + 1];
    if (extent < window[i])
      return op.emitOpError("has a window of ")
             << window[i] << " for an extent of " << extent
             << " with its padding";
    shape[i + 1] = (extent - window[i]) / strides[i] + 1;
  }
  ::amp::cuda::PoolShape pool{x.getDimSize(0), x.getDimSize(1), x.getDimSize(2),
                              x.getDimSize(3), window[0],       window[1],
                              strides[0],      strides[1],      padding[0],
                              padding[1],      padding[2],      padding[3]};
  if (!::amp::cuda::hasSmallImages(pool))
    return op.emitOpError("pools images with 2^31 elements or more");
  return shape;
}

template <typename OpTy>
static LogicalResult verifyPool(OpTy op) {
  ShapedType x = op.getInputType(0);
  auto pooled = getPooledShape(op, x);
  if (failed(pooled))
    return failure();
  return verifyOperands(op, {{x.getShape()}}, {{*pooled}});
}

LogicalResult MaxPool2DOp::verify() { return verifyPool(*this); }
LogicalResult AvgPool2DOp::verify() { return verifyPool(*this); }

LogicalResult MaxPool2DGradOp::verify() {
  ShapedType x = getInputType(0);
  auto pooled = getPooledShape(*this, x);
  if (failed(pooled))
    return failure();
  return verifyOperands(*this, {{x.getShape()}, {*pooled}, {*pooled}},
                        {{x.getShape()}});
}

LogicalResult AvgPool2DGradOp::verify() {
  ShapedType x = getTargetType(0);
  auto pooled = getPooledShape(*this, x);
  if (failed(pooled))
    return failure();
  return verifyOperands(*this, {{*pooled}}, {{x.getShape()}});
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

LogicalResult ScatterAddOp::verify() {
  ArrayRef<int64_t> result = getTargetType(0).getShape();
  ShapedType indices = getInputType(1);
  if (failed(verifyAxis(*this, getAxis(), result)))
    return failure();
  if (!isIndexType(indices.getElementType()))
    return emitOpError("has indices of ")
           << indices.getElementType() << ", expected i32 or i64";
  SmallVector<int64_t> updates(result.take_front(getAxis()));
  llvm::append_range(updates, indices.getShape());
  llvm::append_range(updates, result.drop_front(getAxis() + 1));
  return verifyOperands(
      *this, {{updates}, {indices.getShape(), indices.getElementType()}},
      {{result}});
}

// One addition per element.
int64_t ScatterAddOp::getFlops() { return getInputType(0).getNumElements(); }

bool ScatterAddOp::isSorted() {
  return ::amp::cuda::scatterAddSorts(getTargetType(0).getDimSize(getAxis()),
                                      getInputType(1).getNumElements());
}

int64_t ScatterAddOp::getScratchBytes() {
  if (!isSorted())
    return 0;
  AxisExtents extents = getAxisExtents(getTargetType(0), getAxis());
  return ::amp::cuda::ScatterAddScratch::get(extents.outer, extents.along,
                                             extents.inner,
                                             getInputType(1).getNumElements())
      .bytes;
}

// The keys, two fills and two kernels of the sort, a fill and a kernel for each
// eight bits of an index, the first update of each slice, and two sums.
int64_t ScatterAddOp::getNumKernels() {
  if (!isSorted())
    return 1;
  unsigned bits = llvm::Log2_64(getTargetType(0).getDimSize(getAxis())) + 1;
  return 8 + 2 * llvm::divideCeil(bits, 8);
}

// Without a sort, each slice reads all indices. The first read belongs to
// the input.
int64_t ScatterAddOp::getRereadBytes() {
  if (isSorted())
    return 0;
  AxisExtents extents = getAxisExtents(getTargetType(0), getAxis());
  int64_t readers = extents.outer * extents.along *
                    ::amp::cuda::scatterAddBlocks(extents.inner);
  return std::max<int64_t>(readers - 1, 0) * getBytes(getInputType(1));
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

/// The shape of the state of a random number generator.
static constexpr int64_t kStateShape[] = {2};

LogicalResult DropoutOp::verify() {
  if (double rate = getRate().convertToDouble(); !(rate >= 0 && rate < 1))
    return emitOpError("has a rate of ")
           << rate << ", expected at least 0 and less than 1";
  ArrayRef<int64_t> x = getInputType(0).getShape();
  if (std::optional<int64_t> axis = getDividedAlong();
      axis && failed(verifyAxis(*this, *axis, x)))
    return failure();
  Type i64 = IntegerType::get(getContext(), 64);
  SmallVector<OperandSpec> inputs{{x}, {kStateShape, i64}};
  if (getAccumulate())
    inputs.push_back({x});
  return verifyOperands(*this, inputs, {{x}});
}

LogicalResult DropoutSeedsOp::verify() {
  // A kernel takes the keys as an argument, of at most 4096 bytes.
  const int64_t count = getKeys().size();
  if (count < 1 || count > 512)
    return emitOpError("has ") << count << " keys, expected 1 to 512";
  Type i64 = IntegerType::get(getContext(), 64);
  return verifyOperands(*this, {{kStateShape, i64}}, {{{count, 2}, i64}});
}

LogicalResult DocumentOffsetsOp::verify() {
  if (failed(verifyCounts(*this, 1, 2)))
    return failure();
  ShapedType cumulative = getInputType(0);
  if (cumulative.getRank() < 1 || cumulative.getShape().back() < 1 ||
      !(cumulative.getElementType().isInteger(32) ||
        cumulative.getElementType().isInteger(64)))
    return emitOpError("has cumulative lengths of shape ")
           << formatList(cumulative.getShape()) << " of "
           << cumulative.getElementType() << ", expected [.., N] of i32 or i64";
  if (int64_t positions = getPositions();
      positions < 1 || positions > std::numeric_limits<int32_t>::max())
    return emitOpError("has ")
           << positions << " positions, expected at least 1 and less than 2^31";
  // A kernel takes the rows as an argument.
  const int64_t rows = getRows().size();
  if (rows < 1 || rows > 9)
    return emitOpError("has ") << rows << " rows, expected 1 to 9";
  for (int64_t elements : getRows())
    if (elements < 1)
      return emitOpError("has a row of ")
             << elements << " elements, expected at least 1";
  const int64_t documents = cumulative.getNumElements();
  if (failed(verifyType(*this, "lengths", getTargetType(0), {documents},
                        IntegerType::get(getContext(), 32))) ||
      failed(verifyType(*this, "offsets", getTargetType(1),
                        {rows, int64_t(alignTo(documents + 1, 2))},
                        IntegerType::get(getContext(), 64))))
    return failure();
  return verifyLaunch(*this);
}

LogicalResult StochasticRoundOp::verify() {
  ArrayRef<int64_t> x = getInputType(0).getShape();
  Type i64 = IntegerType::get(getContext(), 64);
  return verifyOperands(
      *this, {{x, Float32Type::get(getContext())}, {kStateShape, i64}},
      {{x, BFloat16Type::get(getContext())}});
}

bool DropoutOp::mayAlias(unsigned target, unsigned input) {
  return mayOverwrite(*this, target, input);
}

int64_t DropoutOp::getFlops() { return estimateFlops(*this, 2); }
int64_t DropoutSeedsOp::getFlops() { return 0; }
int64_t DocumentOffsetsOp::getFlops() { return 0; }
int64_t StochasticRoundOp::getFlops() { return estimateFlops(*this, 2); }

//===----------------------------------------------------------------------===//
// Generated code
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "amp/Dialect/CUDA/IR/CUDACompositeOps.cpp.inc"

void CUDADialect::registerCompositeOps() {
  addOperations<
#define GET_OP_LIST
#include "amp/Dialect/CUDA/IR/CUDACompositeOps.cpp.inc"
      >();
}
