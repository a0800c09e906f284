//===- NCCLGroup.cu - NCCL and streams on the CPU ---------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The CPU implementation of NCCL rounds as a ring or a tree does, and rejects
// calls that differ between ranks and memory that a collective uses. Captures
// follow events to other streams.
//
// RUN: %cuda_host_cxx %s %cuda_host_lib -o %t && %t
//
//===----------------------------------------------------------------------===//

#include "amp/CudaHost/Testing.h"
#include "amp/Runtime/CUDA/Graph.h"
#include "amp/Runtime/CUDA/NCCLGroup.h"

#include <sys/wait.h>

using namespace amp::cuda;
using namespace amp::cuda::testing;

using Values = std::vector<double>;

/// Runs `body(rank, communicator)` in a process for each rank. Returns whether
/// all of them end without a failure.
template <typename Body>
static bool onRanks(int count, Body body) {
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  std::fflush(nullptr);
  for (int rank = 0; rank < count; ++rank) {
    if (fork() != 0)
      continue;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclComm_t communicator = nullptr;
    ncclCommInitRankConfig(&communicator, count, id, rank, &config);
    ncclResult_t state = ncclInProgress;
    while (state == ncclInProgress)
      ncclCommGetAsyncError(communicator, &state);
    body(rank, communicator);
    ncclCommDestroy(communicator);
    std::_Exit(finish());
  }
  bool passed = true;
  for (int rank = 0; rank < count; ++rank) {
    int status = 0;
    wait(&status);
    passed &= WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  return passed;
}

/// The sum over three ranks of two elements, which are chunks of rings that
/// begin at other ranks.
template <typename T>
static void checkSum(ncclDataType_t type, ncclRedOp_t operation,
                     const std::vector<Values> &from, const Values &expected) {
  CHECK(onRanks(int(from.size()), [&](int rank, ncclComm_t communicator) {
    Buffer<T> values(from[size_t(rank)]);
    CHECK(ncclAllReduce(values, values, values.size(), type, operation,
                        communicator, nullptr) == ncclSuccess);
    CHECK(values.read() == expected);
  }));
}

static void testOrders() {
  // 1 + 2^-11 rounds to 1 in f16, and 2^-11 + 2^-11 does not. Chunk 0 begins at
  // rank 1, chunk 1 at rank 2 and chunk 2 at rank 0.
  const double small = 0x1p-11;
  const std::vector<Values> parts = {
      {1, 1, 1}, {small, small, small}, {small, small, small}};
  setenv("AMP_NCCL_HOST_ORDER", "ring", 1);
  checkSum<__half>(ncclFloat16, ncclSum, parts, {1 + 0x1p-10, 1, 1});
  // A tree has its root at rank 1, which adds rank 0 first. The second tree has
  // the ranks in reverse.
  setenv("AMP_NCCL_HOST_ORDER", "tree", 1);
  checkSum<__half>(ncclFloat16, ncclSum,
                   {{small, 1, small}, {1, small, 1}, {small, small, small}},
                   {1, 1 + 0x1p-10, 1});
  checkSum<float>(ncclFloat32, ncclSum,
                  {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {1, 1, 1, 1}},
                  {16, 19, 22, 25});
  // Wide, with one rounding.
  setenv("AMP_NCCL_HOST_ORDER", "rank", 1);
  checkSum<__half>(ncclFloat16, ncclSum, parts,
                   {1 + 0x1p-10, 1 + 0x1p-10, 1 + 0x1p-10});
  // An average multiplies by 1/3 in the type first.
  const double third = widen(roundTo<__nv_bfloat16>(1.0f / 3.0f));
  checkSum<__nv_bfloat16>(
      ncclBfloat16, ncclAvg, {{3}, {3}, {3}},
      {widen(roundTo<__nv_bfloat16>(
          3 * widen(roundTo<__nv_bfloat16>(float(3 * third)))))});
  // A maximum drops NaN, and integers keep it as they are told to.
  checkSum<float>(ncclFloat32, ncclMax, {{NAN, -1}, {2, NAN}}, {2, -1});
  checkSum<int32_t>(ncclInt32, ncclMax, {{-5, 7}, {2, -7}}, {2, 7});
  checkSum<uint8_t>(ncclUint8, ncclMin, {{1, 1, 0}, {1, 0, 0}}, {1, 0, 0});
  checkSum<int64_t>(ncclInt64, ncclSum, {{1}, {1e15}}, {1e15 + 1});
}

static void testParts() {
  // More elements than a rank sends at once.
  const size_t count = 300000;
  CHECK(onRanks(2, [&](int rank, ncclComm_t communicator) {
    Values whole(2 * count);
    for (size_t i = 0; i < whole.size(); ++i)
      whole[i] = double(i % 1000) * (rank + 1);
    Buffer<float> from(whole), part(count), all(2 * count);
    CHECK(ncclReduceScatter(from, part, count, ncclFloat32, ncclSum,
                            communicator, nullptr) == ncclSuccess);
    CHECK(ncclAllGather(part, all, count, ncclFloat32, communicator, nullptr) ==
          ncclSuccess);
    const Values sum = all.read();
    bool equal = true;
    for (size_t i = 0; i < sum.size(); ++i)
      equal &= sum[i] == double(i % 1000) * 3;
    CHECK(equal);
  }));
}

static void testRegistration() {
  CHECK(onRanks(1, [](int, ncclComm_t communicator) {
    void *memory = nullptr, *handle = nullptr;
    CHECK(ncclMemAlloc(&memory, 64) == ncclSuccess);
    auto reduce = [&](size_t count) {
      return ncclAllReduce(memory, memory, count, ncclFloat32, ncclSum,
                           communicator, nullptr);
    };
    setenv("AMP_NCCL_HOST_REGISTERED", "1", 1);
    CHECK(reduce(8) == ncclInvalidUsage);
    // Only the first half.
    CHECK(ncclCommRegister(communicator, memory, 32, &handle) == ncclSuccess);
    CHECK(reduce(8) == ncclSuccess);
    CHECK(reduce(16) == ncclInvalidUsage);
    // A program must deregister memory first.
    CHECK(ncclMemFree(memory) == ncclInvalidUsage);
    CHECK(ncclCommDestroy(communicator) == ncclInvalidUsage);
    CHECK(ncclCommDeregister(communicator, handle) == ncclSuccess);
    CHECK(ncclCommDeregister(communicator, handle) == ncclInvalidArgument);
    CHECK(reduce(8) == ncclInvalidUsage);
    cudaDeviceSynchronize();
    CHECK(ncclMemFree(memory) == ncclSuccess);
    unsetenv("AMP_NCCL_HOST_REGISTERED");
    float value = 1;
    CHECK(ncclCommRegister(communicator, &value, 4, &handle) ==
          ncclInvalidArgument);
  }));
}

/// The end of the last part of a scattered sum is zero.
static void testEndOfParts() {
  CHECK(onRanks(3, [](int rank, ncclComm_t communicator) {
    NCCLGroup group(rank, 3, 5);
    CHECK_OK(group.adopt(communicator));
    const CollectiveInfo info = {"scatter", 7};
    CHECK_OK(group.prepare(&info, 1));
    group.beginStep();
    // Seven elements, and two of other memory.
    Buffer<float> from(Values{1, 2, 3, 4, 5, 6, 7, 50, 60}), part(3);
    const CollectiveOperand operand = {from.get(), part.get(), 3, ncclFloat32,
                                       7};
    CHECK_OK(group.begin(0, nullptr));
    CHECK_OK(group.exchange(
        0, &operand, 1,
        [](const CollectiveOperand &each, ncclComm_t among, cudaStream_t on) {
          return ncclReduceScatter(each.from, each.to, size_t(each.count),
                                   each.type, ncclSum, among, on);
        }));
    CHECK_OK(group.await(0, nullptr));
    cudaDeviceSynchronize();
    const std::vector<Values> expected = {{3, 6, 9}, {12, 15, 18}, {21, 0, 0}};
    CHECK(part.read() == expected[size_t(rank)]);
  }));
}

/// Makes rank 1 of 2 differ, and expects that both learn it.
template <typename Call>
static void checkMismatch(const char *text, Call call) {
  CHECK(onRanks(2, [&](int rank, ncclComm_t communicator) {
    Buffer<float> values(Values(8, 1.0));
    std::thread watch([&] {
      ncclResult_t state = ncclSuccess;
      for (int i = 0; i < 500 && state == ncclSuccess; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        ncclCommGetAsyncError(communicator, &state);
      }
      const std::string message = ncclGetLastError(communicator);
      const bool found =
          state == ncclInvalidUsage && message.find(text) != std::string::npos;
      if (!found)
        std::printf("expected '%s', got %d '%s'\n", text, int(state),
                    message.c_str());
      std::fflush(nullptr);
      std::_Exit(found ? 0 : 1);
    });
    call(rank, values.get(), communicator);
    cudaDeviceSynchronize();
    CHECK(!"the collective ended");
    watch.join();
  }));
}

static void testMismatches() {
  checkMismatch("8 elements", [](int rank, float *data, ncclComm_t among) {
    ncclAllReduce(data, data, rank ? 8 : 4, ncclFloat32, ncclSum, among,
                  nullptr);
  });
  checkMismatch("operation 2", [](int rank, float *data, ncclComm_t among) {
    ncclAllReduce(data, data, 8, ncclFloat32, rank ? ncclMax : ncclSum, among,
                  nullptr);
  });
  checkMismatch("type 2", [](int rank, float *data, ncclComm_t among) {
    ncclAllReduce(data, data, 8, rank ? ncclInt32 : ncclFloat32, ncclSum, among,
                  nullptr);
  });
  checkMismatch("all-gather", [](int rank, float *data, ncclComm_t among) {
    if (rank)
      ncclAllGather(data, data, 4, ncclFloat32, among, nullptr);
    else
      ncclAllReduce(data, data, 4, ncclFloat32, ncclSum, among, nullptr);
  });
  // Host memory is not that of a device.
  CHECK(onRanks(1, [](int, ncclComm_t communicator) {
    float value = 1;
    CHECK(ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, communicator,
                        nullptr) == ncclInvalidArgument);
  }));
}

