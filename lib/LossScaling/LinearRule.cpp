//===- LinearRule.cpp - Operations that a policy calls linear -------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/LossScaling/LinearRule.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

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
                  .Case("power", Kind::ConstantPower)
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

/// Parses a condition `(ATTRIBUTE:VALUE)`.
static LogicalResult parseCondition(StringRef text, OperationPattern &result) {
  if (!text.consume_front("(") || !text.consume_back(")"))
    return failure();
  auto [attribute, value] = text.split(':');
  llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(value);
  if (!pattern) {
    llvm::consumeError(pattern.takeError());
    return failure();
  }
  result.attribute = attribute;
  result.value = std::move(*pattern);
  return success(!attribute.empty() && !value.empty());
}

bool OperationPattern::isSatisfiedBy(Operation *op) const {
  if (!value)
    return true;
  Attribute found = op->getAttr(attribute);
  if (!found)
    return false;
  if (auto text = dyn_cast<StringAttr>(found))
    return value->match(text.getValue());
  if (auto symbol = dyn_cast<SymbolRefAttr>(found))
    return value->match(symbol.getLeafReference().getValue());
  std::string printed;
  llvm::raw_string_ostream(printed) << found;
  return value->match(printed);
}

FailureOr<StringRef> OperationPattern::read(StringRef text,
                                            std::string &expected) {
  StringRef glob = getNameGlob(text);
  // A condition may contain '='.
  size_t end = glob.size();
  if (text.drop_front(end).starts_with("("))
    if (size_t closing = text.rfind(')'); closing != StringRef::npos)
      end = closing + 1;
  StringRef condition = text.slice(glob.size(), end);
  StringRef rest = text.drop_front(end);
  if ((!rest.empty() && !rest.starts_with("=")) ||
      (!condition.empty() && failed(parseCondition(condition, *this)))) {
    expected = "a list of globs, each alone or with a condition on an "
               "attribute, as in 'foreign.call(callee:solve*)'";
    return failure();
  }
  llvm::Expected<llvm::GlobPattern> created = llvm::GlobPattern::create(glob);
  if (!created) {
    llvm::consumeError(created.takeError());
    expected = "a list of globs";
    return failure();
  }
  pattern = std::move(*created);
  return rest;
}

FailureOr<LinearRule> LinearRule::parse(StringRef text, std::string &expected) {
  LinearRule result;
  FailureOr<StringRef> rule = result.read(text, expected);
  if (failed(rule))
    return failure();
  if (!rule->empty() && failed(parseRule(rule->drop_front(), result))) {
    expected =
        "a list of globs, each alone or with '=' and operands as in "
        "'1+2' or a rule: product, quotient, power:1/2, power, order, each, "
        "constant, branch, loop or body";
    return failure();
  }
  return result;
}
