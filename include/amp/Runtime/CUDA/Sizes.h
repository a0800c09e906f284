//===- Sizes.h - Sizes of buffers and scratch -------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Element types, alignments, paddings and scratch sizes. The header does not
// need CUDA: the memory plan of the compiler and the kernels both read it. No
// size depends on the GPU, so results do not either.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_SIZES_H
#define AMP_RUNTIME_CUDA_SIZES_H

#include "amp/Runtime/Host/ElementType.h"

#include <cstddef>
#include <cstdint>

namespace amp::cuda {
using namespace amphost;

/// The maximum rank of a buffer.
inline constexpr size_t kMaxRank = 8;

using Type = ElementType;

AMP_PORTABLE int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
AMP_PORTABLE int64_t alignTo(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }

/// The formats of 8-bit floats. Their elements have the type U8.
enum class Float8 : uint8_t { None, E4M3, E5M2 };

/// The alignment of every buffer in the arena. cuBLASLt assumes it of pointers,
/// and it is a multiple of every vector access.
inline constexpr int64_t kBufferAlignment = 256;

/// Scratch of matrix products. NVIDIA recommends 32 MiB on Hopper. The
/// library has no workspace by default, which excludes its split-K algorithms.
inline constexpr int64_t kGemmWorkspaceBytes = int64_t(32) << 20;

/// Arrival counters. A block uses them to find that it is the last of its
/// kernel. One buffer of zeros, created once, serves all launches of a stream.
/// Each launch leaves it zero.
inline constexpr int64_t kArrivalCounters = 1024;
inline constexpr int64_t kArrivalCounterBytes = kArrivalCounters * 4;

/// Threads per block in every kernel of the runtime.
inline constexpr int kThreads = 256;

/// Blocks per multiprocessor for kernels with long bodies. A thread then has up
/// to 64 registers. Otherwise ptxas uses 32 on sm_80 and spills.
inline constexpr int kBlocks = 4;

/// The assumed number of f32 operations that take as long as counting one
/// element for statistics. Lanes of a warp that add to the same count in shared
/// memory take turns, one cycle each. With four copies of each count, about
/// four lanes take turns.
inline constexpr int64_t kOperationsPerCount = 32;

/// The maximum number of blocks of a kernel that counts elements. Each block
/// adds its counts to the totals in memory.
inline constexpr int64_t kStatisticsBlocks = 512;

/// The maximum number of elements that one block counts alone. It stores its
/// counts, so nothing has to clear them before.
inline constexpr int64_t kMostCountedByBlock = 4096;

/// The maximum number of kernels that count values in one launch, and of the
/// words that describe them. The words of a kernel are the number of its
/// elements and its parameters. All of them are one parameter of a kernel,
/// which has at most 4096 bytes.
inline constexpr int kMostCounted = 120;
inline constexpr int kMostCountedWords = 384;

/// Leading dimension, in bits, of the bit mask of RELU_AUX for rows of
/// `columns` elements. cuBLASLt requires a multiple of 128.
AMP_PORTABLE int64_t reluMaskStride(int64_t columns) {
  return alignTo(columns, 128);
}
/// Bytes of that mask for a `rows` x `columns` result.
AMP_PORTABLE int64_t reluMaskBytes(int64_t rows, int64_t columns) {
  return rows * reluMaskStride(columns) / 8;
}

/// Returns the byte offset of the lower halves of `count` f32 elements whose
/// halves are stored apart. Rounded up to kBufferAlignment, both halves take no
/// more memory than the f32 elements.
AMP_PORTABLE int64_t lowerHalfOffset(int64_t count) {
  return alignTo(2 * count, 16);
}

/// Blocks that reduce `count` elements to one value. Each leaves one partial
/// result per value.
AMP_PORTABLE int64_t reduceParts(int64_t count) {
  int64_t parts = ceilDiv(count, 4096);
  return parts < 1 ? 1 : parts > 512 ? 512 : parts;
}
/// Scratch of a reduction of everything to `values` floats; 0 if there is one
/// part.
AMP_PORTABLE int64_t reduceScratchBytes(int64_t count, int values = 1) {
  int64_t parts = reduceParts(count);
  return parts == 1 ? 0 : parts * values * 4;
}

/// Columns that a block of a column reduction covers.
inline constexpr int64_t kColumnTile = 64;
/// Blocks into which a column reduction divides its rows.
AMP_PORTABLE int64_t columnParts(int64_t rows, int64_t columns) {
  int64_t tiles = ceilDiv(columns, kColumnTile);
  int64_t wanted = ceilDiv(1024, tiles < 1 ? 1 : tiles);
  int64_t possible = ceilDiv(rows, 64);
  int64_t parts = wanted < possible ? wanted : possible;
  return parts < 1 ? 1 : parts;
}
/// Partial results of a column that one block combines. More parts form teams
/// of this size: the block of each team that finishes last combines the team,
/// and the last of these blocks combines the teams.
inline constexpr int64_t kColumnTeam = 32;
AMP_PORTABLE int64_t columnTeams(int64_t parts) {
  return parts > kColumnTeam ? ceilDiv(parts, kColumnTeam) : 0;
}
/// Arrival counters of a column reduction: one for each tile and each team.
AMP_PORTABLE int64_t columnCounters(int64_t tiles, int64_t parts) {
  return tiles * (1 + columnTeams(parts));
}
/// Scratch of a reduction over rows to `values` floats per column; 0 if there
/// is one part.
AMP_PORTABLE int64_t columnScratchBytes(int64_t rows, int64_t columns,
                                        int values = 1) {
  int64_t parts = columnParts(rows, columns);
  return parts == 1 ? 0 : parts * columns * values * 4;
}

/// The extents of a matrix of 8-bit floats are padded with zeros to multiples
/// of this number. cuBLASLt requires it of the contracted dimension and of the
/// columns of a result.
inline constexpr int64_t kFloat8Extent = 16;
AMP_PORTABLE int64_t padFloat8(int64_t extent) {
  return alignTo(extent, kFloat8Extent);
}
/// Rows and columns that a block of `quantize` takes at a time.
inline constexpr int64_t kQuantizeTile = 64;
/// Blocks of `quantize`. Each leaves a partial maximum.
AMP_PORTABLE int64_t quantizeParts(int64_t rows, int64_t columns) {
  const int64_t tiles =
      ceilDiv(rows, kQuantizeTile) * ceilDiv(columns, kQuantizeTile);
  return tiles < 1 ? 1 : tiles > 2048 ? 2048 : tiles;
}
/// Scratch of `quantize` with a magnitude; 0 if there is one part.
AMP_PORTABLE int64_t quantizeScratchBytes(int64_t rows, int64_t columns) {
  const int64_t parts = quantizeParts(rows, columns);
  return parts == 1 ? 0 : parts * 4;
}

/// Rows that a block of a quantised norm processes at a time. Their codes fit
/// into shared memory. Returns 0 if there are too many columns.
AMP_PORTABLE int64_t quantizedNormRows(int64_t columns) {
  return columns <= 1504 ? 32 : columns <= 6000 ? 16 : 0;
}
/// Blocks of a quantised norm. Each block writes a partial maximum.
AMP_PORTABLE int64_t quantizedNormParts(int64_t rows, int64_t columns) {
  const int64_t parts = ceilDiv(padFloat8(rows), quantizedNormRows(columns));
  return parts > 2048 ? 2048 : parts;
}
/// Scratch bytes of a quantised norm with a magnitude; 0 if there is one part.
AMP_PORTABLE int64_t quantizedNormScratchBytes(int64_t rows, int64_t columns) {
  const int64_t parts = quantizedNormParts(rows, columns);
  return parts == 1 ? 0 : parts * 4;
}

/// Scratch of `crossEntropy`: the loss of each row.
AMP_PORTABLE int64_t crossEntropyScratchBytes(int64_t rows) { return rows * 4; }

/// The extents of a classifier with its loss, `linearCrossEntropy`: `rows` x
/// `columns` operands of the product, and the rows of logits in memory at a
/// time, which divide `rows`.
struct LinearLossShape {
  int64_t rows, columns, classes, chunk;
  /// Whether the weight is [classes, columns].
  bool transposed;

