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

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

namespace amp::cuda {

/// Whether `path` is `-`, the standard output.
inline bool isStandardOutput(const std::string &path) { return path == "-"; }

/// Where a file is written before it takes its name.
inline std::string temporaryOf(const std::string &path) {
  return path + ".tmp";
}

/// Says that `path` cannot be written, and why: `error` is a value of errno.
inline Status describeUnwritable(const std::string &path, int error) {
  return makeError(kFile, "cannot write '%s': %s",
                   isStandardOutput(path) ? "<stdout>" : path.c_str(),
                   std::strerror(error ? error : EIO));
}

/// Writes `size` bytes to `file`. Returns errno, or 0.
inline int writeBytes(std::FILE *file, const void *data, size_t size) {
  errno = 0;
  if (std::fwrite(data, 1, size, file) == size && std::fflush(file) == 0)
    return 0;
  return errno ? errno : EIO;
}

/// Writes `size` bytes to a file beside `path`, which then takes its name, or
/// to the standard output.
inline Status writeFile(const std::string &path, const void *data,
                        size_t size) {
  if (isStandardOutput(path)) {
    int error = writeBytes(stdout, data, size);
    return error ? describeUnwritable(path, error) : Status();
  }
  std::string temporary = temporaryOf(path);
  std::FILE *file = std::fopen(temporary.c_str(), "wb");
  if (!file)
    return describeUnwritable(path, errno);
  int error = writeBytes(file, data, size);
  if (std::fclose(file) != 0 && !error)
    error = errno;
  if (!error && std::rename(temporary.c_str(), path.c_str()) != 0)
    error = errno;
  if (!error)
    return Status();
  std::remove(temporary.c_str());
  return describeUnwritable(path, error);
}
inline Status writeFile(const std::string &path, const std::string &text) {
  return writeFile(path, text.data(), text.size());
}

/// Finds out early whether `path` can be written.
inline Status checkWritable(const std::string &path) {
  if (isStandardOutput(path))
    return Status();
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return describeUnwritable(path, EISDIR);
  std::string temporary = temporaryOf(path);
  std::FILE *file = std::fopen(temporary.c_str(), "ab");
  if (!file)
    return describeUnwritable(path, errno);
  std::fclose(file);
  std::remove(temporary.c_str());
  return Status();
}

/// Whether both paths name one file, which need not exist. The standard output
/// is none.
inline bool isSameFile(const std::string &one, const std::string &other) {
  if (isStandardOutput(one) || isStandardOutput(other))
    return false;
  std::error_code first, second;
  auto a = std::filesystem::weakly_canonical(one, first),
       b = std::filesystem::weakly_canonical(other, second);
  if (first || second)
    return one == other;
  return a == b || (std::filesystem::equivalent(a, b, first) && !first);
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_OUTPUTFILES_H
