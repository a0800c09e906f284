//===- Runtime.cpp - CUDA on the CPU: streams, events, graphs ---*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
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

#include "amp/CudaHost/Host.h"
#include "nvtx3/nvToolsExt.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <random>

using namespace amp::cuda::host;
using Work = std::function<void()>;

namespace amp::cuda::host::capture {
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
} // namespace amp::cuda::host::capture
using namespace amp::cuda::host::capture;

struct CUstream_st {
  /// The device of the stream. None for the default stream.
  int device = -1, priority = 0;
  std::deque<Work> queue;
  bool running = false;
  /// The capture of the stream, and its number there.
  std::shared_ptr<Capture> capture;
  size_t number = 0;
};

struct CUevent_st {
  /// Work that waits for a record may outlive the event.
  struct State {
    cudaStream_t stream = nullptr;
    unsigned recorded = 0, done = 0;
    std::chrono::steady_clock::time_point time;
    /// The capture with the last record, and its node.
    std::shared_ptr<Capture> capture;
    size_t node = 0;
  };
  std::shared_ptr<State> state = std::make_shared<State>();
};

struct CUgraph_st {
  std::vector<Node> nodes;
  /// The priorities of the captured streams.
  std::vector<int> priorities;
};

struct CUgraphExec_st {
  std::vector<Node> nodes;
  /// The streams of its branches. That of the launch takes the place of the
  /// first one.
  std::vector<cudaStream_t> streams;
};

namespace amp::cuda::host {
void *allocateDevice(size_t bytes);
bool freeDevice(void *pointer);
} // namespace amp::cuda::host

namespace {
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

  ~Device() { writeTrace(); }
  void writeTrace() const;
};
} // namespace

/// Writes one line per launch: range, name, distinct bytes loaded and stored,
/// separated by tabs.
void Device::writeTrace() const {
  const char *path = std::getenv("AMP_CUDA_HOST_TRACE");
  FILE *file = path ? std::fopen(path, "w") : nullptr;
  if (!file)
    return;
  for (const LaunchRecord &launch : launches)
    std::fprintf(file, "%s\t%s\t%llu\t%llu\n", launch.range.c_str(),
                 launch.name.c_str(), (unsigned long long)launch.distinctLoaded,
                 (unsigned long long)launch.distinctStored);
  std::fclose(file);
}

static Device &device() {
  static Device instance;
  return instance;
}

const std::vector<LaunchRecord> &amp::cuda::host::launches() {
  return device().launches;
}
void amp::cuda::host::clearLaunches() { device().launches.clear(); }
const std::vector<std::string> &amp::cuda::host::violations() {
  return device().violations;
}
void amp::cuda::host::clearViolations() {
  device().violations.clear();
  device().asynchronous = device().last = cudaSuccess;
}
void amp::cuda::host::violate(const std::string &message) {
  device().violations.push_back(message);
  device().asynchronous = cudaErrorLaunchFailure;
}
void amp::cuda::host::recordLaunch(LaunchRecord record) {
  device().launches.push_back(std::move(record));
}
void amp::cuda::host::nameNextLaunch(const char *name) {
  device().nextName = name;
}

namespace amp::cuda::host {
/// The innermost range. Empty outside of all ranges.
std::string getRange() {
  return device().ranges.empty() ? "" : device().ranges.back();
}

/// The name of the current launch.
std::string takeLaunchName(const char *otherwise) {
  std::string name = std::move(device().nextName);
  device().nextName.clear();
  return name.empty() ? otherwise : name;
}
} // namespace amp::cuda::host

/// Records an error for cudaGetLastError.
static cudaError_t fail(cudaError_t error) {
  if (error != cudaSuccess)
    device().last = error;
  return error;
}

/// Each thread has its own value, as on a device.
static thread_local int currentDevice = 0;

static cudaError_t outcome() {
  return options().devices == 0 ? fail(cudaErrorNoDevice)
                                : fail(device().asynchronous);
}

static CUstream_st &resolve(cudaStream_t stream) {
  return stream ? *stream : device().defaultStream;
}

