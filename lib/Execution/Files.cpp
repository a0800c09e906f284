//===- Files.cpp - Error and file helpers of the runner -------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Files.h"

#include "amp/Support/OutputFile.h"

using namespace mlir::amp;

char DiagnosedError::ID;

static llvm::Error describe(llvm::Error error, llvm::StringRef path) {
  if (!error)
    return llvm::Error::success();
  return makeError("cannot write '{0}': {1}", path == "-" ? "<stdout>" : path,
                   llvm::toString(std::move(error)));
}

llvm::Error mlir::amp::writeAtomically(
    llvm::StringRef path,
    llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write) {
  return describe(writeOutputFile(path, write), path);
}

llvm::Error mlir::amp::checkWritable(llvm::StringRef path) {
  return describe(checkOutputFile(path), path);
}
