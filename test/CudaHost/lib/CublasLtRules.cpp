//===- CublasLtRules.cpp - CUDA on the CPU: arguments of products -*- C++
//-*-===//
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

#include "CublasLt.h"
#include "ScaleModes.h"

#include <algorithm>

using namespace amp::cuda::host;

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
  if (a.batch != 1 && (desc.modeA != 0 || desc.modeB != 0))
    return "a batch with scales of rows or blocks";
  return findScaleFault({desc.modeA, a.columns, a.rows, a.ld},
                        {desc.modeB, b.columns, b.rows, b.ld},
                        desc.fastAccumulation);
}

const char *amp::cuda::host::findFault(const Desc &desc, const Layout &a,
                                       const Layout &b, const Layout &c,
                                       const Layout &d) {
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
  } else if (desc.modeA != 0 || desc.modeB != 0) {
    return "a scale mode of operands that have more than 8 bits";
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

bool amp::cuda::host::isIn(const std::vector<int> &list, int epilogue) {
  return std::find(list.begin(), list.end(), epilogue) != list.end();
}

cublasStatus_t amp::cuda::host::refuse(int epilogue) {
  return isIn(options().unsupportedEpilogues, epilogue)
             ? CUBLAS_STATUS_NOT_SUPPORTED
         : isIn(options().invalidEpilogues, epilogue)
             ? CUBLAS_STATUS_INVALID_VALUE
             : CUBLAS_STATUS_SUCCESS;
}
