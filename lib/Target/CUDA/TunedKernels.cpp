//===- TunedKernels.cpp - Calls of the runtime headers --------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmitterSupport.h"

#include "amp/Dialect/AMP/IR/AMPQuantizedOps.h"
#include "amp/Dialect/CUDA/IR/Float8ScaleKinds.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::cuda;

namespace {

using Arguments = SmallVector<std::string>;

/// A call of a function of the runtime headers: the arguments after the stream,
/// one per line.
struct RuntimeCall {
  StringRef function;
  Arguments arguments;
};

/// The operands of a launch in C++.
struct Operands {
  Arguments inputs, outputs;
  /// Scratch memory, alone and with the arrival counters of its partial sums.
  std::string pointer, scratch;
  /// The flag of the launch.
  std::string guard;
  /// Prints the extents.
  NumberPrinter &numbers;

  std::string number(int64_t value) const { return numbers.getHost(value); }

  /// Outputs and inputs, then `values` on one line.
  Arguments with(ArrayRef<std::string> values) const {
    Arguments all(outputs);
    all.append(inputs);
    all.push_back(llvm::join(values, ", "));
    return all;
  }
};

} // namespace

static std::string real(const APFloat &value) {
  return getFloatLiteral(value, /*isDouble=*/false);
}

//===----------------------------------------------------------------------===//
// Normalizations
//===----------------------------------------------------------------------===//

/// The extents before, along and after dimension `axis`.
static std::string printAxisExtents(const Operands &operands, ShapedType type,
                                    int64_t axis) {
  AxisExtents extents = getAxisExtents(type, axis);
  return operands.number(extents.outer) + ", " +
         operands.number(extents.along) + ", " + operands.number(extents.inner);
}

/// The extents of `type` in rows of `columns` elements.
static std::string getRows(const Operands &operands, ShapedType type,
                           int64_t columns) {
  return operands.number(type.getNumElements() / columns) + ", " +
         operands.number(columns);
}

static RuntimeCall getCall(SoftmaxOp op, const Operands &operands) {
  return {"softmaxForward", operands.with(printAxisExtents(
                                operands, op.getInputType(0), op.getAxis()))};
}

static RuntimeCall getCall(LogSoftmaxOp op, const Operands &operands) {
  return {"logSoftmaxForward",
          operands.with(
              printAxisExtents(operands, op.getInputType(0), op.getAxis()))};
}

static RuntimeCall getCall(SoftmaxGradOp op, const Operands &operands) {
  return {"softmaxBackward", operands.with(printAxisExtents(
                                 operands, op.getInputType(0), op.getAxis()))};
}

static RuntimeCall getCall(LogSoftmaxGradOp op, const Operands &operands) {
  return {"logSoftmaxBackward",
          operands.with(
              printAxisExtents(operands, op.getInputType(0), op.getAxis()))};
}

/// The same with columns that select the plans of kernels. Programs whose
/// extents are data choose between all plans at run time.
static std::string getPlannedRows(const Operands &operands, ShapedType type,
                                  int64_t columns) {
  if (!operands.numbers.printsLiterals())
    return getRows(operands, type, columns);
  return operands.number(type.getNumElements() / columns) + ", Extent<" +
         std::to_string(columns) + ">()";
}

/// `pointer` as the rows `heads` of a tensor, in the order of `shape`.
static std::string getRowsByStrides(const Operands &operands, HeadsAttr heads,
                                    ArrayRef<int64_t> shape, Type element,
                                    bool isConst, StringRef pointer) {
  auto extent = [&](size_t fromEnd) {
    return operands.number(
        fromEnd <= shape.size() ? shape[shape.size() - fromEnd] : 1);
  };
  std::string text =
      ("StridedRows<" + Twine(isConst ? "const " : "") +
       getStorageType(element) + ">{" + pointer +
       (heads.getOffset() ? " + " + operands.number(heads.getOffset())
                          : std::string()) +
       ", " + extent(3) + ", " + extent(2))
          .str();
  for (int64_t stride :
       {heads.getSample(), heads.getHead(), heads.getPosition()})
    text += ", " + operands.number(stride);
  return text + "}";
}

