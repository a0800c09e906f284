//===- OptimizerStorage.cu - Updates of values in 16 bits -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks updates of values that are stored in 16 bits. They give the bits of
// the f32 update after rounding. An update of a split parameter gives the bits
// of the f32 update.
//
// RUN: %cuda_host_cxx %s %cuda_host_lib -o %t && %t
//
//===----------------------------------------------------------------------===//

#include "amp/CudaHost/Testing.h"
#include "amp/Runtime/CUDA/Buffers.h"
#include "amp/Runtime/CUDA/Optimizer.h"

using namespace amp::cuda;
using namespace amp::cuda::testing;

using Values = std::vector<double>;
using KernelResults = std::vector<Values>;

/// The widened values of the parameter, the first state and the second state.
struct Stored {
  Values values[3];
};

static Type getType(const OptimizerStorage &storage, int which) {
  return which == 0   ? storage.parameter
         : which == 1 ? storage.first
                      : storage.second;
}

/// A buffer of elements of type `type`, or of the halves of f32 elements.
class Memory {
public:
  Memory(const Values &values, Type type, bool isSplit)
      : type(type), isSplit(isSplit), count(int64_t(values.size())),
        half(type == Type::F16 ? values : Values()),
        brain(type == Type::BF16 ? values : Values()),
        single(type == Type::F32 && !isSplit ? values : Values()),
        halves(size_t(lowerHalfOffset(count) + 2 * count)) {
    std::vector<float> whole(values.begin(), values.end());
    std::vector<unsigned char> parts(halves.size());
    splitHalves(whole.data(), count, parts.data());
    cudaMemcpy(halves.get(), parts.data(), parts.size(),
               cudaMemcpyHostToDevice);
  }
  void *get() {
    if (isSplit)
      return halves.get();
    return type == Type::F16    ? static_cast<void *>(half.get())
           : type == Type::BF16 ? static_cast<void *>(brain.get())
                                : single.get();
  }
  Values read() {
    if (!isSplit)
      return type == Type::F16    ? half.read()
             : type == Type::BF16 ? brain.read()
                                  : single.read();
    cudaDeviceSynchronize();
    std::vector<unsigned char> parts(halves.size());
    cudaMemcpy(parts.data(), halves.get(), parts.size(),
               cudaMemcpyDeviceToHost);
    std::vector<float> whole(static_cast<size_t>(count));
    joinHalves(parts.data(), count, whole.data());
    return Values(whole.begin(), whole.end());
  }

private:
  Type type;
  bool isSplit;
  int64_t count;
  Buffer<__half> half;
  Buffer<__nv_bfloat16> brain;
  Buffer<float> single;
  Buffer<unsigned char> halves;
};

/// Updates `from` once with the types and keys of `storage`. `errors` are the
/// rounding errors of the parameter, or null.
static Stored update(const Stored &from, const Values &gradient,
                     const OptimizerStorage &storage, bool isAdam,
                     const int64_t *rng, bool guard,
                     Values *errors = nullptr) {
  Memory parameter(from.values[0], storage.parameter, storage.isSplit),
      first(from.values[1], storage.first, false),
      second(from.values[2], storage.second, false);
  Memory lost(errors ? *errors : Values(), storage.parameter, false);
  Buffer<__half> g(gradient);
  OptimizerTensor tensor;
  tensor.copy = errors ? lost.get() : nullptr;
  tensor.copyType = storage.parameter;
  tensor.parameter = parameter.get();
  tensor.first = first.get();
  tensor.second = isAdam ? second.get() : nullptr;
  tensor.gradient = g.get();
  tensor.gradientType = Type::F16;
  tensor.count = int64_t(gradient.size());
  tensor.weightDecay = 0.01f;
  tensor.storage = storage;
  OptimizerTable table;
  Buffer<unsigned char> memory(size_t(optimizerTableBytes(1)));
  CHECK_OK(writeOptimizerTable(&tensor, 1, memory.get(), &table));
  CHECK(table.isPlain == storage.isPlain());
  Buffer<float> rate(Values{0.05}), step(Values{3});
  Buffer<uint8_t> flag(Values{guard ? 1.0 : 0.0});
  AdamConfig config;
  config.decoupled = true;
  SgdConfig momentum;
  momentum.momentum = 0.9f;
  CHECK_OK(isAdam ? adam(nullptr, table, config, rate, step, nullptr, flag, rng)
                  : sgd(nullptr, table, momentum, rate, nullptr, flag, rng));
  if (errors)
    *errors = lost.read();
  return {{parameter.read(), first.read(), second.read()}};
}

