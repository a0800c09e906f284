//===- QuietWarnings.h - Programs that nobody asked for ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_QUIETWARNINGS_H
#define AMP_EXECUTION_QUIETWARNINGS_H

#include "mlir/IR/Diagnostics.h"

namespace mlir::amp {

/// While it lives, only errors are shown: warnings about a variant of a step,
/// which a search tries, are not about the program of the user.
class QuietWarnings : public ScopedDiagnosticHandler {
public:
  explicit QuietWarnings(MLIRContext *context)
      : ScopedDiagnosticHandler(context, [](Diagnostic &diagnostic) {
          return success(diagnostic.getSeverity() != DiagnosticSeverity::Error);
        }) {}
};

} // namespace mlir::amp

#endif // AMP_EXECUTION_QUIETWARNINGS_H
