//===- Dataset.h - Training data and their order ----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As amp-run has them (amp/Execution/Dataset.h): the same arrays, the same
// shuffling, the same batches for the same seed.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_DATASET_H
#define AMP_RUNTIME_CUDA_DATASET_H

#include "amp/Runtime/CUDA/Init.h"

#include <random>

namespace amp::cuda {

/// The samples of every batch argument, in the order of the plan.
class Dataset {
public:
  /// Takes the array `prefix + name` for each batch buffer, or else `name`.
  /// Says what is wrong with a missing or unfitting one.
  Status create(const std::vector<HostArray> &arrays, const std::string &path,
                const std::string &prefix,
                const std::vector<const BufferInfo *> &batches) {
    samples.clear();
    count = stored = 0;
    for (const BufferInfo *batch : batches) {
      const HostArray *found = findArray(arrays, prefix + batch->name);
      if (!found)
        found = findArray(arrays, batch->name);
      if (!found) {
        std::string wanted = "'" + std::string(batch->name) + "'", names;
        if (!prefix.empty())
          wanted = "'" + prefix + batch->name + "' or " + wanted;
        for (const HostArray &array : arrays)
          names += (names.empty() ? "" : ", ") + array.name;
        return makeError(kFile,
                         "'%s' has no array %s for batch argument '%s'; it has "
                         "%s",
                         path.c_str(), wanted.c_str(), batch->name,
                         names.empty() ? "no arrays" : names.c_str());
      }
      HostArray wanted = makeArray(*batch);
      bool hasShape = !found->shape.empty() &&
                      found->shape.size() == wanted.shape.size() &&
                      std::equal(found->shape.begin() + 1, found->shape.end(),
                                 wanted.shape.begin() + 1);
      if (!hasShape) {
        // Of any number of samples.
        std::string described = wanted.describe();
        if (size_t first = described.find('x'); first != std::string::npos)
          described = "?" + described.substr(first);
        return makeError(kFile,
                         "array '%s' in '%s' is %s, expected %s for batch "
                         "argument '%s'",
                         found->name.c_str(), path.c_str(),
                         found->describe().c_str(), described.c_str(),
                         batch->name);
      }
      HostArray converted = *found;
      Status converts = convertLossless(&converted, batch->type);
      if (!converts.isOk())
        return makeError(kFile, "%s for batch argument '%s' (in '%s')",
                         converts.getMessage().c_str(), batch->name,
                         path.c_str());
      if (samples.empty())
        count = stored = converted.shape[0];
      if (converted.shape[0] != count)
        return makeError(kFile,
                         "array '%s' in '%s' has %lld samples, but '%s' "
                         "has %lld",
                         found->name.c_str(), path.c_str(),
                         (long long)converted.shape[0],
                         samples.front().name.c_str(), (long long)count);
      for (int64_t i = 0; batch->classes > 0 && i < converted.count(); ++i)
        if (converted.getInt(i) < 0 || converted.getInt(i) >= batch->classes)
          return makeError(kFile,
                           "value %lld at element %lld of array '%s' in '%s' "
                           "is out of range, expected 0 to %lld",
                           (long long)converted.getInt(i), (long long)i,
                           found->name.c_str(), path.c_str(),
                           (long long)batch->classes - 1);
      samples.push_back(std::move(converted));
    }
    if (!samples.empty() && count == 0)
      return makeError(kFile, "array '%s' in '%s' has no samples",
                       samples.front().name.c_str(), path.c_str());
    return Status();
  }

  /// Uniform labels, and numbers of mean 0 and deviation 1, `size` samples.
  /// They are sums of four uniform ones, no farther than 3.5 from 0: normal
  /// ones take the host longer than many a device takes for the steps. For the
  /// same reason sample `distinct` is sample 0 again, and so on.
  void createSynthetic(int64_t size, int64_t distinct, uint64_t seed,
                       const std::vector<const BufferInfo *> &batches) {
    count = size;
    stored = distinct;
    samples.clear();
    std::mt19937_64 random(seed);
    // Of a uniform number among 0 to 65535, times that of four.
    const double deviation = std::sqrt((65536.0 * 65536.0 - 1) / 12 * 4);
    for (const BufferInfo *batch : batches) {
      BufferInfo all = *batch;
      all.shape[0] = distinct;
      HostArray array = makeArray(all);
      const uint64_t classes =
          batch->classes > 0 ? uint64_t(batch->classes) : 2;
      const bool isNumber = isFloat(array.type);
      const int64_t elements = array.count();
      for (int64_t i = 0; i < elements; ++i) {
        const uint64_t bits = random();
        if (!isNumber) {
          array.setInt(i, int64_t(bits % classes));
          continue;
        }
        const auto sum = int64_t((bits & 0xffff) + (bits >> 16 & 0xffff) +
                                 (bits >> 32 & 0xffff) + (bits >> 48));
        array.set(i, double(sum - 2 * 65535) / deviation);
      }
      samples.push_back(std::move(array));
    }
  }

  int64_t size() const { return count; }
  /// The samples of argument `index` that differ.
  const HostArray &getArray(size_t index) const { return samples[index]; }

  /// Bytes of `size` samples of argument `index`.
  size_t getBytes(size_t index, int64_t size) const {
    return samples[index].bytes.size() / size_t(stored) * size_t(size);
  }

  /// Writes the samples `rows` of argument `index` to `out`, one after the
  /// other.
  void gather(size_t index, const int64_t *rows, int64_t size,
              void *out) const {
    const HostArray &source = samples[index];
    size_t rowBytes = getBytes(index, 1);
    for (int64_t i = 0; i < size; ++i)
      std::memcpy(static_cast<unsigned char *>(out) + size_t(i) * rowBytes,
                  &source.bytes[size_t(rows[i] % stored) * rowBytes], rowBytes);
  }

private:
  std::vector<HostArray> samples;
  int64_t count = 0;
  int64_t stored = 0; ///< fewer than `count` if they recur
};

/// A permutation of [0, n) for an epoch: Fisher-Yates with 64 bits a draw.
inline std::vector<int64_t> permuteEpoch(int64_t n, uint64_t seed,
                                         int64_t epoch) {
  constexpr uint64_t kOrderStream = 0x6f72646572; // "order"
  uint64_t stream = kOrderStream + (uint64_t(epoch) << 40);
  std::vector<int64_t> order(size_t(n), 0);
  for (int64_t i = 0; i < n; ++i)
    order[size_t(i)] = i;
  for (int64_t i = n - 1; i > 0; --i) {
    auto words = philox4x32({{uint32_t(i), uint32_t(uint64_t(i) >> 32),
                              uint32_t(stream), uint32_t(stream >> 32)}},
                            uint32_t(seed), uint32_t(seed >> 32));
    uint64_t draw = uint64_t(words[0]) << 32 | words[1];
    auto j = int64_t(
        (__extension__(unsigned __int128)(draw) * uint64_t(i + 1)) >> 64);
    std::swap(order[size_t(i)], order[size_t(j)]);
  }
  return order;
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_DATASET_H
