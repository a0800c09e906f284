//===- Attention.cpp - Plans of attention ---------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Runtime/CuDNN/Attention.h"

#include "GraphPlan.h"

using namespace amp::cudnn;

namespace {
using Sizes = std::vector<int64_t>;

/// Adds the nodes of one attention.
class AttentionBuilder {
public:
  AttentionBuilder(const amp_cudnn_attention &attention, GraphBuilder &builder)
      : attention(attention), builder(builder) {}
  void build() { attention.backward ? buildBackward() : buildForward(); }

private:
  Sizes getSizes(int index) const;
  Sizes getStrides(int index) const {
    const amp_cudnn_head_strides &strides = attention.strides[index];
    return {strides.sample, strides.head, strides.position, 1};
  }
  int32_t getType(int index) const {
    return index == AMP_CUDNN_LOG_SUM_EXP ? int32_t(AMP_CUDNN_F32)
                                          : attention.type;
  }
  Tensor input(int index) {
    Tensor tensor = builder.input(index, getSizes(index), getStrides(index),
                                  getType(index));
    setOffsets(tensor, index);
    return tensor;
  }
  void output(const Tensor &tensor, int index) {
    builder.output(tensor, index, getSizes(index), getStrides(index),
                   getType(index));
    setOffsets(tensor, index);
  }
  Tensor scalar(int index, int64_t count, int32_t type) {
    return builder.input(index, {count, 1, 1, 1}, {1, 1, 1, 1}, type);
  }
  void setOffsets(const Tensor &tensor, int index) {
    if (attention.has_offsets)
      tensor->set_ragged_offset(scalar(AMP_CUDNN_OFFSETS + index,
                                       attention.batch + 1, AMP_CUDNN_I64));
  }
  /// Sets the options of both directions.
  template <typename Attributes>
  void setOptions(Attributes &attributes);
  void buildForward();
  void buildBackward();

  const amp_cudnn_attention &attention;
  GraphBuilder &builder;
};
} // namespace

Sizes AttentionBuilder::getSizes(int index) const {
  switch (index) {
  case AMP_CUDNN_KEY:
  case AMP_CUDNN_KEY_GRAD:
    return {attention.batch, attention.key_heads, attention.keys,
            attention.head_size};
  case AMP_CUDNN_VALUE:
  case AMP_CUDNN_VALUE_GRAD:
    return {attention.batch, attention.value_heads, attention.keys,
            attention.value_size};
  case AMP_CUDNN_OUTPUT:
  case AMP_CUDNN_OUTPUT_GRAD:
    return {attention.batch, attention.heads, attention.queries,
            attention.value_size};
  case AMP_CUDNN_LOG_SUM_EXP:
    return {attention.batch, attention.heads, attention.queries, 1};
  default:
    return {attention.batch, attention.heads, attention.queries,
            attention.head_size};
  }
}

template <typename Attributes>
void AttentionBuilder::setOptions(Attributes &attributes) {
  attributes.set_attn_scale(static_cast<float>(attention.scale));
  if (attention.left_bound != AMP_CUDNN_NO_BOUND)
    attributes.set_diagonal_band_left_bound(
        static_cast<int>(attention.left_bound));
  if (attention.right_bound != AMP_CUDNN_NO_BOUND)
    attributes.set_diagonal_band_right_bound(
        static_cast<int>(attention.right_bound));
  if (attention.bias_type != AMP_CUDNN_NO_BIAS) {
    const int64_t plane = attention.queries * attention.keys;
    attributes.set_bias(
        builder.input(AMP_CUDNN_BIAS,
                      {attention.bias_batch, attention.bias_heads,
                       attention.queries, attention.keys},
                      {attention.bias_heads * plane, plane, attention.keys, 1},
                      attention.bias_type));
  }
  if (attention.has_lengths)
    attributes.set_padding_mask(true)
        .set_seq_len_q(
            scalar(AMP_CUDNN_QUERY_LENGTHS, attention.batch, AMP_CUDNN_I32))
        .set_seq_len_kv(
            scalar(AMP_CUDNN_KEY_LENGTHS, attention.batch, AMP_CUDNN_I32));
  if (attention.dropout > 0)
    attributes.set_dropout(static_cast<float>(attention.dropout),
                           scalar(AMP_CUDNN_DROPOUT_SEED, 1, AMP_CUDNN_I64),
                           scalar(AMP_CUDNN_DROPOUT_OFFSET, 1, AMP_CUDNN_I64));
}

