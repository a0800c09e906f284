//===- Calls.cpp - Calls of tuned kernels ---------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shapes and types are those of the operations of the `train` dialect of the
// same names; `convert-train-to-cuda` has them from there. What is verified
// here is what a call would otherwise read or write out of bounds.
//
//===----------------------------------------------------------------------===//

#include "LaunchSupport.h"

#include "amp/Runtime/CUDA/Sizes.h"

using namespace mlir;
using namespace mlir::cuda;

static constexpr StringRef kAxis[] = {"axis"};
static constexpr StringRef kEpsilon[] = {"epsilon"};
static constexpr StringRef kTraining[] = {"epsilon", "momentum"};
static constexpr StringRef kPool[] = {"window", "strides", "padding"};
static constexpr StringRef kDropout[] = {"rate", "key"};
static constexpr StringRef kKey[] = {"key"};
static constexpr StringRef kScale[] = {
    "growth_factor", "backoff_factor", "growth_interval", "min_scale",
    "max_scale",     "hysteresis",     "refill",          "after_backoff",
    "finite_growth", "exact_interval"};

static constexpr CalleeInfo kCallees[] = {
    {"softmax", 1, 1, kAxis},
    {"softmax_grad", 2, 1, kAxis},
    {"log_softmax", 1, 1, kAxis},
    {"log_softmax_grad", 2, 1, kAxis},
    {"layer_norm", 3, 3, kEpsilon},
    {"layer_norm_grad", 5, 3, {}},
    {"batch_norm_training", 5, 5, kTraining},
    {"batch_norm_inference", 5, 1, kEpsilon},
    {"batch_norm_grad", 5, 3, {}},
    {"cross_entropy", 2, 1, {}},
    {"cross_entropy_grad", 3, 1, {}},
    {"cross_entropy_with_grad", 3, 2, {}},
    {"max_pool2d", 1, 1, kPool},
    {"max_pool2d_grad", 3, 1, kPool},
    {"avg_pool2d", 1, 1, kPool},
    {"avg_pool2d_grad", 1, 1, kPool},
    {"scatter_add", 2, 1, kAxis},
    {"dropout", 2, 1, kDropout},
    {"stochastic_round", 2, 1, kKey},
    {"update_scale", 4, 3, kScale},
};

const CalleeInfo *mlir::cuda::findCallee(StringRef callee) {
  const auto *found = llvm::find_if(
      kCallees, [&](const CalleeInfo &info) { return info.name == callee; });
  return found == std::end(kCallees) ? nullptr : found;
}

int64_t CallOp::getInteger(StringRef parameter) {
  return cast<IntegerAttr>(getParameters().get(parameter)).getInt();
}

double CallOp::getFloat(StringRef parameter) {
  return cast<FloatAttr>(getParameters().get(parameter)).getValueAsDouble();
}

ArrayRef<int64_t> CallOp::getIntegers(StringRef parameter) {
  return cast<DenseI64ArrayAttr>(getParameters().get(parameter));
}

/// The kind of attribute that a parameter is.
static LogicalResult verifyParameter(CallOp op, StringRef name) {
  Attribute value = op.getParameters().get(name);
  bool isInteger = name == "axis" || name == "key" ||
                   name == "growth_interval" || name == "hysteresis" ||
                   name == "refill" || name == "after_backoff" ||
                   name == "finite_growth" || name == "exact_interval";
  bool isList = llvm::is_contained(kPool, name);
  if (isList) {
    auto list = dyn_cast_or_null<DenseI64ArrayAttr>(value);
    size_t size = name == "padding" ? 4 : 2;
    if (!list || list.size() != int64_t(size) ||
        llvm::any_of(list.asArrayRef(), [&](int64_t extent) {
          return extent < (name == "padding" ? 0 : 1);
        }))
      return op.emitOpError("needs the parameter '")
             << name << "', " << size << " integers as array<i64: ...>";
    return success();
  }
  if (isInteger ? isa_and_nonnull<IntegerAttr>(value)
                : isa_and_nonnull<FloatAttr>(value))
    return success();
  return op.emitOpError("needs the parameter '")
         << name << "', " << (isInteger ? "an integer" : "a float");
}

