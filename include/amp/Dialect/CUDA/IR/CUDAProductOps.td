//===- CUDAProductOps.td - Matrix products and convolutions *- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_CUDA_IR_CUDAPRODUCTOPS_TD
#define AMP_DIALECT_CUDA_IR_CUDAPRODUCTOPS_TD

include "amp/Dialect/CUDA/IR/CUDABase.td"

def CUDA_GemmOp : CUDA_LaunchOp<"gemm", "", [], [
    "mayAlias", "getFlops", "getTargetSuffix"]> {
  let summary = "a matrix product with an epilogue";
  let description = [{
    D = activation(alpha · A · B + C + bias), over row-major matrices [M, K] ×
    [K, N] with the same leading (batch) dimensions. `alpha` is 1 by
    default. A is stored as [K, M] with `transpose_a`, B as [N, K] with `transpose_b`.
    Sums are f32. With `tf32`, f32 operands are rounded to TF32 first.

    Inputs, in order:

    | input | where |
    |---|---|
    | A, B | always; of one type |
    | C, of the type and shape of D | with `accumulate` |
    | the bias, [N], of the type of D | with `bias` |
    | the auxiliary matrix | with `relu_grad` and `gelu_tanh_grad` |

    Outputs, in order:

    | output | where |
    |---|---|
    | D, of the type of A or f32 | always |
    | the auxiliary matrix | with `auxiliary`, for `relu` and `gelu_tanh` |
    | a bias gradient, [N], or [M] with `bias_grad_a`, of the type of D | with `bias_grad` |

    The auxiliary matrix holds the values of the forward product that its
    gradient needs. For relu it is one bit per element of D, [M, ceil(N / 128) ·
    16] bytes (i8). For gelu it is the sum before the activation, of the type of
    D. Without an activation, the bias gradient is the sum over the rows of B,
    and K is the number of rows. With `bias_grad_a` and `transpose_a` it is the
    sum over the rows of A, as it is stored. With an activation, it is the sum
    over the rows of D. None of them is available with batch dimensions.

    Example:

    ```mlir
    %h, %mask = cuda.gemm ins(%x, %w, %b : tensor<32x64xf16>, tensor<64x128xf16>, tensor<128xf16>)
        {activation = #cuda.activation<relu>, auxiliary, bias} -> tensor<32x128xf16>, tensor<32x16xi8>
    ```
  }];
  let arguments = !con(operands, (ins
      OptionalAttr<F32Attr>:$alpha, UnitAttr:$transpose_a, UnitAttr:$transpose_b, UnitAttr:$tf32,
      UnitAttr:$accumulate, UnitAttr:$bias, UnitAttr:$auxiliary,
      UnitAttr:$bias_grad, UnitAttr:$bias_grad_a,
      DefaultValuedAttr<CUDA_Activation, "::mlir::cuda::Activation::None">:$activation));
  let extraClassDeclaration = [{
    /// Extents of the product; `batch` counts the leading dimensions.
    struct Extents {
      int64_t batch, m, n, k;
    };
    Extents getExtents();
    /// The factor of the product.
    ::llvm::APFloat getScale() {
      return getAlpha().value_or(::llvm::APFloat(1.0f));
    }
    ::mlir::Value getA() { return getInputs()[0]; }
    ::mlir::Value getB() { return getInputs()[1]; }
    /// These return null if the operation lacks the operand.
    ::mlir::Value getC();
    ::mlir::Value getBiasVector();
    ::mlir::Value getAuxiliaryInput();
    /// Whether the activation is a gradient.
    bool isGradient();
    /// The shape of the bit mask of a relu whose result has shape `shape`.
    static ::llvm::SmallVector<int64_t> getMaskShape(::llvm::ArrayRef<int64_t> shape);
    bool isProduct() { return true; }
    bool usesTF32() { return getTf32(); }
    ::llvm::StringRef getDefaultName() { return "product"; }
  }];
}

