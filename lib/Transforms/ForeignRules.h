//===- ForeignRules.h - Rules for operations without interfaces -*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_FOREIGNRULES_H
#define AMP_LIB_TRANSFORMS_FOREIGNRULES_H

#include "amp/LossScaling/FloatRangeRule.h"
#include "amp/LossScaling/LinearRule.h"
#include "mlir/Support/LLVM.h"

#include <string>
#include <vector>

namespace mlir::amp {

/// The rules on loss scales for operations without interfaces.
class ForeignRules {
public:
  ForeignRules() = default;
  // The rules refer to the texts.
  ForeignRules(const ForeignRules &) = delete;
  ForeignRules &operator=(const ForeignRules &) = delete;

  /// Reads the entries of the options `linear` and `intervals` of the pass
  /// `pass`, and those of `policy`, a preset or a file, unless it is empty. On
  /// failure an error at `module` says which entry is wrong.
  LogicalResult read(StringRef pass, Operation *module, StringRef policy,
                     ArrayRef<std::string> linear,
                     ArrayRef<std::string> intervals = {});

  ArrayRef<LinearRule> getLinear() const { return linear; }
  ArrayRef<FloatRangeRule> getIntervals() const { return intervals; }

private:
  std::vector<std::string> linearTexts, intervalTexts;
  std::vector<LinearRule> linear;
  std::vector<FloatRangeRule> intervals;
};

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_FOREIGNRULES_H
