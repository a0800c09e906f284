//===- Initializer.h - Initial values of states -----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random values come from the Philox stream (seed, hash of the name). Element i
// uses word i mod 4 of block i / 4. The values depend on the seed and the name
// alone, not on the order of arguments, the threads or the platform's <random>.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_INITIALIZER_H
#define AMP_RUNTIME_HOST_INITIALIZER_H

#include "amp/Runtime/Host/Philox.h"
#include "amp/Runtime/Host/Tensor.h"

#include <algorithm>
#include <cmath>

namespace amphost {

namespace initial {

/// Fills an array with uniform numbers in (low, high), or with normal ones of
/// mean `low` and deviation `high`.
inline void fillRandom(Array &array, uint64_t seed, uint64_t stream,
                       bool normal, double low, double high) {
  constexpr double kPi = 3.14159265358979323846;
  auto unit = [](uint32_t word) { return (word + 0.5) * 0x1p-32; };
  const int64_t count = array.getNumElements();
  for (int64_t i = 0; i < count; i += 4) {
    const PhiloxBlock words = philoxBlock(seed, stream, uint64_t(i) / 4);
    double values[4];
    for (int pair = 0; pair < 4; pair += 2) {
      const double first = unit(words[pair]), second = unit(words[pair + 1]);
      if (!normal) {
        values[pair] = low + (high - low) * first;
        values[pair + 1] = low + (high - low) * second;
        continue;
      }
      // Box-Muller in f64.
      const double radius = std::sqrt(-2.0 * std::log(first));
      const double angle = 2.0 * kPi * second;
      values[pair] = low + high * (radius * std::cos(angle));
      values[pair + 1] = low + high * (radius * std::sin(angle));
    }
    for (int64_t j = i; j < std::min(i + 4, count); ++j)
      array.setDouble(j, values[j - i]);
  }
}

inline bool isRandom(InitInfo::Kind kind) {
  return kind >= InitInfo::Kind::Normal && kind <= InitInfo::Kind::XavierNormal;
}
inline bool needsFans(InitInfo::Kind kind) {
  return kind >= InitInfo::Kind::KaimingUniform &&
         kind <= InitInfo::Kind::XavierNormal;
}

/// Fails if the rule does not fit the type and shape.
inline Status check(const TensorInfo &tensor) {
  using Kind = InitInfo::Kind;
  const Kind kind = tensor.init.kind;
  const char *name = tensor.name.c_str();
  const std::string described = tensor.describe();
  if (kind == Kind::None && tensor.role != Role::OptimizerState)
    return makeError(kInvalidArgument,
                     "state '%s' has no initial value: it needs 'amp.init' or "
                     "an array in a file of weights",
                     name);
  if (isRandom(kind) && !isFloat(tensor.type))
    return makeError(kInvalidArgument,
                     "state '%s' has a random initial value, which needs a "
                     "float type, but is %s",
                     name, described.c_str());
  const bool isEmpty = std::find(tensor.shape.begin(), tensor.shape.end(), 0) !=
                       tensor.shape.end();
  if (needsFans(kind) && (tensor.shape.size() < 2 || isEmpty))
    return makeError(kInvalidArgument,
                     "state '%s' has an initial value by fan, which needs at "
                     "least two non-empty dimensions, but is %s",
                     name, described.c_str());
  if (kind == Kind::RngState &&
      (tensor.type != ElementType::I64 || tensor.shape != Shape{2}))
    return makeError(kInvalidArgument,
                     "random number state '%s' is %s, expected 2xi64", name,
                     described.c_str());
  return Status();
}

} // namespace initial

/// Computes the initial value of a state that is not a copy. Fails if there is
/// no rule or if the rule does not fit the shape or type.
inline Status initializeTensor(const TensorInfo &tensor, uint64_t seed,
                               Array *array) {
  using Kind = InitInfo::Kind;
  AMP_RETURN_IF_ERROR(initial::check(tensor));
  const InitInfo &init = tensor.init;
  *array = Array(tensor.type, tensor.shape);
  if (init.hasSeed)
    seed = init.seed;
  double fanIn = 1.0, fanOut = 1.0;
  for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    if (axis + 1 != tensor.shape.size())
      fanIn *= double(tensor.shape[axis]);
    if (axis + 2 != tensor.shape.size())
      fanOut *= double(tensor.shape[axis]);
  }
  auto uniform = [&](double low, double high) {
    initial::fillRandom(*array, seed, init.stream, /*normal=*/false, low, high);
  };
  auto normal = [&](double mean, double deviation) {
    initial::fillRandom(*array, seed, init.stream, /*normal=*/true, mean,
                        deviation);
  };
  switch (init.kind) {
  case Kind::None:
  case Kind::Zeros:
  case Kind::CopyOf:
    break;
  case Kind::Ones:
    array->fill(1.0);
    break;
  case Kind::Constant:
    array->fill(init.first);
    break;
  case Kind::Normal:
    normal(init.first, init.second);
    break;
  case Kind::Uniform:
    uniform(init.first, init.second);
    break;
  case Kind::KaimingUniform: {
    const double bound = init.gain * std::sqrt(3.0 / fanIn);
    uniform(-bound, bound);
    break;
  }
  case Kind::KaimingNormal:
    normal(0.0, init.gain / std::sqrt(fanIn));
    break;
  case Kind::XavierUniform: {
    const double bound = init.gain * std::sqrt(6.0 / (fanIn + fanOut));
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
    for (int64_t i = 0; i < array->getNumElements(); ++i)
      array->setDouble(i, init.first + double(i) * init.second);
    break;
  case Kind::Table:
    for (int64_t i = 0; i < array->getNumElements(); ++i)
      if (init.numbers)
        array->setDouble(i, init.numbers[i]);
      else
        array->setInt(i, init.integers[i]);
    break;
  }
  return Status();
}

/// Initialises every state without a value in `values`, copies last. Fails if a
/// copy names an unknown state, a state of another shape, or itself. With
/// `partial`, initialises hyperparameters too and skips tensors without an
/// initial value.
inline Status initializeTensors(const std::vector<TensorInfo> &tensors,
                                uint64_t seed, bool partial, ArrayMap *values) {
  using Kind = InitInfo::Kind;
  std::vector<const TensorInfo *> copies;
  for (const TensorInfo &tensor : tensors) {
    if (!isState(tensor.role) &&
        !(partial && tensor.role == Role::Hyperparameter))
      continue;
    if (values->contains(tensor.name))
      continue;
    if (tensor.init.kind == Kind::CopyOf) {
      copies.push_back(&tensor);
      continue;
    }
    if (partial && tensor.init.kind == Kind::None &&
        tensor.role != Role::OptimizerState)
      continue;
    Array array;
    AMP_RETURN_IF_ERROR(initializeTensor(tensor, seed, &array));
    values->set(tensor.name, std::move(array));
  }
  // A copy may copy another copy. Repeat until no copy makes progress.
  while (!copies.empty()) {
    std::vector<const TensorInfo *> pending;
    for (const TensorInfo *tensor : copies) {
      const Array *source = values->lookup(tensor->init.source);
      if (!source) {
        pending.push_back(tensor);
        continue;
      }
      if (source->getShape() != tensor->shape || !source->castsTo(tensor->type))
        return makeError(kInvalidArgument,
                         "state '%s' is a copy of '%s', but one is %s and the "
                         "other %s",
                         tensor->name.c_str(), tensor->init.source,
                         tensor->describe().c_str(),
                         source->describe().c_str());
      values->set(tensor->name, source->castFloat(tensor->type));
    }
    if (pending.size() == copies.size()) {
      if (partial)
        break;
      return makeError(kInvalidArgument,
                       "state '%s' is a copy of '%s', which is not a state "
                       "with a value of its own",
                       pending.front()->name.c_str(),
                       pending.front()->init.source);
    }
    copies = std::move(pending);
  }
  return Status();
}

} // namespace amphost

#endif // AMP_RUNTIME_HOST_INITIALIZER_H
