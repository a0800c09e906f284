//===- NCCLGroup.h - Collectives by NCCL ------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collectives run on a stream of their own, next to the launches of the step.
// Events connect the two streams, also in a captured graph.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_NCCLGROUP_H
#define AMP_RUNTIME_CUDA_NCCLGROUP_H

#include "amp/Runtime/CUDA/DeviceMemory.h"
#include "amp/Runtime/CUDA/ProgramInfo.h"
#include "amp/Runtime/CUDA/RankWatch.h"
#include "amp/Runtime/Host/Rendezvous.h"
#include "amp/Runtime/Step/EqualRanks.h"

#include <nccl.h>

namespace amp::cuda {

/// The outcome of the call `call` of NCCL. A call that has not ended is not an
/// error.
inline Status check(ncclResult_t result, const char *call) {
  if (result == ncclSuccess || result == ncclInProgress)
    return Status();
  return makeError(kCudaError, "%s failed: %s", call,
                   ncclGetErrorString(result));
}

/// Makes a call of NCCL and returns its error, if any.
#define AMP_NCCL_CALL(call) AMP_RETURN_IF_ERROR(check((call), #call))

/// One buffer of a collective: `count` elements that this rank sends, or of its
/// part of a gathered buffer or of a scattered sum.
struct CollectiveOperand {
  const void *from;
  void *to;
  int64_t count;
  ncclDataType_t type;
  /// The elements of a scattered sum if its last part has fewer than `count`,
  /// else 0.
  int64_t whole = 0;
};

/// Returns the bytes of an element of type `type`. Ranks scatter only floats.
inline size_t getFloatBytes(ncclDataType_t type) {
  return type == ncclFloat64 ? 8 : type == ncclFloat32 ? 4 : 2;
}

/// A communicator of NCCL.
class NCCLGroup final : public RankGroup {
public:
  NCCLGroup(int rank, int numRanks, int64_t deadline)
      : rank(rank), numRanks(numRanks), deadline(deadline) {}
  ~NCCLGroup() override {
    watch.reset();
    deregisterMemory();
    if (stream) {
      cudaStreamSynchronize(stream);
      cudaStreamDestroy(stream);
    }
    if (finished)
      cudaFreeHost(const_cast<uint64_t *>(finished));
    if (communicator && ownsCommunicator)
      ncclCommDestroy(communicator);
  }

  int getRank() const override { return rank; }
  int getNumRanks() const override { return numRanks; }

  /// Connects the ranks, which have one `id`, on the current device.
  inline Status connect(const ncclUniqueId &id, const Deadline &limit);
  /// Uses the communicator `given` of a caller. It must outlive this group.
  inline Status adopt(ncclComm_t given);
  inline Status findAllocator(amp_step_allocator *allocator) const override;
  inline Status registerMemory(void *memory, size_t bytes) override;
  inline void deregisterMemory() override;
  inline Status prepare(const CollectiveInfo *collectives, int count) override;
  void beginStep() override { watch->beginStep(); }
  Status begin(int index, cudaStream_t on) override {
    AMP_RETURN_IF_ERROR(events[size_t(index)].ready.record(on));
    return events[size_t(index)].ready.delay(stream);
  }
  Status await(int index, cudaStream_t on) override {
    return events[size_t(index)].done.delay(on);
  }
  inline Status gather(const void *part, int64_t bytes, const std::string &what,
                       void *whole) override;
  inline Status share(const void *own, int64_t bytes, const std::string &what,
                      void *all) override;

  /// Enqueues `call(operand, communicator, stream)` for each operand of
  /// collective `index`, as one group.
  template <typename Call>
  Status exchange(int index, const CollectiveOperand *operands, int count,
                  Call call) {
    AMP_NCCL_CALL(ncclGroupStart());
    for (int i = 0; i < count; ++i)
      AMP_NCCL_CALL(call(operands[i], communicator, stream));
    AMP_NCCL_CALL(ncclGroupEnd());
    AMP_RETURN_IF_ERROR(finishCall(Deadline(deadline), "a collective"));
    for (int i = 0; i < count; ++i)
      if (operands[i].whole)
        AMP_RETURN_IF_ERROR(clearEndOfPart(operands[i]));
    LaunchShape shape;
    shape.block.x = 1;
    AMP_RETURN_IF_ERROR(launch("count_collective", stream, shape,
                               countCollectiveKernel<>,
                               &finished[RankWatch::kOfSteps]));
    return events[size_t(index)].done.record(stream);
  }

private:
  struct Events {
    Event ready, done;
  };