static LogicalResult verifyPool(CallOp op, ShapedType input,
                                ShapedType output) {
  if (input.getRank() != 4 || output.getRank() != 4)
    return op.emitOpError("pools tensors that are not of rank 4");
  ArrayRef<int64_t> window = op.getIntegers("window"),
                    strides = op.getIntegers("strides"),
                    padding = op.getIntegers("padding");
  SmallVector<int64_t> shape(input.getShape());
  for (int i = 0; i < 2; ++i)
    shape[i + 1] =
        (shape[i + 1] + padding[2 * i] + padding[2 * i + 1] - window[i]) /
            strides[i] +
        1;
  return verifyType(op, "the pooled tensor", output, shape,
                    input.getElementType());
}

/// Verifies that all of `types` have the same shape, but not element type.
static LogicalResult verifyEqualShapes(CallOp op, ArrayRef<ShapedType> types) {
  for (ShapedType type : types)
    if (type.getShape() != types.front().getShape())
      return op.emitOpError("has shapes ")
             << formatList(types.front().getShape()) << " and "
             << formatList(type.getShape()) << ", expected equal ones";
  return success();
}

static LogicalResult verifyShapes(CallOp op) {
  auto launch = cast<LaunchOpInterface>(op.getOperation());
  StringRef callee = op.getCallee();
  auto in = [&](unsigned index) { return launch.getInputType(index); };
  auto out = [&](unsigned index) { return launch.getTargetType(index); };
  Type f32 = Float32Type::get(op.getContext());
  auto verifyWide = [&](ArrayRef<ShapedType> types,
                        ArrayRef<int64_t> shape) -> LogicalResult {
    for (ShapedType type : types)
      if (failed(verifyType(op, "a statistic or gain", type, shape, f32)))
        return failure();
    return success();
  };
  if (callee.contains("softmax")) {
    int64_t axis = op.getInteger("axis");
    if (axis < 0 || axis >= in(0).getRank())
      return op.emitOpError("has axis ")
             << axis << " of rank " << in(0).getRank();
    return callee.ends_with("grad")
               ? verifyEqualShapes(op, {in(0), in(1), out(0)})
               : verifyEqualShapes(op, {in(0), out(0)});
  }
  if (callee.starts_with("layer_norm")) {
    bool isGrad = callee == "layer_norm_grad";
    ShapedType x = in(0), gamma = in(isGrad ? 2 : 1);
    if (gamma.getRank() > x.getRank() ||
        x.getShape().take_back(gamma.getRank()) != gamma.getShape())
      return op.emitOpError("has a gain of shape ")
             << formatList(gamma.getShape()) << " for rows of "
             << formatList(x.getShape());
    ArrayRef<int64_t> rows = x.getShape().drop_back(gamma.getRank());
    if (isGrad)
      return success(
          succeeded(verifyEqualShapes(op, {in(0), in(1), out(0)})) &&
          succeeded(verifyWide({gamma, out(1), out(2)}, gamma.getShape())) &&
          succeeded(verifyWide({in(3), in(4)}, rows)));
    return success(succeeded(verifyEqualShapes(op, {x, out(0)})) &&
                   succeeded(verifyWide({gamma, in(2)}, gamma.getShape())) &&
                   succeeded(verifyWide({out(1), out(2)}, rows)));
  }
  if (callee.starts_with("batch_norm")) {
    ArrayRef<int64_t> channels = in(0).getShape().take_back();
    if (failed(verifyEqualShapes(op, {in(0), out(0)})))
      return failure();
    if (callee == "batch_norm_grad")
      return success(succeeded(verifyEqualShapes(op, {in(0), in(1)})) &&
                     succeeded(verifyWide({in(2), in(3), in(4), out(1), out(2)},
                                          channels)));
    SmallVector<ShapedType> wide{in(1), in(2), in(3), in(4)};
    for (unsigned target = 1; target < launch.getNumTargets(); ++target)
      wide.push_back(out(target));
    return verifyWide(wide, channels);
  }
  if (callee.starts_with("cross_entropy")) {
    if (in(0).getRank() < 1 ||
        in(0).getShape().drop_back() != in(1).getShape() ||
        !(in(1).getElementType().isInteger(64) ||
          in(1).getElementType().isInteger(32)))
      return op.emitOpError("has labels of shape ")
             << formatList(in(1).getShape()) << " of " << in(1).getElementType()
             << " for logits of shape " << formatList(in(0).getShape())
             << ", expected one i32 or i64 per row";
    bool hasGrad = callee != "cross_entropy",
         hasLoss = callee != "cross_entropy_grad";
    if (hasLoss && failed(verifyWide({out(0)}, {})))
      return failure();
    if (hasGrad && (failed(verifyWide({in(2)}, {})) ||
                    failed(verifyEqualShapes(op, {in(0), out(hasLoss)}))))
      return failure();
    return success();
  }
  if (callee == "scatter_add") {
    int64_t axis = op.getInteger("axis");
    if (axis < 0 || axis >= out(0).getRank() ||
        !isa<IntegerType>(in(1).getElementType()))
      return op.emitOpError("has axis ")
             << axis << " of rank " << out(0).getRank() << " and indices of "
             << in(1).getElementType() << ", expected integers";
    SmallVector<int64_t> shape(out(0).getShape().take_front(axis));
    llvm::append_range(shape, in(1).getShape());
    llvm::append_range(shape, out(0).getShape().drop_front(axis + 1));
    return verifyType(op, "the tensor of updates", in(0), shape,
                      in(0).getElementType());
  }
  if (callee == "max_pool2d" || callee == "avg_pool2d")
    return verifyPool(op, in(0), out(0));
  if (callee == "max_pool2d_grad")
    return success(succeeded(verifyPool(op, in(0), in(1))) &&
                   succeeded(verifyEqualShapes(op, {in(1), in(2)})) &&
                   succeeded(verifyEqualShapes(op, {in(0), out(0)})));
  if (callee == "avg_pool2d_grad")
    return verifyPool(op, out(0), in(0));
  if (callee == "dropout" || callee == "stochastic_round") {
    if (failed(verifyType(op, "the generator state", in(1), {2},
                          IntegerType::get(op.getContext(), 64))))
      return failure();
    if (callee == "dropout")
      return verifyEqualShapes(op, {in(0), out(0)});
    ArrayRef<int64_t> shape = in(0).getShape();
    return success(
        succeeded(verifyType(op, "what is rounded", in(0), shape, f32)) &&
        succeeded(verifyType(op, "the rounded tensor", out(0), shape,
                             BFloat16Type::get(op.getContext()))));
  }
  // update_scale
  Type i32 = IntegerType::get(op.getContext(), 32);
  for (unsigned index = 0; index < 3; ++index)
    if (failed(verifyType(op, "a state of the scale", in(index), {},
                          index == 0 ? f32 : i32)) ||
        failed(verifyType(op, "a state of the scale", out(index), {},
                          index == 0 ? f32 : i32)))
      return failure();
  return verifyType(op, "the flag", in(3), {},
                    IntegerType::get(op.getContext(), 1));
}

