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
#include "ScalingRecipe.h"
#include "StepRewriter.h"
#include "amp/Dialect/AMP/IR/AMPScaledOps.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "amp/Interfaces/GradientInterfaces.h"
#include "amp/Interfaces/MatrixProductOpInterface.h"
#include "amp/Support/TensorTypes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::amp {
#define GEN_PASS_DEF_QUANTIZEPRODUCTSPASS
#include "amp/Transforms/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Returns whether casts and moves turn a parameter into `value`.
static bool isWeight(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    auto iface = dyn_cast<FloatRangeOpInterface>(op);
    bool moves = iface && iface.getElementFlow() == ElementFlow::Moves;
    if (op->getNumOperands() != 1 || (!moves && !CastLike(op)))
      return false;
    value = op->getOperand(0);
  }
  return getRole(value) == Role::Parameter;
}

/// Returns the value that inserted casts narrow to `value`. Quantisation then
/// rounds it once.
static Value skipInsertedCasts(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    CastLike cast(op);
    if (!cast || !cast.isInserted() ||
        !isa<RankedTensorType>(cast.getInput().getType()) ||
        !getElementTypeOrSelf(cast.getInput()).isF32())
      break;
    value = cast.getInput();
  }
  return value;
}

static bool isLow(Value value) {
  Type element = getElementTypeOrSelf(value);
  return element.isF16() || element.isBF16();
}

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
};

/// Finds the products of layers: those of a weight in the forward pass, and the
/// two products of each of them in the backward pass.
class ProductChooser {
public:
  ProductChooser(const StepRewriter &step,
                 const QuantizeProductsPassOptions &options)
      : options(options) {
    SmallVector<Value> seeds;
    step.getFunction()->walk([&](GradientSeedOpInterface seed) {
      llvm::append_range(seeds, seed->getResults());
    });
    gradients = step.getDependentValues(seeds);
  }

  std::vector<Candidate> choose(FunctionOpInterface function);

private:
  StringRef findObstacle(const Candidate &candidate) const;
  void keepOuterLayers(std::vector<Candidate> &candidates) const;
  void chooseBackward(std::vector<Candidate> &candidates) const;

  const QuantizeProductsPassOptions &options;
  llvm::DenseSet<Value> gradients;
};

} // namespace

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
  if (candidate.isForward())
    return isWeight(product.lhs) || isWeight(product.rhs)
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
        (isWeight(candidate.product.lhs) || isWeight(candidate.product.rhs)))
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
    else if (options.highWeightGradients && !isWeight(other))
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
// Copies
//===----------------------------------------------------------------------===//

namespace {

/// The quantised copies of the tensors of a function.
class QuantizedCopies {
public:
  explicit QuantizedCopies(const ScalingRecipe &recipe) : recipe(recipe) {}

  struct Copy {
    Value payload, scale;
    DenseI64ArrayAttr blocks;
  };

  /// Returns the copy of `operand` for products that contract its columns or
  /// its rows.
  Copy get(Value operand, bool isGradient, bool contractsColumns);

  unsigned getNumCopies() const { return copies.size(); }

private:
  const ScalingRecipe &recipe;
  /// By the tensor, the format and the blocks.
  llvm::MapVector<std::tuple<Value, Type, Attribute>, Copy> copies;
};

} // namespace

QuantizedCopies::Copy QuantizedCopies::get(Value operand, bool isGradient,
                                           bool contractsColumns) {
  Value source = skipInsertedCasts(operand);
  MLIRContext *context = source.getContext();
  Type format = isGradient && recipe.wideGradients
                    ? Type(Float8E5M2Type::get(context))
                    : Type(Float8E4M3FNType::get(context));
  DenseI64ArrayAttr blocks;
  if (auto sizes = recipe.getBlocks(contractsColumns, isWeight(source)))
    blocks = DenseI64ArrayAttr::get(context, *sizes);
  auto [it, isNew] = copies.try_emplace(
      std::tuple<Value, Type, Attribute>(source, format, blocks));
  if (!isNew)
    return it->second;

  OpBuilder builder(context);
  builder.setInsertionPointAfterValue(source);
  Location loc = source.getLoc();
  RankedTensorType type = typeOf(source);
  auto scaleType = RankedTensorType::get(
      getScaleShape(type.getShape(),
                    blocks ? BlockSizes(blocks.asArrayRef()) : std::nullopt),
      builder.getF32Type());
  Value amax = AmaxOp::create(builder, loc, scaleType, source, blocks);
  Value scale = ScaleFromAmaxOp::create(
      builder, loc, scaleType, amax, TypeAttr::get(format),
      builder.getI32IntegerAttr(0), builder.getF32FloatAttr(0),
      recipe.powersOfTwo ? builder.getUnitAttr() : UnitAttr(), UnitAttr());
  Value payload = QuantizeOp::create(builder, loc, type.clone(format), source,
                                     scale, blocks, builder.getUnitAttr());
  it->second = {payload, scale, blocks};
  return it->second;
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
    WalkResult result = getOperation()->walk([&](FunctionOpInterface function) {
      if (function.isExternal() || function->hasAttr(kRecipeAttr))
        return WalkResult::advance();
      return failed(run(function, *found)) ? WalkResult::interrupt()
                                           : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  LogicalResult run(FunctionOpInterface function, const ScalingRecipe &recipe);
  void replace(const Candidate &candidate, QuantizedCopies &copies);
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

/// Replaces the product by one of quantised copies.
void QuantizeProductsPass::replace(const Candidate &candidate,
                                   QuantizedCopies &copies) {
  Operation *op = candidate.op;
  const MatrixProduct &product = candidate.product;
  auto lhs =
      copies.get(product.lhs, candidate.isLhsGradient, !product.transposeLhs);
  auto rhs =
      copies.get(product.rhs, candidate.isRhsGradient, product.transposeRhs);
  OpBuilder builder(op);
  auto unit = [&](bool flag) {
    return flag ? builder.getUnitAttr() : UnitAttr();
  };
  auto scaled = ScaledMatmulOp::create(
      builder, op->getLoc(), op->getResult(0).getType(), lhs.payload, lhs.scale,
      rhs.payload, rhs.scale, product.bias, lhs.blocks, rhs.blocks,
      unit(product.transposeLhs), unit(product.transposeRhs));
  scaled->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op->getResult(0).replaceAllUsesWith(scaled.getResult());
  eraseIfDead(op);
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
                                        const ScalingRecipe &recipe) {
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
  QuantizeProductsPassOptions options = getOptions();
  std::vector<Candidate> candidates =
      ProductChooser(*step, options).choose(function);
  for (const Candidate &candidate : candidates)
    report(candidate, function);
  QuantizedCopies copies(recipe);
  for (const Candidate &candidate : candidates)
    if (candidate.reason.empty())
      replace(candidate, copies);
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
