//===- CUDAQuantizedOps.cpp - Products of 8-bit floats --------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchSupport.h"

#include "amp/Dialect/AMP/IR/AMPQuantizedOps.h"
#include "amp/Dialect/CUDA/IR/Float8ScaleKinds.h"
#include "amp/Runtime/CUDA/GemmConfig.h"

using namespace mlir;
using namespace mlir::cuda;

static LogicalResult verifyFormat(Operation *op, Type format) {
  if (mlir::amp::getFloat8Format(format))
    return success();
  return op->emitOpError("has the format ")
         << format << ", expected f8E4M3FN or f8E5M2";
}

//===----------------------------------------------------------------------===//
// Scales of blocks
//===----------------------------------------------------------------------===//

using ::amp::cuda::Float8Scale;

std::optional<Float8Scale> mlir::cuda::getFloat8Scale(ArrayRef<int64_t> blocks,
                                                      bool transposed) {
  if (blocks.size() != 2)
    return std::nullopt;
  std::pair<int64_t, int64_t> block(blocks[transposed], blocks[!transposed]);
  if (block == std::pair<int64_t, int64_t>(1, 0))
    return Float8Scale::Outer;
  if (block == std::pair<int64_t, int64_t>(1, 32))
    return Float8Scale::Vector32;
  if (block == std::pair<int64_t, int64_t>(1, 128))
    return Float8Scale::Vector128;
  if (block == std::pair<int64_t, int64_t>(128, 128))
    return Float8Scale::Block128;
  return std::nullopt;
}

RankedTensorType mlir::cuda::getFactorType(MLIRContext *context,
                                           Float8Scale kind, int64_t outer,
                                           int64_t inner) {
  Type f32 = Float32Type::get(context);
  int64_t rows = ::amp::cuda::float8ScaleRows(kind, outer),
          columns = ::amp::cuda::float8ScaleColumns(kind, inner);
  switch (kind) {
  case Float8Scale::Tensor:
    return RankedTensorType::get({}, f32);
  case Float8Scale::Outer:
    return RankedTensorType::get({rows}, f32);
  case Float8Scale::Vector128:
    return RankedTensorType::get({columns, rows}, f32);
  case Float8Scale::Block128:
    return RankedTensorType::get({rows, columns}, f32);
  case Float8Scale::Vector32:
    return RankedTensorType::get({rows / 128, columns / 4, 32, 4, 4},
                                 IntegerType::get(context, 8));
  }
  llvm_unreachable("a kind of scales");
}

StringRef mlir::cuda::getEnumerator(Float8Scale kind) {
  static constexpr StringLiteral names[] = {
      "Float8Scale::Tensor", "Float8Scale::Outer", "Float8Scale::Vector32",
      "Float8Scale::Vector128", "Float8Scale::Block128"};
  return names[unsigned(kind)];
}

bool mlir::cuda::fitsTiles(Float8Scale kind) { return hasBlocks(kind); }

std::pair<Float8Scale, Float8Scale>
mlir::cuda::getScaleKinds(QuantizationAttr quantization) {
  auto getKind = [](DenseI64ArrayAttr blocks, bool transposed) {
    return blocks ? *getFloat8Scale(blocks.asArrayRef(), transposed)
                  : Float8Scale::Tensor;
  };
  BlockScalesAttr blocks = quantization.getBlocks();
  return {getKind(blocks ? blocks.getPayload() : nullptr, false),
          getKind(blocks ? blocks.getTransposed() : nullptr, true)};
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

LogicalResult QuantizationAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, int64_t rows, int64_t columns,
    Type format, bool payload, bool transposed, bool amax, bool saturate,
    bool keepNonFinite, BlockScalesAttr blocks) {
  if (rows < 1 || columns < 1 || !hasCountableElements({rows, columns}))
    return emitError() << "quantises " << rows << " rows of " << columns
                       << " columns, expected at least one, and a product of "
                          "at most 2^40";
  bool hasCodes = payload || transposed;
  if (!hasCodes && !amax)
    return emitError() << "writes nothing, expected 'payload', 'transposed' or "
                          "'amax'";
  if (!hasCodes && (format || saturate || keepNonFinite))
    return emitError() << "has settings of codes without codes, expected "
                          "'payload' or 'transposed'";
  if (hasCodes && (!format || !mlir::amp::getFloat8Format(format)))
    return emitError() << "has codes of another format, expected f8E4M3FN or "
                          "f8E5M2";
  if (blocks && (amax || payload != bool(blocks.getPayload()) ||
                 transposed != bool(blocks.getTransposed())))
    return emitError() << "has blocks of other codes or with 'amax', expected "
                          "blocks for each order of the codes alone";
  return success();
}

