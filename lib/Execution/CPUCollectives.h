//===- CPUCollectives.h - Functions that compiled steps call ----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_EXECUTION_CPUCOLLECTIVES_H
#define AMP_LIB_EXECUTION_CPUCOLLECTIVES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::amp {

/// Calls `define` with the name and the address of each `amp_collective_*`
/// function of `amp/CodeGen/ProcessFunctions.h`. The functions exchange data
/// through the current RankGroup.
void defineCollectives(
    llvm::function_ref<void(llvm::StringRef, void *)> define);

} // namespace mlir::amp

#endif // AMP_LIB_EXECUTION_CPUCOLLECTIVES_H
