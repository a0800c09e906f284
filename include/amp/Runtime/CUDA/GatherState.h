//===- GatherState.h - Gather the states that ranks divide ------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_GATHERSTATE_H
#define AMP_RUNTIME_CUDA_GATHERSTATE_H

#include "amp/Runtime/CUDA/ProgramInfo.h"

#include <cstring>

namespace amp::cuda {

/// Gathers the states that the ranks divide, one after the other. `arena` holds
/// the parts of this rank, and `tensors` describes the buffers of `info`. All
/// ranks call this function. Only rank 0 receives values in `gathered`.
inline Status gatherParts(const ProgramInfo &info,
                          const std::vector<TensorInfo> &tensors,
                          const unsigned char *arena, RankGroup &ranks,
                          ArrayMap *gathered) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    const BufferInfo &buffer = info.buffers[i];
    if (!buffer.isPart())
      continue;
    const int64_t bytes = bytesOf(buffer);
    std::vector<unsigned char> parts(
        ranks.getRank() == 0 ? size_t(bytes * ranks.getNumRanks()) : 0);
    AMP_RETURN_IF_ERROR(ranks.gather(
        arena + buffer.offset, bytes,
        std::string("the gathering of the state '") + buffer.name + "'",
        parts.empty() ? nullptr : parts.data()));
    if (parts.empty())
      continue;
    Array whole(buffer.type, tensors[i].shape);
    std::memcpy(whole.data(), parts.data(), whole.getNumBytes());
    gathered->set(buffer.name, std::move(whole));
  }
  return Status();
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_GATHERSTATE_H
