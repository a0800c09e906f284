//===- CUDACompositeOps.td - Losses, pooling, scatter ------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_CUDA_IR_CUDACOMPOSITEOPS_TD
#define AMP_DIALECT_CUDA_IR_CUDACOMPOSITEOPS_TD

include "amp/Dialect/CUDA/IR/CUDABase.td"

//===----------------------------------------------------------------------===//
// Cross-entropy
//===----------------------------------------------------------------------===//

// The same attribute as `train.cross_entropy`.
defvar CUDA_SmoothingAttr = (ins DefaultValuedAttr<F64Attr, "0.0">:$label_smoothing);

def CUDA_CrossEntropyOp
    : CUDA_TunedOp<"cross_entropy", ["logits", "labels"], ["loss"],
                   ["getScratchBytes", "getIndexBound"]> {
  let summary = "mean cross-entropy of logits with integer labels";
  let description = [{
    The mean over all rows of ln Σ exp(x) - x[label], as `train.cross_entropy`,
    with `label_smoothing` as there. The last dimension holds the classes. Labels
    are i32 or i64, the loss is f32. Scratch memory holds the losses of the rows.

    Example:

    ```mlir
    %loss = cuda.cross_entropy ins(%logits, %labels : tensor<32x10xf16>, tensor<32xi64>)
        -> tensor<f32>
    ```
  }];
  let arguments = !con(operands, CUDA_SmoothingAttr);
}

def CUDA_CrossEntropyGradOp
    : CUDA_TunedGradOp<"cross_entropy_grad", ["logits", "labels", "dloss"],
                       ["dlogits"],
                       ["mayAlias", "getScratchBytes", "getIndexBound"]> {
  let summary = "gradient of the logits of cross_entropy";
  let description = [{
    (softmax(x) - one_hot(label)) · dloss / rows, as `train.cross_entropy_grad`,
    with `label_smoothing` as there; dloss is f32. The gradient may be written
    over the logits.

    Example:

    ```mlir
    %dx = cuda.cross_entropy_grad ins(%logits, %labels, %dloss
        : tensor<32x10xf16>, tensor<32xi64>, tensor<f32>) -> tensor<32x10xf16>
    ```
  }];
  let arguments = !con(operands, CUDA_SmoothingAttr);
}

