//===- SlotPlans.h - The assignments of one step by price -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_SLOTPLANS_H
#define AMP_EXECUTION_SLOTPLANS_H

#include "amp/Execution/StepProgram.h"
#include "amp/Precision/Assignment/CostModel.h"
#include "amp/Precision/Assignment/MeasuredValues.h"
#include "amp/Precision/Policy/Policy.h"
#include <map>

namespace mlir::amp {

/// The error of each slot by the name of its operation and its number.
using SlotErrors = std::map<std::pair<std::string, int>, double>;

/// A slot of an operation.
struct PlannedSlot {
  const SlotGraph *graph;
  VertexId vertex;
  /// The name of the operation (`nameOperations`).
  std::string name;
  /// Whether the operation is in the step function itself.
  bool isInEntry;
  /// Whether the costs decide its type. Otherwise a rule does.
  bool isFree;

  /// The cost that the low type saves in the slot itself.
  int64_t saved;

  int getNumber() const { return graph->getVertices()[vertex].slot; }
};

/// How a step is searched.
struct SlotPlanOptions {
  std::string entry;
  /// The options of the training pipeline, in text.
  std::string pipeline;
  /// The policy, in YAML.
  std::string policy;
  FloatType low;
  /// The machine that sets the costs.
  Target target;
  /// Whether parameters have low copies.
  bool masterCopies = false;
  int64_t batchSize = 0;
  /// The ranges of the values in f32, and the loss scale that multiplies
  /// backward values.
  std::vector<MeasuredRange> ranges;
  double scale = 1;
};

/// The slots of a step before `auto-mixed-precision`, and their assignments.
class SlotPlans {
public:
  static llvm::Expected<std::unique_ptr<SlotPlans>>
  create(ModuleOp source, SlotPlanOptions options);

  ModuleOp getModule() const { return *module; }
  llvm::StringRef getEntry() const { return options.entry; }
  FloatType getLowType() const { return options.low; }
  /// The slots of all operations but constants, in program order.
  llvm::ArrayRef<PlannedSlot> getSlots() const { return slots; }
  /// Whether a loss scale multiplies `value`.
  bool isScaled(Value value) const;

  /// Returns the assignment of least cost if each low slot also costs `price`
  /// times its error squared times the cost of the step in f32. A slot without
  /// an error in `errors`, or with an infinite one, stays f32. The result is
  /// the mapping `slot-types` of a policy, with the slots that rules decide:
  /// some rules depend on the measured ranges. `wideSlots` receives the
  /// positions in `getSlots()` of the free slots that stay f32.
  std::string assign(const SlotErrors &errors, double price,
                     std::vector<size_t> *wideSlots = nullptr) const;

private:
  explicit SlotPlans(SlotPlanOptions options) : options(std::move(options)) {}
  LogicalResult addGroups();

  /// The slots of functions that are assigned together.
  struct Group {
    Group(const CallGroup &group, const Policy &policy, FloatType low,
          const WideValues &wide, const CostOptions &costOptions)
        : functions(group.functions), graph(group, policy, low, &wide),
          costs(graph, costOptions) {}

    SmallVector<FunctionOpInterface, 1> functions;
    SlotGraph graph;
    CostModel costs;
    llvm::DenseMap<Operation *, std::string> names;
  };

  SlotPlanOptions options;
  OwningOpRef<ModuleOp> module;
  std::optional<Policy> policy;
  WideValues wide;
  std::optional<MeasuredValues> measured;
  std::vector<std::unique_ptr<Group>> groups;
  std::vector<PlannedSlot> slots;
};

} // namespace mlir::amp

#endif // AMP_EXECUTION_SLOTPLANS_H
