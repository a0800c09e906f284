//===- CUDAPlanMemory.cpp - From launches over tensors to programs --------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDAArena.h"
#include "TensorTypes.h"

#include "amp/Analysis/TensorLiveness.h"
#include "amp/Conversion/Passes.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Dialect/CUDA/IR/CUDA.h"
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
#include "amp/Conversion/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::cuda;

/// Bytes of an entry of an optimizer's table; the emitted text asserts it.
static constexpr int64_t kTableEntryBytes = 64;
/// The note of 'train-to-inference' on a forward function.
static constexpr StringLiteral kInferenceOfAttr = "amp.inference_of";

namespace {

/// Memory for one or more values.
struct Slot {
  std::string name;
  RankedTensorType type;
  StringRef role;
  Location loc;
  mlir::amp::InitAttr init = {};
  /// Of a constant.
  ElementsAttr value = {};
  /// Of a batch argument.
  IntegerAttr indexBound = {};
  /// The numbers of the operations between which it is in use.
  unsigned first = 0, last = 0;
  int64_t bytes = 0, offset = 0;
  Value buffer = {};

  bool isPersistent() const { return !role.empty(); }
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

  /// What the plan takes, in bytes.
  int64_t stateBytes = 0, plannedBytes = 0, boundBytes = 0;

private:
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
  void emit();
  Operation *emitLaunch(LaunchOpInterface launch, IRMapping &mapping,
                        OpBuilder &inner);

  Slot *makeSlot(const Twine &name, RankedTensorType type, StringRef role,
                 Location loc);
  Value getRoot(Value value);
  std::string getUniqueName(const Twine &name);

  func::FuncOp step;
  const mlir::amp::StepSignature &signature;
  Block &block;
  func::ReturnOp terminator;
  OpBuilder builder;
  std::vector<std::unique_ptr<Slot>> slots;
  /// The memory of arguments and launch results.
  DenseMap<Value, Slot *> slotOf;
  /// Scratch memory of launches.
  DenseMap<Operation *, Slot *> scratchOf;
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

Slot *Planner::makeSlot(const Twine &name, RankedTensorType type,
                        StringRef role, Location loc) {
  slots.push_back(std::make_unique<Slot>(Slot{name.str(), type, role, loc}));
  slots.back()->bytes = getBytes(type);
  return slots.back().get();
}

static bool isConstantTensor(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  return constant && isa<DenseIntOrFPElementsAttr>(constant.getValue());
}

/// A launch that copies `value`.
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

/// Whether a launch behind `op` reads `state` or a view of it.
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
// Where values go
//===----------------------------------------------------------------------===//

/// Moves launches that work in place, and that nothing but the return waits
/// for, behind all others, so that the last reads of old values come before
/// them.
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

void Planner::assignResults() {
  for (const mlir::amp::StepArgument &argument : signature.arguments) {
    BlockArgument value = block.getArgument(argument.index);
    Slot *slot =
        makeSlot(argument.name, argument.type,
                 mlir::amp::stringifyRole(argument.role), value.getLoc());
    slot->init = argument.init;
    slot->indexBound =
        step.getArgAttrOfType<IntegerAttr>(argument.index, kIndexBoundNote);
    names.insert(slot->name);
    slotOf[value] = slot;
  }
  for (auto constant : block.getOps<arith::ConstantOp>()) {
    Slot *slot = makeSlot(getUniqueName("constant"), typeOf(constant),
                          "constant", constant.getLoc());
    slot->value = cast<ElementsAttr>(constant.getValue());
    slotOf[constant] = slot;
  }
  // Updates first: what cannot be written in place is copied at the end, from
  // values that are saved before the first of these copies.
  SmallVector<std::pair<Value, Slot *>> late;
  for (const mlir::amp::StepResult &result : signature.results) {
    if (result.kind != mlir::amp::ResultKind::Update)
      continue;
    Value state = block.getArgument(result.argument);
    Value value = getRoot(terminator.getOperand(result.index));
    if (value == state)
      continue;
    auto produced = dyn_cast<OpResult>(value);
    if (produced && !slotOf.contains(value) &&
        mayUpdateInPlace(produced, state)) {
      slotOf[value] = slotOf[state];
      continue;
    }
    // Under another name if it is an old value.
    if (!produced)
      value = copy(value, terminator, "save");
    late.push_back({value, slotOf[state]});
  }
  for (auto [value, slot] : late) {
    Value copied = copy(value, terminator, "update");
    slotOf[copied] = slot;
  }
  Operation *start = &block.front();
  for (const mlir::amp::StepResult &result : signature.results) {
    if (result.kind == mlir::amp::ResultKind::Update)
      continue;
    Value value = terminator.getOperand(result.index);
    bool isMetric = result.kind == mlir::amp::ResultKind::Metric;
    Slot *slot = makeSlot(result.name, result.type,
                          isMetric ? "metric" : "prediction", value.getLoc());
    Value root = getRoot(value);
    if (slotOf.contains(root) || isa<BlockArgument>(root)) {
      // An old value is read before the launches that may overwrite it.
      Value copied = copy(value, isa<BlockArgument>(root) ? start : terminator,
                          result.name);
      slotOf[copied] = slot;
      continue;
    }
    slotOf[root] = slot;
  }
}

/// Whether `launch`, which works in place on `input`, may write over it: if it
/// is the last and only reader of something that needs no place of its own.
bool Planner::mayWriteOver(LaunchOpInterface launch, Value input) {
  Value root = getRoot(input);
  Operation *source = root.getDefiningOp();
  return isa_and_present<LaunchOpInterface>(source) && !slotOf.contains(root) &&
         !isReadAfter(root, launch) &&
         llvm::count_if(launch->getOperands(), [&](Value operand) {
           return getRoot(operand) == root;
         }) == 1;
}

/// A launch that works in place on something that is needed later, or that has
/// another place, works on a copy.
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
      Slot *place = slotOf.lookup(result);
      if (place && slotOf.lookup(getRoot(input)) == place)
        continue;
      if (!place && mayWriteOver(launch, input)) {
        slotOf[getRoot(input)] = slotOf[result] =
            makeSlot("", typeOf(result), "", result.getLoc());
        continue;
      }
      Value copied = copy(input, &op, "copy");
      // Inputs are the first operands of every launch.
      op.setOperand(*tied, copied);
      if (place)
        slotOf[copied] = place;
      else
        slotOf[copied] = slotOf[result] =
            makeSlot("", typeOf(result), "", result.getLoc());
    }
  }
}

