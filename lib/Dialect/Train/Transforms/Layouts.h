//===- Layouts.h - Operations on tensors in another order -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_DIALECT_TRAIN_TRANSFORMS_LAYOUTS_H
#define AMP_LIB_DIALECT_TRAIN_TRANSFORMS_LAYOUTS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"
#include <optional>

namespace mlir::train {

/// How a tensor is stored: dimension i of the stored tensor is dimension
/// `layout[i]` of the value, as in `train.transpose`.
using Layout = SmallVector<int64_t, 6>;

Layout getIdentityLayout(int64_t rank);
bool isIdentityLayout(ArrayRef<int64_t> layout);
Layout invertLayout(ArrayRef<int64_t> layout);
/// The layout whose dimension i is dimension `first[second[i]]`: `first`, and
/// then `second` of the result.
Layout composeLayouts(ArrayRef<int64_t> first, ArrayRef<int64_t> second);
/// The shape of a tensor of `shape` that is stored in `layout`.
SmallVector<int64_t> permuteShape(ArrayRef<int64_t> shape,
                                  ArrayRef<int64_t> layout);
/// Whether `layout` keeps the row-major order of the elements of `shape`,
/// because it moves only dimensions of extent 1.
bool keepsElementOrder(ArrayRef<int64_t> shape, ArrayRef<int64_t> layout);

/// Returns `value`, a tensor of floats, in `layout`: a `train.transpose`, or a
/// `train.reshape` if the elements keep their order.
Value createLayoutChange(OpBuilder &builder, Location loc, Value value,
                         ArrayRef<int64_t> layout);

/// The layouts in which an operation reads its operands and writes its results.
/// An operand without a layout is read as it is.
struct OperationLayouts {
  SmallVector<std::optional<Layout>> operands;
  SmallVector<Layout> results;
};

/// The result of `inferLayouts`.
struct InferredLayouts {
  /// Missing if the operation cannot compute in this layout.
  std::optional<OperationLayouts> layouts;
  /// The reason, if `layouts` is missing.
  StringRef reason;
  /// Whether another operand or result may have a layout that the operation can
  /// take.
  bool mayFollowAnother = false;
};

/// Returns the layouts of all operands and results of `op` if `known`, one of
/// them, is stored in `layout`. `op` is no `train.transpose`.
InferredLayouts inferLayouts(Operation *op, Value known,
                             ArrayRef<int64_t> layout);

/// Creates `op` on `operands`, which are in `layouts`. Its attributes that name
/// dimensions follow the layouts.
Operation *cloneInLayout(OpBuilder &builder, Operation *op,
                         const OperationLayouts &layouts,
                         ArrayRef<Value> operands);

/// The bytes that `cloneInLayout` transposes of operands of lower rank.
int64_t countAlignedBytes(Operation *op, const OperationLayouts &layouts);

/// The bytes of a tensor. An unknown extent counts as 32.
int64_t countTensorBytes(Value value);

} // namespace mlir::train

#endif // AMP_LIB_DIALECT_TRAIN_TRANSFORMS_LAYOUTS_H