void AttentionBuilder::buildForward() {
  fe::graph::SDPA_attributes attributes;
  attributes.set_name("attention").set_generate_stats(true);
  Tensor query = input(AMP_CUDNN_QUERY), key = input(AMP_CUDNN_KEY),
         value = input(AMP_CUDNN_VALUE);
  setOptions(attributes);
  auto [result, stats] = builder.get().sdpa(query, key, value, attributes);
  output(result, AMP_CUDNN_OUTPUT);
  output(stats, AMP_CUDNN_LOG_SUM_EXP);
}

void AttentionBuilder::buildBackward() {
  fe::graph::SDPA_backward_attributes attributes;
  attributes.set_name("attention_grad")
      .set_deterministic_algorithm(attention.deterministic != 0);
  if (attention.has_offsets)
    attributes.set_max_total_seq_len_q(attention.positions)
        .set_max_total_seq_len_kv(attention.positions);
  Tensor query = input(AMP_CUDNN_QUERY), key = input(AMP_CUDNN_KEY),
         value = input(AMP_CUDNN_VALUE), result = input(AMP_CUDNN_OUTPUT),
         grad = input(AMP_CUDNN_OUTPUT_GRAD),
         stats = input(AMP_CUDNN_LOG_SUM_EXP);
  setOptions(attributes);
  auto [queryGrad, keyGrad, valueGrad] = builder.get().sdpa_backward(
      query, key, value, result, grad, stats, attributes);
  output(queryGrad, AMP_CUDNN_QUERY_GRAD);
  output(keyGrad, AMP_CUDNN_KEY_GRAD);
  output(valueGrad, AMP_CUDNN_VALUE_GRAD);
}

/// Throws if the description has no sense; cuDNN judges the rest.
static void verify(const amp_cudnn_attention *attention) {
  auto require = [](bool condition, const char *message) {
    if (!condition)
      throw Error{AMP_CUDNN_INVALID, message};
  };
  require(attention, "there is no description of an attention");
  const amp_cudnn_attention &a = *attention;
  require(a.batch > 0 && a.heads > 0 && a.key_heads > 0 && a.value_heads > 0 &&
              a.queries > 0 && a.keys > 0 && a.head_size > 0 &&
              a.value_size > 0,
          "the sizes of an attention must be positive");
  require(
      a.heads % a.key_heads == 0 && a.heads % a.value_heads == 0,
      "the heads of queries must be a multiple of those of keys and values");
  require(a.type == AMP_CUDNN_F16 || a.type == AMP_CUDNN_BF16,
          "an attention takes f16 or bf16");
  require(a.dropout >= 0 && a.dropout < 1,
          "the probability of dropout must be at least 0 and less than 1");
  require(a.bias_type == AMP_CUDNN_NO_BIAS ||
              ((a.bias_batch == 1 || a.bias_batch == a.batch) &&
               (a.bias_heads == 1 || a.bias_heads == a.heads)),
          "a bias must have one sample or all, and one head or all");
  require(!a.has_offsets || (a.has_lengths && a.positions > 0),
          "offsets of samples need their lengths and the positions of all");
}

static BuildGraph getBuild(const amp_cudnn_attention *attention) {
  return [attention](GraphBuilder &builder) {
    verify(attention);
    AttentionBuilder(*attention, builder).build();
  };
}

int32_t amp_cudnn_create_attention(const amp_cudnn_attention *attention,
                                   amp_cudnn_plan **plan) {
  return createPlan(getBuild(attention), plan);
}

int32_t amp_cudnn_check_attention(const amp_cudnn_attention *attention,
                                  int32_t capability) {
  return checkGraph(getBuild(attention), capability);
}
