//===- Optimizer.h - Unscale, check, clip and update ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An optimizer passes over the gradients twice. `unscaleCheck` reads them for
// the norm and the finite flag. `sgd` or `adam` reads them again, unscales,
// clips, decays and updates parameters, moments and low-precision copies in one
// launch over all tensors. A table on the device, written at creation, lists
// the tensors. They may be at any address, and their gradients may have any
// float type. The planner makes one entry of tensors that are adjacent in every
// array.
//
// Parameters and states may be stored in 16 bits. The launch computes in f32
// and rounds them to nearest even or stochastically. What the rounding of a
// parameter to nearest loses may be kept for the next step. The halves of an
// f32 parameter may be stored apart. Products then read the upper halves as
// bf16.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_OPTIMIZER_H
#define AMP_RUNTIME_CUDA_OPTIMIZER_H

#include "amp/Runtime/CUDA/OptimizerTable.h"
#include "amp/Runtime/CUDA/Random.h"
#include "amp/Runtime/CUDA/StepState.h"

namespace amp::cuda {

/// amp.unscale (except the products, which the optimizer computes) and the norm
/// of train.clip_by_global_norm. `scale` is null for 1. `maxNorm` is 0 for no
/// clipping. `allFinite` (a bool) and `norm` receive copies for other users and
/// may be null. `scratch` has `unscaleScratchBytes(table.chunks)`. The check is
/// made before the multiplication, as in torch.amp.GradScaler. With `strict`,
/// the gradient must also be finite after it. A finite gradient whose square
/// overflows sets `normOverflow` and not the flag.
template <typename = void>
Status unscaleCheck(cudaStream_t stream, const OptimizerTable &table,
                    const float *scale, float maxNorm, UnscaleState *state,
                    uint8_t *allFinite, float *norm, void *scratch,
                    unsigned *arrivalCounters, bool strict = false);

struct SgdConfig {
  float momentum = 0.0f; ///< used if the tensor has a velocity
  bool nesterov = false;
};

/// train.sgd on every tensor: g = grad · inverseScale · clipFactor +
/// weightDecay · w; v = momentum · v + g; w -= learningRate · (v, or g +
/// momentum · v if nesterov, or g without velocity). `state` may be null: g =
/// grad. Does nothing if `guard`, a bool on the device, is false. `rng` (seed
/// and step) must not be null if the table has keys of random numbers.
template <typename = void>
Status sgd(cudaStream_t stream, const OptimizerTable &table,
           const SgdConfig &config, const float *learningRate,
           const UnscaleState *state, const uint8_t *guard,
           const int64_t *rng = nullptr);

struct AdamConfig {
  double beta1 = 0.9, beta2 = 0.999;
  float epsilon = 1e-8f;
  bool decoupled = false; ///< adamw
};

/// train.adam or train.adamw on every tensor. `step` is the f32 number of this
/// step, counted from 1. The device computes the bias corrections from it.
template <typename = void>
Status adam(cudaStream_t stream, const OptimizerTable &table,
            const AdamConfig &config, const float *learningRate,
            const float *step, const UnscaleState *state, const uint8_t *guard,
            const int64_t *rng = nullptr);

/// Writes every copy from its parameter in one launch: amp.cast or
/// amp.master_copy of all tensors of the table that have a copy. Steps use it
/// that keep f32 parameters and cast them once (`cast` master weights).
template <typename = void>
Status castParameters(cudaStream_t stream, const OptimizerTable &table);

//===----------------------------------------------------------------------===//
// Parameters and states
//===----------------------------------------------------------------------===//

/// Loads elements of type `type`: f16, bf16 or f32.
template <int Width>
AMP_DEVICE Pack<float, Width> loadStored(const void *data, Type type,
                                         Lanes<Width> at) {
  AMP_ASSUME_GLOBAL(data);
  if (type == Type::F16)
    return at.load(static_cast<const __half *>(data));
  if (type == Type::BF16)
    return at.load(static_cast<const __nv_bfloat16 *>(data));
  return at.load(static_cast<const float *>(data));
}

/// Rounds elements to `type`, f16, bf16 or f32, to nearest even.
template <int Width>
AMP_DEVICE Pack<float, Width> roundPack(Pack<float, Width> values, Type type) {
#pragma unroll
  for (int lane = 0; lane < Width; ++lane)
    values[lane] = type == Type::F16 ? widen(roundTo<__half>(values[lane]))
                   : type == Type::BF16
                       ? widen(roundTo<__nv_bfloat16>(values[lane]))
                       : values[lane];
  return values;
}

/// Rounds elements to `type`, stochastically if `key` is not negative, and
/// writes them. Returns the rounded elements.
template <int Width>
AMP_DEVICE Pack<float, Width> storeRounded(void *data, Type type, int32_t key,
                                           const int64_t *rng, Lanes<Width> at,
                                           Pack<float, Width> values) {
  AMP_ASSUME_GLOBAL(data);
  if (key >= 0) {
    const auto words = randomWords(at, rng, uint32_t(key));
#pragma unroll
    for (int lane = 0; lane < Width; ++lane)
      values[lane] = roundStochastically(values[lane], words[lane]);
  }
  if (type == Type::F16)
    at.store(static_cast<__half *>(data), values);
  else if (type == Type::BF16)
    at.store(static_cast<__nv_bfloat16 *>(data), values);
  else
    at.store(static_cast<float *>(data), values);
  return roundPack(values, type);
}

/// Writes the copy of a parameter, if it has one.
template <int Width>
AMP_DEVICE void storeCopy(const OptimizerTensor &tensor, Lanes<Width> at,
                          const Pack<float, Width> &parameter) {
  if (tensor.copy == nullptr)
    return;
  AMP_ASSUME_GLOBAL(tensor.copy);
  if (tensor.copyType == Type::F16)
    at.store(static_cast<__half *>(tensor.copy), parameter);
  else
    at.store(static_cast<__nv_bfloat16 *>(tensor.copy), parameter);
}

/// Loads and stores the parameter and the states of a tensor of a table. With
/// `Plain`, all of them are f32, and the parameter is not split.
template <bool Plain>
struct StoredTensor {
  const OptimizerTensor &tensor;
  const int64_t *rng;

