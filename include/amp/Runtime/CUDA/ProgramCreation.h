//===- ProgramCreation.h - Memory and plans of a program --------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_PROGRAMCREATION_H
#define AMP_RUNTIME_CUDA_PROGRAMCREATION_H

#include "amp/Runtime/CUDA/Program.h"
#include "amp/Runtime/CUDA/ProgramParts.h"

namespace amp::cuda {

inline Status Program::reportMemory(int64_t bytes) const {
  cudaGetLastError(); // reset the error, which is handled
  size_t free = 0, total = 0;
  AMP_CUDA_CALL(cudaMemGetInfo(&free, &total));
  return makeError(kOutOfMemory,
                   "program '%s' needs %lld bytes of device memory, but %zu "
                   "are free",
                   info.name, (long long)bytes, free);
}

inline Status Program::allocateArena() {
  amp_step_allocator allocator = options.allocator;
  if (registersMemory())
    AMP_RETURN_IF_ERROR(options.ranks->findAllocator(&allocator));
  cudaError_t error =
      memory.allocate(allocator, size_t(memoryBytes()), options.device, stream);
  if (error == cudaErrorMemoryAllocation)
    return reportMemory(memoryBytes());
  AMP_RETURN_IF_ERROR(check(error, "cudaMalloc"));
  if (reinterpret_cast<uintptr_t>(memory.get()) % size_t(kBufferAlignment) != 0)
    return makeError(kInvalidArgument,
                     "the allocator returned an address that is not a multiple "
                     "of %lld",
                     (long long)kBufferAlignment);
  arena = memory.get();
  AMP_CUDA_CALL(cudaMemsetAsync(arena, 0, size_t(memoryBytes()), stream));
  return synchronize();
}

inline Status Program::createPlans() {
  int64_t bytes = 0;
  for (int i = 0; i < info.plans.numPlans; ++i) {
    void *plan = nullptr;
    int64_t spareBytes = 0;
    AMP_RETURN_IF_ERROR(info.plans.create(i, &plan, &spareBytes));
    plans.push_back(plan);
    bytes = std::max(bytes, spareBytes);
  }
  if (bytes == 0)
    return Status();
  cudaError_t error =
      spare.allocate(options.allocator, size_t(bytes), options.device, stream);
  if (error == cudaErrorMemoryAllocation)
    return reportMemory(info.arenaBytes + bytes);
  return check(error, "cudaMalloc");
}

inline Status Program::createSlots() {
  batchBuffers = find(Role::Batch);
  staging.resize(batchBuffers.size());
  std::vector<BatchSlots::Target> targets;
  int64_t bytes = 0;
  for (size_t i : batchBuffers) {
    const BufferInfo &buffer = info.buffers[i];
    targets.push_back({arena + buffer.offset, size_t(bytesOf(buffer))});
    bytes += bytesOf(buffer);
  }
  cudaError_t error = cudaSuccess;
  AMP_RETURN_IF_ERROR(slots.create(std::move(targets), options.numSlots,
                                   options.allocator, options.device, stream,
                                   &error));
  if (error == cudaErrorMemoryAllocation)
    return reportMemory(memoryBytes() + options.numSlots * bytes);
  return check(error, "cudaMalloc");
}

/// Verifies that the ranks are those that the program is for.
inline Status Program::prepareRanks() {
  const CollectiveTable &table = info.collectives;
  if (table.numCollectives == 0) {
    options.ranks.reset();
    return Status();
  }
  if (!options.ranks)
    return makeError(kInvalidArgument,
                     "program '%s' has collectives, expected several ranks to "
                     "run it",
                     info.name);
  if (table.numRanks && table.numRanks != options.ranks->getNumRanks())
    return makeError(kInvalidArgument,
                     "program '%s' is for %d ranks, but %d run it", info.name,
                     table.numRanks, options.ranks->getNumRanks());
  if (registersMemory())
    AMP_RETURN_IF_ERROR(
        options.ranks->registerMemory(arena, size_t(memoryBytes())));
  return options.ranks->prepare(table.collectives, table.numCollectives);
}

inline Status Program::allocate(const ProgramOptions &from) {
  options = from;
  AMP_RETURN_IF_ERROR(verifyProgram(info, options.caller));
  for (int i = 0; i < info.numLaunches; ++i)
    hasReaders |= info.launches[i].reader != Reader::Training;
  for (int i = 0; i < info.numLaunches; ++i)
    keepsCopies |= info.launches[i].refreshes;
  int devices = 0;
  AMP_CUDA_CALL(cudaGetDeviceCount(&devices));
  if (options.device < 0 || options.device >= devices)
    return makeError(kNoDevice, "there is no device %d, but %d in all",
                     options.device, devices);
  DeviceScope scope(options.device);
  AMP_CUDA_CALL(cudaStreamCreateWithFlags(&ownStream, cudaStreamNonBlocking));
  if (options.overlapsCopies)
    AMP_CUDA_CALL(
        cudaStreamCreateWithFlags(&copyStream, cudaStreamNonBlocking));
  stream =
      options.stream ? static_cast<cudaStream_t>(*options.stream) : ownStream;
  AMP_RETURN_IF_ERROR(allocateArena());
  AMP_RETURN_IF_ERROR(gemms.create(info.gemms, info.numGemms,
                                   arena + info.workspaceOffset,
                                   size_t(info.workspaceBytes), options.gemm));
  AMP_RETURN_IF_ERROR(createPlans());
  AMP_RETURN_IF_ERROR(createOptimizerTables(info, arena, &tables));
  AMP_RETURN_IF_ERROR(createSlots());
  AMP_RETURN_IF_ERROR(prepareRanks());
  for (size_t i : find(Role::Constant)) {
    Array array;
    AMP_RETURN_IF_ERROR(initializeTensor(tensors[i], options.seed, &array));
    AMP_RETURN_IF_ERROR(writeBuffer(int(i), array));
  }
  return Status();
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_PROGRAMCREATION_H
