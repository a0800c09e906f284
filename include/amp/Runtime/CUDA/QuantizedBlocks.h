//===- QuantizedBlocks.h - 8-bit floats with scales of blocks ---*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One kernel reads a matrix once, finds the magnitudes of its blocks, and
// writes the codes and the factors of one or two operands of products. A block
// of threads keeps a tile of the matrix in registers. The tile holds whole
// blocks of 32 and 128 elements and of 128 x 128 elements. A row as a block has
// a kernel of its own, which keeps the row in registers.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_QUANTIZEDBLOCKS_H
#define AMP_RUNTIME_CUDA_QUANTIZEDBLOCKS_H

#include "amp/Runtime/CUDA/Quantize.h"
#include "amp/Runtime/CUDA/Rows.h"

namespace amp::cuda {

/// How a scale follows from a magnitude, as amp.scale_from_amax.
struct ScaleRule {
  /// What the magnitude becomes: the largest number of the format without the
  /// margin.
  float room;
  /// Magnitudes below it count as `epsilon`.
  float epsilon;
  /// Whether scales are rounded down to powers of two.
  bool powerOfTwo;
  /// Whether an infinite or NaN magnitude has the scale 1 instead of NaN.
  bool ignoreNonFinite;
};

AMP_DEVICE float findScale(const ScaleRule &rule, float amax) {
  const float magnitude = maximum(amax, rule.epsilon);
  if (!isFinite(magnitude))
    return rule.ignoreNonFinite ? 1.0f : NAN;
  if (magnitude == 0.0f)
    return 1.0f;
  const float scale =
      minimum(maximum(rule.room / magnitude, 1.17549435e-38f), 3.40282347e+38f);
  return rule.powerOfTwo ? __uint_as_float(__float_as_uint(scale) & 0x7f800000)
                         : scale;
}

/// Operands of products that a launch writes. Null pointers are not written.
/// Codes and factors have the sizes that `quantizeBlocks` describes.
struct BlockResults {
  uint8_t *payload;        ///< the codes of the matrix
  uint8_t *transposed;     ///< the codes of the transposed matrix
  void *factors;           ///< the factors of `payload`
  void *transposedFactors; ///< the factors of `transposed`
};

/// Rows and columns of a tile.
inline constexpr int kBlockTile = 128;
/// Bytes between the rows of the codes of a tile in shared memory.
inline constexpr int kBlockPitch = kBlockTile + 4;
/// Parts of 32 elements in a row or column of a tile.
inline constexpr int kBlockParts = kBlockTile / 32;

/// The magnitudes and then the scales of the blocks of an operand within a
/// tile. An operand without such scales, `Tensor`, has none.
template <Float8Scale Kind>
class TileScales {
public:
  /// `words` are `kBlockParts * kBlockTile` words of shared memory.
  AMP_DEVICE explicit TileScales(unsigned *words) : words(words) {}

  static constexpr int blocks = Kind == Float8Scale::Tensor     ? 0
                                : Kind == Float8Scale::Block128 ? 1
                                : Kind == Float8Scale::Vector128
                                    ? kBlockTile
                                    : 4 * kBlockTile;

