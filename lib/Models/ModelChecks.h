//===- ModelChecks.h - Options that cannot work -----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_MODELS_MODELCHECKS_H
#define AMP_LIB_MODELS_MODELCHECKS_H

#include "amp/Models/ModelBuilder.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::amp {

/// Emits options as errors.
class ModelChecks {
public:
  ModelChecks(MLIRContext *context, StringRef model)
      : ModelChecks(UnknownLoc::get(context), model) {}
  /// Emits the options of a part, such as a layer, at `loc`.
  ModelChecks(Location loc, StringRef part) : loc(loc), model(part) {}

  InFlightDiagnostic fail() { return emitError(loc) << model << ": "; }

  /// A size of at least `least`.
  LogicalResult size(StringRef name, int64_t value, int64_t least = 1) {
    // Products of two sizes must not leave 64 bits.
    if (value >= least && value <= (int64_t(1) << 24))
      return success();
    return fail() << "'" << name << "' must be in [" << least << ", "
                  << (int64_t(1) << 24) << "], got " << value;
  }

  LogicalResult batch(int64_t value) {
    return value == ModelBuilder::kBatch ? success() : size("batch", value);
  }

  /// A share in [0, 1).
  LogicalResult share(StringRef name, double value) {
    if (value >= 0 && value < 1)
      return success();
    return fail() << "'" << name << "' must be in [0, 1), got " << value;
  }

private:
  Location loc;
  StringRef model;
};

/// Verifies what the update of every model needs.
LogicalResult checkTraining(ModelChecks &checks,
                            const TrainingOptions &options);

} // namespace mlir::amp

#endif // AMP_LIB_MODELS_MODELCHECKS_H
