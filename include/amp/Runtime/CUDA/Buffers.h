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
  /// The shape of the whole tensor, if each rank keeps a flat part of it.
  int wholeRank = 0;
  int64_t wholeShape[kMaxRank] = {};

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

/// Describes a buffer to the host runtime, which knows whole tensors.
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
  return tensor;
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_BUFFERS_H