/// Copies `from` to `to` on a second stream, after and before work on the
/// first.
static Status copyAside(cudaStream_t first, cudaStream_t second, Event &ready,
                        Event &done, float *data, bool waits, bool joins) {
  AMP_CUDA_CALL(cudaMemsetAsync(data, 0, 4, first));
  AMP_RETURN_IF_ERROR(ready.record(first));
  if (waits)
    AMP_RETURN_IF_ERROR(ready.delay(second));
  AMP_CUDA_CALL(
      cudaMemcpyAsync(data + 1, data, 4, cudaMemcpyDeviceToDevice, second));
  AMP_RETURN_IF_ERROR(done.record(second));
  if (joins)
    AMP_RETURN_IF_ERROR(done.delay(first));
  return check(
      cudaMemcpyAsync(data + 2, data + 1, 4, cudaMemcpyDeviceToDevice, first),
      "cudaMemcpyAsync");
}

static void testStreams() {
  for (auto priority : {host::Priority::Early, host::Priority::Late}) {
    host::options().priority = priority;
    const bool isEarly = priority == host::Priority::Early;
    cudaStream_t first, second;
    int least = 0, greatest = 0;
    cudaDeviceGetStreamPriorityRange(&least, &greatest);
    CHECK(greatest < least);
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithPriority(&second, cudaStreamNonBlocking, greatest);
    Event ready, done;
    CHECK_OK(ready.create());
    CHECK_OK(done.create());
    Buffer<float> data(Values{5, 6, 7});
    // What the copy reads if an event is missing depends on the schedule.
    auto run = [&](bool waits, bool joins) {
      cudaMemcpy(data, Values{}.data(), 0, cudaMemcpyHostToDevice);
      const float begin[3] = {5, 6, 7};
      cudaMemcpy(data, begin, sizeof(begin), cudaMemcpyHostToDevice);
      CHECK_OK(copyAside(first, second, ready, done, data, waits, joins));
      cudaStreamSynchronize(first);
      return data.read()[2];
    };
    CHECK(run(true, true) == 0);
    CHECK((run(false, true) == 0) == !isEarly);
    CHECK((run(true, false) == 0) == isEarly);
    // A graph has the work of both streams.
    StepGraph graph;
    CHECK_OK(graph.capture(first, [&](cudaStream_t on) {
      return copyAside(on, second, ready, done, data, true, true);
    }));
    CHECK(graph.getNumNodes() == 3);
    for (int i = 0; i < 2; ++i) {
      const float begin[3] = {5, 6, 7};
      cudaMemcpy(data, begin, sizeof(begin), cudaMemcpyHostToDevice);
      CHECK_OK(graph.launch(first));
      cudaStreamSynchronize(first);
      CHECK(data.read() == (Values{0, 0, 0}));
    }
    CHECK_ERROR(graph.capture(first,
                              [&](cudaStream_t on) {
                                return copyAside(on, second, ready, done, data,
                                                 true, false);
                              }),
                "capturing stream has unjoined work");
    graph.reset();
    cudaStreamDestroy(second);
    cudaStreamDestroy(first);
  }
  host::options().priority = host::Priority::Early;
}

