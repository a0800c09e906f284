//===- Staging.h - Batches on their way to the device -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From pageable memory a copy waits for all that the stream has to do, so the
// host could not gather the next batch while the device works on this one.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_STAGING_H
#define AMP_RUNTIME_CUDA_STAGING_H

#include "amp/Runtime/CUDA/Status.h"

namespace amp::cuda {

/// Makes `device` the current one of the thread while it lives.
class DeviceScope {
public:
  explicit DeviceScope(int device) {
    if (cudaGetDevice(&previous) != cudaSuccess)
      previous = device;
    if (previous != device)
      cudaSetDevice(device);
    changed = previous != device;
  }
  DeviceScope(const DeviceScope &) = delete;
  DeviceScope &operator=(const DeviceScope &) = delete;
  ~DeviceScope() {
    if (changed)
      cudaSetDevice(previous);
  }

private:
  int previous = 0;
  bool changed = false;
};

/// Two pinned buffers for the batches of one argument, filled in turn.
class Staging {
public:
  Staging() = default;
  Staging(const Staging &) = delete;
  Staging &operator=(const Staging &) = delete;
  ~Staging() {
    for (Slot &slot : slots) {
      if (slot.copied)
        cudaEventDestroy(slot.copied);
      if (slot.data)
        cudaFreeHost(slot.data);
    }
  }

  Status create(size_t size) {
    bytes = size;
    for (Slot &slot : slots) {
      AMP_CUDA_CALL(cudaMallocHost(&slot.data, bytes));
      AMP_CUDA_CALL(
          cudaEventCreateWithFlags(&slot.copied, cudaEventDisableTiming));
    }
    return Status();
  }

  /// The buffer to fill next, when its last copy has been made.
  Status acquire(void **data) {
    AMP_CUDA_CALL(cudaEventSynchronize(slots[next].copied));
    *data = slots[next].data;
    return Status();
  }
  /// Enqueues the copy of what was acquired to the device.
  Status send(void *device, cudaStream_t stream) {
    Slot &slot = slots[next];
    next = 1 - next;
    AMP_CUDA_CALL(cudaMemcpyAsync(device, slot.data, bytes,
                                  cudaMemcpyHostToDevice, stream));
    return check(cudaEventRecord(slot.copied, stream), "cudaEventRecord");
  }

private:
  struct Slot {
    void *data = nullptr;
    cudaEvent_t copied = nullptr;
  };
  Slot slots[2];
  size_t bytes = 0;
  int next = 0;
};

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_STAGING_H