/// Runs the work of `stream`, or only until record `number` of `event` is done.
static void drain(CUstream_st &stream, const CUevent_st::State *event = nullptr,
                  unsigned number = 0) {
  if (stream.running) {
    violate("a stream waits for itself");
    return;
  }
  stream.running = true;
  while (!stream.queue.empty() && !(event && event->done >= number)) {
    Work work = std::move(stream.queue.front());
    stream.queue.pop_front();
    // After a failure no more work runs, as on a device.
    if (device().asynchronous == cudaSuccess)
      work();
  }
  stream.running = false;
}

/// Whether work on a stream of high priority runs before the host goes on.
static bool runsNow() {
  static std::minstd_rand random(unsigned(options().seed));
  return options().priority == Priority::Early ||
         (options().priority == Priority::Random && random() % 2 == 0);
}

/// Calls that are not allowed while a stream is being captured invalidate the
/// capture.
static bool breaksCapture(bool unsafeOnly) {
  bool result = false;
  for (cudaStream_t stream : device().streams)
    if (stream->capture && !(unsafeOnly && stream->capture->mode ==
                                               cudaStreamCaptureModeRelaxed)) {
      stream->capture->invalidated = true;
      result = true;
    }
  return result;
}

cudaError_t amp::cuda::host::enqueue(cudaStream_t stream, Work work) {
  if (cudaError_t error = outcome())
    return error;
  CUstream_st &s = resolve(stream);
  if (s.capture) {
    s.capture->nodes.push_back({s.number, std::move(work)});
    return cudaSuccess;
  }
  s.queue.push_back(std::move(work));
  if (s.priority < 0 && runsNow())
    drain(s);
  return cudaSuccess;
}

bool amp::cuda::host::isCapturing(cudaStream_t stream) {
  return resolve(stream).capture != nullptr;
}

cudaError_t amp::cuda::host::enqueueKernel(const cudaLaunchConfig_t &config,
                                           const void *kernel, Work body) {
  std::string name = takeLaunchName("kernel");
  const dim3 &grid = config.gridDim, &block = config.blockDim;
  uint64_t threads = uint64_t(block.x) * block.y * block.z;
  auto limit = device().sharedLimits.find(kernel);
  size_t shared =
      limit == device().sharedLimits.end() ? 48 * 1024 : limit->second;
  if (threads == 0 || threads > 1024 || block.z > 64 || grid.x == 0 ||
      grid.y == 0 || grid.z == 0 || grid.x > 0x7fffffff || grid.y > 65535 ||
      grid.z > 65535 || config.dynamicSmemBytes > shared)
    return fail(cudaErrorInvalidConfiguration);
  if (config.stream && config.stream->device != currentDevice)
    return fail(cudaErrorInvalidResourceHandle);
  LaunchRecord record{name, getRange(), grid, block, config.dynamicSmemBytes};
  return enqueue(config.stream, [record, body = std::move(body)] {
    LaunchRecord done = record;
    runKernel(record.grid, record.block, record.sharedBytes, body, done);
    recordLaunch(std::move(done));
  });
}

//===----------------------------------------------------------------------===//
// Device and memory
//===----------------------------------------------------------------------===//

cudaError_t cudaGetDeviceCount(int *count) {
  *count = options().devices;
  return *count ? cudaSuccess : fail(cudaErrorNoDevice);
}
cudaError_t cudaSetDevice(int device) {
  if (options().devices == 0)
    return fail(cudaErrorNoDevice);
  if (device < 0 || device >= options().devices)
    return fail(cudaErrorInvalidDevice);
  currentDevice = device;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int *device) {
  *device = currentDevice;
  return outcome();
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int) {
  *properties = cudaDeviceProp();
  std::snprintf(properties->name, sizeof(properties->name), "CUDA on the CPU");
  properties->totalGlobalMem = options().deviceMemory;
  properties->major = options().capability / 10;
  properties->minor = options().capability % 10;
  properties->multiProcessorCount = 132;
  return outcome();
}
cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
  *total = options().deviceMemory;
  *free = options().deviceMemory - allocatedBytes();
  return outcome();
}
cudaError_t cudaGetLastError() {
  cudaError_t error = device().last;
  device().last = cudaSuccess;
  return error;
}

