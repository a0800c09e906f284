//===- LoopGradients.cpp - Derivatives of loops and slices ----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopGradients.h"

#include "amp/Dialect/Train/IR/TrainBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::train;

Value mlir::train::makeZeros(OpBuilder &builder, Location loc, Value like) {
  TrainBuilder t(builder, loc);
  auto type = typeOf(like);
  if (type.hasStaticShape())
    return t.zeros(type);
  return t.broadcast(t.scalar(0.0, like), like, TrainBuilder::allDims(like));
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// The slice of `source` that has the place of `op`.
template <typename OpTy>
static Value readPart(OpBuilder &builder, OpTy op, RankedTensorType type,
                      Value source) {
  return tensor::ExtractSliceOp::create(
      builder, op.getLoc(), type, source, op.getMixedOffsets(),
      op.getMixedSizes(), op.getMixedStrides());
}

LogicalResult mlir::train::differentiatePart(Operation *op,
                                             ArrayRef<Value> resultGradients,
                                             Backpropagation &sweep,
                                             OpBuilder &builder) {
  Location loc = op->getLoc();
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    // Adds to a part of the sum, at the cost of that part.
    Value source = slice.getSource(), sum = sweep.lookup(source);
    Value part = resultGradients[0];
    if (!sum)
      sum = makeZeros(builder, loc, source);
    else
      part =
          AddOp::create(builder, loc, part.getType(),
                        readPart(builder, slice, slice.getType(), sum), part);
    sweep.assign(source, tensor::InsertSliceOp::create(
                             builder, loc, part, sum, slice.getMixedOffsets(),
                             slice.getMixedSizes(), slice.getMixedStrides()));
    return success();
  }
  // Canonicalization makes this of branches that yield values from outside.
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    Value zeros = makeZeros(builder, loc, resultGradients[0]);
    for (auto [value, isTrue] : {std::pair(select.getTrueValue(), true),
                                 std::pair(select.getFalseValue(), false)})
      if (sweep.isActive(value))
        sweep.accumulate(
            value,
            arith::SelectOp::create(builder, loc, select.getCondition(),
                                    isTrue ? resultGradients[0] : zeros,
                                    isTrue ? zeros : resultGradients[0]),
            loc);
    return success();
  }
  auto slice = dyn_cast<tensor::InsertSliceOp>(op);
  if (!slice)
    return failure();
  Value gradient = resultGradients[0];
  if (sweep.isActive(slice.getSource()))
    sweep.accumulate(slice.getSource(),
                     readPart(builder, slice, slice.getSourceType(), gradient),
                     loc);
  if (sweep.isActive(slice.getDest()))
    sweep.accumulate(slice.getDest(),
                     tensor::InsertSliceOp::create(
                         builder, loc,
                         makeZeros(builder, loc, slice.getSource()), gradient,
                         slice.getMixedOffsets(), slice.getMixedSizes(),
                         slice.getMixedStrides()),
                     loc);
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {

/// The bounds of a loop whose trip count is known.
struct Bounds {
  int64_t first, step, count;
};

/// The differentiation of one loop.
class LoopGradient {
public:
  LoopGradient(scf::ForOp loop, Backpropagation &sweep, OpBuilder &builder,
               LoopValues values, Bounds bounds)
      : loop(loop), sweep(sweep), builder(builder), loc(loop.getLoc()),
        values(values), bounds(bounds) {}

  LogicalResult run(ArrayRef<Value> resultGradients);

private:
  void findActive();
  LogicalResult emitBody(scf::ForOp backward);
  LogicalResult sweepBody(scf::ForOp backward, ArrayRef<Operation *> ops,
                          SmallVectorImpl<Value> &results);
  LogicalResult findSaved(Block *body);
  void emitForward(Block *body);
  Value push(Value item, Value stack, Value number);
  void readStacks();

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  scf::ForOp loop;
  Backpropagation &sweep;
  OpBuilder &builder;
  Location loc;
  LoopValues values;
  Bounds bounds;
  /// The positions of carried values through which gradients flow.
  SmallVector<unsigned> carried;
  /// Values from outside through which gradients flow.
  SmallVector<Value> captured;
  /// In the backward loop: the number of the iteration, the carried values
  /// (placeholders at first), and the values to read from stacks.
  Value position;
  SmallVector<Operation *> placeholders;
  /// Ends the iteration. Its operands are the values that the iteration yields.
  Operation *yielded = nullptr;
  llvm::SetVector<Value> saved;
  /// Operations of the iteration that the backward loop keeps.
  DenseSet<Operation *> kept;
  scf::ForOp forward;
};

} // namespace

