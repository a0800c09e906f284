//===- CUDAAttentionOps.td - Attention ---------------------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_CUDA_IR_CUDAATTENTIONOPS_TD
#define AMP_DIALECT_CUDA_IR_CUDAATTENTIONOPS_TD

include "amp/Dialect/CUDA/IR/CUDABase.td"

def CUDA_AttentionAttr : AttrDef<CUDA_Dialect, "Attention"> {
  let mnemonic = "attention";
  let summary = "sizes of an attention";
  let description = [{
    The queries have the shape [batch, heads, queries, head_size], the keys
    [batch, key_heads, keys, head_size] and the values [batch, key_heads, keys,
    value_size]. The head h of the queries reads the head h · key_heads / heads
    of keys and values.
  }];
  let parameters = (ins "int64_t":$batch, "int64_t":$heads, "int64_t":$key_heads,
                        "int64_t":$queries, "int64_t":$keys,
                        "int64_t":$head_size, "int64_t":$value_size);
  let assemblyFormat = "`<` struct(params) `>`";
}

defvar CUDA_AttentionArguments = (ins CUDA_AttentionAttr:$sizes, F64Attr:$scale,
    OptionalAttr<I64Attr>:$left_bound, OptionalAttr<I64Attr>:$right_bound,
    UnitAttr:$bias, UnitAttr:$lengths, OptionalAttr<I64Attr>:$documents,
    OptionalAttr<DenseI64ArrayAttr>:$rows, OptionalAttr<F64Attr>:$dropout,
    DefaultValuedAttr<I64Attr, "0">:$seed_row, CUDA_HeadsAttr:$query, CUDA_HeadsAttr:$key,
    CUDA_HeadsAttr:$value, CUDA_HeadsAttr:$output);

defvar CUDA_AttentionMethods = [
    "getFlops", "getScratchBytes", "getTargetSuffix"];

def CUDA_SDPAOp : CUDA_LaunchOp<"sdpa", "", [], CUDA_AttentionMethods> {
  let summary = "attention without a tensor of scores";
  let description = [{
    The rows of softmax(`scale` · Q·Kᵀ + bias) · V, by a plan of cuDNN. Scores
    and sums are f32, and no score is written to memory. Operands are f16 or
    bf16.

    A query at position i sees the keys j with i - `left_bound` < j and j ≤ i +
    `right_bound`. A bound that is absent masks nothing: `right_bound = 0` is the
    causal mask, and `left_bound` the length of a sliding window.

    Inputs, in order:

    | input | where |
    |---|---|
    | the tensors that hold Q, K and V, which may be one | always |
    | a bias of f32 or the type of Q, [1 or batch, 1 or heads, queries, keys] | with `bias` |
    | the number of queries and that of keys of each sample, [batch] of i32 | with `lengths` |
    | the results of `cuda.document_offsets` with the same `rows` | with `documents` |
    | the result of `cuda.dropout_seeds`, [N, 2] of i64, of which the plan reads row `seed_row` | with `dropout` |

    With `dropout`, cuDNN zeroes elements of the softmax with this probability and
    multiplies the others by 1 / (1 - `dropout`). It draws the random numbers,
    which are not those of `train.dropout`. The gradient with the same row drops
    the same elements.

    With `documents`, each sample consists of this number of documents, whose
    lengths are inputs, and a query sees keys of its own document only. The plan
    takes each document as a sample, and computes no score between documents.
    `rows` has the strides of positions of all tensors of the launch. The heads of
    a position are next to each other, and the samples follow one another.

    The attributes `query`, `key`, `value` and `output` say where the heads are.
    Each begins at a multiple of 16 bytes. The first result holds the output
    and nothing else. The second one is ln Σ exp of the scores, [batch, heads,
    queries] of f32, or [batch, queries, heads] with `documents`. The gradient
    reads it.

    Example:

    ```mlir
    %y, %lse = cuda.sdpa ins(%qkv, %qkv, %qkv
        : tensor<2x64x192xbf16>, tensor<2x64x192xbf16>, tensor<2x64x192xbf16>)
        {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 64,
                                 keys = 64, head_size = 16, value_size = 16>,
         scale = 2.5e-1 : f64, right_bound = 0,
         query = #cuda.heads<at 0 by 12288, 16, 192>,
         key = #cuda.heads<at 64 by 12288, 16, 192>,
         value = #cuda.heads<at 128 by 12288, 16, 192>,
         output = #cuda.heads<at 0 by 4096, 16, 64>}
        -> tensor<2x64x64xbf16>, tensor<2x4x64xf32>
    ```
  }];
  let arguments = !con(operands, CUDA_AttentionArguments);
  let extraClassDeclaration = [{
    /// The description of the plan.
    amp_cudnn_attention getDescription();
    bool isProduct() { return true; }
    bool usesCuDNN() { return true; }
    ::llvm::StringRef getDefaultName() { return "attention"; }
  }];
}