LogicalResult
BlockScalesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                        DenseI64ArrayAttr payload, DenseI64ArrayAttr transposed,
                        int32_t margin, FloatAttr epsilon, bool powerOfTwo,
                        bool ignoreNonFinite) {
  for (auto [blocks, isTransposed] :
       {std::pair(payload, false), std::pair(transposed, true)}) {
    if (!blocks)
      continue;
    std::optional<Float8Scale> kind =
        getFloat8Scale(blocks.asArrayRef(), isTransposed);
    bool isAlone = !isTransposed && !transposed;
    if (!kind || (!fitsTiles(*kind) && !isAlone))
      return emitError() << "has blocks of [" << blocks.asArrayRef()
                         << "], expected "
                         << (isTransposed ? "[32, 1], [128, 1] or [128, 128]"
                             : isAlone
                                 ? "[1, 0], [1, 32], [1, 128] or [128, 128]"
                                 : "[1, 32], [1, 128] or [128, 128]");
    if (*kind == Float8Scale::Vector32 && !powerOfTwo)
      return emitError() << "has scales of 32 elements without 'powerOfTwo'";
  }
  if (!payload && !transposed)
    return emitError() << "has no blocks, expected 'payload' or 'transposed'";
  if (margin < 0 || margin > mlir::amp::kLargestMargin)
    return emitError() << "has a margin of " << margin << ", expected 0 to "
                       << mlir::amp::kLargestMargin;
  if (epsilon &&
      (!epsilon.getType().isF32() || epsilon.getValue().isNegative() ||
       !epsilon.getValue().isFinite()))
    return emitError() << "has an epsilon of " << epsilon
                       << ", expected a finite f32 of at least 0";
  return success();
}

SmallVector<RankedTensorType> QuantizationAttr::getTypes() const {
  int64_t rows = ::amp::cuda::padFloat8(getRows()),
          columns = ::amp::cuda::padFloat8(getColumns());
  auto scalar = RankedTensorType::get({}, Float32Type::get(getContext()));
  SmallVector<RankedTensorType> types;
  if (getBlocks()) {
    auto [plain, turned] = getScaleKinds(*this);
    int64_t inner = ::amp::cuda::padFloat8Inner(getColumns(), plain),
            turnedInner = ::amp::cuda::padFloat8Inner(getRows(), turned);
    if (getPayload())
      types.push_back(RankedTensorType::get({rows, inner}, getFormat()));
    if (getTransposed())
      types.push_back(
          RankedTensorType::get({columns, turnedInner}, getFormat()));
    if (getPayload())
      types.push_back(getFactorType(getContext(), plain, rows, inner));
    if (getTransposed())
      types.push_back(
          getFactorType(getContext(), turned, columns, turnedInner));
    return types;
  }
  if (getPayload())
    types.push_back(RankedTensorType::get({rows, columns}, getFormat()));
  if (getTransposed())
    types.push_back(RankedTensorType::get({columns, rows}, getFormat()));
  types.append(hasCodes() + getAmax(), scalar);
  return types;
}

std::optional<unsigned> QuantizationAttr::getPayloadTarget() const {
  return getPayload() ? std::optional(0u) : std::nullopt;
}
std::optional<unsigned> QuantizationAttr::getTransposedTarget() const {
  return getTransposed() ? std::optional<unsigned>(getPayload()) : std::nullopt;
}
std::optional<unsigned> QuantizationAttr::getInverseTarget() const {
  return getBlocks()
             ? (getPayload()
                    ? std::optional<unsigned>(getPayload() + getTransposed())
                    : std::nullopt)
         : hasCodes() ? std::optional<unsigned>(getPayload() + getTransposed())
                      : std::nullopt;
}
std::optional<unsigned> QuantizationAttr::getTransposedFactorsTarget() const {
  return getBlocks() && getTransposed()
             ? std::optional<unsigned>(2 * getPayload() + getTransposed())
             : std::nullopt;
}
std::optional<unsigned> QuantizationAttr::getAmaxTarget() const {
  return getAmax() ? std::optional<unsigned>(getPayload() + getTransposed() +
                                             hasCodes())
                   : std::nullopt;
}

