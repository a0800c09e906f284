//===- ProductEmitter.cpp - Matrix products and convolutions --------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmitterSupport.h"

#include "amp/Dialect/CUDA/IR/Float8ScaleKinds.h"

using namespace mlir;
using namespace mlir::cuda;

//===----------------------------------------------------------------------===//
// Configurations
//===----------------------------------------------------------------------===//

static std::string getEpilogue(GemmOp gemm) {
  std::string bias = gemm.getBias() ? "Bias" : "";
  std::string aux = gemm.getAuxiliary() ? "Aux" : "";
  std::string grad = gemm.getBiasGrad() ? "BiasGrad" : "";
  switch (gemm.getActivation()) {
  case Activation::None:
    if (gemm.getBiasGrad())
      return gemm.getBiasGradA() ? "BiasGradA" : "BiasGradB";
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

static std::string getConvShape(ConvOp conv, NumberPrinter &numbers) {
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
    text += (text.size() > 1 ? ", " : "") + numbers.getHost(value);
  return text + "}";
}

void ProgramEmitter::emitConfiguration(ConvOp conv) {
  std::string name = getName(conv);
  StringRef kind = conv.getKind() == ConvKind::Forward     ? "Forward"
                   : conv.getKind() == ConvKind::InputGrad ? "InputGrad"
                                                           : "FilterGrad";
  os << "// Batch, height, width, channels; filter height, width, number;\n"
     << "// strides; padding; dilations; groups.\n"
     << getConstant() << " ConvShape shape_" << name << " = "
     << getConvShape(conv, numbers) << ";\n";
  os << "GemmConfig gemm_" << name << "() {\n  ";
  std::string epilogue = getEpilogue(conv);
  bool isPlain = !conv.getTf32() && epilogue == "None";
  os << (isPlain ? "return " : "GemmConfig g = ") << "conv" << kind << "Gemm(\""
     << name << "\", shape_" << name
     << ", Type::" << getTypeEnumerator(conv.getInputType(0).getElementType())
     << ", Type::" << getTypeEnumerator(conv.getTargetType(0).getElementType())
     << ");\n";
  if (conv.getTf32())
    os << "  g.compute = GemmCompute::TF32;\n";
  if (epilogue != "None")
    os << "  g.epilogue = Epilogue::" << epilogue << ";\n";
  if (conv.getAuxiliary())
    os << "  g.strideAux = reluMaskStride("
       << numbers.getHost(conv.getForwardTypes().output.getShape().back())
       << ");\n";
  os << (isPlain ? "" : "  return g;\n") << "}\n\n";
}

void ProgramEmitter::emitConfiguration(GemmOp gemm) {
  std::string name = getName(gemm);
  GemmOp::Extents extents = gemm.getExtents();
  os << "GemmConfig gemm_" << name << "() {\n  GemmConfig g;\n"
     << "  g.name = \"" << name << "\";\n"
     << "  g.m = " << numbers.getHost(extents.m)
     << ", g.n = " << numbers.getHost(extents.n)
     << ", g.k = " << numbers.getHost(extents.k) << ";\n"
     << "  g.typeA = g.typeB = Type::"
     << getTypeEnumerator(gemm.getInputType(0).getElementType())
     << ", g.typeD = Type::"
     << getTypeEnumerator(gemm.getTargetType(0).getElementType()) << ";\n";
  if (gemm.getAlpha())
    os << "  g.alpha = "
       << numbers.getHostReal(gemm.getScale(), /*isDouble=*/false) << ";\n";
  if (gemm.getTransposeA())
    os << "  g.transposeA = true;\n";
  if (gemm.getTransposeB())
    os << "  g.transposeB = true;\n";
  if (extents.batch != 1)
    os << "  g.batch = " << numbers.getHost(extents.batch) << ";\n";
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
      os << "  g.strideAux = reluMaskStride(" << numbers.getHost(extents.n)
         << ");\n";
    else
      os << "  g.strideAux = " << numbers.getHost(extents.n) << ";\n";
  }
  os << "  return g;\n}\n\n";
}

void ProgramEmitter::emitConfiguration(ScaledGemmOp gemm) {
  std::string name = getName(gemm);
  ShapedType a = gemm.getInputType(0), b = gemm.getInputType(1),
             d = gemm.getTargetType(0);
  os << "GemmConfig gemm_" << name << "() {\n  GemmConfig g;\n"
     << "  g.name = \"" << name << "\";\n"
     << "  g.m = " << numbers.getHost(d.getDimSize(0))
     << ", g.n = " << numbers.getHost(d.getDimSize(1))
     << ", g.k = " << numbers.getHost(a.getDimSize(1)) << ";\n"
     << "  g.typeA = g.typeB = Type::U8, g.typeD = Type::"
     << getTypeEnumerator(d.getElementType()) << ";\n"
     << "  g.float8A = " << getFloat8Enumerator(a.getElementType())
     << ", g.float8B = " << getFloat8Enumerator(b.getElementType()) << ";\n"
     << "  g.transposeB = true;\n";
  if (gemm.getABlocks())
    os << "  g.scalesA = " << getEnumerator(getScaleKind(gemm, false))
       << ", g.scalesB = " << getEnumerator(getScaleKind(gemm, true)) << ";\n";
  if (gemm.getFastAccumulation())
    os << "  g.fastAccumulation = true;\n";
  if (gemm.getBias())
    os << "  g.epilogue = Epilogue::Bias;\n";
  os << "  return g;\n}\n\n";
}

void ProgramEmitter::emitConfiguration(LinearCrossEntropyOp loss) {
  std::string name = getName(loss);
  LinearCrossEntropyOp::Extents extents = loss.getExtents();
  auto type = [](ShapedType type) {
    return ("Type::" + getTypeEnumerator(type.getElementType())).str();
  };
  os << "// Rows, columns, classes; rows of a chunk; whether w is transposed.\n"
     << getConstant() << " LinearLossShape shape_" << name << " = {"
     << numbers.getHost(extents.m) << ", " << numbers.getHost(extents.k) << ", "
     << numbers.getHost(extents.n) << ", "
     << numbers.getHost(loss.getChunkRows()) << ", "
     << (loss.getTransposeB() ? "true" : "false") << "};\n"
     << "GemmConfig gemm_" << name << "(LinearLossPart part) {\n"
     << "  GemmConfig g = linearLossGemm(\"" << name << "\", shape_" << name
     << ", " << type(loss.getInputType(0)) << ", "
     << type(loss.getTargetType(1)) << ", part);\n";
  if (loss.getTf32())
    os << "  g.compute = GemmCompute::TF32;\n";
  os << "  return g;\n}\n\n";
}

void ProgramEmitter::emitProducts() {
  if (products.empty())
    return;
  os << "//===-- Products "
        "------------------------------------------------------===//\n\n";
  for (LaunchOpInterface launch : launches) {
    if (auto conv = dyn_cast<ConvOp>(launch.getOperation()))
      emitConfiguration(conv);
    else if (auto gemm = dyn_cast<GemmOp>(launch.getOperation()))
      emitConfiguration(gemm);
    else if (auto scaled = dyn_cast<ScaledGemmOp>(launch.getOperation()))
      emitConfiguration(scaled);
    else if (auto loss = dyn_cast<LinearCrossEntropyOp>(launch.getOperation()))
      emitConfiguration(loss);
  }
  os << "const GemmConfig kGemms[] = {\n";
  for (LaunchOpInterface launch : launches) {
    if (isa<LinearCrossEntropyOp>(launch.getOperation())) {
      for (StringRef part :
           {"Logits", "InputGrad", "FirstWeightGrad", "NextWeightGrad"})
        os << "    gemm_" << getName(launch) << "(LinearLossPart::" << part
           << "),\n";
      continue;
    }
    if (products.contains(launch.getOperation()))
      os << "    gemm_" << getName(launch) << "(),\n";
  }
  os << "};\n\n";
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

void ProgramEmitter::emitGemmBuffers(LaunchOpInterface launch) {
  auto gemm = dyn_cast<GemmOp>(launch.getOperation());
  auto conv = dyn_cast<ConvOp>(launch.getOperation());
  auto scaled = dyn_cast<ScaledGemmOp>(launch.getOperation());
  if (!gemm && !scaled && !(conv && conv.getKind() == ConvKind::Forward))
    return;
  os << "    GemmBuffers b;\n";
  auto set = [&](StringRef field, Value value) {
    if (value)
      os << "    b." << field << " = " << getPointer(value) << ";\n";
  };
  if (gemm) {
    set("a", gemm.getA());
    set("b", gemm.getB());
    set("c", gemm.getC());
    set("d", gemm.getOutputs()[0]);
    set("bias", gemm.getBiasVector());
    set("aux", gemm.getAuxiliary() ? Value(gemm.getOutputs()[1])
                                   : gemm.getAuxiliaryInput());
    if (gemm.getBiasGrad())
      set("biasGrad", gemm.getOutputs().back());
    return;
  }
  if (scaled) {
    static constexpr StringRef fields[] = {"a", "b", "scaleA", "scaleB"};
    for (auto [index, field] : llvm::enumerate(fields))
      set(field, scaled.getInputs()[index]);
    set("d", scaled.getOutputs()[0]);
    set("bias", scaled.getBiasVector());
    return;
  }
  set("b", conv.getInputs()[1]);
  set("d", conv.getOutputs()[0]);
  set("bias", conv.getBiasVector());
  if (conv.getAuxiliary())
    set("aux", conv.getOutputs()[1]);
}

void ProgramEmitter::emitProduct(LaunchOpInterface product) {
  os << "run.gemms->run(" << products.lookup(product) << ", b, run.stream)";
}

void ProgramEmitter::emitConvolution(ConvOp conv) {
  std::string scratch = getScratch(conv);
  std::string start = "run.stream, *run.gemms, " +
                      std::to_string(products.lookup(conv)) + ", shape_" +
                      getName(conv);
  std::string first = getConstPointer(conv.getInputs()[0]),
              second = getConstPointer(conv.getInputs()[1]),
              result = getPointer(conv.getOutputs()[0]);
  switch (conv.getKind()) {
  case ConvKind::Forward:
    os << "convForward(" << start << ", b,\n        " << first << ", "
       << scratch << ")";
    break;
  case ConvKind::FilterGrad:
    os << "convFilterGrad(" << start << ",\n        " << result << ",\n        "
       << second << ",\n        " << first << ", " << scratch;
    if (conv.getBiasGrad())
      os << ",\n        " << getPointer(conv.getOutputs()[1]);
    os << ")";
    break;
  case ConvKind::InputGrad:
    os << "convInputGrad(" << start << ",\n        " << result << ",\n        "
       << first << ",\n        " << second << ", " << scratch << ")";
    break;
  }
}

void ProgramEmitter::emitLinearLoss(LinearCrossEntropyOp loss) {
  os << "linearCrossEntropy(run.stream, *run.gemms, " << products.lookup(loss)
     << ", shape_" << getName(loss) << ",\n        ";
  for (unsigned target : {0u, 1u, 2u})
    os << getPointer(loss.getOutputs()[target]) << ", ";
  os << (loss.getPredict() ? getPointer(loss.getOutputs()[3])
                           : "static_cast<int64_t *>(nullptr)");
  for (Value input : loss.getInputs())
    os << ",\n        " << getConstPointer(input);
  os << ", " << getScratch(loss) << getSmoothing(loss.getLabelSmoothing())
     << ")";
}
