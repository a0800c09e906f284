//===- Types.h - Element types and vector access ----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Element types determine how values are stored. Every kernel computes in f32
// and rounds once, to nearest even, when it stores. Only `load` and `store`
// access global memory, in pieces of up to 16 bytes.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_TYPES_H
#define AMP_RUNTIME_CUDA_TYPES_H

#include "amp/Runtime/CUDA/Sizes.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#define AMP_DEVICE __device__ __forceinline__
#define AMP_HOST_DEVICE __host__ __device__ __forceinline__

/// Asserts that a pointer read from memory points to global memory, so that
/// accesses need no check.
#ifdef __CUDA_ARCH__
#define AMP_ASSUME_GLOBAL(pointer) __builtin_assume(__isGlobal(pointer))
#else
#define AMP_ASSUME_GLOBAL(pointer) ((void)0)
#endif

/// Hooks of the CPU emulator, which counts and checks global accesses.
#ifndef AMP_ON_LOAD
#define AMP_ON_LOAD(pointer, bytes) ((void)0)
#define AMP_ON_STORE(pointer, bytes) ((void)0)
#define AMP_ON_LAUNCH(name) ((void)0)
#endif

namespace amp::cuda {

/// The type that kernels compute with for elements stored as `T`: float for
/// every float type, `T` itself for integers and bool.
template <typename T>
struct Compute {
  using type = T;
};
template <>
struct Compute<__half> {
  using type = float;
};
template <>
struct Compute<__nv_bfloat16> {
  using type = float;
};
template <typename T>
using ComputeOf = typename Compute<T>::type;

/// Widens an element without rounding.
template <typename T>
AMP_HOST_DEVICE T widen(T value) {
  return value;
}
AMP_HOST_DEVICE float widen(__half value) { return __half2float(value); }
AMP_HOST_DEVICE float widen(__nv_bfloat16 value) {
  return __bfloat162float(value);
}

/// Converts a computed value to `T` for storage. Floats round to nearest even.
template <typename T>
struct Round {
  template <typename V>
  static AMP_HOST_DEVICE T from(V value) {
    return static_cast<T>(value);
  }
};
template <>
struct Round<__half> {
  static AMP_HOST_DEVICE __half from(float value) {
    return __float2half_rn(value);
  }
};
template <>
struct Round<__nv_bfloat16> {
  static AMP_HOST_DEVICE __nv_bfloat16 from(float value) {
    return __float2bfloat16_rn(value);
  }
};
template <typename T, typename V>
AMP_HOST_DEVICE T roundTo(V value) {
  return Round<T>::from(value);
}

/// The value of `value` after a store as `T`. A cast written by the user does
/// this to a value that stays in a register.
template <typename T>
AMP_HOST_DEVICE ComputeOf<T> roundThrough(ComputeOf<T> value) {
  return widen(roundTo<T>(value));
}

/// `N` elements, aligned such that one access moves them if they fit in 16
/// bytes.
template <typename T, int N>
struct alignas(sizeof(T) * N <= 16 && (sizeof(T) * N & (sizeof(T) * N - 1)) == 0
                   ? sizeof(T) * N
                   : alignof(T)) Pack {
  T values[N];

  AMP_HOST_DEVICE T &operator[](int lane) { return values[lane]; }
  AMP_HOST_DEVICE const T &operator[](int lane) const { return values[lane]; }

  /// All lanes equal.
  static AMP_HOST_DEVICE Pack of(T value) {
    Pack pack;
#pragma unroll
    for (int lane = 0; lane < N; ++lane)
      pack[lane] = value;
    return pack;
  }
};

/// Elements of `T` in one 16-byte access.
template <typename T>
inline constexpr int kVectorWidth = 16 / int(sizeof(T));

/// The type that moves `Bytes` bytes in one instruction.
template <int Bytes>
struct AccessOf;
template <>
struct AccessOf<1> {
  using type = uint8_t;
};
template <>
struct AccessOf<2> {
  using type = uint16_t;
};
template <>
struct AccessOf<4> {
  using type = uint32_t;
};
template <>
struct AccessOf<8> {
  using type = uint2;
};
template <>
struct AccessOf<16> {
  using type = uint4;
};

/// Reads `N` consecutive elements and widens them. `N` is a power of two.
/// `pointer` is aligned to min(16, N * sizeof(T)) bytes. Wider packs take
/// several accesses.
template <int N, typename T>
AMP_DEVICE Pack<ComputeOf<T>, N> load(const T *pointer) {
  constexpr int width = N * sizeof(T) > 16 ? kVectorWidth<T> : N;
  using Access = typename AccessOf<int(width * sizeof(T))>::type;
  Pack<ComputeOf<T>, N> result;
#pragma unroll
  for (int base = 0; base < N; base += width) {
    AMP_ON_LOAD(pointer + base, sizeof(T) * width);
    const Access access = *reinterpret_cast<const Access *>(pointer + base);
    Pack<T, width> raw;
    memcpy(&raw, &access, sizeof(raw));
#pragma unroll
    for (int lane = 0; lane < width; ++lane)
      result[base + lane] = widen(raw[lane]);
  }
  return result;
}

/// Writes one access. The compiler splits plain stores of structs and does not
/// always merge them again. It does not split integers of 16 bytes. Inline
/// assembly would need a memory clobber, across which no load moves.
template <typename Access>
AMP_DEVICE void storeAccess(Access *pointer, const Access &value) {
  *pointer = value;
}
#ifdef __CUDA_ARCH__
AMP_DEVICE void storeAccess(uint4 *pointer, const uint4 &value) {
  unsigned __int128 whole;
  memcpy(&whole, &value, sizeof(whole));
  *reinterpret_cast<unsigned __int128 *>(pointer) = whole;
}
#endif

/// Rounds `N` values to `T` and writes them; alignment as for `load`.
template <int N, typename T, typename V>
AMP_DEVICE void store(T *pointer, const Pack<V, N> &values) {
  constexpr int width = N * sizeof(T) > 16 ? kVectorWidth<T> : N;
  using Access = typename AccessOf<int(width * sizeof(T))>::type;
#pragma unroll
  for (int base = 0; base < N; base += width) {
    Pack<T, width> raw;
#pragma unroll
    for (int lane = 0; lane < width; ++lane)
      raw[lane] = roundTo<T>(values[base + lane]);
    Access access;
    memcpy(&access, &raw, sizeof(raw));
    AMP_ON_STORE(pointer + base, sizeof(T) * width);
    storeAccess(reinterpret_cast<Access *>(pointer + base), access);
  }
}

/// Reads and widens one element.
template <typename T>
AMP_DEVICE ComputeOf<T> loadOne(const T *pointer) {
  AMP_ON_LOAD(pointer, sizeof(T));
  return widen(*pointer);
}

/// Rounds and writes one element.
template <typename T, typename V>
AMP_DEVICE void storeOne(T *pointer, V value) {
  AMP_ON_STORE(pointer, sizeof(T));
  *pointer = roundTo<T>(value);
}

/// Maximum and minimum that return NaN if an operand is NaN, unlike fmaxf, and
/// order -0 below +0.
AMP_HOST_DEVICE float maximum(float a, float b) {
#ifdef __CUDA_ARCH__
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
#else
  return a > b || a != a || (a == b && !std::signbit(a)) ? a : b;
#endif
}
AMP_HOST_DEVICE float minimum(float a, float b) {
#ifdef __CUDA_ARCH__
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
#else
  return a < b || a != a || (a == b && std::signbit(a)) ? a : b;
#endif
}

/// Whether `value` is neither infinite nor NaN. Fast math does not affect it.
AMP_DEVICE bool isFinite(float value) {
  return (__float_as_uint(value) & 0x7f800000u) != 0x7f800000u;
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_TYPES_H
