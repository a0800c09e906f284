//===- ProductChooser.cpp - Products that may have 8-bit operands ---------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductChooser.h"

#include "amp/Interfaces/GradientInterfaces.h"

using namespace mlir;
using namespace mlir::amp;

ProductChooser::ProductChooser(const StepRewriter &step,
                               const ScalingRecipe &recipe,
                               const LossScales &lossScales,
                               const QuantizeProductsPassOptions &options)
    : step(step), recipe(recipe), lossScales(lossScales), options(options) {
  SmallVector<Value> seeds;
  step.getFunction()->walk([&](GradientSeedOpInterface seed) {
    llvm::append_range(seeds, seed->getResults());
  });
  gradients = step.getDependentValues(seeds);
}

StringRef Candidate::getLayer() const {
  for (Value operand : {product.lhs, product.rhs})
    if (BlockArgument weight = findWeight(operand))
      if (auto function =
              dyn_cast<FunctionOpInterface>(weight.getOwner()->getParentOp()))
        if (auto name = function.getArgAttrOfType<StringAttr>(
                weight.getArgNumber(), AMPDialect::kNameAttr))
          return name;
  Operation *definer = op;
  for (;;) {
    if (auto names =
            definer->getAttrOfType<ArrayAttr>(AMPDialect::kGradientOfAttr))
      if (StringRef name = cast<StringAttr>(names[0]).getValue(); !name.empty())
        return name;
    // A cast may come between the product and the name of its gradient.
    if (definer->getNumResults() != 1 || !definer->hasOneUse())
      return "product";
    definer = *definer->user_begin();
  }
}

CopiedOperand Candidate::getOperand(bool isRhs) const {
  Value value = isRhs ? product.rhs : product.lhs;
  CopyKind kind = (isRhs ? isRhsGradient : isLhsGradient) ? CopyKind::Gradient
                  : findWeight(value)                     ? CopyKind::Weight
                                                          : CopyKind::Input;
  return {value, kind, isRhs ? product.transposeRhs : !product.transposeLhs,
          getLayer()};
}

/// Returns a reason that a recipe with histories has to keep 16-bit operands,
/// or an empty string.
StringRef
ProductChooser::findObstacleOfHistory(const Candidate &candidate) const {
  for (Value operand : {candidate.product.lhs, candidate.product.rhs}) {
    Value source = skipInsertedCasts(operand);
    if (source.getParentBlock() != &step.getBody())
      return "a region computes an operand, and a history is written once in "
             "each step";
    if (!lossScales.get(source))
      return "an operand is not multiplied by whole powers of loss scales";
  }
  return "";
}

static bool isSixteenBit(Value value) {
  Type element = getElementTypeOrSelf(value);
  return element.isF16() || element.isBF16();
}

/// Returns a reason to keep 16-bit operands that does not depend on other
/// products, or an empty string.
StringRef ProductChooser::findObstacle(const Candidate &candidate) const {
  Operation *op = candidate.op;
  auto pin = op->getAttrOfType<StringAttr>(AMPDialect::kPrecisionAttr);
  if (pin && pin.getValue() != "low")
    return "amp.precision pins it";
  const MatrixProduct &product = candidate.product;
  if (!product.lhs)
    return "it is not a product of two matrices";
  if (!isSixteenBit(op->getOperand(0)) || !isSixteenBit(op->getOperand(1)))
    return "its operands are not of 16 bits";
  if (recipe.isDelayed)
    if (StringRef reason = findObstacleOfHistory(candidate); !reason.empty())
      return reason;
  if (candidate.isForward())
    return findWeight(product.lhs) || findWeight(product.rhs)
               ? ""
               : "neither operand is a weight";
  if (options.forwardOnly)
    return "it belongs to the backward pass";
  if (candidate.isLhsGradient && candidate.isRhsGradient)
    return "both operands are gradients";
  return "";
}

/// Keeps the first and the last layers, in program order, in 16 bits.
void ProductChooser::keepOuterLayers(std::vector<Candidate> &candidates) const {
  SmallVector<Candidate *> layers;
  for (Candidate &candidate : candidates)
    if (candidate.isForward() && candidate.product.lhs &&
        (findWeight(candidate.product.lhs) ||
         findWeight(candidate.product.rhs)))
      layers.push_back(&candidate);
  auto keep = [](Candidate *layer, StringRef reason) {
    if (layer->reason.empty())
      layer->reason = reason;
  };
  ArrayRef<Candidate *> all = layers;
  for (Candidate *layer : all.take_front(options.keepFirst))
    keep(layer, "it is one of the first layers");
  for (Candidate *layer : all.take_back(options.keepLast))
    keep(layer, "it is one of the last layers");
}

/// Keeps the products of the backward pass whose layer has 16-bit operands.
void ProductChooser::chooseBackward(std::vector<Candidate> &candidates) const {
  llvm::DenseSet<Value> inputs;
  llvm::DenseSet<Attribute> numbers;
  for (const Candidate &candidate : candidates)
    if (candidate.isForward() && candidate.reason.empty()) {
      for (Value operand : {candidate.product.lhs, candidate.product.rhs})
        inputs.insert(skipInsertedCasts(operand));
      if (Attribute id = candidate.op->getAttr(AMPDialect::kIdAttr))
        numbers.insert(id);
    }
  for (Candidate &candidate : candidates) {
    if (candidate.isForward() || !candidate.reason.empty())
      continue;
    Value other =
        candidate.isLhsGradient ? candidate.product.rhs : candidate.product.lhs;
    // A step that differentiation made says to which layer a product belongs.
    Attribute layer = candidate.op->getAttr(AMPDialect::kBackwardOfAttr);
    if (!inputs.contains(skipInsertedCasts(other)) && !numbers.contains(layer))
      candidate.reason = "it belongs to no layer with 8-bit operands";
    else if (options.highWeightGradients && !findWeight(other))
      candidate.reason = "it is the gradient of a weight";
  }
}

std::vector<Candidate> ProductChooser::choose(FunctionOpInterface function) {
  std::vector<Candidate> candidates;
  function->walk([&](MatrixProductOpInterface op) {
    Candidate candidate{op, {}, false, false, "", {}, {}, std::nullopt};
    if (std::optional<MatrixProduct> product = op.getMatrixProduct()) {
      candidate.product = *product;
      candidate.isLhsGradient = gradients.contains(product->lhs);
      candidate.isRhsGradient = gradients.contains(product->rhs);
    }
    candidate.reason = findObstacle(candidate);
    if (recipe.isDelayed && candidate.reason.empty()) {
      candidate.lhsLossScales =
          *lossScales.get(skipInsertedCasts(candidate.product.lhs));
      candidate.rhsLossScales =
          *lossScales.get(skipInsertedCasts(candidate.product.rhs));
    }
    candidates.push_back(std::move(candidate));
  });
  keepOuterLayers(candidates);
  chooseBackward(candidates);
  return candidates;
}
