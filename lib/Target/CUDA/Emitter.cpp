//===- Emitter.cpp - Programs as CUDA C++ ---------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmitterSupport.h"

#include "amp/Dialect/AMP/IR/InitialValue.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <cmath>

using namespace mlir;
using namespace mlir::cuda;

/// The maximum rank of a buffer in the runtime, `amp::cuda::kMaxRank`.
static constexpr int64_t kMaxRank = 8;

/// The enumerator of amp::cuda::Role for `buffer`. A buffer that only the
/// program uses is a temporary.
static StringRef getRole(BufferOp buffer) {
  StringRef role = buffer.getRole().value_or("");
  if (role == "metric")
    return "Metric";
  if (role == "prediction")
    return "Prediction";
  if (role == "constant")
    return "Constant";
  if (std::optional<mlir::amp::Role> known = mlir::amp::symbolizeRole(role))
    switch (*known) {
    case mlir::amp::Role::Parameter:
      return "Parameter";
    case mlir::amp::Role::OptimizerState:
      return "OptimizerState";
    case mlir::amp::Role::ModelState:
      return "ModelState";
    case mlir::amp::Role::Batch:
      return "Batch";
    case mlir::amp::Role::Hyperparameter:
      return "Hyperparameter";
    case mlir::amp::Role::ScalerState:
    case mlir::amp::Role::QuantizerState:
      return "ScalerState";
    }
  return "Temporary";
}

/// An initialiser of amphost::InitInfo.
static std::string getInit(mlir::amp::InitAttr init, StringRef name) {
  if (!init)
    return "{}";
  const ::amphost::InitInfo info = mlir::amp::getInitialValue(init, name);
  auto literal = [](double number) {
    return getFloatLiteral(APFloat(number), /*isDouble=*/true);
  };
  // The enumerators are called as the kinds of the attribute.
  std::string kind = llvm::convertToCamelFromSnakeCase(
      mlir::amp::stringifyInitKind(init.getKind()), /*capitalizeFirst=*/true);
  return "{InitInfo::Kind::" + kind + ", " + literal(info.first) + ", " +
         literal(info.second) + ", " + literal(info.gain) + ", " +
         (init.getSource() ? quote(init.getSource().getValue())
                           : std::string("nullptr")) +
         (info.hasSeed ? ", true, " + std::to_string(info.seed) + "u"
                       : std::string(", false, 0")) +
         ", " + std::to_string(info.stream) + "u}";
}

/// The elements of a constant, floats widened to f64.
static SmallVector<double> getNumbers(DenseElementsAttr value) {
  return llvm::map_to_vector(value.getValues<APFloat>(), [](APFloat number) {
    bool losesInfo;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    return number.convertToDouble();
  });
}

static SmallVector<int64_t> getIntegers(DenseElementsAttr value) {
  bool isBool = value.getElementType().isInteger(1);
  return llvm::map_to_vector(value.getValues<APInt>(), [&](APInt number) {
    return isBool ? int64_t(number.getZExtValue()) : number.getSExtValue();
  });
}

/// The first element and the step of a constant that is an arithmetic
/// progression.
static std::optional<std::pair<double, double>>
matchRange(DenseElementsAttr value) {
  constexpr int64_t kExactAsDouble = int64_t(1) << 53;
  SmallVector<double> numbers;
  if (isa<FloatType>(value.getElementType()))
    numbers = getNumbers(value);
  else
    for (int64_t integer : getIntegers(value)) {
      if (integer < -kExactAsDouble || integer > kExactAsDouble)
        return std::nullopt;
      numbers.push_back(double(integer));
    }
  if (numbers.size() < 2)
    return std::nullopt;
  double first = numbers[0], step = numbers[1] - numbers[0];
  for (auto [i, number] : llvm::enumerate(numbers))
    // -0 differs from 0. A range has no infinity or NaN.
    if (!std::isfinite(number) || first + double(i) * step != number ||
        (number == 0 && std::signbit(number)))
      return std::nullopt;
  return std::pair(first, step);
}

