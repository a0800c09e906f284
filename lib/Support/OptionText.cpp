//===- OptionText.cpp - Options of passes as text -------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Support/OptionText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

/// Returns the length of the first option of `text`, which ends at a blank
/// outside of quotes and braces.
static size_t getOptionLength(StringRef text) {
  unsigned depth = 0;
  char quote = 0;
  for (auto [index, c] : llvm::enumerate(text)) {
    if (quote) {
      quote = c == quote ? 0 : quote;
      continue;
    }
    if (c == '"' || c == '\'')
      quote = c;
    else if (c == '{')
      ++depth;
    else if (c == '}' && depth > 0)
      --depth;
    else if (depth == 0 && llvm::isSpace(c))
      return index;
  }
  return text.size();
}

StringRef mlir::amp::findRepeatedOption(StringRef options,
                                        ArrayRef<StringRef> lists) {
  SmallVector<StringRef> seen;
  options = options.trim();
  if (options.starts_with("{") && options.ends_with("}"))
    options = options.drop_front().drop_back();
  for (options = options.ltrim(); !options.empty(); options = options.ltrim()) {
    size_t length = getOptionLength(options);
    StringRef key = options.take_front(length).split('=').first;
    if (llvm::is_contained(seen, key))
      return key;
    if (!llvm::is_contained(lists, key))
      seen.push_back(key);
    options = options.drop_front(length);
  }
  return {};
}
