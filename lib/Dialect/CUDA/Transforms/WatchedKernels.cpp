//===- WatchedKernels.cpp - Kernels that count values ---------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WatchedKernels.h"

#include "amp/Runtime/Host/Statistics.h"
#include "amp/Support/TensorTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

#include <set>

using namespace mlir;
using namespace mlir::cuda;
using mlir::amp::typeOf;

/// The name of kernels that count. The memory plan makes it unique.
static constexpr StringLiteral kKernelName = "watch";

/// `scalar` as an f32.
static Value widen(OpBuilder &b, Location loc, Value scalar) {
  return scalar.getType().isF32()
             ? scalar
             : arith::ExtFOp::create(b, loc, b.getF32Type(), scalar)
                   .getResult();
}

/// Appends the values that a kernel yields to count `scalar`.
static void appendCounted(OpBuilder &b, Value scalar, FloatType to,
                          SmallVectorImpl<Value> &yielded) {
  Location loc = scalar.getLoc();
  Value value = widen(b, loc, scalar), cast = value;
  if (to)
    cast = widen(b, loc, arith::TruncFOp::create(b, loc, to, scalar));
  yielded.append({value, cast});
}

/// Creates a kernel that counts `numValues` values over all loops. The caller
/// adds the body.
static KernelOp createCounter(OpBuilder &b, Location loc, ValueRange inputs,
                              ArrayRef<int64_t> extents,
                              SmallVector<AffineMap> maps, size_t numValues) {
  auto counts =
      RankedTensorType::get({::amphost::kNumStatistics}, b.getI64Type());
  AffineMap first = AffineMap::get(extents.size(), 0,
                                   b.getAffineConstantExpr(0), b.getContext());
  maps.append(numValues, first);
  return KernelOp::create(
      b, loc, SmallVector<Type>(numValues, counts),
      b.getStringAttr(kKernelName), inputs, ValueRange(), ValueRange(), Value(),
      b.getDenseI64ArrayAttr(extents), b.getAffineMapArrayAttr(maps),
      b.getDenseI64ArrayAttr(
          llvm::to_vector(llvm::seq<int64_t>(0, extents.size()))),
      CombineAttr::get(b.getContext(), Combine::Statistics),
      QuantizationAttr());
}

CountedValue mlir::cuda::countTensor(Value tensor, FloatType to) {
  OpBuilder b(tensor.getContext());
  b.setInsertionPointAfterValue(tensor);
  RankedTensorType type = typeOf(tensor);
  KernelOp kernel = createCounter(b, tensor.getLoc(), tensor, type.getShape(),
                                  {b.getMultiDimIdentityMap(type.getRank())},
                                  /*numValues=*/1);
  Block &body = kernel.getBody().emplaceBlock();
  Value element = body.addArgument(type.getElementType(), tensor.getLoc());
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  SmallVector<Value> yielded;
  appendCounted(inner, element, to, yielded);
  YieldOp::create(inner, tensor.getLoc(), yielded);
  return {kernel.getResult(0), SmallVector<int64_t>(type.getShape())};
}

CountedValue mlir::cuda::countInFinish(KernelOp kernel, Value value,
                                       FloatType to) {
  OpBuilder b(kernel);
  IRMapping mapping;
  auto cut = cast<KernelOp>(b.clone(*kernel, mapping));
  Operation *yield = cut.getFinish().front().getTerminator();
  yield->setOperand(0, mapping.lookup(value));
  Value result = cut.getResult(0);
  result.setType(typeOf(result).clone(value.getType()));
  cut->setAttr("name", b.getStringAttr(kKernelName));
  SmallVector<Operation *> ops;
  for (Operation &op : cut.getFinish().front().without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty())
      op->erase();
  return countTensor(result, to);
}

//===----------------------------------------------------------------------===//
// Scalars in bodies
//===----------------------------------------------------------------------===//

namespace {
/// What scalars of a body are computed from.
struct Sources {
  llvm::SetVector<Operation *> ops;
  llvm::SetVector<unsigned> inputs;
  /// The loops in whose positions the scalars differ.
  std::set<unsigned> loops;
};
} // namespace

