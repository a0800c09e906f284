//===- CUDAProductOps.cpp - Matrix products and convolutions --------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvSupport.h"

using namespace mlir;
using namespace mlir::cuda;

//===----------------------------------------------------------------------===//
// Gemm
//===----------------------------------------------------------------------===//

GemmOp::Extents GemmOp::getExtents() {
  auto a = cast<ShapedType>(getA().getType());
  auto b = cast<ShapedType>(getB().getType());
  int64_t rank = a.getRank();
  Extents extents{1, a.getDimSize(rank - 2), b.getDimSize(rank - 1),
                  a.getDimSize(rank - 1)};
  if (getTransposeA())
    std::swap(extents.m, extents.k);
  if (getTransposeB())
    extents.n = b.getDimSize(rank - 2);
  for (int64_t extent : a.getShape().drop_back(2))
    extents.batch *= extent;
  return extents;
}

bool GemmOp::isGradient() {
  return getActivation() == Activation::ReluGrad ||
         getActivation() == Activation::GeluTanhGrad;
}

Value GemmOp::getC() { return getAccumulate() ? getInputs()[2] : Value(); }
Value GemmOp::getBiasVector() {
  return getBias() ? getInputs()[2 + getAccumulate()] : Value();
}
Value GemmOp::getAuxiliaryInput() {
  return isGradient() ? getInputs().back() : Value();
}

SmallVector<int64_t> GemmOp::getMaskShape(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> mask(shape);
  mask.back() = ::amp::cuda::reluMaskStride(shape.back()) / 8;
  return mask;
}

LogicalResult GemmOp::verify() {
  auto launch = cast<LaunchOpInterface>(getOperation());
  Activation activation = getActivation();
  bool isForward =
      activation == Activation::Relu || activation == Activation::GeluTanh;
  if (!getScale().isNormal())
    return emitOpError("has an alpha that is zero, denormal or not finite");
  // Check what the library supports.
  if (getAuxiliary() && !isForward)
    return emitOpError("has 'auxiliary' but the activation ")
           << stringifyActivation(activation) << ", expected relu or gelu_tanh";
  if (getBias() && isGradient())
    return emitOpError("adds a bias before the gradient of an activation");
  if (getBiasGrad() && (isForward || getBias()))
    return emitOpError("has 'bias_grad' beside a bias or a forward activation, "
                       "expected a product of a backward pass");
  if (getBiasGradA() && (!getBiasGrad() || isGradient() || !getTransposeA()))
    return emitOpError("has 'bias_grad_a', expected 'bias_grad' and "
                       "'transpose_a' too, and no activation");
  if (getBiasGrad() && !getBiasGradA() && !isGradient() && getTransposeB())
    return emitOpError("has 'bias_grad', which sums the columns of B, beside "
                       "'transpose_b'");
  if (failed(verifyCounts(launch,
                          2 + getAccumulate() + getBias() + isGradient(),
                          1 + getAuxiliary() + getBiasGrad())))
    return failure();

  auto a = launch.getInputType(0), b = launch.getInputType(1),
       d = launch.getTargetType(0);
  int64_t rank = a.getRank();
  if (rank < 2 || b.getRank() != rank || d.getRank() != rank)
    return emitOpError("multiplies tensors of ranks ")
           << rank << " and " << b.getRank() << " to one of rank "
           << d.getRank() << ", expected equal ranks of at least 2";
  Type element = a.getElementType(), result = d.getElementType();
  bool isLow = element.isF16() || element.isBF16();
  if (b.getElementType() != element || (!isLow && !element.isF32()))
    return emitOpError("multiplies ")
           << element << " and " << b.getElementType()
           << ", expected both to be f16, bf16 or f32";
  if (result != element && !result.isF32())
    return emitOpError("has a result of ")
           << result << ", expected " << element << " or f32";
  if (getTf32() && !element.isF32())
    return emitOpError("has 'tf32' but operands of ")
           << element << ", expected f32";
  auto leading = a.getShape().drop_back(2);
  if (b.getShape().drop_back(2) != leading ||
      d.getShape().drop_back(2) != leading)
    return emitOpError("has unequal leading dimensions");
  Extents extents = getExtents();
  int64_t k = b.getDimSize(getTransposeB() ? rank - 1 : rank - 2);
  if (k != extents.k)
    return emitOpError("sums over ")
           << extents.k << " elements of A and " << k << " of B";
  SmallVector<int64_t> shape(leading);
  shape.append({extents.m, extents.n});
  if (failed(verifyType(*this, "the result", d, shape, result)))
    return failure();
  if (extents.batch != 1 &&
      (activation != Activation::None || getBias() || getBiasGrad()))
    return emitOpError(
        "has batch dimensions, which allow neither a bias nor an "
        "activation");
  unsigned input = 2, target = 1;
  if (getAccumulate() &&
      failed(
          verifyType(*this, "C", launch.getInputType(input++), shape, result)))
    return failure();
  if (getBias() &&
      failed(verifyType(*this, "the bias", launch.getInputType(input++),
                        {extents.n}, result)))
    return failure();
  auto verifyAuxiliary = [&](ShapedType type) {
    bool isRelu =
        activation == Activation::Relu || activation == Activation::ReluGrad;
    if (isRelu)
      return verifyType(*this, "the auxiliary matrix", type,
                        getMaskShape(shape), IntegerType::get(getContext(), 8));
    return verifyType(*this, "the auxiliary matrix", type, shape, result);
  };
  if (activation == Activation::GeluTanh ||
      activation == Activation::GeluTanhGrad)
    if ((getAuxiliary() || isGradient()) && extents.n % 8 != 0)
      return emitOpError("saves the input of gelu for rows of ")
             << extents.n << " elements, expected a multiple of 8";
  if (isGradient() && failed(verifyAuxiliary(launch.getInputType(input))))
    return failure();
  if (getAuxiliary() && failed(verifyAuxiliary(launch.getTargetType(target++))))
    return failure();
  if (getBiasGrad() &&
      failed(verifyType(*this, "the bias gradient",
                        launch.getTargetType(target),
                        {getBiasGradA() ? extents.m : extents.n}, result)))
    return failure();
  return verifyLaunch(launch);
}

