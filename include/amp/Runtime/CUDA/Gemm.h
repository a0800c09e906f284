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
// The GELU epilogues are the tanh form. The RELU epilogues of cuBLASLt are not
// documented to propagate NaN; a NaN still reaches the loss through what feeds
// the product, and `tools/dev gpu` checks it where there is a GPU.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_GEMM_H
#define AMP_RUNTIME_CUDA_GEMM_H

#include "amp/Runtime/CUDA/Launch.h"

#include <memory>
#include <string>
#include <vector>

namespace amp::cuda {

/// What happens to the product before it is rounded and stored. `n` is the
/// number of columns of D, `m` of its rows.
enum class Epilogue : uint8_t {
  None,
  Bias,          ///< + bias[n]
  Relu,          ///< max(x, 0)
  ReluBias,      ///< max(x + bias, 0)
  ReluAux,       ///< Relu; aux receives the bit mask x > 0
  ReluAuxBias,   ///< ReluBias; aux receives the bit mask
  Gelu,          ///< tanh form
  GeluBias,      ///< of x + bias
  GeluAux,       ///< Gelu; aux receives x
  GeluAuxBias,   ///< GeluBias; aux receives x + bias
  DRelu,         ///< aux (mask) ? x : 0
  DReluBiasGrad, ///< DRelu; biasGrad[n] receives its column sums
  DGelu,         ///< x · gelu'(aux)
  DGeluBiasGrad, ///< DGelu; biasGrad[n] receives its column sums
  BiasGradA,     ///< biasGrad[m] receives the sums of op(A) over k
  BiasGradB,     ///< biasGrad[n] receives the sums of op(B) over k
};

enum class GemmCompute : uint8_t {
  F32,  ///< f32 accumulation; strict f32 products for f32 operands
  TF32, ///< f32 operands rounded to TF32 by the tensor cores
};

/// One product. Strides count elements; 0 means packed.
struct GemmConfig {
  const char *name = "";
  int64_t m = 0, n = 0, k = 0;
  /// Of A, B and of C and D; A and B are equal, and D is of their type or f32.
  Type typeA = Type::F32, typeB = Type::F32, typeD = Type::F32;
  /// Whether A is stored as [k, m], and B as [n, k].
  bool transposeA = false, transposeB = false;
  /// From row to row, as stored.
  int64_t strideA = 0, strideB = 0, strideC = 0, strideD = 0;
  /// Number of products, and from one to the next. 0 with `batch` > 1: packed
  /// matrices; -1: the same matrix for all.
  int64_t batch = 1;
  int64_t batchStrideA = 0, batchStrideB = 0, batchStrideC = 0,
          batchStrideD = 0;
  float alpha = 1.0f, beta = 0.0f;
  /// Reads alpha from `GemmBuffers::alpha` at run time.
  bool alphaOnDevice = false;
  Epilogue epilogue = Epilogue::None;
  /// Of the bias; a bias gradient is of `typeD`.
  Type typeBias = Type::F32;
  /// Row stride of aux: of a bit mask in bits, `reluMaskStride(n)` or another
  /// multiple of 128; of a saved input in elements, a multiple of 8. A saved
  /// input is of `typeD`.
  int64_t strideAux = 0;
  GemmCompute compute = GemmCompute::F32;
};

/// The arguments of one execution. C may be D; nothing else may overlap D.
struct GemmBuffers {
  const void *a = nullptr, *b = nullptr;
  const void *c = nullptr; ///< read if beta is not 0; null: D
  void *d = nullptr;
  const void *bias = nullptr;
  void *biasGrad = nullptr;
  void *aux = nullptr;          ///< written by *Aux, read by D*
  const float *alpha = nullptr; ///< on the device
};

/// Checks `config` against the rules of cuBLASLt and of this interface without
/// calling the library: extents and strides, types, epilogue combinations,
/// alignment of strides. Tells what is wrong and what was expected.
inline Status verifyGemm(const GemmConfig &config);

struct GemmOptions {
  /// Candidates asked of the heuristic; the first is taken unless tuned.
  int candidates = 8;
  /// Times the candidates on random data and takes the fastest.
  bool tune = false;
  /// Text file with chosen algorithms, by device, library version and
  /// product; read if it exists, rewritten after tuning. Empty: none.
  std::string cachePath;
};

/// The products of a program, planned once.
class GemmPlans {
public:
  GemmPlans() = default;
  GemmPlans(GemmPlans &&) = default;
  GemmPlans &operator=(GemmPlans &&) = default;

  /// Plans `configs[0..count)`. `workspace` is device memory of
  /// `workspaceBytes`, 256-byte aligned, that nothing else uses while a product
  /// runs; one suffices for all that run on one stream.
  Status create(const GemmConfig *configs, int count, void *workspace,
                size_t workspaceBytes, const GemmOptions &options = {});

  /// Enqueues product `index`. No allocation, no synchronisation.
  Status run(int index, const GemmBuffers &buffers, cudaStream_t stream) const;

  int size() const;
  const GemmConfig &getConfig(int index) const;

private:
  struct Library;
  struct Plan;
  std::shared_ptr<Library> library;
  std::vector<std::shared_ptr<Plan>> plans;
};

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_GEMM_H
