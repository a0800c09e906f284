//===- ReportErrors.h - Errors against f32 in a report ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_REPORT_REPORTERRORS_H
#define AMP_PRECISION_REPORT_REPORTERRORS_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace mlir::amp {

/// Adds the errors that `amp-run --diverge-json` wrote to the operations of
/// `report`, a report of `auto-mixed-precision` on the same module. Returns the
/// number of operations with an error.
llvm::Expected<int64_t> addErrors(llvm::json::Value &report,
                                  const llvm::json::Value &diverged);

/// Writes the page of a report.
void writeReportHTML(const llvm::json::Value &report, raw_ostream &os);

} // namespace mlir::amp

#endif // AMP_PRECISION_REPORT_REPORTERRORS_H
