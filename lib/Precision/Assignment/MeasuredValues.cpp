//===- MeasuredValues.cpp - Values with ranges from data ------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Assignment/MeasuredValues.h"

#include "amp/Dialect/AMP/IR/Watched.h"
#include "amp/Interfaces/PrecisionOpInterface.h"
#include "amp/Precision/Assignment/SlotGraph.h"
#include "amp/Support/LocationText.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::amp;

MeasuredValues::MeasuredValues(std::vector<MeasuredRange> measured,
                               const MeasuredOptions &options, FloatType low)
    : ranges(std::move(measured)), numRanges(ranges.size()), options(options),
      format(low.isF16() ? LowFormat::getF16() : LowFormat::getBF16()),
      scale(options.scale) {
  if (scale == 0)
    scale = low.isF16() ? chooseLossScale(ranges, format, options.margin,
                                          options.tolerance)
                        : 1;
}

/// Returns the values of `function` that `amp-watch` may watch, by name and in
/// program order.
static llvm::MapVector<StringRef, SmallVector<Value>>
groupByName(FunctionOpInterface function, llvm::StringMap<char> &names) {
  llvm::MapVector<StringRef, SmallVector<Value>> groups;
  auto add = [&](Value value) {
    if (!isPrecisionTensor(value.getType()))
      return;
    auto it = names.try_emplace(removeFolder(nameWatchedValue(value)), 0).first;
    groups[it->getKey()].push_back(value);
  };
  Block &body = function.getFunctionBody().front();
  llvm::for_each(body.getArguments(), add);
  for (Operation &op : body)
    if (!op.hasTrait<OpTrait::ConstantLike>())
      llvm::for_each(op.getResults(), add);
  return groups;
}

void MeasuredValues::find(Operation *root) {
  llvm::StringMap<SmallVector<uint32_t, 1>> byName;
  for (uint32_t i = 0; i < numRanges; ++i)
    byName[removeFolder(ranges[i].name)].push_back(i);
  llvm::StringMap<uint32_t> unions;
  auto getUnion = [&](StringRef name, ArrayRef<uint32_t> numbers) {
    auto [it, isNew] = unions.try_emplace(name, ranges.size());
    if (isNew) {
      MeasuredRange all = ranges[numbers.front()];
      for (uint32_t number : numbers.drop_front()) {
        all.statistics.add(ranges[number].statistics.fields.data());
        // The loss scale makes a value larger.
        if (ranges[number].isScaled())
          all.part = ranges[number].part;
      }
      ranges.push_back(std::move(all));
    }
    return it->second;
  };
  root->walk<WalkOrder::PreOrder>([&](FunctionOpInterface function) {
    if (function.isExternal())
      return WalkResult::skip();
    llvm::StringMap<char> names;
    for (auto &[name, values] : groupByName(function, names)) {
      auto it = byName.find(name);
      if (it == byName.end())
        continue;
      ArrayRef<uint32_t> numbers = it->second;
      bool isPaired = numbers.size() == values.size();
      for (auto [index, value] : llvm::enumerate(values))
        found[value] = isPaired ? numbers[index] : getUnion(name, numbers);
    }
    return WalkResult::skip();
  });
}

const MeasuredRange *MeasuredValues::lookup(Value value) const {
  auto it = found.find(value);
  return it == found.end() ? nullptr : &ranges[it->second];
}

RoundingLoss MeasuredValues::getLoss(const MeasuredRange &range) const {
  return measureLoss(range.statistics, format, range.isScaled() ? scale : 1,
                     /*margin=*/1);
}

MeasuredFit MeasuredValues::judge(Value value) const {
  const MeasuredRange *range = lookup(value);
  // A value that no step computed, such as one of an empty tensor.
  if (!range || range->statistics.getCount() == 0)
    return MeasuredFit::Unknown;
  RoundingLoss loss = measureLoss(
      range->statistics, format, range->isScaled() ? scale : 1, options.margin);
  return loss.overflows                   ? MeasuredFit::Beyond
         : loss.error > options.tolerance ? MeasuredFit::Lost
                                          : MeasuredFit::Fits;
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

/// Denies slots with a value that leaves the range of the low type, and frees
/// range slots whose values all fit. Pins and proofs that deny have priority.
void SlotGraph::applyMeasured(const MeasuredValues &measured) {
  std::vector<MeasuredFit> fits(vertices.size(), MeasuredFit::Fits);
  std::vector<bool> isKnown(vertices.size(), true);
  std::vector<bool> isMeasured(vertices.size(), false);
  auto meet = [&](VertexId v, Value value, MeasuredFit fit) {
    if (fit == MeasuredFit::Unknown)
      isKnown[v] = isKnown[v] && fitsLow(value);
    else
      isMeasured[v] = true;
    fits[v] = std::max(fits[v], fit);
  };
  std::vector<MeasuredFit> byValue;
  byValue.reserve(values.size());
  for (const SlotValue &entry : values) {
    byValue.push_back(measured.judge(entry.value));
    meet(entry.vertex, entry.value, byValue.back());
  }
  for (const SlotUse &use : uses)
    meet(use.user, values[use.value].value, byValue[use.value]);
  llvm::DenseMap<VertexId, OpClass> classes(rangeSlots.begin(),
                                            rangeSlots.end());
  for (VertexId v = 1; v < vertices.size(); ++v) {
    SlotVertex &vertex = vertices[v];
    if (vertex.pinned || vertex.isConstant || !isMeasured[v] ||
        (vertex.proof != RangeProof::None && vertex.proof != RangeProof::Fits))
      continue;
    if (fits[v] >= MeasuredFit::Lost) {
      vertex.opClass = OpClass::Deny;
      vertex.proof = fits[v] == MeasuredFit::Beyond ? RangeProof::MeasuredBeyond
                                                    : RangeProof::MeasuredLost;
      continue;
    }
    if (!isKnown[v] || vertex.proof == RangeProof::Fits)
      continue;
    if (auto it = classes.find(v); it != classes.end())
      vertex.opClass = it->second;
    vertex.proof = RangeProof::MeasuredFits;
  }
}

SmallVector<Value> SlotGraph::getMeasuredValues(VertexId v) const {
  SmallVector<Value> found;
  const MeasuredValues *measured = getMeasured();
  auto add = [&](uint32_t use) {
    Value value = uses[use].operand->get();
    if (measured->lookup(value) && !llvm::is_contained(found, value))
      found.push_back(value);
  };
  if (!measured)
    return found;
  llvm::for_each(getUsesInto(v), add);
  llvm::for_each(getUsesOf(v), add);
  return found;
}
