//===- PlanValues.cpp - Chooses the memory of each value ------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryPlanner.h"

#include "amp/Analysis/TensorLiveness.h"
#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h"
#include "amp/Runtime/CUDA/Sizes.h"
#include "amp/Support/TensorTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::cuda;
using mlir::amp::typeOf;

/// Creates a launch that copies `value`.
Value MemoryPlanner::copy(Value value, Operation *before, StringRef name) {
  builder.setInsertionPoint(before);
  auto type = typeOf(value);
  AffineMap map = builder.getMultiDimIdentityMap(type.getRank());
  auto kernel = KernelOp::create(
      builder, value.getLoc(), type, builder.getStringAttr(name), value,
      ValueRange(), ValueRange(), Value(),
      builder.getDenseI64ArrayAttr(type.getShape()),
      builder.getAffineMapArrayAttr({map, map}), DenseI64ArrayAttr(),
      CombineAttr(), QuantizationAttr());
  Block &body = kernel.getBody().emplaceBlock();
  Value element = body.addArgument(type.getElementType(), value.getLoc());
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  YieldOp::create(inner, value.getLoc(), element);
  return kernel.getResult(0);
}

/// Whether a launch after `op` reads `state` or a view of it.
bool MemoryPlanner::isReadAfter(Value state, Operation *op) {
  return llvm::any_of(state.getUsers(), [&](Operation *user) {
    if (isa<ViewOp, UpperHalfOp>(user))
      return isReadAfter(user->getResult(0), op);
    return user != terminator && op->isBeforeInBlock(user);
  });
}

/// Whether the launch of `value` may write it over `state`.
bool MemoryPlanner::mayUpdateInPlace(OpResult value, Value state) {
  auto launch = cast<LaunchOpInterface>(value.getOwner());
  if (getBytes(typeOf(value)) != getBytes(typeOf(state)) ||
      isReadAfter(state, launch))
    return false;
  for (auto [index, input] : llvm::enumerate(launch.getInputs()))
    if (getRoot(input) == state &&
        !launch.mayAlias(value.getResultNumber(), index))
      return false;
  return !launch.getPredicate() || getRoot(launch.getPredicate()) != state;
}

//===----------------------------------------------------------------------===//
// Placement of values
//===----------------------------------------------------------------------===//

/// Whether `op` only counts values.
static bool countsValues(Operation *op) {
  auto kernel = dyn_cast<KernelOp>(op);
  return kernel && kernel.isStatistics();
}

/// Moves launches that work in place to the end if only the return and kernels
/// that count use their results. Updates of the scales of 8-bit weights move
/// too if moved launches read them. The last reads of the old values then come
/// before all of these. The kernels that count follow their launches.
void MemoryPlanner::moveUpdatesToEnd() {
  llvm::SetVector<Operation *> updates;
  for (Operation &op : llvm::reverse(block))
    if (auto launch = dyn_cast<LaunchOpInterface>(op);
        launch && launch.getTiedInput(0) &&
        llvm::all_of(op.getUsers(), [&](Operation *user) {
          return user == terminator || countsValues(user) ||
                 (isa<UpdateQuantizerOp>(op) && updates.contains(user));
        }))
      updates.insert(&op);
  for (Operation *update : llvm::reverse(updates)) {
    update->moveBefore(terminator);
    for (Operation *user : update->getUsers())
      if (user != terminator)
        user->moveBefore(terminator);
  }
}

/// Moves the launches that compute new states behind the last call of the
/// caller, so that all states are unchanged after a call that fails. Statistics
/// of the forward pass stay where they are.
void MemoryPlanner::moveUpdatesBehindCalls() {
  Operation *last = nullptr;
  for (auto call : block.getOps<CallOp>())
    last = call;
  if (!last)
    return;
  llvm::DenseSet<Operation *> moved;
  for (const mlir::amp::StepResult &result : signature.results)
    if (result.kind == mlir::amp::ResultKind::Update &&
        signature.arguments[result.argument].role !=
            mlir::amp::Role::ModelState)
      moved.insert(
          getRoot(terminator.getOperand(result.index)).getDefiningOp());
  SmallVector<Operation *> ordered;
  for (Operation &op : llvm::make_range(block.begin(), last->getIterator())) {
    const bool follows = llvm::any_of(op.getOperands(), [&](Value operand) {
      return operand.getDefiningOp() && moved.contains(operand.getDefiningOp());
    });
    if (!follows && !moved.contains(&op))
      continue;
    // A call that reads a new state cannot come before it.
    if (isa<CallOp>(op))
      return;
    moved.insert(&op);
    ordered.push_back(&op);
  }
  if (llvm::any_of(last->getOperands(), [&](Value operand) {
        return operand.getDefiningOp() &&
               moved.contains(operand.getDefiningOp());
      }))
    return;
  for (Operation *op : ordered) {
    op->moveAfter(last);
    last = op;
  }
}

