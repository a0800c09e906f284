//===- OutputFile.cpp - Atomic output files -------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Support/OutputFile.h"

#include "amp/Runtime/Host/OutputFile.h"

using namespace mlir::amp;

llvm::Error mlir::amp::flushStandardOutput() {
  llvm::outs().flush();
  std::error_code code = llvm::outs().error();
  // A stream that is destroyed with an error ends the process.
  llvm::outs().clear_error();
  return llvm::errorCodeToError(code);
}

llvm::Error mlir::amp::writeOutputFile(llvm::StringRef path,
                                       llvm::StringRef text) {
  // The text must follow the buffered output of the stream.
  if (llvm::Error error = flushStandardOutput())
    return error;
  ::amphost::Status status = ::amphost::writeFile(path.str(), text.str());
  if (status.isOk())
    return llvm::Error::success();
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 status.getMessage());
}
