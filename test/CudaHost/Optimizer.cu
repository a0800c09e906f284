//===- Optimizer.cu - Unscale, check, clip and update -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// RUN: %cuda_host_cxx %s %cuda_host_lib -o %t && %t
//
//===----------------------------------------------------------------------===//

#include "amp/CudaHost/Testing.h"
#include "amp/Runtime/CUDA/Optimizer.h"

#include <cmath>
#include <memory>

using namespace amp::cuda;
using namespace amp::cuda::testing;

using Values = std::vector<double>;
using KernelResults = std::vector<Values>;

/// One tensor of a test and its reference in f64.
struct Tensor {
  Values w, g, m, v;
  double decay;
  Type gradientType, copyType;
  bool hasCopy;
};

static Values roundAll(Values values, Type type) {
  for (double &value : values)
    value = type == Type::F16    ? widen(roundTo<__half>(float(value)))
            : type == Type::BF16 ? widen(roundTo<__nv_bfloat16>(float(value)))
                                 : value;
  return values;
}

/// Three tensors: an odd one, one of several chunks, one with an exact chunk.
static std::vector<Tensor> makeTensors(double gradientScale) {
  std::vector<Tensor> tensors;
  const size_t counts[] = {37, size_t(kOptimizerChunk) * 2 + 11,
                           size_t(kOptimizerChunk)};
  const Type gradients[] = {Type::F16, Type::F32, Type::BF16};
  for (int i = 0; i < 3; ++i) {
    Tensor t;
    t.w = randomValues<float>(counts[i], 10 + i);
    t.g = roundAll(randomValues<float>(counts[i], 20 + i, gradientScale),
                   gradients[i]);
    t.m = randomValues<float>(counts[i], 30 + i, 0.1);
    t.v = randomValues<float>(counts[i], 40 + i, 0.1);
    for (double &value : t.v)
      value = std::fabs(value);
    t.decay = i == 1 ? 0.0 : 0.01;
    t.gradientType = gradients[i];
    t.copyType = i == 0 ? Type::BF16 : Type::F16;
    t.hasCopy = i != 2;
    tensors.push_back(std::move(t));
  }
  return tensors;
}

/// The tensors on the device.
class Device {
public:
  Device(const std::vector<Tensor> &tensors, bool hasFirst, bool hasSecond)
      : tableMemory(size_t(optimizerTableBytes(int32_t(tensors.size())))) {
    std::vector<OptimizerTensor> entries;
    for (const Tensor &t : tensors) {
      OptimizerTensor entry;
      entry.count = int64_t(t.w.size());
      entry.weightDecay = float(t.decay);
      w.push_back(std::make_unique<Buffer<float>>(t.w));
      m.push_back(std::make_unique<Buffer<float>>(t.m));
      v.push_back(std::make_unique<Buffer<float>>(t.v));
      entry.parameter = w.back()->get();
      entry.first = hasFirst ? m.back()->get() : nullptr;
      entry.second = hasSecond ? v.back()->get() : nullptr;
      entry.gradientType = t.gradientType;
      half.push_back(std::make_unique<Buffer<__half>>(t.g));
      brain.push_back(std::make_unique<Buffer<__nv_bfloat16>>(t.g));
      single.push_back(std::make_unique<Buffer<float>>(t.g));
      entry.gradient = t.gradientType == Type::F16
                           ? static_cast<void *>(half.back()->get())
                       : t.gradientType == Type::BF16
                           ? static_cast<void *>(brain.back()->get())
                           : single.back()->get();
      halfCopy.push_back(std::make_unique<Buffer<__half>>(t.w.size()));
      brainCopy.push_back(std::make_unique<Buffer<__nv_bfloat16>>(t.w.size()));
      entry.copyType = t.copyType;
      if (t.hasCopy)
        entry.copy = t.copyType == Type::F16
                         ? static_cast<void *>(halfCopy.back()->get())
                         : brainCopy.back()->get();
      entries.push_back(entry);
    }
    CHECK_OK(writeOptimizerTable(entries.data(), int32_t(entries.size()),
                                 tableMemory.get(), &table));
    CHECK(table.chunks ==
          optimizerChunks(entries.data(), int32_t(entries.size())));
  }

  Values copy(size_t i, Type type) {
    return type == Type::F16 ? halfCopy[i]->read() : brainCopy[i]->read();
  }

  OptimizerTable table;
  Buffer<unsigned char> tableMemory;
  std::vector<std::unique_ptr<Buffer<float>>> w, m, v, single;
  std::vector<std::unique_ptr<Buffer<__half>>> half, halfCopy;
  std::vector<std::unique_ptr<Buffer<__nv_bfloat16>>> brain, brainCopy;
};

