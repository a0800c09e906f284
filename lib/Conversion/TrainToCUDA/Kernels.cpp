//===- Kernels.cpp - Conversion to kernels --------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainToCUDA.h"
#include "amp/Conversion/LinalgCommon/LinalgBuilder.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::cuda;

//===----------------------------------------------------------------------===//
// Building kernels
//===----------------------------------------------------------------------===//

namespace {

/// A kernel under construction. Values that its body captures become inputs.
class KernelBuilder {
public:
  KernelBuilder(OpBuilder &builder, Operation *source)
      : builder(builder), source(source), body(new Region) {
    block = &body->emplaceBlock();
  }

  /// Adds an input that is read element by element.
  Value addInput(Value tensor, AffineMap map) {
    inputs.push_back(tensor);
    maps.push_back(map);
    return block->addArgument(
        cast<ShapedType>(tensor.getType()).getElementType(), tensor.getLoc());
  }

  /// Clones `op` into the body. Its operands are mapped or computed outside.
  /// Emits an error and returns failure if an outside value cannot be captured.
  LogicalResult clone(Operation *op);

  /// Maps a value of the body being read to the one being written.
  IRMapping &getMapping() { return mapping; }
  /// The counterpart of `value`, which may be captured. Null after an error.
  Value lookup(Value value);

  /// A constant in the body.
  Value constant(TypedAttr value) {
    OpBuilder inner = getBodyBuilder();
    return arith::ConstantOp::create(inner, source->getLoc(), value);
  }

  /// Ends the body and creates the kernel.
  KernelOp finish(ArrayRef<int64_t> extents, ArrayRef<AffineMap> outputs,
                  TypeRange types, ValueRange yielded,
                  ArrayRef<int64_t> reduced = {},
                  std::optional<Combine> combine = std::nullopt);

private:
  /// Builds at the end of the body, which does not yet belong to an operation.
  OpBuilder getBodyBuilder() {
    OpBuilder inner(builder.getContext());
    inner.setInsertionPointToEnd(block);
    return inner;
  }

  OpBuilder &builder;
  Operation *source;
  std::unique_ptr<Region> body;
  Block *block;
  SmallVector<Value> inputs, captured;
  SmallVector<AffineMap> maps;
  /// Tensors that the body reads at any position, and their arguments.
  SmallVector<Value> capturedArguments;
  IRMapping mapping;
};

} // namespace

Value KernelBuilder::lookup(Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  if (isa<ShapedType>(value.getType())) {
    // The arguments for captured tensors come last. `finish` moves them there.
    Value argument = block->addArgument(value.getType(), value.getLoc());
    captured.push_back(value);
    capturedArguments.push_back(argument);
    mapping.map(value, argument);
    return argument;
  }
  Operation *op = value.getDefiningOp();
  if (op && failed(clone(op)))
    return {};
  if (Value known = mapping.lookupOrNull(value))
    return known;
  source->emitOpError("reads a scalar that no launch can read");
  return {};
}

LogicalResult KernelBuilder::clone(Operation *op) {
  if (isa<linalg::IndexOp>(op)) {
    OpBuilder inner = getBodyBuilder();
    auto index = cast<linalg::IndexOp>(op);
    mapping.map(index.getResult(),
                IndexOp::create(inner, op->getLoc(), inner.getIndexType(),
                                index.getDim())
                    .getResult());
    return success();
  }
  bool isScalar = isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
                      op->getDialect()) ||
                  isa<tensor::ExtractOp>(op);
  if (!isScalar || op->getNumRegions() != 0)
    return op->emitOpError("cannot be part of a kernel");
  for (Value operand : op->getOperands())
    if (!lookup(operand))
      return failure();
  OpBuilder inner = getBodyBuilder();
  inner.clone(*op, mapping);
  return success();
}

