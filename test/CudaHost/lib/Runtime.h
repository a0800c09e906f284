//===- Runtime.h - The state of CUDA on the CPU -----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Work on a stream runs only when the host waits for it. A program that forgets
// to wait therefore reads memory before the result is written. Work on a stream
// of high priority runs when it is enqueued, after the events that it waits
// for. A program that forgets one of them therefore reads memory too early. A
// captured stream records a list of work, and so do the streams that wait for
// its events. A graph is this list.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TEST_CUDAHOST_LIB_RUNTIME_H
#define AMP_TEST_CUDAHOST_LIB_RUNTIME_H

#include "MemoryUse.h"

#include "amp/CudaHost/Host.h"

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace amp::cuda::host {

using Work = std::function<void()>;

/// Work of a graph, on stream `stream` of its capture. Nodes without work
/// record an event, or wait for the one that node `event` records.
struct Node {
  size_t stream = 0;
  Work work;
  bool records = false;
  size_t event = 0;
};

/// A capture of the first stream and of those that joined it.
struct Capture {
  std::vector<cudaStream_t> streams;
  std::vector<Node> nodes;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  bool invalidated = false;
};

} // namespace amp::cuda::host

struct CUstream_st {
  /// The device of the stream. None for the default stream.
  int device = -1, priority = 0;
  std::deque<amp::cuda::host::Work> queue;
  bool running = false;
  /// The collectives that the work which has run follows.
  amp::cuda::host::Precedents precedents;
  /// The capture of the stream, and its number there.
  std::shared_ptr<amp::cuda::host::Capture> capture;
  size_t number = 0;
};

struct CUevent_st {
  /// Work that waits for a record may outlive the event.
  struct State {
    cudaStream_t stream = nullptr;
    unsigned recorded = 0, done = 0;
    std::chrono::steady_clock::time_point time;
    /// The collectives before the last record that is done.
    amp::cuda::host::Precedents precedents;
    /// The capture with the last record, and its node.
    std::shared_ptr<amp::cuda::host::Capture> capture;
    size_t node = 0;
  };
  std::shared_ptr<State> state = std::make_shared<State>();
};

struct CUgraph_st {
  std::vector<amp::cuda::host::Node> nodes;
  /// The priorities of the captured streams.
  std::vector<int> priorities;
};

struct CUgraphExec_st {
  std::vector<amp::cuda::host::Node> nodes;
  /// The streams of its branches. That of the launch takes the place of the
  /// first one.
  std::vector<cudaStream_t> streams;
};

namespace amp::cuda::host {

void *allocateDevice(size_t bytes);
bool freeDevice(void *pointer);

/// What all streams share.
struct Device {
  CUstream_st defaultStream;
  std::vector<cudaStream_t> streams;
  std::vector<LaunchRecord> launches;
  std::vector<std::string> violations;
  cudaError_t asynchronous = cudaSuccess, last = cudaSuccess;
  std::string nextName;
  std::map<const void *, int> sharedLimits;
  /// Host memory that copies read when they run, and its size.
  std::map<const char *, size_t> pinned;
  std::vector<std::string> ranges;
  /// The stream whose work runs.
  CUstream_st *current = nullptr;
  /// The collectives that the host has waited for.
  Precedents precedents;

  ~Device() { writeTrace(); }
  void writeTrace() const;
};

Device &device();

/// The device of the calling thread.
int getCurrentDevice();

/// Records an error for cudaGetLastError.
cudaError_t fail(cudaError_t error);

/// The result of a call without an error of its own.
cudaError_t outcome();

inline CUstream_st &resolve(cudaStream_t stream) {
  return stream ? *stream : device().defaultStream;
}

/// Runs the work of `stream`, or only until record `number` of `event` is done.
void drain(CUstream_st &stream, const CUevent_st::State *event = nullptr,
           unsigned number = 0);

/// The host waits for the work of `stream`.
void waitFor(CUstream_st &stream);

/// Runs the work of `stream` until record `number` of `event` is done.
void waitFor(const CUevent_st::State &event, cudaStream_t stream,
             unsigned number);

/// Invalidates the captures of all streams, with `unsafeOnly` except those that
/// allow the call. Returns whether there is one.
bool breaksCapture(bool unsafeOnly);

} // namespace amp::cuda::host

#endif // AMP_TEST_CUDAHOST_LIB_RUNTIME_H
