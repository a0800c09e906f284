//===- MemoryBreakdown.cpp - What occupies the memory of a step -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Analysis/MemoryBreakdown.h"

#include "amp/Analysis/TensorLiveness.h"
#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h"
#include "amp/Dialect/AMP/IR/AMPWeightOps.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <vector>

using namespace mlir;
using namespace mlir::amp;

StringRef mlir::amp::stringifyMemoryCategory(MemoryCategory category) {
  switch (category) {
  case MemoryCategory::Parameters:
    return "parameters";
  case MemoryCategory::OptimizerState:
    return "optimizer state";
  case MemoryCategory::OtherState:
    return "other state";
  case MemoryCategory::Batch:
    return "batch";
  case MemoryCategory::LowWeights:
    return "low weights";
  case MemoryCategory::SavedActivations:
    return "saved activations";
  case MemoryCategory::Gradients:
    return "gradients";
  case MemoryCategory::Temporaries:
    return "temporaries";
  }
  llvm_unreachable("unknown category of memory");
}

/// Adds to `values` all results in `block` that depend on members of `values`.
static void addDependents(Block &block, llvm::DenseSet<Value> &values) {
  for (Operation &op : block) {
    WalkResult depends = op.walk([&](Operation *nested) {
      return llvm::any_of(
                 nested->getOperands(),
                 [&](Value operand) { return values.contains(operand); })
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (depends.wasInterrupted())
      values.insert(op.result_begin(), op.result_end());
  }
}

/// Returns the value whose memory `value` uses.
static Value getRoot(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isTensorView(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

static void count(MemoryBreakdown::Count &entry, const TensorRange &range) {
  ++entry.tensors;
  entry.elements += cast<ShapedType>(range.value.getType()).getNumElements();
  entry.bytes += range.bytes;
}

namespace {

/// The kind of a tensor in reports.
class Classification {
public:
  /// Counts the arguments in `report`, and finds the values that a category
  /// depends on.
  LogicalResult collect(FunctionOpInterface function,
                        const StepSignature &signature,
                        MemoryBreakdown &report);

  MemoryCategory categorize(const TensorRange &range) const;
  bool isUpdate(const TensorRange &range) const {
    return updates.contains(range.value);
  }
  /// Whether the forward pass computes `range` from the batch.
  bool isForward(const TensorRange &range) const {
    return range.definition < firstSeed && fromBatch.contains(range.value) &&
           isa<FloatType>(getElementTypeOrSelf(range.value.getType()));
  }
  unsigned getNumOperations() const { return numOperations; }

private:
  LogicalResult countArguments(FunctionOpInterface function,
                               const StepSignature &signature,
                               MemoryBreakdown &report);
  void collectGradients(Block &block);

  llvm::DenseSet<Value> weights, fromBatch, gradients, updates;
  unsigned numOperations = 0;
  /// The number of the operation at which the backward pass begins.
  unsigned firstSeed = 0;
};

} // namespace

LogicalResult Classification::countArguments(FunctionOpInterface function,
                                             const StepSignature &signature,
                                             MemoryBreakdown &report) {
  for (const StepArgument &argument : signature.arguments) {
    FailureOr<int64_t> bytes = getTensorBytes(argument.type);
    if (failed(bytes))
      return function->emitError("argument '")
             << argument.name << "' has type " << argument.type
             << ", but its size must be known; run train-set-batch first";
    Value value = function.getArgument(argument.index);
    auto whole = cast<RankedTensorType>(getWholeType(function, argument.index));
    if (whole != argument.type) {
      report.partBytes += *bytes;
      report.dividedBytes += *getTensorBytes(whole);
    }
    MemoryCategory category = MemoryCategory::OtherState;
    if (argument.role == Role::Parameter) {
      category = MemoryCategory::Parameters;
      weights.insert(value);
      if (!argument.init || argument.init.getKind() != InitKind::CopyOf)
        report.parameters += whole.getNumElements();
    } else if (argument.role == Role::OptimizerState) {
      category = MemoryCategory::OptimizerState;
    } else if (argument.role == Role::Batch) {
      category = MemoryCategory::Batch;
      fromBatch.insert(value);
    }
    report[category].bytes += *bytes;
    report[category].atPeak += *bytes;
    report.peakBytes += *bytes;
  }
  return success();
}

/// Finds the gradients of parameters and the first seed.
void Classification::collectGradients(Block &block) {
  Operation *seed = nullptr;
  for (Operation &op : block) {
    if (!seed && (isa<GradientSeedOpInterface>(op) ||
                  op.hasAttr(AMPDialect::kGradientSeedAttr))) {
      seed = &op;
      firstSeed = numOperations;
    }
    ++numOperations;
    auto names = op.getAttrOfType<ArrayAttr>(AMPDialect::kGradientOfAttr);
    if (!names)
      continue;
    // A gradient that equals another value is a view with its own name.
    for (auto [result, name] : llvm::zip(op.getResults(), names)) {
      if (cast<StringAttr>(name).empty())
        continue;
      Value root = getRoot(result);
      Operation *producer = root.getDefiningOp();
      bool isBackward = producer && seed && seed->isBeforeInBlock(producer);
      gradients.insert(isBackward ? root : result);
    }
  }
  if (!seed)
    firstSeed = numOperations;
}

LogicalResult Classification::collect(FunctionOpInterface function,
                                      const StepSignature &signature,
                                      MemoryBreakdown &report) {
  if (failed(countArguments(function, signature, report)))
    return failure();
  Block &block = function.getFunctionBody().front();
  for (const StepResult &result : signature.results)
    if (result.kind == ResultKind::Update)
      updates.insert(getRoot(block.getTerminator()->getOperand(result.index)));
  collectGradients(block);
  addDependents(block, fromBatch);
  addDependents(block, gradients);
  return success();
}

MemoryCategory Classification::categorize(const TensorRange &range) const {
  Operation *op = range.value.getDefiningOp();
  if (isa<CastOp, UpperHalfOp>(op) &&
      weights.contains(getRoot(op->getOperand(0))))
    return MemoryCategory::LowWeights;
  if (gradients.contains(range.value))
    return MemoryCategory::Gradients;
  if (range.definition < firstSeed && range.lastUse >= firstSeed &&
      fromBatch.contains(range.value))
    return MemoryCategory::SavedActivations;
  return MemoryCategory::Temporaries;
}

/// Bytes by category.
using CategoryBytes = std::array<int64_t, kNumMemoryCategories>;

/// Adds the peak to `report`; `change` has the bytes that begin and end to live
/// at each operation.
static void addPeak(MemoryBreakdown &report, ArrayRef<CategoryBytes> change) {
  CategoryBytes live = {}, atPeak = {};
  int64_t most = 0;
  MemoryBreakdown::Entry &temporaries = report[MemoryCategory::Temporaries];
  for (const CategoryBytes &step : change) {
    int64_t sum = 0;
    for (unsigned i = 0; i < kNumMemoryCategories; ++i)
      sum += live[i] += step[i];
    temporaries.bytes =
        std::max(temporaries.bytes,
                 live[static_cast<unsigned>(MemoryCategory::Temporaries)]);
    if (sum > most) {
      most = sum;
      atPeak = live;
    }
  }
  for (unsigned i = 0; i < kNumMemoryCategories; ++i)
    report.categories[i].atPeak += atPeak[i];
  report.peakBytes += most;
}

FailureOr<MemoryBreakdown>
MemoryBreakdown::compute(FunctionOpInterface function) {
  FailureOr<StepSignature> signature = StepSignature::get(function);
  if (failed(signature))
    return failure();
  FailureOr<TensorLiveness> liveness = TensorLiveness::compute(function);
  if (failed(liveness))
    return failure();
  MemoryBreakdown report;
  Classification values;
  if (failed(values.collect(function, *signature, report)))
    return failure();

  std::vector<CategoryBytes> change(values.getNumOperations() + 1);
  for (const TensorRange &range : liveness->getRanges()) {
    if (values.isUpdate(range))
      continue;
    MemoryCategory category = values.categorize(range);
    unsigned number = static_cast<unsigned>(category);
    change[range.definition][number] += range.bytes;
    change[range.lastUse + 1][number] -= range.bytes;
    if (category != MemoryCategory::Temporaries)
      report[category].bytes += range.bytes;
    if (!values.isForward(range))
      continue;
    std::string name =
        range.value.getDefiningOp()->getName().getStringRef().str();
    count(report.forward[name], range);
    if (category == MemoryCategory::SavedActivations)
      count(report.saved[name], range);
  }
  addPeak(report, change);
  return report;
}

void MemoryBreakdown::printTable(llvm::raw_ostream &os,
                                 StringRef function) const {
  os << "memory of '" << function << "' in bytes\n"
     << llvm::format("%-20s %16s %16s\n", "", "in all", "at the peak");
  for (unsigned i = 0; i < kNumMemoryCategories; ++i)
    os << llvm::format(
        "%-20s %16lld %16lld\n",
        stringifyMemoryCategory(static_cast<MemoryCategory>(i)).data(),
        static_cast<long long>(categories[i].bytes),
        static_cast<long long>(categories[i].atPeak));
  os << llvm::format("%-20s %16s %16lld\n", "peak", "",
                     static_cast<long long>(peakBytes));
  if (dividedBytes != 0)
    os << "each rank keeps " << partBytes << " bytes of " << dividedBytes
       << " that the ranks divide\n";
}

void MemoryBreakdown::printJSON(llvm::raw_ostream &os,
                                StringRef function) const {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  auto printCounts = [&](const std::map<std::string, Count> &counts) {
    for (const auto &entry : counts)
      json.attributeObject(entry.first, [&] {
        json.attribute("tensors", entry.second.tensors);
        json.attribute("elements", entry.second.elements);
        json.attribute("bytes", entry.second.bytes);
      });
  };
  json.object([&] {
    json.attribute("function", function);
    json.attribute("peak_bytes", peakBytes);
    json.attribute("parameters", parameters);
    if (dividedBytes != 0) {
      json.attribute("part_bytes", partBytes);
      json.attribute("divided_bytes", dividedBytes);
    }
    json.attributeObject("categories", [&] {
      for (unsigned i = 0; i < kNumMemoryCategories; ++i)
        json.attributeObject(
            stringifyMemoryCategory(static_cast<MemoryCategory>(i)), [&] {
              json.attribute("bytes", categories[i].bytes);
              json.attribute("at_peak", categories[i].atPeak);
            });
    });
    json.attributeObject("forward", [&] { printCounts(forward); });
    json.attributeObject("saved", [&] { printCounts(saved); });
  });
  os << "\n";
}
