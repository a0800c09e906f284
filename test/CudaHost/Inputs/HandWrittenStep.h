//===- HandWrittenStep.h - A training step by hand --------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tables and launches of a program as the emitter writes them.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TEST_CUDAHOST_INPUTS_HANDWRITTENSTEP_H
#define AMP_TEST_CUDAHOST_INPUTS_HANDWRITTENSTEP_H

#include "amp/Runtime/CUDA/CrossEntropy.h"
#include "amp/Runtime/CUDA/ProgramCreation.h"
#include "amp/Runtime/CUDA/ProgramData.h"
#include "amp/Runtime/CUDA/ProgramRun.h"

#include <cmath>
#include <cstdint>

using namespace amp::cuda;

// 12 samples of 6 features, 10 hidden, 3 classes.
constexpr int64_t N = 12, I = 6, H = 10, O = 3;

/// Offsets in the arena.
enum : int64_t {
  kW1 = 0,                      // f32[6x10]
  kW2 = 256,                    // f32[10x3]
  kV1 = 512,                    // f32[6x10]
  kV2 = 768,                    // f32[10x3]
  kW1Low = 1024,                // f16[6x10]
  kW2Low = 1280,                // f16[10x3]
  kScale = 1536,                // f32
  kGrowth = 1792,               // i32
  kHysteresis = 2048,           // i32
  kRate = 2304,                 // f32
  kX = 2560,                    // f16[12x6]
  kLabels = 2816,               // i64[12]
  kLoss = 3072,                 // f32
  kScaleMetric = 3328,          // f32
  kTable = 3584,                // optimizer table
  kArrivalCounterOffset = 4096, // arrival counters
  kStateEnd = 8192,
  kHidden = 8192,     // f16[12x10]
  kMask = 8448,       // bits [12x128]
  kLogits = 8704,     // f16[12x3], its gradient in place
  kHiddenGrad = 8960, // f16[12x10]
  kGrad1 = 9216,      // f32[6x10]
  kGrad2 = 9472,      // f32[10x3]
  kRowLoss = 9728,    // scratch
  kSeed = 9984,       // f32
  kState = 10240,     // UnscaleState
  kFinite = 10496,    // i1
  kPartials = 10752,  // scratch
  kWorkspace = 11008,
  kArena = 11008 + 65536,
};

static BufferInfo buffer(const char *name, Role role, Type type, int64_t offset,
                         std::vector<int64_t> shape, InitInfo init = {}) {
  BufferInfo result;
  result.name = name;
  result.role = role;
  result.type = type;
  result.offset = offset;
  result.rank = int(shape.size());
  std::copy(shape.begin(), shape.end(), result.shape);
  result.init = init;
  return result;
}

static InitInfo init(InitInfo::Kind kind, double first = 0) {
  InitInfo result;
  result.kind = kind;
  result.first = first;
  result.gain = std::sqrt(2.0);
  result.stream = uint64_t(first) + 1;
  return result;
}

static InitInfo copyOf(const char *source) {
  InitInfo result;
  result.kind = InitInfo::Kind::CopyOf;
  result.source = source;
  return result;
}

using Kind = InitInfo::Kind;