static std::string getTargetName(LaunchOpInterface launch, unsigned target) {
  std::string name = launch.getName().value_or("value").str();
  if (auto gemm = dyn_cast<GemmOp>(launch.getOperation())) {
    if (target == 0)
      return name;
    if (gemm.getBiasGrad() && target + 1 == launch.getNumTargets())
      return name + ".bias_grad";
    return name +
           (gemm.getActivation() == Activation::Relu ? ".mask" : ".saved");
  }
  if (auto conv = dyn_cast<ConvOp>(launch.getOperation()))
    return target == 0 ? name
                       : name + (conv.getBiasGrad() ? ".bias_grad" : ".mask");
  return launch.getNumTargets() == 1 ? name
                                     : name + "." + std::to_string(target);
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

  auto extend = [](Slot *slot, const mlir::amp::TensorRange &range) {
    slot->first = std::min(slot->first, range.definition);
    slot->last = std::max(slot->last, range.lastUse);
  };
  for (Operation &op : block) {
    auto launch = dyn_cast<LaunchOpInterface>(op);
    if (!launch)
      continue;
    for (auto [target, result] : llvm::enumerate(launch.getResults())) {
      const mlir::amp::TensorRange &range = ranges.find(result)->second;
      Slot *slot = slotOf.lookup(result);
      if (!slot) {
        // Over an input that is read for the last time, where that is allowed.
        for (auto [index, input] : llvm::enumerate(launch.getInputs())) {
          Slot *other = slotOf.lookup(getRoot(input));
          if (other && !other->isPersistent() && other->last == numbers[&op] &&
              other->type == result.getType() &&
              launch.mayAlias(target, index) &&
              llvm::none_of(launch.getResults(), [&](Value sibling) {
                return slotOf.lookup(sibling) == other;
              })) {
            slot = other;
            break;
          }
        }
      }
      if (!slot) {
        slot = makeSlot("", typeOf(result), "", result.getLoc());
        slot->first = range.definition;
        slot->last = range.lastUse;
      }
      slotOf[result] = slot;
      if (slot->isPersistent())
        continue;
      if (slot->name.empty()) {
        slot->name = getUniqueName(getTargetName(launch, target));
        slot->first = range.definition;
      }
      extend(slot, range);
    }
  }
  return success();
}

void Planner::addScratch() {
  unsigned number = 0;
  auto bytesType = [&](int64_t bytes) {
    return RankedTensorType::get({bytes}, builder.getI8Type());
  };
  bool hasProducts = false, hasTickets = false;
  for (Operation &op : block) {
    unsigned position = number++;
    auto launch = dyn_cast<LaunchOpInterface>(op);
    if (!launch)
      continue;
    hasProducts |= launch.isProduct();
    StringRef name = launch.getName().value_or("launch");
    int64_t bytes = launch.getScratchBytes();
    if (bytes > 0) {
      hasTickets |= !launch.isProduct();
      Slot *slot = makeSlot(getUniqueName(name + ".scratch"), bytesType(bytes),
                            "", op.getLoc());
      slot->first = slot->last = position;
      scratchOf[&op] = slot;
    }
    int64_t entries = 0;
    if (auto optimizer = dyn_cast<OptimizerOp>(op))
      entries = optimizer.getNumParameters();
    else if (auto check = dyn_cast<CheckGradientsOp>(op))
      entries = check.getGradients().size();
    else if (isa<CastsOp>(op))
      entries = launch.getInputs().size();
    if (entries > 0)
      makeSlot(getUniqueName(name + ".table"),
               bytesType(entries * kTableEntryBytes), "table", op.getLoc());
  }
  if (hasTickets)
    makeSlot("tickets", bytesType(::amp::cuda::kTicketBytes), "tickets",
             step.getLoc());
  if (hasProducts)
    makeSlot("workspace", bytesType(::amp::cuda::kGemmWorkspaceBytes),
             "workspace", step.getLoc());
}