  /// Elements between the rows of logits, which start at multiples of 16 bytes.
  AMP_PORTABLE int64_t logitStride(int64_t elementBytes) const {
    return alignTo(classes, 16 / elementBytes);
  }
  AMP_PORTABLE int64_t chunks() const { return rows / chunk; }
  /// Bytes of the logits of a chunk.
  AMP_PORTABLE int64_t chunkBytes(int64_t elementBytes) const {
    return alignTo(chunk * logitStride(elementBytes) * elementBytes,
                   kBufferAlignment);
  }
};
/// Scratch of `linearCrossEntropy`: the logits of a chunk, then the loss of
/// each row.
AMP_PORTABLE int64_t linearLossScratchBytes(const LinearLossShape &s,
                                            int64_t elementBytes) {
  return s.chunkBytes(elementBytes) + crossEntropyScratchBytes(s.rows);
}

/// Sorted updates that a thread of `scatterAddSorted` sums in order.
inline constexpr int64_t kScatterChunk = 64;
/// Whether a sum of slices by index sorts its indices first. Without it, the
/// owner of each slice reads all indices, in one launch instead of several.
AMP_PORTABLE bool scatterAddSorts(int64_t extent, int64_t count) {
  return (extent > 4096 || count > 1024) && count < int64_t(1) << 30 &&
         extent < int64_t(1) << 30;
}
/// Blocks that sum a slice of `inner` elements without a sort. Slices below 32
/// elements take a thread for each element.
AMP_PORTABLE int64_t scatterAddBlocks(int64_t inner) {
  return inner < 32 ? inner : ceilDiv(inner, int64_t(kThreads) * 8);
}
/// The scratch of `scatterAddSorted`, as offsets in bytes: two copies of each
/// array that is sorted, the first position of each slice, the sums of the
/// slices that begin or end within a chunk, and memory for the sort.
struct ScatterAddScratch {
  int64_t slices[2], positions[2], begins, partials, sort, sortBytes, bytes;