void ProgramEmitter::emitConstants() {
  bool isFirst = true;
  for (BufferOp buffer : program.getBody().front().getOps<BufferOp>()) {
    if (!buffer.isConstant())
      continue;
    auto value = cast<DenseElementsAttr>(*buffer.getValue());
    if (matchRange(value) || value.empty())
      continue;
    SmallVector<std::string> elements;
    bool isFloat = isa<FloatType>(value.getElementType());
    if (isFloat)
      for (double number : getNumbers(value))
        elements.push_back(
            getFloatLiteral(APFloat(number), value.getElementType().isF64()));
    else
      for (int64_t integer : getIntegers(value))
        elements.push_back(integer == INT64_MIN ? "INT64_MIN"
                                                : std::to_string(integer));
    if (isFirst)
      os << "// Elements of constants.\nnamespace elements {\n";
    isFirst = false;
    os << "const " << (isFloat ? "double " : "int64_t ") << buffers[buffer]
       << "[] = {";
    unsigned column = 80;
    for (const std::string &element : elements) {
      if (column + element.size() + 2 > 80) {
        os << "\n   ";
        column = 3;
      }
      os << " " << element << ",";
      column += element.size() + 2;
    }
    os << "\n};\n";
  }
  if (!isFirst)
    os << "} // namespace elements\n\n";
}

/// An initialiser of amphost::InitInfo for a constant called `name`.
static std::string getConstantInit(DenseElementsAttr value, StringRef name) {
  auto range = matchRange(value);
  if (!range)
    return value.empty() ? "{InitInfo::Kind::Zeros}"
                         : ("InitInfo::table(elements::" + name + ")").str();
  return "{InitInfo::Kind::Range, " +
         getFloatLiteral(APFloat(range->first), /*isDouble=*/true) + ", " +
         getFloatLiteral(APFloat(range->second), /*isDouble=*/true) + "}";
}

std::string mlir::cuda::getPrefix(ProgramOp program) {
  return getIdentifier(program.getSymName());
}

void ProgramEmitter::readProgram() {
  for (auto launch : program.getBody().front().getOps<LaunchOpInterface>())
    for (Value scratch : launch.getScratch())
      optionalBuffers.insert(getBuffer(scratch));
  for (Operation &op : program.getBody().front()) {
    if (auto buffer = dyn_cast<BufferOp>(op)) {
      if (!isOptional(buffer)) {
        planned.push_back(buffer);
        buffers[buffer] = identifiers.make(buffer.getName());
      }
      if (buffer.getRole() && buffer.getOffset() < program.getArena())
        stateBytes =
            std::max(stateBytes, alignTo(buffer.getOffset() + buffer.getBytes(),
                                         CUDADialect::kAlignment));
      continue;
    }
    auto launch = dyn_cast<LaunchOpInterface>(op);
    if (!launch)
      continue;
    launches.push_back(launch);
    numCalls += isa<CallOp>(op);
    if (launch.isCollective())
      collectives.insert({&op, unsigned(collectives.size())});
    if (launch.usesCuDNN())
      plans.insert({&op, unsigned(plans.size())});
    else if (launch.isProduct()) {
      products.insert({&op, numProducts});
      numProducts += isa<LinearCrossEntropyOp>(op)
                         ? LinearCrossEntropyOp::kNumProducts
                         : 1;
    }
    if (launch.getNumTableEntries() > 0)
      tables.insert({&op, unsigned(tables.size())});
  }
}

