//===- cuda_runtime.h - CUDA on the CPU: the runtime API --------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces the header of the CUDA toolkit when generated programs and the
// runtime headers are compiled for the CPU. It declares only what they use. A
// new dependency is therefore a compile error. Threads of a block are fibers.
// Streams are queues that run when the host waits for them. Host.h lists the
// checks.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TEST_CUDAHOST_CUDA_RUNTIME_H
#define AMP_TEST_CUDAHOST_CUDA_RUNTIME_H

#ifndef AMP_CUDA_HOST
#define AMP_CUDA_HOST 1
#endif

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>

#define __host__
#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __restrict__ __restrict

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1)
      : x(x), y(y), z(z) {}
};

struct alignas(8) uint2 {
  unsigned x, y;
};

struct alignas(16) uint4 {
  unsigned x, y, z, w;
};

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorMisalignedAddress = 716,
  cudaErrorLaunchFailure = 719,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorStreamCaptureInvalidated = 901,
  cudaErrorStreamCaptureUnjoined = 904,
  cudaErrorStreamCaptureIsolation = 905,
};

enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault,
};

enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal,
  cudaStreamCaptureModeThreadLocal,
  cudaStreamCaptureModeRelaxed,
};

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
};

struct CUstream_st;
struct CUevent_st;
struct CUgraph_st;
struct CUgraphExec_st;
struct CUgraphNode_st;
using cudaStream_t = CUstream_st *;
using cudaEvent_t = CUevent_st *;
using cudaGraph_t = CUgraph_st *;
using cudaGraphExec_t = CUgraphExec_st *;
using cudaGraphNode_t = CUgraphNode_st *;

inline constexpr unsigned cudaStreamNonBlocking = 1;
inline constexpr unsigned cudaEventDisableTiming = 2;

struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem;
  int major, minor;
  int multiProcessorCount;
};

struct cudaLaunchAttribute;

struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned numAttrs;
};

//===----------------------------------------------------------------------===//
// Functions of the host
//===----------------------------------------------------------------------===//

// As in the toolkit, other languages can call them in a program's library.
#pragma GCC visibility push(default)
extern "C" {
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaMemGetInfo(size_t *free, size_t *total);
cudaError_t cudaGetLastError();
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaDeviceSynchronize();

cudaError_t cudaMalloc(void **pointer, size_t bytes);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaMallocHost(void **pointer, size_t bytes);
cudaError_t cudaFreeHost(void *pointer);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes,
                       cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void *to, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes,
                            cudaStream_t stream = nullptr);

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags,
                                         int priority);
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned flags = 0);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start,
                                 cudaEvent_t stop);

cudaError_t cudaStreamBeginCapture(cudaStream_t stream,
                                   cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes,
                              size_t *count);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                 unsigned long long flags = 0);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);

cudaError_t cudaFuncSetAttribute(const void *function,
                                 cudaFuncAttribute attribute, int value);
} // extern "C"
#pragma GCC visibility pop

template <typename T>
cudaError_t cudaMalloc(T **pointer, size_t bytes) {
  return cudaMalloc(reinterpret_cast<void **>(pointer), bytes);
}

namespace amp::cuda::host {
cudaError_t enqueueKernel(const cudaLaunchConfig_t &config, const void *kernel,
                          std::function<void()> body);
} // namespace amp::cuda::host

/// Copies the arguments now, as the driver does, and runs the kernel later.
template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config,
                               void (*kernel)(Parameters...),
                               Arguments &&...arguments) {
  return [&](Parameters... values) {
    return amp::cuda::host::enqueueKernel(
        *config, reinterpret_cast<const void *>(kernel),
        [kernel, values...] { kernel(values...); });
  }(std::forward<Arguments>(arguments)...);
}

//===----------------------------------------------------------------------===//
// In kernels
//===----------------------------------------------------------------------===//

inline uint3 threadIdx, blockIdx;
inline dim3 blockDim, gridDim;

namespace amp::cuda::host {
void *sharedMemory();
bool isSharedMemory(const void *pointer);
void onLoad(const void *pointer, size_t bytes);
void onStore(const void *pointer, size_t bytes);
void nameNextLaunch(const char *name);
void syncThreads();
void fence();
uint32_t exchange(unsigned mask, uint32_t value, int source);
void onAtomic(const void *pointer, size_t bytes);
} // namespace amp::cuda::host

#define AMP_ON_LOAD(pointer, bytes)                                            \
  ::amp::cuda::host::onLoad((pointer), (bytes))
#define AMP_ON_STORE(pointer, bytes)                                           \
  ::amp::cuda::host::onStore((pointer), (bytes))
#define AMP_ON_LAUNCH(name) ::amp::cuda::host::nameNextLaunch(name)

inline void __syncthreads() { amp::cuda::host::syncThreads(); }
inline void __threadfence() { amp::cuda::host::fence(); }
inline void __syncwarp(unsigned mask = 0xffffffff) {
  amp::cuda::host::exchange(mask, 0, 0);
}

inline uint32_t __shfl_sync(unsigned mask, uint32_t value, int lane) {
  return amp::cuda::host::exchange(mask, value, lane & 31);
}
inline uint32_t __shfl_xor_sync(unsigned mask, uint32_t value, int bits) {
  return amp::cuda::host::exchange(mask, value, (threadIdx.x & 31) ^ bits);
}
inline uint32_t __shfl_down_sync(unsigned mask, uint32_t value, int by) {
  int lane = threadIdx.x & 31;
  return amp::cuda::host::exchange(mask, value,
                                   lane + by < 32 ? lane + by : lane);
}

/// Adds 1, or wraps to 0 from `limit`.
inline unsigned atomicInc(unsigned *counter, unsigned limit) {
  amp::cuda::host::onAtomic(counter, sizeof(*counter));
  unsigned old = *counter;
  *counter = old >= limit ? 0 : old + 1;
  return old;
}

/// Reports an atomic operation on device memory. Atomic operations on shared
/// memory need no report, because the threads of a block run one at a time.
template <typename T>
void onSharedOrDeviceAtomic(const T *pointer) {
  if (!amp::cuda::host::isSharedMemory(pointer))
    amp::cuda::host::onAtomic(pointer, sizeof(T));
}
template <typename T>
T atomicAdd(T *pointer, T value) {
  onSharedOrDeviceAtomic(pointer);
  const T old = *pointer;
  *pointer = old + value;
  return old;
}
template <typename T>
T atomicMax(T *pointer, T value) {
  onSharedOrDeviceAtomic(pointer);
  const T old = *pointer;
  *pointer = old < value ? value : old;
  return old;
}
template <typename T>
T atomicCAS(T *pointer, T expected, T value) {
  onSharedOrDeviceAtomic(pointer);
  const T old = *pointer;
  if (old == expected)
    *pointer = value;
  return old;
}

inline int __ffs(int value) { return __builtin_ffs(value); }

inline int __float_as_int(float value) {
  int bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
inline float __int_as_float(int bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
inline unsigned __float_as_uint(float value) {
  unsigned bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
inline float __uint_as_float(unsigned bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return unsigned((uint64_t(a) * b) >> 32);
}
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline float __fdividef(float x, float y) { return x / y; }

#endif // AMP_TEST_CUDAHOST_CUDA_RUNTIME_H
