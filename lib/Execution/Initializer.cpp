//===- Initializer.cpp - Initial values of parameters and state -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Initializer.h"

#include "amp/Execution/Files.h"
#include "amp/Execution/Philox.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"
#include <cmath>

using namespace mlir::amp;
using Kind = InitSpec::Kind;

/// A uniform number in the open interval (0, 1).
static double toUnit(uint32_t word) { return (word + 0.5) * 0x1p-32; }

static void fillUniform(NDArray &array, const PhiloxStream &stream, double low,
                        double high) {
  for (int64_t i = 0, e = array.getNumElements(); i < e; i += 4) {
    std::array<uint32_t, 4> words = stream.block(i / 4);
    for (int64_t j = i; j < std::min(i + 4, e); ++j)
      array.setDouble(j, low + (high - low) * toUnit(words[j - i]));
  }
}

/// Box-Muller in f64: words (0, 1) give elements 0 and 1 of a block, words
/// (2, 3) elements 2 and 3.
static void fillNormal(NDArray &array, const PhiloxStream &stream, double mean,
                       double deviation) {
  for (int64_t i = 0, e = array.getNumElements(); i < e; i += 4) {
    std::array<uint32_t, 4> words = stream.block(i / 4);
    double values[4];
    for (int pair = 0; pair < 4; pair += 2) {
      double radius = std::sqrt(-2.0 * std::log(toUnit(words[pair])));
      double angle = 2.0 * llvm::numbers::pi * toUnit(words[pair + 1]);
      values[pair] = radius * std::cos(angle);
      values[pair + 1] = radius * std::sin(angle);
    }
    for (int64_t j = i; j < std::min(i + 4, e); ++j)
      array.setDouble(j, mean + deviation * values[j - i]);
  }
}

static void fillConstant(NDArray &array, double value) {
  for (int64_t i = 0, e = array.getNumElements(); i < e; ++i)
    array.setDouble(i, value);
}

static bool isRandom(Kind kind) {
  switch (kind) {
  case Kind::Normal:
  case Kind::Uniform:
  case Kind::KaimingUniform:
  case Kind::KaimingNormal:
  case Kind::XavierUniform:
  case Kind::XavierNormal:
    return true;
  default:
    return false;
  }
}

static bool needsFans(Kind kind) {
  return isRandom(kind) && kind != Kind::Normal && kind != Kind::Uniform;
}

llvm::Expected<NDArray> mlir::amp::initializeState(const StateSpec &spec,
                                                   uint64_t seed) {
  if (!spec.init)
    return makeError("state '{0}' has no initial value: it needs 'amp.init' or "
                     "an array in a file of weights",
                     spec.name);
  const InitSpec &init = *spec.init;
  seed = init.seed.value_or(seed);
  NDArray array(spec.type, spec.shape);
  if (isRandom(init.kind) && !isFloat(spec.type))
    return makeError("state '{0}' has a random initial value, which needs a "
                     "float type, but is {1}",
                     spec.name, array.describe());

  double fanIn = 1.0, fanOut = 1.0;
  if (needsFans(init.kind)) {
    size_t rank = spec.shape.size();
    if (rank < 2 || array.getNumElements() == 0)
      return makeError("state '{0}' has an initial value by fan, which needs "
                       "at least two non-empty dimensions, but is {1}",
                       spec.name, array.describe());
    for (size_t axis = 0; axis < rank; ++axis) {
      if (axis + 1 != rank)
        fanIn *= spec.shape[axis];
      if (axis + 2 != rank)
        fanOut *= spec.shape[axis];
    }
  }

  PhiloxStream stream(seed, llvm::xxh3_64bits(llvm::StringRef(spec.name)));
  switch (init.kind) {
  case Kind::Zeros:
    break;
  case Kind::Ones:
    fillConstant(array, 1.0);
    break;
  case Kind::Constant:
    fillConstant(array, init.first);
    break;
  case Kind::Normal:
    fillNormal(array, stream, init.first, init.second);
    break;
  case Kind::Uniform:
    fillUniform(array, stream, init.first, init.second);
    break;
  case Kind::KaimingUniform: {
    double bound = init.gain * std::sqrt(3.0 / fanIn);
    fillUniform(array, stream, -bound, bound);
    break;
  }
  case Kind::KaimingNormal:
    fillNormal(array, stream, 0.0, init.gain / std::sqrt(fanIn));
    break;
  case Kind::XavierUniform: {
    double bound = init.gain * std::sqrt(6.0 / (fanIn + fanOut));
    fillUniform(array, stream, -bound, bound);
    break;
  }
  case Kind::XavierNormal:
    fillNormal(array, stream, 0.0,
               init.gain * std::sqrt(2.0 / (fanIn + fanOut)));
    break;
  case Kind::RngState:
    if (spec.type != ElementType::I64 ||
        llvm::ArrayRef<int64_t>(spec.shape) != llvm::ArrayRef<int64_t>({2}))
      return makeError("random number state '{0}' is {1}, expected 2xi64",
                       spec.name, array.describe());
    array.setInt(0, int64_t(seed));
    break;
  case Kind::CopyOf:
    return makeError("state '{0}' is a copy of '{1}', which is not known here",
                     spec.name, init.source);
  }
  return array;
}

llvm::Error mlir::amp::initializeStates(llvm::ArrayRef<StateSpec> specs,
                                        uint64_t seed, ArrayMap &states) {
  llvm::SmallVector<const StateSpec *> copies;
  for (const StateSpec &spec : specs) {
    if (states.contains(spec.name))
      continue;
    if (spec.init && spec.init->kind == Kind::CopyOf) {
      copies.push_back(&spec);
      continue;
    }
    llvm::Expected<NDArray> array = initializeState(spec, seed);
    if (!array)
      return array.takeError();
    states.set(spec.name, std::move(*array));
  }
  // A copy may be of another copy: go round until no copy makes progress.
  while (!copies.empty()) {
    llvm::SmallVector<const StateSpec *> pending;
    for (const StateSpec *spec : copies) {
      const NDArray *source = states.lookup(spec->init->source);
      if (!source) {
        pending.push_back(spec);
        continue;
      }
      if (source->getShape() != llvm::ArrayRef<int64_t>(spec->shape) ||
          (source->getType() != spec->type &&
           !(isFloat(source->getType()) && isFloat(spec->type))))
        return makeError("state '{0}' is a copy of '{1}', but one is {2} and "
                         "the other {3}",
                         spec->name, spec->init->source,
                         describeShape(spec->shape, spec->type),
                         source->describe());
      states.set(spec->name, source->getType() == spec->type
                                 ? source->clone()
                                 : source->castFloat(spec->type));
    }
    if (pending.size() == copies.size())
      return makeError("state '{0}' is a copy of '{1}', which is not a state "
                       "with a value of its own",
                       pending.front()->name, pending.front()->init->source);
    copies = std::move(pending);
  }
  return llvm::Error::success();
}
