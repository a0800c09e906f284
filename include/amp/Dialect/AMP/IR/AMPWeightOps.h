//===- AMPWeightOps.h - Halves of weights -----------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations of the amp dialect on the halves of weights. Few files need them,
// so AMP.h does not include this header.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_AMPWEIGHTOPS_H
#define AMP_DIALECT_AMP_IR_AMPWEIGHTOPS_H

#include "amp/Dialect/AMP/IR/AMP.h"

#define GET_OP_CLASSES
#include "amp/Dialect/AMP/IR/AMPWeightOps.h.inc"

#endif // AMP_DIALECT_AMP_IR_AMPWEIGHTOPS_H
