//===- QuantizeProducts.cpp - Products of 8-bit operands ------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses products of layers after the assignment of 16-bit types, and shares
// one quantised copy among all products that read a tensor in the same way.
//
//===----------------------------------------------------------------------===//

#include "amp/Transforms/Passes.h"

#include "PrecisionRecord.h"
#include "QuantizedCopies.h"
#include "amp/Dialect/AMP/IR/AMPScaledOps.h"
#include "amp/Interfaces/GradientInterfaces.h"
#include "amp/Interfaces/MatrixProductOpInterface.h"
#include "amp/LossScaling/ScaleExponentAnalysis.h"
#include "amp/Precision/Policy/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Remarks.h"

namespace mlir::amp {
#define GEN_PASS_DEF_QUANTIZEPRODUCTSPASS
#include "amp/Transforms/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

static bool isLow(Value value) {
  Type element = getElementTypeOrSelf(value);
  return element.isF16() || element.isBF16();
}

//===----------------------------------------------------------------------===//
// Loss scales
//===----------------------------------------------------------------------===//

namespace {

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
  std::optional<SmallVector<Value>> get(Value value) const {
    SmallVector<Value> scales;
    if (!analysis)
      return scales;
    for (const ScaleExponent::Term &term :
         analysis->getExponent(value).getTerms()) {
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

} // namespace

//===----------------------------------------------------------------------===//
// Choosing products
//===----------------------------------------------------------------------===//

namespace {

/// A product of the step, and why it keeps its operands of 16 bits. The reason
/// is empty if they become 8-bit floats.
struct Candidate {
  MatrixProductOpInterface op;
  MatrixProduct product;
  bool isLhsGradient, isRhsGradient;
  StringRef reason;

  bool isForward() const { return !isLhsGradient && !isRhsGradient; }
  StringRef getLayer() const;
  CopiedOperand getOperand(bool isRhs) const;
};

/// Finds the products of layers: those of a weight in the forward pass, and the
/// two products of each of them in the backward pass.
class ProductChooser {
public:
  ProductChooser(const StepRewriter &step, const ScalingRecipe &recipe,
                 const LossScales &lossScales,
                 const QuantizeProductsPassOptions &options)
      : step(step), recipe(recipe), lossScales(lossScales), options(options) {
    SmallVector<Value> seeds;
    step.getFunction()->walk([&](GradientSeedOpInterface seed) {
      llvm::append_range(seeds, seed->getResults());
    });
    gradients = step.getDependentValues(seeds);
  }

  std::vector<Candidate> choose(FunctionOpInterface function);

private:
  StringRef findObstacle(const Candidate &candidate) const;
  StringRef findObstacleOfHistory(const Candidate &candidate) const;
  void keepOuterLayers(std::vector<Candidate> &candidates) const;
  void chooseBackward(std::vector<Candidate> &candidates) const;

  const StepRewriter &step;
  const ScalingRecipe &recipe;
  const LossScales &lossScales;
  const QuantizeProductsPassOptions &options;
  llvm::DenseSet<Value> gradients;
};

} // namespace

/// Returns the name of the weight of the product's layer.
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
      return cast<StringAttr>(names[0]);
    // A cast may come between the product and the name of its gradient.
    if (definer->getNumResults() != 1 || !definer->hasOneUse())
      return "product";
    definer = *definer->user_begin();
  }
}

/// The left operand, or the right one.
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
  if (!isLow(op->getOperand(0)) || !isLow(op->getOperand(1)))
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
    Candidate candidate{op, {}, false, false, ""};
    if (std::optional<MatrixProduct> product = op.getMatrixProduct()) {
      candidate.product = *product;
      candidate.isLhsGradient = gradients.contains(product->lhs);
      candidate.isRhsGradient = gradients.contains(product->rhs);
    }
    candidate.reason = findObstacle(candidate);
    candidates.push_back(candidate);
  });
  keepOuterLayers(candidates);
  chooseBackward(candidates);
  return candidates;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Erases `op` if it is unused, and then its operands' definitions.
static void eraseIfDead(Operation *op) {
  if (!op || !isOpTriviallyDead(op))
    return;
  SmallVector<Value> operands(op->getOperands());
  op->erase();
  for (Value operand : operands)
    eraseIfDead(operand.getDefiningOp());
}