/// Rounds values to `type`, stochastically if `key` is not negative.
static Values roundStored(const Values &values, Type type, int32_t key,
                          const int64_t *rng) {
  Buffer<float> wide(values);
  Buffer<__nv_bfloat16> low(values.size());
  if (key >= 0) {
    CHECK_OK(stochasticRound(nullptr, low, wide, rng, uint32_t(key),
                             int64_t(values.size())));
    return low.read();
  }
  Values rounded(values);
  for (double &value : rounded)
    value = type == Type::F16    ? widen(roundTo<__half>(float(value)))
            : type == Type::BF16 ? widen(roundTo<__nv_bfloat16>(float(value)))
                                 : value;
  return rounded;
}

static void testStorage(const OptimizerStorage &storage, bool isAdam,
                        size_t count) {
  inAllOrders("storage", [&] {
    Buffer<int64_t> rng(Values{1234567, 41});
    Stored start;
    const Values gradient = randomValues<__half>(count, 5);
    for (int which = 0; which < 3; ++which) {
      start.values[which] = roundStored(
          randomValues<float>(count, 10 + unsigned(which), which ? 0.1 : 1.0),
          getType(storage, which), -1, nullptr);
      for (double &value : start.values[which])
        value = which == 2 ? std::fabs(value) : value;
    }
    const Stored plain = update(start, gradient, {}, isAdam, nullptr, true),
                 stored = update(start, gradient, storage, isAdam, rng, true),
                 kept = update(start, gradient, storage, isAdam, rng, false);
    for (int which = 0; which < 2 + isAdam; ++which) {
      CHECK_NEAR(stored.values[which],
                 roundStored(plain.values[which], getType(storage, which),
                             storage.keys[which], rng),
                 0.0);
      CHECK_NEAR(kept.values[which], start.values[which], 0.0);
      // With few elements, all may round to their old values.
      if (count > 3)
        CHECK(stored.values[which] != start.values[which]);
    }
    return KernelResults{stored.values[0], stored.values[1]};
  });
}

/// The parameter and its rounding error come from the f32 update of their
/// sum.
static void testCompensation(Type type, bool isAdam, size_t count) {
  const OptimizerStorage storage = {
      type, Type::F32, Type::F32, false, {-1, -1, -1}};
  inAllOrders("compensation", [&] {
    Stored start, sum;
    const Values gradient = randomValues<__half>(count, 5);
    for (int which = 0; which < 3; ++which) {
      start.values[which] = randomValues<float>(count, 20 + unsigned(which), 0.5);
      for (double &value : start.values[which])
        value = which == 2 ? std::fabs(value) : value;
    }
    start.values[0] = roundStored(start.values[0], type, -1, nullptr);
    const Values before = roundStored(
        randomValues<float>(count, 30, 1.0 / 1024), type, -1, nullptr);
    sum = start;
    for (size_t i = 0; i < count; ++i)
      sum.values[0][i] = float(start.values[0][i]) + float(before[i]);
    Values errors = before, kept = before;
    const Stored wide = update(sum, gradient, {}, isAdam, nullptr, true),
                 stored = update(start, gradient, storage, isAdam, nullptr,
                                 true, &errors),
                 skipped = update(start, gradient, storage, isAdam, nullptr,
                                  false, &kept);
    const Values rounded = roundStored(wide.values[0], type, -1, nullptr);
    Values lost(count);
    for (size_t i = 0; i < count; ++i)
      lost[i] = float(wide.values[0][i]) - float(rounded[i]);
    CHECK_NEAR(stored.values[0], rounded, 0.0);
    CHECK_NEAR(errors, roundStored(lost, type, -1, nullptr), 0.0);
    CHECK(errors != before);
    CHECK_NEAR(stored.values[1], wide.values[1], 0.0);
    CHECK_NEAR(skipped.values[0], start.values[0], 0.0);
    CHECK_NEAR(kept, before, 0.0);
    return KernelResults{stored.values[0], errors};
  });
}

