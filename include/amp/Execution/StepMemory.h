//===- StepMemory.h - The memory of compiled steps --------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_STEPMEMORY_H
#define AMP_EXECUTION_STEPMEMORY_H

#include <cstddef>
#include <cstdint>

namespace mlir::amp {

/// Calls LLVM's handler for exhausted memory, which does not return. Programs
/// of the compiler set it as `host::noMemoryHandler`.
[[noreturn]] void reportOutOfMemory(size_t bytes);

/// The `aligned_alloc` and the `free` of compiled steps, which count
/// allocations. Both rely on a header before each buffer.
void *allocateForStep(size_t alignment, size_t bytes);
void freeForStep(void *pointer);

/// Bytes that compiled steps have allocated on this thread.
struct StepMemory {
  /// The bytes that are not freed yet, and their peak.
  int64_t live = 0;
  int64_t peak = 0;
};

/// The count of this thread. Reset it before a measurement of the peak.
StepMemory &getStepMemory();

/// `freeStepMemory` frees all buffers that this thread has allocated since
/// `markStepMemory` returned `mark`. It cleans up after a step that ends early.
/// Steps may be nested.
void *markStepMemory();
void freeStepMemory(void *mark);

/// Makes the C library keep the memory that compiled steps free, as much as it
/// supports this. Each step allocates the same buffers again. Memory that went
/// back to the kernel would have to be mapped and cleared again, page by page.
void keepFreedMemory();

} // namespace mlir::amp

#endif // AMP_EXECUTION_STEPMEMORY_H
