//===- PolicySearch.h - The cheapest policy within a bound ------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_POLICYSEARCH_H
#define AMP_EXECUTION_POLICYSEARCH_H

#include "amp/Execution/SlotErrors.h"
#include <functional>

namespace mlir::amp {

/// A program of a search.
struct SearchedProgram {
  std::string label;
  /// The bytes that the operations of the step read and write, and the time of
  /// its products as bytes.
  double cost = 0;
  /// The mean loss over the last quarter of the steps.
  double loss = 0;
  /// The policy in YAML. Empty for f32 and presets.
  std::string policy;
};

/// The settings of a search.
struct SearchSettings {
  /// `fp16` or `bf16`.
  std::string precision;
  /// The largest difference of the loss from that in f32, relative to it.
  double bound = 0.01;
  /// Whether to train with each preset too.
  bool presets = false;
  int64_t batchSize = 0;
  /// The ranges of the values in f32, and the loss scale that they suggest.
  std::vector<MeasuredRange> ranges;
  double scale = 1;
};

/// Searches the assignment of least cost whose loss differs from that in f32 by
/// a bound. The error of each slot has a price, the exact cut finds the
/// assignment of least cost at a price, and a bisection finds the price. Then
/// slots that stayed f32 become low one at a time, while the loss stays near.
/// If the policy of the run is a preset, the search starts from the lists of
/// other presets too.
class PolicySearch {
public:
  /// Trains a program from the initial values and returns its loss.
  using Train =
      std::function<llvm::Expected<double>(StepProgram &, llvm::StringRef)>;

  /// `options` are the options of the run. They and `module` must outlive this.
  static llvm::Expected<std::unique_ptr<PolicySearch>>
  create(ModuleOp module, const ProgramOptions &options,
         SearchSettings settings, Train train);

  /// Measures the errors of slots in `steps`, and searches. `wideLoss` is the
  /// loss of a run in f32. Fails if no assignment has a loss within the bound.
  llvm::Error run(const RecordedSteps &steps, double wideLoss);

  const SearchedProgram &getBest() const { return *best; }
  /// Prints the programs in the order of their costs, also if the search
  /// failed. `path` is the file of the result.
  void print(llvm::StringRef path, llvm::raw_ostream &os) const;

private:
  /// A policy whose lists a search starts from.
  struct Base {
    std::string policy;
    std::string masterWeights;
    std::unique_ptr<SlotPlans> plans;
    double leastCost = 0;
  };

  PolicySearch(ModuleOp module, const ProgramOptions &options,
               SearchSettings settings, Train train)
      : module(module), options(options), settings(std::move(settings)),
        train(std::move(train)) {}

  llvm::Error readPipeline();
  llvm::Error createPlans(Base &base);
  llvm::Error prepare(const RecordedSteps &steps);
  std::string writePolicy(const Base &base, llvm::StringRef slotTypes) const;
  llvm::Expected<std::unique_ptr<StepProgram>>
  compile(const ProgramOptions &changed, double *cost) const;
  llvm::Expected<std::unique_ptr<StepProgram>>
  compilePolicy(llvm::StringRef policy, double *cost) const;
  llvm::Expected<bool> tryTypes(const Base &base, const std::string &slotTypes);
  llvm::Error searchBase(const Base &base);
  llvm::Error lower(const Base &base, double price);
  llvm::Error addPresets();
  bool isNear(double loss) const;

  ModuleOp module;
  const ProgramOptions &options;
  SearchSettings settings;
  Train train;
  std::string entry;
  /// The options of the pipeline that the policy of the result does not
  /// replace.
  std::string otherOptions;
  Target target;
  std::vector<Base> bases;
  /// Whether the loss is near that in f32, by the types of slots.
  std::map<std::string, bool> tried;
  SlotErrors errors;
  double wideLoss = 0;
  int64_t numRuns = 0;
  std::vector<SearchedProgram> programs;
  std::optional<SearchedProgram> best;
};

} // namespace mlir::amp

#endif // AMP_EXECUTION_POLICYSEARCH_H
