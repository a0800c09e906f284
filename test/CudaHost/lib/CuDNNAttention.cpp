//===- CuDNNAttention.cpp - CUDA on the CPU: attention ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention in f64, one rounding at the end. Its refusals follow the
// support surface of cuDNN 9.19 and of its frontend 1.32.
//
//===----------------------------------------------------------------------===//

#include "CuDNN.h"
#include "amp/Runtime/CuDNN/Attention.h"

#include <algorithm>
#include <cmath>

using namespace amp::cuda::host;

namespace {
using Attention = amp_cudnn_attention;

/// One operand of an attention: [batch, heads, positions, size].
struct Operand {
  unsigned char *data;
  int32_t type;
  amp_cudnn_head_strides strides;
  int64_t heads, positions, size;
  /// The first element of each sample of a packed tensor, or null.
  const int64_t *offsets = nullptr;

  int64_t width() const { return getPlanTypeBytes(type); }
  int64_t bytes(int64_t batch) const {
    return ((batch - 1) * strides.sample + (heads - 1) * strides.head +
            (positions - 1) * strides.position + size) *
           width();
  }
  unsigned char *at(int64_t b, int64_t h, int64_t s, int64_t d) const {
    return data + width() * ((offsets ? offsets[b] : b * strides.sample) +
                             h * strides.head + s * strides.position + d);
  }
  double get(int64_t b, int64_t h, int64_t s, int64_t d) const {
    return loadPlanElement(at(b, h, s, d), type);
  }
  void set(int64_t b, int64_t h, int64_t s, int64_t d, double value) const {
    storePlanElement(at(b, h, s, d), type, value);
  }
};
} // namespace

/// Operand `index` of a plan with these pointers.
static Operand getOperand(const Attention &a, int index,
                          void *const *pointers) {
  Operand result = {static_cast<unsigned char *>(pointers[index]),
                    a.type,
                    a.strides[index],
                    a.heads,
                    a.queries,
                    a.head_size};
  if (index == AMP_CUDNN_KEY || index == AMP_CUDNN_KEY_GRAD ||
      index == AMP_CUDNN_VALUE || index == AMP_CUDNN_VALUE_GRAD)
    result.positions = a.keys;
  if (index == AMP_CUDNN_KEY || index == AMP_CUDNN_KEY_GRAD)
    result.heads = a.key_heads;
  if (index == AMP_CUDNN_VALUE || index == AMP_CUDNN_VALUE_GRAD)
    result.heads = a.value_heads;
  if (index == AMP_CUDNN_VALUE || index == AMP_CUDNN_VALUE_GRAD ||
      index == AMP_CUDNN_OUTPUT || index == AMP_CUDNN_OUTPUT_GRAD)
    result.size = a.value_size;
  if (index == AMP_CUDNN_LOG_SUM_EXP) {
    result.type = AMP_CUDNN_F32;
    result.size = 1;
  }
  if (a.has_offsets)
    result.offsets =
        static_cast<const int64_t *>(pointers[AMP_CUDNN_OFFSETS + index]);
  return result;
}

static std::vector<int> getInputs(const Attention &a) {
  if (!a.backward)
    return {AMP_CUDNN_QUERY, AMP_CUDNN_KEY, AMP_CUDNN_VALUE};
  return {AMP_CUDNN_QUERY,  AMP_CUDNN_KEY,         AMP_CUDNN_VALUE,
          AMP_CUDNN_OUTPUT, AMP_CUDNN_LOG_SUM_EXP, AMP_CUDNN_OUTPUT_GRAD};
}
static std::vector<int> getOutputs(const Attention &a) {
  if (!a.backward)
    return {AMP_CUDNN_OUTPUT, AMP_CUDNN_LOG_SUM_EXP};
  return {AMP_CUDNN_QUERY_GRAD, AMP_CUDNN_KEY_GRAD, AMP_CUDNN_VALUE_GRAD};
}

//===----------------------------------------------------------------------===//
// Support
//===----------------------------------------------------------------------===//