/// Finds carried and captured values that depend on an active value.
void LoopGradient::findActive() {
  llvm::SetVector<Value> outside;
  getUsedValuesDefinedAbove(loop.getRegion(), outside);
  for (Value value : outside)
    if (sweep.isActive(value) && isDifferentiableType(value.getType()))
      captured.push_back(value);
  DenseSet<Value> active(captured.begin(), captured.end());
  auto args = loop.getRegionIterArgs();
  for (auto [arg, init] : llvm::zip(args, loop.getInits()))
    if (sweep.isActive(init))
      active.insert(arg);
  for (bool changed = true; changed;) {
    changed = false;
    SmallVector<Value> inputs;
    for (Operation &op : loop.getBody()->without_terminator()) {
      inputs.clear();
      getInputs(&op, inputs);
      if (llvm::any_of(inputs, [&](Value v) { return active.contains(v); }))
        for (Value result : op.getResults())
          if (isDifferentiableType(result.getType()))
            active.insert(result);
    }
    for (auto [arg, yielded] : llvm::zip(args, loop.getYieldedValues()))
      if (active.contains(yielded))
        changed |= active.insert(arg).second;
  }
  for (auto [index, arg] : llvm::enumerate(args))
    if (active.contains(arg))
      carried.push_back(index);
}

/// Emits the operations that propagate gradients through `ops`, an iteration,
/// and returns the gradients of carried and captured values.
LogicalResult LoopGradient::sweepBody(scf::ForOp backward,
                                      ArrayRef<Operation *> ops,
                                      SmallVectorImpl<Value> &results) {
  Backpropagation inner(builder, values);
  auto gradients = backward.getRegionIterArgs();
  for (auto [value, sum] :
       llvm::zip(captured, gradients.drop_front(carried.size()))) {
    inner.activate(value);
    inner.accumulate(value, sum, loc);
  }
  for (unsigned number : carried)
    inner.activate(placeholders[number]->getResult(0));
  for (auto [number, gradient] : llvm::zip(carried, gradients))
    inner.accumulate(yielded->getOperand(number), gradient, loc);
  if (failed(inner.run(ops, [](Operation *, Operation *) {})))
    return failure();
  for (unsigned number : carried) {
    Value value = inner.lookup(placeholders[number]->getResult(0));
    results.push_back(value ? value
                            : makeZeros(builder, loc, loop.getInits()[number]));
  }
  for (Value value : captured)
    results.push_back(inner.lookup(value));
  return success();
}

/// Emits one iteration forward and then backward.
LogicalResult LoopGradient::emitBody(scf::ForOp backward) {
  Block *body = backward.getBody();
  builder.setInsertionPointToStart(body);
  position = arith::SubIOp::create(builder, loc, index(bounds.count - 1),
                                   backward.getInductionVar());
  IRMapping mapping;
  Value iteration = position;
  if (bounds.step != 1)
    iteration =
        arith::MulIOp::create(builder, loc, iteration, index(bounds.step));
  if (bounds.first != 0)
    iteration =
        arith::AddIOp::create(builder, loc, iteration, index(bounds.first));
  mapping.map(loop.getInductionVar(), iteration);
  for (Value arg : loop.getRegionIterArgs()) {
    placeholders.push_back(UnrealizedConversionCastOp::create(
        builder, loc, TypeRange(arg.getType()), ValueRange()));
    mapping.map(arg, placeholders.back()->getResult(0));
  }
  SmallVector<Operation *> ops;
  for (Operation &op : loop.getBody()->without_terminator())
    ops.push_back(builder.clone(op, mapping));
  SmallVector<Value> yields, results;
  for (Value value : loop.getYieldedValues())
    yields.push_back(mapping.lookupOrDefault(value));
  // An operation holds these values, because inner loops will be replaced.
  yielded = UnrealizedConversionCastOp::create(
      builder, loc, TypeRange(builder.getIndexType()), yields);
  if (failed(sweepBody(backward, ops, results)))
    return failure();
  scf::YieldOp::create(builder, loc, results);
  if (failed(findSaved(body)))
    return failure();
  emitForward(body);
  readStacks();
  return success();
}