def CUDA_SDPAGradOp
    : CUDA_LaunchOp<"sdpa_grad", "", [],
                    CUDA_AttentionMethods # ["getNumKernels", "getReadBytes",
                                             "getWrittenBytes"]> {
  let summary = "gradients of sdpa";
  let description = [{
    The gradients of the queries, keys and values. The inputs are the gradient of
    the output, Q, K, V, the output and ln Σ exp of the scores, then the bias and
    the lengths and the seeds as in `cuda.sdpa`. The plan computes the scores again.

    The results are the gradients of queries, keys and values, or one tensor that
    holds all three. `query_grad`, `key_grad` and `value_grad` say where the
    heads are. They fill the results. `documents` means the same as in
    `cuda.sdpa`.

    With `deterministic`, two runs give the same bits. Without it, parts of a
    gradient are added in the order in which they come, and the scratch memory
    does not grow with the square of the length.

    The plan takes `batch` / `parts` samples, and runs `parts` times. With
    `documents`, it takes that part of the documents. The parts share the scratch
    memory. With `dropout` there is one part, because cuDNN
    counts the samples of a plan.

    Example:

    ```mlir
    %dqkv = cuda.sdpa_grad ins(%dy, %qkv, %qkv, %qkv, %y, %lse
        : tensor<2x64x64xbf16>, tensor<2x64x192xbf16>, tensor<2x64x192xbf16>,
          tensor<2x64x192xbf16>, tensor<2x64x64xbf16>, tensor<2x4x64xf32>)
        {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 64,
                                 keys = 64, head_size = 16, value_size = 16>,
         scale = 2.5e-1 : f64, right_bound = 0, deterministic,
         query = #cuda.heads<at 0 by 12288, 16, 192>,
         key = #cuda.heads<at 64 by 12288, 16, 192>,
         value = #cuda.heads<at 128 by 12288, 16, 192>,
         output = #cuda.heads<at 0 by 4096, 16, 64>,
         grad = #cuda.heads<at 0 by 4096, 16, 64>,
         query_grad = #cuda.heads<at 0 by 12288, 16, 192>,
         key_grad = #cuda.heads<at 64 by 12288, 16, 192>,
         value_grad = #cuda.heads<at 128 by 12288, 16, 192>}
        -> tensor<2x64x192xbf16>
    ```
  }];
  let arguments = !con(operands, CUDA_AttentionArguments, (ins
      CUDA_HeadsAttr:$grad, CUDA_HeadsAttr:$query_grad, CUDA_HeadsAttr:$key_grad,
      CUDA_HeadsAttr:$value_grad, UnitAttr:$deterministic,
      DefaultValuedAttr<I64Attr, "1">:$parts));
  let extraClassDeclaration = [{
    /// The description of the plan, which computes one part.
    amp_cudnn_attention getDescription();
    /// The number of samples of all parts: those of the batch, or documents.
    int64_t getNumSamples();
    bool isProduct() { return true; }
    bool usesCuDNN() { return true; }
    bool isBackward() { return true; }
    ::llvm::StringRef getDefaultName() { return "attention_grad"; }
  }];
}

#endif // AMP_DIALECT_CUDA_IR_CUDAATTENTIONOPS_TD
