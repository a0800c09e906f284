//===- Comparison.h - Comparison of precisions ------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_COMPARISON_H
#define AMP_EXECUTION_COMPARISON_H

#include "amp/Analysis/StepStatistics.h"
#include "amp/Runtime/Host/RunRecord.h"
#include "llvm/ADT/ArrayRef.h"

namespace mlir::amp {

/// One column of the comparison: a precision and its runs, one for each seed.
struct ComparisonColumn {
  std::string precision;
  StepStatistics statistics;
  std::vector<::amphost::RunRecord> runs;
};

/// Prints one line for each quantity and one column for each precision. Results
/// of runs are means over the seeds, with the standard deviation if there are
/// several. Leaves out a quantity that no column has.
void printComparison(llvm::ArrayRef<ComparisonColumn> columns,
                     llvm::raw_ostream &os);

} // namespace mlir::amp

#endif // AMP_EXECUTION_COMPARISON_H