enum class Kind { Sgd, Momentum, Nesterov, Adam, AdamW };

static void testUpdate(Kind kind, double scale, double maxNorm, bool guard) {
  inAllOrders("update", [&] {
    std::vector<Tensor> tensors = makeTensors(scale);
    bool isAdam = kind == Kind::Adam || kind == Kind::AdamW;
    Device device(tensors, kind != Kind::Sgd, isAdam);
    Buffer<float> dScale(Values{scale}), rate(Values{0.05}), step(Values{3});
    Buffer<float> norm(1);
    Buffer<uint8_t> finite(1), flag(Values{guard ? 1.0 : 0.0});
    Buffer<UnscaleState> state(1);
    Buffer<unsigned char> scratch(
        size_t(unscaleScratchBytes(device.table.chunks)));
    ArrivalCounters arrivalCounters;
    CHECK_OK(unscaleCheck(nullptr, device.table, dScale, float(maxNorm), state,
                          finite, norm, scratch.get(), arrivalCounters));

    double squares = 0;
    for (const Tensor &t : tensors)
      for (double g : t.g)
        squares += g / scale * (g / scale);
    double expectedNorm = std::sqrt(squares);
    CHECK_NEAR(norm.read(), Values{expectedNorm}, 1e-5);
    CHECK(finite.read()[0] == 1);
    double clip =
        maxNorm > 0 ? std::min(1.0, maxNorm / (expectedNorm + 1e-6)) : 1.0;

    if (isAdam) {
      AdamConfig config;
      config.decoupled = kind == Kind::AdamW;
      CHECK_OK(adam(nullptr, device.table, config, rate, step, state, flag));
    } else {
      SgdConfig config;
      config.momentum = 0.9f;
      config.nesterov = kind == Kind::Nesterov;
      CHECK_OK(sgd(nullptr, device.table, config, rate, state, flag));
    }

    KernelResults results;
    for (size_t i = 0; i < tensors.size(); ++i) {
      Tensor &t = tensors[i];
      for (size_t j = 0; guard && j < t.w.size(); ++j) {
        double g = t.g[j] / scale * clip, &w = t.w[j];
        if (kind == Kind::AdamW)
          w *= 1 - 0.05 * t.decay;
        else
          g += t.decay * w;
        if (isAdam) {
          t.m[j] = 0.9 * t.m[j] + 0.1 * g;
          t.v[j] = 0.999 * t.v[j] + 0.001 * g * g;
          w -= 0.05 * (t.m[j] / (1 - std::pow(0.9, 3))) /
               (std::sqrt(t.v[j] / (1 - std::pow(0.999, 3))) + 1e-8);
          continue;
        }
        if (kind != Kind::Sgd) {
          t.m[j] = 0.9 * t.m[j] + g;
          g = kind == Kind::Nesterov ? g + 0.9 * t.m[j] : t.m[j];
        }
        w -= 0.05 * g;
      }
      Values w = device.w[i]->read(), m = device.m[i]->read();
      CHECK_NEAR(w, t.w, guard ? 1e-6 : 0.0);
      CHECK_NEAR(m, t.m, guard ? 1e-6 : 0.0);
      CHECK_NEAR(device.v[i]->read(), t.v, guard ? 1e-6 : 0.0);
      // The copy is the parameter, rounded; untouched under the guard.
      if (t.hasCopy && guard)
        CHECK_NEAR(device.copy(i, t.copyType), roundAll(w, t.copyType), 0.0);
      if (t.hasCopy && !guard)
        CHECK(std::isnan(device.copy(i, t.copyType)[0]));
      results.push_back(w);
      results.push_back(m);
    }
    CHECK(arrivalCounters.areZero());
    return results;
  });
}

