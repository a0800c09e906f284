//===- QuantizedProducers.cpp - Launches that quantise their results ------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If the scale of a tensor is known before the launch that computes it, the
// launch also writes its 8-bit copies. A tensor that only products read is then
// never stored in 16 bits. If the scale depends on the magnitude of the tensor,
// the launch finds this magnitude, and another launch quantises the tensor. A
// kernel also finds the scales of blocks that its tiles hold.
//
//===----------------------------------------------------------------------===//

#include "TrainToCUDA.h"

#include "amp/Dialect/AMP/IR/AMPQuantizedOps.h"
#include "amp/Dialect/CUDA/IR/Float8ScaleKinds.h"
#include "amp/Runtime/CUDA/Sizes.h"
#include "amp/Support/TensorTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::cuda;
using mlir::amp::typeOf;

//===----------------------------------------------------------------------===//
// Producers
//===----------------------------------------------------------------------===//

/// Returns the result that `value` is a view of, or `value` itself. Returns
/// null for arguments.
static OpResult getComputed(Value value) {
  while (auto view = value.getDefiningOp<ViewOp>())
    value = view.getSource();
  return dyn_cast<OpResult>(value);
}

/// Whether `op` is a norm that can write the copies of `quantization`.
static bool isQuantizableNorm(Operation *op, QuantizationAttr quantization) {
  // A block of threads has too few rows of a norm for a block of a column.
  if (!isa<LayerNormOp, RMSNormOp>(op) || quantization.getBlocks() ||
      op->hasAttr("x_rows"))
    return false;
  RankedTensorType x = typeOf(op->getOperand(0));
  int64_t columns = x.getShape().back();
  return typeOf(op->getOperand(1)).getRank() == 1 &&
         quantization.getColumns() == columns &&
         columns % ::amp::cuda::kFloat8Extent == 0 &&
         ::amp::cuda::quantizedNormRows(columns) != 0;
}

/// Whether the launch that computes `value` can write the copies of
/// `quantization`.
static bool isQuantizable(OpResult value, QuantizationAttr quantization) {
  if (!value)
    return false;
  if (auto kernel = dyn_cast<KernelOp>(value.getOwner())) {
    Type element = typeOf(value).getElementType();
    return !kernel.isReduction() && !kernel.getPredicate() &&
           !kernel.getQuantization() && kernel.getNumOutputElements() > 1 &&
           (element.isF16() || element.isBF16() || element.isF32());
  }
  return value.getResultNumber() == 0 &&
         isQuantizableNorm(value.getOwner(), quantization);
}

/// Moves the launch that computes `value` before `op` if necessary. Returns
/// whether `value` is then available before `op`.
static bool makeKnownBefore(Value value, Operation *op) {
  auto isKnown = [&](Value known) {
    Operation *definition = known.getDefiningOp();
    return !definition || definition->isBeforeInBlock(op);
  };
  if (isKnown(value))
    return true;
  auto kernel = value.getDefiningOp<KernelOp>();
  if (!kernel || !llvm::all_of(kernel->getOperands(), isKnown))
    return false;
  kernel->moveBefore(op);
  return true;
}

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

/// Creates a kernel that also writes the copies of result `target` of `kernel`.
/// It stores this result only with `stored`. The body moves to the new kernel.
static KernelOp quantizeKernel(KernelOp kernel, unsigned target, bool stored,
                               QuantizationAttr quantization, Value scale) {
  OpBuilder builder(kernel);
  SmallVector<Type> types;
  SmallVector<AffineMap> maps;
  SmallVector<Value> yielded, inputs(kernel.getInputs());
  Operation *yield = kernel.getBody().front().getTerminator();
  for (unsigned input = 0; input < kernel.getNumElementInputs(); ++input)
    maps.push_back(kernel.getMap(input));
  for (auto [index, result] : llvm::enumerate(kernel.getResults())) {
    if (index == target && !stored)
      continue;
    types.push_back(result.getType());
    maps.push_back(kernel.getTargetMap(index));
    yielded.push_back(yield->getOperand(index));
  }
  yielded.push_back(yield->getOperand(target));
  llvm::append_range(types, quantization.getTypes());
  if (scale)
    inputs.push_back(scale);
  auto made = KernelOp::create(
      builder, kernel.getLoc(), types, kernel.getNameAttr(), inputs,
      ValueRange(), ValueRange(), Value(), kernel.getExtentsAttr(),
      builder.getAffineMapArrayAttr(maps), DenseI64ArrayAttr(), CombineAttr(),
      quantization);
  made.getBody().takeBody(kernel.getBody());
  yield->setOperands(yielded);
  if (scale)
    made.getBody().addArgument(scale.getType(), scale.getLoc());
  return made;
}

