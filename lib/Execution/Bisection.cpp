//===- Bisection.cpp - The operation from which a loss departs ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Divergence.h"

#include "amp/Execution/QuietWarnings.h"
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

  /// The operations of the step `entry` that can be pinned, in program order.
  std::vector<Operation *> getOperations(llvm::StringRef entry) const {
    std::vector<Operation *> ops;
    auto function =
        cast<FunctionOpInterface>(SymbolTable::lookupSymbolIn(module, entry));
    for (Operation &op :
         function.getFunctionBody().front().without_terminator())
      if (op.getNumResults() != 0 && !op.hasTrait<OpTrait::ConstantLike>())
        ops.push_back(&op);
    return ops;
  }

  /// The loss after all batches with the first `numLow` of `ops` low.
  host::Status run(llvm::ArrayRef<Operation *> ops, size_t numLow,
                   double *loss) {
    IRMapping mapping;
    OwningOpRef<ModuleOp> pinned = cast<ModuleOp>(module->clone(mapping));
    for (Operation *op : ops.drop_front(numLow)) {
      Operation *copy = mapping.lookupOrNull(op);
      // A pin of the user stays.
      if (copy && !copy->hasAttr(AMPDialect::kPrecisionAttr))
        copy->setAttr(AMPDialect::kPrecisionAttr,
                      StringAttr::get(copy->getContext(), "f32"));
    }
    QuietWarnings quiet(pinned->getContext());
    llvm::Expected<std::unique_ptr<StepProgram>> program =
        StepProgram::create(*pinned, options);
    if (!program)
      return toStatus(program.takeError());
    JITStep step(**program);
    host::ArrayMap copies;
    for (const auto &[name, array] : values)
      copies.set(name, array.clone());
    AMP_RETURN_IF_ERROR(host::writeValues(step, copies));
    for (const host::ArrayMap &batch : batches)
      AMP_RETURN_IF_ERROR(runOn(step, batch));
    AMP_RETURN_IF_ERROR(readLoss(step, loss));
    ++numRuns;
    return host::Status();
  }

  int64_t numRuns = 0;

private:
  ModuleOp module;
  const ProgramOptions &options;
  const host::ArrayMap &values;
  llvm::ArrayRef<host::ArrayMap> batches;
};

} // namespace

host::Status mlir::amp::bisect(ModuleOp module, const ProgramOptions &options,
                               llvm::StringRef entry,
                               const host::ArrayMap &values,
                               llvm::ArrayRef<host::ArrayMap> batches,
                               double bound, Bisection *result) {
  Bisector bisector(module, options, values, batches);
  std::vector<Operation *> ops = bisector.getOperations(entry);
  AMP_RETURN_IF_ERROR(bisector.run(ops, 0, &result->wide));
  auto departs = [&](double loss) {
    return !(std::abs(loss - result->wide) <= bound * std::abs(result->wide));
  };
  // The loss is near with `near` operations low and departs with `far`.
  size_t near = 0, far = ops.size();
  result->before = result->wide;
  AMP_RETURN_IF_ERROR(bisector.run(ops, far, &result->with));
  if (departs(result->with)) {
    while (far - near > 1) {
      size_t middle = near + (far - near) / 2;
      double loss = 0;
      AMP_RETURN_IF_ERROR(bisector.run(ops, middle, &loss));
      (departs(loss) ? far : near) = middle;
      (departs(loss) ? result->with : result->before) = loss;
    }
    result->op = ops[far - 1]->getName().getStringRef().str();
    result->place = LocationText(ops[far - 1]->getLoc()).place;
  }
  result->numRuns = bisector.numRuns;
  return host::Status();
}
