//===- ceilings.cu - Rates that no step exceeds -----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Usage: ceilings [<extent> [<bytes>]]
//
// Prints the bytes per second of a copy on the device, which reads and writes
// <bytes> (1 GiB), and the operations per second of products of square matrices
// of random numbers (of 8192 rows), by the fastest algorithm of the library.
//
//===----------------------------------------------------------------------===//

#include "amp/Runtime/CUDA/Gemm.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace amp::cuda;

/// The median seconds of ten runs, after two that warm the device up.
template <typename Run>
static Status measure(Run run, double *seconds) {
  cudaEvent_t start, stop;
  AMP_CUDA_CALL(cudaEventCreate(&start));
  AMP_CUDA_CALL(cudaEventCreate(&stop));
  std::vector<float> times;
  for (int i = 0; i < 12; ++i) {
    AMP_CUDA_CALL(cudaEventRecord(start, nullptr));
    AMP_RETURN_IF_ERROR(run());
    AMP_CUDA_CALL(cudaEventRecord(stop, nullptr));
    AMP_CUDA_CALL(cudaEventSynchronize(stop));
    float milliseconds = 0;
    AMP_CUDA_CALL(cudaEventElapsedTime(&milliseconds, start, stop));
    if (i >= 2)
      times.push_back(milliseconds);
  }
  std::sort(times.begin(), times.end());
  *seconds = times[times.size() / 2] * 1e-3;
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  return Status();
}

static Status measureCopy(int64_t bytes) {
  GemmMemory memory;
  AMP_RETURN_IF_ERROR(memory.allocate(2 * bytes));
  AMP_CUDA_CALL(cudaMemset(memory.data, 1, size_t(2 * bytes)));
  double seconds = 0;
  AMP_RETURN_IF_ERROR(measure(
      [&]() -> Status {
        AMP_CUDA_CALL(cudaMemcpyAsync(memory.data, memory.data + bytes,
                                      size_t(bytes), cudaMemcpyDeviceToDevice,
                                      nullptr));
        return Status();
      },
      &seconds));
  std::printf("copy: %.6g\n", 2 * double(bytes) / seconds);
  return Status();
}

static Status measureProduct(const char *name, Type type, GemmCompute compute,
                             int64_t extent) {
  GemmMemory workspace;
  GemmLibrary library;
  library.workspaceBytes = size_t(32) << 20;
  AMP_RETURN_IF_ERROR(workspace.allocate(int64_t(library.workspaceBytes)));
  library.workspace = workspace.data;
  AMP_RETURN_IF_ERROR(library.create());
  GemmPlan plan;
  plan.config.name = name;
  plan.config.m = plan.config.n = plan.config.k = extent;
  plan.config.typeA = plan.config.typeB = plan.config.typeD = type;
  plan.config.compute = compute;
  std::vector<cublasLtMatmulHeuristicResult_t> candidates;
  AMP_RETURN_IF_ERROR(plan.propose(library, Epilogue::None, 8, candidates));
  GemmTimer timer(library, plan);
  AMP_RETURN_IF_ERROR(timer.create());
  GemmChoice choice;
  const double seconds = timer.choose(candidates, &choice) * 1e-3;
  std::printf("%s: %.6g\n", name,
              2 * double(extent) * double(extent) * double(extent) / seconds);
  return Status();
}

static Status run(int64_t extent, int64_t bytes) {
  if (extent < 8 || extent % 8 != 0 || bytes < 256 || bytes % 256 != 0)
    return makeError(kInvalidArgument, "expected an extent that is a multiple "
                                       "of 8 and bytes that are one of 256");
  constexpr GemmCompute f32 = GemmCompute::F32;
  AMP_RETURN_IF_ERROR(measureCopy(bytes));
  AMP_RETURN_IF_ERROR(measureProduct("product bf16", Type::BF16, f32, extent));
  AMP_RETURN_IF_ERROR(measureProduct("product fp16", Type::F16, f32, extent));
  return measureProduct("product tf32", Type::F32, GemmCompute::TF32, extent);
}

int main(int argc, char **argv) {
  const int64_t extent = argc > 1 ? std::atoll(argv[1]) : 8192;
  const int64_t bytes = argc > 2 ? std::atoll(argv[2]) : int64_t(1) << 30;
  const Status status = run(extent, bytes);
  if (!status.isOk())
    std::fprintf(stderr, "ceilings: error: %s\n", status.getMessage().c_str());
  return status.isOk() ? 0 : 1;
}
