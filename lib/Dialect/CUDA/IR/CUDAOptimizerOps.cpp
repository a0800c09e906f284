//===- CUDAOptimizerOps.cpp - Optimizers and loss scaling -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchSupport.h"

#include "amp/Dialect/AMP/IR/AMPQuantizedOps.h"
#include "amp/Runtime/CUDA/Sizes.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::cuda;

static bool isGradientType(Type type) {
  return type.isF32() || type.isF16() || type.isBF16();
}

/// Verifies that `value`, which `what` names, is an f32 scalar.
static LogicalResult verifyScalar(Operation *op, StringRef what, Value value) {
  return verifyType(op, what, cast<ShapedType>(value.getType()), {},
                    Float32Type::get(op->getContext()));
}

//===----------------------------------------------------------------------===//
// CheckGradients
//===----------------------------------------------------------------------===//

LogicalResult CheckGradientsOp::verify() {
  auto launch = cast<LaunchOpInterface>(getOperation());
  if (getInputs().size() < 1u + getScaled())
    return emitOpError("checks no gradients");
  if (failed(verifyCounts(launch, getInputs().size(), 3)))
    return failure();
  for (Value gradient : getGradients())
    if (Type type = cast<ShapedType>(gradient.getType()).getElementType();
        !isGradientType(type))
      return emitOpError("checks a gradient of ")
             << type << ", expected f16, bf16 or f32";
  if (getScaled() &&
      failed(verifyScalar(*this, "the scale", getInputs().back())))
    return failure();
  if (getStrict() && !getScaled())
    return emitOpError("has 'strict' without 'scaled': there is no "
                       "multiplication to check the result of");
  if (getMaxNorm() && getMaxNorm()->convertToDouble() <= 0)
    return emitOpError("limits the norm to a value that is not positive");
  Type f32 = Float32Type::get(getContext());
  if (failed(
          verifyType(*this, "the state", launch.getTargetType(0), {8}, f32)) ||
      failed(verifyType(*this, "the flag", launch.getTargetType(1), {},
                        IntegerType::get(getContext(), 1))) ||
      failed(verifyType(*this, "the norm", launch.getTargetType(2), {}, f32)))
    return failure();
  return verifyLaunch(launch);
}

Value CheckGradientsOp::getLossScale() {
  return getScaled() ? getInputs().back() : Value();
}

int64_t CheckGradientsOp::getNumTableEntries() { return getGradients().size(); }

int64_t CheckGradientsOp::getFlops() {
  int64_t elements = 0;
  for (Value gradient : getGradients())
    elements += cast<ShapedType>(gradient.getType()).getNumElements();
  return 2 * elements;
}

int64_t CheckGradientsOp::getScratchBytes() {
  int64_t chunks = 0;
  for (Value gradient : getGradients())
    chunks += ::amp::cuda::ceilDiv(
        cast<ShapedType>(gradient.getType()).getNumElements(),
        ::amp::cuda::kOptimizerChunk);
  return ::amp::cuda::unscaleScratchBytes(chunks);
}

//===----------------------------------------------------------------------===//
// Optimizer
//===----------------------------------------------------------------------===//

unsigned OptimizerOp::getNumStates() {
  return getKind() == OptimizerKind::SGD ? (getVelocity() ? 1 : 0) : 2;
}

