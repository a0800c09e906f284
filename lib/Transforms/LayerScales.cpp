//===- LayerScales.cpp - A loss scale for each layer ----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerScales.h"
#include "ScalerState.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::amp;

/// Returns whether `type` is a tensor of floats with two or more dimensions.
static bool isMatrix(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && shaped.hasRank() && shaped.getRank() >= 2 &&
         isa<FloatType>(shaped.getElementType());
}

static bool isFloatTensor(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

static bool isComplexTensor(Value value) {
  return isa<ComplexType>(getElementTypeOrSelf(value.getType()));
}

GradientLayers::GradientLayers(const StepRewriter &step,
                               ArrayRef<Operation *> seeds,
                               ArrayRef<Value> gradients,
                               const StepRewriter::OpSet &backward)
    : gradients(gradients.begin(), gradients.end()) {
  FunctionOpInterface function = step.getFunction();
  // The values that depend on a parameter, and not on a batch or a seed.
  llvm::DenseSet<Value> others;
  for (BlockArgument argument : function.getArguments()) {
    std::optional<Role> kind = getRole(argument);
    if (kind == Role::Parameter)
      weights.insert(argument);
    else if (!kind || kind == Role::Batch)
      others.insert(argument);
  }
  for (Operation *seed : seeds)
    seedHolders.insert(step.getAncestor(seed));
  parent.push_back(0);
  for (Operation &op : step.getBody()) {
    if (backward.contains(&op) || seedHolders.contains(&op))
      visit(step, &op);
    llvm::SetVector<Value> read(op.operand_begin(), op.operand_end());
    getUsedValuesDefinedAbove(op.getRegions(), read);
    bool isOther =
        seedHolders.contains(&op) || llvm::any_of(read, [&](Value value) {
          return others.contains(value) || layers.contains(value);
        });
    bool isWeight = llvm::any_of(
        read, [&](Value value) { return weights.contains(value); });
    for (Value result : op.getResults()) {
      if (isOther)
        others.insert(result);
      else if (isWeight)
        weights.insert(result);
    }
  }
  merge(gradients);

  // Use the order of the signature, in which users know the parameters.
  llvm::DenseMap<StringAttr, unsigned> positions;
  for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i)
    if (auto name =
            function.getArgAttrOfType<StringAttr>(i, AMPDialect::kNameAttr))
      positions[name] = i;
  SmallVector<unsigned> first;
  for (Value gradient : gradients) {
    StringAttr name = StepRewriter::getParameterOf(gradient);
    auto [it, isNew] =
        number.try_emplace(find(layers.lookup(gradient)), names.size());
    unsigned position = positions.lookup(name);
    if (isNew) {
      names.push_back(name.str());
      first.push_back(position);
    } else if (position < first[it->second]) {
      names[it->second] = name.str();
      first[it->second] = position;
    }
  }
  // With several losses a parameter has a gradient in several layers.
  llvm::StringSet<> taken;
  for (std::string &name : names) {
    std::string base = name;
    for (unsigned i = 2; !taken.insert(name).second; ++i)
      name = base + "." + std::to_string(i);
  }
}

/// Assigns a layer to the results of `op`, and finds its operands from other
/// layers. Complex gradients, as behind a Fourier transform, do not pass from
/// one layer to another, because `amp.rescale` takes floats.
void GradientLayers::visit(const StepRewriter &step, Operation *op) {
  SmallVector<OpOperand *> uses;
  SmallVector<unsigned> ofComplex;
  bool crossesMatrix = false, readsWeight = false;
  op->walk([&](Operation *nested) {
    for (OpOperand &operand : nested->getOpOperands()) {
      if (layers.contains(operand.get())) {
        if (isComplexTensor(operand.get()))
          ofComplex.push_back(layers.lookup(operand.get()));
        else
          uses.push_back(&operand);
        crossesMatrix |= isMatrix(operand.get().getType());
      }
      readsWeight |=
          weights.contains(operand.get()) && isMatrix(operand.get().getType());
    }
  });
  unsigned layer = 0;
  bool holdsSeed = seedHolders.contains(op);
  if (uses.empty() && ofComplex.empty() && !holdsSeed)
    return;
  // Values in a loop with their seed have the scale of the seed.
  if (!holdsSeed && !ofComplex.empty()) {
    layer = ofComplex.front();
  } else if (!holdsSeed) {
    if (crossesMatrix && readsWeight) {
      layer = parent.size();
      parent.push_back(layer);
    } else {
      // Take the operands of the last layer, through which the gradient
      // continues.
      for (OpOperand *use : uses)
        layer = std::max(layer, layers.lookup(use->get()));
    }
  }
  for (OpOperand *use : uses)
    if (unsigned from = layers.lookup(use->get()); from != layer)
      crossings.push_back({use, from, layer});
  for (unsigned other : ofComplex)
    unite(layer, other);
  for (Value result : op->getResults())
    if (isFloatTensor(result) || isComplexTensor(result))
      layers[result] = layer;
}

