//===- InputFile.h - Files that have an end ---------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AMP_RUNTIME_HOST_INPUTFILE_H
#define AMP_RUNTIME_HOST_INPUTFILE_H

#include "amp/Runtime/Host/Status.h"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

namespace amphost {

/// Fails unless `path` is a regular file of at most `most` bytes. Devices may
/// have no end, and opening a pipe that nobody writes to never returns.
inline Status
checkInputFile(const std::string &path,
               uint64_t most = std::numeric_limits<uint64_t>::max()) {
  namespace fs = std::filesystem;
  auto fail = [&](const std::string &reason) {
    return Status(kFile, "cannot read '" + path + "': " + reason);
  };
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found)
    return fail("no such file");
  if (error)
    return fail(error.message());
  if (fs::is_directory(status))
    return fail("it is a directory");
  if (!fs::is_regular_file(status))
    return fail("it is a device, a pipe or a socket, expected a file");
  const uintmax_t size = fs::file_size(path, error);
  if (error)
    return fail(error.message());
  if (size > most)
    return fail("it has " + std::to_string(size) + " bytes, expected at most " +
                std::to_string(most));
  return Status();
}

} // namespace amphost

#endif // AMP_RUNTIME_HOST_INPUTFILE_H
