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
#include "ProductReport.h"
#include "amp/Dialect/AMP/IR/AMPQuantizedOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::amp {
#define GEN_PASS_DEF_QUANTIZEPRODUCTSPASS
#include "amp/Transforms/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

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
    if (!report.empty() && getOperation()->getParentOp()) {
      getOperation()->emitError("amp-quantize-products: a report needs the "
                                "pass to run on a whole module");
      return signalPassFailure();
    }
    numbers = ProductReport();
    patterns.clear();
    const ScalingRecipe *found = findScalingRecipe(recipe);
    if (!found) {
      getOperation()->emitError("amp-quantize-products: unknown recipe '")
          << recipe << "', expected " << listScalingRecipes();
      return signalPassFailure();
    }
    QuantizerSettings settings;
    if (failed(checkTarget(*found)) || failed(readSettings(settings)))
      return signalPassFailure();
    ScalingRecipe chosen = *found;
    if (!formats.empty())
      chosen.wideGradients = formats == "hybrid";
    WalkResult result = getOperation()->walk([&](FunctionOpInterface function) {
      if (function.isExternal() || function->hasAttr(kRecipeAttr))
        return WalkResult::advance();
      return failed(run(function, chosen, settings)) ? WalkResult::interrupt()
                                                     : WalkResult::advance();
    });
    if (result.wasInterrupted() ||
        (!report.empty() && failed(numbers.write(report, getOperation()))))
      signalPassFailure();
  }

private:
  ArrayRef<StringRef> getListOptions() const override {
    static constexpr StringRef names[] = {"linear", "keep"};
    return names;
  }
  LogicalResult checkTarget(const ScalingRecipe &recipe);
  LogicalResult readSettings(QuantizerSettings &settings);
  LogicalResult run(FunctionOpInterface function, const ScalingRecipe &recipe,
                    const QuantizerSettings &settings);
  void select(MutableArrayRef<Candidate> candidates,
              const ScalingRecipe &recipe, FunctionOpInterface function);
  void warnOfUnusedGlobs(FunctionOpInterface function,
                         ArrayRef<Candidate> candidates);
  LogicalResult replace(Candidate &candidate, QuantizedCopies &copies);
  void dequantize(Candidate &candidate, const Candidate &layer);
  void reportProduct(const Candidate &candidate, FunctionOpInterface function);
  void reportCopy(const SelectedCopy &copy, FunctionOpInterface function);
  static remark::RemarkOpts getRemark(StringRef kind,
                                      FunctionOpInterface function) {
    return remark::RemarkOpts::name(kind).category("amp").function(
        function.getName());
  }

  QuantizeProductsPassOptions getOptions() const {
    QuantizeProductsPassOptions options;
    options.keepFirst = keepFirst;
    options.keepLast = keepLast;
    options.backward = backward;
    options.highWeightGradients = highWeightGradients;
    return options;
  }

  /// The rates of the target, if there is one.
  std::optional<GPURates> rates;
  /// The globs of `keep`.
  SmallVector<llvm::GlobPattern> patterns;
  ProductReport numbers;
};

} // namespace

