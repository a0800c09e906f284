//===- PolicySearch.cpp - The cheapest policy within a bound --------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/PolicySearch.h"

#include "amp/Execution/PolicyFile.h"
#include "amp/Pipelines/Pipelines.h"
#include "amp/Runtime/Host/RunRecord.h"
#include "amp/Support/PrecisionName.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;
using namespace mlir::amp;

/// The machine that sets the costs if the user and the policy name none.
static constexpr llvm::StringLiteral kDefaultTarget = "h100";

llvm::Expected<std::unique_ptr<PolicySearch>>
PolicySearch::create(ModuleOp module, const ProgramOptions &options,
                     SearchSettings settings, Train train) {
  std::unique_ptr<PolicySearch> search(
      new PolicySearch(module, options, std::move(settings), std::move(train)));
  if (llvm::Error error = search->readPipeline())
    return std::move(error);
  return search;
}

/// Splits the options of the pipeline into those that the policy of the result
/// decides, and the others.
llvm::Error PolicySearch::readPipeline() {
  AMPPipelineOptions pipeline;
  if (failed(pipeline.parseFromString(options.pipeline, llvm::nulls())))
    return makeError("wrong options of the pipeline: {0}", options.pipeline);
  if (!pipeline.strategy.empty() && pipeline.strategy != "optimal")
    return makeError("--search is for strategy=optimal, got strategy={0}",
                     pipeline.strategy.getValue());
  std::string given = pipeline.policy;
  if (Policy::isInPlace(given))
    return makeError("--search needs a policy that is a preset or a file");
  PolicySettings known = Policy::readSettings(given);
  std::string masters = !options.masterWeights.empty()
                            ? options.masterWeights
                            : pipeline.masterWeights.getValue();
  auto addBase = [&](std::string policy, StringRef own) {
    bases.push_back({std::move(policy),
                     !masters.empty() ? masters
                     : own.empty()    ? "cast"
                                      : own.str(),
                     nullptr, 0});
  };
  if (Policy::getPresetText(given)) {
    addBase(given, known.masterWeights);
    for (const char *name : {"pytorch", "pytorch-cpu", "tensorflow", "mxnet",
                             "apex-O1", "apex-O2"})
      if (name != given)
        addBase(name, Policy::readSettings(name).masterWeights);
  } else {
    llvm::SmallString<128> path(given);
    llvm::sys::fs::make_absolute(path);
    addBase(path.str().str(), known.masterWeights);
  }
  std::optional<Target> machine = !pipeline.target.empty()
                                      ? getTarget(pipeline.target)
                                  : known.target ? known.target
                                                 : getTarget(kDefaultTarget);
  if (!machine)
    return makeError("unknown target '{0}', expected one of {1}",
                     pipeline.target.getValue(), listTargets());
  target = *machine;
  otherOptions = removePipelineOptions(
      options.pipeline,
      {"policy", "strategy", "target", "ranges", "ranges-margin",
       "ranges-tolerance", "ranges-scale", "master-weights"});
  return llvm::Error::success();
}

std::string PolicySearch::writePolicy(const Base &base,
                                      llvm::StringRef slotTypes) const {
  std::string text = "version: 1\n";
  llvm::raw_string_ostream os(text);
  os << "extends: " << Policy::quote(base.policy)
     << "\nprecision: " << settings.precision
     << "\nstrategy: optimal\nroundings: fold\nmaster-weights: "
     << base.masterWeights << '\n';
  if (!slotTypes.empty())
    os << "slot-types:\n" << slotTypes;
  return text;
}

llvm::Error PolicySearch::createPlans(Base &base) {
  SlotPlanOptions plan;
  plan.entry = entry;
  plan.pipeline = otherOptions;
  plan.policy = writePolicy(base, "");
  plan.low = parsePrecision(settings.precision, module.getContext());
  plan.target = target;
  plan.masterCopies = base.masterWeights != "cast";
  plan.batchSize = settings.batchSize;
  plan.ranges = settings.ranges;
  plan.scale = settings.scale;
  auto plans = SlotPlans::create(module, std::move(plan));
  if (!plans)
    return plans.takeError();
  base.plans = std::move(*plans);
  return llvm::Error::success();
}