OperandRange OptimizerOp::getParameters() {
  return getInputs().take_front(getNumParameters());
}
OperandRange OptimizerOp::getGradients() {
  return getInputs().slice(getNumParameters(), getNumParameters());
}
OperandRange OptimizerOp::getState(unsigned index) {
  return getInputs().slice((2 + index) * getNumParameters(),
                           getNumParameters());
}
Value OptimizerOp::getLearningRate() {
  return getInputs()[(2 + getNumStates()) * getNumParameters()];
}
Value OptimizerOp::getStep() {
  if (getKind() == OptimizerKind::SGD)
    return {};
  return getInputs()[(2 + getNumStates()) * getNumParameters() + 1];
}
Value OptimizerOp::getMultiplier() {
  if (!getMultiplied())
    return {};
  return getInputs()[(2 + getNumStates()) * getNumParameters() +
                     (getKind() == OptimizerKind::SGD ? 1 : 2)];
}
Value OptimizerOp::getRandomState() {
  if (getRoundingKeys().empty())
    return {};
  return getInputs()[(2 + getNumStates()) * getNumParameters() + 1 +
                     (getKind() != OptimizerKind::SGD) + getMultiplied()];
}
OperandRange OptimizerOp::getRoundingErrors() {
  return getInputs()
      .drop_back(getQuantizedInputs().size() + getOldCopies().size())
      .take_back(getCompensations().size());
}
OperandRange OptimizerOp::getOldCopies() {
  return getInputs()
      .drop_back(getQuantizedInputs().size())
      .take_back(getPredicate() ? getCopies().size() : 0);
}

SmallVector<QuantizedParameterAttr> OptimizerOp::getQuantizedParameters() {
  SmallVector<QuantizedParameterAttr> quantized;
  if (std::optional<ArrayAttr> list = getQuantized())
    llvm::append_range(quantized, list->getAsRange<QuantizedParameterAttr>());
  return quantized;
}
unsigned OptimizerOp::getNumQuantizedTargets() {
  unsigned count = 0;
  for (QuantizedParameterAttr each : getQuantizedParameters())
    count += each.getQuantization().getTypes().size();
  return count;
}
OperandRange OptimizerOp::getQuantizedInputs() {
  return getInputs().take_back(getQuantizedParameters().size() +
                               getNumQuantizedTargets());
}
std::pair<unsigned, unsigned> OptimizerOp::getQuantizedPlace(unsigned number) {
  auto launch = cast<LaunchOpInterface>(getOperation());
  unsigned input = getInputs().size() - getQuantizedInputs().size(),
           target = launch.getNumTargets() - getNumQuantizedTargets();
  SmallVector<QuantizedParameterAttr> quantized = getQuantizedParameters();
  for (QuantizedParameterAttr each : ArrayRef(quantized).take_front(number)) {
    unsigned count = each.getQuantization().getTypes().size();
    input += 1 + count;
    target += count;
  }
  return {input, target};
}

std::optional<unsigned> OptimizerOp::getTiedInput(unsigned target) {
  unsigned count = getNumParameters();
  if (target < count)
    return target;
  unsigned numPlain = cast<LaunchOpInterface>(getOperation()).getNumTargets() -
                      getNumQuantizedTargets();
  for (unsigned number = getQuantizedParameters().size();
       target >= numPlain && number-- > 0;) {
    // The scale comes before the old targets.
    auto [firstInput, firstTarget] = getQuantizedPlace(number);
    if (target >= firstTarget)
      return firstInput + 1 + target - firstTarget;
  }
  // Skip the gradients, which come between parameters and states.
  if (target < (1 + getNumStates()) * count)
    return target + count;
  // Rounding errors, then copies, are the last inputs and the last outputs.
  unsigned place = target - (1 + getNumStates()) * count;
  unsigned numErrors = getCompensations().size();
  if (place < numErrors || getPredicate())
    return getInputs().size() - getQuantizedInputs().size() -
           getOldCopies().size() - numErrors + place;
  return std::nullopt;
}

bool OptimizerOp::mayAlias(unsigned target, unsigned input) {
  return getTiedInput(target) == input &&
         llvm::count(getInputs(), getInputs()[input]) == 1;
}

