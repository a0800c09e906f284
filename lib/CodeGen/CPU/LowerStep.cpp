//===- LowerStep.cpp - The calling convention of lowered steps ===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/CodeGen/Passes.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace mlir::amp {
#define GEN_PASS_DEF_LOWERSTEP
#include "amp/CodeGen/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

namespace {

/// Rewrites one step function. It materialises values in tensors that represent
/// the buffers of the arguments. Bufferization then sees every hazard and
/// decides which operations run in place.
class StepLowering {
public:
  StepLowering(func::FuncOp function, const StepSignature &signature)
      : function(function), signature(signature),
        builder(function.getContext()),
        terminator(
            cast<func::ReturnOp>(function.getBody().front().getTerminator())) {}

  void run();

private:
  Block &body() { return function.getBody().front(); }
  MemRefType bufferType(RankedTensorType type) {
    return MemRefType::get(type.getShape(), type.getElementType());
  }

  void separateDestinations();
  void convertArguments();
  void moveGuardsToEnd();
  bool isReadAfter(Value value, Operation *op);
  bool mayAliasState(Value value);
  Value materialize(Value value, Value destination);
  Value materializeGuarded(OpResult guarded, Value destination);
  void anchor(Value value, Value buffer);
  void writeUpdates();
  void writeOutputs();

  func::FuncOp function;
  const StepSignature &signature;
  OpBuilder builder;
  func::ReturnOp terminator;
  /// The buffer of each argument and the tensor that it holds on entry.
  SmallVector<Value> buffers, tensors;
};

} // namespace

/// Gives each use of a `tensor.empty` its own copy of the operation. If a loop
/// and a loop within it started from one tensor, bufferization would let them
/// share a buffer, although both write it.
void StepLowering::separateDestinations() {
  function.walk([&](tensor::EmptyOp empty) {
    for (OpOperand &use :
         llvm::make_early_inc_range(llvm::drop_begin(empty->getUses()))) {
      builder.setInsertionPoint(use.getOwner());
      use.set(builder.clone(*empty)->getResult(0));
    }
  });
}

void StepLowering::convertArguments() {
  builder.setInsertionPointToStart(&body());
  for (const StepArgument &argument : signature.arguments) {
    BlockArgument buffer = body().getArgument(argument.index);
    auto toTensor = bufferization::ToTensorOp::create(
        builder, buffer.getLoc(), argument.type, buffer, /*restrict=*/true,
        /*writable=*/argument.updatedBy.has_value());
    buffer.replaceAllUsesExcept(toTensor.getResult(), toTensor);
    buffer.setType(bufferType(argument.type));
    buffers.push_back(buffer);
    tensors.push_back(toTensor.getResult());
  }
}

/// Moves operations with regions to the end if only the return waits for them.
/// The last reads of old values then come before them.
void StepLowering::moveGuardsToEnd() {
  SmallVector<scf::IfOp> guards(body().getOps<scf::IfOp>());
  for (scf::IfOp guard : guards)
    if (llvm::all_of(guard->getUsers(), [&](Operation *user) {
          return user == terminator.getOperation();
        }))
      guard->moveBefore(terminator);
}

/// Whether an operation after `op` in the body reads `value`. The return does
/// not count.
bool StepLowering::isReadAfter(Value value, Operation *op) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    Operation *ancestor = body().findAncestorOpInBlock(*user);
    return user != terminator && op->isBeforeInBlock(ancestor);
  });
}

/// Whether `value` may be the old value of a state or a part of it. Writing a
/// state could then change it.
bool StepLowering::mayAliasState(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return true;
  if (llvm::is_contained(tensors, value))
    return true;
  if (isa<tensor::ExtractSliceOp, tensor::CollapseShapeOp,
          tensor::ExpandShapeOp, tensor::CastOp, tensor::ReshapeOp>(op))
    return mayAliasState(op->getOperand(0));
  if (auto select = dyn_cast<scf::IfOp>(op)) {
    unsigned index = cast<OpResult>(value).getResultNumber();
    return mayAliasState(select.thenYield().getOperand(index)) ||
           mayAliasState(select.elseYield().getOperand(index));
  }
  // Loops and unknown operations with regions may pass any value through.
  return op->getNumRegions() != 0 && !isa<DestinationStyleOpInterface>(op);
}

