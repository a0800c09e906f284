//===- Attention.cu - Plans of attention ------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The implementation of plans on the CPU: results against a sum over scores
// written here, gradients against its central differences, and refusals.
//
// RUN: %cuda_host_cxx %s %cuda_host_lib -o %t && %t
//
//===----------------------------------------------------------------------===//

#include "amp/CudaHost/Testing.h"
#include "amp/Runtime/CUDA/CuDNN.h"

#include <deque>

using namespace amp::cuda;
using namespace amp::cuda::testing;

using Values = std::vector<double>;

namespace {
/// A case: the description and the values that its pointers have.
struct Case {
  amp_cudnn_attention a = {};
  Values query, key, value, bias;
  std::vector<int> queryLengths, keyLengths;
  /// The factors of dropout, [batch, heads, queries, keys], or empty.
  Values factors;

  /// [batch, heads, queries, size] of the output, or of the sums.
  Values compute(bool sums) const {
    Values result;
    for (int64_t b = 0; b < a.batch; ++b)
      for (int64_t h = 0; h < a.heads; ++h)
        for (int64_t i = 0; i < a.queries; ++i)
          computeRow(b, h, i, sums, result);
    return result;
  }

private:
  double getFactor(int64_t b, int64_t h, int64_t i, int64_t j) const {
    return factors.empty()
               ? 1
               : factors[((b * a.heads + h) * a.queries + i) * a.keys + j];
  }
  void computeRow(int64_t b, int64_t h, int64_t i, bool sums,
                  Values &result) const {
    const int64_t group = h / (a.heads / a.key_heads);
    Values weights(a.keys);
    double sum = 0;
    for (int64_t j = 0; j < a.keys; ++j) {
      double score = 0;
      for (int64_t d = 0; d < a.head_size; ++d)
        score +=
            query[((b * a.heads + h) * a.queries + i) * a.head_size + d] *
            key[((b * a.key_heads + group) * a.keys + j) * a.head_size + d];
      score *= a.scale;
      if (!bias.empty())
        score += bias[(h * a.queries + i) * a.keys + j];
      bool isSeen =
          (a.left_bound < 0 || j > i - a.left_bound) &&
          (a.right_bound < 0 || j <= i + a.right_bound) &&
          (!a.has_lengths || (i < queryLengths[b] && j < keyLengths[b]));
      sum += weights[j] = isSeen ? std::exp(score) : 0;
    }
    if (sums)
      return result.push_back(std::log(sum));
    for (int64_t d = 0; d < a.value_size; ++d) {
      double y = 0;
      for (int64_t j = 0; j < a.keys; ++j)
        y += weights[j] * getFactor(b, h, i, j) *
             value[((b * a.key_heads + group) * a.keys + j) * a.value_size + d];
      result.push_back(sum == 0 ? 0 : y / sum);
    }
  }
};

/// Contiguous heads in all operands.
amp_cudnn_attention describe(int64_t heads, int64_t keyHeads, int64_t queries,
                             int64_t keys) {
  amp_cudnn_attention a = {};
  a.batch = 2;
  a.heads = heads;
  a.key_heads = a.value_heads = keyHeads;
  a.queries = queries;
  a.keys = keys;
  a.head_size = 8;
  a.value_size = 16;
  a.type = AMP_CUDNN_F16;
  a.scale = 0.3;
  a.left_bound = a.right_bound = AMP_CUDNN_NO_BOUND;
  a.bias_type = AMP_CUDNN_NO_BIAS;
  auto set = [&](int index, int64_t heads, int64_t positions, int64_t size) {
    a.strides[index] = {heads * positions * size, positions * size, size};
  };
  for (int index : {AMP_CUDNN_QUERY, AMP_CUDNN_QUERY_GRAD})
    set(index, heads, queries, a.head_size);
  for (int index : {AMP_CUDNN_KEY, AMP_CUDNN_KEY_GRAD})
    set(index, keyHeads, keys, a.head_size);
  for (int index : {AMP_CUDNN_VALUE, AMP_CUDNN_VALUE_GRAD})
    set(index, keyHeads, keys, a.value_size);
  for (int index : {AMP_CUDNN_OUTPUT, AMP_CUDNN_OUTPUT_GRAD})
    set(index, heads, queries, a.value_size);
  set(AMP_CUDNN_LOG_SUM_EXP, heads, queries, 1);
  return a;
}

amp_cudnn_plan *createPlan(const amp_cudnn_attention &a) {
  amp_cudnn_plan *plan = nullptr;
  CHECK(amp_cudnn_create_attention(&a, &plan) == AMP_CUDNN_OK);
  return plan;
}

void runPlan(const amp_cudnn_attention &a, void *const *pointers) {
  amp_cudnn_plan *plan = createPlan(a);
  Buffer<char> workspace(size_t(amp_cudnn_workspace_bytes(plan)));
  CHECK(amp_cudnn_run(plan, pointers, workspace.get(), nullptr) ==
        AMP_CUDNN_OK);
  cudaDeviceSynchronize();
  amp_cudnn_destroy(plan);
}
} // namespace

