//===- Conv.h - Convolution as matrix products ------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// train.conv2d and its gradients on NHWC images. A kernel gathers patches or
// sums their gradients back, and cuBLASLt computes the product. A pointwise
// convolution (1x1, stride 1, no padding) needs no patches. With groups, the
// product is batched over the groups.
//
// Each function has a companion that returns its `GemmConfig`, which is planned
// with the others. `gemm` is the index of the product in the plans.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_CONV_H
#define AMP_RUNTIME_CUDA_CONV_H

#include "amp/Runtime/CUDA/Elementwise.h"
#include "amp/Runtime/CUDA/GemmPlans.h"

namespace amp::cuda {

/// Y[rows, F] = patches[rows, KH·KW·C] · filter. With one group, the result may
/// have an epilogue (a bias, a relu).
inline GemmConfig convForwardGemm(const char *name, const ConvShape &shape,
                                  Type operands, Type result) {
  GemmConfig config;
  config.name = name;
  config.m = shape.rows();
  config.n = shape.features / shape.groups;
  config.k = shape.depth();
  config.typeA = config.typeB = operands;
  config.typeD = result;
  config.strideA = shape.patchStride(byteWidth(operands));
  config.strideB = config.strideD = shape.features;
  config.batch = shape.groups;
  if (shape.groups > 1)
    config.batchStrideB = config.batchStrideD = config.n;
  return config;
}

/// dW = patchesᵀ · dY. With one group, the epilogue may be `BiasGradB`, the
/// gradient of a bias.
inline GemmConfig convFilterGradGemm(const char *name, const ConvShape &shape,
                                     Type operands, Type result) {
  GemmConfig config = convForwardGemm(name, shape, operands, result);
  std::swap(config.m, config.k);
  config.transposeA = true;
  return config;
}

/// dPatches = dY · filterᵀ, in f32 unless the convolution is pointwise. The
/// result is not dX, so no epilogue may compute the gradient of a relu.
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
  config.strideD = shape.patchStride(byteWidth(config.typeD));
  config.batch = shape.groups;
  if (shape.groups > 1)
    config.batchStrideA = config.batchStrideB = config.k;
  return config;
}

//===----------------------------------------------------------------------===//
// Patches
//===----------------------------------------------------------------------===//

/// The extents of a convolution in kernels. `stride` belongs to the matrix of
/// patches. Indices within an image have 32 bits because 64-bit divisions would
/// cost more than the memory accesses.
struct ConvIndex {
  int batch, height, width, channels, perGroup, groups;
  int outHeight, outWidth, kernelHeight, kernelWidth;
  int strideHeight, strideWidth, padTop, padLeft, dilationHeight, dilationWidth;
  int stride;

  ConvIndex(const ConvShape &s, int elementBytes)
      : batch(int(s.batch)), height(int(s.height)), width(int(s.width)),
        channels(int(s.channels)), perGroup(int(s.channels / s.groups)),
        groups(int(s.groups)), outHeight(int(s.outHeight())),
        outWidth(int(s.outWidth())), kernelHeight(int(s.kernelHeight)),
        kernelWidth(int(s.kernelWidth)), strideHeight(int(s.strideHeight)),
        strideWidth(int(s.strideWidth)), padTop(int(s.padTop)),
        padLeft(int(s.padLeft)), dilationHeight(int(s.dilationHeight)),
        dilationWidth(int(s.dilationWidth)),
        stride(int(s.patchStride(elementBytes))) {}
};

/// Divides a row-major index by its last extent and returns the remainder.
AMP_DEVICE int splitIndex(int &index, int extent) {
  const unsigned quotient = unsigned(index) / unsigned(extent);
  const int rest = index - int(quotient) * extent;
  index = int(quotient);
  return rest;
}

/// A position in a row of patches: [kh][kw][c].
struct PatchPosition {
  int kh, kw, c;
  AMP_DEVICE PatchPosition(int index, const ConvIndex &s) : kh(index) {
    c = splitIndex(kh, s.perGroup);
    kw = splitIndex(kh, s.kernelWidth);
  }
  AMP_DEVICE void advance(const ConvIndex &s) {
    if (++c < s.perGroup)
      return;
    c = 0;
    if (++kw < s.kernelWidth)
      return;
    kw = 0;
    ++kh;
  }
};

/// Sets patches[group][row][kh][kw][c] to the element of x that the filter
/// element meets, or to 0 in the padding and between the end of a row and the
/// next. Each thread writes `Width` elements. With `Whole`, `Width` divides the
/// channels of a group, and these elements are consecutive in x.
template <int Width, bool Whole, typename T>
__global__ void __launch_bounds__(kThreads)
    gatherPatchesKernel(T *patches, const T *x, ConvIndex s) {
  const int packs = s.stride / Width, size = s.outHeight * s.outWidth * packs;
  forEachImageIndex(
      int64_t(s.groups) * s.batch, size, [=](int64_t image, int i) {
        int oh = i;
        const int pack = splitIndex(oh, packs);
        const int ow = splitIndex(oh, s.outWidth);
        int group = int(image);
        const int n = splitIndex(group, s.batch);
        PatchPosition at(pack * Width, s);
        const int top = oh * s.strideHeight - s.padTop;
        const int left = ow * s.strideWidth - s.padLeft;
        const T *source = x + int64_t(n) * (s.height * s.width * s.channels) +
                          group * s.perGroup;
        // The address of an element, or null for a zero.
        auto find = [=](const PatchPosition &at) -> const T * {
          const int h = top + at.kh * s.dilationHeight;
          const int w = left + at.kw * s.dilationWidth;
          const bool isInside = at.kh < s.kernelHeight && h >= 0 &&
                                h < s.height && w >= 0 && w < s.width;
          return isInside ? source + ((h * s.width + w) * s.channels + at.c)
                          : nullptr;
        };
        auto values = Pack<float, Width>::of(0.0f);
        if constexpr (Whole) {
          if (const T *pointer = find(at))
            values = load<Width>(pointer);
        } else {
#pragma unroll
          for (int lane = 0; lane < Width; ++lane) {
            if (const T *pointer = find(at))
              values[lane] = loadOne(pointer);
            at.advance(s);
          }
        }
        store(patches + (image * size + i) * Width, values);
      });
}

