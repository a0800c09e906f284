//===- LinearRule.h - Operations that a policy calls linear -----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a policy says of how operations without LossScaleOpInterface treat a
// loss scale.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_LINEARRULE_H
#define AMP_PRECISION_LINEARRULE_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/GlobPattern.h"
#include <optional>

namespace mlir::amp {

/// An entry of the key `linear`: `GLOB`, where all float operands share a
/// factor that the results have too; `GLOB=product`, where the factors of the
/// first two operands multiply, and further operands are added to the product;
/// or `GLOB=N`, which is linear in operand N alone.
struct LinearRule {
  llvm::GlobPattern pattern;
  bool isProduct = false;
  std::optional<unsigned> operand;

  /// Reads an entry. Returns failure, with what was expected in `expected`, if
  /// it is none.
  static FailureOr<LinearRule> parse(StringRef text, std::string &expected);
};

} // namespace mlir::amp

#endif // AMP_PRECISION_LINEARRULE_H
