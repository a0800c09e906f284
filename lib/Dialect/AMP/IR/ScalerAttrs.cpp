//===- ScalerAttrs.cpp - The attributes of loss scalers -------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `#amp.scaler` and `#amp.layer_scaler`: the fields that differ from their
// defaults.
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/AMP/IR/AMP.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include <cstdio>

using namespace mlir;
using namespace mlir::amp;

/// Parses a keyword or a number, as the text that a field reads.
static ParseResult parseValue(AsmParser &parser, std::string &text) {
  StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(&keyword))) {
    text = keyword.str();
    return success();
  }
  APInt integer;
  OptionalParseResult parsed = parser.parseOptionalInteger(integer);
  if (parsed.has_value()) {
    llvm::SmallString<16> digits;
    integer.toStringSigned(digits);
    text = digits.str().str();
    return *parsed;
  }
  double number;
  if (parser.parseFloat(number))
    return failure();
  char digits[32];
  std::snprintf(digits, sizeof(digits), "%.17g", number);
  text = digits;
  return success();
}

template <typename RulesT>
static ParseResult parseField(AsmParser &parser, RulesT &rules,
                              SmallVectorImpl<StringRef> &seen) {
  StringRef name;
  std::string text;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return failure();
  const ScalerField<RulesT> *field = findScalerField<RulesT>(name);
  if (!field) {
    auto names = llvm::map_range(
        getScalerFields<RulesT>(),
        [](const ScalerField<RulesT> &known) { return known.name; });
    return parser.emitError(loc, "unknown field '")
           << name << "', expected one of " << llvm::join(names, ", ");
  }
  if (llvm::is_contained(seen, name))
    return parser.emitError(loc, "field '") << name << "' is given twice";
  seen.push_back(name);
  if (parser.parseEqual())
    return failure();
  loc = parser.getCurrentLocation();
  if (parseValue(parser, text))
    return failure();
  if (!field->set(rules, text))
    return parser.emitError(loc, "expected '")
           << name << "' to be " << field->expected << ", got " << text;
  return success();
}

template <typename AttrT, typename RulesT>
static Attribute parseScaler(AsmParser &parser) {
  RulesT rules;
  SmallVector<StringRef> seen;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(
          AsmParser::Delimiter::OptionalLessGreater,
          [&] { return parseField(parser, rules, seen); }))
    return {};
  return parser.getChecked<AttrT>(loc, parser.getContext(), rules);
}

template <typename RulesT>
static void printScaler(AsmPrinter &printer, const RulesT &rules) {
  SmallVector<std::string> texts;
  for (const ScalerField<RulesT> &field : getScalerFields<RulesT>()) {
    std::string value = field.get(rules);
    if (value != field.get(RulesT()))
      texts.push_back((field.name + " = " + value).str());
  }
  if (!texts.empty())
    printer << "<" << llvm::join(texts, ", ") << ">";
}

template <typename RulesT>
static LogicalResult verifyScaler(function_ref<InFlightDiagnostic()> emitError,
                                  const RulesT &rules) {
  std::string error = findScalerError(rules);
  return error.empty() ? success() : emitError() << error;
}

Attribute ScalerAttr::parse(AsmParser &parser, Type) {
  return parseScaler<ScalerAttr, ScalerRules>(parser);
}
void ScalerAttr::print(AsmPrinter &printer) const {
  printScaler(printer, getRules());
}
LogicalResult ScalerAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ScalerRules rules) {
  return verifyScaler(emitError, rules);
}

Attribute LayerScalerAttr::parse(AsmParser &parser, Type) {
  return parseScaler<LayerScalerAttr, LayerScalerRules>(parser);
}
void LayerScalerAttr::print(AsmPrinter &printer) const {
  printScaler(printer, getRules());
}
LogicalResult
LayerScalerAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                        LayerScalerRules rules) {
  return verifyScaler(emitError, rules);
}
