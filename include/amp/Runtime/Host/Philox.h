//===- Philox.h - Counter-based random numbers ------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy
// as 1, 2, 3", SC 2011). Initial values, the order of data and kernels use it.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_PHILOX_H
#define AMP_RUNTIME_HOST_PHILOX_H

#include "amp/Runtime/Host/Portable.h"

#include <cstdint>

namespace amphost {

/// Four words of a counter or of a block.
struct PhiloxBlock {
  uint32_t words[4];

  AMP_PORTABLE uint32_t operator[](int index) const { return words[index]; }
};

/// Ten rounds of Philox4x32. The result depends on counter and key alone.
AMP_PORTABLE PhiloxBlock philox4x32(PhiloxBlock counter, uint32_t key0,
                                    uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t(0xD2511F53u) * counter.words[0];
    const uint64_t product1 = uint64_t(0xCD9E8D57u) * counter.words[2];
    counter = {{uint32_t(product1 >> 32) ^ counter.words[1] ^ key0,
                uint32_t(product1),
                uint32_t(product0 >> 32) ^ counter.words[3] ^ key1,
                uint32_t(product0)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

/// Block `index` of a stream of random numbers.
AMP_PORTABLE PhiloxBlock philoxBlock(uint64_t seed, uint64_t stream,
                                     uint64_t index) {
  return philox4x32({{uint32_t(index), uint32_t(index >> 32), uint32_t(stream),
                      uint32_t(stream >> 32)}},
                    uint32_t(seed), uint32_t(seed >> 32));
}

} // namespace amphost

#endif // AMP_RUNTIME_HOST_PHILOX_H
