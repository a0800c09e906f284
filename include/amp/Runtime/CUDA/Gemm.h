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
// Where the library has no algorithm for an epilogue, or with tuning a slower
// one, the product runs with what is left of it and kernels do the rest
// (GemmEpilogue.h); the result is then rounded twice.
//
// The GELU epilogues are the tanh form. The RELU epilogues of the library are
// not documented to propagate NaN, which would hide an overflow: `create` runs
// each kernel with one on NaN, and if that is dropped, the relu becomes a
// kernel of ours.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_GEMM_H
#define AMP_RUNTIME_CUDA_GEMM_H

#include "amp/Runtime/CUDA/GemmTune.h"

#include <memory>
#include <string>
#include <vector>

namespace amp::cuda {

struct GemmOptions {
  /// Candidates asked of the heuristic; the first is taken unless tuned.
  int candidates = 8;
  /// Times the candidates on random data, with the epilogue in the library and
  /// in kernels, and takes the fastest.
  bool tune = false;
  /// Text file with what was chosen, by device, library version and product;
  /// read if it exists, rewritten after tuning. Empty: none.
  std::string cachePath;
};

/// The products of a program, planned once.
class GemmPlans {
public:
  /// Plans `configs[0..count)`. `workspace` is device memory of
  /// `workspaceBytes`, 256-byte aligned, that nothing else uses while a product
  /// and its kernels run; one suffices for all that run on one stream. What is
  /// allocated to look and to time is freed again.
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
  /// What the library does of the epilogue of product `index`.
  Epilogue getLibraryEpilogue(int index) const {
    return plans[index]->epilogue;
  }
  /// Whether kernels do (part of) it.
  bool hasKernelEpilogue(int index) const { return plans[index]->hasKernels(); }

private:
  Status planOne(GemmPlan &plan, const GemmConfig &config,
                 const GemmOptions &options, GemmCache &cache, bool &changed) {
    AMP_RETURN_IF_ERROR(verifyGemm(config));
    plan.config = config;
    std::string key = library->describe() + " " + plan.describe();
    if (const GemmChoice *choice = cache.find(key)) {
      // What cannot be taken is chosen anew, for whatever reason.
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

  std::shared_ptr<GemmLibrary> library;
  std::vector<std::shared_ptr<GemmPlan>> plans;
};

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_GEMM_H
