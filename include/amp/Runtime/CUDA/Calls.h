//===- Calls.h - Operations of the caller of a step -------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step with calls has parts: launches, a call, launches, a call, and so on.
// Parts with odd numbers are calls, which run on the host and put their work on
// the stream of the step. The parts between them can be captured.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_CALLS_H
#define AMP_RUNTIME_CUDA_CALLS_H

#include "amp/Runtime/CUDA/ProgramInfo.h"

#include <vector>

namespace amp::cuda {

/// An operand or a result of a call.
struct CallTensor {
  void *data;
  Type type;
  int32_t rank;
  const int64_t *shape;
};

/// A call of an operation or, with seeds, of its derivative.
struct CallInfo {
  const char *name;
  const CallTensor *tensors; ///< the operands, then the results
  int32_t numOperands, numResults;
  /// The results whose gradients are the last operands, then the operand whose
  /// gradient each result is.
  const int64_t *numbers;
  int32_t numSeeds;
};

/// Calls an operation of the caller.
inline Status callOperation(const StepRun &run, const CallInfo &info) {
  std::vector<amp_step_tensor> tensors(
      size_t(info.numOperands + info.numResults));
  for (size_t i = 0; i < tensors.size(); ++i) {
    const CallTensor &from = info.tensors[i];
    amp_step_tensor &tensor = tensors[i];
    tensor = {};
    tensor.size = sizeof(tensor);
    tensor.role = -1;
    tensor.type = int32_t(from.type);
    tensor.rank = from.rank;
    tensor.shape = from.shape;
    tensor.data = from.data;
    tensor.bytes = byteWidth(from.type);
    for (int32_t d = 0; d < from.rank; ++d)
      tensor.bytes *= from.shape[d];
  }
  amp_step_call call = {};
  call.size = sizeof(call);
  call.name = info.name;
  call.num_operands = info.numOperands;
  call.operands = tensors.data();
  call.num_results = info.numResults;
  call.results = tensors.data() + info.numOperands;
  call.num_seeds = info.numSeeds;
  call.seeds = info.numbers;
  call.wrt = info.numbers + info.numSeeds;
  call.stream = run.stream;
  const int32_t code = run.caller->call(run.caller->context, &call);
  if (code == AMP_STEP_OK)
    return Status();
  return makeError(kInvalidArgument,
                   "the caller's operation '%s' failed with error %d",
                   info.name, int(code));
}

/// Enqueues the part that `run` selects, or all parts.
template <int Count>
Status enqueueParts(const StepRun &run,
                    Status (*const (&parts)[Count])(const StepRun &)) {
  for (int part = 0; part < Count; ++part)
    if (run.part < 0 || run.part == part)
      AMP_RETURN_IF_ERROR(parts[part](run));
  return Status();
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_CALLS_H
