//===- LinearRule.cpp - Operations that a policy calls linear -------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/LinearRule.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

using namespace mlir;
using namespace mlir::amp;

FailureOr<LinearRule> LinearRule::parse(StringRef text, std::string &expected) {
  auto [glob, rule] = text.split('=');
  LinearRule result;
  unsigned operand;
  if (rule == "product") {
    result.isProduct = true;
  } else if (!rule.getAsInteger(10, operand)) {
    result.operand = operand;
  } else if (glob.size() != text.size()) {
    expected = "a list of globs, each alone or with '=product' or '=' and the "
               "number of an operand";
    return failure();
  }
  llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(glob);
  if (!pattern) {
    llvm::consumeError(pattern.takeError());
    expected = "a list of globs";
    return failure();
  }
  result.pattern = std::move(*pattern);
  return result;
}
