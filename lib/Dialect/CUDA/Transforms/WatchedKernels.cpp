//===- WatchedKernels.cpp - Kernels that count values ---------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WatchedKernels.h"

#include "amp/Runtime/Host/ValueStatistics.h"
#include "amp/Support/TensorTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

#include <map>
#include <set>

using namespace mlir;
using namespace mlir::cuda;
using mlir::amp::typeOf;

/// The name of the kernels that count. The memory plan makes the names unique.
static constexpr StringLiteral kKernelName = "watch";

/// Converts `scalar` to f32.
static Value widen(OpBuilder &b, Location loc, Value scalar) {
  return scalar.getType().isF32()
             ? scalar
             : arith::ExtFOp::create(b, loc, b.getF32Type(), scalar)
                   .getResult();
}

void mlir::cuda::appendCounted(OpBuilder &b, Value scalar, FloatType to,
                               SmallVectorImpl<Value> &yielded) {
  Location loc = scalar.getLoc();
  Value value = widen(b, loc, scalar), cast = value;
  if (to)
    cast = widen(b, loc, arith::TruncFOp::create(b, loc, to, scalar));
  yielded.append({value, cast});
}

KernelOp mlir::cuda::createCounter(OpBuilder &b, Location loc,
                                   ValueRange inputs, ArrayRef<int64_t> extents,
                                   SmallVector<AffineMap> maps,
                                   size_t numValues) {
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
/// A sum of multiples of loops: the factor of each loop.
using LoopTerms = std::map<unsigned, int64_t>;

/// The operations, inputs and loops from which scalars of a body are computed.
struct Sources {
  llvm::SetVector<Operation *> ops;
  llvm::SetVector<unsigned> inputs;
  /// The loops on whose positions the scalars depend.
  std::set<unsigned> loops;
  /// The terms of the positions at which the inputs are read.
  SmallVector<LoopTerms> positions;
};
} // namespace

/// Adds `factor` times `expr` to `terms`. Fails if it is not a sum of multiples
/// of loops.
static LogicalResult addTerms(AffineExpr expr, int64_t factor,
                              LoopTerms &terms) {
  if (isa<AffineConstantExpr>(expr))
    return success();
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    terms[dim.getPosition()] += factor;
    return success();
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return failure();
  // Affine expressions have constants on the right.
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() == AffineExprKind::Mul && constant)
    return addTerms(binary.getLHS(), factor * constant.getValue(), terms);
  return success(expr.getKind() == AffineExprKind::Add &&
                 succeeded(addTerms(binary.getLHS(), factor, terms)) &&
                 succeeded(addTerms(binary.getRHS(), factor, terms)));
}

/// Whether `terms` has another value for each position of its loops that are
/// not in `known`. Each factor must exceed the sum of all smaller terms.
static bool isInjective(const LoopTerms &terms, ArrayRef<int64_t> extents,
                        const std::set<unsigned> &known) {
  SmallVector<std::pair<int64_t, int64_t>> ordered;
  for (auto [loop, factor] : terms)
    if (!known.count(loop))
      ordered.push_back({std::abs(factor), extents[loop]});
  llvm::sort(ordered);
  int64_t largest = 0;
  for (auto [factor, extent] : ordered) {
    if (extent > 1 && factor <= largest)
      return false;
    largest += factor * (extent - 1);
  }
  return true;
}

/// Whether each position of the loops of `sources` reads other elements or
/// indices. Otherwise, as for the windows of a pooling, a count over the loops
/// would count elements several times.
static bool readsDistinctElements(KernelOp kernel, const Sources &sources,
                                  std::set<unsigned> known) {
  size_t numKnown;
  do {
    numKnown = known.size();
    for (const LoopTerms &terms : sources.positions)
      if (isInjective(terms, kernel.getExtents(), known))
        for (auto [loop, factor] : terms)
          known.insert(loop);
  } while (known.size() != numKnown);
  return known == sources.loops;
}

/// Finds the sources of `scalar`. Fails if a count over their loops would not
/// count each element once.
static LogicalResult findSources(KernelOp kernel, Value scalar,
                                 Sources &sources) {
  SmallVector<Value> worklist{scalar};
  llvm::DenseSet<Value> seen;
  std::set<unsigned> indices;
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
        if (LoopTerms terms; succeeded(addTerms(expr, 1, terms))) {
          for (auto [loop, factor] : terms)
            sources.loops.insert(loop);
          sources.positions.push_back(std::move(terms));
        } else {
          return failure();
        }
      continue;
    }
    Operation *op = value.getDefiningOp();
    sources.ops.insert(op);
    if (auto index = dyn_cast<IndexOp>(op))
      indices.insert(index.getLoop());
    // Regions of an operation may use values of the body.
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (Region *region = operand.getParentRegion();
            region == &kernel.getBody())
          worklist.push_back(operand);
    });
  }
  sources.loops.insert(indices.begin(), indices.end());
  return success(readsDistinctElements(kernel, sources, indices));
}

/// Adds a kernel that counts `scalars` over the loops of `sources`.
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
