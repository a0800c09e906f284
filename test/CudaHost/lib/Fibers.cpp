//===- Fibers.cpp - CUDA on the CPU: blocks of threads ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each thread of a block is a fiber with its own stack. A block runs its
// threads in turns, in the configured order. A thread yields only at a barrier,
// at a shuffle or when it ends.
//
//===----------------------------------------------------------------------===//

#include "amp/CudaHost/Host.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sys/mman.h>
#ifndef __x86_64__
#include <ucontext.h>
#endif

using namespace amp::cuda::host;

//===----------------------------------------------------------------------===//
// Switching stacks
//===----------------------------------------------------------------------===//

#ifdef __x86_64__
/// Saves the callee-saved registers on the stack and the stack pointer in
/// `*from`, and continues from the stack pointer `to`. (ucontext makes a system
/// call per switch and is twenty times slower.)
__attribute__((naked, noinline)) static void
switchStack([[maybe_unused]] void **from, [[maybe_unused]] void *to) {
  asm volatile("pushq %rbp\n\t"
               "pushq %rbx\n\t"
               "pushq %r12\n\t"
               "pushq %r13\n\t"
               "pushq %r14\n\t"
               "pushq %r15\n\t"
               "movq %rsp, (%rdi)\n\t"
               "movq %rsi, %rsp\n\t"
               "popq %r15\n\t"
               "popq %r14\n\t"
               "popq %r13\n\t"
               "popq %r12\n\t"
               "popq %rbx\n\t"
               "popq %rbp\n\t"
               "ret");
}

using Context = void *;

static void prepareContext(Context &context, char *stack, size_t size,
                           void (*entry)()) {
  // Aligned so that `entry` sees the stack as if it had been called.
  auto *top = reinterpret_cast<void **>(stack + size) - 1;
  *top = nullptr;
  *--top = reinterpret_cast<void *>(entry);
  for (int i = 0; i < 6; ++i)
    *--top = nullptr;
  context = top;
}

static void switchContext(Context &from, Context &to) {
  switchStack(&from, to);
}
#else
using Context = ucontext_t;

static void prepareContext(Context &context, char *stack, size_t size,
                           void (*entry)()) {
  getcontext(&context);
  context.uc_stack.ss_sp = stack;
  context.uc_stack.ss_size = size;
  context.uc_link = nullptr;
  makecontext(&context, entry, 0);
}

static void switchContext(Context &from, Context &to) {
  swapcontext(&from, &to);
}
#endif

//===----------------------------------------------------------------------===//
// A block
//===----------------------------------------------------------------------===//

namespace {

constexpr size_t kStackSize = 128 * 1024;
constexpr unsigned kMaxThreads = 1024;
/// Guard bytes after the shared memory of a block. They must not change.
constexpr size_t kSharedGuard = 4096;

enum class State { Ready, AtBarrier, AtShuffle, Done };

struct Fiber {
  Context context;
  State state = State::Ready;
  uint3 index;
};

/// The lanes of a warp meet for a shuffle. Values are double-buffered: a lane
/// that runs ahead to the next shuffle cannot overwrite what others still read.
struct Warp {
  uint32_t values[2][32];
  uint32_t arrived = 0;
  uint32_t wanted = 0;
  unsigned round = 0;
};

struct Block {
  std::vector<Fiber> fibers;
  std::vector<Warp> warps;
  Context scheduler;
  unsigned current = 0;
  bool aborted = false;
  const std::function<void()> *body = nullptr;
  std::vector<unsigned char> shared;
  char *stacks = nullptr;
};

} // namespace

static Block &block() {
  static Block instance;
  return instance;
}

namespace amp::cuda::host {
// Defined in Memory.cpp.
void startLaunch(LaunchRecord &record);
void startBlock(unsigned number);
void passBarrier();
void finishLaunch();
} // namespace amp::cuda::host

/// Yields to the scheduler.
static void yieldAs(State state) {
  Block &b = block();
  Fiber &fiber = b.fibers[b.current];
  fiber.state = state;
  switchContext(fiber.context, b.scheduler);
}

static void fiberEntry() {
  (*block().body)();
  yieldAs(State::Done);
  std::abort(); // a finished fiber is never resumed
}

static uint64_t nextRandom(uint64_t &state) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

/// Returns [0, count) in the configured order.
static std::vector<unsigned> makeOrder(unsigned count, uint64_t &random) {
  std::vector<unsigned> order(count);
  for (unsigned i = 0; i < count; ++i)
    order[i] = options().order == Order::Descending ? count - 1 - i : i;
  if (options().order == Order::Random)
    for (unsigned i = count; i > 1; --i)
      std::swap(order[i - 1], order[nextRandom(random) % i]);
  return order;
}

