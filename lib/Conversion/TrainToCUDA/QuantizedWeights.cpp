//===- QuantizedWeights.cpp - Optimizers that quantise parameters ---------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If the scale of a parameter follows from earlier steps, the optimizer knows
// the scale of the next step and can write the 8-bit copies of the new
// parameter. The launch that quantises the parameter at the start of a step
// then runs only if the caller has changed a state.
//
//===----------------------------------------------------------------------===//

#include "TrainToCUDA.h"

#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Support/TensorTypes.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::cuda;
using mlir::amp::typeOf;

namespace {
/// A parameter whose optimizer can write its 8-bit copies.
struct QuantizedWeight {
  QuantizeOp quantize;
  /// The number of the parameter in the optimizer.
  unsigned index;
  /// The scale of the next step.
  Value scale;
};
} // namespace

static Value skipViews(Value value) {
  while (auto view = value.getDefiningOp<ViewOp>())
    value = view.getSource();
  return value;
}

/// Returns the value that replaces the state `argument` after the step, or
/// null.
static Value findUpdate(BlockArgument argument) {
  auto step = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  Attribute name = step.getArgAttr(argument.getArgNumber(),
                                   mlir::amp::AMPDialect::kNameAttr);
  Operation *terminator = argument.getOwner()->getTerminator();
  for (unsigned i = 0; name && i < step.getNumResults(); ++i)
    if (step.getResultAttr(i, mlir::amp::AMPDialect::kUpdatesAttr) == name)
      return skipViews(terminator->getOperand(i));
  return {};
}

/// Returns the number of the parameter of `optimizer` whose new value, or new
/// low copy, is result `number`. Returns std::nullopt for other results.
static std::optional<unsigned> findParameter(OptimizerOp optimizer,
                                             unsigned number) {
  if (number < optimizer.getNumParameters())
    return number;
  unsigned first = optimizer->getNumResults() -
                   optimizer.getNumQuantizedTargets() -
                   optimizer.getCopies().size();
  if (number < first || number - first >= optimizer.getCopies().size())
    return std::nullopt;
  return optimizer.getCopies()[number - first];
}

/// Finds the optimizer that updates the values that `quantize` reads.
static OptimizerOp findOptimizer(QuantizeOp quantize, unsigned &index) {
  Value values = skipViews(quantize.getInputs()[0]);
  auto half = values.getDefiningOp<UpperHalfOp>();
  auto casts = values.getDefiningOp<CastsOp>();
  if (half)
    values = skipViews(half.getSource());
  if (casts)
    values =
        skipViews(casts.getInputs()[cast<OpResult>(values).getResultNumber()]);
  auto argument = dyn_cast<BlockArgument>(values);
  Value update = argument ? findUpdate(argument) : Value();
  auto optimizer = update ? update.getDefiningOp<OptimizerOp>() : OptimizerOp();
  if (!optimizer)
    return {};
  std::optional<unsigned> found =
      findParameter(optimizer, cast<OpResult>(update).getResultNumber());
  // The launch rounds only f32 parameters, and cuts off only split ones.
  bool isSplit =
      found && llvm::is_contained(optimizer.getSplits(), int64_t(*found));
  if (!found || isSplit != bool(half) || (casts && values != argument))
    return {};
  // The launch updates the state of the step in place.
  auto parameter = dyn_cast<BlockArgument>(optimizer.getInputs()[*found]);
  if (!parameter || findUpdate(parameter) != optimizer.getResult(*found))
    return {};
  index = *found;
  return optimizer;
}

/// Returns the value of the scale of `quantize` in the next step. Returns null
/// if `optimizer` cannot read it.
static Value findNextScale(QuantizeOp quantize, OptimizerOp optimizer) {
  auto scale = dyn_cast<BlockArgument>(quantize.getInputs()[1]);
  if (!scale || mlir::amp::getRole(scale) != mlir::amp::Role::QuantizerState)
    return {};
  Value next = findUpdate(scale);
  if (!next || dependsOn(next, optimizer) ||
      typeOf(next) != typeOf(Value(scale)))
    return {};
  return next;
}

