//===- Tools.h - What every tool registers ----------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_REGISTERALL_TOOLS_H
#define AMP_REGISTERALL_TOOLS_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::amp {

/// Adds the dialects and the extensions of MLIR and of the project to
/// `registry`.
void registerToolDialects(DialectRegistry &registry);

/// Registers the passes of MLIR and of the project.
void registerToolPasses();

/// Prints the version of this project and of MLIR, for --version.
void printToolVersion(llvm::raw_ostream &os);

} // namespace mlir::amp

#endif // AMP_REGISTERALL_TOOLS_H