/// Whether computing a value again costs no more than reading it.
static bool isCheap(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>() ||
         isa<tensor::ExtractSliceOp, tensor::EmptyOp, tensor::SplatOp,
             tensor::FromElementsOp, ReshapeOp, BroadcastOp>(op) ||
         (op->getNumRegions() == 0 && op->getNumResults() == 1 &&
          op->getResult(0).getType().isIntOrIndex());
}

/// Finds the values of the iteration that the backward operations read.
LogicalResult LoopGradient::findSaved(Block *body) {
  DenseSet<Operation *> iteration;
  Operation *before = placeholders.back();
  for (Operation &op : llvm::make_range(std::next(Block::iterator(before)),
                                        Block::iterator(yielded)))
    iteration.insert(&op);
  DenseSet<Value> args;
  for (Operation *op : placeholders)
    args.insert(op->getResult(0));
  SmallVector<Value> worklist;
  for (Operation &op :
       llvm::make_range(std::next(Block::iterator(yielded)), body->end()))
    getInputs(&op, worklist);
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    Operation *op = value.getDefiningOp();
    bool isArgument = args.contains(value);
    if (!isArgument && (!op || !iteration.contains(op)))
      continue;
    if (isArgument || (values == LoopValues::Stack && !isCheap(op))) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (type && !type.hasStaticShape())
        return loop.emitOpError("has no derivative: an iteration needs a value "
                                "of type ")
               << type
               << ", expected a static shape; 'train-set-batch' gives the "
                  "batch dimension its size before the differentiation";
      saved.insert(value);
      continue;
    }
    if (kept.insert(op).second)
      getInputs(op, worklist);
  }
  return success();
}

namespace {
/// The slice of a stack that holds the item of `type` at index `number`.
struct StackSlice {
  StackSlice(RankedTensorType type, Value number, OpBuilder &builder)
      : offsets({number}), sizes({builder.getIndexAttr(1)}),
        strides(type.getRank() + 1, builder.getIndexAttr(1)) {
    offsets.resize(type.getRank() + 1, builder.getIndexAttr(0));
    for (int64_t extent : type.getShape())
      sizes.push_back(builder.getIndexAttr(extent));
  }

  SmallVector<OpFoldResult> offsets, sizes, strides;
};
} // namespace

/// Writes `item` to place `number` of `stack`.
Value LoopGradient::push(Value item, Value stack, Value number) {
  auto type = dyn_cast<RankedTensorType>(item.getType());
  if (!type)
    return tensor::InsertOp::create(builder, loc, item, stack, number);
  StackSlice slice(type, number, builder);
  return tensor::InsertSliceOp::create(builder, loc, item, stack, slice.offsets,
                                       slice.sizes, slice.strides);
}

/// Emits the loop that replaces the forward loop, with a stack of each saved
/// value. Loops within the iteration have been replaced already.
void LoopGradient::emitForward(Block *body) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop);
  SmallVector<Value> inits(loop.getInits());
  for (Value value : saved) {
    SmallVector<int64_t> shape = {bounds.count};
    Type element = value.getType();
    if (auto type = dyn_cast<RankedTensorType>(element)) {
      llvm::append_range(shape, type.getShape());
      element = type.getElementType();
    }
    inits.push_back(tensor::EmptyOp::create(builder, loc, shape, element));
  }
  forward = scf::ForOp::create(builder, loc, loop.getLowerBound(),
                               loop.getUpperBound(), loop.getStep(), inits,
                               [](OpBuilder &, Location, Value, ValueRange) {});
  forward->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  builder.setInsertionPointToStart(forward.getBody());
  IRMapping mapping;
  Value number = forward.getInductionVar();
  if (bounds.first != 0)
    number = arith::SubIOp::create(builder, loc, number, index(bounds.first));
  if (bounds.step != 1)
    number = arith::DivUIOp::create(builder, loc, number, index(bounds.step));
  mapping.map(position, number);
  for (auto [placeholder, arg] :
       llvm::zip(placeholders, forward.getRegionIterArgs()))
    mapping.map(placeholder->getResult(0), arg);
  for (Operation &op :
       llvm::make_range(std::next(Block::iterator(position.getDefiningOp())),
                        Block::iterator(yielded)))
    if (!llvm::is_contained(placeholders, &op))
      builder.clone(op, mapping);
  SmallVector<Value> results;
  for (Value value : yielded->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  for (auto [value, stack] : llvm::zip(
           saved,
           forward.getRegionIterArgs().drop_front(loop.getNumRegionIterArgs())))
    results.push_back(push(mapping.lookup(value), stack, number));
  scf::YieldOp::create(builder, loc, results);
}