/// Returns the latest of the operations that compute the operands of `op`, or
/// null.
static Operation *getLastSource(Operation *op) {
  Operation *last = nullptr;
  for (Value operand : op->getOperands())
    if (Operation *source = operand.getDefiningOp())
      if (!last || last->isBeforeInBlock(source))
        last = source;
  return last;
}

/// Marks the launches that only metrics or predictions need, and moves them to
/// the values that they read, so that these live no longer because of them. A
/// prediction that something else reads too is copied: its own buffer is
/// optional. Without updates nothing is optional.
void MemoryPlanner::markReaders() {
  using Kind = mlir::amp::ResultKind;
  if (llvm::none_of(signature.results, [](const auto &result) {
        return result.kind == Kind::Update;
      }))
    return;
  // From the results that training needs to those that it needs least: the
  // first mark of a launch is final.
  DenseMap<Operation *, Kind> needs;
  for (Kind kind : {Kind::Update, Kind::Metric, Kind::Prediction}) {
    SmallVector<Value> worklist;
    // All ranks run all collectives, and may read the results of other steps.
    for (auto launch : block.getOps<LaunchOpInterface>())
      if (kind == Kind::Update && launch.isCollective())
        llvm::append_range(worklist, launch.getResults());
    for (const mlir::amp::StepResult &result : signature.results)
      if (result.kind == kind)
        worklist.push_back(terminator.getOperand(result.index));
    while (!worklist.empty())
      if (Operation *op = worklist.pop_back_val().getDefiningOp();
          op && needs.try_emplace(op, kind).second)
        llvm::append_range(worklist, op->getOperands());
  }
  llvm::DenseSet<Value> kept;
  for (const mlir::amp::StepResult &result : signature.results) {
    if (result.kind != Kind::Prediction)
      continue;
    Value value = terminator.getOperand(result.index), root = getRoot(value);
    Operation *source = value.getDefiningOp();
    if (isa_and_present<LaunchOpInterface>(root.getDefiningOp()) &&
        needs.lookup(root.getDefiningOp()) == Kind::Prediction &&
        kept.insert(root).second)
      continue;
    Value copied = copy(value, source ? source->getNextNode() : &block.front(),
                        result.name);
    needs[copied.getDefiningOp()] = Kind::Prediction;
    terminator.setOperand(result.index, copied);
  }
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    auto need = needs.find(&op);
    if (need == needs.end() || need->second == Kind::Update)
      continue;
    Operation *source = getLastSource(&op);
    // The launches that follow a collective run next to it.
    auto collective = dyn_cast_or_null<LaunchOpInterface>(source);
    if (source && source->getNextNode() != &op &&
        !(collective && collective.isCollective()))
      op.moveAfter(source);
    if (isa<LaunchOpInterface>(op))
      op.setAttr(kReaderAttr,
                 ReaderAttr::get(op.getContext(), need->second == Kind::Metric
                                                      ? Reader::Metrics
                                                      : Reader::Predictions));
  }
}