def CUDA_CrossEntropyWithGradOp
    : CUDA_TunedGradOp<"cross_entropy_with_grad", ["logits", "labels", "dloss"],
                       ["loss", "dlogits"],
                       ["mayAlias", "getScratchBytes", "getIndexBound"]> {
  let summary = "cross-entropy and its gradient";
  let description = [{
    `cuda.cross_entropy` and `cuda.cross_entropy_grad` of the same logits and
    labels, which it reads once. The gradient may be written over the logits.

    Example:

    ```mlir
    %loss, %dx = cuda.cross_entropy_with_grad ins(%logits, %labels, %dloss
        : tensor<32x10xf16>, tensor<32xi64>, tensor<f32>) -> tensor<f32>, tensor<32x10xf16>
    ```
  }];
  let arguments = !con(operands, CUDA_SmoothingAttr);
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

// The same attributes as `train.max_pool2d`.
defvar CUDA_PoolAttrs = (ins DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides,
                             DenseI64ArrayAttr:$padding);

def CUDA_MaxPool2DOp : CUDA_TunedOp<"max_pool2d", ["x"], ["y"]> {
  let summary = "two-dimensional max pooling";
  let description = [{
    The maximum over windows of [N, H, W, C], as `train.max_pool2d`. `window`
    and `strides` are [height, width]. `padding` is [top, bottom, left, right]
    and has the value -inf.

    Example:

    ```mlir
    %y = cuda.max_pool2d ins(%x : tensor<32x8x8x16xf16>)
        {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>}
        -> tensor<32x4x4x16xf16>
    ```
  }];
  let arguments = !con(operands, CUDA_PoolAttrs);
}

def CUDA_MaxPool2DGradOp
    : CUDA_TunedGradOp<"max_pool2d_grad", ["x", "y", "dy"], ["dx"]> {
  let summary = "gradient of the input of max pooling";
  let description = [{
    The gradient of each window goes to the first element, in row-major order,
    that equals its maximum, as in `train.max_pool2d_grad`; y is the pooled x.

    Example:

    ```mlir
    %dx = cuda.max_pool2d_grad ins(%x, %y, %dy
        : tensor<32x8x8x16xf16>, tensor<32x4x4x16xf16>, tensor<32x4x4x16xf16>)
        {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>}
        -> tensor<32x8x8x16xf16>
    ```
  }];
  let arguments = !con(operands, CUDA_PoolAttrs);
}

def CUDA_AvgPool2DOp : CUDA_TunedOp<"avg_pool2d", ["x"], ["y"]> {
  let summary = "two-dimensional average pooling";
  let description = [{
    The sum over windows of [N, H, W, C] divided by the size of the window, as
    `train.avg_pool2d`. It has the attributes of `cuda.max_pool2d`. Padding
    is zero and counts as elements of the window.

    Example:

    ```mlir
    %y = cuda.avg_pool2d ins(%x : tensor<32x4x4x16xf32>)
        {window = array<i64: 4, 4>, strides = array<i64: 4, 4>, padding = array<i64: 0, 0, 0, 0>}
        -> tensor<32x1x1x16xf32>
    ```
  }];
  let arguments = !con(operands, CUDA_PoolAttrs);
}

def CUDA_AvgPool2DGradOp : CUDA_TunedGradOp<"avg_pool2d_grad", ["dy"], ["dx"]> {
  let summary = "gradient of the input of average pooling";
  let description = [{
    Spreads the gradient of each window evenly over it, as
    `train.avg_pool2d_grad`. dx has the shape of the input that was pooled.

    Example:

    ```mlir
    %dx = cuda.avg_pool2d_grad ins(%dy : tensor<32x1x1x16xf32>)
        {window = array<i64: 4, 4>, strides = array<i64: 4, 4>, padding = array<i64: 0, 0, 0, 0>}
        -> tensor<32x4x4x16xf32>
    ```
  }];
  let arguments = !con(operands, CUDA_PoolAttrs);
}

//===----------------------------------------------------------------------===//
// Indices and random numbers
//===----------------------------------------------------------------------===//

def CUDA_ScatterAddOp
    : CUDA_TunedOp<"scatter_add", ["updates", "indices"], ["result"],
                   ["getFlops", "getScratchBytes", "getRereadBytes",
                    "getNumKernels"], [{
                     /// Whether the kernels sort the indices first.
                     bool isSorted();
                   }]> {
  let summary = "sums slices along a dimension by index";
  let description = [{
    Adds each slice of the updates to the slice of the result that its index
    names, in the order of the indices, as `train.scatter_add`. The slices of
    the result follow one another along dimension `axis`. In the updates, the
    dimensions of the indices take the place of `axis`. Indices are i32 or i64.
    Sums are f32 and round once. An index out of range adds nothing.

    More than 1024 indices, and indices of more than 4096 slices, are sorted
    first. A slice with many updates is then the sum of the sums of up to 64
    consecutive sorted updates. Scratch memory holds these and the sorted
    indices. Otherwise each block of the one kernel reads all indices.

    Example:

    ```mlir
    %dtable = cuda.scatter_add ins(%dy, %tokens : tensor<8x16x64xf16>, tensor<8x16xi64>)
        {axis = 0 : i64} -> tensor<256x64xf32>
    ```
  }];
  let arguments = !con(operands, (ins I64Attr:$axis));
}

def CUDA_DropoutOp
    : CUDA_TunedOp<"dropout", ["x", "rng", "addend"], ["y"], ["mayAlias", "getFlops"]> {
  let summary = "zeroes random elements and scales up the rest";
  let description = [{
    Keeps each element with probability 1 - `rate` and multiplies it by 1 / (1 -
    `rate`), or sets it to 0, as `train.dropout`. The choice depends on the
    state of the generator (i64: seed and step), `key` and the position alone,
    so the gradient is the same operation. With `accumulate` it adds the last
    input, and rounds the sum once. y may be written over x or this input.

    With `divided_along`, x is the part of one rank along this dimension. An
    element then has the position in the whole tensor, which joins the parts of
    all ranks.

    Example:

    ```mlir
    %y = cuda.dropout ins(%x, %rng : tensor<32x64xf16>, tensor<2xi64>)
        {key = 3 : i32, rate = 1.0e-1 : f64} -> tensor<32x64xf16>
    ```
  }];
  let arguments = !con(operands, (ins F64Attr:$rate, I32Attr:$key,
                                      OptionalAttr<I64Attr>:$divided_along,
                                      UnitAttr:$accumulate));
}

def CUDA_DropoutSeedsOp
    : CUDA_TunedOp<"dropout_seeds", ["rng"], ["seeds"], ["getFlops"]> {
  let summary = "seeds for the random numbers of cuDNN";
  let description = [{
    Row i holds a seed and an offset for the generator of cuDNN. They are a block
    of random numbers with the state of the generator (i64: seed and step) and
    key i of `keys`, so that all attentions of a step and all steps draw other
    numbers. With `by_rank`, each rank has other seeds.

    Example:

    ```mlir
    %seeds = cuda.dropout_seeds ins(%rng : tensor<2xi64>)
        {keys = array<i32: 0, 3>} -> tensor<2x2xi64>
    ```
  }];
  let arguments = !con(operands, (ins DenseI32ArrayAttr:$keys, UnitAttr:$by_rank));
}

def CUDA_DocumentOffsetsOp
    : CUDA_TunedOp<"document_offsets", ["cumulative_lengths"],
                   ["lengths", "offsets"], ["getFlops"]> {
  let summary = "where the documents of packed sequences are";
  let description = [{
    Each sample has `positions` positions. Entry n of its cumulative lengths
    [.., N + 1] is the position at which document n begins, as in
    `train.document_mask`. The entries ascend from 0. The last document ends with
    the sample. If the entries do not ascend, each position still belongs to one
    document.

    The first result is the number of positions of each document of all samples,
    [K] of i32. The second result is [rows, K + 1] of i64. Each row has the offset
    of each document and the end of the last one, in a packed tensor whose positions
    have the number of elements that `rows` lists. K + 1 is rounded up to an even
    number, so that each row begins at a multiple of 16 bytes.

    Example:

    ```mlir
    %lengths, %offsets = cuda.document_offsets ins(%cumulative : tensor<2x4xi32>)
        {positions = 64, rows = array<i64: 192, 64>}
        -> tensor<8xi32>, tensor<2x10xi64>
    ```
  }];
  let arguments = !con(operands, (ins I64Attr:$positions, DenseI64ArrayAttr:$rows));
}

def CUDA_StochasticRoundOp
    : CUDA_TunedOp<"stochastic_round", ["x", "rng"], ["y"], ["getFlops"]> {
  let summary = "rounds f32 to bf16, up or down at random";
  let description = [{
    Rounds such that the expected value is exact, as `amp.master_copy` with a
    state of the random generator (i64: seed and step) and `key`.

    Example:

    ```mlir
    %y = cuda.stochastic_round ins(%x, %rng : tensor<8x4xf32>, tensor<2xi64>)
        {key = 3 : i32} -> tensor<8x4xbf16>
    ```
  }];
  let arguments = !con(operands, (ins I32Attr:$key));
}

#endif // AMP_DIALECT_CUDA_IR_CUDACOMPOSITEOPS_TD
