//===- LossScaleOpInterface.td - How a factor passes through -*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface through which an operation states how it transforms the loss
// scale of its operands.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_INTERFACES_LOSSSCALEOPINTERFACE_TD
#define AMP_INTERFACES_LOSSSCALEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def LossScaleOpInterface : OpInterface<"LossScaleOpInterface"> {
  let cppNamespace = "::mlir::amp";
  let description = [{
    States how an operation transforms the *loss-scale exponent* of its
    operands: a value has exponent d in the scale s if it is s^d times what it
    would be without loss scaling. A sum needs equal exponents, a product adds
    them, a square root halves them; most functions need exponent 0.
  }];
  let methods = [
    InterfaceMethod<[{
        Sets the exponents of the results from those of the operands, or reports
        an operand that does not fit with `inference.fail`. Results that are not
        set have exponent 0.
      }],
      "::llvm::LogicalResult", "inferScaleExponents",
      (ins "::mlir::amp::ScaleExponentInference &":$inference)>,
    InterfaceMethod<[{
        The number of the operand that is a loss scale itself, or -1.
      }],
      "int", "getLossScaleOperand", (ins), [{}], [{ return -1; }]>,
    InterfaceMethod<[{
        The number of the result that is a loss scale itself, or -1.
      }],
      "int", "getLossScaleResult", (ins), [{}], [{ return -1; }]>,
    InterfaceMethod<[{
        The number of the result that states whether all gradients, which are
        the other results, are finite. -1 if this operation does not check them.
      }],
      "int", "getFiniteFlagResult", (ins), [{}], [{ return -1; }]>,
    InterfaceMethod<[{
        The number of the operand that is such a flag, from which this operation
        updates the scale. -1 if it has none.
      }],
      "int", "getFiniteFlagOperand", (ins), [{}], [{ return -1; }]>,
    InterfaceMethod<[{
        The number of the result that is the new value of operand `operand`, a
        part of the state of the scaler such as a growth tracker, or -1.
      }],
      "int", "getNewStateResult", (ins "unsigned":$operand), [{}],
      [{ return -1; }]>,
  ];
}

#endif // AMP_INTERFACES_LOSSSCALEOPINTERFACE_TD
