//===- InputFile.h - Input that has an end ----------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_SUPPORT_INPUTFILE_H
#define AMP_SUPPORT_INPUTFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mlir::amp {

/// Reads a regular file of at most `most` bytes. Devices may have no end, and
/// opening a pipe that nobody writes to never returns. An error is a reason
/// without the path.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readInputFile(llvm::StringRef path, uint64_t most);

/// Reads a module, and names it in errors. It is text or bytecode in a regular
/// file, or in the standard input if `path` is `-`, `/dev/stdin` or a
/// descriptor in `/dev/fd`. The module has at most `kMaxModuleBytes` bytes. Its
/// text has at most `kMaxModuleDepth` brackets within one another, because
/// MLIR's parser and passes are recursive.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readModule(llvm::StringRef path);

inline constexpr uint64_t kMaxModuleBytes = uint64_t(1) << 31;
inline constexpr unsigned kMaxModuleDepth = 256;

/// Returns the line (from 1) of the first bracket of the MLIR text `text` that
/// is nested in `depth` others, or 0. Brackets in strings and comments do not
/// count.
size_t findDeepBracket(llvm::StringRef text, unsigned depth);

} // namespace mlir::amp

#endif // AMP_SUPPORT_INPUTFILE_H
