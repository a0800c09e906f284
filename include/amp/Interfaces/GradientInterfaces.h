//===- GradientInterfaces.h - Where gradients start and end -----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_INTERFACES_GRADIENTINTERFACES_H
#define AMP_INTERFACES_GRADIENTINTERFACES_H

#include "mlir/IR/OpDefinition.h"

#include "amp/Interfaces/GradientInterfaces.h.inc"

#endif // AMP_INTERFACES_GRADIENTINTERFACES_H
