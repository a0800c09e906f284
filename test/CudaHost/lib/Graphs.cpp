//===- Graphs.cpp - CUDA on the CPU: captured graphs ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"

#include <algorithm>

using namespace amp::cuda::host;

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
      work = [state = state] {
        state->done = 1;
        state->precedents.add(device().current->precedents);
      };
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
