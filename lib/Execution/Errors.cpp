//===- Errors.cpp - Errors of the runner ----------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Errors.h"

using namespace mlir::amp;

char DiagnosedError::ID;

llvm::Error mlir::amp::toError(const host::Status &status) {
  if (status.isOk())
    return llvm::Error::success();
  if (status.getCode() == host::kReported)
    return llvm::make_error<DiagnosedError>();
  return makeError("{0}", status.getMessage());
}

host::Status mlir::amp::toStatus(llvm::Error error) {
  host::Status status;
  llvm::handleAllErrors(
      std::move(error),
      [&](const DiagnosedError &) {
        status = host::Status(host::kReported, "already reported");
      },
      [&](const llvm::ErrorInfoBase &other) {
        status = host::Status(host::kInvalidArgument, other.message());
      });
  return status;
}
