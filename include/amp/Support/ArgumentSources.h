//===- ArgumentSources.h - Values passed as arguments -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_SUPPORT_ARGUMENTSOURCES_H
#define AMP_SUPPORT_ARGUMENTSOURCES_H

#include "amp/Support/RegionFlow.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::amp {

/// Finds the values that calls pass as an argument of a function, or that
/// control flow passes as an argument of a region.
class ArgumentSources {
public:
  /// Adds a call. The arguments of `callee` have sources once all its calls are
  /// added.
  void addCall(CallOpInterface call, FunctionOpInterface callee);

  /// The calls of `function` that were added.
  ArrayRef<CallOpInterface> getCalls(Operation *function) const;

  /// The values that `value` may be, without `value` itself, which a loop may
  /// pass to its next iteration. Empty if `value` is not a block argument or if
  /// its sources are unknown.
  SmallVector<Value, 2> get(Value value);

  /// Whether `holds` is true for a value that some call passes as `value`, or
  /// for all values that control flow passes.
  bool holdsInCall(Value value, llvm::function_ref<bool(Value)> holds);

private:
  llvm::DenseMap<Operation *, SmallVector<CallOpInterface, 1>> calls;
  RegionFlow flow;
};

} // namespace mlir::amp

#endif // AMP_SUPPORT_ARGUMENTSOURCES_H
