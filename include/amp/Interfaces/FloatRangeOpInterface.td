//===- FloatRangeOpInterface.td - Value ranges of operations -*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface through which an operation states the bounds of its results,
// given the bounds of its operands.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_INTERFACES_FLOATRANGEOPINTERFACE_TD
#define AMP_INTERFACES_FLOATRANGEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def FloatRangeOpInterface : OpInterface<"FloatRangeOpInterface"> {
  let cppNamespace = "::mlir::amp";
  let description = [{
    Computes intervals of results from intervals of operands. The results of an
    operation without the interface are unbounded, except for a constant, whose
    elements give the interval.
  }];
  let methods = [
    InterfaceMethod<[{
        Narrows `results`. It has one entry per result, unbounded on entry.
        `operands` has one entry per operand, unbounded for operands that are
        not floats. Bounds hold for every value that the operation can compute
        from operands within their bounds, its rounding in f32 included. The
        caller accounts for rounding to the element type of the result and for
        an overflow of the last step. The default leaves all results unbounded.
      }],
      "void", "inferFloatRanges",
      (ins "::llvm::ArrayRef<::mlir::amp::FloatRange>":$operands,
           "::llvm::MutableArrayRef<::mlir::amp::FloatRange>":$results),
      [{}], [{}]>,
    InterfaceMethod<[{
        Whether all results are unbounded whenever the operand with this number
        is. The ranges of the other operands are then not needed.
      }],
      "bool", "isUnboundedWith", (ins "unsigned":$operand), [{}], [{
        return false;
      }]>,
    InterfaceMethod<[{
        How the operation uses single elements of its float operands.
      }],
      "::mlir::amp::ElementFlow", "getElementFlow", (ins), [{}], [{
        return ::mlir::amp::ElementFlow::Computes;
      }]>,
  ];
}

#endif // AMP_INTERFACES_FLOATRANGEOPINTERFACE_TD
