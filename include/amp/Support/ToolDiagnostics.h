//===- ToolDiagnostics.h - Diagnostics of tools -----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_SUPPORT_TOOLDIAGNOSTICS_H
#define AMP_SUPPORT_TOOLDIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace mlir::amp {

/// The text of `diagnostic` for users of a tool. Some texts of MLIR advise
/// options that the tools do not have.
std::string getUserText(const Diagnostic &diagnostic);

/// The first place of a file in `loc`, as `file:line:column`, or an empty text.
std::string getPlace(Location loc);

/// Prints diagnostics with the line of the source, as MLIR's tools do. One
/// without a place, such as that of a wrong option, is one of the tool:
/// `amp-run: error: <text>`.
class ToolDiagnosticHandler : public SourceMgrDiagnosticHandler {
public:
  ToolDiagnosticHandler(StringRef tool, llvm::SourceMgr &sources,
                        MLIRContext *context,
                        llvm::raw_ostream &os = llvm::errs());

private:
  void print(Diagnostic &diagnostic);

  std::string tool;
  llvm::raw_ostream &stream;
};

} // namespace mlir::amp

#endif // AMP_SUPPORT_TOOLDIAGNOSTICS_H
