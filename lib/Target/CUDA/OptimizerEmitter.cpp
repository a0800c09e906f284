//===- OptimizerEmitter.cpp - Launches over many tensors ------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmitterSupport.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <array>

using namespace mlir;
using namespace mlir::cuda;

//===----------------------------------------------------------------------===//
// Tables of tensors
//===----------------------------------------------------------------------===//

namespace {
/// An entry of a table of tensors. A missing value is null.
struct TableEntry {
  Value parameter, gradient, first, second, copy;
  double weightDecay = 0.0;
  bool isSplit = false;
  /// The keys for the stochastic rounding of the parameter, the first state and
  /// the second state, or -1.
  std::array<int64_t, 3> keys = {-1, -1, -1};
  /// The number of its 8-bit copies, or -1.
  int64_t quantized = -1;
};
} // namespace

static SmallVector<TableEntry> getEntries(OptimizerOp optimizer) {
  unsigned count = optimizer.getNumParameters(),
           states = optimizer.getNumStates();
  SmallVector<TableEntry> entries(count);
  for (auto [index, entry] : llvm::enumerate(entries)) {
    entry.parameter = optimizer.getParameters()[index];
    entry.gradient = optimizer.getGradients()[index];
    if (states > 0)
      entry.first = optimizer.getState(0)[index];
    if (states > 1)
      entry.second = optimizer.getState(1)[index];
    entry.weightDecay = optimizer.getWeightDecay()[index];
    entry.isSplit = llvm::is_contained(optimizer.getSplits(), int64_t(index));
    if (!optimizer.getRoundingKeys().empty())
      for (unsigned target = 0; target <= states; ++target)
        entry.keys[target] =
            optimizer.getRoundingKeys()[target * count + index];
  }
  // A parameter in 16 bits has no copy. Its rounding error takes this place.
  unsigned next = (1 + states) * count;
  for (ArrayRef<int64_t> indices :
       {optimizer.getCompensations(), optimizer.getCopies()})
    for (int64_t index : indices)
      entries[index].copy = optimizer.getOutputs()[next++];
  for (auto [number, each] :
       llvm::enumerate(optimizer.getQuantizedParameters()))
    entries[each.getIndex()].quantized = number;
  return entries;
}

static SmallVector<TableEntry> getEntries(CheckGradientsOp check) {
  SmallVector<TableEntry> entries;
  // A check reads only gradients, which also take the place of the parameters.
  for (Value gradient : check.getGradients())
    entries.push_back({gradient, gradient, {}, {}, {}});
  return entries;
}

static SmallVector<TableEntry> getEntries(CastsOp casts) {
  SmallVector<TableEntry> entries;
  for (auto [input, output] :
       llvm::zip_equal(casts.getInputs(), casts.getOutputs()))
    entries.push_back({input, {}, {}, {}, output});
  return entries;
}

/// Returns an initialiser of amp::cuda::OptimizerStorage. Empty if the
/// parameter and the states are f32 and whole.
static std::string getStorage(const TableEntry &entry) {
  auto isWide = [](Value value) {
    return !value || shapedType(value).getElementType().isF32();
  };
  if (!entry.first && !entry.second && !entry.gradient)
    return "";
  if (!entry.isSplit && (entry.parameter == entry.gradient ||
                         (isWide(entry.parameter) && isWide(entry.first) &&
                          isWide(entry.second))))
    return "";
  std::string text = ", {";
  for (Value value : {entry.parameter, entry.first, entry.second})
    text += "Type::" +
            (value ? getTypeEnumerator(shapedType(value).getElementType())
                   : StringRef("F32"))
                .str() +
            ", ";
  text += entry.isSplit ? "true, {" : "false, {";
  text += llvm::join(
      llvm::map_range(entry.keys,
                      [](int64_t key) { return std::to_string(key); }),
      ", ");
  return text + "}}";
}

