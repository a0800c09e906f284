//===- Watcher.cpp - Statistics of the values of a run --------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Watcher.h"

#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "amp/Dialect/AMP/IR/Watched.h"
#include "amp/Runtime/Host/RunRecord.h"
#include "amp/Support/LocationText.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::amp;

static std::string printType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

llvm::StringRef mlir::amp::getJudgedType(const WatchedRecord &record,
                                         llvm::StringRef low) {
  if (!record.to.empty())
    return record.to;
  if (record.type == "f16" || record.type == "bf16" || low.empty())
    return record.type;
  return low;
}

LowExponents mlir::amp::getLowExponents(llvm::StringRef type) {
  if (type == "f16")
    return {-14, -24};
  // f32 has the exponents of bf16. The histogram has no smaller ones.
  return {-126, -126};
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

/// Whether `value` is a constant with elements that are not finite. Does not
/// read large constants.
static bool isBadConstant(Value value) {
  constexpr int64_t kMostElements = 4096;
  DenseFPElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) ||
      (!elements.isSplat() && elements.getNumElements() > kMostElements))
    return false;
  auto isBad = [](const APFloat &number) { return !number.isFinite(); };
  return elements.isSplat()
             ? isBad(elements.getSplatValue<APFloat>())
             : llvm::any_of(elements.getValues<APFloat>(), isBad);
}

std::vector<WatchedRecord>
mlir::amp::describeWatchedValues(FunctionOpInterface step) {
  std::vector<WatchedRecord> records;
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
    op = getComputedResult(watched.value).getOwner();
    record.op = op->getName().getStringRef().str();
    LocationText location(op->getLoc());
    record.place = location.place;
    record.scope = location.name;
    for (Value operand : op->getOperands()) {
      if (isBadConstant(operand))
        record.badConstant = nameWatchedValue(operand);
      // A narrowing cast has the statistics of its operand.
      if (Operation *cast = operand.getDefiningOp();
          !numbers.contains(operand) && cast && cast->getNumOperands() == 1)
        operand = cast->getOperand(0);
      if (auto it = numbers.find(operand); it != numbers.end())
        record.operands.push_back(it->second);
    }
  }
  return records;
}

host::Status mlir::amp::readWatched(const JITStep &step,
                                    std::vector<WatchedRecord> &records) {
  for (WatchedRecord &record : records) {
    const host::Array *counts = step.getPrediction(record.prediction);
    if (!counts || counts->getNumElements() != host::kNumStatistics)
      return host::makeError(host::kInvalidArgument,
                             "the step returned no statistics of '%s'",
                             record.name.c_str());
    const auto *fields = static_cast<const int64_t *>(counts->data());
    record.total.add(fields);
    auto &last = record.series.emplace_back();
    std::copy_n(fields, last.size(), last.begin());
  }
  return host::Status();
}

Watcher::Watcher(StepProgram &plain, StepProgram &watched, int64_t every,
                 std::vector<WatchedRecord> described)
    : plain(plain), watched(watched), every(every),
      described(std::move(described)) {
  llvm::StringRef precision = plain.getPrecision();
  low = precision == "fp16" ? "f16" : precision == "bf16" ? "bf16" : "";
}

void Watcher::choose(JITStep &step) {
  step.setProgram(isSampled(step.progress.step) ? watched : plain);
}

void Watcher::beforeTraining(JITStep &step) {
  records = described;
  steps.clear();
  choose(step);
}

host::Status Watcher::afterStep(JITStep &step) {
  if (isSampled(step.progress.step - 1)) {
    steps.push_back(step.progress.step);
    AMP_RETURN_IF_ERROR(readWatched(step, records));
  }
  choose(step);
  return host::Status();
}

static double divide(int64_t part, int64_t whole) {
  return whole ? double(part) / double(whole) : 0.0;
}

llvm::SmallVector<const WatchedRecord *> Watcher::rank() const {
  auto getKey = [&](const WatchedRecord &record) {
    const host::ValueStatistics &total = record.total;
    int64_t nonZero = total.getNonZero();
    int kind = total.getNonFinite()              ? 0
               : total.fields[host::kOverflows]  ? 1
               : total.fields[host::kUnderflows] ? 2
                                                 : 3;
    int64_t count =
        kind == 1   ? total.fields[host::kOverflows]
        : kind == 2 ? total.fields[host::kUnderflows]
                    : total.getBelow(
                          getLowExponents(getJudgedType(record, low)).normal);
    return std::make_pair(kind, kind == 0 ? 0.0 : -divide(count, nonZero));
  };
  llvm::SmallVector<const WatchedRecord *> order;
  for (const WatchedRecord &record : records)
    order.push_back(&record);
  llvm::stable_sort(order, [&](const auto *left, const auto *right) {
    return getKey(*left) < getKey(*right);
  });
  return order;
}

void Watcher::printTable(llvm::StringRef run, llvm::raw_ostream &os) const {
  constexpr size_t kMostLines = 12;
  int64_t counts[3] = {0, 0, 0};
  for (const WatchedRecord &record : records) {
    counts[0] += record.total.getNonFinite() != 0;
    counts[1] += record.total.fields[host::kOverflows] != 0;
    counts[2] += record.total.fields[host::kUnderflows] != 0;
  }
  os << "watched " << records.size() << " values in " << steps.size()
     << " steps, " << run << ": " << counts[0] << " not finite, " << counts[1]
     << " with overflow and " << counts[2] << " with underflow in a cast\n";
  os << "not finite   overflow  underflow  below normal    largest   smallest  "
        "part      type       value\n";
  auto share = [&](int64_t part, int64_t whole, int width) {
    os << llvm::format("%*.3f%%", width - 1, 100.0 * divide(part, whole));
  };
  llvm::SmallVector<const WatchedRecord *> order = rank();
  for (const WatchedRecord *record :
       llvm::ArrayRef(order).take_front(kMostLines)) {
    const host::ValueStatistics &total = record->total;
    llvm::StringRef judged = getJudgedType(*record, low);
    share(total.getNonFinite(), total.getCount(), 10);
    share(total.fields[host::kOverflows], total.getNonZero(), 11);
    share(total.fields[host::kUnderflows], total.getNonZero(), 11);
    share(total.getBelow(getLowExponents(judged).normal), total.getNonZero(),
          14);
    std::string type = record->type;
    if (!record->to.empty())
      type += " > " + record->to;
    os << llvm::format("%11.3g%11.3g", total.getLargest(), total.getSmallest())
       << "  " << llvm::left_justify(record->part, 10)
       << llvm::left_justify(type, 11) << record->name << '\n';
  }
  if (records.size() > kMostLines)
    os << "and " << records.size() - kMostLines
       << " more: see --watch-json or --watch-page\n";
}