  template <int Width>
  AMP_DEVICE Pack<float, Width> loadParameter(Lanes<Width> at) const {
    if (isCompensated()) {
      auto values = load(tensor.parameter, tensor.storage.parameter, at);
      const auto errors = load(tensor.copy, tensor.copyType, at);
#pragma unroll
      for (int lane = 0; lane < Width; ++lane)
        values[lane] = values[lane] + errors[lane];
      return values;
    }
    if (!isSplit())
      return load(tensor.parameter, tensor.storage.parameter, at);
    const auto upper = at.load(getHalf(0));
    const auto lower = at.load(getHalf(lowerHalfOffset(tensor.count)));
    Pack<float, Width> values;
#pragma unroll
    for (int lane = 0; lane < Width; ++lane)
      values[lane] = __uint_as_float(uint32_t(upper[lane]) << 16 | lower[lane]);
    return values;
  }
  /// Returns the parameter as products read it: the upper half of a split
  /// parameter, or the stored value.
  template <int Width>
  AMP_DEVICE Pack<float, Width>
  storeParameter(Lanes<Width> at, const Pack<float, Width> &values) const {
    if (isCompensated())
      storeError(at, values);
    if (!isSplit())
      return store(tensor.parameter, tensor.storage.parameter, 0, at, values);
    Pack<uint16_t, Width> upper, lower;
#pragma unroll
    for (int lane = 0; lane < Width; ++lane) {
      const uint32_t bits = __float_as_uint(values[lane]);
      upper[lane] = uint16_t(bits >> 16);
      lower[lane] = uint16_t(bits);
    }
    at.store(getHalf(0), upper);
    at.store(getHalf(lowerHalfOffset(tensor.count)), lower);
    return widenUpper(upper);
  }
  /// Loads the parameter as products read it.
  template <int Width>
  AMP_DEVICE Pack<float, Width> loadRead(Lanes<Width> at) const {
    return isSplit() ? widenUpper(at.load(getHalf(0)))
                     : load(tensor.parameter, tensor.storage.parameter, at);
  }

  template <int Width>
  AMP_DEVICE Pack<float, Width> loadFirst(Lanes<Width> at) const {
    return load(tensor.first, tensor.storage.first, at);
  }
  template <int Width>
  AMP_DEVICE void storeFirst(Lanes<Width> at,
                             const Pack<float, Width> &values) const {
    store(tensor.first, tensor.storage.first, 1, at, values);
  }
  template <int Width>
  AMP_DEVICE Pack<float, Width> loadSecond(Lanes<Width> at) const {
    return load(tensor.second, tensor.storage.second, at);
  }
  template <int Width>
  AMP_DEVICE void storeSecond(Lanes<Width> at,
                              const Pack<float, Width> &values) const {
    store(tensor.second, tensor.storage.second, 2, at, values);
  }

