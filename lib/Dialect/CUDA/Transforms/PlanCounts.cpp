//===- PlanCounts.cpp - Chooses where values are counted ------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One launch runs kernels that count values if they follow each other. A value
// can be counted from the launch that computes it until a launch overwrites its
// memory. This chooses the fewest places so that each interval contains a
// place. It visits the intervals in the order of their ends, and adds a place
// at the end of each interval that does not contain one yet.
//
// The memory of the training has been placed before, so it does not depend on
// the kernels that count.
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

/// Bytes of memory that an operation writes.
struct Write {
  unsigned number;
  int64_t begin, end;
};

/// Finds and moves the kernels of a block that count values.
class CounterPlan {
public:
  using BufferOf = function_ref<PlannedBuffer *(Value)>;

  /// `bufferOf` returns the memory of a value that is not a view. `scratchOf`
  /// returns the scratch memory of an operation, or null.
  CounterPlan(Block &block, BufferOf bufferOf,
              function_ref<PlannedBuffer *(Operation *)> scratchOf)
      : block(block), bufferOf(bufferOf), scratchOf(scratchOf) {}

  void run();

private:
  void findSources(Counter &counter);
  void findWrites();
  void findInterval(Counter &counter);
  /// Limits the interval of a kernel that reads `value`.
  void limit(Counter &counter, Value value);
  /// Returns the number of the first operation from `first` on that overwrites
  /// `value`, or the number of the terminator.
  unsigned getFirstWrite(Value value, unsigned first);
  /// Returns the number of the last operation that uses `value` or a view of
  /// it. If collectives use `value`, returns the number of the first one.
  /// Returns std::nullopt if no operation with a number uses `value`.
  std::optional<unsigned> getLastUse(Value value, bool &isReduced);
  void place();

  Block &block;
  BufferOf bufferOf;
  function_ref<PlannedBuffer *(Operation *)> scratchOf;
  std::vector<Counter> counters;
  llvm::DenseSet<Operation *> moved;
  DenseMap<Operation *, unsigned> numbers;
  SmallVector<Operation *> ordered;
  std::vector<Write> writes;
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

void CounterPlan::findWrites() {
  for (auto [number, op] : llvm::enumerate(ordered)) {
    auto add = [&](PlannedBuffer *buffer) {
      // Predictions follow the memory of the training.
      if (buffer && !buffer->isForPredictions())
        writes.push_back(
            {unsigned(number), buffer->offset, buffer->offset + buffer->bytes});
    };
    if (isa<LaunchOpInterface>(op))
      for (Value result : op->getResults())
        add(bufferOf(result));
    add(scratchOf(op));
  }
}

unsigned CounterPlan::getFirstWrite(Value value, unsigned first) {
  PlannedBuffer *buffer = bufferOf(value);
  const unsigned end = ordered.size() - 1;
  // Each prediction has memory of its own.
  if (buffer->isForPredictions())
    return end;
  for (const Write &write : writes)
    if (write.number >= first && write.begin < buffer->offset + buffer->bytes &&
        buffer->offset < write.end)
      return write.number;
  return end;
}

std::optional<unsigned> CounterPlan::getLastUse(Value value, bool &isReduced) {
  std::optional<unsigned> last, collective;
  for (Operation *user : value.getUsers()) {
    std::optional<unsigned> use;
    if (isa<ViewOp, UpperHalfOp>(user)) {
      use = getLastUse(user->getResult(0), isReduced);
    } else if (auto it = numbers.find(user); it != numbers.end()) {
      use = it->second;
      auto launch = dyn_cast<LaunchOpInterface>(user);
      if (launch && launch.isCollective())
        collective = std::min(collective.value_or(*use), *use);
    }
    if (use)
      last = std::max(last.value_or(0), *use);
  }
  isReduced |= collective.has_value();
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
  PlannedBuffer *buffer = bufferOf(root);
  bool isReduced = false;
  std::optional<unsigned> lastUse = getLastUse(root, isReduced);
  counter.last = std::min(counter.last, getFirstWrite(root, first));
  // Temporaries of predictions have no place yet.
  if (isReduced || (buffer->isForPredictions() && !buffer->isPersistent()))
    counter.last = std::min(counter.last, lastUse.value_or(first));
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

void CounterPlan::place() {
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

void CounterPlan::run() {
  SmallVector<Attribute> names;
  for (auto kernel : block.getOps<KernelOp>())
    if (kernel.isStatistics()) {
      counters.push_back({kernel, {}});
      moved.insert(kernel);
      names.push_back(kernel.getNameAttr());
    }
  for (Counter &counter : counters)
    findSources(counter);
  for (Operation &op : block)
    if (!moved.contains(&op)) {
      numbers[&op] = ordered.size();
      ordered.push_back(&op);
    }
  findWrites();
  for (Counter &counter : counters)
    findInterval(counter);
  place();
  // The names have numbers in program order.
  ArrayRef<Attribute> next = names;
  for (auto kernel : block.getOps<KernelOp>())
    if (kernel.isStatistics())
      kernel->setAttr("name", next.consume_front());
}

LogicalResult MemoryPlanner::placeCounters() {
  if (llvm::none_of(block.getOps<KernelOp>(),
                    [](KernelOp kernel) { return kernel.isStatistics(); }))
    return success();
  CounterPlan(
      block, [&](Value value) { return bufferOf.lookup(value); },
      [&](Operation *op) { return scratchOf.lookup(op); })
      .run();
  return updatePredictionRanges();
}
