//===- QuantizedOptimizer.cu - Updates that quantise ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An update that quantises must leave the states of the plain update, bit for
// bit. Its copies must be those that `quantize` makes of the new parameters, as
// products read them.
//
// RUN: %cuda_host_cxx %s %cuda_host_lib -o %t && %t
//
//===----------------------------------------------------------------------===//

#include "amp/CudaHost/Testing.h"
#include "amp/Runtime/CUDA/QuantizedOptimizer.h"

#include <cmath>
#include <memory>

using namespace amp::cuda;
using namespace amp::cuda::testing;

using Values = std::vector<double>;
using Bytes = std::vector<unsigned char>;

/// How the parameters of a test are stored and quantised.
struct Storage {
  OptimizerStorage storage;
  /// The type that is quantised.
  Type source;
  /// Whether there is a copy of type `source` or, for a parameter of 16 bits, a
  /// rounding error.
  bool hasCopy = false;
};

/// A parameter of `rows` x `columns` elements. Without a scale it has no codes.
struct Matrix {
  int64_t rows, columns;
  float scale;
  /// Whether there are codes of the transposed matrix.
  bool isTurned = true;
  /// Whether the test sets the middle element.
  bool isSpecial = true;
};

/// Replaces NaN, which is not equal to itself.
static Values markNaN(Values values) {
  for (double &value : values)
    value = std::isnan(value) ? 1e300 : value;
  return values;
}

/// 8-bit copies of a parameter.
struct Codes {
  Codes(const Matrix &shape)
      : isTurned(shape.isTurned),
        payload(size_t(padFloat8(shape.rows) * padFloat8(shape.columns))),
        transposed(payload.size()), inverse(1), amax(1),
        scale(Values{shape.scale}) {}
  QuantizeResults getResults() {
    return {payload.get(), isTurned ? transposed.get() : nullptr, inverse.get(),
            amax.get()};
  }
  std::vector<Values> read() {
    return {payload.read(), isTurned ? transposed.read() : Values(),
            markNaN(inverse.read()), markNaN(amax.read())};
  }
  bool isTurned;
  Buffer<uint8_t> payload, transposed;
  Buffer<float> inverse, amax, scale;
};

static int64_t getBytes(const OptimizerStorage &storage, int64_t count) {
  return storage.isSplit ? lowerHalfOffset(count) + 2 * count
                         : count * byteWidth(storage.parameter);
}

/// Returns the bytes of `values` in the form of a parameter.
static Values makeParameter(const OptimizerStorage &storage,
                            const Values &values) {
  Bytes bytes(size_t(getBytes(storage, int64_t(values.size()))));
  std::vector<float> wide(values.begin(), values.end());
  if (storage.isSplit)
    for (size_t i = 0; i < wide.size(); ++i) {
      uint32_t bits;
      std::memcpy(&bits, &wide[i], 4);
      const uint16_t parts[] = {uint16_t(bits >> 16), uint16_t(bits)};
      std::memcpy(&bytes[2 * i], &parts[0], 2);
      std::memcpy(&bytes[size_t(lowerHalfOffset(int64_t(wide.size()))) + 2 * i],
                  &parts[1], 2);
    }
  else if (storage.parameter == Type::F32)
    std::memcpy(bytes.data(), wide.data(), bytes.size());
  else
    for (size_t i = 0; i < wide.size(); ++i) {
      const __half half = roundTo<__half>(wide[i]);
      const __nv_bfloat16 brain = roundTo<__nv_bfloat16>(wide[i]);
      std::memcpy(&bytes[2 * i],
                  storage.parameter == Type::F16
                      ? static_cast<const void *>(&half)
                      : &brain,
                  2);
    }
  return Values(bytes.begin(), bytes.end());
}

/// The tensors of a test on the device.
class Device {
public:
  Device(const std::vector<Matrix> &shapes, const Storage &how, double special)
      : tableMemory(size_t(optimizerTableBytes(int32_t(shapes.size())))),
        copiesMemory(size_t(quantizedTableBytes(int32_t(shapes.size())))) {
    for (const Matrix &shape : shapes)
      add(shape, how, special);
  }