void ProgramEmitter::emitBanner() {
  std::string prefix = getPrefix(program);
  int64_t flops = 0, bytes = 0;
  for (LaunchOpInterface launch : launches) {
    flops += launch.getFlops();
    bytes += getTrafficBytes(launch);
  }
  os << "// Generated by amp-translate --mlir-to-cuda";
  if (!options.source.empty())
    os << " from " << getCommentText(options.source);
  os << ".\n//\n";
  if (numbers.printsLiterals())
    os << "// One step of '" << getCommentText(program.getSymName())
       << "': " << launches.size() << " launches, " << flops << " operations, "
       << bytes << " bytes read and written.\n"
       << "// Memory: " << program.getArena() << " bytes, of which "
       << stateBytes << " keep their contents from step to step.\n";
  if (program.getPredictions() && numbers.printsLiterals())
    os << "// A caller that wants the predictions of training steps takes "
       << *program.getPredictions() << " bytes.\n";
  os << "//\n"
     << "// To replace a kernel NAME below, define it in " << prefix
     << "_kernels.cuh in\n// namespace kernels, together with the "
        "macro "
     << StringRef(prefix).upper() << "_HAS_NAME.\n\n";
  os << "#include \"amp/Runtime/CUDA/ProgramInterface.h\"\n\n"
     << "// The runtime and the program can be compiled as two units, in "
        "parallel, by\n// -DAMP_CUDA_UNIT=2 and -DAMP_CUDA_UNIT=1.\n"
     << "#if !defined(AMP_CUDA_UNIT) || AMP_CUDA_UNIT == 2\n"
     << "#include \"amp/Runtime/CUDA/ExportedProgram.h\"\n";
  if (options.emitMain)
    os << "#include \"amp/Runtime/CUDA/Trainer.h\"\n";
  os << "#endif\n\n#if !defined(AMP_CUDA_UNIT) || AMP_CUDA_UNIT == 1\n";
  for (StringRef header :
       {"BatchNorm", "Conv", "CrossEntropy", "LinearCrossEntropy", "Norm",
        "Pool", "Random", "Reduce", "ScatterAdd", "Softmax"})
    os << "#include \"amp/Runtime/CUDA/" << header << ".h\"\n";
  if (usesPlans(program, options))
    os << "#include \"amp/Runtime/CUDA/CuDNN.h\"\n";
  if (llvm::any_of(launches, [](LaunchOpInterface launch) {
        return isa<DocumentOffsetsOp>(launch.getOperation());
      }))
    os << "#include \"amp/Runtime/CUDA/Documents.h\"\n";
  if (numCalls > 0)
    os << "#include \"amp/Runtime/CUDA/Calls.h\"\n";
  if (!collectives.empty())
    os << "#include \"amp/Runtime/CUDA/NCCLGroup.h\"\n";
  // It does not compile for GPUs without 8-bit floats.
  if (llvm::any_of(launches, [](LaunchOpInterface launch) {
        auto kernel = dyn_cast<KernelOp>(launch.getOperation());
        return isa<QuantizeOp, UpdateQuantizerOp>(launch.getOperation()) ||
               (kernel && kernel.getQuantization());
      }))
    os << "#include \"amp/Runtime/CUDA/Quantize.h\"\n";
  if (llvm::any_of(launches, [](LaunchOpInterface launch) {
        return isa<QuantizedNormOp>(launch.getOperation());
      }))
    os << "#include \"amp/Runtime/CUDA/QuantizedNorm.h\"\n";
  if (llvm::any_of(launches, [](LaunchOpInterface launch) {
        auto kernel = dyn_cast<KernelOp>(launch.getOperation());
        return isa<QuantizeBlocksOp>(launch.getOperation()) ||
               (kernel && kernel.getQuantization() &&
                kernel.getQuantization()->getBlocks());
      }))
    os << "#include \"amp/Runtime/CUDA/QuantizedBlocks.h\"\n";
  if (llvm::any_of(
          program.getBody().front().getOps<OptimizerOp>(),
          [](OptimizerOp optimizer) { return optimizer.getQuantized(); }))
    os << "#include \"amp/Runtime/CUDA/QuantizedOptimizer.h\"\n";
  if (llvm::any_of(program.getBody().front().getOps<KernelOp>(),
                   [](KernelOp kernel) { return kernel.isStatistics(); }))
    os << "#include \"amp/Runtime/CUDA/ValueStatistics.h\"\n";
  // Its headers of CUB take seconds to compile.
  if (llvm::any_of(launches, [](LaunchOpInterface launch) {
        auto scatter = dyn_cast<ScatterAddOp>(launch.getOperation());
        return scatter && scatter.isSorted();
      }))
    os << "#include \"amp/Runtime/CUDA/SortedScatterAdd.h\"\n";
  os << "\n#include <cmath>\n\nnamespace {\nusing namespace amp::cuda;\n\n";
  numbers.emitDeclarations(os);
}

