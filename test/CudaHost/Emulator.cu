//===- Emulator.cu - The emulator finds faults of kernels -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels and programs with one mistake each, of kinds that a GPU shows rarely
// or never. The emulator must report each.
//
// RUN: %cuda_host_cxx %s %cuda_host_lib -o %t && %t
//
//===----------------------------------------------------------------------===//

#include "amp/CudaHost/Testing.h"
#include "amp/Runtime/CUDA/Gemm.h"
#include "amp/Runtime/CUDA/Graph.h"
#include "amp/Runtime/CUDA/Optimizer.h"
#include "amp/Runtime/CUDA/Profile.h"

#include <algorithm>

using namespace amp::cuda;
using namespace amp::cuda::testing;

using Values = std::vector<double>;

/// Whether the emulator recorded exactly one violation, whose text contains
/// `text`. The next call that waits reports it.
static bool violated(const char *text) {
  Status status = check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  bool found = !host::violations().empty() && !status.isOk() &&
               status.getMessage().find(text) != std::string::npos;
  if (!found)
    std::printf("expected a violation with '%s', got '%s'\n", text,
                host::violations().empty() ? ""
                                           : host::violations()[0].c_str());
  host::clearViolations();
  return found;
}

template <typename... P, typename... A>
static void run(LaunchShape shape, void (*kernel)(P...), A... arguments) {
  CHECK_OK(launch("faulty", nullptr, shape, kernel, arguments...));
}

static LaunchShape oneBlock(size_t sharedBytes = 0) {
  LaunchShape shape;
  shape.sharedBytes = sharedBytes;
  return shape;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// A block sum. Without the barrier, threads read values that are not yet
/// written.
template <bool Barrier>
__global__ void blockSum(float *out, const float *x) {
  auto *shared = sharedMemory<float>();
  shared[threadIdx.x] = loadOne(x + threadIdx.x);
  if (Barrier)
    __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int i = 0; i < kThreads; ++i)
      sum += shared[i];
    storeOne(out, sum);
  }
}

static void testBarrier() {
  Buffer<float> x(Values(kThreads, 1.0)), out(1);
  for (bool barrier : {true, false}) {
    int wrong = 0;
    for (auto order : {host::Order::Ascending, host::Order::Descending,
                       host::Order::Random}) {
      host::options().order = order;
      run(oneBlock(kThreads * 4), barrier ? blockSum<true> : blockSum<false>,
          out.get(), static_cast<const float *>(x.get()));
      wrong += out.read()[0] != kThreads;
    }
    CHECK(barrier ? wrong == 0 : wrong >= 2);
  }
  host::options().order = host::Order::Ascending;
}

/// A barrier that half of the threads reach.
__global__ void divergentBarrier() {
  if (threadIdx.x < kThreads / 2)
    __syncthreads();
}

/// A shuffle that some lanes do not take part in.
__global__ void divergentShuffle(float *out) {
  if (threadIdx.x % 32 < 7)
    storeOne(out, reduceWarp<Sum<float>>(1.0f));
}

/// Shifts by one in place: each thread reads what another one writes.
__global__ void shift(float *x) {
  elementwise<1>(kThreads - 1, [=](auto at) {
    storeOne(x + at.index, loadOne(x + at.index + 1));
  });
}

/// Every block adds to one element.
__global__ void lostUpdates(float *x) {
  if (threadIdx.x == 0)
    storeOne(x, loadOne(x) + 1.0f);
}

/// Reads the other blocks' results without incrementing an arrival counter.
__global__ void noArrivalCounter(float *partials, float *out) {
  if (threadIdx.x == 0)
    storeOne(partials + blockIdx.x, 1.0f);
  __syncthreads();
  if (threadIdx.x == 0 && blockIdx.x == gridDim.x - 1)
    storeOne(out, loadPartial(partials) + 1.0f);
}

