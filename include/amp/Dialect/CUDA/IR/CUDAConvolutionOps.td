//===- CUDAConvolutionOps.td - Convolutions by plans -------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_CUDA_IR_CUDACONVOLUTIONOPS_TD
#define AMP_DIALECT_CUDA_IR_CUDACONVOLUTIONOPS_TD

include "amp/Dialect/CUDA/IR/CUDABase.td"

def CUDA_ConvPlanOp : CUDA_LaunchOp<"conv_plan", "$kind", [], [
    "getFlops", "getNumKernels", "getScratchBytes", "getReadBytes",
    "getWrittenBytes"]> {
  let summary = "a convolution or a gradient of one, without patches";
  let description = [{
    As `cuda.conv`, by a plan of cuDNN, which writes no matrix of patches. All
    operands and the result have one type, f16 or bf16. Sums are f32. Images are
    [N, H, W, C], and filters are [F, KH, KW, C / groups].

    Inputs, in order:

    | kind | inputs | result |
    |---|---|---|
    | `forward` | the image, the filter, and with `bias` a bias [F] | the output |
    | `input_grad` | the gradient of the output, the filter | the gradient of the image |
    | `filter_grad` | the image, the gradient of the output | the gradient of the filter |

    `padding` is [top, bottom, left, right]. A forward convolution may end with
    `relu`. It adds the bias and takes the maximum with 0 before it rounds. The
    plan then needs channels and features that are multiples of 8, and one
    group.

    With `deterministic`, two runs give the same bits. Without it, a gradient
    may be the sum of parts that are added in the order in which they come.

    Example:

    ```mlir
    %y = cuda.conv_plan <forward> ins(%x, %w, %b
        : tensor<32x8x8x16xbf16>, tensor<32x3x3x16xbf16>, tensor<32xbf16>)
        {activation = #cuda.activation<relu>, bias, padding = array<i64: 1, 1, 1, 1>}
        -> tensor<32x8x8x32xbf16>
    ```
  }];
  let arguments = !con((ins CUDA_ConvKind:$kind), operands, (ins
      DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$strides,
      DefaultValuedAttr<DenseI64ArrayAttr, "{0, 0, 0, 0}">:$padding,
      DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$dilations,
      DefaultValuedAttr<I64Attr, "1">:$groups,
      UnitAttr:$bias, UnitAttr:$deterministic,
      DefaultValuedAttr<CUDA_Activation, "::mlir::cuda::Activation::None">:$activation));
  let extraClassDeclaration = [{
    /// The types of image, filter and output of the forward convolution.
    struct Types {
      ::mlir::ShapedType image, filter, output;
    };
    Types getForwardTypes();
    /// Floating-point operations with channels and features as multiples of 8,
    /// which the kernels pad them to.
    int64_t getPaddedFlops();
    /// The description of the plan.
    amp_cudnn_convolution getDescription();
    bool isProduct() { return true; }
    bool usesCuDNN() { return true; }
    bool isBackward() { return getKind() != ConvKind::Forward; }
    ::llvm::StringRef getDefaultName() { return "convolution"; }
  }];
}

#endif // AMP_DIALECT_CUDA_IR_CUDACONVOLUTIONOPS_TD
