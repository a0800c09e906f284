//===- BufferLiveness.cpp - What a lowered step allocates -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Analysis/BufferLiveness.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::amp;

/// The alignment of buffers that bufferization creates.
static constexpr uint64_t kBufferizationAlignment = 64;

/// Returns the alignment of a buffer. The lowering to LLVM uses 16 if the
/// buffer has none.
static uint64_t getAlignment(memref::AllocOp alloc) {
  return alloc.getAlignment().value_or(16);
}

/// Returns the size passed to the allocator: the bytes of the elements, rounded
/// up to the alignment.
static std::optional<int64_t> getAllocatedBytes(MemRefType type,
                                                uint64_t alignment) {
  Type element = type.getElementType();
  if (!type.hasStaticShape() || !element.isIntOrIndexOrFloat())
    return std::nullopt;
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  int64_t bytes = (bits + 7) / 8;
  for (int64_t extent : type.getShape())
    if (llvm::MulOverflow(bytes, extent, bytes))
      return std::nullopt;
  return llvm::alignTo(bytes, alignment);
}

namespace {

/// Bytes that a piece of code allocates: the most at one point, and the rest at
/// its end.
struct Usage {
  int64_t peak = 0;
  int64_t left = 0;
};

class BufferLiveness {
public:
  std::optional<Usage> compute(func::FuncOp function);

private:
  std::optional<Usage> compute(Region &region);
  std::optional<Usage> compute(Operation *op);

  llvm::DenseMap<Operation *, std::optional<Usage>> functions;
};

} // namespace

std::optional<Usage> BufferLiveness::compute(func::FuncOp function) {
  // The map has no entry for a function that calls itself.
  auto [it, added] = functions.try_emplace(function, std::nullopt);
  if (!added)
    return it->second;
  std::optional<Usage> usage = compute(function.getBody());
  functions[function] = usage;
  return usage;
}

std::optional<Usage> BufferLiveness::compute(Region &region) {
  Usage sum;
  if (region.empty())
    return sum;
  if (!region.hasOneBlock())
    return std::nullopt;
  for (Operation &op : region.front()) {
    std::optional<Usage> usage = compute(&op);
    if (!usage)
      return std::nullopt;
    sum.peak = std::max(sum.peak, sum.left + usage->peak);
    sum.left += usage->left;
  }
  return sum;
}

std::optional<Usage> BufferLiveness::compute(Operation *op) {
  if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
    std::optional<int64_t> bytes =
        getAllocatedBytes(alloc.getType(), getAlignment(alloc));
    if (!bytes)
      return std::nullopt;
    return Usage{*bytes, *bytes};
  }
  if (auto dealloc = dyn_cast<memref::DeallocOp>(op)) {
    auto alloc = dealloc.getMemref().getDefiningOp<memref::AllocOp>();
    auto type = dyn_cast<MemRefType>(dealloc.getMemref().getType());
    std::optional<int64_t> bytes;
    if (type)
      bytes = getAllocatedBytes(type, alloc ? getAlignment(alloc)
                                            : kBufferizationAlignment);
    return Usage{0, -bytes.value_or(0)};
  }
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        op, call.getCalleeAttr());
    if (!callee || callee.isExternal())
      return Usage();
    return compute(callee);
  }

  Usage most;
  bool first = true;
  for (Region &region : op->getRegions()) {
    std::optional<Usage> usage = compute(region);
    if (!usage)
      return std::nullopt;
    most.peak = std::max(most.peak, usage->peak);
    most.left = first ? usage->left : std::max(most.left, usage->left);
    first = false;
  }
  // Each iteration of a loop could leave more, and a loop may not run at all.
  if (most.left != 0 && !isa<scf::IfOp, scf::IndexSwitchOp>(op)) {
    if (most.left > 0)
      return std::nullopt;
    most.left = 0;
  }
  return most;
}

std::optional<int64_t>
mlir::amp::computePeakBufferBytes(func::FuncOp function) {
  std::optional<Usage> usage = BufferLiveness().compute(function);
  if (!usage)
    return std::nullopt;
  return usage->peak;
}