KernelOp KernelBuilder::finish(ArrayRef<int64_t> extents,
                               ArrayRef<AffineMap> outputs, TypeRange types,
                               ValueRange yielded, ArrayRef<int64_t> reduced,
                               std::optional<Combine> combine) {
  OpBuilder inner = getBodyBuilder();
  YieldOp::create(inner, source->getLoc(), yielded);
  // Element-wise arguments precede captured ones, as inputs do.
  SmallVector<Value> all(inputs);
  all.append(captured);
  for (Value old : capturedArguments) {
    Value moved = block->addArgument(old.getType(), old.getLoc());
    old.replaceAllUsesWith(moved);
  }
  block->eraseArguments([&](BlockArgument argument) {
    return llvm::is_contained(capturedArguments, argument);
  });
  SmallVector<AffineMap> allMaps(maps);
  llvm::append_range(allMaps, outputs);
  auto kernel = KernelOp::create(
      builder, source->getLoc(), types, StringAttr(), all, ValueRange(),
      ValueRange(), Value(), builder.getDenseI64ArrayAttr(extents),
      builder.getAffineMapArrayAttr(allMaps),
      combine ? builder.getDenseI64ArrayAttr(reduced) : DenseI64ArrayAttr(),
      combine ? CombineAttr::get(builder.getContext(), *combine)
              : CombineAttr(),
      QuantizationAttr());
  kernel.getBody().takeBody(*body);
  return kernel;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The operation that combines `accumulator` in `value` with a value that does
/// not depend on it.
static std::optional<std::pair<Combine, Value>>
matchCombine(Value value, Value accumulator) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumOperands() != 2 || !accumulator.hasOneUse())
    return std::nullopt;
  Value other;
  if (op->getOperand(0) == accumulator)
    other = op->getOperand(1);
  else if (op->getOperand(1) == accumulator)
    other = op->getOperand(0);
  else
    return std::nullopt;
  if (isa<arith::AddFOp, arith::AddIOp>(op))
    return std::pair(Combine::Add, other);
  if (isa<arith::MulFOp, arith::MulIOp>(op))
    return std::pair(Combine::Mul, other);
  if (isa<arith::MaximumFOp>(op))
    return std::pair(Combine::Maximum, other);
  if (isa<arith::MinimumFOp>(op))
    return std::pair(Combine::Minimum, other);
  if (isa<arith::AndIOp>(op) && value.getType().isInteger(1))
    return std::pair(Combine::And, other);
  if (isa<arith::OrIOp>(op) && value.getType().isInteger(1))
    return std::pair(Combine::Or, other);
  return std::nullopt;
}

/// Whether combining with `value` changes nothing.
static bool isNeutral(Combine combine, TypedAttr value) {
  if (auto number = dyn_cast<FloatAttr>(value)) {
    APFloat v = number.getValue();
    switch (combine) {
    case Combine::Add:
      return v.isZero();
    case Combine::Mul:
      return v.isExactlyValue(1.0);
    case Combine::Maximum:
      return v.isInfinity() && v.isNegative();
    case Combine::Minimum:
      return v.isInfinity() && !v.isNegative();
    default:
      return false;
    }
  }
  APInt v = cast<IntegerAttr>(value).getValue();
  switch (combine) {
  case Combine::Add:
  case Combine::Or:
    return v.isZero();
  case Combine::Mul:
  case Combine::And:
    return v.isOne();
  default:
    return false;
  }
}

/// The scalar that all elements of the constant `tensor` equal, or null.
static TypedAttr getSplat(Value tensor) {
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>()) {
    Attribute value;
    if (matchPattern(fill.getInputs()[0], m_Constant(&value)))
      return dyn_cast<TypedAttr>(value);
  }
  // Match linalg.fill in generic form.
  if (auto generic = tensor.getDefiningOp<linalg::GenericOp>();
      generic && generic->getNumResults() == 1) {
    Value yielded = generic.getBody()->getTerminator()->getOperand(0);
    Attribute value;
    if (matchPattern(yielded, m_Constant(&value)))
      return dyn_cast<TypedAttr>(value);
    if (auto argument = dyn_cast<BlockArgument>(yielded);
        argument && argument.getOwner() == generic.getBody()) {
      Value operand = generic->getOperand(argument.getArgNumber());
      SplatElementsAttr elements;
      if (matchPattern(operand, m_Constant(&elements)))
        return dyn_cast<TypedAttr>(elements.getSplatValue<Attribute>());
      // A tensor with different elements is read and not used to fill.
      if (!isa<ShapedType>(operand.getType()) &&
          matchPattern(operand, m_Constant(&value)))
        return dyn_cast<TypedAttr>(value);
    }
  }
  SplatElementsAttr splat;
  if (matchPattern(tensor, m_Constant(&splat)))
    return dyn_cast<TypedAttr>(splat.getSplatValue<Attribute>());
  return {};
}

