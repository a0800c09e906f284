//===- Target.cpp - What low precision gains on a machine -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Target.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using namespace mlir::amp;

namespace {

/// Peak rates from the data sheets: dense f16 and bf16, f32 outside of tensor
/// cores, both in TFLOP/s, and memory in TB/s.
struct Rates {
  StringRef name;
  double low, f32, memory;
};
constexpr Rates machines[] = {
    {"a100", 312, 19.5, 2.04},
    {"h100", 989, 66.9, 3.35},
    {"h200", 989, 66.9, 4.8},
};

} // namespace

ArrayRef<StringRef> mlir::amp::getTargetNames() {
  static const SmallVector<StringRef> names = llvm::map_to_vector(
      machines, [](const Rates &rates) { return rates.name; });
  return names;
}

std::optional<Target> mlir::amp::getTarget(StringRef name) {
  for (const Rates &rates : machines) {
    if (rates.name != name)
      continue;
    Target target;
    target.name = name.str();
    target.lowFlopPerByte = rates.low / rates.memory;
    target.f32FlopPerByte = rates.f32 / rates.memory;
    return target;
  }
  return std::nullopt;
}
