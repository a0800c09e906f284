//===- CublasLt.cpp - CUDA on the CPU: cuBLASLt -----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules for arguments follow the documentation of cublasLtMatmul and the
// comments in cublasLt.h (CUDA 13).
//
//===----------------------------------------------------------------------===//

#include "cublasLt.h"

#include "amp/CudaHost/Host.h"
#include "amp/Runtime/Host/Float8.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

using namespace amp::cuda::host;

struct cublasLtContext {};

struct cublasLtMatmulDescOpaque {
  cublasComputeType_t compute;
  int32_t transA = 0, transB = 0, epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  void *bias = nullptr, *aux = nullptr;
  int64_t auxLd = 0;
  int32_t biasType = -1, auxType = -1;
  const void *scaleA = nullptr, *scaleB = nullptr;
  int8_t fastAccumulation = 0;
};

struct cublasLtMatrixLayoutOpaque {
  cudaDataType_t type;
  int64_t rows, columns, ld;
  int32_t batch = 1;
  int64_t batchStride = 0;
};

struct cublasLtMatmulPreferenceOpaque {
  uint64_t workspace = 0;
  uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
  uint32_t alignA = 256, alignB = 256, alignC = 256, alignD = 256;
};

using Desc = cublasLtMatmulDescOpaque;
using Layout = cublasLtMatrixLayoutOpaque;
using Preference = cublasLtMatmulPreferenceOpaque;

namespace amp::cuda::host {
std::string takeLaunchName(const char *otherwise);
} // namespace amp::cuda::host

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  if (options().devices == 0)
    return CUBLAS_STATUS_NOT_INITIALIZED;
  *handle = new cublasLtContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
size_t cublasLtGetVersion() { return 130100; }

const char *cublasLtGetStatusString(cublasStatus_t status) {
  switch (status) {
  case CUBLAS_STATUS_SUCCESS:
    return "CUBLAS_STATUS_SUCCESS";
  case CUBLAS_STATUS_NOT_INITIALIZED:
    return "CUBLAS_STATUS_NOT_INITIALIZED";
  case CUBLAS_STATUS_ALLOC_FAILED:
    return "CUBLAS_STATUS_ALLOC_FAILED";
  case CUBLAS_STATUS_INVALID_VALUE:
    return "CUBLAS_STATUS_INVALID_VALUE";
  case CUBLAS_STATUS_EXECUTION_FAILED:
    return "CUBLAS_STATUS_EXECUTION_FAILED";
  case CUBLAS_STATUS_NOT_SUPPORTED:
    return "CUBLAS_STATUS_NOT_SUPPORTED";
  }
  return "unknown status";
}

