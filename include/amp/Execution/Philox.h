//===- Philox.h - Counter-based random numbers ------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011). A block of four words is a function of a counter and a key alone,
// so nothing depends on the order or the number of draws made elsewhere.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_PHILOX_H
#define AMP_EXECUTION_PHILOX_H

#include <array>
#include <cstdint>

namespace mlir::amp {

/// The four words of the block at (counter, key).
inline std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                          std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t product0 = uint64_t(0xD2511F53) * counter[0];
    uint64_t product1 = uint64_t(0xCD9E8D57) * counter[2];
    counter = {
        uint32_t(product1 >> 32) ^ counter[1] ^ key[0], uint32_t(product1),
        uint32_t(product0 >> 32) ^ counter[3] ^ key[1], uint32_t(product0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

/// A stream of words identified by two 64-bit numbers: `seed` is the key and
/// `stream` the upper half of the counter, whose lower half is the block index.
class PhiloxStream {
public:
  PhiloxStream(uint64_t seed, uint64_t stream)
      : key({uint32_t(seed), uint32_t(seed >> 32)}), stream(stream) {}

  /// Block `index` of the stream.
  std::array<uint32_t, 4> block(uint64_t index) const {
    return philox4x32({uint32_t(index), uint32_t(index >> 32), uint32_t(stream),
                       uint32_t(stream >> 32)},
                      key);
  }

private:
  std::array<uint32_t, 2> key;
  uint64_t stream;
};

} // namespace mlir::amp

#endif // AMP_EXECUTION_PHILOX_H
