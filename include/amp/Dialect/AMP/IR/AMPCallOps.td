//===- AMPCallOps.td - Operations of the caller ------------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_AMPCALLOPS_TD
#define AMP_DIALECT_AMP_IR_AMPCALLOPS_TD

include "amp/Dialect/AMP/IR/AMPBase.td"

def AMP_AnyValueTensor
    : AnyTypeOf<[AMP_AnyFloatTensor, RankedTensorOf<[I1, I32, I64]>]>;

// This is not an AMP_Op, because passes must not repeat a call. It may draw
// random numbers.
def AMP_CallOp : Op<AMP_Dialect, "call", [
    AMP_KnownAttributes, AMP_Ranges, NoMemoryEffect,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>,
    DeclareOpInterfaceMethods<PrecisionOpInterface, ["getPrecisionSlots"]>]> {
  let summary = "calls an operation of the program that runs the step";
  let description = [{
    Calls the operation `callee` of the program that runs the step, such as a
    user-defined kernel. The compiler knows only the types of the operands and
    results. All slots are fixed, so these types never change. With `extent_of =
    [i, d]`, each open extent of a result equals extent d of operand i.

    `differentiable` indicates that the operation has a backward pass. The
    derivative is another call with the same `callee`. Its operands are the
    operands of the operation, followed by the gradients of the results that
    `seeds` lists. Its results are the gradients of the operands that `wrt` lists,
    in this order. They are linear in the gradients of `seeds`, so a loss scale
    passes through.

    On the CPU, calls run in program order. `amp_step_options` of the C interface
    provides the function. A call that no result of the step needs does not run.

    Example:

    ```mlir
    %y = amp.call "mylib::scaled"(%x, %w) {differentiable, extent_of = array<i64: 0, 0>} : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
    %dw = amp.call "mylib::scaled"(%x, %w, %dy) {seeds = array<i64: 0>, wrt = array<i64: 1>} : (tensor<?x4xf32>, tensor<4xf32>, tensor<?x4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$callee, Variadic<AMP_AnyValueTensor>:$inputs,
                       UnitAttr:$differentiable,
                       OptionalAttr<DenseI64ArrayAttr>:$extent_of,
                       OptionalAttr<DenseI64ArrayAttr>:$seeds,
                       OptionalAttr<DenseI64ArrayAttr>:$wrt);
  let results = (outs Variadic<AMP_AnyValueTensor>:$outputs);
  let assemblyFormat = [{
    $callee `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns whether this call is the derivative of an operation.
    bool isGradient() { return getSeeds().has_value(); }
    /// Appends the result types, inferred from the extents of the operands. An
    /// extent that cannot be inferred stays open.
    void inferOutputTypes(::llvm::SmallVectorImpl<::mlir::Type> &types);
  }];
}

#endif // AMP_DIALECT_AMP_IR_AMPCALLOPS_TD
