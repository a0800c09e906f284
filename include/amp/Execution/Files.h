//===- Files.h - Error and file helpers of the runner -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_FILES_H
#define AMP_EXECUTION_FILES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::amp {

/// Builds an error whose message is `formatv(format, arguments...)`.
template <typename... Ts>
llvm::Error makeError(const char *format, Ts &&...arguments) {
  return llvm::createStringError(
      llvm::inconvertibleErrorCode(),
      llvm::Twine(llvm::formatv(format, std::forward<Ts>(arguments)...).str()));
}

/// The error of something that an MLIR diagnostic has already reported, so that
/// no second message is printed for it.
class DiagnosedError : public llvm::ErrorInfo<DiagnosedError> {
public:
  static char ID;
  void log(llvm::raw_ostream &os) const override { os << "already reported"; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }
};

/// `writeOutputFile`, whose errors name the file.
llvm::Error
writeAtomically(llvm::StringRef path,
                llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write);

/// `checkOutputFile`, whose errors name the file.
llvm::Error checkWritable(llvm::StringRef path);

} // namespace mlir::amp

#endif // AMP_EXECUTION_FILES_H
