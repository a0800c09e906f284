//===- SymbolUses.h - Symbols that an operation names -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_SUPPORT_SYMBOLUSES_H
#define AMP_SUPPORT_SYMBOLUSES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::amp {

/// Calls `visit` with each symbol that an attribute of `op` names. Unlike
/// SymbolTable this sees the properties of unregistered operations, where the
/// generic form keeps inherent attributes.
inline void forEachSymbolRef(Operation *op,
                             llvm::function_ref<void(SymbolRefAttr)> visit) {
  auto examine = [&](Attribute attribute) {
    if (attribute)
      attribute.walk<WalkOrder::PreOrder>([&](SymbolRefAttr symbol) {
        visit(symbol);
        // A nested reference is part of this one.
        return WalkResult::skip();
      });
  };
  examine(op->getAttrDictionary());
  if (!op->isRegistered())
    examine(op->getPropertiesAsAttribute());
}

} // namespace mlir::amp

#endif // AMP_SUPPORT_SYMBOLUSES_H
