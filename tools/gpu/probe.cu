//===- probe.cu - What the heuristics of cuBLASLt accept --------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Usage: probe
//
// Asks the heuristics of the library for each product of products.inc, and for
// a grid of types, layouts, epilogues and alignments. Prints a line for each:
// its description, a tab, the number of algorithms, the epilogue that the
// library computes, and the workspace of the first algorithm. Runs no product.
//
// products.inc holds a line for each product, AMP_PRODUCT("<text>", <text>),
// where <text> is the part of the emitted description of the product, in C++,
// that sets the members of `g`.
//
//===----------------------------------------------------------------------===//

#include "amp/Runtime/CUDA/Gemm.h"

#include <cstdio>
#include <string>
#include <vector>

using namespace amp::cuda;

/// What the heuristics say of a product.
struct Answer {
  int algorithms = 0;
  Epilogue epilogue = Epilogue::None;
  size_t workspace = 0;
};

/// Asks for the product, then for simpler epilogues until one is accepted. With
/// `isExact`, asks for the product alone.
static Answer ask(const GemmLibrary &library, const GemmConfig &config,
                  bool isExact) {
  GemmPlan plan;
  plan.config = config;
  for (Epilogue what = config.epilogue;; what = simplerEpilogue(what)) {
    std::vector<cublasLtMatmulHeuristicResult_t> results;
    Answer answer;
    answer.epilogue = what;
    if (plan.propose(library, what, 8, results).isOk() && !results.empty()) {
      answer.algorithms = int(results.size());
      answer.workspace = results.front().workspaceSize;
      return answer;
    }
    if (isExact || what == Epilogue::None)
      return answer;
  }
}

static void print(const char *kind, const std::string &text,
                  const Answer &answer) {
  std::printf("%s\t%s\t%d\t%d\t%zu\n", kind, text.c_str(), answer.algorithms,
              int(answer.epilogue), answer.workspace);
}

static void askProducts(const GemmLibrary &library) {
#define AMP_PRODUCT(TEXT, ...)                                                 \
  {                                                                            \
    GemmConfig g;                                                              \
    __VA_ARGS__;                                                               \
    print("product", TEXT, ask(library, g, false));                            \
  }
#include "products.inc"
#undef AMP_PRODUCT
}

/// Every epilogue with every pair of types, layout and extent of a small grid.
/// Extents that are not multiples of 8 give rows of every alignment.
static void askGrid(const GemmLibrary &library) {
  constexpr struct {
    const char *name;
    Type operand, result;
  } types[] = {{"f16 f16", Type::F16, Type::F16},
               {"f16 f32", Type::F16, Type::F32},
               {"bf16 bf16", Type::BF16, Type::BF16},
               {"bf16 f32", Type::BF16, Type::F32},
               {"f32 f32", Type::F32, Type::F32}};
  constexpr int64_t extents[] = {128, 136, 132, 130, 129};
  for (const auto &type : types)
    for (int64_t extent : extents)
      for (int layout = 0; layout < 4; ++layout)
        for (int e = 0; e <= int(Epilogue::BiasGradB); ++e)
          for (int64_t batch : {1, 3}) {
            GemmConfig g;
            g.name = "grid";
            g.m = g.n = g.k = extent;
            g.typeA = g.typeB = type.operand;
            g.typeD = type.result;
            g.transposeA = layout & 1;
            g.transposeB = layout & 2;
            g.epilogue = Epilogue(e);
            g.batch = batch;
            if (usesAux(g.epilogue))
              g.strideAux = usesMask(g.epilogue) ? reluMaskStride(extent)
                                                 : alignTo(extent, 8);
            if (!findGemmFault(g).empty())
              continue;
            print("grid",
                  std::string(type.name) + " extent " +
                      std::to_string(extent) + " layout " +
                      std::to_string(layout) + " epilogue " +
                      std::to_string(e) + " batch " + std::to_string(batch),
                  ask(library, g, /*isExact=*/true));
          }
}

// The header of the CPU implementation has no version.
#if !defined(CUBLAS_VERSION) || CUBLAS_VERSION >= 120900
/// The scale modes of two operands.
struct ScaleModes {
  const char *name;
  int32_t a, b;
};