LogicalResult ProgramEmitter::emitTable(LaunchOpInterface launch) {
  SmallVector<TableEntry> entries =
      llvm::TypeSwitch<Operation *, SmallVector<TableEntry>>(launch)
          .Case<OptimizerOp, CheckGradientsOp, CastsOp>(
              [](auto op) { return getEntries(op); });
  std::string name = getName(launch);
  BufferOp table = findBuffer("table", name + ".table");
  if (!table)
    return launch->emitOpError("needs a buffer '")
           << name << ".table' of role 'table', which the program lacks";
  if (table.getBytes() <
      int64_t(entries.size()) * CUDADialect::kTableEntryBytes)
    return table.emitOpError("holds ")
           << table.getBytes() << " bytes, expected "
           << entries.size() * CUDADialect::kTableEntryBytes;
  auto offset = [&](Value value) {
    return value ? getOffset(value) : std::string("-1");
  };
  auto type = [](Value value, StringRef otherwise) {
    return value ? getTypeEnumerator(shapedType(value).getElementType())
                 : otherwise;
  };
  os << "const OptimizerEntry entries_" << name << "[] = {\n";
  for (const TableEntry &entry : entries)
    os << "    {" << offset(entry.parameter) << ", " << offset(entry.gradient)
       << ", " << offset(entry.first) << ", " << offset(entry.second) << ", "
       << offset(entry.copy) << ", "
       << numbers.getHost(shapedType(entry.parameter).getNumElements())
       << ", Type::" << type(entry.gradient, "F32")
       << ", Type::" << type(entry.copy, "F16") << ", "
       << getFloatLiteral(APFloat(entry.weightDecay), false)
       << getStorage(entry)
       << (entry.quantized < 0 ? ""
                               : (getStorage(entry).empty() ? ", {}, " : ", ") +
                                     std::to_string(entry.quantized))
       << "},\n";
  os << "};\n";
  return success();
}

LogicalResult ProgramEmitter::emitQuantizedTable(OptimizerOp optimizer) {
  if (!optimizer.getQuantized())
    return success();
  std::string name = getName(optimizer);
  SmallVector<QuantizedParameterAttr> parameters =
      optimizer.getQuantizedParameters();
  BufferOp table = findBuffer("table", name + ".quantized");
  const int64_t bytes = parameters.size() * CUDADialect::kQuantizedEntryBytes;
  if (!table || table.getBytes() < bytes)
    return optimizer.emitOpError("needs a buffer '")
           << name << ".quantized' of role 'table' with " << bytes
           << " bytes, which the program lacks";
  os << "static_assert(sizeof(QuantizedParameter) == "
     << CUDADialect::kQuantizedEntryBytes << ", \"as planned\");\n"
     << "// Codes, transposed codes, inverse and magnitude, scale, rows and\n"
     << "// columns, type that is quantised, whether to saturate and to keep\n"
     << "// values that are not finite.\n"
     << "const QuantizedEntry quantized_" << name << "[] = {\n";
  for (auto [number, parameter] : llvm::enumerate(parameters)) {
    auto [input, target] = optimizer.getQuantizedPlace(number);
    QuantizationAttr copies = parameter.getQuantization();
    os << "    {";
    for (std::optional<unsigned> place :
         {copies.getPayloadTarget(), copies.getTransposedTarget(),
          copies.getInverseTarget(), copies.getAmaxTarget()})
      os << (place ? getOffset(optimizer.getOutputs()[target + *place])
                   : std::string("-1"))
         << ", ";
    os << getOffset(optimizer.getInputs()[input]) << ", "
       << numbers.getHost(copies.getRows()) << ", "
       << numbers.getHost(copies.getColumns())
       << ", Type::" << getTypeEnumerator(parameter.getSource()) << ", "
       << (copies.getSaturate() ? "true" : "false") << ", "
       << (copies.getKeepNonFinite() ? "true" : "false") << "},\n";
  }
  os << "};\n";
  return success();
}

/// The last members of OptimizerGroup for an optimizer that quantises.
std::string ProgramEmitter::getQuantizedTable(LaunchOpInterface launch) {
  auto optimizer = dyn_cast<OptimizerOp>(launch.getOperation());
  if (!optimizer || !optimizer.getQuantized())
    return "";
  std::string name = getName(launch);
  return ",\n     quantized_" + name + ", " +
         std::to_string(optimizer.getQuantizedParameters().size()) +
         ", at::" + buffers.lookup(findBuffer("table", name + ".quantized"));
}

