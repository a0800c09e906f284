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
  // Independent of the printing options of the command line.
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

/// The rules of `scaler` as state files have them: each was an attribute of
/// `amp.update_scale` once, and some had another name.
static void describe(const ScalerRules &rules,
                     llvm::function_ref<void(std::string)> insert) {
  auto get = [&](StringRef field) { return getScalerField(rules, field); };
  auto flag = [](bool value) { return value ? "true" : "false"; };
  insert("after_backoff = #amp.after_backoff<" + get("after_backoff") + ">");
  insert("backoff_factor = " + get("backoff_factor"));
  insert(std::string("exact_interval = ") +
         flag(rules.intervalRule == IntervalRule::Equal));
  insert(std::string("finite_growth = ") +
         flag(rules.growthGuard == GrowthGuard::On));
  insert("growth_factor = " + get("growth_factor"));
  insert("growth_interval = " + get("growth_interval"));
  insert("hysteresis = " + get("hysteresis"));
  insert("hysteresis_refill = #amp.hysteresis_refill<" +
         get("hysteresis_refill") + ">");
  std::string most = get("max_scale");
  insert("max_scale = " + (most == "inf" ? "+Inf" : most));
  insert("min_scale = " + get("min_scale"));
}

/// The same of a scaler of layers.
static void describe(const LayerScalerRules &rules,
                     llvm::function_ref<void(std::string)> insert) {
  for (StringRef name :
       {"backoff_factor", "growth_factor", "max_scale", "min_scale", "target"})
    insert((name + " = " + getScalerField(rules, name)).str());
}

/// The attributes of the operation of another dialect.
static void describe(Operation *op,
                     llvm::function_ref<void(std::string)> insert) {
  auto attributes =
      dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
  for (NamedAttribute attribute :
       attributes ? attributes : op->getDiscardableAttrDictionary()) {
    std::string text;
    llvm::raw_string_ostream os(text);
    os << attribute.getName().str() << " = ";
    if (auto number = dyn_cast<FloatAttr>(attribute.getValue())) {
      llvm::SmallString<16> digits;
      number.getValue().toString(digits);
      os << digits;
    } else {
      attribute.getValue().print(os, /*elideType=*/true);
    }
    insert(text);
  }
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
      if (auto update = dyn_cast<UpdateScaleOp>(op.getOperation()))
        describe(update.getScaler().getRules(), insert);
      else if (auto adapt = dyn_cast<AdaptScaleOp>(op.getOperation()))
        describe(adapt.getScaler().getRules(), insert);
      else
        describe(op.getOperation(), insert);
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
