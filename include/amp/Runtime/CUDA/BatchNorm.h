//===- BatchNorm.h - Batch normalisation ------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// train.batch_norm_training, train.batch_norm_inference and their gradients,
// also with a residual and a relu. Batch norm normalises columns, which are the
// channels, of matrices of pixels. Statistics, gains and their gradients are
// f32. Squares are summed of distances from one pixel of the channel. Nothing
// cancels when the mean is large against the deviation.
//
// A relu leaves a bit mask for its gradient: bit i % 8 of byte i / 8 tells
// whether element i is positive. The channels are then a multiple of 8.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_BATCHNORM_H
#define AMP_RUNTIME_CUDA_BATCHNORM_H

#include "amp/Runtime/CUDA/Reduce.h"

namespace amp::cuda {

/// A residual and a mask that are not there.
struct NoResidual {};
struct NoMask {};
/// The mask of a relu that an earlier kernel has written.
struct WrittenMask {};

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Calls `body(at, coefficients)` for `Lanes` that together cover a matrix of
/// `rows` x `channels`, where `Width` divides the channels. `coefficients` are
/// `read(channel)` of the first lane. A thread reads them once if it stays in
/// its channels, which it does for most powers of two.
template <int Width, typename Read, typename Body>
AMP_DEVICE void forEachChannel(int64_t rows, int64_t channels, Read read,
                               Body body) {
  const int64_t threads = int64_t(gridDim.x) * blockDim.x;
  const int64_t count = rows * channels, step = threads * Width;
  int64_t index = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) * Width;
  if (index >= count)
    return;
  const int64_t advance = step % channels;
  int64_t channel = index % channels;
  auto coefficients = read(channel);
#pragma unroll 1
  for (; index < count; index += step) {
    body(Lanes<Width>{index}, coefficients);
    if (advance == 0)
      continue;
    channel += advance;
    channel -= channel >= channels ? channels : 0;
    coefficients = read(channel);
  }
}

/// The bits of the mask for the 8 lanes at `index`.
AMP_DEVICE unsigned loadBits(const int8_t *mask, int64_t index) {
  return unsigned(loadOne(mask + index / 8));
}
/// Without a mask, all bits are set.
AMP_DEVICE unsigned loadBits(NoMask, int64_t) { return ~0u; }

/// Keeps the lanes whose bits are set and sets the others to zero.
template <int Width>
AMP_DEVICE Pack<float, Width> selectLanes(Pack<float, Width> values,
                                          unsigned bits) {
#pragma unroll
  for (int lane = 0; lane < Width; ++lane)
    values[lane] = bits >> lane & 1 ? values[lane] : 0.0f;
  return values;
}