/// Reads the factors of dropout from the weights, which are the output for
/// values that are unit vectors.
static void readFactors(Case &c, void **pointers) {
  const amp_cudnn_attention &a = c.a;
  Case unit = c;
  for (size_t i = 0; i < unit.value.size(); ++i)
    unit.value[i] =
        int64_t(i) / a.value_size % a.keys == int64_t(i) % a.value_size;
  Buffer<__half> value(unit.value),
      output(a.batch * a.heads * a.queries * a.value_size);
  void *changed[AMP_CUDNN_ATTENTION_POINTERS];
  std::copy(pointers, pointers + AMP_CUDNN_ATTENTION_POINTERS, changed);
  changed[AMP_CUDNN_VALUE] = value;
  changed[AMP_CUDNN_OUTPUT] = output;
  runPlan(a, changed);
  const Values dropped = output.read(), weights = unit.compute(false);
  double kept = 0, count = 0;
  for (size_t row = 0; row < weights.size(); row += a.value_size)
    for (int64_t j = 0; j < a.keys; ++j) {
      const double factor = dropped[row + j] == 0 ? 0 : 1 / (1 - a.dropout);
      c.factors.push_back(factor);
      if (weights[row + j] == 0)
        continue;
      ++count;
      kept += factor != 0;
      CHECK(std::abs(dropped[row + j] - factor * weights[row + j]) <=
            epsilonOf<__half>() * 2);
    }
  const double deviation = std::sqrt(a.dropout * (1 - a.dropout) / count);
  CHECK(std::abs(kept / count - (1 - a.dropout)) < 4 * deviation);
}