LogicalResult ProgramEmitter::emitOptimizers() {
  if (tables.empty())
    return success();
  os << "//===-- Tables of tensors "
        "---------------------------------------------===//\n\n"
     << "static_assert(sizeof(OptimizerTensor) == "
     << CUDADialect::kTableEntryBytes << ", \"as planned\");\n\n"
     << "// Parameter, gradient, first and second state, copy, elements,\n"
     << "// types of gradient and copy, weight decay, storage unless f32.\n";
  for (LaunchOpInterface launch : launches)
    if (tables.contains(launch) && failed(emitTable(launch)))
      return failure();
  for (LaunchOpInterface launch : launches)
    if (auto optimizer = dyn_cast<OptimizerOp>(launch.getOperation());
        optimizer && failed(emitQuantizedTable(optimizer)))
      return failure();
  os << "const OptimizerGroup kOptimizers[] = {\n";
  for (LaunchOpInterface launch : launches)
    if (tables.contains(launch)) {
      std::string name = getName(launch);
      os << "    {entries_" << name << ", " << launch.getNumTableEntries()
         << ", at::" << buffers.lookup(findBuffer("table", name + ".table"))
         << getQuantizedTable(launch) << "},\n";
    }
  os << "};\n\n";
  return success();
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

std::string ProgramEmitter::getTable(LaunchOpInterface launch) {
  return "run.optimizers[" + std::to_string(tables.lookup(launch)) + "]";
}

void ProgramEmitter::emitCasts(CastsOp casts) {
  os << "castParameters(run.stream, " << getTable(casts) << ")";
}

void ProgramEmitter::emitCheck(CheckGradientsOp check) {
  double limit = check.getMaxNorm() ? check.getMaxNorm()->convertToDouble() : 0;
  Value scale = check.getLossScale();
  os << "unscaleCheck(run.stream, " << getTable(check) << ",\n        "
     << (scale ? getPointer(scale) : std::string("nullptr")) << ", "
     << getFloatLiteral(APFloat(limit), false)
     << ",\n        run.at<UnscaleState>(" << getOffset(check.getOutputs()[0])
     << "),\n        " << getPointer(check.getOutputs()[1]) << ",\n        "
     << getPointer(check.getOutputs()[2]) << ",\n        " << getScratch(check)
     << ", " << getArrivalCounters()
     << (check.getStrict() ? ", /*strict=*/true)" : ")");
}

void ProgramEmitter::emitOptimizer(OptimizerOp optimizer) {
  auto real = [](APFloat value, bool isDouble = false) {
    return getFloatLiteral(value, isDouble);
  };
  std::string state =
      optimizer.getMultiplier()
          ? "run.at<UnscaleState>(" + getOffset(optimizer.getMultiplier()) + ")"
          : "nullptr";
  bool isAdam = optimizer.getKind() != OptimizerKind::SGD;
  if (optimizer.getQuantized())
    os << (isAdam ? "quantizedAdam" : "quantizedSgd") << "<Float8::E4M3>";
  else
    os << (isAdam ? "adam" : "sgd");
  os << "(run.stream, " << getTable(optimizer) << ",\n        ";
  if (isAdam)
    os << "AdamConfig{" << real(optimizer.getBeta1(), true) << ", "
       << real(optimizer.getBeta2(), true) << ", "
       << real(optimizer.getEpsilon()) << ", "
       << (optimizer.getKind() == OptimizerKind::AdamW ? "true" : "false")
       << "}";
  else
    os << "SgdConfig{" << real(optimizer.getMomentum()) << ", "
       << (optimizer.getNesterov() ? "true" : "false") << "}";
  os << ",\n        " << getPointer(optimizer.getLearningRate());
  if (isAdam)
    os << ",\n        " << getPointer(optimizer.getStep());
  os << ",\n        " << state << ", " << getGuard(optimizer);
  if (Value random = optimizer.getRandomState())
    os << ",\n        " << getConstPointer(random);
  os << ")";
}