  /// Writes a table, with or without the 8-bit copies.
  OptimizerTable makeTable(bool quantizes) {
    OptimizerTable table;
    std::vector<OptimizerTensor> own = entries;
    if (!quantizes)
      for (OptimizerTensor &entry : own)
        entry.quantized = -1;
    CHECK_OK(writeOptimizerTable(
        own.data(), int32_t(own.size()), tableMemory.get(), &table,
        quantizes ? QuantizedParameters{copies.data(), int32_t(copies.size()),
                                        copiesMemory.get()}
                  : QuantizedParameters{}));
    return table;
  }
  std::vector<Values> readStates() {
    std::vector<Values> states;
    for (auto *bytes : {&w, &c})
      for (auto &buffer : *bytes)
        states.push_back(buffer->read());
    for (auto *moments : {&m, &v})
      for (auto &buffer : *moments)
        states.push_back(markNaN(buffer->read()));
    return states;
  }
  /// Whether the counters of the copies are zero, as before the launch.
  bool areCountersZero() {
    const Values bytes = copiesMemory.read();
    for (size_t i = 0; i < copies.size(); ++i)
      for (size_t j = 0; j < 2 * sizeof(unsigned); ++j)
        if (bytes[i * sizeof(QuantizedParameter) +
                  offsetof(QuantizedParameter, most) + j] != 0)
          return false;
    return true;
  }

  std::vector<OptimizerTensor> entries;
  std::vector<QuantizedParameter> copies;
  Buffer<unsigned char> tableMemory, copiesMemory;
  std::vector<std::unique_ptr<Buffer<unsigned char>>> w, c;
  std::vector<std::unique_ptr<Buffer<float>>> g, m, v;
  std::vector<std::unique_ptr<Codes>> codes;

private:
  void add(const Matrix &shape, const Storage &how, double special) {
    const size_t count = size_t(shape.rows * shape.columns);
    const uint64_t seed = 10 * (entries.size() + 1);
    Values values = randomValues<float>(count, seed, 3.0);
    if (shape.isSpecial)
      values[count / 2] = special;
    w.push_back(std::make_unique<Buffer<unsigned char>>(
        makeParameter(how.storage, values)));
    g.push_back(
        std::make_unique<Buffer<float>>(randomValues<float>(count, seed + 1)));
    m.push_back(std::make_unique<Buffer<float>>(
        randomValues<float>(count, seed + 2, 0.1)));
    Values squares = randomValues<float>(count, seed + 3, 0.1);
    for (double &value : squares)
      value = std::fabs(value);
    v.push_back(std::make_unique<Buffer<float>>(squares));
    OptimizerTensor entry;
    entry.parameter = w.back()->get();
    entry.gradient = g.back()->get();
    entry.first = m.back()->get();
    entry.second = v.back()->get();
    entry.count = int64_t(count);
    entry.weightDecay = 0.01f;
    entry.storage = how.storage;
    if (how.hasCopy) {
      // The copy of an f32 parameter, and no rounding error of others.
      OptimizerStorage low;
      low.parameter = how.source;
      c.push_back(std::make_unique<Buffer<unsigned char>>(
          how.storage.parameter == Type::F32 ? makeParameter(low, values)
                                             : Values(2 * count, 0.0)));
      entry.copy = c.back()->get();
      entry.copyType = how.source;
    }
    codes.push_back(std::make_unique<Codes>(shape));
    if (shape.scale != 0.0f) {
      const QuantizeResults results = codes.back()->getResults();
      QuantizedParameter own;
      own.payload = results.payload;
      own.transposed = results.transposed;
      own.inverse = results.inverse;
      own.amax = results.amax;
      own.scale = codes.back()->scale.get();
      own.rows = shape.rows;
      own.columns = shape.columns;
      own.source = how.source;
      own.saturate = own.keepNonFinite = true;
      entry.quantized = int16_t(copies.size());
      copies.push_back(own);
    }
    entries.push_back(entry);
  }
};

/// The copies that `quantize` makes of the parameter as products read it.
static std::vector<Values> getCopies(Device &device, size_t i,
                                     const Matrix &shape, const Storage &how) {
  const Values bytes = device.w[i]->read();
  const Bytes stored(bytes.begin(), bytes.end());
  const size_t count = size_t(shape.rows * shape.columns);
  Values values;
  for (size_t at = 0; at < count; ++at) {
    const bool isWide = how.storage.parameter == Type::F32;
    uint32_t word = 0;
    std::memcpy(&word, &stored[at * (isWide && !how.storage.isSplit ? 4 : 2)],
                isWide && !how.storage.isSplit ? 4 : 2);
    float value;
    const uint32_t upper = word << 16;
    std::memcpy(&value, how.storage.isSplit ? &upper : &word, 4);
    if (!isWide) {
      __half half;
      __nv_bfloat16 brain;
      std::memcpy(&half, &word, 2);
      std::memcpy(&brain, &word, 2);
      value = how.storage.parameter == Type::F16 ? widen(half) : widen(brain);
    }
    values.push_back(how.source == Type::F16 ? widen(roundTo<__half>(value))
                     : how.source == Type::BF16
                         ? widen(roundTo<__nv_bfloat16>(value))
                         : value);
  }
  Codes expected(shape);
  Buffer<float> x(values), partials(2048);
  ArrivalCounters counters;
  CHECK_OK(quantize(
      nullptr,
      QuantizeConfig{shape.rows, shape.columns, Float8::E4M3, true, true},
      expected.getResults(), x.get(), expected.scale.get(), partials.get(),
      counters.get()));
  return expected.read();
}

