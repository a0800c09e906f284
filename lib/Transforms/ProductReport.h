//===- ProductReport.h - The 8-bit products of a step as JSON ---*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_PRODUCTREPORT_H
#define AMP_LIB_TRANSFORMS_PRODUCTREPORT_H

#include "ProductSelection.h"
#include "llvm/Support/JSON.h"

namespace mlir::amp {

/// Collects the products and the copies of the functions of a module.
class ProductReport {
public:
  /// What decided the products of a function.
  struct Decision {
    const ScalingRecipe &recipe;
    /// The name of the target, or an empty string, and its rates.
    StringRef target;
    const std::optional<GPURates> &rates;
    ArrayRef<Candidate> candidates;
    const ProductChooser &chooser;
  };

  /// Adds `function`, whose products still have 16-bit operands. Returns the
  /// copies that the products without a reason need.
  std::vector<SelectedCopy> add(FunctionOpInterface function,
                                const Decision &decision);

  /// Writes the file. Returns failure, after a diagnostic at `root`, if that is
  /// not possible.
  LogicalResult write(StringRef path, Operation *root) const;

private:
  llvm::json::Array functions;
};

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_PRODUCTREPORT_H
