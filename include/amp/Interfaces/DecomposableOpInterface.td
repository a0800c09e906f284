//===- DecomposableOpInterface.td - Composite operations ---*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface through which a composite operation states what it computes.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_INTERFACES_DECOMPOSABLEOPINTERFACE_TD
#define AMP_INTERFACES_DECOMPOSABLEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::mlir::amp";
  let description = [{
    A composite operation is defined by its decomposition into primitives in
    f32 (f64 for f64 operands) with one rounding to each result type at the
    end. The CPU lowering, second derivatives, range and loss-scale
    exponent analyses and unfused device code all use this one definition.
  }];
  let methods = [
    InterfaceMethod<[{
        Emits the primitives at the builder's insertion point and appends one
        value per result, of the result's type. Returns failure, after a
        diagnostic at the operation, if this instance cannot be decomposed.
      }],
      "::llvm::LogicalResult", "decompose",
      (ins "::mlir::OpBuilder &":$builder,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$results)>,
  ];
}

#endif // AMP_INTERFACES_DECOMPOSABLEOPINTERFACE_TD
