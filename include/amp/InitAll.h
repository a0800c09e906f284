//===- InitAll.h - Everything that the project registers --------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tools. A compiler that embeds a part of the project should register just
// that part.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_INITALL_H
#define AMP_INITALL_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::amp {

/// Adds the dialects of the project to `registry`.
void registerAllDialects(DialectRegistry &registry);

/// Attaches the interfaces of the project to operations of other dialects.
void registerAllExtensions(DialectRegistry &registry);

/// Registers the passes of the project.
void registerAllPasses();

} // namespace mlir::amp

#endif // AMP_INITALL_H
