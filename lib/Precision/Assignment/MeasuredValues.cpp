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
      scale(options.scale), isInModule(unsigned(numRanges)) {
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
      for (uint32_t number : numbers)
        isInModule.set(number);
      bool isPaired = numbers.size() == values.size();
      for (auto [index, value] : llvm::enumerate(values))
        found[value] = isPaired ? numbers[index] : getUnion(name, numbers);
    }
    compare(function);
    return WalkResult::skip();
  });
}

/// Whether two values can be the same but for the order of their dimensions. A
/// dynamic extent equals each other one.
static bool isSameShape(ArrayRef<int64_t> measured, Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return true;
  if (shaped.getRank() != int64_t(measured.size()))
    return false;
  auto sortStatic = [](ArrayRef<int64_t> extents) {
    SmallVector<int64_t> kept;
    llvm::copy_if(extents, std::back_inserter(kept),
                  [](int64_t extent) { return extent >= 0; });
    llvm::sort(kept);
    return kept;
  };
  SmallVector<int64_t> one = sortStatic(measured),
                       other = sortStatic(shaped.getShape());
  return llvm::includes(one, other) || llvm::includes(other, one);
}

static std::string printShape(ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "no dimension";
  return llvm::join(llvm::map_range(shape,
                                    [](int64_t extent) {
                                      return extent < 0
                                                 ? "?"
                                                 : std::to_string(extent);
                                    }),
                    "x");
}

/// Finds the first value of `function`, if it was measured, that differs from
/// the file: a value of another shape, or an argument of a step without a
/// measurement.
void MeasuredValues::compare(FunctionOpInterface function) {
  Block &body = function.getFunctionBody().front();
  bool isMeasured = llvm::any_of(body, [&](Operation &op) {
    return llvm::any_of(op.getResults(),
                        [&](Value value) { return found.contains(value); });
  });
  auto say = [&](const Twine &text) {
    if (misfit.empty())
      misfit = text.str();
  };
  auto check = [&](Value value) {
    std::string name = removeFolder(nameWatchedValue(value));
    if (const MeasuredRange *range = lookup(value)) {
      if (range->shape && !isSameShape(*range->shape, value.getType()))
        say("value '" + name + "' has the shape " + printShape(*range->shape) +
            " in the file, but the one of the module has " +
            printShape(cast<ShapedType>(value.getType()).getShape()));
    } else if (auto argument = dyn_cast<BlockArgument>(value);
               argument && isMeasured && isPrecisionTensor(value.getType()) &&
               function.getArgAttr(argument.getArgNumber(),
                                   AMPDialect::kRoleAttr)) {
      say("the file has no value '" + name + "' of function '" +
          function.getName() + "'");
    }
  };
  llvm::for_each(body.getArguments(), check);
  for (Operation &op : body)
    llvm::for_each(op.getResults(), check);
}

std::string
MeasuredValues::describeMisfit(function_ref<bool(StringRef op)> moves) const {
  if (numRanges == 0 || found.empty())
    return "it has none of the values of the module";
  if (!misfit.empty())
    return misfit;
  for (uint32_t i = 0; i < numRanges; ++i) {
    StringRef op = StringRef(ranges[i].name).split(' ').first.split('#').first;
    if (!isInModule[i] && ranges[i].part == "forward" && !moves(op))
      return "the module has no value '" + ranges[i].name + "'";
  }
  return "";
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
