//===- Program.cu - A training step by hand ---------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program in the form that the emitter writes: two linear layers with relu in
// f16, cross-entropy, loss scaling, SGD with momentum and f16 copies of f32
// weights.
//
// RUN: %cuda_host_cxx %s %cuda_host_lib -o %t && %t %t.npz
//
//===----------------------------------------------------------------------===//

#include "Inputs/HandWrittenStep.h"
#include "amp/CudaHost/Testing.h"
#include "amp/Runtime/CUDA/Trainer.h"

#include <cmath>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <thread>

using namespace amp::cuda::testing;

using Values = std::vector<double>;

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

/// All results of a program.
static Values stateOf(Program &program) {
  Values result;
  for (int i = 0; i < kProgram.numBuffers; ++i) {
    Array array;
    CHECK_OK(program.readBuffer(i, &array));
    for (int64_t j = 0; j < array.getNumElements(); ++j)
      result.push_back(array.getDouble(j));
  }
  return result;
}

/// The arrays of a file, for modification.
using Members = std::vector<std::pair<std::string, Array>>;

static Members readMembers(const std::string &path) {
  ArrayMap arrays;
  CHECK_OK(readArrays(path, &arrays));
  Members members;
  for (auto &[name, array] : arrays)
    members.emplace_back(name, std::move(array));
  return members;
}

/// Writes the members after `change` modified them.
template <typename Change>
static void writeChanged(const std::string &path, const Members &members,
                         Change change) {
  Members changed;
  for (const auto &[name, array] : members)
    changed.emplace_back(name, array.clone());
  change(changed);
  ArrayMap arrays;
  for (auto &[name, array] : changed)
    arrays.set(name, std::move(array));
  CHECK_OK(writeArrays(path, arrays));
}

