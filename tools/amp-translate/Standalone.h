//===- Standalone.h - One file without headers ------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TOOLS_AMP_TRANSLATE_STANDALONE_H
#define AMP_TOOLS_AMP_TRANSLATE_STANDALONE_H

#include "llvm/ADT/StringRef.h"

#include <string>

/// Puts the headers under `folder` that `text` includes, and those that they
/// include, in the place of their first inclusion. Returns whether all were
/// found, else `message` says which one was not.
bool inlineRuntime(std::string &text, llvm::StringRef folder,
                   std::string &message);

#endif // AMP_TOOLS_AMP_TRANSLATE_STANDALONE_H
