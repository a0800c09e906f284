//===- CuDNN.h - Plans of cuDNN ---------------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The plans of a program, over the C interface of amp/Runtime/CuDNN. Only
// programs that have plans include this header and link the library.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_CUDNN_H
#define AMP_RUNTIME_CUDA_CUDNN_H

#include "amp/Runtime/CUDA/ProgramInfo.h"
#include "amp/Runtime/CuDNN/Attention.h"
#include "amp/Runtime/CuDNN/Convolution.h"

namespace amp::cuda {

/// One plan: how it is created, and the bytes of workspace that the memory plan
/// gives it.
struct CuDNNPlanInfo {
  const char *name;
  int32_t (*create)(amp_cudnn_plan **plan);
  int64_t plannedBytes;
};

/// A plan that exists.
struct CuDNNPlan {
  const char *name = "";
  amp_cudnn_plan *plan = nullptr;
  bool usesSpare = false;

  CuDNNPlan() = default;
  CuDNNPlan(const CuDNNPlan &) = delete;
  CuDNNPlan &operator=(const CuDNNPlan &) = delete;
  ~CuDNNPlan() { amp_cudnn_destroy(plan); }
};

/// The outcome of a function of the interface.
inline Status checkCuDNN(int32_t code, const char *name) {
  if (code == AMP_CUDNN_OK)
    return Status();
  return makeError(code == AMP_CUDNN_FAILED ? kCudaError : kUnsupported,
                   "'%s': cuDNN: %s", name, amp_cudnn_last_error());
}

/// Creates a plan. `spareBytes` receives the bytes of its workspace if the
/// memory plan has too few for it, and 0 otherwise.
inline Status createCuDNNPlan(const CuDNNPlanInfo &info, void **result,
                              int64_t *spareBytes) {
  auto made = std::make_unique<CuDNNPlan>();
  made->name = info.name;
  AMP_RETURN_IF_ERROR(checkCuDNN(info.create(&made->plan), info.name));
  const int64_t bytes = amp_cudnn_workspace_bytes(made->plan);
  made->usesSpare = bytes > info.plannedBytes;
  *spareBytes = made->usesSpare ? bytes : 0;
  *result = made.release();
  return Status();
}

inline void destroyCuDNNPlan(void *plan) {
  delete static_cast<CuDNNPlan *>(plan);
}

/// Enqueues plan `index` of the program.
inline Status runCuDNNPlan(const StepRun &run, int index, void *const *pointers,
                           void *scratch) {
  const CuDNNPlan &plan = *static_cast<const CuDNNPlan *>(run.plans[index]);
  AMP_ON_LAUNCH(plan.name);
  return checkCuDNN(amp_cudnn_run(plan.plan, pointers,
                                  plan.usesSpare ? run.spareWorkspace : scratch,
                                  run.stream),
                    plan.name);
}

/// Enqueues plan `index` for each of `parts` parts of the samples. The pointers
/// of a part are `steps` bytes after those of the part before it. The parts run
/// one after the other, so they share the scratch memory.
template <int Pointers>
Status runCuDNNPlanInParts(const StepRun &run, int index,
                           void *const (&pointers)[Pointers], void *scratch,
                           const int64_t (&steps)[Pointers], int parts) {
  for (int part = 0; part < parts; ++part) {
    void *moved[Pointers];
    for (int i = 0; i < Pointers; ++i)
      moved[i] = pointers[i]
                     ? static_cast<char *>(pointers[i]) + part * steps[i]
                     : nullptr;
    AMP_RETURN_IF_ERROR(runCuDNNPlan(run, index, moved, scratch));
  }
  return Status();
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_CUDNN_H
