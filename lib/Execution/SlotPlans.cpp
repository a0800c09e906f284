//===- SlotPlans.cpp - The assignments of one step by price ---------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/SlotPlans.h"

#include "amp/Analysis/StepIdentity.h"
#include "amp/Dialect/Train/Transforms/Passes.h"
#include "amp/Pipelines/Pipelines.h"
#include "amp/Precision/Assignment/Optimal.h"
#include "amp/Precision/Assignment/SlotNames.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::amp;

llvm::Expected<std::unique_ptr<SlotPlans>>
SlotPlans::create(ModuleOp source, SlotPlanOptions options) {
  std::unique_ptr<SlotPlans> plans(new SlotPlans(std::move(options)));
  SlotPlanOptions &given = plans->options;
  plans->module = source.clone();
  eraseOtherSteps(*plans->module, given.entry);
  AMPPipelineOptions pipeline;
  if (failed(pipeline.parseFromString(given.pipeline, llvm::nulls())))
    return makeError("wrong options of the pipeline");
  PassManager manager(source.getContext());
  buildUnmixedPipeline(manager, pipeline);
  train::TrainSetBatchOptions batch;
  batch.batchSize = given.batchSize;
  manager.addPass(train::createTrainSetBatch(batch));
  if (failed(manager.run(*plans->module)))
    return llvm::make_error<DiagnosedError>();
  FailureOr<Policy> policy = Policy::load(given.policy, source.getLoc());
  if (failed(policy))
    return llvm::make_error<DiagnosedError>();
  plans->policy.emplace(std::move(*policy));
  plans->wide = WideValues::find(*plans->module, *plans->policy);
  MeasuredOptions measuredOptions;
  measuredOptions.scale = given.scale;
  plans->measured.emplace(given.ranges, measuredOptions, given.low);
  plans->measured->find(*plans->module);
  plans->wide.measured = &*plans->measured;
  if (failed(plans->addGroups()))
    return llvm::make_error<DiagnosedError>();
  return plans;
}

LogicalResult SlotPlans::addGroups() {
  CostOptions costOptions;
  costOptions.target = &options.target;
  costOptions.masterCopies = options.masterCopies;
  SmallVector<KeptSignature> kept;
  for (const CallGroup &group : findCallGroups(*module, kept)) {
    Group &added = *groups.emplace_back(std::make_unique<Group>(
        group, *policy, options.low, wide, costOptions));
    if (added.graph.isInvalid())
      return failure();
    nameOperations(added.functions, [&](Operation *op, StringRef name) {
      added.names[op] = name.str();
    });
    HardConstraints constraints = findHardConstraints(added.graph, added.costs);
    ArrayRef<SlotVertex> vertices = added.graph.getVertices();
    for (VertexId v = 1; v < vertices.size(); ++v) {
      const SlotVertex &vertex = vertices[v];
      if (vertex.slot == SlotVertex::carried || vertex.isConstant)
        continue;
      auto function = vertex.op->getParentOfType<FunctionOpInterface>();
      slots.push_back({&added.graph, v, added.names.lookup(vertex.op),
                       function.getName() == options.entry,
                       constraints.states[v] == HardConstraints::State::Free,
                       added.costs.getSlotCost(v, /*low=*/false) -
                           added.costs.getSlotCost(v, /*low=*/true)});
    }
  }
  return success();
}

bool SlotPlans::isScaled(Value value) const {
  const MeasuredRange *range = measured->lookup(value);
  return range && range->isScaled();
}

std::string SlotPlans::assign(const SlotErrors &errors, double price,
                              std::vector<size_t> *wideSlots) const {
  // The sum of all prices must stay below an infinite capacity.
  constexpr double kHighest = 0x1p44;
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const std::unique_ptr<Group> &group : groups) {
    ArrayRef<SlotVertex> vertices = group->graph.getVertices();
    Assignment wideTypes;
    wideTypes.low.assign(vertices.size(), false);
    double unit = double(group->costs.evaluate(wideTypes).cost);
    std::vector<int64_t> prices(vertices.size(), 0);
    auto isOwn = [&](const PlannedSlot &slot) {
      return slot.graph == &group->graph;
    };
    for (const PlannedSlot &slot : llvm::make_filter_range(slots, isOwn)) {
      if (!slot.isFree)
        continue;
      auto it = errors.find({slot.name, slot.getNumber()});
      double error = it == errors.end()
                         ? std::numeric_limits<double>::infinity()
                         : it->second;
      double cost = std::isinf(error) ? kHighest : price * error * error * unit;
      prices[slot.vertex] = std::llround(std::min(cost, kHighest));
    }
    Assignment assignment = assignOptimal(group->graph, group->costs, prices);
    // The types of an operation, by slot.
    llvm::MapVector<StringRef, SmallVector<StringRef>> types;
    for (const PlannedSlot &slot : llvm::make_filter_range(slots, isOwn)) {
      if (wideSlots && slot.isFree && !assignment.low[slot.vertex])
        wideSlots->push_back(size_t(&slot - slots.data()));
      SmallVector<StringRef> &list = types[slot.name];
      list.resize(std::max<size_t>(list.size(), slot.getNumber() + 1), "any");
      list[slot.getNumber()] = assignment.low[slot.vertex] ? "low" : "f32";
    }
    for (const auto &[name, list] : types)
      os << "  " << Policy::quote(name) << ": [" << llvm::join(list, ", ")
         << "]\n";
  }
  return text;
}
