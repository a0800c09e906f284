//===- ProductChooser.h - Products that may have 8-bit operands -*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the products of the layers of a step, and the reasons for which they
// keep operands of 16 bits.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_PRODUCTCHOOSER_H
#define AMP_LIB_TRANSFORMS_PRODUCTCHOOSER_H

#include "QuantizedCopies.h"
#include "amp/Interfaces/MatrixProductOpInterface.h"
#include "amp/LossScaling/ScaleExponentAnalysis.h"
#include "amp/Transforms/Passes.h"
#include "mlir/IR/Dominance.h"
#include "llvm/Support/GlobPattern.h"
#include <array>

namespace mlir::amp {

/// The loss scales by which the values of a step are multiplied.
class LossScales {
public:
  explicit LossScales(ArrayRef<std::string> linear) {
    // The check of the loss scale reports a wrong rule.
    std::string expected;
    for (const std::string &entry : linear)
      if (FailureOr<LinearRule> rule = LinearRule::parse(entry, expected);
          succeeded(rule))
        rules.push_back(std::move(*rule));
  }

  /// Returns failure, after a diagnostic, if a factor is unknown.
  LogicalResult run(FunctionOpInterface function) {
    WalkResult result = function->walk([](LossScaleOpInterface op) {
      return op.getLossScaleOperand() >= 0 ? WalkResult::interrupt()
                                           : WalkResult::advance();
    });
    if (!result.wasInterrupted())
      return success();
    analysis.emplace(tables, symbols, rules);
    SmallVector<ScaleExponent> arguments(function.getNumArguments());
    dominance = DominanceInfo(function);
    return analysis->run(function, arguments);
  }

  /// Returns the scales whose product multiplies `value`. Returns std::nullopt
  /// if it is not a product of scales that are known where `value` is.
  std::optional<SmallVector<Value, 1>> get(Value value) const {
    SmallVector<Value, 1> scales;
    if (!analysis)
      return scales;
    const ScaleExponent exponent = analysis->getExponent(value);
    for (const ScaleExponent::Term &term : exponent.getTerms()) {
      Value scale = symbols.getValue(term.symbol);
      Operation *user = value.getDefiningOp();
      if (term.denominator != 1 || term.numerator < 1 ||
          (user && !dominance.dominates(scale, user)))
        return std::nullopt;
      scales.append(term.numerator, scale);
    }
    return scales;
  }

private:
  SymbolTableCollection tables;
  ScaleSymbols symbols;
  SmallVector<LinearRule> rules;
  std::optional<ScaleExponentAnalysis> analysis;
  DominanceInfo dominance;
};

/// A product of the step, and why it keeps its operands of 16 bits. The reason
/// is empty if they become 8-bit floats.
struct Candidate {
  MatrixProductOpInterface op;
  MatrixProduct product = {};
  bool isLhsGradient = false, isRhsGradient = false;
  StringRef reason;
  /// The loss scales whose product multiplies the left and the right operand.
  SmallVector<Value, 1> lhsLossScales, rhsLossScales;
  /// The time that 8-bit operands save on a target, in picoseconds, without
  /// that of the copies.
  std::optional<int64_t> savedTime;
  /// Whether it belongs to a layer, and whether an option keeps the layer or
  /// this product of it.
  bool isOfLayer = false, isKept = false;
  /// The forward product of the layer of a product in the backward pass, by its
  /// number among the candidates.
  std::optional<unsigned> forward;
  /// The copies of its operands, once they are made.
  std::array<QuantizedCopies::Copy, 2> copies;
  /// The operand of its layer whose copy it reads although it keeps 16 bits: 0
  /// for the left one, 1 for the right one.
  std::optional<unsigned> dequantized;

  bool isForward() const { return !isLhsGradient && !isRhsGradient; }
  /// Returns the name of the weight of the product's layer.
  StringRef getLayer() const;
  /// Returns the left operand, or the right one.
  CopiedOperand getOperand(bool isRhs) const;
};

/// Finds the products of layers: those of a weight in the forward pass, and the
/// two products of each of them in the backward pass.
class ProductChooser {
public:
  ProductChooser(const StepRewriter &step, const ScalingRecipe &recipe,
                 const LossScales &lossScales,
                 const QuantizeProductsPassOptions &options,
                 ArrayRef<llvm::GlobPattern> keep);

  /// Returns all products of `function`, in program order.
  std::vector<Candidate> choose(FunctionOpInterface function);

  /// Returns whether `op` belongs to the backward pass.
  bool isBackward(Operation *op) const {
    return llvm::any_of(op->getResults(), [&](Value result) {
      return gradients.contains(result);
    });
  }

private:
  StringRef findObstacle(const Candidate &candidate) const;
  StringRef findObstacleOfHistory(const Candidate &candidate) const;
  void keepLayers(std::vector<Candidate> &candidates) const;
  void findLayers(std::vector<Candidate> &candidates) const;
  void chooseBackward(std::vector<Candidate> &candidates) const;

  const StepRewriter &step;
  const ScalingRecipe &recipe;
  const LossScales &lossScales;
  const QuantizeProductsPassOptions &options;
  ArrayRef<llvm::GlobPattern> keep;
  llvm::DenseSet<Value> gradients;
};

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_PRODUCTCHOOSER_H
