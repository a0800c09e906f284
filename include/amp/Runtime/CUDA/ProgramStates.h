//===- ProgramStates.h - The states of a program as a whole -----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of a program that go through all its states. Program.h includes
// them.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_PROGRAMSTATES_H
#define AMP_RUNTIME_CUDA_PROGRAMSTATES_H

#include "amp/Runtime/CUDA/Program.h"
#include "amp/Runtime/Host/RankPart.h"

namespace amp::cuda {

inline Status Program::gatherStates() {
  if (!hasParts())
    return Status();
  AMP_RETURN_IF_ERROR(synchronize());
  DeviceScope scope(options.device);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const BufferInfo &buffer = info.buffers[i];
    if (!buffer.isPart())
      continue;
    const int64_t bytes = bytesOf(buffer);
    std::vector<unsigned char> parts(
        options.ranks->getRank() == 0
            ? size_t(bytes * options.ranks->getNumRanks())
            : 0);
    AMP_RETURN_IF_ERROR(options.ranks->gather(
        arena + buffer.offset, bytes,
        std::string("the gathering of the state '") + buffer.name + "'",
        parts.empty() ? nullptr : parts.data()));
    if (parts.empty())
      continue;
    Array whole(buffer.type, tensors[i].shape);
    std::memcpy(whole.data(), parts.data(), whole.getNumBytes());
    gathered.set(buffer.name, std::move(whole));
  }
  return Status();
}

inline void Program::addMemory(Results *results) {
  results->emplace_back("bytes of device memory", double(memoryBytes()));
  if (!hasParts())
    return;
  addStateBytes(
      tensors, [&](size_t i) { return bytesOf(info.buffers[i]); }, results);
}

inline Status Program::zeroStates() {
  DeviceScope scope(options.device);
  written.resize(size_t(info.numBuffers));
  for (int i = 0; i < info.numBuffers; ++i) {
    const BufferInfo &buffer = info.buffers[i];
    if (!isState(buffer.role))
      continue;
    AMP_CUDA_CALL(cudaMemsetAsync(arena + buffer.offset, 0,
                                  size_t(storedBytesOf(buffer)), stream));
    written[size_t(i)] = true;
  }
  return synchronize();
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_PROGRAMSTATES_H
