//===- AMPCollectives.h - Values of several ranks ---------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The collectives of the amp dialect. Few files use them, so `AMP.h` does not
// include them.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_AMPCOLLECTIVES_H
#define AMP_DIALECT_AMP_IR_AMPCOLLECTIVES_H

#include "amp/Dialect/AMP/IR/AMP.h"

#include "amp/Dialect/AMP/IR/AMPCollectiveEnums.h.inc"

#define GET_OP_CLASSES
#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h.inc"

#endif // AMP_DIALECT_AMP_IR_AMPCOLLECTIVES_H