  /// Creates the stream and the counters, if they do not exist, and watches
  /// `count` collectives of a step.
  inline Status startWatch(const CollectiveInfo *collectives, int count);
  /// Waits until the library has done a call, which does not block.
  inline Status finishCall(const Deadline &limit, const char *what) const;
  /// Clears the elements of this rank's part that follow the last element of
  /// the scattered sum.
  inline Status clearEndOfPart(const CollectiveOperand &operand);
  /// Gathers `bytes` bytes of each rank into `gathered`.
  inline Status gatherSegment(const void *part, int64_t bytes,
                              const std::string &what, void *gathered);

  int rank, numRanks;
  int64_t deadline;
  ncclComm_t communicator = nullptr;
  bool ownsCommunicator = true;
#if NCCL_VERSION_CODE >= 21901
  /// The handle of the registered memory, or null.
  void *registration = nullptr;
#endif
  cudaStream_t stream = nullptr;
  std::vector<Events> events;
  /// Counts the finished collectives of steps and the finished segments of
  /// gathers. The device writes these counters to host memory.
  volatile uint64_t *finished = nullptr;
  std::unique_ptr<RankWatch> watch;
};

inline Status NCCLGroup::finishCall(const Deadline &limit,
                                    const char *what) const {
  ncclResult_t state = ncclInProgress;
  while (true) {
    AMP_NCCL_CALL(ncclCommGetAsyncError(communicator, &state));
    if (state != ncclInProgress)
      return check(state, what);
    if (limit.hasPassed())
      return makeError(kCudaError,
                       "rank %d of %d: %s has not begun within %lld s, "
                       "expected all ranks to take part",
                       rank, numRanks, what, (long long)deadline);
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

inline Status NCCLGroup::connect(const ncclUniqueId &id,
                                 const Deadline &limit) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  AMP_NCCL_CALL(
      ncclCommInitRankConfig(&communicator, numRanks, id, rank, &config));
  return finishCall(limit, "the connection of the ranks");
}

inline Status NCCLGroup::adopt(ncclComm_t given) {
  ownsCommunicator = false;
  communicator = given;
  int count = 0, number = 0;
  AMP_NCCL_CALL(ncclCommCount(communicator, &count));
  AMP_NCCL_CALL(ncclCommUserRank(communicator, &number));
  if (count != numRanks || number != rank)
    return makeError(kInvalidArgument,
                     "the communicator has rank %d of %d, but the "
                     "options say rank %d of %d",
                     number, count, rank, numRanks);
  return Status();
}

#if NCCL_VERSION_CODE >= 21901

inline Status NCCLGroup::findAllocator(amp_step_allocator *allocator) const {
  *allocator = {};
  allocator->allocate = [](void *, uint64_t bytes, int32_t, void *) -> void * {
    void *memory = nullptr;
    return ncclMemAlloc(&memory, size_t(bytes)) == ncclSuccess ? memory
                                                               : nullptr;
  };
  allocator->deallocate = [](void *, void *memory, uint64_t, int32_t, void *) {
    ncclMemFree(memory);
  };
  return Status();
}

inline Status NCCLGroup::registerMemory(void *memory, size_t bytes) {
  AMP_NCCL_CALL(ncclCommRegister(communicator, memory, bytes, &registration));
  return finishCall(Deadline(deadline), "the registration of the memory");
}

inline void NCCLGroup::deregisterMemory() {
  if (!registration)
    return;
  if (stream)
    cudaStreamSynchronize(stream);
  ncclCommDeregister(communicator, registration);
  registration = nullptr;
}

#else

inline Status NCCLGroup::findAllocator(amp_step_allocator *) const {
  return makeError(kInvalidArgument,
                   "NCCL %d.%d registers no memory, expected 2.19 or later",
                   NCCL_MAJOR, NCCL_MINOR);
}

inline Status NCCLGroup::registerMemory(void *, size_t) { return Status(); }

inline void NCCLGroup::deregisterMemory() {}

#endif

inline Status NCCLGroup::prepare(const CollectiveInfo *collectives, int count) {
  if (!events.empty())
    return makeError(kInvalidArgument,
                     "the ranks run another instance of a program already");
  events = std::vector<Events>(size_t(count));
  for (Events &each : events) {
    AMP_RETURN_IF_ERROR(each.ready.create());
    AMP_RETURN_IF_ERROR(each.done.create());
  }
  return startWatch(collectives, count);
}

inline Status NCCLGroup::startWatch(const CollectiveInfo *collectives,
                                    int count) {
  if (!stream) {
    // Collectives take few multiprocessors, but the other ranks wait for them.
    int least = 0, greatest = 0;
    AMP_CUDA_CALL(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    AMP_CUDA_CALL(
        cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
    void *memory = nullptr;
    AMP_CUDA_CALL(
        cudaMallocHost(&memory, RankWatch::kNumCounters * sizeof(uint64_t)));
    finished = static_cast<uint64_t *>(memory);
  }
  for (int i = 0; i < RankWatch::kNumCounters; ++i)
    finished[i] = 0;
  watch = std::make_unique<RankWatch>(
      RankWatch::Settings{rank, numRanks, deadline, collectives, count},
      finished, [this]() -> std::string {
        ncclResult_t state = ncclSuccess;
        if (ncclCommGetAsyncError(communicator, &state) != ncclSuccess ||
            state == ncclSuccess || state == ncclInProgress)
          return "";
        const std::string detail = ncclGetLastError(communicator);
        return ncclGetErrorString(state) +
               (detail.empty() ? "" : ": " + detail);
      });
  return Status();
}

inline Status NCCLGroup::clearEndOfPart(const CollectiveOperand &operand) {
  const int64_t own =
      std::min(operand.count,
               std::max(int64_t(0), operand.whole - rank * operand.count));
  if (own == operand.count)
    return Status();
  const size_t width = getFloatBytes(operand.type);
  return check(cudaMemsetAsync(static_cast<unsigned char *>(operand.to) +
                                   size_t(own) * width,
                               0, size_t(operand.count - own) * width, stream),
               "cudaMemsetAsync");
}

inline Status NCCLGroup::gatherSegment(const void *part, int64_t bytes,
                                       const std::string &what,
                                       void *gathered) {
  // The host blocks in the last call. If another rank has ended, the watch ends
  // the process.
  watch->beginGather(what);
  AMP_NCCL_CALL(ncclAllGather(part, gathered, size_t(bytes), ncclUint8,
                              communicator, stream));
  AMP_RETURN_IF_ERROR(finishCall(Deadline(deadline), what.c_str()));
  LaunchShape shape;
  shape.block.x = 1;
  AMP_RETURN_IF_ERROR(launch("count_gather", stream, shape,
                             countCollectiveKernel<>,
                             &finished[RankWatch::kOfGathers]));
  AMP_CUDA_CALL(cudaStreamSynchronize(stream));
  return Status();
}

/// The maximum number of bytes of each rank that `gather` exchanges at once.
inline constexpr int64_t kGatherSegment = int64_t(8) << 20;

inline Status NCCLGroup::gather(const void *part, int64_t bytes,
                                const std::string &what, void *whole) {
  DeviceMemory gathered;
  const int64_t most = std::min(bytes, kGatherSegment);
  AMP_RETURN_IF_ERROR(check(gathered.allocate({}, size_t(most * numRanks),
                                              /*onDevice=*/0, stream),
                            "cudaMalloc"));
  for (int64_t begin = 0; begin < bytes; begin += most) {
    const int64_t length = std::min(most, bytes - begin);
    AMP_RETURN_IF_ERROR(
        gatherSegment(static_cast<const unsigned char *>(part) + begin, length,
                      what, gathered.get()));
    for (int other = 0; whole && other < numRanks; ++other)
      AMP_CUDA_CALL(cudaMemcpyAsync(
          static_cast<unsigned char *>(whole) + other * bytes + begin,
          gathered.get() + other * length, size_t(length),
          cudaMemcpyDeviceToHost, stream));
    AMP_CUDA_CALL(cudaStreamSynchronize(stream));
  }
  return Status();
}

inline Status NCCLGroup::share(const void *own, int64_t bytes,
                               const std::string &what, void *all) {
  static constexpr CollectiveInfo none = {"none", 0};
  AMP_RETURN_IF_ERROR(startWatch(&none, 1));
  DeviceMemory sent;
  int device = 0;
  AMP_CUDA_CALL(cudaGetDevice(&device));
  AMP_RETURN_IF_ERROR(
      check(sent.allocate({}, size_t(bytes), device, nullptr), "cudaMalloc"));
  AMP_CUDA_CALL(
      cudaMemcpy(sent.get(), own, size_t(bytes), cudaMemcpyHostToDevice));
  // The stream of the collectives does not wait for copies from pageable
  // memory.
  AMP_CUDA_CALL(cudaStreamSynchronize(nullptr));
  Status status = gather(sent.get(), bytes, what, all);
  watch.reset();
  return status;
}

//===----------------------------------------------------------------------===//
// In programs
//===----------------------------------------------------------------------===//

/// Copies this rank's part of the `all` elements at `from`. The part has
/// `count` elements. Zeros follow the last element of `from`.
template <typename T>
Status copyRankPart(const StepRun &run, const T *from, int64_t all, T *to,
                    int64_t count) {
  const int64_t begin = std::min(all, int64_t(run.rank) * count),
                own = std::min(count, all - begin);
  if (own > 0)
    AMP_CUDA_CALL(cudaMemcpyAsync(to, from + begin, size_t(own) * sizeof(T),
                                  cudaMemcpyDeviceToDevice, run.stream));
  if (own < count)
    AMP_CUDA_CALL(cudaMemsetAsync(to + own, 0, size_t(count - own) * sizeof(T),
                                  run.stream));
  return Status();
}

/// Enqueues collective `index`, between the calls of `begin` and `await`.
template <int Count, typename Call>
Status exchange(const StepRun &run, int index,
                const CollectiveOperand (&operands)[Count], Call call) {
  auto &group = static_cast<NCCLGroup &>(*run.ranks);
  AMP_RETURN_IF_ERROR(group.exchange(index, operands, Count, call));
  // The profile measures a launch on the stream of the step.
  return run.profiler ? group.await(index, run.stream) : Status();
}

template <int Count>
Status allReduce(const StepRun &run, int index,
                 const CollectiveOperand (&operands)[Count], ncclRedOp_t op) {
  return exchange(run, index, operands,
                  [op](const CollectiveOperand &operand, ncclComm_t among,
                       cudaStream_t on) {
                    return ncclAllReduce(operand.from, operand.to,
                                         size_t(operand.count), operand.type,
                                         op, among, on);
                  });
}

template <int Count>
Status reduceScatter(const StepRun &run, int index,
                     const CollectiveOperand (&operands)[Count]) {
  return exchange(
      run, index, operands,
      [](const CollectiveOperand &operand, ncclComm_t among, cudaStream_t on) {
        return ncclReduceScatter(operand.from, operand.to,
                                 size_t(operand.count), operand.type, ncclSum,
                                 among, on);
      });
}

template <int Count>
Status allGather(const StepRun &run, int index,
                 const CollectiveOperand (&operands)[Count]) {
  return exchange(
      run, index, operands,
      [](const CollectiveOperand &operand, ncclComm_t among, cudaStream_t on) {
        return ncclAllGather(operand.from, operand.to, size_t(operand.count),
                             operand.type, among, on);
      });
}

/// Connects the ranks that a launcher has started. Each rank gives the others
/// the numbers that must be equal, and rank 0 an identifier of NCCL.
inline Status joinRanks(const RankOptions &options,
                        const LaunchedProcess &process, int device,
                        std::shared_ptr<RankGroup> *group) {
  DeviceScope scope(device);
  const Deadline limit(options.deadline);
  ncclUniqueId id = {};
  if (process.rank == 0)
    AMP_NCCL_CALL(ncclGetUniqueId(&id));
  const auto own = amphost::makeRecord(int(process.rank), options.equal);
  const std::string message =
      std::string(reinterpret_cast<const char *>(&own), sizeof(own)) +
      std::string(id.internal, sizeof(id.internal));
  std::string all;
  Rendezvous rendezvous(process, limit);
  AMP_RETURN_IF_ERROR(rendezvous.gather(message, &all));
  std::vector<amphost::RankRecord> records{size_t(process.ranks)};
  for (size_t rank = 0; rank < records.size(); ++rank)
    std::memcpy(static_cast<void *>(&records[rank]),
                all.data() + rank * message.size(), sizeof(own));
  AMP_RETURN_IF_ERROR(amphost::compareRecords(options.equal, records));
  std::memcpy(id.internal, all.data() + sizeof(own), sizeof(id.internal));
  auto made = std::make_shared<NCCLGroup>(int(process.rank), int(process.ranks),
                                          options.deadline);
  AMP_RETURN_IF_ERROR(made->connect(id, limit));
  *group = std::move(made);
  return Status();
}

/// Connects the ranks of a caller of the C interface: by the communicator of
/// the caller, or by an identifier that rank 0 shares through the exchange.
inline Status connectCallers(const amphost::StepSettings &settings,
                             std::shared_ptr<RankGroup> *group) {
  DeviceScope scope(settings.device);
  auto made = std::make_shared<NCCLGroup>(settings.rank, settings.numRanks,
                                          settings.deadline);
  if (settings.communicator) {
    AMP_RETURN_IF_ERROR(
        made->adopt(static_cast<ncclComm_t>(settings.communicator)));
    *group = std::move(made);
    return Status();
  }
  // Rank 0 takes part in the exchange after an error too, because the others
  // wait for it.
  struct Identifier {
    ncclUniqueId id;
    int32_t status;
  } own = {};
  if (settings.rank == 0)
    own.status = int32_t(ncclGetUniqueId(&own.id));
  std::vector<Identifier> all{size_t(settings.numRanks)};
  const amp_step_exchange &exchange = *settings.exchange;
  if (const int32_t code =
          exchange.exchange(exchange.context, &own, 0, all.data(), sizeof(own)))
    return makeError(kInvalidArgument,
                     "the exchange of the ranks returned %d, expected 0", code);
  AMP_RETURN_IF_ERROR(check(ncclResult_t(all[0].status), "ncclGetUniqueId"));
  AMP_RETURN_IF_ERROR(made->connect(all[0].id, Deadline(settings.deadline)));
  *group = std::move(made);
  return Status();
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_NCCLGROUP_H