/// A non-finite gradient is found at every position.
static void testFlags() {
  for (double bad : {double(INFINITY), double(-INFINITY), double(NAN)})
    for (size_t tensor : {0u, 1u, 2u})
      for (bool last : {false, true}) {
        std::vector<Tensor> tensors = makeTensors(1.0);
        Values &g = tensors[tensor].g;
        g[last ? g.size() - 1 : 0] = bad;
        Device device(tensors, false, false);
        Buffer<uint8_t> finite(1);
        Buffer<UnscaleState> state(1);
        Buffer<unsigned char> scratch(
            size_t(unscaleScratchBytes(device.table.chunks)));
        ArrivalCounters arrivalCounters;
        CHECK_OK(unscaleCheck(nullptr, device.table, nullptr, 0.0f, state,
                              finite, nullptr, scratch.get(), arrivalCounters));
        CHECK(finite.read()[0] == 0);
      }
  // A finite gradient that overflows in the multiplication is found if
  // requested, in packs and in their tails. So is an infinite inverse.
  for (bool strict : {false, true})
    for (double scale : {1.0, 1e-30, 1e-39})
      for (bool last : {false, true}) {
        std::vector<Tensor> tensors = makeTensors(1.0);
        Values &g = tensors[1].g;
        g[last ? g.size() - 1 : 0] = 1e10;
        Device device(tensors, false, false);
        Buffer<float> dScale(Values{scale});
        Buffer<uint8_t> finite(1);
        Buffer<UnscaleState> state(1);
        Buffer<unsigned char> scratch(
            size_t(unscaleScratchBytes(device.table.chunks)));
        ArrivalCounters arrivalCounters;
        CHECK_OK(unscaleCheck(nullptr, device.table, dScale, 0.0f, state,
                              finite, nullptr, scratch.get(), arrivalCounters,
                              strict));
        CHECK(finite.read()[0] == (strict && scale != 1.0 ? 0 : 1));
      }
  // A finite gradient whose square is not: reported, and not an overflow.
  std::vector<Tensor> tensors = makeTensors(1.0);
  tensors[1].g[5] = 1e30;
  Device device(tensors, false, false);
  Buffer<uint8_t> finite(1);
  Buffer<UnscaleState> state(1);
  Buffer<float> norm(1);
  Buffer<unsigned char> scratch(
      size_t(unscaleScratchBytes(device.table.chunks)));
  ArrivalCounters arrivalCounters;
  CHECK_OK(unscaleCheck(nullptr, device.table, nullptr, 1.0f, state, finite,
                        norm, scratch.get(), arrivalCounters));
  CHECK(finite.read()[0] == 1);
  CHECK(norm.read()[0] == INFINITY);
  UnscaleState host;
  cudaMemcpy(&host, state.get(), sizeof(host), cudaMemcpyDeviceToHost);
  CHECK(host.normOverflow == 1 && host.allFinite == 1);
  CHECK(host.clipFactor == 0.0f);
}

static void testClipByHand() {
  // A bound of 1 divides gradients of norm 5 by 5, and does not change those of
  // norm 0.5.
  for (double factor : {1.0, 0.1}) {
    Tensor t;
    t.w = {1, 1};
    t.g = {3 * factor, 4 * factor};
    t.m = t.v = {0, 0};
    t.decay = 0;
    t.gradientType = Type::F32;
    t.hasCopy = false;
    t.copyType = Type::F16;
    Device device({t}, false, false);
    Buffer<UnscaleState> state(1);
    Buffer<float> norm(1), rate(Values{1.0});
    Buffer<unsigned char> scratch(
        size_t(unscaleScratchBytes(device.table.chunks)));
    ArrivalCounters arrivalCounters;
    CHECK_OK(unscaleCheck(nullptr, device.table, nullptr, 1.0f, state, nullptr,
                          norm, scratch.get(), arrivalCounters));
    CHECK_OK(sgd(nullptr, device.table, {}, rate, state, nullptr));
    CHECK_NEAR(norm.read(), Values{5 * factor}, 1e-6);
    Values expected = factor == 1.0 ? Values{0.4, 0.2} : Values{0.7, 0.6};
    CHECK_NEAR(device.w[0]->read(), expected, 1e-6);
  }
}

