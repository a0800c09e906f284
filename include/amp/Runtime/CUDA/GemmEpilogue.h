//===- GemmEpilogue.h - Kernels for epilogues -------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels that apply an epilogue to a product in place, for epilogues that the
// library has no algorithm for.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_GEMMEPILOGUE_H
#define AMP_RUNTIME_CUDA_GEMMEPILOGUE_H

#include "amp/Runtime/CUDA/GemmConfig.h"
#include "amp/Runtime/CUDA/Reduce.h"

#include <type_traits>

namespace amp::cuda {

/// (1 + tanh(u)) / 2 for u = √(2/π) · (x + 0.044715 x³). This is the sigmoid of
/// 2 u, whose form with one exponential does not cancel for negative x.
AMP_DEVICE float geluGate(float x) {
  const float twice = 1.5957691216057308f * (x + 0.044715f * (x * x * x));
  const float decay = expf(-fabsf(twice));
  // The divisor is in [1, 2], where this is within 2 ulp and needs no branch.
  return __fdividef(twice >= 0.0f ? 1.0f : decay, 1.0f + decay);
}
/// x / 2 · (1 + tanh(...)).
AMP_DEVICE float geluTanh(float x) { return x * geluGate(x); }
/// The derivative of `geluTanh`.
AMP_DEVICE float geluTanhSlope(float x) {
  // It is 0 or 1 beyond. A product of 0 and infinity would be NaN.
  x = fabsf(x) > 64.0f ? copysignf(64.0f, x) : x;
  const float s = geluGate(x);
  const float inner = (x * x * (3.0f * 0.044715f) + 1.0f) * 1.5957691216057308f;
  return s * (1.0f + x * inner * (1.0f - s));
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// The address of element (row, column) of aux: its byte of a bit mask, or a
/// saved input.
AMP_DEVICE uint8_t *maskAt(void *aux, int64_t stride, int64_t row,
                           int64_t column) {
  return static_cast<uint8_t *>(aux) + (row * stride + column) / 8;
}
template <typename T>
AMP_DEVICE T *savedAt(void *aux, int64_t stride, int64_t row, int64_t column) {
  return static_cast<T *>(aux) + row * stride + column;
}

/// Applies `Activation`, which has no bias, to `Width` elements of D that start
/// at (row, column). An activation that writes a mask takes eight columns,
/// which are one byte.
template <Epilogue Activation, int Width, typename T>
AMP_DEVICE Pack<float, Width> activate(Pack<float, Width> x, void *aux,
                                       int64_t strideAux, int64_t row,
                                       int64_t column) {
  if constexpr (Activation == Epilogue::ReluAux) {
    static_assert(Width == 8, "a thread owns a byte of the mask");
    unsigned bits = 0;
#pragma unroll
    for (int i = 0; i < Width; ++i)
      bits |= unsigned(!(x[i] <= 0.0f)) << i; // the gradient of NaN passes
    storeOne(maskAt(aux, strideAux, row, column), uint8_t(bits));
  }
  if constexpr (Activation == Epilogue::GeluAux)
    store<Width>(savedAt<T>(aux, strideAux, row, column), x);
  if constexpr (isRelu(Activation)) {
#pragma unroll
    for (int i = 0; i < Width; ++i)
      x[i] = maximum(x[i], 0.0f);
  } else if constexpr (isGelu(Activation)) {
#pragma unroll
    for (int i = 0; i < Width; ++i)
      x[i] = geluTanh(x[i]);
  } else if constexpr (isReluGrad(Activation)) {
    const unsigned bits = loadOne(maskAt(aux, strideAux, row, column));
#pragma unroll
    for (int i = 0; i < Width; ++i)
      x[i] = bits >> (column % 8 + i) & 1u ? x[i] : 0.0f;
  } else if constexpr (isGeluGrad(Activation)) {
    const auto saved = load<Width>(savedAt<T>(aux, strideAux, row, column));
#pragma unroll
    for (int i = 0; i < Width; ++i)
      x[i] *= geluTanhSlope(saved[i]);
  }
  return x;
}

/// Adds `bias`, unless null, to D and applies `Activation` to eight columns at
/// a time. D has `count` groups of eight; a row has `packs` of them.
template <Epilogue Activation, typename T>
__global__ void __launch_bounds__(kThreads)
    applyEights(T *d, int count, int packs, int64_t stride, const T *bias,
                void *aux, int64_t strideAux) {
  forEachIndex(count, [=](int i) {
    const int row = i / packs, column = (i - row * packs) * 8;
    auto x = load<8>(d + row * stride + column);
    if (bias) {
      const auto each = load<8>(bias + column);
#pragma unroll
      for (int lane = 0; lane < 8; ++lane)
        x[lane] += each[lane];
    }
    store<8>(d + row * stride + column,
             activate<Activation, 8, T>(x, aux, strideAux, row, column));
  });
}

/// The same for any number of columns and any distance between rows. Each
/// thread takes up to eight columns, one by one.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    applyOnes(T *d, int64_t rows, int64_t columns, int64_t stride,
              const T *bias, void *aux, int64_t strideAux,
              Epilogue activation) {
  const int64_t packs = ceilDiv(columns, 8), count = rows * packs;
  elementwise<1>(count, [=](auto at) {
    const int64_t row =
        count <= INT32_MAX ? int(at.index) / int(packs) : at.index / packs;
    const int64_t first = (at.index - row * packs) * 8;
    uint8_t *mask = maskAt(aux, strideAux, row, first);
    unsigned bits = isReluGrad(activation) ? unsigned(loadOne(mask)) : 0u;
    // A store may change what the next column reads, so unrolled columns would
    // only take longer to compile.
#pragma unroll 1
    for (int i = 0; i < 8 && first + i < columns; ++i) {
      const int64_t column = first + i;
      float x = loadOne(d + row * stride + column);
      T *saved = savedAt<T>(aux, strideAux, row, column);
      if (bias)
        x += loadOne(bias + column);
      if (isRelu(activation)) {
        bits |= unsigned(!(x <= 0.0f)) << i;
        x = maximum(x, 0.0f);
      } else if (isGelu(activation)) {
        if (writesAux(activation))
          storeOne(saved, x);
        x = geluTanh(x);
      } else if (isReluGrad(activation)) {
        x = bits >> i & 1u ? x : 0.0f;
      } else if (isGeluGrad(activation)) {
        x *= geluTanhSlope(loadOne(saved));
      }
      storeOne(d + row * stride + column, x);
    }
    if (activation == Epilogue::ReluAux)
      storeOne(mask, uint8_t(bits));
  });
}

/// Whether the rows can be read eight elements at a time.
inline bool takesEights(int64_t columns, int64_t stride, const void *pointer) {
  return columns % 8 == 0 && stride % 8 == 0 &&
         reinterpret_cast<uintptr_t>(pointer) % 16 == 0;
}

/// Adds `bias`, unless null, to `rows` x `columns` elements of D and applies
/// `activation`, an epilogue that has no bias.
template <typename T>
Status applyEpilogue(const char *name, cudaStream_t stream, T *d, int64_t rows,
                     int64_t columns, int64_t stride, const T *bias, void *aux,
                     int64_t strideAux, Epilogue activation) {
  const int64_t packs = ceilDiv(columns, 8), count = rows * packs;
  const LaunchShape shape = elementwiseShape(count, 1);
  if (!takesEights(columns, stride, d) || !takesEights(8, 8, bias) ||
      !takesEights(8, strideAux, aux) || count > INT32_MAX)
    return launch(name, stream, shape, applyOnes<T>, d, rows, columns, stride,
                  bias, aux, strideAux, activation);
  auto run = [&](auto *kernel) {
    return launch(name, stream, shape, kernel, d, int(count), int(packs),
                  stride, bias, aux, strideAux);
  };
  switch (activation) {
  case Epilogue::None:
    return run(applyEights<Epilogue::None, T>);
  case Epilogue::Relu:
    return run(applyEights<Epilogue::Relu, T>);
  case Epilogue::ReluAux:
    return run(applyEights<Epilogue::ReluAux, T>);
  case Epilogue::Gelu:
    return run(applyEights<Epilogue::Gelu, T>);
  case Epilogue::GeluAux:
    return run(applyEights<Epilogue::GeluAux, T>);
  case Epilogue::DRelu:
    return run(applyEights<Epilogue::DRelu, T>);
  case Epilogue::DGelu:
    return run(applyEights<Epilogue::DGelu, T>);
  default:
    return makeError(kInvalidArgument, "epilogue %d is not an activation",
                     int(activation));
  }
}

//===----------------------------------------------------------------------===//
// Sums of columns
//===----------------------------------------------------------------------===//

/// out[c] = the sum of in[r, c]. A `Gradient` other than None is applied in
/// place before the sum. With 64 registers, the default of ptxas, gradients of
/// eight elements spill on sm_80 and sm_100.
template <int Width, Epilogue Gradient, typename R, typename T>
__global__ void __launch_bounds__(kThreads, 3)
    sumColumnsKernel(R *out, T *in, int64_t rows, int64_t columns,
                     int64_t stride, void *aux, int64_t strideAux,
                     float *partials, unsigned *arrivalCounters) {
  reduceColumns<Sum<float>, Width>(
      rows, columns, partials, arrivalCounters,
      [=](auto, int64_t row, int64_t column) {
        auto x = load<Width>(in + row * stride + column);
        if constexpr (Gradient != Epilogue::None) {
          x = activate<Gradient, Width, T>(x, aux, strideAux, row, column);
          store<Width>(in + row * stride + column, x);
#pragma unroll
          for (int i = 0; i < Width; ++i)
            x[i] = roundThrough<T>(x[i]);
        }
        return x;
      },
      [=](int64_t column, float sum) { storeOne(out + column, sum); });
}

/// Applies `gradient` (DRelu, DGelu or None) to `in` in place and sums its
/// columns. `scratch` allows more blocks. If it is too small, each block sums
/// whole columns.
template <typename R, typename T>
Status sumColumns(const char *name, cudaStream_t stream, R *out, T *in,
                  int64_t rows, int64_t columns, int64_t stride,
                  Epilogue gradient, void *aux, int64_t strideAux,
                  void *scratch, int64_t scratchBytes) {
  const bool wide =
      takesEights(columns, stride, in) && takesEights(8, strideAux, aux);
  LaunchShape shape = columnShape(rows, columns);
  if (wide)
    shape.sharedBytes = size_t(kThreads) * 8 * 4 + 16;
  auto *arrivalCounters = static_cast<unsigned *>(scratch);
  auto *partials =
      reinterpret_cast<float *>(arrivalCounters + kArrivalCounters);
  if (kArrivalCounterBytes + columnScratchBytes(rows, columns) > scratchBytes)
    shape.grid.y = 1;
  if (shape.grid.y > 1)
    AMP_CUDA_CALL(
        cudaMemsetAsync(arrivalCounters, 0, kArrivalCounterBytes, stream));
  auto run = [&](auto *kernel) {
    return launch(name, stream, shape, kernel, out, in, rows, columns, stride,
                  aux, strideAux, partials, arrivalCounters);
  };
  constexpr Epilogue none = Epilogue::None, relu = Epilogue::DRelu,
                     gelu = Epilogue::DGelu;
  if (gradient == none)
    return run(wide ? sumColumnsKernel<8, none, R, const T>
                    : sumColumnsKernel<1, none, R, const T>);
  if constexpr (std::is_same_v<R, T>)
    return gradient == relu ? run(wide ? sumColumnsKernel<8, relu, R, T>
                                       : sumColumnsKernel<1, relu, R, T>)
                            : run(wide ? sumColumnsKernel<8, gelu, R, T>
                                       : sumColumnsKernel<1, gelu, R, T>);
  return makeError(kInvalidArgument, "a gradient sums to its own type");
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
