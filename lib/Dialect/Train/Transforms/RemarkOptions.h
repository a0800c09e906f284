//===- RemarkOptions.h - Where remarks belong -------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_DIALECT_TRAIN_TRANSFORMS_REMARKOPTIONS_H
#define AMP_LIB_DIALECT_TRAIN_TRANSFORMS_REMARKOPTIONS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::train {

/// The options of a remark at `op`, which names the function around it.
inline remark::RemarkOpts getRemarkOptions(StringRef name, Operation *op) {
  auto options = remark::RemarkOpts::name(name).category("amp");
  if (auto function = op->getParentOfType<FunctionOpInterface>())
    options = options.function(function.getName());
  return options;
}

} // namespace mlir::train

#endif // AMP_LIB_DIALECT_TRAIN_TRANSFORMS_REMARKOPTIONS_H