/// The state machine of amp.update_scale, step by step.
static void testScale() {
  ScaleConfig config;
  config.growthInterval = 2;
  config.minScale = 4;
  config.maxScale = 64;
  config.hysteresis = 2;
  Buffer<float> scale(Values{16});
  Buffer<int32_t> growth(Values{0}), hysteresis(Values{2});
  struct {
    bool finite;
    double scale, growth, hysteresis;
  } steps[] = {
      {true, 16, 1, 2},  {true, 32, 0, 2}, {false, 32, 0, 1}, {false, 16, 0, 0},
      {false, 8, 0, -1}, {true, 8, 1, 2},  {false, 8, 0, 1},  {false, 4, 0, 0},
      {false, 4, 0, -1}, {true, 4, 1, 2},  {true, 8, 0, 2},   {true, 8, 1, 2},
      {true, 16, 0, 2},  {true, 16, 1, 2}, {true, 32, 0, 2},  {true, 32, 1, 2},
      {true, 64, 0, 2},  {true, 64, 1, 2}, {true, 64, 0, 2},  {true, 64, 1, 2},
  };
  int number = 0;
  for (auto &step : steps) {
    // Either flag alone suffices.
    Buffer<uint8_t> flag(Values{step.finite ? 1.0 : 0.0}), one(Values{1});
    bool second = ++number % 2;
    CHECK_OK(updateScale(nullptr, config, scale, growth, hysteresis,
                         second ? one.get() : flag.get(),
                         second ? flag.get() : nullptr));
    CHECK(scale.read()[0] == step.scale);
    CHECK(growth.read()[0] == step.growth);
    CHECK(hysteresis.read()[0] == step.hysteresis);
  }
  // No growth to infinity.
  ScaleConfig free;
  free.growthInterval = 1;
  Buffer<float> large(Values{0x1p127});
  Buffer<uint8_t> one(Values{1});
  CHECK_OK(updateScale(nullptr, free, large, growth, hysteresis, one));
  CHECK(large.read()[0] == 0x1p127);

  // Growth ends at the cap, or at infinity without a cap.
  free.maxScale = 48;
  Buffer<float> half(Values{32});
  CHECK_OK(updateScale(nullptr, free, half, growth, hysteresis, one));
  CHECK(half.read()[0] == 48);
  free.maxScale = HUGE_VALF;
  free.growthGuard = GrowthGuard::Off;
  CHECK_OK(updateScale(nullptr, free, large, growth, hysteresis, one));
  CHECK(large.read()[0] == HUGE_VAL);

  // The other rules. Only growth refills the hysteresis. A restored tracker
  // above the interval never equals it.
  Buffer<uint8_t> zero(Values{0});
  for (AfterBackoff rule : {AfterBackoff::Hold, AfterBackoff::Refill}) {
    ScaleConfig other = config;
    other.hysteresisRefill = HysteresisRefill::Growth;
    other.afterBackoff = rule;
    other.intervalRule = IntervalRule::Equal;
    Buffer<float> s(Values{16});
    Buffer<int32_t> g(Values{7}), h(Values{2});
    auto step = [&](Buffer<uint8_t> &flag, double scale, double growth,
                    double hysteresis) {
      CHECK_OK(updateScale(nullptr, other, s, g, h, flag));
      CHECK(s.read()[0] == scale);
      CHECK(g.read()[0] == growth);
      CHECK(h.read()[0] == hysteresis);
    };
    bool holds = rule == AfterBackoff::Hold;
    step(one, 16, 8, 2);
    step(zero, 16, 0, 1);
    step(one, 16, 1, 1);
    step(zero, 8, 0, holds ? 1 : 2);
    step(zero, holds ? 4 : 8, 0, 1);
    step(one, holds ? 4 : 8, 1, 1);
    step(one, holds ? 8 : 16, 0, 2);
  }
}

static void testCasts() {
  inAllOrders("casts", [] {
    std::vector<Tensor> tensors = makeTensors(1.0);
    Device device(tensors, false, false);
    CHECK_OK(castParameters(nullptr, device.table));
    KernelResults results;
    for (size_t i = 0; i < 2; ++i) {
      results.push_back(device.copy(i, tensors[i].copyType));
      CHECK_NEAR(results.back(), roundAll(tensors[i].w, tensors[i].copyType),
                 0.0);
    }
    return results;
  });
}

static void testFaults() {
  Buffer<float> memory(64);
  Buffer<unsigned char> device(1024);
  OptimizerTable table;
  OptimizerTensor tensor;
  tensor.count = 4;
  CHECK_ERROR(writeOptimizerTable(&tensor, 1, device.get(), &table),
              "lacks a parameter");
  tensor.parameter = memory.get() + 1;
  CHECK_ERROR(writeOptimizerTable(&tensor, 1, device.get(), &table),
              "entry 0 is not aligned");
  tensor.parameter = memory.get();
  tensor.gradientType = Type::F64;
  CHECK_ERROR(writeOptimizerTable(&tensor, 1, device.get(), &table),
              "entry 0 is f64, expected");
  tensor.gradientType = Type::F16;
  tensor.copy = memory.get();
  CHECK_ERROR(writeOptimizerTable(&tensor, 1, device.get(), &table),
              "is f32, expected f16 or bf16");
}

int main() {
  for (Kind kind :
       {Kind::Sgd, Kind::Momentum, Kind::Nesterov, Kind::Adam, Kind::AdamW})
    testUpdate(kind, 1024.0, 1.0, true);
  testUpdate(Kind::Momentum, 3.0, 0.0, true);
  testUpdate(Kind::AdamW, 8192.0, 1e9, true);
  testUpdate(Kind::Adam, 1024.0, 1.0, false);
  testUpdate(Kind::Nesterov, 1024.0, 1.0, false);
  testFlags();
  testClipByHand();
  testScale();
  testCasts();
  testFaults();
  return finish();
}
