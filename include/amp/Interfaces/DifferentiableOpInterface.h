//===- DifferentiableOpInterface.h - Reverse-mode rules ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_INTERFACES_DIFFERENTIABLEOPINTERFACE_H
#define AMP_INTERFACES_DIFFERENTIABLEOPINTERFACE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/BitVector.h"

#include "amp/Interfaces/DifferentiableOpInterface.h.inc"

#endif // AMP_INTERFACES_DIFFERENTIABLEOPINTERFACE_H
