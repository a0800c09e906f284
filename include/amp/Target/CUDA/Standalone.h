//===- Standalone.h - Standalone files --------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TARGET_CUDA_STANDALONE_H
#define AMP_TARGET_CUDA_STANDALONE_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::cuda {

/// Returns the folder with `amp/Runtime`: that of the installation, or of the
/// source tree that was built.
std::string findRuntimeHeaders();

/// Replaces the first inclusion of each header under `folder` by the header, in
/// `text` and in these headers. Returns whether all were found. Otherwise
/// `message` names the missing one.
bool inlineRuntime(std::string &text, llvm::StringRef folder,
                   std::string &message);

} // namespace mlir::cuda

#endif // AMP_TARGET_CUDA_STANDALONE_H
