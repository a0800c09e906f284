//===- Init.h - Buffers of a plan and how they start ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AMP_RUNTIME_CUDA_INIT_H
#define AMP_RUNTIME_CUDA_INIT_H

#include "amp/Runtime/CUDA/Npz.h"
#include "amp/Runtime/CUDA/Random.h"

#include <cmath>

namespace amp::cuda {

enum class Role : uint8_t {
  Parameter,
  OptimizerState,
  ModelState,
  ScalerState,
  Hyperparameter,
  Batch,
  Metric,
  Prediction,
  Constant,
  Temporary,
};

/// How a state starts; the kinds, formulas and random streams of amp-run, so
/// that the same seed gives the same bits.
struct InitInfo {
  enum class Kind : uint8_t {
    None, ///< has to come from a file
    Zeros,
    Ones,
    Constant,       ///< first
    Normal,         ///< mean first, standard deviation second
    Uniform,        ///< in [first, second]
    KaimingUniform, ///< bound gain · √(3 / fan_in)
    KaimingNormal,  ///< deviation gain / √fan_in
    XavierUniform,  ///< bound gain · √(6 / (fan_in + fan_out))
    XavierNormal,   ///< deviation gain · √(2 / (fan_in + fan_out))
    CopyOf,         ///< rounded copy of the state `source`
    RngState,       ///< (seed, 0)
    Range,          ///< first + i · second for element i
    Table,          ///< the elements of `numbers` or `integers`
  };
  Kind kind = Kind::None;
  double first = 0.0, second = 1.0, gain = 1.0;
  const char *source = nullptr;
  bool hasSeed = false; ///< `seed` replaces that of the run
  uint64_t seed = 0;
  uint64_t stream = 0; ///< of random kinds: llvm::xxh3_64bits(name)
  const double *numbers = nullptr;
  const int64_t *integers = nullptr;

