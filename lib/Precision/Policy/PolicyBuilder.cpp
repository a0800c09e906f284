//===- PolicyBuilder.cpp - Policies written in C++ ------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Policy/PolicyBuilder.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::amp;

/// The keys of the lists, in the order of `PolicyBuilder::lists`.
static constexpr StringLiteral kKeys[] = {"allow", "deny", "infer", "clear"};

PolicyBuilder &PolicyBuilder::add(unsigned list, ArrayRef<StringRef> globs) {
  for (StringRef glob : globs)
    lists[list].push_back(glob.str());
  return *this;
}

PolicyBuilder &PolicyBuilder::allow(ArrayRef<StringRef> globs) {
  return add(0, globs);
}
PolicyBuilder &PolicyBuilder::deny(ArrayRef<StringRef> globs) {
  return add(1, globs);
}
PolicyBuilder &PolicyBuilder::infer(ArrayRef<StringRef> globs) {
  return add(2, globs);
}
PolicyBuilder &PolicyBuilder::clear(ArrayRef<StringRef> globs) {
  return add(3, globs);
}

PolicyBuilder &PolicyBuilder::setGradientType(GradientType type) {
  gradientType = type;
  return *this;
}

std::string PolicyBuilder::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "{version: 1, gradient-type: " << stringifyGradientType(gradientType);
  for (auto [key, globs] : llvm::zip(kKeys, lists)) {
    if (globs.empty())
      continue;
    os << ", " << key << ": [";
    llvm::interleaveComma(globs, os, [&](StringRef glob) {
      os << '"';
      for (char c : glob) {
        if (c == '"' || c == '\\')
          os << '\\';
        os << c;
      }
      os << '"';
    });
    os << ']';
  }
  os << '}';
  return text;
}

FailureOr<Policy> PolicyBuilder::build(Location loc) const {
  return Policy::load(str(), loc);
}