static Value combineScalars(OpBuilder &b, Location loc, Combine combine,
                            Value x, Value y) {
  bool isFloat = isa<FloatType>(x.getType());
  switch (combine) {
  case Combine::Add:
    return isFloat ? arith::AddFOp::create(b, loc, x, y).getResult()
                   : arith::AddIOp::create(b, loc, x, y).getResult();
  case Combine::Mul:
    return isFloat ? arith::MulFOp::create(b, loc, x, y).getResult()
                   : arith::MulIOp::create(b, loc, x, y).getResult();
  case Combine::Maximum:
    return arith::MaximumFOp::create(b, loc, x, y);
  case Combine::Minimum:
    return arith::MinimumFOp::create(b, loc, x, y);
  case Combine::And:
    return arith::AndIOp::create(b, loc, x, y);
  case Combine::Or:
    return arith::OrIOp::create(b, loc, x, y);
  case Combine::Statistics:
    break;
  }
  llvm_unreachable("a combination of two scalars");
}

/// Clones the body of `op` without its terminator and without `skipped`.
static LogicalResult cloneBody(KernelBuilder &kernel, linalg::GenericOp op,
                               Operation *skipped = nullptr) {
  for (Operation &inner : op.getBody()->without_terminator())
    if (&inner != skipped && failed(kernel.clone(&inner)))
      return failure();
  return success();
}

/// Replaces `e mod c` by `e` in `map` if e is in [0, c) for loops of these
/// extents.
static AffineMap dropModulos(AffineMap map, ArrayRef<int64_t> extents) {
  SmallVector<std::optional<int64_t>> lower(extents.size(), 0), upper;
  for (int64_t extent : extents)
    upper.push_back(extent - 1);
  DenseMap<AffineExpr, AffineExpr> replacements;
  map.walkExprs([&](AffineExpr expr) {
    auto modulo = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!modulo || modulo.getKind() != AffineExprKind::Mod)
      return;
    auto divisor = dyn_cast<AffineConstantExpr>(modulo.getRHS());
    auto getBound = [&](bool isUpper) {
      return getBoundForAffineExpr(modulo.getLHS(), extents.size(), 0, lower,
                                   upper, isUpper);
    };
    std::optional<int64_t> least = getBound(false), most = getBound(true);
    if (divisor && least && *least >= 0 && most && *most < divisor.getValue())
      replacements[expr] = modulo.getLHS();
  });
  return map.replace(replacements, map.getNumDims(), map.getNumSymbols());
}

/// Adds the inputs of `op` with dimensions and captures its scalars.
static LogicalResult addInputs(KernelBuilder &kernel, linalg::GenericOp op) {
  for (OpOperand *input : op.getDpsInputOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(input);
    if (argument.use_empty())
      continue;
    Value value;
    if (TypedAttr splat = getSplat(input->get()))
      value = kernel.constant(splat);
    else if (isa<ShapedType>(input->get().getType()))
      value = kernel.addInput(input->get(),
                              dropModulos(op.getMatchingIndexingMap(input),
                                          op.getStaticLoopRanges()));
    else
      value = kernel.lookup(input->get());
    if (!value)
      return failure();
    kernel.getMapping().map(argument, value);
  }
  return success();
}

/// Converts a loop nest without reductions. The loops are in the order of the
/// outputs.
static LogicalResult convertParallel(linalg::GenericOp op) {
  OpBuilder builder(op);
  KernelBuilder kernel(builder, op);
  if (failed(addInputs(kernel, op)))
    return failure();
  SmallVector<AffineMap> outputs;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    outputs.push_back(map);
    BlockArgument argument = op.getMatchingBlockArgument(&init);
    if (argument.use_empty())
      continue;
    TypedAttr splat = getSplat(init.get());
    kernel.getMapping().map(argument, splat ? kernel.constant(splat)
                                            : kernel.addInput(init.get(), map));
  }
  if (failed(cloneBody(kernel, op)))
    return failure();
  SmallVector<Value> yielded;
  for (Value value : op.getBody()->getTerminator()->getOperands()) {
    Value mapped = kernel.lookup(value);
    if (!mapped)
      return failure();
    yielded.push_back(mapped);
  }
  KernelOp made = kernel.finish(op.getStaticLoopRanges(), outputs,
                                op.getResultTypes(), yielded);
  op->replaceAllUsesWith(made.getResults());
  op->erase();
  return success();
}