/// Compiles the step and computes its cost.
llvm::Expected<std::unique_ptr<StepProgram>>
PolicySearch::compile(const ProgramOptions &changed, double *cost) const {
  auto program = StepProgram::create(module, changed);
  if (!program)
    return program;
  llvm::Expected<StepStatistics> statistics =
      (*program)->getStatistics(settings.batchSize);
  if (!statistics)
    return statistics.takeError();
  double low = double(statistics->lowProductFlops);
  double wide = double(statistics->productFlops) - low;
  *cost = double(statistics->movedBytes) + low / target.lowFlopPerByte +
          wide / target.f32FlopPerByte;
  return program;
}

llvm::Expected<std::unique_ptr<StepProgram>>
PolicySearch::compilePolicy(llvm::StringRef policy, double *cost) const {
  auto file = PolicyFile::create(policy);
  if (!file)
    return file.takeError();
  ProgramOptions changed = options;
  changed.precision = settings.precision;
  changed.masterWeights.clear();
  changed.pipeline = otherOptions + " policy=" + file->getPath();
  return compile(changed, cost);
}

/// Measures the errors of all slots, and orders the bases by their costs at a
/// price of 0.
llvm::Error PolicySearch::prepare(const RecordedSteps &steps) {
  for (Base &base : bases) {
    if (llvm::Error error = createPlans(base))
      return error;
    if (llvm::Error error = measureSlotErrors(*base.plans, options, steps,
                                              settings.scale, errors))
      return error;
    auto cheapest = compilePolicy(
        writePolicy(base, base.plans->assign(errors, 0)), &base.leastCost);
    if (!cheapest)
      return cheapest.takeError();
  }
  llvm::stable_sort(bases, [](const Base &left, const Base &right) {
    return left.leastCost < right.leastCost;
  });
  return llvm::Error::success();
}

bool PolicySearch::isNear(double loss) const {
  return std::abs(loss - wideLoss) <= settings.bound * std::abs(wideLoss);
}

/// Trains with the types and keeps them if they are the best so far. Returns
/// whether the loss is within the bound.
llvm::Expected<bool> PolicySearch::tryTypes(const Base &base,
                                            const std::string &slotTypes) {
  auto [it, isNew] = tried.try_emplace(base.policy + slotTypes, false);
  if (!isNew)
    return it->second;
  SearchedProgram found;
  found.label = "lists of " + base.policy;
  found.policy = writePolicy(base, slotTypes);
  auto program = compilePolicy(found.policy, &found.cost);
  if (!program)
    return program.takeError();
  llvm::Expected<double> loss = train(**program, found.label);
  if (!loss)
    return loss.takeError();
  found.loss = *loss;
  ++numRuns;
  it->second = isNear(found.loss);
  if (it->second && (!best || found.cost < best->cost))
    best = found;
  programs.push_back(std::move(found));
  return it->second;
}

/// Bisects the price of errors.
llvm::Error PolicySearch::searchBase(const Base &base) {
  constexpr int kMostRuns = 8;
  // From 0 to a price at which each measurable error costs more than the
  // whole step.
  double low = 1e-4, high = 1e16;
  std::string cheap = base.plans->assign(errors, 0);
  std::string exact = base.plans->assign(errors, high);
  llvm::Expected<bool> near = tryTypes(base, cheap);
  if (!near)
    return near.takeError();
  if (*near || cheap == exact)
    return llvm::Error::success();
  near = tryTypes(base, exact);
  if (!near)
    return near.takeError();
  if (!*near)
    return llvm::Error::success();
  for (int runs = 0; runs < kMostRuns && high / low > 1.02;) {
    double price = std::sqrt(low * high);
    std::string types = base.plans->assign(errors, price);
    if (types == exact || types == cheap) {
      (types == exact ? high : low) = price;
      continue;
    }
    ++runs;
    near = tryTypes(base, types);
    if (!near)
      return near.takeError();
    (*near ? high : low) = price;
    (*near ? exact : cheap) = types;
  }
  return lower(base, high);
}

