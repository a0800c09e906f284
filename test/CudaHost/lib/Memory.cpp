//===- Memory.cpp - CUDA on the CPU: device memory and its accesses *- C++
//-*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "MemoryUse.h"

#include "amp/CudaHost/Host.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <unordered_map>

using namespace amp::cuda::host;

namespace amp::cuda::host {
void abortBlock();
void startLaunch(LaunchRecord &record);
void startBlock(unsigned number);
void passBarrier();
void finishLaunch();
} // namespace amp::cuda::host

//===----------------------------------------------------------------------===//
// Allocations
//===----------------------------------------------------------------------===//

namespace {

/// Guard bytes around each allocation. They must not change.
constexpr size_t kGuard = 256;

struct Heap {
  std::map<uintptr_t, size_t> blocks;
  size_t allocated = 0, count = 0;
};

} // namespace

static Heap &heap() {
  static Heap instance;
  return instance;
}

Options &amp::cuda::host::options() {
  static Options instance = [] {
    Options result;
    if (const char *order = std::getenv("AMP_CUDA_HOST_ORDER"))
      result.order = order[0] == 'd'   ? Order::Descending
                     : order[0] == 'r' ? Order::Random
                                       : Order::Ascending;
    if (const char *bytes = std::getenv("AMP_CUDA_HOST_EXTRA_WORKSPACE"))
      result.extraWorkspace = size_t(std::atoll(bytes));
    if (const char *priority = std::getenv("AMP_CUDA_HOST_PRIORITY"))
      result.priority = priority[0] == 'l'   ? Priority::Late
                        : priority[0] == 'r' ? Priority::Random
                                             : Priority::Early;
    if (const char *capability = std::getenv("AMP_CUDA_HOST_CAPABILITY"))
      result.capability = std::atoi(capability);
    result.sumsInOrder = std::getenv("AMP_CUDA_HOST_IN_ORDER") != nullptr;
    return result;
  }();
  return instance;
}

size_t amp::cuda::host::allocatedBytes() { return heap().allocated; }
size_t amp::cuda::host::allocationCount() { return heap().count; }

bool amp::cuda::host::isDeviceMemory(const void *pointer, size_t bytes) {
  auto address = reinterpret_cast<uintptr_t>(pointer);
  const Heap &h = heap();
  auto after = h.blocks.upper_bound(address);
  if (after == h.blocks.begin())
    return false;
  auto [start, size] = *std::prev(after);
  return address + bytes <= start + size;
}

namespace amp::cuda::host {

void *allocateDevice(size_t bytes) {
  Heap &h = heap();
  if (bytes > options().deviceMemory - h.allocated)
    return nullptr;
  size_t total = (bytes + 255) / 256 * 256 + 2 * kGuard;
  auto *base = static_cast<unsigned char *>(std::aligned_alloc(256, total));
  if (!base)
    return nullptr;
  std::fill_n(base, total, (unsigned char)0xff);
  h.blocks[reinterpret_cast<uintptr_t>(base + kGuard)] = bytes;
  h.allocated += bytes;
  ++h.count;
  return base + kGuard;
}

bool freeDevice(void *pointer) {
  Heap &h = heap();
  auto found = h.blocks.find(reinterpret_cast<uintptr_t>(pointer));
  if (found == h.blocks.end())
    return false;
  auto *base = static_cast<unsigned char *>(pointer) - kGuard;
  size_t bytes = found->second;
  for (size_t i = 0; i < kGuard; ++i)
    if (base[i] != 0xff || base[kGuard + bytes + i] != 0xff) {
      violate("memory written outside of an allocation of " +
              std::to_string(bytes) + " bytes");
      break;
    }
  h.allocated -= bytes;
  h.blocks.erase(found);
  std::free(base);
  return true;
}

} // namespace amp::cuda::host

//===----------------------------------------------------------------------===//
// Accesses of a launch
//===----------------------------------------------------------------------===//

namespace {

/// The last accesses to two bytes of global memory in the current launch.
struct Shadow {
  uint32_t launch = 0;
  uint32_t writerBlock = 0, readerBlock = 0;
  uint32_t writerEpoch = 0, readerEpoch = 0;
  uint32_t writerFences = 0;
  uint16_t writerThread = 0, readerThread = 0;
  bool written = false, read = false;
  /// Read by several threads, or by threads of several blocks.
  bool severalReaders = false, severalBlocks = false;
};

constexpr size_t kPage = 4096;
using Page = std::unique_ptr<Shadow[]>;

struct Tracking {
  LaunchRecord *record = nullptr;
  uint32_t launch = 0;
  uint32_t block = 0;
  uint32_t epoch = 0;
  /// Whether the current block has incremented an arrival counter, and the
  /// fences that each block of the launch has made.
  std::vector<uint32_t> fences;
  /// The number of fences before the block last incremented a counter.
  std::vector<uint32_t> released;
  bool acquired = false;
  std::unordered_map<uintptr_t, Page> pages;
};

} // namespace

static Tracking &tracking() {
  static Tracking instance;
  return instance;
}