/// Converts a loop nest with reductions to one kernel per output.
static LogicalResult convertReduction(linalg::GenericOp op) {
  SmallVector<int64_t> reduced;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      reduced.push_back(loop);
  for (auto [index, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    BlockArgument accumulator = op.getMatchingBlockArgument(&init);
    Value yielded = op.getBody()->getTerminator()->getOperand(index);
    auto combine = matchCombine(yielded, accumulator);
    if (!combine ||
        (combine->first == Combine::Maximum &&
         !accumulator.getType().isF32()) ||
        (combine->first == Combine::Minimum && !accumulator.getType().isF32()))
      return op.emitOpError(
          "has a reduction that no kernel supports, expected a "
          "sum, product, maximum, minimum, and or or");
    OpBuilder builder(op);
    KernelBuilder kernel(builder, op);
    if (failed(addInputs(kernel, op)) ||
        failed(cloneBody(kernel, op, yielded.getDefiningOp())))
      return failure();
    Value combined = kernel.lookup(combine->second);
    if (!combined)
      return failure();
    AffineMap map = op.getMatchingIndexingMap(&init);
    Type type = op.getResult(index).getType();
    KernelOp made = kernel.finish(op.getStaticLoopRanges(), map, type, combined,
                                  reduced, combine->first);
    Value result = made.getResult(0);
    // The initial value of the accumulation, unless it is neutral.
    TypedAttr splat = getSplat(init.get());
    if (!splat || !isNeutral(combine->first, splat)) {
      auto shape = cast<RankedTensorType>(type).getShape();
      auto identity = builder.getMultiDimIdentityMap(shape.size());
      KernelBuilder last(builder, op);
      Value x = last.addInput(result, identity);
      Value y =
          splat ? last.constant(splat) : last.addInput(init.get(), identity);
      OpBuilder inner(builder.getContext());
      inner.setInsertionPointToEnd(x.getParentBlock());
      Value sum = combineScalars(inner, op.getLoc(), combine->first, x, y);
      result = last.finish(shape, identity, type, sum).getResult(0);
    }
    op.getResult(index).replaceAllUsesWith(result);
  }
  op.erase();
  return success();
}

/// Orders the loops of `op` by the dimensions of its first output. Reduction
/// loops keep their positions.
static FailureOr<linalg::GenericOp> orderLoops(linalg::GenericOp op) {
  AffineMap map = op.getMatchingIndexingMap(&op.getDpsInitsMutable()[0]);
  if (!map.isProjectedPermutation())
    return op.emitOpError(
        "writes its result in an order that no kernel supports");
  for (OpOperand &init : op.getDpsInitsMutable())
    if (op.getMatchingIndexingMap(&init) != map)
      return op.emitOpError("writes results in several orders");
  SmallVector<unsigned> wanted;
  for (AffineExpr expr : map.getResults())
    wanted.push_back(cast<AffineDimExpr>(expr).getPosition());
  if (llvm::is_sorted(wanted))
    return op;
  SmallVector<unsigned> permutation, places(wanted);
  llvm::sort(places);
  permutation = llvm::to_vector(llvm::seq<unsigned>(0, op.getNumLoops()));
  for (auto [place, loop] : llvm::zip_equal(places, wanted))
    permutation[place] = loop;
  IRRewriter rewriter(op.getContext());
  rewriter.setInsertionPoint(op);
  return linalg::interchangeGenericOp(rewriter, op, permutation);
}

static LogicalResult convertGeneric(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics())
    return op.emitOpError("works on buffers, expected tensors");
  FailureOr<linalg::GenericOp> ordered = orderLoops(op);
  if (failed(ordered))
    return failure();
  op = *ordered;
  if (op.getNumReductionLoops() > 0)
    return convertReduction(op);
  return convertParallel(op);
}

//===----------------------------------------------------------------------===//
// Other operations
//===----------------------------------------------------------------------===//