StringRef QuantizationAttr::getTargetSuffix(unsigned target) const {
  if (target == getInverseTarget())
    return ".inverse";
  if (target == getTransposedFactorsTarget())
    return ".transposed.inverse";
  if (target == getAmaxTarget())
    return ".amax";
  return target == getTransposedTarget() ? ".transposed" : "";
}

LogicalResult mlir::cuda::verifyQuantization(LaunchOpInterface op,
                                             QuantizationAttr quantization,
                                             unsigned first) {
  Type f32 = Float32Type::get(op->getContext());
  if (quantization.takesScale() &&
      failed(verifyType(op, "the scale",
                        cast<ShapedType>(op.getInputs().back().getType()), {},
                        f32)))
    return failure();
  return verifyQuantizedTargets(op, quantization, first);
}

LogicalResult mlir::cuda::verifyQuantizedTargets(LaunchOpInterface op,
                                                 QuantizationAttr quantization,
                                                 unsigned first) {
  static constexpr StringLiteral names[] = {
      "the payload", "the transposed payload", "the factor of the payload",
      "the factors of the transposed payload", "the magnitude"};
  SmallVector<RankedTensorType> types = quantization.getTypes();
  std::optional<unsigned> targets[] = {
      quantization.getPayloadTarget(), quantization.getTransposedTarget(),
      quantization.getInverseTarget(),
      quantization.getTransposedFactorsTarget(), quantization.getAmaxTarget()};
  for (auto [name, target] : llvm::zip_equal(names, targets))
    if (target && failed(verifyType(op, name, op.getTargetType(first + *target),
                                    types[*target].getShape(),
                                    types[*target].getElementType())))
      return failure();
  return success();
}

/// Returns the kind of the factors of `blocks`, and emits an error if no
/// library supports it. Without blocks there is one factor.
static FailureOr<Float8Scale> verifyBlocks(Operation *op, StringRef name,
                                           DenseI64ArrayAttr blocks,
                                           bool transposed) {
  if (!blocks)
    return Float8Scale::Tensor;
  if (std::optional<Float8Scale> kind =
          getFloat8Scale(blocks.asArrayRef(), transposed))
    return *kind;
  return op->emitOpError("has ")
         << name << " of [" << blocks.asArrayRef() << "], expected "
         << (transposed ? "[0, 1], [32, 1], [128, 1]"
                        : "[1, 0], [1, 32], [1, 128]")
         << " or [128, 128]";
}

//===----------------------------------------------------------------------===//
// Quantize
//===----------------------------------------------------------------------===//

SmallVector<int64_t, 2> QuantizeOp::getMatrix() {
  auto launch = cast<LaunchOpInterface>(getOperation());
  return mlir::amp::getMatrixShape(launch.getInputType(0).getShape());
}

QuantizationAttr QuantizeOp::getQuantization() {
  SmallVector<int64_t, 2> matrix = getMatrix();
  return QuantizationAttr::get(getContext(), matrix[0], matrix[1], getFormat(),
                               getPayload(), getTransposed(), getAmax(),
                               getSaturate(), getKeepNonFinite(),
                               BlockScalesAttr());
}

Float8Scale mlir::cuda::getScaleKind(QuantizeOp op) {
  return op.getBlocks() ? *getFloat8Scale(*op.getBlocks(), op.getTransposed())
                        : Float8Scale::Tensor;
}

