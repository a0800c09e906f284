//===- ProductChooser.cpp - Products that may have 8-bit operands ---------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductChooser.h"

#include "amp/Interfaces/GradientInterfaces.h"
#include "amp/Support/DependentValues.h"

using namespace mlir;
using namespace mlir::amp;

ProductChooser::ProductChooser(const StepRewriter &step,
                               const ScalingRecipe &recipe,
                               const LossScales &lossScales,
                               const QuantizeProductsPassOptions &options,
                               ArrayRef<llvm::GlobPattern> keep)
    : step(step), recipe(recipe), lossScales(lossScales), options(options),
      keep(keep) {
  SmallVector<Value> seeds;
  step.getFunction()->walk([&](GradientSeedOpInterface seed) {
    llvm::append_range(seeds, seed->getResults());
  });
  gradients = findDependentValues(seeds);
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
    return "it multiplies batches of matrices, which keep 16 bits in all "
           "recipes";
  if (!isSixteenBit(op->getOperand(0)) || !isSixteenBit(op->getOperand(1)))
    return "its operands are not of 16 bits";
  if (recipe.isDelayed)
    if (StringRef reason = findObstacleOfHistory(candidate); !reason.empty())
      return reason;
  if (candidate.isForward())
    return findWeight(product.lhs) || findWeight(product.rhs)
               ? ""
               : "neither operand is a weight";
  if (candidate.isLhsGradient && candidate.isRhsGradient)
    return "both operands are gradients";
  return "";
}

/// Whether a parameter is an operand of a product of two matrices in the
/// forward pass.
static bool isLayer(const Candidate &candidate) {
  const MatrixProduct &product = candidate.product;
  return candidate.isForward() && product.lhs &&
         (findWeight(product.lhs) || findWeight(product.rhs));
}

/// Keeps the layers that options name, and the first and the last ones, in
/// program order, in 16 bits.
void ProductChooser::keepLayers(std::vector<Candidate> &candidates) const {
  SmallVector<Candidate *> layers;
  for (Candidate &candidate : candidates)
    if (isLayer(candidate)) {
      candidate.isOfLayer = true;
      layers.push_back(&candidate);
    }
  auto keepLayer = [](Candidate *layer, StringRef reason) {
    layer->isKept = true;
    if (layer->reason.empty())
      layer->reason = reason;
  };
  for (Candidate *layer : layers)
    if (llvm::any_of(keep, [&](const llvm::GlobPattern &glob) {
          return glob.match(layer->getLayer());
        }))
      keepLayer(layer, "the option 'keep' names its layer");
  ArrayRef<Candidate *> all = layers;
  for (Candidate *layer : all.take_front(options.keepFirst))
    keepLayer(layer, "it is one of the first layers");
  for (Candidate *layer : all.take_back(options.keepLast))
    keepLayer(layer, "it is one of the last layers");
}

/// Finds the layers of the products of the backward pass.
void ProductChooser::findLayers(std::vector<Candidate> &candidates) const {
  llvm::DenseMap<Value, unsigned> byInput;
  llvm::DenseMap<Attribute, unsigned> byNumber;
  for (auto [number, candidate] : llvm::enumerate(candidates)) {
    if (!candidate.isOfLayer)
      continue;
    // Of several layers that read a tensor, one with 8-bit operands counts.
    for (Value operand : {candidate.product.lhs, candidate.product.rhs}) {
      unsigned &first =
          byInput.try_emplace(skipInsertedCasts(operand), number).first->second;
      if (!candidates[first].reason.empty())
        first = number;
    }
    if (Attribute id = candidate.op->getAttr(AMPDialect::kIdAttr))
      byNumber.try_emplace(id, number);
  }
  for (Candidate &candidate : candidates) {
    if (candidate.isForward() || !candidate.product.lhs ||
        (candidate.isLhsGradient && candidate.isRhsGradient))
      continue;
    Value other =
        candidate.isLhsGradient ? candidate.product.rhs : candidate.product.lhs;
    // A step that differentiation made says to which layer a product belongs.
    Attribute layer = candidate.op->getAttr(AMPDialect::kBackwardOfAttr);
    auto known = layer ? byNumber.find(layer) : byNumber.end();
    if (known != byNumber.end())
      candidate.forward = known->second;
    else if (auto found = byInput.find(skipInsertedCasts(other));
             found != byInput.end())
      candidate.forward = found->second;
    candidate.isOfLayer = candidate.forward.has_value();
    candidate.isKept =
        candidate.forward && candidates[*candidate.forward].isKept;
  }
}

/// Returns the number of the operand of `layer` that is `source`.
static std::optional<unsigned> findOperand(const Candidate &layer,
                                           Value source) {
  if (skipInsertedCasts(layer.product.lhs) == source)
    return 0;
  return skipInsertedCasts(layer.product.rhs) == source ? std::optional(1u)
                                                        : std::nullopt;
}

/// Keeps the products of the backward pass whose layer has 16-bit operands, and
/// those that options keep.
void ProductChooser::chooseBackward(std::vector<Candidate> &candidates) const {
  for (Candidate &candidate : candidates) {
    if (candidate.isForward() || !candidate.reason.empty())
      continue;
    Value other =
        candidate.isLhsGradient ? candidate.product.rhs : candidate.product.lhs;
    auto keepProduct = [&](StringRef reason) {
      candidate.isKept = true;
      candidate.reason = reason;
    };
    if (!candidate.forward || !candidates[*candidate.forward].reason.empty()) {
      candidate.reason = "it belongs to no layer with 8-bit operands";
    } else if (options.backward == "high") {
      keepProduct("it belongs to the backward pass");
    } else if (options.backward == "dequantized") {
      keepProduct(
          "it belongs to the backward pass, and reads the 8-bit copy of "
          "its layer in 16 bits");
      candidate.dequantized =
          findOperand(candidates[*candidate.forward], skipInsertedCasts(other));
      if (!candidate.dequantized)
        candidate.reason = "it belongs to the backward pass";
    } else if (options.highWeightGradients && !findWeight(other)) {
      keepProduct("it is the gradient of a weight");
    }
  }
}

std::vector<Candidate> ProductChooser::choose(FunctionOpInterface function) {
  std::vector<Candidate> candidates;
  function->walk([&](MatrixProductOpInterface op) {
    Candidate candidate;
    candidate.op = op;
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
  keepLayers(candidates);
  findLayers(candidates);
  chooseBackward(candidates);
  return candidates;
}