/// Why cuDNN refuses the attention, or an empty text.
static std::string findRefusal(const Attention &a) {
  if (a.head_size % 8 != 0 || a.value_size % 8 != 0)
    return "hidden_dim should be multiple of 8";
  if (a.head_size > 256 || a.value_size > 256)
    return "heads of more than 256 elements";
  if (a.left_bound != AMP_CUDNN_NO_BOUND && a.queries > a.keys)
    return "a sliding window with more queries than keys";
  if (a.left_bound == 0 || a.left_bound < AMP_CUDNN_NO_BOUND ||
      a.right_bound < AMP_CUDNN_NO_BOUND)
    return "a bound that is not positive";
  if (a.has_offsets && a.backward && options().capability < 90)
    return "Packed/ragged LSE is not supported for bprop thd";
  std::vector<int> operands = getInputs(a);
  for (int index : getOutputs(a))
    operands.push_back(index);
  void *none[AMP_CUDNN_ATTENTION_POINTERS] = {};
  for (int index : operands) {
    const Operand operand = getOperand(a, index, none);
    for (int64_t stride : {operand.strides.sample, operand.strides.head,
                           operand.strides.position})
      if (index != AMP_CUDNN_LOG_SUM_EXP &&
          stride * operand.width() % AMP_CUDNN_ALIGNMENT != 0)
        return "a stride that is not a multiple of the tensor's alignment";
  }
  return "";
}

static int64_t getWorkspace(const Attention &a) {
  if (!a.backward)
    return 256;
  auto pad = [](int64_t count) { return (count + 63) / 64 * 64; };
  const int64_t heads = a.batch * a.heads;
  const int64_t scores = heads * pad(a.queries) * pad(a.keys) * 2,
                sums = heads * a.queries * a.head_size * 4;
  if (a.has_offsets) {
    int64_t row = a.heads;
    for (int index : {AMP_CUDNN_KEY_GRAD, AMP_CUDNN_VALUE_GRAD})
      if (a.heads != a.key_heads)
        row += a.strides[index].position * (a.heads / a.key_heads);
    if (!a.deterministic)
      row += a.strides[AMP_CUDNN_QUERY_GRAD].position;
    return a.positions * row * 4 + (a.deterministic ? scores : 0);
  }
  int64_t bytes = heads * a.queries * 4;
  if (a.heads != a.key_heads)
    bytes += heads * a.keys * (a.head_size + a.value_size) * 2;
  return bytes + (a.deterministic ? scores : sums);
}

//===----------------------------------------------------------------------===//
// AttentionReference
//===----------------------------------------------------------------------===//

namespace {
/// The rows of one attention, in f64.
class AttentionReference {
public:
  AttentionReference(const Attention &a, void *const *pointers)
      : a(a), query(getOperand(a, AMP_CUDNN_QUERY, pointers)),
        key(getOperand(a, AMP_CUDNN_KEY, pointers)),
        value(getOperand(a, AMP_CUDNN_VALUE, pointers)),
        output(getOperand(a, AMP_CUDNN_OUTPUT, pointers)),
        sums(getOperand(a, AMP_CUDNN_LOG_SUM_EXP, pointers)),
        grad(getOperand(a, AMP_CUDNN_OUTPUT_GRAD, pointers)),
        queryGrad(getOperand(a, AMP_CUDNN_QUERY_GRAD, pointers)),
        keyGrad(getOperand(a, AMP_CUDNN_KEY_GRAD, pointers)),
        valueGrad(getOperand(a, AMP_CUDNN_VALUE_GRAD, pointers)),
        bias{static_cast<unsigned char *>(pointers[AMP_CUDNN_BIAS]),
             a.bias_type,
             {a.bias_batch == 1 ? 0 : a.bias_heads * a.queries * a.keys,
              a.bias_heads == 1 ? 0 : a.queries * a.keys, a.keys},
             a.bias_heads,
             a.queries,
             a.keys},
        queryLengths(
            static_cast<const int32_t *>(pointers[AMP_CUDNN_QUERY_LENGTHS])),
        keyLengths(
            static_cast<const int32_t *>(pointers[AMP_CUDNN_KEY_LENGTHS])),
        seed(static_cast<const uint64_t *>(pointers[AMP_CUDNN_DROPOUT_SEED])),
        offset(
            static_cast<const uint64_t *>(pointers[AMP_CUDNN_DROPOUT_OFFSET])) {
  }