static void testUpdate(const std::vector<Matrix> &shapes, const Storage &how,
                       bool isAdam, bool guard, double special) {
  inAllOrders("update", [&] {
    Device plain(shapes, how, special), both(shapes, how, special);
    Buffer<float> rate(Values{0.05}), step(Values{3});
    Buffer<uint8_t> flag(Values{guard ? 1.0 : 0.0});
    Buffer<int64_t> rng(Values{5, 7});
    const OptimizerTable table = both.makeTable(true),
                         other = plain.makeTable(false);
    // The counters must serve several launches.
    for (int launches = 0; launches < 2; ++launches) {
      if (isAdam) {
        CHECK_OK(adam(nullptr, other, AdamConfig(), rate, step, nullptr,
                      flag.get(), rng.get()));
        CHECK_OK(quantizedAdam<Float8::E4M3>(nullptr, table, AdamConfig(), rate,
                                             step, nullptr, flag.get(),
                                             rng.get()));
      } else {
        CHECK_OK(sgd(nullptr, other, SgdConfig{0.9f, true}, rate, nullptr,
                     flag.get(), rng.get()));
        CHECK_OK(quantizedSgd<Float8::E4M3>(nullptr, table,
                                            SgdConfig{0.9f, true}, rate,
                                            nullptr, flag.get(), rng.get()));
      }
      CHECK(both.readStates() == plain.readStates());
      CHECK(both.areCountersZero());
      for (size_t i = 0; i < shapes.size(); ++i)
        if (shapes[i].scale != 0.0f)
          CHECK(both.codes[i]->read() == getCopies(both, i, shapes[i], how));
    }
    return both.codes[0]->read();
  });
}

/// A block that goes from one tensor to the next keeps their magnitudes apart.
static void testOneBlock(const Storage &how) {
  const std::vector<Matrix> shapes = {{64, 64, 4.0f, false, false},
                                      {64, 64, 2.0f, false, true}};
  inAllOrders("update in one block", [&] {
    Device both(shapes, how, 1e9);
    Buffer<float> rate(Values{0.05});
    Buffer<uint8_t> flag(Values{1.0});
    const OptimizerTable table = both.makeTable(true);
    LaunchShape shape = quantizedChunkShape(table);
    shape.grid.x = 1;
    CHECK_OK(launch("sgd", nullptr, shape, quantizedSgdKernel<Float8::E4M3>,
                    table, SgdConfig{0.9f, true}, rate.get(), nullptr,
                    flag.get(), nullptr));
    for (size_t i = 0; i < shapes.size(); ++i)
      CHECK(both.codes[i]->read() == getCopies(both, i, shapes[i], how));
    return both.codes[0]->read();
  });
}

int main() {
  // Extents that are and are not multiples of 16, a tensor without codes, and
  // more tiles than blocks.
  const std::vector<Matrix> shapes = {
      {70, 130, 2.5f},  {64, 64, 100.0f, false}, {5, 7, 0.0f},
      {129, 48, 0.37f}, {30, 20, 1.0f, false},   {40, 64, 8.0f, false}};
  const Storage f32 = {{}, Type::F32}, rounded = {{}, Type::BF16},
                copied = {{}, Type::F16, true};
  Storage split = {{}, Type::BF16}, half = {{}, Type::F16},
          random = {{}, Type::BF16}, compensated = {{}, Type::BF16, true};
  split.storage.isSplit = true;
  half.storage.parameter = Type::F16;
  random.storage.parameter = compensated.storage.parameter = Type::BF16;
  random.storage.keys[0] = 4;
  for (const Storage &how :
       {f32, rounded, copied, split, half, random, compensated}) {
    testUpdate(shapes, how, /*isAdam=*/false, /*guard=*/true, 1.0);
    testUpdate(shapes, how, /*isAdam=*/true, /*guard=*/true, 1.0);
    testUpdate(shapes, how, /*isAdam=*/true, /*guard=*/false, 1.0);
  }
  testUpdate({{1, 1100 * 64, 4.0f, false}}, f32, false, true, 1e9);
  testOneBlock(f32);
  testUpdate(shapes, f32, false, true, NAN);
  testUpdate(shapes, f32, false, true, -INFINITY);
  return finish();
}