static std::vector<BufferInfo> makeBuffers() {
  std::vector<BufferInfo> buffers = {
      buffer("w1", Role::Parameter, Type::F32, kW1, {I, H},
             init(Kind::KaimingUniform, 1)),
      buffer("w2", Role::Parameter, Type::F32, kW2, {H, O},
             init(Kind::KaimingNormal, 2)),
      buffer("v1", Role::OptimizerState, Type::F32, kV1, {I, H},
             init(Kind::Zeros)),
      buffer("v2", Role::OptimizerState, Type::F32, kV2, {H, O},
             init(Kind::Zeros)),
      buffer("w1.low", Role::OptimizerState, Type::F16, kW1Low, {I, H},
             copyOf("w1")),
      buffer("w2.low", Role::OptimizerState, Type::F16, kW2Low, {H, O},
             copyOf("w2")),
      buffer("loss_scale", Role::ScalerState, Type::F32, kScale, {},
             init(Kind::Constant, 0x1p20)),
      buffer("growth", Role::ScalerState, Type::I32, kGrowth, {},
             init(Kind::Zeros)),
      buffer("hysteresis", Role::ScalerState, Type::I32, kHysteresis, {},
             init(Kind::Ones)),
      buffer("lr", Role::Hyperparameter, Type::F32, kRate, {},
             init(Kind::Constant, 0.1)),
      buffer("x", Role::Batch, Type::F16, kX, {N, I}),
      buffer("labels", Role::Batch, Type::I64, kLabels, {N}),
      buffer("loss", Role::Metric, Type::F32, kLoss, {}),
      buffer("loss_scale", Role::Metric, Type::F32, kScaleMetric, {}),
  };
  buffers[11].classes = O;
  for (BufferInfo &each : buffers)
    each.isLossScale = each.offset == kScale;
  return buffers;
}
static const std::vector<BufferInfo> kBuffers = makeBuffers();

static std::vector<GemmConfig> makeGemms() {
  auto gemm = [](const char *name, int64_t m, int64_t n, int64_t k, Type result,
                 bool transposeA, bool transposeB, Epilogue epilogue) {
    GemmConfig config;
    config.name = name;
    config.m = m;
    config.n = n;
    config.k = k;
    config.typeA = config.typeB = Type::F16;
    config.typeD = result;
    config.transposeA = transposeA;
    config.transposeB = transposeB;
    config.epilogue = epilogue;
    config.strideAux = usesMask(epilogue) ? reluMaskStride(n) : 0;
    return config;
  };
  return {
      gemm("hidden", N, H, I, Type::F16, false, false, Epilogue::ReluAux),
      gemm("logits", N, O, H, Type::F16, false, false, Epilogue::None),
      gemm("hidden_grad", N, H, O, Type::F16, false, true, Epilogue::DRelu),
      gemm("w2_grad", H, O, N, Type::F32, true, false, Epilogue::None),
      gemm("w1_grad", I, H, N, Type::F32, true, false, Epilogue::None),
  };
}
static const std::vector<GemmConfig> kGemms = makeGemms();

static OptimizerEntry entry(int64_t w, int64_t g, int64_t v, int64_t low,
                            int64_t count) {
  OptimizerEntry result;
  result.parameter = w;
  result.gradient = g;
  result.first = v;
  result.copy = low;
  result.copyType = Type::F16;
  result.count = count;
  return result;
}
static const OptimizerEntry kEntries[] = {
    entry(kW1, kGrad1, kV1, kW1Low, I *H),
    entry(kW2, kGrad2, kV2, kW2Low, H *O),
};
static const OptimizerGroup kGroups[] = {{kEntries, 2, kTable}};

static LaunchInfo launchInfo(const char *name, double bytes) {
  LaunchInfo info;
  info.name = name;
  info.ops = name;
  info.bytes = bytes;
  return info;
}
static const LaunchInfo kLaunches[] = {
    launchInfo("hidden", 500),      launchInfo("logits", 400),
    launchInfo("seed", 8),          launchInfo("cross_entropy", 300),
    launchInfo("hidden_grad", 500), launchInfo("w2_grad", 400),
    launchInfo("w1_grad", 400),     launchInfo("unscale", 400),
    launchInfo("sgd", 1500),        launchInfo("update_scale", 30),
};

/// The seed times the scale, and the scale as a metric.
__global__ void scaleSeed(float *seed, float *metric, const float *scale) {
  elementwise<1>(1, [=](auto at) {
    at.store(seed, at.load(scale));
    at.store(metric, at.load(scale));
  });
}

static GemmBuffers operands(const StepRun &run, int64_t a, int64_t b, int64_t d,
                            int64_t aux = -1) {
  GemmBuffers buffers;
  buffers.a = run.at<void>(a);
  buffers.b = run.at<void>(b);
  buffers.d = run.at<void>(d);
  buffers.aux = aux < 0 ? nullptr : run.at<void>(aux);
  return buffers;
}

