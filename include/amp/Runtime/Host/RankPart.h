//===- RankPart.h - States that ranks divide --------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each rank keeps a flat part of a state. The elements of the state, in
// row-major order, are divided into parts of equal size.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_RANKPART_H
#define AMP_RUNTIME_HOST_RANKPART_H

#include "amp/Runtime/Host/Step.h"

#include <cstring>

namespace amphost {

/// Returns the `size` elements of `whole` that rank `rank` keeps. Zeros replace
/// the elements beyond the end of `whole`.
inline Array takeRankPart(const Array &whole, int64_t size, int64_t rank) {
  Array part(whole.getType(), {size});
  const size_t bytes = part.getNumBytes(), begin = bytes * size_t(rank),
               end = std::min(begin + bytes, whole.getNumBytes());
  std::memset(part.data(), 0, bytes);
  if (begin < end)
    std::memcpy(part.data(), static_cast<const char *>(whole.data()) + begin,
                end - begin);
  return part;
}

/// Adds two results: the bytes of the states that each rank keeps, and the
/// bytes of the whole states. `getOwnBytes(i)` returns the bytes that this rank
/// keeps of `tensors[i]`.
template <typename GetBytes>
void addStateBytes(const std::vector<TensorInfo> &tensors, GetBytes getOwnBytes,
                   Results *results) {
  int64_t own = 0, whole = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!isState(tensors[i].role))
      continue;
    own += getOwnBytes(i);
    int64_t bytes = byteWidth(tensors[i].type);
    for (int64_t extent : tensors[i].shape)
      bytes *= extent;
    whole += bytes;
  }
  results->emplace_back("state bytes of each rank", double(own));
  results->emplace_back("state bytes of all ranks", double(whole));
}

} // namespace amphost

#endif // AMP_RUNTIME_HOST_RANKPART_H
