//===- CacheFolder.h - Files of the cache of CUDA steps ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_EXECUTION_CUDA_CACHEFOLDER_H
#define AMP_LIB_EXECUTION_CUDA_CACHEFOLDER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <system_error>

namespace mlir::amp {

/// The hash of `text`, in hexadecimal digits.
std::string hashText(llvm::StringRef text);

/// A file that is deleted at the end, or if a signal ends the process.
class TemporaryFile {
public:
  TemporaryFile() = default;
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  ~TemporaryFile();
  std::error_code create(llvm::StringRef folder, llvm::StringRef suffix);

  std::string name;
};

/// Creates the folder `given`, or the default folder if it is empty, and
/// returns its path.
llvm::Expected<std::string> openCacheFolder(llvm::StringRef given);

/// The content of a file. Empty if it cannot be read.
std::string readText(const llvm::Twine &file);

/// Writes `text` to a file in `folder`, whole.
llvm::Error writeWhole(const std::string &file, llvm::StringRef folder,
                       llvm::StringRef text);

} // namespace mlir::amp

#endif // AMP_LIB_EXECUTION_CUDA_CACHEFOLDER_H
