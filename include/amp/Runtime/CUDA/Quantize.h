//===- Quantize.h - Rounding to eight bits ----------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One kernel reads a matrix once and writes its 8-bit copies: in the order of
// its rows, in that of its columns, or both. It also finds the largest
// magnitude for the scale of the next step, and gives the inverse of the scale,
// which products read. Scales stay on the device. A generated kernel that
// computes the matrix calls `quantizeTiles` with its body instead.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_QUANTIZE_H
#define AMP_RUNTIME_CUDA_QUANTIZE_H

#include "amp/Runtime/CUDA/Float8Scale.h"
#include "amp/Runtime/CUDA/Reduce.h"

#include <cuda_fp8.h>

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 890
#error                                                                         \
    "a step with 8-bit products needs a GPU of compute capability 8.9 or later, such as sm_90"
#endif

namespace amp::cuda {

/// How a matrix of `rows` x `columns` becomes 8-bit floats.
struct QuantizeConfig {
  int64_t rows, columns;
  Float8 format;
  /// Whether magnitudes beyond the range become the largest finite number.
  bool saturate;
  /// Whether an infinite element becomes that of the format, or NaN.
  bool keepNonFinite;
};

/// The copies of a matrix. Null pointers are not written.
struct QuantizeResults {
  /// [padFloat8(rows), padFloat8(columns)]. Zeros follow the matrix.
  uint8_t *payload;
  /// [padFloat8(columns), padFloat8(rows)], the transposed matrix.
  uint8_t *transposed;
  float *inverse; ///< 1 / scale, if there is a scale
  float *amax;    ///< the largest magnitude, NaN if an element is NaN
};

/// Rounds to nearest even. NaN stays NaN.
AMP_DEVICE uint8_t toFloat8(float value, Float8 format, bool saturate) {
  return __nv_cvt_float_to_fp8(value, saturate ? __NV_SATFINITE : __NV_NOSAT,
                               format == Float8::E4M3 ? __NV_E4M3 : __NV_E5M2);
}

/// Bytes between rows of a tile in shared memory: a row of words more than the
/// tile, so that a column is spread over banks.
inline constexpr int kQuantizePitch = int(kQuantizeTile) + 4;

/// Multiplies `value` by `scale` and returns its code of `Format`.
template <Float8 Format>
AMP_DEVICE uint8_t quantizeOne(const QuantizeConfig &config, float value,
                               float scale) {
  const bool isKept = config.keepNonFinite && !isFinite(value);
  return toFloat8(isKept ? value : value * scale, Format,
                  config.saturate && !isKept);
}

/// Writes codes to shared memory, in words of four codes if possible.
template <int Width>
AMP_DEVICE void keepCodes(unsigned char *codes,
                          const Pack<uint8_t, Width> &pack) {
  if constexpr (Width % 4 == 0) {
    uint32_t words[Width / 4];
    memcpy(words, &pack, sizeof(words));
#pragma unroll
    for (int word = 0; word < Width / 4; ++word)
      reinterpret_cast<uint32_t *>(codes)[word] = words[word];
  } else {
#pragma unroll
    for (int lane = 0; lane < Width; ++lane)
      codes[lane] = pack[lane];
  }
}

/// Returns sixteen elements of row `row`, starting at column `column`. Elements
/// outside the matrix are zero. `source` computes elements from `Lanes`.
template <typename Source>
AMP_DEVICE Pack<float, 16> sourcePack(const QuantizeConfig &config,
                                      Source source, int64_t row,
                                      int64_t column) {
  Pack<float, 16> values = Pack<float, 16>::of(0.0f);
  if (row >= config.rows || column >= config.columns)
    return values;
  const int64_t begin = row * config.columns + column;
  if (config.columns % 16 == 0)
    return source(Lanes<16>{begin});
#pragma unroll
  for (int lane = 0; lane < 16; ++lane)
    if (column + lane < config.columns)
      values[lane] = source(Lanes<1>{begin + lane})[0];
  return values;
}

/// Writes the largest `amax` of all threads of the grid. `partials` holds a
/// float for each block. `shared` holds a word for each warp and one more word.
AMP_DEVICE void storeMagnitude(float *result, float amax, float *partials,
                               unsigned *arrivalCounter, float *shared) {
  amax = reduceBlock<Maximum>(amax, shared);
  if (gridDim.x == 1) {
    if (threadIdx.x == 0)
      storeOne(result, amax);
    return;
  }
  if (threadIdx.x == 0) {
    AMP_ON_STORE(partials + blockIdx.x, sizeof(float));
    partials[blockIdx.x] = amax;
  }
  if (!isLastBlock(arrivalCounter, gridDim.x,
                   reinterpret_cast<unsigned *>(shared + kThreads / 32)))
    return;
  amax = 0.0f;
  for (unsigned part = threadIdx.x; part < gridDim.x; part += kThreads)
    amax = maximum(amax, loadPartial(partials + part));
  amax = reduceBlock<Maximum>(amax, shared);
  if (threadIdx.x == 0)
    storeOne(result, amax);
}

/// Rounds tile `index` of a matrix to codes. Calls `source(at)` with `Lanes`
/// that together cover the elements of the tile once. Multiplies the elements
/// by `scaleOf(row, column)`, which returns the scales of sixteen elements of a
/// row from `column` on. Writes the codes to `payload` and `transposed`, with
/// the padded extents [rows, columns] and [columns, rows]. Returns the largest
/// magnitude of the elements of this thread.
template <Float8 Format, typename Source, typename ScaleOf>
AMP_DEVICE float quantizeTile(const QuantizeConfig &config, int64_t rows,
                              int64_t columns, int64_t index, uint8_t *payload,
                              uint8_t *transposed, Source source,
                              ScaleOf scaleOf) {
  constexpr int tile = int(kQuantizeTile);
  auto *codes = sharedMemory<unsigned char>();
  const int64_t across = ceilDiv(columns, tile);
  // A thread takes sixteen elements of a row, and then of a column.
  const int line = int(threadIdx.x) / 4, first = int(threadIdx.x) % 4 * 16;
  const int64_t row = index / across * tile, column = index % across * tile;
  const auto values = sourcePack(config, source, row + line, column + first);
  const auto scales = scaleOf(row + line, column + first);
  float amax = 0.0f;
  Pack<uint8_t, 16> pack;
#pragma unroll
  for (int lane = 0; lane < 16; ++lane) {
    amax = maximum(amax, fabsf(values[lane]));
    // The padding stays zero even if the scale is NaN.
    const bool isInside =
        row + line < config.rows && column + first + lane < config.columns;
    pack[lane] = isInside
                     ? quantizeOne<Format>(config, values[lane], scales[lane])
                     : uint8_t(0);
  }
  if (payload && row + line < rows && column + first < columns)
    store<16>(payload + (row + line) * columns + column + first, pack);
  if (!transposed)
    return amax;
  __syncthreads(); // the last tile has been read
  keepCodes(codes + line * kQuantizePitch + first, pack);
  __syncthreads();
  Pack<uint8_t, 16> turned;
#pragma unroll
  for (int lane = 0; lane < 16; ++lane)
    turned[lane] = codes[(first + lane) * kQuantizePitch + line];
  if (column + line < columns && row + first < rows)
    store<16>(transposed + (column + line) * rows + row + first, turned);
  return amax;
}

/// The same for all tiles of a matrix.
template <Float8 Format, typename Source, typename ScaleOf>
AMP_DEVICE float quantizeEach(const QuantizeConfig &config, int64_t rows,
                              int64_t columns, uint8_t *payload,
                              uint8_t *transposed, Source source,
                              ScaleOf scaleOf) {
  const int64_t tiles =
      ceilDiv(columns, kQuantizeTile) * ceilDiv(rows, kQuantizeTile);
  float amax = 0.0f;
  for (int64_t i = blockIdx.x; i < tiles; i += gridDim.x)
    amax = maximum(amax, quantizeTile<Format>(config, rows, columns, i, payload,
                                              transposed, source, scaleOf));
  return amax;
}

/// Reads the scale and writes its inverse. A null pointer is a scale of 1.
AMP_DEVICE float readScale(const QuantizeResults &out, const float *scale) {
  const float value = scale ? loadOne(scale) : 1.0f;
  if (scale && blockIdx.x == 0 && threadIdx.x == 0)
    storeOne(out.inverse, 1.0f / value);
  return value;
}

/// As `quantizeEach`, with one scale for the matrix. Writes the copies and the
/// magnitude. The magnitude alone needs no scale. Launched with
/// `quantizeShape`. `partials` holds a float for each block.
template <Float8 Format, typename Source>
AMP_DEVICE void quantizeTiles(const QuantizeConfig &config,
                              const QuantizeResults &out, const float *scales,
                              float *partials, unsigned *arrivalCounter,
                              Source source) {
  const auto scale = Pack<float, 16>::of(readScale(out, scales));
  const float amax = quantizeEach<Format>(
      config, padFloat8(config.rows), padFloat8(config.columns), out.payload,
      out.transposed, source, [=](int64_t, int64_t) { return scale; });
  if (out.amax)
    storeMagnitude(out.amax, amax, partials, arrivalCounter,
                   reinterpret_cast<float *>(sharedMemory<unsigned char>() +
                                             kQuantizeTile * kQuantizePitch));
}

/// Returns the shape of a launch that quantises a matrix of `rows` x `columns`.
inline LaunchShape quantizeShape(int64_t rows, int64_t columns) {
  LaunchShape shape;
  shape.grid.x = unsigned(quantizeParts(padFloat8(rows), padFloat8(columns)));
  shape.sharedBytes =
      size_t(kQuantizeTile * kQuantizePitch + kThreads / 32 * 4 + 16);
  return shape;
}

template <Float8 Format, typename T>
__global__ void __launch_bounds__(kThreads, kBlocks)
    quantizeKernel(QuantizeConfig config, QuantizeResults out, const T *x,
                   const float *scales, float *partials,
                   unsigned *arrivalCounter) {
  quantizeTiles<Format>(config, out, scales, partials, arrivalCounter,
                        [=](auto at) { return at.load(x); });
}

/// Multiplies `x` by the scalar `scale` and rounds to 8-bit floats. `partials`
/// is scratch of `quantizeScratchBytes(config.rows, config.columns)`, and
/// `arrivalCounter` is zero before and after; only a magnitude needs them.
template <typename T>
Status quantize(cudaStream_t stream, const QuantizeConfig &config,
                const QuantizeResults &out, const T *x, const float *scale,
                void *partials, unsigned *arrivalCounter) {
  auto *kernel = config.format == Float8::E4M3
                     ? quantizeKernel<Float8::E4M3, T>
                     : quantizeKernel<Float8::E5M2, T>;
  return launch("quantize", stream, quantizeShape(config.rows, config.columns),
                kernel, config, out, x, scale, static_cast<float *>(partials),
                arrivalCounter);
}

/// Describes the blocks of a matrix and the operand that products read.
struct QuantizeBlocks {
  /// The rows and columns of a block; 0 for all of them.
  int64_t rows, columns;
  /// The layout of the factors. A block is a row of the operand, a part of a
  /// row or a square.
  Float8Scale scale;
  /// Whether the operand is the transposed matrix.
  bool transposed;
};

/// Returns the exponent of a power of two in the encoding of products: biased
/// by 127, and 255 for NaN. Returns 255 for a number that is not a power of
/// two, so that a product does not lose its mantissa silently.
AMP_DEVICE uint8_t toExponent(float power) {
  const uint32_t bits = __float_as_uint(power);
  // The only subnormal power is 2^-127, whose exponent bits are 0.
  constexpr uint32_t least = 0x00400000;
  return (bits & 0x7fffff) && bits != least ? 255 : uint8_t(bits >> 23);
}

/// Writes the inverses of `scales`, one for each block, as the factors of an
/// operand with the padded extents `outer` x `inner`. Factors of the padding
/// are 0.
AMP_DEVICE void storeFactors(const QuantizeConfig &config,
                             const QuantizeBlocks &blocks, void *factors,
                             const float *scales, int64_t outer,
                             int64_t inner) {
  const int64_t rows = float8ScaleRows(blocks.scale, outer),
                columns = float8ScaleColumns(blocks.scale, inner);
  const int64_t down = blocks.rows ? ceilDiv(config.rows, blocks.rows) : 1,
                across = blocks.columns
                             ? ceilDiv(config.columns, blocks.columns)
                             : 1;
  for (int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
       i < rows * columns; i += int64_t(gridDim.x) * kThreads) {
    const int64_t row = i % rows, column = i / rows;
    const int64_t from = blocks.transposed ? column : row,
                  at = blocks.transposed ? row : column;
    const bool isInside = from < down && at < across;
    const float factor =
        isInside ? 1.0f / loadOne(scales + from * across + at) : 0.0f;
    const int64_t index =
        float8ScaleIndex(blocks.scale, rows, columns, row, column);
    if (blocks.scale == Float8Scale::Vector32)
      storeOne(static_cast<uint8_t *>(factors) + index, toExponent(factor));
    else
      storeOne(static_cast<float *>(factors) + index, factor);
  }
}

/// Scales of columns need more registers than a single scale.
template <Float8 Format, typename T>
__global__ void __launch_bounds__(kThreads, kBlocks - 1)
    quantizeBlocksKernel(QuantizeConfig config, QuantizeBlocks blocks,
                         uint8_t *codes, void *factors, const T *x,
                         const float *scales) {
  const bool turns = blocks.transposed;
  const int64_t outer = padFloat8(turns ? config.columns : config.rows),
                inner = padFloat8Inner(turns ? config.rows : config.columns,
                                       blocks.scale);
  storeFactors(config, blocks, factors, scales, outer, inner);
  const int64_t across =
      blocks.columns ? ceilDiv(config.columns, blocks.columns) : 1;
  quantizeEach<Format>(
      config, turns ? inner : outer, turns ? outer : inner,
      turns ? nullptr : codes, turns ? codes : nullptr,
      [=](auto at) { return at.load(x); },
      [=](int64_t row, int64_t column) {
        auto pack = Pack<float, 16>::of(0.0f);
        if (row >= config.rows || column >= config.columns)
          return pack;
        const float *line =
            scales + (blocks.rows ? row / blocks.rows * across : 0);
        // Sixteen elements share a scale unless each column has its own.
        if (blocks.columns != 1)
          return Pack<float, 16>::of(
              loadOne(line + (blocks.columns ? column / blocks.columns : 0)));
#pragma unroll
        for (int lane = 0; lane < 16; ++lane)
          if (column + lane < config.columns)
            pack[lane] = loadOne(line + column + lane);
        return pack;
      });
}

/// Multiplies `x` by the scales of its blocks and rounds to 8-bit floats.
/// Writes an operand of a product: `codes`, with rows padded by `padFloat8` and
/// columns padded by `padFloat8Inner`, and `factors`, the inverses of the
/// scales.
template <typename T>
Status quantizeBlocks(cudaStream_t stream, const QuantizeConfig &config,
                      const QuantizeBlocks &blocks, uint8_t *codes,
                      void *factors, const T *x, const float *scales) {
  auto *kernel = config.format == Float8::E4M3
                     ? quantizeBlocksKernel<Float8::E4M3, T>
                     : quantizeBlocksKernel<Float8::E5M2, T>;
  return launch("quantize", stream, quantizeShape(config.rows, config.columns),
                kernel, config, blocks, codes, factors, x, scales);
}

/// Enters a magnitude into a history, the last one first. One block runs it.
template <typename = void>
__global__ void __launch_bounds__(kThreads)
    updateQuantizerKernel(float *scale, float *history, const float *amaxes,
                          int64_t length, float room, bool mostRecent) {
  const float amax = loadOne(amaxes);
  if (!(amax > 0.0f) || !isFinite(amax))
    return;
  // From the end on, so that each magnitude is read before it is replaced.
  float most = amax;
  for (int64_t base = (length - 1) / kThreads * kThreads; base >= 0;
       base -= kThreads) {
    const int64_t i = base + threadIdx.x;
    const float last = i > 0 && i < length ? loadOne(history + i - 1) : amax;
    most = maximum(most, last);
    __syncthreads();
    if (i < length)
      storeOne(history + i, last);
    __syncthreads();
  }
  most = reduceBlock<Maximum>(most, sharedMemory<float>());
  if (threadIdx.x == 0)
    storeOne(scale, minimum(maximum(room / (mostRecent ? amax : most),
                                    1.17549435e-38f),
                            3.40282347e+38f));
}

/// amp.update_quantizer in place, once per step and after all uses of the
/// scale: unless `amax` is zero, infinite or NaN, the history of `length`
/// magnitudes gets it, and the scale brings the largest of them, or `amax` with
/// `mostRecent`, to `room`.
inline Status updateQuantizer(cudaStream_t stream, float *scale, float *history,
                              const float *amax, int64_t length, float room,
                              bool mostRecent) {
  LaunchShape shape;
  shape.sharedBytes = kThreads / 32 * 4;
  return launch("update_quantizer", stream, shape, updateQuantizerKernel<>,
                scale, history, amax, length, room, mostRecent);
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_QUANTIZE_H