/// Replaces the values of the iteration that the backward operations read by
/// the copies on the stacks of the forward loop.
void LoopGradient::readStacks() {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(placeholders.back());
  for (auto [index, value] : llvm::enumerate(saved.takeVector())) {
    Value stack = forward.getResult(loop.getNumResults() + index);
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type) {
      value.replaceAllUsesWith(
          tensor::ExtractOp::create(builder, loc, stack, position).getResult());
      continue;
    }
    StackSlice slice(type, position, builder);
    value.replaceAllUsesWith(
        tensor::ExtractSliceOp::create(builder, loc, type, stack, slice.offsets,
                                       slice.sizes, slice.strides)
            .getResult());
  }
  // A value that is not kept has only users that are not kept.
  Operation *first = placeholders.front();
  for (Operation *op = yielded, *previous = nullptr;; op = previous) {
    previous = op->getPrevNode();
    bool isFirst = op == first;
    if (op == yielded || (op->use_empty() && !kept.contains(op)))
      op->erase();
    if (isFirst)
      break;
  }
}

LogicalResult LoopGradient::run(ArrayRef<Value> resultGradients) {
  findActive();
  SmallVector<Value> inits;
  for (unsigned number : carried) {
    Value gradient = resultGradients[number];
    inits.push_back(
        gradient ? gradient : makeZeros(builder, loc, loop.getInits()[number]));
  }
  for (Value value : captured) {
    Value sum = sweep.lookup(value);
    inits.push_back(sum ? sum : makeZeros(builder, loc, value));
  }
  auto backward = scf::ForOp::create(
      builder, loc, index(0), index(bounds.count), index(1), inits,
      [](OpBuilder &, Location, Value, ValueRange) {});
  OpBuilder::InsertionGuard guard(builder);
  if (failed(emitBody(backward)))
    return failure();
  for (auto [value, sum] :
       llvm::zip(captured, backward.getResults().drop_front(carried.size())))
    sweep.assign(value, sum);
  builder.setInsertionPointAfter(backward);
  for (auto [number, gradient] : llvm::zip(carried, backward.getResults()))
    if (Value init = loop.getInits()[number]; sweep.isActive(init))
      sweep.accumulate(init, gradient, loc);
  sweep.replace(loop, forward);
  return success();
}

LogicalResult mlir::train::differentiateLoop(scf::ForOp loop,
                                             ArrayRef<Value> resultGradients,
                                             Backpropagation &sweep,
                                             OpBuilder &builder,
                                             LoopValues values) {
  auto first = getConstantIntValue(loop.getLowerBound());
  auto last = getConstantIntValue(loop.getUpperBound());
  auto step = getConstantIntValue(loop.getStep());
  if (!first || !last || !step || *step <= 0 ||
      !loop.getInductionVar().getType().isIndex())
    return loop.emitOpError("has no derivative: its trip count is not known, "
                            "expected constant bounds and a positive constant "
                            "step of type index");
  int64_t count = *last > *first ? llvm::divideCeil(*last - *first, *step) : 0;
  if (count == 0) {
    for (auto [init, gradient] : llvm::zip(loop.getInits(), resultGradients))
      if (gradient && sweep.isActive(init))
        sweep.accumulate(init, gradient, loop.getLoc());
    return success();
  }
  return LoopGradient(loop, sweep, builder, values, {*first, *step, count})
      .run(resultGradients);
}
