//===- QuantizedNorm.cu - Norms as 8-bit floats -----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks that a kernel which normalises and quantises gives the same bits as a
// norm followed by a launch that quantises its result.
//
// RUN: %cuda_host_cxx %s %cuda_host_lib -o %t && %t
//
//===----------------------------------------------------------------------===//

#include "amp/CudaHost/Testing.h"
#include "amp/Runtime/CUDA/QuantizedNorm.h"

using namespace amp::cuda;
using namespace amp::cuda::testing;

using Values = std::vector<double>;
using KernelResults = std::vector<Values>;

/// The outputs of a norm. Bits of `outputs` select the payload, the transposed
/// payload, the magnitude and the norm itself.
struct Written {
  Buffer<uint8_t> payload, transposed;
  Buffer<float> inverse{1}, amax{1}, mean, rstd;

  Written(const QuantizeConfig &c)
      : payload(size_t(padFloat8(c.rows) * c.columns)),
        transposed(size_t(padFloat8(c.rows) * c.columns)), mean(size_t(c.rows)),
        rstd(size_t(c.rows)) {}

  QuantizeResults results(int outputs) {
    return {outputs & 1 ? payload.get() : nullptr,
            outputs & 2 ? transposed.get() : nullptr, inverse.get(),
            outputs & 4 ? amax.get() : nullptr};
  }
  KernelResults read(int outputs) {
    KernelResults all{rstd.read()};
    if (outputs & 1)
      all.push_back(payload.read());
    if (outputs & 2)
      all.push_back(transposed.read());
    if (outputs & 3)
      all.push_back(inverse.read());
    if (outputs & 4)
      all.push_back(amax.read());
    // NaN does not equal itself.
    for (Values &values : all)
      for (double &value : values)
        value = std::isnan(value) ? -1.0 : value;
    return all;
  }
};

template <typename Y, typename X>
static void testNorm(const QuantizeConfig &config, bool isCentered,
                     double special) {
  inAllOrders("quantized_norm", [&] {
    const int64_t rows = config.rows, columns = config.columns;
    Values x = randomValues<X>(rows * columns, 1, 3.0);
    x[x.size() / 2] = widen(roundTo<X>(float(special)));
    Buffer<X> in(x);
    Buffer<float> gamma(randomValues<float>(columns, 2, 2.0)),
        beta(randomValues<float>(columns, 3, 2.0)), scale(Values{150.0});
    Buffer<float> partials(quantizeParts(rows, columns) +
                           quantizedNormParts(rows, columns));
    ArrivalCounters counters;
    KernelResults all;
    for (int outputs = 1; outputs < 16; ++outputs) {
      if (!(outputs & 7))
        continue;
      Buffer<Y> norm(size_t(rows * columns)), stored(size_t(rows * columns));
      Written apart(config), fused(config);
      const float *scales = outputs & 3 ? scale.get() : nullptr;
      Y *y = outputs & 8 ? stored.get() : nullptr;
      if (isCentered) {
        CHECK_OK(layerNormForward(nullptr, norm.get(), apart.mean.get(),
                                  apart.rstd.get(), in.get(), gamma.get(),
                                  beta.get(), rows, columns, 1e-5f));
        CHECK_OK(quantizedLayerNorm(nullptr, config, fused.results(outputs), y,
                                    fused.mean.get(), fused.rstd.get(),
                                    in.get(), gamma.get(), beta.get(), scales,
                                    1e-5f, partials.get(), counters.get()));
      } else {
        CHECK_OK(rmsNormForward(nullptr, norm.get(), apart.rstd.get(), in.get(),
                                gamma.get(), rows, columns, 1e-5f));
        CHECK_OK(quantizedRMSNorm(nullptr, config, fused.results(outputs), y,
                                  fused.rstd.get(), in.get(), gamma.get(),
                                  scales, 1e-5f, partials.get(),
                                  counters.get()));
      }
      CHECK(counters.areZero());
      CHECK_OK(quantize(nullptr, config, apart.results(outputs), norm.get(),
                        scale.get(), partials.get(), counters.get()));
      const KernelResults written = fused.read(outputs);
      CHECK(written == apart.read(outputs));
      if (isCentered && std::isfinite(special))
        CHECK(fused.mean.read() == apart.mean.read());
      if (y && std::isfinite(special))
        CHECK(stored.read() == norm.read());
      all.insert(all.end(), written.begin(), written.end());
    }
    return all;
  });
}

/// Blocks that process several groups of rows, as those of more than 65,536
/// rows do, write the codes of one block for each group.
static void testFewBlocks() {
  inAllOrders("quantized_norm in few blocks", [&] {
    using Plan = RowPlan<32, 8, 4>;
    const QuantizeConfig config{200, 64, Float8::E4M3, true, true};
    const int64_t rows = config.rows, columns = config.columns;
    Buffer<__half> in(randomValues<__half>(rows * columns, 1, 3.0));
    Buffer<float> gamma(randomValues<float>(columns, 2, 2.0)),
        scale(Values{150.0}), partials(quantizedNormParts(rows, columns));
    ArrivalCounters counters;
    Written many(config), few(config);
    const int outputs = 2;
    CHECK_OK(quantizedRMSNorm(nullptr, config, many.results(outputs),
                              static_cast<__half *>(nullptr), many.rstd.get(),
                              in.get(), gamma.get(), scale.get(), 1e-5f,
                              partials.get(), counters.get()));
    LaunchShape shape;
    shape.grid.x = 2;
    shape.sharedBytes = size_t(kQuantizedNormBytes) +
                        size_t(quantizedNormRows(columns) * (columns + 4));
    CHECK_OK(launch("few", nullptr, shape,
                    quantizedNormKernel<Float8::E4M3, Plan, __half, __half,
                                        NoMean, NoMean>,
                    NormOperands<__half, __half, NoMean, NoMean>{
                        nullptr, NoMean(), few.rstd.get(), in.get(),
                        gamma.get(), NoMean(), 1e-5f},
                    config, few.results(outputs), scale.get(),
                    int(quantizedNormRows(columns)), partials.get(),
                    counters.get()));
    CHECK(many.read(outputs) == few.read(outputs));
    return few.read(outputs);
  });
}

int main() {
  testFewBlocks();
  const auto bf16 = [](int64_t rows, int64_t columns) {
    return QuantizeConfig{rows, columns, Float8::E4M3, true, true};
  };
  for (bool isCentered : {false, true}) {
    // Rows for a warp, rows for a block, and rows that stay in memory; padding;
    // full and partial groups of rows, and groups past the end.
    testNorm<__nv_bfloat16, __nv_bfloat16>(bf16(70, 64), isCentered, 1e9);
    testNorm<__nv_bfloat16, float>(bf16(33, 1520), isCentered, NAN);
    testNorm<__half, __half>({16, 48, Float8::E5M2, false, false}, isCentered,
                             INFINITY);
    testNorm<float, float>({5, 5008, Float8::E5M2, true, false}, isCentered,
                           2.0);
  }
  return finish();
}