/// Creates a norm that also writes the copies of the result of `norm`. It
/// stores this result only with `stored`.
static QuantizedNormOp quantizeNorm(Operation *norm, bool stored,
                                    QuantizationAttr quantization,
                                    Value scale) {
  OpBuilder builder(norm);
  auto launch = cast<LaunchOpInterface>(norm);
  auto layerNorm = dyn_cast<LayerNormOp>(norm);
  SmallVector<Type> types(norm->getResults().drop_front(!stored).getTypes());
  llvm::append_range(types, quantization.getTypes());
  SmallVector<Value> inputs(launch.getInputs());
  if (scale)
    inputs.push_back(scale);
  return QuantizedNormOp::create(
      builder, norm->getLoc(), types, norm->getAttrOfType<StringAttr>("name"),
      inputs, ValueRange(), ValueRange(), Value(),
      layerNorm ? layerNorm.getEpsilonAttr()
                : cast<RMSNormOp>(norm).getEpsilonAttr(),
      TypeAttr::get(typeOf(norm->getResult(0)).getElementType()),
      bool(layerNorm) ? builder.getUnitAttr() : UnitAttr(),
      stored ? builder.getUnitAttr() : UnitAttr(), quantization);
}

/// Whether an operation other than `reader` reads `value` or a view of it.
static bool isReadBesides(Value value, Operation *reader) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (auto view = dyn_cast<ViewOp>(user))
      return isReadBesides(view.getResult(), reader);
    return user != reader;
  });
}

/// Erases the views of `value` that have no readers.
static void eraseDeadViews(Value value) {
  for (Operation *user : llvm::make_early_inc_range(value.getUsers()))
    if (auto view = dyn_cast<ViewOp>(user)) {
      eraseDeadViews(view.getResult());
      if (view->use_empty())
        view.erase();
    }
}

/// Creates a launch that computes `value` and writes the copies that
/// `quantization` describes. `reader` computed them before. The caller erases
/// it and the old launch. Returns the copies.
static ResultRange fuseCopies(OpResult value, QuantizationAttr quantization,
                              Value scale, Operation *reader) {
  Operation *producer = value.getOwner();
  unsigned target = value.getResultNumber();
  bool stored = isReadBesides(value, reader);
  auto kernel = dyn_cast<KernelOp>(producer);
  Operation *made =
      kernel ? quantizeKernel(kernel, target, stored, quantization, scale)
             : quantizeNorm(producer, stored, quantization, scale);
  for (NamedAttribute attribute : producer->getDiscardableAttrs())
    made->setDiscardableAttr(attribute.getName(), attribute.getValue());
  unsigned next = 0;
  for (OpResult result : producer->getResults())
    if (result != value || stored)
      result.replaceAllUsesWith(made->getResult(next++));
  return made->getResults().drop_front(next);
}

/// Replaces the results of `quantize` by targets of the launch that computes
/// its operand. With given scales of blocks, `quantize` stays a separate
/// launch.
static bool fuseQuantize(QuantizeOp quantize) {
  if (quantize.getBlocks())
    return false;
  QuantizationAttr quantization = quantize.getQuantization();
  OpResult value = getComputed(quantize.getInputs()[0]);
  Value scale = quantize.getInputs()[1];
  if (!isQuantizable(value, quantization) ||
      dependsOn(scale, value.getOwner()) ||
      !makeKnownBefore(scale, value.getOwner()))
    return false;
  Operation *producer = value.getOwner();
  ResultRange copies = fuseCopies(value, quantization, scale, quantize);
  quantize->replaceAllUsesWith(copies);
  quantize.erase();
  eraseDeadViews(value);
  producer->erase();
  return true;
}

