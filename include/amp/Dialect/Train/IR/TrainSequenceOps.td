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
    Replaces dimension `axis` of the input by the dimensions of `indices`. Each
    index selects one slice. Along dimension 0 of a table of vectors this is an
    embedding. An index out of range gives zeros. `amp-run` rejects such an
    index when it reads the data.

    Example:

    ```mlir
    %1 = train.gather %table, %tokens {axis = 0 : i64}
        : (tensor<256x64xf32>, tensor<?x16xi64>) -> tensor<?x16x64xf32>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$input, Train_IntTensor:$indices,
                       I64Attr:$axis);
  let results = (outs Train_FloatTensor:$result);
  let extraClassDeclaration = Train_ReadsPart;
}

def Train_ScatterAddOp : Train_Op<"scatter_add", [
    Train_Slots, Train_Differentiable, Train_Ranges]> {
  let summary = "sums slices along a dimension by index";
  let description = [{
    This is the adjoint of `train.gather`. `updates` has the dimensions of
    `indices` from `axis` on. The result has one dimension in their place, and
    each of its slices is the sum of the updates with its index. The order of
    addition is the row-major order of the indices for any number of threads.
    Sums accumulate in f32 (f64 for f64) and round once. An index out of range
    adds nothing. The result may be wider than the updates.

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
    Computes the index of the first maximum along dimension `axis`. The result
    does not have this dimension. The first NaN counts as the maximum. The
    dimension must be shorter than 2^24.

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
    rounds once. The result may be wider than the operand.

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
    Splits the last dimension, which has an even extent, into two halves (a, b)
    and computes (a·cos - b·sin, b·cos + a·sin) in f32 with one rounding. The
    tables `cosines` and `sines` have the trailing dimensions of the input, the
    last one halved.

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

def Train_DocumentMaskOp
    : Train_Op<"document_mask", [Train_Slots, Train_Composite]> {
  let summary = "which positions of packed sequences belong to one document";
  let description = [{
    Several documents share a sequence of `positions` positions. The cumulative
    lengths [.., N + 1] ascend: document n begins at position
    `cumulative_lengths`[n] and ends before `cumulative_lengths`[n + 1]. The
    first entry is 0. Positions after the last document are a document of their
    own. A document may be empty, so that sequences with different numbers of
    documents fit into one tensor.

    The result is true where a query and a key belong to one document. Cumulative
    lengths [N + 1] give [positions, positions]. With leading dimensions [..],
    the result is [.., 1, positions, positions] and broadcasts to the scores of
    all heads. Two positions belong to one document if as many entries are at most
    the one position as are at most the other.

    Example:

    ```mlir
    %mask = train.document_mask %lengths {positions = 16 : i64}
        : (tensor<?x5xi32>) -> tensor<?x1x16x16xi1>
    ```
  }];
  let arguments = (ins Train_IntTensor:$cumulative_lengths, I64Attr:$positions);
  let results = (outs Train_BoolTensor:$result);
}

// The last operands of an attention: a mask, a state of the random generator,
// or both. Their element types tell them apart.
def Train_AttentionExtra : AnyTypeOf<[Train_BoolTensor, Train_RngState]>;
defvar Train_AttentionExtras = [{
    /// The mask, or null.
    ::mlir::Value getMask() { return findAttentionMask(getExtras()); }
    /// The state of the random generator of the dropout, or null.
    ::mlir::Value getRng() { return findAttentionRng(getExtras()); }
    /// The rate of the dropout, or 0.
    double getDropout() {
      return getDropoutRate() ? getDropoutRate()->convertToDouble() : 0.0;
    }
  }];

def Train_ScaledDotProductAttentionOp
    : Train_Op<"scaled_dot_product_attention", [
          AllElementTypesMatch<["query", "key", "value"]>, Train_ProductSlots,
          Train_Composite, Train_Differentiable, Train_Ranges]> {
  let summary = "softmax of scaled products of queries and keys, times values";
  let description = [{
    Maps [.., S, D], [.., T, D] and [.., T, E] to [.., S, E]. The result is P·V,
    where P is the softmax of the scores Q·Kᵀ·`scale` over the keys. `scale` is
    1/√D by default. The last of the leading dimensions counts heads. Keys and
    values may have fewer heads than queries: of H heads of queries and G of
    keys, where G divides H, the query head h reads the key head ⌊h·G/H⌋.

    A masked score counts as -inf before the maximum is taken. `causal` masks
    the scores of keys after the query; S and T are then equal. A tensor of
    booleans after the other operands is a mask. It broadcasts to the scores and
    masks those where it is false. A query without any key gives zeros.
    `train.document_mask` makes the mask of packed documents.

    With `dropout_rate`, the last operand is the state of the random generator.
    Dropout then acts on the probabilities [.., S, T] as `train.dropout` with this
    rate and `dropout_key`, before they are rounded. It does not change the second
    result.

    Scores, maximum and sum are f32. The probabilities are rounded to the type
    of the operands before the product with the values, as in the fused kernels.
    The second result is ln Σ exp of the scores. The backward pass uses it in
    place of the probabilities. The result has the operands' type, or f32.

    Example:

    ```mlir
    %y, %lse = train.scaled_dot_product_attention %q, %k, %v {causal}
        : (tensor<?x4x16x8xf16>, tensor<?x4x16x8xf16>, tensor<?x4x16x8xf16>)
        -> (tensor<?x4x16x8xf16>, tensor<?x4x16xf32>)
    ```
  }];
  let arguments = (ins Train_FloatTensor:$query, Train_FloatTensor:$key,
      Train_FloatTensor:$value, Variadic<Train_AttentionExtra>:$extras,
      OptionalAttr<F64Attr>:$scale, UnitAttr:$causal,
      OptionalAttr<F64Attr>:$dropout_rate,
      DefaultValuedAttr<I32Attr, "0">:$dropout_key);
  let results = (outs Train_FloatTensor:$result, Train_WideTensor:$logsumexp);
  let hasVerifier = 1;
  let extraClassDeclaration = Train_AttentionExtras;
}

def Train_ScaledDotProductAttentionGradOp
    : Train_Op<"scaled_dot_product_attention_grad", [
          AllElementTypesMatch<["grad", "query", "key", "value"]>,
          AllElementTypesMatch<["query_grad", "key_grad", "value_grad"]>,
          Train_ProductSlots, Train_Composite, Train_Differentiable]> {
  let summary = "gradients of scaled_dot_product_attention";
  let description = [{
    Computes the gradients of the queries, keys and values. The operation
    computes the probabilities again from the scores and their `logsumexp`, and
    drops the same ones. It rounds the probabilities and the gradient of the
    scores to the type of the operands before products.

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
      Variadic<Train_AttentionExtra>:$extras, OptionalAttr<F64Attr>:$scale,
      UnitAttr:$causal, OptionalAttr<F64Attr>:$dropout_rate,
      DefaultValuedAttr<I32Attr, "0">:$dropout_key);
  let results = (outs Train_FloatTensor:$query_grad,
                      Train_FloatTensor:$key_grad, Train_FloatTensor:$value_grad);
  let hasVerifier = 1;
  let extraClassDeclaration = Train_AttentionExtras;
}

#endif // AMP_DIALECT_TRAIN_IR_TRAINSEQUENCEOPS_TD
