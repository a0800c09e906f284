//===- QuantizedCopies.h - The 8-bit copies of tensors ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes the quantised copies of the tensors of a step, each once, and the state
// of quantisers whose scales follow the magnitudes of earlier steps.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_QUANTIZEDCOPIES_H
#define AMP_LIB_TRANSFORMS_QUANTIZEDCOPIES_H

#include "StepRewriter.h"
#include "amp/Precision/Policy/ScalingRecipe.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::amp {

/// Returns the parameter that casts, cuts to the upper half and moves turn into
/// `value`, or null.
BlockArgument findWeight(Value value);

/// Returns the value that inserted casts narrow to `value`. Quantisation then
/// rounds it once.
Value skipInsertedCasts(Value value);

/// How the scales of a quantiser follow from magnitudes.
struct QuantizerSettings {
  /// The steps whose magnitudes a history keeps, at least 1.
  int64_t historyLength = 1024;
  /// Whether the scale follows the last magnitude instead of the largest one of
  /// the history.
  bool mostRecent = false;
  /// The largest magnitude becomes 2^-margin of the largest number.
  int32_t margin = 0;
};

/// What a copy is of. Names of states say it.
enum class CopyKind { Input, Weight, Gradient };
StringRef stringifyKind(CopyKind kind);

/// A tensor that a product reads.
struct CopiedOperand {
  Value value;
  CopyKind kind;
  /// Whether the product contracts the columns of the tensor or its rows.
  bool contractsColumns;
  /// The name of the layer that the product belongs to, for names of states.
  StringRef layer;
};

/// The quantised copies of the tensors of a step.
class QuantizedCopies {
public:
  QuantizedCopies(StepRewriter &step, const ScalingRecipe &recipe,
                  const QuantizerSettings &settings)
      : step(step), recipe(recipe), settings(settings) {}

  struct Copy {
    Value payload, scale;
    DenseI64ArrayAttr blocks;
  };
  /// The tensor, the format and the blocks of a copy.
  using Key = std::tuple<Value, Type, Attribute>;

  /// Returns the copy that `operand` needs by `recipe`.
  static Key getKey(const ScalingRecipe &recipe, const CopiedOperand &operand);

  /// Says that `tensor` is multiplied by the product of `scales`, the loss
  /// scales. Histories hold magnitudes without it.
  void setLossScales(Value tensor, ArrayRef<Value> scales) {
    lossScales[tensor].assign(scales.begin(), scales.end());
  }

  /// Returns the copy of `operand`. Returns failure, after a diagnostic, if the
  /// step has an argument with the name of a new state.
  FailureOr<Copy> get(const CopiedOperand &operand);

  unsigned getNumCopies() const { return copies.size(); }

private:
  Value buildCurrentScale(OpBuilder &builder, Value source, Type format,
                          DenseI64ArrayAttr blocks);
  FailureOr<Value> buildDelayedScale(OpBuilder &builder, Value source,
                                     Type format, const CopiedOperand &operand);
  std::string chooseName(const CopiedOperand &operand);

  StepRewriter &step;
  const ScalingRecipe &recipe;
  const QuantizerSettings &settings;
  llvm::MapVector<Key, Copy> copies;
  llvm::DenseMap<Value, SmallVector<Value, 1>> lossScales;
  llvm::StringSet<> names;
};

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_QUANTIZEDCOPIES_H
