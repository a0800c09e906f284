//===- AttributeNames.cpp - Attributes that mean nothing ------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/AMP/IR/AttributeNames.h"

#include "amp/Support/NearName.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::amp;

LogicalResult mlir::amp::verifyAttributeNames(Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs()) {
    StringRef name = attribute.getName();
    if (name.contains('.') || name.starts_with("__"))
      continue;
    SmallVector<StringRef> known;
    for (StringAttr inherent : op->getName().getAttributeNames())
      if (inherent != "operandSegmentSizes" && inherent != "resultSegmentSizes")
        known.push_back(inherent);
    InFlightDiagnostic error = op->emitOpError()
                               << "has no attribute '" << name << "'"
                               << suggestName(name, known);
    if (known.empty())
      return error << "; the operation has no attributes";
    return error << "; it has '" << llvm::join(known, "', '") << "'";
  }
  return success();
}
