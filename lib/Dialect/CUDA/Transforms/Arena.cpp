//===- Arena.cpp - Placement in an arena ----------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arena.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

using namespace mlir::cuda;

int64_t mlir::cuda::getMostBytesInUse(llvm::ArrayRef<ArenaRange> ranges) {
  std::map<unsigned, int64_t> change;
  for (const ArenaRange &range : ranges) {
    change[range.first] += range.bytes;
    change[range.last + 1] -= range.bytes;
  }
  int64_t inUse = 0, most = 0;
  for (auto [operation, bytes] : change) {
    inUse += bytes;
    most = std::max(most, inUse);
  }
  return most;
}

/// Places `ranges` in the order `order`. Places each in the smallest gap that
/// it fits in, or at the lowest free offset.
static int64_t placeInOrder(llvm::MutableArrayRef<ArenaRange> ranges,
                            llvm::ArrayRef<unsigned> order, bool bestFit) {
  llvm::SmallVector<unsigned> placed;
  int64_t total = 0;
  for (unsigned index : order) {
    ArenaRange &range = ranges[index];
    // The ranges in use at the same time, by offset.
    llvm::SmallVector<std::pair<int64_t, int64_t>> taken;
    for (unsigned other : placed)
      if (ranges[other].first <= range.last &&
          range.first <= ranges[other].last)
        taken.push_back(
            {ranges[other].offset, ranges[other].offset + ranges[other].bytes});
    llvm::sort(taken);
    int64_t end = 0, chosen = -1;
    int64_t smallest = std::numeric_limits<int64_t>::max();
    for (auto [from, to] : taken) {
      int64_t gap = from - end;
      if (gap >= range.bytes && gap < smallest) {
        smallest = bestFit ? gap : 0;
        chosen = end;
      }
      end = std::max(end, to);
    }
    range.offset = chosen >= 0 ? chosen : end;
    total = std::max(total, range.offset + range.bytes);
    placed.push_back(index);
  }
  return total;
}

int64_t mlir::cuda::placeInArena(llvm::MutableArrayRef<ArenaRange> ranges,
                                 int64_t bound) {
  llvm::SmallVector<ArenaRange> best;
  int64_t least = std::numeric_limits<int64_t>::max();
  auto attempt = [&](llvm::ArrayRef<double> keys) {
    llvm::SmallVector<unsigned> order(ranges.size());
    std::iota(order.begin(), order.end(), 0);
    llvm::sort(order, [&](unsigned a, unsigned b) {
      return keys[a] != keys[b] ? keys[a] > keys[b] : a < b;
    });
    for (bool bestFit : {true, false}) {
      int64_t bytes = placeInOrder(ranges, order, bestFit);
      if (bytes < least) {
        least = bytes;
        best.assign(ranges.begin(), ranges.end());
      }
    }
  };
  llvm::SmallVector<double> bySize, byVolume, byTime;
  for (const ArenaRange &range : ranges) {
    double time = double(range.last) - range.first + 1;
    bySize.push_back(double(range.bytes));
    byVolume.push_back(double(range.bytes) * time);
    byTime.push_back(time);
  }
  attempt(bySize);
  attempt(byVolume);
  if (least > bound)
    attempt(byTime);
  // Vary the order by size. The own generator makes the result independent of
  // the library.
  uint64_t state = 0x9e3779b97f4a7c15;
  for (int round = 0; round < 200 && least > bound; ++round) {
    llvm::SmallVector<double> keys(round % 2 ? bySize : byVolume);
    for (double &key : keys) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      key *= 0.5 + double(state >> 11) * 0x1p-53;
    }
    attempt(keys);
  }
  std::copy(best.begin(), best.end(), ranges.begin());
  return ranges.empty() ? 0 : least;
}