/// The call of a norm of rows.
template <typename OpTy>
static RuntimeCall getRowNorm(StringRef function, OpTy op,
                              const Operands &operands) {
  ShapedType y = op.getTargetType(0);
  Operands own = operands;
  if (std::optional<HeadsAttr> rows = op.getXRows())
    own.inputs[0] = getRowsByStrides(operands, *rows, y.getShape(),
                                     op.getInputType(0).getElementType(),
                                     /*isConst=*/true, own.inputs[0]);
  return {function,
          own.with(
              {getPlannedRows(operands, y, op.getInputType(1).getNumElements()),
               real(op.getEpsilon())})};
}

static RuntimeCall getCall(LayerNormOp op, const Operands &operands) {
  return getRowNorm("layerNormForward", op, operands);
}
static RuntimeCall getCall(RMSNormOp op, const Operands &operands) {
  return getRowNorm("rmsNormForward", op, operands);
}

/// The call of a gradient of a norm of rows.
template <typename OpTy>
static RuntimeCall getRowNormGrad(StringRef function, OpTy op,
                                  const Operands &operands) {
  ShapedType dy = op.getInputType(0);
  Operands own = operands;
  if (std::optional<HeadsAttr> rows = op.getXRows())
    own.inputs[1] = getRowsByStrides(operands, *rows, dy.getShape(),
                                     op.getInputType(1).getElementType(),
                                     /*isConst=*/true, own.inputs[1]);
  if (std::optional<HeadsAttr> rows = op.getDxRows())
    own.outputs[0] = getRowsByStrides(operands, *rows, dy.getShape(),
                                      op.getTargetType(0).getElementType(),
                                      /*isConst=*/false, own.outputs[0]);
  return {function,
          own.with({getPlannedRows(operands, dy,
                                   op.getInputType(2).getNumElements()),
                    operands.scratch})};
}
static RuntimeCall getCall(LayerNormGradOp op, const Operands &operands) {
  return getRowNormGrad("layerNormBackward", op, operands);
}
static RuntimeCall getCall(LayerNormAndGradOp op, const Operands &operands) {
  return getRowNormGrad("layerNormAndBackward", op, operands);
}
static RuntimeCall getCall(RMSNormGradOp op, const Operands &operands) {
  return getRowNormGrad("rmsNormBackward", op, operands);
}
static RuntimeCall getCall(RMSNormAndGradOp op, const Operands &operands) {
  return getRowNormGrad("rmsNormAndBackward", op, operands);
}

static std::string getPixels(const Operands &operands, ShapedType type) {
  return getRows(operands, type, type.getShape().back());
}

template <typename OpTy>
static Arguments getBatchNorm(OpTy op, const Operands &operands) {
  return operands.with({getPixels(operands, op.getInputType(0)),
                        real(op.getMomentum()), real(op.getEpsilon()),
                        operands.guard, operands.scratch});
}
static RuntimeCall getCall(BatchNormTrainingOp op, const Operands &operands) {
  return {"batchNormForward", getBatchNorm(op, operands)};
}
static RuntimeCall getCall(BatchNormReluOp op, const Operands &operands) {
  return {"batchNormReluForward", getBatchNorm(op, operands)};
}
static RuntimeCall getCall(BatchNormAddReluOp op, const Operands &operands) {
  return {"batchNormAddReluForward", getBatchNorm(op, operands)};
}

static RuntimeCall getCall(BatchNormApplyOp op, const Operands &operands) {
  return {op.getRelu() ? "batchNormReluApply" : "batchNormApply",
          operands.with(getPixels(operands, op.getInputType(0)))};
}
static RuntimeCall getCall(BatchNormAddReluApplyOp op,
                           const Operands &operands) {
  return {"batchNormAddReluApply",
          operands.with(getPixels(operands, op.getInputType(0)))};
}

static RuntimeCall getCall(BatchNormInferenceOp op, const Operands &operands) {
  return {"batchNormInference",
          operands.with({getPixels(operands, op.getInputType(0)),
                         real(op.getEpsilon())})};
}

