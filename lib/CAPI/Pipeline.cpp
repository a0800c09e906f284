//===- Pipeline.cpp - Mixed precision in one call, for C ------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp-c/Pipeline.h"

#include "amp/Pipelines/Pipelines.h"
#include "amp/Precision/Report/Report.h"
#include "mlir/CAPI/Diagnostics.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

using namespace mlir;
using namespace mlir::amp;

/// Runs the pipeline on `module` and writes the report to `json` if it is not
/// null.
static LogicalResult runPipeline(ModuleOp module, StringRef policy,
                                 StringRef text, std::string *json) {
  AMPPipelineOptions options;
  if (std::string wrong = parsePipeline(text, options); !wrong.empty())
    return module.emitError() << wrong;
  if (options.policy.hasValue())
    return module.emitError()
           << "the options of amp-training-pipeline contain the "
              "policy; expected it as a separate argument";
  if (!policy.empty())
    options.policy = policy.str();
  if (std::string idle = findIdleOption(options); !idle.empty())
    return module.emitError() << idle;
  PassManager manager(module.getContext());
  ReportHandler onReport;
  if (json)
    onReport = [json](const PrecisionReport &report) {
      llvm::raw_string_ostream os(*json);
      report.writeJSON(os);
    };
  buildAMPTrainingPipeline(manager, options, {}, onReport);
  return manager.run(module);
}

MlirLogicalResult
ampRunTrainingPipeline(MlirModule module, MlirStringRef policy,
                       MlirStringRef options, MlirDiagnosticHandler diagnostics,
                       void *diagnosticsData, MlirStringCallback report,
                       void *reportData) {
  ModuleOp target = unwrap(module);
  std::optional<ScopedDiagnosticHandler> handler;
  if (diagnostics)
    handler.emplace(target.getContext(), [&](Diagnostic &diag) {
      return unwrap(diagnostics(wrap(diag), diagnosticsData));
    });
  // A pipeline that fails leaves a partial result. Run it on a copy.
  OwningOpRef<ModuleOp> copy = target.clone();
  std::string json;
  if (failed(runPipeline(*copy, unwrap(policy), unwrap(options),
                         report ? &json : nullptr)))
    return mlirLogicalResultFailure();
  target->setAttrs(copy.get()->getAttrDictionary());
  target.getBodyRegion().takeBody(copy->getBodyRegion());
  if (report)
    report(wrap(StringRef(json)), reportData);
  return mlirLogicalResultSuccess();
}
