//===- ModelChecks.h - Checks of model options ------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_NETWORKS_MODELCHECKS_H
#define AMP_LIB_NETWORKS_MODELCHECKS_H

#include "amp/Networks/ModelBuilder.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::amp {

/// Checks options and emits errors.
class ModelChecks {
public:
  ModelChecks(MLIRContext *context, StringRef model)
      : ModelChecks(UnknownLoc::get(context), model) {}
  /// Checks the options of a part, such as a layer, at `loc`.
  ModelChecks(Location loc, StringRef part) : loc(loc), model(part) {}

  MLIRContext *getContext() const { return loc.getContext(); }

  InFlightDiagnostic fail() { return emitError(loc) << model << ": "; }

  /// Products of two sizes must fit into 64 bits.
  static constexpr int64_t kLargest = int64_t(1) << 24;

  /// A size of at least `least`. If the model has an extent of `factor` times
  /// the size, that extent must be valid too.
  LogicalResult size(StringRef name, int64_t value, int64_t least = 1,
                     int64_t factor = 1) {
    if (value >= least && value <= kLargest / factor)
      return success();
    return fail() << "'" << name << "' must be in [" << least << ", "
                  << kLargest / factor << "], got " << value;
  }

  LogicalResult batch(int64_t value) {
    return value == ModelBuilder::kBatch ? success() : size("batch", value);
  }

  /// A fraction in [0, 1).
  LogicalResult share(StringRef name, double value) {
    if (value >= 0 && value < 1)
      return success();
    return fail() << "'" << name << "' must be in [0, 1), got " << value;
  }

private:
  Location loc;
  StringRef model;
};

/// Verifies the options of the update of every model.
LogicalResult checkTraining(ModelChecks &checks,
                            const TrainingOptions &options);

} // namespace mlir::amp

#endif // AMP_LIB_NETWORKS_MODELCHECKS_H
