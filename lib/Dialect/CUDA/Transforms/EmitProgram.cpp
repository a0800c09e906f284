//===- EmitProgram.cpp - Writes a step as a program -----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryPlanner.h"

#include "amp/Support/TensorTypes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::cuda;
using mlir::amp::typeOf;

MemRefType mlir::cuda::getBufferType(RankedTensorType type) {
  return MemRefType::get(type.getShape(), type.getElementType());
}

Value MemoryPlanner::getMemory(Value value, IRMapping &mapping,
                               OpBuilder &inner) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Value buffer = bufferOf[getRoot(value)]->memref;
  auto type = getBufferType(typeOf(value));
  auto whole = cast<MemRefType>(buffer.getType());
  if (whole.getElementType().isF32() && type.getElementType().isBF16())
    buffer = UpperHalfOp::create(
        inner, value.getLoc(),
        MemRefType::get(whole.getShape(), type.getElementType()), buffer);
  if (buffer.getType() != type)
    buffer = ViewOp::create(inner, value.getLoc(), type, buffer);
  mapping.map(value, buffer);
  return buffer;
}

/// Replaces the captured tensors of `body`, the arguments of tensor type, by
/// their buffers.
static void readCapturedBuffers(Block &body) {
  for (BlockArgument argument : body.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    argument.setType(getBufferType(type));
    for (Operation *user : llvm::make_early_inc_range(argument.getUsers())) {
      auto extract = cast<tensor::ExtractOp>(user);
      OpBuilder rewriter(extract);
      Value loaded = memref::LoadOp::create(rewriter, extract.getLoc(),
                                            argument, extract.getIndices());
      extract.getResult().replaceAllUsesWith(loaded);
      extract.erase();
    }
  }
}

LaunchOpInterface MemoryPlanner::emitLaunch(LaunchOpInterface launch,
                                            IRMapping &mapping,
                                            OpBuilder &inner) {
  auto lookup = [&](Value value) { return getMemory(value, mapping, inner); };
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
    if (attribute.getName() != kReaderAttr &&
        attribute.getName() != kRefreshesAttr)
      attributes.erase(attribute.getName());
  state.addAttributes(attributes);
  for (unsigned index = 0; index < launch->getNumRegions(); ++index)
    state.addRegion();
  Operation *made = inner.create(state);
  IRMapping bodies;
  for (auto [from, to] :
       llvm::zip_equal(launch->getRegions(), made->getRegions()))
    from.cloneInto(&to, bodies);
  for (Region &region : made->getRegions())
    for (Block &body : region)
      readCapturedBuffers(body);
  return cast<LaunchOpInterface>(made);
}

namespace {
/// The collectives that no launch has awaited yet.
class RunningCollectives {
public:
  explicit RunningCollectives(OpBuilder &builder) : builder(builder) {}

  /// Awaits the collectives whose memory `launch` uses.
  void add(LaunchOpInterface launch);
  /// Awaits all collectives, at the end of the program.
  void finish(Location loc) {
    if (!launches.empty())
      await(launches.size(), loc);
  }

private:
  /// Awaits the first `count` collectives.
  void await(size_t count, Location loc) {
    AwaitOp::create(builder, loc, *launches[count - 1].getName());
    launches.erase(launches.begin(), launches.begin() + count);
  }

  OpBuilder &builder;
  SmallVector<LaunchOpInterface> launches;
};
} // namespace

void RunningCollectives::add(LaunchOpInterface launch) {
  if (launch.isCollective()) {
    launches.push_back(launch);
    return;
  }
  size_t count = 0;
  for (auto [index, running] : llvm::enumerate(launches))
    if (usesMemoryOf(launch, running))
      count = index + 1;
  if (count == 0)
    return;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(launch);
  await(count, launch.getLoc());
}

void MemoryPlanner::emit() {
  builder.setInsertionPoint(step);
  program = ProgramOp::create(
      builder, step.getLoc(), builder.getStringAttr(step.getName()),
      builder.getI64IntegerAttr(stateBytes + plannedBytes),
      builder.getI64IntegerAttr(stateBytes + boundBytes),
      predictionBytes ? builder.getI64IntegerAttr(stateBytes + plannedBytes +
                                                  predictionBytes)
                      : IntegerAttr(),
      FlatSymbolRefAttr(), ArrayAttr(), StateAttr(), IntegerAttr());
  if (ranks > 0 && llvm::any_of(block.getOps<LaunchOpInterface>(),
                                [](LaunchOpInterface launch) {
                                  return launch.isCollective();
                                }))
    program.setRanks(ranks);
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
          buffer->init, buffer->value, buffer->indexBound, buffer->partOf,
          buffer->isSplit ? inner.getUnitAttr() : UnitAttr(),
          buffer->isCumulative ? inner.getUnitAttr() : UnitAttr());
    }
  IRMapping mapping;
  RunningCollectives running(inner);
  for (Operation &op : block)
    if (auto launch = dyn_cast<LaunchOpInterface>(op))
      running.add(emitLaunch(launch, mapping, inner));
  running.finish(program.getLoc());
}
