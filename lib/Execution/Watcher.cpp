//===- Watcher.cpp - The watched values of a program ----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Watcher.h"

#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "amp/Dialect/AMP/IR/Watched.h"
#include "amp/Support/LocationText.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;
using namespace mlir::amp;

static std::string printType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// The extents of a tensor, -1 for a dynamic one.
static std::vector<int64_t> getExtents(Type type) {
  std::vector<int64_t> extents;
  if (auto shaped = dyn_cast<ShapedType>(type); shaped && shaped.hasRank())
    for (int64_t extent : shaped.getShape())
      extents.push_back(ShapedType::isDynamic(extent) ? -1 : extent);
  return extents;
}

/// Finds the first narrowing cast of `value`, which has separate statistics
/// for it.
static Operation *findCast(Value value, Type to) {
  Operation *first = nullptr;
  for (Operation *user : value.getUsers())
    if (CastLike(user) && getElementTypeOrSelf(user->getResult(0)) == to &&
        (!first || user->isBeforeInBlock(first)))
      first = user;
  return first;
}

/// Whether `value` is a constant with elements that are not finite, or is
/// computed from such a constant alone. Does not read very large constants.
static bool isBadConstant(Value value) {
  constexpr int64_t kMostElements = 1 << 22;
  while (Operation *op = value.getDefiningOp()) {
    if (op->getNumOperands() != 1)
      break;
    value = op->getOperand(0);
  }
  DenseFPElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) ||
      (!elements.isSplat() && elements.getNumElements() > kMostElements))
    return false;
  if (!elements.isSplat() && elements.getElementType().isF32())
    return llvm::any_of(elements.getValues<float>(),
                        [](float number) { return !std::isfinite(number); });
  auto isBad = [](const APFloat &number) { return !number.isFinite(); };
  return elements.isSplat()
             ? isBad(elements.getSplatValue<APFloat>())
             : llvm::any_of(elements.getValues<APFloat>(), isBad);
}

/// The values from which `op` computes `result`: the operands of `op`, and what
/// its regions read from outside. A branch that only guards an operation reads
/// the operands of this operation.
static llvm::SmallVector<Value> getReadValues(Operation *op, Value result) {
  llvm::SetVector<Value> values;
  Operation *computing = getComputedResult(result).getOwner();
  if (computing != op && llvm::none_of(computing->getOperands(), [&](Value in) {
        return op->isAncestor(in.getParentRegion()->getParentOp());
      }))
    return llvm::SmallVector<Value>(computing->getOperands());
  values.insert_range(op->getOperands());
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!region.isAncestor(operand.getParentRegion()))
          values.insert(operand);
    });
  return values.takeVector();
}

/// Sets the operands of `record`, the result `result` of `op`. `numbers` has
/// the numbers of the watched values.
static void addOperands(WatchedRecord &record, Operation *op, Value result,
                        const llvm::DenseMap<Value, unsigned> &numbers) {
  llvm::SmallVector<Value> read = getReadValues(op, result);
  for (size_t i = 0; i != read.size(); ++i) {
    Value operand = read[i];
    if (auto it = numbers.find(operand); it != numbers.end()) {
      if (!llvm::is_contained(record.operands, it->second))
        record.operands.push_back(it->second);
      continue;
    }
    if (isBadConstant(operand))
      record.badConstant = nameWatchedValue(operand);
    // A narrowing cast has the statistics of its operand, and a tensor that is
    // written in parts has those of its slices.
    if (Operation *producer = operand.getDefiningOp();
        producer && (producer->getNumOperands() == 1 ||
                     isa<OffsetSizeAndStrideOpInterface>(producer)))
      read.append(producer->operand_begin(), producer->operand_end());
  }
}

/// The values that `step` returns as states and metrics.
static llvm::DenseSet<Value> getOutcomes(FunctionOpInterface step) {
  llvm::DenseSet<Value> outcomes;
  Operation *terminator = step.getFunctionBody().front().getTerminator();
  for (OpOperand &operand : terminator->getOpOperands())
    if (!step.getResultAttr(operand.getOperandNumber(),
                            AMPDialect::kPredictionAttr))
      outcomes.insert(operand.get());
  return outcomes;
}

std::vector<WatchedRecord>
mlir::amp::describeWatchedValues(FunctionOpInterface step) {
  std::vector<WatchedRecord> records;
  const llvm::DenseSet<Value> outcomes = getOutcomes(step);
  llvm::DenseMap<Value, unsigned> numbers;
  llvm::SmallVector<WatchedValue> values = getWatchedValues(step);
  for (const WatchedValue &watched : values)
    numbers[watched.value] = watched.number;
  llvm::DenseMap<Operation *, int64_t> positions;
  for (Operation &op : step.getFunctionBody().front())
    positions[&op] = int64_t(positions.size()) + 1;
  for (const WatchedValue &watched : values) {
    WatchedRecord &record = records.emplace_back();
    record.name = nameWatchedValue(watched.value);
    record.op = "argument";
    record.part = watched.part;
    record.prediction = watched.name;
    record.type = printType(getElementTypeOrSelf(watched.value.getType()));
    record.shape = getExtents(watched.value.getType());
    if (StatisticsOp statistics = watched.statistics) {
      if (statistics.getTo()) {
        record.to = printType(*statistics.getTo());
        record.castPosition =
            positions.lookup(findCast(watched.value, *statistics.getTo()));
      }
    }
    Operation *op = watched.value.getDefiningOp();
    if (!op) {
      unsigned index = cast<BlockArgument>(watched.value).getArgNumber();
      if (auto name =
              step.getArgAttrOfType<StringAttr>(index, AMPDialect::kNameAttr))
        record.scope = name.str();
      continue;
    }
    record.position = positions.lookup(op);
    auto gradients = op->getAttrOfType<ArrayAttr>(AMPDialect::kGradientOfAttr);
    unsigned number = cast<OpResult>(watched.value).getResultNumber();
    if (gradients && number < gradients.size())
      record.gradientOf = cast<StringAttr>(gradients[number]).str();
    record.isOutcome =
        !record.gradientOf.empty() || outcomes.contains(watched.value);
    record.hasRegions = op->getNumRegions() != 0;
    addOperands(record, op, watched.value, numbers);
    op = getComputedResult(watched.value).getOwner();
    record.op = op->getName().getStringRef().str();
    LocationText location(op->getLoc());
    record.place = location.place;
    record.scope = location.name;
  }
  return records;
}

host::Status mlir::amp::readWatched(JITStep &step,
                                    std::vector<WatchedRecord> &records) {
  for (WatchedRecord &record : records) {
    int64_t fields[host::kNumStatistics];
    AMP_RETURN_IF_ERROR(step.readCounts(record, fields));
    record.add(fields);
  }
  return host::Status();
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

void mlir::amp::writeNonEmpty(llvm::json::OStream &json, llvm::StringRef key,
                              llvm::StringRef value) {
  if (!value.empty())
    json.attribute(key, llvm::json::fixUTF8(value));
}

void mlir::amp::writeWatchedPlace(llvm::json::OStream &json,
                                  const WatchedRecord &record) {
  writeNonEmpty(json, "name", record.name);
  writeNonEmpty(json, "op", record.op);
  writeNonEmpty(json, "location", record.place);
  writeNonEmpty(json, "scope", record.scope);
  writeNonEmpty(json, "part", record.part);
}