bool GemmOp::mayAlias(unsigned target, unsigned input) {
  return target == 0 && getAccumulate() && input == 2;
}

std::string GemmOp::getTargetSuffix(unsigned target) {
  if (target == 0)
    return "";
  if (getBiasGrad() && target + 1 == getNumTargets())
    return ".bias_grad";
  return getActivation() == Activation::Relu ? ".mask" : ".saved";
}

int64_t GemmOp::getFlops() {
  Extents extents = getExtents();
  return 2 * extents.batch * extents.m * extents.n * extents.k;
}

//===----------------------------------------------------------------------===//
// Conv
//===----------------------------------------------------------------------===//

ConvOp::Types ConvOp::getForwardTypes() { return getConvTypes(*this); }

/// The extents of a filter [KH, KW, C / groups, F].
static FilterExtents getFilterExtents(ConvOp op) {
  ArrayRef<int64_t> filter = op.getForwardTypes().filter.getShape();
  return {filter[0], filter[1], filter[2], filter[3]};
}

static ::amp::cuda::ConvShape getShape(ConvOp op) {
  return getConvShape(op, op.getForwardTypes().input.getShape(),
                      getFilterExtents(op));
}

LogicalResult ConvOp::verify() {
  auto launch = cast<LaunchOpInterface>(getOperation());
  Activation activation = getActivation();
  // Check what the product supports.
  if (activation != Activation::None && activation != Activation::Relu)
    return emitOpError("has the activation ")
           << stringifyActivation(activation) << ", expected none or relu";
  bool isForward = getKind() == ConvKind::Forward,
       isRelu = activation == Activation::Relu;
  if ((getBias() || isRelu) && !isForward)
    return emitOpError("has a bias or an activation, which only a forward "
                       "convolution takes");
  if (getAuxiliary() && !isRelu)
    return emitOpError("has 'auxiliary' without a relu");
  if (getBiasGrad() && getKind() != ConvKind::FilterGrad)
    return emitOpError("has 'bias_grad', which only a filter gradient takes");
  if ((getBias() || isRelu || getBiasGrad()) && int64_t(getGroups()) != 1)
    return emitOpError("has ")
           << int64_t(getGroups())
           << " groups, which allow neither a bias nor an activation";
  if (failed(verifyCounts(launch, 2 + getBias(),
                          1 + getAuxiliary() + getBiasGrad())))
    return failure();
  auto first = launch.getInputType(0), second = launch.getInputType(1),
       result = launch.getTargetType(0);
  Type element = first.getElementType();
  if (second.getElementType() != element ||
      !(element.isF16() || element.isBF16() || element.isF32()))
    return emitOpError("has operands of ")
           << element << " and " << second.getElementType()
           << ", expected both to be f16, bf16 or f32";
  if (result.getElementType() != element && !result.getElementType().isF32())
    return emitOpError("has a result of ")
           << result.getElementType() << ", expected " << element << " or f32";
  if (getTf32() && !element.isF32())
    return emitOpError("has 'tf32' but operands of ")
           << element << ", expected f32";
  Types types = getForwardTypes();
  for (ShapedType type : {types.input, types.filter, types.output})
    if (type.getRank() != 4)
      return emitOpError("has an operand or result of rank ")
             << type.getRank() << ", expected 4";
  if (failed(verifyWindow(*this, types.input.getDimSize(3),
                          getFilterExtents(*this))))
    return failure();
  int64_t features = types.filter.getDimSize(3);
  ::amp::cuda::ConvShape shape = getShape(*this);
  if (failed(verifyType(*this, "the output of the convolution", types.output,
                        getOutputShape(shape),
                        types.output.getElementType())) ||
      failed(verifyWork(*this, shape)))
    return failure();
  if (!::amp::cuda::hasSmallImages(shape))
    return emitOpError("has images with 2^31 elements or more, or as many of "
                       "their patches");
  Type stored = result.getElementType();
  if (getBias() && failed(verifyType(*this, "the bias", launch.getInputType(2),
                                     {features}, stored)))
    return failure();
  if (getAuxiliary() &&
      failed(verifyType(*this, "the auxiliary matrix", launch.getTargetType(1),
                        GemmOp::getMaskShape(result.getShape()),
                        IntegerType::get(getContext(), 8))))
    return failure();
  if (getBiasGrad() &&
      failed(verifyType(*this, "the bias gradient", launch.getTargetType(1),
                        {features}, stored)))
    return failure();
  return verifyLaunch(launch);
}

