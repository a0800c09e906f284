//===- Portable.h - Functions that device code calls too --------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AMP_RUNTIME_HOST_PORTABLE_H
#define AMP_RUNTIME_HOST_PORTABLE_H

/// Marks functions that kernels also call, if a CUDA compiler reads them.
#ifdef __CUDACC__
#define AMP_PORTABLE __host__ __device__ constexpr
#else
#define AMP_PORTABLE constexpr
#endif

#endif // AMP_RUNTIME_HOST_PORTABLE_H
