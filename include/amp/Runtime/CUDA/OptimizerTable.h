//===- OptimizerTable.h - The tensors of an optimizer -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table on the device lists the tensors of an optimizer. Its launches process
// the tensors in chunks. A tensor with 8-bit copies has tiles of a matrix as
// chunks.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_OPTIMIZERTABLE_H
#define AMP_RUNTIME_CUDA_OPTIMIZERTABLE_H

#include "amp/Runtime/CUDA/Reduce.h"

#include <vector>

namespace amp::cuda {

/// How the parameter and the states of a tensor are stored.
struct OptimizerStorage {
  Type parameter = Type::F32;                 ///< f16, bf16 or f32
  Type first = Type::F32, second = Type::F32; ///< bf16 or f32
  /// Whether the halves of an f32 parameter are stored apart. The upper 16 bits
  /// of all elements come first. The lower 16 bits start at `lowerHalfOffset`.
  bool isSplit = false;
  /// The keys of the random numbers for the parameter, the first state and the
  /// second state. -1 rounds to nearest even, and other keys stochastically.
  int32_t keys[3] = {-1, -1, -1};

  AMP_HOST_DEVICE bool isPlain() const {
    return parameter == Type::F32 && first == Type::F32 &&
           second == Type::F32 && !isSplit;
  }
};

/// The 8-bit copies of a parameter. The launch writes them for the next step
/// (QuantizedOptimizer.h).
struct QuantizedParameter {
  /// [padFloat8(rows), padFloat8(columns)] and the transposed matrix; or null.
  uint8_t *payload = nullptr, *transposed = nullptr;
  float *inverse = nullptr;     ///< 1 / scale
  float *amax = nullptr;        ///< the largest magnitude, or null
  const float *scale = nullptr; ///< the scale of the next step
  int64_t rows = 0, columns = 0;
  /// An f32 parameter is rounded to this type first.
  Type source = Type::F32;
  bool saturate = false, keepNonFinite = false;
  /// The largest magnitude and the number of tiles that the blocks of a launch
  /// have processed so far. Zero before and after a launch.
  unsigned most = 0, tiles = 0;

