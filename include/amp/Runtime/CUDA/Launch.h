//===- Launch.h - Launching kernels -----------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All kernels are launched by this code and get their shared memory from it.
// The same source therefore compiles with nvcc for a GPU and with a host
// compiler for the CPU emulator.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_LAUNCH_H
#define AMP_RUNTIME_CUDA_LAUNCH_H

#include "amp/Runtime/CUDA/Sizes.h"
#include "amp/Runtime/CUDA/Status.h"
#include "amp/Runtime/CUDA/Types.h"

#include <utility>

namespace amp::cuda {

/// The numbers of blocks and threads that run a kernel, and its shared memory.
struct LaunchShape {
  dim3 grid{1, 1, 1};
  dim3 block{kThreads, 1, 1};
  size_t sharedBytes = 0;
};

/// Launches `kernel` on `stream`. Messages contain `name`. Requests shared
/// memory over 48 KiB from the device first.
template <typename... Parameters, typename... Arguments>
Status launch(const char *name, cudaStream_t stream, const LaunchShape &shape,
              void (*kernel)(Parameters...), Arguments &&...arguments) {
  if (shape.sharedBytes > 48 * 1024) {
    cudaError_t error = cudaFuncSetAttribute(
        reinterpret_cast<const void *>(kernel),
        cudaFuncAttributeMaxDynamicSharedMemorySize, int(shape.sharedBytes));
    if (error != cudaSuccess)
      return check(error, name);
  }
  cudaLaunchConfig_t config = {};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.sharedBytes;
  config.stream = stream;
  AMP_ON_LAUNCH(name);
  return check(cudaLaunchKernelEx(&config, kernel,
                                  std::forward<Arguments>(arguments)...),
               name);
}

/// The shared memory of the block as elements of `T`:
/// `LaunchShape::sharedBytes` bytes, aligned to 16. Kernels have no other.
template <typename T>
AMP_DEVICE T *sharedMemory() {
#ifdef AMP_CUDA_HOST
  return reinterpret_cast<T *>(::amp::cuda::host::sharedMemory());
#else
  extern __shared__ __align__(16) unsigned char ampSharedMemory[];
  return reinterpret_cast<T *>(ampSharedMemory);
#endif
}

/// Shape for a grid-stride loop over `count` elements, `width` at a time. The
/// cap on blocks is a few times what fills a large GPU.
inline LaunchShape elementwiseShape(int64_t count, int width) {
  LaunchShape shape;
  int64_t blocks = ceilDiv(count, int64_t(kThreads) * width);
  shape.grid.x = unsigned(blocks < 1 ? 1 : blocks > 2048 ? 2048 : blocks);
  return shape;
}

/// Shape for `reduceRows`, of values of up to 16 bytes.
template <int ThreadsPerRow>
LaunchShape rowShape(int64_t rows) {
  static_assert(32 % ThreadsPerRow == 0 || ThreadsPerRow == kThreads,
                "a row belongs to lanes of a warp or to a block");
  LaunchShape shape;
  int64_t blocks = ceilDiv(rows, kThreads / ThreadsPerRow);
  shape.grid.x = unsigned(blocks < 1 ? 1 : blocks > 65536 ? 65536 : blocks);
  // One value per warp.
  shape.sharedBytes = ThreadsPerRow <= 32 ? 0 : kThreads / 32 * 16;
  return shape;
}

/// Shape for `reduceAll`, of values of up to 16 bytes, over `count` elements.
inline LaunchShape reduceShape(int64_t count) {
  LaunchShape shape;
  shape.grid.x = unsigned(reduceParts(count));
  shape.sharedBytes = kThreads / 32 * 16 + 16;
  return shape;
}

/// Shape for `reduceColumns` with `values` results per column, for widths of up
/// to `width`.
inline LaunchShape columnShape(int64_t rows, int64_t columns, int values = 1,
                               int width = 2) {
  LaunchShape shape;
  int64_t tiles = ceilDiv(columns, kColumnTile);
  shape.grid.x = unsigned(tiles < 1                  ? 1
                          : tiles > kArrivalCounters ? kArrivalCounters
                                                     : tiles);
  shape.grid.y = unsigned(columnParts(rows, columns));
  shape.sharedBytes = size_t(kThreads) * width * values * 4 + 16;
  return shape;
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_LAUNCH_H
