//===- CuDNN.cpp - CUDA on the CPU: plans of cuDNN --------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CuDNN.h"

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#include <cstring>

using namespace amp::cuda::host;

namespace amp::cuda::host {
std::string takeLaunchName(const char *otherwise);
} // namespace amp::cuda::host

static thread_local std::string lastError;

int32_t amp::cuda::host::failPlan(int32_t code, const std::string &message) {
  lastError = message;
  return code;
}

double amp::cuda::host::loadPlanElement(const void *from, int32_t type) {
  if (type == AMP_CUDNN_F32)
    return *static_cast<const float *>(from);
  return type == AMP_CUDNN_F16
             ? __half2float(*static_cast<const __half *>(from))
             : __bfloat162float(*static_cast<const __nv_bfloat16 *>(from));
}

void amp::cuda::host::storePlanElement(void *to, int32_t type, double value) {
  if (type == AMP_CUDNN_F32)
    *static_cast<float *>(to) = float(value);
  else if (type == AMP_CUDNN_F16)
    *static_cast<__half *>(to) = __float2half_rn(float(value));
  else
    *static_cast<__nv_bfloat16 *>(to) = __float2bfloat16_rn(float(value));
}

int64_t amp_cudnn_workspace_bytes(const amp_cudnn_plan *plan) {
  return plan->workspace;
}
void amp_cudnn_destroy(amp_cudnn_plan *plan) { delete plan; }
const char *amp_cudnn_last_error(void) { return lastError.c_str(); }
int64_t amp_cudnn_version(void) { return 91900; }

/// Whether two ranges of memory have a byte in common.
static bool overlap(const PlanMemory &one, const PlanMemory &two) {
  auto getBegin = [](const PlanMemory &memory) {
    return static_cast<const unsigned char *>(memory.data);
  };
  return getBegin(one) < getBegin(two) + two.span &&
         getBegin(two) < getBegin(one) + one.span;
}

/// Why the arguments of a run are wrong, or an empty text.
static std::string findMisuse(const amp_cudnn_plan &plan,
                              const std::vector<PlanMemory> &used,
                              void *workspace) {
  auto isAligned = [](const void *data) {
    return reinterpret_cast<uintptr_t>(data) % AMP_CUDNN_ALIGNMENT == 0;
  };
  for (const PlanMemory &memory : used) {
    const std::string name = "pointer " + std::to_string(memory.index);
    if (memory.mustBeAligned && !isAligned(memory.data))
      return name + " is not aligned";
    if (!isDeviceMemory(memory.data, size_t(memory.span)))
      return name + " leaves its allocation";
  }
  if (!isDeviceMemory(workspace, size_t(plan.workspace)) ||
      !isAligned(workspace))
    return "the workspace leaves its allocation or is not aligned";
  // The heads of several outputs may alternate.
  for (const PlanMemory &output : used)
    for (const PlanMemory &input : used)
      if (output.isOutput && !input.isOutput && overlap(output, input))
        return "an output overlaps an input";
  const PlanMemory scratch = {-1, workspace, plan.workspace, 0, true};
  for (const PlanMemory &memory : used)
    if (overlap(memory, scratch))
      return std::string(memory.isOutput ? "an output" : "an input") +
             " overlaps the workspace";
  return "";
}

int32_t amp_cudnn_run(amp_cudnn_plan *plan, void *const *pointers,
                      void *workspace, void *stream) {
  if (!plan || !pointers)
    return failPlan(AMP_CUDNN_INVALID, "a plan or its pointers are null");
  LaunchRecord record;
  record.range = getRange();
  record.name = takeLaunchName(plan->name);
  const std::vector<PlanMemory> used = plan->getMemory(pointers);
  std::string misuse = findMisuse(*plan, used, workspace);
  if (!misuse.empty()) {
    violate(record.name + ": " + misuse);
    return failPlan(AMP_CUDNN_FAILED, misuse);
  }
  for (const PlanMemory &memory : used)
    (memory.isOutput ? record.bytesStored : record.bytesLoaded) +=
        uint64_t(memory.bytes);
  record.distinctLoaded = record.bytesLoaded;
  record.distinctStored = record.bytesStored;
  const size_t scratch = size_t(plan->workspace);
  cudaError_t error =
      enqueue(static_cast<cudaStream_t>(stream),
              [work = plan->getWork(pointers), record, workspace, scratch] {
                std::memset(workspace, 0xff, scratch);
                work();
                recordLaunch(record);
              });
  return error == cudaSuccess
             ? int32_t(AMP_CUDNN_OK)
             : failPlan(AMP_CUDNN_FAILED, "the stream takes no more work");
}
