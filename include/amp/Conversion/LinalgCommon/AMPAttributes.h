//===- AMPAttributes.h - Removes attributes of the amp dialect --*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_CONVERSION_LINALGCOMMON_AMPATTRIBUTES_H
#define AMP_CONVERSION_LINALGCOMMON_AMPATTRIBUTES_H

#include "mlir/IR/Operation.h"

namespace mlir::amp {

/// Removes the attributes of the amp dialect from `op` and, if it is a
/// function, from its arguments and results.
void removeAllAMPAttributes(Operation *op);

} // namespace mlir::amp

#endif // AMP_CONVERSION_LINALGCOMMON_AMPATTRIBUTES_H