  void run() const {
    for (int64_t b = 0; b < a.batch; ++b) {
      if (a.has_offsets && !isInside(b))
        return violate("sample " + std::to_string(b) +
                       " of an attention leaves its tensor");
      if (!a.backward)
        for (int64_t h = 0; h < a.heads; ++h)
          forward(b, h);
      // Heads of queries that share a head of keys add to one gradient.
      for (int64_t group = 0; a.backward && group < a.key_heads; ++group)
        backward(b, group);
    }
  }

private:
  /// Whether a sample with offsets ends where its offsets say, with its lengths
  /// within the sizes of the plan.
  bool isInside(int64_t b) const {
    if (queryLengths[b] < 0 || queryLengths[b] > a.queries ||
        keyLengths[b] < 0 || keyLengths[b] > a.keys)
      return false;
    const std::pair<const Operand *, int64_t> tensors[] = {
        {&query, queryLengths[b]},     {&key, keyLengths[b]},
        {&value, keyLengths[b]},       {&output, queryLengths[b]},
        {&sums, queryLengths[b]},      {&grad, queryLengths[b]},
        {&queryGrad, queryLengths[b]}, {&keyGrad, keyLengths[b]},
        {&valueGrad, keyLengths[b]}};
    for (auto [tensor, length] : tensors)
      if (tensor->offsets &&
          (tensor->offsets[b] < 0 ||
           tensor->offsets[b] + length * tensor->strides.position !=
               tensor->offsets[b + 1] ||
           tensor->offsets[b + 1] > a.positions * tensor->strides.position))
        return false;
    return true;
  }
  /// The queries and keys of a sample that are in memory.
  int64_t countQueries(int64_t b) const {
    return a.has_offsets ? queryLengths[b] : a.queries;
  }
  int64_t countKeys(int64_t b) const {
    return a.has_offsets ? keyLengths[b] : a.keys;
  }
  bool sees(int64_t b, int64_t i, int64_t j) const {
    return (a.left_bound == AMP_CUDNN_NO_BOUND || i - a.left_bound < j) &&
           (a.right_bound == AMP_CUDNN_NO_BOUND || j <= i + a.right_bound) &&
           (!a.has_lengths || (i < queryLengths[b] && j < keyLengths[b]));
  }
  /// The factor of a weight: 0 if it is dropped. The numbers of cuDNN are
  /// others.
  double factor(int64_t b, int64_t h, int64_t i, int64_t j) const {
    if (a.dropout == 0)
      return 1;
    const uint64_t index = ((b * a.heads + h) * a.queries + i) * a.keys + j;
    // The finalizer of MurmurHash3, with a multiple of the golden ratio.
    uint64_t x = *seed ^ (index + *offset + 1) * 0x9e3779b97f4a7c15u;
    for (uint64_t multiplier : {0xff51afd7ed558ccdu, 0xc4ceb9fe1a85ec53u}) {
      x = (x ^ x >> 33) * multiplier;
    }
    x ^= x >> 33;
    return double(x >> 11) * 0x1p-53 < a.dropout ? 0 : 1 / (1 - a.dropout);
  }
  double score(int64_t b, int64_t h, int64_t i, int64_t j) const {
    if (!sees(b, i, j))
      return -INFINITY;
    double sum = 0;
    for (int64_t d = 0; d < a.head_size; ++d)
      sum +=
          query.get(b, h, i, d) * key.get(b, h * a.key_heads / a.heads, j, d);
    return sum * a.scale +
           (a.bias_type == AMP_CUDNN_NO_BIAS ? 0 : bias.get(b, h, i, j));
  }
  void forward(int64_t b, int64_t h) const {
    std::vector<double> weights(a.keys);
    const int64_t group = h * a.value_heads / a.heads;
    for (int64_t i = 0; i < countQueries(b); ++i) {
      double most = -INFINITY, sum = 0;
      weights.resize(countKeys(b));
      for (int64_t j = 0; j < countKeys(b); ++j)
        most = std::max(most, weights[j] = score(b, h, i, j));
      for (double &weight : weights)
        sum += weight = most == -INFINITY ? 0 : std::exp(weight - most);
      for (int64_t d = 0; d < a.value_size; ++d) {
        double result = 0;
        for (int64_t j = 0; j < countKeys(b); ++j)
          result += weights[j] *
                    (weights[j] == 0
                         ? 0
                         : factor(b, h, i, j) * value.get(b, group, j, d));
        output.set(b, h, i, d, sum == 0 ? 0 : result / sum);
      }
      sums.set(b, h, i, 0, most + std::log(sum));
    }
  }
  void backward(int64_t b, int64_t group) const {
    const int64_t each = a.heads / a.key_heads;
    std::vector<double> keySums(a.keys * a.head_size),
        valueSums(a.keys * a.value_size);
    for (int64_t h = group * each; h < (group + 1) * each; ++h)
      for (int64_t i = 0; i < countQueries(b); ++i) {
        double dot = 0;
        for (int64_t d = 0; d < a.value_size; ++d)
          dot += grad.get(b, h, i, d) * output.get(b, h, i, d);
        std::vector<double> queryRow(a.head_size);
        for (int64_t j = 0; j < countKeys(b); ++j) {
          const double s = score(b, h, i, j);
          if (s == -INFINITY)
            continue;
          const double weight = std::exp(s - sums.get(b, h, i, 0)),
                       kept = factor(b, h, i, j);
          double weightGrad = 0;
          for (int64_t d = 0; d < a.value_size; ++d) {
            weightGrad +=
                kept * grad.get(b, h, i, d) * value.get(b, group, j, d);
            valueSums[j * a.value_size + d] +=
                kept * weight * grad.get(b, h, i, d);
          }
          const double scoreGrad = weight * (weightGrad - dot) * a.scale;
          for (int64_t d = 0; d < a.head_size; ++d) {
            queryRow[d] += scoreGrad * key.get(b, group, j, d);
            keySums[j * a.head_size + d] += scoreGrad * query.get(b, h, i, d);
          }
        }
        for (int64_t d = 0; d < a.head_size; ++d)
          queryGrad.set(b, h, i, d, queryRow[d]);
      }
    for (int64_t j = 0; j < countKeys(b); ++j) {
      for (int64_t d = 0; d < a.head_size; ++d)
        keyGrad.set(b, group, j, d, keySums[j * a.head_size + d]);
      for (int64_t d = 0; d < a.value_size; ++d)
        valueGrad.set(b, group, j, d, valueSums[j * a.value_size + d]);
    }
  }