const char *cudaGetErrorString(cudaError_t error) {
  switch (error) {
  case cudaSuccess:
    return "no error";
  case cudaErrorInvalidValue:
    return "invalid argument";
  case cudaErrorMemoryAllocation:
    return "out of memory";
  case cudaErrorInvalidConfiguration:
    return "invalid configuration argument";
  case cudaErrorInsufficientDriver:
    return "CUDA driver version is insufficient for CUDA runtime version";
  case cudaErrorNoDevice:
    return "no CUDA-capable device is detected";
  case cudaErrorInvalidDevice:
    return "invalid device ordinal";
  case cudaErrorStreamCaptureUnsupported:
    return "operation not permitted when stream is capturing";
  case cudaErrorStreamCaptureUnjoined:
    return "capturing stream has unjoined work";
  case cudaErrorStreamCaptureIsolation:
    return "dependency created on uncaptured work in another stream";
  case cudaErrorStreamCaptureInvalidated:
    return "operation failed due to a previous error during capture";
  case cudaErrorLaunchFailure:
    return device().violations.empty() ? "unspecified launch failure"
                                       : device().violations.front().c_str();
  default:
    return "unknown error";
  }
}

cudaError_t cudaDeviceSynchronize() {
  if (breaksCapture(/*unsafeOnly=*/false))
    return fail(cudaErrorStreamCaptureUnsupported);
  drain(device().defaultStream);
  for (cudaStream_t stream : device().streams)
    drain(*stream);
  return outcome();
}

cudaError_t cudaMalloc(void **pointer, size_t bytes) {
  if (breaksCapture(/*unsafeOnly=*/true))
    return fail(cudaErrorStreamCaptureUnsupported);
  if (options().devices == 0)
    return fail(cudaErrorNoDevice);
  *pointer = bytes ? allocateDevice(bytes) : nullptr;
  return bytes && !*pointer ? fail(cudaErrorMemoryAllocation) : outcome();
}

cudaError_t cudaFree(void *pointer) {
  if (!pointer)
    return cudaSuccess;
  if (breaksCapture(/*unsafeOnly=*/true))
    return fail(cudaErrorStreamCaptureUnsupported);
  cudaDeviceSynchronize();
  return freeDevice(pointer) ? outcome() : fail(cudaErrorInvalidValue);
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes) {
  if (breaksCapture(/*unsafeOnly=*/true))
    return fail(cudaErrorStreamCaptureUnsupported);
  if (options().devices == 0)
    return fail(cudaErrorNoDevice);
  *pointer = std::malloc(bytes);
  if (!*pointer)
    return fail(cudaErrorMemoryAllocation);
  device().pinned[static_cast<char *>(*pointer)] = bytes;
  return outcome();
}

cudaError_t cudaFreeHost(void *pointer) {
  if (!pointer)
    return cudaSuccess;
  cudaDeviceSynchronize();
  if (device().pinned.erase(static_cast<char *>(pointer)) == 0)
    return fail(cudaErrorInvalidValue);
  std::free(pointer);
  return outcome();
}

/// Whether `data` is in pinned host memory.
static bool isPinned(const void *data, size_t bytes) {
  const char *begin = static_cast<const char *>(data);
  auto after = device().pinned.upper_bound(begin);
  if (after == device().pinned.begin())
    return false;
  auto [block, size] = *std::prev(after);
  return begin + bytes <= block + size;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream) {
  bool toDevice =
      kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  bool fromDevice =
      kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (bytes && ((toDevice && !isDeviceMemory(to, bytes)) ||
                (fromDevice && !isDeviceMemory(from, bytes))))
    return fail(cudaErrorInvalidValue);
  CUstream_st &s = resolve(stream);
  if (kind == cudaMemcpyHostToDevice && !s.capture && !isPinned(from, bytes)) {
    // Memory that is not pinned is read before the call returns.
    std::string copy(static_cast<const char *>(from), bytes);
    return enqueue(stream, [to, copy = std::move(copy)] {
      std::memcpy(to, copy.data(), copy.size());
    });
  }
  cudaError_t error =
      enqueue(stream, [to, from, bytes] { std::memmove(to, from, bytes); });
  if (error == cudaSuccess && kind == cudaMemcpyDeviceToHost && !s.capture) {
    drain(s);
    return outcome();
  }
  return error;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes,
                       cudaMemcpyKind kind) {
  if (breaksCapture(/*unsafeOnly=*/true))
    return fail(cudaErrorStreamCaptureUnsupported);
  if (cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, nullptr))
    return error;
  drain(device().defaultStream);
  return outcome();
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes,
                            cudaStream_t stream) {
  if (bytes && !isDeviceMemory(to, bytes))
    return fail(cudaErrorInvalidValue);
  return enqueue(stream, [to, value, bytes] { std::memset(to, value, bytes); });
}

