//===- ProgramParts.h - Checks and tables of a program ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of the creation of a program that need its tables and its arena
// alone.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_PROGRAMPARTS_H
#define AMP_RUNTIME_CUDA_PROGRAMPARTS_H

#include "amp/Runtime/CUDA/Buffers.h"
#include "amp/Runtime/CUDA/Optimizer.h"
#include "amp/Runtime/CUDA/ProgramInfo.h"

#include <vector>

namespace amp::cuda {

/// Verifies that there is a caller if the step calls operations.
inline Status verifyCaller(const ProgramInfo &info,
                           const amp_step_caller &caller) {
  if (caller.call || info.numCalls == 0)
    return Status();
  return makeError(
      kInvalidArgument,
      "the step calls the operation '%s' of the program that runs it, but "
      "there is no caller: pass one in amp_step_options, or run the step by "
      "amp_torch.compile",
      info.callees[0]);
}

/// Verifies that all buffers of `info` are in its arena, so that a damaged plan
/// writes nothing outside of it, and that `caller` can run its calls.
inline Status verifyProgram(const ProgramInfo &info,
                            const amp_step_caller &caller) {
  if (!info.enqueue || info.arenaBytes <= 0 || info.stateBytes < 0 ||
      info.stateBytes > info.arenaBytes ||
      (info.predictionBytes && info.predictionBytes < info.arenaBytes))
    return makeError(kInvalidArgument, "program '%s' has no step or no arena",
                     info.name);
  for (int i = 0; i < info.numBuffers; ++i) {
    const BufferInfo &b = info.buffers[i];
    // Memory for predictions follows the arena.
    const bool follows =
        b.offset >= info.arenaBytes && info.predictionBytes &&
        (b.role == Role::Temporary || b.role == Role::Prediction);
    int64_t end = follows                     ? info.predictionBytes
                  : b.role == Role::Temporary ? info.arenaBytes
                                              : info.stateBytes;
    if (b.offset < 0 || b.offset % kBufferAlignment != 0 ||
        b.offset + storedBytesOf(b) > end)
      return makeError(kInvalidArgument,
                       "buffer '%s' at %lld of %lld bytes does not lie in its "
                       "part of the arena, or is not aligned to %lld",
                       b.name, (long long)b.offset, (long long)bytesOf(b),
                       (long long)kBufferAlignment);
  }
  return verifyCaller(info, caller);
}

/// Writes the tables of the optimizers' launches to the arena.
inline Status createOptimizerTables(const ProgramInfo &info,
                                    unsigned char *arena,
                                    std::vector<OptimizerTable> *tables) {
  for (int i = 0; i < info.numOptimizers; ++i) {
    const OptimizerGroup &group = info.optimizers[i];
    auto pointer = [&](int64_t offset) -> void * {
      return offset < 0 ? nullptr : arena + offset;
    };
    std::vector<QuantizedParameter> quantized;
    for (int32_t j = 0; j < group.numQuantized; ++j) {
      const QuantizedEntry &entry = group.quantized[j];
      QuantizedParameter copies;
      copies.payload = static_cast<uint8_t *>(pointer(entry.payload));
      copies.transposed = static_cast<uint8_t *>(pointer(entry.transposed));
      copies.inverse = static_cast<float *>(pointer(entry.inverse));
      copies.amax = static_cast<float *>(pointer(entry.amax));
      copies.scale = static_cast<float *>(pointer(entry.scale));
      copies.rows = entry.rows;
      copies.columns = entry.columns;
      copies.source = entry.source;
      copies.saturate = entry.saturate;
      copies.keepNonFinite = entry.keepNonFinite;
      quantized.push_back(copies);
    }
    std::vector<OptimizerTensor> tensors;
    for (int32_t j = 0; j < group.size; ++j) {
      const OptimizerEntry &entry = group.entries[j];
      OptimizerTensor tensor;
      tensor.parameter = pointer(entry.parameter);
      tensor.gradient = pointer(entry.gradient);
      tensor.first = pointer(entry.first);
      tensor.second = pointer(entry.second);
      tensor.copy = pointer(entry.copy);
      tensor.count = entry.count;
      tensor.gradientType = entry.gradientType;
      tensor.copyType = entry.copyType;
      tensor.weightDecay = entry.weightDecay;
      tensor.storage = entry.storage;
      tensor.quantized = entry.quantized;
      tensors.push_back(tensor);
    }
    OptimizerTable table;
    AMP_RETURN_IF_ERROR(writeOptimizerTable(
        tensors.data(), group.size, arena + group.tableOffset, &table,
        {quantized.data(), group.numQuantized, arena + group.quantizedOffset}));
    tables->push_back(table);
  }
  return Status();
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_PROGRAMPARTS_H