/// Lowers slots that are f32 at `price`, those that save most first, while the
/// loss stays near. Errors may cancel, so the sum of prices is only a guide.
llvm::Error PolicySearch::lower(const Base &base, double price) {
  constexpr int kMostRuns = 16;
  SlotErrors free = errors;
  std::vector<size_t> wide;
  std::string types = base.plans->assign(free, price, &wide);
  llvm::ArrayRef<PlannedSlot> slots = base.plans->getSlots();
  llvm::stable_sort(wide, [&](size_t left, size_t right) {
    return slots[left].saved > slots[right].saved;
  });
  int runs = 0;
  for (size_t position : wide) {
    const PlannedSlot &slot = slots[position];
    double &error = free[{slot.name, slot.getNumber()}];
    if (std::isinf(error) || error == 0)
      continue;
    double measured = std::exchange(error, 0);
    std::string lowered = base.plans->assign(free, price);
    if (lowered == types)
      continue;
    llvm::Expected<bool> near = tryTypes(base, lowered);
    if (!near)
      return near.takeError();
    if (*near)
      types = lowered;
    else
      error = measured;
    if (++runs == kMostRuns)
      break;
  }
  return llvm::Error::success();
}

llvm::Error PolicySearch::addPresets() {
  for (llvm::StringRef name : Policy::getPresetNames()) {
    // Nothing is low in one, and the other only has lists for the default.
    if (name == "apex-O0" || name == "stablehlo")
      continue;
    ProgramOptions changed = options;
    changed.precision = settings.precision;
    changed.pipeline = otherOptions + " policy=" + name.str();
    SearchedProgram preset;
    preset.label = ("preset " + name).str();
    auto program = compile(changed, &preset.cost);
    if (!program)
      return program.takeError();
    llvm::Expected<double> loss = train(**program, preset.label);
    if (!loss)
      return loss.takeError();
    preset.loss = *loss;
    ++numRuns;
    programs.push_back(std::move(preset));
  }
  return llvm::Error::success();
}

llvm::Error PolicySearch::run(const RecordedSteps &steps, double loss) {
  wideLoss = loss;
  SearchedProgram wide;
  wide.label = "f32";
  wide.loss = loss;
  auto program = compile(getWideOptions(options), &wide.cost);
  if (!program)
    return program.takeError();
  entry = (*program)->getFunction().getName().str();
  programs.push_back(std::move(wide));
  if (llvm::Error error = prepare(steps))
    return error;
  for (const Base &base : bases) {
    if (best && base.leastCost >= best->cost)
      break;
    if (llvm::Error error = searchBase(base))
      return error;
  }
  if (settings.presets)
    if (llvm::Error error = addPresets())
      return error;
  if (!best)
    return makeError("no assignment has a loss within {0} of {1} in f32; "
                     "expected a larger --search-bound, or more steps",
                     settings.bound, wideLoss);
  return llvm::Error::success();
}

void PolicySearch::print(llvm::StringRef path, llvm::raw_ostream &os) const {
  os << "search within " << llvm::format("%g %%", 100 * settings.bound)
     << " of the loss in f32, " << errors.size() << " slots, " << numRuns
     << " runs, " << settings.precision << ", costs for "
     << (target.name.empty() ? "the target of the policy" : target.name)
     << " with a batch of " << settings.batchSize << ":\n";
  os << "        cost       loss  difference\n";
  std::vector<const SearchedProgram *> order;
  for (const SearchedProgram &program : programs)
    order.push_back(&program);
  llvm::stable_sort(order, [](const auto *left, const auto *right) {
    return left->cost < right->cost;
  });
  for (const SearchedProgram *program : order) {
    bool isBest =
        best && !program->policy.empty() && program->policy == best->policy;
    os << llvm::format("%12.4g", program->cost);
    if (std::isfinite(program->loss))
      os << llvm::format("%11.5g%11.3g%%  ", program->loss,
                         100 * (program->loss - wideLoss) / std::abs(wideLoss));
    else
      os << llvm::right_justify(host::formatNumber(program->loss), 11)
         << "           -  ";
    os << program->label << (isBest ? "  <- " + path.str() : "") << '\n';
  }
  if (best && best->cost >= programs.front().cost)
    os << "f32 costs no more\n";
  if (best)
    os << "use it by --precision=" << settings.precision << " --pipeline='"
       << llvm::StringRef(otherOptions).trim()
       << (llvm::StringRef(otherOptions).trim().empty() ? "" : " ")
       << "policy=" << path << "'\n";
}
