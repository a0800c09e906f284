//===- Attention.h - Plans of attention ---------------------------*- C -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans that compute softmax(scale QK' + bias) V for batches of heads, and its
// gradients. No score is written to memory. The scores, the softmax and the
// sums are f32.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDNN_ATTENTION_H
#define AMP_RUNTIME_CUDNN_ATTENTION_H

#include "amp/Runtime/CuDNN/Plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The pointers of a plan. The forward plan writes the output and the
 * log-sum-exp, which the backward plan reads with the output gradient. */
enum {
  AMP_CUDNN_QUERY = 0,
  AMP_CUDNN_KEY,
  AMP_CUDNN_VALUE,
  AMP_CUDNN_OUTPUT,
  AMP_CUDNN_LOG_SUM_EXP,
  AMP_CUDNN_OUTPUT_GRAD,
  AMP_CUDNN_QUERY_GRAD,
  AMP_CUDNN_KEY_GRAD,
  AMP_CUDNN_VALUE_GRAD,
  AMP_CUDNN_BIAS,           /* with bias_type */
  AMP_CUDNN_QUERY_LENGTHS,  /* with has_lengths: i32 for each sample */
  AMP_CUDNN_KEY_LENGTHS,    /* with has_lengths: i32 for each sample */
  AMP_CUDNN_DROPOUT_SEED,   /* with dropout: an i64 */
  AMP_CUDNN_DROPOUT_OFFSET, /* with dropout: an i64 */
  /* With has_offsets: AMP_CUDNN_OFFSETS + i has the offsets of tensor i, from
   * AMP_CUDNN_QUERY to AMP_CUDNN_VALUE_GRAD. Tensors may share offsets. */
  AMP_CUDNN_OFFSETS
};
enum {
  AMP_CUDNN_ATTENTION_POINTERS = AMP_CUDNN_OFFSETS + AMP_CUDNN_VALUE_GRAD + 1
};

/* Strides in elements of the samples, the heads and the positions. The elements
 * of a head are contiguous. */
typedef struct {
  int64_t sample, head, position;
} amp_cudnn_head_strides;

/* The value of a bound that does not exist. */
#define AMP_CUDNN_NO_BOUND (-1)
/* The value of bias_type without a bias. */
#define AMP_CUDNN_NO_BIAS (-1)

/* An attention. Queries have the shape [batch, heads, queries, head_size], keys
 * [batch, key_heads, keys, head_size] and values [batch, value_heads, keys,
 * value_size], where `heads` is a multiple of `key_heads` and `value_heads`. */
typedef struct {
  int64_t batch, heads, key_heads, value_heads;
  int64_t queries, keys, head_size, value_size;
  int32_t type;     /* AMP_CUDNN_F16 or AMP_CUDNN_BF16, of all but below */
  int32_t backward; /* whether the plan computes the gradients */
  double scale;     /* of the products of queries and keys */

  /* Strides of tensors by AMP_CUDNN_QUERY to AMP_CUDNN_VALUE_GRAD. The
   * log-sum-exp is f32 and has only strides of samples, heads and positions. */
  amp_cudnn_head_strides strides[AMP_CUDNN_VALUE_GRAD + 1];

  /* A query at position i sees the keys j with i - left_bound < j and
   * j <= i + right_bound: right_bound = 0 is the causal mask, and left_bound
   * the length of a sliding window. Or AMP_CUDNN_NO_BOUND. */
  int64_t left_bound, right_bound;

  /* An additive bias of type f32 or `type`, contiguous, of shape [bias_batch,
   * bias_heads, queries, keys], where the first two are 1 or as above. */
  int32_t bias_type;
  int64_t bias_batch, bias_heads;

  /* Whether queries and keys from a sample's lengths on are masked. */
  int32_t has_lengths;
  /* Whether two runs of the backward plan give the same bits. */
  int32_t deterministic;
  /* The probability of dropping an element of the softmax, or 0. cuDNN
   * draws the random numbers from the seed and the offset, which are multiples
   * of 8 bytes. Both directions drop the same elements. */
  double dropout;

  /* Whether the samples are parts of packed tensors. Sample n of a tensor then
   * begins at entry n of its offsets, which are i64, and ends before entry
   * n + 1. It needs has_lengths. The strides of samples have no meaning. Heads
   * are next to each other at each position, so that a stride of positions is
   * greater than one of heads. */
  int32_t has_offsets;
  /* With has_offsets: the most positions of all samples together. */
  int64_t positions;
} amp_cudnn_attention;

/* Creates a plan for the current device. */
AMP_CUDNN_EXPORT int32_t amp_cudnn_create_attention(
    const amp_cudnn_attention *attention, amp_cudnn_plan **plan);

/* Asks cuDNN whether a GPU of compute capability `capability` (80, 90 or 100)
 * has kernels for the attention. Needs no GPU, but a libcuda.so.1, such as the
 * stub of the toolkit under that name: without one the answer is
 * AMP_CUDNN_UNKNOWN. */
AMP_CUDNN_EXPORT int32_t amp_cudnn_check_attention(
    const amp_cudnn_attention *attention, int32_t capability);

#ifdef __cplusplus
}
#endif

#endif /* AMP_RUNTIME_CUDNN_ATTENTION_H */
