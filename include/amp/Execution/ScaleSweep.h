//===- ScaleSweep.h - Runs with several loss scales -------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_SCALESWEEP_H
#define AMP_EXECUTION_SCALESWEEP_H

#include "amp/Execution/Errors.h"
#include "amp/Runtime/Host/RunRecord.h"
#include "amp/Support/MeasuredRanges.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>

namespace mlir::amp {

/// Parses a list of scales as --sweep-scale takes it: empty for each fourth
/// power of two from 1 to 2^24, or `from:to` or `from:to:factor`.
llvm::Expected<std::vector<double>> parseSweptScales(llvm::StringRef text);

/// The runs of one step with several constant loss scales, on the same batches.
class ScaleSweep {
public:
  /// The measurement of the run in f32, and its record.
  void setReference(std::vector<MeasuredRange> measured,
                    const host::RunRecord &record);
  /// Adds the run with the constant loss scale `scale`.
  void add(double scale, const host::RunRecord &record);

  bool isEmpty() const { return rows.empty(); }

  /// Returns the scale to choose: of the runs that end with a finite loss and
  /// have the fewest steps that were skipped or not finite, the one with the
  /// fewest gradients beyond the range, then with the smallest share of zeros,
  /// and of those the largest. None without such runs.
  std::optional<double> choose() const;

  void print(llvm::raw_ostream &os) const;
  void writeJSON(llvm::StringRef title, llvm::raw_ostream &os) const;
  /// Writes a page with the share of gradients that become zero, the skipped
  /// steps and the final loss over the scale.
  void writePage(llvm::StringRef title, llvm::raw_ostream &os) const;

private:
  struct Row {
    double scale;
    /// The share of the elements of backward values that f16 makes zero, and
    /// the share of those values that leave its range, by the run in f32.
    double zeroShare, overflowShare;
    int64_t steps, skipped;
    double loss;
  };

  std::vector<MeasuredRange> ranges;
  std::optional<double> referenceLoss;
  std::vector<Row> rows;
};

} // namespace mlir::amp

#endif // AMP_EXECUTION_SCALESWEEP_H
