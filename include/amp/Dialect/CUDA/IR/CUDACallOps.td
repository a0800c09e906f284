//===- CUDACallOps.td - Operations of the caller -----------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_CUDA_IR_CUDACALLOPS_TD
#define AMP_DIALECT_CUDA_IR_CUDACALLOPS_TD

include "amp/Dialect/CUDA/IR/CUDABase.td"

def CUDA_CallOp : CUDA_LaunchOp<"call", "$callee", [],
                                ["getFlops", "isBackward"]> {
  let summary = "calls an operation of the program that runs the step";
  let description = [{
    Performs `amp.call`. The caller's function receives the addresses of the
    inputs and outputs in device memory, and puts its work on the stream of the
    step. The function runs on the host, so a graph of launches ends before the
    call and another one begins after it. The call has no predicate, because the
    host does not know its value.

    With `seeds` and `wrt`, it calls the derivative of the operation, as
    `amp.call` does. The compiler does not know the cost of a call.

    Example:

    ```mlir
    %y = cuda.call "mylib::scaled" ins(%x, %w : tensor<8x4xf32>, tensor<4xf32>)
        -> tensor<8x4xf32>
    %dw = cuda.call "mylib::scaled" ins(%x, %w, %dy : tensor<8x4xf32>, tensor<4xf32>, tensor<8x4xf32>)
        {seeds = array<i64: 0>, wrt = array<i64: 1>} -> tensor<4xf32>
    ```
  }];
  let arguments = !con((ins StrAttr:$callee), operands,
                       (ins OptionalAttr<DenseI64ArrayAttr>:$seeds,
                            OptionalAttr<DenseI64ArrayAttr>:$wrt));
}

#endif // AMP_DIALECT_CUDA_IR_CUDACALLOPS_TD
