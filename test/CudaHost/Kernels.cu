//===- Kernels.cu - Loops and reductions ------------------------*- C++ -*-===//
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
#include "amp/Runtime/CUDA/Reduce.h"

using namespace amp::cuda;
using namespace amp::cuda::testing;

using KernelResults = std::vector<std::vector<double>>;

template <typename T>
__global__ void biasRelu(T *out, const T *x, const T *bias, const float *rows,
                         const float *scale, int64_t count, int64_t columns,
                         const uint8_t *guard) {
  if (!guarded(guard))
    return;
  elementwise<kVectorWidth<T>>(count, [=](auto at) {
    auto a = at.load(x);
    auto b = at.column(bias, columns);
    auto c = at.row(rows, columns);
    auto d = at.scalar(scale);
    at.store(out, at.map([](float a, float b, float c,
                            float d) { return maximum(a * d + b + c, 0.0f); },
                         a, b, c, d));
  });
}

template <typename T>
static void testElementwise(int64_t rows, int64_t columns, bool guard) {
  inAllOrders("elementwise", [&] {
    int64_t count = rows * columns;
    auto x = randomValues<T>(count, 1), bias = randomValues<T>(columns, 2);
    auto perRow = randomValues<float>(rows, 3);
    Buffer<T> dx(x), dBias(bias), out(std::vector<double>(count, 7.0));
    Buffer<float> dRow(perRow), scale(std::vector<double>{0.5});
    Buffer<uint8_t> flag(std::vector<double>{guard ? 1.0 : 0.0});
    host::clearLaunches();
    CHECK_OK(launch("bias_relu", nullptr,
                    elementwiseShape(count, kVectorWidth<T>), biasRelu<T>,
                    out.get(), dx.get(), dBias.get(), dRow.get(), scale.get(),
                    count, columns, flag.get()));
    std::vector<double> expected(count, 7.0);
    for (int64_t i = 0; guard && i < count; ++i)
      expected[i] =
          std::max(x[i] * 0.5 + bias[i % columns] + perRow[i / columns], 0.0);
    auto result = out.read();
    CHECK_NEAR(result, expected, epsilonOf<T>());
    CHECK(host::launches().size() == 1);
    CHECK(host::launches()[0].name == "bias_relu");
    uint64_t stored = guard ? uint64_t(count) * sizeof(T) : 0;
    CHECK(host::launches()[0].bytesStored == stored);
    return KernelResults{result};
  });
}

__global__ void transpose(float *out, const float *in, int64_t rows,
                          int64_t columns) {
  elementwise<4>(rows * columns, [=](auto at) {
    at.store(out, at.gather(in, [=](int64_t i) {
      return i % rows * columns + i / rows;
    }));
  });
}

static void testGather() {
  inAllOrders("gather", [] {
    auto x = randomValues<float>(7 * 13, 1);
    Buffer<float> in(x), out(7 * 13);
    CHECK_OK(launch("transpose", nullptr, elementwiseShape(7 * 13, 4),
                    transpose, out.get(), in.get(), int64_t(7), int64_t(13)));
    std::vector<double> expected(7 * 13);
    for (int i = 0; i < 7; ++i)
      for (int j = 0; j < 13; ++j)
        expected[j * 7 + i] = x[i * 13 + j];
    CHECK_NEAR(out.read(), expected, 0.0);
    return KernelResults{};
  });
}

template <typename T, int ThreadsPerRow>
__global__ void rowSums(float *sums, float *maxima, const T *x, int64_t rows,
                        int64_t columns) {
  reduceRows<Sum<float>, ThreadsPerRow, kVectorWidth<T>>(
      rows, columns, [=](auto at, int64_t, int64_t) { return at.load(x); },
      [=](int64_t row, float sum) { storeOne(sums + row, sum); });
  reduceRows<Maximum, ThreadsPerRow, 1>(
      rows, columns, [=](auto at, int64_t, int64_t) { return at.load(x); },
      [=](int64_t row, float most) { storeOne(maxima + row, most); });
}

