//===- CheckedPass.td - Passes that check their options ----*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_SUPPORT_CHECKEDPASS_TD
#define AMP_SUPPORT_CHECKEDPASS_TD

include "mlir/Pass/PassBase.td"

class CheckedPass<string argument, string operation = "">
    : PassBase<argument, "::mlir::amp::CheckedPass<" # operation # ">">;

#endif // AMP_SUPPORT_CHECKEDPASS_TD
