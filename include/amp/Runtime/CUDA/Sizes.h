//===- Sizes.h - Sizes that plan and runtime agree on -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Element types, alignments, paddings and scratch sizes, without CUDA:
// the memory plan of the compiler and the kernels both read them from here.
// None depends on the GPU, so results do not either.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_SIZES_H
#define AMP_RUNTIME_CUDA_SIZES_H

#include <cstddef>
#include <cstdint>

/// For functions of sizes that kernels call too.
#ifdef __CUDACC__
#define AMP_SIZE __host__ __device__ constexpr
#else
#define AMP_SIZE constexpr
#endif

namespace amp::cuda {

/// Dimensions of a buffer, at the most.
inline constexpr size_t kMaxRank = 8;

/// The element types of buffers and files. A Bool takes a byte.
enum class Type : uint8_t {
  Bool,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  F16,
  BF16,
  F32,
  F64
};

/// Bytes of an element.
AMP_SIZE int64_t byteWidth(Type type) {
  switch (type) {
  case Type::Bool:
  case Type::I8:
  case Type::U8:
    return 1;
  case Type::I16:
  case Type::U16:
  case Type::F16:
  case Type::BF16:
    return 2;
  case Type::I32:
  case Type::F32:
    return 4;
  default:
    return 8;
  }
}

/// The MLIR spelling: `i1`, `ui8`, `bf16`, ...
AMP_SIZE const char *typeName(Type type) {
  constexpr const char *names[] = {"i1",   "i8",  "i16",  "i32", "i64", "ui8",
                                   "ui16", "f16", "bf16", "f32", "f64"};
  return names[int(type)];
}

AMP_SIZE bool isFloat(Type type) { return type >= Type::F16; }

AMP_SIZE int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
AMP_SIZE int64_t alignTo(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }

/// Of every buffer in the arena: what cuBLASLt assumes of pointers, and a
/// multiple of every vector access.
inline constexpr int64_t kBufferAlignment = 256;

/// Scratch of matrix products. NVIDIA recommends 32 MiB on Hopper; the
/// library's default is none, which rules out its split-K algorithms.
inline constexpr int64_t kGemmWorkspaceBytes = int64_t(32) << 20;

/// Tickets by which the last block of a kernel knows that it is last. One
/// buffer of zeros, made at creation, serves all launches of a stream: each
/// leaves it zero.
inline constexpr int64_t kTickets = 1024;
inline constexpr int64_t kTicketBytes = kTickets * 4;

/// Threads of a block of every kernel of the runtime.
inline constexpr int kThreads = 256;

/// Blocks of a multiprocessor that kernels with long bodies ask for, so that a
/// thread has up to 64 registers: left alone, ptxas settles for 32 on sm_80 and
/// spills.
inline constexpr int kBlocks = 4;

/// Leading dimension, in bits, of the bit mask of RELU_AUX for rows of
/// `columns` elements; cuBLASLt wants a multiple of 128.
AMP_SIZE int64_t reluMaskStride(int64_t columns) {
  return alignTo(columns, 128);
}
/// Bytes of that mask for a `rows` x `columns` result.
AMP_SIZE int64_t reluMaskBytes(int64_t rows, int64_t columns) {
  return rows * reluMaskStride(columns) / 8;
}

/// Blocks that reduce `count` elements to one value; each leaves one partial
/// result per value.
AMP_SIZE int64_t reduceParts(int64_t count) {
  int64_t parts = ceilDiv(count, 4096);
  return parts < 1 ? 1 : parts > 512 ? 512 : parts;
}
/// Scratch of a reduction of everything to `values` floats; none for one part.
AMP_SIZE int64_t reduceScratchBytes(int64_t count, int values = 1) {
  int64_t parts = reduceParts(count);
  return parts == 1 ? 0 : parts * values * 4;
}

/// Columns that a block of a column reduction covers.
inline constexpr int64_t kColumnTile = 64;
/// Blocks into which a column reduction divides its rows.
AMP_SIZE int64_t columnParts(int64_t rows, int64_t columns) {
  int64_t tiles = ceilDiv(columns, kColumnTile);
  int64_t wanted = ceilDiv(1024, tiles < 1 ? 1 : tiles);
  int64_t possible = ceilDiv(rows, 64);
  int64_t parts = wanted < possible ? wanted : possible;
  return parts < 1 ? 1 : parts;
}
/// Scratch of a reduction over rows to `values` floats per column; none for one
/// part.
AMP_SIZE int64_t columnScratchBytes(int64_t rows, int64_t columns,
                                    int values = 1) {
  int64_t parts = columnParts(rows, columns);
  return parts == 1 ? 0 : parts * columns * values * 4;
}

/// Scratch of `crossEntropy`: the loss of each row.
AMP_SIZE int64_t crossEntropyScratchBytes(int64_t rows) { return rows * 4; }

/// Scratch of `layerNormBackward`: partial gradients of gamma and beta.
AMP_SIZE int64_t layerNormScratchBytes(int64_t rows, int64_t columns) {
  return columnScratchBytes(rows, columns, 2);
}
/// Scratch of `batchNormForward`: partial sums of deviations and of their
/// squares.
AMP_SIZE int64_t batchNormForwardScratchBytes(int64_t rows, int64_t channels) {
  return columnScratchBytes(rows, channels, 2);
}
/// Scratch of `batchNormBackward`: partial sums of dy and of dy·x̂.
AMP_SIZE int64_t batchNormBackwardScratchBytes(int64_t rows, int64_t channels) {
  return columnScratchBytes(rows, channels, 2);
}

/// Elements of a tensor that one block of the optimizer takes at a time.
inline constexpr int64_t kOptimizerChunk = 8192;
/// Blocks, and partial sums of squares, of the pass over the gradients, for a
/// table of `chunks` chunks.
AMP_SIZE int64_t gradientParts(int64_t chunks) {
  return chunks < 1 ? 1 : chunks > 1024 ? 1024 : chunks;
}
/// Scratch of `unscaleCheck`: a sum of squares and a flag per block.
AMP_SIZE int64_t unscaleScratchBytes(int64_t chunks) {
  return gradientParts(chunks) * 8;
}

/// The extents of a convolution: NHWC input, [KH, KW, C / groups, F] filter.
struct ConvShape {
  int64_t batch, height, width, channels;
  int64_t kernelHeight, kernelWidth, features;
  int64_t strideHeight = 1, strideWidth = 1;
  int64_t padTop = 0, padBottom = 0, padLeft = 0, padRight = 0;
  int64_t dilationHeight = 1, dilationWidth = 1;
  int64_t groups = 1;

