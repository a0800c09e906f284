//===- Unit.h - The units of a program --------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A source is compiled as one unit, or as two units in parallel:
//
//   AMP_CUDA_UNIT   content of the unit
//   undefined       everything
//   1               the launches of the program and their kernels
//   2               the runtime: plans of products and their kernels, memory,
//                   the C interface and the trainer. It is the same in all
//                   programs.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_UNIT_H
#define AMP_RUNTIME_CUDA_UNIT_H

/// Marks the declaration and the definition of a function that only the runtime
/// unit defines.
#ifdef AMP_CUDA_UNIT
#if AMP_CUDA_UNIT != 1 && AMP_CUDA_UNIT != 2
#error "AMP_CUDA_UNIT must be 1 (the program) or 2 (the runtime)"
#endif
#define AMP_RUNTIME_FUNCTION
#else
#define AMP_RUNTIME_FUNCTION inline
#endif

#endif // AMP_RUNTIME_CUDA_UNIT_H
