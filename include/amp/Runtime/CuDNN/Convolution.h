//===- Convolution.h - Plans of convolutions ----------------------*- C -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans that compute two-dimensional convolutions of NHWC images with KRSC
// filters, which are [features, height, width, channels / groups], and the
// gradients of both. All tensors are contiguous, and sums are f32. A forward
// convolution may add a bias and end with a relu before it rounds.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDNN_CONVOLUTION_H
#define AMP_RUNTIME_CUDNN_CONVOLUTION_H

#include "amp/Runtime/CuDNN/Plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The pointers of a plan. A plan of a gradient writes the gradient of the image
 * or of the filter in place of that tensor, and reads the gradient of the
 * result in place of the result. */
enum {
  AMP_CUDNN_CONVOLUTION_IMAGE = 0,
  AMP_CUDNN_CONVOLUTION_FILTER,
  AMP_CUDNN_CONVOLUTION_RESULT,
  AMP_CUDNN_CONVOLUTION_BIAS /* with has_bias: [features] of `type` */
};
enum { AMP_CUDNN_CONVOLUTION_POINTERS = AMP_CUDNN_CONVOLUTION_BIAS + 1 };

/* The computation of a plan. */
enum {
  AMP_CUDNN_CONVOLUTION_FORWARD = 0,
  AMP_CUDNN_CONVOLUTION_INPUT_GRAD = 1,
  AMP_CUDNN_CONVOLUTION_FILTER_GRAD = 2
};

/* A convolution. Extents and steps are of heights, then widths. */
typedef struct {
  int64_t batch, height, width, channels;
  int64_t kernel_height, kernel_width, features;
  int64_t strides[2];
  int64_t padding[4]; /* top, bottom, left, right */
  int64_t dilations[2];
  int64_t groups;
  int32_t type;        /* AMP_CUDNN_F16 or AMP_CUDNN_BF16, of what is read */
  int32_t result_type; /* `type` or AMP_CUDNN_F32, of what is written */
  int32_t kind;        /* AMP_CUDNN_CONVOLUTION_FORWARD, ... */
  int32_t has_bias;    /* of a forward convolution: whether it adds a bias */
  int32_t relu;        /* of a forward convolution: whether it ends with relu */
  /* Whether two runs of the plan give the same bits. */
  int32_t deterministic;
} amp_cudnn_convolution;

/* Creates a plan for the current device. */
AMP_CUDNN_EXPORT int32_t amp_cudnn_create_convolution(
    const amp_cudnn_convolution *convolution, amp_cudnn_plan **plan);

/* Asks cuDNN whether a GPU of compute capability `capability` (80, 90 or 100)
 * has kernels for the convolution. Needs no GPU. Returns AMP_CUDNN_UNKNOWN if
 * cuDNN cannot tell without one. */
AMP_CUDNN_EXPORT int32_t amp_cudnn_check_convolution(
    const amp_cudnn_convolution *convolution, int32_t capability);

#ifdef __cplusplus
}
#endif

#endif /* AMP_RUNTIME_CUDNN_CONVOLUTION_H */
