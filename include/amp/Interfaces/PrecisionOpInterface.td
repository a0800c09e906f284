//===- PrecisionOpInterface.td - What precision passes know -*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface through which an operation states which of its operands and
// results must share an element type, and why.
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
    type to each slot and know nothing else about the operation. Operations of
    any dialect can therefore implement the interface.

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
        Adapts the operation to new element types of its slots. `slotTypes` is
        indexed by slot. A null or missing entry leaves the slot unchanged. The
        caller has set the new types of the results and casts the operands. The
        default does nothing. An operation whose attributes or regions mention
        element types overrides it.
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
        A type with as many elements as the operation reads of operand
        `operand`. The cost model charges these. An operation that takes a part
        of the operand, such as a slice, reads fewer elements than the operand
        has. Null if the operation reads only the shape. The default is the type
        of the operand.
      }],
      "::mlir::Type", "getReadType", (ins "unsigned":$operand), [{}], [{
        return $_op->getOperand(operand).getType();
      }]>,
    InterfaceMethod<[{
        The kind of computation. Passes use it to recognise patterns such as a
        normalisation written out.
      }],
      "::mlir::amp::Arithmetic", "getArithmetic", (ins), [{}], [{
        return ::mlir::amp::Arithmetic::Other;
      }]>,
    InterfaceMethod<[{
        For `Arithmetic::Move` and `Mean`, returns for each dimension of the
        result the dimension of operand 0 along which it runs, element by
        element, or -1 if it repeats operand 0 or has extent 1. Returns
        std::nullopt if no such map exists or if it is not known.
      }],
      "::std::optional<::llvm::SmallVector<int64_t>>", "getDimensionMap", (ins),
      [{}], [{
        return ::std::nullopt;
      }]>,
  ];
}

#endif // AMP_INTERFACES_PRECISIONOPINTERFACE_TD
