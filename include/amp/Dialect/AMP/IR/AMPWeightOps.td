//===- AMPWeightOps.td - Halves of weights -----------------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_AMPWEIGHTOPS_TD
#define AMP_DIALECT_AMP_IR_AMPWEIGHTOPS_TD

include "amp/Dialect/AMP/IR/AMPBase.td"

def AMP_AnyBF16Tensor
    : AMP_AnyTensorOf<[BF16], "ranked tensor of bf16 values">;

def AMP_UpperHalfOp : AMP_Op<"upper_half", [
    AMP_Ranges, DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "an f32 weight without the lower 16 bits of each element";
  let description = [{
    The result is the bf16 with the upper 16 bits of each element. It is the
    element rounded towards zero. Infinities and quiet NaNs keep their values. A
    signalling NaN whose upper half has no payload becomes an infinity.

    A program that stores the two halves of a weight apart reads the result
    from memory as it is. Together the halves are the weight, bit for bit. Both
    tensors may have any tensor type. They differ only in the element type.

    The gradient is the incoming one, converted to f32.

    Example:

    ```mlir
    %1 = amp.upper_half %w : tensor<8x4xf32> to tensor<8x4xbf16>
    ```
  }];
  let arguments = (ins AMP_AnyWideTensor:$weight);
  let results = (outs AMP_AnyBF16Tensor:$half);
  let assemblyFormat = "$weight attr-dict `:` type($weight) `to` type($half)";
  let hasVerifier = 1;
}

#endif // AMP_DIALECT_AMP_IR_AMPWEIGHTOPS_TD