def CUDA_ConvOp : CUDA_LaunchOp<"conv", "$kind", [], [
    "getFlops", "getScratchBytes", "getTargetSuffix"]> {
  let summary = "a convolution or a gradient of one";
  let description = [{
    As `train.conv2d`, `train.conv2d_input_grad` and `train.conv2d_filter_grad`,
    with their layouts and attributes of inputs, filters and results. The
    operation computes products over patches that it gathers into scratch
    memory.

    With one group, the product may have an epilogue as in `cuda.gemm`:

    - A forward convolution takes a `bias` ([F], of the type of the result,
      after the filter) and `relu`. With `auxiliary`, the bit mask of the relu
      is a second result. It has the shape of the first, with ceil(F / 128) ·
      16 bytes for each pixel.
    - A filter gradient takes `bias_grad`. The second result is the sum of the
      gradient of the output over its pixels ([F], of the type of the result).
    - An input gradient takes no epilogue. Its product computes the gradients of
      patches, which are summed later.

    Example:

    ```mlir
    %y = cuda.conv <forward> ins(%x, %w, %b : tensor<32x8x8x1xf16>, tensor<3x3x1x16xf16>, tensor<16xf16>)
        {activation = #cuda.activation<relu>, bias, padding = array<i64: 1, 1, 1, 1>} -> tensor<32x8x8x16xf16>
    ```
  }];
  let arguments = !con((ins CUDA_ConvKind:$kind), operands, (ins
      DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$strides,
      DefaultValuedAttr<DenseI64ArrayAttr, "{0, 0, 0, 0}">:$padding,
      DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$dilations,
      DefaultValuedAttr<I64Attr, "1">:$groups, UnitAttr:$tf32,
      UnitAttr:$bias, UnitAttr:$auxiliary, UnitAttr:$bias_grad,
      DefaultValuedAttr<CUDA_Activation, "::mlir::cuda::Activation::None">:$activation));
  let extraClassDeclaration = [{
    ::mlir::Value getBiasVector() { return getBias() ? getInputs()[2] : ::mlir::Value(); }
    /// The types of input, filter and result of the forward convolution.
    struct Types {
      ::mlir::ShapedType input, filter, output;
    };
    Types getForwardTypes();
    bool isProduct() { return true; }
    bool usesTF32() { return getTf32(); }
    ::llvm::StringRef getDefaultName() { return "convolution"; }
  }];
}

def CUDA_LinearCrossEntropyOp : CUDA_LaunchOp<"linear_cross_entropy", "", [], [
    "getFlops", "getScratchBytes", "getRereadBytes", "getNumKernels",
    "getIndexBound", "getTargetSuffix"]> {
  let summary = "a product, the cross-entropy of its result, and its gradients";
  let description = [{
    The loss, the gradient of x and the gradient of w of
    `cross_entropy(x · w, labels)`, as `cuda.gemm` and
    `cuda.cross_entropy_with_grad` compute them. x is [M, K], w is [K, N], or [N,
    K] with `transpose_b`, of one type. There is a label for each row of x, and
    the loss is the mean over these rows.

    The rows go through in chunks of `chunk_rows` rows, which divides M. Scratch
    memory holds the logits of a chunk, which their gradient replaces, and the
    loss of each row. The gradient of w is f32 because it is the sum over chunks.
    `label_smoothing` has the meaning of `cuda.cross_entropy_with_grad`.

    Inputs: x, w, the labels (i32 or i64, [M]), and the gradient of the loss (f32).
    Outputs: the loss (f32), the gradient of x (of its type or f32), and the
    gradient of w (f32). With `predict`, the first largest class of each row
    follows ([M], i32 or i64). The first NaN counts as the largest.

    Example:

    ```mlir
    %loss, %dx, %dw = cuda.linear_cross_entropy ins(%x, %w, %labels, %dloss
        : tensor<64x32xbf16>, tensor<32x5000xbf16>, tensor<64xi64>, tensor<f32>)
        {chunk_rows = 16 : i64} -> tensor<f32>, tensor<64x32xbf16>, tensor<32x5000xf32>
    ```
  }];
  let arguments = !con(operands, (ins I64Attr:$chunk_rows, UnitAttr:$transpose_b,
                                      UnitAttr:$tf32, UnitAttr:$predict,
                                      DefaultValuedAttr<F64Attr, "0.0">:$label_smoothing));
  let extraClassDeclaration = [{
    /// Extents of the product, and the chunks of its rows.
    struct Extents {
      int64_t m, n, k, chunks;
    };
    Extents getExtents();
    /// The number of products: logits, both gradients of the first chunk, and a
    /// gradient of w that adds to that of other chunks.
    static constexpr unsigned kNumProducts = 4;
    /// Bytes that the kernels of the loss read and write, without the products.
    int64_t getLossBytes();
    bool isProduct() { return true; }
    bool usesTF32() { return getTf32(); }
    ::llvm::StringRef getDefaultName() { return "classifier"; }
  }];
}

#endif // AMP_DIALECT_CUDA_IR_CUDAPRODUCTOPS_TD
