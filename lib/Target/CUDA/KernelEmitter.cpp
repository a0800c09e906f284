//===- KernelEmitter.cpp - Generated kernels ------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmitterSupport.h"

#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace mlir;
using namespace mlir::cuda;

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

int mlir::cuda::getWidth(KernelOp kernel) {
  auto launch = cast<LaunchOpInterface>(kernel.getOperation());
  int64_t count =
      kernel.getNumOutputElements() * kernel.getNumReducedElements();
  if (count == 1)
    return 1;
  unsigned bits = 64;
  for (unsigned index = 0; index < kernel.getNumElementInputs(); ++index)
    if (launch.getInputType(index).getNumElements() > 1)
      bits =
          std::min(bits, launch.getInputType(index).getElementTypeBitWidth());
  if (!kernel.isReduction())
    for (unsigned target = 0; target < kernel.getNumStored(); ++target)
      bits =
          std::min(bits, launch.getTargetType(target).getElementTypeBitWidth());
  if (kernel.isColumnReduction())
    return kernel.getNumOutputElements() % 2 == 0 ? 2 : 1;
  return 128 / std::max(bits, 16u);
}

/// Whether `value` is computed from `source`.
static bool depends(Value value, Value source) {
  SmallVector<Value> worklist{value};
  DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (next == source)
      return true;
    if (!seen.insert(next).second)
      continue;
    if (Operation *definition = next.getDefiningOp())
      llvm::append_range(worklist, definition->getOperands());
  }
  return false;
}

LogicalResult ProgramEmitter::emitValue(KernelOp kernel,
                                        ArrayRef<unsigned> order,
                                        unsigned yielded, unsigned indent) {
  Block &body = kernel.getBody().front();
  Value value = body.getTerminator()->getOperand(yielded);
  // A value that is read unchanged needs no function.
  bool isBool = kernel.isReduction() && value.getType().isInteger(1);
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && !isBool &&
      argument.getArgNumber() < kernel.getNumElementInputs()) {
    os << "x" << argument.getArgNumber();
    return success();
  }
  // The arguments of the function are the elements and positions that it needs.
  ScalarEmitter scalars(os, indent + 2, numbers);
  SmallVector<std::string> parameters, arguments;
  auto isNeeded = [&](Value candidate) { return depends(value, candidate); };
  for (BlockArgument argument : body.getArguments()) {
    unsigned index = argument.getArgNumber();
    std::string name = "in" + std::to_string(index);
    if (index < kernel.getNumElementInputs()) {
      name = "x" + std::to_string(index);
      scalars.setName(argument, name);
      if (!isNeeded(argument))
        continue;
      parameters.push_back(
          (getScalarType(argument.getType()) + " " + name).str());
      arguments.push_back(name);
    }
    scalars.setName(argument, name);
  }
  std::set<unsigned> loops;
  for (IndexOp index : body.getOps<IndexOp>()) {
    std::string name = "d" + std::to_string(index.getLoop());
    scalars.setName(index.getResult(), name);
    if (isNeeded(index.getResult()) && loops.insert(index.getLoop()).second) {
      parameters.push_back("int64_t " + name);
      arguments.push_back(
          "at.indexed(" + numbers.getCapture().str() + "(int64_t i) { return " +
          getPosition(kernel, order, index.getLoop(), numbers) + "; })");
    }
  }
  // A value without operands is still computed once per lane.
  if (parameters.empty()) {
    parameters.push_back("int64_t");
    arguments.push_back("at.indexed([](int64_t i) { return i; })");
  }
  os << "at.map([=](" << llvm::join(parameters, ", ") << ") {\n";
  if (failed(scalars.emit(body, value)))
    return failure();
  std::string result = scalars.get(value);
  if (isBool)
    result = "uint32_t(" + result + ")";
  else if (value.getType().isInteger(1))
    result = "bool(" + result + ")";
  os.indent(indent + 2) << "return " << result << ";\n";
  os.indent(indent) << "}, " << llvm::join(arguments, ", ") << ")";
  return success();
}

