//===- Optimizer.h - Unscale, check, clip and update ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two passes over the gradients in all: `unscaleCheck` reads them once for the
// norm and the finite flag; `sgd` or `adam` reads them again, unscales, clips,
// decays and updates parameter, moments and low-precision copy in one launch
// over all tensors. The tensors of an optimizer are a table on the device,
// written at creation; where they lie, and of what type their gradients are, is
// free. With tensors adjacent in every array the planner makes one entry of
// them.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_OPTIMIZER_H
#define AMP_RUNTIME_CUDA_OPTIMIZER_H

#include "amp/Runtime/CUDA/Reduce.h"
#include "amp/Runtime/CUDA/StepState.h"

namespace amp::cuda {

/// One tensor. All pointers are on the device; those to f32 are aligned to 16
/// bytes, the gradient and the copy to 16 bytes, as every buffer of a plan is.
struct OptimizerTensor {
  float *parameter = nullptr;     ///< f32; the master weight, in place
  const void *gradient = nullptr; ///< f16, bf16 or f32, scaled
  float *first = nullptr;         ///< velocity of sgd, exp_avg of adam; or null
  float *second = nullptr;        ///< exp_avg_sq of adam
  void *copy = nullptr; ///< f16 or bf16 copy of the parameter; or null
  int64_t count = 0;
  Type gradientType = Type::F32;
  Type copyType = Type::F32;
  float weightDecay = 0.0f;
  int64_t firstChunk = 0; ///< set by `writeOptimizerTable`
};

/// A table on the device.
struct OptimizerTable {
  const OptimizerTensor *tensors = nullptr;
  int32_t size = 0;
  int64_t chunks = 0;
};

/// Chunks of a table, from which the size of its scratch follows.
constexpr int64_t optimizerChunks(const OptimizerTensor *tensors, int32_t size);
/// Bytes of a table.
constexpr int64_t optimizerTableBytes(int32_t size) {
  return size * int64_t(sizeof(OptimizerTensor));
}

/// Checks the tensors, copies them to `device` (`optimizerTableBytes`) and
/// waits: for use at creation.
inline Status writeOptimizerTable(const OptimizerTensor *tensors, int32_t size,
                                  void *device, OptimizerTable *table);

/// amp.unscale (but for the products, which the optimizer makes) and the norm
/// of train.clip_by_global_norm. `scale` is null for 1. `maxNorm` is 0 for no
/// clipping. `allFinite` (a bool) and `norm` receive copies for other users and
/// may be null. `scratch` has `unscaleScratchBytes(table.chunks)`. A gradient
/// counts as finite before the multiplication, as in torch.amp.GradScaler; a
/// finite one whose square overflows sets `normOverflow` and not the flag.
inline Status unscaleCheck(cudaStream_t stream, const OptimizerTable &table,
                           const float *scale, float maxNorm,
                           UnscaleState *state, uint8_t *allFinite, float *norm,
                           void *scratch, unsigned *tickets);

struct SgdConfig {
  float momentum = 0.0f; ///< used if the tensor has a velocity
  bool nesterov = false;
};

/// train.sgd on every tensor: g = grad · inverseScale · clipFactor +
/// weightDecay · w; v = momentum · v + g; w -= learningRate · (v, or g +
/// momentum · v if nesterov, or g without velocity). `state` may be null: g =
/// grad. Does nothing if `guard`, a bool on the device, is false.
inline Status sgd(cudaStream_t stream, const OptimizerTable &table,
                  const SgdConfig &config, const float *learningRate,
                  const UnscaleState *state, const uint8_t *guard);

struct AdamConfig {
  double beta1 = 0.9, beta2 = 0.999;
  float epsilon = 1e-8f;
  bool decoupled = false; ///< adamw
};

/// train.adam or train.adamw on every tensor; `step` is the f32 number of this
/// step, from 1, from which the bias corrections are computed on the device.
inline Status adam(cudaStream_t stream, const OptimizerTable &table,
                   const AdamConfig &config, const float *learningRate,
                   const float *step, const UnscaleState *state,
                   const uint8_t *guard);

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_OPTIMIZER_H