  /// Forgets the magnitudes of the last tile. A barrier follows.
  AMP_DEVICE void clear() {
    for (int i = int(threadIdx.x); i < blocks; i += kThreads)
      words[i] = 0;
  }
  /// Enters a magnitude of row `line` of the operand, from part `part` of the
  /// row. The bits of magnitudes have the order of numbers, and NaN is above
  /// them.
  AMP_DEVICE void enter(int line, int part, float magnitude) {
    if constexpr (blocks != 0)
      atomicMax(words + indexOf(line, part), __float_as_uint(magnitude));
  }
  /// Turns magnitudes into scales and writes the factors of an operand of
  /// `outer` x `inner` elements, whose tile begins at `line` and `column`.
  /// Factors of the padding are 0. Barriers precede and follow.
  AMP_DEVICE void finish(const ScaleRule &rule, void *factors, int64_t outer,
                         int64_t inner, int64_t line, int64_t column) {
    if constexpr (blocks == 0)
      return;
    const int64_t rows = float8ScaleRows(Kind, padFloat8(outer)),
                  columns =
                      float8ScaleColumns(Kind, padFloat8Inner(inner, Kind));
    constexpr int width = Kind == Float8Scale::Vector32 ? 32 : kBlockTile,
                  height = Kind == Float8Scale::Block128 ? kBlockTile : 1;
    for (int i = int(threadIdx.x); i < blocks; i += kThreads) {
      const float scale = findScale(rule, __uint_as_float(words[i]));
      words[i] = __float_as_uint(scale);
      const int64_t row = line / height + i % kBlockTile,
                    at = column / width + i / kBlockTile;
      if (row >= rows)
        continue;
      const bool isInside = row * height < outer && at * width < inner;
      store(factors, rows, columns, row, at, isInside ? 1.0f / scale : 0.0f);
      // Rows of squares have multiples of four factors.
      if (Kind == Float8Scale::Block128 && column + kBlockTile >= inner)
        for (int64_t next = at + 1; next < columns; ++next)
          store(factors, rows, columns, row, next, 0.0f);
    }
  }
  /// The scale of part `part` of row `line`.
  AMP_DEVICE float get(int line, int part) const {
    return __uint_as_float(words[indexOf(line, part)]);
  }

private:
  static AMP_DEVICE int indexOf(int line, int part) {
    return Kind == Float8Scale::Block128    ? 0
           : Kind == Float8Scale::Vector128 ? line
                                            : part * kBlockTile + line;
  }
  static AMP_DEVICE void store(void *factors, int64_t rows, int64_t columns,
                               int64_t row, int64_t column, float factor) {
    const int64_t index = float8ScaleIndex(Kind, rows, columns, row, column);
    if constexpr (Kind == Float8Scale::Vector32)
      storeOne(static_cast<uint8_t *>(factors) + index, toExponent(factor));
    else
      storeOne(static_cast<float *>(factors) + index, factor);
  }

  unsigned *words;
};

/// Sixteen elements of rows `line`, `line + 32` and so on of a tile: what a
/// thread keeps.
struct TileElements {
  int line, first;
  Pack<float, 16> values[kBlockParts];

  /// Where the elements of the thread are, in a matrix of rows or, for the
  /// codes in shared memory, in the transposed matrix.
  AMP_DEVICE TileElements()
      : line(int(threadIdx.x) / 8), first(int(threadIdx.x) % 8 * 16) {}

