//===- Caller.h - Operations of the program that runs a step ----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_CALLER_H
#define AMP_EXECUTION_CALLER_H

#include "amp/Runtime/Step/Interface.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mlir::amp {

/// Runs `code`, which runs compiled code on this thread. Calls of the code go
/// to `caller`. An error of a call ends the code at once, frees its memory and
/// is the error returned. Without a function in `caller`, the code must have no
/// calls.
llvm::Error runWithCaller(const amp_step_caller &caller, void (*code)(void **),
                          void **arguments);

/// Calls `define` with the name and the address of each function of
/// `amp/CodeGen/ProcessFunctions.h`.
void defineCalls(llvm::function_ref<void(llvm::StringRef, void *)> define);

} // namespace mlir::amp

#endif // AMP_EXECUTION_CALLER_H
