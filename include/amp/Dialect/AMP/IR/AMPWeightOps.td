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
  let summary = "takes the upper 16 bits of each element of an f32 weight";
  let description = [{
    Each element of the result is the bf16 that consists of the upper 16 bits of
    the f32. This rounds the element towards zero. Infinities stay infinities, and
    quiet NaNs stay NaNs. A signalling NaN whose upper half has no payload becomes
    an infinity.

    If a program stores the two halves of a weight separately, the result is the
    stored upper half. The two halves form the weight, bit for bit. The operand
    and the result may have any tensor type, but they differ only in the element
    type.

    The gradient of the operand is the gradient of the result, converted to f32.

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