/// Both directions of one case.
static void testCase(amp_cudnn_attention a, bool hasBias) {
  Case c;
  c.a = a;
  c.query =
      randomValues<__half>(a.batch * a.heads * a.queries * a.head_size, 1);
  c.key = randomValues<__half>(a.batch * a.key_heads * a.keys * a.head_size, 2);
  c.value =
      randomValues<__half>(a.batch * a.key_heads * a.keys * a.value_size, 3);
  const Values dy =
      randomValues<__half>(a.batch * a.heads * a.queries * a.value_size, 4);
  if (hasBias) {
    c.bias = randomValues<float>(a.heads * a.queries * a.keys, 5);
    a.bias_type = AMP_CUDNN_F32;
    a.bias_batch = 1;
    a.bias_heads = a.heads;
  }
  c.queryLengths = {int(a.queries), 5};
  c.keyLengths = {int(a.keys) - 1, 4};
  Buffer<__half> query(c.query), key(c.key), value(c.value), grad(dy),
      output(dy.size()), queryGrad(c.query.size()), keyGrad(c.key.size()),
      valueGrad(c.value.size());
  Buffer<float> sums(a.batch * a.heads * a.queries),
      bias(hasBias ? c.bias : Values(1));
  Buffer<int> queryLengths(
      Values(c.queryLengths.begin(), c.queryLengths.end())),
      keyLengths(Values(c.keyLengths.begin(), c.keyLengths.end()));
  void *pointers[AMP_CUDNN_ATTENTION_POINTERS] = {
      query,     key,     value,     output, sums,         grad,
      queryGrad, keyGrad, valueGrad, bias,   queryLengths, keyLengths};
  Buffer<int64_t> seeds(Values{1234567, 8, 1234568, 8});
  pointers[AMP_CUDNN_DROPOUT_SEED] = seeds;
  pointers[AMP_CUDNN_DROPOUT_OFFSET] = seeds.get() + 1;
  if (a.dropout > 0) {
    Case other = c;
    pointers[AMP_CUDNN_DROPOUT_SEED] = seeds.get() + 2;
    readFactors(other, pointers);
    pointers[AMP_CUDNN_DROPOUT_SEED] = seeds;
    readFactors(c, pointers);
    CHECK(c.factors != other.factors);
  }
  runPlan(a, pointers);
  const Values result = output.read();
  CHECK_NEAR(result, c.compute(false), epsilonOf<__half>());
  CHECK_NEAR(sums.read(), c.compute(true), 1e-6);

  a.backward = 1;
  a.deterministic = 1;
  runPlan(a, pointers);
  auto differentiate = [&](Values &operand) {
    Values gradient;
    for (double &x : operand) {
      const double at = x, step = 1e-4;
      double sides[2];
      for (int side : {0, 1}) {
        x = at + (side ? step : -step);
        const Values y = c.compute(false);
        sides[side] = 0;
        for (size_t i = 0; i < y.size(); ++i)
          sides[side] += y[i] * dy[i];
      }
      x = at;
      gradient.push_back((sides[1] - sides[0]) / (2 * step));
    }
    return gradient;
  };
  // The plan subtracts the product with the rounded output.
  CHECK_NEAR(queryGrad.read(), differentiate(c.query), 3 * epsilonOf<__half>());
  CHECK_NEAR(keyGrad.read(), differentiate(c.key), 3 * epsilonOf<__half>());
  CHECK_NEAR(valueGrad.read(), differentiate(c.value), 3 * epsilonOf<__half>());
}

