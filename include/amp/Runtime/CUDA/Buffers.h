//===- Buffers.h - Buffers of a plan ----------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_BUFFERS_H
#define AMP_RUNTIME_CUDA_BUFFERS_H

#include "amp/Runtime/CUDA/Sizes.h"
#include "amp/Runtime/Host/Tensor.h"

#include <cstring>

namespace amp::cuda {

/// A buffer of the memory plan. States, batches, metrics and predictions have
/// their names in the graph.
struct BufferInfo {
  const char *name = "";
  Role role = Role::Temporary;
  Type type = Type::F32;
  int rank = 0;
  int64_t shape[kMaxRank] = {};
  int64_t offset = 0; ///< offset in the arena, a multiple of kBufferAlignment
  InitInfo init;
  int64_t classes = 0;      ///< labels lie in [0, classes); 0: any
  bool isLossScale = false; ///< positive and finite
  /// Whether the halves of the f32 elements are stored apart, as in
  /// `OptimizerStorage`.
  bool isSplit = false;
  /// The shape of the whole tensor, if each rank keeps a flat part of it.
  int wholeRank = 0;
  int64_t wholeShape[kMaxRank] = {};
  /// Whether each row starts with 0 and ascends.
  bool isCumulative = false;

  bool isPart() const { return wholeRank != 0; }
};

inline int64_t countOf(const BufferInfo &buffer) {
  int64_t count = 1;
  for (int i = 0; i < buffer.rank; ++i)
    count *= buffer.shape[i];
  return count;
}
inline int64_t bytesOf(const BufferInfo &buffer) {
  return countOf(buffer) * byteWidth(buffer.type);
}
/// Returns the bytes of the buffer in the arena, without alignment padding.
inline int64_t storedBytesOf(const BufferInfo &buffer) {
  const int64_t count = countOf(buffer);
  return buffer.isSplit ? lowerHalfOffset(count) + 2 * count : bytesOf(buffer);
}

/// Copies `count` f32 elements from `whole` to the halves of a split buffer.
inline void splitHalves(const void *whole, int64_t count, void *halves) {
  auto *upper = static_cast<unsigned char *>(halves);
  auto *lower = upper + lowerHalfOffset(count);
  for (int64_t i = 0; i < count; ++i) {
    uint32_t bits;
    std::memcpy(&bits, static_cast<const unsigned char *>(whole) + 4 * i, 4);
    const uint16_t parts[] = {uint16_t(bits >> 16), uint16_t(bits)};
    std::memcpy(upper + 2 * i, &parts[0], 2);
    std::memcpy(lower + 2 * i, &parts[1], 2);
  }
}

/// Returns the bytes of a split buffer that holds the f32 array `whole`.
inline Array splitHalves(const Array &whole) {
  const int64_t count = whole.getNumElements();
  Array halves(Type::U8, {lowerHalfOffset(count) + 2 * count});
  splitHalves(whole.data(), count, halves.data());
  return halves;
}

/// Inverts `splitHalves`.
inline void joinHalves(const void *halves, int64_t count, void *whole) {
  auto *upper = static_cast<const unsigned char *>(halves);
  auto *lower = upper + lowerHalfOffset(count);
  for (int64_t i = 0; i < count; ++i) {
    uint16_t parts[2];
    std::memcpy(&parts[0], upper + 2 * i, 2);
    std::memcpy(&parts[1], lower + 2 * i, 2);
    const uint32_t bits = uint32_t(parts[0]) << 16 | parts[1];
    std::memcpy(static_cast<unsigned char *>(whole) + 4 * i, &bits, 4);
  }
}

/// Describes a buffer to the host runtime, which sees only whole tensors.
inline TensorInfo describeBuffer(const BufferInfo &buffer) {
  TensorInfo tensor;
  tensor.name = buffer.name;
  tensor.role = buffer.role;
  tensor.type = buffer.type;
  if (buffer.isPart())
    tensor.shape.assign(buffer.wholeShape,
                        buffer.wholeShape + buffer.wholeRank);
  else
    tensor.shape.assign(buffer.shape, buffer.shape + buffer.rank);
  tensor.init = buffer.init;
  tensor.classes = buffer.classes;
  tensor.isLossScale = buffer.isLossScale;
  tensor.isCumulative = buffer.isCumulative;
  return tensor;
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_BUFFERS_H
