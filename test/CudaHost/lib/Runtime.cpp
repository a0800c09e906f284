//===- Runtime.cpp - CUDA on the CPU: launches and memory -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"
#include "nvtx3/nvToolsExt.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace amp::cuda::host;

/// Writes one line per launch: range, name, distinct bytes loaded and stored,
/// separated by tabs.
void Device::writeTrace() const {
  const char *path = std::getenv("AMP_CUDA_HOST_TRACE");
  FILE *file = path ? std::fopen(path, "w") : nullptr;
  if (!file)
    return;
  for (const LaunchRecord &launch : launches)
    std::fprintf(file, "%s\t%s\t%llu\t%llu\n", launch.range.c_str(),
                 launch.name.c_str(), (unsigned long long)launch.distinctLoaded,
                 (unsigned long long)launch.distinctStored);
  std::fclose(file);
}

Device &amp::cuda::host::device() {
  static Device instance;
  return instance;
}

const std::vector<LaunchRecord> &amp::cuda::host::launches() {
  return device().launches;
}
void amp::cuda::host::clearLaunches() { device().launches.clear(); }
const std::vector<std::string> &amp::cuda::host::violations() {
  return device().violations;
}
void amp::cuda::host::clearViolations() {
  device().violations.clear();
  device().asynchronous = device().last = cudaSuccess;
}
void amp::cuda::host::violate(const std::string &message) {
  device().violations.push_back(message);
  device().asynchronous = cudaErrorLaunchFailure;
}
void amp::cuda::host::recordLaunch(LaunchRecord record) {
  device().launches.push_back(std::move(record));
}
void amp::cuda::host::nameNextLaunch(const char *name) {
  device().nextName = name;
}

namespace amp::cuda::host {
/// The innermost range. Empty outside of all ranges.
std::string getRange() {
  return device().ranges.empty() ? "" : device().ranges.back();
}

/// The name of the current launch.
std::string takeLaunchName(const char *otherwise) {
  std::string name = std::move(device().nextName);
  device().nextName.clear();
  return name.empty() ? otherwise : name;
}
} // namespace amp::cuda::host

cudaError_t amp::cuda::host::fail(cudaError_t error) {
  if (error != cudaSuccess)
    device().last = error;
  return error;
}

/// Each thread has its own value, as on a device.
static thread_local int currentDevice = 0;

int amp::cuda::host::getCurrentDevice() { return currentDevice; }

cudaError_t amp::cuda::host::outcome() {
  return options().devices == 0 ? fail(cudaErrorNoDevice)
                                : fail(device().asynchronous);
}

cudaError_t amp::cuda::host::enqueueKernel(const cudaLaunchConfig_t &config,
                                           const void *kernel, Work body) {
  std::string name = takeLaunchName("kernel");
  const dim3 &grid = config.gridDim, &block = config.blockDim;
  uint64_t threads = uint64_t(block.x) * block.y * block.z;
  auto limit = device().sharedLimits.find(kernel);
  size_t shared =
      limit == device().sharedLimits.end() ? 48 * 1024 : limit->second;
  if (threads == 0 || threads > 1024 || block.z > 64 || grid.x == 0 ||
      grid.y == 0 || grid.z == 0 || grid.x > 0x7fffffff || grid.y > 65535 ||
      grid.z > 65535 || config.dynamicSmemBytes > shared)
    return fail(cudaErrorInvalidConfiguration);
  if (config.stream && config.stream->device != currentDevice)
    return fail(cudaErrorInvalidResourceHandle);
  LaunchRecord record{name, getRange(), grid, block, config.dynamicSmemBytes};
  return enqueue(config.stream, [record, body = std::move(body)] {
    LaunchRecord done = record;
    runKernel(record.grid, record.block, record.sharedBytes, body, done);
    recordLaunch(std::move(done));
  });
}

//===----------------------------------------------------------------------===//
// Device and memory
//===----------------------------------------------------------------------===//

cudaError_t cudaGetDeviceCount(int *count) {
  *count = options().devices;
  return *count ? cudaSuccess : fail(cudaErrorNoDevice);
}
cudaError_t cudaSetDevice(int device) {
  if (options().devices == 0)
    return fail(cudaErrorNoDevice);
  if (device < 0 || device >= options().devices)
    return fail(cudaErrorInvalidDevice);
  currentDevice = device;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int *device) {
  *device = currentDevice;
  return outcome();
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int) {
  *properties = cudaDeviceProp();
  std::snprintf(properties->name, sizeof(properties->name), "CUDA on the CPU");
  properties->totalGlobalMem = options().deviceMemory;
  properties->major = options().capability / 10;
  properties->minor = options().capability % 10;
  properties->multiProcessorCount = 132;
  return outcome();
}
cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
  *total = options().deviceMemory;
  *free = options().deviceMemory - allocatedBytes();
  return outcome();
}
cudaError_t cudaGetLastError() {
  cudaError_t error = device().last;
  device().last = cudaSuccess;
  return error;
}

