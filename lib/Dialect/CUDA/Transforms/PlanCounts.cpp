//===- PlanCounts.cpp - Chooses where values are counted ------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One launch runs kernels that count values if they follow each other. A value
// can be counted from the launch that computes it to the last launch that uses
// it. This chooses the fewest places so that each interval contains a place. It
// visits the intervals in the order of their ends, and adds a place at the end
// of each interval that does not contain one yet.
//
//===----------------------------------------------------------------------===//

#include "MemoryPlanner.h"

using namespace mlir;
using namespace mlir::cuda;

namespace {
/// A kernel that counts values, with its interval. Only operations that stay
/// where they are have numbers.
struct Counter {
  KernelOp kernel;
  /// The launches whose results only this kernel reads. They move with it.
  SmallVector<Operation *> sources;
  /// The kernel can be placed before each of these operations.
  unsigned first = 0, last = ~0u;
};

/// Finds and moves the kernels of a block that count values.
class CounterPlan {
public:
  CounterPlan(Block &block, const mlir::amp::StepSignature &signature)
      : block(block), signature(signature) {}

  void run();

private:
  void findSources(Counter &counter);
  void findInterval(Counter &counter);
  /// Limits the interval of a kernel that reads `value`.
  void limit(Counter &counter, Value value);
  /// Whether `value` keeps its memory until the end of the step.
  bool isKept(Value value);
  /// Returns the number of the last operation that uses `value` or a view of
  /// it. If collectives use `value`, returns the number of the first one.
  /// Returns std::nullopt if no operation with a number uses `value`.
  std::optional<unsigned> getLastUse(Value value, bool isArgument);

  Block &block;
  const mlir::amp::StepSignature &signature;
  std::vector<Counter> counters;
  llvm::DenseSet<Operation *> moved;
  DenseMap<Operation *, unsigned> numbers;
  SmallVector<Operation *> ordered;
};
} // namespace

/// Launches that exist for predictions alone can move with the kernel that
/// reads their results.
void CounterPlan::findSources(Counter &counter) {
  for (Value input : counter.kernel.getInputs()) {
    auto source = input.getDefiningOp<LaunchOpInterface>();
    if (!source || getReader(source) != Reader::Predictions ||
        source.isCollective() || llvm::is_contained(counter.sources, source) ||
        llvm::any_of(source->getUsers(),
                     [&](Operation *user) { return user != counter.kernel; }))
      continue;
    counter.sources.push_back(source);
    moved.insert(source);
  }
}

bool CounterPlan::isKept(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && llvm::any_of(signature.arguments, [&](const auto &each) {
           return each.index == argument.getArgNumber() && !each.updatedBy;
         });
}

std::optional<unsigned> CounterPlan::getLastUse(Value value, bool isArgument) {
  std::optional<unsigned> last, collective;
  for (Operation *user : value.getUsers()) {
    std::optional<unsigned> use;
    if (isa<ViewOp, UpperHalfOp>(user)) {
      use = getLastUse(user->getResult(0), isArgument);
    } else if (auto it = numbers.find(user); it != numbers.end()) {
      // A launch may overwrite an argument before the end.
      if (user == block.getTerminator() && isArgument)
        continue;
      use = it->second;
      auto launch = dyn_cast<LaunchOpInterface>(user);
      if (launch && launch.isCollective())
        collective = std::min(collective.value_or(*use), *use);
    }
    if (use)
      last = std::max(last.value_or(0), *use);
  }
  return collective ? collective : last;
}

void CounterPlan::limit(Counter &counter, Value value) {
  Value root = value;
  unsigned first = 0;
  // Views stay where they are.
  for (Operation *op = value.getDefiningOp(); op; op = root.getDefiningOp()) {
    first = std::max(first, numbers.lookup(op) + 1);
    if (!isa<ViewOp, UpperHalfOp>(op))
      break;
    root = op->getOperand(0);
  }
  counter.first = std::max(counter.first, first);
  if (!isKept(root))
    counter.last =
        std::min(counter.last,
                 getLastUse(root, isa<BlockArgument>(root)).value_or(first));
}

void CounterPlan::findInterval(Counter &counter) {
  SmallVector<Operation *> readers(counter.sources);
  readers.push_back(counter.kernel);
  for (Operation *reader : readers)
    for (Value operand : reader->getOperands())
      if (Operation *source = operand.getDefiningOp();
          !source || !llvm::is_contained(counter.sources, source))
        limit(counter, operand);
  counter.last = std::clamp<unsigned>(counter.last, counter.first,
                                      unsigned(ordered.size()) - 1);
}

void CounterPlan::run() {
  for (auto kernel : block.getOps<KernelOp>())
    if (kernel.isStatistics()) {
      counters.push_back({kernel, {}});
      moved.insert(kernel);
    }
  for (Counter &counter : counters)
    findSources(counter);
  for (Operation &op : block)
    if (!moved.contains(&op)) {
      numbers[&op] = ordered.size();
      ordered.push_back(&op);
    }
  for (Counter &counter : counters)
    findInterval(counter);
  llvm::stable_sort(counters, [](const Counter &a, const Counter &b) {
    return a.last < b.last;
  });
  while (!counters.empty()) {
    const unsigned place = counters.front().last;
    auto late = std::stable_partition(
        counters.begin(), counters.end(),
        [&](const Counter &counter) { return counter.first <= place; });
    // Other launches between the kernels would divide their launch.
    auto now = llvm::make_range(counters.begin(), late);
    for (Counter &counter : now)
      for (Operation *source : counter.sources)
        source->moveBefore(ordered[place]);
    for (Counter &counter : now)
      counter.kernel->moveBefore(ordered[place]);
    counters.erase(counters.begin(), late);
  }
}

void MemoryPlanner::placeCounters() { CounterPlan(block, signature).run(); }
