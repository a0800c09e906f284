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

/// Emits a remark for each slot of `function` (passed: low; missed: f32), for
/// each operation that no list names, for each product that reads a cast of a
/// value that may not fit (analysis), and one summary (analysis).
void emitPrecisionRemarks(FunctionOpInterface function, const SlotGraph &graph,
                          const CostModel &costs, const Assignment &assignment,
                          Strategy strategy);

/// Warns of each kind of operation whose results the lists or pins of a policy
/// make f16 although nothing shows that they fit.
void warnOfForcedRanges(const SlotGraph &graph, const Assignment &assignment,
                        FloatType low);

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_PRECISIONREMARKS_H