static void runBlock(const std::function<void()> &body, uint64_t &random) {
  Block &b = block();
  unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  if (!b.stacks) {
    void *memory =
        mmap(nullptr, kStackSize * kMaxThreads, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      std::perror("mmap");
      std::abort();
    }
    b.stacks = static_cast<char *>(memory);
  }
  b.body = &body;
  b.aborted = false;
  b.fibers.resize(threads);
  b.warps.assign((threads + 31) / 32, Warp());
  for (unsigned i = 0; i < threads; ++i) {
    Fiber &fiber = b.fibers[i];
    fiber.state = State::Ready;
    fiber.index = {i % blockDim.x, i / blockDim.x % blockDim.y,
                   i / (blockDim.x * blockDim.y)};
    prepareContext(fiber.context, b.stacks + i * kStackSize, kStackSize,
                   fiberEntry);
  }

  while (true) {
    // A warp runs until it has to wait before the next one runs. This order is
    // legal and exposes missing barriers.
    bool progress = false;
    for (unsigned warp : makeOrder((threads + 31) / 32, random)) {
      unsigned lanes = std::min(32u, threads - 32 * warp);
      for (bool ran = true; ran;) {
        ran = false;
        for (unsigned lane : makeOrder(lanes, random)) {
          Fiber &fiber = b.fibers[32 * warp + lane];
          if (fiber.state != State::Ready)
            continue;
          ran = progress = true;
          b.current = 32 * warp + lane;
          threadIdx = fiber.index;
          switchContext(b.scheduler, fiber.context);
          if (b.aborted)
            return;
        }
      }
    }
    if (progress)
      continue;
    unsigned waiting = 0, done = 0;
    for (const Fiber &fiber : b.fibers) {
      waiting += fiber.state == State::AtBarrier;
      done += fiber.state == State::Done;
    }
    if (done == threads)
      return;
    if (waiting != threads) {
      violate("divergence: " + std::to_string(waiting) + " of " +
              std::to_string(threads) + " threads wait at a barrier, " +
              std::to_string(done) + " have ended and " +
              std::to_string(threads - waiting - done) + " wait for a shuffle");
      return;
    }
    passBarrier();
    for (Fiber &fiber : b.fibers)
      fiber.state = State::Ready;
  }
}

void amp::cuda::host::runKernel(dim3 grid, dim3 blockSize, size_t sharedBytes,
                                const std::function<void()> &body,
                                LaunchRecord &record) {
  startLaunch(record);
  gridDim = grid;
  blockDim = blockSize;
  Block &b = block();
  static uint64_t random = 0;
  if (random == 0)
    random = options().seed * 0x9E3779B97F4A7C15u | 1;
  unsigned count = grid.x * grid.y * grid.z;
  size_t before = violations().size();
  for (unsigned number : makeOrder(count, random)) {
    blockIdx = {number % grid.x, number / grid.x % grid.y,
                number / (grid.x * grid.y)};
    // NaN as f16, bf16 and f32, and a large index as an integer.
    b.shared.assign(sharedBytes + kSharedGuard + 16, 0xff);
    startBlock(number);
    runBlock(body, random);
    const auto *shared = static_cast<const unsigned char *>(sharedMemory());
    for (size_t i = sharedBytes; i < sharedBytes + kSharedGuard; ++i)
      if (shared[i] != 0xff) {
        violate("shared memory written beyond the " +
                std::to_string(sharedBytes) + " bytes of the launch");
        break;
      }
    if (violations().size() > before + 8)
      break;
  }
  finishLaunch();
}

//===----------------------------------------------------------------------===//
// Called by threads
//===----------------------------------------------------------------------===//

void *amp::cuda::host::sharedMemory() {
  auto address = reinterpret_cast<uintptr_t>(block().shared.data());
  return reinterpret_cast<void *>((address + 15) & ~uintptr_t(15));
}

bool amp::cuda::host::isSharedMemory(const void *pointer) {
  const std::vector<unsigned char> &shared = block().shared;
  const auto *byte = static_cast<const unsigned char *>(pointer);
  return byte >= shared.data() && byte < shared.data() + shared.size();
}

void amp::cuda::host::syncThreads() { yieldAs(State::AtBarrier); }

uint32_t amp::cuda::host::exchange(unsigned mask, uint32_t value, int source) {
  Block &b = block();
  unsigned lane = b.current % 32;
  Warp &warp = b.warps[b.current / 32];
  if (!(mask >> lane & 1) || !(mask >> (source & 31) & 1))
    violate("shuffle whose mask lacks a lane that takes part");
  if (warp.arrived == 0)
    warp.wanted = mask;
  else if (warp.wanted != mask)
    violate("lanes of a warp meet in a shuffle with different masks");
  unsigned parity = warp.round & 1;
  warp.values[parity][lane] = value;
  warp.arrived |= 1u << lane;
  if (warp.arrived == warp.wanted) {
    ++warp.round;
    warp.arrived = 0;
    unsigned first = b.current / 32 * 32;
    unsigned last = std::min<size_t>(first + 32, b.fibers.size());
    for (unsigned i = first; i < last; ++i)
      if (b.fibers[i].state == State::AtShuffle)
        b.fibers[i].state = State::Ready;
  } else {
    yieldAs(State::AtShuffle);
  }
  return warp.values[parity][source & 31];
}

namespace amp::cuda::host {
/// Ends the block from within a thread, after a violation that would have
/// crashed it.
void abortBlock() {
  Block &b = block();
  if (!b.body)
    return;
  b.aborted = true;
  yieldAs(State::Done);
}
} // namespace amp::cuda::host