/// Reads an attribute if its size is right.
template <typename T>
static cublasStatus_t assign(T &to, const void *value, size_t bytes) {
  if (bytes != sizeof(T))
    return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&to, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc,
                                        cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  if (scale != CUDA_R_32F)
    return CUBLAS_STATUS_INVALID_VALUE;
  *desc = new Desc{compute};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  delete desc;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t
cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                               cublasLtMatmulDescAttributes_t attribute,
                               const void *value, size_t bytes) {
  switch (attribute) {
  case CUBLASLT_MATMUL_DESC_TRANSA:
    return assign(desc->transA, value, bytes);
  case CUBLASLT_MATMUL_DESC_TRANSB:
    return assign(desc->transB, value, bytes);
  case CUBLASLT_MATMUL_DESC_EPILOGUE:
    return assign(desc->epilogue, value, bytes);
  case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
    return assign(desc->bias, value, bytes);
  case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
    return assign(desc->aux, value, bytes);
  case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
    return assign(desc->auxLd, value, bytes);
  case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE:
    return assign(desc->auxType, value, bytes);
  case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
    return assign(desc->biasType, value, bytes);
  case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER:
    return assign(desc->scaleA, value, bytes);
  case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER:
    return assign(desc->scaleB, value, bytes);
  case CUBLASLT_MATMUL_DESC_FAST_ACCUM:
    return assign(desc->fastAccumulation, value, bytes);
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout,
                                          cudaDataType_t type, uint64_t rows,
                                          uint64_t columns, int64_t ld) {
  *layout = new Layout{type, int64_t(rows), int64_t(columns), ld};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t
cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                 cublasLtMatrixLayoutAttribute_t attribute,
                                 const void *value, size_t bytes) {
  switch (attribute) {
  case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
    return assign(layout->batch, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
    return assign(layout->batchStride, value, bytes);
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t
cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
  *preference = new Preference;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t
cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t preference,
    cublasLtMatmulPreferenceAttributes_t attribute, const void *value,
    size_t bytes) {
  switch (attribute) {
  case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
    return assign(preference->workspace, value, bytes);
  case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
    return assign(preference->reductions, value, bytes);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
    return assign(preference->alignA, value, bytes);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
    return assign(preference->alignB, value, bytes);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
    return assign(preference->alignC, value, bytes);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
    return assign(preference->alignD, value, bytes);
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static bool hasAux(int epilogue) { return epilogue & 128; }
static bool readsAux(int epilogue) { return epilogue & (8 | 64); }
static bool masksAux(int epilogue) { return epilogue & (2 | 8); }
static bool writesBias(int epilogue) { return epilogue & (16 | 256 | 512); }
static bool usesBias(int epilogue) {
  return writesBias(epilogue) || epilogue & 4;
}

static bool isFloat8(cudaDataType_t type) {
  return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2;
}

static int64_t elementBytes(cudaDataType_t type) {
  return type == CUDA_R_32F ? 4 : isFloat8(type) ? 1 : 2;
}

static bool isKnownEpilogue(int epilogue) {
  switch (epilogue) {
  case CUBLASLT_EPILOGUE_DEFAULT:
  case CUBLASLT_EPILOGUE_RELU:
  case CUBLASLT_EPILOGUE_RELU_AUX:
  case CUBLASLT_EPILOGUE_BIAS:
  case CUBLASLT_EPILOGUE_RELU_BIAS:
  case CUBLASLT_EPILOGUE_RELU_AUX_BIAS:
  case CUBLASLT_EPILOGUE_DRELU:
  case CUBLASLT_EPILOGUE_DRELU_BGRAD:
  case CUBLASLT_EPILOGUE_GELU:
  case CUBLASLT_EPILOGUE_GELU_AUX:
  case CUBLASLT_EPILOGUE_GELU_BIAS:
  case CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
  case CUBLASLT_EPILOGUE_DGELU:
  case CUBLASLT_EPILOGUE_DGELU_BGRAD:
  case CUBLASLT_EPILOGUE_BGRADA:
  case CUBLASLT_EPILOGUE_BGRADB:
    return true;
  }
  return false;
}

/// The rules of products with 8-bit operands on an H100, of the documentation
/// of cublasLtMatmul, "To use FP8 kernels", without the epilogues that programs
/// do not use. Returns the reason against the arguments, or null.
static const char *findFloat8Fault(const Desc &desc, const Layout &a,
                                   const Layout &b, const Layout &d) {
  if (!isFloat8(a.type) || !isFloat8(b.type))
    return "one operand alone has 8 bits";
  if (a.type == CUDA_R_8F_E5M2 && b.type == CUDA_R_8F_E5M2)
    return "both operands are E5M2";
  if (!desc.transA || desc.transB)
    return "8-bit operands need a transposed A and a B that is not (TN)";
  if (!desc.scaleA || !desc.scaleB)
    return "8-bit operands without the pointer to a scale";
  if (d.type != CUDA_R_16F && d.type != CUDA_R_16BF && d.type != CUDA_R_32F)
    return "D of 8-bit operands is not f16, bf16 or f32";
  if (desc.compute != CUBLAS_COMPUTE_32F)
    return "8-bit operands need the compute type 32F";
  for (const Layout *layout : {&a, &b, &d})
    if (layout->ld * elementBytes(layout->type) % 16 != 0 ||
        layout->rows * elementBytes(layout->type) % 16 != 0)
      return "the rows of a matrix are not multiples of 16 bytes";
  if (desc.epilogue != CUBLASLT_EPILOGUE_DEFAULT &&
      desc.epilogue != CUBLASLT_EPILOGUE_BIAS)
    return "8-bit operands with an epilogue other than a bias";
  if (desc.epilogue == CUBLASLT_EPILOGUE_BIAS && d.type == CUDA_R_32F)
    return "8-bit operands with a bias of f32";
  return nullptr;
}

/// Returns null if the library accepts the arguments, or the reason why not.
static const char *findFault(const Desc &desc, const Layout &a, const Layout &b,
                             const Layout &c, const Layout &d) {
  int64_t m = desc.transA ? a.columns : a.rows;
  int64_t k = desc.transA ? a.rows : a.columns;
  int64_t n = desc.transB ? b.rows : b.columns;
  if ((desc.transB ? b.columns : b.rows) != k)
    return "the inner extents of A and B differ";
  if (d.rows != m || d.columns != n)
    return "D is not m x n";
  if (c.rows != m || c.columns != n)
    return "C is not m x n";
  for (const Layout *layout : {&a, &b, &c, &d}) {
    if (layout->rows <= 0 || layout->columns <= 0)
      return "an extent is not positive";
    if (layout->ld < layout->rows)
      return "a leading dimension is smaller than the rows";
    if (layout->batch != d.batch || layout->batch < 1)
      return "the batch counts differ";
  }
  if (c.type != d.type)
    return "C and D have different types";
  if (isFloat8(a.type) || isFloat8(b.type)) {
    if (const char *fault = findFloat8Fault(desc, a, b, d))
      return fault;
  } else if (desc.scaleA || desc.scaleB) {
    return "scales of operands that have more than 8 bits";
  } else if (desc.fastAccumulation) {
    return "fast accumulation of operands that have more than 8 bits";
  } else if (a.type != b.type) {
    return "A and B have different types";
  } else if (d.type != a.type && d.type != CUDA_R_32F) {
    return "D is neither of the type of A nor f32";
  }
  if (desc.compute == CUBLAS_COMPUTE_32F_FAST_TF32 && a.type != CUDA_R_32F)
    return "TF32 needs f32 operands";
  if (!isKnownEpilogue(desc.epilogue))
    return "unknown epilogue";
  if (hasAux(desc.epilogue)) {
    int64_t unit = masksAux(desc.epilogue) ? 128 : 8;
    if (desc.auxLd < m || desc.auxLd % unit)
      return "the leading dimension of aux is too small or not a multiple of "
             "128 bits or 8 elements";
    if (!desc.aux)
      return "the epilogue needs aux, whose pointer is null";
    if (desc.auxType != -1)
      return "the type of aux is set, which before 12.8 only FP8 allows";
    if (d.batch > 1)
      return "aux with a batch needs a batch stride";
  }
  if (usesBias(desc.epilogue) && desc.biasType != -1 && desc.biasType != d.type)
    return "the bias is not of the type of D";
  if (usesBias(desc.epilogue) && !desc.bias)
    return "the epilogue needs a bias, whose pointer is null";
  if (!usesBias(desc.epilogue) && desc.bias)
    return "there is a bias, for which the epilogue has no use";
  if (desc.epilogue == CUBLASLT_EPILOGUE_BGRADA && desc.transA)
    return "BGRADA needs an A that is not transposed";
  if (desc.epilogue == CUBLASLT_EPILOGUE_BGRADB && !desc.transB)
    return "BGRADB needs a transposed B";
  return nullptr;
}

/// The largest power of two up to 256 that divides the address.
static uint64_t alignmentOf(const void *pointer) {
  uint64_t address = reinterpret_cast<uintptr_t>(pointer) | 256;
  return address & -address;
}

static bool isIn(const std::vector<int> &list, int epilogue) {
  return std::find(list.begin(), list.end(), epilogue) != list.end();
}

/// The status that the library returns for an epilogue that it lacks.
static cublasStatus_t refuse(int epilogue) {
  return isIn(options().unsupportedEpilogues, epilogue)
             ? CUBLAS_STATUS_NOT_SUPPORTED
         : isIn(options().invalidEpilogues, epilogue)
             ? CUBLAS_STATUS_INVALID_VALUE
             : CUBLAS_STATUS_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Heuristic
//===----------------------------------------------------------------------===//

namespace {
/// An algorithm of this library: the arguments for which it was made.
struct Algorithm {
  uint64_t magic, number, workspace, alignments, shape, epilogue;
  /// The alignments of the pointers to bias and aux at the heuristic's call.
  uint64_t vectorAlignments, reductions;
};
} // namespace

static constexpr uint64_t kMagic = 0x414d504c74416c67;

static uint64_t hashShape(const Desc &desc, const Layout &a, const Layout &b,
                          const Layout &d) {
  uint64_t hash = 14695981039346656037u;
  for (int64_t value :
       {int64_t(desc.transA), int64_t(desc.transB), int64_t(desc.compute),
        int64_t(desc.fastAccumulation), int64_t(a.type), int64_t(b.type),
        int64_t(d.type), a.rows, a.columns, a.ld, b.rows, b.columns, b.ld, d.ld,
        int64_t(d.batch)})
    hash = (hash ^ uint64_t(value)) * 1099511628211u;
  return hash;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
    cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t preference, int wanted,
    cublasLtMatmulHeuristicResult_t *results, int *found) {
  *found = 0;
  if (const char *fault = findFault(*desc, *a, *b, *c, *d)) {
    violate(std::string("cublasLtMatmulAlgoGetHeuristic: ") + fault);
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (wanted <= 0)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (cublasStatus_t status = refuse(desc->epilogue))
    return status;
  // The first result is unusable, and so are all results of a failing epilogue.
  bool fails = isIn(options().failingEpilogues, desc->epilogue);
  if (wanted > 1 || fails) {
    auto &result = results[(*found)++];
    std::memset(&result, 0xff, sizeof(result));
    result.state = CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (fails)
    return CUBLAS_STATUS_SUCCESS;
  // The first algorithm splits k and needs a workspace. The others need none.
  // It uses the first allowed reduction scheme.
  auto firstOf = [](uint32_t schemes) { return uint64_t(schemes & -schemes); };
  for (uint64_t number = 0; number < 3 && *found < wanted; ++number) {
    uint64_t workspace = number == 0 ? uint64_t(d->rows) * d->columns * 4 : 0;
    if (workspace > preference->workspace)
      continue;
    Algorithm algorithm = {
        kMagic,
        number,
        workspace,
        uint64_t(preference->alignA) | uint64_t(preference->alignB) << 16 |
            uint64_t(preference->alignC) << 32 |
            uint64_t(preference->alignD) << 48,
        hashShape(*desc, *a, *b, *d),
        uint64_t(desc->epilogue),
        alignmentOf(desc->bias) | alignmentOf(desc->aux) << 16,
        number == 0 ? firstOf(preference->reductions) : 0};
    auto &result = results[(*found)++];
    result = {};
    std::memcpy(&result.algo, &algorithm, sizeof(algorithm));
    result.workspaceSize = workspace;
    result.state = CUBLAS_STATUS_SUCCESS;
    result.wavesCount = 1.0f;
  }
  return *found ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

/// Whether the algorithm was made for these arguments.
static bool fits(const Algorithm &algorithm, const Desc &desc, const Layout &a,
                 const Layout &b, const Layout &d) {
  return algorithm.magic == kMagic &&
         algorithm.shape == hashShape(desc, a, b, d) &&
         algorithm.epilogue == uint64_t(desc.epilogue);
}

cublasStatus_t
cublasLtMatmulAlgoCheck(cublasLtHandle_t, cublasLtMatmulDesc_t desc,
                        cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                        cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                        const cublasLtMatmulAlgo_t *algo,
                        cublasLtMatmulHeuristicResult_t *result) {
  Algorithm algorithm;
  std::memcpy(&algorithm, algo, sizeof(algorithm));
  if (const char *fault = findFault(*desc, *a, *b, *c, *d)) {
    violate(std::string("cublasLtMatmulAlgoCheck: ") + fault);
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (!fits(algorithm, *desc, *a, *b, *d))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  if (cublasStatus_t status = refuse(desc->epilogue))
    return status;
  *result = {};
  result->algo = *algo;
  result->workspaceSize = algorithm.workspace;
  return CUBLAS_STATUS_SUCCESS;
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

static float readElement(const void *data, cudaDataType_t type, int64_t index) {
  if (isFloat8(type))
    return amphost::float8ToFloat(type == CUDA_R_8F_E4M3 ? amphost::kE4M3
                                                         : amphost::kE5M2,
                                  static_cast<const uint8_t *>(data)[index]);
  if (type == CUDA_R_16F)
    return __half2float(static_cast<const __half *>(data)[index]);
  if (type == CUDA_R_16BF)
    return __bfloat162float(static_cast<const __nv_bfloat16 *>(data)[index]);
  return static_cast<const float *>(data)[index];
}

static void writeElement(void *data, cudaDataType_t type, int64_t index,
                         float value) {
  if (type == CUDA_R_16F)
    static_cast<__half *>(data)[index] = __float2half_rn(value);
  else if (type == CUDA_R_16BF)
    static_cast<__nv_bfloat16 *>(data)[index] = __float2bfloat16_rn(value);
  else
    static_cast<float *>(data)[index] = value;
}

static float roundTo(float value, cudaDataType_t type) {
  return type == CUDA_R_16F    ? __half2float(__float2half_rn(value))
         : type == CUDA_R_16BF ? __bfloat162float(__float2bfloat16_rn(value))
                               : value;
}

/// Bytes from the first to the last element of one matrix.
static int64_t spanOf(const Layout &layout) {
  return ((layout.columns - 1) * layout.ld + layout.rows) *
         elementBytes(layout.type);
}
/// Bytes from the first to the last element of all matrices of the batch.
static int64_t totalSpan(const Layout &layout) {
  return spanOf(layout) +
         (layout.batch - 1) * layout.batchStride * elementBytes(layout.type);
}

static float tf32(float value) {
  // Ten bits of mantissa, to nearest even.
  uint32_t bits = __float_as_uint(value);
  if ((bits & 0x7f800000) == 0x7f800000)
    return value;
  return __uint_as_float((bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000);
}

/// op(X) of one matrix, as rows of `inner` f64 for fast inner products.
static std::vector<double> gather(const void *data, const Layout &layout,
                                  int64_t base, bool innerIsRow, bool round) {
  int64_t inner = innerIsRow ? layout.rows : layout.columns;
  int64_t outer = innerIsRow ? layout.columns : layout.rows;
  std::vector<double> result(inner * outer);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      int64_t at = innerIsRow ? i + o * layout.ld : o + i * layout.ld;
      float value = readElement(data, layout.type, base + at);
      result[o * inner + i] = round ? tf32(value) : value;
    }
  return result;
}

static float geluTanh(float x) {
  float u = 0.7978845608f * (x + 0.044715f * x * x * x);
  return 0.5f * x * (1.0f + std::tanh(u));
}
static float geluTanhSlope(float x) {
  float t = std::tanh(0.7978845608f * (x + 0.044715f * x * x * x));
  return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * 0.7978845608f *
                                 (1.0f + 3.0f * 0.044715f * x * x);
}

/// The sum of `k` products, and of `k` numbers, of f32 or less.
static float sumProducts(const double *x, const double *y, int64_t k) {
  double sum = 0;
  float inOrder = 0;
  if (options().sumsInOrder) {
    for (int64_t l = 0; l < k; ++l)
      inOrder = std::fma(float(x[l]), float(y[l]), inOrder);
    return inOrder;
  }
  for (int64_t l = 0; l < k; ++l)
    sum += x[l] * y[l];
  return float(sum);
}
static float sumAll(const double *x, int64_t k) {
  double sum = 0;
  float inOrder = 0;
  for (int64_t l = 0; l < k; ++l) {
    sum += x[l];
    inOrder += float(x[l]);
  }
  return options().sumsInOrder ? inOrder : float(sum);
}

namespace {
struct Product {
  Desc desc;
  Layout a, b, c, d;
  const void *dataA, *dataB, *dataC;
  void *dataD;
  float alpha, beta;
  /// How the algorithm adds the two parts of k, or 0 if it does not split.
  uint64_t reductions;

  void run() const;
  void runOne(int64_t batch) const;
};
} // namespace

void Product::runOne(int64_t batch) const {
  int64_t m = d.rows, n = d.columns;
  int64_t k = desc.transA ? a.rows : a.columns;
  int epilogue = desc.epilogue;
  bool round = desc.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  const auto &droppers = options().epiloguesDroppingNaN;
  bool dropsNaN =
      std::find(droppers.begin(), droppers.end(),
                std::pair<int, int>(epilogue, desc.compute)) != droppers.end();
  bool roundsParts = d.type != CUDA_R_32F &&
                     (reductions & (CUBLASLT_REDUCTION_SCHEME_INPLACE |
                                    CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE));
  auto rowsA = gather(dataA, a, batch * a.batchStride, desc.transA, round);
  auto columnsB = gather(dataB, b, batch * b.batchStride, !desc.transB, round);
  // The factors of 8-bit operands.
  float factor = alpha;
  if (isFloat8(a.type))
    factor *= readElement(desc.scaleA, CUDA_R_32F, 0) *
              readElement(desc.scaleB, CUDA_R_32F, 0);
  int64_t baseC = batch * c.batchStride, baseD = batch * d.batchStride;
  std::vector<double> biasGrad(m, 0.0);
  std::vector<float> out(m * n);
  auto *mask = static_cast<uint8_t *>(desc.aux);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < m; ++i) {
      const double *x = &rowsA[i * k], *y = &columnsB[j * k];
      float value = factor * sumProducts(x, y, k);
      if (roundsParts) {
        float first = roundTo(factor * sumProducts(x, y, k / 2), d.type);
        value = first +
                roundTo(factor * sumProducts(x + k / 2, y + k / 2, k - k / 2),
                        d.type);
      }
      if (beta != 0)
        value += beta * readElement(dataC, c.type, baseC + i + j * c.ld);
      if (epilogue & 4)
        value += readElement(desc.bias, d.type, i);
      int64_t at = i + j * desc.auxLd;
      if ((epilogue & 2) && hasAux(epilogue)) {
        auto bit = uint8_t(1 << (at % 8));
        mask[at / 8] = !(value <= 0) ? mask[at / 8] | bit : mask[at / 8] & ~bit;
      }
      if (epilogue & 2)
        value = value > 0 || (value != value && !dropsNaN) ? value : 0.0f;
      if (epilogue & 32) {
        if (hasAux(epilogue))
          writeElement(desc.aux, d.type, at, value);
        value = geluTanh(value);
      }
      if (epilogue & 8)
        value = mask[at / 8] >> (at % 8) & 1 ? value : 0.0f;
      if (epilogue & 64)
        value *= geluTanhSlope(readElement(desc.aux, d.type, at));
      out[i + j * m] = value;
      biasGrad[i] += value;
    }
  }
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < m; ++i)
      writeElement(dataD, d.type, baseD + i + j * d.ld, out[i + j * m]);
  auto sums = [&](const std::vector<double> &rows, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      const double *row = &rows[i * k];
      writeElement(desc.bias, d.type, i, sumAll(row, k));
    }
  };
  if (epilogue & 16)
    for (int64_t i = 0; i < m; ++i)
      writeElement(desc.bias, d.type, i, float(biasGrad[i]));
  if (epilogue == CUBLASLT_EPILOGUE_BGRADA)
    sums(rowsA, m);
  if (epilogue == CUBLASLT_EPILOGUE_BGRADB)
    sums(columnsB, n);
}

void Product::run() const {
  for (int64_t batch = 0; batch < d.batch; ++batch)
    runOne(batch);
}

static bool overlap(const void *p, int64_t bytesP, const void *q,
                    int64_t bytesQ) {
  auto x = reinterpret_cast<uintptr_t>(p), y = reinterpret_cast<uintptr_t>(q);
  return x < y + bytesQ && y < x + bytesP;
}

/// Checks for errors that the library does not detect.
static std::string findMisuse(const Product &p, const Algorithm &algorithm,
                              const void *workspace, size_t workspaceBytes) {
  struct Operand {
    const char *name;
    const void *data;
    int64_t bytes;
    bool used;
    uint64_t alignment;
  };
  int epilogue = p.desc.epilogue;
  int64_t m = p.d.rows, n = p.d.columns;
  int64_t width = elementBytes(p.d.type);
  int64_t auxBytes =
      masksAux(epilogue) ? p.desc.auxLd * n / 8 : p.desc.auxLd * n * width;
  int64_t biasCount = epilogue == CUBLASLT_EPILOGUE_BGRADB ? n : m;
  auto alignment = [&](int index) {
    return algorithm.alignments >> 16 * index & 0xffff;
  };
  uint64_t alignBias = algorithm.vectorAlignments & 0xffff;
  uint64_t alignAux = algorithm.vectorAlignments >> 16;
  const Operand operands[] = {
      {"D", p.dataD, totalSpan(p.d), true, alignment(3)},
      {"A", p.dataA, totalSpan(p.a), true, alignment(0)},
      {"B", p.dataB, totalSpan(p.b), true, alignment(1)},
      {"C", p.dataC, totalSpan(p.c), p.beta != 0, alignment(2)},
      {"bias", p.desc.bias, biasCount * width, usesBias(epilogue), alignBias},
      {"aux", p.desc.aux, auxBytes, hasAux(epilogue), alignAux},
      {"the scale of A", p.desc.scaleA, 4, isFloat8(p.a.type), 4},
      {"the scale of B", p.desc.scaleB, 4, isFloat8(p.b.type), 4},
      {"workspace", workspace, int64_t(algorithm.workspace),
       algorithm.workspace != 0, 256},
  };
  if (algorithm.workspace > workspaceBytes)
    return "the workspace is smaller than the algorithm needs";
  for (const Operand &x : operands) {
    if (!x.used)
      continue;
    std::string name = x.name;
    if (!isDeviceMemory(x.data, x.bytes))
      return name + " is not in one allocation of device memory";
    if (reinterpret_cast<uintptr_t>(x.data) % x.alignment)
      return name + " is less aligned than the heuristic was told";
  }
  // The result may overlap no operand except C in place.
  auto isWritten = [&](const Operand &x) {
    std::string name = x.name;
    return name == "D" || name == "workspace" ||
           (name == "bias" && writesBias(epilogue)) ||
           (name == "aux" && !readsAux(epilogue));
  };
  for (const Operand &x : operands)
    for (const Operand &y : operands) {
      if (&x == &y || !x.used || !y.used || !isWritten(x))
        continue;
      bool inPlace = x.data == p.dataD && y.data == p.dataC &&
                     p.c.ld == p.d.ld && p.c.batchStride == p.d.batchStride;
      if (!inPlace && overlap(x.data, x.bytes, y.data, y.bytes))
        return std::string(x.name) + " overlaps " + y.name;
    }
  return "";
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t desc,
                              const void *alpha, const void *a,
                              cublasLtMatrixLayout_t layoutA, const void *b,
                              cublasLtMatrixLayout_t layoutB, const void *beta,
                              const void *c, cublasLtMatrixLayout_t layoutC,
                              void *d, cublasLtMatrixLayout_t layoutD,
                              const cublasLtMatmulAlgo_t *algo, void *workspace,
                              size_t workspaceBytes, cudaStream_t stream) {
  std::string name = takeLaunchName("gemm");
  if (const char *fault =
          findFault(*desc, *layoutA, *layoutB, *layoutC, *layoutD)) {
    violate(name + ": " + fault);
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  Algorithm algorithm;
  if (!algo)
    return CUBLAS_STATUS_INVALID_VALUE; // the library would ask its heuristic
  std::memcpy(&algorithm, algo, sizeof(algorithm));
  if (!fits(algorithm, *desc, *layoutA, *layoutB, *layoutD)) {
    violate(name + ": the algorithm was chosen for another product");
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  Product product{*desc,    *layoutA, *layoutB, *layoutC,
                  *layoutD, a,        b,        c,
                  d,        0,        0,        algorithm.reductions};
  std::memcpy(&product.alpha, alpha, sizeof(float));
  std::memcpy(&product.beta, beta, sizeof(float));
  std::string misuse =
      findMisuse(product, algorithm, workspace, workspaceBytes);
  if (!misuse.empty()) {
    violate(name + ": " + misuse);
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  LaunchRecord record;
  record.name = name;
  record.range = getRange();
  auto bytesOf = [](const Layout &layout) {
    return uint64_t(layout.rows * layout.columns * layout.batch *
                    elementBytes(layout.type));
  };
  uint64_t aux = hasAux(desc->epilogue)
                     ? masksAux(desc->epilogue)
                           ? desc->auxLd * layoutD->columns / 8
                           : bytesOf(*layoutD)
                     : 0;
  record.bytesLoaded = bytesOf(*layoutA) + bytesOf(*layoutB) +
                       (product.beta != 0 ? bytesOf(*layoutC) : 0) +
                       (readsAux(desc->epilogue) ? aux : 0);
  record.bytesStored = bytesOf(*layoutD) + (readsAux(desc->epilogue) ? 0 : aux);
  record.distinctLoaded = record.bytesLoaded;
  record.distinctStored = record.bytesStored;
  uint64_t scratch = algorithm.workspace;
  cudaError_t error = enqueue(stream, [product, record, workspace, scratch] {
    if (scratch) // whatever was there is gone
      std::memset(workspace, 0xff, scratch);
    product.run();
    if (isIn(options().slowEpilogues, product.desc.epilogue))
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    recordLaunch(record);
  });
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                              : CUBLAS_STATUS_EXECUTION_FAILED;
}