/// Asks for a product of 8-bit numbers with scales of `modes`. The operands are
/// those of the library.
static Status askScaled(const GemmLibrary &library, cudaDataType_t a,
                        cudaDataType_t b, cudaDataType_t d,
                        const ScaleModes &modes, bool isTransposed,
                        int64_t extent, Answer *answer) {
  GemmPlan plan; // owns the descriptors
  AMP_CUDA_CALL(
      cublasLtMatmulDescCreate(&plan.desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  const int32_t transposed = isTransposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const int32_t plain = CUBLAS_OP_N;
  const struct {
    cublasLtMatmulDescAttributes_t name;
    const int32_t *value;
  } attributes[] = {{CUBLASLT_MATMUL_DESC_TRANSA, &transposed},
                    {CUBLASLT_MATMUL_DESC_TRANSB, &plain},
                    {CUBLASLT_MATMUL_DESC_A_SCALE_MODE, &modes.a},
                    {CUBLASLT_MATMUL_DESC_B_SCALE_MODE, &modes.b}};
  for (const auto &attribute : attributes)
    AMP_CUDA_CALL(cublasLtMatmulDescSetAttribute(plan.desc, attribute.name,
                                                 attribute.value,
                                                 sizeof(int32_t)));
  // The heuristics see whether there are scales, not where.
  const void *scale = library.workspace;
  for (auto name : {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER,
                    CUBLASLT_MATMUL_DESC_B_SCALE_POINTER})
    AMP_CUDA_CALL(cublasLtMatmulDescSetAttribute(plan.desc, name, &scale,
                                                 sizeof(scale)));
  const cudaDataType_t c = d == CUDA_R_8F_E4M3 || d == CUDA_R_8F_E5M2
                               ? CUDA_R_16BF
                               : d;
  AMP_CUDA_CALL(
      cublasLtMatrixLayoutCreate(&plan.a, a, extent, extent, extent));
  AMP_CUDA_CALL(
      cublasLtMatrixLayoutCreate(&plan.b, b, extent, extent, extent));
  AMP_CUDA_CALL(
      cublasLtMatrixLayoutCreate(&plan.c, c, extent, extent, extent));
  AMP_CUDA_CALL(
      cublasLtMatrixLayoutCreate(&plan.d, d, extent, extent, extent));
  cublasLtMatmulPreference_t preference = nullptr;
  AMP_CUDA_CALL(cublasLtMatmulPreferenceCreate(&preference));
  const uint64_t bytes = library.workspaceBytes;
  cublasLtMatmulPreferenceSetAttribute(preference,
                                       CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                       &bytes, sizeof(bytes));
  cublasLtMatmulHeuristicResult_t results[8];
  int found = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      library.handle, plan.desc, plan.a, plan.b, plan.c, plan.d, preference, 8,
      results, &found);
  cublasLtMatmulPreferenceDestroy(preference);
  if (status == CUBLAS_STATUS_SUCCESS && found > 0)
    answer->workspace = results[0].workspaceSize;
  answer->algorithms = status == CUBLAS_STATUS_SUCCESS ? found : 0;
  return Status();
}

/// The names have the operands of programs in their order, A first. Our B is
/// the library's A.
static void askScaledGrid(const GemmLibrary &library) {
  constexpr struct {
    const char *name;
    cudaDataType_t a, b, d;
  } types[] = {
      {"e4m3 e4m3 bf16", CUDA_R_8F_E4M3, CUDA_R_8F_E4M3, CUDA_R_16BF},
      {"e4m3 e4m3 f16", CUDA_R_8F_E4M3, CUDA_R_8F_E4M3, CUDA_R_16F},
      {"e4m3 e4m3 f32", CUDA_R_8F_E4M3, CUDA_R_8F_E4M3, CUDA_R_32F},
      {"e5m2 e4m3 bf16", CUDA_R_8F_E5M2, CUDA_R_8F_E4M3, CUDA_R_16BF},
      {"e4m3 e5m2 bf16", CUDA_R_8F_E4M3, CUDA_R_8F_E5M2, CUDA_R_16BF},
      {"e4m3 e4m3 e4m3", CUDA_R_8F_E4M3, CUDA_R_8F_E4M3, CUDA_R_8F_E4M3},
      {"e5m2 e5m2 bf16", CUDA_R_8F_E5M2, CUDA_R_8F_E5M2, CUDA_R_16BF}};
  constexpr int32_t scalar = CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F,
                    vector32 = CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0,
                    outer = CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F,
                    vector128 = CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F,
                    block = CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F;
  constexpr ScaleModes modes[] = {{"scalar", scalar, scalar},
                                  {"vec32_ue8m0", vector32, vector32},
                                  {"outer_vec", outer, outer},
                                  {"vec128", vector128, vector128},
                                  {"vec128.blk128x128", vector128, block},
                                  {"blk128x128.vec128", block, vector128},
                                  {"blk128x128", block, block}};
  for (const auto &type : types)
    for (const auto &mode : modes)
      for (bool isTransposed : {true, false})
        for (int64_t extent : {256, 144, 136, 132}) {
          Answer answer;
          if (!askScaled(library, type.b, type.a, type.d,
                         {mode.name, mode.b, mode.a}, isTransposed, extent,
                         &answer)
                   .isOk())
            answer.algorithms = 0;
          print("scaled",
                std::string(type.name) + " scale " + mode.name +
                    (isTransposed ? " TN" : " NN") + " extent " +
                    std::to_string(extent),
                answer);
        }
}
#else
static void askScaledGrid(const GemmLibrary &) {}
#endif

static Status run() {
  GemmMemory workspace;
  GemmLibrary library;
  library.workspaceBytes = size_t(32) << 20;
  AMP_RETURN_IF_ERROR(workspace.allocate(int64_t(library.workspaceBytes)));
  library.workspace = workspace.data;
  AMP_RETURN_IF_ERROR(library.create());
  std::printf("library\t%s\t%zu\t0\t0\n", library.device.c_str(),
              size_t(cublasLtGetVersion()));
  askProducts(library);
  askGrid(library);
  askScaledGrid(library);
  return Status();
}

int main() {
  const Status status = run();
  if (!status.isOk())
    std::fprintf(stderr, "probe: error: %s\n", status.getMessage().c_str());
  return status.isOk() ? 0 : 1;
}
