//===- ValueStatistics.h - Statistics of a tensor ---------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout of the result of `amp.statistics`, and sums of such results over
// steps.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_VALUESTATISTICS_H
#define AMP_RUNTIME_HOST_VALUESTATISTICS_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

namespace amphost {

/// The elements of a result of `amp.statistics`. Each element of the tensor is
/// judged as an f32.
enum StatisticsField : uint8_t {
  kNaNs,
  kInfinities,
  kZeros,
  kOverflows,  ///< finite elements that the narrower type rounds to infinity
  kUnderflows, ///< elements other than 0 that the narrower type rounds to 0
  kLargest,    ///< the bits of the largest finite magnitude, or 0
  kSmallest,   ///< the bits of the smallest magnitude other than 0, or 0
  kFirstBin,   ///< the first of the counts by biased exponent
};
inline constexpr int kNumExponents = 256;
inline constexpr int kNumStatistics = kFirstBin + kNumExponents;

/// Adds the first `count` fields of `other` to those of `fields`. `count` is at
/// least `kFirstBin`.
inline void addStatistics(int64_t *fields, const int64_t *other, int count) {
  const int64_t largest = std::max(fields[kLargest], other[kLargest]);
  int64_t smallest = fields[kSmallest];
  if (!smallest || (other[kSmallest] && other[kSmallest] < smallest))
    smallest = other[kSmallest];
  for (int i = 0; i < count; ++i)
    fields[i] += other[i];
  fields[kLargest] = largest;
  fields[kSmallest] = smallest;
}

/// The statistics of one tensor over any number of steps.
struct ValueStatistics {
  std::array<int64_t, kNumStatistics> fields = {};

  /// Adds the statistics of one more step. Most bins are empty, and those of
  /// many values are not in the cache, so only the others are read.
  void add(const int64_t *other) {
    addStatistics(fields.data(), other, kFirstBin + 1);
    const auto [first, last] = getBins(other);
    for (int i = first; i < last; ++i)
      fields[i] += other[i];
    fields[kNumStatistics - 1] += other[kNumStatistics - 1];
  }

  /// Copies the fields that `add` reads.
  static void copyFields(const int64_t *from, int64_t *to) {
    std::copy_n(from, kFirstBin + 1, to);
    const auto [first, last] = getBins(from);
    for (int i = first; i < last; ++i)
      to[i] = from[i];
    to[kNumStatistics - 1] = from[kNumStatistics - 1];
  }

  /// Returns the begin and the end of the fields with the bins from the least
  /// to the largest finite magnitude of `fields`, without the first and the
  /// last bin of all. All other bins between these two are 0.
  static std::pair<int, int> getBins(const int64_t *fields) {
    if (!fields[kSmallest])
      return {kFirstBin + 1, kFirstBin + 1};
    constexpr int mantissaBits = 23;
    return {kFirstBin + std::max<int>(1, fields[kSmallest] >> mantissaBits),
            kFirstBin + 1 + int(fields[kLargest] >> mantissaBits)};
  }

  int64_t getCount() const {
    int64_t count = 0;
    for (int i = kFirstBin; i < kNumStatistics; ++i)
      count += fields[i];
    return count;
  }
  int64_t getNonFinite() const { return fields[kNaNs] + fields[kInfinities]; }
  /// Finite elements other than 0.
  int64_t getNonZero() const {
    return getCount() - getNonFinite() - fields[kZeros];
  }
  double getLargest() const { return toFloat(fields[kLargest]); }
  double getSmallest() const { return toFloat(fields[kSmallest]); }
  /// The elements with magnitudes in [2^`exponent`, 2^(`exponent` + 1)). The
  /// bin of -127 holds zeros and the subnormals of f32.
  int64_t getBin(int exponent) const {
    return fields[kFirstBin + exponent + 127];
  }
  /// Elements other than 0 below 2^`exponent`, which is at least -126.
  int64_t getBelow(int exponent) const {
    int64_t count = getBin(-127) - fields[kZeros];
    for (int e = -126; e < exponent; ++e)
      count += getBin(e);
    return count;
  }

private:
  static double toFloat(int64_t bits) {
    const uint32_t word = uint32_t(bits);
    float value;
    std::memcpy(&value, &word, sizeof(value));
    return value;
  }
};

} // namespace amphost

#endif // AMP_RUNTIME_HOST_VALUESTATISTICS_H
