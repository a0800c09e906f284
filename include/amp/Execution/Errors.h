//===- Errors.h - Errors of the runner --------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_ERRORS_H
#define AMP_EXECUTION_ERRORS_H

#include "amp/Runtime/Host/Status.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::amp {

/// The host runtime, which generated programs also use.
namespace host = ::amphost;

/// Builds an error whose message is `formatv(format, arguments...)`.
template <typename... Ts>
llvm::Error makeError(const char *format, Ts &&...arguments) {
  return llvm::createStringError(
      llvm::inconvertibleErrorCode(),
      llvm::Twine(llvm::formatv(format, std::forward<Ts>(arguments)...).str()));
}

/// An error that an MLIR diagnostic has already reported. No second message is
/// printed for it.
class DiagnosedError : public llvm::ErrorInfo<DiagnosedError> {
public:
  static char ID;
  void log(llvm::raw_ostream &os) const override { os << "already reported"; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }
};

/// Converts the result of a function of the host runtime.
llvm::Error toError(const host::Status &status);

/// Converts an error for the host runtime.
host::Status toStatus(llvm::Error error);

} // namespace mlir::amp

#endif // AMP_EXECUTION_ERRORS_H