cudaError_t cudaMemset(void *to, int value, size_t bytes) {
  if (breaksCapture(/*unsafeOnly=*/true))
    return fail(cudaErrorStreamCaptureUnsupported);
  if (cudaError_t error = cudaMemsetAsync(to, value, bytes, nullptr))
    return error;
  drain(device().defaultStream);
  return outcome();
}

cudaError_t cudaFuncSetAttribute(const void *function, cudaFuncAttribute,
                                 int value) {
  if (value < 0 || value > 227 * 1024)
    return fail(cudaErrorInvalidValue);
  device().sharedLimits[function] = value;
  return outcome();
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
  if (options().devices == 0)
    return fail(cudaErrorNoDevice);
  *stream = new CUstream_st;
  (*stream)->device = currentDevice;
  device().streams.push_back(*stream);
  return outcome();
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags,
                                         int priority) {
  cudaError_t error = cudaStreamCreateWithFlags(stream, flags);
  if (error == cudaSuccess)
    (*stream)->priority = priority;
  return error;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  *least = 0;
  *greatest = -5;
  return outcome();
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  auto &streams = device().streams;
  for (auto it = streams.begin(); it != streams.end(); ++it)
    if (*it == stream) {
      drain(*stream);
      streams.erase(it);
      delete stream;
      return outcome();
    }
  return fail(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  CUstream_st &s = resolve(stream);
  if (s.capture) {
    s.capture->invalidated = true;
    return fail(cudaErrorStreamCaptureUnsupported);
  }
  drain(s);
  return outcome();
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
  *event = new CUevent_st;
  return outcome();
}
cudaError_t cudaEventCreate(cudaEvent_t *event) {
  return cudaEventCreateWithFlags(event, 0);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return outcome();
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  std::shared_ptr<CUevent_st::State> state = event->state;
  state->stream = stream ? stream : &device().defaultStream;
  state->capture = state->stream->capture;
  if (std::shared_ptr<Capture> &capture = state->capture) {
    state->node = capture->nodes.size();
    capture->nodes.push_back({state->stream->number, {}, /*records=*/true});
    return outcome();
  }
  unsigned number = ++state->recorded;
  return enqueue(stream, [state, number] {
    state->done = number;
    state->time = std::chrono::steady_clock::now();
  });
}

static void waitFor(const CUevent_st::State &event, cudaStream_t stream,
                    unsigned number) {
  if (event.done < number)
    drain(*stream, &event, number);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned) {
  // A wait is for the last record before it.
  std::shared_ptr<CUevent_st::State> state = event->state;
  CUstream_st &waiting = resolve(stream);
  if (const std::shared_ptr<Capture> &capture = state->capture) {
    if (waiting.capture && waiting.capture != capture)
      return fail(cudaErrorStreamCaptureIsolation);
    // The stream joins the capture.
    if (!waiting.capture) {
      waiting.capture = capture;
      waiting.number = capture->streams.size();
      capture->streams.push_back(&waiting);
    }
    capture->nodes.push_back({waiting.number, {}, false, state->node});
    return outcome();
  }
  cudaStream_t recorder = state->stream;
  unsigned number = state->recorded;
  return enqueue(
      stream, [state, recorder, number] { waitFor(*state, recorder, number); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const CUevent_st::State &state = *event->state;
  if (state.capture)
    return fail(cudaErrorStreamCaptureUnsupported);
  waitFor(state, state.stream, state.recorded);
  return outcome();
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start,
                                 cudaEvent_t stop) {
  const CUevent_st::State &from = *start->state, &to = *stop->state;
  if (from.recorded == 0 || to.recorded == 0)
    return fail(cudaErrorInvalidResourceHandle);
  if (from.done != from.recorded || to.done != to.recorded)
    return fail(cudaErrorNotReady);
  *milliseconds =
      std::chrono::duration<float, std::milli>(to.time - from.time).count();
  return outcome();
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

cudaError_t cudaStreamBeginCapture(cudaStream_t stream,
                                   cudaStreamCaptureMode mode) {
  if (!stream || stream->capture)
    return fail(cudaErrorStreamCaptureUnsupported);
  stream->capture = std::make_shared<Capture>();
  stream->capture->mode = mode;
  stream->capture->streams = {stream};
  stream->number = 0;
  return outcome();
}

/// Whether the first stream waits for all work of the others.
static bool isJoined(const Capture &capture) {
  std::vector<size_t> last(capture.streams.size()), waited(last.size());
  for (size_t i = 0; i < capture.nodes.size(); ++i) {
    const Node &node = capture.nodes[i];
    if (node.work)
      last[node.stream] = i;
    else if (!node.records && node.stream == 0)
      waited[capture.nodes[node.event].stream] = node.event;
  }
  for (size_t stream = 1; stream < last.size(); ++stream)
    if (waited[stream] <= last[stream])
      return false;
  return true;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  if (!stream || !stream->capture || stream->number != 0)
    return fail(cudaErrorInvalidValue);
  std::shared_ptr<Capture> capture = stream->capture;
  std::vector<int> priorities;
  for (cudaStream_t joined : capture->streams) {
    joined->capture.reset();
    priorities.push_back(joined->priority);
  }
  *graph = nullptr;
  if (capture->invalidated)
    return fail(cudaErrorStreamCaptureInvalidated);
  if (!isJoined(*capture))
    return fail(cudaErrorStreamCaptureUnjoined);
  *graph = new CUgraph_st{std::move(capture->nodes), std::move(priorities)};
  return outcome();
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *,
                              size_t *count) {
  // Events are edges of the graph.
  *count = size_t(std::count_if(graph->nodes.begin(), graph->nodes.end(),
                                [](const Node &node) { return !!node.work; }));
  return outcome();
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                 unsigned long long) {
  *executable = new CUgraphExec_st{graph->nodes, {nullptr}};
  for (size_t i = 1; i < graph->priorities.size(); ++i) {
    cudaStream_t stream = nullptr;
    if (cudaError_t error = cudaStreamCreateWithPriority(
            &stream, cudaStreamNonBlocking, graph->priorities[i]))
      return error;
    (*executable)->streams.push_back(stream);
  }
  return outcome();
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  // The events of this launch.
  std::map<size_t, std::shared_ptr<CUevent_st::State>> events;
  for (size_t i = 0; i < executable->nodes.size(); ++i) {
    const Node &node = executable->nodes[i];
    cudaStream_t on = node.stream ? executable->streams[node.stream] : stream;
    Work work = node.work;
    if (node.records) {
      auto &state = events[i] = std::make_shared<CUevent_st::State>();
      state->stream = on ? on : &device().defaultStream;
      work = [state = state] { state->done = 1; };
    } else if (!work) {
      work = [state = events[node.event]] {
        waitFor(*state, state->stream, 1);
      };
    }
    if (cudaError_t error = enqueue(on, std::move(work)))
      return error;
  }
  return outcome();
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return outcome();
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  cudaDeviceSynchronize();
  for (cudaStream_t stream : executable->streams)
    if (stream)
      cudaStreamDestroy(stream);
  delete executable;
  return outcome();
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

int nvtxRangePushA(const char *message) {
  device().ranges.push_back(message);
  return int(device().ranges.size()) - 1;
}
int nvtxRangePop() {
  if (device().ranges.empty()) {
    violate("a range ends that did not begin");
    return -1;
  }
  device().ranges.pop_back();
  return int(device().ranges.size());
}