/// The combiner of a reduction in Reduce.h.
static std::string getCombiner(KernelOp kernel, Type type) {
  bool isBool = type.isInteger(1);
  switch (*kernel.getCombine()) {
  case Combine::Add:
    if (isBool)
      return "Odd";
    return ("Sum<" + getScalarType(type) + ">").str();
  case Combine::Mul:
    if (isBool)
      return "All";
    return ("Product<" + getScalarType(type) + ">").str();
  case Combine::Maximum:
    return "Maximum";
  case Combine::Minimum:
    return "Minimum";
  case Combine::And:
    return "All";
  case Combine::Or:
    return "Any";
  case Combine::Statistics:
    break;
  }
  llvm_unreachable("a combination");
}

/// The type of the first value that a kernel yields. A reduction combines
/// values of this type.
static Type getCombinedType(KernelOp kernel) {
  return kernel.getBody().front().getTerminator()->getOperand(0).getType();
}

/// Returns the type of the partial results of a reduction or a magnitude.
static std::string getWord(KernelOp kernel) {
  if (kernel.getQuantization())
    return "float";
  Type type = getCombinedType(kernel);
  return type.isInteger(1) ? "uint32_t" : getScalarType(type).str();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

void ProgramEmitter::emitKernelComment(ArrayRef<KernelOp> users) {
  KernelOp kernel = users.front();
  auto list = [&](ValueRange values) {
    llvm::interleaveComma(values, os, [&](Value value) {
      os << getCommentText(getBuffer(value).getName()) << ": "
         << describe(shapedType(value));
    });
  };
  os << "// " << getCommentText(describeOperations(kernel, kMostInComment));
  if (std::string place = getPlace(kernel); !place.empty())
    os << " (" << getCommentText(place) << ")";
  os << "\n";
  if (numbers.printsLiterals()) {
    os << "//   ";
    list(kernel.getInputs());
    os << " -> ";
    list(kernel.getOutputs());
    os << "\n";
  }
  if (users.size() == 1)
    return;
  std::string line = "// Launched as";
  for (auto [index, user] : llvm::enumerate(users)) {
    std::string word =
        " " + getName(user) + (index + 1 == users.size() ? "." : ",");
    if (line.size() + word.size() > 80) {
      os << line << "\n";
      line = "//";
    }
    line += word;
  }
  os << line << "\n";
}

SmallVector<KernelParameter>
ProgramEmitter::listParameters(KernelOp kernel,
                               ArrayRef<KernelArgument> arguments) {
  auto storage = [](Value value) {
    return getStorageType(shapedType(value).getElementType());
  };
  SmallVector<KernelParameter> parameters;
  for (auto [index, output] : llvm::enumerate(kernel.getOutputs()))
    parameters.push_back(
        {(storage(output) + " *").str(), ("out" + Twine(index)).str()});
  for (auto [index, input] : llvm::enumerate(kernel.getInputs()))
    parameters.push_back({("const " + storage(input) + " *").str(),
                          ("in" + Twine(index)).str()});
  if (takesPartials(kernel)) {
    parameters.push_back({getWord(kernel) + " *", "partials"});
    parameters.push_back({"unsigned *", "arrivalCounters"});
  }
  if (kernel.getPredicate())
    parameters.push_back({"const uint8_t *", "flag"});
  for (auto [index, argument] : llvm::enumerate(arguments))
    parameters.push_back({argument.type.str(), ("n" + Twine(index)).str()});
  return parameters;
}

std::string ProgramEmitter::getKernelParameters(KernelOp kernel) {
  SmallVector<std::string> parameters;
  if (kernel.isStatistics())
    parameters.push_back("CountedPart part");
  for (const auto &[type, name] :
       listParameters(kernel, numbers.getArguments()))
    parameters.push_back(
        (type + Twine(StringRef(type).ends_with("*") ? "" : " ") + name).str());
  return "(" + llvm::join(parameters, ", ") + ")";
}

void ProgramEmitter::emitReads(KernelOp kernel, ArrayRef<unsigned> order,
                               unsigned indent) {
  for (unsigned index = 0; index < kernel.getNumElementInputs(); ++index)
    os.indent(indent) << "auto x" << index << " = "
                      << getRead(kernel, order, index, numbers) << ";\n";
}

/// Returns the start of the call that computes the elements of a kernel and
/// quantises the last value.
static std::string getQuantizationStart(KernelOp kernel,
                                        NumberPrinter &numbers) {
  QuantizationAttr quantization = *kernel.getQuantization();
  auto getExtent = [&](int64_t value) { return numbers.getKernel(value); };
  auto getTarget = [&](unsigned target) {
    return "out" + std::to_string(kernel.getNumStored() + target);
  };
  if (quantization.getBlocks())
    return "quantizeBlockTiles<" + getCodeFormat(quantization) + ", " +
           getScaleKindArguments(quantization) + ">(\n      " +
           getQuantizeConfig(quantization, getExtent) + ",\n      " +
           getScaleRule(quantization) + ",\n      " +
           getBlockResults(quantization, getTarget);
  std::string scale = quantization.hasCodes()
                          ? "in" + std::to_string(kernel.getInputs().size() - 1)
                          : "static_cast<const float *>(nullptr)";
  return "quantizeTiles<" + getCodeFormat(quantization) + ">(\n      " +
         getQuantizeConfig(quantization, getExtent) + ",\n      " +
         getQuantizeResults(quantization, getTarget) + ",\n      " + scale +
         ", partials, arrivalCounters";
}

LogicalResult ProgramEmitter::emitElementwise(KernelOp kernel,
                                              ArrayRef<unsigned> order) {
  bool quantizes = kernel.getQuantization().has_value();
  if (quantizes)
    os << "  " << getQuantizationStart(kernel, numbers);
  else
    os << "  elementwise<" << getWidth(kernel) << ">("
       << numbers.getKernel(kernel.getNumOutputElements());
  os << ", [=](auto at) {\n";
  emitReads(kernel, order, 4);
  ValueRange yielded = kernel.getBody().front().getTerminator()->getOperands();
  if (quantizes) {
    os << "    const auto quantized = ";
    if (failed(emitValue(kernel, order, yielded.size() - 1, 4)))
      return failure();
    os << ";\n";
  }
  for (unsigned target = 0; target < kernel.getNumStored(); ++target) {
    if (quantizes && yielded[target] == yielded.back()) {
      os << "    at.store(out" << target << ", quantized);\n";
      continue;
    }
    os << "    at.store(out" << target << ", ";
    if (failed(emitValue(kernel, order, target, 4)))
      return failure();
    os << ");\n";
  }
  os << (quantizes ? "    return quantized;\n  });\n" : "  });\n");
  return success();
}

/// The call of the reduction without the combined value.
static std::string getReductionStart(KernelOp kernel, bool takesPartials,
                                     NumberPrinter &numbers) {
  int64_t outputs = kernel.getNumOutputElements(),
          reduced = kernel.getNumReducedElements();
  std::string combiner = getCombiner(kernel, getCombinedType(kernel)),
              width = std::to_string(getWidth(kernel)),
              extent = numbers.getKernel(reduced);
  // One block per result needs no partial results.
  std::string partials =
      takesPartials ? ", partials, arrivalCounters" : ", nullptr, nullptr";
  if (outputs == 1)
    return "reduceAll<" + combiner + ", " + width + ">(" + extent + partials +
           ",\n    [=](auto at)";
  const std::string count = numbers.getKernel(outputs);
  if (kernel.isColumnReduction())
    return "reduceColumns<" + combiner + ", " + width + ">(" + extent + ", " +
           count + partials + ",\n    [=](auto at, int64_t, int64_t)";
  return "reduceRows<" + combiner + ", " +
         (reduced <= 1024 ? "32" : "kThreads") + ", " + width + ">(" + count +
         ", " + extent + ",\n    [=](auto at, int64_t, int64_t)";
}

LogicalResult ProgramEmitter::emitReduction(KernelOp kernel,
                                            ArrayRef<unsigned> order) {
  os << "  " << getReductionStart(kernel, takesPartials(kernel), numbers)
     << " {\n";
  emitReads(kernel, order, 6);
  os << "      return ";
  if (failed(emitValue(kernel, order, 0, 6)))
    return failure();
  bool isAll = kernel.getNumOutputElements() == 1;
  os << ";\n    },\n    [=](" << (isAll ? "" : "int64_t place, ")
     << getWord(kernel) << " sum) {\n";
  bool isBool = getCombinedType(kernel).isInteger(1);
  std::string result = isBool ? "sum != 0" : "sum";
  if (!kernel.getFinish().empty()) {
    Block &finish = kernel.getFinish().front();
    ScalarEmitter scalars(os, 6, numbers);
    scalars.setName(finish.getArgument(0), isBool ? "(sum != 0)" : "sum");
    Value value = finish.getTerminator()->getOperand(0);
    if (failed(scalars.emit(finish, value)))
      return failure();
    result = scalars.get(value);
  }
  os << "      storeOne(out0" << (isAll ? "" : " + place") << ", " << result
     << ");\n    });\n";
  return success();
}

LogicalResult ProgramEmitter::printKernel(KernelOp kernel, std::string &text) {
  std::string body;
  llvm::raw_string_ostream bodyStream(body), stream(text);
  ProgramEmitter printer(program, options, bodyStream);
  if (failed(printer.emitKernelBody(kernel)))
    return failure();
  // The body determines which numbers are parameters.
  kernelArguments[kernel].assign(printer.numbers.getArguments().begin(),
                                 printer.numbers.getArguments().end());
  stream << printer.getKernelParameters(kernel) << body;
  return success();
}

bool ProgramEmitter::takesPartials(KernelOp kernel) {
  if (std::optional<QuantizationAttr> quantization = kernel.getQuantization())
    return !quantization->getBlocks();
  if (kernel.getScratchBytes() != 0)
    return true;
  // Whether several blocks compute a result follows from the extents.
  return !numbers.printsLiterals() && kernel.isReduction() &&
         !kernel.isStatistics() &&
         (kernel.getNumOutputElements() == 1 || kernel.isColumnReduction());
}

void ProgramEmitter::emitKernel(ArrayRef<KernelOp> users, StringRef text) {
  emitKernelComment(users);
  KernelOp first = users.front();
  std::string name = getName(first);
  os << "#ifndef " << StringRef(getPrefix(program)).upper() << "_HAS_" << name
     << (first.isStatistics()
             ? "\nAMP_COUNT_FUNCTION void "
             : "\n__global__ void __launch_bounds__(kThreads) ")
     << name << text << "#endif\n\n";
}

LogicalResult ProgramEmitter::emitKernelBody(KernelOp kernel) {
  SmallVector<unsigned> order = getLoopOrder(kernel);
  os << " {\n";
  if (kernel.getPredicate())
    os << "  if (!guarded(flag))\n    return;\n";
  if (failed(kernel.isStatistics()  ? emitStatistics(kernel, order)
             : kernel.isReduction() ? emitReduction(kernel, order)
                                    : emitElementwise(kernel, order)))
    return failure();
  os << "}\n";
  return success();
}

void ProgramEmitter::emitKernelLaunch(KernelOp kernel) {
  int64_t outputs = kernel.getNumOutputElements(),
          reduced = kernel.getNumReducedElements();
  auto number = [&](int64_t value) { return numbers.getHost(value); };
  std::string name = getName(kernel);
  std::string shape;
  if (std::optional<QuantizationAttr> quantization = kernel.getQuantization())
    shape = std::string(quantization->getBlocks() ? "blocksShape("
                                                  : "quantizeShape(") +
            number(quantization->getRows()) + ", " +
            number(quantization->getColumns()) + ")";
  else if (!kernel.isReduction())
    shape = "elementwiseShape(" + number(outputs) + ", " +
            std::to_string(getWidth(kernel)) + ")";
  else if (outputs == 1)
    shape = "reduceShape(" + number(reduced) + ")";
  else if (kernel.isColumnReduction())
    shape =
        "columnShape(" + number(reduced) + ", " + number(outputs) +
        (getCombinedType(kernel).getIntOrFloatBitWidth() > 32 ? ", 2)" : ")");
  else
    shape = std::string("rowShape<") + (reduced <= 1024 ? "32" : "kThreads") +
            ">(" + number(outputs) + ")";
  os << "launch(\"" << name << "\", run.stream, " << shape
     << ", kernels::" << kernelNames.lookup(kernel);
  for (Value output : kernel.getOutputs())
    os << ",\n        " << getPointer(output);
  for (Value input : kernel.getInputs())
    os << ",\n        " << getPointer(input);
  if (takesPartials(kernel)) {
    auto launch = cast<LaunchOpInterface>(kernel.getOperation());
    os << ",\n        " << getScratch(launch, getWord(kernel)) << ", "
       << getArrivalCounters();
  }
  if (kernel.getPredicate())
    os << ",\n        " << getGuard(kernel);
  for (const KernelArgument &argument : kernelArguments.lookup(kernel))
    os << ",\n        " << numbers.getArgument(argument);
  os << ")";
}