  const Attention a;
  Operand query, key, value, output, sums, grad, queryGrad, keyGrad, valueGrad,
      bias;
  const int32_t *queryLengths, *keyLengths;
  const uint64_t *seed, *offset;
};
} // namespace

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

namespace {
class AttentionPlan : public amp_cudnn_plan {
public:
  explicit AttentionPlan(const Attention &a)
      : amp_cudnn_plan("attention"), a(a) {}

  std::vector<PlanMemory> getMemory(void *const *pointers) const override {
    std::vector<PlanMemory> memory;
    for (bool isOutput : {false, true})
      for (int index : isOutput ? getOutputs(a) : getInputs(a)) {
        const Operand operand = getOperand(a, index, pointers);
        const int64_t positions =
            a.has_offsets ? a.positions : a.batch * operand.positions;
        memory.push_back(
            {index, operand.data,
             a.has_offsets ? getPackedBytes(operand) : operand.bytes(a.batch),
             positions * operand.heads * operand.size * operand.width(),
             isOutput});
        if (a.has_offsets)
          memory.push_back({AMP_CUDNN_OFFSETS + index,
                            pointers[AMP_CUDNN_OFFSETS + index],
                            (a.batch + 1) * 8, (a.batch + 1) * 8, false});
      }
    auto add = [&](int index, int64_t bytes) {
      memory.push_back({index, pointers[index], bytes, bytes, false, false});
    };
    if (a.bias_type != AMP_CUDNN_NO_BIAS)
      add(AMP_CUDNN_BIAS, a.bias_batch * a.bias_heads * a.queries * a.keys *
                              getPlanTypeBytes(a.bias_type));
    for (int index : {AMP_CUDNN_QUERY_LENGTHS, AMP_CUDNN_KEY_LENGTHS})
      if (a.has_offsets)
        memory.push_back(
            {index, pointers[index], a.batch * 4, a.batch * 4, false});
      else if (a.has_lengths)
        add(index, a.batch * 4);
    for (int index : {AMP_CUDNN_DROPOUT_SEED, AMP_CUDNN_DROPOUT_OFFSET})
      if (a.dropout > 0)
        add(index, 8);
    return memory;
  }
  std::function<void()> getWork(void *const *pointers) const override {
    return [reference = AttentionReference(a, pointers)] { reference.run(); };
  }

private:
  int64_t getPackedBytes(Operand operand) const {
    operand.positions = a.positions;
    return operand.bytes(1);
  }

  Attention a;
};
} // namespace

int32_t amp_cudnn_create_attention(const Attention *attention,
                                   amp_cudnn_plan **plan) {
  if (!attention || !plan)
    return failPlan(AMP_CUDNN_INVALID,
                    "there is no description of an attention");
  const Attention &a = *attention;
  if (a.batch <= 0 || a.heads <= 0 || a.key_heads <= 0 || a.value_heads <= 0 ||
      a.queries <= 0 || a.keys <= 0 || a.head_size <= 0 || a.value_size <= 0 ||
      a.heads % a.key_heads != 0 || a.heads % a.value_heads != 0 ||
      (a.type != AMP_CUDNN_F16 && a.type != AMP_CUDNN_BF16) ||
      !(a.dropout >= 0 && a.dropout < 1) ||
      (a.has_offsets && (!a.has_lengths || a.positions <= 0)))
    return failPlan(AMP_CUDNN_INVALID, "the description has no sense");
  return finishPlan(AttentionPlan(a), findRefusal(a), getWorkspace(a), plan);
}

int32_t amp_cudnn_check_attention(const Attention *attention, int32_t) {
  amp_cudnn_plan *plan = nullptr;
  const int32_t code = amp_cudnn_create_attention(attention, &plan);
  amp_cudnn_destroy(plan);
  return code;
}
