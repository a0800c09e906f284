//===- PlanMemory.cpp - Memory planning -----------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arena.h"
#include "amp/Support/TensorTypes.h"

#include "amp/Analysis/TensorLiveness.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Dialect/CUDA/IR/CUDA.h"
#include "amp/Dialect/CUDA/Transforms/Passes.h"
#include "amp/Runtime/CUDA/Sizes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::amp {
#define GEN_PASS_DEF_PLANMEMORY
#include "amp/Dialect/CUDA/Transforms/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::cuda;
using mlir::amp::typeOf;

/// Bytes per entry of an optimizer's table. The emitted code asserts it.
static constexpr int64_t kTableEntryBytes = 64;
/// The attribute of 'train-to-inference' on a forward function.
static constexpr StringLiteral kInferenceOfAttr = "amp.inference_of";

namespace {

/// Memory for one or more values.
struct PlannedBuffer {
  std::string name;
  RankedTensorType type;
  StringRef role;
  Location loc;
  mlir::amp::InitAttr init = {};
  /// The elements of a constant.
  ElementsAttr value = {};
  /// The index bound of a batch argument.
  IntegerAttr indexBound = {};
  /// The results that alone need it. Nothing if training needs it.
  std::optional<Reader> reader = {};
  /// The numbers of the first and last operation that use it.
  unsigned first = 0, last = 0;
  int64_t bytes = 0, offset = 0;
  Value memref = {};

  bool isPersistent() const { return !role.empty(); }
  /// Whether it follows the arena, for callers that want predictions.
  bool isForPredictions() const { return reader == Reader::Predictions; }
};

/// Makes a program of one step.
class Planner {
public:
  Planner(func::FuncOp step, const mlir::amp::StepSignature &signature)
      : step(step), signature(signature), block(step.getBody().front()),
        terminator(cast<func::ReturnOp>(block.getTerminator())),
        builder(step.getContext()) {}

  LogicalResult run();
  ProgramOp getProgram() { return program; }

  /// The sizes of the plan in bytes.
  int64_t stateBytes = 0, plannedBytes = 0, boundBytes = 0;
  /// Bytes that follow the arena, for the predictions of a training step.
  int64_t predictionBytes = 0;

private:
  void markReaders();
  Value copy(Value value, Operation *before, StringRef name);
  bool isReadAfter(Value state, Operation *op);
  bool mayUpdateInPlace(OpResult value, Value state);
  bool mayWriteOver(LaunchOpInterface launch, Value input);
  void moveUpdatesToEnd();
  void assignResults();
  void copyTiedInputs();
  LogicalResult assignTemporaries();
  void addScratch();
  void placePersistent();
  void placeTemporaries();
  /// Places the temporaries that are for predictions or not, from `begin` on.
  /// Returns their bytes, and the least bytes of any plan in `bound`.
  int64_t placeTemporaries(bool forPredictions, int64_t begin, int64_t &bound);
  void emit();
  Operation *emitLaunch(LaunchOpInterface launch, IRMapping &mapping,
                        OpBuilder &inner);

  PlannedBuffer *makeBuffer(const Twine &name, RankedTensorType type,
                            StringRef role, Location loc);
  Value getRoot(Value value);
  std::string getUniqueName(const Twine &name);

  func::FuncOp step;
  const mlir::amp::StepSignature &signature;
  Block &block;
  func::ReturnOp terminator;
  OpBuilder builder;
  std::vector<std::unique_ptr<PlannedBuffer>> buffers;
  /// The memory of arguments and launch results.
  DenseMap<Value, PlannedBuffer *> bufferOf;
  /// Scratch memory of launches.
  DenseMap<Operation *, PlannedBuffer *> scratchOf;
  llvm::StringSet<> names;
  ProgramOp program;
};

} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value Planner::getRoot(Value value) {
  while (auto view = value.getDefiningOp<ViewOp>())
    value = view.getSource();
  return value;
}

std::string Planner::getUniqueName(const Twine &name) {
  std::string base = name.str(), unique = base;
  for (unsigned next = 2; !names.insert(unique).second; ++next)
    unique = base + "_" + std::to_string(next);
  return unique;
}

PlannedBuffer *Planner::makeBuffer(const Twine &name, RankedTensorType type,
                                   StringRef role, Location loc) {
  buffers.push_back(std::make_unique<PlannedBuffer>(
      PlannedBuffer{name.str(), type, role, loc}));
  buffers.back()->bytes = getBytes(type);
  return buffers.back().get();
}

static bool isConstantTensor(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  return constant && isa<DenseIntOrFPElementsAttr>(constant.getValue());
}