namespace {

class QuantizeProductsPass final
    : public amp::impl::QuantizeProductsPassBase<QuantizeProductsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    const ScalingRecipe *found = findScalingRecipe(recipe);
    if (!found) {
      getOperation()->emitError("amp-quantize-products: unknown recipe '")
          << recipe << "', expected " << listScalingRecipes();
      return signalPassFailure();
    }
    QuantizerSettings settings;
    if (failed(checkTarget(*found)) || failed(readSettings(settings)))
      return signalPassFailure();
    WalkResult result = getOperation()->walk([&](FunctionOpInterface function) {
      if (function.isExternal() || function->hasAttr(kRecipeAttr))
        return WalkResult::advance();
      return failed(run(function, *found, settings)) ? WalkResult::interrupt()
                                                     : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  LogicalResult checkTarget(const ScalingRecipe &recipe);
  LogicalResult readSettings(QuantizerSettings &settings);
  LogicalResult run(FunctionOpInterface function, const ScalingRecipe &recipe,
                    const QuantizerSettings &settings);
  LogicalResult replace(const Candidate &candidate, QuantizedCopies &copies);
  void report(const Candidate &candidate, FunctionOpInterface function);

  QuantizeProductsPassOptions getOptions() const {
    QuantizeProductsPassOptions options;
    options.keepFirst = keepFirst;
    options.keepLast = keepLast;
    options.forwardOnly = forwardOnly;
    options.highWeightGradients = highWeightGradients;
    return options;
  }
};

} // namespace

/// Returns failure, after a diagnostic, if the target has no such products.
LogicalResult QuantizeProductsPass::checkTarget(const ScalingRecipe &recipe) {
  if (target.empty())
    return success();
  auto fail = [&] {
    return getOperation()->emitError("amp-quantize-products: ");
  };
  int capability = getComputeCapability(target);
  if (capability == 0)
    return fail() << "unknown target '" << target << "', expected "
                  << listTargets();
  if (recipe.runsOn(capability))
    return success();
  std::string others = listScalingRecipes(capability);
  if (others.empty())
    return fail() << "the target '" << target
                  << "' has no products of 8-bit floats, expected a GPU of "
                     "compute capability 8.9 or later";
  return fail() << "the recipe '" << recipe.name
                << "' does not run on the target '" << target << "', expected "
                << others;
}

LogicalResult QuantizeProductsPass::readSettings(QuantizerSettings &settings) {
  auto fail = [&](StringRef option, StringRef expected, const Twine &value) {
    return getOperation()->emitError("amp-quantize-products: expected '")
           << option << "' to be " << expected << ", got " << value;
  };
  if (historyLength < 1 || historyLength > kLongestHistory)
    return fail("history-length",
                "from 1 to " + std::to_string(kLongestHistory),
                Twine(historyLength.getValue()));
  if (algorithm != "max" && algorithm != "most_recent")
    return fail("algorithm", "max or most_recent",
                "'" + Twine(algorithm.getValue()) + "'");
  if (margin < 0 || margin > kLargestMargin)
    return fail("margin", "from 0 to " + std::to_string(kLargestMargin),
                Twine(margin.getValue()));
  settings = {historyLength, algorithm == "most_recent", margin};
  return success();
}

/// Replaces the product by one of quantised copies.
LogicalResult QuantizeProductsPass::replace(const Candidate &candidate,
                                            QuantizedCopies &copies) {
  Operation *op = candidate.op;
  const MatrixProduct &product = candidate.product;
  FailureOr<QuantizedCopies::Copy> lhs =
      copies.get(candidate.getOperand(false));
  if (failed(lhs))
    return failure();
  FailureOr<QuantizedCopies::Copy> rhs = copies.get(candidate.getOperand(true));
  if (failed(rhs))
    return failure();
  OpBuilder builder(op);
  auto unit = [&](bool flag) {
    return flag ? builder.getUnitAttr() : UnitAttr();
  };
  auto scaled = ScaledMatmulOp::create(
      builder, op->getLoc(), op->getResult(0).getType(), lhs->payload,
      lhs->scale, rhs->payload, rhs->scale, product.bias, lhs->blocks,
      rhs->blocks, unit(product.transposeLhs), unit(product.transposeRhs));
  scaled->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op->getResult(0).replaceAllUsesWith(scaled.getResult());
  eraseIfDead(op);
  return success();
}

void QuantizeProductsPass::report(const Candidate &candidate,
                                  FunctionOpInterface function) {
  Operation *op = candidate.op;
  StringRef name = op->getName().getStringRef();
  auto options = [&](StringRef kind) {
    return remark::RemarkOpts::name(kind).category("amp").function(
        function.getName());
  };
  if (!candidate.reason.empty()) {
    ++numKept;
    remark::missed(op->getLoc(), options("Kept16Bits"))
        << remark::metric("Op", name)
        << remark::reason("{0}", candidate.reason);
    return;
  }
  ++numQuantized;
  remark::passed(op->getLoc(), options("Quantized"))
      << remark::metric("Op", name);
}

LogicalResult QuantizeProductsPass::run(FunctionOpInterface function,
                                        const ScalingRecipe &recipe,
                                        const QuantizerSettings &settings) {
  if (!getRecordedPrecision(function)) {
    remark::missed(function->getLoc(), remark::RemarkOpts::name("NotMixed")
                                           .category("amp")
                                           .function(function.getName()))
        << "not rewritten by auto-mixed-precision";
    return success();
  }
  FailureOr<StepRewriter> step = StepRewriter::get(function);
  if (failed(step))
    return failure();
  LossScales lossScales(linear);
  if (recipe.isDelayed && failed(lossScales.run(function)))
    return failure();
  QuantizeProductsPassOptions options = getOptions();
  std::vector<Candidate> candidates =
      ProductChooser(*step, recipe, lossScales, options).choose(function);
  for (const Candidate &candidate : candidates)
    report(candidate, function);
  QuantizedCopies copies(*step, recipe, settings);
  for (const Candidate &candidate : candidates) {
    if (!candidate.reason.empty())
      continue;
    for (Value operand : {candidate.product.lhs, candidate.product.rhs}) {
      Value source = skipInsertedCasts(operand);
      if (auto scales = lossScales.get(source))
        copies.setLossScales(source, *scales);
    }
    if (failed(replace(candidate, copies)))
      return failure();
  }
  numCopies += copies.getNumCopies();
  if (copies.getNumCopies() == 0) {
    function->emitWarning(
        "no product has 8-bit operands, expected products of a parameter with "
        "16-bit operands; remarks of the category 'amp' give the reasons");
    return success();
  }
  function->setAttr(kRecipeAttr,
                    StringAttr::get(function->getContext(), recipe.name));
  return success();
}
