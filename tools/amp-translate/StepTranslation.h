//===- StepTranslation.h - Programs of the steps of a module ----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TOOLS_AMP_TRANSLATE_STEPTRANSLATION_H
#define AMP_TOOLS_AMP_TRANSLATE_STEPTRANSLATION_H

#include "amp/Dialect/CUDA/IR/CUDA.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <optional>
#include <string>

namespace mlir::amp {

/// Prints an error of the tool and returns its exit status.
int reportError(const llvm::Twine &message);

/// The translation of the steps of a module, or of the step `entry`.
class StepTranslation {
public:
  /// Turns the steps of a module into programs for a batch of `batchSize`. If
  /// `inference` is not empty, the forward function of that step also becomes a
  /// program.
  using Pipeline = std::function<LogicalResult(ModuleOp, int64_t batchSize,
                                               StringRef inference)>;

  StepTranslation(std::string entry, Pipeline runPipeline)
      : entry(std::move(entry)), runPipeline(std::move(runPipeline)) {}

  /// The program of `module` to translate. Null after an error. Forward
  /// functions of other programs must be named to be translated.
  cuda::ProgramOp findProgram(ModuleOp module) const;
  /// The forward function of `program` if the module contains it.
  static cuda::ProgramOp findForward(ModuleOp module, cuda::ProgramOp program);

  /// Whether a step to be translated has a dynamic batch size.
  bool hasOpenBatch(ModuleOp module) const;
  /// Checks that `batchSize` equals the fixed batch size of each step that has
  /// one.
  LogicalResult checkFixedBatch(ModuleOp module, int64_t batchSize) const;

  /// Turns the steps of `module` into programs. With a text in `missingForward`
  /// each also gets its forward function. A step without one is translated with
  /// a warning, `missingForward` and the reason.
  LogicalResult makePrograms(OwningOpRef<ModuleOp> &module, int64_t batchSize,
                             StringRef missingForward) const;
  /// Prints the largest batch that fits into `bytes` and returns it. Returns 1
  /// if none fits.
  FailureOr<int64_t> printLargestBatch(ModuleOp module, int64_t bytes,
                                       raw_ostream &os) const;

private:
  /// The name of the step to translate if it makes predictions.
  std::string findPredictingStep(ModuleOp module) const;
  /// The bytes that a trainer of `module` takes with a batch of `batch`
  /// samples: the arena and two slots for batches. Nothing after an error.
  std::optional<int64_t> getMemory(ModuleOp module, int64_t batch) const;

  std::string entry;
  Pipeline runPipeline;
};

} // namespace mlir::amp

#endif // AMP_TOOLS_AMP_TRANSLATE_STEPTRANSLATION_H