template <typename T, int ThreadsPerRow>
static void testRows(int64_t rows, int64_t columns) {
  inAllOrders("rows", [&] {
    auto x = randomValues<T>(rows * columns, 4);
    std::vector<double> sums(rows, 0.0), maxima(rows, -INFINITY);
    if (rows > 2)
      x[2 * columns] = NAN;
    for (int64_t i = 0; i < rows * columns; ++i) {
      sums[i / columns] += x[i];
      double &most = maxima[i / columns];
      most = std::isnan(x[i]) || std::isnan(most) ? NAN : std::max(most, x[i]);
    }
    Buffer<T> dx(x);
    Buffer<float> s(rows), m(rows);
    CHECK_OK(launch("row_sums", nullptr, rowShape<ThreadsPerRow>(rows),
                    rowSums<T, ThreadsPerRow>, s.get(), m.get(), dx.get(), rows,
                    columns));
    auto result = s.read();
    CHECK_NEAR(result, sums, 1e-5);
    CHECK_NEAR(m.read(), maxima, 0.0);
    return KernelResults{result};
  });
}

template <typename T>
__global__ void total(float *out, const T *x, int64_t count, float *partials,
                      unsigned *arrivalCounter) {
  reduceAll<Sum<float>, kVectorWidth<T>>(
      count, partials, arrivalCounter, [=](auto at) { return at.load(x); },
      [=](float sum) { storeOne(out, sum); });
}

template <typename T>
static void testAll(int64_t count) {
  ArrivalCounters arrivalCounters;
  inAllOrders("all", [&] {
    auto x = randomValues<T>(count, 5);
    double sum = 0;
    for (double &value : x) {
      value = std::fabs(value);
      sum += value;
    }
    Buffer<T> dx(x);
    Buffer<float> out(1), partials(reduceScratchBytes(count) / 4);
    for (int repeat = 0; repeat < 2; ++repeat) {
      CHECK_OK(launch("total", nullptr, reduceShape(count), total<T>, out.get(),
                      dx.get(), count, partials.get(),
                      arrivalCounters.get() + 3));
      CHECK_NEAR(out.read(), std::vector<double>(1, sum), 1e-5);
    }
    CHECK(arrivalCounters.areZero());
    return KernelResults{out.read()};
  });
}

template <typename T, int Width>
__global__ void columnSums(float *out, const T *x, int64_t rows,
                           int64_t columns, float *partials,
                           unsigned *arrivalCounters) {
  reduceColumns<Sum<float>, Width>(
      rows, columns, partials, arrivalCounters,
      [=](auto at, int64_t, int64_t) { return at.load(x); },
      [=](int64_t column, float sum) { storeOne(out + column, sum); });
}

template <typename T, int Width>
static void testColumns(int64_t rows, int64_t columns) {
  ArrivalCounters arrivalCounters;
  inAllOrders("columns", [&] {
    auto x = randomValues<T>(rows * columns, 6);
    std::vector<double> sums(columns, 0.0);
    for (int64_t i = 0; i < rows * columns; ++i)
      sums[i % columns] += x[i];
    Buffer<T> dx(x);
    Buffer<float> out(columns), partials(columnScratchBytes(rows, columns) / 4);
    CHECK_OK(launch("column_sums", nullptr, columnShape(rows, columns),
                    columnSums<T, Width>, out.get(), dx.get(), rows, columns,
                    partials.get(), arrivalCounters.get()));
    CHECK_NEAR(out.read(), sums, 1e-5);
    CHECK(arrivalCounters.areZero());
    return KernelResults{out.read()};
  });
}

__global__ void markImages(unsigned *marks, int64_t images, int size) {
  forEachImageIndex<10>(images, size, [=](int64_t image, int i) {
    atomicInc(marks + image * size + i, 100);
  });
}