/// Does the same for scales of the tensor's own blocks, which the kernel finds
/// in the tiles that it computes.
static bool fuseBlocks(QuantizeBlocksOp quantize) {
  QuantizationAttr quantization = quantize.getQuantization();
  OpResult value = getComputed(quantize.getInputs()[0]);
  if (getScaleKinds(quantization).first == ::amp::cuda::Float8Scale::Outer ||
      !isQuantizable(value, quantization))
    return false;
  Operation *producer = value.getOwner();
  ResultRange copies = fuseCopies(value, quantization, Value(), quantize);
  quantize->replaceAllUsesWith(copies);
  quantize.erase();
  eraseDeadViews(value);
  producer->erase();
  return true;
}

//===----------------------------------------------------------------------===//
// Magnitudes
//===----------------------------------------------------------------------===//

/// Whether `kernel` finds the largest magnitude of its only input.
static bool findsMagnitude(KernelOp kernel) {
  if (!kernel.isReduction() || kernel.getCombine() != Combine::Maximum ||
      kernel.getInputs().size() != 1 || kernel.getNumElementInputs() != 1 ||
      kernel.getPredicate() || typeOf(kernel.getResult(0)).getRank() != 0 ||
      !kernel.getMap(0).isProjectedPermutation(/*allowZeroInResults=*/true) ||
      typeOf(kernel.getInputs()[0]).getNumElements() !=
          kernel.getNumReducedElements())
    return false;
  Block &body = kernel.getBody().front();
  Value found = body.getTerminator()->getOperand(0);
  bool isMagnitude = false;
  while (Operation *op = found.getDefiningOp()) {
    // A magnitude is exact in the type of its value.
    if (!isa<math::AbsFOp, arith::ExtFOp>(op) &&
        !(isa<arith::TruncFOp>(op) &&
          op->getResult(0).getType() == body.getArgument(0).getType()))
      return false;
    isMagnitude |= isa<math::AbsFOp>(op);
    found = op->getOperand(0);
  }
  return isMagnitude && found == body.getArgument(0);
}

/// Makes the launch that computes the operand of `reduction` find its
/// magnitude. The `finish` region of `reduction` becomes a kernel of one
/// element.
static bool fuseMagnitude(KernelOp reduction) {
  Value input = reduction.getInputs()[0];
  SmallVector<int64_t, 2> matrix =
      mlir::amp::getMatrixShape(typeOf(input).getShape());
  auto quantization = QuantizationAttr::get(
      reduction.getContext(), matrix[0], matrix[1], Type(), /*payload=*/false,
      /*transposed=*/false, /*amax=*/true, /*saturate=*/false,
      /*keepNonFinite=*/false, BlockScalesAttr());
  OpResult value = getComputed(input);
  if (!isQuantizable(value, quantization))
    return false;
  Operation *producer = value.getOwner();
  Value amax = fuseCopies(value, quantization, Value(), reduction).front();
  if (!reduction.getFinish().empty()) {
    OpBuilder builder(reduction);
    AffineMap scalar = AffineMap::get(builder.getContext());
    auto finish = KernelOp::create(
        builder, reduction.getLoc(), reduction.getResultTypes(),
        reduction.getNameAttr(), amax, ValueRange(), ValueRange(), Value(),
        builder.getDenseI64ArrayAttr({}),
        builder.getAffineMapArrayAttr({scalar, scalar}), DenseI64ArrayAttr(),
        CombineAttr(), QuantizationAttr());
    finish.getBody().takeBody(reduction.getFinish());
    amax = finish.getResult(0);
  }
  reduction.getResult(0).replaceAllUsesWith(amax);
  reduction.erase();
  eraseDeadViews(value);
  producer->erase();
  return true;
}

void mlir::cuda::fuseQuantizations(func::FuncOp step) {
  Block &block = step.getBody().front();
  for (QuantizeOp quantize : llvm::to_vector(block.getOps<QuantizeOp>()))
    fuseQuantize(quantize);
  for (auto quantize : llvm::to_vector(block.getOps<QuantizeBlocksOp>()))
    fuseBlocks(quantize);
  for (KernelOp kernel : llvm::to_vector(block.getOps<KernelOp>()))
    if (findsMagnitude(kernel))
      fuseMagnitude(kernel);
}