/// A parameter that becomes infinite has no rounding error.
static void testOverflow() {
  Stored start;
  start.values[0] = {65504, 1};
  start.values[1] = start.values[2] = {0, 0};
  OptimizerStorage storage;
  storage.parameter = Type::F16;
  Values errors = {0, 0};
  // The rate is 0.05, so that the first element grows by 3,200.
  const Stored stored = update(start, {-64000, 0}, storage, /*isAdam=*/false,
                               nullptr, true, &errors);
  CHECK(std::isinf(stored.values[0][0]));
  CHECK(errors[0] == 0);
}

int main() {
  const Type f32 = Type::F32, bf16 = Type::BF16;
  const OptimizerStorage storages[] = {
      {f32, f32, f32, true, {-1, -1, -1}},
      {f32, bf16, bf16, true, {-1, 2, 3}},
      {bf16, f32, f32, false, {-1, -1, -1}},
      {bf16, f32, f32, false, {7, -1, -1}},
      {bf16, bf16, bf16, false, {0, 1, 2}},
      {Type::F16, bf16, f32, false, {-1, -1, -1}},
      {f32, bf16, bf16, false, {-1, -1, 4}},
  };
  // Fewer elements than a pack, an odd number, whole packs, and several chunks.
  for (const OptimizerStorage &storage : storages)
    for (bool isAdam : {false, true})
      for (size_t count : {size_t(3), size_t(37), size_t(64),
                           size_t(kOptimizerChunk) * 2 + 11})
        testStorage(storage, isAdam, count);

  for (Type type : {bf16, Type::F16})
    for (bool isAdam : {false, true})
      for (size_t count : {size_t(3), size_t(37), size_t(64),
                           size_t(kOptimizerChunk) * 2 + 11})
        testCompensation(type, isAdam, count);
  testOverflow();

  // Both halves fit the aligned size of the f32 elements.
  for (int64_t count = 1; count < 1000; ++count)
    CHECK(lowerHalfOffset(count) + 2 * count <=
          alignTo(4 * count, kBufferAlignment));
  Buffer<float> w(Values{1, 2});
  OptimizerTensor tensor;
  tensor.parameter = w.get();
  tensor.gradient = w.get();
  tensor.count = 2;
  tensor.storage.isSplit = true;
  tensor.storage.parameter = bf16;
  OptimizerTable table;
  Buffer<unsigned char> memory(size_t(optimizerTableBytes(1)));
  CHECK_ERROR(writeOptimizerTable(&tensor, 1, memory.get(), &table),
              "expected an f32 parameter without a copy");
  tensor.storage = {bf16, f32, f32, false, {-1, -1, -1}};
  tensor.copy = w.get();
  tensor.copyType = Type::F16;
  CHECK_ERROR(writeOptimizerTable(&tensor, 1, memory.get(), &table),
              "expected the type of the parameter");
  tensor.copyType = bf16;
  tensor.storage.keys[0] = 1;
  CHECK_ERROR(writeOptimizerTable(&tensor, 1, memory.get(), &table),
              "expected the type of the parameter");
  return finish();
}