/// Returns failure, after a diagnostic, if the target has no such products.
LogicalResult QuantizeProductsPass::checkTarget(const ScalingRecipe &recipe) {
  if (target.empty())
    return success();
  auto fail = [&] {
    return getOperation()->emitError("amp-quantize-products: ");
  };
  rates = getGPURates(target);
  if (!rates)
    return fail() << "unknown target '" << target << "', expected "
                  << listTargets();
  if (recipe.runsOn(rates->capability))
    return success();
  std::string others = listScalingRecipes(rates->capability);
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
  const std::pair<StringRef, int64_t> integers[] = {
      {"history-length", historyLength},
      {"margin", margin},
      {"accumulator-bits", accumulatorBits},
      {"promotion", promotion}};
  for (auto [key, value] : integers)
    if (std::string expected = findFloat8Fault(key, std::to_string(value));
        !expected.empty())
      return fail(key, expected, Twine(value));
  const std::pair<StringRef, StringRef> texts[] = {
      {"formats", formats}, {"algorithm", algorithm}, {"backward", backward}};
  for (auto [key, value] : texts)
    if (std::string expected = findFloat8Fault(key, value);
        !expected.empty() && !(key == "formats" && value.empty()))
      return fail(key, expected, "'" + Twine(value) + "'");
  for (const std::string &glob : keep) {
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(glob);
    if (!pattern)
      return fail("keep",
                  "globs of names of layers (" +
                      llvm::toString(pattern.takeError()) + ")",
                  "'" + Twine(glob) + "'");
    patterns.push_back(std::move(*pattern));
  }
  settings = {historyLength, algorithm == "most_recent", margin};
  return success();
}

/// Warns of each glob of `keep` that names no layer.
void QuantizeProductsPass::warnOfUnusedGlobs(FunctionOpInterface function,
                                             ArrayRef<Candidate> candidates) {
  StringRef example;
  for (const Candidate &candidate : candidates)
    if (candidate.isOfLayer && candidate.isForward())
      example = candidate.getLayer();
  for (auto [text, pattern] : llvm::zip_equal(keep, patterns)) {
    const llvm::GlobPattern &glob = pattern;
    if (!example.empty() &&
        llvm::none_of(candidates, [&](const Candidate &candidate) {
          return candidate.isOfLayer && candidate.isForward() &&
                 glob.match(candidate.getLayer());
        }))
      function->emitWarning("'")
          << text << "' names no layer whose products keep 16 bits, expected "
          << "the name of a weight such as '" << example << "'";
  }
}

/// Replaces the product by one of quantised copies.
LogicalResult QuantizeProductsPass::replace(Candidate &candidate,
                                            QuantizedCopies &copies) {
  Operation *op = candidate.op;
  // Another product of 8-bit operands may have replaced an operand.
  candidate.product = *candidate.op.getMatrixProduct();
  const MatrixProduct &product = candidate.product;
  copies.setLossScales(skipInsertedCasts(product.lhs), candidate.lhsLossScales);
  copies.setLossScales(skipInsertedCasts(product.rhs), candidate.rhsLossScales);
  FailureOr<QuantizedCopies::Copy> lhs =
      copies.get(candidate.getOperand(false));
  if (failed(lhs))
    return failure();
  FailureOr<QuantizedCopies::Copy> rhs = copies.get(candidate.getOperand(true));
  if (failed(rhs))
    return failure();
  candidate.copies = {*lhs, *rhs};
  OpBuilder builder(op);
  auto unit = [&](bool flag) {
    return flag ? builder.getUnitAttr() : UnitAttr();
  };
  auto scaled = ScaledMatmulOp::create(
      builder, op->getLoc(), op->getResult(0).getType(), lhs->payload,
      lhs->scale, rhs->payload, rhs->scale, product.bias, lhs->blocks,
      rhs->blocks, unit(product.transposeLhs), unit(product.transposeRhs),
      builder.getI32IntegerAttr(accumulatorBits),
      builder.getI64IntegerAttr(promotion));
  scaled->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op->getResult(0).replaceAllUsesWith(scaled.getResult());
  eraseIfDead(op);
  return success();
}

