//===- CUDAOps.td - Operations of the cuda dialect ---------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_CUDA_IR_CUDAOPS_TD
#define AMP_DIALECT_CUDA_IR_CUDAOPS_TD

include "amp/Dialect/CUDA/IR/CUDAAttentionOps.td"
include "amp/Dialect/CUDA/IR/CUDACallOps.td"
include "amp/Dialect/CUDA/IR/CUDACollectiveOps.td"
include "amp/Dialect/CUDA/IR/CUDACompositeOps.td"
include "amp/Dialect/CUDA/IR/CUDAConvolutionOps.td"
include "amp/Dialect/CUDA/IR/CUDAKernelOps.td"
include "amp/Dialect/CUDA/IR/CUDANormalizationOps.td"
include "amp/Dialect/CUDA/IR/CUDAOptimizerOps.td"
include "amp/Dialect/CUDA/IR/CUDAProductOps.td"
include "amp/Dialect/CUDA/IR/CUDAProgramOps.td"
include "amp/Dialect/CUDA/IR/CUDAQuantizedOps.td"

#endif // AMP_DIALECT_CUDA_IR_CUDAOPS_TD
