//===- Status.h - Errors as values ------------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime of generated programs reports every failure as a value: it never
// exits, aborts or throws across its interface.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_STATUS_H
#define AMP_RUNTIME_CUDA_STATUS_H

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <cstdarg>
#include <cstdio>
#include <string>
#include <utility>

namespace amp::cuda {

/// What went wrong, as the C interface of a program returns it.
enum ErrorCode : int {
  kOk = 0,
  kInvalidArgument = 1, ///< a null pointer, a wrong size or option
  kNoDevice = 2,        ///< no GPU, or a driver too old for this program
  kOutOfMemory = 3,     ///< the message says how much is needed
  kFile = 4,            ///< unreadable, damaged or of another model
  kCudaError = 5,       ///< a call of the CUDA runtime failed
  kCublasError = 6,     ///< a call of cuBLASLt failed
  kUnsupported = 7,     ///< no algorithm for a matrix product
};

/// Success, or a code with a message: lower-case, without a full stop.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(const Status &) = default;
  Status(Status &&) = default;
  Status &operator=(const Status &) = default;
  Status &operator=(Status &&) = default;
  Status(ErrorCode code, std::string message)
      : code(code), text(std::move(message)) {}

  bool isOk() const { return code == kOk; }
  ErrorCode getCode() const { return code; }
  const std::string &getMessage() const { return text; }

  /// Puts `what` and a colon in front of the message of an error.
  Status in(const std::string &what) && {
    if (!isOk())
      text = what + ": " + text;
    return std::move(*this);
  }

private:
  ErrorCode code = kOk;
  std::string text;
};

/// An error whose message is formatted as by printf.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
inline Status
makeError(ErrorCode code, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  return Status(code, text);
}

/// The outcome of the CUDA call `call`. Missing devices, old drivers and
/// exhausted memory have codes of their own.
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

/// Returns the error of `expression`, a Status, from the enclosing function.
#define AMP_RETURN_IF_ERROR(expression)                                        \
  do {                                                                         \
    if (::amp::cuda::Status ampStatus = (expression); !ampStatus.isOk())       \
      return ampStatus;                                                        \
  } while (false)

/// Makes a CUDA or cuBLASLt call and returns its error, if any.
#define AMP_CUDA_CALL(call)                                                    \
  AMP_RETURN_IF_ERROR(::amp::cuda::check((call), #call))

#endif // AMP_RUNTIME_CUDA_STATUS_H
