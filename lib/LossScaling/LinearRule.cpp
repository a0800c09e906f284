//===- LinearRule.cpp - Operations that a policy calls linear -------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/LossScaling/LinearRule.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Error.h"
#include <optional>

using namespace mlir;
using namespace mlir::amp;

/// Parses the text after the '='.
static LogicalResult parseRule(StringRef text, LinearRule &rule) {
  using Kind = LinearRule::Kind;
  if (text.consume_front("power:")) {
    rule.kind = Kind::Power;
    auto [numerator, denominator] = text.split('/');
    return success(!numerator.getAsInteger(10, rule.numerator) &&
                   (denominator.empty() ||
                    !denominator.getAsInteger(10, rule.denominator)) &&
                   rule.numerator != 0 && rule.denominator > 0);
  }
  auto kind = llvm::StringSwitch<std::optional<Kind>>(text)
                  .Case("product", Kind::Product)
                  .Case("quotient", Kind::Quotient)
                  .Case("order", Kind::Order)
                  .Case("each", Kind::Each)
                  .Case("constant", Kind::Constant)
                  .Case("branch", Kind::Branch)
                  .Case("loop", Kind::Loop)
                  .Case("body", Kind::Body)
                  .Default(std::nullopt);
  if (kind) {
    rule.kind = *kind;
    return success();
  }
  SmallVector<StringRef> numbers;
  text.split(numbers, '+');
  for (StringRef number : numbers)
    if (number.getAsInteger(10, rule.operands.emplace_back()))
      return failure();
  return success();
}

FailureOr<LinearRule> LinearRule::parse(StringRef text, std::string &expected) {
  auto [glob, rule] = text.split('=');
  LinearRule result;
  if (glob.size() != text.size() && failed(parseRule(rule, result))) {
    expected = "a list of globs, each alone or with '=' and operands as in "
               "'1+2' or a rule: product, quotient, power:1/2, order, each, "
               "constant, branch, loop or body";
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