  /// Takes the arguments of `scatterAdd`.
  AMP_PORTABLE static ScatterAddScratch get(int64_t outer, int64_t extent,
                                            int64_t inner, int64_t count) {
    ScatterAddScratch s = {};
    auto take = [&](int64_t bytes) {
      int64_t offset = s.bytes;
      s.bytes += alignTo(bytes, kBufferAlignment);
      return offset;
    };
    for (int copy = 0; copy < 2; ++copy) {
      s.slices[copy] = take(count * 4);
      s.positions[copy] = take(count * 4);
    }
    s.begins = take((extent + 1) * 4);
    s.partials = take(outer * ceilDiv(count, kScatterChunk) * 2 * inner * 4);
    // CUB's radix sort keeps 1 KiB for each tile, of at least 4096 elements on
    // every GPU so far, and a few KiB for the whole array.
    s.sortBytes = (int64_t(64) << 10) + count / 4;
    s.sort = take(s.sortBytes);
    return s;
  }
};

/// Scratch of `layerNormBackward`: partial gradients of gamma and beta.
AMP_PORTABLE int64_t layerNormScratchBytes(int64_t rows, int64_t columns) {
  return columnScratchBytes(rows, columns, 2);
}
/// Scratch of `batchNormForward`: partial sums of deviations and of their
/// squares.
AMP_PORTABLE int64_t batchNormForwardScratchBytes(int64_t rows,
                                                  int64_t channels) {
  return columnScratchBytes(rows, channels, 2);
}
/// The coefficients of the input gradient of a batch norm: three numbers for
/// each channel.
AMP_PORTABLE int64_t batchNormCoefficientBytes(int64_t channels) {
  return alignTo(channels * 3 * 4, 16);
}
/// Scratch of `batchNormBackward`: the coefficients, then partial sums of dy
/// and of dy·x̂.
AMP_PORTABLE int64_t batchNormBackwardScratchBytes(int64_t rows,
                                                   int64_t channels) {
  return batchNormCoefficientBytes(channels) +
         columnScratchBytes(rows, channels, 2);
}

/// Elements of a tensor that one block of the optimizer takes at a time.
inline constexpr int64_t kOptimizerChunk = 8192;
/// Blocks of the pass over the gradients of a table of `chunks` chunks. Each
/// leaves a partial sum of squares.
AMP_PORTABLE int64_t gradientParts(int64_t chunks) {
  return chunks < 1 ? 1 : chunks > 1024 ? 1024 : chunks;
}
/// Scratch of `unscaleCheck`: a sum of squares and a flag per block.
AMP_PORTABLE int64_t unscaleScratchBytes(int64_t chunks) {
  return gradientParts(chunks) * 16;
}

/// The extents of a convolution: NHWC input, [KH, KW, C / groups, F] filter.
struct ConvShape {
  int64_t batch, height, width, channels;
  int64_t kernelHeight, kernelWidth, features;
  int64_t strideHeight = 1, strideWidth = 1;
  int64_t padTop = 0, padBottom = 0, padLeft = 0, padRight = 0;
  int64_t dilationHeight = 1, dilationWidth = 1;
  int64_t groups = 1;