/// Writes `value` into the tensor `destination`.
Value StepLowering::materialize(Value value, Value destination) {
  return bufferization::MaterializeInDestinationOp::create(
             builder, value.getLoc(), value, destination)
      .getResult();
}

/// Writes the new value inside the branch that computes it. `guarded` is the
/// result of an scf.if that otherwise yields the old value. Returns null and
/// changes nothing if `guarded` is not of this form.
Value StepLowering::materializeGuarded(OpResult guarded, Value destination) {
  auto guard = dyn_cast<scf::IfOp>(guarded.getOwner());
  if (!guard || guard->getBlock() != &body() || guard.getElseRegion().empty())
    return {};
  unsigned index = guarded.getResultNumber();
  bool keepsThen = guard.thenYield().getOperand(index) == destination;
  bool keepsElse = guard.elseYield().getOperand(index) == destination;
  if (keepsThen == keepsElse || isReadAfter(destination, guard))
    return {};
  scf::YieldOp yield = keepsThen ? guard.elseYield() : guard.thenYield();
  Value value = yield.getOperand(index);
  if (mayAliasState(value))
    return {};
  OpBuilder::InsertionGuard insertionGuard(builder);
  builder.setInsertionPoint(yield);
  yield.setOperand(index, materialize(value, destination));
  return guarded;
}

/// Keeps the contents of `buffer`, which are `value`, until the end. This
/// bufferizes to a copy of the buffer to itself.
void StepLowering::anchor(Value value, Value buffer) {
  builder.setInsertionPoint(terminator);
  auto anchor = bufferization::MaterializeInDestinationOp::create(
      builder, value.getLoc(), /*result=*/Type(), value, buffer);
  anchor.setWritable(true);
}

void StepLowering::writeUpdates() {
  struct Update {
    Value value;
    unsigned argument;
    bool written;
  };
  SmallVector<Update> updates;
  for (const StepResult &result : signature.results)
    if (result.kind == ResultKind::Update)
      updates.push_back(
          {terminator.getOperand(result.index), result.argument, false});

  // A value that is itself an old value must be saved before the first write.
  builder.setInsertionPoint(terminator);
  for (Update &update : updates) {
    Value destination = tensors[update.argument];
    if (update.value == destination) {
      update.written = true;
      continue;
    }
    if (auto result = dyn_cast<OpResult>(update.value))
      if (Value done = materializeGuarded(result, destination)) {
        update.value = done;
        update.written = true;
        continue;
      }
    if (mayAliasState(update.value))
      update.value = bufferization::AllocTensorOp::create(
          builder, update.value.getLoc(),
          cast<RankedTensorType>(update.value.getType()), ValueRange(),
          update.value);
  }
  for (Update &update : updates) {
    if (!update.written)
      update.value = materialize(update.value, tensors[update.argument]);
    if (update.value == tensors[update.argument])
      continue;
    anchor(update.value, buffers[update.argument]);
  }
}

/// Whether a chain of operations on destinations has made `value` from an empty
/// tensor. The buffer of an output can then replace this tensor. A select or a
/// region chooses among values, so it does not count: another of the values
/// could be read after the buffer is written.
static bool fillsEmptyTensor(Value value) {
  while (auto result = dyn_cast<OpResult>(value)) {
    if (isa<tensor::EmptyOp>(result.getOwner()))
      return true;
    auto op = dyn_cast<DestinationStyleOpInterface>(result.getOwner());
    if (!op || op->getNumRegions() > 1 || isa<LoopLikeOpInterface>(*op))
      return false;
    value = op.getTiedOpOperand(result)->get();
  }
  return false;
}

