//===- ReportDiagnostics.h - Decisions as diagnostics -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TOOLS_AMPLSPSERVER_REPORTDIAGNOSTICS_H
#define AMP_TOOLS_AMPLSPSERVER_REPORTDIAGNOSTICS_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"

namespace mlir::amp {

/// Returns the decisions of the report of the module `uri` (`model.json` next
/// to `model.mlir`) as diagnostics of the language server protocol with the
/// severity "information", one for each operation with a choice. Returns no
/// diagnostics if there is no report, and a single diagnostic if the report is
/// older than the module.
/// `registry` has the dialects of the module.
llvm::json::Array getReportDiagnostics(llvm::StringRef uri,
                                       const DialectRegistry &registry);

/// Runs `server`, whose messages go to the standard output, and adds the
/// diagnostics of reports to its messages. Returns the result of `server`.
int runWithReports(const DialectRegistry &registry,
                   llvm::function_ref<int()> server);

} // namespace mlir::amp

#endif // AMP_TOOLS_AMPLSPSERVER_REPORTDIAGNOSTICS_H
