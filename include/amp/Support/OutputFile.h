//===- OutputFile.h - Output files, whole or not at all ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_SUPPORT_OUTPUTFILE_H
#define AMP_SUPPORT_OUTPUTFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>

namespace mlir::amp {

/// Writes a file whole or not at all. What `write` gives goes to a temporary
/// file, which takes the place of `path` once everything is on disk:
///   * symbolic links are followed, and stay links;
///   * a file that is there keeps its mode; one without permission to write is
///     left alone and an error;
///   * what is no regular file (a device, a pipe) is written to as it is, and
///     so is the file that the standard output goes to;
///   * `-` is the standard output.
/// The errors have no path in their text.
llvm::Error
writeOutputFile(llvm::StringRef path,
                llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write);

/// Checks that `writeOutputFile` could write `path` now, so that a long run
/// does not fail when it saves its result. Leaves nothing behind.
llvm::Error checkOutputFile(llvm::StringRef path);

/// Returns whether the two paths name one regular file, or would once it is
/// there, however they are spelled. `-` and devices are no files.
bool isSameFile(llvm::StringRef one, llvm::StringRef other);

/// While it lives, a write beyond the limit on the size of files fails like
/// others, where it would end the process.
class IgnoreFileSizeSignal {
public:
  IgnoreFileSizeSignal();
  ~IgnoreFileSizeSignal();
  IgnoreFileSizeSignal(const IgnoreFileSizeSignal &) = delete;
  IgnoreFileSizeSignal &operator=(const IgnoreFileSizeSignal &) = delete;

private:
  struct sigaction previous = {};
};

/// Writes out what is left in the buffer of the standard output, and returns
/// the first error that it has had, if any.
llvm::Error flushStandardOutput();

} // namespace mlir::amp

#endif // AMP_SUPPORT_OUTPUTFILE_H
