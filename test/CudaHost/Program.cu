//===- Program.cu - A training step by hand ---------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program as the emitter writes them: two linear layers with relu in f16,
// cross-entropy, loss scaling, SGD with momentum and f16 copies of f32 weights.
//
// RUN: %cuda_host_cxx %s %cuda_host_lib -o %t && %t %t.npz
//
//===----------------------------------------------------------------------===//

#include "amp/CudaHost/Testing.h"
#include "amp/Runtime/CUDA/CrossEntropy.h"
#include "amp/Runtime/CUDA/Trainer.h"

#include <cmath>
#include <cstdint>
#include <new>
#include <stdexcept>

using namespace amp::cuda;
using namespace amp::cuda::testing;

using Values = std::vector<double>;

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

// 12 samples of 6 features, 10 hidden, 3 classes.
constexpr int64_t N = 12, I = 6, H = 10, O = 3;

/// Offsets in the arena.
enum : int64_t {
  kW1 = 0,             // f32[6x10]
  kW2 = 256,           // f32[10x3]
  kV1 = 512,           // f32[6x10]
  kV2 = 768,           // f32[10x3]
  kW1Low = 1024,       // f16[6x10]
  kW2Low = 1280,       // f16[10x3]
  kScale = 1536,       // f32
  kGrowth = 1792,      // i32
  kHysteresis = 2048,  // i32
  kRate = 2304,        // f32
  kX = 2560,           // f16[12x6]
  kLabels = 2816,      // i64[12]
  kLoss = 3072,        // f32
  kScaleMetric = 3328, // f32
  kTable = 3584,       // optimizer table
  kTicketSlots = 4096, // tickets
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

/// What a test changes in the step, to see that it is noticed.
static bool skipGuard = false, allocate = false;

static Status enqueue(const StepRun &run) {
  auto *tickets = run.at<unsigned>(kTicketSlots);
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
        N, O, run.at<void>(kRowLoss), tickets));
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
                                     run.at<void>(kPartials), tickets));
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

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

/// The batch: features that depend on the label.
static void setBatch(Program &program) {
  std::vector<int64_t> labels(N);
  std::vector<__half> x(N * I);
  auto noise = randomValues<__half>(N * I, 3, 0.3);
  for (int64_t i = 0; i < N; ++i) {
    labels[i] = i % O;
    for (int64_t j = 0; j < I; ++j)
      x[i * I + j] = roundTo<__half>(
          float(noise[i * I + j] + (j % O == labels[i] ? 1.0 : 0.0)));
  }
  CHECK_OK(program.setBatch(0, x.data(), x.size() * 2));
  CHECK_OK(program.setBatch(1, labels.data(), labels.size() * 8));
}

/// All that a program computed.
static Values stateOf(Program &program) {
  Values result;
  for (int i = 0; i < kProgram.numBuffers; ++i) {
    HostArray array;
    CHECK_OK(program.readBuffer(i, &array));
    for (int64_t j = 0; j < array.count(); ++j)
      result.push_back(array.get(j));
  }
  return result;
}