/// Replaces `optimizer` by one that also writes the copies of `weights`.
static void quantizeWeights(OptimizerOp optimizer,
                            ArrayRef<QuantizedWeight> weights) {
  OpBuilder builder(optimizer);
  SmallVector<Value> operands(optimizer.getInputs());
  SmallVector<Type> types(optimizer->getResultTypes());
  SmallVector<Attribute> quantized;
  for (const QuantizedWeight &weight : weights) {
    QuantizeOp quantize = weight.quantize;
    quantized.push_back(QuantizedParameterAttr::get(
        builder.getContext(), weight.index,
        typeOf(quantize.getInputs()[0]).getElementType(),
        quantize.getQuantization()));
    operands.push_back(weight.scale);
    llvm::append_range(operands, quantize.getResults());
    llvm::append_range(types, quantize.getResultTypes());
    quantize->setAttr(kRefreshesAttr, builder.getUnitAttr());
  }
  int32_t numInputs = operands.size(), numPredicates = 0;
  if (Value predicate = optimizer.getPredicate()) {
    operands.push_back(predicate);
    numPredicates = 1;
  }
  NamedAttrList attributes(optimizer->getAttrDictionary());
  attributes.set("operandSegmentSizes", builder.getDenseI32ArrayAttr(
                                            {numInputs, 0, 0, numPredicates}));
  attributes.set("quantized", builder.getArrayAttr(quantized));
  OperationState state(optimizer.getLoc(), optimizer->getName(), operands,
                       types, attributes);
  Operation *made = builder.create(state);
  optimizer->replaceAllUsesWith(
      made->getResults().take_front(optimizer->getNumResults()));
  optimizer.erase();
}

/// Whether only launches that refresh copies read `value`.
static bool isForRefreshes(Value value) {
  return !value.use_empty() &&
         llvm::all_of(value.getUsers(), [](Operation *op) {
           if (auto view = dyn_cast<ViewOp>(op))
             return isForRefreshes(view.getResult());
           auto launch = dyn_cast<LaunchOpInterface>(op);
           return launch && refreshes(launch);
         });
}

/// Divides `casts` into the results that every step reads and those that only
/// launches that refresh copies read.
static void divideCasts(CastsOp casts) {
  SmallVector<unsigned> parts[2];
  for (OpResult result : casts->getResults())
    parts[isForRefreshes(result)].push_back(result.getResultNumber());
  if (parts[true].empty())
    return;
  SmallVector<Location> locations(casts->getNumResults(), casts.getLoc());
  if (auto fused = dyn_cast<FusedLoc>(casts.getLoc());
      fused && fused.getLocations().size() == locations.size())
    locations.assign(fused.getLocations().begin(), fused.getLocations().end());
  OpBuilder builder(casts);
  for (bool isRefresh : {true, false}) {
    SmallVector<Value> inputs;
    SmallVector<Type> types;
    SmallVector<Location> own;
    for (unsigned index : parts[isRefresh]) {
      inputs.push_back(casts.getInputs()[index]);
      types.push_back(casts->getResult(index).getType());
      own.push_back(locations[index]);
    }
    if (inputs.empty())
      continue;
    auto made = CastsOp::create(builder, builder.getFusedLoc(own), types,
                                casts.getNameAttr(), inputs, ValueRange(),
                                ValueRange(), casts.getPredicate());
    if (isRefresh)
      made->setAttr(kRefreshesAttr, builder.getUnitAttr());
    for (auto [index, result] :
         llvm::zip_equal(parts[isRefresh], made->getResults()))
      casts->getResult(index).replaceAllUsesWith(result);
  }
  casts.erase();
}

void mlir::cuda::quantizeInOptimizers(func::FuncOp step) {
  Block &block = step.getBody().front();
  llvm::MapVector<Operation *, SmallVector<QuantizedWeight>> groups;
  for (auto quantize : block.getOps<QuantizeOp>()) {
    if (quantize.getBlocks() || !isa<Float8E4M3FNType>(quantize.getFormat()) ||
        quantize.getPredicate() || quantize->hasAttr(kRefreshesAttr))
      continue;
    unsigned index = 0;
    OptimizerOp optimizer = findOptimizer(quantize, index);
    Value scale = optimizer ? findNextScale(quantize, optimizer) : Value();
    // A parameter has one set of copies.
    if (scale && llvm::none_of(groups[optimizer], [&](const auto &other) {
          return other.index == index;
        }))
      groups[optimizer].push_back({quantize, index, scale});
  }
  if (groups.empty())
    return;
  for (auto &[optimizer, weights] : groups)
    quantizeWeights(cast<OptimizerOp>(optimizer), weights);
  for (CastsOp casts : llvm::to_vector(block.getOps<CastsOp>()))
    divideCasts(casts);
  sortTopologically(&block);
}
