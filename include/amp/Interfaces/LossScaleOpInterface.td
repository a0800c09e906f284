//===- LossScaleOpInterface.td - How a factor passes through -*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface through which an operation tells what becomes of the loss scale
// that its operands are multiplied by.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_INTERFACES_LOSSSCALEOPINTERFACE_TD
#define AMP_INTERFACES_LOSSSCALEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def LossScaleOpInterface : OpInterface<"LossScaleOpInterface"> {
  let cppNamespace = "::mlir::amp";
  let description = [{
    States how an operation transforms the *degree* of its operands in the loss
    scale: a value has degree d in the scale s if it is s^d times what it would
    be without loss scaling. A sum needs equal degrees, a product adds them, a
    square root halves them; most functions need degree 0.
  }];
  let methods = [
    InterfaceMethod<[{
        Sets the degrees of the results from those of the operands, or reports
        through `inference` why that cannot be: `inference.fail`. Results that
        are not set have degree 0.
      }],
      "::llvm::LogicalResult", "inferScaleDegrees",
      (ins "::mlir::amp::ScaleDegreeInference &":$inference)>,
    InterfaceMethod<[{
        The number of the operand that is a loss scale itself, or -1.
      }],
      "int", "getLossScaleOperand", (ins), [{}], [{ return -1; }]>,
    InterfaceMethod<[{
        The number of the result that is a loss scale itself, or -1.
      }],
      "int", "getLossScaleResult", (ins), [{}], [{ return -1; }]>,
    InterfaceMethod<[{
        The number of the result that tells whether all gradients, the other
        results, are finite, or -1 if this operation does not check them.
      }],
      "int", "getFiniteFlagResult", (ins), [{}], [{ return -1; }]>,
    InterfaceMethod<[{
        The number of the operand that is such a flag, on which this operation
        updates the scale, or -1.
      }],
      "int", "getFiniteFlagOperand", (ins), [{}], [{ return -1; }]>,
  ];
}

#endif // AMP_INTERFACES_LOSSSCALEOPINTERFACE_TD
