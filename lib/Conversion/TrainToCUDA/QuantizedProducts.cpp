//===- QuantizedProducts.cpp - Products of 8-bit floats as launches -------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product reads both operands along the contracted dimension. The launch that
// quantises a tensor writes the orders that products read, and finds the
// magnitude of the tensor if its own scale does not depend on it. If the scales
// follow from blocks of the tensor itself, one launch finds them too. With
// other scales of blocks, each order needs a separate launch. These launches
// write the factors in the layout that the library reads.
//
//===----------------------------------------------------------------------===//

#include "QuantizedOperands.h"

#include "amp/Dialect/AMP/IR/AMPQuantizedOps.h"
#include "amp/Dialect/CUDA/IR/Float8ScaleKinds.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "amp/Runtime/CUDA/GemmConfig.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::cuda;
using mlir::amp::AmaxOp;
using mlir::amp::ScaledMatmulOp;

using Quantization = mlir::amp::QuantizeOp;

using ::amp::cuda::Float8Scale;

using Copy = QuantizedOperand;
using Copies = QuantizedOperands;

bool mlir::cuda::readsTransposed(ScaledMatmulOp product, bool isLhs) {
  return isLhs ? product.getTransposeA() : !product.getTransposeB();
}

/// Returns the rows and columns of a block of an operand. With `transposed`,
/// the operand is the transposed matrix.
static SmallVector<int64_t> getOperandBlocks(ArrayRef<int64_t> blocks,
                                             bool transposed) {
  return {blocks[transposed], blocks[!transposed]};
}

/// Returns the kind of the factors of an operand, or std::nullopt if no library
/// supports them.
static std::optional<Float8Scale> getScaleKind(ScaledMatmulOp product,
                                               bool isLhs) {
  std::optional<ArrayRef<int64_t>> blocks =
      isLhs ? product.getLhsBlocks() : product.getRhsBlocks();
  return blocks ? getFloat8Scale(*blocks, readsTransposed(product, isLhs))
                : Float8Scale::Tensor;
}

/// Whether accumulators are narrow and partial sums are not promoted.
static bool isFast(ScaledMatmulOp product) {
  return product.getAccumulatorBits() < 32 && product.getPromotion() == 0;
}

//===----------------------------------------------------------------------===//
// Restrictions
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kSupportedScales =
    "a program for a GPU has a scale for a tensor, or along the contracted "
    "dimension for a row, for 32 or 128 elements of a row, or for 128 x 128 "
    "elements";

/// Verifies that the library supports the scales of both operands.
static LogicalResult verifyScales(ScaledMatmulOp op) {
  ::amp::cuda::GemmConfig config;
  for (bool isLhs : {true, false}) {
    std::optional<Float8Scale> kind = getScaleKind(op, isLhs);
    if (!kind)
      return op->emitOpError("has scales of [")
             << (isLhs ? *op.getLhsBlocks() : *op.getRhsBlocks())
             << "] elements of its " << (isLhs ? "first" : "second")
             << " operand; " << kSupportedScales;
    (isLhs ? config.scalesA : config.scalesB) = *kind;
  }
  config.fastAccumulation = isFast(op);
  if (std::string fault = ::amp::cuda::findScaleFault(config); !fault.empty())
    return op->emitOpError("cannot run on a GPU: ") << fault;
  return success();
}

/// Whether `scale` consists of powers of two. Moves keep them.
static bool isPowerOfTwo(Value scale) {
  while (Operation *op = scale.getDefiningOp()) {
    if (auto fromAmax = dyn_cast<mlir::amp::ScaleFromAmaxOp>(op))
      return fromAmax.getPowerOfTwo();
    auto iface = dyn_cast<mlir::amp::FloatRangeOpInterface>(op);
    if (!iface || iface.getElementFlow() != mlir::amp::ElementFlow::Moves ||
        op->getNumOperands() != 1)
      return false;
    scale = op->getOperand(0);
  }
  return false;
}

