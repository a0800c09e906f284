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

// Not AMP_Op: a call may draw random numbers, so no pass may repeat it.
def AMP_CallOp : Op<AMP_Dialect, "call", [
    AMP_KnownAttributes, AMP_Ranges, NoMemoryEffect,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>,
    DeclareOpInterfaceMethods<PrecisionOpInterface, ["getPrecisionSlots"]>]> {
  let summary = "an operation of the program that runs the step";
  let description = [{
    Calls the operation that the program which runs the step calls `callee`, such
    as a kernel of a user. The compiler knows only the types of its operands and
    results. All slots are fixed, so these types never change. With `extent_of =
    [i, d]` each open extent of a result is extent d of operand i.

    `differentiable` says that the operation has a backward pass. The derivative
    is another call with the same `callee` and two lists of numbers. Its last
    operands are the gradients of the results `seeds`. The operands of the
    operation precede them. Its results are the gradients of the operands `wrt`,
    in this order. They are linear in the gradients of `seeds`, so a loss scale
    passes through.

    Calls run in program order on the CPU, through `amp_step_options` of the C
    interface. A call that no result of the step needs does not run.

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
    /// Whether this is the derivative of an operation.
    bool isGradient() { return getSeeds().has_value(); }
    /// Appends the types of the results for the extents of the operands. An
    /// open extent that does not follow from these stays open.
    void inferOutputTypes(::llvm::SmallVectorImpl<::mlir::Type> &types);
  }];
}

#endif // AMP_DIALECT_AMP_IR_AMPCALLOPS_TD