/// Verifies the scales of blocks, the codes and the factors.
static LogicalResult verifyBlocks(QuantizeOp op) {
  auto launch = cast<LaunchOpInterface>(op.getOperation());
  if (op.getPayload() == op.getTransposed() || op.getAmax())
    return op.emitOpError("has scales of blocks with two orders or a "
                          "magnitude, expected 'payload' or 'transposed'");
  FailureOr<Float8Scale> kind =
      verifyBlocks(op, "blocks", op.getBlocksAttr(), op.getTransposed());
  if (failed(kind))
    return failure();
  SmallVector<int64_t, 2> matrix = op.getMatrix();
  SmallVector<int64_t, 2> counts;
  for (auto [extent, block] : llvm::zip_equal(matrix, *op.getBlocks()))
    counts.push_back(block == 0 ? 1 : llvm::divideCeil(extent, block));
  if (op.getTransposed())
    std::swap(matrix[0], matrix[1]);
  int64_t outer = ::amp::cuda::padFloat8(matrix[0]),
          inner = ::amp::cuda::padFloat8Inner(matrix[1], *kind);
  RankedTensorType factors =
      getFactorType(op.getContext(), *kind, outer, inner);
  if (failed(verifyType(op, "the scales", launch.getInputType(1), counts,
                        Float32Type::get(op.getContext()))) ||
      failed(verifyType(op, "the payload", launch.getTargetType(0),
                        {outer, inner}, op.getFormat())) ||
      failed(verifyType(op, "the factors", launch.getTargetType(1),
                        factors.getShape(), factors.getElementType())))
    return failure();
  return success();
}

LogicalResult QuantizeOp::verify() {
  auto launch = cast<LaunchOpInterface>(getOperation());
  if (failed(verifyFormat(*this, getFormat())))
    return failure();
  if (!getPayload() && !getTransposed())
    return emitOpError("writes no codes, expected 'payload' or 'transposed'");
  if (failed(verifyCounts(launch, 2,
                          getPayload() + getTransposed() + 1 + getAmax())))
    return failure();
  ShapedType x = launch.getInputType(0);
  if (!isWide(x.getElementType()) || x.getNumElements() == 0)
    return emitOpError("quantises ")
           << x << ", expected elements of f16, bf16 or f32";
  if (failed(getBlocks() ? verifyBlocks(*this)
                         : verifyQuantization(launch, getQuantization(),
                                              /*first=*/0)))
    return failure();
  return verifyLaunch(launch);
}

std::string QuantizeOp::getTargetSuffix(unsigned target) {
  if (getBlocks())
    return target == 0 ? "" : ".inverse";
  return getQuantization().getTargetSuffix(target).str();
}

int64_t QuantizeOp::getScratchBytes() {
  SmallVector<int64_t, 2> matrix = getMatrix();
  return getAmax() ? ::amp::cuda::quantizeScratchBytes(matrix[0], matrix[1])
                   : 0;
}

int64_t QuantizeOp::getFlops() { return estimateFlops(*this, 2); }

//===----------------------------------------------------------------------===//
// Quantize blocks
//===----------------------------------------------------------------------===//

LogicalResult QuantizeBlocksOp::verify() {
  auto launch = cast<LaunchOpInterface>(getOperation());
  QuantizationAttr quantization = getQuantization();
  if (!quantization.getBlocks())
    return emitOpError("has no blocks in ")
           << quantization << ", expected those of each order of the codes";
  if (failed(verifyCounts(launch, 1, quantization.getTypes().size())))
    return failure();
  ShapedType x = launch.getInputType(0);
  if (!isWide(x.getElementType()) || x.getNumElements() == 0)
    return emitOpError("quantises ")
           << x << ", expected elements of f16, bf16 or f32";
  SmallVector<int64_t, 2> matrix = mlir::amp::getMatrixShape(x.getShape());
  if (quantization.getRows() != matrix[0] ||
      quantization.getColumns() != matrix[1])
    return emitOpError("quantises ")
           << quantization.getRows() << " rows of " << quantization.getColumns()
           << " columns, expected those of " << x;
  if (failed(verifyQuantization(launch, quantization, /*first=*/0)))
    return failure();
  return verifyLaunch(launch);
}

std::string QuantizeBlocksOp::getTargetSuffix(unsigned target) {
  return getQuantization().getTargetSuffix(target).str();
}

int64_t QuantizeBlocksOp::getFlops() { return estimateFlops(*this, 4); }

//===----------------------------------------------------------------------===//
// Quantized norm
//===----------------------------------------------------------------------===//

