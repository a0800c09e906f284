//===- Export.h - Functions that a library exports --------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_STEP_EXPORT_H
#define AMP_RUNTIME_STEP_EXPORT_H

/// Marks a function that a shared library exports.
#define AMP_STEP_EXPORT __attribute__((visibility("default")))

#endif // AMP_RUNTIME_STEP_EXPORT_H