/// Whether `buffer` is a state that holds a loss scale.
bool ProgramEmitter::isLossScale(BufferOp buffer) {
  if (buffer.getRole() !=
      mlir::amp::stringifyRole(mlir::amp::Role::ScalerState))
    return false;
  return llvm::any_of(launches, [&](LaunchOpInterface launch) {
    Value scale = launch.getLossScale();
    return scale && getBuffer(scale) == buffer;
  });
}

void ProgramEmitter::emitPlan() {
  os << "//===-- Memory "
        "--------------------------------------------------------===//\n\n"
     << "// Offsets in the arena.\nnamespace at {\n";
  for (BufferOp buffer : planned) {
    os << getConstant() << " int64_t " << buffers[buffer] << " = "
       << numbers.getHost(buffer.getOffset()) << ";";
    if (numbers.printsLiterals())
      os << " // " << describe(buffer.getType())
         << (buffer.getRole() ? ", " + *buffer.getRole() : Twine());
    os << "\n";
  }
  os << "} // namespace at\n\n";
  emitConstants();
  os << "const BufferInfo kBuffers[] = {\n";
  for (BufferOp buffer : planned) {
    os << "    {" << quote(buffer.getName()) << ", Role::" << getRole(buffer)
       << ", Type::" << getTypeEnumerator(buffer.getType().getElementType())
       << ", ";
    // No reader needs the shape of a temporary.
    SmallVector<int64_t> shape(buffer.getType().getShape());
    if (int64_t(shape.size()) > kMaxRank)
      shape.assign(1, buffer.getType().getNumElements());
    os << shape.size() << ", {";
    llvm::interleaveComma(
        shape, os, [&](int64_t extent) { os << numbers.getHost(extent); });
    os << "}, at::" << buffers[buffer] << ", ";
    if (buffer.isConstant())
      os << getConstantInit(cast<DenseElementsAttr>(*buffer.getValue()),
                            buffers[buffer]);
    else
      os << getInit(buffer.getInit().value_or(mlir::amp::InitAttr()),
                    buffer.getName());
    // Labels are less than the number of classes. A program that was written by
    // hand may only show this in its losses.
    int64_t classes = buffer.getIndexBound().value_or(0);
    for (LaunchOpInterface launch : launches)
      for (auto [index, input] : llvm::enumerate(launch.getInputs()))
        if (classes == 0 && getBuffer(input) == buffer)
          classes = launch.getIndexBound(index);
    os << ", " << numbers.getHost(classes);
    std::optional<RankedTensorType> whole = buffer.getPartOf();
    const bool isScale = isLossScale(buffer);
    const bool isCumulative = buffer.getCumulative();
    if (whole || buffer.getSplit() || isCumulative)
      os << (isScale ? ", true" : ", false") << ", /*isSplit=*/"
         << (buffer.getSplit() ? "true" : "false");
    else if (isScale)
      os << ", true";
    if (whole) {
      os << ", " << whole->getRank() << ", {";
      llvm::interleaveComma(whole->getShape(), os, [&](int64_t extent) {
        os << numbers.getHost(extent);
      });
      os << "}";
    }
    if (isCumulative)
      os << ", 0, {}, /*isCumulative=*/true";
    os << "},\n";
  }
  os << "};\n\n";
}

