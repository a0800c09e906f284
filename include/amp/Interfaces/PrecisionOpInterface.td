//===- PrecisionOpInterface.td - What precision passes know -*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface through which an operation tells the precision passes which of
// its operands and results must share an element type, and why.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_INTERFACES_PRECISIONOPINTERFACE_TD
#define AMP_INTERFACES_PRECISIONOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def PrecisionOpInterface : OpInterface<"PrecisionOpInterface"> {
  let cppNamespace = "::mlir::amp";
  let description = [{
    An operation describes itself as *slots*: groups of its float operands and
    results that must share one element type. The precision passes assign one
    type to each slot and know nothing else about the operation, so that an
    operation of any dialect can take part.

    It is an interface and not a trait because traits cannot be attached to
    operations of other dialects from outside.
  }];
  let methods = [
    InterfaceMethod<[{
        Describes the slots of this operation. The default is one storage slot
        that holds every operand and result whose element type is a float.
      }],
      "void", "getPrecisionSlots",
      (ins "::mlir::amp::PrecisionSlots &":$slots), [{}], [{
        ::mlir::amp::getUniformPrecisionSlots(
            $_op, ::mlir::amp::SlotKind::Storage, slots);
      }]>,
    InterfaceMethod<[{
        Follows a change of the element types of this operation's slots.
        `slotTypes` is indexed by slot; a null or missing entry leaves the slot
        alone. The caller has given the results their new types, and casts the
        operands. The default does nothing; an operation whose attributes or
        regions mention element types overrides it.
      }],
      "::llvm::LogicalResult", "retype",
      (ins "::llvm::ArrayRef<::mlir::Type>":$slotTypes,
           "::mlir::RewriterBase &":$rewriter), [{}], [{
        return ::mlir::success();
      }]>,
    InterfaceMethod<[{
        The number of floating-point operations in products that tensor cores
        can execute (a multiply and an add count as two), or 0 if this
        operation has none or its shapes are not static.
      }],
      "int64_t", "getProductFlops", (ins), [{}], [{
        return 0;
      }]>,
    InterfaceMethod<[{
        What the operation computes, by which passes recognise patterns such as
        a normalisation written out.
      }],
      "::mlir::amp::Arithmetic", "getArithmetic", (ins), [{}], [{
        return ::mlir::amp::Arithmetic::Other;
      }]>,
    InterfaceMethod<[{
        For `Arithmetic::Move` and `Mean`: for each dimension of the result the
        dimension of operand 0 along which it runs, element by element, or -1 if
        it repeats operand 0 or has extent 1. None if the operation does
        something else to some dimension, or if that is not known.
      }],
      "::std::optional<::llvm::SmallVector<int64_t>>", "getDimensionMap", (ins),
      [{}], [{
        return ::std::nullopt;
      }]>,
  ];
}

#endif // AMP_INTERFACES_PRECISIONOPINTERFACE_TD