/// Three documents of packed tensors, one of them empty, are as three samples.
static void testDocuments() {
  const int64_t lengths[] = {3, 0, 5}, positions = 8, heads = 4, keyHeads = 2;
  amp_cudnn_attention a = describe(heads, keyHeads, 8, 8);
  a.batch = 3;
  a.right_bound = 0;
  a.has_lengths = a.has_offsets = 1;
  a.positions = positions;
  const int64_t width[] = {heads * 8,  keyHeads * 8, keyHeads * 16,
                           heads * 16, heads,        heads * 16,
                           heads * 8,  keyHeads * 8, keyHeads * 16};
  std::deque<Buffer<int64_t>> offsets;
  void *pointers[AMP_CUDNN_ATTENTION_POINTERS] = {};
  for (int i = 0; i <= AMP_CUDNN_VALUE_GRAD; ++i) {
    const bool isKey = i == AMP_CUDNN_KEY || i == AMP_CUDNN_VALUE ||
                       i == AMP_CUDNN_KEY_GRAD || i == AMP_CUDNN_VALUE_GRAD;
    a.strides[i] = {positions * width[i], width[i] / (isKey ? keyHeads : heads),
                    width[i]};
    offsets.emplace_back(Values{0, double(3 * width[i]), double(3 * width[i]),
                                double(8 * width[i])});
  }
  for (int i = 0; i <= AMP_CUDNN_VALUE_GRAD; ++i)
    pointers[AMP_CUDNN_OFFSETS + i] = offsets[i];
  const Values query = randomValues<__half>(positions * width[0], 1),
               key = randomValues<__half>(positions * width[1], 2),
               value = randomValues<__half>(positions * width[2], 3);
  Buffer<__half> q(query), k(key), v(value), y(positions * width[3]);
  Buffer<float> sums(positions * heads);
  Buffer<int> counts(Values(lengths, lengths + 3));
  pointers[AMP_CUDNN_QUERY] = q;
  pointers[AMP_CUDNN_KEY] = k;
  pointers[AMP_CUDNN_VALUE] = v;
  pointers[AMP_CUDNN_OUTPUT] = y;
  pointers[AMP_CUDNN_LOG_SUM_EXP] = sums;
  pointers[AMP_CUDNN_QUERY_LENGTHS] = pointers[AMP_CUDNN_KEY_LENGTHS] = counts;
  runPlan(a, pointers);
  // [heads, positions of the document, size] of a packed tensor.
  auto take = [&](const Values &from, int64_t first, int64_t length,
                  int64_t count, int64_t size) {
    Values result;
    for (int64_t h = 0; h < count; ++h)
      for (int64_t s = first; s < first + length; ++s)
        for (int64_t d = 0; d < size; ++d)
          result.push_back(from[(s * count + h) * size + d]);
    return result;
  };
  int64_t first = 0;
  for (int64_t length : lengths) {
    Case c;
    c.a = a;
    c.a.has_lengths = 0;
    c.a.batch = 1;
    c.a.queries = c.a.keys = length;
    c.query = take(query, first, length, heads, 8);
    c.key = take(key, first, length, keyHeads, 8);
    c.value = take(value, first, length, keyHeads, 16);
    CHECK_NEAR(take(y.read(), first, length, heads, 16), c.compute(false),
               epsilonOf<__half>());
    CHECK_NEAR(take(sums.read(), first, length, heads, 1), c.compute(true),
               1e-6);
    first += length;
  }

  // A document beyond the packed tensors, and one that is longer than its
  // offsets say.
  for (double last : {9.0, 7.0}) {
    Buffer<int64_t> wrong(
        Values{0, 3.0 * width[0], 3.0 * width[0], last * width[0]});
    pointers[AMP_CUDNN_OFFSETS] = wrong;
    runPlan(a, pointers);
    CHECK(host::violations().size() == 1);
    host::clearViolations();
  }
}

static void testRefusals() {
  auto refuses = [](amp_cudnn_attention a, int32_t code) {
    amp_cudnn_plan *plan = nullptr;
    CHECK(amp_cudnn_create_attention(&a, &plan) == code);
    CHECK(!plan && amp_cudnn_last_error()[0]);
  };
  const amp_cudnn_attention fine = describe(2, 2, 8, 8);
  amp_cudnn_attention a = fine;
  a.head_size = 12;
  refuses(a, AMP_CUDNN_UNSUPPORTED);
  a = fine;
  a.value_size = 264;
  refuses(a, AMP_CUDNN_UNSUPPORTED);
  a = fine;
  a.strides[AMP_CUDNN_KEY].position = 12;
  refuses(a, AMP_CUDNN_UNSUPPORTED);
  a = fine;
  a.left_bound = 4;
  a.keys = 4;
  refuses(a, AMP_CUDNN_UNSUPPORTED);
  a = fine;
  a.dropout = 1;
  refuses(a, AMP_CUDNN_INVALID);
  a = fine;
  a.key_heads = 3;
  refuses(a, AMP_CUDNN_INVALID);
  a = fine;
  a.has_offsets = 1;
  a.positions = 16;
  refuses(a, AMP_CUDNN_INVALID);
  a.has_lengths = 1;
  a.positions = 0;
  refuses(a, AMP_CUDNN_INVALID);
  // An A100 has no gradient for samples with offsets.
  a.positions = 16;
  a.backward = 1;
  host::options().capability = 80;
  refuses(a, AMP_CUDNN_UNSUPPORTED);
  host::options().capability = 90;
  a = fine;
  a.type = AMP_CUDNN_F32;
  refuses(a, AMP_CUDNN_INVALID);
}