  /// Writes the copy of an f32 parameter, if it has one.
  template <int Width>
  AMP_DEVICE void storeCopy(Lanes<Width> at,
                            const Pack<float, Width> &parameter) const {
    if (!isCompensated())
      amp::cuda::storeCopy(tensor, at, parameter);
  }

private:
  template <int Width>
  AMP_DEVICE static Pack<float, Width>
  widenUpper(const Pack<uint16_t, Width> &upper) {
    Pack<float, Width> values;
#pragma unroll
    for (int lane = 0; lane < Width; ++lane)
      values[lane] = __uint_as_float(uint32_t(upper[lane]) << 16);
    return values;
  }
  AMP_DEVICE bool isSplit() const { return !Plain && tensor.storage.isSplit; }
  AMP_DEVICE bool isCompensated() const {
    return !Plain && tensor.storage.parameter != Type::F32 &&
           tensor.copy != nullptr;
  }
  /// Writes what the rounding of `values` to the type of the parameter loses,
  /// or 0 where the rounded value is not finite.
  template <int Width>
  AMP_DEVICE void storeError(Lanes<Width> at,
                             const Pack<float, Width> &values) const {
    Pack<float, Width> errors;
#pragma unroll
    for (int lane = 0; lane < Width; ++lane) {
      const float rounded = tensor.storage.parameter == Type::F16
                                ? widen(roundTo<__half>(values[lane]))
                                : widen(roundTo<__nv_bfloat16>(values[lane]));
      errors[lane] = isFinite(rounded) ? values[lane] - rounded : 0.0f;
    }
    storeRounded(tensor.copy, tensor.copyType, -1, rng, at, errors);
  }