void amp::cuda::host::startLaunch(LaunchRecord &record) {
  Tracking &t = tracking();
  t.record = &record;
  ++t.launch;
  t.fences.assign(size_t(record.grid.x) * record.grid.y * record.grid.z, 0);
  t.released = t.fences;
}

void amp::cuda::host::startBlock(unsigned number) {
  Tracking &t = tracking();
  t.block = number;
  t.epoch = 0;
  t.acquired = false;
}

void amp::cuda::host::passBarrier() { ++tracking().epoch; }
void amp::cuda::host::finishLaunch() { tracking().record = nullptr; }

void amp::cuda::host::fence() {
  Tracking &t = tracking();
  if (t.record)
    ++t.fences[t.block];
}

static std::string describeThread(const Tracking &t) {
  return "kernel '" + t.record->name + "', block " + std::to_string(t.block) +
         ", thread " + std::to_string(threadIdx.x);
}

static Shadow &shadowOf(Tracking &t, uintptr_t unit) {
  Page &page = t.pages[unit / kPage];
  if (!page)
    page = std::make_unique<Shadow[]>(kPage);
  Shadow &shadow = page[unit % kPage];
  if (shadow.launch != t.launch) {
    shadow = Shadow();
    shadow.launch = t.launch;
  }
  return shadow;
}

/// Whether the current thread may rely on what (block, thread, epoch) did.
static bool isOrdered(const Tracking &t, uint32_t block, uint16_t thread,
                      uint32_t epoch, uint32_t fences) {
  if (block == t.block)
    return thread == threadIdx.x || epoch != t.epoch;
  return t.acquired && t.released[block] > fences;
}

static void checkRace(Tracking &t, const void *pointer, size_t bytes,
                      bool isStore) {
  auto first = reinterpret_cast<uintptr_t>(pointer);
  uint64_t &distinct =
      isStore ? t.record->distinctStored : t.record->distinctLoaded;
  // Neighbouring bytes share a unit; single ones are not tracked.
  if (bytes < 2) {
    distinct += bytes;
    return;
  }
  for (uintptr_t unit = first / 2; unit < (first + bytes) / 2; ++unit) {
    Shadow &s = shadowOf(t, unit);
    bool race = s.written && !isOrdered(t, s.writerBlock, s.writerThread,
                                        s.writerEpoch, s.writerFences);
    if (isStore && s.read) {
      bool sameThread = !s.severalReaders && s.readerBlock == t.block &&
                        s.readerThread == threadIdx.x;
      bool earlier = !s.severalBlocks && s.readerBlock == t.block &&
                     s.readerEpoch != t.epoch;
      race |= !sameThread && !earlier;
    }
    if (race) {
      violate(describeThread(t) + ": race on global memory that " +
              (s.written ? "another thread wrote" : "another thread reads"));
      abortBlock();
      return;
    }
    auto thread = uint16_t(threadIdx.x);
    distinct += (isStore ? s.written : s.read) ? 0 : 2;
    if (isStore) {
      s.written = true;
      s.writerBlock = t.block;
      s.writerThread = thread;
      s.writerEpoch = t.epoch;
      s.writerFences = t.fences[t.block];
    } else {
      s.severalBlocks |= s.read && s.readerBlock != t.block;
      s.severalReaders |=
          s.severalBlocks || (s.read && s.readerThread != thread);
      s.read = true;
      s.readerBlock = t.block;
      s.readerThread = thread;
      s.readerEpoch = t.epoch;
    }
  }
}

static void checkAccess(const void *pointer, size_t bytes, bool isStore) {
  Tracking &t = tracking();
  if (!t.record)
    return;
  (isStore ? t.record->bytesStored : t.record->bytesLoaded) += bytes;
  if (!options().checkAccesses)
    return;
  size_t alignment = bytes & (~bytes + 1); // its largest power of two
  if (reinterpret_cast<uintptr_t>(pointer) % std::min<size_t>(alignment, 16)) {
    violate(describeThread(t) + ": access of " + std::to_string(bytes) +
            " bytes at an address that is not a multiple of that");
    abortBlock();
    return;
  }
  if (!isDeviceMemory(pointer, bytes)) {
    violate(describeThread(t) + ": " + (isStore ? "store" : "load") + " of " +
            std::to_string(bytes) + " bytes outside of device memory");
    abortBlock();
    return;
  }
  checkUse(t.record->name.c_str(), pointer, bytes, isStore);
  if (options().checkRaces)
    checkRace(t, pointer, bytes, isStore);
}

void amp::cuda::host::onLoad(const void *pointer, size_t bytes) {
  checkAccess(pointer, bytes, /*isStore=*/false);
}
void amp::cuda::host::onStore(const void *pointer, size_t bytes) {
  checkAccess(pointer, bytes, /*isStore=*/true);
}
void amp::cuda::host::onAtomic(const void *pointer, size_t bytes) {
  Tracking &t = tracking();
  if (!isDeviceMemory(pointer, bytes)) {
    violate(describeThread(t) + ": atomic outside of device memory");
    abortBlock();
    return;
  }
  t.acquired = true;
  if (t.record)
    t.released[t.block] = t.fences[t.block];
}