void MemoryPlanner::assignResults() {
  for (const mlir::amp::StepArgument &argument : signature.arguments) {
    BlockArgument value = block.getArgument(argument.index);
    PlannedBuffer *buffer =
        makeBuffer(argument.name, argument.type,
                   mlir::amp::stringifyRole(argument.role), value.getLoc());
    buffer->init = argument.init;
    buffer->indexBound =
        step.getArgAttrOfType<IntegerAttr>(argument.index, kIndexBoundAttr);
    buffer->isCumulative =
        bool(step.getArgAttr(argument.index, kCumulativeAttr));
    buffer->partOf =
        step.getArgAttrOfType<TypeAttr>(argument.index, mlir::amp::kPartOfAttr);
    buffer->isSplit = bool(step.getArgAttr(argument.index, kSplitAttr));
    names.insert(buffer->name);
    bufferOf[value] = buffer;
  }
  for (auto constant : block.getOps<arith::ConstantOp>()) {
    PlannedBuffer *buffer =
        makeBuffer(getUniqueName("constant"), typeOf(constant), "constant",
                   constant.getLoc());
    buffer->value = cast<ElementsAttr>(constant.getValue());
    bufferOf[constant] = buffer;
  }
  // Process updates first. A value that cannot be written in place is copied at
  // the end. Its source is saved before the first of these copies.
  SmallVector<std::pair<Value, PlannedBuffer *>> late;
  for (const mlir::amp::StepResult &result : signature.results) {
    if (result.kind != mlir::amp::ResultKind::Update)
      continue;
    Value state = block.getArgument(result.argument);
    Value value = getRoot(terminator.getOperand(result.index));
    if (value == state)
      continue;
    auto produced = dyn_cast<OpResult>(value);
    if (produced && !bufferOf.contains(value) &&
        mayUpdateInPlace(produced, state)) {
      bufferOf[value] = bufferOf[state];
      continue;
    }
    // Save an old value before another state overwrites it.
    if (!produced)
      value = copy(value, terminator, "save");
    late.push_back({value, bufferOf[state]});
  }
  for (auto [value, buffer] : late) {
    Value copied = copy(value, terminator, "update");
    bufferOf[copied] = buffer;
  }
  Operation *start = &block.front();
  for (const mlir::amp::StepResult &result : signature.results) {
    if (result.kind == mlir::amp::ResultKind::Update)
      continue;
    Value value = terminator.getOperand(result.index);
    bool isMetric = result.kind == mlir::amp::ResultKind::Metric;
    PlannedBuffer *buffer =
        makeBuffer(result.name, result.type, isMetric ? "metric" : "prediction",
                   value.getLoc());
    Value root = getRoot(value);
    if (auto launch = root.getDefiningOp<LaunchOpInterface>())
      buffer->reader = getReader(launch);
    if (bufferOf.contains(root) || isa<BlockArgument>(root)) {
      // An old value is read before the launches that may overwrite it.
      Value copied = copy(value, isa<BlockArgument>(root) ? start : terminator,
                          result.name);
      if (buffer->reader)
        copied.getDefiningOp()->setAttr(
            kReaderAttr, root.getDefiningOp()->getAttr(kReaderAttr));
      bufferOf[copied] = buffer;
      continue;
    }
    bufferOf[root] = buffer;
  }
}

static std::string getTargetName(LaunchOpInterface launch, unsigned target) {
  return launch.getName().value_or("value").str() +
         launch.getTargetSuffix(target);
}

/// Assigns memory that persists from step to step to the copies of states that
/// one launch computes again and another launch updates in place.
void MemoryPlanner::keepCopies() {
  for (auto launch : block.getOps<LaunchOpInterface>())
    for (unsigned target = 0; target < launch.getNumTargets(); ++target) {
      std::optional<unsigned> tied = launch.getTiedInput(target);
      auto copied =
          tied ? dyn_cast<OpResult>(launch.getInputs()[*tied]) : OpResult();
      auto source = copied ? dyn_cast<LaunchOpInterface>(copied.getOwner())
                           : LaunchOpInterface();
      if (!source || !refreshes(source))
        continue;
      bufferOf[copied] = bufferOf[launch.getResults()[target]] = makeBuffer(
          getUniqueName(getTargetName(source, copied.getResultNumber())),
          typeOf(copied), "copy", copied.getLoc());
    }
}

/// Whether `launch`, which works in place on `input`, may overwrite it. It must
/// be the last and only reader, and the input must need no separate memory.
bool MemoryPlanner::mayWriteOver(LaunchOpInterface launch, Value input) {
  Value root = getRoot(input);
  Operation *source = root.getDefiningOp();
  return isa_and_present<LaunchOpInterface>(source) &&
         !bufferOf.contains(root) && !isReadAfter(root, launch) &&
         llvm::count_if(launch->getOperands(), [&](Value operand) {
           return getRoot(operand) == root;
         }) == 1;
}

