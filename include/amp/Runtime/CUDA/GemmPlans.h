//===- GemmPlans.h - The products of a program ------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares matrix products for the launches of a step. Gemm.h defines the
// functions.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_GEMMPLANS_H
#define AMP_RUNTIME_CUDA_GEMMPLANS_H

#include "amp/Runtime/CUDA/GemmConfig.h"
#include "amp/Runtime/CUDA/Status.h"
#include "amp/Runtime/CUDA/Unit.h"

#include <memory>
#include <string>
#include <vector>

namespace amp::cuda {

class GemmCache;
struct GemmLibrary;
struct GemmPlan;

struct GemmOptions {
  /// Number of candidates to ask of the heuristic. Without tuning the first is
  /// used.
  int candidates = 8;
  /// Times the candidates on random data, with the epilogue in the library and
  /// in kernels, and uses the fastest.
  bool tune = false;
  /// Text file with the choices by device, library version and product. It is
  /// read if it exists and rewritten after tuning. Empty: no file.
  std::string cachePath;
};

/// The products of a program, planned once.
class GemmPlans {
public:
  /// Plans `configs[0..count)`. `workspace` is device memory of
  /// `workspaceBytes`, aligned to 256 bytes. Nothing else may use it while a
  /// product and its kernels run. The products of one stream can share it.
  /// `create` frees the memory that it allocates for tests and timing.
  AMP_RUNTIME_FUNCTION Status create(const GemmConfig *configs, int count,
                                     void *workspace, size_t workspaceBytes,
                                     const GemmOptions &options = {});

  /// Enqueues product `index`. Does not allocate and does not synchronise.
  AMP_RUNTIME_FUNCTION Status run(int index, const GemmBuffers &buffers,
                                  cudaStream_t stream) const;

  int size() const { return int(plans.size()); }
  AMP_RUNTIME_FUNCTION const GemmConfig &getConfig(int index) const;
  /// The part of the epilogue of product `index` that the library computes.
  AMP_RUNTIME_FUNCTION Epilogue getLibraryEpilogue(int index) const;
  /// Whether kernels compute the epilogue or a part of it.
  AMP_RUNTIME_FUNCTION bool hasKernelEpilogue(int index) const;

private:
  /// Fails unless this GPU and this library support the factors of the 8-bit
  /// operands of `config`.
  AMP_RUNTIME_FUNCTION Status verifyFloat8(const GemmConfig &config) const;
  AMP_RUNTIME_FUNCTION Status planOne(GemmPlan &plan, const GemmConfig &config,
                                      const GemmOptions &options,
                                      GemmCache &cache, bool &changed);

  std::shared_ptr<GemmLibrary> library;
  std::vector<std::shared_ptr<GemmPlan>> plans;
};

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_GEMMPLANS_H
