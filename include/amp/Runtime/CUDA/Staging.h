//===- Staging.h - Pinned buffers of batches --------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy from pageable memory waits for all earlier work of the stream. The
// host could not gather the next batch while the device works on this one.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_STAGING_H
#define AMP_RUNTIME_CUDA_STAGING_H

#include "amp/Runtime/CUDA/Status.h"

namespace amp::cuda {

/// Two pinned buffers for the batches of one argument, which are filled in
/// turn.
class Staging {
public:
  Staging() = default;
  Staging(const Staging &) = delete;
  Staging &operator=(const Staging &) = delete;
  ~Staging() {
    for (PinnedBuffer &buffer : buffers) {
      if (buffer.copied)
        cudaEventDestroy(buffer.copied);
      if (buffer.data)
        cudaFreeHost(buffer.data);
    }
  }

  Status create(size_t size) {
    bytes = size;
    for (PinnedBuffer &buffer : buffers) {
      AMP_CUDA_CALL(cudaMallocHost(&buffer.data, bytes));
      AMP_CUDA_CALL(
          cudaEventCreateWithFlags(&buffer.copied, cudaEventDisableTiming));
    }
    return Status();
  }

  /// Returns the buffer to fill next, once its last copy is complete.
  Status acquire(void **data) {
    AMP_CUDA_CALL(cudaEventSynchronize(buffers[next].copied));
    *data = buffers[next].data;
    return Status();
  }
  /// Enqueues the copy of the acquired buffer to the device.
  Status send(void *device, cudaStream_t stream) {
    PinnedBuffer &buffer = buffers[next];
    next = 1 - next;
    AMP_CUDA_CALL(cudaMemcpyAsync(device, buffer.data, bytes,
                                  cudaMemcpyHostToDevice, stream));
    return check(cudaEventRecord(buffer.copied, stream), "cudaEventRecord");
  }

private:
  struct PinnedBuffer {
    void *data = nullptr;
    cudaEvent_t copied = nullptr;
  };
  PinnedBuffer buffers[2];
  size_t bytes = 0;
  int next = 0;
};

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_STAGING_H