/// Makes the product, which keeps its 16-bit operands, read the copy of its
/// layer. The casts and the moves between the tensor and the operand are
/// repeated.
void QuantizeProductsPass::dequantize(Candidate &candidate,
                                      const Candidate &layer) {
  const QuantizedCopies::Copy &copy = layer.copies[*candidate.dequantized];
  Operation *op = candidate.op;
  // The tensor may be the result of a product that is another operation now.
  MatrixProduct product = *candidate.op.getMatrixProduct();
  bool isRhs = candidate.isLhsGradient;
  Value source = skipInsertedCasts(isRhs ? product.rhs : product.lhs);
  SmallVector<Operation *> chain;
  Value operand = op->getOperand(isRhs);
  while (operand != source) {
    chain.push_back(operand.getDefiningOp());
    operand = chain.back()->getOperand(0);
  }
  OpBuilder builder(op);
  Value value = DequantizeOp::create(builder, op->getLoc(), source.getType(),
                                     copy.payload, copy.scale, copy.blocks);
  for (Operation *step : llvm::reverse(chain)) {
    IRMapping mapping;
    mapping.map(step->getOperand(0), value);
    value = builder.clone(*step, mapping)->getResult(0);
  }
  op->setOperand(isRhs, value);
  for (Operation *step : chain)
    if (isOpTriviallyDead(step))
      step->erase();
}

static std::string formatMicroseconds(int64_t picoseconds) {
  return llvm::formatv("{0:F3}", double(picoseconds) * 1e-6);
}

/// Keeps the products that save less time on the target than the copies that
/// only they read take.
void QuantizeProductsPass::select(MutableArrayRef<Candidate> candidates,
                                  const ScalingRecipe &recipe,
                                  FunctionOpInterface function) {
  if (failed(selectProducts(candidates, recipe, *rates)))
    remark::missed(function->getLoc(), getRemark("NotSelected", function))
        << remark::reason("extents of products are not known, so their times "
                          "on the target are not, either");
}

void QuantizeProductsPass::reportCopy(const SelectedCopy &copy,
                                      FunctionOpInterface function) {
  auto remark =
      remark::analysis(copy.getSource().getLoc(), getRemark("Copy", function));
  remark << remark::metric("Readers", copy.readers)
         << remark::metric("Orders", copy.getOrders());
  if (copy.readBytes)
    remark << remark::metric("ReadBytes", *copy.readBytes)
           << remark::metric("WrittenBytes", *copy.writtenBytes);
  if (copy.freedBytes)
    remark << remark::metric("FreedBytes", *copy.freedBytes);
  if (copy.time)
    remark << remark::metric("Microseconds", formatMicroseconds(*copy.time));
}

void QuantizeProductsPass::reportProduct(const Candidate &candidate,
                                         FunctionOpInterface function) {
  Operation *op = candidate.op;
  StringRef name = op->getName().getStringRef();
  auto addTime = [&](auto &&remark) {
    if (candidate.savedTime)
      remark << remark::metric("SavedMicroseconds",
                               formatMicroseconds(*candidate.savedTime));
  };
  if (!candidate.reason.empty()) {
    ++numKept;
    addTime(remark::missed(op->getLoc(), getRemark("Kept16Bits", function))
            << remark::metric("Op", name)
            << remark::reason("{0}", candidate.reason));
    return;
  }
  ++numQuantized;
  addTime(remark::passed(op->getLoc(), getRemark("Quantized", function))
          << remark::metric("Op", name));
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
  ProductChooser chooser(*step, recipe, lossScales, options, patterns);
  std::vector<Candidate> candidates = chooser.choose(function);
  if (rates)
    select(candidates, recipe, function);
  for (Candidate &candidate : candidates)
    if (candidate.dequantized &&
        !candidates[*candidate.forward].reason.empty()) {
      candidate.reason = "it belongs to no layer with 8-bit operands";
      candidate.dequantized.reset();
    }
  warnOfUnusedGlobs(function, candidates);
  for (const SelectedCopy &copy :
       numbers.add(function, {recipe, target, rates, candidates, chooser}))
    reportCopy(copy, function);
  for (const Candidate &candidate : candidates)
    reportProduct(candidate, function);
  QuantizedCopies copies(*step, recipe, settings);
  for (Candidate &candidate : candidates)
    if (candidate.reason.empty() && failed(replace(candidate, copies)))
      return failure();
  for (Candidate &candidate : candidates)
    if (candidate.dequantized)
      dequantize(candidate, candidates[*candidate.forward]);
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
