//===- InstalledFiles.h - Files of an installation --------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_SUPPORT_INSTALLEDFILES_H
#define AMP_SUPPORT_INSTALLEDFILES_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::amp {

/// Returns the folder `name`, such as `include`, of the installation that
/// contains the running program or shared library, if `file` is in this folder.
/// Returns `fallback` otherwise. An installation may be moved after it is
/// written.
std::string findInstalledFolder(llvm::StringRef name, llvm::StringRef file,
                                llvm::StringRef fallback);

} // namespace mlir::amp

#endif // AMP_SUPPORT_INSTALLEDFILES_H
