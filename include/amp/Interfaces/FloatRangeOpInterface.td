//===- FloatRangeOpInterface.td - Value ranges of operations -*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface through which an operation states within which bounds its
// results are, given those of its operands.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_INTERFACES_FLOATRANGEOPINTERFACE_TD
#define AMP_INTERFACES_FLOATRANGEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def FloatRangeOpInterface : OpInterface<"FloatRangeOpInterface"> {
  let cppNamespace = "::mlir::amp";
  let description = [{
    Intervals of results as a function of intervals of operands. An operation
    without the interface has results of which nothing is known, unless it is a
    constant, whose elements tell.
  }];
  let methods = [
    InterfaceMethod<[{
        Narrows `results`, one entry per result, which are unbounded on entry.
        `operands` has one entry per operand, unbounded for operands that are
        not floats. Bounds hold for every value that the operation can compute
        from operands within theirs, its rounding in f32 included; rounding to
        the element type of the result is the caller's, and so is an overflow of
        the last step. The default leaves all results unbounded.
      }],
      "void", "inferFloatRanges",
      (ins "::llvm::ArrayRef<::mlir::amp::FloatRange>":$operands,
           "::llvm::MutableArrayRef<::mlir::amp::FloatRange>":$results),
      [{}], [{}]>,
    InterfaceMethod<[{
        Whether all results are unbounded whenever the operand with this number
        is, whatever the others are: nobody need ask for those then.
      }],
      "bool", "isUnboundedWith", (ins "unsigned":$operand), [{}], [{
        return false;
      }]>,
    InterfaceMethod<[{
        What becomes of single elements of the float operands.
      }],
      "::mlir::amp::ElementFlow", "getElementFlow", (ins), [{}], [{
        return ::mlir::amp::ElementFlow::Computes;
      }]>,
  ];
}

#endif // AMP_INTERFACES_FLOATRANGEOPINTERFACE_TD