/// Inserts a copy for each launch that works in place on a value that is needed
/// later or is placed elsewhere.
void MemoryPlanner::copyTiedInputs() {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto launch = dyn_cast<LaunchOpInterface>(op);
    if (!launch)
      continue;
    for (unsigned target = 0; target < launch.getNumTargets(); ++target) {
      std::optional<unsigned> tied = launch.getTiedInput(target);
      if (!tied)
        continue;
      Value result = launch.getResults()[target],
            input = launch.getInputs()[*tied];
      PlannedBuffer *place = bufferOf.lookup(result);
      if (place && bufferOf.lookup(getRoot(input)) == place)
        continue;
      if (!place && mayWriteOver(launch, input)) {
        bufferOf[getRoot(input)] = bufferOf[result] =
            makeBuffer("", typeOf(result), "", result.getLoc());
        continue;
      }
      Value copied = copy(input, &op, "copy");
      // Inputs are the first operands of every launch.
      op.setOperand(*tied, copied);
      if (place)
        bufferOf[copied] = place;
      else
        bufferOf[copied] = bufferOf[result] =
            makeBuffer("", typeOf(result), "", result.getLoc());
    }
  }
}

PlannedBuffer *MemoryPlanner::findReusable(LaunchOpInterface launch,
                                           unsigned target, unsigned number) {
  Value result = launch.getResults()[target];
  for (auto [index, input] : llvm::enumerate(launch.getInputs())) {
    PlannedBuffer *other = bufferOf.lookup(getRoot(input));
    if (other && !other->isPersistent() && other->last == number &&
        other->reader == getReader(launch) && other->type == result.getType() &&
        launch.mayAlias(target, index) &&
        llvm::none_of(launch.getResults(), [&](Value sibling) {
          return bufferOf.lookup(sibling) == other;
        }))
      return other;
  }
  return nullptr;
}

LogicalResult MemoryPlanner::assignTemporaries() {
  FailureOr<mlir::amp::TensorLiveness> liveness =
      mlir::amp::TensorLiveness::compute(step);
  if (failed(liveness))
    return failure();
  DenseMap<Value, mlir::amp::TensorRange> ranges;
  for (const mlir::amp::TensorRange &range : liveness->getRanges())
    ranges.insert({range.value, range});
  DenseMap<Operation *, unsigned> numbers;
  for (Operation &op : block)
    numbers[&op] = numbers.size();

  auto extend = [](PlannedBuffer *buffer, const mlir::amp::TensorRange &range) {
    buffer->first = std::min(buffer->first, range.definition);
    buffer->last = std::max(buffer->last, range.lastUse);
  };
  for (Operation &op : block) {
    auto launch = dyn_cast<LaunchOpInterface>(op);
    if (!launch)
      continue;
    for (auto [target, result] : llvm::enumerate(launch.getResults())) {
      const mlir::amp::TensorRange &range = ranges.find(result)->second;
      PlannedBuffer *buffer = bufferOf.lookup(result);
      if (!buffer)
        buffer = findReusable(launch, target, numbers[&op]);
      if (!buffer) {
        buffer = makeBuffer("", typeOf(result), "", result.getLoc());
        buffer->first = range.definition;
        buffer->last = range.lastUse;
        buffer->reader = getReader(launch);
      }
      bufferOf[result] = buffer;
      if (buffer->isPersistent())
        continue;
      if (buffer->name.empty()) {
        buffer->name = getUniqueName(getTargetName(launch, target));
        buffer->first = range.definition;
      }
      extend(buffer, range);
    }
  }
  keepInputsOfCollectives(numbers);
  return success();
}

LogicalResult MemoryPlanner::updatePredictionRanges() {
  FailureOr<mlir::amp::TensorLiveness> liveness =
      mlir::amp::TensorLiveness::compute(step);
  if (failed(liveness))
    return failure();
  auto isMoved = [](PlannedBuffer *buffer) {
    return buffer && !buffer->isPersistent() && buffer->isForPredictions();
  };
  for (std::unique_ptr<PlannedBuffer> &buffer : buffers)
    if (isMoved(buffer.get())) {
      buffer->first = ~0u;
      buffer->last = 0;
    }
  auto extend = [](PlannedBuffer *buffer, unsigned first, unsigned last) {
    buffer->first = std::min(buffer->first, first);
    buffer->last = std::max(buffer->last, last);
  };
  for (const mlir::amp::TensorRange &range : liveness->getRanges())
    if (PlannedBuffer *buffer = bufferOf.lookup(range.value); isMoved(buffer))
      extend(buffer, range.definition, range.lastUse);
  for (auto [number, op] : llvm::enumerate(block))
    if (PlannedBuffer *buffer = scratchOf.lookup(&op); isMoved(buffer))
      extend(buffer, number, number);
  return success();
}

