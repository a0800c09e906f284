//===- ProgramData.h - Batches and states of a program ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_PROGRAMDATA_H
#define AMP_RUNTIME_CUDA_PROGRAMDATA_H

#include "amp/Runtime/CUDA/GatherState.h"
#include "amp/Runtime/CUDA/Program.h"
#include "amp/Runtime/CUDA/ProgramParts.h"
#include "amp/Runtime/Host/RankPart.h"

#include <cstring>

namespace amp::cuda {

inline Status Program::readBuffer(int index, Array *array) {
  if (index < 0 || index >= info.numBuffers)
    return makeError(kInvalidArgument, "buffer %d of %d", index,
                     info.numBuffers);
  const BufferInfo &buffer = info.buffers[index];
  if (!arena)
    return makeError(kInvalidArgument, "program '%s' has not been created",
                     info.name);
  if (!isInMemory(buffer))
    return makeError(kInvalidArgument,
                     "'%s' is a prediction, which the step was created without",
                     buffer.name);
  if (buffer.isPart()) {
    const Array *whole = gathered.lookup(buffer.name);
    if (!whole)
      return makeError(kInvalidArgument,
                       "the ranks divide '%s', expected all of them to gather "
                       "it first",
                       buffer.name);
    *array = whole->clone();
    return Status();
  }
  DeviceScope scope(options.device);
  *array = Array(buffer.type, tensors[size_t(index)].shape);
  std::vector<unsigned char> halves(buffer.isSplit ? storedBytesOf(buffer) : 0);
  AMP_CUDA_CALL(cudaMemcpyAsync(
      buffer.isSplit ? halves.data() : array->data(), arena + buffer.offset,
      size_t(storedBytesOf(buffer)), cudaMemcpyDeviceToHost, stream));
  AMP_RETURN_IF_ERROR(synchronize());
  if (buffer.isSplit)
    joinHalves(halves.data(), countOf(buffer), array->data());
  return Status();
}

inline Status Program::writeBuffer(int index, const Array &array) {
  if (index < 0 || index >= info.numBuffers)
    return makeError(kInvalidArgument, "buffer %d of %d", index,
                     info.numBuffers);
  const BufferInfo &buffer = info.buffers[index];
  written.resize(size_t(info.numBuffers));
  if (!tensors[size_t(index)].fits(array))
    return makeError(kInvalidArgument, "'%s' is %s, expected %s", buffer.name,
                     array.describe().c_str(),
                     tensors[size_t(index)].describe().c_str());
  written[size_t(index)] = true;
  areCopiesStale |= isState(buffer.role);
  DeviceScope scope(options.device);
  if (buffer.isPart() || buffer.isSplit) {
    const Array stored =
        buffer.isSplit
            ? splitHalves(array)
            : takeRankPart(array, countOf(buffer), options.ranks->getRank());
    AMP_CUDA_CALL(cudaMemcpyAsync(arena + buffer.offset, stored.data(),
                                  stored.getNumBytes(), cudaMemcpyHostToDevice,
                                  stream));
    return synchronize(); // before the copy is destroyed
  }
  return check(cudaMemcpyAsync(arena + buffer.offset, array.data(),
                               array.getNumBytes(), cudaMemcpyHostToDevice,
                               stream),
               "cudaMemcpyAsync");
}

template <typename Fill>
Status Program::stageBatch(int slot, size_t index, size_t bytes,
                           cudaStream_t on, Fill fill) {
  const size_t buffer = batchBuffers[index];
  std::unique_ptr<Staging> &pinned = staging[index];
  if (!pinned) {
    pinned = std::make_unique<Staging>();
    AMP_RETURN_IF_ERROR(pinned->create(bytes));
  }
  void *data = nullptr;
  AMP_RETURN_IF_ERROR(pinned->acquire(&data));
  fill(data);
  AMP_RETURN_IF_ERROR(
      checkLabels(tensors[buffer], data, countOf(info.buffers[buffer])));
  return slots.fill(slot, index, on, [&](unsigned char *place) {
    return pinned->send(place, on);
  });
}

inline void Program::beginFilling() {
  if (!options.overlapsCopies || isFilling)
    return;
  isFilling = true;
  hostSlot = 1 - hostSlot;
  slots.empty(hostSlot);
}

template <typename Fill>
Status Program::fillBatch(int index, size_t bytes, Fill fill) {
  const std::vector<size_t> batches = find(Role::Batch);
  if (index < 0 || index >= int(batches.size()))
    return makeError(kInvalidArgument, "batch argument %d of %zu", index,
                     batches.size());
  const BufferInfo *buffer = &info.buffers[batches[size_t(index)]];
  if (bytes != size_t(bytesOf(*buffer)))
    return makeError(kInvalidArgument,
                     "batch argument '%s' has %zu bytes, expected %lld (%s)",
                     buffer->name, bytes, (long long)bytesOf(*buffer),
                     describeBuffer(*buffer).describe().c_str());
  if (size_t(index) >= batchBuffers.size())
    return makeError(kInvalidArgument, "program '%s' has not been created",
                     info.name);
  DeviceScope scope(options.device);
  beginFilling();
  return stageBatch(hostSlot, size_t(index), bytes,
                    copyStream ? copyStream : stream, fill);
}

inline Status Program::setBatch(int index, const void *host, size_t bytes) {
  return fillBatch(index, host ? bytes : 0,
                   [&](void *to) { std::memcpy(to, host, bytes); });
}

inline Status Program::fill(size_t tensor, int64_t, size_t bytes,
                            const std::function<void(void *)> &fill) {
  int index = 0;
  for (size_t batch : find(Role::Batch)) {
    if (batch == tensor)
      return fillBatch(index, bytes, fill);
    ++index;
  }
  return makeError(kInvalidArgument, "buffer %zu is not a batch", tensor);
}

inline Status Program::setBatch(const BatchData &batch) {
  DeviceScope scope(options.device);
  const cudaStream_t on =
      batch.stream ? static_cast<cudaStream_t>(*batch.stream) : stream;
  size_t index = 0;
  while (batchBuffers[index] != batch.tensor)
    ++index;
  if (!batch.isOnDevice)
    return stageBatch(batch.slot, index, batch.bytes, on, [&](void *to) {
      if (batch.bytes)
        std::memcpy(to, batch.data, batch.bytes);
    });
  return slots.fill(batch.slot, index, on, [&](unsigned char *place) {
    return check(cudaMemcpyAsync(place, batch.data, batch.bytes,
                                 cudaMemcpyDeviceToDevice, on),
                 "cudaMemcpyAsync");
  });
}

inline Status Program::gatherStates() {
  if (!hasParts())
    return Status();
  AMP_RETURN_IF_ERROR(synchronize());
  DeviceScope scope(options.device);
  return gatherParts(info, tensors, arena, *options.ranks, &gathered);
}

inline void Program::addMemory(Results *results) {
  results->emplace_back("bytes of device memory", double(getMemoryBytes()));
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
  areCopiesStale = true;
  return synchronize();
}

inline Status Program::enqueueHyperparameter(size_t tensor, double value) {
  const BufferInfo &buffer = info.buffers[tensor];
  if (!arena)
    return makeError(kInvalidArgument, "program '%s' has not been created",
                     info.name);
  DeviceScope scope(options.device);
  Array element(buffer.type, {});
  element.fill(value);
  AMP_RETURN_IF_ERROR(
      enqueueFill(stream, arena + buffer.offset, countOf(buffer), element));
  written.resize(size_t(info.numBuffers));
  written[tensor] = true;
  return Status();
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_PROGRAMDATA_H
