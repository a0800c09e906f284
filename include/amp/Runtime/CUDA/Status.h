//===- Status.h - Errors of CUDA calls --------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts the errors of CUDA and its libraries to those of the host runtime.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_STATUS_H
#define AMP_RUNTIME_CUDA_STATUS_H

#include "amp/Runtime/Host/Status.h"

#include <cublasLt.h>
#include <cuda_runtime.h>

namespace amp::cuda {
using namespace amphost;

/// The error codes of this backend.
inline constexpr ErrorCode kNoDevice =
                               ErrorCode(2), ///< no GPU, or a driver too old
    kCudaError = ErrorCode(5),   ///< a call of the CUDA runtime failed
    kCublasError = ErrorCode(6), ///< a call of cuBLASLt failed
    kUnsupported = ErrorCode(7); ///< no algorithm for a matrix product

/// The outcome of the CUDA call `call`. Missing devices, old drivers and
/// exhausted memory have their own codes.
inline Status check(cudaError_t error, const char *call) {
  if (error == cudaSuccess)
    return Status();
  ErrorCode code = kCudaError;
  if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver)
    code = kNoDevice;
  if (error == cudaErrorMemoryAllocation)
    code = kOutOfMemory;
  return makeError(code, "%s failed: %s", call, cudaGetErrorString(error));
}

/// The outcome of the cuBLASLt call `call`.
inline Status check(cublasStatus_t status, const char *call) {
  if (status == CUBLAS_STATUS_SUCCESS)
    return Status();
  return makeError(status == CUBLAS_STATUS_NOT_SUPPORTED ? kUnsupported
                                                         : kCublasError,
                   "%s failed: %s", call, cublasLtGetStatusString(status));
}

} // namespace amp::cuda

/// Makes a CUDA or cuBLASLt call and returns its error, if any.
#define AMP_CUDA_CALL(call)                                                    \
  AMP_RETURN_IF_ERROR(::amp::cuda::check((call), #call))

#endif // AMP_RUNTIME_CUDA_STATUS_H
