//===- QuantizedOptimizer.h - Updates that quantise -------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The launch of an optimizer that also writes the 8-bit copies of its
// parameters, with scales that are known before it, and finds their magnitudes.
// The products of the next step read the copies. A chunk of such a parameter is
// a tile of a matrix, so that both orders of the codes are written in whole
// vectors. If the guard of the launch is false, it quantises the unchanged
// parameters, because their scales may have changed.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_QUANTIZEDOPTIMIZER_H
#define AMP_RUNTIME_CUDA_QUANTIZEDOPTIMIZER_H

#include "amp/Runtime/CUDA/Optimizer.h"
#include "amp/Runtime/CUDA/Quantize.h"

namespace amp::cuda {

/// Loads a parameter as products read it. An f32 parameter may have a copy of
/// that type.
template <int Width>
AMP_DEVICE Pack<float, Width> loadUnchanged(const OptimizerTensor &tensor,
                                            Type source, Lanes<Width> at) {
  if (tensor.copy && tensor.storage.parameter == Type::F32 &&
      tensor.copyType == source)
    return loadStored(tensor.copy, source, at);
  return StoredTensor<false>{tensor, nullptr}.loadRead(at);
}

/// Updates the elements of a tile and writes their codes. Returns the largest
/// magnitude of the elements of this thread.
template <Float8 Format, typename Update>
AMP_DEVICE float updateTile(const OptimizerTensor &tensor,
                            const QuantizedParameter &copies, int64_t tile,
                            bool updates, const Update &update) {
  const float scale = loadOne(copies.scale);
  if (tile == 0 && threadIdx.x == 0)
    storeOne(copies.inverse, 1.0f / scale);
  auto compute = [&](auto at) {
    return roundPack(updates ? update(tensor, at)
                             : loadUnchanged(tensor, copies.source, at),
                     copies.source);
  };
  const QuantizeConfig config{copies.rows, copies.columns, Format,
                              copies.saturate, copies.keepNonFinite};
  const auto scales = Pack<float, 16>::of(scale);
  return quantizeTile<Format>(
      config, padFloat8(copies.rows), padFloat8(copies.columns), tile,
      copies.payload, copies.transposed,
      [&](auto at) {
        constexpr int width = decltype(at)::width;
        if constexpr (width == 16) {
          const auto low = compute(Lanes<8>{at.index}),
                     high = compute(Lanes<8>{at.index + 8});
          Pack<float, 16> values;
#pragma unroll
          for (int lane = 0; lane < 8; ++lane) {
            values[lane] = low[lane];
            values[lane + 8] = high[lane];
          }
          return values;
        } else {
          return compute(at);
        }
      },
      [=](int64_t, int64_t) { return scales; });
}

/// The magnitude of the tiles of one parameter that a block processes in
/// sequence.
struct TileMagnitude {
  QuantizedParameter *copies = nullptr;
  float amax = 0.0f;
  unsigned tiles = 0;

  /// Adds the magnitude that this thread has found in a tile of `of`.
  AMP_DEVICE void add(QuantizedParameter *of, float found) {
    if (of != copies)
      finish();
    copies = of;
    amax = maximum(amax, found);
    ++tiles;
  }

  /// Combines the magnitude with those of other blocks. The block that
  /// processes the last tile of the parameter writes the result.
  AMP_DEVICE void finish() {
    if (!copies || !copies->amax)
      return;
    auto *shared = reinterpret_cast<float *>(sharedMemory<unsigned char>() +
                                             kQuantizeTile * kQuantizePitch);
    __syncthreads(); // the last magnitude has been read
    const float most = reduceBlock<Maximum>(amax, shared);
    if (threadIdx.x == 0) {
      // Bits of magnitudes compare as the magnitudes do, and NaN is the
      // largest.
      atomicMax(&copies->most, __float_as_uint(most) & 0x7fffffffu);
      __threadfence();
      const auto all = unsigned(copies->getNumTiles());
      if (atomicAdd(&copies->tiles, tiles) + tiles == all) {
        __threadfence();
        const unsigned bits = atomicMax(&copies->most, 0u);
        storeOne(copies->amax, __uint_as_float(bits));
        atomicCAS(&copies->most, bits, 0u);
        atomicCAS(&copies->tiles, all, 0u);
      }
    }
    amax = 0.0f;
    tiles = 0;
  }
};

/// Updates all tensors of a table, if `updates`, and writes the 8-bit copies.
template <Float8 Format, typename Update>
AMP_DEVICE void updateAndQuantize(const OptimizerTable &table, bool updates,
                                  const Update &update) {
  TileMagnitude magnitude;
  forEachChunk(table, [&](const OptimizerTensor &tensor, int64_t chunk) {
    if (tensor.quantized < 0) {
      if (updates)
        forEachInChunk(tensor, chunk, update);
      return;
    }
    QuantizedParameter *copies = table.quantized + tensor.quantized;
    const float found =
        updateTile<Format>(tensor, *copies, chunk, updates, update);
    magnitude.add(copies, found);
  });
  magnitude.finish();
}

/// Shape for a kernel over the chunks and tiles of a table.
inline LaunchShape quantizedChunkShape(const OptimizerTable &table) {
  LaunchShape shape = chunkShape(table);
  shape.sharedBytes = quantizeShape(1, 1).sharedBytes;
  return shape;
}

/// A thread has sixteen elements of several tensors in registers.
template <Float8 Format>
__global__ void __launch_bounds__(kThreads, kBlocks / 2)
    quantizedSgdKernel(OptimizerTable table, SgdConfig config,
                       const float *learningRate, const UnscaleState *state,
                       const uint8_t *guard, const int64_t *rng) {
  updateAndQuantize<Format>(table, guarded(guard),
                            SgdUpdate<false>{config, loadOne(learningRate),
                                             GradientScale(state), rng});
}

/// As `sgd`, and writes the 8-bit copies of the table, also if `guard` is
/// false.
template <Float8 Format>
Status quantizedSgd(cudaStream_t stream, const OptimizerTable &table,
                    const SgdConfig &config, const float *learningRate,
                    const UnscaleState *state, const uint8_t *guard,
                    const int64_t *rng = nullptr) {
  return launch("sgd", stream, quantizedChunkShape(table),
                quantizedSgdKernel<Format>, table, config, learningRate, state,
                guard, rng);
}

template <Float8 Format>
__global__ void __launch_bounds__(kThreads, kBlocks / 2)
    quantizedAdamKernel(OptimizerTable table, AdamConstants c,
                        const float *learningRate, const float *step,
                        const UnscaleState *state, const uint8_t *guard,
                        const int64_t *rng) {
  updateAndQuantize<Format>(
      table, guarded(guard),
      AdamUpdate<false>(c, learningRate, step, state, rng));
}

/// As `adam`, and writes the 8-bit copies of the table, also if `guard` is
/// false.
template <Float8 Format>
Status quantizedAdam(cudaStream_t stream, const OptimizerTable &table,
                     const AdamConfig &config, const float *learningRate,
                     const float *step, const UnscaleState *state,
                     const uint8_t *guard, const int64_t *rng = nullptr) {
  return launch(config.decoupled ? "adamw" : "adam", stream,
                quantizedChunkShape(table), quantizedAdamKernel<Format>, table,
                AdamConstants(config), learningRate, step, state, guard, rng);
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_QUANTIZEDOPTIMIZER_H
