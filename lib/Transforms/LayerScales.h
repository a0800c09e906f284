//===- LayerScales.h - A loss scale for each layer --------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Splits a backward pass into layers, in each of which all gradients have one
// loss scale. A layer ends where a gradient is multiplied by a parameter.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_LAYERSCALES_H
#define AMP_LIB_TRANSFORMS_LAYERSCALES_H

#include "GradientGroups.h"
#include "amp/LossScaling/LossScaler.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::amp {

/// The layers of a backward pass, by their number from the loss on.
class GradientLayers {
public:
  /// Finds the layers of the operations `backward`, on which `gradients`
  /// depend. Each layer has at least one of these.
  GradientLayers(const StepRewriter &step, ArrayRef<Operation *> seeds,
                 ArrayRef<Value> gradients,
                 const StepRewriter::OpSet &backward);

  /// Returns the names of the layers. A layer has the name of its first
  /// parameter, with a number appended if another layer has that name.
  ArrayRef<std::string> getNames() const { return names; }
  /// Returns the layer of `gradient`, one of the gradients of the constructor.
  unsigned getLayer(Value gradient) const;
  /// Returns the layer of values that come from the seeds.
  unsigned getFirstLayer() const { return number.lookup(find(0)); }

  /// Inserts an `amp.rescale` where a gradient passes from one layer to
  /// another, and an `amp.max_magnitude` over the gradients of each layer. Adds
  /// these operations to `backward`, and the magnitudes to `scalings`, the
  /// scales of the layers.
  void insert(const StepRewriter &step, MutableArrayRef<Scaling> scalings,
              StepRewriter::OpSet &backward) const;

private:
  /// A use of a gradient by an operation of another layer.
  struct Crossing {
    OpOperand *use;
    unsigned from, to;
  };

  void visit(const StepRewriter &step, Operation *op);
  void unite(unsigned a, unsigned b);
  void merge(ArrayRef<Value> gradients);
  /// The layer that `layer` is part of.
  unsigned find(unsigned layer) const {
    while (parent[layer] != layer)
      layer = parent[layer];
    return layer;
  }

  /// Values that depend on parameters alone.
  llvm::DenseSet<Value> weights;
  llvm::DenseSet<Operation *> seedHolders;
  /// Before layers are merged.
  llvm::MapVector<Value, unsigned> layers;
  SmallVector<Crossing> crossings;
  SmallVector<unsigned> parent;
  /// The numbers of the remaining layers.
  llvm::DenseMap<unsigned, unsigned> number;
  std::vector<std::string> names;
  SmallVector<Value> gradients;
};

/// Adds the scale of each layer to the step: one argument. Returns failure,
/// after a diagnostic, if a name is taken.
LogicalResult addLayerScales(StepRewriter &step, const LayerScaler &lossScaler,
                             MutableArrayRef<Scaling> scalings);

/// Updates the scale of a layer, and publishes the scale and whether the layer
/// was skipped.
LogicalResult addLayerUpdate(StepRewriter &step, const LayerScaler &lossScaler,
                             const Scaling &scaling, Value allFinite);

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_LAYERSCALES_H
