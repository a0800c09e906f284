//===- LayoutGraph.h - Values that transposes connect ----------*- C++ -*--===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_DIALECT_TRAIN_TRANSFORMS_LAYOUTGRAPH_H
#define AMP_LIB_DIALECT_TRAIN_TRANSFORMS_LAYOUTGRAPH_H

#include "Layouts.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "amp/Support/MaxFlow.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <array>
#include <optional>

namespace mlir::train {

/// A value and an operation belong to one of two orders, 0 and 1. In one of
/// them the value is stored as it is.
using Order = unsigned;
inline constexpr unsigned kNone = ~0u;

/// A value that may be stored in two orders.
struct LayoutValue {
  Value value;
  Layout layouts[2];
  unsigned component;
  /// The cost of a change of the order, in bytes.
  int64_t cost = 0;
  /// Only tensors of floats can be transposed.
  bool isChangeable = true;
  Order getOwnOrder() const { return isIdentityLayout(layouts[0]) ? 0 : 1; }
};

/// An operation that can compute in two orders.
struct LayoutOp {
  Operation *op;
  OperationLayouts layouts[2];
  unsigned component;
  /// Whether it is a transpose whose result in an order is its operand in this
  /// order.
  bool isView = false;
  /// The order of the operation as it is.
  Order ownOrder = 0;
};

/// The transposes of a component, with their bytes and those of operands of
/// lower rank.
struct Changes {
  int64_t count = 0, bytes = 0;
};

/// The values of a function that transposes connect, through operations that
/// can compute in both orders.
class LayoutGraph {
public:
  explicit LayoutGraph(FunctionOpInterface function);

  /// Chooses an order for each operation, so that changes cost the least.
  void solve();
  Changes count(unsigned component, bool isBefore) const;
  /// Rewrites the components that `isChosen` names.
  void rewrite(ArrayRef<bool> isChosen);

  unsigned getNumComponents() const { return numComponents; }
  Operation *getSeed(unsigned component) const { return seeds[component]; }

  /// Calls `report` for each value that is transposed although the orders are
  /// the cheapest ones, with an operation that needs it, the reason and the
  /// bytes.
  void forEachBorder(
      function_ref<void(Operation *, StringRef, int64_t)> report) const;

  unsigned numMoved = 0, numInserted = 0, numErased = 0;

private:
  void seed(TransposeOp transpose);
  void visit(unsigned value);
  void visitOperation(Operation *op, unsigned value);
  bool joinAll(Operation *op, LayoutOp entry);
  std::optional<LayoutOp> inferTranspose(TransposeOp op, unsigned value);
  StringRef whyExcluded(Operation *op) const;
  bool canJoin(Value value) const;
  void addValue(Value value, Layout first, Layout second);

  /// The operation that gives `value` in either order, or `kNone`.
  unsigned getProducer(const LayoutValue &value) const;
  /// The operation that reads `use` in its order, or `kNone`.
  unsigned getReader(OpOperand &use) const;
  Order orderOfReader(OpOperand &use, const LayoutValue &value,
                      ArrayRef<Order> chosen) const;
  int64_t getLocalCost(const LayoutOp &op, Order order) const;
  Operation *findFixed(Operation *op) const;
  void addFlow(amp::MaxFlow &flow, const LayoutValue &value);

  Value get(unsigned value, Order order);
  void rewriteOperation(Operation *op, ArrayRef<bool> isChosen);

  FunctionOpInterface function;
  SmallVector<Operation *> order;
  DenseSet<Operation *> known;
  SmallVector<LayoutValue, 0> values;
  SmallVector<LayoutOp, 0> ops;
  DenseMap<Value, unsigned> valueIds;
  DenseMap<Operation *, unsigned> opIds;
  DenseMap<Operation *, StringRef> fixed;
  SmallVector<Operation *> seeds;
  unsigned numComponents = 0;
  SmallVector<unsigned> queue;
  /// The orders before, and the cheapest ones.
  SmallVector<Order> own, best;
  /// The values in both orders, while the function is rewritten.
  SmallVector<std::array<Value, 2>> stored;
};

} // namespace mlir::train

#endif // AMP_LIB_DIALECT_TRAIN_TRANSFORMS_LAYOUTGRAPH_H