template <typename OpTy>
static Arguments getBatchNormGrad(OpTy op, const Operands &operands) {
  return operands.with(
      {getPixels(operands, op.getInputType(0)), operands.scratch});
}
static RuntimeCall getCall(BatchNormGradOp op, const Operands &operands) {
  return {"batchNormBackward", getBatchNormGrad(op, operands)};
}
static RuntimeCall getCall(BatchNormReluGradOp op, const Operands &operands) {
  return {"batchNormReluBackward", getBatchNormGrad(op, operands)};
}
static RuntimeCall getCall(BatchNormAddReluGradOp op,
                           const Operands &operands) {
  return {"batchNormAddReluBackward", getBatchNormGrad(op, operands)};
}

//===----------------------------------------------------------------------===//
// Cross-entropy
//===----------------------------------------------------------------------===//

std::string mlir::cuda::getSmoothing(const APFloat &smoothing) {
  return smoothing.isZero() ? "" : ", SmoothLabels{" + real(smoothing) + "}";
}

/// One function computes the loss, its gradient or both. The arguments of a
/// missing part are null.
template <typename OpTy>
static RuntimeCall getCrossEntropy(OpTy op, std::string loss,
                                   std::string gradient, std::string lossGrad,
                                   const Operands &operands) {
  ShapedType logits = op.getInputType(0);
  return {"crossEntropy",
          {loss, gradient, operands.inputs[0], operands.inputs[1], lossGrad,
           getRows(operands, logits, logits.getShape().back()) + ", " +
               operands.scratch + getSmoothing(op.getLabelSmoothing())}};
}

static RuntimeCall getCall(CrossEntropyOp op, const Operands &operands) {
  std::string type = getStorageType(op.getInputType(0).getElementType()).str();
  return getCrossEntropy(op, operands.outputs[0],
                         "static_cast<" + type + " *>(nullptr)", "nullptr",
                         operands);
}

static RuntimeCall getCall(CrossEntropyGradOp op, const Operands &operands) {
  return getCrossEntropy(op, "nullptr", operands.outputs[0], operands.inputs[2],
                         operands);
}

