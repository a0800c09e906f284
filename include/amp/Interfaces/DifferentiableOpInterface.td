//===- DifferentiableOpInterface.td - Reverse-mode rules ---*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface through which an operation states its vector-Jacobian product.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_INTERFACES_DIFFERENTIABLEOPINTERFACE_TD
#define AMP_INTERFACES_DIFFERENTIABLEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::mlir::amp";
  let description = [{
    Reverse-mode differentiation, one operation at a time. The rule emits
    ordinary operations at the builder's insertion point, which is after the
    operation itself.
  }];
  let methods = [
    InterfaceMethod<[{
        Emits the gradients of the operands, given those of the results.

        `resultGradients` has one entry per result; null means that the result
        does not influence the differentiated value (a gradient of zero).
        `wanted` has one entry per operand; a rule may skip unwanted gradients.
        `operandGradients` has one entry per operand, null on entry; a rule
        leaves null where the gradient is zero. A gradient has the type of the
        value that it belongs to. Returns failure, after a diagnostic at the
        operation, if a wanted derivative does not exist.
      }],
      "::llvm::LogicalResult", "buildOperandGradients",
      (ins "::mlir::OpBuilder &":$builder,
           "::llvm::ArrayRef<::mlir::Value>":$resultGradients,
           "const ::llvm::BitVector &":$wanted,
           "::llvm::MutableArrayRef<::mlir::Value>":$operandGradients)>,
  ];
}

#endif // AMP_INTERFACES_DIFFERENTIABLEOPINTERFACE_TD