LogicalResult CallOp::verify() {
  auto launch = cast<LaunchOpInterface>(getOperation());
  const CalleeInfo *info = findCallee(getCallee());
  if (!info)
    return emitOpError("calls '")
           << getCallee() << "', which the runtime does not have";
  if (failed(verifyCounts(launch, info->numInputs, info->numTargets)))
    return failure();
  for (StringRef parameter : info->parameters)
    if (failed(verifyParameter(*this, parameter)))
      return failure();
  bool isScale = getCallee() == "update_scale";
  for (unsigned index = 0; index < info->numInputs && !isScale; ++index)
    if (launch.getInputType(index).getElementType().isF64())
      return emitOpError("is given f64, expected f32, f16 or bf16");
  for (unsigned target = 0; target < info->numTargets; ++target)
    if (launch.getTargetType(target).getElementType().isF64())
      return emitOpError("gives f64, expected f32, f16 or bf16");
  if (failed(verifyShapes(*this)))
    return failure();
  return verifyLaunch(launch, getScratch());
}

bool CallOp::mayAlias(unsigned target, unsigned input) {
  auto launch = cast<LaunchOpInterface>(getOperation());
  if (launch.getInputType(input) != launch.getTargetType(target) ||
      llvm::count(getInputs(), getInputs()[input]) != 1)
    return false;
  StringRef callee = getCallee();
  if (callee == "softmax" || callee == "log_softmax" || callee == "dropout" ||
      callee == "softmax_grad" || callee == "log_softmax_grad" ||
      callee == "cross_entropy_grad" || callee == "update_scale")
    return input == target || target == 0;
  if (callee == "cross_entropy_with_grad")
    return target == 1 && input == 0;
  if (callee == "layer_norm_grad" || callee == "batch_norm_grad")
    return target == 0 && input == 0;
  // The running statistics.
  if (callee == "batch_norm_training")
    return target == input && input >= 3;
  return false;
}