/// Verifies the types of parameters and states.
static LogicalResult verifyElements(OptimizerOp op) {
  auto launch = cast<LaunchOpInterface>(op.getOperation());
  unsigned count = op.getNumParameters();
  for (unsigned target = 0; target < (1 + op.getNumStates()) * count;
       ++target) {
    bool isParameter = target < count;
    // Gradients come between parameters and states.
    Type element = launch.getInputType(isParameter ? target : count + target)
                       .getElementType();
    if (!element.isF32() && !element.isBF16() &&
        !(isParameter && element.isF16()))
      return op.emitOpError("updates a ")
             << (isParameter ? "parameter of " : "state of ") << element
             << ", expected " << (isParameter ? "f16, " : "") << "bf16 or f32";
  }
  for (int64_t copied : op.getCopies())
    if (copied >= 0 && copied < count)
      if (Type element = launch.getInputType(copied).getElementType();
          !element.isF32())
        return op.emitOpError("copies a parameter of ")
               << element << ", expected f32";
  for (int64_t split : op.getSplits()) {
    if (split < 0 || split >= count)
      return op.emitOpError("splits parameter ") << split << " of " << count;
    if (!launch.getInputType(split).getElementType().isF32() ||
        llvm::is_contained(op.getCopies(), split) ||
        llvm::count(op.getSplits(), split) != 1)
      return op.emitOpError("splits parameter ")
             << split
             << ", expected it to be f32, without a copy and listed once";
  }
  return success();
}

/// Verifies the parameters whose rounding errors are kept.
static LogicalResult verifyCompensations(OptimizerOp op) {
  auto launch = cast<LaunchOpInterface>(op.getOperation());
  unsigned count = op.getNumParameters();
  unsigned firstTarget = (1 + op.getNumStates()) * count;
  for (auto [place, index] : llvm::enumerate(op.getCompensations())) {
    if (index < 0 || index >= count)
      return op.emitOpError("compensates parameter ")
             << index << " of " << count;
    ShapedType parameter = launch.getInputType(index);
    Type element = parameter.getElementType();
    if (element.isF32() || llvm::count(op.getCompensations(), index) != 1 ||
        (!op.getRoundingKeys().empty() && op.getRoundingKeys()[index] >= 0))
      return op.emitOpError("compensates parameter ")
             << index
             << ", expected it to be f16 or bf16, without a rounding key and "
                "listed once";
    auto old = cast<ShapedType>(op.getRoundingErrors()[place].getType());
    if (failed(verifyType(op, "a rounding error", old, parameter.getShape(),
                          element)) ||
        failed(verifyType(op, "a new rounding error",
                          launch.getTargetType(firstTarget + place),
                          parameter.getShape(), element)))
      return failure();
  }
  return success();
}

/// Verifies how new parameters and states are rounded.
static LogicalResult verifyRoundings(OptimizerOp op) {
  auto launch = cast<LaunchOpInterface>(op.getOperation());
  ArrayRef<int64_t> keys = op.getRoundingKeys();
  if (keys.empty())
    return success();
  size_t count = (1 + op.getNumStates()) * op.getNumParameters();
  if (keys.size() != count)
    return op.emitOpError("has ")
           << keys.size() << " rounding keys, expected one for each of "
           << count << " new parameters and states";
  for (auto [target, key] : llvm::enumerate(keys)) {
    Type element = launch.getTargetType(target).getElementType();
    if (key > INT32_MAX || (key >= 0 && !element.isBF16()))
      return op.emitOpError("rounds output ")
             << target << " of " << element << " with key " << key
             << ", expected bf16 and 31 bits";
  }
  return verifyType(op, "the state of the random generator",
                    cast<ShapedType>(op.getRandomState().getType()), {2},
                    IntegerType::get(op.getContext(), 64));
}

