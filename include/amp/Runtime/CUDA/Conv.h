//===- Conv.h - Convolution as matrix products ------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// train.conv2d and its gradients on NHWC images: a kernel gathers patches, or
// sums their gradients back, and cuBLASLt does the rest. A convolution whose
// patches are its pixels (1x1, stride 1, no padding) is the product alone.
// With groups, the product is batched over them.
//
// Each function has a companion that gives its `GemmConfig`, to be planned with
// the others; `gemm` is its index in the plans.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_CONV_H
#define AMP_RUNTIME_CUDA_CONV_H

#include "amp/Runtime/CUDA/Gemm.h"

namespace amp::cuda {

/// Y[rows, F] = patches[rows, KH·KW·C] · filter. The epilogue of the result (a
/// bias, a relu) may be added if there is one group.
inline GemmConfig convForwardGemm(const char *name, const ConvShape &shape,
                                  Type operands, Type result) {
  GemmConfig config;
  config.name = name;
  config.m = shape.rows();
  config.n = shape.features / shape.groups;
  config.k = shape.depth();
  config.typeA = config.typeB = operands;
  config.typeD = result;
  config.strideB = config.strideD = shape.features;
  config.batch = shape.groups;
  if (shape.groups > 1)
    config.batchStrideB = config.batchStrideD = config.n;
  return config;
}

/// dW = patchesᵀ · dY.
inline GemmConfig convFilterGradGemm(const char *name, const ConvShape &shape,
                                     Type operands, Type result) {
  GemmConfig config = convForwardGemm(name, shape, operands, result);
  std::swap(config.m, config.k);
  config.transposeA = true;
  return config;
}

/// dPatches = dY · filterᵀ, in f32 unless the convolution is pointwise.
inline GemmConfig convInputGradGemm(const char *name, const ConvShape &shape,
                                    Type operands, Type result) {
  GemmConfig config;
  config.name = name;
  config.m = shape.rows();
  config.n = shape.depth();
  config.k = shape.features / shape.groups;
  config.typeA = config.typeB = operands;
  config.typeD = shape.isPointwise() ? result : Type::F32;
  config.transposeB = true;
  config.strideA = config.strideB = shape.features;
  config.batch = shape.groups;
  if (shape.groups > 1)
    config.batchStrideA = config.batchStrideB = config.k;
  return config;
}

//===----------------------------------------------------------------------===//
// Patches
//===----------------------------------------------------------------------===//

/// patches[group][row][kh][kw][c] = x at the position that the filter element
/// meets, or 0 in the padding; `Width` channels at a time.
template <int Width, typename T>
__global__ void __launch_bounds__(kThreads)
    gatherPatchesKernel(T *patches, const T *x, ConvShape s, int64_t rows) {
  const int64_t channels = s.channels / s.groups; // of a group
  const int64_t outHeight = s.outHeight(), outWidth = s.outWidth();
  const int64_t count = s.groups * rows * s.depth() / Width;
  elementwise<1>(count, [=](auto at) {
    int64_t index = at.index * Width;
    const int64_t c = index % channels;
    index /= channels;
    const int64_t kw = index % s.kernelWidth;
    index /= s.kernelWidth;
    const int64_t kh = index % s.kernelHeight;
    index /= s.kernelHeight;
    const int64_t ow = index % outWidth;
    index /= outWidth;
    const int64_t oh = index % outHeight;
    index /= outHeight;
    const int64_t n = index % s.batch, group = index / s.batch;
    const int64_t h = oh * s.strideHeight - s.padTop + kh * s.dilationHeight;
    const int64_t w = ow * s.strideWidth - s.padLeft + kw * s.dilationWidth;
    auto values = Pack<float, Width>::of(0.0f);
    if (h >= 0 && h < s.height && w >= 0 && w < s.width)
      values = load<Width>(x + ((n * s.height + h) * s.width + w) * s.channels +
                           group * channels + c);
    store(patches + at.index * Width, values);
  });
}

/// dx = the sum of the gradients of all patch elements that an element of the
/// input went to, in the order of the filter.
template <int Width, typename R>
__global__ void __launch_bounds__(kThreads)
    sumPatchesKernel(R *dx, const float *patches, ConvShape s, int64_t rows) {
  const int64_t channels = s.channels / s.groups;
  const int64_t outHeight = s.outHeight(), outWidth = s.outWidth();
  const int64_t count = s.batch * s.height * s.width * s.channels / Width;
  elementwise<1>(count, [=](auto at) {
    int64_t index = at.index * Width;
    const int64_t channel = index % s.channels;
    index /= s.channels;
    const int64_t w = index % s.width;
    index /= s.width;
    const int64_t h = index % s.height, n = index / s.height;
    const int64_t group = channel / channels, c = channel % channels;
    auto sum = Pack<float, Width>::of(0.0f);
    for (int64_t kh = 0; kh < s.kernelHeight; ++kh) {
      const int64_t y = h + s.padTop - kh * s.dilationHeight;
      if (y < 0 || y % s.strideHeight || y / s.strideHeight >= outHeight)
        continue;
      for (int64_t kw = 0; kw < s.kernelWidth; ++kw) {
        const int64_t x = w + s.padLeft - kw * s.dilationWidth;
        if (x < 0 || x % s.strideWidth || x / s.strideWidth >= outWidth)
          continue;
        const int64_t row =
            (n * outHeight + y / s.strideHeight) * outWidth + x / s.strideWidth;
        const auto each = load<Width>(
            patches +
            (((group * rows + row) * s.kernelHeight + kh) * s.kernelWidth +
             kw) *
                channels +
            c);
#pragma unroll
        for (int lane = 0; lane < Width; ++lane)
          sum[lane] += each[lane];
      }
    }
    store(dx + at.index * Width, sum);
  });
}

/// Extents that leave a result and groups that divide the channels.
inline Status verifyConv(const ConvShape &s) {
  if (s.groups < 1 || s.channels % s.groups || s.features % s.groups)
    return makeError(kInvalidArgument,
                     "%lld groups do not divide %lld channels and %lld "
                     "features",
                     (long long)s.groups, (long long)s.channels,
                     (long long)s.features);
  if (s.strideHeight < 1 || s.strideWidth < 1 || s.dilationHeight < 1 ||
      s.dilationWidth < 1 || s.outHeight() < 1 || s.outWidth() < 1)
    return makeError(kInvalidArgument,
                     "a filter of %lld x %lld does not fit the image",
                     (long long)s.kernelHeight, (long long)s.kernelWidth);
  return Status();
}

/// Writes the patches of `x` to `scratch`, or takes `x` for them.
template <typename T>
Status gatherPatches(cudaStream_t stream, const ConvShape &shape, const T *x,
                     void *scratch, const void **patches) {
  AMP_RETURN_IF_ERROR(verifyConv(shape));
  *patches = x;
  if (shape.isPointwise())
    return Status();
  *patches = scratch;
  constexpr int width = kVectorWidth<T>;
  const bool wide = shape.channels / shape.groups % width == 0;
  int64_t count =
      shape.groups * shape.rows() * shape.depth() / (wide ? width : 1);
  return launch("gather_patches", stream, elementwiseShape(count, 1),
                wide ? gatherPatchesKernel<width, T>
                     : gatherPatchesKernel<1, T>,
                static_cast<T *>(scratch), x, shape, shape.rows());
}

//===----------------------------------------------------------------------===//
// Host
//===----------------------------------------------------------------------===//

/// `buffers.b` is the filter, `buffers.d` the result, bias and aux as in the
/// product; `buffers.a` is ignored. `scratch` has `convScratchBytes`.
template <typename T>
Status convForward(cudaStream_t stream, const GemmPlans &plans, int gemm,
                   const ConvShape &shape, GemmBuffers buffers, const T *x,
                   void *scratch) {
  AMP_RETURN_IF_ERROR(gatherPatches(stream, shape, x, scratch, &buffers.a));
  return plans.run(gemm, buffers, stream);
}

/// dW of the type planned, from dY and the input. `scratch` has
/// `convScratchBytes`.
template <typename T>
Status convFilterGrad(cudaStream_t stream, const GemmPlans &plans, int gemm,
                      const ConvShape &shape, void *dw, const T *dy, const T *x,
                      void *scratch) {
  GemmBuffers buffers;
  AMP_RETURN_IF_ERROR(gatherPatches(stream, shape, x, scratch, &buffers.a));
  buffers.b = dy;
  buffers.d = dw;
  return plans.run(gemm, buffers, stream);
}

/// dX, rounded once to `R`, from dY and the filter. `scratch` has
/// `convInputGradScratchBytes`.
template <typename R, typename T>
Status convInputGrad(cudaStream_t stream, const GemmPlans &plans, int gemm,
                     const ConvShape &shape, R *dx, const T *dy,
                     const T *filter, void *scratch) {
  AMP_RETURN_IF_ERROR(verifyConv(shape));
  GemmBuffers buffers;
  buffers.a = dy;
  buffers.b = filter;
  buffers.d = shape.isPointwise() ? static_cast<void *>(dx) : scratch;
  AMP_RETURN_IF_ERROR(plans.run(gemm, buffers, stream));
  if (shape.isPointwise())
    return Status();
  constexpr int width = kVectorWidth<R>;
  const bool wide = shape.channels / shape.groups % width == 0;
  int64_t count = shape.batch * shape.height * shape.width * shape.channels /
                  (wide ? width : 1);
  return launch("sum_patches", stream, elementwiseShape(count, 1),
                wide ? sumPatchesKernel<width, R> : sumPatchesKernel<1, R>, dx,
                static_cast<const float *>(scratch), shape, shape.rows());
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_CONV_H
