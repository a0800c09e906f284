//===- StepIdentity.cpp - What makes a step that step ---------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Analysis/StepIdentity.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Interfaces/LossScaleOpInterface.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <limits>
#include <vector>

using namespace mlir;
using namespace mlir::amp;

void mlir::amp::eraseOtherSteps(ModuleOp module, llvm::StringRef entry) {
  for (auto function :
       llvm::make_early_inc_range(module.getOps<FunctionOpInterface>()))
    if (isStepFunction(function) && function.getName() != entry &&
        SymbolTable::symbolKnownUseEmpty(function, module))
      function.erase();
}

uint64_t mlir::amp::computeFingerprint(ModuleOp module, llvm::StringRef entry) {
  OwningOpRef<ModuleOp> copy = module.clone();
  eraseOtherSteps(*copy, entry);
  copy->walk([](FunctionOpInterface function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      function.removeArgAttr(i, AMPDialect::kInitAttr);
  });
  // Whatever the command line says of how to print.
  constexpr int64_t all = std::numeric_limits<int64_t>::max();
  OpPrintingFlags flags;
  flags.enableDebugInfo(false)
      .printGenericOpForm(false)
      .printUniqueSSAIDs(false)
      .printNameLocAsPrefix(false)
      .skipRegions(false)
      .elideLargeElementsAttrs(all)
      .elideLargeResourceString(all)
      .assumeVerified();
  std::string text;
  llvm::raw_string_ostream os(text);
  copy->print(os, flags);
  return llvm::xxh3_64bits(llvm::StringRef(text));
}

llvm::StringRef mlir::amp::canonicalizePrecision(llvm::StringRef precision) {
  return llvm::is_contained({"f16", "half"}, precision) ? "fp16" : precision;
}

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
