//===- StepTransaction.h - All or nothing -----------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Restores the functions that a pass has already changed when it finds an error
// in a later one. A failed pass leaves the module unchanged.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_STEPTRANSACTION_H
#define AMP_LIB_TRANSFORMS_STEPTRANSACTION_H

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::amp {

/// The functions that a pass has begun to change.
class StepTransaction {
public:
  /// Remembers `function` as it is now.
  void begin(FunctionOpInterface function);

  /// Restores all functions.
  void rollBack();

private:
  SmallVector<std::pair<Operation *, OwningOpRef<Operation *>>> copies;
};

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_STEPTRANSACTION_H
