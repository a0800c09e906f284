//===- Tensor.h - Inputs and outputs of a step ------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_TENSOR_H
#define AMP_RUNTIME_HOST_TENSOR_H

#include "amp/Runtime/Host/Array.h"

#include <string>
#include <vector>

namespace amphost {

/// The roles of states come first, then the others with an initial value.
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

inline bool isState(Role role) { return role <= Role::ScalerState; }

/// The initial value of a state. Fans follow the layout of weights, [..., in,
/// out]. Fan in is the product of all extents but the last, fan out of all but
/// the second to last.
struct InitInfo {
  enum class Kind : uint8_t {
    None, ///< optimizer moments are zero, other states come from a file
    Zeros,
    Ones,
    Constant,       ///< first
    Normal,         ///< mean first, standard deviation second
    Uniform,        ///< uniform in [first, second]
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
  const char *source = nullptr; ///< must outlive this
  bool hasSeed = false;         ///< `seed` replaces the seed of the run
  uint64_t seed = 0;
  uint64_t stream = 0; ///< random kinds: llvm::xxh3_64bits(name)
  const double *numbers = nullptr;
  const int64_t *integers = nullptr;

  /// A constant given by its elements. Sets those of a float type or of another
  /// type.
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

/// A state, batch, hyperparameter, metric or prediction of a step. It has its
/// name in the graph.
struct TensorInfo {
  std::string name;
  Role role = Role::Temporary;
  ElementType type = ElementType::F32;
  /// Dimension 0 of a batch counts samples. It is -1 if the step takes any
  /// number.
  Shape shape;
  InitInfo init;
  int64_t classes = 0;      ///< labels lie in [0, classes); 0: any
  bool isLossScale = false; ///< positive and finite
  /// Whether each row starts with 0 and ascends.
  bool isCumulative = false;

  /// Whether files of weights may set it.
  bool isWeight() const {
    return role == Role::Parameter || role == Role::ModelState;
  }
  std::string describe() const { return describeShape(shape, type); }
  /// Whether `array` has its type and shape.
  bool fits(const Array &array) const {
    return array.getType() == type && array.getShape() == shape;
  }
};

/// Why element `index` of a tensor, with the value `value` and `before` as the
/// element before it, is not one of `tensor`. Empty if it is one.
inline std::string checkIndex(const TensorInfo &tensor, int64_t index,
                              int64_t value, int64_t before) {
  if (tensor.classes > 0 && (value < 0 || value >= tensor.classes))
    return "is out of range, expected 0 to " +
           std::to_string(tensor.classes - 1);
  if (!tensor.isCumulative)
    return "";
  const bool isFirst = index % tensor.shape.back() == 0;
  return isFirst && value != 0 ? "starts a row, expected 0"
         : !isFirst && value < before
             ? "is less than the " + std::to_string(before) +
                   " before it, expected rows that ascend"
             : "";
}

} // namespace amphost

#endif // AMP_RUNTIME_HOST_TENSOR_H
