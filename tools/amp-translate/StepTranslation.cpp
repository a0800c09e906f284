//===- StepTranslation.cpp - Programs of the steps of a module ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepTranslation.h"

#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::amp;

int mlir::amp::reportError(const llvm::Twine &message) {
  llvm::errs() << "amp-translate: error: " << message << "\n";
  return 1;
}

cuda::ProgramOp StepTranslation::findProgram(ModuleOp module) const {
  cuda::ProgramOp found;
  for (auto program : module.getOps<cuda::ProgramOp>()) {
    if (entry.empty() ? program.getInferenceOf().has_value()
                      : program.getSymName() != entry)
      continue;
    if (found) {
      reportError("the module has several programs, expected --entry");
      return {};
    }
    found = program;
  }
  if (!found)
    reportError(entry.empty() ? "the module has neither a training step nor a "
                                "'cuda.program'"
                              : "the module has no step '" + entry + "'");
  return found;
}

cuda::ProgramOp StepTranslation::findForward(ModuleOp module,
                                             cuda::ProgramOp program) {
  for (auto other : module.getOps<cuda::ProgramOp>())
    if (other.getInferenceOf() == program.getSymName())
      return other;
  return {};
}

std::string StepTranslation::findPredictingStep(ModuleOp module) const {
  func::FuncOp found;
  for (auto step : module.getOps<func::FuncOp>()) {
    if (step.isExternal() || !isStepFunction(step) ||
        (!entry.empty() && step.getName() != entry))
      continue;
    if (found)
      return {};
    found = step;
  }
  for (unsigned i = 0; found && i < found.getNumResults(); ++i)
    if (found.getResultAttr(i, AMPDialect::kPredictionAttr))
      return found.getName().str();
  return {};
}

bool StepTranslation::hasOpenBatch(ModuleOp module) const {
  return llvm::any_of(module.getOps<func::FuncOp>(), [&](func::FuncOp step) {
    return !step.isExternal() && isStepFunction(step) &&
           (entry.empty() || step.getName() == entry) &&
           llvm::any_of(step.getArgumentTypes(), [](Type type) {
             auto shaped = dyn_cast<ShapedType>(type);
             return shaped && !shaped.hasStaticShape();
           });
  });
}

LogicalResult StepTranslation::checkFixedBatch(ModuleOp module,
                                               int64_t batchSize) const {
  for (auto step : module.getOps<func::FuncOp>()) {
    if (step.isExternal() || !isStepFunction(step) ||
        (!entry.empty() && step.getName() != entry))
      continue;
    for (auto [index, type] : llvm::enumerate(step.getArgumentTypes())) {
      auto shaped = dyn_cast<RankedTensorType>(type);
      auto role =
          step.getArgAttrOfType<StringAttr>(index, AMPDialect::kRoleAttr);
      if (!shaped || !role || role.getValue() != "batch" ||
          shaped.getRank() == 0 || shaped.isDynamicDim(0) ||
          shaped.getDimSize(0) == batchSize)
        continue;
      return step.emitError("has a batch of ")
             << shaped.getDimSize(0) << ", which --batch-size=" << batchSize
             << " cannot change; expected that size or no option";
    }
  }
  return success();
}

LogicalResult StepTranslation::makePrograms(OwningOpRef<ModuleOp> &module,
                                            int64_t batchSize,
                                            StringRef missingForward) const {
  std::string step = missingForward.empty() ? "" : findPredictingStep(*module);
  if (step.empty())
    return runPipeline(*module, batchSize, "");
  OwningOpRef<ModuleOp> copy(module->clone());
  std::string reason;
  {
    ScopedDiagnosticHandler handler(
        module->getContext(), [&](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
            return failure();
          if (reason.empty())
            reason = diagnostic.str();
          return success();
        });
    if (succeeded(runPipeline(*copy, batchSize, step))) {
      module = std::move(copy);
      return success();
    }
  }
  // An error of the step itself is reported again.
  if (failed(runPipeline(*module, batchSize, "")))
    return failure();
  llvm::errs() << "amp-translate: warning: " << missingForward << ": " << reason
               << "\n";
  return success();
}

std::optional<int64_t> StepTranslation::getMemory(ModuleOp module,
                                                  int64_t batch) const {
  OwningOpRef<ModuleOp> copy(module.clone());
  if (failed(runPipeline(*copy, batch, "")))
    return std::nullopt;
  cuda::ProgramOp program = findProgram(*copy);
  if (!program)
    return std::nullopt;
  int64_t slot = 0;
  for (auto buffer : program.getBody().front().getOps<cuda::BufferOp>())
    if (buffer.getRole() == stringifyRole(Role::Batch))
      slot += buffer.getBytes();
  return int64_t(program.getArena()) + 2 * slot;
}

FailureOr<int64_t> StepTranslation::printLargestBatch(ModuleOp module,
                                                      int64_t bytes,
                                                      raw_ostream &os) const {
  // No step fits more, and products of extents stay in 64 bits.
  constexpr int64_t limit = int64_t(1) << 24;
  // Batches up to `fits` fit. Batches from `tooLarge` on do not.
  int64_t fits = 0, tooLarge = limit + 1, taken = 0;
  for (int64_t batch = 1; batch < tooLarge;) {
    std::optional<int64_t> needed = getMemory(module, batch);
    if (!needed)
      return failure();
    if (*needed <= bytes) {
      fits = batch;
      taken = *needed;
    } else if (batch == 1) {
      os << "a batch of 1 takes " << *needed << " bytes, more than " << bytes
         << "\n";
      return 1;
    } else {
      tooLarge = batch;
    }
    // Double as long as no batch was too large.
    batch = tooLarge > limit ? 2 * batch : fits + (tooLarge - fits) / 2;
    if (batch == fits)
      break;
  }
  os << "the largest batch in " << bytes << " bytes is " << fits
     << (tooLarge > limit ? " or more" : "") << ", which takes " << taken
     << "\n";
  return fits;
}
