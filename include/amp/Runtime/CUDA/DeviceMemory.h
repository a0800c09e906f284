//===- DeviceMemory.h - Memory and events of a device -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_DEVICEMEMORY_H
#define AMP_RUNTIME_CUDA_DEVICEMEMORY_H

#include "amp/Runtime/CUDA/Launch.h"
#include "amp/Runtime/Step/InterfaceStep.h"

namespace amp::cuda {

/// Makes `device` the current device of the thread during its lifetime.
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

/// Device memory of the caller's allocator, or of cudaMalloc.
class DeviceMemory {
public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;
  ~DeviceMemory() { reset(); }

  /// Allocates `size` bytes, which `stream` uses. Returns
  /// cudaErrorMemoryAllocation if there are too few.
  cudaError_t allocate(const amp_step_allocator &from, size_t size,
                       int onDevice, cudaStream_t onStream) {
    reset();
    allocator = from;
    device = onDevice;
    stream = onStream;
    bytes = size;
    if (!allocator.allocate)
      return cudaMalloc(&memory, bytes);
    memory =
        allocator.allocate(allocator.context, uint64_t(bytes), device, stream);
    return memory ? cudaSuccess : cudaErrorMemoryAllocation;
  }
  /// Frees the memory. No work may use it any more.
  void reset() {
    if (memory && allocator.deallocate)
      allocator.deallocate(allocator.context, memory, uint64_t(bytes), device,
                           stream);
    else if (memory)
      cudaFree(memory);
    memory = nullptr;
    bytes = 0;
  }

  unsigned char *get() const { return static_cast<unsigned char *>(memory); }
  size_t size() const { return bytes; }

private:
  amp_step_allocator allocator = {};
  void *memory = nullptr;
  size_t bytes = 0;
  int device = 0;
  cudaStream_t stream = nullptr;
};

/// An event without a time.
class Event {
public:
  Event() = default;
  Event(const Event &) = delete;
  Event &operator=(const Event &) = delete;
  ~Event() {
    if (event)
      cudaEventDestroy(event);
  }
  Status create() {
    return check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming),
                 "cudaEventCreateWithFlags");
  }
  Status record(cudaStream_t stream) {
    return check(cudaEventRecord(event, stream), "cudaEventRecord");
  }
  /// Lets later work of `stream` wait for the last record, if there is one.
  Status delay(cudaStream_t stream) {
    if (!event)
      return Status();
    return check(cudaStreamWaitEvent(stream, event, 0), "cudaStreamWaitEvent");
  }

private:
  cudaEvent_t event = nullptr;
};

/// Writes `bits` to all elements.
template <typename Bits>
__global__ void fillKernel(Bits *data, int64_t count, Bits bits) {
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += int64_t(gridDim.x) * blockDim.x) {
    AMP_ON_STORE(data + i, sizeof(Bits));
    data[i] = bits;
  }
}

/// Enqueues a fill of `count` elements with the one element of `value`. The
/// host does not wait, unlike for a copy from memory that is not pinned.
inline Status enqueueFill(cudaStream_t stream, void *data, int64_t count,
                          const Array &value) {
  LaunchShape shape;
  auto fill = [&](auto bits) {
    std::memcpy(&bits, value.data(), sizeof(bits));
    using Bits = decltype(bits);
    return launch("fill", stream, shape, fillKernel<Bits>,
                  static_cast<Bits *>(data), count, bits);
  };
  switch (byteWidth(value.getType())) {
  case 1:
    return fill(uint8_t());
  case 2:
    return fill(uint16_t());
  case 4:
    return fill(uint32_t());
  default:
    return fill(uint64_t());
  }
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_DEVICEMEMORY_H
