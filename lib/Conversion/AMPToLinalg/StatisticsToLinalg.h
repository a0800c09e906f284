//===- StatisticsToLinalg.h - Statistics as loops ---------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_CONVERSION_AMPTOLINALG_STATISTICSTOLINALG_H
#define AMP_LIB_CONVERSION_AMPTOLINALG_STATISTICSTOLINALG_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::amp {

/// Like `populateStatisticsToLinalg`, but uses the vector dialect, which not
/// every compiler supports.
void populateStatisticsToVectors(RewritePatternSet &patterns);

} // namespace mlir::amp

#endif // AMP_LIB_CONVERSION_AMPTOLINALG_STATISTICSTOLINALG_H
