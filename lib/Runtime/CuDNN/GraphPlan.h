//===- GraphPlan.h - Plans over cuDNN's frontend ----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part that plans of all kinds share. A kind of plan describes itself in a
// header of include/amp/Runtime/CuDNN and builds its graph in a separate file
// here.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_RUNTIME_CUDNN_GRAPHPLAN_H
#define AMP_LIB_RUNTIME_CUDNN_GRAPHPLAN_H

#include "amp/Runtime/CuDNN/Plan.h"

#include <cudnn_frontend.h>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace amp::cudnn {
namespace fe = cudnn_frontend;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

/// An error of the interface. Functions of the interface turn it into a code.
struct Error {
  int32_t code;
  std::string message;
};

/// A graph under construction. The unique id of a tensor is the index of its
/// pointer. amp_cudnn_run finds it by this identifier.
class GraphBuilder {
public:
  GraphBuilder();

  fe::graph::Graph &get() { return *graph; }

  /// Adds an input of the given sizes, strides in elements and type
  /// (AMP_CUDNN_F32, ...), whose address is pointer `index`.
  Tensor input(int index, const std::vector<int64_t> &sizes,
               const std::vector<int64_t> &strides, int32_t type);
  /// Makes `tensor`, a result of a node, an output.
  void output(const Tensor &tensor, int index,
              const std::vector<int64_t> &sizes,
              const std::vector<int64_t> &strides, int32_t type);

  /// Excludes kernels whose bits may differ from run to run.
  void requireDeterministic() { isDeterministic = true; }

private:
  friend class Builds;
  /// Lets cuDNN choose kernels for the complete graph. Returns the first error.
  fe::error_t selectKernels();

  bool isDeterministic = false;
  std::shared_ptr<fe::graph::Graph> graph;
  std::vector<int64_t> pointers;
};

/// Adds the nodes of a plan to a graph. Throws Error for a description without
/// sense.
using BuildGraph = std::function<void(GraphBuilder &)>;

/// Creates a plan for the current device. For functions of the interface:
/// returns a code and remembers the message.
int32_t createPlan(const BuildGraph &build, amp_cudnn_plan **plan);

/// Whether a GPU of the compute capability runs the graph, as cuDNN says
/// without one.
int32_t checkGraph(const BuildGraph &build, int32_t capability);

} // namespace amp::cudnn

#endif // AMP_LIB_RUNTIME_CUDNN_GRAPHPLAN_H