std::string ConvOp::getTargetSuffix(unsigned target) {
  if (target == 0)
    return "";
  return getBiasGrad() ? ".bias_grad" : ".mask";
}

int64_t ConvOp::getFlops() {
  ::amp::cuda::ConvShape shape = getShape(*this);
  return 2 * shape.rows() * shape.depth() * shape.features;
}

int64_t ConvOp::getScratchBytes() {
  ::amp::cuda::ConvShape shape = getShape(*this);
  if (getKind() == ConvKind::InputGrad)
    return ::amp::cuda::convInputGradScratchBytes(shape);
  auto type = cast<ShapedType>(getInputs()[0].getType());
  return ::amp::cuda::convScratchBytes(shape,
                                       type.getElementTypeBitWidth() / 8);
}

//===----------------------------------------------------------------------===//
// Linear cross-entropy
//===----------------------------------------------------------------------===//

LinearCrossEntropyOp::Extents LinearCrossEntropyOp::getExtents() {
  auto x = cast<ShapedType>(getInputs()[0].getType()),
       w = cast<ShapedType>(getInputs()[1].getType());
  return {x.getDimSize(0), w.getDimSize(getTransposeB() ? 0 : 1),
          x.getDimSize(1), x.getDimSize(0) / int64_t(getChunkRows())};
}

static ::amp::cuda::LinearLossShape getLossShape(LinearCrossEntropyOp op) {
  LinearCrossEntropyOp::Extents extents = op.getExtents();
  return {extents.m, extents.k, extents.n, int64_t(op.getChunkRows()),
          op.getTransposeB()};
}

/// The bytes of an element of the operands.
static int64_t getElementBytes(LinearCrossEntropyOp op) {
  return cast<ShapedType>(op.getInputs()[0].getType())
             .getElementTypeBitWidth() /
         8;
}

/// Verifies the types of the outputs of a classifier.
static LogicalResult verifyTargets(LinearCrossEntropyOp op, int64_t rows) {
  auto launch = cast<LaunchOpInterface>(op.getOperation());
  Type f32 = Float32Type::get(op.getContext());
  auto x = launch.getInputType(0), w = launch.getInputType(1),
       dx = launch.getTargetType(1);
  Type result = dx.getElementType();
  if (failed(verifyType(op, "the loss", launch.getTargetType(0), {}, f32)) ||
      failed(verifyType(op, "the gradient of x", dx, x.getShape(),
                        result.isF32() ? f32 : x.getElementType())) ||
      failed(verifyType(op, "the gradient of w", launch.getTargetType(2),
                        w.getShape(), f32)))
    return failure();
  if (!op.getPredict())
    return success();
  Type index = launch.getTargetType(3).getElementType();
  return verifyType(
      op, "the prediction", launch.getTargetType(3), {rows},
      index.isInteger(32) ? index : IntegerType::get(op.getContext(), 64));
}