/// The mistakes that a test puts into the step.
static bool skipGuard = false, allocate = false;

static Status enqueue(const StepRun &run) {
  auto *arrivalCounters = run.at<unsigned>(kArrivalCounterOffset);
  const OptimizerTable &table = run.optimizers[0];
  {
    auto scope = run.scope(0);
    AMP_RETURN_IF_ERROR(run.gemms->run(
        0, operands(run, kX, kW1Low, kHidden, kMask), run.stream));
  }
  {
    auto scope = run.scope(1);
    AMP_RETURN_IF_ERROR(
        run.gemms->run(1, operands(run, kHidden, kW2Low, kLogits), run.stream));
  }
  {
    auto scope = run.scope(2);
    AMP_RETURN_IF_ERROR(launch("seed", run.stream, elementwiseShape(1, 1),
                               scaleSeed, run.at<float>(kSeed),
                               run.at<float>(kScaleMetric),
                               run.at<float>(kScale)));
  }
  {
    auto scope = run.scope(3);
    AMP_RETURN_IF_ERROR(crossEntropy(
        run.stream, run.at<float>(kLoss), run.at<__half>(kLogits),
        run.at<__half>(kLogits), run.at<int64_t>(kLabels), run.at<float>(kSeed),
        N, O, run.at<void>(kRowLoss), arrivalCounters));
  }
  {
    auto scope = run.scope(4);
    AMP_RETURN_IF_ERROR(run.gemms->run(
        2, operands(run, kLogits, kW2Low, kHiddenGrad, kMask), run.stream));
  }
  {
    auto scope = run.scope(5);
    AMP_RETURN_IF_ERROR(
        run.gemms->run(3, operands(run, kHidden, kLogits, kGrad2), run.stream));
  }
  {
    auto scope = run.scope(6);
    AMP_RETURN_IF_ERROR(
        run.gemms->run(4, operands(run, kX, kHiddenGrad, kGrad1), run.stream));
  }
  if (allocate) {
    void *memory = nullptr;
    AMP_CUDA_CALL(cudaMalloc(&memory, 64));
    AMP_CUDA_CALL(cudaFree(memory));
  }
  {
    auto scope = run.scope(7);
    AMP_RETURN_IF_ERROR(unscaleCheck(run.stream, table, run.at<float>(kScale),
                                     0.0f, run.at<UnscaleState>(kState),
                                     run.at<uint8_t>(kFinite), nullptr,
                                     run.at<void>(kPartials), arrivalCounters));
  }
  {
    auto scope = run.scope(8);
    SgdConfig config;
    config.momentum = 0.9f;
    AMP_RETURN_IF_ERROR(sgd(run.stream, table, config, run.at<float>(kRate),
                            run.at<UnscaleState>(kState),
                            skipGuard ? nullptr : run.at<uint8_t>(kFinite)));
  }
  auto scope = run.scope(9);
  ScaleConfig config;
  config.growthInterval = 4;
  return updateScale(run.stream, config, run.at<float>(kScale),
                     run.at<int32_t>(kGrowth), run.at<int32_t>(kHysteresis),
                     run.at<uint8_t>(kFinite));
}

static ProgramInfo makeInfo() {
  ProgramInfo info;
  info.name = "step";
  info.arenaBytes = kArena;
  info.stateBytes = kStateEnd;
  info.buffers = kBuffers.data();
  info.numBuffers = int(kBuffers.size());
  info.gemms = kGemms.data();
  info.numGemms = int(kGemms.size());
  info.workspaceOffset = kWorkspace;
  info.workspaceBytes = kArena - kWorkspace;
  info.optimizers = kGroups;
  info.numOptimizers = 1;
  info.launches = kLaunches;
  info.numLaunches = 10;
  info.enqueue = enqueue;
  return info;
}
static const ProgramInfo kProgram = makeInfo();

#endif // AMP_TEST_CUDAHOST_INPUTS_HANDWRITTENSTEP_H
