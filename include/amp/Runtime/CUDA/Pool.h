//===- Pool.h - Pooling -----------------------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// train.max_pool2d, train.avg_pool2d and their gradients on NHWC. For each
// element of the input, the gradients gather from the windows that cover it.
// They use no atomics and sum in f32 in the order of the CPU lowering.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_POOL_H
#define AMP_RUNTIME_CUDA_POOL_H

#include "amp/Runtime/CUDA/Elementwise.h"

namespace amp::cuda {

/// The maximum of each window, with padding of -inf. It is NaN if an element
/// is.
template <typename Y, typename X>
Status maxPoolForward(cudaStream_t stream, Y *y, const X *x,
                      const PoolShape &shape);

/// Gives the gradient of each window to its first element, in row-major order,
/// that equals the maximum `y` or is NaN.
template <typename DX, typename X, typename Y, typename DY>
Status maxPoolBackward(cudaStream_t stream, DX *dx, const X *x, const Y *y,
                       const DY *dy, const PoolShape &shape);

/// The sum of each window, with padding of 0, divided by the size of the
/// window.
template <typename Y, typename X>
Status avgPoolForward(cudaStream_t stream, Y *y, const X *x,
                      const PoolShape &shape);

/// The gradient of each window spread evenly over it.
template <typename DX, typename DY>
Status avgPoolBackward(cudaStream_t stream, DX *dx, const DY *dy,
                       const PoolShape &shape);

/// The extents of a pooling in kernels. Indices within an image have 32 bits
/// because 64-bit divisions would cost more than the memory accesses.
/// `verifyPool` checks that 32 bits suffice.
struct PoolIndex {
  int batch, height, width, channels;
  int outHeight, outWidth;
  int windowHeight, windowWidth, strideHeight, strideWidth, padTop, padLeft;

  explicit PoolIndex(const PoolShape &s)
      : batch(int(s.batch)), height(int(s.height)), width(int(s.width)),
        channels(int(s.channels)), outHeight(int(s.outHeight())),
        outWidth(int(s.outWidth())), windowHeight(int(s.windowHeight)),
        windowWidth(int(s.windowWidth)), strideHeight(int(s.strideHeight)),
        strideWidth(int(s.strideWidth)), padTop(int(s.padTop)),
        padLeft(int(s.padLeft)) {}

