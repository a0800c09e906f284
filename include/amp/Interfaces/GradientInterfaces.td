//===- GradientInterfaces.td - Where gradients start and end -*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interfaces through which the loss-scaling passes find the start of a backward
// pass and the consumers of its gradients, in any dialect.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_INTERFACES_GRADIENTINTERFACES_TD
#define AMP_INTERFACES_GRADIENTINTERFACES_TD

include "mlir/IR/OpBase.td"

def GradientSeedOpInterface : OpInterface<"GradientSeedOpInterface"> {
  let cppNamespace = "::mlir::amp";
  let description = [{
    The start of a backward pass: the gradient of a loss with respect to
    itself. Everything computed from its only result is linear in it.
  }];
  let methods = [
    InterfaceMethod<"The identifier of the loss that is differentiated.",
                    "::llvm::StringRef", "getLossName", (ins)>,
  ];
}

def GradientConsumerOpInterface : OpInterface<"GradientConsumerOpInterface"> {
  let cppNamespace = "::mlir::amp";
  let description = [{
    An operation that needs true (unscaled) gradients: an optimizer, a clip, a
    norm that is reported.
  }];
  let methods = [
    InterfaceMethod<"The operands that are gradients.",
                    "::mlir::OperandRange", "getGradientOperands", (ins)>,
  ];
}

#endif // AMP_INTERFACES_GRADIENTINTERFACES_TD
