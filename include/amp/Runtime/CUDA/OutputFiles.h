//===- OutputFiles.h - Files, whole or not at all ---------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_OUTPUTFILES_H
#define AMP_RUNTIME_CUDA_OUTPUTFILES_H

#include "amp/Runtime/CUDA/Status.h"

#include <filesystem>
#include <fstream>
#include <string>

namespace amp::cuda {

/// Where a file is written before it takes its name.
inline std::string temporaryOf(const std::string &path) {
  return path + ".tmp";
}

/// Writes `size` bytes to a file beside `path`, which then takes its name.
inline Status writeFile(const std::string &path, const void *data,
                        size_t size) {
  std::string temporary = temporaryOf(path);
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file.write(static_cast<const char *>(data), std::streamsize(size));
  file.close();
  if (!file || std::rename(temporary.c_str(), path.c_str()) != 0) {
    std::remove(temporary.c_str());
    return makeError(kFile, "cannot write '%s'", path.c_str());
  }
  return Status();
}
inline Status writeFile(const std::string &path, const std::string &text) {
  return writeFile(path, text.data(), text.size());
}

/// Finds out early whether `path` can be written.
inline Status checkWritable(const std::string &path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return makeError(kFile, "cannot write '%s': it is a folder", path.c_str());
  std::string temporary = temporaryOf(path);
  std::ofstream file(temporary, std::ios::binary | std::ios::app);
  file.close();
  std::remove(temporary.c_str());
  return file ? Status() : makeError(kFile, "cannot write '%s'", path.c_str());
}

/// Whether both paths name one file, which need not exist.
inline bool isSameFile(const std::string &one, const std::string &other) {
  std::error_code first, second;
  auto a = std::filesystem::weakly_canonical(one, first),
       b = std::filesystem::weakly_canonical(other, second);
  if (first || second)
    return one == other;
  return a == b || (std::filesystem::equivalent(a, b, first) && !first);
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_OUTPUTFILES_H