std::optional<unsigned> CallOp::getTiedInput(unsigned target) {
  if (getCallee() == "update_scale")
    return target;
  return std::nullopt;
}

int64_t CallOp::getFlops() {
  auto launch = cast<LaunchOpInterface>(getOperation());
  // An addition each.
  if (getCallee() == "scatter_add")
    return launch.getInputType(0).getNumElements();
  int64_t elements = 0;
  for (unsigned index = 0; index < getInputs().size(); ++index)
    elements = std::max(elements, launch.getInputType(index).getNumElements());
  for (unsigned target = 0; target < launch.getNumTargets(); ++target)
    elements =
        std::max(elements, launch.getTargetType(target).getNumElements());
  // A rough number of operations per element: all of these are bound by memory.
  bool isRandom = getCallee() == "dropout" || getCallee() == "stochastic_round";
  return elements * (isRandom ? 2 : 8);
}

int64_t CallOp::getScratchBytes() {
  auto launch = cast<LaunchOpInterface>(getOperation());
  StringRef callee = getCallee();
  int64_t elements = launch.getInputType(0).getNumElements();
  if (callee == "layer_norm_grad") {
    int64_t columns = launch.getInputType(2).getNumElements();
    return ::amp::cuda::layerNormScratchBytes(elements / columns, columns);
  }
  if (callee == "batch_norm_training" || callee == "batch_norm_grad") {
    int64_t channels = launch.getInputType(0).getShape().back();
    return callee == "batch_norm_grad"
               ? ::amp::cuda::batchNormBackwardScratchBytes(elements / channels,
                                                            channels)
               : ::amp::cuda::batchNormForwardScratchBytes(elements / channels,
                                                           channels);
  }
  if (callee.starts_with("cross_entropy"))
    return ::amp::cuda::crossEntropyScratchBytes(
        launch.getInputType(1).getNumElements());
  return 0;
}

int64_t CallOp::getRereadBytes() {
  auto launch = cast<LaunchOpInterface>(getOperation());
  // The statistics first, then what they normalise; of a gradient, the sums
  // over rows first. Rows stay in registers.
  int64_t bytes = getBytes(launch.getInputType(0));
  if (getCallee() == "batch_norm_training")
    return bytes;
  if (getCallee() == "batch_norm_grad" || getCallee() == "layer_norm_grad")
    return bytes + getBytes(launch.getInputType(1));
  return 0;
}
