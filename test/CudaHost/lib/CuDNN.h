//===- CuDNN.h - CUDA on the CPU: plans of cuDNN ----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What plans of all kinds share: checks of pointers and the queue. Each kind
// computes in f64 and rounds once at the end.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_CUDAHOST_LIB_CUDNN_H
#define AMP_CUDAHOST_LIB_CUDNN_H

#include "amp/CudaHost/Host.h"
#include "amp/Runtime/CuDNN/Plan.h"

#include <functional>
#include <string>
#include <vector>

namespace amp::cuda::host {

/// The memory of one pointer of a plan.
struct PlanMemory {
  int index;
  const void *data;
  /// The bytes from the first element to the last, and those of the elements.
  int64_t span, bytes;
  bool isOutput;
  bool mustBeAligned = true;
};

/// Sets the message of the last error and returns `code`.
int32_t failPlan(int32_t code, const std::string &message);

/// The bytes of an element of type AMP_CUDNN_F32, ...
inline int64_t getPlanTypeBytes(int32_t type) {
  return type == AMP_CUDNN_F32 ? 4 : 2;
}
/// Reads and writes an element of such a type. A write rounds once.
double loadPlanElement(const void *from, int32_t type);
void storePlanElement(void *to, int32_t type, double value);

} // namespace amp::cuda::host

/// A plan of one kind.
struct amp_cudnn_plan {
  explicit amp_cudnn_plan(const char *name) : name(name) {}
  virtual ~amp_cudnn_plan() = default;
  /// The memory that a run with `pointers` reads and writes.
  virtual std::vector<amp::cuda::host::PlanMemory>
  getMemory(void *const *pointers) const = 0;
  /// The computation of a run. It holds everything that it needs.
  virtual std::function<void()> getWork(void *const *pointers) const = 0;

  const char *name;
  int64_t workspace = 0;
};

namespace amp::cuda::host {

/// Gives the plan that `make` returns to the caller, with `workspace` bytes, or
/// fails because of `refusal`, the reason of cuDNN, if it is not empty.
template <typename PlanTy>
int32_t finishPlan(PlanTy made, const std::string &refusal, int64_t workspace,
                   amp_cudnn_plan **plan) {
  if (options().devices == 0)
    return failPlan(AMP_CUDNN_UNAVAILABLE, "there is no GPU for cuDNN");
  if (!refusal.empty())
    return failPlan(AMP_CUDNN_UNSUPPORTED, refusal);
  made.workspace = workspace + int64_t(options().extraWorkspace);
  *plan = new PlanTy(std::move(made));
  return AMP_CUDNN_OK;
}

} // namespace amp::cuda::host

#endif // AMP_CUDAHOST_LIB_CUDNN_H
