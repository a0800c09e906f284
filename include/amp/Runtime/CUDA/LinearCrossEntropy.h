//===- LinearCrossEntropy.h - Classifiers with their loss -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product whose results are the logits of a cross-entropy, that loss, and
// both gradients of the product. The rows go through in chunks. Only the logits
// of one chunk are in memory, and their gradient replaces them there. A
// training step with a large vocabulary would otherwise need more memory for
// logits than for anything else.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_LINEARCROSSENTROPY_H
#define AMP_RUNTIME_CUDA_LINEARCROSSENTROPY_H

#include "amp/Runtime/CUDA/GemmPlans.h"
#include "amp/Runtime/CUDA/Rows.h"

namespace amp::cuda {

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The products of a chunk, by their place in the table of a program.
enum class LinearLossPart {
  Logits,          ///< x · w
  InputGrad,       ///< the gradient of x
  FirstWeightGrad, ///< the gradient of w of the first chunk
  NextWeightGrad,  ///< the sum of the gradient of w and that of another chunk
};

/// A product of operands of type `type`. The gradient of x has type
/// `inputGrad`, that of w is f32.
inline GemmConfig linearLossGemm(const char *name, const LinearLossShape &s,
                                 Type type, Type inputGrad,
                                 LinearLossPart part) {
  const int64_t stride = s.logitStride(byteWidth(type));
  GemmConfig g;
  g.name = name;
  g.typeA = g.typeB = type;
  switch (part) {
  case LinearLossPart::Logits:
    g.m = s.chunk, g.n = s.classes, g.k = s.columns;
    g.typeD = type;
    g.transposeB = s.transposed;
    g.strideD = stride;
    break;
  case LinearLossPart::InputGrad:
    g.m = s.chunk, g.n = s.columns, g.k = s.classes;
    g.typeD = inputGrad;
    g.transposeB = !s.transposed;
    g.strideA = stride;
    break;
  case LinearLossPart::NextWeightGrad:
    g.beta = 1.0f;
    [[fallthrough]];
  case LinearLossPart::FirstWeightGrad:
    g.m = s.transposed ? s.classes : s.columns;
    g.n = s.transposed ? s.columns : s.classes;
    g.k = s.chunk;
    g.typeD = Type::F32;
    g.transposeA = true;
    (s.transposed ? g.strideA : g.strideB) = stride;
    break;
  }
  return g;
}

//===----------------------------------------------------------------------===//
// The loss
//===----------------------------------------------------------------------===//

/// The lower of two columns.
struct FirstColumn {
  using type = uint32_t;
  static AMP_DEVICE uint32_t identity() { return UINT32_MAX; }
  static AMP_DEVICE uint32_t combine(uint32_t a, uint32_t b) {
    return a < b ? a : b;
  }
};

/// `Width` logits from `column` on. Those after the last class are -inf.
template <int Width, typename T>
AMP_DEVICE Pack<float, Width> loadLogits(const T *row, int64_t column,
                                         int64_t classes) {
  auto values = load<Width>(row + column);
#pragma unroll
  for (int lane = 0; lane < Width; ++lane)
    if (column + lane >= classes)
      values[lane] = -INFINITY;
  return values;
}

/// For `rows` rows of logits, a block each: the loss, the first largest class
/// unless `predicted` is null, and the gradient, which replaces the logits. The
/// loss of the step is the mean over `allRows` rows.
template <typename T, typename Label, typename Index, typename Targets>
__global__ void __launch_bounds__(kThreads)
    linearLossKernel(T *logits, float *losses, Index *predicted,
                     const Label *labels, const float *lossGrad, int64_t rows,
                     int64_t allRows, int64_t classes, int64_t stride,
                     Targets targets) {
  constexpr int width = kVectorWidth<T>;
  const float scale = loadOne(lossGrad) / float(allRows);
  const float atEach = targets.atEach(classes);
  for (int64_t number = blockIdx.x; number < rows; number += gridDim.x) {
    T *row = logits + number * stride;
    SoftmaxTerms terms = SoftmaxTerms::identity();
    for (int64_t column = threadIdx.x * width; column < classes;
         column += kThreads * width)
      terms = terms.with(loadLogits<width>(row, column, classes));
    __syncthreads(); // the terms of the last row have been read
    terms = reduceBlock<SoftmaxTerms>(terms, sharedMemory<SoftmaxTerms>());
    const int64_t label = int64_t(loadOne(labels + number));
    const float inverse = 1.0f / terms.sum;
    uint32_t largest = FirstColumn::identity();
    // The sum of the shifted logits times their smooth targets.
    float chosen = 0.0f;
    for (int64_t column = threadIdx.x * width; column < classes;
         column += kThreads * width) {
      auto values = loadLogits<width>(row, column, classes);
#pragma unroll
      for (int lane = 0; lane < width; ++lane) {
        const float value = values[lane];
        const bool isClass = column + lane < classes;
        const bool isLabel = isClass && column + lane == label;
        if (isClass && (value == terms.largest || value != value))
          largest = FirstColumn::combine(largest, uint32_t(column + lane));
        // The gradient at padding is 0.
        const float target =
            (isClass ? atEach : 0.0f) + (isLabel ? targets.atLabel() : 0.0f);
        if constexpr (Targets::isSmooth) {
          if (isClass)
            chosen += target * (value - terms.largest);
        } else if (isLabel) {
          storeOne(losses + number, logf(terms.sum) - (value - terms.largest));
        }
        values[lane] = (expf(value - terms.largest) * inverse - target) * scale;
      }
      store(row + column, values);
    }
    if constexpr (Targets::isSmooth) {
      __syncthreads(); // the terms have been read
      chosen = reduceBlock<Sum<float>>(chosen, sharedMemory<float>());
    }
    // A sum over all classes, or a label that selects no class.
    if ((Targets::isSmooth || label < 0 || label >= classes) &&
        threadIdx.x == 0)
      storeOne(losses + number, logf(terms.sum) - chosen);
    if (predicted == nullptr)
      continue;
    __syncthreads(); // the last result has been read
    largest = reduceBlock<FirstColumn>(largest, sharedMemory<uint32_t>());
    if (threadIdx.x == 0)
      storeOne(predicted + number, Index(largest));
  }
}

/// The mean of `rows` losses, by one block.
template <typename = void>
__global__ void __launch_bounds__(kThreads)
    meanLossKernel(float *loss, const float *losses, int64_t rows) {
  float total = 0.0f;
#pragma unroll 8
  for (int64_t row = threadIdx.x; row < rows; row += kThreads)
    total += loadOne(losses + row);
  total = reduceBlock<Sum<float>>(total, sharedMemory<float>());
  if (threadIdx.x == 0)
    storeOne(loss, total / float(rows));
}

/// loss = mean over rows of the cross-entropy of x · w with `labels`, and the
/// gradients of x, of type `R`, and of w, in f32. `lossGrad` is a scalar on the
/// device: the seed times the loss scale. `predicted`, which may be null,
/// receives the first largest class of each row. LinearLossPart uses the
/// products of `plans` from index `gemm` on. `scratch` has
/// `linearLossScratchBytes`. `targets` have the meaning of
/// `crossEntropy`.
template <typename R, typename Index, typename T, typename Label,
          typename Targets = HardLabels>
Status linearCrossEntropy(cudaStream_t stream, const GemmPlans &plans, int gemm,
                          const LinearLossShape &shape, float *loss, R *dx,
                          float *dw, Index *predicted, const T *x, const T *w,
                          const Label *labels, const float *lossGrad,
                          void *scratch, Targets targets = {}) {
  T *logits = static_cast<T *>(scratch);
  float *losses = reinterpret_cast<float *>(
      static_cast<unsigned char *>(scratch) + shape.chunkBytes(sizeof(T)));
  auto product = [&](LinearLossPart part, const void *a, const void *b,
                     void *d) {
    GemmBuffers buffers;
    buffers.a = a;
    buffers.b = b;
    buffers.d = d;
    return plans.run(gemm + int(part), buffers, stream);
  };
  LaunchShape rows = rowShape<kThreads>(shape.chunk);
  for (int64_t first = 0; first < shape.rows; first += shape.chunk) {
    const T *input = x + first * shape.columns;
    AMP_RETURN_IF_ERROR(product(LinearLossPart::Logits, input, w, logits));
    AMP_RETURN_IF_ERROR(
        launch("linear_cross_entropy", stream, rows,
               linearLossKernel<T, Label, Index, Targets>, logits,
               losses + first, predicted ? predicted + first : predicted,
               labels + first, lossGrad, shape.chunk, shape.rows, shape.classes,
               shape.logitStride(sizeof(T)), targets));
    AMP_RETURN_IF_ERROR(product(LinearLossPart::InputGrad, logits, w,
                                dx + first * shape.columns));
    const void *a = logits, *b = input;
    if (!shape.transposed)
      std::swap(a, b);
    AMP_RETURN_IF_ERROR(product(first == 0 ? LinearLossPart::FirstWeightGrad
                                           : LinearLossPart::NextWeightGrad,
                                a, b, dw));
  }
  return launch("mean_loss", stream, rowShape<kThreads>(1), meanLossKernel<>,
                loss, static_cast<const float *>(losses), shape.rows);
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_LINEARCROSSENTROPY_H
