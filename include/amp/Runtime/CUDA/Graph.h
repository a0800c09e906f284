//===- Graph.h - A step as a CUDA graph -------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AMP_RUNTIME_CUDA_GRAPH_H
#define AMP_RUNTIME_CUDA_GRAPH_H

#include "amp/Runtime/CUDA/Status.h"

#include <memory>
#include <vector>

namespace amp::cuda {

/// A captured sequence of launches, replayed with one call.
class StepGraph {
public:
  StepGraph() = default;
  StepGraph(const StepGraph &) = delete;
  StepGraph &operator=(const StepGraph &) = delete;
  ~StepGraph() { reset(); }

  /// Captures what `enqueue(stream)`, which returns a Status, puts on `stream`,
  /// which is not the default stream. Nothing runs. It is an error to allocate
  /// or synchronise in `enqueue`. Replaces an earlier capture.
  template <typename Enqueue>
  Status capture(cudaStream_t stream, Enqueue enqueue) {
    reset();
    // Thread-local: other threads of the host program may allocate meanwhile.
    AMP_CUDA_CALL(
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    Status status = enqueue(stream);
    // End the capture in any case.
    cudaGraph_t graph = nullptr;
    cudaError_t ended = cudaStreamEndCapture(stream, &graph);
    AMP_RETURN_IF_ERROR(status);
    AMP_RETURN_IF_ERROR(check(ended, "cudaStreamEndCapture"));
    cudaError_t counted = cudaGraphGetNodes(graph, nullptr, &numNodes);
    cudaError_t made = cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphDestroy(graph);
    AMP_RETURN_IF_ERROR(check(counted, "cudaGraphGetNodes"));
    return check(made, "cudaGraphInstantiate");
  }

  /// Enqueues the captured launches on `stream`.
  Status launch(cudaStream_t stream) const {
    if (!executable)
      return makeError(kInvalidArgument, "no step has been captured");
    return check(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
  }

  bool isCaptured() const { return executable != nullptr; }
  /// The number of nodes of the graph.
  size_t getNumNodes() const { return numNodes; }
  void reset() {
    if (executable)
      cudaGraphExecDestroy(executable);
    executable = nullptr;
    numNodes = 0;
  }

private:
  cudaGraphExec_t executable = nullptr;
  size_t numNodes = 0;
};

/// The graphs of the parts of a step (Calls.h). A step without calls has one
/// part.
class StepGraphs {
public:
  /// Runs a step with `numCalls` calls on `stream`. `enqueue(on, part)`
  /// enqueues a part. On the first run, captures on `captureStream`
  /// each part that does not call.
  template <typename Enqueue>
  Status run(int numCalls, cudaStream_t captureStream, cudaStream_t stream,
             Enqueue enqueue) {
    parts.resize(size_t(numCalls) + 1);
    for (int part = 0; part <= 2 * numCalls; ++part) {
      if (part % 2 == 1) {
        AMP_RETURN_IF_ERROR(enqueue(stream, part));
        continue;
      }
      std::unique_ptr<StepGraph> &graph = parts[size_t(part) / 2];
      if (!graph)
        graph = std::make_unique<StepGraph>();
      if (!graph->isCaptured())
        AMP_RETURN_IF_ERROR(graph->capture(
            captureStream, [&](cudaStream_t on) { return enqueue(on, part); }));
      AMP_RETURN_IF_ERROR(graph->launch(stream));
    }
    return Status();
  }

  /// The number of nodes of all graphs.
  size_t getNumNodes() const {
    size_t count = 0;
    for (const std::unique_ptr<StepGraph> &graph : parts)
      count += graph ? graph->getNumNodes() : 0;
    return count;
  }
  void reset() { parts.clear(); }

private:
  std::vector<std::unique_ptr<StepGraph>> parts;
};

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_GRAPH_H