  AMP_SIZE int64_t outHeight() const {
    return (height + padTop + padBottom - dilationHeight * (kernelHeight - 1) -
            1) /
               strideHeight +
           1;
  }
  AMP_SIZE int64_t outWidth() const {
    return (width + padLeft + padRight - dilationWidth * (kernelWidth - 1) -
            1) /
               strideWidth +
           1;
  }
  /// Rows of the products: output pixels.
  AMP_SIZE int64_t rows() const { return batch * outHeight() * outWidth(); }
  /// Depth of the products: elements of a filter of one group.
  AMP_SIZE int64_t depth() const {
    return kernelHeight * kernelWidth * (channels / groups);
  }
  /// Whether the input is its own matrix of patches.
  AMP_SIZE bool isPointwise() const {
    return kernelHeight == 1 && kernelWidth == 1 && strideHeight == 1 &&
           strideWidth == 1 && padTop == 0 && padBottom == 0 && padLeft == 0 &&
           padRight == 0 && groups == 1;
  }
};

/// Scratch of a convolution and of its filter gradient, for operands of
/// `elementBytes`: the matrix of patches.
AMP_SIZE int64_t convScratchBytes(const ConvShape &s, int64_t elementBytes) {
  return s.isPointwise() ? 0 : s.rows() * s.depth() * s.groups * elementBytes;
}
/// Scratch of the input gradient: the gradients of the patches, in f32 so that
/// the sum over the window rounds once.
AMP_SIZE int64_t convInputGradScratchBytes(const ConvShape &s) {
  return s.isPointwise() ? 0 : s.rows() * s.depth() * s.groups * 4;
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_SIZES_H
