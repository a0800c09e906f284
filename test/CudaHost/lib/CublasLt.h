//===- CublasLt.h - CUDA on the CPU: products -------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The parts of cuBLASLt share these: descriptors, rules and the product.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_CUDAHOST_LIB_CUBLASLT_H
#define AMP_CUDAHOST_LIB_CUBLASLT_H

#include "cublasLt.h"

#include "amp/CudaHost/Host.h"

#include <string>
#include <vector>

struct cublasLtContext {};

struct cublasLtMatmulDescOpaque {
  cublasComputeType_t compute;
  int32_t transA = 0, transB = 0, epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  void *bias = nullptr, *aux = nullptr;
  int64_t auxLd = 0;
  int32_t biasType = -1, auxType = -1;
  const void *scaleA = nullptr, *scaleB = nullptr;
  int32_t modeA = CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F, modeB = modeA;
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

namespace amp::cuda::host {

using Desc = cublasLtMatmulDescOpaque;
using Layout = cublasLtMatrixLayoutOpaque;
using Preference = cublasLtMatmulPreferenceOpaque;

std::string takeLaunchName(const char *otherwise);

// Properties of epilogues, whose values are sets of bits.
inline bool hasAux(int epilogue) { return epilogue & 128; }
inline bool readsAux(int epilogue) { return epilogue & (8 | 64); }
inline bool masksAux(int epilogue) { return epilogue & (2 | 8); }
inline bool writesBias(int epilogue) { return epilogue & (16 | 256 | 512); }
inline bool usesBias(int epilogue) {
  return writesBias(epilogue) || epilogue & 4;
}

inline bool isFloat8(cudaDataType_t type) {
  return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2;
}

inline int64_t elementBytes(cudaDataType_t type) {
  return type == CUDA_R_32F ? 4 : isFloat8(type) ? 1 : 2;
}

/// Returns null if the library accepts the arguments, or the reason why not.
const char *findFault(const Desc &desc, const Layout &a, const Layout &b,
                      const Layout &c, const Layout &d);

bool isIn(const std::vector<int> &list, int epilogue);

/// The status that the library returns for an epilogue that it lacks.
cublasStatus_t refuse(int epilogue);

/// Bytes from the first to the last element of all matrices of the batch.
int64_t totalSpan(const Layout &layout);

/// One call of cublasLtMatmul.
struct Product {
  Desc desc;
  Layout a, b, c, d;
  const void *dataA, *dataB, *dataC;
  void *dataD;
  float alpha, beta;
  /// How the algorithm adds the two parts of k, or 0 if it does not split.
  uint64_t reductions;

  void run() const;
  /// Reports memory that a collective uses, with `name` for the product.
  void checkUses(const char *name) const;
  void runOne(int64_t batch) const;
};

} // namespace amp::cuda::host

#endif // AMP_CUDAHOST_LIB_CUBLASLT_H
