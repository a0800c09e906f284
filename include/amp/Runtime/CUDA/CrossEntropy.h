//===- CrossEntropy.h - Cross-entropy with integer labels -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// train.cross_entropy and train.cross_entropy_grad, apart or in one pass over
// the logits. Labels are int32_t or int64_t in [0, classes). A label outside of
// this range selects no class.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_CROSSENTROPY_H
#define AMP_RUNTIME_CUDA_CROSSENTROPY_H

#include "amp/Runtime/CUDA/Rows.h"

namespace amp::cuda {

/// loss = mean over rows of ln Σ exp(x) - x[label], and dlogits = (softmax(x) -
/// one_hot(label)) · lossGrad / rows. `lossGrad` is a scalar on the device: the
/// seed times the loss scale. `loss` may be null. `dlogits` may be null
/// together with `lossGrad`, or may be the logits. `scratch` has
/// `crossEntropyScratchBytes`. `arrivalCounter` is one of the arrival counters.
/// Smooth `targets` replace one_hot(label), and x[label] by the sum of their
/// products with x.
template <typename D, typename X, typename Label, typename Targets = HardLabels>
Status crossEntropy(cudaStream_t stream, float *loss, D *dlogits,
                    const X *logits, const Label *labels, const float *lossGrad,
                    int64_t rows, int64_t classes, void *scratch,
                    unsigned *arrivalCounters, Targets targets = {});

template <typename Plan, typename D, typename X, typename Label,
          typename Targets>
__global__ void __launch_bounds__(kThreads)
    crossEntropyKernel(float *loss, D *dlogits, const X *logits,
                       const Label *labels, const float *lossGrad, int64_t rows,
                       int64_t classes, float *rowLosses,
                       unsigned *arrivalCounter, Targets targets) {
  // The gradient of the loss, divided by the number of rows.
  const float scale = dlogits ? loadOne(lossGrad) / float(rows) : 0.0f;
  const float atEach = targets.atEach(classes);
  forEachRow<Plan>(rows, [=](int64_t number) {
    const Row<Plan, X> row(logits + number * classes, classes);
    const int64_t label = int64_t(loadOne(labels + number));
    const SoftmaxTerms terms = softmaxTerms(row);
    const float inverse = 1.0f / terms.sum;
    // The shifted logit of the label, or the part of the thread in the sum of
    // the shifted logits times their smooth targets.
    float chosen = 0.0f;
    bool found = false;
    forEachPack<Plan>(classes, [&](int pack, int64_t column) {
      auto values = row.get(pack, column);
#pragma unroll
      for (int lane = 0; lane < Plan::width; ++lane) {
        const bool isLabel = column + lane == label;
        const float shifted = values[lane] - terms.largest;
        const float target = atEach + (isLabel ? targets.atLabel() : 0.0f);
        if constexpr (Targets::isSmooth) {
          chosen += target * shifted;
        } else if (isLabel) {
          chosen = shifted;
          found = true;
        }
        values[lane] = (expf(shifted) * inverse - target) * scale;
      }
      if (dlogits)
        store(dlogits + number * classes + column, values);
    });
    // The thread that owns the label writes the loss of the row. Thread 0
    // writes a sum over all classes, and if the label selects no class.
    if constexpr (Targets::isSmooth)
      chosen = reduceRow<Plan, Sum<float>>(chosen);
    const bool writes = !Targets::isSmooth && label >= 0 && label < classes
                            ? found
                            : Plan::thread() == 0;
    if (loss && writes)
      storeOne(rowLosses + number, logf(terms.sum) - chosen);
  });
  if (loss == nullptr)
    return;
  auto *shared = sharedMemory<float>();
  if (!isLastBlock(arrivalCounter, gridDim.x,
                   reinterpret_cast<unsigned *>(shared + kThreads / 32)))
    return;
  float total = 0.0f;
  for (int64_t row = threadIdx.x; row < rows; row += kThreads)
    total += loadPartial(rowLosses + row);
  total = reduceBlock<Sum<float>>(total, shared);
  if (threadIdx.x == 0)
    storeOne(loss, total / float(rows));
}

template <typename D, typename X, typename Label, typename Targets>
Status crossEntropy(cudaStream_t stream, float *loss, D *dlogits,
                    const X *logits, const Label *labels, const float *lossGrad,
                    int64_t rows, int64_t classes, void *scratch,
                    unsigned *arrivalCounters, Targets targets) {
  if (dlogits && !lossGrad)
    return makeError(
        kInvalidArgument,
        "the gradient of cross-entropy needs the gradient of the loss");
  return withRowPlan<kCommonWidth<D, X>>(classes, [&](auto plan) {
    using Plan = decltype(plan);
    return launch(dlogits ? "cross_entropy_grad" : "cross_entropy", stream,
                  planShape<Plan>(rows),
                  crossEntropyKernel<Plan, D, X, Label, Targets>, loss, dlogits,
                  logits, labels, lossGrad, rows, classes,
                  static_cast<float *>(scratch), arrivalCounters, targets);
  });
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_CROSSENTROPY_H