/// Images of which few, or one, fit into the range of the index.
static void testImages() {
  for (int size : {1, 3, 10})
    for (int64_t images : {0, 1, 3, 7, 40}) {
      Buffer<unsigned> marks(std::vector<double>(size_t(images * size), 0.0));
      LaunchShape shape;
      shape.grid.x = 2;
      CHECK_OK(launch("mark_images", nullptr, shape, markImages, marks.get(),
                      images, size));
      CHECK(marks.read() == std::vector<double>(size_t(images * size), 1.0));
    }
}

static void testTypes() {
  // Rounding to nearest even, subnormals, overflow.
  CHECK(widen(roundTo<__half>(65519.0f)) == 65504.0f);
  CHECK(widen(roundTo<__half>(65520.0f)) == INFINITY);
  CHECK(widen(roundTo<__half>(-1e9f)) == -INFINITY);
  CHECK(widen(roundTo<__half>(2049.0f)) == 2048.0f);
  CHECK(widen(roundTo<__half>(2051.0f)) == 2052.0f);
  CHECK(widen(roundTo<__half>(0x1p-24f)) == 0x1p-24f);
  CHECK(widen(roundTo<__half>(0x1p-25f)) == 0.0f);
  CHECK(widen(roundTo<__half>(0x1.8p-25f)) == 0x1p-24f);
  CHECK(widen(roundTo<__half>(0x1.ffcp-15f)) == 0x1.ffcp-15f ||
        widen(roundTo<__half>(0x1.ffcp-15f)) == 0x1p-14f);
  CHECK(std::isnan(widen(roundTo<__half>(NAN))));
  CHECK(widen(roundTo<__nv_bfloat16>(257.0f)) == 256.0f);
  CHECK(widen(roundTo<__nv_bfloat16>(259.0f)) == 260.0f);
  CHECK(widen(roundTo<__nv_bfloat16>(3.4e38f)) == INFINITY);
  CHECK(widen(roundTo<__nv_bfloat16>(0x1p-133f)) == 0x1p-133f);
  CHECK(std::isnan(widen(roundTo<__nv_bfloat16>(NAN))));
  // Every f16 and bf16 survives a round trip.
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    __half h = {uint16_t(bits)};
    __nv_bfloat16 b = {uint16_t(bits)};
    if ((bits & 0x7fff) <= 0x7c00)
      CHECK(roundTo<__half>(widen(h)).bits == bits);
    if ((bits & 0x7fff) <= 0x7f80)
      CHECK(roundTo<__nv_bfloat16>(widen(b)).bits == bits);
  }
  CHECK(std::isnan(maximum(NAN, 1.0f)) && std::isnan(maximum(1.0f, NAN)));
  CHECK(std::isnan(minimum(NAN, 1.0f)) && std::isnan(minimum(1.0f, NAN)));
  CHECK(!std::signbit(maximum(-0.0f, 0.0f)));
  CHECK(!std::signbit(maximum(0.0f, -0.0f)));
  CHECK(std::signbit(minimum(0.0f, -0.0f)));
  CHECK(isFinite(3.4e38f) && !isFinite(INFINITY) && !isFinite(NAN));
}

int main() {
  testTypes();
  testImages();
  for (bool guard : {true, false}) {
    testElementwise<float>(13, 24, guard);
    testElementwise<__half>(5, 9, guard);
  }
  testElementwise<__nv_bfloat16>(33, 16, true);
  testElementwise<__half>(1, 1, true);
  testElementwise<float>(3, 1001, true);
  testGather();
  testRows<__half, 32>(9, 64);
  testRows<float, 32>(5, 37);
  testRows<__half, kThreads>(3, 2048);
  testRows<float, kThreads>(4, 1023);
  testRows<__nv_bfloat16, 32>(1, 1);
  testAll<float>(1);
  testAll<__half>(4095);
  testAll<float>(20011);
  testColumns<float, 2>(200, 10);
  testColumns<__half, 1>(129, 67);
  testColumns<__nv_bfloat16, 2>(3, 200);
  testColumns<float, 1>(1, 1);
  // Parts in one team, in several, and in an incomplete one.
  testColumns<float, 2>(2048, 64);
  testColumns<float, 2>(2049, 64);
  testColumns<__half, 1>(4200, 65);
  return finish();
}
