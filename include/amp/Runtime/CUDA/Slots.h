//===- Slots.h - Batches on the device --------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step reads its batches at fixed addresses of the arena. With one slot a
// batch is copied there directly. With two slots each has its own memory, and a
// run moves the batches of its slot into the arena. A caller can then copy the
// next batch on another stream while a step runs.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_SLOTS_H
#define AMP_RUNTIME_CUDA_SLOTS_H

#include "amp/Runtime/CUDA/Launch.h"
#include "amp/Runtime/CUDA/Staging.h"
#include "amp/Runtime/Step/InterfaceStep.h"

#include <memory>

namespace amp::cuda {

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

/// The device memory of the batches of a program.
class BatchSlots {
public:
  /// A batch in the arena.
  struct Target {
    unsigned char *data;
    size_t bytes;
  };

  /// Creates `count` slots. Returns cudaErrorMemoryAllocation in `memory` if
  /// there is too little.
  Status create(std::vector<Target> batches, int count,
                const amp_step_allocator &allocator, int device,
                cudaStream_t stream, cudaError_t *memory) {
    targets = std::move(batches);
    numSlots = count;
    *memory = cudaSuccess;
    for (int i = 0; i < numSlots; ++i) {
      slots[i].filled.assign(targets.size(), false);
      for (const Target &target : targets) {
        slots[i].buffers.push_back(std::make_unique<DeviceMemory>());
        slots[i].copied.push_back(std::make_unique<Event>());
        AMP_RETURN_IF_ERROR(slots[i].copied.back()->create());
        if (numSlots == 1 || target.bytes == 0)
          continue;
        *memory = slots[i].buffers.back()->allocate(allocator, target.bytes,
                                                    device, stream);
        if (*memory != cudaSuccess)
          return Status();
      }
      AMP_RETURN_IF_ERROR(slots[i].read.create());
    }
    return Status();
  }

  /// Enqueues `copy(address)`, which fills batch `index`, on `stream`, after
  /// the earlier runs and copies of the slot.
  template <typename Copy>
  Status fill(int slot, size_t index, cudaStream_t stream, Copy copy) {
    Slot &own = slots[slot];
    AMP_RETURN_IF_ERROR(own.read.delay(stream));
    AMP_RETURN_IF_ERROR(own.copied[index]->delay(stream));
    unsigned char *place =
        numSlots == 1 ? targets[index].data : own.buffers[index]->get();
    AMP_RETURN_IF_ERROR(copy(place));
    AMP_RETURN_IF_ERROR(own.copied[index]->record(stream));
    own.filled[index] = true;
    if (inArena == slot)
      inArena = -1;
    return Status();
  }

  /// Marks a slot as empty.
  void empty(int slot) { slots[slot].filled.assign(targets.size(), false); }

  /// Makes `stream` wait for the batches of a slot, in the arena.
  Status begin(int slot, cudaStream_t stream) {
    Slot &own = slots[slot];
    if (inArena == slot)
      return Status();
    for (size_t i = 0; i < targets.size(); ++i) {
      AMP_RETURN_IF_ERROR(own.copied[i]->delay(stream));
      if (numSlots > 1 && targets[i].bytes)
        AMP_CUDA_CALL(cudaMemcpyAsync(targets[i].data, own.buffers[i]->get(),
                                      targets[i].bytes,
                                      cudaMemcpyDeviceToDevice, stream));
    }
    inArena = slot;
    // The slot may be filled again, though the step has yet to run.
    return numSlots > 1 ? own.read.record(stream) : Status();
  }
  /// Marks the end of runs on `stream`.
  Status end(int slot, cudaStream_t stream) {
    return numSlots == 1 ? slots[slot].read.record(stream) : Status();
  }

  /// Makes `stream` wait for all copies.
  Status delay(cudaStream_t stream) {
    for (Slot &slot : slots)
      for (const auto &event : slot.copied)
        AMP_RETURN_IF_ERROR(event->delay(stream));
    return Status();
  }

  bool isFilled(int slot, size_t index) const {
    return slots[slot].filled[index];
  }
  int getNumSlots() const { return numSlots; }
  /// The bytes of device memory outside the arena.
  size_t getBytes() const {
    size_t bytes = 0;
    for (const Slot &slot : slots)
      for (const auto &buffer : slot.buffers)
        bytes += buffer->size();
    return bytes;
  }
  void reset() {
    for (Slot &slot : slots) {
      slot.buffers.clear();
      slot.copied.clear();
    }
  }

private:
  struct Slot {
    /// The memory of each batch, its last copy, and whether there was one.
    std::vector<std::unique_ptr<DeviceMemory>> buffers;
    std::vector<std::unique_ptr<Event>> copied;
    std::vector<bool> filled;
    /// The last work that reads the slot.
    Event read;
  };

  std::vector<Target> targets;
  int numSlots = 1;
  Slot slots[kMaxSlots];
  /// The slot whose batches are in the arena.
  int inArena = -1;
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

#endif // AMP_RUNTIME_CUDA_SLOTS_H
