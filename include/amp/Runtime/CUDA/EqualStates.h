//===- EqualStates.h - Compares the states of ranks -------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_EQUALSTATES_H
#define AMP_RUNTIME_CUDA_EQUALSTATES_H

#include "amp/Runtime/CUDA/DeviceMemory.h"
#include "amp/Runtime/CUDA/ProgramInfo.h"
#include "amp/Runtime/Host/StateHash.h"

namespace amp::cuda {

/// Verifies that all ranks have equal states, except for states that the ranks
/// divide. All ranks call this function, and all return the same error.
/// `device` is the device of the group.
inline Status checkEqualStates(amphost::Step &step, const ProgramInfo &info,
                               RankGroup &group, int device) {
  DeviceScope scope(device);
  std::vector<size_t> states;
  std::vector<uint32_t> own;
  for (size_t i = 0; i < step.getTensors().size(); ++i) {
    if (!isState(step.getTensors()[i].role) || info.buffers[i].isPart())
      continue;
    Array value;
    AMP_RETURN_IF_ERROR(step.read(i, &value));
    states.push_back(i);
    own.push_back(amphost::hashState(value));
  }
  std::vector<uint32_t> all(own.size() * size_t(group.getNumRanks()));
  const size_t bytes = own.size() * sizeof(uint32_t);
  DeviceMemory sent;
  AMP_RETURN_IF_ERROR(
      check(sent.allocate({}, bytes, device, nullptr), "cudaMalloc"));
  AMP_CUDA_CALL(
      cudaMemcpy(sent.get(), own.data(), bytes, cudaMemcpyHostToDevice));
  // The stream of the collectives does not wait for copies from pageable
  // memory.
  AMP_CUDA_CALL(cudaStreamSynchronize(nullptr));
  AMP_RETURN_IF_ERROR(group.gather(
      sent.get(), int64_t(bytes),
      "the check of " + std::to_string(own.size()) + " states", all.data()));
  return amphost::compareStates(step, states, all.data(), group.getNumRanks());
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_EQUALSTATES_H