/// The width of kernels over `channels` channels: 8, or 1 if 8 does not divide
/// them. Launches `wide` or `narrow`.
template <typename... Parameters, typename... Arguments>
Status launchChannels(const char *name, cudaStream_t stream, int64_t rows,
                      int64_t channels, void (*wide)(Parameters...),
                      void (*narrow)(Parameters...), Arguments... arguments) {
  const bool isWide = channels % 8 == 0;
  return launch(name, stream, elementwiseShape(rows * channels, isWide ? 8 : 1),
                isWide ? wide : narrow, arguments..., rows, channels);
}
template <typename... Parameters, typename... Arguments>
Status launchChannelSums(const char *name, cudaStream_t stream, int64_t rows,
                         int64_t channels, void (*wide)(Parameters...),
                         void (*narrow)(Parameters...),
                         Arguments... arguments) {
  const bool isWide = channels % 8 == 0;
  return launch(name, stream, columnShape(rows, channels, 2, isWide ? 8 : 1),
                isWide ? wide : narrow, arguments..., rows, channels);
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// The statistics that `batchNormForward` writes.
struct BatchNormStatistics {
  float *mean, *rstd, *newRunningMean, *newRunningVar;
  const float *runningMean, *runningVar;
  float momentum, epsilon;
};

template <int Width, typename X>
__global__ void __launch_bounds__(kThreads, kBlocks / 2)
    batchNormStatisticsKernel(BatchNormStatistics s, const X *x,
                              const uint8_t *guard, TwoSums *partials,
                              unsigned *arrivalCounters, int64_t rows,
                              int64_t channels) {
  const double count = double(rows);
  reduceColumns<TwoSums, Width>(
      rows, channels, partials, arrivalCounters,
      [=](auto at, int64_t, int64_t column) {
        // Subtract the first pixel, which all partial sums share.
        const auto origin = load<at.width>(x + column);
        const auto values = at.load(x);
        Pack<TwoSums, at.width> result;
#pragma unroll
        for (int lane = 0; lane < at.width; ++lane) {
          const float d = values[lane] - origin[lane];
          result[lane] = {d, d * d};
        }
        return result;
      },
      [=](int64_t column, TwoSums sums) {
        // One thread of a channel corrects the sums in f64: the mean and the
        // variance are then as near to exact ones as the sums.
        const double offset = double(sums.first) / count;
        const double exactMean = double(loadOne(x + column)) + offset;
        const double difference =
            double(sums.second) - double(sums.first) * offset;
        const double squares = difference < 0.0 ? 0.0 : difference;
        const float mean = float(exactMean);
        storeOne(s.mean + column, mean);
        storeOne(s.rstd + column,
                 1.0f / sqrtf(float(squares / count) + s.epsilon));
        // The running variance takes the unbiased variance.
        const float unbiased = float(squares / (count - 1.0));
        const bool moves = guarded(guard);
        auto move = [=](float running, float batch) {
          return moves ? running * (1.0f - s.momentum) + batch * s.momentum
                       : running;
        };
        storeOne(s.newRunningMean + column,
                 move(loadOne(s.runningMean + column), mean));
        storeOne(s.newRunningVar + column,
                 move(loadOne(s.runningVar + column), unbiased));
      });
}

/// The per-channel numbers of a normalisation.
template <int Width>
struct BatchNormGain {
  Pack<float, Width> center, factor, gain, shift;
};

/// v = (x - mean) · rstd · gamma + beta + residual. y is v, or with a mask
/// max(v, 0), whose signs go to the mask. For inference, the variance takes the
/// place of rstd.
template <int Width, bool Inference, typename Y, typename X, typename Residual,
          typename Mask>
__global__ void __launch_bounds__(kThreads, kBlocks)
    batchNormApplyKernel(Y *y, Mask mask, const X *x, Residual residual,
                         const float *gamma, const float *beta,
                         const float *mean, const float *rstd, float epsilon,
                         int64_t rows, int64_t channels) {
  constexpr bool isRelu = !std::is_same_v<Mask, NoMask>;
  constexpr bool writesMask = std::is_pointer_v<Mask>;
  constexpr bool hasResidual = !std::is_same_v<Residual, NoResidual>;
  forEachChannel<Width>(
      rows, channels,
      [=](int64_t channel) {
        BatchNormGain<Width> result = {
            load<Width>(mean + channel), load<Width>(rstd + channel),
            load<Width>(gamma + channel), load<Width>(beta + channel)};
        if (Inference) {
#pragma unroll
          for (int lane = 0; lane < Width; ++lane)
            result.factor[lane] = 1.0f / sqrtf(result.factor[lane] + epsilon);
        }
        return result;
      },
      [=](auto at, const BatchNormGain<Width> &s) {
        const auto values = at.load(x);
        auto out = Pack<float, Width>::of(0.0f);
        if constexpr (hasResidual)
          out = at.load(residual);
        unsigned bits = 0;
#pragma unroll
        for (int lane = 0; lane < Width; ++lane) {
          const float normal =
              (values[lane] - s.center[lane]) * s.factor[lane] * s.gain[lane] +
              s.shift[lane];
          out[lane] = hasResidual ? normal + out[lane] : normal;
          if (isRelu)
            out[lane] = maximum(roundThrough<Y>(out[lane]), 0.0f);
          bits |= unsigned(isRelu && out[lane] > 0.0f) << lane;
        }
        at.store(y, out);
        if constexpr (writesMask)
          storeOne(mask + at.index / 8, int8_t(bits));
      });
}

/// y = (x - mean) · rstd · gamma + beta + residual per channel, over `rows`
/// pixels of `channels`. The new running statistics are (1 - momentum) ·
/// running + momentum · batch, where the variance takes the unbiased one.
/// `newRunningMean` and `newRunningVar` receive them and may be the old ones.
/// With `guard` false they keep their value. `scratch` has
/// `batchNormForwardScratchBytes`. `mask` is NoMask or receives the signs of y,
/// which is then at least 0. `residual` may be NoResidual.
template <typename Y, typename X, typename Residual, typename Mask>
Status launchBatchNorm(cudaStream_t stream, const BatchNormStatistics &s, Y *y,
                       Mask mask, const X *x, const float *gamma,
                       const float *beta, Residual residual, int64_t rows,
                       int64_t channels, const uint8_t *guard, void *scratch,
                       unsigned *arrivalCounters) {
  AMP_RETURN_IF_ERROR(launchChannelSums(
      "batch_norm_statistics", stream, rows, channels,
      batchNormStatisticsKernel<8, X>, batchNormStatisticsKernel<1, X>, s, x,
      guard, static_cast<TwoSums *>(scratch), arrivalCounters));
  // A mask has 8 bits in each element.
  constexpr int narrow = std::is_same_v<Mask, NoMask> ? 1 : 8;
  return launchChannels(
      "batch_norm", stream, rows, channels,
      batchNormApplyKernel<8, false, Y, X, Residual, Mask>,
      batchNormApplyKernel<narrow, false, Y, X, Residual, Mask>, y, mask, x,
      residual, gamma, beta, static_cast<const float *>(s.mean),
      static_cast<const float *>(s.rstd), s.epsilon);
}

template <typename Y, typename X>
Status batchNormForward(cudaStream_t stream, Y *y, float *mean, float *rstd,
                        float *newRunningMean, float *newRunningVar, const X *x,
                        const float *gamma, const float *beta,
                        const float *runningMean, const float *runningVar,
                        int64_t rows, int64_t channels, float momentum,
                        float epsilon, const uint8_t *guard, void *scratch,
                        unsigned *arrivalCounters) {
  return launchBatchNorm(stream,
                         {mean, rstd, newRunningMean, newRunningVar,
                          runningMean, runningVar, momentum, epsilon},
                         y, NoMask(), x, gamma, beta, NoResidual(), rows,
                         channels, guard, scratch, arrivalCounters);
}

/// The same with y = max(…, 0), and its mask.
template <typename Y, typename X>
Status batchNormReluForward(cudaStream_t stream, Y *y, float *mean, float *rstd,
                            float *newRunningMean, float *newRunningVar,
                            int8_t *mask, const X *x, const float *gamma,
                            const float *beta, const float *runningMean,
                            const float *runningVar, int64_t rows,
                            int64_t channels, float momentum, float epsilon,
                            const uint8_t *guard, void *scratch,
                            unsigned *arrivalCounters) {
  return launchBatchNorm(stream,
                         {mean, rstd, newRunningMean, newRunningVar,
                          runningMean, runningVar, momentum, epsilon},
                         y, mask, x, gamma, beta, NoResidual(), rows, channels,
                         guard, scratch, arrivalCounters);
}

/// The same with y = max(… + residual, 0).
template <typename Y, typename X, typename R>
Status batchNormAddReluForward(cudaStream_t stream, Y *y, float *mean,
                               float *rstd, float *newRunningMean,
                               float *newRunningVar, int8_t *mask, const X *x,
                               const float *gamma, const float *beta,
                               const float *runningMean,
                               const float *runningVar, const R *residual,
                               int64_t rows, int64_t channels, float momentum,
                               float epsilon, const uint8_t *guard,
                               void *scratch, unsigned *arrivalCounters) {
  return launchBatchNorm(stream,
                         {mean, rstd, newRunningMean, newRunningVar,
                          runningMean, runningVar, momentum, epsilon},
                         y, mask, x, gamma, beta, residual, rows, channels,
                         guard, scratch, arrivalCounters);
}

/// y of `launchBatchNorm` again, from its statistics.
template <typename Y, typename X, typename Residual, typename Mask>
Status launchBatchNormApply(cudaStream_t stream, Y *y, Mask mask, const X *x,
                            const float *gamma, const float *beta,
                            const float *mean, const float *rstd,
                            Residual residual, int64_t rows, int64_t channels) {
  return launchChannels("batch_norm_apply", stream, rows, channels,
                        batchNormApplyKernel<8, false, Y, X, Residual, Mask>,
                        batchNormApplyKernel<1, false, Y, X, Residual, Mask>, y,
                        mask, x, residual, gamma, beta, mean, rstd, 0.0f);
}

template <typename Y, typename X>
Status batchNormApply(cudaStream_t stream, Y *y, const X *x, const float *gamma,
                      const float *beta, const float *mean, const float *rstd,
                      int64_t rows, int64_t channels) {
  return launchBatchNormApply(stream, y, NoMask(), x, gamma, beta, mean, rstd,
                              NoResidual(), rows, channels);
}

/// The same with y = max(…, 0).
template <typename Y, typename X>
Status batchNormReluApply(cudaStream_t stream, Y *y, const X *x,
                          const float *gamma, const float *beta,
                          const float *mean, const float *rstd, int64_t rows,
                          int64_t channels) {
  return launchBatchNormApply(stream, y, WrittenMask(), x, gamma, beta, mean,
                              rstd, NoResidual(), rows, channels);
}

/// The same with y = max(… + residual, 0).
template <typename Y, typename X, typename R>
Status
batchNormAddReluApply(cudaStream_t stream, Y *y, const X *x, const float *gamma,
                      const float *beta, const float *mean, const float *rstd,
                      const R *residual, int64_t rows, int64_t channels) {
  return launchBatchNormApply(stream, y, WrittenMask(), x, gamma, beta, mean,
                              rstd, residual, rows, channels);
}

/// y = (x - mean) / √(var + epsilon) · gamma + beta.
template <typename Y, typename X>
Status batchNormInference(cudaStream_t stream, Y *y, const X *x,
                          const float *gamma, const float *beta,
                          const float *mean, const float *var, int64_t rows,
                          int64_t channels, float epsilon) {
  return launchChannels("batch_norm_inference", stream, rows, channels,
                        batchNormApplyKernel<8, true, Y, X, NoResidual, NoMask>,
                        batchNormApplyKernel<1, true, Y, X, NoResidual, NoMask>,
                        y, NoMask(), x, NoResidual(), gamma, beta, mean, var,
                        epsilon);
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

/// dx = slope · dy + tilt · (x - mean) + level.
struct BatchNormGradCoefficients {
  float *slope, *tilt, *level;
};

/// Σ dy and Σ dy · x̂ over rows, which are dbeta and dgamma, and the
/// coefficients of dx. A mask selects the gradient of a relu.
template <int Width, typename DY, typename X, typename Mask>
__global__ void __launch_bounds__(kThreads, kBlocks / 2)
    batchNormGainGradKernel(float *dgamma, float *dbeta,
                            BatchNormGradCoefficients c, const DY *dy,
                            Mask mask, const X *x, const float *gamma,
                            const float *means, const float *rstds,
                            TwoSums *partials, unsigned *arrivalCounters,
                            int64_t rows, int64_t channels) {
  const float count = float(rows);
  reduceColumns<TwoSums, Width>(
      rows, channels, partials, arrivalCounters,
      [=](auto at, int64_t, int64_t column) {
        const auto a = at.load(x);
        const auto b =
            selectLanes<at.width>(at.load(dy), loadBits(mask, at.index));
        const auto mean = load<at.width>(means + column);
        const auto rstd = load<at.width>(rstds + column);
        Pack<TwoSums, at.width> result;
#pragma unroll
        for (int lane = 0; lane < at.width; ++lane)
          result[lane] = {b[lane],
                          b[lane] * ((a[lane] - mean[lane]) * rstd[lane])};
        return result;
      },
      [=](int64_t column, TwoSums sums) {
        storeOne(dbeta + column, sums.first);
        storeOne(dgamma + column, sums.second);
        const float rstd = loadOne(rstds + column);
        const float slope = loadOne(gamma + column) * rstd;
        storeOne(c.slope + column, slope);
        storeOne(c.tilt + column, -slope * rstd * (sums.second / count));
        storeOne(c.level + column, -slope * (sums.first / count));
      });
}

/// The per-channel numbers of an input gradient.
template <int Width>
struct BatchNormSlope {
  Pack<float, Width> center, slope, tilt, level;
};

/// dx, and with a residual its gradient, which equals the gradient of the relu.
template <int Width, typename DX, typename DY, typename X, typename Mask,
          typename DR>
__global__ void __launch_bounds__(kThreads, kBlocks / 2)
    batchNormInputGradKernel(DX *dx, DR dresidual, BatchNormGradCoefficients c,
                             const DY *dy, Mask mask, const X *x,
                             const float *means, int64_t rows,
                             int64_t channels) {
  forEachChannel<Width>(
      rows, channels,
      [=](int64_t channel) {
        return BatchNormSlope<Width>{
            load<Width>(means + channel), load<Width>(c.slope + channel),
            load<Width>(c.tilt + channel), load<Width>(c.level + channel)};
      },
      [=](auto at, const BatchNormSlope<Width> &s) {
        const auto a = at.load(x);
        const auto b =
            selectLanes<Width>(at.load(dy), loadBits(mask, at.index));
        Pack<float, Width> out;
#pragma unroll
        for (int lane = 0; lane < Width; ++lane)
          out[lane] =
              s.slope[lane] * b[lane] +
              (s.tilt[lane] * (a[lane] - s.center[lane]) + s.level[lane]);
        at.store(dx, out);
        if constexpr (!std::is_same_v<DR, NoResidual>)
          at.store(dresidual, b);
      });
}

/// dx = gamma · rstd · (dy - mean dy - x̂ · mean(dy · x̂)); dgamma = Σ dy · x̂,
/// dbeta = Σ dy. dx may be dy. `scratch` has `batchNormBackwardScratchBytes`.
/// `mask` is NoMask or selects the gradient of a relu, which takes the place of
/// dy and goes to `dresidual` if that is not NoResidual.
template <typename DX, typename DR, typename DY, typename Mask, typename X>
Status launchBatchNormGrad(cudaStream_t stream, DX *dx, float *dgamma,
                           float *dbeta, DR dresidual, const DY *dy, Mask mask,
                           const X *x, const float *gamma, const float *mean,
                           const float *rstd, int64_t rows, int64_t channels,
                           void *scratch, unsigned *arrivalCounters) {
  auto *numbers = static_cast<float *>(scratch);
  const BatchNormGradCoefficients c = {numbers, numbers + channels,
                                       numbers + 2 * channels};
  auto *partials = reinterpret_cast<TwoSums *>(
      static_cast<char *>(scratch) + batchNormCoefficientBytes(channels));
  constexpr int narrow = std::is_same_v<Mask, NoMask> ? 1 : 8;
  AMP_RETURN_IF_ERROR(launchChannelSums(
      "batch_norm_gain_grad", stream, rows, channels,
      batchNormGainGradKernel<8, DY, X, Mask>,
      batchNormGainGradKernel<narrow, DY, X, Mask>, dgamma, dbeta, c, dy, mask,
      x, gamma, mean, rstd, partials, arrivalCounters));
  return launchChannels("batch_norm_input_grad", stream, rows, channels,
                        batchNormInputGradKernel<8, DX, DY, X, Mask, DR>,
                        batchNormInputGradKernel<narrow, DX, DY, X, Mask, DR>,
                        dx, dresidual, c, dy, mask, x, mean);
}

template <typename DX, typename DY, typename X>
Status batchNormBackward(cudaStream_t stream, DX *dx, float *dgamma,
                         float *dbeta, const DY *dy, const X *x,
                         const float *gamma, const float *mean,
                         const float *rstd, int64_t rows, int64_t channels,
                         void *scratch, unsigned *arrivalCounters) {
  return launchBatchNormGrad(stream, dx, dgamma, dbeta, NoResidual(), dy,
                             NoMask(), x, gamma, mean, rstd, rows, channels,
                             scratch, arrivalCounters);
}

/// The same, where `mask` selects dy.
template <typename DX, typename DY, typename X>
Status batchNormReluBackward(cudaStream_t stream, DX *dx, float *dgamma,
                             float *dbeta, const DY *dy, const int8_t *mask,
                             const X *x, const float *gamma, const float *mean,
                             const float *rstd, int64_t rows, int64_t channels,
                             void *scratch, unsigned *arrivalCounters) {
  return launchBatchNormGrad(stream, dx, dgamma, dbeta, NoResidual(), dy, mask,
                             x, gamma, mean, rstd, rows, channels, scratch,
                             arrivalCounters);
}

/// The same, where `dresidual` receives the selected dy, which it may be.
template <typename DX, typename DR, typename DY, typename X>
Status batchNormAddReluBackward(cudaStream_t stream, DX *dx, float *dgamma,
                                float *dbeta, DR *dresidual, const DY *dy,
                                const int8_t *mask, const X *x,
                                const float *gamma, const float *mean,
                                const float *rstd, int64_t rows,
                                int64_t channels, void *scratch,
                                unsigned *arrivalCounters) {
  return launchBatchNormGrad(stream, dx, dgamma, dbeta, dresidual, dy, mask, x,
                             gamma, mean, rstd, rows, channels, scratch,
                             arrivalCounters);
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_BATCHNORM_H