/// Arguments of a run that the library would not notice.
static void testMisuse() {
  const amp_cudnn_attention a = describe(2, 2, 8, 8);
  Buffer<__half> query(Values(a.batch * 2 * 8 * 8 + 8)),
      value(Values(a.batch * 2 * 8 * 16)), output(a.batch * 2 * 8 * 16);
  Buffer<float> sums(a.batch * 2 * 8);
  amp_cudnn_plan *plan = createPlan(a);
  Buffer<char> workspace(size_t(amp_cudnn_workspace_bytes(plan)));
  void *fine[AMP_CUDNN_ATTENTION_POINTERS] = {query, query, value, output,
                                              sums};
  auto misuses = [&](int index, void *pointer, void *scratch,
                     const char *text) {
    void *pointers[AMP_CUDNN_ATTENTION_POINTERS];
    std::copy(fine, fine + AMP_CUDNN_ATTENTION_POINTERS, pointers);
    pointers[index] = pointer;
    CHECK(amp_cudnn_run(plan, pointers, scratch, nullptr) == AMP_CUDNN_FAILED);
    CHECK(std::string(amp_cudnn_last_error()) == text);
    CHECK(host::violations().size() == 1);
    host::clearViolations();
  };
  misuses(AMP_CUDNN_QUERY, query.get() + 1, workspace,
          "pointer 0 is not aligned");
  misuses(AMP_CUDNN_VALUE, value.get() + 8, workspace,
          "pointer 2 leaves its allocation");
  misuses(AMP_CUDNN_OUTPUT, value, workspace, "an output overlaps an input");
  misuses(AMP_CUDNN_QUERY, query, workspace.get() + 16,
          "the workspace leaves its allocation or is not aligned");
  misuses(AMP_CUDNN_QUERY, query, nullptr,
          "the workspace leaves its allocation or is not aligned");
  // 256 bytes of another operand.
  misuses(AMP_CUDNN_QUERY, query, value, "an input overlaps the workspace");
  misuses(AMP_CUDNN_QUERY, query, output, "an output overlaps the workspace");
  amp_cudnn_destroy(plan);
}

static int32_t createFine(amp_cudnn_plan **plan) {
  const amp_cudnn_attention a = describe(2, 2, 8, 8);
  return amp_cudnn_create_attention(&a, plan);
}

/// A plan that needs more workspace than is planned gets its own.
static void testSpare() {
  const CuDNNPlanInfo info = {"attention", createFine, 4096};
  void *plan = nullptr;
  int64_t bytes = -1;
  CHECK_OK(createCuDNNPlan(info, &plan, &bytes));
  CHECK(bytes == 0);
  destroyCuDNNPlan(plan);
  host::options().extraWorkspace = 8192;
  CHECK_OK(createCuDNNPlan(info, &plan, &bytes));
  CHECK(bytes == 8192 + 256 && static_cast<CuDNNPlan *>(plan)->usesSpare);
  destroyCuDNNPlan(plan);
  host::options().extraWorkspace = 0;
  host::options().devices = 0;
  CHECK_ERROR(createCuDNNPlan(info, &plan, &bytes),
              "'attention': cuDNN: there is no GPU for cuDNN");
  host::options().devices = 1;
}

int main() {
  testCase(describe(2, 2, 7, 9), false);
  amp_cudnn_attention a = describe(4, 2, 8, 8);
  a.right_bound = 0;
  testCase(a, false);
  a.left_bound = 3;
  testCase(a, true);
  a = describe(2, 1, 6, 8);
  a.has_lengths = 1;
  testCase(a, false);
  a = describe(4, 2, 8, 9);
  a.dropout = 0.4;
  testCase(a, false);
  testDocuments();
  testRefusals();
  testMisuse();
  testSpare();
  return finish();
}
