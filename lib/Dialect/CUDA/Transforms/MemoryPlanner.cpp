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

#include <map>
#include <tuple>
#include <utility>

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

namespace {
/// Contiguous buffers.
struct BufferGroup {
  SmallVector<PlannedBuffer *, 1> buffers;
  ArenaRange range;
};
} // namespace

/// Groups the buffers of each bucket.
static std::vector<BufferGroup> groupBuffers(ArrayRef<PlannedBuffer *> placed) {
  std::vector<BufferGroup> groups;
  DenseMap<unsigned, unsigned> groupOf;
  for (PlannedBuffer *buffer : placed) {
    const int64_t bytes = alignTo(buffer->bytes, CUDADialect::kAlignment);
    unsigned index = groups.size();
    if (buffer->bucket)
      index = groupOf.try_emplace(buffer->bucket, index).first->second;
    if (index == groups.size()) {
      groups.push_back({{buffer}, {bytes, buffer->first, buffer->last, 0}});
      continue;
    }
    BufferGroup &group = groups[index];
    group.buffers.push_back(buffer);
    group.range.bytes += bytes;
    group.range.first = std::min(group.range.first, buffer->first);
    group.range.last = std::max(group.range.last, buffer->last);
  }
  return groups;
}

static SmallVector<ArenaRange> getRanges(ArrayRef<BufferGroup> groups) {
  SmallVector<ArenaRange> ranges;
  for (const BufferGroup &group : groups)
    ranges.push_back(group.range);
  return ranges;
}

/// Adds all buffers of a bucket to its group. Removes the largest buffers until
/// the buffers in use need at most `bound` bytes.
static void limitBuckets(ArrayRef<PlannedBuffer *> placed, int64_t bound) {
  std::map<unsigned, SmallVector<PlannedBuffer *>> buckets;
  for (PlannedBuffer *buffer : placed)
    if (unsigned bucket = std::exchange(buffer->bucket, 0))
      buckets[bucket].push_back(buffer);
  for (auto &[bucket, members] : buckets) {
    llvm::stable_sort(members, [](PlannedBuffer *a, PlannedBuffer *b) {
      return a->bytes < b->bytes;
    });
    for (PlannedBuffer *member : members)
      member->bucket = bucket;
    while (!members.empty() &&
           getMostBytesInUse(getRanges(groupBuffers(placed))) > bound)
      members.pop_back_val()->bucket = 0;
  }
}

int64_t MemoryPlanner::placeTemporaries(bool forPredictions, int64_t begin,
                                        int64_t &bound) {
  SmallVector<PlannedBuffer *> placed;
  for (std::unique_ptr<PlannedBuffer> &buffer : buffers)
    if (!buffer->isPersistent() && buffer->isForPredictions() == forPredictions)
      placed.push_back(buffer.get());
  SmallVector<ArenaRange> single;
  for (PlannedBuffer *buffer : placed)
    single.push_back({alignTo(buffer->bytes, CUDADialect::kAlignment),
                      buffer->first, buffer->last, 0});
  bound = getMostBytesInUse(single);
  limitBuckets(placed, bound);
  std::vector<BufferGroup> groups = groupBuffers(placed);
  SmallVector<ArenaRange> ranges = getRanges(groups);
  int64_t bytes = placeInArena(ranges, bound);
  for (auto [range, group] : llvm::zip_equal(ranges, groups)) {
    // Place operands of one type next to each other.
    auto getKind = [](PlannedBuffer *buffer) {
      Type element = buffer->type.getElementType();
      return std::make_tuple(isa<FloatType>(element), element.isBF16(),
                             element.getIntOrFloatBitWidth());
    };
    llvm::stable_sort(group.buffers, [&](PlannedBuffer *a, PlannedBuffer *b) {
      return getKind(a) > getKind(b);
    });
    int64_t next = begin + range.offset;
    for (PlannedBuffer *buffer : group.buffers) {
      buffer->offset = next;
      next += alignTo(buffer->bytes, CUDADialect::kAlignment);
    }
  }
  return bytes;
}

void MemoryPlanner::placeTemporaries() {
  plannedBytes =
      placeTemporaries(/*forPredictions=*/false, stateBytes, boundBytes);
}

void MemoryPlanner::placePredictions() {
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
  moveUpdatesBehindCalls();
  markReaders();
  assignResults();
  keepCopies();
  copyTiedInputs();
  nameLaunches();
  if (failed(assignTemporaries()))
    return failure();
  joinBuckets();
  reserveParts();
  addScratch();
  placePersistent();
  placeTemporaries();
  if (failed(placeCounters()))
    return failure();
  placePredictions();
  emit();
  step.erase();
  return success();
}