LogicalResult LinearCrossEntropyOp::verify() {
  auto launch = cast<LaunchOpInterface>(getOperation());
  if (failed(verifyCounts(launch, 4, 3 + getPredict())))
    return failure();
  auto x = launch.getInputType(0), w = launch.getInputType(1),
       labels = launch.getInputType(2);
  Type element = x.getElementType(), index = labels.getElementType();
  if (x.getRank() != 2 || w.getRank() != 2)
    return emitOpError("multiplies tensors of ranks ")
           << x.getRank() << " and " << w.getRank() << ", expected 2";
  if (w.getElementType() != element ||
      !(element.isF16() || element.isBF16() || element.isF32()))
    return emitOpError("multiplies ")
           << element << " and " << w.getElementType()
           << ", expected both to be f16, bf16 or f32";
  if (getTf32() && !element.isF32())
    return emitOpError("has 'tf32' but operands of ")
           << element << ", expected f32";
  int64_t rows = x.getDimSize(0), depth = w.getDimSize(getTransposeB() ? 1 : 0);
  if (depth != x.getDimSize(1))
    return emitOpError("sums over ")
           << x.getDimSize(1) << " elements of x and " << depth << " of w";
  if (x.getNumElements() == 0 || w.getNumElements() == 0)
    return emitOpError("multiplies an empty tensor");
  if (failed(verifyType(
          *this, "the label", labels, {rows},
          index.isInteger(32) ? index : IntegerType::get(getContext(), 64))) ||
      failed(verifyType(*this, "the gradient of the loss",
                        launch.getInputType(3), {},
                        Float32Type::get(getContext()))))
    return failure();
  if (failed(verifySmoothing(*this, getLabelSmoothing())))
    return failure();
  int64_t chunk = getChunkRows();
  if (chunk < 1 || rows % chunk != 0)
    return emitOpError("has chunks of ")
           << chunk << " rows, expected a number that divides " << rows;
  // A product takes each chunk as it takes a buffer.
  int64_t bytes = chunk * depth * getElementBytes(*this);
  if (chunk != rows && bytes % CUDADialect::kAlignment != 0)
    return emitOpError("has chunks of ")
           << bytes << " bytes of x, expected a multiple of "
           << CUDADialect::kAlignment;
  if (failed(verifyTargets(*this, rows)))
    return failure();
  return verifyLaunch(launch);
}

// The logits, and both gradients.
int64_t LinearCrossEntropyOp::getFlops() {
  Extents extents = getExtents();
  return 6 * extents.m * extents.n * extents.k;
}

int64_t LinearCrossEntropyOp::getScratchBytes() {
  return ::amp::cuda::linearLossScratchBytes(getLossShape(*this),
                                             getElementBytes(*this));
}

// Two reads of the logits, and their gradient.
int64_t LinearCrossEntropyOp::getLossBytes() {
  ::amp::cuda::LinearLossShape shape = getLossShape(*this);
  return 3 * shape.chunks() * shape.chunkBytes(getElementBytes(*this));
}

// The logits are written by a product, and their gradient is read by two. Each
// input of a product is an operand of another one, w in each chunk. The
// gradient of w is read and written in each chunk but the first.
int64_t LinearCrossEntropyOp::getRereadBytes() {
  auto launch = cast<LaunchOpInterface>(getOperation());
  ::amp::cuda::LinearLossShape shape = getLossShape(*this);
  int64_t chunk = shape.chunkBytes(getElementBytes(*this)),
          chunks = shape.chunks();
  return getLossBytes() + (3 * chunks - 2) * chunk +
         getBytes(launch.getInputType(0)) +
         (2 * chunks - 1) * getBytes(launch.getInputType(1)) +
         2 * (chunks - 1) * getBytes(launch.getTargetType(2));
}

int64_t LinearCrossEntropyOp::getNumKernels() {
  return 4 * getExtents().chunks + 1;
}

// Labels are less than the number of classes.
int64_t LinearCrossEntropyOp::getIndexBound(unsigned input) {
  return input == 2 ? getExtents().n : 0;
}

std::string LinearCrossEntropyOp::getTargetSuffix(unsigned target) {
  static constexpr StringLiteral names[] = {"", ".input_grad", ".weight_grad",
                                            ".predicted"};
  return names[target].str();
}

//===----------------------------------------------------------------------===//
// Generated code
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "amp/Dialect/CUDA/IR/CUDAProductOps.cpp.inc"

void CUDADialect::registerProductOps() {
  addOperations<
#define GET_OP_LIST
#include "amp/Dialect/CUDA/IR/CUDAProductOps.cpp.inc"
      >();
}
