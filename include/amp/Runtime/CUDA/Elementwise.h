//===- Elementwise.h - Loops over elements ----------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loop of a generated elementwise kernel. The loop calls the body of the
// kernel with `Lanes`: several consecutive elements of the iteration space in
// row-major order. The body states how each operand is indexed:
//
//   // %3 = relu(%1 + %2): f16[64x128], bias f16[128]
//   __global__ void __launch_bounds__(256)
//   relu_a1(__half *out, const __half *x, const __half *bias) {
//     amp::cuda::elementwise<8>(8192, [=](auto at) {
//       auto a = at.load(x);
//       auto b = at.column(bias, 128);
//       at.store(out, at.map([](float a, float b) {
//         float sum = a + b;
//         return amp::cuda::maximum(sum, 0.0f);
//       }, a, b));
//     });
//   }
//
// This kernel is launched with `elementwiseShape(8192, 8)`. The width is the
// number of elements of the narrowest type that fill 16 bytes: 8 for 16-bit
// types, 4 for f32 alone. The tail takes one element at a time. A kernel under
// a guard begins with `if (!guarded(flag)) return;`.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_ELEMENTWISE_H
#define AMP_RUNTIME_CUDA_ELEMENTWISE_H

#include "amp/Runtime/CUDA/Launch.h"

#include <type_traits>

namespace amp::cuda {

/// Whether a predicated kernel runs. `flag` is a bool on the device; null means
/// always.
AMP_DEVICE bool guarded(const uint8_t *flag) {
  return flag == nullptr || loadOne(flag) != 0;
}

/// The widest access that suits all of the types: 16 bytes of the narrowest.
template <typename... T>
inline constexpr int kCommonWidth = [] {
  int width = 1;
  for (int each : {kVectorWidth<T>...})
    width = each > width ? each : width;
  return width;
}();

/// `Width` consecutive elements of the iteration space.
template <int Width>
struct Lanes {
  static constexpr int width = Width;
  /// Row-major index of the first.
  int64_t index;

  /// An operand of the shape of the iteration space: p[i].
  template <typename T>
  AMP_DEVICE auto load(const T *p) const {
    return amp::cuda::load<Width>(p + index);
  }

  /// A scalar: p[0] in every lane.
  template <typename T>
  AMP_DEVICE auto scalar(const T *p) const {
    return Pack<ComputeOf<T>, Width>::of(loadOne(p));
  }

  /// A vector along the last dimension of extent `columns`: p[i % columns].
  template <typename T>
  AMP_DEVICE auto column(const T *p, int64_t columns) const {
    if (columns % Width == 0)
      return amp::cuda::load<Width>(p + index % columns);
    return gather(p, [=](int64_t i) { return i % columns; });
  }

  /// A vector along the leading dimensions, constant over the `columns`
  /// elements of the last: p[i / columns].
  template <typename T>
  AMP_DEVICE auto row(const T *p, int64_t columns) const {
    if (columns % Width == 0)
      return Pack<ComputeOf<T>, Width>::of(loadOne(p + index / columns));
    return gather(p, [=](int64_t i) { return i / columns; });
  }

  /// Consecutive elements at a computed place: p[offset(i)], where the offset
  /// of the first lane is a multiple of the width, and the others follow.
  template <typename T, typename Offset>
  AMP_DEVICE auto packed(const T *p, Offset offset) const {
    return amp::cuda::load<Width>(p + offset(index));
  }

  /// Any other indexing: p[offset(i)].
  template <typename T, typename Offset>
  AMP_DEVICE auto gather(const T *p, Offset offset) const {
    Pack<ComputeOf<T>, Width> result;
#pragma unroll
    for (int lane = 0; lane < Width; ++lane)
      result[lane] = loadOne(p + offset(index + lane));
    return result;
  }

  /// A value computed from the index: f(i).
  template <typename Function>
  AMP_DEVICE auto indexed(Function f) const {
    Pack<decltype(f(index)), Width> result;
#pragma unroll
    for (int lane = 0; lane < Width; ++lane)
      result[lane] = f(index + lane);
    return result;
  }

  /// Applies the scalar function `f` to each lane of `operands`.
  template <typename Function, typename... V>
  AMP_DEVICE auto map(Function f, const Pack<V, Width> &...operands) const {
    Pack<decltype(f(operands[0]...)), Width> result;
#pragma unroll
    for (int lane = 0; lane < Width; ++lane)
      result[lane] = f(operands[lane]...);
    return result;
  }

  /// Writes p[i], rounded to `T`.
  template <typename T, typename V>
  AMP_DEVICE void store(T *p, const Pack<V, Width> &values) const {
    amp::cuda::store(p + index, values);
  }

  /// Writes p[offset(i)], for permuted results.
  template <typename T, typename V, typename Offset>
  AMP_DEVICE void scatter(T *p, const Pack<V, Width> &values,
                          Offset offset) const {
#pragma unroll
    for (int lane = 0; lane < Width; ++lane)
      storeOne(p + offset(index + lane), values[lane]);
  }
};

/// Nothing that is added to a result.
struct NoAddend {};

/// Adds the elements of `addend` at `at` to `values`, unless it is NoAddend.
template <int Width, typename Addend>
AMP_DEVICE void addTo(Pack<float, Width> &values, Lanes<Width> at,
                      Addend addend) {
  if constexpr (std::is_pointer_v<Addend>) {
    const auto more = at.load(addend);
#pragma unroll
    for (int lane = 0; lane < Width; ++lane)
      values[lane] += more[lane];
  }
}

/// Calls `body` with `Lanes` that together cover [0, count) once: `Width`
/// elements at a time, then one by one. Each of `threads` threads calls this.
template <int Width, typename Body>
AMP_DEVICE void elementwise(int64_t count, int64_t thread, int64_t threads,
                            Body body) {
  const int64_t packs = count / Width;
#pragma unroll 2
  for (int64_t i = thread; i < packs; i += threads)
    body(Lanes<Width>{i * Width});
  if constexpr (Width > 1)
    for (int64_t i = packs * Width + thread; i < count; i += threads)
      body(Lanes<1>{i});
}

/// The same for all threads of the grid.
template <int Width, typename Body>
AMP_DEVICE void elementwise(int64_t count, Body body) {
  elementwise<Width>(count, int64_t(blockIdx.x) * blockDim.x + threadIdx.x,
                     int64_t(gridDim.x) * blockDim.x, body);
}

/// Calls `body(i)` for each i of [0, count). The index has 32 bits because such
/// bodies divide it and contain loops.
template <typename Body>
AMP_DEVICE void forEachIndex(int count, Body body) {
  const int64_t threads = int64_t(gridDim.x) * blockDim.x;
#pragma unroll 1
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += threads)
    body(int(i));
}

/// Calls `body(image, i)` for each i of [0, size) of each of `images` images.
/// Indices within an image have 32 bits, and the number of all is not limited.
/// `Limit` is the number of indices that 32 bits count.
template <int Limit = INT32_MAX, typename Body>
AMP_DEVICE void forEachImageIndex(int64_t images, int size, Body body) {
  const int64_t most = Limit / size;
#pragma unroll 1
  for (int64_t first = 0; first < images; first += most) {
    const int64_t count = images - first < most ? images - first : most;
    forEachIndex(int(count) * size, [=](int i) {
      const int image = int(unsigned(i) / unsigned(size));
      body(first + image, i - image * size);
    });
  }
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_ELEMENTWISE_H