/// Makes one layer of two.
void GradientLayers::unite(unsigned a, unsigned b) {
  a = find(a);
  b = find(b);
  parent[std::max(a, b)] = std::min(a, b);
}

/// Merges layers without gradients of parameters into those that they lead to.
void GradientLayers::merge(ArrayRef<Value> gradients) {
  llvm::DenseSet<unsigned> kept;
  for (Value gradient : gradients)
    kept.insert(find(layers.lookup(gradient)));
  for (unsigned layer = 0, e = parent.size(); layer != e; ++layer) {
    if (kept.contains(layer) || parent[layer] != layer)
      continue;
    auto out = llvm::find_if(crossings, [&](const Crossing &it) {
      return find(it.from) == layer && find(it.to) != layer;
    });
    auto in = llvm::find_if(crossings, [&](const Crossing &it) {
      return find(it.to) == layer && find(it.from) != layer;
    });
    // A layer that leads nowhere may join the layer that it comes from.
    if (out != crossings.end() && find(out->to) > layer)
      parent[layer] = find(out->to);
    else if (in != crossings.end())
      parent[layer] = find(in->from);
  }
}

unsigned GradientLayers::getLayer(Value gradient) const {
  return number.lookup(find(layers.lookup(gradient)));
}

void GradientLayers::insert(const StepRewriter &step,
                            MutableArrayRef<Scaling> scalings,
                            StepRewriter::OpSet &backward) const {
  OpBuilder builder(step.getFunction().getContext());
  SmallVector<llvm::SetVector<Value>> members(scalings.size());
  llvm::DenseMap<std::pair<Value, unsigned>, Value> rescaled;
  for (const Crossing &crossing : crossings) {
    unsigned from = number.lookup(find(crossing.from));
    unsigned to = number.lookup(find(crossing.to));
    if (from == to)
      continue;
    Value gradient = crossing.use->get();
    Value &value = rescaled[{gradient, to}];
    if (!value) {
      builder.setInsertionPointAfterValue(gradient);
      auto rescale =
          RescaleOp::create(builder, gradient.getLoc(), gradient,
                            scalings[from].scale, scalings[to].scale);
      backward.insert(rescale);
      value = rescale;
    }
    crossing.use->set(value);
    members[from].insert(gradient);
    members[to].insert(value);
  }
  for (Value gradient : gradients)
    members[getLayer(gradient)].insert(gradient);

  for (auto [scaling, values] : llvm::zip_equal(scalings, members)) {
    Operation *last = values.front().getDefiningOp();
    SmallVector<Location> locs;
    for (Value value : values) {
      locs.push_back(value.getLoc());
      if (last->isBeforeInBlock(value.getDefiningOp()))
        last = value.getDefiningOp();
    }
    builder.setInsertionPointAfter(last);
    auto largest = MaxMagnitudeOp::create(builder, builder.getFusedLoc(locs),
                                          values.getArrayRef());
    backward.insert(largest);
    scaling.magnitude = largest;
  }
}

LogicalResult mlir::amp::addLayerScales(StepRewriter &step,
                                        const LayerScaler &lossScaler,
                                        MutableArrayRef<Scaling> scalings) {
  Builder builder(step.getFunction().getContext());
  auto type = RankedTensorType::get({}, builder.getF32Type());
  auto init =
      InitAttr::get(builder.getContext(), InitKind::Constant,
                    builder.getF64FloatAttr(lossScaler.initScale), {}, {});
  for (Scaling &scaling : scalings) {
    FailureOr<BlockArgument> argument = step.addArgument(
        "loss_scale" + scaling.suffix, Role::ScalerState, type, init);
    if (failed(argument))
      return failure();
    scaling.scale = *argument;
  }
  return success();
}

LogicalResult mlir::amp::addLayerUpdate(StepRewriter &step,
                                        const LayerScaler &lossScaler,
                                        const Scaling &scaling,
                                        Value allFinite) {
  OpBuilder builder(step.getResultPoint());
  Value next =
      AdaptScaleOp::create(builder, allFinite.getLoc(), scaling.scale.getType(),
                           scaling.scale, scaling.magnitude, allFinite,
                           builder.getAttr<LayerScalerAttr>(lossScaler.rules));
  std::string name = "loss_scale" + scaling.suffix;
  if (failed(step.addResult(next, AMPDialect::kUpdatesAttr, name)) ||
      failed(step.addResult(scaling.scale, AMPDialect::kMetricAttr, name)))
    return failure();
  return addSkipMetric(step, "skipped" + scaling.suffix, allFinite);
}