static Array &find(Members &members, const std::string &name) {
  for (auto &[other, array] : members)
    if (other == name)
      return array;
  CHECK(false);
  return members[0].second;
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

/// A step in f64 with the storage roundings of the program. The test compares
/// the learning curve with this independent reference.
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
  // Without the guard they do, so the check above can fail.
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

/// `path` is a state of fp16, with the fingerprint 17, without rules.
static void testIdentity(const std::string &path) {
  ProgramInfo info = kProgram;
  info.identity = {"fp16", 17, "scaler = a\ninterval = 4"};
  auto load = [&](const ProgramInfo &info, const ProgramOptions &options = {}) {
    Program program(info);
    CHECK_OK(program.create(options));
    Values before = stateOf(program);
    Status status = program.load(path);
    CHECK(status.isOk() ||
          (status.getCode() == kFile && same(stateOf(program), before)));
    return status;
  };
  CHECK_OK(load(info));
  ProgramInfo other = info;
  other.identity.fingerprint = 18;
  CHECK_ERROR(load(other), "it has the state of this step, but other "
                           "operations; use --init for weights alone");
  other = info;
  other.identity.precision = "";
  CHECK_ERROR(load(other), "was saved by a run with --precision fp16, but this "
                           "one is as written, without --precision");
  other.identity.precision = "tf32";
  CHECK_ERROR(load(other), "but this one is with --precision tf32");

  // A state that the program saves contains its rules.
  {
    Program program(info);
    CHECK_OK(program.create({}));
    setBatch(program);
    CHECK_OK(program.run(2));
    CHECK_OK(program.save(path));
  }
  CHECK_OK(load(info));
  Members members = readMembers(path);
  const Array &record = find(members, kProgressMember);
  CHECK(record.describe() == "9xi64" &&
        record.getInt(ProgressField::BatchSize) == N &&
        record.getInt(ProgressField::Samples) == 0 &&
        record.getInt(ProgressField::Precision) == 2 &&
        record.getInt(ProgressField::Fingerprint) == 17);
  other = info;
  other.identity.scaler = "scaler = a\ninterval = 5\nmore = 1";
  CHECK_ERROR(load(other),
              "whose loss scaling has interval = 4, no more, but that of this "
              "one has interval = 5, more = 1; expected the same, or "
              "--other-scaler to go on with these rules");
  ProgramOptions options;
  options.otherScaler = true;
  CHECK_OK(load(other, options));
  other.identity.scaler = "scaler = b\nfactor = 2";
  CHECK_ERROR(load(other),
              "has scaler = a, but that of this one has scaler = b; expected");
  other.identity.scaler = "";
  CHECK_ERROR(load(other), "that of this one has no scaler; expected");

  auto setField = [&](int field, int64_t value) {
    writeChanged(path, members, [&](Members &changed) {
      find(changed, kProgressMember).setInt(field, value);
    });
  };
  setField(ProgressField::BatchSize, N + 4);
  CHECK_ERROR(load(info),
              "was saved by a run with a batch size of 16, but that "
              "of this one is 12; expected the same, or "
              "--batch-size=12 to go on with it");
  options = {};
  options.otherBatchSize = true;
  CHECK_OK(load(info, options));
  setField(ProgressField::BatchSize, 0); // after two steps
  CHECK_ERROR(load(info), "damaged member '__amp_progress__'");
  setField(ProgressField::Precision, kNumPrecisions);
  CHECK_ERROR(load(info), "damaged member '__amp_progress__'");
  setField(ProgressField::Version, 1);
  CHECK_ERROR(load(info), "it has no member '__amp_progress__' of version 2");
  writeChanged(path, members, [](Members &changed) {
    Array &rules = find(changed, kScalerMember);
    rules = std::move(rules).reinterpret(Type::Bool);
  });
  CHECK_ERROR(load(info), "damaged member '__amp_scaler__'");
  // Older states contain no rules, so nothing is compared.
  members.erase(std::remove_if(members.begin(), members.end(),
                               [](const auto &member) {
                                 return member.first == kScalerMember;
                               }),
                members.end());
  writeChanged(path, members, [](Members &) {});
  CHECK_OK(load(info));
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
  CHECK(resumed.progress.step == 3 && resumed.progress.position.seed == 0);
  setBatch(resumed);
  CHECK_OK(resumed.run(3));
  CHECK(same(stateOf(resumed), full));

  // Only weights: the copies follow them, and all other state has its initial
  // value.
  Program fresh(kProgram);
  CHECK_OK(fresh.create(options));
  auto loadWeights = [&] {
    ArrayMap weights;
    std::vector<std::string> missing;
    AMP_RETURN_IF_ERROR(readWeights(fresh, path, &weights, &missing));
    CHECK(missing.empty());
    return initialize(fresh, options.seed, &weights, path);
  };
  CHECK_OK(loadWeights());
  Array w, low, velocity;
  CHECK_OK(fresh.readBuffer(0, &w));
  CHECK_OK(fresh.readBuffer(4, &low));
  CHECK_OK(fresh.readBuffer(2, &velocity));
  for (int64_t i = 0; i < I * H; ++i)
    CHECK(low.getDouble(i) == widen(roundTo<__half>(float(w.getDouble(i)))) &&
          velocity.getDouble(i) == 0);

  const Members members = readMembers(path);
  auto write = [&](auto change) { writeChanged(path, members, change); };
  Values before = stateOf(fresh);
  write([](Members &a) { a.pop_back(); });
  CHECK_ERROR(fresh.load(path), "not a saved training state");
  write([](Members &a) { a.erase(a.begin()); });
  CHECK_ERROR(fresh.load(path), "has no state 'w1'");
  write([](Members &a) { a[1].second = Array(Type::F32, {O, H}); });
  CHECK_ERROR(fresh.load(path), "state 'w2' is 3x10xf32, expected 10x3xf32");
  CHECK_ERROR(loadWeights(), "is 3x10xf32, expected 10x3xf32");
  write([](Members &a) { a.emplace_back("more", a[0].second.clone()); });
  CHECK_ERROR(fresh.load(path), "this step has no state 'more'");
  for (int64_t step : {int64_t(-1), (int64_t(1) << 48) + 1, INT64_MAX}) {
    write([&](Members &a) { a.back().second.setInt(1, step); });
    CHECK_ERROR(fresh.load(path), "damaged member");
  }
  for (int field : {3, 4}) { // an epoch or offset beyond steps or samples
    write([&](Members &a) { a.back().second.setInt(field, 1 << 20); });
    CHECK_ERROR(fresh.load(path), "damaged member");
  }
  for (double scale : {0.0, -8.0, double(INFINITY), double(NAN)}) {
    write([&](Members &a) { find(a, "loss_scale").setDouble(0, scale); });
    CHECK_ERROR(fresh.load(path), "has the loss scale 'loss_scale' = ");
  }
  // A program without a fingerprint reads states that have one, and compares
  // only the batch size.
  write([](Members &a) {
    const int64_t more[] = {N, findPrecision("fp16"), 17};
    Array record(Type::I64, {ProgressField::NumFields});
    std::memcpy(record.data(), a.back().second.data(),
                a.back().second.getNumBytes());
    record.setInt(ProgressField::Version, kProgressVersion);
    for (int i = 0; i < 3; ++i)
      record.setInt(ProgressField::BatchSize + i, more[i]);
    a.back().second = std::move(record);
  });
  {
    Program other(kProgram);
    CHECK_OK(other.create({}));
    CHECK_OK(other.load(path));
    CHECK(other.progress.step == 3);
  }
  testIdentity(path);
  CHECK_ERROR(fresh.load(path + ".absent"), "cannot read");
  CHECK_ERROR(fresh.load("/"), "cannot read '/': it is a directory");
  CHECK(same(stateOf(fresh), before)); // none of them changed anything
}

/// A program uses its own device, even if another one is current.
static void testDevices() {
  Values expected = train({}, 3, nullptr);
  host::options().devices = 3;
  ProgramOptions options;
  options.device = 2;
  CHECK_OK(check(cudaSetDevice(1), "cudaSetDevice"));
  for (bool useGraph : {true, false}) {
    options.useGraph = useGraph;
    CHECK(same(train(options, 3, nullptr), expected));
    Program program(kProgram);
    CHECK_OK(program.create(options));
    setBatch(program);
    // Another thread begins with the first device.
    std::thread([&] { CHECK_OK(program.run(3)); }).join();
    CHECK(same(stateOf(program), expected));
    int current = 0;
    cudaGetDevice(&current);
    CHECK(current == 1);
  }
  CHECK_OK(check(cudaSetDevice(0), "cudaSetDevice"));
  host::options().devices = 1;
}

/// Each step uses the batch that was set before it, even if the host does not
/// wait.
static void testBatches() {
  std::vector<int64_t> labels(N);
  auto trainOn = [&](bool waits) {
    Program program(kProgram);
    CHECK_OK(program.create({}));
    setBatch(program);
    for (int step = 0; step < 6; ++step) {
      for (int64_t i = 0; i < N; ++i)
        labels[i] = (i + step) % O;
      CHECK_OK(program.setBatch(1, labels.data(), labels.size() * 8));
      CHECK_OK(program.run(1));
      if (waits)
        CHECK_OK(program.synchronize());
    }
    return stateOf(program);
  };
  CHECK(same(trainOn(false), trainOn(true)));
}

static void testErrors() {
  Program program(kProgram);
  CHECK_ERROR(program.run(1), "has not been created");
  CHECK_OK(program.create({}));
  CHECK_ERROR(program.run(1), "'x' has no value: set a batch first");
  CHECK_ERROR(program.run(-5), "-5 steps to run, expected a number that is not "
                               "negative");
  std::vector<int64_t> labels(N, 3);
  CHECK_ERROR(program.fillBatch(0, 7, [](void *) { CHECK(false); }),
              "batch argument 'x' has 7 bytes");
  CHECK_ERROR(program.setBatch(0, labels.data(), 7),
              "'x' has 7 bytes, expected 144 (12x6xf16)");
  CHECK_ERROR(program.setBatch(1, labels.data(), N * 8),
              "value 3 at element 0 of 'labels' is out of range");
  CHECK_ERROR(program.setBatch(2, labels.data(), 7), "batch argument 2 of 2");
  CHECK_ERROR(program.setHyperparameter("rate", 1), "the step has lr");
  CHECK_OK(program.setHyperparameter("lr", 0.5));
  float metrics[3];
  for (int count : {-1, 0, 1, 3})
    CHECK_ERROR(program.readMetrics(metrics, count),
                "metrics asked for, there are 2");

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

  // No exception leaves the C interface.
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
  CHECK(line == "precision,seed,step,epoch,loss,loss_scale");
  int lines = 0;
  while (std::getline(csv, line))
    ++lines;
  CHECK(lines == 20);
  Program program(kProgram);
  CHECK_OK(program.create({}));
  CHECK_OK(program.load(path));
  CHECK(program.progress.step == 20 && program.progress.position.epoch == 2 &&
        program.progress.position.offset == 4 * N &&
        program.progress.samples == 8 * N);
  CHECK(run({"--synthetic", "--load", path, "--steps=3", "--quiet",
             "--profile"}) == 0);
  CHECK(run({"--help"}) == 0);
  CHECK(run({"--synthetic", "--epochs"}) == 1);
  CHECK(run({"--synthetic", "--steps", "-1"}) == 1);
  CHECK(run({"--synthetic", "--set", "lr"}) == 1);
  // Numbers that do not fit their types, or that amp-run rejects.
  for (const char *wrong :
       {"--steps=9223372036854775808", "--steps=9223372036854775807",
        "--epochs=281474976710656", "--device=4294967296", "--time=4294967297",
        "--seed=18446744073709551616", "--seed=-1", "--steps=+1", "--steps= 1",
        "--set=lr=0x10", "--set=lr= 3", "--set=lr=", "--set=lr=1 "})
    CHECK(run({"--synthetic", "--quiet", wrong}) == 1);
  CHECK(run({"--synthetic", "--quiet", "--steps=1", "--set=lr=1e-2",
             "--seed=18446744073709551615", "--save", path}) == 0);
  CHECK_OK(program.load(path));
  CHECK(program.progress.position.seed == UINT64_MAX);
  CHECK(run({"--synthetic", "--data", path}) == 1);
  CHECK(run({"--data", path}) == 1); // which has no batches
  CHECK(run({"--data", "/"}) == 1);
  CHECK(run({"--synthetic", "--load", "/"}) == 1);
  CHECK(run({"--synthetic", "--bogus"}) == 1);
  // amp-run has the same messages.
  auto parse = [](std::vector<std::string> arguments) {
    std::vector<char *> argv = {const_cast<char *>("step"),
                                const_cast<char *>("--synthetic")};
    for (std::string &argument : arguments)
      argv.push_back(argument.data());
    TrainerOptions options;
    return parseOptions(int(argv.size()), argv.data(), &options);
  };
  CHECK_ERROR(parse({"--last-batch=maybe"}),
              "wrong value of --last-batch: 'maybe', expected drop or keep");
  CHECK_ERROR(parse({"--seeds=0"}), "--seeds must be positive, got 0");
  CHECK_ERROR(parse({"--seeds", "-2"}), "wrong value of --seeds: '-2'");
  CHECK_ERROR(parse({"--seeds=3", "--seed=18446744073709551614"}),
              "--seeds 3 go beyond the largest seed");
  CHECK_ERROR(parse({"--batch-size=0"}), "--batch-size must be positive");
  CHECK_ERROR(parse({"--other-scaler"}), "--other-scaler needs --load");
  CHECK_ERROR(parse({"--other-scaler=1"}), "--other-scaler takes no value");
  CHECK_ERROR(parse({"--plot"}), "unknown option '--plot', or it lacks");
  CHECK_ERROR(parse({"--precision", "fp16"}),
              "'--precision' is an option of amp-run, not of a translated");
  CHECK_ERROR(parse({"--gradient-histogram"}), "is an option of amp-run");
  for (const char *alone : {"load", "save", "predict"})
    CHECK_ERROR(parse({"--seeds=2", std::string("--") + alone, "x"}),
                std::string("--") + alone +
                    " is for a single run, without --seeds");
  CHECK_ERROR(parse({"--seeds=2", "--profile"}), "--profile is for a single");
  CHECK_ERROR(parse({"--seeds=2", "--time=2"}), "--time is for a single run");
  CHECK(run({"--synthetic", "--quiet", "--steps=1", "--batch-size=16"}) == 1);
  CHECK(run({"--synthetic", "--quiet", "--steps=1", "--batch-size=12",
             "--last-batch=keep"}) == 0);
  CHECK(run({"--synthetic", "--quiet", "--plot=" + path + ".html",
             "--metrics-csv=" + path + ".html"}) == 1);
  CHECK(run({"--synthetic", "--quiet", "--plot=/"}) == 1);
  // A second seed starts from the beginning, as if it were the only one.
  auto read = [](const std::string &path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string csvs[] = {path + ".1.csv", path + ".2.csv",
                              path + ".both.csv"};
  CHECK(run({"--synthetic", "--steps=3", "--quiet", "--seed=6", "--seeds=2",
             "--metrics-csv", csvs[2], "--plot", path + ".html"}) == 0);
  std::string both = read(csvs[2]),
              second = both.substr(both.find("\nas written,7,") + 1);
  CHECK(both.find("as written,6,3,0,") != std::string::npos);
  CHECK(read(path + ".html").find("<h2>Loss scale</h2>") != std::string::npos);
  Program restarted(kProgram), fresh(kProgram);
  CHECK_OK(restarted.create({}));
  setBatch(restarted);
  CHECK_OK(restarted.run(2));
  CHECK_OK(restarted.restart(7));
  ProgramOptions seven;
  seven.seed = 7;
  CHECK_OK(fresh.create(seven));
  setBatch(fresh);
  for (Program *each : {&restarted, &fresh})
    CHECK_OK(each->run(3));
  CHECK(same(stateOf(restarted), stateOf(fresh)));
  CHECK(std::count(second.begin(), second.end(), '\n') == 3);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  testTraining();
  testGraph();
  testDevices();
  testBatches();
  testFiles(argv[1]);
  testErrors();
  testTrainer(argv[1]);
  return finish();
}
