//===- CallGroups.h - Functions that are assigned together ------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A private function may change its signature if all of its callers are known.
// The operands of its calls, its arguments and its results are then values that
// control flow carries, like those of a loop.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_ASSIGNMENT_CALLGROUPS_H
#define AMP_PRECISION_ASSIGNMENT_CALLGROUPS_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::amp {

/// Functions that call one another, with those among them that may change their
/// signature.
struct CallGroup {
  CallGroup() = default;
  /// A group of one function without calls in the group.
  explicit CallGroup(FunctionOpInterface function) : functions({function}) {}

  SmallVector<FunctionOpInterface, 1> functions;
  /// The callee of each call in the group whose callee may change.
  llvm::DenseMap<Operation *, FunctionOpInterface> callees;
};

/// A function that is called and keeps its signature, and why.
struct KeptSignature {
  FunctionOpInterface function;
  StringRef reason;
};

/// Divides the outermost functions in `root` into groups, in program order. A
/// function may change its signature if it has a body, is private, is used by
/// direct calls of functions in `root` alone, has no roles on its arguments and
/// results, and neither it nor a call of it is pinned to keep its types.
/// Recursive functions may change it too. The search for calls needs a `root`
/// that is a symbol table, because other operations do not contain all uses of
/// a function.
SmallVector<CallGroup, 1> findCallGroups(Operation *root,
                                         SmallVectorImpl<KeptSignature> &kept);

} // namespace mlir::amp

#endif // AMP_PRECISION_ASSIGNMENT_CALLGROUPS_H
