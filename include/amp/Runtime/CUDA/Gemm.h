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

#include "amp/Runtime/CUDA/GemmTune.h"

#include <memory>
#include <string>
#include <vector>

namespace amp::cuda {

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

  /// Enqueues product `index`. Does not allocate and does not synchronise.
  Status run(int index, const GemmBuffers &buffers, cudaStream_t stream) const {
    if (index < 0 || index >= size())
      return makeError(kInvalidArgument, "product %d of %d", index, size());
    return plans[index]->run(*library, buffers, stream);
  }

  int size() const { return int(plans.size()); }
  const GemmConfig &getConfig(int index) const { return plans[index]->config; }
  /// The part of the epilogue of product `index` that the library computes.
  Epilogue getLibraryEpilogue(int index) const {
    return plans[index]->epilogue;
  }
  /// Whether kernels compute the epilogue or a part of it.
  bool hasKernelEpilogue(int index) const { return plans[index]->hasKernels(); }

private:
  Status planOne(GemmPlan &plan, const GemmConfig &config,
                 const GemmOptions &options, GemmCache &cache, bool &changed) {
    AMP_RETURN_IF_ERROR(verifyGemm(config));
    if (hasFloat8(config) && library->capability < 89)
      return makeError(kUnsupported,
                       "8-bit operands need a GPU of compute capability 8.9 or "
                       "later, such as an H100, but this one has %d.%d",
                       library->capability / 10, library->capability % 10);
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

  std::shared_ptr<GemmLibrary> library;
  std::vector<std::shared_ptr<GemmPlan>> plans;
};

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_GEMM_H