LogicalResult ProgramEmitter::emitKernels() {
  // The launches of each distinct kernel.
  std::vector<std::pair<std::string, SmallVector<KernelOp>>> kernels;
  llvm::StringMap<size_t> places;
  for (LaunchOpInterface launch : launches) {
    auto kernel = dyn_cast<KernelOp>(launch.getOperation());
    if (!kernel)
      continue;
    std::string text;
    if (failed(printKernel(kernel, text)))
      return failure();
    size_t place = places.try_emplace(text, kernels.size()).first->second;
    if (place == kernels.size())
      kernels.push_back({text, {}});
    SmallVector<KernelOp> &users = kernels[place].second;
    users.push_back(kernel);
    kernelNames[kernel] = getName(users.front());
  }
  if (kernels.empty())
    return success();
  std::string prefix = getPrefix(program);
  os << "//===-- Kernels "
        "-------------------------------------------------------===//\n\n"
     << "namespace kernels {\n#if defined(__has_include)\n#if "
        "__has_include(\""
     << prefix << "_kernels.cuh\")\n#include \"" << prefix
     << "_kernels.cuh\"\n#endif\n#endif\n\n";
  SmallVector<KernelOp> functions;
  for (const auto &[text, users] : kernels) {
    emitKernel(users, text);
    KernelOp first = users.front();
    if (!first.isStatistics())
      continue;
    for (KernelOp user : users)
      countFunctions[user] = functions.size();
    functions.push_back(first);
  }
  emitCountKernel(functions);
  os << "} // namespace kernels\n\n";
  return success();
}

void ProgramEmitter::emitTables() {
  auto getDouble = [&](int64_t value) -> std::string {
    if (!numbers.printsLiterals())
      return "double(" + numbers.getHost(value) + ")";
    std::string text;
    llvm::raw_string_ostream(text) << double(value);
    return text;
  };
  os << "const LaunchInfo kLaunches[] = {\n";
  for (LaunchOpInterface launch : launches) {
    StringRef unit = "F32";
    unsigned bits = launch.isProduct()
                        ? launch.getInputType(0).getElementTypeBitWidth()
                        : 32;
    if (bits < 32)
      unit = bits == 8 ? "Float8" : "Half";
    else if (launch.usesTF32())
      unit = "TF32";
    os << "    {" << quote(getName(launch)) << ", "
       << quote(describeOperations(launch)) << ", " << quote(getPlace(launch))
       << ",\n     " << getDouble(launch.getFlops()) << ", "
       << getDouble(getTrafficBytes(launch)) << ", LaunchInfo::Unit::" << unit;
    if (std::optional<Reader> reader = getReader(launch))
      os << ", " << getReaderSpelling(*reader);
    else if (refreshes(launch))
      os << ", Reader::Training, /*refreshes=*/true";
    os << "},\n";
  }
  os << "};\n\n";
  auto list = [](StringRef name, bool isThere) {
    return isThere ? name.str() : std::string("nullptr");
  };
  BufferOp workspace = findBuffer("workspace");
  os << "const ProgramInfo kProgram = {\n    " << quote(program.getSymName())
     << ", " << numbers.getHost(program.getArena()) << ", "
     << numbers.getHost(stateBytes) << ",\n    kBuffers, " << planned.size()
     << ",\n    " << list("kGemms", !products.empty()) << ", " << numProducts
     << ",\n    ";
  if (workspace)
    os << "at::" << buffers[workspace] << ", "
       << numbers.getHost(workspace.getBytes());
  else
    os << "0, 0";
  os << ",\n    " << list("kOptimizers", !tables.empty()) << ", "
     << tables.size() << ",\n    " << list("kLaunches", !launches.empty())
     << ", " << launches.size() << ",\n    enqueue,\n    {";
  if (StateAttr state = program.getStateAttr()) {
    // A graph with a fixed batch has another fingerprint for each batch size.
    const std::string fingerprint =
        numbers.printsLiterals()
            ? std::to_string(state.getFingerprint()) + "u"
            : "uint64_t(" + numbers.getHost(int64_t(state.getFingerprint())) +
                  ")";
    os << quote(state.getPrecision()) << ", " << fingerprint << ", "
       << quote(state.getScalerText());
  }
  os << "}";
  // The last members that have their defaults are left out.
  const bool hasCollectives = !collectives.empty() || numCalls > 0;
  const bool hasPredictions = program.getPredictions() || hasCollectives;
  if (!plans.empty() || hasPredictions)
    os << ",\n    " << (plans.empty() ? "{}" : "kPlanTable");
  if (hasPredictions)
    os << ",\n    " << numbers.getHost(program.getPredictions().value_or(0));
  if (hasCollectives)
    os << ",\n    " << (collectives.empty() ? "{}" : "kCollectiveTable");
  if (numCalls > 0)
    os << ",\n    kCallees, " << numCalls;
  os << "};\n";
}

