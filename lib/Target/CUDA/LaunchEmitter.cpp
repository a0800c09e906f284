//===- LaunchEmitter.cpp - The list of launches ---------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmitterSupport.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::cuda;

static ShapedType shapedType(Value value) {
  return cast<ShapedType>(value.getType());
}

std::string ProgramEmitter::getName(LaunchOpInterface launch) {
  return launch.getName().value_or("launch").str();
}

std::string ProgramEmitter::getOffset(Value buffer) {
  return "at::" + buffers.lookup(getBuffer(buffer));
}

std::string ProgramEmitter::getPointer(Value buffer) {
  return ("run.at<" + getStorageType(shapedType(buffer).getElementType()) +
          ">(" + getOffset(buffer) + ")")
      .str();
}

std::string ProgramEmitter::getGuard(LaunchOpInterface launch) {
  Value predicate = launch.getPredicate();
  return predicate ? getPointer(predicate) : "nullptr";
}

BufferOp ProgramEmitter::findBuffer(StringRef role, StringRef name) {
  for (auto buffer : program.getBody().front().getOps<BufferOp>())
    if (buffer.getRole() == role && (name.empty() || buffer.getName() == name))
      return buffer;
  return {};
}

std::string ProgramEmitter::getTickets() {
  // Where nothing needs them, there are none.
  BufferOp tickets = findBuffer("tickets");
  return tickets ? "run.at<unsigned>(at::" + buffers.lookup(tickets) + ")"
                 : "nullptr";
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static std::string getEpilogue(GemmOp gemm) {
  std::string bias = gemm.getBias() ? "Bias" : "";
  std::string aux = gemm.getAuxiliary() ? "Aux" : "";
  std::string grad = gemm.getBiasGrad() ? "BiasGrad" : "";
  switch (gemm.getActivation()) {
  case Activation::None:
    if (gemm.getBiasGrad())
      return "BiasGradB";
    return gemm.getBias() ? "Bias" : "None";
  case Activation::Relu:
    return "Relu" + aux + bias;
  case Activation::GeluTanh:
    return "Gelu" + aux + bias;
  case Activation::ReluGrad:
    return "DRelu" + grad;
  case Activation::GeluTanhGrad:
    return "DGelu" + grad;
  }
  llvm_unreachable("an activation");
}

static std::string getEpilogue(ConvOp conv) {
  std::string bias = conv.getBias() ? "Bias" : "";
  if (conv.getBiasGrad())
    return "BiasGradB";
  if (conv.getActivation() == Activation::Relu)
    return (conv.getAuxiliary() ? "ReluAux" : "Relu") + bias;
  return conv.getBias() ? bias : "None";
}

static std::string getConvShape(ConvOp conv) {
  ConvOp::Types types = conv.getForwardTypes();
  SmallVector<int64_t> values(types.input.getShape());
  llvm::append_values(values, types.filter.getDimSize(0),
                      types.filter.getDimSize(1), types.filter.getDimSize(3));
  llvm::append_range(values, conv.getStrides());
  llvm::append_range(values, conv.getPadding());
  llvm::append_range(values, conv.getDilations());
  values.push_back(conv.getGroups());
  std::string text = "{";
  for (int64_t value : values)
    text += (text.size() > 1 ? ", " : "") + std::to_string(value);
  return text + "}";
}

void ProgramEmitter::emitProducts() {
  if (products.empty())
    return;
  os << "//===-- Products "
        "------------------------------------------------------===//\n\n";
  for (LaunchOpInterface launch : launches) {
    std::string name = getName(launch);
    if (auto conv = dyn_cast<ConvOp>(launch.getOperation())) {
      ConvOp::Types types = conv.getForwardTypes();
      StringRef kind = conv.getKind() == ConvKind::Forward     ? "Forward"
                       : conv.getKind() == ConvKind::InputGrad ? "InputGrad"
                                                               : "FilterGrad";
      os << "// Batch, height, width, channels; filter height, width, number;\n"
         << "// strides; padding; dilations; groups.\n"
         << "constexpr ConvShape shape_" << name << " = " << getConvShape(conv)
         << ";\n";
      os << "GemmConfig gemm_" << name << "() {\n  ";
      std::string epilogue = getEpilogue(conv);
      bool isPlain = !conv.getTf32() && epilogue == "None";
      os << (isPlain ? "return " : "GemmConfig g = ") << "conv" << kind
         << "Gemm(\"" << name << "\", shape_" << name << ", Type::"
         << getTypeEnumerator(shapedType(conv.getInputs()[0]).getElementType())
         << ", Type::"
         << getTypeEnumerator(shapedType(conv.getOutputs()[0]).getElementType())
         << ");\n";
      if (conv.getTf32())
        os << "  g.compute = GemmCompute::TF32;\n";
      if (epilogue != "None")
        os << "  g.epilogue = Epilogue::" << epilogue << ";\n";
      if (conv.getAuxiliary())
        os << "  g.strideAux = reluMaskStride("
           << types.output.getShape().back() << ");\n";
      os << (isPlain ? "" : "  return g;\n") << "}\n\n";
      continue;
    }
    auto gemm = dyn_cast<GemmOp>(launch.getOperation());
    if (!gemm)
      continue;
    GemmOp::Extents extents = gemm.getExtents();
    StringRef operand =
        getTypeEnumerator(shapedType(gemm.getA()).getElementType());
    os << "GemmConfig gemm_" << name << "() {\n  GemmConfig g;\n"
       << "  g.name = \"" << name << "\";\n"
       << "  g.m = " << extents.m << ", g.n = " << extents.n
       << ", g.k = " << extents.k << ";\n"
       << "  g.typeA = g.typeB = Type::" << operand << ", g.typeD = Type::"
       << getTypeEnumerator(shapedType(gemm.getOutputs()[0]).getElementType())
       << ";\n";
    if (gemm.getAlpha())
      os << "  g.alpha = " << getFloatLiteral(gemm.getScale(), false) << ";\n";
    if (gemm.getTransposeA())
      os << "  g.transposeA = true;\n";
    if (gemm.getTransposeB())
      os << "  g.transposeB = true;\n";
    if (extents.batch != 1)
      os << "  g.batch = " << extents.batch << ";\n";
    if (gemm.getAccumulate())
      os << "  g.beta = 1.0f;\n";
    if (gemm.getTf32())
      os << "  g.compute = GemmCompute::TF32;\n";
    std::string epilogue = getEpilogue(gemm);
    if (epilogue != "None")
      os << "  g.epilogue = Epilogue::" << epilogue << ";\n";
    bool isRelu = gemm.getActivation() == Activation::Relu ||
                  gemm.getActivation() == Activation::ReluGrad;
    if (gemm.getAuxiliary() || gemm.isGradient()) {
      if (isRelu)
        os << "  g.strideAux = reluMaskStride(" << extents.n << ");\n";
      else
        os << "  g.strideAux = " << extents.n << ";\n";
    }
    os << "  return g;\n}\n\n";
  }
  os << "const GemmConfig kGemms[] = {\n";
  for (LaunchOpInterface launch : launches)
    if (launch.isProduct())
      os << "    gemm_" << getName(launch) << "(),\n";
  os << "};\n\n";
}

void ProgramEmitter::emitProduct(GemmOp gemm) {
  os << "run.gemms->run(" << products.lookup(gemm) << ", b, run.stream)";
}

void ProgramEmitter::emitConvolution(ConvOp conv) {
  std::string name = conv.getName()->str();
  std::string scratch =
      conv.getScratch().empty()
          ? "nullptr"
          : "run.at<void>(" + getOffset(conv.getScratch()[0]) + ")";
  std::string start = "run.stream, *run.gemms, " +
                      std::to_string(products.lookup(conv)) + ", shape_" + name;
  std::string first = getPointer(conv.getInputs()[0]),
              second = getPointer(conv.getInputs()[1]),
              result = getPointer(conv.getOutputs()[0]);
  auto constant = [&](Value value, const std::string &pointer) {
    return ("static_cast<const " +
            getStorageType(shapedType(value).getElementType()) + " *>(" +
            pointer + ")")
        .str();
  };
  switch (conv.getKind()) {
  case ConvKind::Forward:
    os << "convForward(" << start << ", b,\n        "
       << constant(conv.getInputs()[0], first) << ", " << scratch << ")";
    break;
  case ConvKind::FilterGrad:
    os << "convFilterGrad(" << start << ",\n        " << result << ",\n        "
       << constant(conv.getInputs()[1], second) << ",\n        "
       << constant(conv.getInputs()[0], first) << ", " << scratch;
    if (conv.getBiasGrad())
      os << ",\n        " << getPointer(conv.getOutputs()[1]);
    os << ")";
    break;
  case ConvKind::InputGrad:
    os << "convInputGrad(" << start << ",\n        " << result << ",\n        "
       << constant(conv.getInputs()[0], first) << ",\n        "
       << constant(conv.getInputs()[1], second) << ", " << scratch << ")";
    break;
  }
}

//===----------------------------------------------------------------------===//
// Optimizers
//===----------------------------------------------------------------------===//

LogicalResult ProgramEmitter::emitOptimizers() {
  bool isFirst = true;
  std::string list;
  for (LaunchOpInterface launch : launches) {
    SmallVector<std::string> entries;
    auto emitEntry = [&](Value parameter, Value gradient, Value first,
                         Value second, Value copy, double decay) {
      auto offset = [&](Value value) {
        return value ? getOffset(value) : std::string("-1");
      };
      Value any = gradient ? gradient : parameter;
      entries.push_back(
          ("{" + offset(parameter) + ", " + offset(gradient) + ", " +
           offset(first) + ", " + offset(second) + ", " + offset(copy) + ", " +
           std::to_string(shapedType(any).getNumElements()) + ", Type::" +
           (gradient ? getTypeEnumerator(shapedType(gradient).getElementType())
                     : "F32") +
           ", Type::" +
           (copy ? getTypeEnumerator(shapedType(copy).getElementType())
                 : "F16") +
           ", " + getFloatLiteral(APFloat(decay), false) + "}")
              .str());
    };
    if (auto optimizer = dyn_cast<OptimizerOp>(launch.getOperation())) {
      unsigned count = optimizer.getNumParameters(),
               states = optimizer.getNumStates();
      for (unsigned index = 0; index < count; ++index) {
        Value copy;
        for (auto [place, copied] : llvm::enumerate(optimizer.getCopies()))
          if (copied == int64_t(index))
            copy = optimizer.getOutputs()[(1 + states) * count + place];
        emitEntry(optimizer.getParameters()[index],
                  optimizer.getGradients()[index],
                  states > 0 ? optimizer.getState(0)[index] : Value(),
                  states > 1 ? optimizer.getState(1)[index] : Value(), copy,
                  optimizer.getWeightDecay()[index]);
      }
    } else if (auto check = dyn_cast<CheckGradientsOp>(launch.getOperation())) {
      for (Value gradient : check.getGradients())
        // A check reads gradients alone; they stand for the parameters too.
        emitEntry(gradient, gradient, {}, {}, {}, 0.0);
    } else if (auto casts = dyn_cast<CastsOp>(launch.getOperation())) {
      for (auto [input, output] :
           llvm::zip_equal(casts.getInputs(), casts.getOutputs()))
        emitEntry(input, {}, {}, {}, output, 0.0);
    } else {
      continue;
    }
    std::string name = getName(launch);
    BufferOp table = findBuffer("table", name + ".table");
    if (!table)
      return launch->emitOpError("needs a buffer '")
             << name << ".table' of role 'table', which the program lacks";
    if (table.getBytes() < int64_t(entries.size()) * 64)
      return table.emitOpError("holds ")
             << table.getBytes() << " bytes, expected " << entries.size() * 64;
    if (isFirst)
      os << "//===-- Tables of tensors "
            "---------------------------------------------===//\n\n"
         << "static_assert(sizeof(OptimizerTensor) == 64, \"as planned\");\n\n"
         << "// Parameter, gradient, first and second state, copy, elements,\n"
         << "// types of gradient and copy, weight decay.\n";
    isFirst = false;
    os << "const OptimizerEntry entries_" << name << "[] = {\n";
    for (const std::string &entry : entries)
      os << "    " << entry << ",\n";
    os << "};\n";
    list += "    {entries_" + name + ", " + std::to_string(entries.size()) +
            ", at::" + buffers.lookup(table) + "},\n";
  }
  if (!isFirst)
    os << "const OptimizerGroup kOptimizers[] = {\n" << list << "};\n\n";
  return success();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The extents before, of and behind dimension `axis`.
static std::string getAxisExtents(ShapedType type, int64_t axis) {
  int64_t outer = 1, inner = 1;
  for (int64_t extent : type.getShape().take_front(axis))
    outer *= extent;
  for (int64_t extent : type.getShape().drop_front(axis + 1))
    inner *= extent;
  return std::to_string(outer) + ", " + std::to_string(type.getDimSize(axis)) +
         ", " + std::to_string(inner);
}

static std::string getPoolShape(CallOp call, ShapedType input) {
  SmallVector<int64_t> values(input.getShape());
  for (StringRef name : {"window", "strides", "padding"})
    llvm::append_range(values, call.getIntegers(name));
  std::string text = "PoolShape{";
  for (auto [index, value] : llvm::enumerate(values))
    text += (index ? ", " : "") + std::to_string(value);
  return text + "}";
}

/// The rules of amp.update_scale that are not the usual ones, as the last
/// fields of a ScaleConfig.
static std::string getScaleRules(CallOp call) {
  static constexpr StringLiteral kRefills[] = {"Clean", "Growth"};
  static constexpr StringLiteral kAfter[] = {"Count", "Hold", "Refill"};
  int64_t refill = call.getInteger("refill"),
          after = call.getInteger("after_backoff");
  bool finite = call.getInteger("finite_growth") != 0,
       exact = call.getInteger("exact_interval") != 0;
  if (refill == 0 && after == 0 && finite && !exact)
    return "";
  return (", HysteresisRefill::" + kRefills[refill] +
          ", AfterBackoff::" + kAfter[after] + ", " +
          (finite ? "true" : "false") + ", " + (exact ? "true" : "false"))
      .str();
}

LogicalResult ProgramEmitter::emitCall(CallOp call) {
  auto launch = cast<LaunchOpInterface>(call.getOperation());
  StringRef callee = call.getCallee();
  SmallVector<std::string> in, out;
  for (Value input : call.getInputs())
    in.push_back(("static_cast<const " +
                  getStorageType(shapedType(input).getElementType()) + " *>(" +
                  getPointer(input) + ")")
                     .str());
  for (Value output : call.getOutputs())
    out.push_back(getPointer(output));
  std::string scratch =
      call.getScratch().empty()
          ? "nullptr"
          : "run.at<void>(" + getOffset(call.getScratch()[0]) + ")";
  auto print = [&](StringRef function, ArrayRef<std::string> arguments) {
    os << function << "(run.stream";
    for (const std::string &argument : arguments)
      os << ",\n        " << argument;
    os << ")";
    return success();
  };
  auto number = [](int64_t value) { return std::to_string(value); };
  auto real = [&](StringRef parameter) {
    return getFloatLiteral(APFloat(call.getFloat(parameter)), false);
  };
  ShapedType first = launch.getInputType(0);

  if (callee.contains("softmax")) {
    bool isLog = callee.starts_with("log"), isGrad = callee.ends_with("grad");
    std::string function = isLog ? "logSoftmax" : "softmax";
    function += isGrad ? "Backward" : "Forward";
    SmallVector<std::string> arguments(out);
    arguments.append(in);
    arguments.push_back(getAxisExtents(first, call.getInteger("axis")));
    return print(function, arguments);
  }
  if (callee == "layer_norm" || callee == "layer_norm_grad") {
    bool isGrad = callee == "layer_norm_grad";
    int64_t columns = launch.getInputType(isGrad ? 2 : 1).getNumElements();
    std::string extents =
        number(first.getNumElements() / columns) + ", " + number(columns);
    SmallVector<std::string> arguments(out);
    arguments.append(in);
    if (!isGrad) {
      arguments.push_back(extents + ", " + real("epsilon"));
      return print("layerNormForward", arguments);
    }
    arguments.push_back(extents + ", " + scratch + ", " + getTickets());
    return print("layerNormBackward", arguments);
  }
  if (callee.starts_with("batch_norm")) {
    int64_t channels = first.getShape().back();
    std::string extents =
        number(first.getNumElements() / channels) + ", " + number(channels);
    SmallVector<std::string> arguments(out);
    arguments.append(in);
    if (callee == "batch_norm_training") {
      arguments.push_back(extents + ", " + real("momentum") + ", " +
                          real("epsilon") + ", " + getGuard(launch) + ", " +
                          scratch + ", " + getTickets());
      return print("batchNormForward", arguments);
    }
    if (callee == "batch_norm_grad") {
      arguments.push_back(extents + ", " + scratch + ", " + getTickets());
      return print("batchNormBackward", arguments);
    }
    arguments.push_back(extents + ", " + real("epsilon"));
    return print("batchNormInference", arguments);
  }
  if (callee.starts_with("cross_entropy")) {
    bool hasLoss = callee != "cross_entropy_grad",
         hasGrad = callee != "cross_entropy";
    int64_t classes = first.getShape().back();
    SmallVector<std::string> arguments;
    arguments.push_back(hasLoss ? out[0] : "nullptr");
    arguments.push_back(hasGrad ? out[hasLoss]
                                : ("static_cast<" +
                                   getStorageType(first.getElementType()) +
                                   " *>(nullptr)")
                                      .str());
    arguments.push_back(in[0]);
    arguments.push_back(in[1]);
    arguments.push_back(hasGrad ? in[2] : "nullptr");
    arguments.push_back(number(first.getNumElements() / classes) + ", " +
                        number(classes) + ", " + scratch + ", " + getTickets());
    return print("crossEntropy", arguments);
  }
  if (callee == "scatter_add") {
    SmallVector<std::string> arguments(out);
    arguments.append(in);
    arguments.push_back(
        getAxisExtents(launch.getTargetType(0), call.getInteger("axis")));
    arguments.push_back(number(launch.getInputType(1).getNumElements()));
    return print("scatterAdd", arguments);
  }
  if (callee.contains("pool2d")) {
    bool isMax = callee.starts_with("max"), isGrad = callee.ends_with("grad");
    std::string function = isMax ? "maxPool" : "avgPool";
    function += isGrad ? "Backward" : "Forward";
    SmallVector<std::string> arguments(out);
    arguments.append(in);
    arguments.push_back(
        getPoolShape(call, isGrad && !isMax ? launch.getTargetType(0) : first));
    return print(function, arguments);
  }
  if (callee == "dropout") {
    SmallVector<std::string> arguments(out);
    arguments.append(in);
    arguments.push_back(number(uint32_t(call.getInteger("key"))) + "u, " +
                        getFloatLiteral(APFloat(call.getFloat("rate")), true) +
                        ", " + number(first.getNumElements()));
    return print("dropout", arguments);
  }
  if (callee == "stochastic_round") {
    SmallVector<std::string> arguments(out);
    arguments.append(in);
    arguments.push_back(number(uint32_t(call.getInteger("key"))) + "u, " +
                        number(first.getNumElements()));
    return print("stochasticRound", arguments);
  }
  if (callee == "update_scale") {
    SmallVector<std::string> arguments;
    arguments.push_back(
        "ScaleConfig{" + real("growth_factor") + ", " + real("backoff_factor") +
        ", " + number(call.getInteger("growth_interval")) + ", " +
        real("min_scale") + ", " + real("max_scale") + ", " +
        number(call.getInteger("hysteresis")) + getScaleRules(call) + "}");
    arguments.append(out);
    arguments.push_back(in[3]);
    return print("updateScale", arguments);
  }
  return call.emitOpError("calls '") << callee << "', which has no spelling";
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

LogicalResult ProgramEmitter::emitLaunch(LaunchOpInterface launch) {
  if (auto gemm = dyn_cast<GemmOp>(launch.getOperation())) {
    emitProduct(gemm);
    return success();
  }
  if (auto conv = dyn_cast<ConvOp>(launch.getOperation())) {
    emitConvolution(conv);
    return success();
  }
  if (auto kernel = dyn_cast<KernelOp>(launch.getOperation())) {
    emitKernelLaunch(kernel);
    return success();
  }
  if (auto call = dyn_cast<CallOp>(launch.getOperation()))
    return emitCall(call);
  std::string table =
      "run.optimizers[" + std::to_string(tables.lookup(launch)) + "]";
  if (isa<CastsOp>(launch.getOperation())) {
    os << "castParameters(run.stream, " << table << ")";
    return success();
  }
  if (auto check = dyn_cast<CheckGradientsOp>(launch.getOperation())) {
    double limit =
        check.getMaxNorm() ? check.getMaxNorm()->convertToDouble() : 0.0;
    os << "unscaleCheck(run.stream, " << table << ",\n        "
       << (check.getScaled() ? getPointer(check.getInputs().back())
                             : std::string("nullptr"))
       << ", " << getFloatLiteral(APFloat(limit), false)
       << ",\n        run.at<UnscaleState>(" << getOffset(check.getOutputs()[0])
       << "),\n        " << getPointer(check.getOutputs()[1]) << ",\n        "
       << getPointer(check.getOutputs()[2]) << ",\n        run.at<void>("
       << getOffset(check.getScratch()[0]) << "), " << getTickets()
       << (check.getStrict() ? ", /*strict=*/true)" : ")");
    return success();
  }
  auto optimizer = cast<OptimizerOp>(launch.getOperation());
  auto real = [](APFloat value, bool isDouble = false) {
    return getFloatLiteral(value, isDouble);
  };
  std::string state =
      optimizer.getMultiplier()
          ? "run.at<UnscaleState>(" + getOffset(optimizer.getMultiplier()) + ")"
          : "nullptr";
  bool isAdam = optimizer.getKind() != OptimizerKind::SGD;
  os << (isAdam ? "adam" : "sgd") << "(run.stream, " << table << ",\n        ";
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
  os << ",\n        " << state << ", " << getGuard(launch) << ")";
  return success();
}

LogicalResult ProgramEmitter::emitLaunches() {
  os << "//===-- One step "
        "------------------------------------------------------===//\n\n"
     << "Status enqueue(const StepRun &run) {\n";
  for (auto [index, launch] : llvm::enumerate(launches)) {
    os << "  // " << getCommentText(describeOperations(launch)) << ":\n  //   ";
    llvm::interleaveComma(launch.getInputs().take_front(6), os,
                          [&](Value value) {
                            os << getCommentText(getBuffer(value).getName())
                               << ": " << describe(shapedType(value));
                          });
    if (launch.getInputs().size() > 6)
      os << ", ...";
    os << "\n  //   -> ";
    llvm::interleaveComma(launch.getOutputs().take_front(6), os,
                          [&](Value value) {
                            os << getCommentText(getBuffer(value).getName())
                               << ": " << describe(shapedType(value));
                          });
    if (launch.getOutputs().size() > 6)
      os << ", ...";
    os << "\n  //   " << getTrafficBytes(launch) << " bytes, "
       << launch.getFlops() << " operations\n";
    os << "  {\n    LaunchScope scope = run.scope(" << index << ");\n";
    bool isGemm = isa<GemmOp>(launch.getOperation());
    auto conv = dyn_cast<ConvOp>(launch.getOperation());
    if (isGemm || (conv && conv.getKind() == ConvKind::Forward)) {
      os << "    GemmBuffers b;\n";
      auto set = [&](StringRef field, Value value) {
        if (value)
          os << "    b." << field << " = " << getPointer(value) << ";\n";
      };
      if (auto gemm = dyn_cast<GemmOp>(launch.getOperation())) {
        set("a", gemm.getA());
        set("b", gemm.getB());
        set("c", gemm.getC());
        set("d", gemm.getOutputs()[0]);
        set("bias", gemm.getBiasVector());
        set("aux", gemm.getAuxiliary() ? Value(gemm.getOutputs()[1])
                                       : gemm.getAuxiliaryInput());
        if (gemm.getBiasGrad())
          set("biasGrad", gemm.getOutputs().back());
      } else {
        set("b", conv.getInputs()[1]);
        set("d", conv.getOutputs()[0]);
        set("bias", conv.getBiasVector());
        if (conv.getAuxiliary())
          set("aux", conv.getOutputs()[1]);
      }
    }
    os << "    AMP_RETURN_IF_ERROR(";
    if (failed(emitLaunch(launch)))
      return failure();
    os << ");\n  }\n";
  }
  os << "  return Status();\n}\n\n";
  return success();
}