  /// Enters the magnitudes of the elements for an operand of rows.
  template <Float8Scale Kind>
  AMP_DEVICE void enterRows(TileScales<Kind> &scales) const {
    if constexpr (Kind != Float8Scale::Tensor) {
#pragma unroll
      for (int part = 0; part < kBlockParts; ++part) {
        float most = 0.0f;
#pragma unroll
        for (int lane = 0; lane < 16; ++lane)
          most = maximum(most, fabsf(values[part][lane]));
        // Eight threads have a row, and two of them 32 elements of it.
        most = maximum(most, shuffleXor(most, 1));
        if (Kind != Float8Scale::Vector32) {
          most = maximum(most, shuffleXor(most, 2));
          most = maximum(most, shuffleXor(most, 4));
        }
        if (threadIdx.x % (Kind == Float8Scale::Vector32 ? 2 : 8) == 0)
          scales.enter(part * 32 + line, first / 32, most);
      }
    }
  }
  /// Enters the magnitudes of the elements for an operand of columns.
  template <Float8Scale Kind>
  AMP_DEVICE void enterColumns(TileScales<Kind> &scales) const {
    if constexpr (Kind != Float8Scale::Tensor) {
      constexpr int parts = Kind == Float8Scale::Vector32 ? kBlockParts : 1;
#pragma unroll
      for (int part = 0; part < parts; ++part)
#pragma unroll
        for (int lane = 0; lane < 16; ++lane) {
          float most = fabsf(values[part][lane]);
#pragma unroll
          for (int other = 1; other < kBlockParts / parts; ++other)
            most = maximum(most, fabsf(values[other][lane]));
          // Four threads of a warp have the same columns.
          most = maximum(most, shuffleXor(most, 8));
          most = maximum(most, shuffleXor(most, 16));
          if (threadIdx.x % 32 < 8)
            scales.enter(first + lane, part, most);
        }
    }
  }
  /// Returns the codes of the elements of `part`. `scaleAt(lane)` is the scale
  /// of a lane. Elements outside the matrix have the code 0.
  template <Float8 Format, typename ScaleAt>
  AMP_DEVICE Pack<uint8_t, 16> encode(const QuantizeConfig &config, int64_t row,
                                      int64_t column, int part,
                                      ScaleAt scaleAt) const {
    Pack<uint8_t, 16> codes;
#pragma unroll
    for (int lane = 0; lane < 16; ++lane)
      codes[lane] =
          row < config.rows && column + lane < config.columns
              ? quantizeOne<Format>(config, values[part][lane], scaleAt(lane))
              : uint8_t(0);
    return codes;
  }
};

/// Writes the codes of a tile of the transposed matrix, which are in shared
/// memory.
AMP_DEVICE void storeTurned(uint8_t *transposed, const unsigned char *codes,
                            int line, int first, int64_t row, int64_t column,
                            int64_t rows, int64_t columns) {
#pragma unroll
  for (int part = 0; part < kBlockParts; ++part) {
    const int across = part * 32 + line;
    if (column + across >= columns || row + first >= rows)
      continue;
    Pack<uint8_t, 16> turned;
#pragma unroll
    for (int lane = 0; lane < 16; ++lane)
      turned[lane] = codes[(first + lane) * kBlockPitch + across];
    store<16>(transposed + (column + across) * rows + row + first, turned);
  }
}

/// Calls `source(at)` with `Lanes` that together cover the elements of a matrix
/// once. Writes an operand of the matrix with scales of `Plain` and one of the
/// transposed matrix with scales of `Turned`. `Tensor` stands for an operand
/// that is not written. Launched with `blocksShape`.
template <Float8 Format, Float8Scale Plain, Float8Scale Turned, typename Source>
AMP_DEVICE void quantizeBlockTiles(const QuantizeConfig &config,
                                   const ScaleRule &rule,
                                   const BlockResults &out, Source source) {
  auto *words = sharedMemory<unsigned>();
  auto *codes =
      reinterpret_cast<unsigned char *>(words + 2 * kBlockParts * kBlockTile);
  TileScales<Plain> rowScales(words);
  TileScales<Turned> columnScales(words + kBlockParts * kBlockTile);
  const int64_t outer = padFloat8(config.rows),
                inner = padFloat8Inner(config.columns, Plain),
                turnedOuter = padFloat8(config.columns),
                turnedInner = padFloat8Inner(config.rows, Turned);
  const int64_t across = ceilDiv(config.columns, kBlockTile),
                tiles = across * ceilDiv(config.rows, kBlockTile);
  for (int64_t i = blockIdx.x; i < tiles; i += gridDim.x) {
    const int64_t row = i / across * kBlockTile,
                  column = i % across * kBlockTile;
    TileElements mine;
#pragma unroll
    for (int part = 0; part < kBlockParts; ++part)
      mine.values[part] = sourcePack(
          config, source, row + part * 32 + mine.line, column + mine.first);
    __syncthreads(); // the scales and codes of the last tile have been read
    rowScales.clear();
    columnScales.clear();
    __syncthreads();
    mine.enterRows(rowScales);
    mine.enterColumns(columnScales);
    __syncthreads();
    rowScales.finish(rule, out.factors, config.rows, config.columns, row,
                     column);
    columnScales.finish(rule, out.transposedFactors, config.columns,
                        config.rows, column, row);
    __syncthreads();
#pragma unroll
    for (int part = 0; part < kBlockParts; ++part) {
      const int line = part * 32 + mine.line;
      const int64_t at = row + line, begin = column + mine.first;
      if constexpr (Plain != Float8Scale::Tensor) {
        const float scale = rowScales.get(line, mine.first / 32);
        if (at < outer && begin < inner)
          store<16>(out.payload + at * inner + begin,
                    mine.encode<Format>(config, at, begin, part,
                                        [=](int) { return scale; }));
      }
      if constexpr (Turned != Float8Scale::Tensor)
        keepCodes(codes + line * kBlockPitch + mine.first,
                  mine.encode<Format>(config, at, begin, part, [&](int lane) {
                    return columnScales.get(mine.first + lane, part);
                  }));
    }
    if constexpr (Turned != Float8Scale::Tensor) {
      __syncthreads();
      storeTurned(out.transposed, codes, mine.line, mine.first, row, column,
                  turnedInner, turnedOuter);
    }
  }
}

/// Returns the shape of a launch of `quantizeBlockTiles`.
inline LaunchShape blocksShape(int64_t rows, int64_t columns) {
  const int64_t tiles =
      ceilDiv(rows, kBlockTile) * ceilDiv(columns, kBlockTile);
  LaunchShape shape;
  shape.grid.x = unsigned(tiles > 2048 ? 2048 : tiles);
  shape.sharedBytes =
      size_t(2 * kBlockParts * kBlockTile * 4 + kBlockTile * kBlockPitch);
  return shape;
}

template <Float8 Format, Float8Scale Plain, Float8Scale Turned, typename T>
__global__ void __launch_bounds__(kThreads, 2)
    blocksKernel(QuantizeConfig config, ScaleRule rule, BlockResults out,
                 const T *x) {
  quantizeBlockTiles<Format, Plain, Turned>(
      config, rule, out, [=](auto at) { return at.load(x); });
}

/// The kinds of scales of an operand of the matrix and one of the transposed
/// matrix.
template <Float8Scale Plain, Float8Scale Turned>
struct BlockKinds {};

/// Finds the magnitudes of the blocks of `x`, scales and rounds the blocks, and
/// writes operands of products.
template <Float8Scale Plain, Float8Scale Turned, typename T>
Status quantizeOwnBlocks(cudaStream_t stream, BlockKinds<Plain, Turned>,
                         const QuantizeConfig &config, const ScaleRule &rule,
                         const BlockResults &out, const T *x) {
  auto *kernel = config.format == Float8::E4M3
                     ? blocksKernel<Float8::E4M3, Plain, Turned, T>
                     : blocksKernel<Float8::E5M2, Plain, Turned, T>;
  return launch("quantize_blocks", stream,
                blocksShape(config.rows, config.columns), kernel, config, rule,
                out, x);
}

/// A scale for each row. A short row stays in the registers of its threads.
template <Float8 Format, typename Plan, typename T>
__global__ void __launch_bounds__(kThreads)
    quantizeRowsKernel(QuantizeConfig config, ScaleRule rule, uint8_t *codes,
                       float *factors, const T *x) {
  constexpr int width = Plan::width;
  const int64_t columns = padFloat8(config.columns);
  forEachRow<Plan>(padFloat8(config.rows), [&](int64_t row) {
    uint8_t *line = codes + row * columns;
    const bool isInside = row < config.rows;
    float factor = 0.0f;
    if (isInside) {
      const Row<Plan, T> values(x + row * config.columns, config.columns);
      float most = 0.0f;
      forEachPack<Plan>(config.columns, [&](int pack, int64_t column) {
        const auto part = values.get(pack, column);
#pragma unroll
        for (int lane = 0; lane < width; ++lane)
          most = maximum(most, fabsf(part[lane]));
      });
      const float scale = findScale(rule, reduceRow<Plan, Maximum>(most));
      factor = 1.0f / scale;
      forEachPack<Plan>(config.columns, [&](int pack, int64_t column) {
        const auto part = values.get(pack, column);
        Pack<uint8_t, width> pack8;
#pragma unroll
        for (int lane = 0; lane < width; ++lane)
          pack8[lane] = quantizeOne<Format>(config, part[lane], scale);
        store(line + column, pack8);
      });
    }
    const int64_t begin = isInside ? config.columns : 0;
    for (int64_t column = begin + Plan::thread(); column < columns;
         column += Plan::threads)
      storeOne(line + column, uint8_t(0));
    if (Plan::thread() == 0)
      storeOne(factors + row, factor);
  });
}

/// As `quantizeOwnBlocks`, with a scale for each row.
template <typename T>
Status quantizeOwnRows(cudaStream_t stream, const QuantizeConfig &config,
                       const ScaleRule &rule, uint8_t *codes, float *factors,
                       const T *x) {
  return withRowPlan<kCommonWidth<T, T>>(config.columns, [&](auto plan) {
    using Plan = decltype(plan);
    auto *kernel = config.format == Float8::E4M3
                       ? quantizeRowsKernel<Float8::E4M3, Plan, T>
                       : quantizeRowsKernel<Float8::E5M2, Plan, T>;
    return launch("quantize_rows", stream,
                  planShape<Plan>(padFloat8(config.rows)), kernel, config, rule,
                  codes, factors, x);
  });
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_QUANTIZEDBLOCKS_H