  AMP_HOST_DEVICE int64_t getNumTiles() const {
    return ceilDiv(padFloat8(rows), kQuantizeTile) *
           ceilDiv(padFloat8(columns), kQuantizeTile);
  }
};

/// One tensor. All pointers are on the device and aligned to 16 bytes, as every
/// buffer of a plan is.
struct OptimizerTensor {
  void *parameter = nullptr;      ///< the master weight, in place
  const void *gradient = nullptr; ///< f16, bf16 or f32, scaled
  void *first = nullptr;          ///< velocity of sgd, exp_avg of adam; or null
  void *second = nullptr;         ///< exp_avg_sq of adam
  /// The f16 or bf16 copy of an f32 parameter, or the rounding error of a
  /// parameter in 16 bits, in place; or null.
  void *copy = nullptr;
  int64_t count = 0;
  Type gradientType = Type::F32;
  Type copyType = Type::F32;
  /// The 8-bit copies in the table of the launch; or -1.
  int16_t quantized = -1;
  float weightDecay = 0.0f;
  int64_t firstChunk = 0; ///< set by `writeOptimizerTable`
  OptimizerStorage storage;
};

/// A table on the device.
struct OptimizerTable {
  const OptimizerTensor *tensors = nullptr;
  int32_t size = 0;
  int64_t chunks = 0;
  /// Whether all parameters and states are f32 and whole.
  bool isPlain = true;
  /// The 8-bit copies of parameters.
  QuantizedParameter *quantized = nullptr;
};

/// Chunks of a table. The size of its scratch follows from them.
constexpr int64_t optimizerChunks(const OptimizerTensor *tensors,
                                  int32_t size) {
  int64_t chunks = 0;
  for (int32_t i = 0; i < size; ++i)
    chunks += ceilDiv(tensors[i].count, kOptimizerChunk);
  return chunks;
}
/// Bytes of a table.
constexpr int64_t optimizerTableBytes(int32_t size) {
  return size * int64_t(sizeof(OptimizerTensor));
}

/// The `count` 8-bit copies of the parameters of a table, and the memory on the
/// device for them: `quantizedTableBytes(count)`.
struct QuantizedParameters {
  const QuantizedParameter *parameters = nullptr;
  int32_t count = 0;
  void *device = nullptr;
};
constexpr int64_t quantizedTableBytes(int32_t count) {
  return count * int64_t(sizeof(QuantizedParameter));
}

/// Checks the tensors, copies them to `device` (`optimizerTableBytes`) and
/// waits. It is called at creation.
inline Status writeOptimizerTable(const OptimizerTensor *tensors, int32_t size,
                                  void *device, OptimizerTable *table,
                                  const QuantizedParameters &quantized = {});

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// Verifies the 8-bit copies of entry `index`.
inline Status verifyQuantized(const OptimizerTensor &tensor, int32_t index,
                              const QuantizedParameters &quantized) {
  if (tensor.quantized < 0)
    return Status();
  if (tensor.quantized >= quantized.count)
    return makeError(kInvalidArgument,
                     "optimizer entry %d has the 8-bit copies %d of %d",
                     int(index), int(tensor.quantized), int(quantized.count));
  const QuantizedParameter &q = quantized.parameters[tensor.quantized];
  if ((!q.payload && !q.transposed) || !q.inverse || !q.scale)
    return makeError(kInvalidArgument,
                     "the 8-bit copies of optimizer entry %d lack codes or a "
                     "scale",
                     int(index));
  if (q.rows * q.columns != tensor.count)
    return makeError(kInvalidArgument,
                     "the 8-bit copies of optimizer entry %d have %lld "
                     "elements, expected %lld",
                     int(index), (long long)(q.rows * q.columns),
                     (long long)tensor.count);
  return Status();
}

inline Status writeOptimizerTable(const OptimizerTensor *tensors, int32_t size,
                                  void *device, OptimizerTable *table,
                                  const QuantizedParameters &quantized) {
  std::vector<OptimizerTensor> entries(tensors, tensors + size);
  int64_t chunks = 0;
  bool plain = true;
  auto misaligned = [](const void *pointer) {
    return reinterpret_cast<uintptr_t>(pointer) % 16 != 0;
  };
  for (int32_t i = 0; i < size; ++i) {
    OptimizerTensor &t = entries[i];
    if (t.count < 0 || !t.parameter)
      return makeError(kInvalidArgument, "optimizer entry %d lacks a parameter",
                       int(i));
    if (misaligned(t.parameter) || misaligned(t.gradient) ||
        misaligned(t.first) || misaligned(t.second) || misaligned(t.copy))
      return makeError(kInvalidArgument,
                       "optimizer entry %d is not aligned to 16 bytes", int(i));
    if (t.gradientType != Type::F16 && t.gradientType != Type::BF16 &&
        t.gradientType != Type::F32)
      return makeError(kInvalidArgument,
                       "the gradient of optimizer entry %d is %s, expected "
                       "f16, bf16 or f32",
                       int(i), typeName(t.gradientType));
    if (t.copy && t.copyType != Type::F16 && t.copyType != Type::BF16)
      return makeError(kInvalidArgument,
                       "the copy of optimizer entry %d is %s, expected f16 or "
                       "bf16",
                       int(i), typeName(t.copyType));
    if (t.storage.isSplit && (t.storage.parameter != Type::F32 || t.copy))
      return makeError(kInvalidArgument,
                       "the halves of optimizer entry %d are stored apart, "
                       "expected an f32 parameter without a copy",
                       int(i));
    if (t.copy && t.gradient && t.storage.parameter != Type::F32 &&
        (t.copyType != t.storage.parameter || t.storage.keys[0] >= 0))
      return makeError(kInvalidArgument,
                       "the rounding error of optimizer entry %d is %s, "
                       "expected the type of the parameter, which is rounded "
                       "to nearest",
                       int(i), typeName(t.copyType));
    AMP_RETURN_IF_ERROR(verifyQuantized(t, i, quantized));
    plain &= t.storage.isPlain();
    t.firstChunk = chunks;
    chunks += t.quantized < 0 ? ceilDiv(t.count, kOptimizerChunk)
                              : quantized.parameters[t.quantized].getNumTiles();
  }
  if (size)
    AMP_CUDA_CALL(cudaMemcpy(device, entries.data(), optimizerTableBytes(size),
                             cudaMemcpyHostToDevice));
  if (quantized.count)
    AMP_CUDA_CALL(cudaMemcpy(quantized.device, quantized.parameters,
                             quantizedTableBytes(quantized.count),
                             cudaMemcpyHostToDevice));
  *table = {static_cast<const OptimizerTensor *>(device), size, chunks, plain,
            static_cast<QuantizedParameter *>(quantized.device)};
  return Status();
}

/// Shape for a kernel over the chunks of a table.
inline LaunchShape chunkShape(const OptimizerTable &table) {
  LaunchShape shape;
  shape.grid.x = unsigned(gradientParts(table.chunks));
  shape.sharedBytes = kThreads / 32 * 16 + 16;
  return shape;
}

/// Calls `body(tensor, chunk)` for every chunk of the table. `chunk` counts
/// within the tensor.
template <typename Body>
AMP_DEVICE void forEachChunk(const OptimizerTable &table, Body body) {
  for (int64_t chunk = blockIdx.x; chunk < table.chunks; chunk += gridDim.x) {
    // Find the last tensor that begins at or before the chunk and is not empty.
    int32_t low = 0, high = table.size - 1;
    while (low < high) {
      const int32_t middle = (low + high + 1) / 2;
      if (table.tensors[middle].firstChunk <= chunk)
        low = middle;
      else
        high = middle - 1;
    }
    const OptimizerTensor tensor = table.tensors[low];
    AMP_ASSUME_GLOBAL(tensor.parameter);
    body(tensor, chunk - tensor.firstChunk);
  }
}

/// Calls `body(tensor, lanes)` for every element of chunk `chunk`, eight at a
/// time except in the tail of the tensor. `lanes.index` counts within the
/// tensor.
template <typename Body>
AMP_DEVICE void forEachInChunk(const OptimizerTensor &tensor, int64_t chunk,
                               Body body) {
  constexpr int width = 8;
  const int64_t begin = chunk * kOptimizerChunk;
  const int64_t rest = tensor.count - begin;
  const int64_t count = rest < kOptimizerChunk ? rest : kOptimizerChunk;
  const int64_t packs = count / width;
  for (int64_t i = threadIdx.x; i < packs; i += kThreads)
    body(tensor, Lanes<width>{begin + i * width});
  for (int64_t i = packs * width + threadIdx.x; i < count; i += kThreads)
    body(tensor, Lanes<1>{begin + i});
}

/// The same for every element of a table without 8-bit copies.
template <typename Body>
AMP_DEVICE void forEachElement(const OptimizerTable &table, Body body) {
  forEachChunk(table, [&](const OptimizerTensor &tensor, int64_t chunk) {
    forEachInChunk(tensor, chunk, body);
  });
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_OPTIMIZERTABLE_H
