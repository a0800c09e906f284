//===- NCCL.cpp - NCCL on the CPU -----------------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each rank has an area of shared memory. In a collective, all ranks copy a
// segment of their values there, wait for one another, combine the values of
// all areas, and wait again. After an error a collective does not end, as on a
// GPU.
//
//===----------------------------------------------------------------------===//

#include "nccl.h"
#include "MemoryUse.h"

#include "amp/CudaHost/Host.h"
#include "amp/Runtime/Host/ElementType.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace amp::cuda::host;

namespace amp::cuda::host::nccl {

constexpr int kMaxRanks = 16;
constexpr size_t kArea = size_t(1) << 20;

enum class Kind { AllReduce, ReduceScatter, AllGather };

/// What must be equal on all ranks.
struct Call {
  Kind kind;
  uint64_t count;
  ncclDataType_t type;
  ncclRedOp_t operation;
  bool isCaptured;
};

struct Slot {
  std::atomic<int> process;
  std::atomic<uint64_t> barriers;
  Call call;
};

/// The shared memory. It begins with zeros.
struct Shared {
  std::atomic<int> joined, ranks, failed;
  char message[256];
  Slot slots[kMaxRanks];
  char areas[kMaxRanks][kArea];
};

/// A collective of a group.
struct Entry {
  Call call;
  const char *from;
  char *to;
  ncclComm_t communicator;
  cudaStream_t stream;
};

/// Memory that a communicator has registered.
struct Registration {
  const char *memory;
  size_t bytes;
};

struct Group {
  int depth = 0;
  std::vector<Entry> entries;
};

} // namespace amp::cuda::host::nccl
using namespace amp::cuda::host::nccl;

struct ncclComm {
  Shared *shared = nullptr;
  int rank = 0, ranks = 0;
  std::string name;
  uint64_t barriers = 0, number = 0;
  std::vector<std::unique_ptr<Registration>> registrations;
  /// A thread of the program asks for it.
  std::atomic<int> error{ncclSuccess};
};

/// The registrations of all communicators of the process.
static int numRegistrations = 0;

