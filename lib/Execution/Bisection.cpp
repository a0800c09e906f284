//===- Bisection.cpp - The operation from which a loss departs ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Divergence.h"

#include "amp/Dialect/AMP/IR/Watched.h"
#include "amp/Execution/QuietWarnings.h"
#include "amp/Pipelines/Pipelines.h"
#include "amp/Support/LocationText.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::amp;

namespace {

/// Runs of one step whose operations are low up to some position.
class Bisector {
public:
  Bisector(ModuleOp module, const ProgramOptions &options,
           const host::ArrayMap &values, llvm::ArrayRef<host::ArrayMap> batches)
      : module(module), options(options), values(values), batches(batches) {}

  /// The operations of the step that can be pinned, in program order.
  static std::vector<Operation *> getOperations(Block &body) {
    std::vector<Operation *> ops;
    for (Operation &op : body.without_terminator())
      if (op.getNumResults() != 0 && !op.hasTrait<OpTrait::ConstantLike>())
        ops.push_back(&op);
    return ops;
  }

  /// The loss after all batches with the first `numLow` of `ops` low.
  host::Status run(llvm::ArrayRef<Operation *> ops, size_t numLow,
                   double *loss) const {
    IRMapping mapping;
    OwningOpRef<ModuleOp> pinned = cast<ModuleOp>(module->clone(mapping));
    for (Operation *op : ops.drop_front(numLow)) {
      Operation *copy = mapping.lookupOrNull(op);
      // A pin of the user stays.
      if (copy && !copy->hasAttr(AMPDialect::kPrecisionAttr))
        copy->setAttr(AMPDialect::kPrecisionAttr,
                      StringAttr::get(copy->getContext(), "f32"));
    }
    return run(*pinned, options, loss);
  }

  /// The loss after all batches in f32.
  host::Status runWide(double *loss) const {
    return run(module, getWideOptions(options), loss);
  }

private:
  host::Status run(ModuleOp step, const ProgramOptions &chosen,
                   double *loss) const {
    QuietWarnings quiet(step->getContext());
    llvm::Expected<std::unique_ptr<StepProgram>> program =
        StepProgram::create(step, chosen);
    if (!program)
      return toStatus(program.takeError());
    JITStep compiled(**program);
    host::ArrayMap copies;
    for (const auto &[name, array] : values)
      copies.set(name, array.clone());
    AMP_RETURN_IF_ERROR(host::writeValues(compiled, copies));
    for (const host::ArrayMap &batch : batches)
      AMP_RETURN_IF_ERROR(runOn(compiled, batch));
    return readLoss(compiled, loss);
  }

  ModuleOp module;
  const ProgramOptions &options;
  const host::ArrayMap &values;
  llvm::ArrayRef<host::ArrayMap> batches;
};

} // namespace

/// Expands the gradients of the step in `module`, so that backward operations
/// can be pinned, too. With the strategy `autocast` they follow the forward
/// pass.
static host::Status expandGradients(ModuleOp module,
                                    const ProgramOptions &options) {
  AMPPipelineOptions pipeline;
  if (failed(pipeline.parseFromString(options.pipeline, llvm::nulls())))
    return host::makeError(host::kInvalidArgument,
                           "wrong options of the pipeline");
  if (choosesTypesBeforeAutodiff(pipeline))
    return host::Status();
  PassManager manager(module->getContext());
  buildUnmixedPipeline(manager, pipeline);
  if (failed(manager.run(module)))
    return host::makeError(host::kReported, "already reported");
  return host::Status();
}

host::Status mlir::amp::bisect(ModuleOp source, const ProgramOptions &options,
                               llvm::StringRef entry,
                               const host::ArrayMap &values,
                               llvm::ArrayRef<host::ArrayMap> batches,
                               double bound, Bisection *result) {
  OwningOpRef<ModuleOp> module = source.clone();
  AMP_RETURN_IF_ERROR(expandGradients(*module, options));
  Block &body =
      cast<FunctionOpInterface>(SymbolTable::lookupSymbolIn(*module, entry))
          .getFunctionBody()
          .front();
  const Bisector bisector(*module, options, values, batches);
  const std::vector<Operation *> ops = Bisector::getOperations(body);
  auto run = [&](size_t numLow, double *loss) {
    ++result->numRuns;
    return bisector.run(ops, numLow, loss);
  };
  result->numRuns = 1;
  AMP_RETURN_IF_ERROR(bisector.runWide(&result->wide));
  auto departs = [&](double loss) {
    return !(std::abs(loss - result->wide) <= bound * std::abs(result->wide));
  };
  // The loss is near with `near` operations low and departs with `far`.
  size_t near = 0, far = ops.size();
  result->before = result->wide;
  AMP_RETURN_IF_ERROR(run(far, &result->with));
  if (!departs(result->with))
    return host::Status();
  while (far - near > 1) {
    size_t middle = near + (far - near) / 2;
    double loss = 0;
    AMP_RETURN_IF_ERROR(run(middle, &loss));
    (departs(loss) ? far : near) = middle;
    (departs(loss) ? result->with : result->before) = loss;
  }
  Operation *found = ops[far - 1];
  LocationText location(found->getLoc());
  result->op = found->getName().getStringRef().str();
  for (const std::string &text : {location.name, location.place})
    if (!text.empty())
      result->op += " " + text;
  result->part = stringifyPart(findStepParts(body).lookup(found)).str();
  return host::Status();
}