void StepLowering::writeOutputs() {
  for (const StepResult &result : signature.results) {
    if (result.kind == ResultKind::Update)
      continue;
    Value value = terminator.getOperand(result.index);
    Value buffer = body().addArgument(bufferType(result.type), value.getLoc());
    bool inPlace = fillsEmptyTensor(value);
    Value destination;
    if (inPlace) {
      builder.setInsertionPointToStart(&body());
      destination = bufferization::ToTensorOp::create(
          builder, value.getLoc(), result.type, buffer, /*restrict=*/true,
          /*writable=*/true);
    }
    // Write as early as possible, before the updates: an output may be an old
    // value.
    if (llvm::is_contained(tensors, value))
      builder.setInsertionPointAfter(tensors.back().getDefiningOp());
    else
      builder.setInsertionPointAfterValue(value);
    if (inPlace) {
      anchor(materialize(value, destination), buffer);
      continue;
    }
    // Not restrict: the copied value must not be computed in the buffer.
    auto copy = bufferization::MaterializeInDestinationOp::create(
        builder, value.getLoc(), /*result=*/Type(), value, buffer);
    copy.setWritable(true);
  }
}

void StepLowering::run() {
  separateDestinations();
  convertArguments();
  moveGuardsToEnd();
  writeOutputs();
  writeUpdates();

  builder.setInsertionPoint(terminator);
  func::ReturnOp::create(builder, terminator.getLoc());
  terminator.erase();
  function.removeArgAttrsAttr();
  function.removeResAttrsAttr();
  function.setType(FunctionType::get(function.getContext(),
                                     body().getArgumentTypes(), TypeRange()));
  function.setName((function.getName() + kLoweredSuffix).str());
  function.setPublic();
  // One pointer per buffer: shapes are static and contiguous.
  function->setAttr("llvm.bareptr", builder.getUnitAttr());
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    function.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(),
                        builder.getUnitAttr());
}

namespace {

struct LowerStep : mlir::amp::impl::LowerStepBase<LowerStep> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    SmallVector<func::FuncOp> steps, others;
    for (auto function : module.getOps<func::FuncOp>()) {
      if (isStepFunction(function) && !function.isExternal())
        steps.push_back(function);
      else if (!isLowered(function))
        others.push_back(function);
    }
    for (func::FuncOp step : steps)
      if (failed(lower(step, symbols)))
        return signalPassFailure();
    if (steps.empty())
      return;
    for (func::FuncOp function : others)
      if (SymbolTable::symbolKnownUseEmpty(function, module))
        function.erase();
  }

  static bool isLowered(func::FuncOp function) {
    return llvm::none_of(function.getArgumentTypes(),
                         llvm::IsaPred<TensorType>);
  }

  LogicalResult lower(func::FuncOp step, SymbolTable &symbols) {
    FailureOr<StepSignature> signature = StepSignature::get(step);
    if (failed(signature))
      return failure();
    if (failed(verifyStepBody(step)))
      return failure();
    auto check = [&](RankedTensorType type, StringRef name) -> LogicalResult {
      if (type.hasStaticShape())
        return success();
      return step.emitOpError("'")
             << name << "' has the dynamic shape " << type
             << ", expected a static one; 'train-set-batch' gives the batch "
             << "dimension its size";
    };
    for (const StepArgument &argument : signature->arguments)
      if (failed(check(argument.type, argument.name)))
        return failure();
    for (const StepResult &result : signature->results)
      if (failed(check(result.type, result.name)))
        return failure();
    std::string name = (step.getName() + kLoweredSuffix).str();
    if (symbols.lookup(name))
      return step.emitOpError("cannot be renamed to '")
             << name << "', which exists already";
    if (auto uses = SymbolTable::getSymbolUses(step, getOperation());
        uses && !uses->empty())
      return step.emitOpError("is called from the module, which the calling "
                              "convention of the runner does not allow");
    StepLowering(step, *signature).run();
    return success();
  }
};

} // namespace