/// Verifies the 8-bit copies of parameters. The numbers of inputs and targets
/// are correct.
static LogicalResult verifyQuantized(OptimizerOp op) {
  auto launch = cast<LaunchOpInterface>(op.getOperation());
  Type f32 = Float32Type::get(op.getContext());
  DenseSet<int64_t> seen;
  for (auto [number, each] : llvm::enumerate(op.getQuantizedParameters())) {
    int64_t index = each.getIndex();
    QuantizationAttr quantization = each.getQuantization();
    if (index < 0 || index >= op.getNumParameters() ||
        !seen.insert(index).second)
      return op.emitOpError("quantises parameter ")
             << index << ", expected one of " << op.getNumParameters()
             << ", listed once";
    if (!quantization.takesScale() ||
        !isa<Float8E4M3FNType>(quantization.getFormat()))
      return op.emitOpError("quantises parameter ")
             << index << " as " << quantization
             << ", expected codes of f8E4M3FN with a scale for the tensor";
    ShapedType parameter = launch.getInputType(index);
    SmallVector<int64_t, 2> matrix =
        mlir::amp::getMatrixShape(parameter.getShape());
    if (quantization.getRows() != matrix[0] ||
        quantization.getColumns() != matrix[1])
      return op.emitOpError("quantises parameter ")
             << index << " as a matrix of " << quantization.getRows() << " x "
             << quantization.getColumns() << ", expected " << matrix[0] << " x "
             << matrix[1];
    Type element = parameter.getElementType(), source = each.getSource();
    bool isSplit = llvm::is_contained(op.getSplits(), index);
    if (!(isSplit ? source.isBF16()
                  : source == element || (element.isF32() &&
                                          (source.isF16() || source.isBF16()))))
      return op.emitOpError("quantises ")
             << source << " values of parameter " << index << " of " << element
             << ", expected "
             << (isSplit           ? "bf16"
                 : element.isF32() ? "f16, bf16 or f32"
                                   : "the type of the parameter");
    auto [input, target] = op.getQuantizedPlace(number);
    if (failed(
            verifyType(op, "the scale", launch.getInputType(input), {}, f32)) ||
        failed(verifyQuantizedTargets(launch, quantization, target)))
      return failure();
    for (unsigned i = 0; i < quantization.getTypes().size(); ++i) {
      ShapedType type = launch.getTargetType(target + i);
      if (failed(verifyType(op, "an old 8-bit copy",
                            launch.getInputType(input + 1 + i), type.getShape(),
                            type.getElementType())))
        return failure();
    }
  }
  return success();
}

LogicalResult OptimizerOp::verify() {
  auto launch = cast<LaunchOpInterface>(getOperation());
  unsigned count = getNumParameters(), states = getNumStates();
  bool isAdam = getKind() != OptimizerKind::SGD;
  if (count == 0)
    return emitOpError("updates no parameters");
  if (getVelocity() && isAdam)
    return emitOpError("has 'velocity', which belongs to sgd");
  if (failed(verifyCounts(
          launch,
          (2 + states) * count + 1 + isAdam + getMultiplied() +
              !getRoundingKeys().empty() + getCompensations().size() +
              (getPredicate() ? getCopies().size() : 0) +
              getQuantizedParameters().size() + getNumQuantizedTargets(),
          (1 + states) * count + getCompensations().size() +
              getCopies().size() + getNumQuantizedTargets())))
    return failure();
  Type f32 = Float32Type::get(getContext());
  for (unsigned index = 0; index < count; ++index) {
    auto parameter = launch.getInputType(index);
    auto gradient = launch.getInputType(count + index);
    if (!isGradientType(gradient.getElementType()))
      return emitOpError("takes a gradient of ")
             << gradient.getElementType() << ", expected f16, bf16 or f32";
    if (failed(verifyType(*this, "a gradient", gradient, parameter.getShape(),
                          gradient.getElementType())))
      return failure();
    for (unsigned state = 0; state <= states; ++state) {
      // Gradients come between parameters and states.
      auto old = launch.getInputType((state ? 1 + state : 0) * count + index);
      if (failed(verifyType(*this, "a state of the optimizer", old,
                            parameter.getShape(), old.getElementType())) ||
          failed(verifyType(*this, "an output of the optimizer",
                            launch.getTargetType(state * count + index),
                            parameter.getShape(), old.getElementType())))
        return failure();
    }
  }
  if (failed(verifyElements(*this)) || failed(verifyRoundings(*this)) ||
      failed(verifyCompensations(*this)) || failed(verifyQuantized(*this)))
    return failure();
  for (auto [index, copied] : llvm::enumerate(getCopies())) {
    if (copied < 0 || copied >= int64_t(count))
      return emitOpError("copies parameter ") << copied << " of " << count;
    auto copy = launch.getTargetType((1 + states) * count +
                                     getCompensations().size() + index);
    Type element = copy.getElementType();
    if (!element.isF16() && !element.isBF16())
      return emitOpError("has a copy of ")
             << element << ", expected f16 or bf16";
    if (failed(verifyType(*this, "a copy", copy,
                          launch.getInputType(copied).getShape(), element)))
      return failure();
    if (getPredicate() &&
        failed(verifyType(*this, "an old copy",
                          cast<ShapedType>(getOldCopies()[index].getType()),
                          copy.getShape(), element)))
      return failure();
  }
  if (failed(verifyScalar(*this, "the learning rate", getLearningRate())))
    return failure();
  if (Value step = getStep();
      step && failed(verifyScalar(*this, "the step", step)))
    return failure();
  if (Value multiplier = getMultiplier();
      multiplier &&
      failed(verifyType(*this, "the state of the check",
                        cast<ShapedType>(multiplier.getType()), {8}, f32)))
    return failure();
  return verifyLaunch(launch);
}

