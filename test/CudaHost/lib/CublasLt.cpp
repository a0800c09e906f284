//===- CublasLt.cpp - CUDA on the CPU: cuBLASLt -----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CublasLt.h"
#include "ScaleModes.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

using namespace amp::cuda::host;

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
  case CUBLASLT_MATMUL_DESC_A_SCALE_MODE:
    return assign(desc->modeA, value, bytes);
  case CUBLASLT_MATMUL_DESC_B_SCALE_MODE:
    return assign(desc->modeB, value, bytes);
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

/// The largest power of two up to 256 that divides the address.
static uint64_t alignmentOf(const void *pointer) {
  uint64_t address = reinterpret_cast<uintptr_t>(pointer) | 256;
  return address & -address;
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
        int64_t(desc.fastAccumulation), int64_t(desc.modeA),
        int64_t(desc.modeB), int64_t(a.type), int64_t(b.type), int64_t(d.type),
        a.rows, a.columns, a.ld, b.rows, b.columns, b.ld, d.ld,
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
      {"the scale of A", p.desc.scaleA,
       scaleBytes(p.desc.modeA, p.a.columns, p.a.rows), isFloat8(p.a.type),
       scaleVector(p.desc.modeA) ? 16u : 4u},
      {"the scale of B", p.desc.scaleB,
       scaleBytes(p.desc.modeB, p.b.columns, p.b.rows), isFloat8(p.b.type),
       scaleVector(p.desc.modeB) ? 16u : 4u},
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
  auto scaleBytesOf = [&](const Layout &layout, int32_t mode) {
    return isFloat8(layout.type)
               ? uint64_t(scaleBytes(mode, layout.columns, layout.rows))
               : uint64_t(0);
  };
  record.bytesLoaded = bytesOf(*layoutA) + bytesOf(*layoutB) +
                       scaleBytesOf(*layoutA, desc->modeA) +
                       scaleBytesOf(*layoutB, desc->modeB) +
                       (product.beta != 0 ? bytesOf(*layoutC) : 0) +
                       (readsAux(desc->epilogue) ? aux : 0);
  record.bytesStored = bytesOf(*layoutD) + (readsAux(desc->epilogue) ? 0 : aux);
  record.distinctLoaded = record.bytesLoaded;
  record.distinctStored = record.bytesStored;
  uint64_t scratch = algorithm.workspace;
  cudaError_t error = enqueue(stream, [product, record, workspace, scratch] {
    if (scratch) // whatever was there is gone
      std::memset(workspace, 0xff, scratch);
    product.checkUses(record.name.c_str());
    product.run();
    if (isIn(options().slowEpilogues, product.desc.epilogue))
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    recordLaunch(record);
  });
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                              : CUBLAS_STATUS_EXECUTION_FAILED;
}
