//===- PrecisionRemarks.h - Remarks on the decisions ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_PRECISIONREMARKS_H
#define AMP_LIB_TRANSFORMS_PRECISIONREMARKS_H

#include "amp/Precision/Assignment/CostModel.h"

namespace mlir::amp {

/// Emits remarks for `functions`, which were assigned together. There is one
/// for each slot and each value that control flow carries (passed: low; missed:
/// f32), for each float slot without a vertex (analysis), for each operation
/// that no list names, and for each product that reads a cast of a value that
/// may not fit (analysis). There is also one summary (analysis). To be called
/// before the functions change.
void emitPrecisionRemarks(ArrayRef<FunctionOpInterface> functions,
                          const SlotGraph &graph, const CostModel &costs,
                          const Assignment &assignment, Strategy strategy);

/// Warns of each kind of operation that lists or pins make low although its
/// results are not proved to fit. Also warns of operations that a pin makes low
/// although a number that they read does not fit. To be called before the
/// functions change.
void warnOfForcedLow(const SlotGraph &graph, const Assignment &assignment,
                     FloatType low);

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_PRECISIONREMARKS_H