  AMP_PORTABLE int64_t outHeight() const {
    return (height + padTop + padBottom - dilationHeight * (kernelHeight - 1) -
            1) /
               strideHeight +
           1;
  }
  AMP_PORTABLE int64_t outWidth() const {
    return (width + padLeft + padRight - dilationWidth * (kernelWidth - 1) -
            1) /
               strideWidth +
           1;
  }
  /// Rows of the products, which are output pixels.
  AMP_PORTABLE int64_t rows() const { return batch * outHeight() * outWidth(); }
  /// Depth of the products: the elements of a filter in one group.
  AMP_PORTABLE int64_t depth() const {
    return kernelHeight * kernelWidth * (channels / groups);
  }
  /// Elements between the rows of a matrix of patches. Rows of other matrices
  /// than the input itself start at multiples of 16 bytes, so that kernels and
  /// products access them in whole vectors.
  AMP_PORTABLE int64_t patchStride(int64_t elementBytes) const {
    return isPointwise() ? depth() : alignTo(depth(), 16 / elementBytes);
  }
  /// Elements of an image, and of its patches in one group.
  AMP_PORTABLE int64_t imageElements() const {
    return height * width * channels;
  }
  AMP_PORTABLE int64_t patchElements(int64_t elementBytes) const {
    return outHeight() * outWidth() * patchStride(elementBytes);
  }
  /// Whether the input is its own matrix of patches.
  AMP_PORTABLE bool isPointwise() const {
    return kernelHeight == 1 && kernelWidth == 1 && strideHeight == 1 &&
           strideWidth == 1 && padTop == 0 && padBottom == 0 && padLeft == 0 &&
           padRight == 0 && groups == 1;
  }
};

/// Scratch of a convolution and of its filter gradient: the matrix of patches,
/// with operands of `elementBytes`.
AMP_PORTABLE int64_t convScratchBytes(const ConvShape &s,
                                      int64_t elementBytes) {
  return s.isPointwise() ? 0
                         : s.batch * s.patchElements(elementBytes) * s.groups *
                               elementBytes;
}
/// Scratch of the input gradient: the gradients of the patches in f32, so that
/// the sum over the window rounds once.
AMP_PORTABLE int64_t convInputGradScratchBytes(const ConvShape &s) {
  return convScratchBytes(s, 4);
}
/// Kernels index the elements of one image and of its patches with 32 bits.
/// The number of images is not limited by its elements.
AMP_PORTABLE bool hasSmallImages(const ConvShape &s) {
  return s.imageElements() <= INT32_MAX && s.patchElements(2) <= INT32_MAX &&
         s.batch * s.groups <= INT32_MAX;
}

/// The extents of a pooling of NHWC images.
struct PoolShape {
  int64_t batch, height, width, channels;
  int64_t windowHeight, windowWidth;
  int64_t strideHeight = 1, strideWidth = 1;
  int64_t padTop = 0, padBottom = 0, padLeft = 0, padRight = 0;

  AMP_PORTABLE int64_t outHeight() const {
    return (height + padTop + padBottom - windowHeight) / strideHeight + 1;
  }
  AMP_PORTABLE int64_t outWidth() const {
    return (width + padLeft + padRight - windowWidth) / strideWidth + 1;
  }
};

/// As for convolutions.
AMP_PORTABLE bool hasSmallImages(const PoolShape &s) {
  return s.height * s.width * s.channels <= INT32_MAX &&
         s.outHeight() * s.outWidth() * s.channels <= INT32_MAX &&
         s.batch <= INT32_MAX;
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_SIZES_H