static RuntimeCall getCall(CrossEntropyWithGradOp op,
                           const Operands &operands) {
  return getCrossEntropy(op, operands.outputs[0], operands.outputs[1],
                         operands.inputs[2], operands);
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

/// The pooling of a tensor of type `input`.
template <typename OpTy>
static std::string getPoolShape(OpTy op, const Operands &operands,
                                ShapedType input) {
  SmallVector<int64_t> values(input.getShape());
  llvm::append_range(values, op.getWindow());
  llvm::append_range(values, op.getStrides());
  llvm::append_range(values, op.getPadding());
  std::string text = "PoolShape{";
  llvm::interleave(
      values, [&](int64_t value) { text += operands.number(value); },
      [&] { text += ", "; });
  return text + "}";
}

static RuntimeCall getCall(MaxPool2DOp op, const Operands &operands) {
  return {"maxPoolForward",
          operands.with(getPoolShape(op, operands, op.getInputType(0)))};
}

static RuntimeCall getCall(MaxPool2DGradOp op, const Operands &operands) {
  return {"maxPoolBackward",
          operands.with(getPoolShape(op, operands, op.getInputType(0)))};
}

static RuntimeCall getCall(AvgPool2DOp op, const Operands &operands) {
  return {"avgPoolForward",
          operands.with(getPoolShape(op, operands, op.getInputType(0)))};
}

static RuntimeCall getCall(AvgPool2DGradOp op, const Operands &operands) {
  return {"avgPoolBackward",
          operands.with(getPoolShape(op, operands, op.getTargetType(0)))};
}

//===----------------------------------------------------------------------===//
// Indices and random numbers
//===----------------------------------------------------------------------===//

static RuntimeCall getCall(ScatterAddOp op, const Operands &operands) {
  Arguments arguments = operands.with(
      printAxisExtents(operands, op.getTargetType(0), op.getAxis()));
  std::string count = operands.number(op.getInputType(1).getNumElements());
  if (!op.isSorted()) {
    arguments.push_back(count);
    return {"scatterAdd", arguments};
  }
  arguments.push_back(count + ", " + operands.pointer);
  return {"scatterAddSorted", arguments};
}

static RuntimeCall getCall(DropoutOp op, const Operands &operands) {
  const std::string key = std::to_string(op.getKey()) + "u",
                    rate = getFloatLiteral(op.getRate(), /*isDouble=*/true),
                    count =
                        operands.number(op.getInputType(0).getNumElements());
  if (!op.getDividedAlong())
    return {"dropout", operands.with({key, rate, count})};
  AxisExtents extents =
      getAxisExtents(op.getInputType(0), *op.getDividedAlong());
  return {"dropoutOfRank",
          operands.with({key, rate, count,
                         "RankPart{" +
                             operands.number(extents.along * extents.inner) +
                             ", run.rank, run.numRanks}"})};
}

static RuntimeCall getCall(DropoutSeedsOp op, const Operands &operands) {
  Arguments keys;
  for (int32_t key : op.getKeys())
    keys.push_back(std::to_string(uint32_t(key)) + "u");
  return {"dropoutSeeds",
          operands.with({"DropoutKeys<" + std::to_string(keys.size()) + ">{{" +
                             llvm::join(keys, ", ") + "}}",
                         op.getByRank() ? "run.rank" : "0"})};
}

static RuntimeCall getCall(DocumentOffsetsOp op, const Operands &operands) {
  Arguments rows;
  for (int64_t elements : op.getRows())
    rows.push_back(operands.number(elements));
  ArrayRef<int64_t> shape = op.getInputType(0).getShape();
  const int64_t documents = shape.back(),
                samples = op.getInputType(0).getNumElements() / documents;
  return {"documentOffsets",
          operands.with({"DocumentRows<" + std::to_string(rows.size()) + ">{{" +
                             llvm::join(rows, ", ") + "}}",
                         operands.number(samples), operands.number(documents),
                         operands.number(op.getPositions())})};
}

static RuntimeCall getCall(StochasticRoundOp op, const Operands &operands) {
  return {
      "stochasticRound",
      operands.with({std::to_string(op.getKey()) + "u",
                     operands.number(op.getInputType(0).getNumElements())})};
}

//===----------------------------------------------------------------------===//
// 8-bit floats
//===----------------------------------------------------------------------===//

std::string mlir::cuda::getCodeFormat(QuantizationAttr quantization) {
  // A launch that writes only a magnitude has no codes, but the template needs
  // an argument.
  return quantization.hasCodes()
             ? getFloat8Enumerator(quantization.getFormat()).str()
             : "Float8::E4M3";
}

static std::string flag(bool value) { return value ? "true" : "false"; }

std::string
mlir::cuda::getQuantizeConfig(QuantizationAttr quantization,
                              function_ref<std::string(int64_t)> print) {
  return "QuantizeConfig{" + print(quantization.getRows()) + ", " +
         print(quantization.getColumns()) + ", " + getCodeFormat(quantization) +
         ", " + flag(quantization.getSaturate()) + ", " +
         flag(quantization.getKeepNonFinite()) + "}";
}

std::string
mlir::cuda::getQuantizeResults(QuantizationAttr quantization,
                               function_ref<std::string(unsigned)> getPointer) {
  auto print = [&](std::optional<unsigned> target) {
    return target ? getPointer(*target) : std::string("nullptr");
  };
  return "QuantizeResults{" + print(quantization.getPayloadTarget()) +
         ",\n            " + print(quantization.getTransposedTarget()) +
         ",\n            " + print(quantization.getInverseTarget()) +
         ",\n            " + print(quantization.getAmaxTarget()) + "}";
}

std::string mlir::cuda::getScaleRule(QuantizationAttr quantization) {
  BlockScalesAttr blocks = quantization.getBlocks();
  double room = std::ldexp(
      mlir::amp::getFloat8Format(quantization.getFormat())->getLargest(),
      -blocks.getMargin());
  APFloat epsilon =
      blocks.getEpsilon() ? blocks.getEpsilon().getValue() : APFloat(0.0f);
  return "ScaleRule{" + getFloatLiteral(APFloat(float(room)), false) + ", " +
         getFloatLiteral(epsilon, false) + ", " + flag(blocks.getPowerOfTwo()) +
         ", " + flag(blocks.getIgnoreNonFinite()) + "}";
}

std::string
mlir::cuda::getBlockResults(QuantizationAttr quantization,
                            function_ref<std::string(unsigned)> getPointer) {
  SmallVector<std::string> pointers(4);
  std::optional<unsigned> targets[] = {
      quantization.getPayloadTarget(), quantization.getTransposedTarget(),
      quantization.getInverseTarget(),
      quantization.getTransposedFactorsTarget()};
  for (auto [pointer, target] : llvm::zip_equal(pointers, targets))
    pointer = target ? getPointer(*target) : "nullptr";
  return "BlockResults{" + llvm::join(pointers, ",\n            ") + "}";
}

std::string mlir::cuda::getScaleKindArguments(QuantizationAttr quantization) {
  auto [plain, turned] = getScaleKinds(quantization);
  return (getEnumerator(plain) + ", " + getEnumerator(turned)).str();
}

/// Returns the arguments for the configuration and the copies. The copies
/// follow `first` other targets.
static Arguments getCopies(QuantizationAttr quantization, unsigned first,
                           const Operands &operands) {
  return {
      getQuantizeConfig(quantization,
                        [&](int64_t value) { return operands.number(value); }),
      getQuantizeResults(quantization, [&](unsigned target) {
        return operands.outputs[first + target];
      })};
}

static RuntimeCall getCall(QuantizeOp op, const Operands &operands) {
  if (std::optional<ArrayRef<int64_t>> blocks = op.getBlocks()) {
    auto number = [&](int64_t value) { return operands.number(value); };
    Arguments arguments = {getQuantizeConfig(op.getQuantization(), number),
                           ("QuantizeBlocks{" + number((*blocks)[0]) + ", " +
                            number((*blocks)[1]) + ", " +
                            getEnumerator(getScaleKind(op)) + ", " +
                            flag(op.getTransposed()) + "}")
                               .str()};
    llvm::append_range(arguments, operands.outputs);
    llvm::append_range(arguments, operands.inputs);
    return {"quantizeBlocks", arguments};
  }
  Arguments arguments = getCopies(op.getQuantization(), 0, operands);
  llvm::append_values(arguments, operands.inputs[0], operands.inputs[1],
                      operands.scratch);
  return {"quantize", arguments};
}

static RuntimeCall getCall(QuantizeBlocksOp op, const Operands &operands) {
  QuantizationAttr quantization = op.getQuantization();
  bool hasRows =
      getScaleKinds(quantization).first == ::amp::cuda::Float8Scale::Outer;
  Arguments arguments;
  if (!hasRows)
    arguments.push_back("BlockKinds<" + getScaleKindArguments(quantization) +
                        ">()");
  arguments.push_back(getQuantizeConfig(
      quantization, [&](int64_t value) { return operands.number(value); }));
  arguments.push_back(getScaleRule(quantization));
  if (hasRows)
    llvm::append_range(arguments, operands.outputs);
  else
    arguments.push_back(getBlockResults(quantization, [&](unsigned target) {
      return operands.outputs[target];
    }));
  arguments.push_back(operands.inputs[0]);
  return {hasRows ? "quantizeOwnRows" : "quantizeOwnBlocks", arguments};
}

static RuntimeCall getCall(QuantizedNormOp op, const Operands &operands) {
  QuantizationAttr quantization = op.getQuantization();
  Arguments arguments = getCopies(quantization, op.getNumStored(), operands);
  if (!op.getStored())
    arguments.push_back(
        ("static_cast<" + getStorageType(op.getElement()) + " *>(nullptr)")
            .str());
  arguments.append(operands.outputs.begin(),
                   operands.outputs.begin() + op.getNumStored());
  arguments.append(operands.inputs);
  if (!quantization.hasCodes())
    arguments.push_back("nullptr");
  arguments.push_back(real(op.getEpsilon()) + ", " + operands.scratch);
  return {op.getCentered() ? "quantizedLayerNorm" : "quantizedRMSNorm",
          arguments};
}

static RuntimeCall getCall(UpdateQuantizerOp op, const Operands &operands) {
  double room =
      std::ldexp(mlir::amp::getFloat8Format(op.getFormat())->getLargest(),
                 -int32_t(op.getMargin()));
  // The state is updated in place.
  Arguments arguments(operands.outputs);
  arguments.push_back(operands.inputs[2]);
  arguments.push_back(operands.number(op.getInputType(1).getNumElements()) +
                      ", " + real(APFloat(room)) + ", " +
                      (op.getMostRecent() ? "true" : "false"));
  return {"updateQuantizer", arguments};
}

//===----------------------------------------------------------------------===//
// Loss scale
//===----------------------------------------------------------------------===//

/// Returns the rules of a scale as a ScaleConfig of the runtime, without the
/// last ones if they are the usual ones.
static std::string getScaleConfig(const mlir::amp::ScalerRules &rules) {
  std::string text = "ScaleConfig{";
  for (float value : {rules.growthFactor, rules.backoffFactor})
    text += getFloatLiteral(APFloat(value), /*isDouble=*/false) + ", ";
  text += std::to_string(rules.growthInterval);
  for (float value : {rules.minScale, rules.maxScale})
    text += ", " + getFloatLiteral(APFloat(value), /*isDouble=*/false);
  text += ", " + std::to_string(rules.hysteresis);
  std::string words;
  bool isUsual = true;
  for (auto [field, type] : {std::pair("hysteresis_refill", "HysteresisRefill"),
                             std::pair("after_backoff", "AfterBackoff"),
                             std::pair("growth_guard", "GrowthGuard"),
                             std::pair("interval_rule", "IntervalRule")}) {
    std::string word = mlir::amp::getScalerField(rules, field);
    isUsual &=
        word == mlir::amp::getScalerField(mlir::amp::ScalerRules(), field);
    words += ", " + std::string(type) + "::" +
             llvm::convertToCamelFromSnakeCase(word, /*capitalizeFirst=*/true);
  }
  return text + (isUsual ? "" : words) + "}";
}

static RuntimeCall getCall(UpdateScaleOp op, const Operands &operands) {
  Arguments arguments = {getScaleConfig(op.getScaler().getRules())};
  // The state is updated in place.
  arguments.append(operands.outputs);
  arguments.push_back(operands.inputs[3]);
  return {"updateScale", arguments};
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

void ProgramEmitter::emitTunedKernel(LaunchOpInterface launch) {
  Operands operands{{}, {}, {}, {}, {}, numbers};
  for (Value input : launch.getInputs())
    operands.inputs.push_back(getConstPointer(input));
  for (Value output : launch.getOutputs())
    operands.outputs.push_back(getPointer(output));
  operands.pointer = getScratch(launch);
  operands.scratch = operands.pointer + ", " + getArrivalCounters();
  operands.guard = getGuard(launch);
  RuntimeCall call =
      llvm::TypeSwitch<Operation *, RuntimeCall>(launch)
          .Case<AvgPool2DGradOp, AvgPool2DOp, BatchNormAddReluApplyOp,
                BatchNormAddReluGradOp, BatchNormAddReluOp, BatchNormApplyOp,
                BatchNormReluGradOp, BatchNormReluOp, BatchNormGradOp,
                BatchNormInferenceOp, BatchNormTrainingOp, CrossEntropyGradOp,
                CrossEntropyOp, CrossEntropyWithGradOp, DropoutOp,
                DocumentOffsetsOp, DropoutSeedsOp, LayerNormAndGradOp,
                LayerNormGradOp, LayerNormOp, LogSoftmaxGradOp, LogSoftmaxOp,
                MaxPool2DGradOp, MaxPool2DOp, QuantizeBlocksOp, QuantizedNormOp,
                QuantizeOp, RMSNormAndGradOp, RMSNormGradOp, RMSNormOp,
                ScatterAddOp, SoftmaxGradOp, SoftmaxOp, StochasticRoundOp,
                UpdateQuantizerOp, UpdateScaleOp>(
              [&](auto op) { return getCall(op, operands); });
  os << call.function << "(run.stream";
  for (const std::string &argument : call.arguments)
    os << ",\n        " << argument;
  os << ")";
}
