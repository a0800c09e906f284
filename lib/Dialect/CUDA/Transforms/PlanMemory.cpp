//===- PlanMemory.cpp - Memory planning -----------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryPlanner.h"

#include "amp/Dialect/AMP/IR/AttributeNames.h"
#include "amp/Dialect/CUDA/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::amp {
#define GEN_PASS_DEF_PLANMEMORY
#include "amp/Dialect/CUDA/Transforms/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::cuda;

namespace {

struct PlanMemory : mlir::amp::impl::PlanMemoryBase<PlanMemory> {
  using PlanMemoryBase::PlanMemoryBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<cuda::CUDADialect, memref::MemRefDialect>();
  }

  void runOnOperation() override {
    if (ranks < 0) {
      getOperation().emitError()
          << "cuda-plan-memory: expected 'ranks' not to be negative, got "
          << int64_t(ranks);
      return signalPassFailure();
    }
    // A forward function is judged as the step that it derives from.
    llvm::StringMap<ArrayAttr> evaluations;
    for (auto step : getOperation().getOps<func::FuncOp>())
      if (auto rules = step->getAttrOfType<ArrayAttr>(kEvaluationAttr))
        evaluations[step.getName()] = rules;
    for (auto step :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (step.isExternal() || !mlir::amp::isStepFunction(step))
        continue;
      FailureOr<mlir::amp::StepSignature> signature =
          mlir::amp::StepSignature::get(step);
      if (failed(signature) || failed(mlir::amp::verifyStepBody(step)))
        return signalPassFailure();
      std::string name = step.getName().str();
      Location loc = step.getLoc();
      auto source = step->getAttrOfType<StringAttr>(amp::kInferenceOfAttr);
      auto state = step->getAttrOfType<StateAttr>(kStateAttr);
      MemoryPlanner planner(step, *signature, ranks);
      if (failed(planner.run()))
        return signalPassFailure();
      if (source) {
        planner.getProgram().setInferenceOfAttr(FlatSymbolRefAttr::get(source));
        planner.getProgram().setEvaluationAttr(
            evaluations.lookup(source.getValue()));
      } else if (state) {
        planner.getProgram().setStateAttr(state);
      }
      stateBytes += planner.stateBytes;
      plannedBytes += planner.plannedBytes;
      boundBytes += planner.boundBytes;
      if (report) {
        double ratio = planner.boundBytes
                           ? double(planner.plannedBytes) / planner.boundBytes
                           : 1.0;
        emitRemark(loc) << "'" << name << "': " << planner.stateBytes
                        << " bytes of state, " << planner.plannedBytes
                        << " bytes planned for values of which at most "
                        << planner.boundBytes << " are in use at one time: "
                        << llvm::formatv("{0:f3}", ratio).str() << " times";
        if (planner.predictionBytes)
          emitRemark(loc) << "'" << name << "': " << planner.predictionBytes
                          << " bytes more for a caller that wants predictions "
                             "of training steps";
      }
    }
  }
};

} // namespace