/// A kernel that computes the only element of `tensor` from scalars.
static LogicalResult convertScalars(tensor::FromElementsOp op) {
  if (op.getElements().size() != 1)
    return op.emitOpError("makes a tensor of several scalars, expected one");
  OpBuilder builder(op);
  KernelBuilder kernel(builder, op);
  // Scalar tensors are read as elements without an index.
  SmallVector<Value> worklist{op.getElements()[0]};
  DenseSet<Value> seen;
  auto type = op.getType();
  SmallVector<int64_t> extents(type.getShape());
  auto none = AffineMap::get(extents.size(), 0, {}, op.getContext());
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    Operation *definition = value.getDefiningOp();
    if (!definition || !seen.insert(value).second)
      continue;
    auto extract = dyn_cast<tensor::ExtractOp>(definition);
    if (extract && extract.getTensor().getType().getRank() == 0) {
      kernel.getMapping().map(value,
                              kernel.addInput(extract.getTensor(), none));
      continue;
    }
    llvm::append_range(worklist, definition->getOperands());
  }
  Value result = kernel.lookup(op.getElements()[0]);
  if (!result)
    return failure();
  KernelOp made = kernel.finish(
      extents, builder.getMultiDimIdentityMap(extents.size()), type, result);
  op.replaceAllUsesWith(made.getResult(0));
  op.erase();
  return success();
}

/// A kernel that fills a tensor with a scalar.
static LogicalResult convertFill(Operation *op, RankedTensorType type,
                                 function_ref<Value(KernelBuilder &)> scalar) {
  OpBuilder builder(op);
  KernelBuilder kernel(builder, op);
  Value value = scalar(kernel);
  if (!value)
    return failure();
  KernelOp made = kernel.finish(type.getShape(),
                                builder.getMultiDimIdentityMap(type.getRank()),
                                type, value);
  op->getResult(0).replaceAllUsesWith(made.getResult(0));
  op->erase();
  return success();
}

/// A constant with different elements stays and becomes a buffer.
static LogicalResult convertConstant(arith::ConstantOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  if (auto splat = dyn_cast<SplatElementsAttr>(op.getValue()))
    return convertFill(op, type, [&](KernelBuilder &kernel) {
      return kernel.constant(cast<TypedAttr>(splat.getSplatValue<Attribute>()));
    });
  if (!isa<DenseIntOrFPElementsAttr>(op.getValue()))
    return op.emitOpError("holds elements that are not in the text of the "
                          "module, expected a dense constant");
  // Move it before all launches, so that it does not prevent merging.
  op->moveBefore(&op->getBlock()->front());
  return success();
}

static LogicalResult convertOperation(Operation *op) {
  if (isa_and_nonnull<CUDADialect>(op->getDialect()) || isa<func::ReturnOp>(op))
    return success();
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return convertGeneric(generic);
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return convertFill(fill, cast<RankedTensorType>(fill.getResultTypes()[0]),
                       [&](KernelBuilder &kernel) {
                         return kernel.lookup(fill.getInputs()[0]);
                       });
  if (auto scalars = dyn_cast<tensor::FromElementsOp>(op))
    return convertScalars(scalars);
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp,
          tensor::ReshapeOp>(op)) {
    OpBuilder builder(op);
    Value view = ViewOp::create(builder, op->getLoc(),
                                op->getResult(0).getType(), op->getOperand(0));
    op->getResult(0).replaceAllUsesWith(view);
    op->erase();
    return success();
  }
  // Scalars are computed at their uses.
  bool isScalar =
      llvm::none_of(op->getResultTypes(), llvm::IsaPred<ShapedType>);
  if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && !isScalar)
    return convertConstant(constant);
  if (isa<tensor::EmptyOp>(op) ||
      (isScalar && isPure(op) && op->getNumRegions() == 0)) {
    if (op->use_empty())
      op->erase();
    return success();
  }
  return op->emitOpError("cannot be part of a program for a GPU");
}

LogicalResult mlir::cuda::convertKernels(func::FuncOp step) {
  Block &block = step.getBody().front();
  // Go backwards. A kernel's producers are then dead when they are visited.
  SmallVector<Operation *> order;
  for (Operation &op : block)
    order.push_back(&op);
  for (Operation *op : llvm::reverse(order)) {
    if (isOpTriviallyDead(op)) {
      op->erase();
      continue;
    }
    if (failed(convertOperation(op)))
      return failure();
  }
  // Replace results that are tensors without a writer.
  for (Operation &op : llvm::make_early_inc_range(block))
    if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
      if (failed(
              convertFill(empty, empty.getType(), [&](KernelBuilder &kernel) {
                OpBuilder builder(empty);
                return kernel.constant(
                    builder.getZeroAttr(empty.getType().getElementType()));
              })))
        return failure();
    }
  return success();
}