/// Adds the loops of `expr`. Fails if several of its positions are equal.
static LogicalResult addLoops(AffineExpr expr, std::set<unsigned> &loops) {
  if (isa<AffineConstantExpr>(expr))
    return success();
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    loops.insert(dim.getPosition());
    return success();
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || (expr.getKind() != AffineExprKind::Add &&
                  expr.getKind() != AffineExprKind::Mul))
    return failure();
  return success(succeeded(addLoops(binary.getLHS(), loops)) &&
                 succeeded(addLoops(binary.getRHS(), loops)));
}

/// Finds what `scalar` is computed from. Fails if a read is not at distinct
/// positions.
static LogicalResult findSources(KernelOp kernel, Value scalar,
                                 Sources &sources) {
  SmallVector<Value> worklist{scalar};
  llvm::DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      unsigned index = argument.getArgNumber();
      sources.inputs.insert(index);
      if (index >= kernel.getNumElementInputs())
        continue;
      for (AffineExpr expr : kernel.getMap(index).getResults())
        if (failed(addLoops(expr, sources.loops)))
          return failure();
      continue;
    }
    Operation *op = value.getDefiningOp();
    sources.ops.insert(op);
    if (auto index = dyn_cast<IndexOp>(op))
      sources.loops.insert(index.getLoop());
    // Operations with regions may use values of the body in them.
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (Region *region = operand.getParentRegion();
            region == &kernel.getBody())
          worklist.push_back(operand);
    });
  }
  return success();
}

/// Adds a kernel over `loops` that counts `scalars`, which have these sources.
static void countTogether(ArrayRef<ScalarToCount> scalars,
                          const Sources &sources,
                          MutableArrayRef<CountedValue> counted) {
  KernelOp kernel = scalars.front().kernel;
  OpBuilder b(kernel);
  SmallVector<int64_t> extents;
  SmallVector<AffineExpr> dims(kernel.getExtents().size(),
                               b.getAffineConstantExpr(0));
  llvm::DenseMap<unsigned, unsigned> renumbered;
  for (unsigned loop : sources.loops) {
    dims[loop] = b.getAffineDimExpr(extents.size());
    renumbered[loop] = extents.size();
    extents.push_back(kernel.getExtents()[loop]);
  }
  SmallVector<unsigned> order(sources.inputs.begin(), sources.inputs.end());
  llvm::sort(order);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (unsigned input : order) {
    inputs.push_back(kernel.getInputs()[input]);
    if (input < kernel.getNumElementInputs())
      maps.push_back(kernel.getMap(input).replaceDimsAndSymbols(
          dims, {}, extents.size(), 0));
  }
  KernelOp counter =
      createCounter(b, kernel.getLoc(), inputs, extents, maps, scalars.size());
  Block &from = kernel.getBody().front();
  Block &body = counter.getBody().emplaceBlock();
  IRMapping mapping;
  for (unsigned input : order) {
    BlockArgument argument = from.getArgument(input);
    mapping.map(argument,
                body.addArgument(argument.getType(), argument.getLoc()));
  }
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  for (Operation &op : from.without_terminator())
    if (sources.ops.contains(&op)) {
      Operation *copy = inner.clone(op, mapping);
      if (auto index = dyn_cast<IndexOp>(copy))
        index.setLoop(renumbered.lookup(index.getLoop()));
    }
  SmallVector<Value> yielded;
  for (const ScalarToCount &scalar : scalars)
    appendCounted(inner, mapping.lookup(scalar.value), scalar.to, yielded);
  YieldOp::create(inner, kernel.getLoc(), yielded);
  for (auto [index, scalar] : llvm::enumerate(scalars))
    counted[scalar.number] = {counter.getResult(index), extents};
}

void mlir::cuda::countScalars(ArrayRef<ScalarToCount> scalars,
                              MutableArrayRef<CountedValue> counted) {
  SmallVector<ScalarToCount> group;
  Sources common;
  auto flush = [&] {
    if (!group.empty())
      countTogether(group, common, counted);
    group.clear();
    common = Sources();
  };
  for (const ScalarToCount &scalar : scalars) {
    Sources own;
    if (failed(findSources(scalar.kernel, scalar.value, own)))
      continue;
    if (group.size() == KernelOp::kMaxStatistics ||
        (!group.empty() &&
         (group.front().kernel != scalar.kernel || common.loops != own.loops)))
      flush();
    group.push_back(scalar);
    common.loops = own.loops;
    common.ops.insert_range(own.ops);
    common.inputs.insert_range(own.inputs);
  }
  flush();
}