LogicalResult ProgramEmitter::verifyLaunches() {
  for (BufferOp buffer : program.getBody().front().getOps<BufferOp>()) {
    ShapedType type = buffer.getType();
    if (buffer.getPartOf())
      type = *buffer.getPartOf();
    if (buffer.getRole() && type.getRank() > kMaxRank)
      return buffer.emitOpError("has rank ")
             << type.getRank() << ", expected at most " << kMaxRank;
  }
  // Names of launches become function names.
  llvm::StringSet<> taken;
  for (LaunchOpInterface launch : launches) {
    std::string name = launch.getName().value_or("").str();
    if (name.empty() || getIdentifier(name) != name)
      return launch->emitOpError("is named '")
             << name << "', expected a name that is an identifier";
    if (isReservedName(name))
      return launch->emitOpError("is named '")
             << name << "', which is reserved in kernels";
    if (!taken.insert(name).second)
      return launch->emitOpError("is named '")
             << name << "', as another launch is";
  }
  BufferOp arrivalCounters = findBuffer("arrival_counters");
  for (LaunchOpInterface launch : launches) {
    if (launch.getScratchBytes() == 0 || launch.isProduct())
      continue;
    if (!arrivalCounters)
      return launch->emitOpError(
          "needs a buffer of role 'arrival_counters', which "
          "the program lacks");
    if (arrivalCounters.getBytes() < getArrivalCounterBytes())
      return arrivalCounters.emitOpError("has ")
             << arrivalCounters.getBytes()
             << " bytes for arrival counters, expected at least "
             << getArrivalCounterBytes();
  }
  if (!products.empty() && !findBuffer("workspace"))
    return program.emitOpError("multiplies matrices, but has no buffer of role "
                               "'workspace'");
  return success();
}

LogicalResult ProgramEmitter::emitParts() {
  emitPlan();
  emitProducts();
  emitPlans();
  emitCollectives();
  emitCallees();
  if (failed(emitOptimizers()) || failed(emitKernels()))
    return failure();
  emitLaunches();
  emitTables();
  return success();
}

LogicalResult ProgramEmitter::emit() {
  readProgram();
  if (failed(verifyLaunches()))
    return failure();
  emitBanner();
  if (failed(emitParts()))
    return failure();
  os << "} // namespace\n\n";
  return success();
}

LogicalResult ProgramEmitter::emitForward() {
  readProgram();
  if (failed(verifyLaunches()))
    return failure();
  os << "//===-- The forward function, for --eval and --predict "
        "----------------===//\n\n"
     << "namespace {\nnamespace forward {\n";
  if (failed(emitParts()))
    return failure();
  SmallVector<EvaluationAttr> rules;
  if (ArrayAttr evaluation = program.getEvaluationAttr())
    llvm::append_range(rules, evaluation.getAsRange<EvaluationAttr>());
  if (!rules.empty()) {
    os << "\nconst EvaluationRule kRules[] = {\n";
    for (EvaluationAttr rule : rules) {
      StringRef judge = rule.getJudge() == Judge::CrossEntropy ? "CrossEntropy"
                        : rule.getJudge() == Judge::MSE        ? "MSE"
                                                               : "L1";
      os << "    {EvaluationRule::Kind::" << judge << ", "
         << quote(rule.getPrediction()) << ", " << quote(rule.getTarget())
         << "},\n";
    }
    os << "};\n";
  }
  os << "const ForwardInfo kForward = {&kProgram, "
     << (rules.empty() ? "nullptr" : "kRules") << ", " << rules.size()
     << "};\n} // namespace forward\n} // namespace\n";
  return success();
}
