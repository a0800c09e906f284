//===- OperationDocs.cpp - Documentation of operations --------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OperationDocs.h"

#include "llvm/ADT/Twine.h"
#include <algorithm>

/// The reference pages of the dialects.
static constexpr llvm::StringLiteral kPages[] = {
#include "amp/ReferencePages.inc"
};

std::string mlir::amp::getOperationDocs(llvm::StringRef name) {
  const std::string heading = ("\n### `" + name + "` (").str();
  for (llvm::StringRef page : kPages) {
    size_t begin = page.find(heading);
    if (begin == llvm::StringRef::npos)
      continue;
    begin = page.find('\n', begin + 1);
    llvm::StringRef text = page.substr(begin);
    // Traits, interfaces and the tables of operands follow.
    size_t end = text.size();
    for (llvm::StringRef next : {"\nTraits: ", "\nInterfaces: ", "\nEffects: ",
                                 "\n## ", "\n### ", "\n#### "})
      end = std::min(end, text.find(next));
    return text.take_front(end).trim().str();
  }
  return "";
}
