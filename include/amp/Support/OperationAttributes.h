//===- OperationAttributes.h - All attributes of an operation ---*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_SUPPORT_OPERATIONATTRIBUTES_H
#define AMP_SUPPORT_OPERATIONATTRIBUTES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::amp {

/// Returns the attributes of `op`. The text `"my.op"() <{a = 1 : i32}>` gives
/// an unregistered operation a property, which `Operation::getAttrs` leaves
/// out.
inline SmallVector<NamedAttribute> getAllAttributes(Operation *op) {
  SmallVector<NamedAttribute> attributes(op->getAttrs());
  if (!op->isRegistered())
    if (auto inherent =
            dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute()))
      llvm::append_range(attributes, inherent);
  return attributes;
}

} // namespace mlir::amp

#endif // AMP_SUPPORT_OPERATIONATTRIBUTES_H
