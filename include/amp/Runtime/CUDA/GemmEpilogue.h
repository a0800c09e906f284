//===- GemmEpilogue.h - Epilogues that the library lacks --------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels for the epilogues of products, on the result in place, for those that
// the library has no algorithm for.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_GEMMEPILOGUE_H
#define AMP_RUNTIME_CUDA_GEMMEPILOGUE_H

#include "amp/Runtime/CUDA/GemmConfig.h"
#include "amp/Runtime/CUDA/Reduce.h"

namespace amp::cuda {

/// tanh(√(2/π) · (x + 0.044715 x³)).
AMP_DEVICE float geluTanhInner(float x) {
  return tanhf(0.7978845608028654f * (x + 0.044715f * (x * x * x)));
}
/// x / 2 · (1 + tanh(...)).
AMP_DEVICE float geluTanh(float x) {
  return x * ((geluTanhInner(x) + 1.0f) * 0.5f);
}
/// The derivative of `geluTanh`.
AMP_DEVICE float geluTanhSlope(float x) {
  const float t = geluTanhInner(x);
  const float inner = (x * x * (3.0f * 0.044715f) + 1.0f) * 0.7978845608028654f;
  return (t + 1.0f) * 0.5f + x * 0.5f * (1.0f - t * t) * inner;
}

/// Applies `epilogue` to `rows` x `columns` elements of D, a thread for eight
/// columns of a row, so that it owns a byte of the mask. The bias is null if it
/// is in D already.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    applyEpilogue(T *d, int64_t rows, int64_t columns, int64_t stride,
                  const T *bias, void *aux, int64_t strideAux,
                  Epilogue epilogue) {
  const int64_t bytes = ceilDiv(columns, 8);
  auto *mask = static_cast<uint8_t *>(aux);
  auto *saved = static_cast<T *>(aux);
  elementwise<1>(rows * bytes, [=](auto at) {
    const int64_t row = at.index / bytes, first = at.index % bytes * 8;
    const int64_t byte = row * (strideAux / 8) + first / 8;
    unsigned bits = isReluGrad(epilogue) ? unsigned(loadOne(mask + byte)) : 0u;
    for (int i = 0; i < 8 && first + i < columns; ++i) {
      const int64_t column = first + i;
      float x = loadOne(d + row * stride + column);
      if (bias)
        x += loadOne(bias + column);
      if (isRelu(epilogue)) {
        bits |= unsigned(!(x <= 0.0f)) << i; // the gradient of NaN passes
        x = maximum(x, 0.0f);
      } else if (isGelu(epilogue)) {
        if (writesAux(epilogue))
          storeOne(saved + row * strideAux + column, x);
        x = geluTanh(x);
      } else if (isReluGrad(epilogue)) {
        x = bits >> i & 1u ? x : 0.0f;
      } else if (isGeluGrad(epilogue)) {
        x *= geluTanhSlope(loadOne(saved + row * strideAux + column));
      }
      storeOne(d + row * stride + column, x);
    }
    if (writesAux(epilogue) && usesMask(epilogue))
      storeOne(mask + byte, uint8_t(bits));
  });
}

/// out[i] = Σ over `length` of in[i · lineStride + j · step], for `lines`
/// lines, a warp each.
template <typename R, typename T>
__global__ void __launch_bounds__(kThreads)
    sumLines(R *out, const T *in, int64_t lines, int64_t length,
             int64_t lineStride, int64_t step) {
  const int lane = threadIdx.x % 32;
  const int64_t warps = int64_t(gridDim.x) * (kThreads / 32);
  for (int64_t line = int64_t(blockIdx.x) * (kThreads / 32) + threadIdx.x / 32;
       line < lines; line += warps) {
    float sum = 0.0f;
    for (int64_t j = lane; j < length; j += 32)
      sum += loadOne(in + line * lineStride + j * step);
    sum = reduceWarp<Sum<float>>(sum);
    if (lane == 0)
      storeOne(out + line, sum);
  }
}

/// Calls `body` with a null pointer to the float type that `type` names.
template <typename Body>
Status dispatchFloat(Type type, Body body) {
  switch (type) {
  case Type::F16:
    return body(static_cast<__half *>(nullptr));
  case Type::BF16:
    return body(static_cast<__nv_bfloat16 *>(nullptr));
  case Type::F32:
    return body(static_cast<float *>(nullptr));
  default:
    return makeError(kInvalidArgument,
                     "element type %s, expected f16, bf16 or "
                     "f32",
                     typeName(type));
  }
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_GEMMEPILOGUE_H
