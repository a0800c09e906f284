//===- Target.h - What low precision gains on a machine ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The few figures of a machine that decide whether a product in low precision
// pays for its casts.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_TARGET_H
#define AMP_PRECISION_TARGET_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace mlir::amp {

/// A machine, as far as the precision of values depends on it.
struct Target {
  /// The name, e.g. `h100`; empty for one that a policy describes.
  std::string name;
  /// Low element types that products may have, in the spelling of MLIR.
  SmallVector<std::string, 2> lowTypes = {"f16", "bf16"};
  /// Floating-point operations (a multiply and an add are two) that products
  /// of low operands do in the time that one byte of memory moves.
  double lowFlopPerByte = 0;
  /// The same for products of f32 operands, be it f32 or TF32.
  double f32FlopPerByte = 0;
  /// The innermost extents of a product's operands and result must be multiples
  /// of this many elements for it to run at the rate of low precision;
  /// otherwise it runs at that of f32.
  int64_t alignment = 8;
  /// What a cast costs, as shares of the bytes it would read and write when it
  /// is a kernel of its own: absorbed by the producer's kernel it reads
  /// nothing (0), absorbed by the reader's kernel it writes nothing (0).
  double castReadShare = 1;
  double castWriteShare = 1;
};

/// Returns the figures of `a100`, `h100` or `h200`, or none for another name.
/// Products of f32 operands are strict f32, not TF32.
std::optional<Target> getTarget(StringRef name);

/// The names that `getTarget` knows.
ArrayRef<StringRef> getTargetNames();

} // namespace mlir::amp

#endif // AMP_PRECISION_TARGET_H