/// Keeps the inputs of each collective at least until something reads its
/// results. Otherwise the launches that reuse this memory would wait.
void MemoryPlanner::keepInputsOfCollectives(
    const DenseMap<Operation *, unsigned> &numbers) {
  for (auto launch : block.getOps<LaunchOpInterface>()) {
    if (!launch.isCollective())
      continue;
    unsigned read = numbers.lookup(terminator);
    for (Operation *user : launch->getUsers())
      read = std::min(read, numbers.lookup(user));
    for (Value input : launch.getInputs())
      if (PlannedBuffer *buffer = bufferOf.lookup(getRoot(input));
          buffer && !buffer->isPersistent())
        buffer->last = std::max(buffer->last, read);
  }
}

/// Assigns the values that one collective reduces in place to one bucket, so
/// that one call exchanges their memory.
void MemoryPlanner::joinBuckets() {
  for (auto reduce : block.getOps<AllReduceOp>()) {
    ++numBuckets;
    for (Value result : reduce->getResults())
      if (PlannedBuffer *buffer = bufferOf.lookup(result);
          buffer && !buffer->isPersistent() && !buffer->bucket)
        buffer->bucket = numBuckets;
  }
}

/// Reserves memory after each value that the ranks do not divide evenly, so
/// that all parts have the same size.
void MemoryPlanner::reserveParts() {
  for (auto launch : block.getOps<LaunchOpInterface>()) {
    const bool gathers = isa<AllGatherOp>(launch.getOperation());
    if (!gathers && !isa<ReduceScatterOp>(launch.getOperation()))
      continue;
    for (auto [input, result] :
         llvm::zip_equal(launch.getInputs(), launch.getResults())) {
      Value whole = gathers ? result : input, part = gathers ? input : result;
      PlannedBuffer *buffer = bufferOf.lookup(getRoot(whole));
      buffer->bytes = std::max(buffer->bytes, ranks * getBytes(typeOf(part)));
    }
  }
}

void MemoryPlanner::addScratch() {
  unsigned number = 0;
  auto bytesType = [&](int64_t bytes) {
    return RankedTensorType::get({bytes}, builder.getI8Type());
  };
  bool hasProducts = false, hasArrivalCounters = false;
  for (Operation &op : block) {
    unsigned position = number++;
    auto launch = dyn_cast<LaunchOpInterface>(op);
    if (!launch)
      continue;
    hasProducts |= launch.isProduct() && !launch.usesCuDNN();
    StringRef name = launch.getName().value_or("launch");
    int64_t bytes = launch.getScratchBytes();
    if (bytes > 0) {
      hasArrivalCounters |= !launch.isProduct();
      PlannedBuffer *buffer = makeBuffer(getUniqueName(name + ".scratch"),
                                         bytesType(bytes), "", op.getLoc());
      buffer->first = buffer->last = position;
      buffer->reader = getReader(launch);
      scratchOf[&op] = buffer;
    }
    int64_t entries = launch.getNumTableEntries();
    if (entries > 0)
      makeBuffer(getUniqueName(name + ".table"),
                 bytesType(entries * CUDADialect::kTableEntryBytes), "table",
                 op.getLoc());
    auto optimizer = dyn_cast<OptimizerOp>(op);
    if (int64_t copies =
            optimizer ? optimizer.getQuantizedParameters().size() : 0)
      makeBuffer(getUniqueName(name + ".quantized"),
                 bytesType(copies * CUDADialect::kQuantizedEntryBytes), "table",
                 op.getLoc());
  }
  if (hasArrivalCounters)
    makeBuffer("arrival_counters", bytesType(::amp::cuda::kArrivalCounterBytes),
               "arrival_counters", step.getLoc());
  if (hasProducts)
    makeBuffer("workspace", bytesType(::amp::cuda::kGemmWorkspaceBytes),
               "workspace", step.getLoc());
}