  /// Row-major indices of elements of the input and of the output.
  AMP_DEVICE int64_t input(int64_t n, int h, int w, int c) const {
    return n * (height * width * channels) + ((h * width + w) * channels + c);
  }
  AMP_DEVICE int64_t output(int64_t n, int h, int w, int c) const {
    return n * (outHeight * outWidth * channels) +
           ((h * outWidth + w) * channels + c);
  }
};

/// An element of an NHWC tensor.
struct Pixel {
  int64_t n;
  int h, w, c;
  AMP_DEVICE Pixel(int64_t image, int index, int width, int channels)
      : n(image) {
    const unsigned rest = unsigned(index) / unsigned(channels);
    c = index - int(rest) * channels;
    const unsigned row = rest / unsigned(width);
    w = int(rest - row * unsigned(width));
    h = int(row);
  }
};

/// The part of a window inside the input: rows [h0, h1), columns [w0,
/// w1).
struct Window {
  int h0, h1, w0, w1;
  AMP_DEVICE Window(const PoolIndex &s, int h, int w) {
    const int top = h * s.strideHeight - s.padTop;
    const int left = w * s.strideWidth - s.padLeft;
    h0 = top < 0 ? 0 : top;
    w0 = left < 0 ? 0 : left;
    h1 = top + s.windowHeight < s.height ? top + s.windowHeight : s.height;
    w1 = left + s.windowWidth < s.width ? left + s.windowWidth : s.width;
  }
};

/// The windows that cover an element of the input: rows [h0, h1], columns [w0,
/// w1] of the output.
struct Covering {
  int h0, h1, w0, w1;
  AMP_DEVICE Covering(const PoolIndex &s, int h, int w) {
    h0 = first(h + s.padTop, s.windowHeight, s.strideHeight);
    w0 = first(w + s.padLeft, s.windowWidth, s.strideWidth);
    h1 = last(h + s.padTop, s.strideHeight, s.outHeight);
    w1 = last(w + s.padLeft, s.strideWidth, s.outWidth);
  }
  static AMP_DEVICE int first(int at, int window, int stride) {
    return at < window ? 0 : (at - window) / stride + 1;
  }
  static AMP_DEVICE int last(int at, int stride, int extent) {
    return at / stride < extent ? at / stride : extent - 1;
  }
};

/// Calls `body(pixel, index)` for every `Width` channels of an NHWC tensor.
template <int Width, typename Body>
AMP_DEVICE void forEachPixel(int batch, int height, int width, int channels,
                             Body body) {
  const int packs = height * width * channels / Width;
  forEachImageIndex(batch, packs, [=](int64_t image, int i) {
    body(Pixel(image, i * Width, width, channels), (image * packs + i) * Width);
  });
}

template <bool Max, int Width, typename Y, typename X>
__global__ void __launch_bounds__(kThreads, kBlocks)
    poolForwardKernel(Y *y, const X *x, PoolIndex s) {
  forEachPixel<Width>(
      s.batch, s.outHeight, s.outWidth, s.channels,
      [=](const Pixel &out, int64_t index) {
        const Window window(s, out.h, out.w);
        auto value = Pack<float, Width>::of(Max ? -INFINITY : 0.0f);
        for (int h = window.h0; h < window.h1; ++h)
          for (int w = window.w0; w < window.w1; ++w) {
            const auto each = load<Width>(x + s.input(out.n, h, w, out.c));
#pragma unroll
            for (int lane = 0; lane < Width; ++lane)
              value[lane] = Max ? maximum(value[lane], each[lane])
                                : value[lane] + each[lane];
          }
        if (!Max) {
#pragma unroll
          for (int lane = 0; lane < Width; ++lane)
            value[lane] /= float(s.windowHeight * s.windowWidth);
        }
        store(y + index, value);
      });
}

template <int Width, typename DX, typename X, typename Y, typename DY>
__global__ void __launch_bounds__(kThreads, kBlocks - 1)
    maxPoolBackwardKernel(DX *dx, const X *x, const Y *y, const DY *dy,
                          PoolIndex s) {
  forEachPixel<Width>(s.batch, s.height, s.width, s.channels,
                      [=](const Pixel &in, int64_t index) {
                        auto input = [=](int h, int w) {
                          return load<Width>(x + s.input(in.n, h, w, in.c));
                        };
                        // A NaN is the maximum of its window.
                        auto isMaximum = [](float value, float most) {
                          return value == most || value != value;
                        };
                        const auto mine = input(in.h, in.w);
                        auto sum = Pack<float, Width>::of(0.0f);
                        const Covering covering(s, in.h, in.w);
                        for (int oh = covering.h0; oh <= covering.h1; ++oh)
                          for (int ow = covering.w0; ow <= covering.w1; ++ow) {
                            const int64_t out = s.output(in.n, oh, ow, in.c);
                            const auto most = load<Width>(y + out);
                            Pack<bool, Width> first;
                            bool any = false;
#pragma unroll
                            for (int lane = 0; lane < Width; ++lane) {
                              first[lane] = isMaximum(mine[lane], most[lane]);
                              any |= first[lane];
                            }
                            if (!any)
                              continue;
                            // An earlier element of the window takes the
                            // gradient if it is a maximum too.
                            const Window window(s, oh, ow);
                            for (int h = window.h0; h <= in.h; ++h) {
                              const int end = h < in.h ? window.w1 : in.w;
                              for (int w = window.w0; w < end; ++w) {
                                const auto other = input(h, w);
#pragma unroll
                                for (int lane = 0; lane < Width; ++lane)
                                  first[lane] =
                                      first[lane] &&
                                      !isMaximum(other[lane], most[lane]);
                              }
                            }
                            const auto gradient = load<Width>(dy + out);
#pragma unroll
                            for (int lane = 0; lane < Width; ++lane)
                              sum[lane] += first[lane] ? gradient[lane] : 0.0f;
                          }
                        store(dx + index, sum);
                      });
}

template <int Width, typename DX, typename DY>
__global__ void __launch_bounds__(kThreads, kBlocks)
    avgPoolBackwardKernel(DX *dx, const DY *dy, PoolIndex s) {
  forEachPixel<Width>(s.batch, s.height, s.width, s.channels,
                      [=](const Pixel &in, int64_t index) {
                        const Covering covering(s, in.h, in.w);
                        auto sum = Pack<float, Width>::of(0.0f);
                        for (int oh = covering.h0; oh <= covering.h1; ++oh)
                          for (int ow = covering.w0; ow <= covering.w1; ++ow) {
                            const auto each =
                                load<Width>(dy + s.output(in.n, oh, ow, in.c));
#pragma unroll
                            for (int lane = 0; lane < Width; ++lane)
                              sum[lane] += each[lane];
                          }
#pragma unroll
                        for (int lane = 0; lane < Width; ++lane)
                          sum[lane] /= float(s.windowHeight * s.windowWidth);
                        store(dx + index, sum);
                      });
}

/// Checks that the output is not empty and that indices within an image fit
/// into 32 bits.
inline Status verifyPool(const PoolShape &s) {
  if (s.strideHeight < 1 || s.strideWidth < 1 || s.windowHeight < 1 ||
      s.windowWidth < 1 || s.height + s.padTop + s.padBottom < s.windowHeight ||
      s.width + s.padLeft + s.padRight < s.windowWidth)
    return makeError(kInvalidArgument,
                     "a pooling window of %lld x %lld does not fit",
                     (long long)s.windowHeight, (long long)s.windowWidth);
  if (!hasSmallImages(s))
    return makeError(kUnsupported,
                     "pooling of images with 2^31 elements or more");
  return Status();
}

/// Launches `wide`, which takes `Width` channels at a time, if `Width` divides
/// the channels, else `narrow`, which takes one.
template <int Width, typename... Parameters, typename... Arguments>
Status launchPool(const char *name, cudaStream_t stream, const PoolShape &s,
                  bool overOutput, void (*wide)(Parameters...),
                  void (*narrow)(Parameters...), Arguments... arguments) {
  AMP_RETURN_IF_ERROR(verifyPool(s));
  const bool isWide = s.channels % Width == 0;
  int64_t pixels =
      overOutput ? s.outHeight() * s.outWidth() : s.height * s.width;
  int64_t count = s.batch * pixels * s.channels / (isWide ? Width : 1);
  return launch(name, stream, elementwiseShape(count, 1),
                isWide ? wide : narrow, arguments..., PoolIndex(s));
}

template <typename Y, typename X>
Status maxPoolForward(cudaStream_t stream, Y *y, const X *x,
                      const PoolShape &shape) {
  constexpr int width = kCommonWidth<Y, X>;
  return launchPool<width>("max_pool2d", stream, shape, /*overOutput=*/true,
                           poolForwardKernel<true, width, Y, X>,
                           poolForwardKernel<true, 1, Y, X>, y, x);
}
template <typename DX, typename X, typename Y, typename DY>
Status maxPoolBackward(cudaStream_t stream, DX *dx, const X *x, const Y *y,
                       const DY *dy, const PoolShape &shape) {
  constexpr int width = kCommonWidth<DX, X, Y, DY>;
  return launchPool<width>(
      "max_pool2d_grad", stream, shape,
      /*overOutput=*/false, maxPoolBackwardKernel<width, DX, X, Y, DY>,
      maxPoolBackwardKernel<1, DX, X, Y, DY>, dx, x, y, dy);
}
template <typename Y, typename X>
Status avgPoolForward(cudaStream_t stream, Y *y, const X *x,
                      const PoolShape &shape) {
  constexpr int width = kCommonWidth<Y, X>;
  return launchPool<width>("avg_pool2d", stream, shape, /*overOutput=*/true,
                           poolForwardKernel<false, width, Y, X>,
                           poolForwardKernel<false, 1, Y, X>, y, x);
}
template <typename DX, typename DY>
Status avgPoolBackward(cudaStream_t stream, DX *dx, const DY *dy,
                       const PoolShape &shape) {
  constexpr int width = kCommonWidth<DX, DY>;
  return launchPool<width>("avg_pool2d_grad", stream, shape,
                           /*overOutput=*/false,
                           avgPoolBackwardKernel<width, DX, DY>,
                           avgPoolBackwardKernel<1, DX, DY>, dx, dy);
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_POOL_H