  /// The elements of a constant of a float type, or of another one.
  static InitInfo table(const double *numbers) {
    InitInfo init;
    init.kind = Kind::Table;
    init.numbers = numbers;
    return init;
  }
  static InitInfo table(const int64_t *integers) {
    InitInfo init;
    init.kind = Kind::Table;
    init.integers = integers;
    return init;
  }
};

/// A buffer of the memory plan. Names of states, batches, metrics and
/// predictions are those of the graph.
struct BufferInfo {
  const char *name = "";
  Role role = Role::Temporary;
  Type type = Type::F32;
  int rank = 0;
  int64_t shape[kMaxRank] = {};
  int64_t offset = 0; ///< in the arena, a multiple of kBufferAlignment
  InitInfo init;
  int64_t classes = 0;      ///< of labels: values lie in [0, classes); 0: any
  bool isLossScale = false; ///< of scaler states: positive and finite
};

inline int64_t countOf(const BufferInfo &buffer) {
  int64_t count = 1;
  for (int i = 0; i < buffer.rank; ++i)
    count *= buffer.shape[i];
  return count;
}
inline int64_t bytesOf(const BufferInfo &buffer) {
  return countOf(buffer) * byteWidth(buffer.type);
}

/// Zeros of the type and shape of a buffer.
inline HostArray makeArray(const BufferInfo &buffer) {
  HostArray array;
  array.name = buffer.name;
  array.type = buffer.type;
  array.shape.assign(buffer.shape, buffer.shape + buffer.rank);
  array.bytes.assign(size_t(bytesOf(buffer)), 0);
  return array;
}

/// The values of `array` in the type of `buffer`, whose shape it has.
inline HostArray roundArray(const HostArray &array, const BufferInfo &buffer) {
  HostArray result = makeArray(buffer);
  if (array.type == buffer.type) {
    result.bytes = array.bytes;
    return result;
  }
  for (int64_t i = 0; i < result.count(); ++i)
    result.set(i, array.get(i));
  return result;
}

/// Fills an array with uniform numbers in (low, high), or normal ones with mean
/// `low` and deviation `high`, element i from word i mod 4 of block i / 4 of
/// the stream: the numbers of amp-run.
inline void fillRandom(HostArray &array, uint64_t seed, uint64_t stream,
                       bool normal, double low, double high) {
  constexpr double kPi = 3.14159265358979323846;
  auto unit = [](uint32_t word) { return (word + 0.5) * 0x1p-32; };
  for (int64_t i = 0; i < array.count(); i += 4) {
    auto words = philox4x32({{uint32_t(i / 4), uint32_t(uint64_t(i / 4) >> 32),
                              uint32_t(stream), uint32_t(stream >> 32)}},
                            uint32_t(seed), uint32_t(seed >> 32));
    double values[4];
    for (int pair = 0; pair < 4; pair += 2) {
      double first = unit(words[pair]), second = unit(words[pair + 1]);
      if (!normal) {
        values[pair] = low + (high - low) * first;
        values[pair + 1] = low + (high - low) * second;
        continue;
      }
      // Box-Muller.
      double radius = std::sqrt(-2.0 * std::log(first));
      double angle = 2.0 * kPi * second;
      values[pair] = low + high * (radius * std::cos(angle));
      values[pair + 1] = low + high * (radius * std::sin(angle));
    }
    for (int64_t j = i; j < i + 4 && j < array.count(); ++j)
      array.set(j, values[j - i]);
  }
}

/// The initial value of a state that is not a copy of another.
inline Status initializeArray(const BufferInfo &buffer, uint64_t seed,
                              HostArray *array) {
  using Kind = InitInfo::Kind;
  const InitInfo &init = buffer.init;
  *array = makeArray(buffer);
  if (init.hasSeed)
    seed = init.seed;
  double fanIn = 1.0, fanOut = 1.0;
  for (int axis = 0; axis < buffer.rank; ++axis) {
    if (axis + 1 != buffer.rank)
      fanIn *= double(buffer.shape[axis]);
    if (axis + 2 != buffer.rank)
      fanOut *= double(buffer.shape[axis]);
  }
  auto uniform = [&](double low, double high) {
    fillRandom(*array, seed, init.stream, /*normal=*/false, low, high);
  };
  auto normal = [&](double mean, double deviation) {
    fillRandom(*array, seed, init.stream, /*normal=*/true, mean, deviation);
  };
  switch (init.kind) {
  case Kind::None:
    return makeError(kInvalidArgument,
                     "state '%s' has no initial value: load it from a file",
                     buffer.name);
  case Kind::CopyOf:
  case Kind::Zeros:
    break;
  case Kind::Ones:
  case Kind::Constant:
    for (int64_t i = 0; i < array->count(); ++i)
      array->set(i, init.kind == Kind::Ones ? 1.0 : init.first);
    break;
  case Kind::Normal:
    normal(init.first, init.second);
    break;
  case Kind::Uniform:
    uniform(init.first, init.second);
    break;
  case Kind::KaimingUniform: {
    double bound = init.gain * std::sqrt(3.0 / fanIn);
    uniform(-bound, bound);
    break;
  }
  case Kind::KaimingNormal:
    normal(0.0, init.gain / std::sqrt(fanIn));
    break;
  case Kind::XavierUniform: {
    double bound = init.gain * std::sqrt(6.0 / (fanIn + fanOut));
    uniform(-bound, bound);
    break;
  }
  case Kind::XavierNormal:
    normal(0.0, init.gain * std::sqrt(2.0 / (fanIn + fanOut)));
    break;
  case Kind::RngState:
    array->setInt(0, int64_t(seed));
    break;
  case Kind::Range:
    for (int64_t i = 0; i < array->count(); ++i)
      array->set(i, init.first + double(i) * init.second);
    break;
  case Kind::Table:
    for (int64_t i = 0; i < array->count(); ++i)
      if (init.numbers)
        array->set(i, init.numbers[i]);
      else
        array->setInt(i, init.integers[i]);
    break;
  }
  return Status();
}

/// Adds to `arrays` the initial value of every state and hyperparameter that it
/// does not have yet. Without an initial value, a state stays zero until a file
/// is loaded.
inline Status initializeArrays(const BufferInfo *buffers, int count,
                               uint64_t seed, std::vector<HostArray> *arrays) {
  std::vector<const BufferInfo *> copies;
  for (int i = 0; i < count; ++i) {
    const BufferInfo &buffer = buffers[i];
    if (buffer.role > Role::Hyperparameter ||
        buffer.init.kind == InitInfo::Kind::None ||
        findArray(*arrays, buffer.name))
      continue;
    if (buffer.init.kind == InitInfo::Kind::CopyOf) {
      copies.push_back(&buffer);
      continue;
    }
    HostArray array;
    AMP_RETURN_IF_ERROR(initializeArray(buffer, seed, &array));
    arrays->push_back(std::move(array));
  }
  // A copy may be of another copy: go round until none makes progress.
  while (!copies.empty()) {
    std::vector<const BufferInfo *> pending;
    for (const BufferInfo *buffer : copies) {
      const HostArray *source = findArray(*arrays, buffer->init.source);
      if (source && source->count() != countOf(*buffer))
        return makeError(
            kInvalidArgument, "state '%s' is a copy of '%s', which is %s",
            buffer->name, buffer->init.source, source->describe().c_str());
      if (source)
        arrays->push_back(roundArray(*source, *buffer));
      else
        pending.push_back(buffer);
    }
    if (pending.size() == copies.size())
      return makeError(kInvalidArgument,
                       "state '%s' is a copy of '%s', which has no value",
                       pending.front()->name, pending.front()->init.source);
    copies = std::move(pending);
  }
  return Status();
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_INIT_H