/// Increments the arrival counter without a fence before it.
__global__ void noFence(float *partials, float *out, unsigned *arrivalCounter) {
  auto *last = sharedMemory<unsigned>();
  if (threadIdx.x == 0) {
    storeOne(partials + blockIdx.x, 1.0f);
    *last = atomicInc(arrivalCounter, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (threadIdx.x == 0 && *last)
    for (unsigned i = 0; i < gridDim.x; ++i)
      storeOne(out, loadPartial(partials + i));
}

__global__ void outOfBounds(float *x, int64_t index) {
  if (threadIdx.x == 0)
    storeOne(x + index, 1.0f);
}

__global__ void misaligned(float *out, const float *x) {
  if (threadIdx.x == 0)
    store(out, load<4>(x + 1));
}

__global__ void sharedOverrun() { sharedMemory<float>()[kThreads] = 1.0f; }

static void testKernels() {
  Buffer<float> x(Values(kThreads, 1.0)), out(4);
  Buffer<unsigned> arrivalCounter(Values{0});
  LaunchShape two = oneBlock(16);
  two.grid.x = 2;
  run(oneBlock(), divergentBarrier);
  CHECK(violated("128 of 256 threads wait at a barrier, 128 have ended"));
  run(oneBlock(), divergentShuffle, out.get());
  CHECK(violated("wait for a shuffle"));
  run(oneBlock(), shift, x.get());
  CHECK(violated("race on global memory"));
  run(two, lostUpdates, x.get());
  CHECK(violated("race on global memory that another thread wrote"));
  run(two, noArrivalCounter, x.get(), out.get());
  CHECK(violated("race"));
  run(two, noFence, x.get(), out.get(), arrivalCounter.get());
  CHECK(violated("race"));
  run(oneBlock(), outOfBounds, x.get(), int64_t(kThreads));
  CHECK(violated("kernel 'faulty', block 0, thread 0: store of 4 bytes "
                 "outside of device memory"));
  std::vector<float> onTheHost(4);
  run(oneBlock(), outOfBounds, onTheHost.data(), int64_t(0));
  CHECK(violated("outside of device memory"));
  run(oneBlock(), misaligned, out.get(), static_cast<const float *>(x.get()));
  CHECK(violated("16 bytes at an address that is not a multiple"));
  run(oneBlock(16), sharedOverrun);
  CHECK(violated("shared memory written beyond the 16 bytes"));
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// A product whose description is wrong differs from the right one, or is
/// rejected.
static void testProducts() {
  constexpr int64_t m = 4, n = 6, k = 5;
  Values a = randomValues<float>(m * k, 1), b = randomValues<float>(k * n, 2);
  Buffer<float> dA(a), dB(b);
  Values right(m * n);
  for (int64_t i = 0; i < m * n; ++i)
    for (int64_t l = 0; l < k; ++l)
      right[i] += a[i / n * k + l] * b[l * n + i % n];
  auto product = [&](auto change) -> Values {
    GemmConfig config;
    config.m = m;
    config.n = n;
    config.k = k;
    change(config);
    Buffer<float> d(Values(256, 0.0));
    GemmPlans plans;
    GemmBuffers buffers;
    buffers.a = dA.get();
    buffers.b = dB.get();
    buffers.d = d.get();
    Status status = plans.create(&config, 1, nullptr, 0);
    if (status.isOk())
      status = plans.run(0, buffers, nullptr);
    host::clearViolations();
    Values result = d.read();
    result.resize(m * n);
    return result;
  };
  auto differs = [&](const Values &values) {
    double worst = 0;
    for (size_t i = 0; i < right.size(); ++i)
      worst = std::max(worst, std::fabs(values[i] - right[i]));
    return worst > 1e-3;
  };
  CHECK(!differs(product([](GemmConfig &) {})));
  CHECK(differs(product([](GemmConfig &g) { std::swap(g.m, g.n); })));
  CHECK(differs(product([](GemmConfig &g) { g.transposeA = true; })));
  CHECK(differs(product([](GemmConfig &g) { g.transposeB = true; })));
  CHECK(differs(product([](GemmConfig &g) { g.strideB = n + 1; })));
  CHECK(differs(product([](GemmConfig &g) { g.strideD = n + 1; })));
  CHECK(differs(product([](GemmConfig &g) { g.strideA = k + 1; })));
}

/// Buffers of a plan that overlap while both are live.
static void testOverlap() {
  auto chain = [](int64_t offset) {
    // y = x + 1 at `offset`, z = x + y: x must still be there.
    Buffer<float> arena(1024), z(256);
    std::vector<float> ones(256, 1.0f);
    cudaMemcpy(arena.get(), ones.data(), 1024, cudaMemcpyHostToDevice);
    float *x = arena.get(), *y = arena.get() + offset;
    auto add = [](float *out, const float *a, const float *b) {
      elementwise<4>(256, [=](auto at) {
        at.store(out, at.map([](float a, float b) { return a + b; }, at.load(a),
                             at.load(b)));
      });
    };
    void (*kernel)(float *, const float *, const float *) = add;
    run(elementwiseShape(256, 4), kernel, y, static_cast<const float *>(x),
        static_cast<const float *>(x));
    run(elementwiseShape(256, 4), kernel, z.get(),
        static_cast<const float *>(x), static_cast<const float *>(y));
    Values result = z.read();
    bool right = host::violations().empty();
    for (double value : result)
      right &= value == 3.0;
    host::clearViolations();
    return right;
  };
  CHECK(chain(256));
  CHECK(!chain(128)); // within one launch: a race
  CHECK(!chain(0));   // between launches: a wrong value
}

/// test/CudaHost/Optimizer.cu would notice these by their values.
static void testOptimizer() {
  Buffer<float> w(Values{1, 1}), g(Values{3, 4}), rate(Values{1});
  Buffer<UnscaleState> state(1);
  OptimizerTensor tensor;
  tensor.parameter = w.get();
  tensor.gradient = g.get();
  tensor.count = 2;
  Buffer<unsigned char> memory(size_t(optimizerTableBytes(1)));
  OptimizerTable table;
  CHECK_OK(writeOptimizerTable(&tensor, 1, memory.get(), &table));
  auto step = [&](float clip, float inverse) {
    float ones[2] = {1, 1};
    cudaMemcpy(w.get(), ones, 8, cudaMemcpyHostToDevice);
    UnscaleState host = {};
    host.inverseScale = inverse;
    host.clipFactor = clip;
    cudaMemcpy(state.get(), &host, sizeof(host), cudaMemcpyHostToDevice);
    CHECK_OK(sgd(nullptr, table, {}, rate, state, nullptr));
    return w.read();
  };
  Values right = step(1.0f / 5, 0.5f);
  CHECK(right != step(1.0f / 25, 0.5f)); // the squared norm
  CHECK(right != step(1.0f / 5, 0.25f)); // the scale of the last step
}

//===----------------------------------------------------------------------===//
// Host
//===----------------------------------------------------------------------===//

__global__ void storeValue(float *x, const float *from) {
  if (threadIdx.x == 0)
    storeOne(x, loadOne(from) + 1.0f);
}

static void testStreams() {
  // No work runs before the host waits.
  cudaStream_t stream, other;
  cudaEvent_t event;
  CHECK(!cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(!cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  CHECK(!cudaEventCreate(&event));
  Buffer<float> x(Values{1}), y(Values{0}), z(Values{0});
  CHECK_OK(launch("store", stream, oneBlock(), storeValue, y.get(),
                  static_cast<const float *>(x.get())));
  CHECK(*y.get() == 0.0f);
  // Without waiting for the event, the second stream would see the old value.
  CHECK(!cudaEventRecord(event, stream));
  CHECK(!cudaStreamWaitEvent(other, event));
  CHECK_OK(launch("store", other, oneBlock(), storeValue, z.get(),
                  static_cast<const float *>(y.get())));
  CHECK(!cudaStreamSynchronize(other));
  CHECK(*y.get() == 2.0f && *z.get() == 3.0f);
  CHECK_OK(launch("store", stream, oneBlock(), storeValue, y.get(),
                  static_cast<const float *>(z.get())));
  CHECK_OK(launch("store", other, oneBlock(), storeValue, z.get(),
                  static_cast<const float *>(y.get())));
  CHECK(!cudaStreamSynchronize(other));
  CHECK(*z.get() == 3.0f); // y was stale: no event
  CHECK(!cudaStreamSynchronize(stream));

  // A captured step runs when it is launched, and synchronising breaks it.
  StepGraph graph;
  CHECK_ERROR(graph.launch(stream), "no step has been captured");
  auto store = [&](cudaStream_t s) {
    return launch("store", s, oneBlock(), storeValue, y.get(),
                  static_cast<const float *>(y.get()));
  };
  CHECK_OK(graph.capture(stream, store));
  float before = *y.get();
  CHECK_OK(graph.launch(stream));
  CHECK_OK(graph.launch(stream));
  CHECK(!cudaStreamSynchronize(stream));
  CHECK(*y.get() == before + 2 && graph.getNumNodes() == 1);
  CHECK_ERROR(graph.capture(stream,
                            [&](cudaStream_t s) {
                              Status status = store(s);
                              cudaStreamSynchronize(s);
                              return status;
                            }),
              "previous error during capture");
  cudaGetLastError();
  CHECK(!cudaEventDestroy(event));
  graph.reset();
  CHECK(!cudaStreamDestroy(stream) && !cudaStreamDestroy(other));
}

static void testConfigurations() {
  Buffer<float> x(Values{1});
  auto fails = [&](LaunchShape shape, const char *text) {
    CHECK_ERROR(launch("bad", nullptr, shape, storeValue, x.get(),
                       static_cast<const float *>(x.get())),
                text);
    cudaGetLastError();
  };
  LaunchShape shape;
  shape.block.x = 2048;
  fails(shape, "bad failed: invalid configuration");
  shape = LaunchShape();
  shape.grid.y = 70000;
  fails(shape, "invalid configuration");
  shape = LaunchShape();
  shape.sharedBytes = 300 * 1024;
  fails(shape, "invalid argument");
  shape.sharedBytes = 100 * 1024;
  CHECK_OK(launch("large", nullptr, shape, storeValue, x.get(),
                  static_cast<const float *>(x.get())));
  CHECK(cudaMemcpy(x.get() + 1, x.get(), 4, cudaMemcpyDeviceToDevice) ==
        cudaErrorInvalidValue);
  cudaGetLastError();
  nvtxRangePop();
  CHECK(violated("a range ends that did not begin"));
  // Fresh memory is NaN.
  Buffer<__half> fresh(3);
  CHECK(std::isnan(fresh.read()[2]));
}

int main() {
  testBarrier();
  testKernels();
  testProducts();
  testOverlap();
  testOptimizer();
  testStreams();
  testConfigurations();
  return finish();
}
