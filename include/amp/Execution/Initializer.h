//===- Initializer.h - Initial values of parameters and state ---*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random values come from the Philox stream (seed, hash of the name): element i
// uses word i % 4 of block i / 4. They depend on the seed and the name alone,
// not on the order of arguments, threads or the platform's <random>.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_INITIALIZER_H
#define AMP_EXECUTION_INITIALIZER_H

#include "amp/Execution/Npz.h"

namespace mlir::amp {

/// How a state starts. Fans follow the layout of weights, [..., in, out]: fan
/// in is the product of all extents but the last, fan out of all but the second
/// to last.
struct InitSpec {
  enum class Kind {
    Zeros,
    Ones,
    Constant,
    Normal,         ///< mean, standard deviation
    Uniform,        ///< low, high
    KaimingUniform, ///< bound = gain sqrt(3 / fan_in)
    KaimingNormal,  ///< deviation = gain / sqrt(fan_in)
    XavierUniform,  ///< bound = gain sqrt(6 / (fan_in + fan_out))
    XavierNormal,   ///< deviation = gain sqrt(2 / (fan_in + fan_out))
    CopyOf,         ///< rounded copy of the state `source`
    RngState        ///< (seed, 0)
  };

  Kind kind = Kind::Zeros;
  double first = 0.0;  ///< value, mean or low
  double second = 1.0; ///< deviation or high
  double gain = 1.0;
  std::string source;
  /// Replaces the seed of the run.
  std::optional<uint64_t> seed;
};

/// One state to initialise.
struct StateSpec {
  std::string name;
  ElementType type = ElementType::F32;
  llvm::SmallVector<int64_t, 4> shape;
  /// Absent if the value has to come from a file.
  std::optional<InitSpec> init;
  /// Whether files of weights may set it: a parameter or a statistic of the
  /// model, as opposed to the state of the optimizer or the loss scaler.
  bool isWeight = false;
  /// Whether it is a loss scale, by which gradients are divided.
  bool isLossScale = false;
};

/// Computes the initial value of one state other than a copy. Fails when there
/// is no rule or it does not fit the shape or type (fans of a vector, random
/// integers).
llvm::Expected<NDArray> initializeState(const StateSpec &spec, uint64_t seed);

/// Initialises every state that `states` does not hold yet, copies last. Fails
/// when a copy names an unknown state, one of another shape, or itself.
llvm::Error initializeStates(llvm::ArrayRef<StateSpec> specs, uint64_t seed,
                             ArrayMap &states);

} // namespace mlir::amp

#endif // AMP_EXECUTION_INITIALIZER_H