static bool same(const Values &a, const Values &b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

static Values train(ProgramOptions options, int steps,
                    std::vector<float> *log) {
  Program program(kProgram);
  CHECK_OK(program.create(options));
  setBatch(program);
  for (int i = 0; i < steps; ++i) {
    CHECK_OK(program.run(1));
    float metrics[2];
    CHECK_OK(program.readMetrics(metrics, 2));
    if (log)
      log->insert(log->end(), metrics, metrics + 2);
  }
  return stateOf(program);
}

/// A step in f64, with the storage roundings of the program: the learning curve
/// must be that of the network, not only that of itself.
static std::vector<double> referenceLosses(const Values &state, int steps,
                                           double scale) {
  auto half = [](double v) { return double(widen(roundTo<__half>(float(v)))); };
  Values w1(state.begin(), state.begin() + I * H),
      w2(state.begin() + I * H, state.begin() + I * H + H * O);
  Values v1(I * H), v2(H * O);
  auto noise = randomValues<__half>(N * I, 3, 0.3);
  std::vector<double> losses;
  int tracker = 0;
  for (int step = 0; step < steps; ++step) {
    Values g1(I * H), g2(H * O), hidden(N * H), dHidden(N * H);
    double loss = 0;
    bool finite = true;
    for (int64_t n = 0; n < N; ++n) {
      double x[I], logits[O], sum = 0;
      for (int64_t i = 0; i < I; ++i)
        x[i] = half(noise[n * I + i] + (i % O == n % O ? 1.0 : 0.0));
      for (int64_t h = 0; h < H; ++h) {
        double value = 0;
        for (int64_t i = 0; i < I; ++i)
          value += x[i] * half(w1[i * H + h]);
        hidden[n * H + h] = half(std::max(value, 0.0));
      }
      for (int64_t o = 0; o < O; ++o) {
        logits[o] = 0;
        for (int64_t h = 0; h < H; ++h)
          logits[o] += hidden[n * H + h] * half(w2[h * O + o]);
        logits[o] = half(logits[o]);
        sum += std::exp(logits[o]);
      }
      loss += (std::log(sum) - logits[n % O]) / N;
      double d[O];
      for (int64_t o = 0; o < O; ++o) {
        d[o] = half((std::exp(logits[o]) / sum - (o == n % O)) * scale / N);
        finite &= std::isfinite(d[o]);
      }
      for (int64_t h = 0; h < H; ++h) {
        double dh = 0;
        for (int64_t o = 0; o < O; ++o) {
          g2[h * O + o] += hidden[n * H + h] * d[o];
          dh += d[o] * half(w2[h * O + o]);
        }
        dh = half(hidden[n * H + h] > 0 ? dh : 0.0);
        finite &= std::isfinite(dh);
        for (int64_t i = 0; i < I; ++i)
          g1[i * H + h] += x[i] * dh;
      }
    }
    losses.push_back(loss);
    losses.push_back(scale);
    if (!finite) {
      scale /= 2;
      tracker = 0;
      continue;
    }
    auto update = [&](Values &w, Values &v, const Values &g) {
      for (size_t i = 0; i < w.size(); ++i) {
        v[i] = 0.9 * v[i] + g[i] / scale;
        w[i] -= double(0.1f) * v[i];
      }
    };
    update(w1, v1, g1);
    update(w2, v2, g2);
    if (++tracker == 4) {
      scale *= 2;
      tracker = 0;
    }
  }
  return losses;
}

static void testTraining() {
  ProgramOptions graph, launches, poisoned;
  launches.useGraph = false;
  poisoned.poison = true;
  Values initial;
  {
    Program program(kProgram);
    CHECK_OK(program.create({}));
    initial = stateOf(program);
  }
  constexpr int steps = 16;
  std::vector<double> expected = referenceLosses(initial, steps, 0x1p20);
  Values first;
  for (auto order :
       {host::Order::Ascending, host::Order::Descending, host::Order::Random})
    for (const ProgramOptions &options : {graph, launches, poisoned}) {
      host::options().order = order;
      std::vector<float> log;
      Values state = train(options, steps, &log);
      Values losses, scales, wantLosses, wantScales;
      for (size_t i = 0; i < log.size(); ++i) {
        (i % 2 ? scales : losses).push_back(log[i]);
        (i % 2 ? wantScales : wantLosses).push_back(expected[i]);
      }
      CHECK_NEAR(losses, wantLosses, 2e-3);
      CHECK_NEAR(scales, wantScales, 0.0);
      // Bitwise: graph or not, poisoned or not, in any order.
      if (first.empty())
        first = state;
      CHECK(same(state, first));
      CHECK(losses.back() < 0.8 * losses.front());
    }
  host::options().order = host::Order::Ascending;
  // The scale overflows at first, and the skipped steps change no weight.
  CHECK(expected[1] == 0x1p20 && expected[3] == 0x1p19);
  Values one = train(graph, 1, nullptr);
  CHECK(std::equal(one.begin(), one.begin() + 2 * (I * H + H * O),
                   initial.begin()));
  // Without the guard they do: the check above can fail.
  skipGuard = true;
  one = train(graph, 1, nullptr);
  CHECK(!std::equal(one.begin(), one.begin() + 2 * (I * H + H * O),
                    initial.begin()));
  skipGuard = false;
}

static void testGraph() {
  size_t before = host::allocationCount();
  Program program(kProgram);
  CHECK_OK(program.create({}));
  CHECK(host::allocationCount() == before + 1); // the arena and nothing else
  setBatch(program);
  CHECK_OK(program.run(5));
  CHECK_OK(program.synchronize());
  CHECK(program.getNumGraphNodes() == 10);
  CHECK(host::allocationCount() == before + 1);
  host::clearLaunches();
  CHECK_OK(program.run(2));
  CHECK(host::launches().empty()); // nothing has waited yet
  CHECK_OK(program.synchronize());
  CHECK(host::launches().size() == 20);
  CHECK(program.progress.step == 7);
  // An allocation inside of a step cannot be captured.
  allocate = true;
  Program other(kProgram);
  CHECK_OK(other.create({}));
  setBatch(other);
  CHECK_ERROR(other.run(2), "not permitted when stream is capturing");
  allocate = false;
  cudaGetLastError();
}

static void testFiles(const std::string &path) {
  Values full = train({}, 6, nullptr), half;
  {
    Program program(kProgram);
    CHECK_OK(program.create({}));
    setBatch(program);
    CHECK_OK(program.run(3));
    CHECK_OK(program.save(path));
  }
  Program resumed(kProgram);
  ProgramOptions options;
  options.seed = 5; // which the file overrides
  CHECK_OK(resumed.create(options));
  CHECK_OK(resumed.load(path));
  CHECK(resumed.progress.step == 3 && resumed.progress.seed == 0);
  setBatch(resumed);
  CHECK_OK(resumed.run(3));
  CHECK(same(stateOf(resumed), full));

  // Weights alone: the copies follow them, the rest starts anew.
  Program fresh(kProgram);
  CHECK_OK(fresh.create(options));
  CHECK_OK(fresh.loadWeights(path));
  HostArray w, low, velocity;
  CHECK_OK(fresh.readBuffer(0, &w));
  CHECK_OK(fresh.readBuffer(4, &low));
  CHECK_OK(fresh.readBuffer(2, &velocity));
  for (int64_t i = 0; i < I * H; ++i)
    CHECK(low.get(i) == widen(roundTo<__half>(float(w.get(i)))) &&
          velocity.get(i) == 0);

  std::vector<HostArray> arrays;
  CHECK_OK(readArrays(path, &arrays));
  auto write = [&](auto change) {
    std::vector<HostArray> changed = arrays;
    change(changed);
    CHECK_OK(writeArrays(path, changed));
  };
  Values before = stateOf(fresh);
  write([](auto &a) { a.pop_back(); });
  CHECK_ERROR(fresh.load(path), "not a saved training state");
  write([](auto &a) { a.erase(a.begin()); });
  CHECK_ERROR(fresh.load(path), "has no state 'w1'");
  write([](auto &a) { a[1].shape = {O, H}; });
  CHECK_ERROR(fresh.load(path), "state 'w2' is 3x10xf32, expected 10x3xf32");
  CHECK_ERROR(fresh.loadWeights(path), "is 3x10xf32, expected 10x3xf32");
  write([](auto &a) {
    a.push_back(a[0]);
    a.back().name = "more";
  });
  CHECK_ERROR(fresh.load(path), "has 10 states, expected 9");
  for (int64_t step : {int64_t(-1), (int64_t(1) << 48) + 1, INT64_MAX}) {
    write([&](auto &a) { a.back().setInt(1, step); });
    CHECK_ERROR(fresh.load(path), "damaged member");
  }
  for (int field : {3, 4}) { // an epoch or offset beyond steps or samples
    write([&](auto &a) { a.back().setInt(field, 1 << 20); });
    CHECK_ERROR(fresh.load(path), "damaged member");
  }
  for (double scale : {0.0, -8.0, double(INFINITY), double(NAN)}) {
    write([&](auto &a) {
      for (HostArray &array : a)
        if (array.name == "loss_scale")
          array.set(0, scale);
    });
    CHECK_ERROR(fresh.load(path), "has the loss scale 'loss_scale' = ");
  }
  CHECK_ERROR(fresh.load(path + ".absent"), "cannot read");
  CHECK_ERROR(fresh.load("/"), "cannot read '/': it is a directory");
  CHECK(same(stateOf(fresh), before)); // none of them changed anything
}

static void testErrors() {
  Program program(kProgram);
  CHECK_ERROR(program.run(1), "has not been created");
  CHECK_OK(program.create({}));
  CHECK_ERROR(program.run(1), "'x' has no value: set a batch first");
  std::vector<int64_t> labels(N, 3);
  CHECK_ERROR(program.setBatch(0, labels.data(), 7),
              "'x' has 7 bytes, expected 144 (12x6xf16)");
  CHECK_ERROR(program.setBatch(1, labels.data(), N * 8),
              "value 3 at element 0 of 'labels' is out of range");
  CHECK_ERROR(program.setBatch(2, labels.data(), 7), "batch argument 2 of 2");
  CHECK_ERROR(program.setHyperparameter("rate", 1), "there is lr");
  CHECK_OK(program.setHyperparameter("lr", 0.5));
  float metrics[3];
  CHECK_ERROR(program.readMetrics(metrics, 3), "3 metrics asked for");

  host::options().deviceMemory = host::allocatedBytes() + 1000;
  Program large(kProgram);
  CHECK_ERROR(large.create({}), "needs 76544 bytes of device memory, but 1000");
  host::options().deviceMemory = size_t(4) << 30;
  ProgramOptions options;
  options.device = 1;
  Program second(kProgram);
  CHECK_ERROR(second.create(options), "there is no device 1");
  host::options().devices = 0;
  Program none(kProgram);
  Status status = none.create({});
  CHECK(report(status) == kNoDevice);
  CHECK(std::string(lastError()).find("no CUDA-capable device") !=
        std::string::npos);
  host::options().devices = 1;
  cudaGetLastError();

  // Nothing is thrown to a caller that may be C.
  CHECK(reportCall([]() -> Status { throw std::bad_alloc(); }) == kOutOfMemory);
  CHECK(reportCall([]() -> Status { throw std::runtime_error("no"); }) ==
            kInvalidArgument &&
        std::string(lastError()) == "no");
  CHECK(reportCall([] { return Status(); }) == kOk && !*lastError());

  ProgramInfo bad = kProgram;
  std::vector<BufferInfo> buffers = kBuffers;
  buffers[3].offset = kArena;
  bad.buffers = buffers.data();
  Program outside(bad);
  CHECK_ERROR(outside.create({}), "buffer 'v2' at 76544");
  buffers[3].offset = kV2 + 4;
  Program misaligned(bad);
  CHECK_ERROR(misaligned.create({}), "aligned to 256");
  buffers = kBuffers;
  buffers[0].init.kind = InitInfo::Kind::None;
  buffers[4].init.kind = InitInfo::Kind::Zeros;
  Program unset(bad);
  CHECK_OK(unset.create({}));
  setBatch(unset);
  CHECK_ERROR(unset.run(1), "'w1' has no value: load it from a file");
}

static void testTrainer(const std::string &path) {
  auto run = [](std::vector<std::string> arguments) {
    std::vector<char *> argv = {const_cast<char *>("step")};
    for (std::string &argument : arguments)
      argv.push_back(argument.data());
    return trainerMain(int(argv.size()), argv.data(), kProgram);
  };
  CHECK(run({"--synthetic", "--steps", "20", "--quiet", "--save", path,
             "--metrics-csv=" + path + ".csv", "--metrics-json", path + ".json",
             "--set", "lr=0.01"}) == 0);
  std::ifstream csv(path + ".csv");
  std::string line;
  std::getline(csv, line);
  CHECK(line == "step,epoch,loss,loss_scale");
  int lines = 0;
  while (std::getline(csv, line))
    ++lines;
  CHECK(lines == 20);
  Program program(kProgram);
  CHECK_OK(program.create({}));
  CHECK_OK(program.load(path));
  CHECK(program.progress.step == 20 && program.progress.epoch == 2 &&
        program.progress.offset == 4 * N && program.progress.samples == 8 * N);
  CHECK(run({"--synthetic", "--load", path, "--steps=3", "--quiet",
             "--profile"}) == 0);
  CHECK(run({"--help"}) == 0);
  CHECK(run({"--synthetic", "--epochs"}) == 1);
  CHECK(run({"--synthetic", "--steps", "-1"}) == 1);
  CHECK(run({"--synthetic", "--set", "lr"}) == 1);
  // Numbers that the types do not hold, or that are none to amp-run.
  for (const char *wrong :
       {"--steps=9223372036854775808", "--steps=9223372036854775807",
        "--epochs=281474976710656", "--device=4294967296", "--time=4294967297",
        "--seed=18446744073709551616", "--seed=-1", "--steps=+1", "--steps= 1",
        "--set=lr=0x10", "--set=lr= 3", "--set=lr=", "--set=lr=1 "})
    CHECK(run({"--synthetic", "--quiet", wrong}) == 1);
  CHECK(run({"--synthetic", "--quiet", "--steps=1", "--set=lr=1e-2",
             "--seed=18446744073709551615", "--save", path}) == 0);
  CHECK_OK(program.load(path));
  CHECK(program.progress.seed == UINT64_MAX);
  CHECK(run({"--synthetic", "--data", path}) == 1);
  CHECK(run({"--data", path}) == 1); // which has no batches
  CHECK(run({"--data", "/"}) == 1);
  CHECK(run({"--synthetic", "--load", "/"}) == 1);
  CHECK(run({"--synthetic", "--bogus"}) == 1);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  testTraining();
  testGraph();
  testFiles(argv[1]);
  testErrors();
  testTrainer(argv[1]);
  return finish();
}