LogicalResult QuantizedNormOp::verify() {
  auto launch = cast<LaunchOpInterface>(getOperation());
  QuantizationAttr quantization = getQuantization();
  if (quantization.getBlocks())
    return emitOpError("has scales of blocks, expected one scale");
  if (failed(verifyCounts(launch, 2 + getCentered() + quantization.hasCodes(),
                          getNumStored() + quantization.getTypes().size())))
    return failure();
  ShapedType x = launch.getInputType(0);
  if (!isWide(x.getElementType()) || !isWide(getElement()) || x.getRank() == 0)
    return emitOpError("rounds a norm of ")
           << x << " to " << getElement()
           << ", expected rows of f16, bf16 or f32";
  int64_t columns = x.getShape().back();
  if (quantization.getColumns() != columns ||
      quantization.getRows() * columns != x.getNumElements())
    return emitOpError("quantises ")
           << quantization.getRows() << " rows of " << quantization.getColumns()
           << " columns, expected the rows and columns of " << x;
  if (columns % ::amp::cuda::kFloat8Extent != 0 ||
      ::amp::cuda::quantizedNormRows(columns) == 0)
    return emitOpError("has rows of ")
           << columns << " elements, expected a multiple of 16 up to 6000";
  Type f32 = Float32Type::get(getContext());
  ArrayRef<int64_t> rows = x.getShape().drop_back();
  for (unsigned input = 1; input < 2u + getCentered(); ++input)
    if (failed(verifyType(*this, input == 1 ? "gamma" : "beta",
                          launch.getInputType(input), {columns}, f32)))
      return failure();
  if (getStored() && failed(verifyType(*this, "y", launch.getTargetType(0),
                                       x.getShape(), getElement())))
    return failure();
  for (unsigned target = getStored(); target < getNumStored(); ++target)
    if (failed(verifyType(*this, "a statistic", launch.getTargetType(target),
                          rows, f32)))
      return failure();
  if (failed(verifyQuantization(launch, quantization, getNumStored())))
    return failure();
  return verifyLaunch(launch);
}

std::string QuantizedNormOp::getTargetSuffix(unsigned target) {
  if (target >= getNumStored())
    return getQuantization().getTargetSuffix(target - getNumStored()).str();
  return "." + std::to_string(target);
}

int64_t QuantizedNormOp::getScratchBytes() {
  QuantizationAttr quantization = getQuantization();
  return quantization.getAmax()
             ? ::amp::cuda::quantizedNormScratchBytes(quantization.getRows(),
                                                      quantization.getColumns())
             : 0;
}

//===----------------------------------------------------------------------===//
// Scaled gemm
//===----------------------------------------------------------------------===//

Float8Scale mlir::cuda::getScaleKind(ScaledGemmOp op, bool isB) {
  std::optional<ArrayRef<int64_t>> blocks =
      isB ? op.getBBlocks() : op.getABlocks();
  return blocks ? *getFloat8Scale(*blocks, /*transposed=*/false)
                : Float8Scale::Tensor;
}

/// Verifies the extents and the factors of a product [M, K] · [N, K]ᵀ.
static LogicalResult verifyFactors(ScaledGemmOp op, int64_t m, int64_t n,
                                   int64_t k) {
  auto launch = cast<LaunchOpInterface>(op.getOperation());
  ::amp::cuda::GemmConfig config;
  for (bool isB : {false, true}) {
    FailureOr<Float8Scale> kind =
        verifyBlocks(op, isB ? "blocks of B" : "blocks of A",
                     isB ? op.getBBlocksAttr() : op.getABlocksAttr(),
                     /*transposed=*/false);
    if (failed(kind))
      return failure();
    (isB ? config.scalesB : config.scalesA) = *kind;
    RankedTensorType type = getFactorType(
        op.getContext(), *kind, isB ? n : ::amp::cuda::padFloat8(m), k);
    if (failed(verifyType(op, isB ? "the factor of B" : "the factor of A",
                          launch.getInputType(isB ? 3 : 2), type.getShape(),
                          type.getElementType())))
      return failure();
  }
  config.m = m, config.n = n, config.k = k;
  config.fastAccumulation = op.getFastAccumulation();
  if (std::string fault = ::amp::cuda::findScaleFault(config); !fault.empty())
    return op.emitOpError() << fault;
  return success();
}

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
  if (failed(verifyType(*this, "the result", d, {m, n}, result)) ||
      failed(verifyFactors(*this, m, n, k)))
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
#include "amp/Dialect/CUDA/IR/CUDAQuantizedOps.cpp.inc"

void CUDADialect::registerQuantizedOps() {
  addOperations<
#define GET_OP_LIST
#include "amp/Dialect/CUDA/IR/CUDAQuantizedOps.cpp.inc"
      >();
}