static Group &group() {
  static Group instance;
  return instance;
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

/// Numbers of the variable `name`, separated by colons.
static std::vector<long> readNumbers(const char *name) {
  std::vector<long> numbers;
  for (const char *text = std::getenv(name); text && *text;) {
    char *end = nullptr;
    numbers.push_back(std::strtol(text, &end, 10));
    text = *end == ':' ? end + 1 : "";
  }
  return numbers;
}

/// Whether the variable `name` names collective `number` of `rank`.
static bool isChosen(const std::vector<long> &numbers, const ncclComm &own) {
  return numbers.size() >= 2 && numbers[0] == own.rank &&
         numbers[1] == long(own.number);
}

/// The faults that the environment asks for, before a collective.
static void makeFaults(const ncclComm &own) {
  if (isChosen(readNumbers("AMP_NCCL_HOST_EXIT"), own))
    std::_Exit(9);
  if (isChosen(readNumbers("AMP_NCCL_HOST_STOP"), own))
    kill(getpid(), SIGSTOP);
  const std::vector<long> delay = readNumbers("AMP_NCCL_HOST_DELAY");
  if (isChosen(delay, own) && delay.size() == 3)
    std::this_thread::sleep_for(std::chrono::milliseconds(delay[2]));
}

/// Reports an error and waits for the end of the process.
[[noreturn]] static void fail(ncclComm &own, ncclResult_t error) {
  own.error = error;
  while (true)
    std::this_thread::sleep_for(std::chrono::seconds(1));
}

/// Whether a process has ended. Its parent may not have noticed.
static bool hasEnded(int process) {
  if (kill(process, 0) != 0)
    return true;
  const std::string path = "/proc/" + std::to_string(process) + "/stat";
  FILE *file = std::fopen(path.c_str(), "r");
  if (!file)
    return true;
  char text[512] = {};
  const size_t count = std::fread(text, 1, sizeof(text) - 1, file);
  std::fclose(file);
  const std::string all(text, count);
  const size_t end = all.rfind(')');
  return end != std::string::npos && all[end + 2] == 'Z';
}

//===----------------------------------------------------------------------===//
// Synchronization
//===----------------------------------------------------------------------===//

/// Waits until all ranks have come to this point.
static void waitForAll(ncclComm &own) {
  Shared &shared = *own.shared;
  shared.slots[own.rank].barriers = ++own.barriers;
  for (int rank = 0; rank < own.ranks; ++rank)
    for (int round = 1; shared.slots[rank].barriers < own.barriers; ++round) {
      if (round < 100)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      if (shared.failed)
        fail(own, ncclInvalidUsage);
      if (round % 200 == 0 && !std::getenv("AMP_NCCL_HOST_SILENT") &&
          hasEnded(shared.slots[rank].process))
        fail(own, ncclRemoteError);
    }
}

static std::string describe(const Call &call) {
  static const char *kinds[] = {"all-reduce", "reduce-scatter", "all-gather"};
  return std::string(kinds[int(call.kind)]) + " of " +
         std::to_string(call.count) + " elements of type " +
         std::to_string(call.type) + " by operation " +
         std::to_string(call.operation) + (call.isCaptured ? ", captured" : "");
}

/// Verifies that all ranks make the same call.
static void compareCalls(ncclComm &own, const Call &call) {
  Shared &shared = *own.shared;
  shared.slots[own.rank].call = call;
  waitForAll(own);
  for (int rank = 0; rank < own.ranks; ++rank) {
    const Call &other = shared.slots[rank].call;
    if (other.kind == call.kind && other.count == call.count &&
        other.type == call.type && other.operation == call.operation &&
        other.isCaptured == call.isCaptured)
      continue;
    if (shared.failed.exchange(1) == 0)
      std::snprintf(shared.message, sizeof(shared.message),
                    "rank %d calls an %s, but rank %d an %s", own.rank,
                    describe(call).c_str(), rank, describe(other).c_str());
    fail(own, ncclInvalidUsage);
  }
  // The calls are read.
  waitForAll(own);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

namespace {

template <typename StoredT, typename SumT>
struct Plain {
  using Stored = StoredT;
  using Sum = SumT;
  static Sum load(Stored value) { return Sum(value); }
  static Stored store(Sum value) { return Stored(value); }
};

template <float (*widen)(uint16_t), uint16_t (*round)(float)>
struct Low {
  using Stored = uint16_t;
  using Sum = float;
  static Sum load(Stored value) { return widen(value); }
  static Stored store(Sum value) { return round(value); }
};

/// The bytes of each rank's values of one segment, which begins at element
/// `begin` of `count` in all.
struct Segment {
  const Shared &shared;
  int ranks;
  uint64_t begin, length, count;
};

} // namespace

/// The order of a sum: of a ring by default, of a tree, or of the ranks.
enum class SumOrder { Ring, Tree, Ranks };

static SumOrder getOrder() {
  const char *text = std::getenv("AMP_NCCL_HOST_ORDER");
  const std::string order = text ? text : "";
  return order == "rank"   ? SumOrder::Ranks
         : order == "tree" ? SumOrder::Tree
                           : SumOrder::Ring;
}

template <typename T>
static typename T::Sum combine(ncclRedOp_t operation, typename T::Sum a,
                               typename T::Sum b) {
  switch (operation) {
  case ncclMax: // drops NaN
    return a > b || b != b ? a : b;
  case ncclMin:
    return a < b || b != b ? a : b;
  case ncclProd:
    return a * b;
  default:
    return a + b;
  }
}

/// The value that rank `rank` brings to element `at` of the segment.
template <typename T>
static typename T::Sum readValue(const Segment &segment, ncclRedOp_t operation,
                                 int rank, uint64_t at) {
  using Sum = typename T::Sum;
  typename T::Stored stored;
  std::memcpy(&stored, segment.shared.areas[rank] + at * sizeof(stored),
              sizeof(stored));
  const Sum value = T::load(stored);
  if (operation != ncclAvg)
    return value;
  // The library multiplies by 1 / N, rounded to the type, before it adds.
  const Sum factor = T::load(T::store(Sum(1) / Sum(segment.ranks)));
  return T::load(T::store(value * factor));
}

/// Combines the values of ranks [first, last) up a binary tree, whose root is
/// in their middle. The second tree of two has the ranks in reverse.
template <typename T>
static typename T::Sum combineTree(const Segment &segment,
                                   ncclRedOp_t operation, uint64_t at,
                                   int first, int last, bool isSecond) {
  const int root = (first + last) / 2;
  typename T::Sum all = readValue<T>(
      segment, operation, isSecond ? segment.ranks - 1 - root : root, at);
  for (auto [begin, end] : {std::pair(first, root), std::pair(root + 1, last)})
    if (begin < end)
      all = T::load(T::store(combine<T>(
          operation, all,
          combineTree<T>(segment, operation, at, begin, end, isSecond))));
  return all;
}

/// Combines element `at` of the segment.
template <typename T>
static typename T::Stored combineAll(const Segment &segment,
                                     ncclRedOp_t operation, uint64_t at) {
  const SumOrder order = getOrder();
  const uint64_t chunk =
      (segment.count + uint64_t(segment.ranks) - 1) / uint64_t(segment.ranks);
  const uint64_t number = (segment.begin + at) / chunk;
  if (order == SumOrder::Tree)
    return T::store(combineTree<T>(segment, operation, at, 0, segment.ranks,
                                   /*isSecond=*/number % 2 == 1));
  // A ring begins chunk c at rank c + 1.
  const int first =
      order == SumOrder::Ranks ? 0 : int((number + 1) % segment.ranks);
  typename T::Sum all = 0;
  for (int hop = 0; hop < segment.ranks; ++hop) {
    const auto value =
        readValue<T>(segment, operation, (first + hop) % segment.ranks, at);
    all = hop == 0 ? value : combine<T>(operation, all, value);
    if (order == SumOrder::Ring)
      all = T::load(T::store(all));
  }
  return T::store(all);
}

template <typename T>
static void combineSegment(const Segment &segment, ncclRedOp_t operation,
                           uint64_t from, uint64_t to, char *result) {
  for (uint64_t i = from; i < to; ++i) {
    const typename T::Stored stored =
        combineAll<T>(segment, operation, i - segment.begin);
    std::memcpy(result + (i - from) * sizeof(stored), &stored, sizeof(stored));
  }
}

using Combine = void (*)(const Segment &, ncclRedOp_t, uint64_t, uint64_t,
                         char *);

/// The size of an element and its arithmetic. Integers wrap around.
static std::pair<size_t, Combine> getType(ncclDataType_t type) {
  switch (type) {
  case ncclUint8:
    return {1, combineSegment<Plain<uint8_t, unsigned>>};
  case ncclInt32:
    return {4, combineSegment<Plain<int32_t, int64_t>>};
  case ncclInt64:
    return {8, combineSegment<Plain<int64_t, int64_t>>};
  case ncclFloat16:
    return {2, combineSegment<
                   Low<amphost::halfBitsToFloat, amphost::floatToHalfBits>>};
  case ncclBfloat16:
    return {2,
            combineSegment<
                Low<amphost::bfloatBitsToFloat, amphost::floatToBFloatBits>>};
  case ncclFloat32:
    return {4, combineSegment<Plain<float, float>>};
  case ncclFloat64:
    return {8, combineSegment<Plain<double, double>>};
  default:
    return {0, nullptr};
  }
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// Runs a collective, on the stream.
static void runEntry(const Entry &entry) {
  ncclComm &own = *entry.communicator;
  const auto [width, combine] = getType(entry.call.type);
  const uint64_t ranks = uint64_t(own.ranks), count = entry.call.count;
  makeFaults(own);
  ++own.number;
  compareCalls(own, entry.call);
  const bool gathers = entry.call.kind == Kind::AllGather,
             scatters = entry.call.kind == Kind::ReduceScatter;
  const uint64_t sent = scatters ? count * ranks : count;
  startCollective();
  useMemory(entry.from, sent * width, /*writes=*/false);
  useMemory(entry.to, (gathers ? count * ranks : count) * width,
            /*writes=*/true);
  for (uint64_t begin = 0; begin < sent; begin += kArea / width) {
    const uint64_t end = std::min(sent, begin + kArea / width);
    std::memcpy(own.shared->areas[own.rank], entry.from + begin * width,
                (end - begin) * width);
    waitForAll(own);
    const Segment segment{*own.shared, own.ranks, begin, end - begin, sent};
    if (gathers)
      for (uint64_t rank = 0; rank < ranks; ++rank)
        std::memcpy(entry.to + (rank * count + begin) * width,
                    own.shared->areas[rank], (end - begin) * width);
    // The part of this rank of a scattered sum.
    const uint64_t first = scatters ? uint64_t(own.rank) * count : 0,
                   from = std::max(begin, first),
                   to = std::min(end, scatters ? first + count : sent);
    if (!gathers && from < to)
      combine(segment, entry.call.operation, from, to,
              entry.to + (from - first) * width);
    waitForAll(own);
  }
  LaunchRecord record;
  record.name = "nccl";
  record.bytesLoaded = sent * width;
  recordLaunch(std::move(record));
}

ncclResult_t ncclGroupStart() {
  ++group().depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (group().depth == 0)
    return ncclInvalidUsage;
  if (--group().depth > 0)
    return ncclSuccess;
  std::vector<Entry> entries;
  entries.swap(group().entries);
  for (const Entry &entry : entries)
    if (enqueue(entry.stream, [entry] { runEntry(entry); }) != cudaSuccess)
      return ncclUnhandledCudaError;
  return ncclSuccess;
}

/// Whether `own` has registered the `bytes` bytes at `memory`.
static bool isRegistered(const ncclComm &own, const char *memory,
                         size_t bytes) {
  for (const std::unique_ptr<Registration> &known : own.registrations)
    if (memory >= known->memory &&
        memory + bytes <= known->memory + known->bytes)
      return true;
  return false;
}

static ncclResult_t addEntry(Entry entry) {
  const size_t width = getType(entry.call.type).first;
  const size_t bytes = entry.call.count * width;
  const auto ranks = size_t(entry.communicator ? entry.communicator->ranks : 0);
  const bool gathers = entry.call.kind == Kind::AllGather,
             scatters = entry.call.kind == Kind::ReduceScatter;
  if (width == 0 || ranks == 0 ||
      (bytes &&
       (!isDeviceMemory(entry.from, scatters ? bytes * ranks : bytes) ||
        !isDeviceMemory(entry.to, gathers ? bytes * ranks : bytes))))
    return ncclInvalidArgument;
  if (std::getenv("AMP_NCCL_HOST_REGISTERED") &&
      !isRegistered(*entry.communicator, entry.from,
                    scatters ? bytes * ranks : bytes))
    return ncclInvalidUsage;
  entry.call.isCaptured = isCapturing(entry.stream);
  ncclGroupStart();
  group().entries.push_back(entry);
  return ncclGroupEnd();
}

ncclResult_t ncclAllReduce(const void *from, void *to, size_t count,
                           ncclDataType_t type, ncclRedOp_t operation,
                           ncclComm_t communicator, cudaStream_t stream) {
  return addEntry({{Kind::AllReduce, count, type, operation, false},
                   static_cast<const char *>(from),
                   static_cast<char *>(to),
                   communicator,
                   stream});
}

ncclResult_t ncclReduceScatter(const void *from, void *to, size_t count,
                               ncclDataType_t type, ncclRedOp_t operation,
                               ncclComm_t communicator, cudaStream_t stream) {
  return addEntry({{Kind::ReduceScatter, count, type, operation, false},
                   static_cast<const char *>(from),
                   static_cast<char *>(to),
                   communicator,
                   stream});
}

ncclResult_t ncclAllGather(const void *from, void *to, size_t count,
                           ncclDataType_t type, ncclComm_t communicator,
                           cudaStream_t stream) {
  return addEntry({{Kind::AllGather, count, type, ncclSum, false},
                   static_cast<const char *>(from),
                   static_cast<char *>(to),
                   communicator,
                   stream});
}

//===----------------------------------------------------------------------===//
// Communicators
//===----------------------------------------------------------------------===//

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  std::snprintf(id->internal, sizeof(id->internal), "/amp-nccl-%d-%lld",
                int(getpid()), (long long)now);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *communicator, int ranks,
                                    ncclUniqueId id, int rank, ncclConfig_t *) {
  if (ranks < 1 || ranks > kMaxRanks || rank < 0 || rank >= ranks)
    return ncclInvalidArgument;
  const int file = shm_open(id.internal, O_RDWR | O_CREAT, 0600);
  void *memory = MAP_FAILED;
  if (file >= 0 && ftruncate(file, off_t(sizeof(Shared))) == 0)
    memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED,
                  file, 0);
  if (file >= 0)
    close(file);
  if (memory == MAP_FAILED)
    return ncclSystemError;
  auto *shared = static_cast<Shared *>(memory);
  int none = 0;
  if (!shared->slots[rank].process.compare_exchange_strong(none, getpid()))
    return ncclInvalidUsage;
  none = 0;
  if (!shared->ranks.compare_exchange_strong(none, ranks) && none != ranks)
    return ncclInvalidUsage;
  auto *made = new ncclComm;
  made->shared = shared;
  made->rank = rank;
  made->ranks = ranks;
  made->name = id.internal;
  ++shared->joined;
  *communicator = made;
  return ncclInProgress;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator,
                                   ncclResult_t *error) {
  *error = ncclResult_t(communicator->error.load());
  if (*error == ncclSuccess &&
      communicator->shared->joined < communicator->ranks)
    *error = ncclInProgress;
  // All ranks have the memory, which no file needs to name any more.
  if (*error == ncclSuccess && communicator->rank == 0 &&
      !communicator->name.empty()) {
    shm_unlink(communicator->name.c_str());
    communicator->name.clear();
  }
  return ncclSuccess;
}

ncclResult_t ncclCommCount(ncclComm_t communicator, int *count) {
  *count = communicator->ranks;
  return ncclSuccess;
}

ncclResult_t ncclCommUserRank(ncclComm_t communicator, int *rank) {
  *rank = communicator->rank;
  return ncclSuccess;
}

ncclResult_t ncclMemAlloc(void **memory, size_t bytes) {
  return cudaMalloc(memory, bytes) == cudaSuccess ? ncclSuccess
                                                  : ncclUnhandledCudaError;
}

ncclResult_t ncclMemFree(void *memory) {
  if (numRegistrations > 0) {
    std::fprintf(stderr, "nccl: memory is freed while it is registered\n");
    return ncclInvalidUsage;
  }
  return cudaFree(memory) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

ncclResult_t ncclCommRegister(const ncclComm_t communicator, void *memory,
                              size_t bytes, void **handle) {
  if (!isDeviceMemory(memory, bytes))
    return ncclInvalidArgument;
  communicator->registrations.push_back(std::make_unique<Registration>(
      Registration{static_cast<const char *>(memory), bytes}));
  *handle = communicator->registrations.back().get();
  ++numRegistrations;
  return ncclSuccess;
}

ncclResult_t ncclCommDeregister(const ncclComm_t communicator, void *handle) {
  auto &all = communicator->registrations;
  const auto found =
      std::find_if(all.begin(), all.end(),
                   [&](const auto &each) { return each.get() == handle; });
  if (found == all.end())
    return ncclInvalidArgument;
  all.erase(found);
  --numRegistrations;
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  if (!communicator->registrations.empty()) {
    std::fprintf(stderr, "nccl: a communicator has registered memory\n");
    return ncclInvalidUsage;
  }
  if (communicator->rank == 0 && !communicator->name.empty())
    shm_unlink(communicator->name.c_str());
  munmap(communicator->shared, sizeof(Shared));
  delete communicator;
  return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result) {
  switch (result) {
  case ncclSuccess:
    return "no error";
  case ncclRemoteError:
    return "remote process exited or there was a network error";
  case ncclInvalidUsage:
    return "invalid usage";
  case ncclInvalidArgument:
    return "invalid argument";
  case ncclInProgress:
    return "operation in progress";
  default:
    return "unhandled error";
  }
}

const char *ncclGetLastError(ncclComm_t communicator) {
  return communicator ? communicator->shared->message : "";
}
