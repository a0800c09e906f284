//===- Gemm.h - Matrix products by cuBLASLt ---------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of row-major matrices, D = alpha · op(A) · op(B) + beta · C, with
// f32 accumulation and one rounding. cuBLASLt sees row-major data as the
// transposed column-major product Dᵀ = op(B)ᵀ · op(A)ᵀ. Only this code makes
// that mapping. The table below uses the rows and columns of the graph:
//
//   | wanted                       | A      | B      | epilogue              |
//   |------------------------------|--------|--------|-----------------------|
//   | Y = X W + b   (W [in, out])  | X      | W      | Bias, Relu*, Gelu*    |
//   | Y = X Wᵀ + b  (W [out, in])  | X      | W, Tr. | Bias, Relu*, Gelu*    |
//   | dX = dY Wᵀ    (W [in, out])  | dY     | W, Tr. | DRelu*, DGelu*        |
//   | dW = Xᵀ dY    (W [in, out])  | X, Tr. | dY     | BiasGradB: Σ dY       |
//   | dW = dYᵀ X    (W [out, in])  | dY, Tr.| X      | BiasGradA: Σ dY       |
//
// 8-bit floats are stored along the contracted dimension, as all GPUs with such
// products take them: A is [m, k] and B, transposed, [n, k]. A copy of a tensor
// in each order (Quantize.h) takes the place of the two flags.
//
// If the library has no algorithm for an epilogue, or tuning finds it slower,
// the library computes a simpler epilogue and kernels compute the rest
// (GemmEpilogue.h). The result is then rounded twice.
//
// The GELU epilogues are the tanh form. The library does not document that its
// RELU epilogues propagate NaN. One that drops NaN would hide an overflow.
// `create` therefore runs each such kernel on NaN and replaces the relu by our
// own kernel if NaN is lost.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_GEMM_H
#define AMP_RUNTIME_CUDA_GEMM_H

#include "amp/Runtime/CUDA/GemmPlans.h"
#include "amp/Runtime/CUDA/GemmTune.h"

namespace amp::cuda {

AMP_RUNTIME_FUNCTION Status GemmPlans::create(const GemmConfig *configs,
                                              int count, void *workspace,
                                              size_t workspaceBytes,
                                              const GemmOptions &options) {
  plans.clear();
  if (count == 0)
    return Status();
  library = std::make_shared<GemmLibrary>();
  library->workspace = workspace;
  library->workspaceBytes = workspaceBytes;
  AMP_RETURN_IF_ERROR(library->create());
  GemmCache cache;
  if (!options.cachePath.empty())
    AMP_RETURN_IF_ERROR(cache.read(options.cachePath));
  bool changed = false;
  for (int i = 0; i < count; ++i) {
    auto plan = std::make_shared<GemmPlan>();
    AMP_RETURN_IF_ERROR(
        planOne(*plan, configs[i], options, cache, changed)
            .in(std::string("product '") + configs[i].name + "'"));
    plans.push_back(std::move(plan));
  }
  if (changed && !options.cachePath.empty())
    return cache.write(options.cachePath);
  return Status();
}

AMP_RUNTIME_FUNCTION Status GemmPlans::run(int index,
                                           const GemmBuffers &buffers,
                                           cudaStream_t stream) const {
  if (index < 0 || index >= size())
    return makeError(kInvalidArgument, "product %d of %d", index, size());
  return plans[index]->run(*library, buffers, stream);
}

AMP_RUNTIME_FUNCTION const GemmConfig &GemmPlans::getConfig(int index) const {
  return plans[index]->config;
}
AMP_RUNTIME_FUNCTION Epilogue GemmPlans::getLibraryEpilogue(int index) const {
  return plans[index]->epilogue;
}
AMP_RUNTIME_FUNCTION bool GemmPlans::hasKernelEpilogue(int index) const {
  return plans[index]->hasKernels();
}

AMP_RUNTIME_FUNCTION Status
GemmPlans::verifyFloat8(const GemmConfig &config) const {
  const int capability = library->capability;
  if (!hasFloat8Scale(capability, config.scalesA))
    return makeError(
        kUnsupported,
        "8-bit operands%s need a GPU of compute capability %s, but this one "
        "has %d.%d",
        config.scalesA == Float8Scale::Tensor ? ""
        : hasBlocks(config.scalesA)           ? " with factors of blocks"
                                              : " with factors of rows",
        config.scalesA == Float8Scale::Tensor ? "8.9 or later, such as an H100"
        : config.scalesA == Float8Scale::Vector32
            ? "10.0 or later, such as a B200"
            : "9.0, such as an H100",
        capability / 10, capability % 10);
  if (config.scalesA != Float8Scale::Tensor && cublasLtGetVersion() < 120900)
    return makeError(kUnsupported,
                     "8-bit operands with factors of rows or blocks need "
                     "cuBLASLt of CUDA 12.9 or later, but this one has the "
                     "version %zu",
                     size_t(cublasLtGetVersion()));
  return Status();
}

AMP_RUNTIME_FUNCTION Status GemmPlans::planOne(GemmPlan &plan,
                                               const GemmConfig &config,
                                               const GemmOptions &options,
                                               GemmCache &cache,
                                               bool &changed) {
  AMP_RETURN_IF_ERROR(verifyGemm(config));
  if (hasFloat8(config))
    AMP_RETURN_IF_ERROR(verifyFloat8(config));
  plan.config = config;
  std::string key = library->describe() + " " + plan.describe();
  if (const GemmChoice *choice = cache.find(key)) {
    // A recorded choice that cannot be used is replaced by a new one.
    bool taken = false;
    if (plan.take(*library, *choice, &taken).isOk() && taken)
      return Status();
  }
  if (!options.tune)
    return plan.create(*library, options.candidates);
  changed = true;
  AMP_RETURN_IF_ERROR(tuneGemm(*library, plan, options.candidates));
  cache.set(key, {plan.epilogue, plan.algorithm});
  return Status();
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_GEMM_H
