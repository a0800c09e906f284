//===- PhiloxBuilder.h - Random numbers in linalg --------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The counter-based generator of dropout and of stochastic rounding. The word
// of an element depends on the state (seed, step), a key and the row-major
// index.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_CONVERSION_LINALGCOMMON_PHILOXBUILDER_H
#define AMP_CONVERSION_LINALGCOMMON_PHILOXBUILDER_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SmallVector.h"
#include <array>
#include <cstdint>

namespace mlir::amp {

/// Emits Philox4x32-10 within the body of an elementwise linalg operation.
class PhiloxBuilder {
public:
  /// Reads `rng`, a tensor<2xi64> of seed and step, and the extents of `like`
  /// before the loop. The loop runs over the elements of `like`.
  PhiloxBuilder(ImplicitLocOpBuilder &b, Value rng, uint32_t key, Value like);

  /// Declares that `like` is part `part` of `parts` equal parts of a tensor
  /// along dimension `dim`. Elements get the words of their places in it.
  void setPart(int64_t dim, int64_t parts, int64_t part) {
    division = {dim, parts, part};
  }

  /// The i32 word of the element that the body computes.
  Value buildWord(ImplicitLocOpBuilder &inner) const;

  static Value constant32(ImplicitLocOpBuilder &b, uint32_t value);

private:
  struct Division {
    int64_t dim = -1, parts = 1, part = 0;
  };

  std::array<Value, 2> key, step;
  Division division;
  SmallVector<OpFoldResult> extents;
};

} // namespace mlir::amp

#endif // AMP_CONVERSION_LINALGCOMMON_PHILOXBUILDER_H
