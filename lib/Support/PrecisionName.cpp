//===- PrecisionName.cpp - Names of precisions ----------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Support/PrecisionName.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

StringRef mlir::amp::canonicalizePrecision(StringRef precision) {
  return llvm::StringSwitch<StringRef>(precision)
      .Cases({"f16", "half", "float16"}, "fp16")
      .Case("bfloat16", "bf16")
      .Cases({"fp32", "float", "float32"}, "f32")
      // "fp8" without a recipe means "fp8-current".
      .Case("fp8-current", "fp8")
      .Default(precision);
}

FloatType mlir::amp::parsePrecision(StringRef name, MLIRContext *context) {
  name = canonicalizePrecision(name);
  if (name == "fp16")
    return Float16Type::get(context);
  if (name == "bf16")
    return BFloat16Type::get(context);
  if (name == "f32")
    return Float32Type::get(context);
  return {};
}
