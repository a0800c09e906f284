//===- InstalledFiles.cpp - Files of an installation ----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Support/InstalledFiles.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <dlfcn.h>

using namespace mlir::amp;
namespace path = llvm::sys::path;

/// A library may be in a folder such as lib/x86_64-linux-gnu.
static constexpr int kMaxLevels = 2;

std::string mlir::amp::findInstalledFolder(llvm::StringRef name,
                                           llvm::StringRef file,
                                           llvm::StringRef fallback) {
  // For a program, dladdr gives its name on the command line, which may not be
  // a path.
  void *address = reinterpret_cast<void *>(&findInstalledFolder);
  Dl_info info = {};
  llvm::SmallString<128> binary;
  if (!::dladdr(address, &info) || !info.dli_fname ||
      !path::has_parent_path(info.dli_fname) ||
      llvm::sys::fs::real_path(info.dli_fname, binary))
    binary = llvm::sys::fs::getMainExecutable(nullptr, address);
  llvm::StringRef prefix = path::parent_path(binary);
  for (int level = 0; level < kMaxLevels; ++level) {
    prefix = path::parent_path(prefix);
    llvm::SmallString<128> folder(prefix), wanted(prefix);
    path::append(folder, name);
    path::append(wanted, name, file);
    if (llvm::sys::fs::exists(wanted))
      return std::string(folder);
  }
  return fallback.str();
}
