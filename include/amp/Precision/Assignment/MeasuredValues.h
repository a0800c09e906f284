//===- MeasuredValues.h - Values with ranges from data ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the values of a module whose ranges a calibration measured, and judges
// whether they fit the low type. Such a judgement holds for the data of the
// calibration. It proves nothing.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_ASSIGNMENT_MEASUREDVALUES_H
#define AMP_PRECISION_ASSIGNMENT_MEASUREDVALUES_H

#include "amp/Support/MeasuredRanges.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::amp {

/// How the low type would treat a value, by its measured range.
enum class MeasuredFit : uint8_t {
  /// The value was not measured.
  Unknown,
  Fits,
  /// Too much of it is lost below the range of the low type.
  Lost,
  /// It leaves the range of the low type.
  Beyond,
};

/// The settings of the judgement.
struct MeasuredOptions {
  /// The largest magnitude counts this many times.
  double margin = 2;
  /// The largest error, relative to the value, that rounding may make.
  double tolerance = 0.01;
  /// The loss scale that multiplies backward values, or 0 to choose one.
  double scale = 0;
};

/// The measured values of a module.
class MeasuredValues {
public:
  MeasuredValues(std::vector<MeasuredRange> ranges,
                 const MeasuredOptions &options, FloatType low);

  /// Finds the values of the functions in `root` by their names. Values that
  /// share a name are told apart by their order if the file has as many of
  /// them. Otherwise each has the union of their ranges.
  void find(Operation *root);

  /// Describes the first difference between the file and the functions that
  /// `find` searched, or returns an empty text: a forward value that is only in
  /// the file, an argument of a measured step that is not in it, or another
  /// shape. A pass may have moved the results of operations for which `moves`
  /// returns true, such as transposes.
  std::string describeMisfit(function_ref<bool(StringRef op)> moves) const;

  /// Returns the measurement of `value`, or null.
  const MeasuredRange *lookup(Value value) const;
  MeasuredFit judge(Value value) const;

  /// The effect of rounding a value to the low type, without the margin.
  RoundingLoss getLoss(const MeasuredRange &range) const;

  /// The loss scale at which backward values are judged.
  double getScale() const { return scale; }
  /// The number of values of the module that were measured.
  size_t getNumFound() const { return found.size(); }
  size_t getNumRanges() const { return numRanges; }

private:
  void compare(FunctionOpInterface function);

  std::vector<MeasuredRange> ranges;
  size_t numRanges;
  MeasuredOptions options;
  LowFormat format;
  double scale;
  /// By position in `ranges`, whether the module has the value.
  llvm::BitVector isInModule;
  /// The first argument or shape that differs, or empty.
  std::string misfit;
  /// By value, the position in `ranges`.
  llvm::DenseMap<Value, uint32_t> found;
};

} // namespace mlir::amp

#endif // AMP_PRECISION_ASSIGNMENT_MEASUREDVALUES_H