  template <int Width>
  AMP_DEVICE Pack<float, Width> load(const void *data, Type type,
                                     Lanes<Width> at) const {
    return loadStored(data, Plain ? Type::F32 : type, at);
  }
  /// Rounds with the key of the tensor at index `key`.
  template <int Width>
  AMP_DEVICE Pack<float, Width> store(void *data, Type type, int key,
                                      Lanes<Width> at,
                                      const Pack<float, Width> &values) const {
    return storeRounded(data, Plain ? Type::F32 : type,
                        Plain ? -1 : tensor.storage.keys[key], rng, at, values);
  }
  AMP_DEVICE uint16_t *getHalf(int64_t offset) const {
    AMP_ASSUME_GLOBAL(tensor.parameter);
    return reinterpret_cast<uint16_t *>(
        static_cast<unsigned char *>(tensor.parameter) + offset);
  }
};

//===----------------------------------------------------------------------===//
// The pass over the gradients
//===----------------------------------------------------------------------===//

/// A sum of squares, and whether an element is not finite. Squares of f32 are
/// exact in f64, so the order of the sum rarely decides a bit of the norm.
struct GradientSummary {
  double squares;
  uint64_t nonFinite;
};
struct GradientCombiner {
  using type = GradientSummary;
  static AMP_DEVICE GradientSummary identity() { return {0.0, 0u}; }
  static AMP_DEVICE GradientSummary combine(GradientSummary a,
                                            GradientSummary b) {
    return {a.squares + b.squares, a.nonFinite | b.nonFinite};
  }
};

template <typename = void>
__global__ void __launch_bounds__(kThreads)
    unscaleCheckKernel(OptimizerTable table, const float *scale, float maxNorm,
                       UnscaleState *state, uint8_t *allFinite, float *norm,
                       GradientSummary *partials, unsigned *arrivalCounter,
                       bool strict) {
  auto *shared = sharedMemory<GradientSummary>();
  // Round the inverse once from f64, as torch.amp.GradScaler does.
  const float inverse = scale ? float(1.0 / double(loadOne(scale))) : 1.0f;
  GradientSummary total = GradientCombiner::identity();
  forEachElement(table, [&](const OptimizerTensor &tensor, auto at) {
    const auto gradient = loadStored(tensor.gradient, tensor.gradientType, at);
#pragma unroll
    for (int lane = 0; lane < at.width; ++lane) {
      const float unscaled = gradient[lane] * inverse;
      total.squares += double(unscaled) * double(unscaled);
      total.nonFinite |= !isFinite(gradient[lane]);
      if (strict)
        total.nonFinite |= !isFinite(unscaled);
    }
  });
  total = reduceBlock<GradientCombiner>(total, shared);
  if (threadIdx.x == 0) {
    AMP_ON_STORE(partials + blockIdx.x, sizeof(total));
    partials[blockIdx.x] = total;
  }
  if (!isLastBlock(arrivalCounter, gridDim.x,
                   reinterpret_cast<unsigned *>(shared + kThreads / 32)))
    return;
  total = GradientCombiner::identity();
  for (unsigned part = threadIdx.x; part < gridDim.x; part += kThreads)
    total = GradientCombiner::combine(total, loadPartial(partials + part));
  total = reduceBlock<GradientCombiner>(total, shared);
  if (threadIdx.x != 0)
    return;
  UnscaleState result = {};
  result.inverseScale = inverse;
  result.norm = sqrtf(float(total.squares));
  result.clipFactor =
      maxNorm > 0.0f ? minimum(maxNorm / (result.norm + 1.0e-6f), 1.0f) : 1.0f;
  result.allFinite = total.nonFinite == 0;
  result.normOverflow = total.nonFinite == 0 && !isFinite(result.norm);
  AMP_ON_STORE(state, sizeof(result));
  *state = result;
  if (allFinite)
    storeOne(allFinite, uint8_t(result.allFinite));
  if (norm)
    storeOne(norm, result.norm);
}

template <typename>
Status unscaleCheck(cudaStream_t stream, const OptimizerTable &table,
                    const float *scale, float maxNorm, UnscaleState *state,
                    uint8_t *allFinite, float *norm, void *scratch,
                    unsigned *arrivalCounters, bool strict) {
  return launch("unscale_check", stream, chunkShape(table),
                unscaleCheckKernel<>, table, scale, maxNorm, state, allFinite,
                norm, static_cast<GradientSummary *>(scratch), arrivalCounters,
                strict);
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

/// The factors of a gradient. The two products round separately, as the
/// unscaled and the clipped gradient do in the graph.
struct GradientScale {
  float inverse = 1.0f, clip = 1.0f;

  AMP_DEVICE explicit GradientScale(const UnscaleState *state) {
    if (state == nullptr)
      return;
    inverse = loadOne(&state->inverseScale);
    clip = loadOne(&state->clipFactor);
  }
  AMP_DEVICE float operator()(float gradient) const {
    return gradient * inverse * clip;
  }
};

/// Updates some elements of a tensor by the rule of sgd. Returns the parameter
/// as products read it.
template <bool Plain>
struct SgdUpdate {
  SgdConfig config;
  float rate;
  GradientScale scale;
  const int64_t *rng;

  template <int Width>
  AMP_DEVICE Pack<float, Width> operator()(const OptimizerTensor &tensor,
                                           Lanes<Width> at) const {
    const auto gradient = loadStored(tensor.gradient, tensor.gradientType, at);
    const StoredTensor<Plain> stored{tensor, rng};
    auto w = stored.loadParameter(at);
    const bool hasVelocity = tensor.first != nullptr;
    Pack<float, Width> v = Pack<float, Width>::of(0.0f);
    if (hasVelocity)
      v = stored.loadFirst(at);
#pragma unroll
    for (int lane = 0; lane < Width; ++lane) {
      float g = scale(gradient[lane]);
      if (tensor.weightDecay != 0.0f)
        g = g + w[lane] * tensor.weightDecay;
      if (hasVelocity) {
        v[lane] = v[lane] * config.momentum + g;
        g = config.nesterov ? g + v[lane] * config.momentum : v[lane];
      }
      w[lane] = w[lane] - g * rate;
    }
    const auto read = stored.storeParameter(at, w);
    if (hasVelocity)
      stored.storeFirst(at, v);
    stored.storeCopy(at, w);
    return read;
  }
};

template <bool Plain>
__global__ void __launch_bounds__(kThreads, kBlocks)
    sgdKernel(OptimizerTable table, SgdConfig config, const float *learningRate,
              const UnscaleState *state, const uint8_t *guard,
              const int64_t *rng) {
  if (!guarded(guard))
    return;
  forEachElement(table, SgdUpdate<Plain>{config, loadOne(learningRate),
                                         GradientScale(state), rng});
}

template <typename>
Status sgd(cudaStream_t stream, const OptimizerTable &table,
           const SgdConfig &config, const float *learningRate,
           const UnscaleState *state, const uint8_t *guard,
           const int64_t *rng) {
  return launch("sgd", stream, chunkShape(table),
                table.isPlain ? sgdKernel<true> : sgdKernel<false>, table,
                config, learningRate, state, guard, rng);
}

/// The constants of adam in f32, as in the graph.
struct AdamConstants {
  float beta1, oneMinusBeta1, logBeta1;
  float beta2, oneMinusBeta2, logBeta2;
  float epsilon;
  bool decoupled;

  explicit AdamConstants(const AdamConfig &config)
      : beta1(float(config.beta1)), oneMinusBeta1(float(1.0 - config.beta1)),
        logBeta1(float(std::log(config.beta1))), beta2(float(config.beta2)),
        oneMinusBeta2(float(1.0 - config.beta2)),
        logBeta2(float(std::log(config.beta2))), epsilon(config.epsilon),
        decoupled(config.decoupled) {}
};

/// The same by the rule of adam or adamw.
template <bool Plain>
struct AdamUpdate {
  AdamConstants c;
  float rate, correction1, correction2;
  GradientScale scale;
  const int64_t *rng;

  AMP_DEVICE AdamUpdate(const AdamConstants &c, const float *learningRate,
                        const float *step, const UnscaleState *state,
                        const int64_t *rng)
      : c(c), rate(loadOne(learningRate)), scale(state), rng(rng) {
    // Computes 1 - βᵗ without cancellation.
    const float t = loadOne(step);
    correction1 = -expm1f(t * c.logBeta1);
    correction2 = -expm1f(t * c.logBeta2);
  }

  template <int Width>
  AMP_DEVICE Pack<float, Width> operator()(const OptimizerTensor &tensor,
                                           Lanes<Width> at) const {
    const auto gradient = loadStored(tensor.gradient, tensor.gradientType, at);
    const StoredTensor<Plain> stored{tensor, rng};
    auto w = stored.loadParameter(at);
    auto m = stored.loadFirst(at);
    auto v = stored.loadSecond(at);
    const float decay = tensor.weightDecay;
#pragma unroll
    for (int lane = 0; lane < Width; ++lane) {
      float g = scale(gradient[lane]);
      if (decay != 0.0f) {
        if (c.decoupled)
          w[lane] = w[lane] * (1.0f - rate * decay);
        else
          g = g + w[lane] * decay;
      }
      m[lane] = m[lane] * c.beta1 + g * c.oneMinusBeta1;
      v[lane] = v[lane] * c.beta2 + g * g * c.oneMinusBeta2;
      const float denominator = sqrtf(v[lane] / correction2) + c.epsilon;
      w[lane] = w[lane] - m[lane] / correction1 / denominator * rate;
    }
    const auto read = stored.storeParameter(at, w);
    stored.storeFirst(at, m);
    stored.storeSecond(at, v);
    stored.storeCopy(at, w);
    return read;
  }
};

// On sm_80 ptxas gives a thread 64 registers by default, with which the kernel
// for all forms of parameters and moments spills. 0 means the default.
template <bool Plain>
__global__ void __launch_bounds__(kThreads, Plain ? 0 : kBlocks - 1)
    adamKernel(OptimizerTable table, AdamConstants c, const float *learningRate,
               const float *step, const UnscaleState *state,
               const uint8_t *guard, const int64_t *rng) {
  if (!guarded(guard))
    return;
  forEachElement(table, AdamUpdate<Plain>(c, learningRate, step, state, rng));
}

template <typename>
Status adam(cudaStream_t stream, const OptimizerTable &table,
            const AdamConfig &config, const float *learningRate,
            const float *step, const UnscaleState *state, const uint8_t *guard,
            const int64_t *rng) {
  return launch(config.decoupled ? "adamw" : "adam", stream, chunkShape(table),
                table.isPlain ? adamKernel<true> : adamKernel<false>, table,
                AdamConstants(config), learningRate, step, state, guard, rng);
}

template <typename = void>
__global__ void __launch_bounds__(kThreads)
    castParametersKernel(OptimizerTable table) {
  forEachElement(table, [&](const OptimizerTensor &tensor, auto at) {
    if (tensor.copy != nullptr)
      storeCopy(tensor, at, loadStored(tensor.parameter, Type::F32, at));
  });
}

template <typename>
Status castParameters(cudaStream_t stream, const OptimizerTable &table) {
  return launch("cast_parameters", stream, chunkShape(table),
                castParametersKernel<>, table);
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_OPTIMIZER_H