//===----------------------------------------------------------------------===//
// Placement
//===----------------------------------------------------------------------===//

/// State, in the order of the arguments, before everything else.
void Planner::placePersistent() {
  for (std::unique_ptr<Slot> &slot : slots) {
    if (!slot->isPersistent())
      continue;
    slot->offset = stateBytes;
    stateBytes += alignTo(slot->bytes, CUDADialect::kAlignment);
  }
}

void Planner::placeTemporaries() {
  SmallVector<ArenaRange> ranges;
  SmallVector<Slot *> placed;
  for (std::unique_ptr<Slot> &slot : slots)
    if (!slot->isPersistent()) {
      ranges.push_back({alignTo(slot->bytes, CUDADialect::kAlignment),
                        slot->first, slot->last, 0});
      placed.push_back(slot.get());
    }
  boundBytes = getMostBytesInUse(ranges);
  plannedBytes = placeInArena(ranges, boundBytes);
  for (auto [range, slot] : llvm::zip_equal(ranges, placed))
    slot->offset = stateBytes + range.offset;
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

static MemRefType getBufferType(RankedTensorType type) {
  return MemRefType::get(type.getShape(), type.getElementType());
}

Operation *Planner::emitLaunch(LaunchOpInterface launch, IRMapping &mapping,
                               OpBuilder &inner) {
  // A value, or its buffer in the shape of the value.
  auto lookup = [&](Value value) -> Value {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    Value buffer = slotOf[getRoot(value)]->buffer;
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
  if (Slot *scratch = scratchOf.lookup(launch)) {
    operands.push_back(scratch->buffer);
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
    attributes.erase(attribute.getName());
  state.addAttributes(attributes);
  for (unsigned index = 0; index < launch->getNumRegions(); ++index)
    state.addRegion();
  Operation *made = inner.create(state);
  IRMapping bodies;
  for (auto [from, to] :
       llvm::zip_equal(launch->getRegions(), made->getRegions()))
    from.cloneInto(&to, bodies);
  // Captured tensors are buffers now.
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
      builder.getI64IntegerAttr(stateBytes + boundBytes), FlatSymbolRefAttr(),
      ArrayAttr(), StateAttr());
  OpBuilder inner = OpBuilder::atBlockEnd(&program.getBody().emplaceBlock());
  for (bool persistent : {true, false})
    for (std::unique_ptr<Slot> &slot : slots) {
      if (slot->isPersistent() != persistent || slot->name.empty())
        continue;
      slot->buffer = BufferOp::create(
          inner, slot->loc, getBufferType(slot->type),
          inner.getStringAttr(slot->name),
          inner.getI64IntegerAttr(slot->offset),
          persistent ? inner.getStringAttr(slot->role) : StringAttr(),
          slot->init, slot->value, slot->indexBound);
    }
  IRMapping mapping;
  for (Operation &op : block)
    if (auto launch = dyn_cast<LaunchOpInterface>(op))
      emitLaunch(launch, mapping, inner);
}

LogicalResult Planner::run() {
  for (Operation &op : block.without_terminator())
    if (!isa<LaunchOpInterface, ViewOp>(op) && !isConstantTensor(&op))
      return op.emitOpError("stands in a step that is to become a program; "
                            "expected 'convert-train-to-cuda' to have lowered "
                            "it");
  moveUpdatesToEnd();
  assignResults();
  copyTiedInputs();
  // Names of launches, where copies have been added.
  llvm::StringSet<> taken;
  for (Operation &op : block)
    if (auto launch = dyn_cast<LaunchOpInterface>(op)) {
      // Copies are named after states and metrics; launches become functions.
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
    // A forward function is judged as the step that it was derived from.
    llvm::StringMap<ArrayAttr> evaluations;
    for (auto step : getOperation().getOps<func::FuncOp>())
      if (auto rules = step->getAttrOfType<ArrayAttr>(kEvaluationNote))
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
      auto state = step->getAttrOfType<StateAttr>(kStateNote);
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
      }
    }
  }
};

} // namespace