/// Sets each element of dx to the sum of the gradients of all its patch
/// elements, in the order of the filter.
template <int Width, typename R>
__global__ void __launch_bounds__(kThreads)
    sumPatchesKernel(R *dx, const float *patches, ConvIndex s) {
  const int size = s.height * s.width * s.channels / Width;
  forEachImageIndex(s.batch, size, [=](int64_t n, int i) {
    int h = i * Width;
    int group = splitIndex(h, s.channels);
    const int w = splitIndex(h, s.width);
    const int c = splitIndex(group, s.perGroup);
    auto sum = Pack<float, Width>::of(0.0f);
    for (int kh = 0; kh < s.kernelHeight; ++kh) {
      const int y = h + s.padTop - kh * s.dilationHeight;
      const int oh = y / s.strideHeight;
      if (y < 0 || oh * s.strideHeight != y || oh >= s.outHeight)
        continue;
      for (int kw = 0; kw < s.kernelWidth; ++kw) {
        const int x = w + s.padLeft - kw * s.dilationWidth;
        const int ow = x / s.strideWidth;
        if (x < 0 || ow * s.strideWidth != x || ow >= s.outWidth)
          continue;
        const int64_t row =
            ((int64_t(group) * s.batch + n) * s.outHeight + oh) * s.outWidth +
            ow;
        const auto each =
            load<Width>(patches + row * s.stride +
                        ((kh * s.kernelWidth + kw) * s.perGroup + c));
#pragma unroll
        for (int lane = 0; lane < Width; ++lane)
          sum[lane] += each[lane];
      }
    }
    store(dx + (n * size + i) * Width, sum);
  });
}

/// Checks that the output is not empty, that the groups divide the channels and
/// that indices within an image fit into 32 bits.
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
  if (!hasSmallImages(s))
    return makeError(kUnsupported,
                     "convolution of images with 2^31 elements or more, or as "
                     "many of their patches");
  return Status();
}

/// Writes the patches of `x` to `scratch`. A pointwise convolution uses `x`.
template <typename T>
Status gatherPatches(cudaStream_t stream, const ConvShape &shape, const T *x,
                     void *scratch, const void **patches) {
  AMP_RETURN_IF_ERROR(verifyConv(shape));
  *patches = x;
  if (shape.isPointwise())
    return Status();
  *patches = scratch;
  constexpr int width = kVectorWidth<T>;
  const bool whole = shape.channels / shape.groups % width == 0;
  const int64_t count =
      shape.groups * shape.batch * shape.patchElements(sizeof(T));
  return launch("gather_patches", stream, elementwiseShape(count, width),
                whole ? gatherPatchesKernel<width, true, T>
                      : gatherPatchesKernel<width, false, T>,
                static_cast<T *>(scratch), x, ConvIndex(shape, sizeof(T)));
}

//===----------------------------------------------------------------------===//
// Host
//===----------------------------------------------------------------------===//

/// `buffers.b` is the filter, `buffers.d` the result. bias and aux are as in
/// the product. `buffers.a` is ignored. `scratch` has `convScratchBytes`.
template <typename T>
Status convForward(cudaStream_t stream, const GemmPlans &plans, int gemm,
                   const ConvShape &shape, GemmBuffers buffers, const T *x,
                   void *scratch) {
  AMP_RETURN_IF_ERROR(gatherPatches(stream, shape, x, scratch, &buffers.a));
  return plans.run(gemm, buffers, stream);
}

/// Computes dW, in the planned type, from dY and the input. `BiasGradB` also
/// computes the sum of dY. `scratch` has `convScratchBytes`.
template <typename T>
Status convFilterGrad(cudaStream_t stream, const GemmPlans &plans, int gemm,
                      const ConvShape &shape, void *dw, const T *dy, const T *x,
                      void *scratch, void *biasGrad = nullptr) {
  GemmBuffers buffers;
  AMP_RETURN_IF_ERROR(gatherPatches(stream, shape, x, scratch, &buffers.a));
  buffers.b = dy;
  buffers.d = dw;
  buffers.biasGrad = biasGrad;
  return plans.run(gemm, buffers, stream);
}

/// Computes dX from dY and the filter and rounds it once to `R`. `scratch` has
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
  return launch(
      "sum_patches", stream,
      elementwiseShape(shape.batch * shape.imageElements(), wide ? width : 1),
      wide ? sumPatchesKernel<width, R> : sumPatchesKernel<1, R>, dx,
      static_cast<const float *>(scratch), ConvIndex(shape, sizeof(float)));
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_CONV_H
