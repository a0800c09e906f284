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

/// Runs the compiled function `code` on this thread and passes its calls to
/// `caller`. If a call fails, stops the function at once, frees its memory and
/// returns the error. If `caller` has no function, `code` must not make calls.
llvm::Error runWithCaller(const amp_step_caller &caller, void (*code)(void **),
                          void **arguments);

/// Calls `define` with the name and the address of each `amp_call_*` function
/// of `amp/CodeGen/ProcessFunctions.h`.
void defineCalls(llvm::function_ref<void(llvm::StringRef, void *)> define);

} // namespace mlir::amp

#endif // AMP_EXECUTION_CALLER_H
