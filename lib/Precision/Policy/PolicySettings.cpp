//===- PolicySettings.cpp - Names of the settings of a policy -------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Policy/PolicySettings.h"

#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace mlir::amp;

StringRef mlir::amp::stringifyStrategy(Strategy strategy) {
  switch (strategy) {
  case Strategy::Autocast:
    return "autocast";
  case Strategy::Grappler:
    return "grappler";
  case Strategy::Optimal:
    return "optimal";
  }
  llvm_unreachable("every strategy has a name");
}

std::optional<Strategy> mlir::amp::symbolizeStrategy(StringRef name) {
  for (Strategy strategy :
       {Strategy::Autocast, Strategy::Grappler, Strategy::Optimal})
    if (name == stringifyStrategy(strategy))
      return strategy;
  return std::nullopt;
}

StringRef mlir::amp::stringifyGradientType(GradientType type) {
  switch (type) {
  case GradientType::F32:
    return "f32";
  case GradientType::Low:
    return "low";
  case GradientType::Listed:
    return "listed";
  }
  llvm_unreachable("every type of gradients has a name");
}

std::optional<GradientType> mlir::amp::symbolizeGradientType(StringRef name) {
  for (GradientType type :
       {GradientType::F32, GradientType::Low, GradientType::Listed})
    if (name == stringifyGradientType(type))
      return type;
  return std::nullopt;
}
