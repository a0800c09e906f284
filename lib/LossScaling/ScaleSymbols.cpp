//===- ScaleSymbols.cpp - Loss scales as symbols of exponents -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/LossScaling/ScaleExponentAnalysis.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::amp;

ScaleExponent::Symbol ScaleSymbols::get(Value scale) {
  Attribute constant;
  const void *key = matchPattern(scale, m_Constant(&constant))
                        ? constant.getAsOpaquePointer()
                        : findEqual(scale).getAsOpaquePointer();
  auto [it, isNew] = numbers.try_emplace(key, values.size());
  if (isNew) {
    values.push_back(scale);
    bases.emplace_back();
  }
  return it->second;
}

void ScaleSymbols::derive(ScaleExponent::Symbol symbol,
                          const ScaleExponent &exponent) {
  for (const ScaleExponent::Term &term : exponent.getTerms())
    if (term.symbol != symbol &&
        !llvm::is_contained(bases[symbol], term.symbol))
      bases[symbol].push_back(term.symbol);
}

/// The name of a loss scale in diagnostics.
static std::string getName(Value scale) {
  std::string name;
  llvm::raw_string_ostream os(name);
  DenseFPElementsAttr constant;
  if (matchPattern(scale, m_Constant(&constant)) && constant.isSplat()) {
    SmallString<16> digits;
    constant.getSplatValue<APFloat>().toString(digits);
    os << digits;
    return name;
  }
  if (auto argument = dyn_cast<BlockArgument>(scale))
    if (auto function =
            dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp()))
      if (auto attribute = function.getArgAttrOfType<StringAttr>(
              argument.getArgNumber(), AMPDialect::kNameAttr))
        return attribute.str();
  // Names that the printer generates are in no file, and computing them numbers
  // the whole module.
  if (auto update = scale.getDefiningOp<LossScaleOpInterface>()) {
    int result = update.getLossScaleResult();
    if (result >= 0 && update->getResult(result) == scale)
      return "the new " +
             getName(update->getOperand(update.getLossScaleOperand()));
  }
  scale.printAsOperand(os, OpPrintingFlags());
  return name;
}

std::string ScaleSymbols::describe(const ScaleExponent &exponent) const {
  if (exponent.isUnscaled())
    return "1";
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      exponent.getTerms(), os,
      [&](const ScaleExponent::Term &term) {
        os << getName(values[term.symbol]);
        if (term.numerator != 1 || term.denominator != 1)
          os << '^' << term.numerator;
        if (term.denominator != 1)
          os << '/' << term.denominator;
      },
      " * ");
  return text;
}
