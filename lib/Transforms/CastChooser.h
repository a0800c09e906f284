//===- CastChooser.h - Casts from their neighbourhood -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses the casts of the passes after auto-mixed-precision. A value gets the
// cast of the dialects of the operations around it. These passes read no
// policy. For a dialect without CastMaterializationInterface, they imitate the
// casts that an adapter has put into the step.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_CASTCHOOSER_H
#define AMP_LIB_TRANSFORMS_CASTCHOOSER_H

#include "amp/Interfaces/CastMaterialization.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::amp {

/// The casts that are available in one step.
class CastChooser {
public:
  /// Remembers the casts that passes have inserted into `function`.
  explicit CastChooser(FunctionOpInterface function);

  /// Whether `build` can convert values of type `from` to the element type
  /// `to` between `neighbours`.
  bool canBuild(Type from, FloatType to, ArrayRef<Operation *> neighbours);

  /// Converts `value` to the element type `to` by the cast of the first of
  /// `neighbours`, which read or produce it, that has one. A dialect's own cast
  /// has priority over a borrowed one. The chooser uses `amp.cast` only if all
  /// neighbours are control flow or operations of this project. Returns null if
  /// there is no cast.
  Value build(OpBuilder &builder, Location loc, Value value, FloatType to,
              ArrayRef<Operation *> neighbours);

private:
  /// A cast that an adapter built.
  struct Example {
    OperationName name;
    DictionaryAttr attributes;
    FloatType to;
    /// The dialects of the operations at its two ends.
    llvm::SmallSetVector<StringRef, 2> dialects;
  };
  /// The source of a cast. Empty for `amp.cast`.
  struct Source {
    const CastMaterializationInterface *dialect = nullptr;
    const Example *example = nullptr;

    explicit operator bool() const { return dialect || example; }
    bool isBorrowed() const { return dialect && dialect->isBorrowed(); }
  };

  FailureOr<Source> find(Type from, Type to, ArrayRef<Operation *> neighbours);
  Source findOf(Operation *op, Type from, Type to) const;
  static Operation *create(const Example &example, Location loc, Value value,
                           Type type);
  static bool canCreate(const Example &example, Type from, Type to);

  FunctionOpInterface function;
  std::vector<Example> examples;
};

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_CASTCHOOSER_H
