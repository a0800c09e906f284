//===- MemoryPlanner.cpp - Makes a program of a step ----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryPlanner.h"

#include "Arena.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::cuda;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value MemoryPlanner::getRoot(Value value) {
  while (isa_and_present<ViewOp, UpperHalfOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

std::string MemoryPlanner::getUniqueName(const Twine &name) {
  std::string base = name.str(), unique = base;
  for (unsigned next = 2; !names.insert(unique).second; ++next)
    unique = base + "_" + std::to_string(next);
  return unique;
}

PlannedBuffer *MemoryPlanner::makeBuffer(const Twine &name,
                                         RankedTensorType type, StringRef role,
                                         Location loc) {
  buffers.push_back(std::make_unique<PlannedBuffer>(
      PlannedBuffer{name.str(), type, role, loc}));
  buffers.back()->bytes = getBytes(type);
  return buffers.back().get();
}

//===----------------------------------------------------------------------===//
// Placement
//===----------------------------------------------------------------------===//

/// Places states first, in the order of the arguments.
void MemoryPlanner::placePersistent() {
  for (std::unique_ptr<PlannedBuffer> &buffer : buffers) {
    if (!buffer->isPersistent() || buffer->isForPredictions())
      continue;
    buffer->offset = stateBytes;
    stateBytes += alignTo(buffer->bytes, CUDADialect::kAlignment);
  }
}

int64_t MemoryPlanner::placeTemporaries(bool forPredictions, int64_t begin,
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

void MemoryPlanner::placeTemporaries() {
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
// Steps of the plan
//===----------------------------------------------------------------------===//

static bool isConstantTensor(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  return constant && isa<DenseIntOrFPElementsAttr>(constant.getValue());
}

/// Gives each launch a unique name. Copies have been added.
void MemoryPlanner::nameLaunches() {
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
}

LogicalResult MemoryPlanner::run() {
  for (Operation &op : block.without_terminator())
    if (!isa<LaunchOpInterface, UpperHalfOp, ViewOp>(op) &&
        !isConstantTensor(&op))
      return op.emitOpError("is in a step that becomes a program; "
                            "expected 'convert-train-to-cuda' to have lowered "
                            "it");
  moveUpdatesToEnd();
  markReaders();
  assignResults();
  copyTiedInputs();
  nameLaunches();
  if (failed(assignTemporaries()))
    return failure();
  addScratch();
  placePersistent();
  placeTemporaries();
  emit();
  step.erase();
  return success();
}
