//===- TrainSequenceOps.td - Attention, embedding, scans -*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_TRAIN_IR_TRAINSEQUENCEOPS_TD
#define AMP_DIALECT_TRAIN_IR_TRAINSEQUENCEOPS_TD

include "amp/Dialect/Train/IR/TrainBase.td"

//===----------------------------------------------------------------------===//
// Indexing
//===----------------------------------------------------------------------===//

def Train_GatherOp : Train_StorageOp<"gather", [
    AllElementTypesMatch<["input", "result"]>, Train_Differentiable,
    Train_Ranges]> {
  let summary = "takes slices along a dimension by index";
  let description = [{
    Replaces dimension `axis` of the input by the dimensions of `indices`, each
    of which says which slice to take. Along dimension 0 of a table of vectors
    this is an embedding. An index out of range gives zeros; `amp-run` rejects
    one when it reads the data.

    Example:

    ```mlir
    %1 = train.gather %table, %tokens {axis = 0 : i64}
        : (tensor<256x64xf32>, tensor<?x16xi64>) -> tensor<?x16x64xf32>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$input, Train_IntTensor:$indices,
                       I64Attr:$axis);
  let results = (outs Train_FloatTensor:$result);
}

def Train_ScatterAddOp : Train_Op<"scatter_add", [
    Train_Slots, Train_Differentiable, Train_Ranges]> {
  let summary = "sums slices along a dimension by index";
  let description = [{
    The adjoint of `train.gather`: the dimensions of `indices`, which are those
    of `updates` from `axis` on, are replaced by one, to each slice of which the
    updates with its index are added. The order of addition is that of the
    indices, row-major, whatever the number of threads; sums accumulate in f32
    (f64 for f64) and round once. An index out of range adds nothing. The result
    may be wider than the updates.

    Example:

    ```mlir
    %dtable = train.scatter_add %dy, %tokens {axis = 0 : i64}
        : (tensor<?x16x64xf16>, tensor<?x16xi64>) -> tensor<256x64xf32>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$updates, Train_IntTensor:$indices,
                       I64Attr:$axis);
  let results = (outs Train_FloatTensor:$result);
  let hasVerifier = 1;
}

def Train_ArgmaxOp : Train_StorageOp<"argmax"> {
  let summary = "index of the maximum along a dimension";
  let description = [{
    The index of the first maximum along dimension `axis`, which is dropped. The
    first NaN counts as the maximum. The dimension is shorter than 2^24.

    Example:

    ```mlir
    %1 = train.argmax %0 {axis = 1 : i64} : (tensor<?x10xf32>) -> tensor<?xi64>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$input, I64Attr:$axis);
  let results = (outs Train_IntTensor:$result);
}

def Train_CumsumOp : Train_Op<"cumsum", [
    Train_Slots, Train_Differentiable, Train_Ranges]> {
  let summary = "running sums along a dimension";
  let description = [{
    Element i along dimension `axis` is the sum of the elements up to i, or from
    i on if `reverse` is set. Each sum accumulates in f32 (f64 for f64) and
    rounds once; the result may be wider than the operand.

    Example:

    ```mlir
    %1 = train.cumsum %0 {axis = 1 : i64} : (tensor<?x8xf16>) -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$input, I64Attr:$axis,
                       UnitAttr:$reverse);
  let results = (outs Train_FloatTensor:$result);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

def Train_RotaryEmbeddingOp : Train_Op<"rotary_embedding", [
    AllElementTypesMatch<["input", "result"]>,
    AllElementTypesMatch<["cosines", "sines"]>,
    Train_Slots, Train_Composite, Train_Differentiable, Train_Ranges]> {
  let summary = "rotates pairs of elements by angles";
  let description = [{
    With the last dimension, of even extent, in two halves (a, b), the result is
    (a·cos - b·sin, b·cos + a·sin), computed in f32 and rounded once. The tables
    `cosines` and `sines` have the trailing dimensions of the input with half of
    the last.

    Example:

    ```mlir
    %1 = train.rotary_embedding %0, %cos, %sin
        : (tensor<?x4x16x8xf16>, tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<?x4x16x8xf16>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$input, Train_WideTensor:$cosines,
                       Train_WideTensor:$sines);
  let results = (outs Train_FloatTensor:$result);
  let hasVerifier = 1;
}

def Train_ScaledDotProductAttentionOp
    : Train_Op<"scaled_dot_product_attention", [
          AllElementTypesMatch<["query", "key", "value"]>, Train_ProductSlots,
          Train_Composite, Train_Differentiable, Train_Ranges]> {
  let summary = "softmax of scaled products of queries and keys, times values";
  let description = [{
    [.., S, D], [.., T, D] and [.., T, E] → [.., S, E]: P·V with P the softmax
    of the scores Q·Kᵀ·`scale` over the keys; `scale` is 1/√D by default. A score
    that is masked counts as -inf before the maximum is taken: with `causal`
    (then S = T) those of keys after the query, with `mask`, which broadcasts to
    the scores, those where it is false. A query without any key gives zeros.

    Scores, maximum and sum are f32; the probabilities are rounded to the type of
    the operands before they meet the values, as the fused kernels do it. The
    second result is ln Σ exp of the scores, which the backward pass uses instead
    of the probabilities. The result is of the operands' type, or f32.

    Example:

    ```mlir
    %y, %lse = train.scaled_dot_product_attention %q, %k, %v {causal}
        : (tensor<?x4x16x8xf16>, tensor<?x4x16x8xf16>, tensor<?x4x16x8xf16>)
        -> (tensor<?x4x16x8xf16>, tensor<?x4x16xf32>)
    ```
  }];
  let arguments = (ins Train_FloatTensor:$query, Train_FloatTensor:$key,
      Train_FloatTensor:$value, Optional<Train_BoolTensor>:$mask,
      OptionalAttr<F64Attr>:$scale, UnitAttr:$causal);
  let results = (outs Train_FloatTensor:$result, Train_WideTensor:$logsumexp);
  let hasVerifier = 1;
}

def Train_ScaledDotProductAttentionGradOp
    : Train_Op<"scaled_dot_product_attention_grad", [
          AllElementTypesMatch<["grad", "query", "key", "value"]>,
          AllElementTypesMatch<["query_grad", "key_grad", "value_grad"]>,
          Train_ProductSlots, Train_Composite, Train_Differentiable]> {
  let summary = "gradients of scaled_dot_product_attention";
  let description = [{
    Gradients of the queries, keys and values. The probabilities are computed
    again from the scores and their `logsumexp`; they, and the gradient of the
    scores, are rounded to the type of the operands before products.

    Example:

    ```mlir
    %dq, %dk, %dv = train.scaled_dot_product_attention_grad %dy, %q, %k, %v, %y, %lse {causal}
        : (tensor<?x4x16x8xf16>, tensor<?x4x16x8xf16>, tensor<?x4x16x8xf16>,
           tensor<?x4x16x8xf16>, tensor<?x4x16x8xf16>, tensor<?x4x16xf32>)
        -> (tensor<?x4x16x8xf16>, tensor<?x4x16x8xf16>, tensor<?x4x16x8xf16>)
    ```
  }];
  let arguments = (ins Train_FloatTensor:$grad, Train_FloatTensor:$query,
      Train_FloatTensor:$key, Train_FloatTensor:$value,
      Train_FloatTensor:$output, Train_WideTensor:$logsumexp,
      Optional<Train_BoolTensor>:$mask, OptionalAttr<F64Attr>:$scale,
      UnitAttr:$causal);
  let results = (outs Train_FloatTensor:$query_grad,
                      Train_FloatTensor:$key_grad, Train_FloatTensor:$value_grad);
  let hasVerifier = 1;
}

#endif // AMP_DIALECT_TRAIN_IR_TRAINSEQUENCEOPS_TD
