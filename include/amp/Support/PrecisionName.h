//===- PrecisionName.h - Names of precisions --------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_SUPPORT_PRECISIONNAME_H
#define AMP_SUPPORT_PRECISIONNAME_H

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::amp {

/// Returns the canonical spelling of `precision`, which files use: "fp16" for
/// "f16", "half" and "float16", "bf16" for "bfloat16", "f32" for "fp32",
/// "float" and "float32", and "fp8" for "fp8-current". Returns other names
/// unchanged.
StringRef canonicalizePrecision(StringRef precision);

/// Returns the element type for any spelling of "fp16", "bf16" or "f32", and
/// null for other names.
FloatType parsePrecision(StringRef name, MLIRContext *context);

} // namespace mlir::amp

#endif // AMP_SUPPORT_PRECISIONNAME_H
