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
// transposed column-major product Dᵀ = op(B)ᵀ · op(A)ᵀ; that mapping is made
// here and nowhere else, so that everything below speaks of rows and columns as
// the graph does:
//
//   | wanted                       | A      | B      | epilogue              |
//   |------------------------------|--------|--------|-----------------------|
//   | Y = X W + b   (W [in, out])  | X      | W      | Bias, Relu*, Gelu*    |
//   | Y = X Wᵀ + b  (W [out, in])  | X      | W, Tr. | Bias, Relu*, Gelu*    |
//   | dX = dY Wᵀ    (W [in, out])  | dY     | W, Tr. | DRelu*, DGelu*        |
//   | dW = Xᵀ dY    (W [in, out])  | X, Tr. | dY     | BiasGradB: Σ dY       |
//   | dW = dYᵀ X    (W [out, in])  | dY, Tr.| X      | BiasGradA: Σ dY       |
//
// Where the library has no algorithm for an epilogue, the product runs without
// it and kernels do the rest (GemmEpilogue.h); the result is then rounded
// twice.
//
// The GELU epilogues are the tanh form. The RELU epilogues of the library are
// not documented to propagate NaN, which would hide an overflow: `create` asks
// the device, and if it drops them, the relu becomes a kernel.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_GEMM_H
#define AMP_RUNTIME_CUDA_GEMM_H

#include "amp/Runtime/CUDA/GemmPlan.h"
#include "amp/Runtime/CUDA/GemmTune.h"

namespace amp::cuda {

/// The products of a program, planned once.
class GemmPlans {
public:
  /// Plans `configs[0..count)`. `workspace` is device memory of
  /// `workspaceBytes`, at least 64 KiB if there are relus (with less, those are
  /// kernels), 256-byte aligned, that nothing else uses while a product
  /// runs; one suffices for all that run on one stream.
  Status create(const GemmConfig *configs, int count, void *workspace,
                size_t workspaceBytes, const GemmOptions &options = {}) {
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

  /// Enqueues product `index`. No allocation, no synchronisation.
  Status run(int index, const GemmBuffers &buffers, cudaStream_t stream) const {
    if (index < 0 || index >= size())
      return makeError(kInvalidArgument, "product %d of %d", index, size());
    return plans[index]->run(*library, buffers, stream);
  }

  int size() const { return int(plans.size()); }
  const GemmConfig &getConfig(int index) const { return plans[index]->config; }
  /// Whether kernels do (part of) the epilogue of product `index`.
  bool hasKernelEpilogue(int index) const { return plans[index]->post; }

private:
  Status planOne(GemmPlan &plan, const GemmConfig &config,
                 const GemmOptions &options, GemmCache &cache, bool &changed) {
    AMP_RETURN_IF_ERROR(verifyGemm(config));
    bool dropsNaN = false;
    if (isRelu(config.epilogue))
      AMP_RETURN_IF_ERROR(library->reluDropsNaN(config.typeA, &dropsNaN));
    std::vector<cublasLtMatmulHeuristicResult_t> candidates;
    AMP_RETURN_IF_ERROR(plan.create(*library, config, options.candidates,
                                    /*avoidRelu=*/dropsNaN, candidates));
    std::string key = library->describe() + " " + plan.describe();
    if (cache.find(key, plan.algorithm) && plan.accepts(*library))
      return Status();
    plan.algorithm = candidates.front().algo;
    if (!options.tune)
      return Status();
    changed = true;
    AMP_RETURN_IF_ERROR(tuneGemm(*library, plan, candidates));
    cache.set(key, plan.algorithm);
    return Status();
  }

  std::shared_ptr<GemmLibrary> library;
  std::vector<std::shared_ptr<GemmPlan>> plans;
};

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_GEMM_H
