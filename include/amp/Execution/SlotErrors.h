//===- SlotErrors.h - The error that each slot adds to a loss ---*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_SLOTERRORS_H
#define AMP_EXECUTION_SLOTERRORS_H

#include "amp/Execution/SlotPlans.h"

namespace mlir::amp {

/// The steps from which errors are measured.
struct RecordedSteps {
  /// The states and hyperparameters before the first step.
  host::ArrayMap start;
  std::vector<host::ArrayMap> batches;
};

/// Measures, for each slot of `plans` that `errors` lacks, the error that its
/// rounding alone makes in the loss, and adds it to `errors`: |loss - loss in
/// f32| / |loss in f32| as a root mean square over `steps`, infinite if a loss
/// is not finite.
///
/// One program in f32 computes all of them. It rounds the values of the slot
/// whose number is in a hyperparameter. `scale` multiplies backward values
/// before they are rounded, as a loss scale would. Slots of called functions
/// are not measured. `options` selects the threads.
llvm::Error measureSlotErrors(const SlotPlans &plans,
                              const ProgramOptions &options,
                              const RecordedSteps &steps, double scale,
                              SlotErrors &errors);

} // namespace mlir::amp

#endif // AMP_EXECUTION_SLOTERRORS_H
