//===- ScaledProducts.cpp - Products of 8-bit floats as launches ----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product reads both operands along the contracted dimension. The launch that
// quantises a tensor writes the orders that products read, and finds the
// magnitude of the tensor if its own scale does not depend on it.
//
//===----------------------------------------------------------------------===//

#include "Products.h"

#include "amp/Dialect/AMP/IR/AMPScaledOps.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "amp/Runtime/CUDA/Sizes.h"
#include "mlir/Analysis/TopologicalSortUtils.h"

using namespace mlir;
using namespace mlir::cuda;
using mlir::amp::AmaxOp;
using mlir::amp::ScaledMatmulOp;

using Quantization = mlir::amp::QuantizeOp;

/// The launch that quantises each payload.
using Copies = DenseMap<Value, QuantizeOp>;

//===----------------------------------------------------------------------===//
// Restrictions
//===----------------------------------------------------------------------===//

/// Verifies that programs have an equivalent of `op`.
static LogicalResult verifyScaledOp(Operation *op) {
  bool hasBlocks = op->hasAttr("blocks") || op->hasAttr("lhs_blocks") ||
                   op->hasAttr("rhs_blocks");
  if (hasBlocks) {
    InFlightDiagnostic diagnostic =
        op->emitOpError("has a scale for each block of a tensor");
    if (auto recipe =
            op->getParentOfType<func::FuncOp>()->getAttrOfType<StringAttr>(
                "amp.fp8_recipe"))
      diagnostic << ", as the recipe '" << recipe.getValue() << "' asks for";
    return diagnostic << "; a program for a GPU has one scale for a tensor, "
                         "expected the recipe 'current' or 'delayed'";
  }
  if (isa<mlir::amp::DequantizeOp>(op))
    return op->emitOpError("gives a tensor of 8-bit floats more bits, expected "
                           "only products to read it");
  if (auto quantize = dyn_cast<Quantization>(op)) {
    for (Operation *user : quantize->getUsers())
      if (!isa<ScaledMatmulOp, mlir::amp::DequantizeOp>(user))
        return user->emitOpError("reads a tensor of 8-bit floats, expected "
                                 "only products to read it");
    return success();
  }
  if (auto product = dyn_cast<ScaledMatmulOp>(op))
    for (auto [payload, scale] :
         {std::pair(product.getLhs(), product.getLhsScale()),
          std::pair(product.getRhs(), product.getRhsScale())}) {
      auto source = payload.getDefiningOp<Quantization>();
      if (!source)
        return op->emitOpError("reads a tensor of 8-bit floats that the step "
                               "does not quantise");
      if (source.getScale() != scale)
        return op->emitOpError("divides by another scale than the one that "
                               "multiplied its operand");
    }
  return success();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Whether the product reads the operand in the order of its columns.
static bool readsTransposed(ScaledMatmulOp product, bool isLhs) {
  return isLhs ? product.getTransposeA() : !product.getTransposeB();
}

/// The magnitude of the tensor of `op` if it does not determine the scale of
/// this step. Null if absent.
static AmaxOp findIndependentAmax(Quantization op) {
  for (Operation *user : op.getInput().getUsers())
    if (auto amax = dyn_cast<AmaxOp>(user);
        amax && !dependsOn(op.getScale(), amax))
      return amax;
  return {};
}

/// Replaces a quantisation by a launch. Its products still read the payload.
static QuantizeOp convertQuantization(PatternRewriter &rewriter,
                                      Quantization op) {
  bool payload = false, transposed = false;
  for (Operation *user : op->getUsers()) {
    auto product = cast<ScaledMatmulOp>(user);
    for (bool isLhs : {true, false})
      if ((isLhs ? product.getLhs() : product.getRhs()) == op.getPayload())
        (readsTransposed(product, isLhs) ? transposed : payload) = true;
  }
  if (!payload && !transposed)
    return {};
  AmaxOp amax = findIndependentAmax(op);
  rewriter.setInsertionPoint(op);
  Type format = typeOf(op.getPayload()).getElementType();
  SmallVector<int64_t, 2> matrix =
      mlir::amp::getMatrixShape(typeOf(op.getInput()).getShape());
  int64_t rows = ::amp::cuda::padFloat8(matrix[0]),
          columns = ::amp::cuda::padFloat8(matrix[1]);
  auto scalar = RankedTensorType::get({}, rewriter.getF32Type());
  SmallVector<Type> types;
  if (payload)
    types.push_back(RankedTensorType::get({rows, columns}, format));
  if (transposed)
    types.push_back(RankedTensorType::get({columns, rows}, format));
  types.append(amax ? 2 : 1, scalar);
  return QuantizeOp::create(rewriter, getNamedLocation(op), types, StringAttr(),
                            ValueRange{op.getInput(), op.getScale()},
                            ValueRange(), ValueRange(), Value(), format,
                            payload, transposed, bool(amax), op.getSaturate(),
                            op.getKeepNonFinite());
}

/// Replaces a magnitude by the maximum of absolute values.
static void convertAmax(PatternRewriter &rewriter, AmaxOp op) {
  rewriter.setInsertionPoint(op);
  Location loc = getNamedLocation(op);
  Value magnitudes = train::AbsOp::create(
      rewriter, loc, op.getInput().getType(), op.getInput());
  rewriter.replaceOpWithNewOp<train::ReduceMaxOp>(
      op, op.getAmax().getType(), magnitudes,
      llvm::to_vector(llvm::seq<int64_t>(0, typeOf(op.getInput()).getRank())),
      /*keep_dims=*/false);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Cuts the padding off the columns of `value`, an f32 product, and rounds it
/// once, with the bias of `op`.
static Value cutColumns(PatternRewriter &rewriter, ScaledMatmulOp op,
                        Value value, int64_t columns) {
  Location loc = op.getLoc();
  int64_t rows = typeOf(value).getDimSize(0);
  auto type = typeOf(value).clone({rows, columns});
  value = train::SliceOp::create(
      rewriter, loc, type, value, ArrayRef<int64_t>{0, 0},
      ArrayRef<int64_t>{rows, columns}, ArrayRef<int64_t>{1, 1});
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
  for (bool isLhs : {true, false}) {
    QuantizeOp copy = copies.lookup(isLhs ? op.getLhs() : op.getRhs());
    unsigned target = readsTransposed(op, isLhs)
                          ? *copy.getQuantization().getTransposedTarget()
                          : *copy.getQuantization().getPayloadTarget();
    inputs.push_back(copy.getResult(target));
    factors.push_back(
        copy.getResult(*copy.getQuantization().getInverseTarget()));
  }
  inputs.append(factors);
  RankedTensorType type = op.getType();
  SmallVector<int64_t, 2> shape = mlir::amp::getMatrixShape(type.getShape());
  int64_t columns = ::amp::cuda::padFloat8(shape[1]);
  // A bias of padded columns, or of f32, is added apart.
  bool isCut = columns != shape[1],
       addsBias =
           op.getBias() && !isCut && !type.getElementType().isF32() &&
           typeOf(op.getBias()).getElementType() == type.getElementType();
  bool isApart = isCut || (op.getBias() && !addsBias);
  if (addsBias)
    inputs.push_back(op.getBias());
  auto result = RankedTensorType::get({shape[0], columns},
                                      isApart ? rewriter.getF32Type()
                                              : type.getElementType());
  // Fast accumulation has narrow accumulators without promotion.
  bool isFast = op.getAccumulatorBits() < 32 && op.getPromotion() == 0;
  auto product = ScaledGemmOp::create(rewriter, getNamedLocation(op), result,
                                      StringAttr(), inputs, ValueRange(),
                                      ValueRange(), Value(), addsBias, isFast);
  copyAttributes(op, product);
  Value value = product.getResult(0);
  if (isApart)
    value = cutColumns(rewriter, op, value, shape[1]);
  replaceReshaped(rewriter, op, value);
}

LogicalResult mlir::cuda::convertScaledProducts(func::FuncOp step) {
  SmallVector<Quantization> quantizations;
  SmallVector<AmaxOp> magnitudes;
  SmallVector<ScaledMatmulOp> products;
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
    if (auto product = dyn_cast<ScaledMatmulOp>(op))
      products.push_back(product);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  PatternRewriter rewriter(step.getContext());
  Copies copies;
  for (Quantization op : quantizations)
    if (QuantizeOp copy = convertQuantization(rewriter, op))
      copies[op.getPayload()] = copy;
  for (ScaledMatmulOp op : products)
    convertProduct(rewriter, op, copies);
  for (Quantization op : quantizations) {
    QuantizeOp copy = copies.lookup(op.getPayload());
    if (copy && copy.getAmax()) {
      // A second copy of the tensor finds no other magnitude.
      AmaxOp amax = findIndependentAmax(op);
      if (amax && !amax->use_empty())
        rewriter.replaceAllUsesWith(
            amax.getAmax(),
            copy.getResult(*copy.getQuantization().getAmaxTarget()));
    }
  }
  for (Quantization op : quantizations)
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