StringRef OptimizerOp::getDefaultName() {
  return stringifyOptimizerKind(getKind());
}

int64_t OptimizerOp::getNumTableEntries() { return getNumParameters(); }

int64_t OptimizerOp::getReadBytes() {
  // The launch does not read the old 8-bit copies.
  int64_t bytes = mlir::cuda::getReadBytes(getOperation());
  for (auto [number, each] : llvm::enumerate(getQuantizedParameters()))
    for (RankedTensorType type : each.getQuantization().getTypes())
      bytes -= getBytes(type);
  return bytes;
}

int64_t OptimizerOp::getFlops() {
  int64_t elements = 0;
  for (Value parameter : getParameters())
    elements += cast<ShapedType>(parameter.getType()).getNumElements();
  return elements * (getKind() == OptimizerKind::SGD ? 6 : 16);
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

LogicalResult CastsOp::verify() {
  auto launch = cast<LaunchOpInterface>(getOperation());
  if (getInputs().empty())
    return emitOpError("converts nothing");
  if (failed(verifyCounts(launch, getInputs().size(), getInputs().size())))
    return failure();
  Type from = launch.getInputType(0).getElementType();
  Type to = launch.getTargetType(0).getElementType();
  if (!from.isF32() || !(to.isF16() || to.isBF16()))
    return emitOpError("converts ")
           << from << " to " << to << ", expected f32 to f16 or bf16";
  for (unsigned index = 0; index < getInputs().size(); ++index) {
    auto input = launch.getInputType(index);
    if (failed(verifyType(*this, "an input", input, input.getShape(), from)) ||
        failed(verifyType(*this, "an output", launch.getTargetType(index),
                          input.getShape(), to)))
      return failure();
  }
  return verifyLaunch(launch);
}

int64_t CastsOp::getFlops() { return 0; }

int64_t CastsOp::getNumTableEntries() { return getInputs().size(); }

//===----------------------------------------------------------------------===//
// UpdateScale
//===----------------------------------------------------------------------===//

LogicalResult UpdateScaleOp::verify() {
  OperandSpec scale{{}, Float32Type::get(getContext())},
      tracker{{}, IntegerType::get(getContext(), 32)},
      flag{{}, IntegerType::get(getContext(), 1)};
  return verifyOperands(*this, {scale, tracker, tracker, flag},
                        {scale, tracker, tracker});
}

std::optional<unsigned> UpdateScaleOp::getTiedInput(unsigned target) {
  return target;
}

bool UpdateScaleOp::mayAlias(unsigned target, unsigned input) {
  return target == input && mayOverwrite(*this, target, input);
}

Value UpdateScaleOp::getLossScale() { return getInputs()[0]; }

//===----------------------------------------------------------------------===//
// Generated code
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "amp/Dialect/CUDA/IR/CUDAOptimizerOps.cpp.inc"

void CUDADialect::registerOptimizerOps() {
  addOperations<
#define GET_OP_LIST
#include "amp/Dialect/CUDA/IR/CUDAOptimizerOps.cpp.inc"
      >();
}
