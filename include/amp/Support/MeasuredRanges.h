//===- MeasuredRanges.h - Ranges from data ----------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ranges of values that a calibration measured in f32, the file that holds
// them, and the errors that a low type makes in such values.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_SUPPORT_MEASUREDRANGES_H
#define AMP_SUPPORT_MEASUREDRANGES_H

#include "amp/Runtime/Host/ValueStatistics.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace mlir::amp {

/// A low type as a format of numbers.
struct LowFormat {
  /// The exponent of the least normal magnitude, and the bits of the
  /// significand after the leading one.
  int leastNormal, mantissaBits;
  double largest;

  static LowFormat getF16() { return {-14, 10, 65504.0}; }
  static LowFormat getBF16() { return {-126, 7, 3.3895313892515355e38}; }
};

/// The measurement of one value of a step.
struct MeasuredRange {
  /// As `nameWatchedValue`.
  std::string name;
  /// `forward`, `backward` or `update`.
  std::string part;
  /// The name of the location, such as the path of a module. May be empty.
  std::string scope;
  /// The extents, -1 for a dynamic one. Nothing if the file has no shape.
  std::optional<std::vector<int64_t>> shape;
  /// Whether the value is the gradient of a parameter.
  bool isParameterGradient = false;
  /// The sum over the steps, without a loss scale.
  ::amphost::ValueStatistics statistics;

  /// Whether a loss scale multiplies the value.
  bool isScaled() const { return part == "backward"; }
};

/// The effect of rounding a value to a low type.
struct RoundingLoss {
  /// Whether the largest finite magnitude becomes infinite. An infinity, such
  /// as that of a mask, is the same number in each type.
  bool overflows = false;
  /// The share of the elements other than zero that become zero.
  double zeroShare = 0;
  /// The expected error relative to the value, in the Euclidean norm. Elements
  /// that overflow do not count.
  double error = 0;
};

/// Computes the effect of rounding a value with the elements `statistics` times
/// `scale` to `format`. The largest magnitude counts `margin` times.
/// Magnitudes within a power of two count as 1.5 times its lower end.
RoundingLoss measureLoss(const ::amphost::ValueStatistics &statistics,
                         const LowFormat &format, double scale, double margin);

/// Finds the power of two with which the most elements of backward values fit
/// `format`: they stay finite with `margin`, and their error is at most
/// `tolerance`. Gradients of parameters do not count. Of equal ones, this is
/// the largest. Returns 1 without backward values.
double chooseLossScale(llvm::ArrayRef<MeasuredRange> ranges,
                       const LowFormat &format, double margin,
                       double tolerance);

/// The largest number of bytes of a file of ranges.
inline constexpr uint64_t kMaxRangesBytes = uint64_t(1) << 30;

/// Reads the file that `amp-run --calibrate` writes. An error names the file.
llvm::Expected<std::vector<MeasuredRange>>
readMeasuredRanges(llvm::StringRef path);

/// The name of the format in its files.
inline constexpr llvm::StringLiteral kRangesFormat = "amp-ranges";

} // namespace mlir::amp

#endif // AMP_SUPPORT_MEASUREDRANGES_H
