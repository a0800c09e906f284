//===- CrossEntropy.h - Cross-entropy with integer labels -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// train.cross_entropy and train.cross_entropy_grad, apart or in one pass over
// the logits. Labels are int32_t or int64_t in [0, classes); what lies outside
// selects no class.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_CROSSENTROPY_H
#define AMP_RUNTIME_CUDA_CROSSENTROPY_H

#include "amp/Runtime/CUDA/Reduce.h"

namespace amp::cuda {

/// loss = mean over rows of ln Σ exp(x) - x[label], and
/// dlogits = (softmax(x) - one_hot(label)) · lossGrad / rows, where `lossGrad`
/// is a scalar on the device, the seed times the loss scale. `loss` or
/// `dlogits` may be null, and `lossGrad` with it; dlogits may be the logits.
/// `scratch` has `crossEntropyScratchBytes`, `ticket` is one of the tickets.
template <typename D, typename X, typename Label>
Status crossEntropy(cudaStream_t stream, float *loss, D *dlogits,
                    const X *logits, const Label *labels, const float *lossGrad,
                    int64_t rows, int64_t classes, void *scratch,
                    unsigned *tickets);

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_CROSSENTROPY_H
