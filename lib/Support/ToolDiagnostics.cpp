//===- ToolDiagnostics.cpp - Diagnostics of tools -------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Support/ToolDiagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::amp;

std::string mlir::amp::getUserText(const Diagnostic &diagnostic) {
  std::string text = diagnostic.str();
  if (StringRef rest = text; rest.consume_front("<Pass-Options-Parser>: "))
    text = rest.rtrim().str();
  if (!StringRef(text).contains("allow-unregistered-dialect") &&
      !StringRef(text).contains("allowUnregisteredDialects"))
    return text;
  return "this operation is of a dialect that the tool does not have; expected "
         "a step of the dialects train, linalg, tensor, tosa, arith, math and "
         "scf. 'amp-opt --allow-unregistered-dialect --stablehlo-to-train' "
         "and amp_jax make one from StableHLO";
}

std::string mlir::amp::getPlace(Location loc) {
  std::string place;
  loc->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    // A module as a whole is in line 0.
    if (!file || file.getLine() == 0)
      return WalkResult::advance();
    place = (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
             Twine(file.getColumn()))
                .str();
    return WalkResult::interrupt();
  });
  return place;
}

ToolDiagnosticHandler::ToolDiagnosticHandler(StringRef tool,
                                             llvm::SourceMgr &sources,
                                             MLIRContext *context,
                                             llvm::raw_ostream &os)
    : SourceMgrDiagnosticHandler(sources, context, os), tool(tool.str()),
      stream(os) {
  setHandler([this](Diagnostic &diagnostic) {
    print(diagnostic);
    return success();
  });
}

static StringRef nameSeverity(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  llvm_unreachable("every severity is handled");
}

void ToolDiagnosticHandler::print(Diagnostic &diagnostic) {
  std::string text = getUserText(diagnostic);
  if (!getPlace(diagnostic.getLocation()).empty()) {
    // Both print the line. The first one has the notes and callers too.
    if (text == diagnostic.str())
      emitDiagnostic(diagnostic);
    else
      emitDiagnostic(diagnostic.getLocation(), text, diagnostic.getSeverity());
    return;
  }
  auto printOne = [&](DiagnosticSeverity severity, StringRef message) {
    stream << tool << ": " << nameSeverity(severity) << ": " << message << '\n';
  };
  printOne(diagnostic.getSeverity(), text);
  for (Diagnostic &note : diagnostic.getNotes())
    printOne(note.getSeverity(), note.str());
}
