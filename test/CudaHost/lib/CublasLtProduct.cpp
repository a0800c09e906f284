//===- CublasLtProduct.cpp - CUDA on the CPU: one product -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CublasLt.h"
#include "MemoryUse.h"
#include "ScaleModes.h"

#include "amp/Runtime/Host/Float8.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"

#include <cmath>

using namespace amp::cuda::host;

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
int64_t amp::cuda::host::totalSpan(const Layout &layout) {
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
  // The factors of 8-bit operands. Factors of blocks multiply parts of a sum.
  const bool hasFactors = isFloat8(a.type),
             hasBlocks = hasFactors && scaleVector(desc.modeA) != 0;
  if (hasBlocks) {
    multiplyByScales(rowsA, desc.scaleA, desc.modeA, k);
    multiplyByScales(columnsB, desc.scaleB, desc.modeB, k);
  }
  auto factorOf = [&](int64_t i, int64_t j) {
    if (!hasFactors || hasBlocks)
      return alpha;
    return alpha * (float(readScale(desc.scaleA, desc.modeA, m, k, i, 0)) *
                    float(readScale(desc.scaleB, desc.modeB, n, k, j, 0)));
  };
  int64_t baseC = batch * c.batchStride, baseD = batch * d.batchStride;
  std::vector<double> biasGrad(m, 0.0);
  std::vector<float> out(m * n);
  auto *mask = static_cast<uint8_t *>(desc.aux);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < m; ++i) {
      const double *x = &rowsA[i * k], *y = &columnsB[j * k];
      const float factor = factorOf(i, j);
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

void Product::checkUses(const char *name) const {
  auto check = [&](const Layout &layout, const void *data, bool writes) {
    const auto *bytes = static_cast<const char *>(data);
    const int64_t width = elementBytes(layout.type);
    for (int64_t batch = 0; batch < layout.batch; ++batch)
      checkUse(name, bytes + batch * layout.batchStride * width,
               size_t(((layout.columns - 1) * layout.ld + layout.rows) * width),
               writes);
  };
  check(a, dataA, /*writes=*/false);
  check(b, dataB, /*writes=*/false);
  if (beta != 0)
    check(c, dataC, /*writes=*/false);
  check(d, dataD, /*writes=*/true);
  if (writesBias(desc.epilogue))
    checkUse(name, desc.bias, size_t(elementBytes(d.type)), /*writes=*/true);
}

void Product::run() const {
  for (int64_t batch = 0; batch < d.batch; ++batch)
    runOne(batch);
}
