//===- MLIRCAPI.cpp - The C API of MLIR as a library ----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This library consists of objects from an archive of MLIR.
//
//===----------------------------------------------------------------------===//