/// Creates a launch that copies `value`.
Value Planner::copy(Value value, Operation *before, StringRef name) {
  builder.setInsertionPoint(before);
  auto type = typeOf(value);
  AffineMap map = builder.getMultiDimIdentityMap(type.getRank());
  auto kernel = KernelOp::create(builder, value.getLoc(), type,
                                 builder.getStringAttr(name), value,
                                 ValueRange(), ValueRange(), Value(),
                                 builder.getDenseI64ArrayAttr(type.getShape()),
                                 builder.getAffineMapArrayAttr({map, map}),
                                 DenseI64ArrayAttr(), CombineAttr());
  Block &body = kernel.getBody().emplaceBlock();
  Value element = body.addArgument(type.getElementType(), value.getLoc());
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  YieldOp::create(inner, value.getLoc(), element);
  return kernel.getResult(0);
}

/// Whether a launch after `op` reads `state` or a view of it.
bool Planner::isReadAfter(Value state, Operation *op) {
  return llvm::any_of(state.getUsers(), [&](Operation *user) {
    if (auto view = dyn_cast<ViewOp>(user))
      return isReadAfter(view.getResult(), op);
    return user != terminator && op->isBeforeInBlock(user);
  });
}

/// Whether the launch of `value` may write it over `state`.
bool Planner::mayUpdateInPlace(OpResult value, Value state) {
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

/// Moves launches that work in place, and whose results only the return uses,
/// to the end. The last reads of old values then come before them.
void Planner::moveUpdatesToEnd() {
  SmallVector<Operation *> updates;
  for (auto launch : block.getOps<LaunchOpInterface>())
    if (launch.getTiedInput(0) &&
        llvm::all_of(launch->getUsers(),
                     [&](Operation *user) { return user == terminator; }))
      updates.push_back(launch);
  for (Operation *update : updates)
    update->moveBefore(terminator);
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
void Planner::markReaders() {
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
    if (source && source->getNextNode() != &op)
      op.moveAfter(source);
    if (isa<LaunchOpInterface>(op))
      op.setAttr(kReaderAttr,
                 ReaderAttr::get(op.getContext(), need->second == Kind::Metric
                                                      ? Reader::Metrics
                                                      : Reader::Predictions));
  }
}

void Planner::assignResults() {
  for (const mlir::amp::StepArgument &argument : signature.arguments) {
    BlockArgument value = block.getArgument(argument.index);
    PlannedBuffer *buffer =
        makeBuffer(argument.name, argument.type,
                   mlir::amp::stringifyRole(argument.role), value.getLoc());
    buffer->init = argument.init;
    buffer->indexBound =
        step.getArgAttrOfType<IntegerAttr>(argument.index, kIndexBoundAttr);
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

/// Whether `launch`, which works in place on `input`, may overwrite it. It must
/// be the last and only reader, and the input must need no separate memory.
bool Planner::mayWriteOver(LaunchOpInterface launch, Value input) {
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
void Planner::copyTiedInputs() {
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

static std::string getTargetName(LaunchOpInterface launch, unsigned target) {
  return launch.getName().value_or("value").str() +
         launch.getTargetSuffix(target);
}

LogicalResult Planner::assignTemporaries() {
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
      if (!buffer) {
        // Reuse the memory of an input that is read for the last time, if the
        // launch allows it.
        for (auto [index, input] : llvm::enumerate(launch.getInputs())) {
          PlannedBuffer *other = bufferOf.lookup(getRoot(input));
          if (other && !other->isPersistent() && other->last == numbers[&op] &&
              other->reader == getReader(launch) &&
              other->type == result.getType() &&
              launch.mayAlias(target, index) &&
              llvm::none_of(launch.getResults(), [&](Value sibling) {
                return bufferOf.lookup(sibling) == other;
              })) {
            buffer = other;
            break;
          }
        }
      }
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
  return success();
}

void Planner::addScratch() {
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
                 bytesType(entries * kTableEntryBytes), "table", op.getLoc());
  }
  if (hasArrivalCounters)
    makeBuffer("arrival_counters", bytesType(::amp::cuda::kArrivalCounterBytes),
               "arrival_counters", step.getLoc());
  if (hasProducts)
    makeBuffer("workspace", bytesType(::amp::cuda::kGemmWorkspaceBytes),
               "workspace", step.getLoc());
}

//===----------------------------------------------------------------------===//
// Placement
//===----------------------------------------------------------------------===//

/// Places states first, in the order of the arguments.
void Planner::placePersistent() {
  for (std::unique_ptr<PlannedBuffer> &buffer : buffers) {
    if (!buffer->isPersistent() || buffer->isForPredictions())
      continue;
    buffer->offset = stateBytes;
    stateBytes += alignTo(buffer->bytes, CUDADialect::kAlignment);
  }
}

int64_t Planner::placeTemporaries(bool forPredictions, int64_t begin,
                                  int64_t &bound) {
  SmallVector<ArenaRange> ranges;
  SmallVector<PlannedBuffer *> placed;
  for (std::unique_ptr<PlannedBuffer> &buffer : buffers)
    if (!buffer->isPersistent() &&
        buffer->isForPredictions() == forPredictions) {
      ranges.push_back({alignTo(buffer->bytes, CUDADialect::kAlignment),
                        buffer->first, buffer->last, 0});
      placed.push_back(buffer.get());
    }
  bound = getMostBytesInUse(ranges);
  int64_t bytes = placeInArena(ranges, bound);
  for (auto [range, buffer] : llvm::zip_equal(ranges, placed))
    buffer->offset = begin + range.offset;
  return bytes;
}

void Planner::placeTemporaries() {
  plannedBytes =
      placeTemporaries(/*forPredictions=*/false, stateBytes, boundBytes);
  int64_t end = stateBytes + plannedBytes, bound = 0;
  for (std::unique_ptr<PlannedBuffer> &buffer : buffers)
    if (buffer->isPersistent() && buffer->isForPredictions()) {
      buffer->offset = end + predictionBytes;
      predictionBytes += alignTo(buffer->bytes, CUDADialect::kAlignment);
    }
  predictionBytes +=
      placeTemporaries(/*forPredictions=*/true, end + predictionBytes, bound);
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

static MemRefType getBufferType(RankedTensorType type) {
  return MemRefType::get(type.getShape(), type.getElementType());
}

Operation *Planner::emitLaunch(LaunchOpInterface launch, IRMapping &mapping,
                               OpBuilder &inner) {
  // Returns a value, or its buffer in the shape of the value.
  auto lookup = [&](Value value) -> Value {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    Value buffer = bufferOf[getRoot(value)]->memref;
    auto type = getBufferType(typeOf(value));
    if (buffer.getType() != type)
      buffer = ViewOp::create(inner, value.getLoc(), type, buffer);
    mapping.map(value, buffer);
    return buffer;
  };
  SmallVector<Value> operands;
  int32_t numInputs = launch.getInputs().size(),
          numOutputs = launch.getNumTargets(), numScratch = 0;
  for (Value input : launch.getInputs())
    operands.push_back(lookup(input));
  for (Value result : launch.getResults())
    operands.push_back(lookup(result));
  if (PlannedBuffer *scratch = scratchOf.lookup(launch)) {
    operands.push_back(scratch->memref);
    numScratch = 1;
  }
  int32_t numPredicates = 0;
  if (Value predicate = launch.getPredicate()) {
    operands.push_back(lookup(predicate));
    numPredicates = 1;
  }
  OperationState state(launch.getLoc(), launch->getName());
  state.addOperands(operands);
  NamedAttrList attributes(launch->getAttrDictionary());
  attributes.set("operandSegmentSizes",
                 inner.getDenseI32ArrayAttr(
                     {numInputs, numOutputs, numScratch, numPredicates}));
  for (NamedAttribute attribute : launch->getDiscardableAttrs())
    if (attribute.getName() != kReaderAttr)
      attributes.erase(attribute.getName());
  state.addAttributes(attributes);
  for (unsigned index = 0; index < launch->getNumRegions(); ++index)
    state.addRegion();
  Operation *made = inner.create(state);
  IRMapping bodies;
  for (auto [from, to] :
       llvm::zip_equal(launch->getRegions(), made->getRegions()))
    from.cloneInto(&to, bodies);
  // Captured tensors have become buffers.
  for (Region &region : made->getRegions())
    for (Block &body : region)
      for (BlockArgument argument : body.getArguments()) {
        auto type = dyn_cast<RankedTensorType>(argument.getType());
        if (!type)
          continue;
        argument.setType(getBufferType(type));
        for (Operation *user :
             llvm::make_early_inc_range(argument.getUsers())) {
          auto extract = cast<tensor::ExtractOp>(user);
          OpBuilder rewriter(extract);
          Value loaded = memref::LoadOp::create(rewriter, extract.getLoc(),
                                                argument, extract.getIndices());
          extract.getResult().replaceAllUsesWith(loaded);
          extract.erase();
        }
      }
  return made;
}

void Planner::emit() {
  builder.setInsertionPoint(step);
  program = ProgramOp::create(
      builder, step.getLoc(), builder.getStringAttr(step.getName()),
      builder.getI64IntegerAttr(stateBytes + plannedBytes),
      builder.getI64IntegerAttr(stateBytes + boundBytes),
      predictionBytes ? builder.getI64IntegerAttr(stateBytes + plannedBytes +
                                                  predictionBytes)
                      : IntegerAttr(),
      FlatSymbolRefAttr(), ArrayAttr(), StateAttr());
  OpBuilder inner = OpBuilder::atBlockEnd(&program.getBody().emplaceBlock());
  for (bool persistent : {true, false})
    for (std::unique_ptr<PlannedBuffer> &buffer : buffers) {
      if (buffer->isPersistent() != persistent || buffer->name.empty())
        continue;
      buffer->memref = BufferOp::create(
          inner, buffer->loc, getBufferType(buffer->type),
          inner.getStringAttr(buffer->name),
          inner.getI64IntegerAttr(buffer->offset),
          persistent ? inner.getStringAttr(buffer->role) : StringAttr(),
          buffer->init, buffer->value, buffer->indexBound);
    }
  IRMapping mapping;
  for (Operation &op : block)
    if (auto launch = dyn_cast<LaunchOpInterface>(op))
      emitLaunch(launch, mapping, inner);
}

LogicalResult Planner::run() {
  for (Operation &op : block.without_terminator())
    if (!isa<LaunchOpInterface, ViewOp>(op) && !isConstantTensor(&op))
      return op.emitOpError("is in a step that becomes a program; "
                            "expected 'convert-train-to-cuda' to have lowered "
                            "it");
  moveUpdatesToEnd();
  markReaders();
  assignResults();
  copyTiedInputs();
  // Choose names for launches. Copies have been added.
  llvm::StringSet<> taken;
  for (Operation &op : block)
    if (auto launch = dyn_cast<LaunchOpInterface>(op)) {
      // Copies take the names of states and metrics. Launches become functions.
      std::string base = launch.getName().value_or("launch").str();
      for (char &c : base)
        c = llvm::isAlnum(c) ? c : '_';
      if (base.empty() || llvm::isDigit(base.front()) || isReservedName(base))
        base = "launch_" + base;
      std::string name = base;
      for (unsigned next = 2; !taken.insert(name).second; ++next)
        name = base + "_" + std::to_string(next);
      op.setAttr("name", builder.getStringAttr(name));
    }
  if (failed(assignTemporaries()))
    return failure();
  addScratch();
  placePersistent();
  placeTemporaries();
  emit();
  step.erase();
  return success();
}

namespace {

struct PlanMemory : mlir::amp::impl::PlanMemoryBase<PlanMemory> {
  using PlanMemoryBase::PlanMemoryBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<cuda::CUDADialect, memref::MemRefDialect>();
  }

  void runOnOperation() override {
    // A forward function is judged as the step that it derives from.
    llvm::StringMap<ArrayAttr> evaluations;
    for (auto step : getOperation().getOps<func::FuncOp>())
      if (auto rules = step->getAttrOfType<ArrayAttr>(kEvaluationAttr))
        evaluations[step.getName()] = rules;
    for (auto step :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (step.isExternal() || !mlir::amp::isStepFunction(step))
        continue;
      FailureOr<mlir::amp::StepSignature> signature =
          mlir::amp::StepSignature::get(step);
      if (failed(signature) || !step.getBody().hasOneBlock())
        return signalPassFailure();
      std::string name = step.getName().str();
      Location loc = step.getLoc();
      auto source = step->getAttrOfType<StringAttr>(kInferenceOfAttr);
      auto state = step->getAttrOfType<StateAttr>(kStateAttr);
      Planner planner(step, *signature);
      if (failed(planner.run()))
        return signalPassFailure();
      if (source) {
        planner.getProgram().setInferenceOfAttr(FlatSymbolRefAttr::get(source));
        planner.getProgram().setEvaluationAttr(
            evaluations.lookup(source.getValue()));
      } else if (state) {
        planner.getProgram().setStateAttr(state);
      }
      stateBytes += planner.stateBytes;
      plannedBytes += planner.plannedBytes;
      boundBytes += planner.boundBytes;
      if (report) {
        double ratio = planner.boundBytes
                           ? double(planner.plannedBytes) / planner.boundBytes
                           : 1.0;
        emitRemark(loc) << "'" << name << "': " << planner.stateBytes
                        << " bytes of state, " << planner.plannedBytes
                        << " bytes planned for values of which at most "
                        << planner.boundBytes << " are in use at one time: "
                        << llvm::formatv("{0:f3}", ratio).str() << " times";
        if (planner.predictionBytes)
          emitRemark(loc) << "'" << name << "': " << planner.predictionBytes
                          << " bytes more for a caller that wants predictions "
                             "of training steps";
      }
    }
  }
};

} // namespace
