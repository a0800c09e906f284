//===- PrecisionRemarks.h - Say what was decided, and why -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_PRECISIONREMARKS_H
#define AMP_LIB_TRANSFORMS_PRECISIONREMARKS_H

#include "amp/Precision/CostModel.h"

namespace mlir::amp {

/// Emits a remark for each slot of `functions`, which were assigned together,
/// and for each value that control flow carries (passed: low; missed: f32), for
/// each slot of floats that no decision is about (analysis), for each operation
/// that no list names, for each product that reads a cast of a value that may
/// not fit (analysis), and one summary (analysis). To be called before the
/// functions change.
void emitPrecisionRemarks(ArrayRef<FunctionOpInterface> functions,
                          const SlotGraph &graph, const CostModel &costs,
                          const Assignment &assignment, Strategy strategy);

/// Warns of each kind of operation that the lists or pins of a policy make low
/// although nothing shows that its results fit, and of those that a pin makes
/// low although a number that they read does not fit. To be called before the
/// functions change.
void warnOfForcedLow(const SlotGraph &graph, const Assignment &assignment,
                     FloatType low);

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_PRECISIONREMARKS_H
