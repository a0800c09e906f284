//===- AMPCollectiveEnums.td - How ranks combine values ----*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_AMPCOLLECTIVEENUMS_TD
#define AMP_DIALECT_AMP_IR_AMPCOLLECTIVEENUMS_TD

include "mlir/IR/EnumAttr.td"

def AMP_RankReductionKind
    : I32EnumAttr<"RankReductionKind", "how values of ranks are combined", [
          I32EnumAttrCase<"Sum", 0, "sum">,
          I32EnumAttrCase<"Max", 1, "max">,
          I32EnumAttrCase<"And", 2, "and">]> {
  let cppNamespace = "::mlir::amp";
}

#endif // AMP_DIALECT_AMP_IR_AMPCOLLECTIVEENUMS_TD
