//===- LocationText.cpp - Locations as text -------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Support/LocationText.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::amp;

LocationText::LocationText(Location loc) {
  loc->walk([&](Location inner) {
    if (auto named = dyn_cast<NameLoc>(inner); named && name.empty())
      name = named.getName().str();
    if (auto file = dyn_cast<FileLineColLoc>(inner); file && place.empty())
      place = (file.getFilename().getValue() + ":" + Twine(file.getLine()) +
               ":" + Twine(file.getColumn()))
                  .str();
    return name.empty() || place.empty() ? WalkResult::advance()
                                         : WalkResult::interrupt();
  });
}

std::string mlir::amp::removeFolder(StringRef name) {
  size_t begin = name.rfind(' ') + 1;
  StringRef place = name.drop_front(begin);
  auto isNumber = [](StringRef text) {
    return !text.empty() && llvm::all_of(text, llvm::isDigit);
  };
  auto [line, column] = place.rsplit(':');
  size_t slash = place.rfind('/');
  if (!isNumber(column) || !isNumber(line.rsplit(':').second) ||
      slash == StringRef::npos)
    return name.str();
  return (name.take_front(begin) + place.drop_front(slash + 1)).str();
}
