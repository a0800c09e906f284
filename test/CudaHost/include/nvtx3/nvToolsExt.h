//===- nvToolsExt.h - CUDA on the CPU: ranges -------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AMP_TEST_CUDAHOST_NVTX3_NVTOOLSEXT_H
#define AMP_TEST_CUDAHOST_NVTX3_NVTOOLSEXT_H

/// Ranges must nest: a pop without a push is a violation.
int nvtxRangePushA(const char *message);
int nvtxRangePop();

#endif // AMP_TEST_CUDAHOST_NVTX3_NVTOOLSEXT_H
