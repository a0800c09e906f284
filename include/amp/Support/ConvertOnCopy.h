//===- ConvertOnCopy.h - Conversions that fail as a whole --------------*- C++
//-*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_SUPPORT_CONVERTONCOPY_H
#define AMP_SUPPORT_CONVERTONCOPY_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::amp {

/// Converts a copy of `op`, which takes its place if that succeeds: what finds
/// an error halfway has changed nothing.
template <typename FunctionT>
LogicalResult convertOnCopy(Operation *op, FunctionT convert) {
  OwningOpRef<Operation *> copy(op->clone());
  if (failed(convert(*copy)))
    return failure();
  op->setAttrs((*copy)->getAttrDictionary());
  for (auto [region, converted] :
       llvm::zip_equal(op->getRegions(), (*copy)->getRegions()))
    region.takeBody(converted);
  return success();
}

} // namespace mlir::amp

#endif // AMP_SUPPORT_CONVERTONCOPY_H
