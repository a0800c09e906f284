//===- BatchSlots.h - Batches on the device ---------------------*- C++ -*-===//
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

#ifndef AMP_RUNTIME_CUDA_BATCHSLOTS_H
#define AMP_RUNTIME_CUDA_BATCHSLOTS_H

#include "amp/Runtime/CUDA/DeviceMemory.h"
#include "amp/Runtime/CUDA/Staging.h"

#include <memory>

namespace amp::cuda {

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

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_BATCHSLOTS_H
