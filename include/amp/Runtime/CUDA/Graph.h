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

namespace amp::cuda {

/// A captured sequence of launches, replayed with one call.
class StepGraph {
public:
  StepGraph() = default;
  StepGraph(const StepGraph &) = delete;
  StepGraph &operator=(const StepGraph &) = delete;
  ~StepGraph() { reset(); }

  /// Captures what `enqueue(stream)`, which returns a Status, puts on `stream`
  /// (not the default stream). Nothing runs. An allocation or synchronisation
  /// in it is an error. Replaces what was captured before.
  template <typename Enqueue>
  Status capture(cudaStream_t stream, Enqueue enqueue);

  /// Enqueues the captured launches on `stream`.
  Status launch(cudaStream_t stream) const;

  bool isCaptured() const { return executable != nullptr; }
  /// Nodes of the graph.
  size_t getNumNodes() const { return numNodes; }
  void reset();

private:
  cudaGraphExec_t executable = nullptr;
  size_t numNodes = 0;
};

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_GRAPH_H
