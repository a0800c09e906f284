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
#include <optional>
#include <tuple>
#include <vector>

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

namespace {
/// A placed range: its bytes [begin, end), and the first and the last operation
/// that use it.
struct Placed {
  int64_t begin, end;
  unsigned first, last;
};
} // namespace

/// Places `ranges` in the order `order`. Places each in the smallest gap that
/// it fits in, or at the lowest free offset. Returns the total bytes, or
/// nothing if they reach `limit`.
static std::optional<int64_t>
placeInOrder(llvm::MutableArrayRef<ArenaRange> ranges,
             llvm::ArrayRef<unsigned> order, bool bestFit, int64_t limit) {
  // The ranges are sorted by offset, so that one scan finds the gaps.
  std::vector<Placed> placed;
  placed.reserve(ranges.size());
  int64_t total = 0;
  for (unsigned index : order) {
    ArenaRange &range = ranges[index];
    int64_t end = 0, chosen = -1;
    int64_t smallest = std::numeric_limits<int64_t>::max();
    for (const Placed &other : placed) {
      if (other.first > range.last || range.first > other.last)
        continue;
      int64_t gap = other.begin - end;
      if (gap >= range.bytes && gap < smallest) {
        smallest = bestFit ? gap : 0;
        chosen = end;
      }
      end = std::max(end, other.end);
    }
    range.offset = chosen >= 0 ? chosen : end;
    total = std::max(total, range.offset + range.bytes);
    if (total >= limit)
      return std::nullopt;
    Placed own{range.offset, range.offset + range.bytes, range.first,
               range.last};
    placed.insert(llvm::upper_bound(placed, own,
                                    [](const Placed &a, const Placed &b) {
                                      return std::tie(a.begin, a.end) <
                                             std::tie(b.begin, b.end);
                                    }),
                  own);
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
      if (std::optional<int64_t> bytes =
              placeInOrder(ranges, order, bestFit, least)) {
        least = *bytes;
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
  // Vary the order by size. A local generator makes the result independent of
  // the standard library. The time of a round is quadratic in the number of
  // ranges.
  uint64_t state = 0x9e3779b97f4a7c15;
  const double pairs = double(ranges.size()) * double(ranges.size());
  const int rounds = int(std::clamp(4e9 / std::max(pairs, 1.0), 10.0, 200.0));
  for (int round = 0; round < rounds && least > bound; ++round) {
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
