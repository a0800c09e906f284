//===- Passes.h - Passes for several ranks ----------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_REPLICATION_PASSES_H
#define AMP_REPLICATION_PASSES_H

#include "amp/Support/CheckedPass.h"

namespace mlir::amp {

#define GEN_PASS_DECL
#include "amp/Replication/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "amp/Replication/Passes.h.inc"

} // namespace mlir::amp

#endif // AMP_REPLICATION_PASSES_H
