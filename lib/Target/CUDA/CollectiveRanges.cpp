//===- CollectiveRanges.cpp - Memory that ranks exchange at once ----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CollectiveRanges.h"

using namespace mlir;
using namespace mlir::cuda;

namespace {
/// An operand of a collective in the arena.
struct Operand {
  CollectiveRange range;
  Type type;
  int64_t begin, end;
  /// Whether the buffer also contains the result, and no other elements.
  bool isInPlace;
};
} // namespace

/// Whether one call may exchange `next` together with the operands up to
/// `last`. Padding up to the alignment may separate them. No other buffer uses
/// the padding, because the offsets of all buffers are aligned. The call also
/// sums the padding, which is harmless only for floats.
static bool mayFollow(const Operand &last, const Operand &next) {
  const int64_t padded = llvm::alignTo(last.end, CUDADialect::kAlignment);
  return last.isInPlace && next.isInPlace && last.type == next.type &&
         next.begin == padded &&
         (padded == last.end || isa<FloatType>(last.type));
}

SmallVector<CollectiveRange>
mlir::cuda::getCollectiveRanges(LaunchOpInterface launch) {
  SmallVector<Operand> operands;
  for (auto [index, input] : llvm::enumerate(launch.getInputs())) {
    ShapedType from = launch.getInputType(index),
               to = launch.getTargetType(index);
    BufferOp buffer = getBuffer(input);
    Value output = launch.getOutputs()[index];
    const auto begin = int64_t(buffer.getOffset());
    operands.push_back(
        {{input, output, std::min(from.getNumElements(), to.getNumElements())},
         from.getElementType(),
         begin,
         begin + buffer.getBytes(),
         isa<AllReduceOp>(launch.getOperation()) &&
             getBuffer(output) == buffer &&
             getBytes(from) == buffer.getBytes()});
  }
  if (llvm::all_of(operands, [](const Operand &o) { return o.isInPlace; }))
    llvm::sort(operands, [](const Operand &a, const Operand &b) {
      return a.begin < b.begin;
    });
  SmallVector<CollectiveRange> ranges;
  int64_t begin = 0;
  for (auto [index, operand] : llvm::enumerate(operands)) {
    if (index == 0 || !mayFollow(operands[index - 1], operand)) {
      ranges.push_back(operand.range);
      begin = operand.begin;
      continue;
    }
    const int64_t width =
        llvm::divideCeil(operand.type.getIntOrFloatBitWidth(), 8);
    ranges.back().count = (operand.end - begin) / width;
  }
  return ranges;
}
