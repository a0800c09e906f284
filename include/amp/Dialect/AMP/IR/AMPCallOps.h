//===- AMPCallOps.h - Operations of the caller ------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls of operations that the caller of a step implements. Few files need
// them, so `AMP.h` does not include this header.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_AMPCALLOPS_H
#define AMP_DIALECT_AMP_IR_AMPCALLOPS_H

#include "amp/Dialect/AMP/IR/AMP.h"

#define GET_OP_CLASSES
#include "amp/Dialect/AMP/IR/AMPCallOps.h.inc"

#endif // AMP_DIALECT_AMP_IR_AMPCALLOPS_H
