//===- StepMemory.cpp - The memory of compiled steps ----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/StepMemory.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <new>
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

namespace {

/// Freed buffers of this thread, by size, for the next buffers of these sizes.
/// A step allocates the same buffers as the step before it. The C library takes
/// longer, because it merges and divides aligned allocations.
class FreedBuffers {
public:
  FreedBuffers() = default;
  FreedBuffers(const FreedBuffers &) = delete;
  FreedBuffers &operator=(const FreedBuffers &) = delete;
  ~FreedBuffers() {
    for (Link *&head : heads)
      while (Link *link = head) {
        head = link->next;
        std::free(link);
      }
  }

  /// Whether allocations of `bytes` are kept. Larger ones take longer to use
  /// than to allocate.
  static bool keeps(size_t bytes) { return bytes <= kLargest; }

  /// The bytes to allocate for `bytes`, at most a quarter more.
  static size_t roundUp(size_t bytes) {
    const size_t unit = size_t(1) << getShift(bytes);
    return (bytes + unit - 1) & ~(unit - 1);
  }

  /// Returns an allocation of `bytes`, a result of `roundUp`, or null.
  void *take(size_t bytes) {
    Link *&head = heads[getIndex(bytes)];
    Link *link = head;
    if (link) {
      head = link->next;
      total -= bytes;
    }
    return link;
  }

  /// Keeps or frees an allocation of `bytes`, a result of `roundUp`.
  void give(void *allocation, size_t bytes) {
    if (total + bytes > kMost) {
      std::free(allocation);
      return;
    }
    total += bytes;
    Link *&head = heads[getIndex(bytes)];
    head = new (allocation) Link{head};
  }

private:
  struct Link {
    Link *next;
  };
  static constexpr size_t kLargest = 1 << 20, kMost = 16 << 20;

  /// Sizes are multiples of a power of two, at least the alignment.
  static unsigned getShift(size_t bytes) {
    return std::max(llvm::Log2_64_Ceil(bytes), 9u) - 3;
  }
  /// A size is 1 to 8 units.
  static size_t getIndex(size_t bytes) {
    const unsigned shift = getShift(bytes);
    return (shift - 6) * 8 + (bytes >> shift) - 1;
  }

  Link *heads[(20 - 9 + 1) * 8] = {};
  size_t total = 0;
};

} // namespace

static FreedBuffers &getFreedBuffers() {
  static thread_local FreedBuffers buffers;
  return buffers;
}

/// The alignment of the buffers that are kept, and of their headers.
static constexpr size_t kAlignment = 64;

static BufferHeader *getHeader(void *buffer) {
  return static_cast<BufferHeader *>(buffer) - 1;
}

void *mlir::amp::allocateForStep(size_t alignment, size_t bytes) {
  // The offset is large enough to keep the alignment.
  size_t offset = std::max(alignment, sizeof(BufferHeader));
  if (bytes > std::numeric_limits<size_t>::max() - offset)
    reportOutOfMemory(bytes);
  size_t size = offset + bytes;
  void *freed = nullptr;
  if (alignment == kAlignment && FreedBuffers::keeps(size)) {
    size = FreedBuffers::roundUp(size);
    freed = getFreedBuffers().take(size);
  }
  auto *allocation =
      static_cast<char *>(freed ? freed : std::aligned_alloc(alignment, size));
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
  const size_t offset = size_t(static_cast<char *>(pointer) -
                               static_cast<char *>(header.allocation));
  const size_t size = offset + header.bytes;
  if (offset == kAlignment && FreedBuffers::keeps(size))
    getFreedBuffers().give(header.allocation, FreedBuffers::roundUp(size));
  else
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