const char *cudaGetErrorString(cudaError_t error) {
  switch (error) {
  case cudaSuccess:
    return "no error";
  case cudaErrorInvalidValue:
    return "invalid argument";
  case cudaErrorMemoryAllocation:
    return "out of memory";
  case cudaErrorInvalidConfiguration:
    return "invalid configuration argument";
  case cudaErrorInsufficientDriver:
    return "CUDA driver version is insufficient for CUDA runtime version";
  case cudaErrorNoDevice:
    return "no CUDA-capable device is detected";
  case cudaErrorInvalidDevice:
    return "invalid device ordinal";
  case cudaErrorStreamCaptureUnsupported:
    return "operation not permitted when stream is capturing";
  case cudaErrorStreamCaptureUnjoined:
    return "capturing stream has unjoined work";
  case cudaErrorStreamCaptureIsolation:
    return "dependency created on uncaptured work in another stream";
  case cudaErrorStreamCaptureInvalidated:
    return "operation failed due to a previous error during capture";
  case cudaErrorLaunchFailure:
    return device().violations.empty() ? "unspecified launch failure"
                                       : device().violations.front().c_str();
  default:
    return "unknown error";
  }
}

cudaError_t cudaDeviceSynchronize() {
  if (breaksCapture(/*unsafeOnly=*/false))
    return fail(cudaErrorStreamCaptureUnsupported);
  waitFor(device().defaultStream);
  for (cudaStream_t stream : device().streams)
    waitFor(*stream);
  return outcome();
}

cudaError_t cudaMalloc(void **pointer, size_t bytes) {
  if (breaksCapture(/*unsafeOnly=*/true))
    return fail(cudaErrorStreamCaptureUnsupported);
  if (options().devices == 0)
    return fail(cudaErrorNoDevice);
  *pointer = bytes ? allocateDevice(bytes) : nullptr;
  return bytes && !*pointer ? fail(cudaErrorMemoryAllocation) : outcome();
}

cudaError_t cudaFree(void *pointer) {
  if (!pointer)
    return cudaSuccess;
  if (breaksCapture(/*unsafeOnly=*/true))
    return fail(cudaErrorStreamCaptureUnsupported);
  cudaDeviceSynchronize();
  return freeDevice(pointer) ? outcome() : fail(cudaErrorInvalidValue);
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes) {
  if (breaksCapture(/*unsafeOnly=*/true))
    return fail(cudaErrorStreamCaptureUnsupported);
  if (options().devices == 0)
    return fail(cudaErrorNoDevice);
  *pointer = std::malloc(bytes);
  if (!*pointer)
    return fail(cudaErrorMemoryAllocation);
  device().pinned[static_cast<char *>(*pointer)] = bytes;
  return outcome();
}

cudaError_t cudaFreeHost(void *pointer) {
  if (!pointer)
    return cudaSuccess;
  cudaDeviceSynchronize();
  if (device().pinned.erase(static_cast<char *>(pointer)) == 0)
    return fail(cudaErrorInvalidValue);
  std::free(pointer);
  return outcome();
}

/// Whether `data` is in pinned host memory.
static bool isPinned(const void *data, size_t bytes) {
  const char *begin = static_cast<const char *>(data);
  auto after = device().pinned.upper_bound(begin);
  if (after == device().pinned.begin())
    return false;
  auto [block, size] = *std::prev(after);
  return begin + bytes <= block + size;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream) {
  bool toDevice =
      kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  bool fromDevice =
      kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (bytes && ((toDevice && !isDeviceMemory(to, bytes)) ||
                (fromDevice && !isDeviceMemory(from, bytes))))
    return fail(cudaErrorInvalidValue);
  CUstream_st &s = resolve(stream);
  if (kind == cudaMemcpyHostToDevice && !s.capture && !isPinned(from, bytes)) {
    // Memory that is not pinned is read before the call returns.
    std::string copy(static_cast<const char *>(from), bytes);
    return enqueue(stream, [to, copy = std::move(copy)] {
      checkUse("cudaMemcpyAsync", to, copy.size(), /*writes=*/true);
      std::memcpy(to, copy.data(), copy.size());
    });
  }
  cudaError_t error = enqueue(stream, [to, from, bytes] {
    checkUse("cudaMemcpyAsync", from, bytes, /*writes=*/false);
    checkUse("cudaMemcpyAsync", to, bytes, /*writes=*/true);
    std::memmove(to, from, bytes);
  });
  if (error == cudaSuccess && kind == cudaMemcpyDeviceToHost && !s.capture) {
    waitFor(s);
    return outcome();
  }
  return error;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes,
                       cudaMemcpyKind kind) {
  if (breaksCapture(/*unsafeOnly=*/true))
    return fail(cudaErrorStreamCaptureUnsupported);
  if (cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, nullptr))
    return error;
  waitFor(device().defaultStream);
  return outcome();
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes,
                            cudaStream_t stream) {
  if (bytes && !isDeviceMemory(to, bytes))
    return fail(cudaErrorInvalidValue);
  return enqueue(stream, [to, value, bytes] {
    checkUse("cudaMemsetAsync", to, bytes, /*writes=*/true);
    std::memset(to, value, bytes);
  });
}

cudaError_t cudaMemset(void *to, int value, size_t bytes) {
  if (breaksCapture(/*unsafeOnly=*/true))
    return fail(cudaErrorStreamCaptureUnsupported);
  if (cudaError_t error = cudaMemsetAsync(to, value, bytes, nullptr))
    return error;
  waitFor(device().defaultStream);
  return outcome();
}

cudaError_t cudaFuncSetAttribute(const void *function, cudaFuncAttribute,
                                 int value) {
  if (value < 0 || value > 227 * 1024)
    return fail(cudaErrorInvalidValue);
  device().sharedLimits[function] = value;
  return outcome();
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

int nvtxRangePushA(const char *message) {
  device().ranges.push_back(message);
  return int(device().ranges.size()) - 1;
}
int nvtxRangePop() {
  if (device().ranges.empty()) {
    violate("a range ends that did not begin");
    return -1;
  }
  device().ranges.pop_back();
  return int(device().ranges.size());
}
