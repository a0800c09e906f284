//===- device_radix_sort.cuh - CUDA on the CPU: CUB's sort ------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces the header of CUB. It declares only what the runtime uses, and
// rejects what CUB rejects. Where CUB leaves contents open, it fills the
// memory.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TEST_CUDAHOST_CUB_DEVICE_RADIX_SORT_CUH
#define AMP_TEST_CUDAHOST_CUB_DEVICE_RADIX_SORT_CUH

#include "amp/CudaHost/Host.h"

#include <algorithm>
#include <numeric>

namespace cub {

template <typename T>
struct DoubleBuffer {
  T *d_buffers[2];
  int selector = 0;

  DoubleBuffer(T *current, T *alternate) : d_buffers{current, alternate} {}
  T *Current() const { return d_buffers[selector]; }
  T *Alternate() const { return d_buffers[selector ^ 1]; }
};

struct DeviceRadixSort {
  /// A stable sort by the bits [`beginBit`, `endBit`) of unsigned keys. The
  /// result may be in either buffer, so it changes sides here.
  template <typename K, typename V>
  static cudaError_t SortPairs(void *scratch, size_t &scratchBytes,
                               DoubleBuffer<K> &keys, DoubleBuffer<V> &values,
                               int count, int beginBit, int endBit,
                               cudaStream_t stream) {
    using namespace amp::cuda::host;
    // A histogram for each digit of eight bits, and 1 KiB for each tile, of
    // 8064 pairs on an A100.
    const size_t digits = size_t(endBit - beginBit + 7) / 8;
    const size_t needed = (digits + size_t(count + 8063) / 8064) * 1024 + 768;
    if (!scratch) {
      scratchBytes = needed;
      return cudaSuccess;
    }
    if (scratchBytes < needed || count < 0 || beginBit < 0 ||
        endBit > int(sizeof(K)) * 8)
      return cudaErrorInvalidValue;
    const size_t keyBytes = count * sizeof(K), valueBytes = count * sizeof(V);
    for (int side = 0; side < 2; ++side)
      if (!isDeviceMemory(keys.d_buffers[side], keyBytes) ||
          !isDeviceMemory(values.d_buffers[side], valueBytes))
        violate("SortPairs: an array is not in an allocation of the device");
    if (!isDeviceMemory(scratch, scratchBytes))
      violate("SortPairs: the scratch is not in an allocation of the device");
    LaunchRecord record;
    record.name = "sort_pairs";
    record.range = getRange();
    record.bytesLoaded = record.distinctLoaded = keyBytes + valueBytes;
    record.bytesStored = record.distinctStored = keyBytes + valueBytes;
    const K *fromKeys = keys.Current();
    const V *fromValues = values.Current();
    K *toKeys = keys.Alternate();
    V *toValues = values.Alternate();
    keys.selector ^= 1;
    values.selector ^= 1;
    return enqueue(stream, [=] {
      auto digit = [=](int at) {
        const int bits = endBit - beginBit;
        const K mask = bits == int(sizeof(K)) * 8 ? ~K(0) : (K(1) << bits) - 1;
        return (fromKeys[at] >> beginBit) & mask;
      };
      std::vector<int> order(count);
      std::iota(order.begin(), order.end(), 0);
      std::sort(order.begin(), order.end(), [&](int a, int b) {
        return digit(a) != digit(b) ? digit(a) < digit(b) : a < b;
      });
      for (int i = 0; i < count; ++i) {
        toKeys[i] = fromKeys[order[i]];
        toValues[i] = fromValues[order[i]];
      }
      std::memset(scratch, 0xff, needed);
      std::memset(const_cast<K *>(fromKeys), 0xff, keyBytes);
      std::memset(const_cast<V *>(fromValues), 0xff, valueBytes);
      recordLaunch(record);
    });
  }
};

} // namespace cub

#endif // AMP_TEST_CUDAHOST_CUB_DEVICE_RADIX_SORT_CUH
