//===- GradientHistogram.cpp - Where gradients lie in f16's range ---------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/GradientHistogram.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Execution/Trainer.h"
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

GradientHistogram::GradientHistogram(StepProgram &program, double assumedScale)
    : assumedScale(assumedScale) {
  // A scale that is no state is a constant of the step.
  program.getFunction()->walk([&](UnscaleOp op) {
    DenseFPElementsAttr value;
    if (matchPattern(op.getScale(), m_Constant(&value)) && value.isSplat())
      scale = value.getSplatValue<APFloat>().convertToDouble();
  });
}

void GradientHistogram::beforeStep(const Session &session) {
  const NDArray *array = session.getStates().lookup(kLossScaleState);
  if (array)
    scale = array->getDouble(0);
}

void GradientHistogram::afterStep(const Session &session,
                                  const StepProgram &program) {
  double applied = scale.value_or(assumedScale);
  leastScale = leastScale ? std::min(leastScale, applied) : applied;
  greatestScale = std::max(greatestScale, applied);
  for (const StepResult &result : program.getSignature().results) {
    llvm::StringRef name = result.name;
    if (result.kind != ResultKind::Prediction ||
        !name.consume_front(kGradientPrefix))
      continue;
    auto it = llvm::find_if(
        parameters, [&](const auto &entry) { return entry.first == name; });
    if (it == parameters.end())
      it = parameters.insert(it, {name.str(), Counts()});
    Counts &counts = it->second;
    const NDArray &gradient = *session.getTrainingPrediction(result.name);
    for (int64_t i = 0, e = gradient.getNumElements(); i < e; ++i) {
      double magnitude = std::abs(gradient.getDouble(i));
      ++counts.total;
      if (magnitude == 0) {
        ++counts.zero;
      } else if (!std::isfinite(magnitude)) {
        ++counts.nonFinite;
      } else {
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
     << (scale ? "scaled by " : "as if scaled by ") << formatNumber(leastScale);
  if (leastScale != greatestScale)
    os << " to " << formatNumber(greatestScale);
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
}