/// Verifies that scales of 32 elements, whose factors are exponents, are powers
/// of two.
static LogicalResult verifyExponents(ScaledMatmulOp op) {
  for (bool isLhs : {true, false})
    if (getScaleKind(op, isLhs) == Float8Scale::Vector32 &&
        !isPowerOfTwo(isLhs ? op.getLhsScale() : op.getRhsScale()))
      return op->emitOpError("has scales of 32 elements of its ")
             << (isLhs ? "first" : "second")
             << " operand that are not known to be powers of two, expected "
                "scales of amp.scale_from_amax with 'power_of_two': a GPU "
                "reads "
                "only exponents (E8M0)";
  return success();
}

/// Verifies that `op` divides `payload` by the scale that multiplied it.
static LogicalResult verifySource(Operation *op, Value payload, Value scale,
                                  DenseI64ArrayAttr blocks) {
  auto source = payload.getDefiningOp<Quantization>();
  if (!source)
    return op->emitOpError("reads a tensor of 8-bit floats that the step does "
                           "not quantise");
  if (source.getScale() != scale || source.getBlocksAttr() != blocks)
    return op->emitOpError("divides by another scale than the one that "
                           "multiplied its operand");
  return success();
}

/// Verifies that programs have an equivalent of `op`.
static LogicalResult verifyScaledOp(Operation *op) {
  if (auto dequantize = dyn_cast<mlir::amp::DequantizeOp>(op)) {
    std::optional<ArrayRef<int64_t>> blocks = dequantize.getBlocks();
    if (blocks && !getFloat8Scale(*blocks, false) &&
        !getFloat8Scale(*blocks, true))
      return op->emitOpError("has scales of [")
             << *blocks << "] elements; " << kSupportedScales;
    return verifySource(op, dequantize.getPayload(), dequantize.getScale(),
                        dequantize.getBlocksAttr());
  }
  if (auto quantize = dyn_cast<Quantization>(op)) {
    if (quantize.getRng())
      return op->emitOpError("rounds stochastically, which a program for a GPU "
                             "does not support; expected rounding to nearest");
    for (Operation *user : quantize->getUsers())
      if (!isa<ScaledMatmulOp, mlir::amp::DequantizeOp>(user))
        return user->emitOpError("reads a tensor of 8-bit floats, expected "
                                 "only products or amp.dequantize to read it");
    return success();
  }
  auto product = dyn_cast<ScaledMatmulOp>(op);
  if (!product)
    return success();
  for (bool isLhs : {true, false})
    if (failed(verifySource(
            op, isLhs ? product.getLhs() : product.getRhs(),
            isLhs ? product.getLhsScale() : product.getRhsScale(),
            isLhs ? product.getLhsBlocksAttr() : product.getRhsBlocksAttr())))
      return failure();
  if (failed(verifyScales(product)))
    return failure();
  return verifyExponents(product);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// The magnitude of the tensor of `op` if it does not determine the scale of
/// this step. Null if absent.
static AmaxOp findIndependentAmax(Quantization op) {
  for (Operation *user : op.getInput().getUsers())
    if (auto amax = dyn_cast<AmaxOp>(user);
        amax && !amax.getBlocks() && !dependsOn(op.getScale(), amax))
      return amax;
  return {};
}

/// Adds the launch that writes the codes of `op` in one order, and the factors
/// of its blocks.
static Copy quantizeBlocks(PatternRewriter &rewriter, Quantization op,
                           bool transposed) {
  SmallVector<int64_t, 2> matrix =
      mlir::amp::getMatrixShape(typeOf(op.getInput()).getShape());
  Float8Scale kind = *getFloat8Scale(*op.getBlocks(), transposed);
  int64_t outer = ::amp::cuda::padFloat8(matrix[transposed]),
          inner = ::amp::cuda::padFloat8Inner(matrix[!transposed], kind);
  Type format = typeOf(op.getPayload()).getElementType();
  Type types[] = {RankedTensorType::get({outer, inner}, format),
                  getFactorType(op.getContext(), kind, outer, inner)};
  auto launch = QuantizeOp::create(
      rewriter, getNamedLocation(op), types, StringAttr(),
      ValueRange{op.getInput(), op.getScale()}, ValueRange(), ValueRange(),
      Value(), format, /*payload=*/!transposed, transposed, /*amax=*/false,
      op.getSaturate(), op.getKeepNonFinite(), op.getBlocksAttr());
  return {launch.getResult(0), launch.getResult(1)};
}

/// Whether a launch can write the codes of `op` only transposed, which is the
/// order that amp.dequantize then reads.
static bool isWidenedTransposed(Quantization op) {
  return op.getBlocks() && !getFloat8Scale(*op.getBlocks(), false);
}

std::array<bool, 2> mlir::cuda::getReadOrders(Quantization op) {
  std::array<bool, 2> isRead = {false, false};
  for (Operation *user : op->getUsers()) {
    auto product = dyn_cast<ScaledMatmulOp>(user);
    if (!product) {
      isRead[isWidenedTransposed(op)] = true;
      continue;
    }
    for (bool isLhs : {true, false})
      if ((isLhs ? product.getLhs() : product.getRhs()) == op.getPayload())
        isRead[readsTransposed(product, isLhs)] = true;
  }
  return isRead;
}

/// Adds the launches that quantise the tensor of `op` in the orders that
/// products read. Its products still read the payload. Returns the launch if it
/// finds the magnitude of the tensor, and null otherwise.
static QuantizeOp convertQuantization(PatternRewriter &rewriter,
                                      Quantization op, Copies &copies) {
  std::array<bool, 2> isRead = getReadOrders(op);
  auto [payload, transposed] = isRead;
  if (!payload && !transposed)
    return {};
  rewriter.setInsertionPoint(op);
  std::array<Copy, 2> &orders = copies[op.getPayload()];
  if (op.getBlocks()) {
    for (bool order : {false, true})
      if (isRead[order] && !orders[order].codes)
        orders[order] = quantizeBlocks(rewriter, op, order);
    return {};
  }
  AmaxOp amax = findIndependentAmax(op);
  SmallVector<int64_t, 2> matrix =
      mlir::amp::getMatrixShape(typeOf(op.getInput()).getShape());
  auto quantization = QuantizationAttr::get(
      op.getContext(), matrix[0], matrix[1],
      typeOf(op.getPayload()).getElementType(), payload, transposed, bool(amax),
      op.getSaturate(), op.getKeepNonFinite(), BlockScalesAttr());
  SmallVector<RankedTensorType> targets = quantization.getTypes();
  SmallVector<Type> types(targets.begin(), targets.end());
  auto launch = QuantizeOp::create(
      rewriter, getNamedLocation(op), types, StringAttr(),
      ValueRange{op.getInput(), op.getScale()}, ValueRange(), ValueRange(),
      Value(), quantization.getFormat(), payload, transposed, bool(amax),
      op.getSaturate(), op.getKeepNonFinite(), DenseI64ArrayAttr());
  Value inverse = launch.getResult(*quantization.getInverseTarget());
  if (payload)
    orders[false] = {launch.getResult(*quantization.getPayloadTarget()),
                     inverse};
  if (transposed)
    orders[true] = {launch.getResult(*quantization.getTransposedTarget()),
                    inverse};
  return amax ? launch : QuantizeOp();
}

/// Replaces `op` by a maximum of absolute values. Blocks split a dimension into
/// two. The last blocks are padded with zeros.
static void convertAmax(PatternRewriter &rewriter, AmaxOp op) {
  rewriter.setInsertionPoint(op);
  Location loc = getNamedLocation(op);
  Value input = op.getInput();
  SmallVector<int64_t> shape(typeOf(input).getShape()), axes;
  if (std::optional<ArrayRef<int64_t>> blocks = op.getBlocks()) {
    SmallVector<int64_t, 2> matrix = mlir::amp::getMatrixShape(shape);
    SmallVector<int64_t> padding;
    shape.clear();
    for (auto [extent, size] : llvm::zip_equal(matrix, *blocks)) {
      int64_t block = size == 0 ? extent : size;
      shape.push_back(llvm::divideCeil(extent, block));
      padding.push_back(shape.back() * block - extent);
      if (block == 1)
        continue;
      axes.push_back(shape.size());
      shape.push_back(block);
    }
    input = reshape(rewriter, input, matrix);
    if (padding[0] != 0 || padding[1] != 0)
      input = train::PadOp::create(
          rewriter, loc,
          typeOf(input).clone({matrix[0] + padding[0], matrix[1] + padding[1]}),
          input, ArrayRef<int64_t>{0, 0}, padding, ArrayRef<int64_t>{0, 0},
          APFloat(0.0));
    input = reshape(rewriter, input, shape);
  } else {
    llvm::append_range(axes, llvm::seq<int64_t>(0, shape.size()));
  }
  Value magnitudes =
      train::AbsOp::create(rewriter, loc, input.getType(), input);
  rewriter.replaceOpWithNewOp<train::ReduceMaxOp>(
      op, op.getAmax().getType(), magnitudes, axes, /*keep_dims=*/false);
}

/// Makes `op` read the codes without their padding. A kernel widens them.
static void readCodes(PatternRewriter &rewriter, mlir::amp::DequantizeOp op,
                      const Copies &copies) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  auto type = typeOf(op.getPayload());
  SmallVector<int64_t, 2> matrix = mlir::amp::getMatrixShape(type.getShape());
  SmallVector<int64_t, 2> stored = matrix;
  bool transposed =
      isWidenedTransposed(op.getPayload().getDefiningOp<Quantization>());
  if (transposed)
    std::swap(stored[0], stored[1]);
  Value codes = copies.at(op.getPayload())[transposed].codes;
  if (typeOf(codes).getShape() != ArrayRef<int64_t>(stored)) {
    auto list = [&](int64_t first, int64_t second) {
      return SmallVector<OpFoldResult>{rewriter.getIndexAttr(first),
                                       rewriter.getIndexAttr(second)};
    };
    codes = tensor::ExtractSliceOp::create(
        rewriter, loc, typeOf(codes).clone(stored), codes, list(0, 0),
        list(stored[0], stored[1]), list(1, 1));
  }
  if (transposed) {
    Value empty =
        tensor::EmptyOp::create(rewriter, loc, matrix, type.getElementType());
    codes = linalg::TransposeOp::create(rewriter, loc, codes, empty,
                                        ArrayRef<int64_t>{1, 0})
                ->getResult(0);
  }
  codes = reshape(rewriter, codes, type.getShape());
  rewriter.modifyOpInPlace(op, [&] { op.getPayloadMutable().assign(codes); });
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Cuts the padding off `value`, an f32 product, and rounds it once, with the
/// bias of `op`.
static Value cutPadding(PatternRewriter &rewriter, ScaledMatmulOp op,
                        Value value, ArrayRef<int64_t> shape) {
  Location loc = op.getLoc();
  auto type = typeOf(value).clone(shape);
  value = train::SliceOp::create(rewriter, loc, type, value,
                                 ArrayRef<int64_t>{0, 0}, shape,
                                 ArrayRef<int64_t>{1, 1});
  auto cast = [&](Value from, Type element) -> Value {
    if (typeOf(from).getElementType() == element)
      return from;
    return mlir::amp::CastOp::create(rewriter, loc, typeOf(from).clone(element),
                                     from, /*inserted=*/false);
  };
  if (op.getBias())
    value = train::AddOp::create(rewriter, loc, type, value,
                                 cast(op.getBias(), rewriter.getF32Type()));
  return cast(value, op.getType().getElementType());
}

static void convertProduct(PatternRewriter &rewriter, ScaledMatmulOp op,
                           const Copies &copies) {
  rewriter.setInsertionPoint(op);
  SmallVector<Value> inputs, factors;
  DenseI64ArrayAttr blocks[2];
  for (bool isLhs : {true, false}) {
    bool transposed = readsTransposed(op, isLhs);
    const Copy &copy = copies.at(isLhs ? op.getLhs() : op.getRhs())[transposed];
    inputs.push_back(copy.codes);
    factors.push_back(copy.factors);
    if (std::optional<ArrayRef<int64_t>> sizes =
            isLhs ? op.getLhsBlocks() : op.getRhsBlocks())
      blocks[!isLhs] =
          rewriter.getDenseI64ArrayAttr(getOperandBlocks(*sizes, transposed));
  }
  inputs.append(factors);
  RankedTensorType type = op.getType();
  SmallVector<int64_t, 2> shape = mlir::amp::getMatrixShape(type.getShape()),
                          padded = shape;
  padded[1] = ::amp::cuda::padFloat8(shape[1]);
  if (hasBlocks(*getScaleKind(op, /*isLhs=*/true)))
    padded[0] = ::amp::cuda::padFloat8(shape[0]);
  // A separate kernel adds the bias of padded or f32 results.
  bool isCut = padded != shape,
       addsBias =
           op.getBias() && !isCut && !type.getElementType().isF32() &&
           typeOf(op.getBias()).getElementType() == type.getElementType();
  bool isApart = isCut || (op.getBias() && !addsBias);
  if (addsBias)
    inputs.push_back(op.getBias());
  auto result = RankedTensorType::get(padded, isApart ? rewriter.getF32Type()
                                                      : type.getElementType());
  auto product =
      ScaledGemmOp::create(rewriter, getNamedLocation(op), result, StringAttr(),
                           inputs, ValueRange(), ValueRange(), Value(),
                           addsBias, isFast(op), blocks[0], blocks[1]);
  copyAttributes(op, product);
  Value value = product.getResult(0);
  if (isApart)
    value = cutPadding(rewriter, op, value, shape);
  replaceReshaped(rewriter, op, value);
}

LogicalResult mlir::cuda::convertScaledProducts(func::FuncOp step) {
  SmallVector<Quantization> quantizations;
  SmallVector<AmaxOp> magnitudes;
  SmallVector<mlir::amp::ScaleFromAmaxOp> scales;
  SmallVector<ScaledMatmulOp> products;
  SmallVector<mlir::amp::DequantizeOp> widened;
  WalkResult result = step.walk([&](Operation *op) {
    if (!isa<AmaxOp, mlir::amp::DequantizeOp, mlir::amp::ScaleFromAmaxOp,
             ScaledMatmulOp, Quantization>(op))
      return WalkResult::advance();
    if (failed(verifyScaledOp(op)))
      return WalkResult::interrupt();
    if (auto quantize = dyn_cast<Quantization>(op))
      quantizations.push_back(quantize);
    if (auto amax = dyn_cast<AmaxOp>(op))
      magnitudes.push_back(amax);
    if (auto scale = dyn_cast<mlir::amp::ScaleFromAmaxOp>(op))
      scales.push_back(scale);
    if (auto product = dyn_cast<ScaledMatmulOp>(op))
      products.push_back(product);
    if (auto dequantize = dyn_cast<mlir::amp::DequantizeOp>(op))
      widened.push_back(dequantize);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  PatternRewriter rewriter(step.getContext());
  Copies copies;
  quantizeOwnBlocks(rewriter, quantizations, copies);
  SmallVector<std::pair<Quantization, QuantizeOp>> finders;
  for (Quantization op : quantizations)
    if (QuantizeOp launch = convertQuantization(rewriter, op, copies))
      finders.push_back({op, launch});
  for (ScaledMatmulOp op : products)
    convertProduct(rewriter, op, copies);
  for (mlir::amp::DequantizeOp op : widened)
    readCodes(rewriter, op, copies);
  for (auto [op, launch] : finders) {
    // Several quantisations of a tensor find the same magnitude.
    AmaxOp amax = findIndependentAmax(op);
    if (amax && !amax->use_empty())
      rewriter.replaceAllUsesWith(
          amax.getAmax(),
          launch.getResult(*launch.getQuantization().getAmaxTarget()));
  }
  for (Quantization op : quantizations)
    rewriter.eraseOp(op);
  // Launches that find the scales of blocks do not read these.
  for (mlir::amp::ScaleFromAmaxOp op : scales)
    if (op->use_empty())
      rewriter.eraseOp(op);
  for (AmaxOp op : magnitudes) {
    if (op->use_empty())
      rewriter.eraseOp(op);
    else
      convertAmax(rewriter, op);
  }
  // A magnitude may be read before the launch that finds it.
  if (!quantizations.empty())
    sortTopologically(&step.getBody().front());
  return success();
}
