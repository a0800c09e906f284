//===- GradientHistogram.cpp - Gradients in the range of f16 --------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/GradientHistogram.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Runtime/Host/Trainer.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mlir::amp;

static int classify(double magnitude) {
  return magnitude < 0x1p-27 ? 0 : magnitude < 0x1p-24 ? 1 : 2;
}

static constexpr double kLargestF16 = 65504;

/// The largest power of two that keeps `gradient` within f16's range.
static int getLargestExponent(double gradient) {
  return static_cast<int>(std::floor(std::log2(kLargestF16 / gradient)));
}

GradientHistogram::GradientHistogram(StepProgram &program, double assumedScale)
    : assumedScale(assumedScale) {
  // A scale that is not a state is a constant of the step.
  program.getFunction()->walk([&](Operation *op) {
    hasF16 |= llvm::any_of(op->getResultTypes(), [](Type type) {
      return getElementTypeOrSelf(type).isF16();
    });
    auto unscale = dyn_cast<UnscaleOp>(op);
    if (!unscale)
      return;
    auto argument = dyn_cast<BlockArgument>(unscale.getScale());
    auto state = argument && argument.getOwner()->isEntryBlock()
                     ? program.getFunction().getArgAttrOfType<StringAttr>(
                           argument.getArgNumber(), AMPDialect::kNameAttr)
                     : StringAttr();
    for (Value gradient : unscale.getGradients()) {
      auto result = dyn_cast<OpResult>(gradient);
      auto names = result ? result.getOwner()->getAttrOfType<ArrayAttr>(
                                AMPDialect::kGradientOfAttr)
                          : ArrayAttr();
      if (state && names)
        scaleStates[cast<StringAttr>(names[result.getResultNumber()]).str()] =
            state.str();
    }
    DenseFPElementsAttr value;
    if (!matchPattern(unscale.getScale(), m_Constant(&value)) ||
        !value.isSplat())
      return;
    scale = value.getSplatValue<APFloat>().convertToDouble();
    isConstant = true;
  });
}

void GradientHistogram::beforeStep(const JITStep &step) {
  const host::Array *array = step.getValue(host::kLossScaleState);
  if (array)
    scale = array->getDouble(0);
  for (const auto &[parameter, state] : scaleStates)
    if (const host::Array *own = step.getValue(state))
      scales[parameter] = own->getDouble(0);
}

void GradientHistogram::afterStep(const JITStep &step) {
  for (const host::TensorInfo &tensor : step.getTensors()) {
    llvm::StringRef name = tensor.name;
    if (tensor.role != host::Role::Prediction ||
        !name.consume_front(kGradientPrefix))
      continue;
    auto it = llvm::find_if(
        parameters, [&](const auto &entry) { return entry.first == name; });
    if (it == parameters.end())
      it = parameters.insert(it, {name.str(), Counts()});
    Counts &counts = it->second;
    auto own = scales.find(name.str());
    std::optional<double> scale =
        own != scales.end() ? std::optional(own->second) : this->scale;
    double applied = scale.value_or(assumedScale);
    leastScale = leastScale ? std::min(leastScale, applied) : applied;
    greatestScale = std::max(greatestScale, applied);
    const host::Array &gradient = *step.getPrediction(tensor.name);
    for (int64_t i = 0, e = gradient.getNumElements(); i < e; ++i) {
      double magnitude = std::abs(gradient.getDouble(i));
      ++counts.total;
      if (magnitude == 0) {
        ++counts.zero;
      } else if (!std::isfinite(magnitude)) {
        ++counts.nonFinite;
      } else {
        largest = std::max(largest, scale ? magnitude / *scale : magnitude);
        ++counts.before[classify(scale ? magnitude / *scale : magnitude)];
        ++counts.after[classify(scale ? magnitude : magnitude * assumedScale)];
      }
    }
  }
}

void GradientHistogram::print(llvm::StringRef run,
                              llvm::raw_ostream &os) const {
  size_t width = 9;
  for (const auto &[name, counts] : parameters)
    width = std::max(width, name.size());
  auto share = [&](int64_t part, int64_t whole) {
    os << llvm::format("  %7.3f%%",
                       whole ? 100.0 * double(part) / double(whole) : 0.0);
  };
  os << "gradients, " << run << ", "
     << (scale || !scales.empty() ? "scaled by " : "as if scaled by ")
     << host::formatNumber(leastScale);
  if (leastScale != greatestScale)
    os << " to " << host::formatNumber(greatestScale);
  os << ", share of the non-zero ones:\n";
  os.indent(width) << "     before scaling                after scaling\n";
  os << llvm::left_justify("parameter", width)
     << "   < 2^-27  < 2^-24  >= 2^-24   < 2^-27  < 2^-24  >= 2^-24"
     << "     zero  not finite\n";
  for (const auto &[name, counts] : parameters) {
    os << llvm::left_justify(name, width) << ' ';
    int64_t nonZero = counts.total - counts.zero - counts.nonFinite;
    for (int64_t part : counts.before)
      share(part, nonZero);
    for (int64_t part : counts.after)
      share(part, nonZero);
    share(counts.zero, counts.total);
    share(counts.nonFinite, counts.total);
    os << '\n';
  }
  if (largest > 0)
    os << "largest: " << host::formatNumber(largest)
       << "; below 65504 with constant scales up to 2^"
       << getLargestExponent(largest) << '\n';
}

std::string GradientHistogram::checkConstantScale() const {
  bool overflows = llvm::any_of(parameters, [](const auto &entry) {
    return entry.second.nonFinite != 0;
  });
  if (!isConstant || !hasF16 || (!overflows && largest * *scale < kLargestF16))
    return "";
  std::string allowed =
      overflows ? "a smaller one, or a dynamic scale"
                : "at most 2^" + std::to_string(getLargestExponent(largest)) +
                      ", or a dynamic scale";
  return "the constant loss scale " + host::formatNumber(*scale) +
         (overflows ? " takes gradients out of f16's range"
                    : " is more than the largest gradient leaves room for") +
         "; expected " + allowed;
}
