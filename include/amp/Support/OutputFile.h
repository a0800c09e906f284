//===- OutputFile.h - Output files, whole or not at all ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_SUPPORT_OUTPUTFILE_H
#define AMP_SUPPORT_OUTPUTFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::amp {

/// Writes a file whole or not at all, as `amp/Runtime/Host/OutputFile.h` says.
/// The errors name the file.
llvm::Error writeOutputFile(llvm::StringRef path, llvm::StringRef text);

/// Flushes the buffer of the standard output, and returns its first error, if
/// any.
llvm::Error flushStandardOutput();

} // namespace mlir::amp

#endif // AMP_SUPPORT_OUTPUTFILE_H
