//===- CUDADialect.td - The cuda dialect -------------------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_CUDA_IR_CUDADIALECT_TD
#define AMP_DIALECT_CUDA_IR_CUDADIALECT_TD

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def CUDA_Dialect : Dialect {
  let name = "cuda";
  let cppNamespace = "::mlir::cuda";
  let summary = "A training step as a list of launches over planned buffers";
  let description = [{
    The `cuda` dialect is the last form of a step before CUDA C++. It has one
    operation per library call, one per kernel, and one per buffer.
    `amp-translate --mlir-to-cuda` prints these operations and makes no
    decisions.

    Every launch has two forms. `convert-train-to-cuda` creates the form on
    tensors, which has results:

    ```mlir
    %h = cuda.gemm ins(%x, %w, %b : tensor<32x64xf32>, tensor<64x128xf32>, tensor<128xf32>)
        {bias, activation = #cuda.activation<relu>} -> tensor<32x128xf32>
    ```

    `cuda-plan-memory` creates the form on buffers, inside a `cuda.program`:

    ```mlir
    cuda.program @step {
      %x = cuda.buffer "images" at 0 {role = "batch"} : memref<32x64xf32>
      ...
      cuda.gemm named "fc1" ins(%x, %w, %b : memref<32x64xf32>, memref<64x128xf32>, memref<128xf32>)
          outs(%h : memref<32x128xf32>) {bias, activation = #cuda.activation<relu>}
    }
    ```

    All buffers are in one arena, each at its own offset. Buffers that are in
    use at different times may overlap. The verifier rejects buffers that
    overlap while both are in use. Launches run in order, on one stream, except
    for the collectives of several ranks, which run on a second one. Nothing
    is allocated after the program has been created, and no step waits for the
    host. An overflow sets a flag on the device. A launch with this flag in its
    `if` writes only if the flag is true.

    Buffers are row-major and contiguous. Booleans take one byte.
  }];
  let dependentDialects = ["::mlir::amp::AMPDialect"];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    /// Every buffer starts at a multiple of this many bytes.
    static constexpr int64_t kAlignment = 256;
    /// Bytes of an entry of an optimizer's table. Emitted programs assert it.
    static constexpr int64_t kTableEntryBytes = 80;
    /// Bytes of an entry of its table of 8-bit copies.
    static constexpr int64_t kQuantizedEntryBytes = 72;

  private:
    void registerAttentionOps();
    void registerCallOps();
    void registerCollectiveOps();
    void registerCompositeOps();
    void registerConvolutionOps();
    void registerKernelOps();
    void registerNormalizationOps();
    void registerOptimizerOps();
    void registerProductOps();
    void registerProgramOps();
    void registerQuantizedOps();

  public:
  }];
}

#endif // AMP_DIALECT_CUDA_IR_CUDADIALECT_TD
