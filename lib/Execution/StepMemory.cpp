//===- StepMemory.cpp - The memory of compiled steps ----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/StepMemory.h"

#include "llvm/Support/ErrorHandling.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#ifdef __GLIBC__
#include <malloc.h>
#endif

using namespace mlir::amp;

void mlir::amp::reportOutOfMemory(size_t bytes) {
  static char message[64];
  std::snprintf(message, sizeof(message), "out of memory for %zu bytes", bytes);
  llvm::report_bad_alloc_error(message);
  llvm_unreachable("the handler of bad allocations returned");
}

StepMemory &mlir::amp::getStepMemory() {
  static thread_local StepMemory memory;
  return memory;
}

namespace {
/// The header before each buffer of a step.
struct BufferHeader {
  void *allocation;
  size_t bytes;
  /// The buffers of this thread that were allocated before and after it.
  BufferHeader *older, *newer;
};
} // namespace

/// The last buffer that this thread has allocated and not freed, or null.
static BufferHeader *&getNewestBuffer() {
  static thread_local BufferHeader *newest = nullptr;
  return newest;
}

static BufferHeader *getHeader(void *buffer) {
  return static_cast<BufferHeader *>(buffer) - 1;
}

void *mlir::amp::allocateForStep(size_t alignment, size_t bytes) {
  // The offset is large enough to keep the alignment.
  size_t offset = std::max(alignment, sizeof(BufferHeader));
  if (bytes > std::numeric_limits<size_t>::max() - offset)
    reportOutOfMemory(bytes);
  auto *allocation =
      static_cast<char *>(std::aligned_alloc(alignment, offset + bytes));
  if (!allocation)
    reportOutOfMemory(bytes);
  void *pointer = allocation + offset;
  BufferHeader *&newest = getNewestBuffer();
  BufferHeader *header = getHeader(pointer);
  *header = {allocation, bytes, newest, nullptr};
  if (newest)
    newest->newer = header;
  newest = header;
  StepMemory &memory = getStepMemory();
  memory.live += bytes;
  memory.peak = std::max(memory.peak, memory.live);
  return pointer;
}

void mlir::amp::freeForStep(void *pointer) {
  if (!pointer)
    return;
  BufferHeader header = *getHeader(pointer);
  if (header.older)
    header.older->newer = header.newer;
  (header.newer ? header.newer->older : getNewestBuffer()) = header.older;
  getStepMemory().live -= header.bytes;
  std::free(header.allocation);
}

void *mlir::amp::markStepMemory() { return getNewestBuffer(); }

void mlir::amp::freeStepMemory(void *mark) {
  while (BufferHeader *newest = getNewestBuffer()) {
    if (newest == mark)
      return;
    freeForStep(newest + 1);
  }
}

void mlir::amp::keepFreedMemory() {
#ifdef __GLIBC__
  // The largest threshold that glibc accepts.
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  ::mallopt(M_TRIM_THRESHOLD, -1);
#endif
}
