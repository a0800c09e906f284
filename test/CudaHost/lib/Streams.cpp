//===- Streams.cpp - CUDA on the CPU: streams and events --------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"

#include <random>
#include <utility>

using namespace amp::cuda::host;

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

void amp::cuda::host::drain(CUstream_st &stream, const CUevent_st::State *event,
                            unsigned number) {
  if (stream.running) {
    violate("a stream waits for itself");
    return;
  }
  stream.running = true;
  CUstream_st *waiting = std::exchange(device().current, &stream);
  setStreamOfWork(&stream, &stream.precedents);
  while (!stream.queue.empty() && !(event && event->done >= number)) {
    Work work = std::move(stream.queue.front());
    stream.queue.pop_front();
    // After a failure no more work runs, as on a device.
    if (device().asynchronous == cudaSuccess)
      work();
  }
  stream.running = false;
  device().current = waiting;
  setStreamOfWork(waiting, waiting ? &waiting->precedents : nullptr);
}

void amp::cuda::host::waitFor(CUstream_st &stream) {
  drain(stream);
  device().precedents.add(stream.precedents);
}

/// Whether work on a stream of high priority runs before the host goes on.
static bool runsNow() {
  static std::minstd_rand random(unsigned(options().seed));
  return options().priority == Priority::Early ||
         (options().priority == Priority::Random && random() % 2 == 0);
}

bool amp::cuda::host::breaksCapture(bool unsafeOnly) {
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
  s.precedents.add(device().precedents);
  s.queue.push_back(std::move(work));
  if (s.priority < 0 && runsNow())
    drain(s);
  return cudaSuccess;
}

bool amp::cuda::host::isCapturing(cudaStream_t stream) {
  return resolve(stream).capture != nullptr;
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
  if (options().devices == 0)
    return fail(cudaErrorNoDevice);
  *stream = new CUstream_st;
  (*stream)->device = getCurrentDevice();
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
      waitFor(*stream);
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
  waitFor(s);
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
    state->precedents.add(device().current->precedents);
    state->time = std::chrono::steady_clock::now();
  });
}

void amp::cuda::host::waitFor(const CUevent_st::State &event,
                              cudaStream_t stream, unsigned number) {
  if (event.done < number)
    drain(*stream, &event, number);
  if (device().current)
    device().current->precedents.add(event.precedents);
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
  device().precedents.add(state.precedents);
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