/// Work that touches memory of a collective must wait for it.
static void testUse() {
  for (auto priority : {host::Priority::Early, host::Priority::Late})
    for (const bool isOrdered : {true, false})
      for (const bool comesFirst : {true, false})
        CHECK(onRanks(2, [&](int, ncclComm_t communicator) {
          host::options().priority = priority;
          cudaStream_t first, second;
          int least = 0, greatest = 0;
          cudaDeviceGetStreamPriorityRange(&least, &greatest);
          cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
          cudaStreamCreateWithPriority(&second, cudaStreamNonBlocking,
                                       greatest);
          Event ready, done;
          CHECK_OK(ready.create());
          CHECK_OK(done.create());
          Buffer<float> data(Values{1, 2});
          if (comesFirst)
            cudaMemsetAsync(data, 0, 8, first);
          CHECK_OK(ready.record(first));
          if (isOrdered || !comesFirst)
            CHECK_OK(ready.delay(second));
          CHECK(ncclAllReduce(data, data, 2, ncclFloat32, ncclSum, communicator,
                              second) == ncclSuccess);
          CHECK_OK(done.record(second));
          if (isOrdered || comesFirst)
            CHECK_OK(done.delay(first));
          cudaMemsetAsync(data, 0, 8, first);
          cudaStreamSynchronize(first);
          cudaStreamSynchronize(second);
          // The other schedule shows what this one hides.
          const bool isEarly = priority == host::Priority::Early;
          const bool isSeen = !isOrdered && isEarly;
          CHECK(host::violations().empty() == !isSeen);
          if (isSeen)
            CHECK(host::violations()[0] ==
                  "'cudaMemsetAsync' writes memory that a collective uses, and "
                  "does not wait for it");
          host::clearViolations();
          cudaStreamDestroy(second);
          cudaStreamDestroy(first);
        }));
  host::options().priority = host::Priority::Early;
}

int main() {
  testOrders();
  testParts();
  testRegistration();
  testEndOfParts();
  testMismatches();
  testStreams();
  testUse();
  return finish();
}
