//===- ScalerRules.cpp - How a step scales its loss -----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/ScalerRules.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Interfaces/LossScaleOpInterface.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <vector>

using namespace mlir;
using namespace mlir::amp;

/// Writes an attribute as a reader knows it: without its type.
static std::string formatRule(Attribute value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto number = dyn_cast<FloatAttr>(value)) {
    llvm::SmallString<16> digits;
    number.getValue().toString(digits);
    os << digits;
  } else {
    value.print(os, /*elideType=*/true);
  }
  return text;
}

std::string mlir::amp::describeScalerRules(FunctionOpInterface step) {
  // Scales of layers and losses have the same rules.
  std::vector<std::string> rules;
  auto insert = [&](std::string rule) {
    if (!llvm::is_contained(rules, rule))
      rules.push_back(std::move(rule));
  };
  step->walk([&](LossScaleOpInterface op) {
    if (op.getFiniteFlagOperand() >= 0) {
      insert("scaler = " + op->getName().getStringRef().str());
      DictionaryAttr attributes =
          dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
      for (NamedAttribute attribute :
           attributes ? attributes : op->getDiscardableAttrDictionary())
        insert(attribute.getName().str() + " = " +
               formatRule(attribute.getValue()));
    }
    if (op.getFiniteFlagResult() < 0)
      return;
    if (auto unscale = dyn_cast<UnscaleOp>(op.getOperation());
        unscale && unscale.getStrict())
      insert("check = both");
    DenseFPElementsAttr constant;
    if (matchPattern(op->getOperand(op.getLossScaleOperand()),
                     m_Constant(&constant)) &&
        constant.isSplat()) {
      llvm::SmallString<16> digits;
      constant.getSplatValue<APFloat>().toString(digits);
      insert("loss_scale = " + digits.str().str());
    }
  });
  return llvm::join(rules, "\n");
}

std::pair<std::string, std::string>
mlir::amp::compareScalerRules(llvm::StringRef saved, llvm::StringRef current) {
  llvm::MapVector<llvm::StringRef, std::pair<llvm::StringRef, llvm::StringRef>>
      rules;
  auto read = [&](llvm::StringRef text, bool isSaved) {
    for (llvm::StringRef line : llvm::split(text, '\n')) {
      if (line.empty())
        continue;
      auto [name, value] = line.split(" = ");
      auto &entry = rules[name];
      (isSaved ? entry.first : entry.second) = value;
    }
  };
  read(saved, /*isSaved=*/true);
  read(current, /*isSaved=*/false);
  // Another machine has other rules altogether.
  auto machine = rules.find("scaler");
  bool isOther =
      machine != rules.end() && machine->second.first != machine->second.second;
  std::string first, second;
  for (auto &[name, values] : rules) {
    if (values.first == values.second || (isOther && name != "scaler"))
      continue;
    for (auto [text, value] :
         {std::pair(&first, values.first), std::pair(&second, values.second)}) {
      if (!text->empty())
        *text += ", ";
      *text +=
          value.empty() ? ("no " + name).str() : (name + " = " + value).str();
    }
  }
  return {first, second};
}
