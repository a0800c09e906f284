//===- Memory.cpp - What memory there is and who wants it -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Memory.h"

#include "amp/Execution/Files.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/resource.h>
#include <unistd.h>

using namespace mlir::amp;

/// The text of a small file of the kernel, or nothing.
static std::string readKernelFile(const llvm::Twine &path) {
  auto buffer = llvm::MemoryBuffer::getFileAsStream(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

/// Main memory and swap.
static uint64_t getInstalledMemory() {
  uint64_t total = 0;
  std::string text = readKernelFile("/proc/meminfo");
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(text).split(lines, '\n');
  for (llvm::StringRef line : lines) {
    if (!line.consume_front("MemTotal:") && !line.consume_front("SwapTotal:"))
      continue;
    line = line.ltrim();
    uint64_t kilobytes;
    if (!line.consumeInteger(10, kilobytes))
      total += kilobytes * 1024;
  }
  if (total)
    return total;
  long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && size > 0)
    return uint64_t(pages) * uint64_t(size);
  return std::numeric_limits<uint64_t>::max();
}

/// What the control group of the process may have, in its parents too.
static uint64_t getGroupLimit() {
  uint64_t limit = std::numeric_limits<uint64_t>::max();
  auto note = [&](const llvm::Twine &path) {
    uint64_t bytes;
    // "max" is no number.
    if (!llvm::StringRef(readKernelFile(path)).trim().getAsInteger(10, bytes))
      limit = std::min(limit, bytes);
  };
  std::string text = readKernelFile("/proc/self/cgroup");
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(text).split(lines, '\n');
  for (llvm::StringRef line : lines) {
    if (!line.consume_front("0::"))
      continue;
    for (llvm::StringRef group = line; !group.empty();
         group = group.substr(0, group.rfind('/')))
      note("/sys/fs/cgroup" + group + "/memory.max");
  }
  note("/sys/fs/cgroup/memory.max");
  note("/sys/fs/cgroup/memory/memory.limit_in_bytes");
  return limit;
}

uint64_t mlir::amp::getMemoryLimit() {
  uint64_t limit = std::min(getInstalledMemory(), getGroupLimit());
  for (auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    struct rlimit values;
    if (::getrlimit(resource, &values) == 0 && values.rlim_cur != RLIM_INFINITY)
      limit = std::min<uint64_t>(limit, values.rlim_cur);
  }
  return limit;
}

llvm::Error mlir::amp::checkMemory(llvm::StringRef what, uint64_t bytes) {
  uint64_t limit = getMemoryLimit();
  if (bytes <= limit)
    return llvm::Error::success();
  return makeError("{0} takes {1} bytes, but this machine has {2}", what, bytes,
                   limit);
}

/// Ends the process, without an allocation: there is nothing left.
[[noreturn]] static void reportOutOfMemory(size_t bytes) {
  static char message[64];
  std::snprintf(message, sizeof(message), "out of memory for %zu bytes", bytes);
  llvm::report_bad_alloc_error(message);
  llvm_unreachable("the handler of bad allocations returned");
}

void *mlir::amp::allocateArray(size_t alignment, size_t bytes) {
  void *pointer = std::aligned_alloc(alignment, bytes);
  if (!pointer && bytes != 0)
    reportOutOfMemory(bytes);
  return pointer;
}

StepMemory &mlir::amp::getStepMemory() {
  static thread_local StepMemory memory;
  return memory;
}

namespace {
/// What stands in front of each buffer of a step.
struct BufferHeader {
  void *allocation;
  size_t bytes;
};
} // namespace

void *mlir::amp::allocateForStep(size_t alignment, size_t bytes) {
  // As far behind the beginning as keeps the alignment.
  size_t offset = std::max(alignment, sizeof(BufferHeader));
  if (bytes > std::numeric_limits<size_t>::max() - offset)
    reportOutOfMemory(bytes);
  auto *allocation =
      static_cast<char *>(std::aligned_alloc(alignment, offset + bytes));
  if (!allocation)
    reportOutOfMemory(bytes);
  void *pointer = allocation + offset;
  *(static_cast<BufferHeader *>(pointer) - 1) = {allocation, bytes};
  StepMemory &memory = getStepMemory();
  memory.live += bytes;
  memory.peak = std::max(memory.peak, memory.live);
  return pointer;
}

void mlir::amp::freeForStep(void *pointer) {
  if (!pointer)
    return;
  BufferHeader header = *(static_cast<BufferHeader *>(pointer) - 1);
  getStepMemory().live -= header.bytes;
  std::free(header.allocation);
}

void mlir::amp::keepFreedMemory() {
#ifdef __GLIBC__
  // The largest threshold that glibc takes.
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  ::mallopt(M_TRIM_THRESHOLD, -1);
#endif
}
